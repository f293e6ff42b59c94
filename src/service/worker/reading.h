/* Readers of a worker's tasks: streams of the network (stream.c), and programs of the same process,
 * which get blocks by reference.
 *
 * A reader gets the outcomes that its task's runner deals out to it: blocks of consecutive
 * positions, errors of single elements, skips, and at last the end or that the task is gone. What
 * a reader takes is its own; where the visitation level asks for acknowledgements, it gives back
 * at its closing what it has not acknowledged, and another reader gets it.
 *
 * Coordinated consumers have turns. The n-th turn of a task is the same for all of its consumers:
 * either all get their elements of the next round, or all get a skip, which comes when the round
 * was not ready 100 ms after the first of them came to wait for it. Consumer i of n gets positions
 * k * n + i in the task's k-th round of elements. They say which turns came to them, and hear which
 * are whole, as they came to all: no other is to be used (rounds.c). */
#ifndef LEATI_SERVICE_WORKER_READING_H
#define LEATI_SERVICE_WORKER_READING_H

#include "core/block.h"
#include "run/cancel.h"
#include "service/wire/frame.h"

typedef struct leati_worker_reader leati_worker_reader;

/* One step of a reader. {0} is empty; reused from call to call. */
typedef struct leati_worker_outcome {
    leati_frame_kind kind;
    int64_t position;  /* as in a frame */
    leati_block block; /* of ELEMENTS */
    leat_error why;    /* of ERROR and GONE */
} leati_worker_outcome;

void leati_worker_outcome_fini(leati_worker_outcome *outcome);

/* Opens a reader of a task of the worker in this process that has this address. `cancel` (may be
 * NULL; borrowed until the reader is closed) ends its waits. UNAVAILABLE: no worker of this process
 * has the address, so that the network is to be used, or it does not have the task;
 * FAILED_PRECONDITION: a coordinated consumer comes back behind its turn. Owned. */
leati_worker_reader *leati_worker_reader_open(const char *address,
                                              const struct leati_message_read *asked,
                                              leat_cancel *cancel, leat_error *err);
/* Waits for the next step: of ELEMENTS at most `elements` (at least 1) of them, and no more than
 * about `bytes` together, but one. After END and GONE there is none. CANCELLED; else the failure of
 * the task, as of a file that is not there, which ends it for all readers. One thread at a time. */
LEAT_WARN_UNUSED leat_status leati_worker_reader_next(leati_worker_reader *reader, int64_t elements,
                                                      int64_t bytes, leati_worker_outcome *out,
                                                      leat_error *err);
/* Positions [begin, end) were taken by the program; of a coordinated consumer, `end` turns came to
 * it, and its program took `begin` of them. Any thread. */
void leati_worker_reader_ack(leati_worker_reader *reader, int64_t begin, int64_t end);
/* Ends a wait of another thread with CANCELLED, now and later. */
void leati_worker_reader_cancel(leati_worker_reader *reader);
/* Gives back what is to be given back, and ends waits: what a reader does whose thread closes it
 * later. Any thread, any number of times. */
void leati_worker_reader_leave(leati_worker_reader *reader);
/* Leaves and frees. NULL is allowed. */
void leati_worker_reader_close(leati_worker_reader *reader);
/* The spec of the elements; NULL before the first outcome. Owned. */
leat_spec *leati_worker_reader_spec(const leati_worker_reader *reader);

/* Does a worker of this process have the address? */
bool leati_worker_is_here(const char *address);

/* ---- for the worker ---- */

struct leati_worker_task;
/* Finds a task of a worker, a new reference; UNAVAILABLE where it has not the one that is asked
 * for. */
typedef struct leati_worker_task *(*leati_worker_find)(void *worker,
                                                       const struct leati_message_read *asked,
                                                       leat_error *err);
/* A worker is known by its address, in this process, from now on until it is withdrawn; withdraw
 * waits for a find that runs. `entry` is embedded in the worker. */
typedef struct leati_worker_entry {
    const char *address; /* borrowed */
    leati_worker_find find;
    void *worker;
    struct leati_worker_entry *next;
} leati_worker_entry;
void leati_worker_entry_add(leati_worker_entry *entry);
void leati_worker_entry_remove(leati_worker_entry *entry);

/* A reader of a task (a reference is taken). Owned. */
leati_worker_reader *leati_worker_reader_new(struct leati_worker_task *task,
                                             const struct leati_message_read *asked,
                                             leat_cancel *cancel, leat_error *err);

#endif
