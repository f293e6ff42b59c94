/* How much of what they made a worker's tasks may hold together.
 *
 * Each task that makes elements has an equal part of the limit, and has room while it holds less
 * than that, less than 64 MiB of what nobody was given, and all of them less than the limit. What a
 * task could drop at once, of a cross-trainer cache, takes no room of its own, and is dropped where
 * others have none. A task of which readers could have nothing makes more without room, so that
 * none starves and none waits for the readers of another: all together hold the limit, and for each
 * task the chunk that it made last, or the round, and for each reader that acknowledges a chunk.
 * What lies in pipelines and at clients has bounds of its own.
 *
 * Locks: functions that say so are called with the lock of the holder's task held and take none;
 * the others with none held, and take the budget's, under which `wake` takes that of a task. */
#ifndef LEATI_SERVICE_WORKER_BUDGET_H
#define LEATI_SERVICE_WORKER_BUDGET_H

#include <leat/base.h>

typedef struct leati_worker_budget leati_worker_budget;

/* `limit` in bytes, above 0. Owned: one reference. NULL without memory. */
leati_worker_budget *leati_worker_budget_new(int64_t limit, leat_error *err);
leati_worker_budget *leati_worker_budget_ref(leati_worker_budget *budget);
void leati_worker_budget_unref(leati_worker_budget *budget);
int64_t leati_worker_budget_limit(const leati_worker_budget *budget);
/* What all tasks hold now. */
int64_t leati_worker_budget_used(const leati_worker_budget *budget);
/* Wakes all tasks: one may have room again, or is to hold less. */
void leati_worker_budget_wake(leati_worker_budget *budget);

/* What a task holds, in bytes. */
typedef struct leati_worker_held {
    int64_t all;
    int64_t ready; /* of them, what no reader was given yet */
    int64_t spare; /* of them, what could be dropped at once */
} leati_worker_held;

/* What one task holds; embedded there. {0} before open. */
typedef struct leati_worker_holder {
    leati_worker_budget *budget; /* a reference */
    void (*wake)(void *context);
    void *context;
    struct leati_worker_holder *next, *previous; /* the budget's lock */
    bool makes;                                  /* the task's lock, as what follows */
    leati_worker_held held;
} leati_worker_holder;

/* `wake` tells the task, which is `context`, that there may be room, or too much held. */
void leati_worker_holder_open(leati_worker_holder *holder, leati_worker_budget *budget,
                              void (*wake)(void *context), void *context);
/* Also of one that was not opened. */
void leati_worker_holder_close(leati_worker_holder *holder);
/* The task makes elements from now on: it has a part. True: others are to be woken by
 * leati_worker_budget_wake, as they hold too much now. The lock is held. */
LEAT_WARN_UNUSED bool leati_worker_holder_begin(leati_worker_holder *holder);
/* It holds so much now. True: others may have room again, or hold too much, and are to be woken
 * likewise. The lock is held. */
LEAT_WARN_UNUSED bool leati_worker_holder_set(leati_worker_holder *holder,
                                              const leati_worker_held *held);
/* It makes and holds nothing any more; any number of times. As set. */
LEAT_WARN_UNUSED bool leati_worker_holder_end(leati_worker_holder *holder);
/* May it hold more than now? The lock is held. */
bool leati_worker_holder_has_room(const leati_worker_holder *holder);
/* By how much it would hold too much if `all` were what it holds. The lock is held. */
int64_t leati_worker_holder_excess(const leati_worker_holder *holder, int64_t all);

#endif
