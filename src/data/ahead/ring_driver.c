/* Rings: the driver, which reads ahead. See ring_parts.h.
 *
 * Happy path: the driver pulls blocks while there is room and appends them as stages, each with a
 * snapshot of the input before it. Room is counted in outcomes and bytes; whatever the budget says,
 * something is let in when the ring is empty, so that a budget cannot stop the pipeline. Failures:
 * a driver without memory stops, and leaves the error for the consumer. Locks: the gate. */
#include "base/clock.h"
#include "base/log.h"
#include "base/minmax.h"
#include "data/ahead/ring_parts.h"
#include "run/trace.h"
#include <string.h>

enum {
    BLOCK_NS = LEATI_RING_NAP_NS / 2, /* of a block that the driver asks for */
    LINGER_NS = 5 * BLOCK_NS,         /* for which a driver waits for more room */
    QUICK_NS = 1000 * 1000,           /* of what an autotuned buffer may hold in any case */
    QUICK_BYTES = 4 << 20,            /* and its bytes */
    MOST_ROWS = 16384,                /* of a block */
    AHEAD = 8,                        /* tasks per thread for which rows are read ahead */
    MOST_UNCUT_BYTES = 16 << 20       /* read ahead of the tasks */
};

/* ---- room ---- */

/* How many outcomes take `ns`, by measurement; not many more than last time. */
static int64_t rows_in(const leati_ring *ring, int64_t ns) {
    if (ring->rates.fetch_ns == 0)
        return 1;
    double rows = (double)ns / ring->rates.fetch_ns;
    double most = 4.0 * (double)(ring->rates.last_fetch > 0 ? ring->rates.last_fetch : 1);
    rows = LEATI_MIN(rows, most);
    return rows < 1 ? 1 : rows > MOST_ROWS ? MOST_ROWS : (int64_t)rows;
}

static bool fits(const leati_ring *ring, double bytes) {
    return ring->queue.undelivered == 0 ||
           leati_budget_fits(ring->node->iteration->budget, (int64_t)bytes);
}

/* How many elements the buffer of a prefetch may hold. */
static int64_t most_elements(const leati_ring *ring) {
    int64_t limit = leati_autotune_knob_get(&ring->knob);
    if (ring->options.limit == LEAT_AUTOTUNE && ring->rates.fetch_ns > 0) {
        double quick = QUICK_NS / ring->rates.fetch_ns;
        double light = QUICK_BYTES / (ring->rates.in_bytes + 1);
        quick = LEATI_MIN(quick, light);
        limit = quick > (double)limit ? (int64_t)quick : limit;
    }
    return limit;
}

/* How many elements a prefetch may ask for; 0: it is full. It waits until half of the buffer is
 * free where blocks are large, because small ones cost more, but not for long. */
static int64_t room_for_elements(const leati_ring *ring, bool waited_long) {
    int64_t limit = most_elements(ring), wish = rows_in(ring, BLOCK_NS);
    int64_t free = limit - ring->queue.undelivered;
    int64_t half = LEATI_MAX(limit / 2, 1);
    if (free < 1 || (free < LEATI_MIN(wish, half) && !waited_long))
        return 0;
    int64_t want = LEATI_MIN(wish, free);
    return fits(ring, (double)want * ring->rates.in_bytes) ? want : 0;
}

/* Rows and errors that are in no piece yet: an input that only fails is not read without end. */
static int64_t uncut_outcomes(const leati_ring *ring) {
    const leati_ring_stage *stage = ring->queue.uncut;
    return stage == NULL ? 0 : ring->queue.next_index - stage->index - stage->cut;
}

/* How many rows the tasks of a map lack; 0: enough are there. */
static int64_t room_for_rows(const leati_ring *ring) {
    int64_t parallel = leati_ring_parallelism(ring);
    if (!ring->replayable)
        return ring->queue.undelivered < parallel && ring->queue.uncut == NULL ? 1 : 0;
    int64_t rows = ring->rates.last_rows > 0 ? ring->rates.last_rows : 1;
    int64_t tasks = AHEAD * parallel;
    int64_t target = rows > MOST_ROWS / tasks ? MOST_ROWS : rows * tasks;
    int64_t uncut = uncut_outcomes(ring);
    if (uncut > 0 && (uncut >= target / 2 || ring->queue.uncut_bytes > MOST_UNCUT_BYTES))
        return 0;
    int64_t want = target - uncut, most = rows_in(ring, 4 * BLOCK_NS);
    want = LEATI_MIN(want, most);
    return fits(ring, (double)want * ring->rates.in_bytes) ? want : 0;
}

static int64_t room(const leati_ring *ring, bool waited_long) {
    return ring->options.program == NULL ? room_for_elements(ring, waited_long)
                                         : room_for_rows(ring);
}

void leati_ring_wake_driver(leati_ring *ring) {
    if (ring->signals.driver_waits &&
        (ring->signals.park || room(ring, !ring->signals.driver_lingers) > 0))
        leati_queue_gate_wake(ring->gate);
}

/* ---- the driver ---- */

/* A snapshot of the input as it stands; where taking them costs much of the time, only now and
 * then, and a state replays a little more. In verification mode some are left out. None is left out
 * after an error: elements can be passed unseen, errors must be read again. */
static leat_status snapshot_input(leati_ring *ring, leat_error *err) {
    bool due =
        ring->snapshots.last == NULL || ring->driver.snapshot_ns * 16 <= ring->driver.pull_ns;
    if (ring->node->iteration->verify && ring->snapshots.last != NULL)
        due = (ring->driver.pulls + (int64_t)ring->node->iteration->verify_seed) % 3 != 0;
    due = due || ring->snapshots.last->error != INT64_MAX;
    if (!ring->replayable || !due)
        return LEAT_OK;
    int64_t start = leati_now_ns();
    leati_queue_gate_lock(ring->gate);
    leati_ring_snapshot *snapshot = leati_ring_snapshot_take(ring);
    leati_queue_gate_unlock(ring->gate);
    if (snapshot == NULL)
        return leati_no_memory(err);
    leati_save_cost cost = {0};
    leat_error local = {0};
    leat_status status = leati_input_save(&ring->driver.input, &snapshot->state, &cost, &local);
    snapshot->cost = cost;
    leati_queue_gate_lock(ring->gate);
    snapshot->index = ring->queue.next_index;
    if (status == LEAT_OK) {
        leati_ring_snapshot_unref(ring, ring->snapshots.last);
        ring->snapshots.last = snapshot;
    } else {
        leati_ring_snapshot_unref(ring, snapshot);
        ring->snapshots.unsavable = local;
    }
    leati_queue_gate_unlock(ring->gate);
    ring->driver.snapshot_ns += leati_now_ns() - start;
    if (status != LEAT_OK && status != LEAT_FAILED_PRECONDITION) {
        *err = local;
        return status;
    }
    return LEAT_OK;
}

/* Pulls one block into `stage`. False: the driver must stop. */
static bool fetch(leati_ring *ring, leati_ring_stage *stage, int64_t want, leat_error *err) {
    if (snapshot_input(ring, err) != LEAT_OK)
        return false;
    int64_t start = leati_now_ns();
    memset(&stage->error, 0, sizeof(stage->error));
    leati_span span = leati_trace_begin();
    stage->tail = leati_input_take(&ring->driver.input, want, &stage->rows, &stage->error);
    leati_trace_end(span, "read ahead", ring->node->name);
    int64_t spent = leati_now_ns() - start;
    ring->driver.pull_ns += spent;
    ring->driver.pulls++;
    if (leati_cancel_fired(ring->cancel))
        return false;
    leati_ring_fill_stage(stage);
    leati_queue_gate_lock(ring->gate);
    int64_t outcomes = stage->rows.n + (stage->tail == LEATI_ERROR);
    if (outcomes > 0) {
        ring->rates.fetch_ns =
            leati_ring_blend(ring->rates.fetch_ns, (double)spent / (double)outcomes + 1);
        ring->rates.last_fetch = outcomes;
    }
    if (stage->rows.n > 0)
        ring->rates.in_bytes = leati_ring_blend(ring->rates.in_bytes, (double)stage->per_row + 1);
    leati_queue_gate_unlock(ring->gate);
    return true;
}

/* Wakes a consumer for whom there is something. One who naps is left alone while there is little:
 * being woken for each of them costs more than reading elements that come quickly. */
static void wake_consumer(leati_ring *ring, bool even_for_little) {
    bool much = 2 * ring->queue.undelivered >= most_elements(ring) ||
                (double)ring->queue.undelivered * ring->rates.fetch_ns >= LEATI_RING_NAP_NS;
    if (ring->signals.consumer_waits && (!ring->signals.consumer_naps || even_for_little || much) &&
        leati_ring_choose(ring) != NULL)
        leati_queue_gate_wake(ring->gate);
}

/* Waits for room; the number of elements to ask for, or 0 when the driver must stop. */
static int64_t wait_for_room(leati_ring *ring) {
    int64_t want = 0, waited = 0;
    bool waited_long = false;
    leati_queue_gate_lock(ring->gate);
    while (!ring->signals.stop && !leati_cancel_fired(ring->cancel)) {
        want = ring->signals.park ? 0 : room(ring, waited_long);
        if (want > 0)
            break;
        if (ring->signals.park && !ring->signals.parked) {
            ring->signals.parked = true;
            leati_queue_gate_wake(ring->gate);
        }
        wake_consumer(ring, true);
        ring->signals.driver_waits = true;
        ring->signals.driver_lingers = !ring->signals.park && room(ring, true) > 0;
        int64_t end = ring->signals.driver_lingers ? leati_now_ns() + LINGER_NS : LEATI_NO_DEADLINE;
        leat_status status =
            leati_queue_gate_wait(ring->gate, LEATI_WAIT_CONSUMER, end, &waited, &(leat_error){0});
        waited_long = status == LEAT_DEADLINE_EXCEEDED;
        ring->signals.driver_waits = false;
        ring->signals.parked = ring->signals.parked && ring->signals.park;
        if (status != LEAT_OK && !waited_long)
            break;
    }
    want = ring->signals.stop || leati_cancel_fired(ring->cancel) ? 0 : want;
    leati_ring_stage *dead = leati_ring_take_dead(ring);
    leati_queue_gate_unlock(ring->gate);
    leati_counter_add(&ring->node->counters.full_ns, waited);
    leati_ring_reap(ring, dead);
    return want;
}

static void drive(void *context) {
    leati_ring *ring = context;
    leati_pool *pool = ring->node->iteration->pool;
    leat_error trouble = {0};
    leati_pool_token_acquire(pool);
    for (int64_t want = 0; (want = wait_for_room(ring)) > 0;) {
        leati_ring_stage *stage = leati_ring_take_stage(ring);
        if (stage == NULL) {
            leati_no_memory(&trouble);
            break;
        }
        bool fetched = fetch(ring, stage, want, &trouble);
        leati_tail tail = stage->tail;
        leati_queue_gate_lock(ring->gate);
        if (fetched)
            leati_ring_add_stage(ring, stage);
        else
            leati_ring_bury_stage(ring, stage);
        wake_consumer(ring, false);
        leati_queue_gate_unlock(ring->gate);
        if (!fetched || tail == LEATI_END)
            break;
    }
    leati_pool_token_release(pool);
    leati_queue_gate_lock(ring->gate);
    if (trouble.code != LEAT_OK)
        ring->signals.trouble = trouble;
    ring->signals.driver_done = true;
    leati_queue_gate_wake(ring->gate);
    leati_queue_gate_unlock(ring->gate);
}

leat_status leati_ring_start(leati_ring *ring, leat_error *err) {
    if (ring->driver.thread != NULL || ring->signals.input_ended)
        return LEAT_OK;
    /* The first snapshot comes before the driver, so that a state can always be written. */
    LEATI_TRY(snapshot_input(ring, err));
    ring->signals.driver_done = ring->signals.parked = false;
    ring->driver.thread = leati_driver_start(ring->node->dataset->op->name, drive, ring, err);
    if (ring->driver.thread == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    LEATI_TELL(DATA, DEBUG, "%s: a driver reads ahead", ring->node->name);
    return LEAT_OK;
}

void leati_ring_stop(leati_ring *ring) {
    leati_queue_gate_lock(ring->gate);
    ring->signals.stop = true;
    leati_queue_gate_wake(ring->gate);
    /* Waiting here gives up a CPU token, which joining would keep. */
    leat_status status = LEAT_OK;
    while (status == LEAT_OK &&
           ((ring->driver.thread != NULL && !ring->signals.driver_done) || ring->queue.running > 0))
        status = leati_queue_gate_wait(ring->gate, LEATI_WAIT_CPU, LEATI_NO_DEADLINE, NULL,
                                       &(leat_error){0});
    ring->signals.stop = false;
    leati_queue_gate_unlock(ring->gate);
    leati_driver_join(ring->driver.thread);
    ring->driver.thread = NULL;
}

void leati_ring_pause(leati_ring *ring) {
    leat_status status = LEAT_OK;
    leati_queue_gate_lock(ring->gate);
    ring->signals.park = true;
    leati_queue_gate_wake(ring->gate);
    while (status == LEAT_OK &&
           ((ring->driver.thread != NULL && !ring->signals.parked && !ring->signals.driver_done) ||
            ring->queue.running > 0))
        status = leati_queue_gate_wait(ring->gate, LEATI_WAIT_INPUT, LEATI_NO_DEADLINE, NULL,
                                       &(leat_error){0});
    leati_queue_gate_unlock(ring->gate);
}

void leati_ring_resume(leati_ring *ring) {
    leati_queue_gate_lock(ring->gate);
    ring->signals.park = false;
    leati_queue_gate_wake(ring->gate);
    leati_queue_gate_unlock(ring->gate);
}
