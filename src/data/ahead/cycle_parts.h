/* The inside of a cycle: cycle.c (turns), cycle_slots.c (one dataset each), cycle_ahead.c (what is
 * read ahead), cycle_workers.c (who does) and cycle_state.c.
 *
 * A slot begins as an element of the input. Whoever works on it, the consumer or a driver, has set
 * `busy` under the gate, and owns the slot's source until it publishes. A pure dataset is staged:
 * it is read in blocks, which stand in a short ring until the consumer takes them. Others are
 * plain: the consumer alone opens them, in their turn, and asks for no more than it needs. */
#ifndef LEATI_DATA_AHEAD_CYCLE_PARTS_H
#define LEATI_DATA_AHEAD_CYCLE_PARTS_H

#include "data/ahead/cycle.h"
#include "run/driver.h"
#include "run/queue.h"

enum { LEATI_CYCLE_BLOCKS = 4 }; /* ready ones of a slot, at most */

/* What one pull gave. An error behind the rows is the slot's. */
typedef struct leati_cycle_block {
    leati_block rows;
    leati_tail tail;
    int64_t bytes;
} leati_cycle_block;

/* What the workers know of a slot. */
typedef enum leati_cycle_phase {
    LEATI_PHASE_CALL = 0, /* the function has not been called */
    LEATI_PHASE_MADE,     /* the dataset is impure and has not been opened */
    LEATI_PHASE_OPEN,
    LEATI_PHASE_ENDED, /* the last block is read, or there was an error instead of a dataset */
} leati_cycle_phase;

/* What the consumer knows. */
typedef enum leati_cycle_kind {
    LEATI_KIND_NEW = 0,
    LEATI_KIND_STAGED,
    LEATI_KIND_PLAIN,
    LEATI_KIND_SPENT /* no dataset: its error was delivered, and its turn is still to pass */
} leati_cycle_kind;

/* What an error of a slot stands for. */
typedef enum leati_cycle_fault {
    LEATI_FAULT_NONE = 0,
    LEATI_FAULT_DATASET, /* there is no dataset: of the input, the function or opening */
    LEATI_FAULT_ELEMENT  /* of the dataset, which goes on */
} leati_cycle_fault;

/* A state of a slot's dataset, and the outcome that it stands before. */
typedef struct leati_cycle_snapshot {
    leati_writer state; /* empty: as the dataset was opened */
    int64_t at;
} leati_cycle_snapshot;

/* The consumer's. */
typedef struct leati_slot_front {
    leati_cycle_kind kind;
    leati_cycle_block block;   /* the one that is being consumed */
    int64_t at;                /* rows of it that were */
    int64_t taken;             /* outcomes of the dataset, ever */
    leati_cycle_snapshot base; /* what a saved state begins with */
} leati_slot_front;

/* The worker's. */
typedef struct leati_slot_source {
    leat_dataset *dataset; /* made, not opened */
    leati_input input;
    int64_t made;     /* outcomes read or passed */
    leat_error error; /* to be delivered where the slot's fault says so */
} leati_slot_source;

/* The gate's, or the consumer's where there are no workers. */
typedef struct leati_slot_ready {
    bool busy;
    leati_cycle_phase phase;
    leati_cycle_fault fault; /* its error follows the last block, and none is read before */
    leati_cycle_block blocks[LEATI_CYCLE_BLOCKS];
    int first, count;              /* of them */
    int64_t rows;                  /* in them */
    bool snapped;                  /* `snapshot` will be the next base */
    leati_cycle_snapshot snapshot; /* the worker's, until that is set */
} leati_slot_ready;

struct leati_cycle_slot {
    leati_cycle_slot *next; /* in the cycle's queue */
    int64_t call;           /* number of the call that makes the dataset */
    leati_block element;
    leati_iteration iteration;
    leati_slot_front front;
    leati_slot_source source;
    leati_slot_ready ready;
};

typedef struct leati_cycle_worker {
    leati_cycle_workers *workers;
    leati_driver *driver;
    leati_inner inner;
} leati_cycle_worker;

/* cycle_workers.c. Gate, but for the first two. */
typedef struct leati_cycle_hiring {
    leati_cycle_worker *all; /* the consumer's; `hired` of them */
    int hired;               /* the consumer's */
    int most;
    int running, resting; /* drivers, drivers that wait */
    bool stop, hold;
} leati_cycle_hiring;

/* What was read ahead; cycle_ahead.c. Gate. */
typedef struct leati_cycle_stock {
    int64_t held; /* bytes: of blocks that are ready, and of those in front */
    int64_t blocks, rows;
    int busy;                        /* slots that somebody reads */
    int64_t turn;                    /* where the drivers look first */
    const leati_cycle_slot *awaited; /* by the consumer */
} leati_cycle_stock;

/* What was measured; cycle_ahead.c. Gate. */
typedef struct leati_cycle_rates {
    bool worth;      /* to read ahead */
    int64_t ask;     /* rows of the next block */
    int64_t work_ns; /* spent on datasets, and on how many */
    int64_t opened;
    int64_t snapshot_ns;
    double row_ns; /* of a dataset; 0: not measured */
    uint64_t snapshots;
} leati_cycle_rates;

struct leati_cycle_workers {
    leati_cycle *cycle;
    leati_iteration below; /* what datasets that are read ahead run in: without a deadline */
    leat_cancel *cancel;   /* of those */
    leati_cancel_watch watch;
    leati_gate *gate; /* without a cancel object: closing waits after a cancel, too */
    bool ahead;       /* input and function are pure: the queue may grow, drivers may call */
    leati_cycle_hiring hiring;
    leati_cycle_stock stock;
    leati_cycle_rates rates;
};

/* What a worker found, to be published. */
typedef struct leati_cycle_found {
    leati_cycle_phase phase;
    leati_cycle_fault fault;
    leati_cycle_block *block; /* NULL: none */
    int64_t ask, spent, snapshot_ns;
    bool opened, due, snapped; /* a snapshot is due, was taken */
} leati_cycle_found;

/* ---- cycle_slots.c: one slot; none takes the gate ---- */

leati_cycle_slot *leati_cycle_slot_new(leat_error *err);
/* Nobody works on it. */
void leati_cycle_slot_free(leati_cycle_slot *slot);
/* Calls the function, with `inner`, unless that was done, and opens the dataset; one that is
 * impure only as a `plain` one. Returns the slot's new phase; on a failure, which is the slot's
 * error, ENDED. */
leati_cycle_phase leati_cycle_slot_open(leati_cycle *cycle, leati_cycle_slot *slot,
                                        leati_inner *inner, bool plain);
/* Opens the dataset if need be, and reads a block. */
void leati_cycle_slot_read(leati_cycle *cycle, leati_cycle_slot *slot, leati_inner *inner,
                           leati_cycle_found *found);
/* Is everything consumed that was read from a staged slot? */
static inline bool leati_cycle_slot_drained(const leati_cycle_slot *slot) {
    return slot->front.at == slot->front.block.rows.n && slot->front.block.tail == LEATI_MORE;
}

/* ---- cycle_workers.c ---- */

/* Owned; NULL on failure. */
leati_cycle_workers *leati_cycle_workers_new(leati_cycle *cycle, leat_error *err);
/* Stops the drivers and waits for them; slots are still there. */
void leati_cycle_workers_stop(leati_cycle_workers *workers);
void leati_cycle_workers_free(leati_cycle_workers *workers);
/* Lets no driver begin anything, and waits until none works. */
void leati_cycle_workers_hold(leati_cycle_workers *workers);
void leati_cycle_workers_release(leati_cycle_workers *workers);
/* With the gate locked: would one more driver have something to do? */
bool leati_cycle_workers_lack(const leati_cycle_workers *workers);
/* Without the gate: one more driver. Without memory or threads there will be no more of them. */
void leati_cycle_workers_hire(leati_cycle_workers *workers);
/* With the gate locked: wakes drivers that rest although there is something to do. */
void leati_cycle_workers_wake(leati_cycle_workers *workers);

/* ---- cycle_ahead.c ---- */

/* With the gate locked: the slot that a driver should work on, or NULL. */
leati_cycle_slot *leati_cycle_ahead_choose(const leati_cycle_workers *workers);
/* With the gate locked: the slot is read by the caller, at least `least` rows of it. */
leati_cycle_found leati_cycle_ahead_begin(leati_cycle_workers *workers, leati_cycle_slot *slot,
                                          int64_t least);
/* With the gate locked: what leati_cycle_slot_read found. */
void leati_cycle_ahead_publish(leati_cycle_workers *workers, leati_cycle_slot *slot,
                               const leati_cycle_found *found);
/* Rows that a turn takes, as far as that bounds what is read ahead. */
int64_t leati_cycle_ahead_turn_rows(const leati_cycle_workers *workers);

/* How many slots the queue lacks so that the drivers have enough to do; 0: they have. */
int64_t leati_cycle_ahead_lacks(leati_cycle_workers *workers);
typedef enum leati_cycle_load {
    LEATI_LOADED = 0,
    LEATI_NOT_YET,
    LEATI_NOT_LOADED
} leati_cycle_load;
/* Makes the slot's next block its front; then it is staged. A new slot that stays new has a fault
 * or an impure dataset. Where nobody works on the slot, the consumer does. NOT_YET: the turn should
 * be looked at again, or, unless `patient`, it would take time. NOT_LOADED: `err` says why, nothing
 * was lost. */
leati_cycle_load leati_cycle_ahead_load(leati_cycle_workers *workers, leati_cycle_slot *slot,
                                        bool patient, leat_error *err);
/* The slot whose turn it should be in any order. */
int64_t leati_cycle_ahead_ready(leati_cycle_workers *workers, int64_t at);

/* With the gate locked: the slot is about to be dropped. */
void leati_cycle_ahead_forget(leati_cycle_workers *workers, const leati_cycle_slot *slot);
/* The consumer takes a slot that nobody works on and of which nothing was read ahead, and gives it
 * back. */
bool leati_cycle_ahead_claim(leati_cycle_workers *workers, leati_cycle_slot *slot);
void leati_cycle_ahead_unclaim(leati_cycle_workers *workers, leati_cycle_slot *slot);

/* ---- cycle.c ---- */

void leati_cycle_enqueue(leati_cycle *cycle, leati_cycle_slot *slot);
/* Puts a slot in an empty place. */
void leati_cycle_place(leati_cycle *cycle, int64_t at, leati_cycle_slot *slot);
/* Drops all slots, the queue's too; no driver works. */
void leati_cycle_empty(leati_cycle *cycle);

#endif
