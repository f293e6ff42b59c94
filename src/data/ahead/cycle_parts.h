/* The inside of a cycle, shared by cycle.c (turns), cycle_slots.c (one dataset each), cycle_crew.c
 * (reading ahead) and cycle_state.c.
 *
 * A slot begins as an element of the input. Whoever works on it, the consumer or a driver, has set
 * `busy` under the gate, and owns what "the worker's" names until it publishes. A pure dataset is
 * staged: it is read in portions, which stand in a short ring until the consumer takes them. Others
 * are plain: the consumer alone opens them, in their turn, and asks for no more than it needs. */
#ifndef LEATI_DATA_AHEAD_CYCLE_PARTS_H
#define LEATI_DATA_AHEAD_CYCLE_PARTS_H

#include "data/ahead/cycle.h"
#include "run/driver.h"
#include "run/queue.h"

enum { LEATI_PORTIONS = 4 }; /* ready ones of a slot, at most */

/* What one pull gave. An error behind the rows is the slot's. */
typedef struct leati_portion {
    leati_block rows;
    leati_tail tail;
    int64_t bytes;
} leati_portion;

/* What the workers know of a slot. */
typedef enum leati_cycle_phase {
    LEATI_PHASE_CALL = 0, /* the function has not been called */
    LEATI_PHASE_MADE,     /* the dataset is impure and has not been opened */
    LEATI_PHASE_OPEN,
    LEATI_PHASE_ENDED, /* the last portion is made, or there was an error instead of a dataset */
} leati_cycle_phase;

/* What the consumer knows. */
typedef enum leati_cycle_kind {
    LEATI_KIND_NEW = 0,
    LEATI_KIND_STAGED,
    LEATI_KIND_PLAIN,
    LEATI_KIND_SPENT /* no dataset: its error was delivered, and its turn is still to pass */
} leati_cycle_kind;

/* What an error of a slot stands for. */
typedef enum leati_fault {
    LEATI_FAULT_NONE = 0,
    LEATI_FAULT_DATASET, /* there is no dataset: of the input, the function or opening */
    LEATI_FAULT_ELEMENT  /* of the dataset, which goes on */
} leati_fault;

struct leati_slot {
    leati_slot *next; /* in the cycle's queue */
    int64_t call;     /* number of the call that makes the dataset */
    leati_block element;
    leati_iteration iteration;

    /* The consumer's. */
    leati_cycle_kind kind;
    leati_portion front; /* the one that is being consumed */
    int64_t at;          /* rows of it that were */
    int64_t taken;       /* outcomes of the dataset, ever */
    leati_writer base;   /* a state of the dataset; empty: as it was opened */
    int64_t base_at;     /* the outcome it stands before */

    /* The worker's. */
    leat_dataset *dataset; /* made, not opened */
    leati_input input;
    int64_t made; /* outcomes read or passed */

    /* The gate's, or the consumer's where there is no crew. */
    bool busy;
    leati_cycle_phase phase;
    leati_fault fault; /* `error` is to be delivered behind the last portion, and none is made */
    leat_error error;
    leati_portion ready[LEATI_PORTIONS];
    int first, count;   /* of them */
    int64_t ready_rows; /* in them */
    bool marked;        /* `mark` will be the next base */
    leati_writer mark;
    int64_t mark_at;
};

typedef struct leati_crew_worker {
    leati_crew *crew;
    leati_driver *driver;
    leati_inner inner;
} leati_crew_worker;

struct leati_crew {
    leati_cycle *cycle;
    leati_iteration below; /* what datasets that are read ahead run in: without a deadline */
    leat_cancel *cancel;   /* of those */
    leati_cancel_watch watch;
    leati_gate *gate; /* without a cancel object: closing waits after a cancel, too */
    bool ahead;       /* input and function are pure: the queue may grow, drivers may call */

    leati_crew_worker *workers; /* `hired` of them, which the consumer does */
    int hired;
    int most; /* gate */

    /* Gate. */
    bool stop, hold, worth;
    const leati_slot *awaited;  /* by the consumer */
    int running, resting, busy; /* drivers, drivers that wait, slots */
    int64_t turn;               /* where the drivers look first */
    int64_t held, portions, rows;
    int64_t ask;     /* rows of the next portion */
    int64_t work_ns; /* spent on datasets, and on how many */
    int64_t opened;
    int64_t mark_ns;
    double row_ns; /* of a dataset; 0: not measured */
    uint64_t marks;
};

/* ---- cycle_slots.c: one slot; none takes the gate ---- */

leati_slot *leati_cycle_slot_new(leat_error *err);
/* Nobody works on it. */
void leati_cycle_slot_free(leati_slot *slot);
/* Calls the function, with `inner`, unless that was done, and opens the dataset; one that is
 * impure only as a `plain` one. Returns the slot's new phase; on a failure, which is the slot's
 * error, ENDED. */
leati_cycle_phase leati_cycle_slot_open(leati_cycle *cycle, leati_slot *slot, leati_inner *inner,
                                        bool plain);
/* Is everything consumed that was read from a staged slot? */
static inline bool leati_cycle_slot_drained(const leati_slot *slot) {
    return slot->at == slot->front.rows.n && slot->front.tail == LEATI_MORE;
}

/* ---- cycle_crew.c ---- */

/* Owned; NULL on failure. */
leati_crew *leati_cycle_crew_new(leati_cycle *cycle, leat_error *err);
/* Stops the drivers and waits for them; slots are still there. */
void leati_cycle_crew_stop(leati_crew *crew);
void leati_cycle_crew_free(leati_crew *crew);
/* Lets no driver begin anything, and waits until none works. */
void leati_cycle_crew_hold(leati_crew *crew);
void leati_cycle_crew_release(leati_crew *crew);

/* How many slots the queue lacks so that the drivers have enough to do; 0: they have. */
int64_t leati_cycle_crew_lacks(leati_crew *crew);
typedef enum leati_load { LEATI_LOADED = 0, LEATI_NOT_YET, LEATI_NOT_LOADED } leati_load;
/* Makes the slot's next portion its front; then it is staged. A new slot that stays new has a fault
 * or an impure dataset. Where nobody works on the slot, the consumer does. NOT_YET: the turn should
 * be looked at again, or, unless `patient`, it would take time. NOT_LOADED: `err` says why, nothing
 * was lost. */
leati_load leati_cycle_crew_load(leati_crew *crew, leati_slot *slot, bool patient, leat_error *err);
/* The slot whose turn it should be in any order. */
int64_t leati_cycle_crew_ready(leati_crew *crew, int64_t at);

/* With the gate locked: the slot is about to be dropped. */
void leati_cycle_crew_forget(leati_crew *crew, const leati_slot *slot);
/* With the gate locked: wakes drivers that rest although there is something to do. */
void leati_cycle_crew_wake(leati_crew *crew);
/* The consumer takes a slot that nobody works on and of which nothing was read ahead, and gives it
 * back. */
bool leati_cycle_crew_claim(leati_crew *crew, leati_slot *slot);
void leati_cycle_crew_unclaim(leati_crew *crew, leati_slot *slot);

/* ---- cycle.c ---- */

void leati_cycle_enqueue(leati_cycle *cycle, leati_slot *slot);
/* Puts a slot in an empty place. */
void leati_cycle_place(leati_cycle *cycle, int64_t at, leati_slot *slot);
/* Drops all slots, the queue's too; no driver works. */
void leati_cycle_empty(leati_cycle *cycle);

#endif
