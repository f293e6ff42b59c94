/* The inside of a ring, shared by ring.c (driver and consumer), ring_tasks.c and ring_state.c.
 *
 * Outcomes of the input are numbered from 0 since the operator was opened, over all its epochs; the
 * number is also the ordinal of the call in a function's random context. A stage is a block of the
 * input with its tail; it is cut into pieces, each one task (or, without a program, one piece for
 * the whole stage). The consumer takes pieces from the front, or any finished one. */
#ifndef LEATI_DATA_AHEAD_RING_PARTS_H
#define LEATI_DATA_AHEAD_RING_PARTS_H

#include "data/ahead/ring.h"
#include "data/run/autotune.h"
#include "data/run/input.h"
#include "run/driver.h"
#include "run/queue.h"

/* A state of the input from which it can be replayed. */
typedef struct leati_ring_snapshot {
    struct leati_ring_snapshot *next; /* gate; in the ring's list of free ones */
    int32_t refs;                     /* gate */
    int64_t index;                    /* the outcome that the input stands before */
    int64_t error;                    /* gate; the first error read after it; INT64_MAX: none yet */
    leati_writer state;
    leati_save_cost cost; /* of restoring it */
} leati_ring_snapshot;

typedef struct leati_ring_stage leati_ring_stage;

typedef struct leati_ring_piece {
    leati_task task; /* first */
    leati_ring *ring;
    struct leati_ring_piece *next; /* gate; in the ring's list or the free one */
    leati_ring_stage *stage;
    /* The rest is the task's until `done`, then the consumer's. */
    int64_t begin, rows; /* of the stage's rows: not delivered yet */
    bool last;           /* the stage's tail follows the rows, and is not delivered yet */
    leati_block out;     /* results */
    leati_block *from;   /* where the next `good` rows stand, from row `at`: out or the stage */
    int64_t at, good;
    bool failed;      /* the row after them has failed */
    leat_error error; /* of that row */
    int64_t bytes;    /* of out */
    bool done;        /* gate */
    bool placed;      /* `places` say where the rows shall be written; they own references */
    leati_destination *places; /* of the ring's lanes; one per column */
} leati_ring_piece;

struct leati_ring_stage {
    leati_ring_stage *next; /* gate */
    leati_block rows;       /* immutable once in the ring */
    leati_tail tail;
    leat_error error;
    int64_t index;             /* number of the first outcome */
    int64_t cut;               /* gate: rows given to pieces */
    int32_t pieces;            /* gate: alive */
    bool closed;               /* gate: everything was cut */
    int64_t bytes;             /* of the rows */
    int64_t per_row;           /* bytes */
    leati_ring_snapshot *mark; /* gate; NULL: the input cannot be replayed */
    leati_ring_piece whole;
};

typedef struct leati_ring_range {
    int64_t begin, end;
} leati_ring_range;

/* Where results of a map go that will be rows of batches; ring_lanes.c. Gate. */
typedef struct leati_lanes {
    bool asked;     /* a consumer has offered memory */
    int64_t rows;   /* of a batch; 0: results have memory of their own */
    int64_t border; /* an outcome that begins a batch */
    int64_t first;  /* the outcome that begins the batch of `buffers` */
    int num_columns;
    leati_destination *offered; /* what a row is made of, and after it the pieces' places */
    leati_buffer_pool **pools;
    leat_buffer **buffers; /* of the batch whose pieces were cut last; NULL: none */
} leati_lanes;

struct leati_ring {
    leati_node_state *node;
    leati_ring_options options;
    leati_iteration below; /* what the input runs in: the consumer's deadline is not its own */
    leat_cancel *cancel;   /* of the input's side */
    leati_cancel_watch watch;
    leati_gate *gate; /* without a cancel object: closing waits after a cancel, too */
    leati_knob knob;
    bool replayable;

    /* The consumer's. */
    leati_driver *driver;     /* NULL: not running, and the input is the consumer's */
    leati_ring_range *wanted; /* restored: outcomes below `frontier` that are still to come; gate
                            while a driver runs */
    size_t num_wanted, wanted_at;
    int64_t frontier;

    /* The driver's while it runs. */
    leati_input input;
    int64_t mark_ns, pull_ns; /* spent so far on snapshots and on pulling */
    int64_t pulls;

    /* One per worker of the pool, made by it. */
    leati_scratch **scratches;
    int workers;

    /* Gate. */
    bool stop, park, parked, driver_done;
    bool consumer_waits, driver_waits;
    bool driver_lingers;  /* it waits for more room, though there is some */
    bool consumer_naps;   /* it waits, but not for little */
    bool input_ended;     /* the END stage is in the ring, or was */
    leat_error trouble;   /* why the driver gave up, if it did */
    leat_error unsavable; /* why the input has no snapshot, if it has none */
    leati_ring_stage *stages, **stages_end, *uncut;
    leati_ring_stage *dead, *free_stages;
    leati_ring_piece *pieces, **pieces_end, *free_pieces, *all_pieces;
    int64_t num_pieces, running;
    int64_t next_index;  /* of the outcome after the last stage */
    int64_t undelivered; /* outcomes in the ring */
    int64_t delivered;   /* outcomes ever */
    int64_t uncut_bytes;
    int64_t held;                    /* bytes of stages and results */
    leati_ring_snapshot *mark;       /* the last one taken */
    leati_ring_snapshot *free_marks; /* with the memory of their states */
    leati_writer ranges;             /* of the state that was written last: its memory */
    double row_ns;                   /* of the program; 0: not measured */
    double fetch_ns;                 /* of the input, per outcome; 0: not measured */
    double in_bytes, out_bytes;      /* per row */
    int64_t last_rows, last_fetch;
    int64_t max_pieces;
    leati_lanes lanes;
};

/* All with the gate locked. */

/* How many tasks may run at a time. */
int64_t leati_ring_parallelism(const leati_ring *ring);
/* Cuts pieces while there is room for them, and submits them. */
void leati_ring_cut(leati_ring *ring);
/* Submits a piece for the rows that it still lacks. */
void leati_ring_submit(leati_ring *ring, leati_ring_piece *piece);
void leati_ring_add_stage(leati_ring *ring, leati_ring_stage *stage);
void leati_ring_drop_stage(leati_ring *ring, leati_ring_stage *stage);
/* Publishes depth and bytes. */
void leati_ring_account(leati_ring *ring);
/* Wakes the driver if it waits and may go on. */
void leati_ring_wake_driver(leati_ring *ring);
/* The piece that the consumer may take now, or NULL. */
leati_ring_piece *leati_ring_choose(const leati_ring *ring);
void leati_ring_snapshot_unref(leati_ring *ring, leati_ring_snapshot *mark);
/* A mark of one reference; NULL without memory. */
leati_ring_snapshot *leati_ring_take_mark(leati_ring *ring);
/* The number of the first outcome that is still to come. */
int64_t leati_ring_first_left(const leati_ring *ring);
/* Of `rows` from an outcome on, those before the batch's end. */
int64_t leati_ring_rows_to_border(const leati_ring *ring, int64_t outcome, int64_t rows);
/* Says where a new piece shall write its rows. */
void leati_ring_place(leati_ring *ring, leati_ring_piece *piece);

/* All without it. */

/* The consumer asks for `want` rows, and would like them at `offered` (NULL: anywhere). */
LEAT_WARN_UNUSED leat_status leati_ring_note(leati_ring *ring, int64_t want,
                                             const leati_destination *offered, int num_columns,
                                             leat_error *err);
/* The piece was computed: drops what `places` own. */
void leati_ring_unplace(leati_ring_piece *piece);
/* Of a stopped ring: lets go of the batch under way, and of everything. */
void leati_ring_forget_batch(leati_ring *ring);
void leati_ring_lanes_free(leati_ring *ring);

/* A stage with nothing in it; NULL without memory. */
leati_ring_stage *leati_ring_take_stage(leati_ring *ring);
/* Stops and joins the driver; waits for the tasks. What is in the ring stays. */
void leati_ring_stop(leati_ring *ring);
/* Empties a stopped ring. */
void leati_ring_discard(leati_ring *ring);

/* A nanosecond figure that follows its measurements. */
static inline double leati_ring_blend(double old, double measured) {
    return old == 0 ? measured : old + (measured - old) / 4;
}

#endif
