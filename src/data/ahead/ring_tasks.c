/* Rings: cutting stages into pieces, and the tasks that compute them.
 *
 * Happy path: whoever makes room (the driver with a new stage, a task that ends, the consumer that
 * takes a piece) cuts the next rows and submits them, so that the pool is kept busy without waking
 * the driver. A piece has as many rows as take about TASK_NS by measurement. A task that meets a
 * failing row ends there; when the consumer has taken the error, the rest is submitted again.
 * Everything but the computing itself happens under the gate. */
#include "base/clock.h"
#include "base/debug.h"
#include "base/minmax.h"
#include "data/ahead/ring_parts.h"
#include "data/run/apply.h"
#include "run/trace.h"
#include <string.h>

enum {
    TASK_NS = 200 * 1000,         /* so long that handing a task over is little beside it */
    MOST_TASK_ROWS = 65536,       /* rows that cost nothing still leave work for other threads */
    MOST_BLOCKED_BYTES = 32 << 20 /* in the ring, behind a piece that takes long */
};

int64_t leati_ring_parallelism(const leati_ring *ring) {
    return leati_autotune_knob_get(&ring->knob);
}

leati_ring_piece *leati_ring_choose(const leati_ring *ring) {
    leati_ring_piece *piece = ring->queue.pieces;
    if (piece == NULL || piece->done || !ring->options.any_order)
        return piece != NULL && piece->done ? piece : NULL;
    /* Rows may overtake each other; the end of the input must not overtake rows. */
    for (piece = piece->next; piece != NULL; piece = piece->next) {
        bool only_end = piece->rows == 0 && piece->last && piece->stage->tail == LEATI_END;
        if (piece->done && !only_end)
            return piece;
    }
    return NULL;
}

/* ---- tasks ---- */

static leati_scratch *scratch_of(leati_ring *ring, int worker, leat_error *err) {
    if (ring->spare.scratches[worker] == NULL)
        ring->spare.scratches[worker] = leati_program_scratch_new(ring->options.program, err);
    return ring->spare.scratches[worker];
}

static void compute(leati_ring_piece *piece, int worker) {
    leati_ring *ring = piece->ring;
    leati_ring_stage *stage = piece->stage;
    leati_scratch *scratch = scratch_of(ring, worker, &piece->error);
    piece->out.destinations = piece->placed ? piece->places : NULL;
    if (scratch == NULL) {
        leati_block_clear(&piece->out);
    } else if (leati_apply(ring->node, ring->options.program, scratch, &stage->rows, piece->begin,
                           piece->rows, stage->index + piece->begin, &piece->out,
                           &piece->error) != LEAT_OK) {
        /* The error stands in the piece, and the piece has fewer good rows. */
    }
    piece->at = 0;
    piece->good = piece->out.n;
    piece->failed = piece->good < piece->rows;
    piece->bytes = (int64_t)leati_block_bytes(&piece->out);
}

static void run_task(leati_task *task, int worker) {
    leati_ring_piece *piece = (leati_ring_piece *)task;
    leati_ring *ring = piece->ring;
    int64_t before = piece->bytes; /* not 0 if the piece failed once and goes on */
    leati_queue_gate_lock(ring->gate);
    bool stopped = ring->signals.stop;
    leati_queue_gate_unlock(ring->gate);
    int64_t start = leati_now_ns();
    leati_span span = leati_trace_begin();
    /* While tasks run, their time is tasks * now - tasks_ns: a reader needs no lock for it. */
    leati_counter_add(&ring->node->counters.tasks_ns, start);
    leati_counter_add(&ring->node->counters.tasks, 1);
    if (!stopped)
        compute(piece, worker);
    leati_ring_unplace(piece);
    leati_counter_add(&ring->node->counters.tasks, -1);
    leati_counter_add(&ring->node->counters.tasks_ns, -start);
    leati_trace_end(span, ring->node->dataset->op->name, ring->node->name);
    int64_t spent = leati_now_ns() - start;
    leati_counter_add(&ring->node->counters.busy_ns, spent);
    leati_queue_gate_lock(ring->gate);
    /* 1 is added to what is blended in, because a rate of 0 stands for "not measured". */
    if (!stopped) {
        ring->rates.row_ns =
            leati_ring_blend(ring->rates.row_ns, (double)spent / (double)piece->rows + 1);
        if (piece->good > 0) {
            double per_row = (double)piece->bytes / (double)piece->good;
            ring->rates.out_bytes = leati_ring_blend(ring->rates.out_bytes, per_row + 1);
        }
    }
    ring->queue.held += piece->bytes - before;
    LEATI_ASSERT(ring->queue.running > 0 && !piece->done);
    ring->queue.running--;
    piece->done = true;
    leati_ring_cut(ring);
    leati_ring_account(ring);
    /* A wake-up costs as much as a cheap task: only one who can go on is woken. */
    if (ring->signals.stop || ring->signals.park ||
        (ring->signals.consumer_waits && leati_ring_choose(ring) != NULL))
        leati_queue_gate_wake(ring->gate);
    else
        leati_ring_wake_driver(ring);
    leati_queue_gate_unlock(ring->gate);
}

void leati_ring_submit(leati_ring *ring, leati_ring_piece *piece) {
    LEATI_ASSERT(!piece->done && piece->rows > 0);
    piece->task.run = run_task;
    ring->queue.running++;
    /* The oldest piece is what the consumer waits for: it goes before other operators' tasks. */
    leati_pool_submit(ring->node->iteration->pool, &piece->task, piece == ring->queue.pieces);
}

/* ---- cutting ---- */

/* Rows of the next task. */
static int64_t task_rows(const leati_ring *ring) {
    if (ring->rates.row_ns == 0)
        return 1;
    double rows = TASK_NS / ring->rates.row_ns;
    /* The first rows may be cheap by chance (a cache hit): the size grows in steps. */
    double most = 8.0 * (double)(ring->rates.last_rows > 0 ? ring->rates.last_rows : 1);
    rows = LEATI_MIN(rows, most);
    return rows < 1 ? 1 : rows > MOST_TASK_ROWS ? MOST_TASK_ROWS : (int64_t)rows;
}

/* After a restore: is the outcome still to come? */
static bool is_wanted(const leati_ring *ring, int64_t number) {
    for (size_t i = ring->wanted.at; i < ring->wanted.count; i++)
        if (number >= ring->wanted.ranges[i].begin && number < ring->wanted.ranges[i].end)
            return true;
    return number >= ring->wanted.frontier;
}

/* After a restore: passes outcomes of the stage that were delivered before. Returns how many rows
 * may be cut in one piece: in a ring that keeps the order, all that follow. */
static int64_t pass_unwanted(leati_ring *ring, leati_ring_stage *stage) {
    /* The tail's error is an outcome with a number of its own, the one after the rows. */
    if (stage->cut == 0 && stage->tail == LEATI_ERROR &&
        !is_wanted(ring, stage->index + stage->rows.n)) {
        stage->tail = LEATI_MORE;
        ring->queue.undelivered--;
    }
    for (;;) {
        int64_t at = stage->index + stage->cut, left = stage->rows.n - stage->cut;
        if (at >= ring->wanted.frontier || left == 0)
            return left;
        while (ring->wanted.at < ring->wanted.count &&
               ring->wanted.ranges[ring->wanted.at].end <= at)
            ring->wanted.at++;
        bool more = ring->wanted.at < ring->wanted.count;
        const leati_ring_range *next = more ? &ring->wanted.ranges[ring->wanted.at] : NULL;
        if (more && next->begin <= at) {
            /* The last range and what lies beyond the frontier are wanted without a gap. */
            bool to_frontier = next->end == ring->wanted.frontier;
            return to_frontier || next->end - at > left ? left : next->end - at;
        }
        int64_t pass = (more ? next->begin : ring->wanted.frontier) - at;
        pass = LEATI_MIN(pass, left);
        stage->cut += pass;
        ring->queue.undelivered -= pass;
        ring->queue.uncut_bytes -= pass * stage->per_row;
    }
}

static void close_stage(leati_ring *ring, leati_ring_stage *stage) {
    stage->closed = true;
    ring->queue.uncut = stage->next;
    if (stage->pieces == 0)
        leati_ring_drop_stage(ring, stage);
}

/* How many pieces there may be. While the oldest one is being computed, the others go on behind it,
 * so that one slow element does not stop them. */
static int64_t most_pieces(const leati_ring *ring, int64_t parallel) {
    bool blocked = ring->queue.pieces != NULL && !ring->queue.pieces->done &&
                   ring->queue.held < MOST_BLOCKED_BYTES;
    return blocked ? ring->spare.max_pieces : parallel + parallel / 2 + 1;
}

/* May another piece of so many rows be added? */
static bool has_room(const leati_ring *ring, int64_t rows) {
    /* An empty ring takes any piece, however large: otherwise a row above the budget would never
     * be computed. */
    int64_t parallel = leati_ring_parallelism(ring);
    double bytes = (double)rows * ring->rates.out_bytes;
    return ring->queue.num_pieces == 0 ||
           (ring->queue.running < parallel &&
            ring->queue.num_pieces < most_pieces(ring, parallel) &&
            leati_budget_fits(ring->node->iteration->budget, (int64_t)bytes));
}

static void add_piece(leati_ring *ring, leati_ring_stage *stage, leati_ring_piece *piece,
                      int64_t rows) {
    piece->next = NULL;
    piece->ring = ring;
    piece->stage = stage;
    piece->begin = stage->cut;
    piece->rows = rows;
    piece->last = stage->cut + rows == stage->rows.n && stage->tail != LEATI_MORE;
    piece->at = piece->good = piece->bytes = 0;
    piece->failed = false;
    piece->done = true; /* nothing to compute, unless a program follows below */
    *ring->queue.pieces_end = piece;
    ring->queue.pieces_end = &piece->next;
    ring->queue.num_pieces++;
    stage->pieces++;
    stage->cut += rows;
    ring->queue.uncut_bytes -= rows * stage->per_row;
    if (ring->options.program == NULL) {
        piece->from = &stage->rows;
        piece->at = piece->begin;
        piece->good = rows;
        return;
    }
    piece->from = &piece->out;
    leati_ring_place(ring, piece);
    if (rows > 0) {
        piece->done = false;
        ring->rates.last_rows = rows;
        leati_ring_submit(ring, piece);
    }
}

void leati_ring_cut(leati_ring *ring) {
    while (ring->queue.uncut != NULL && !ring->signals.stop) {
        leati_ring_stage *stage = ring->queue.uncut;
        int64_t most = pass_unwanted(ring, stage);
        leati_ring_piece *piece = &stage->whole;
        int64_t rows = most;
        /* A stage with a tail needs a piece even without rows: the tail is delivered by it. */
        if (rows == 0 && stage->tail == LEATI_MORE) {
            close_stage(ring, stage);
            continue;
        }
        if (ring->options.program != NULL) {
            int64_t wish = task_rows(ring);
            rows = LEATI_MIN(wish, most);
            /* A piece that ends at a batch's border can be written where the batch will lie. */
            rows = leati_ring_rows_to_border(ring, stage->index + stage->cut, rows);
            piece = ring->spare.pieces;
            if (piece == NULL || !has_room(ring, rows))
                return;
            ring->spare.pieces = piece->next;
        }
        add_piece(ring, stage, piece, rows);
        if (stage->cut == stage->rows.n)
            close_stage(ring, stage);
    }
}
