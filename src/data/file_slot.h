/* One place in a reader's cycle of open files: a file, and the records read from it ahead of need.
 *
 * A place that reads ahead has two blocks of records: the consumer takes from one while a task of
 * the pool reads the other. Internal to data/files. */
#ifndef LEATI_DATA_FILE_SLOT_H
#define LEATI_DATA_FILE_SLOT_H

#include "data/files.h"
#include "run/pool.h"
#include "run/queue.h"

/* DONE: the file ended or was lost, and at its next turn the slot gets another one. */
typedef enum leati_place { LEATI_VACANT = 0, LEATI_BUSY, LEATI_DONE } leati_place;

/* Records read by one call of the format, then what stopped it. */
typedef struct leati_file_block {
    leat_buffer *records; /* n views; it holds their memory */
    int64_t n, at;        /* at: the next one to be given out */
    int64_t start, skip;  /* where the first one lies: at a byte, and so many records behind it */
    /* Records lie in the buffers that `records` holds, in order: the number of the present one's,
     * and the last call whose owner holds it. */
    int32_t chunk;
    uint64_t held_by;
    leati_file_outcome outcome;
    leat_error error;
} leati_file_block;

/* Who has the next block. */
typedef enum leati_ahead {
    LEATI_AHEAD_NONE = 0, /* nobody: it is to be read when it is needed */
    LEATI_AHEAD_WANTED,   /* a task, which has not begun */
    LEATI_AHEAD_READING,
    LEATI_AHEAD_READY
} leati_ahead;

typedef struct leati_file_slot {
    leati_task task; /* first */
    leati_files *files;
    leati_place place;
    bool failed; /* instead of a file: `error`, to be delivered once */
    leat_error error;
    char *path; /* of the file that has the place */
    /* Where to begin once it is open: at a byte, and so many records behind it. */
    int64_t position, skip;
    void *reader; /* NULL: to be opened; with `pools`, of whoever reads */
    bool plain;   /* the open file is no pipe, for whose bytes a task of the pool must not wait */
    leati_pools pools;
    leati_file_block now, next;
    leati_ahead ahead; /* under the files' gate, like ... */
    bool queued;       /* ... whether the pool has the task */
} leati_file_slot;

/* Makes the slot empty, once no task uses it. */
void leati_slot_clear(leati_file_slot *slot);
/* The same, for good. */
void leati_slot_close(leati_file_slot *slot);

/* Gives the slot the file `name`. */
LEAT_WARN_UNUSED leat_status leati_slot_set_path(leati_file_slot *slot, leat_string name,
                                                 leat_error *err);

/* Takes records out of a busy slot: n > 0 with MORE; else END, after which it is DONE, or ERROR. */
leati_tail leati_slot_read(leati_file_slot *slot, const leati_file_request *request, int64_t *n,
                           leat_error *err);
/* The same for one record at a time, read ahead. `call` differs between owners. */
leati_tail leati_slot_take(leati_file_slot *slot, const leati_file_request *request, uint64_t call,
                           leat_error *err);
/* Looks at what leati_slot_take would give: is it a record? */
bool leati_slot_has_record(leati_file_slot *slot);

/* Where the next record of the slot lies: at *position, and *skip records behind it. */
void leati_slot_where(const leati_file_slot *slot, int64_t *position, int64_t *skip);

#endif
