/* A task: one stream of elements, made by a thread of its own and dealt out to readers.
 *
 * Lazily: the first reader starts the producer, which asks for the dataset, makes the plan, opens
 * the iterator and then makes elements while its runner has room. A runner says how they are dealt
 * out: first come first served (shared.c), by rounds of coordinated consumers (rounds.c), through a
 * window that trainers share (window.c), or not at all, as they go to files (stored.c, saving.c).
 *
 * Every outcome, an element or the error of one, has the next position of its task, from 0 on.
 *
 * One gate for each task: its lock guards all that is marked so, of the task, its runner and its
 * readers. It is a leaf; memory of elements is dropped outside of it. */
#ifndef LEATI_SERVICE_WORKER_TASK_H
#define LEATI_SERVICE_WORKER_TASK_H

#include "core/block.h"
#include "data/run/iterator.h"
#include "run/driver.h"
#include "run/queue.h"
#include "service/wire/frame.h"
#include "service/wire/ranges.h"
#include "service/worker/bell.h"
#include "service/worker/budget.h"
#include "service/worker/reading.h"

/* Consecutive outcomes of one task: rows, or one error. */
typedef struct leati_worker_chunk {
    struct leati_worker_chunk *next;
    int64_t position; /* of its first outcome */
    leati_block block;
    leat_error *error; /* NULL: rows */
    int64_t bytes;
} leati_worker_chunk;

typedef struct leati_worker_chunks {
    leati_worker_chunk *first, *last;
    int64_t outcomes, bytes;
} leati_worker_chunks;

static inline int64_t leati_worker_chunk_outcomes(const leati_worker_chunk *chunk) {
    return chunk->error != NULL ? 1 : chunk->block.n;
}
void leati_worker_chunks_add(leati_worker_chunks *list, leati_worker_chunk *chunk);
/* Takes the first one out; NULL: there is none. */
leati_worker_chunk *leati_worker_chunks_pop(leati_worker_chunks *list);
/* Puts a chunk back where its position belongs. */
void leati_worker_chunks_insert(leati_worker_chunks *list, leati_worker_chunk *chunk);
void leati_worker_chunk_free(leati_worker_chunk *chunk);
void leati_worker_chunks_free(leati_worker_chunks *list);
/* Outcomes [from, from + n) of the chunk, a view. Owned; NULL without memory. */
leati_worker_chunk *leati_worker_chunk_part(const leati_worker_chunk *chunk, int64_t from,
                                            int64_t n, leat_error *err);
/* Forgets the first n of its rows, of which there are more. */
void leati_worker_chunk_skip(leati_worker_chunk *chunk, int64_t n);
/* Adds the chunk (given) to `kept` without the positions in `ranges`; memory that is left goes to
 * `dropped`, also on failure (no memory), when outcomes are lost. */
LEAT_WARN_UNUSED leat_status leati_worker_chunk_without(leati_worker_chunk *chunk,
                                                        const leati_ranges *ranges,
                                                        leati_worker_chunks *kept,
                                                        leati_worker_chunks *dropped,
                                                        leat_error *err);
/* Bytes of n outcomes of the chunk, by its mean. */
int64_t leati_worker_chunk_share(const leati_worker_chunk *chunk, int64_t n);

typedef struct leati_worker_task leati_worker_task;

/* What a reader gets at this moment. */
typedef enum leati_worker_taken {
    LEATI_WORKER_TAKEN = 0, /* the outcome is set */
    LEATI_WORKER_NOT_YET,   /* nothing: wait until the gate wakes, or for reader->skip_at_ns */
    LEATI_WORKER_HELD_BACK, /* the same, and for others than the producer */
    LEATI_WORKER_FAILED     /* the error is set: the reader can go no further */
} leati_worker_taken;

/* How elements are dealt out. All slots run with the task's lock held. */
typedef struct leati_worker_runner {
    const char *name;
    size_t size; /* of its state, zeroed, which the task owns */
    /* May be NULL. The task's fields but these are set. */
    leat_status (*init)(leati_worker_task *task, leat_error *err);
    /* May the producer make more, by the number of those that are ready? */
    bool (*room)(leati_worker_task *task);
    /* Is it to, whatever memory there is, as readers could have nothing? */
    bool (*bare)(const leati_worker_task *task);
    /* Takes a chunk (given). What it drops goes to `dropped`. */
    leat_status (*put)(leati_worker_task *task, leati_worker_chunk *chunk,
                       leati_worker_chunks *dropped, leat_error *err);
    /* The input has ended; NULL: no failure. */
    leat_status (*end)(leati_worker_task *task, leat_error *err);
    /* A new reader, or FAILED_PRECONDITION and the like. */
    leat_status (*join)(leati_worker_task *task, leati_worker_reader *reader, leat_error *err);
    leati_worker_taken (*take)(leati_worker_task *task, leati_worker_reader *reader,
                               int64_t elements, int64_t bytes, leati_worker_outcome *out,
                               leati_worker_chunks *dropped, leat_error *err);
    void (*leave)(leati_worker_task *task, leati_worker_reader *reader,
                  leati_worker_chunks *dropped);
    /* What a client says by leati_frame_credit; wakes the gate where somebody waits for that. May
     * be NULL: nobody says anything. */
    void (*ack)(leati_worker_task *task, leati_worker_reader *reader, int64_t begin, int64_t end,
                leati_worker_chunks *dropped);
    /* Was every outcome taken? Asked once the input has ended. */
    bool (*done)(const leati_worker_task *task);
    int64_t (*held)(const leati_worker_task *task); /* bytes that are ready */
    /* What counts against the worker's memory; NULL: those. */
    void (*count)(const leati_worker_task *task, leati_worker_held *out);
    /* Drops what the worker's memory has no room for, if it may. May be NULL: nothing. */
    void (*fit)(leati_worker_task *task, leati_worker_chunks *dropped);
    void (*fini)(leati_worker_task *task);
} leati_worker_runner;

extern const leati_worker_runner leati_worker_runner_shared;
extern const leati_worker_runner leati_worker_runner_rounds;
extern const leati_worker_runner leati_worker_runner_window;
extern const leati_worker_runner leati_worker_runner_stored;

/* What a task needs of its worker. The functions may wait and hear `cancel`. */
typedef struct leati_worker_ways {
    void *context; /* borrowed until the task is stopped */
    /* The dataset of an id, of a plan of its own. Owned. */
    leat_dataset *(*dataset)(void *context, const struct leati_message_task *task,
                             leat_cancel *cancel, leat_error *err);
    /* Asks for a lease on splits. */
    leat_status (*splits)(void *context, const struct leati_message_splits *request,
                          leat_cancel *cancel, struct leati_message_lease *lease, leat_error *err);
    /* Asks whether a chunk that was written counts; NOT_FOUND: not any more. */
    leat_status (*commit)(void *context, const struct leati_message_commit *request,
                          leat_cancel *cancel, leat_error *err);
    int64_t chunk_bytes;         /* of a snapshot's file */
    leati_worker_bell *bell;     /* rung where the task has news for the dispatcher; a reference */
    leati_worker_budget *budget; /* of all tasks; a reference */
    int64_t window_bytes;        /* of a window that trainers share */
    int num_threads;
    const char *address;     /* of the worker, for errors; borrowed as the context */
    int64_t (*now_ns)(void); /* by which leases are measured; NULL: the clock */
} leati_worker_ways;

struct leati_worker_task {
    atomic_long references;
    struct leati_message_task about; /* never changes */
    leati_worker_ways ways;
    const leati_worker_runner *runner;
    leat_cancel *cancel; /* fired when the task is stopped */
    leati_gate *gate;
    leati_driver *producer; /* the worker's, which joins it; started under the lock */

    /* The lock's. */
    void *state; /* of the runner */
    leati_worker_holder memory;
    leat_dataset *dataset;
    leat_iterator *iterator;            /* the producer's, who alone opens it */
    struct leati_worker_leases *leases; /* NULL: not DYNAMIC */
    leati_worker_reader *readers;
    int64_t num_readers;
    bool stopped, draining;
    bool waits_for_room;             /* the producer does */
    bool ended;                      /* the input has */
    leat_error *failure;             /* the task's own: told to every reader */
    const leat_error *out_of_memory; /* the same where there was no memory for one; static */
    int64_t made, given;             /* outcomes */
    int64_t given_bytes;
    int64_t busy_ns;       /* of making what was made */
    int64_t ahead;         /* outcomes to have ready; grows when a reader finds none */
    bool told;             /* that it is finished */
    leati_ranges acked;    /* merged; of readers that acknowledge */
    int64_t full_ns;       /* the producer waited for room: readers were slower */
    int64_t full_since_ns; /* of the wait in progress; 0: none is */
    int64_t full_told_ns;  /* the worker's heartbeat alone: what it has told of that */
};

/* Owned: one reference is the worker's. `about` is moved into it. */
leati_worker_task *leati_worker_task_new(struct leati_message_task *about,
                                         const leati_worker_ways *ways, leat_error *err);
leati_worker_task *leati_worker_task_ref(leati_worker_task *task);
void leati_worker_task_unref(leati_worker_task *task);
/* Readers are told that it is gone, the producer ends; waits for it. By the worker alone; any
 * number of times. */
void leati_worker_task_stop(leati_worker_task *task);
/* The first half of it, which does not wait. */
void leati_worker_task_cancel(leati_worker_task *task);
/* Takes no new splits: what it has is made to an end. */
void leati_worker_task_drain(leati_worker_task *task);
/* What the dispatcher is told; the text and ranges of `out` are owned by it. */
LEAT_WARN_UNUSED leat_status leati_worker_task_report(leati_worker_task *task,
                                                      struct leati_message_task_report *out,
                                                      leat_error *err);
/* How long its producer has waited for room, that is for its readers, in all. */
int64_t leati_worker_task_full_ns(leati_worker_task *task);
/* Bytes of elements that are ready and not taken. */
int64_t leati_worker_task_held(leati_worker_task *task);

/* Starts the producer unless it runs. */
LEAT_WARN_UNUSED leat_status leati_worker_task_begin(leati_worker_task *task, leat_error *err);
/* The task can go no further: what every reader is told from now on. With the lock held. */
void leati_worker_task_fail(leati_worker_task *task, const leat_error *why);
static inline const leat_error *leati_worker_task_failed(const leati_worker_task *task) {
    return task->failure != NULL ? task->failure : task->out_of_memory;
}
/* Counts what it holds now. True: other tasks are to be woken, by leati_worker_task_tell. With the
 * lock held. */
LEAT_WARN_UNUSED bool leati_worker_task_count(leati_worker_task *task);
/* Rings if the task was finished by what has just happened; `wakes`: other tasks may have room.
 * Without the lock. */
void leati_worker_task_tell(leati_worker_task *task, bool wakes);
/* The spec of the elements once the dataset is there, else NULL. Owned. */
leat_spec *leati_worker_task_spec(leati_worker_task *task);

/* ---- readers, for runners ---- */

struct leati_worker_reader {
    leati_worker_task *task;              /* a reference */
    struct leati_message_read asked;      /* owned */
    leati_worker_reader *next, *previous; /* the lock's, as what follows */
    bool joined, closed;
    /* shared.c: what it was sent and has not acknowledged, and whether it waits for more. */
    leati_worker_chunks unacked;
    bool waits;
    /* rounds.c: when waiting any longer would be a skip (LEATI_NO_DEADLINE: never). */
    int64_t skip_at_ns;
    /* window.c */
    int trainer;
    /* A direct reader hears its program's cancellation. */
    leat_cancel *cancel;
    leati_cancel_watch watch;
};

#endif
