/* Rings: what the consumer does, opening and closing. See ring.h and ring_parts.h.
 *
 * Happy path: the first pull starts the driver, which appends blocks as stages (ring_driver.c);
 * pieces are cut from them (ring_tasks.c), and the consumer takes finished pieces from the front.
 * The end stops the driver.
 *
 * Failures: an error of the input or of a function is delivered at its place. Where the driver
 * itself fails (no memory) it stops, the consumer gets that error after what was read before, and
 * the next pull starts another driver. Cancellation ends every wait.
 *
 * Locks: the gate; under it only the pool's, the budget's and the allocator's. The input is pulled,
 * and references are dropped, without it. */
#include "base/clock.h"
#include "base/debug.h"
#include "base/minmax.h"
#include "data/ahead/ring_parts.h"
#include "data/run/own.h"
#include <string.h>

/* ---- the consumer ---- */

/* Waits for something to take; `may_nap`: where elements come quickly, for many of them, but not
 * for long. */
static leat_status wait_for_driver(leati_ring *ring, bool may_nap, int64_t *waited,
                                   leat_error *err) {
    int64_t deadline = ring->node->iteration->deadline_ns, end = leati_now_ns() + LEATI_RING_NAP_NS;
    bool quick = ring->rates.fetch_ns > 0 && ring->rates.fetch_ns < LEATI_RING_NAP_NS / 4;
    bool naps = may_nap && ring->options.program == NULL && quick && end < deadline;
    leat_error unwanted, *report = naps ? leati_error_unwanted(&unwanted) : err;
    ring->signals.consumer_waits = true;
    ring->signals.consumer_naps = naps;
    leat_status status =
        leati_queue_gate_wait(ring->gate, LEATI_WAIT_INPUT, naps ? end : deadline, waited, report);
    ring->signals.consumer_waits = ring->signals.consumer_naps = false;
    return naps && status == LEAT_DEADLINE_EXCEEDED ? LEAT_OK : status;
}

/* Waits for a piece; *first says whether it is the oldest. NULL: *err says why, and *given_up
 * whether the driver has. */
static leati_ring_piece *await(leati_ring *ring, bool *first, bool *given_up, leat_error *err) {
    int64_t waited = 0;
    leati_ring_piece *piece = NULL;
    bool waits = false;
    leat_status status = LEAT_OK;
    leati_queue_gate_lock(ring->gate);
    leati_ring_cut(ring);
    while (status == LEAT_OK && (piece = leati_ring_choose(ring)) == NULL) {
        if (leati_cancel_fired(ring->cancel)) {
            status = leati_fail(err, LEAT_CANCELLED, "%s: cancelled while waiting for its input",
                                ring->node->name);
        } else if (ring->signals.trouble.code != LEAT_OK && ring->queue.pieces == NULL) {
            status = ring->signals.trouble.code;
            *err = ring->signals.trouble;
            memset(&ring->signals.trouble, 0, sizeof(ring->signals.trouble));
            *given_up = true;
        } else {
            status = wait_for_driver(ring, !waits, &waited, err);
            waits = true;
        }
    }
    *first = piece == ring->queue.pieces;
    leati_queue_gate_unlock(ring->gate);
    leati_counter_add(&ring->node->counters.waiting_ns, waited);
    return piece;
}

/* Hands on up to `want` rows of a finished piece, and what follows them directly; *outcomes counts
 * both. The tail of a stage that ends the input waits until the piece is the `first`. ERROR without
 * an outcome: there was no memory, and nothing was taken. */
static leati_tail deliver(leati_ring_piece *piece, int64_t want, bool first, leati_block *out,
                          int64_t *outcomes, leat_error *err) {
    leati_ring_stage *stage = piece->stage;
    int64_t n = LEATI_MIN(piece->good, want);
    *outcomes = 0;
    if (n > 0 && piece->at == 0 && n == piece->from->n) {
        leati_block_move(piece->from, out);
    } else if (n > 0 && leati_block_slice(piece->from, piece->at, n, out, err) != LEAT_OK) {
        leati_block_clear(out);
        return LEATI_ERROR;
    }
    *outcomes = n;
    piece->at += n;
    piece->good -= n;
    piece->begin += n;
    piece->rows -= n;
    if (piece->good > 0)
        return LEATI_MORE;
    leati_block_clear(&piece->out);
    bool full = n == want; /* an error is one outcome more */
    if (piece->rows > 0 && full)
        return LEATI_MORE;
    if (piece->rows > 0) {
        piece->failed = false;
        piece->begin++;
        piece->rows--;
        (*outcomes)++;
        *err = piece->error;
        return LEATI_ERROR;
    }
    if (!piece->last || (stage->tail == LEATI_END && !first) ||
        (stage->tail == LEATI_ERROR && full))
        return LEATI_MORE;
    piece->last = false;
    if (stage->tail == LEATI_ERROR) {
        (*outcomes)++;
        *err = stage->error;
    }
    return stage->tail;
}

/* After `outcomes` of the piece were delivered: lets it go, or has the rest computed. */
static leati_ring_stage *settle(leati_ring *ring, leati_ring_piece *piece, int64_t outcomes) {
    leati_queue_gate_lock(ring->gate);
    LEATI_ASSERT(piece->done && outcomes >= 0 && outcomes <= ring->queue.undelivered);
    ring->queue.undelivered -= outcomes;
    ring->queue.delivered += outcomes;
    if (piece->rows == 0 && !piece->last) {
        leati_ring_remove_piece(ring, piece);
    } else if (piece->rows > 0 && piece->good == 0 && !piece->failed) {
        piece->done = false;
        leati_ring_submit(ring, piece);
    }
    leati_ring_cut(ring);
    leati_ring_account(ring);
    leati_ring_assert(ring);
    leati_ring_wake_driver(ring);
    leati_ring_stage *dead = leati_ring_take_dead(ring);
    leati_queue_gate_unlock(ring->gate);
    return dead;
}

leati_tail leati_ring_pull(leati_ring *ring, int64_t want, leati_block *out, leat_error *err) {
    leati_block_clear(out);
    int columns = leat_spec_num_components(ring->node->dataset->spec);
    if (leati_ring_note(ring, want, out->destinations, columns, err) != LEAT_OK ||
        leati_ring_start(ring, err) != LEAT_OK)
        return LEATI_ERROR;
    for (;;) {
        bool first = false, given_up = false;
        leati_ring_piece *piece = await(ring, &first, &given_up, err);
        if (piece == NULL && given_up)
            leati_ring_stop(ring);
        if (piece == NULL)
            return LEATI_ERROR;
        int64_t outcomes = 0;
        leati_tail tail = deliver(piece, want, first, out, &outcomes, err);
        if (tail == LEATI_ERROR && outcomes == 0)
            return LEATI_ERROR;
        leati_ring_reap(ring, settle(ring, piece, outcomes));
        if (tail == LEATI_END)
            leati_ring_stop(ring);
        if (tail != LEATI_MORE || out->n > 0)
            return tail;
    }
}

/* ---- opening and closing ---- */

static void wake_cancelled(leati_cancel_watch *watch) {
    leati_ring *ring = (leati_ring *)((char *)watch - offsetof(leati_ring, watch));
    leati_queue_gate_lock(ring->gate);
    leati_queue_gate_wake(ring->gate);
    leati_queue_gate_unlock(ring->gate);
}

static int64_t within(int64_t value, int64_t least, int64_t most) {
    return value < least ? least : LEATI_MIN(most, value);
}

/* Tasks beyond the number of threads only wait in the pool; a few more hide its latency. */
static void add_knob(leati_ring *ring) {
    const leati_ring_options *options = &ring->options;
    const leati_iteration *iteration = ring->node->iteration;
    int64_t threads = leati_pool_size(iteration->pool);
    int64_t start_value = options->limit, least = options->limit, most = options->limit;
    if (options->limit == LEAT_AUTOTUNE && options->program != NULL) {
        int64_t may = leati_budget_cpus(iteration->budget);
        most = may < threads ? may : threads + threads / 2 + 1;
        least = within(iteration->tuning.least, 1, most);
        start_value =
            within(iteration->tuning.start > 0 ? iteration->tuning.start : may, least, most);
    } else if (options->limit == LEAT_AUTOTUNE) {
        least = 1;
        start_value = 2;
        most = 512;
    } else if (options->program != NULL && most > 4 * threads) {
        start_value = least = most = 4 * threads;
    }
    leati_autotune_knob_add(&ring->knob, ring->node, options->program == NULL, start_value, least,
                            most);
}

static leat_status open_ring(leati_ring *ring, leat_error *err) {
    leati_node_state *node = ring->node;
    ring->cancel = leati_cancel_new(node->iteration->cancel, err);
    if (ring->cancel == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    ring->gate = leati_queue_gate_new(node->name, NULL, err);
    if (ring->gate == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    ring->watch.fired = wake_cancelled;
    leati_cancel_watch_add(ring->cancel, &ring->watch);
    if (ring->options.program != NULL)
        LEATI_TRY(leati_ring_make_pieces(ring, err));
    ring->below = *node->iteration;
    ring->below.cancel = ring->cancel;
    ring->below.deadline_ns = LEATI_NO_DEADLINE;
    ring->replayable = leati_own_replays(node->iteration->own, node->dataset->inputs[0]);
    leat_status status = leati_input_open_dataset(&ring->driver.input, node,
                                                  node->dataset->inputs[0], &ring->below, err);
    ring->driver.input.snapshots = LEATI_SNAPSHOTS_NEVER;
    return status;
}

leati_ring *leati_ring_new(leati_node_state *node, const leati_ring_options *options,
                           leat_error *err) {
    leati_ring *ring = leati_alloc_zero(1, sizeof(*ring));
    if (ring == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    ring->node = node;
    ring->options = *options;
    ring->queue.stages_end = &ring->queue.stages;
    ring->queue.pieces_end = &ring->queue.pieces;
    add_knob(ring);
    if (open_ring(ring, err) != LEAT_OK) {
        leati_ring_free(ring);
        return NULL;
    }
    leati_ring_account(ring);
    return ring;
}

void leati_ring_free(leati_ring *ring) {
    if (ring == NULL)
        return;
    if (ring->gate != NULL) {
        leati_cancel_fire(ring->cancel);
        leati_ring_stop(ring);
        leati_ring_discard(ring);
        leati_cancel_watch_remove(ring->cancel, &ring->watch);
    }
    leati_input_close(&ring->driver.input);
    leati_autotune_knob_remove(&ring->knob);
    leati_ring_free_spare(ring);
    leati_ring_snapshots_free(ring);
    leati_ring_lanes_free(ring);
    leati_queue_gate_free(ring->gate);
    leati_cancel_unref(ring->cancel);
    leati_free(ring);
}
