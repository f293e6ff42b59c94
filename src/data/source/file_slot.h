/* One place in a reader's cycle of open files: a file, and the records read from it ahead of need.
 *
 * A place that reads ahead has a ring of blocks of records: the consumer takes from one while a
 * task of the pool reads those behind it. Internal to data/files. */
#ifndef LEATI_DATA_SOURCE_FILE_SLOT_H
#define LEATI_DATA_SOURCE_FILE_SLOT_H

#include "data/source/files.h"
#include "run/pool.h"
#include "run/queue.h"
#include <stdatomic.h>

/* DONE: the file ended or was lost, and at its next turn the slot gets another one. */
typedef enum leati_file_place { LEATI_VACANT = 0, LEATI_BUSY, LEATI_DONE } leati_file_place;

/* Blocks that are read ahead of the one that is given out. */
enum { LEATI_BLOCKS_AHEAD = 4, LEATI_SLOT_BLOCKS = LEATI_BLOCKS_AHEAD + 1 };

/* Records read by one call of the format, then what stopped it. */
typedef struct leati_file_block {
    leat_buffer *records; /* n views; it holds their memory */
    int64_t n, at;        /* at: the next one to be given out */
    int64_t start, skip;  /* where the first one lies: at a byte, and so many records behind it */
    /* Records lie in the buffers that `records` holds, in order: the number of the present one's,
     * its bytes, and the last call whose owner holds it. */
    int32_t chunk;
    const char *held;
    size_t held_size;
    uint64_t held_by;
    leati_file_outcome outcome; /* not MORE: the slot's `stop` says why, and no block follows */
} leati_file_block;

typedef struct leati_file_slot {
    leati_task task; /* first */
    leati_files *files;
    leati_file_place place;
    bool failed; /* instead of a file: `error`, to be delivered once */
    leat_error error;
    char *path; /* of the file that has the place */
    /* Where to begin once it is open: at a byte, and so many records behind it. */
    int64_t position, skip;
    leati_file_block *now; /* what the consumer takes from: one of the ring */
    bool plain;   /* the open file is no pipe, for whose bytes a task of the pool must not wait */
    bool counted; /* the blocks ahead are counted as the node's memory */

    /* Of whoever reads: the consumer, or a task. */
    void *reader; /* NULL: to be opened; with `pools` */
    leati_pools pools;
    leat_error stop; /* of the last block that was read */

    /* Under the files' gate. */
    leati_file_block ring[LEATI_SLOT_BLOCKS]; /* `now`, then `ready` blocks, then free ones */
    int ready;                                /* blocks behind `now` that were read */
    bool stopped;                             /* the last of them says why none follows */
    bool wanted;                              /* a task may read */
    atomic_bool leaving; /* a task that reads shall stop, wherever it waits; without the gate */
    bool reading; /* a task does, or the consumer; the block behind the ready ones is its own */
    bool queued;  /* the pool has the task */
} leati_file_slot;

/* The same as leati_file_slot_take where nothing but the record's view has to be taken: *to is it;
 * false: nothing was done. `call`'s owner must be that of the call before, if it is the same
 * number. */
static inline bool leati_file_slot_take_quickly(leati_file_slot *slot, uint64_t call,
                                                leat_string *to) {
    leati_file_block *now = slot->now;
    if (now->at >= now->n || now->held_by != call)
        return false;
    const leat_string *record = (const leat_string *)now->records->data + now->at;
    size_t at = (uintptr_t)record->data - (uintptr_t)now->held;
    if (at >= now->held_size || record->size > now->held_size - at)
        return false;
    *to = *record;
    now->at++;
    return true;
}

/* Makes a zeroed slot an empty one. */
void leati_file_slot_init(leati_file_slot *slot, leati_files *files);
/* Makes the slot empty, once no task uses it. */
void leati_file_slot_clear(leati_file_slot *slot);
/* The same, for good. */
void leati_file_slot_close(leati_file_slot *slot);

/* Gives the slot the file `name`. */
LEAT_WARN_UNUSED leat_status leati_file_slot_set_path(leati_file_slot *slot, leat_string name,
                                                      leat_error *err);

/* Takes records out of a busy slot: n > 0 with MORE; else END, after which it is DONE, or ERROR. */
leati_tail leati_file_slot_read(leati_file_slot *slot, const leati_file_request *request,
                                int64_t *n, leat_error *err);
/* The same for one record at a time, read ahead. `call` differs between owners. */
leati_tail leati_file_slot_take(leati_file_slot *slot, const leati_file_request *request,
                                uint64_t call, leat_error *err);
/* Looks at what leati_file_slot_take would give: is it a record? */
bool leati_file_slot_has_record(leati_file_slot *slot);

/* Where the next record of the slot lies: at *position, and *skip records behind it. */
void leati_file_slot_where(const leati_file_slot *slot, int64_t *position, int64_t *skip);

#endif
