/* The inside of a ring: ring_queue.c (what it holds), ring_tasks.c (cutting and computing),
 * ring_lanes.c (where results go), ring_driver.c (reading ahead), ring_state.c (snapshots and saved
 * states) and ring.c (the consumer).
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
    int64_t index;                 /* number of the first outcome */
    int64_t cut;                   /* gate: rows given to pieces */
    int32_t pieces;                /* gate: alive */
    bool closed;                   /* gate: everything was cut */
    int64_t bytes;                 /* of the rows */
    int64_t per_row;               /* bytes */
    leati_ring_snapshot *snapshot; /* gate; NULL: the input cannot be replayed */
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

/* What was read and is not delivered; ring_queue.c. Gate. */
typedef struct leati_ring_queue {
    leati_ring_stage *stages, **stages_end;
    leati_ring_stage *uncut; /* the first of them with rows or a tail that no piece has */
    leati_ring_piece *pieces, **pieces_end;
    int64_t num_pieces;
    int64_t running;     /* pieces that are not done */
    int64_t next_index;  /* of the outcome after the last stage */
    int64_t undelivered; /* outcomes in the ring */
    int64_t delivered;   /* outcomes ever */
    int64_t uncut_bytes;
    int64_t held; /* bytes of stages and results */
} leati_ring_queue;

/* Memory that is used again; ring_queue.c. Gate, but for the scratches. */
typedef struct leati_ring_spare {
    leati_ring_stage *dead; /* whose references are to be dropped without the gate */
    leati_ring_stage *stages;
    leati_ring_piece *pieces, *all_pieces;
    int64_t max_pieces;
    leati_scratch **scratches; /* one per worker of the pool, made by it */
    int workers;
} leati_ring_spare;

/* Gate. */
typedef struct leati_ring_snapshots {
    leati_ring_snapshot *last; /* the last one taken */
    leati_ring_snapshot *free; /* with the memory of their states */
    leat_error unsavable;      /* why the input has no snapshot, if it has none */
    leati_writer ranges;       /* of the state that was written last: its memory */
} leati_ring_snapshots;

/* After a restore: outcomes below `frontier` that are still to come. The consumer's; gate while a
 * driver runs. */
typedef struct leati_ring_wanted {
    leati_ring_range *ranges;
    size_t count, at;
    int64_t frontier;
} leati_ring_wanted;

/* What was measured. Gate. */
typedef struct leati_ring_rates {
    double row_ns;              /* of the program; 0: not measured */
    double fetch_ns;            /* of the input, per outcome; 0: not measured */
    double in_bytes, out_bytes; /* per row */
    int64_t last_rows, last_fetch;
} leati_ring_rates;

/* What consumer, driver and tasks tell each other. Gate. */
typedef struct leati_ring_signals {
    bool stop, park, parked, driver_done;
    bool consumer_waits, driver_waits;
    bool driver_lingers; /* it waits for more room, though there is some */
    bool consumer_naps;  /* it waits, but not for little */
    bool input_ended;    /* the END stage is in the ring, or was */
    leat_error trouble;  /* why the driver gave up, if it did */
} leati_ring_signals;

/* ring_driver.c. The driver's while it runs, and then the consumer's. */
typedef struct leati_ring_driver {
    leati_driver *thread; /* the consumer's; NULL: not running */
    leati_input input;
    int64_t snapshot_ns, pull_ns; /* spent so far on snapshots and on pulling */
    int64_t pulls;
} leati_ring_driver;

struct leati_ring {
    leati_node_state *node;
    leati_ring_options options;
    leati_iteration below; /* what the input runs in: the consumer's deadline is not its own */
    leat_cancel *cancel;   /* of the input's side */
    leati_cancel_watch watch;
    leati_gate *gate; /* without a cancel object: closing waits after a cancel, too */
    leati_knob knob;
    bool replayable;

    leati_ring_driver driver;
    leati_ring_wanted wanted;
    leati_ring_queue queue;
    leati_ring_spare spare;
    leati_ring_snapshots snapshots;
    leati_ring_rates rates;
    leati_ring_signals signals;
    leati_lanes lanes;
};

enum { LEATI_RING_NAP_NS = 400 * 1000 }; /* of elements for which a waiting consumer is woken */

/* All with the gate locked. */

/* How many tasks may run at a time. */
int64_t leati_ring_parallelism(const leati_ring *ring);
/* Cuts pieces while there is room for them, and submits them. */
void leati_ring_cut(leati_ring *ring);
/* Submits a piece for the rows that it still lacks. */
void leati_ring_submit(leati_ring *ring, leati_ring_piece *piece);
/* Appends what was read; it can be read again from the last snapshot. */
void leati_ring_add_stage(leati_ring *ring, leati_ring_stage *stage);
void leati_ring_drop_stage(leati_ring *ring, leati_ring_stage *stage);
/* A stage that is in no list: it is dead. */
void leati_ring_bury_stage(leati_ring *ring, leati_ring_stage *stage);
/* The dead ones, for leati_ring_reap. */
leati_ring_stage *leati_ring_take_dead(leati_ring *ring);
void leati_ring_remove_piece(leati_ring *ring, leati_ring_piece *piece);
/* Publishes depth and bytes. */
void leati_ring_account(leati_ring *ring);
/* Asserts that counts and lists agree. The consumer's: what it has taken of pieces is counted. */
void leati_ring_assert(const leati_ring *ring);
/* Wakes the driver if it waits and may go on. */
void leati_ring_wake_driver(leati_ring *ring);
/* The piece that the consumer may take now, or NULL. */
leati_ring_piece *leati_ring_choose(const leati_ring *ring);
void leati_ring_snapshots_free(leati_ring *ring);
void leati_ring_snapshot_unref(leati_ring *ring, leati_ring_snapshot *snapshot);
/* A snapshot of one reference; NULL without memory. */
leati_ring_snapshot *leati_ring_snapshot_take(leati_ring *ring);
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
/* Rows and tail were read: a stage of which nothing is cut. */
void leati_ring_fill_stage(leati_ring_stage *stage);
/* Drops the references of dead stages, and keeps their memory. */
void leati_ring_reap(leati_ring *ring, leati_ring_stage *dead);
/* Starts the driver, unless it runs or the input has ended. */
LEAT_WARN_UNUSED leat_status leati_ring_start(leati_ring *ring, leat_error *err);
/* Stops and joins the driver; waits for the tasks. What is in the ring stays. */
void leati_ring_stop(leati_ring *ring);
/* Lets the driver stand still between two pulls, and go on. */
void leati_ring_pause(leati_ring *ring);
void leati_ring_resume(leati_ring *ring);
/* The pieces of a ring with a program exist from the start, so that reading on needs no memory. */
LEAT_WARN_UNUSED leat_status leati_ring_make_pieces(leati_ring *ring, leat_error *err);
/* Empties a stopped ring. */
void leati_ring_discard(leati_ring *ring);
/* Frees it. */
void leati_ring_free_spare(leati_ring *ring);

/* A nanosecond figure that follows its measurements. */
static inline double leati_ring_blend(double old, double measured) {
    return old == 0 ? measured : old + (measured - old) / 4;
}

#endif
