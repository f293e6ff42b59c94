/* Rings: pieces that are computed in less time than handing them to another thread costs.
 *
 * Blocks of large records have one row each, and a piece has no more rows than its block. Where
 * such a piece takes microseconds, a task for each of them, and a wake-up of the consumer for each
 * result, would cost several times what the work does. So cheap pieces are queued. Whoever comes
 * first computes them: the consumer, when the next piece that it wants has not been started, or a
 * task that takes one after the other; a task is started when the queue holds more work than
 * starting one costs, for each that runs, and when the driver is about to wait or has ended.
 * A consumer that has nothing to compute naps until there is enough to be worth waking it.
 *
 * A program that calls users' code is left out: its calls may wait for each other, or take any time
 * now and then, so each is a task of its own. Failures: none; a queue needs no memory. Everything
 * with the gate locked, but drain. */
#include "data/ring_parts.h"

enum {
    CHEAP_NS = 50 * 1000,      /* of a stage whose pieces are queued */
    START_NS = 100 * 1000,     /* of queued pieces for each task */
    MOST_CHEAP_BYTES = 4 << 20 /* in a ring that has more pieces because they are cheap */
};

bool leati_ring_is_cheap(const leati_ring *ring, const leati_stage *stage) {
    return ring->row_ns > 0 && !ring->calls_out && (double)stage->rows.n * ring->row_ns < CHEAP_NS;
}

int64_t leati_ring_cheap_pieces(const leati_ring *ring, int64_t rows) {
    int64_t parallel = leati_ring_parallelism(ring), least = parallel + parallel / 2 + 1;
    double one = (double)rows * ring->row_ns + 1;
    double most = 1.5 * (double)parallel * LEATI_RING_TASK_NS / one;
    double row_bytes = ring->in_bytes + ring->out_bytes + 1;
    double light = MOST_CHEAP_BYTES / ((double)rows * row_bytes);
    most = most < light ? most : light;
    most = most < (double)ring->max_pieces ? most : (double)ring->max_pieces;
    return most > (double)least ? (int64_t)most : least;
}

/* ---- the queue ---- */

/* The oldest piece of the ring, whose row has failed before, goes before all others. */
static void enqueue(leati_ring *ring, leati_piece *piece) {
    piece->cost_ns = ring->row_ns > 0 ? (double)piece->rows * ring->row_ns : CHEAP_NS;
    ring->queued_ns += piece->cost_ns;
    if (piece == ring->pieces && ring->queue != NULL) {
        piece->behind = ring->queue;
        ring->queue = piece;
        return;
    }
    piece->behind = NULL;
    *ring->queue_end = piece;
    ring->queue_end = &piece->behind;
}

leati_piece *leati_ring_dequeue(leati_ring *ring) {
    leati_piece *piece = ring->queue;
    if (piece == NULL) {
        return NULL;
    }
    ring->queue = piece->behind;
    ring->queued_ns -= piece->cost_ns;
    if (ring->queue == NULL) {
        ring->queue_end = &ring->queue;
        ring->queued_ns = 0;
    }
    return piece;
}

void leati_ring_drain(leati_ring *ring) {
    for (leati_piece *piece = NULL; (piece = leati_ring_dequeue(ring)) != NULL;) {
        leati_ring_unplace(piece);
        piece->done = true;
    }
}

/* ---- who computes ---- */

/* May the consumer compute the queue's first piece, rather than wait? In a ring that keeps the
 * order only if that is the next one, so that it is late for nothing that is done meanwhile. */
static bool may_help(const leati_ring *ring) {
    return ring->queue != NULL && !ring->calls_out && ring->queue->cost_ns < CHEAP_NS &&
           ring->running < leati_ring_parallelism(ring) &&
           (ring->options.any_order || ring->queue == ring->pieces);
}

/* Starts tasks while the queue holds `worth` for each that runs; 0: as many as may run. */
static void start_tasks(leati_ring *ring, double worth) {
    int64_t most = leati_ring_parallelism(ring);
    bool helped = ring->consumer_waits && may_help(ring);
    while (ring->queue != NULL && ring->running < most &&
           (worth == 0 || ring->queued_ns >= worth * (double)(ring->running + 1 + helped))) {
        leati_ring_submit(ring, leati_ring_dequeue(ring));
    }
}

void leati_ring_start(leati_ring *ring, leati_piece *piece) {
    ring->cheap = leati_ring_is_cheap(ring, piece->stage);
    enqueue(ring, piece);
    if (!ring->cheap) {
        start_tasks(ring, 0);
        return;
    }
    leati_ring_wake_consumer(ring, false);
    start_tasks(ring, START_NS);
}

void leati_ring_flush(leati_ring *ring) {
    bool helped = ring->consumer_waits && may_help(ring);
    if (ring->queue != NULL && ring->running == 0 && !helped && !ring->stop && !ring->park) {
        leati_ring_submit(ring, leati_ring_dequeue(ring));
    }
}

bool leati_ring_help(leati_ring *ring) {
    if (!may_help(ring)) {
        /* Nothing of the queue may be left to nobody while the consumer waits. */
        start_tasks(ring, ring->cheap && !ring->calls_out && ring->running > 0 ? START_NS : 0);
        return false;
    }
    leati_piece *piece = leati_ring_dequeue(ring);
    ring->running++;
    leati_ring_work(ring, piece, ring->workers);
    /* Datasets inside the function may have placed an error, as on a thread of the pool. */
    leati_node_owns_error();
    ring->running--;
    leati_ring_wake_driver(ring);
    return true;
}

/* ---- the consumer's nap ---- */

/* Is there enough in the ring for one who naps? Half of what may be there, so that neither side
 * waits for the other, or as much as takes long to come. */
static bool has_much(const leati_ring *ring) {
    int64_t ready = ring->undelivered, most = leati_ring_most_elements(ring);
    double each = ring->fetch_ns;
    if (ring->options.program != NULL) {
        int64_t rows = ring->last_rows > 0 ? ring->last_rows : 1;
        ready = ring->num_pieces * rows;
        most = leati_ring_cheap_pieces(ring, rows) * rows;
        each = ring->fetch_ns + ring->row_ns;
    }
    return 2 * ready >= most || (double)ready * each >= LEATI_RING_NAP_NS;
}

bool leati_ring_wake_consumer(leati_ring *ring, bool even_for_little) {
    bool wakes = ring->consumer_waits &&
                 (!ring->consumer_naps || even_for_little || has_much(ring)) &&
                 (leati_ring_choose(ring) != NULL || may_help(ring));
    if (wakes) {
        leati_gate_wake(ring->gate);
    }
    return wakes;
}
