/* Rings: the driver, and what the consumer does. See ring.h and ring_parts.h.
 *
 * Happy path: the first pull starts the driver, which pulls blocks while there is room and appends
 * them as stages; pieces are cut from them (ring_tasks.c), and the consumer takes finished pieces
 * from the front. The end stops the driver. Room is counted in outcomes and bytes; whatever the
 * budget says, something is let in when the ring is empty, so that a budget cannot stop the
 * pipeline.
 *
 * Failures: an error of the input or of a function is delivered at its place. Where the driver
 * itself fails (no memory) it stops, the consumer gets that error after what was read before, and
 * the next pull starts another driver. Cancellation ends every wait.
 *
 * Locks: the gate; under it only the pool's, the budget's and the allocator's. The input is pulled,
 * and references are dropped, without it. */
#include "base/clock.h"
#include "base/log.h"
#include "base/minmax.h"
#include "data/ahead/ring_parts.h"
#include "run/trace.h"
#include <string.h>

enum {
    BLOCK_NS = 200 * 1000,    /* of a block that the driver asks for */
    NAP_NS = 2 * BLOCK_NS,    /* of elements for which a waiting consumer is woken */
    LINGER_NS = 5 * BLOCK_NS, /* for which a driver waits for more room */
    QUICK_NS = 1000 * 1000,   /* of what an autotuned buffer may hold in any case */
    QUICK_BYTES = 4 << 20,    /* and its bytes */
    MOST_ROWS = 16384,        /* of a block */
    AHEAD = 8,                /* tasks per thread for which rows are read ahead */
    BLOCKED = 32,             /* pieces per thread behind one that takes long */
    MOST_BLOCKED = 512,
    MOST_UNCUT_BYTES = 16 << 20 /* read ahead of the tasks */
};

/* ---- room ---- */

/* How many outcomes take `ns`, by measurement; not many more than last time. */
static int64_t rows_in(const leati_ring *ring, int64_t ns) {
    if (ring->fetch_ns == 0)
        return 1;
    double rows = (double)ns / ring->fetch_ns;
    double most = 4.0 * (double)(ring->last_fetch > 0 ? ring->last_fetch : 1);
    rows = LEATI_MIN(rows, most);
    return rows < 1 ? 1 : rows > MOST_ROWS ? MOST_ROWS : (int64_t)rows;
}

static bool fits(const leati_ring *ring, double bytes) {
    return ring->undelivered == 0 ||
           leati_budget_fits(ring->node->iteration->budget, (int64_t)bytes);
}

/* How many elements the buffer of a prefetch may hold. */
static int64_t most_elements(const leati_ring *ring) {
    int64_t limit = leati_autotune_knob_get(&ring->knob);
    if (ring->options.limit == LEAT_AUTOTUNE && ring->fetch_ns > 0) {
        double quick = QUICK_NS / ring->fetch_ns;
        double light = QUICK_BYTES / (ring->in_bytes + 1);
        quick = LEATI_MIN(quick, light);
        limit = quick > (double)limit ? (int64_t)quick : limit;
    }
    return limit;
}

/* How many elements a prefetch may ask for; 0: it is full. It waits until half of the buffer is
 * free where blocks are large, because small ones cost more, but not for long. */
static int64_t room_for_elements(const leati_ring *ring, bool waited_long) {
    int64_t limit = most_elements(ring), wish = rows_in(ring, BLOCK_NS);
    int64_t free = limit - ring->undelivered;
    int64_t half = LEATI_MAX(limit / 2, 1);
    if (free < 1 || (free < LEATI_MIN(wish, half) && !waited_long))
        return 0;
    int64_t want = LEATI_MIN(wish, free);
    return fits(ring, (double)want * ring->in_bytes) ? want : 0;
}

/* Rows and errors that are in no piece yet: an input that only fails is not read without end. */
static int64_t uncut_outcomes(const leati_ring *ring) {
    const leati_ring_stage *stage = ring->uncut;
    return stage == NULL ? 0 : ring->next_index - stage->index - stage->cut;
}

/* How many rows the tasks of a map lack; 0: enough are there. */
static int64_t room_for_rows(const leati_ring *ring) {
    int64_t parallel = leati_ring_parallelism(ring);
    if (!ring->replayable)
        return ring->undelivered < parallel && ring->uncut == NULL ? 1 : 0;
    int64_t rows = ring->last_rows > 0 ? ring->last_rows : 1;
    int64_t tasks = AHEAD * parallel;
    int64_t target = rows > MOST_ROWS / tasks ? MOST_ROWS : rows * tasks;
    int64_t uncut = uncut_outcomes(ring);
    if (uncut > 0 && (uncut >= target / 2 || ring->uncut_bytes > MOST_UNCUT_BYTES))
        return 0;
    int64_t want = target - uncut, most = rows_in(ring, 4 * BLOCK_NS);
    want = LEATI_MIN(want, most);
    return fits(ring, (double)want * ring->in_bytes) ? want : 0;
}

static int64_t room(const leati_ring *ring, bool waited_long) {
    return ring->options.program == NULL ? room_for_elements(ring, waited_long)
                                         : room_for_rows(ring);
}

void leati_ring_wake_driver(leati_ring *ring) {
    if (ring->driver_waits && (ring->park || room(ring, !ring->driver_lingers) > 0))
        leati_queue_gate_wake(ring->gate);
}

void leati_ring_account(leati_ring *ring) {
    leati_counters *counters = &ring->node->counters;
    leati_counter_set(&counters->depth, ring->undelivered);
    leati_counter_set(&counters->bytes_held, ring->held);
    if (ring->options.program == NULL)
        leati_counter_set(&counters->depth_limit, leati_autotune_knob_get(&ring->knob));
    else
        leati_counter_set(&counters->parallelism, leati_ring_parallelism(ring));
    /* A ring over the limit only takes in less; it does not fail. */
    if (leati_budget_holder_set(&ring->node->holder, ring->held, NULL) != LEAT_OK)
        return;
}

/* ---- stages ---- */

leati_ring_stage *leati_ring_take_stage(leati_ring *ring) {
    leati_queue_gate_lock(ring->gate);
    leati_ring_stage *stage = ring->free_stages;
    if (stage != NULL)
        ring->free_stages = stage->next;
    leati_queue_gate_unlock(ring->gate);
    return stage != NULL ? stage : leati_alloc_zero(1, sizeof(*stage));
}

void leati_ring_add_stage(leati_ring *ring, leati_ring_stage *stage) {
    stage->next = NULL;
    *ring->stages_end = stage;
    ring->stages_end = &stage->next;
    if (ring->uncut == NULL)
        ring->uncut = stage;
    int64_t outcomes = stage->rows.n + (stage->tail == LEATI_ERROR);
    stage->index = ring->next_index;
    ring->next_index += outcomes;
    ring->undelivered += outcomes;
    ring->uncut_bytes += stage->bytes;
    ring->held += stage->bytes;
    ring->input_ended = stage->tail == LEATI_END;
    leati_ring_cut(ring);
    leati_ring_account(ring);
}

void leati_ring_drop_stage(leati_ring *ring, leati_ring_stage *stage) {
    leati_ring_stage **at = &ring->stages;
    while (*at != stage)
        at = &(*at)->next;
    *at = stage->next;
    if (ring->stages_end == &stage->next)
        ring->stages_end = at;
    ring->held -= stage->bytes;
    leati_ring_snapshot_unref(ring, stage->mark);
    stage->mark = NULL;
    stage->next = ring->dead;
    ring->dead = stage;
}

/* Drops the references of stages that are done with, and keeps their memory. */
static void reap(leati_ring *ring, leati_ring_stage *dead) {
    if (dead == NULL)
        return;
    leati_ring_stage *last = NULL;
    for (leati_ring_stage *stage = dead; stage != NULL; stage = stage->next) {
        leati_block_clear(&stage->rows);
        last = stage;
    }
    leati_queue_gate_lock(ring->gate);
    last->next = ring->free_stages;
    ring->free_stages = dead;
    leati_queue_gate_unlock(ring->gate);
}

/* ---- the driver ---- */

/* A snapshot of the input as it stands; where taking them costs much of the time, only now and
 * then, and a state replays a little more. In verification mode some are left out. None is left out
 * after an error: elements can be passed unseen, errors must be read again. */
static leat_status mark_input(leati_ring *ring, leat_error *err) {
    bool due = ring->mark == NULL || ring->mark_ns * 16 <= ring->pull_ns;
    if (ring->node->iteration->verify && ring->mark != NULL)
        due = (ring->pulls + (int64_t)ring->node->iteration->verify_seed) % 3 != 0;
    due = due || ring->mark->error != INT64_MAX;
    if (!ring->replayable || !due)
        return LEAT_OK;
    int64_t start = leati_now_ns();
    leati_queue_gate_lock(ring->gate);
    leati_ring_snapshot *mark = leati_ring_take_mark(ring);
    leati_queue_gate_unlock(ring->gate);
    if (mark == NULL)
        return leati_no_memory(err);
    leati_save_cost cost = {0};
    leat_error local = {0};
    leat_status status = leati_input_save(&ring->input, &mark->state, &cost, &local);
    mark->cost = cost;
    leati_queue_gate_lock(ring->gate);
    mark->index = ring->next_index;
    if (status == LEAT_OK) {
        leati_ring_snapshot_unref(ring, ring->mark);
        ring->mark = mark;
    } else {
        leati_ring_snapshot_unref(ring, mark);
        ring->unsavable = local;
    }
    leati_queue_gate_unlock(ring->gate);
    ring->mark_ns += leati_now_ns() - start;
    if (status != LEAT_OK && status != LEAT_FAILED_PRECONDITION) {
        if (err != NULL)
            *err = local;
        return status;
    }
    return LEAT_OK;
}

/* Pulls one block into `stage`. False: the driver must stop. */
static bool fetch(leati_ring *ring, leati_ring_stage *stage, int64_t want, leat_error *err) {
    if (mark_input(ring, err) != LEAT_OK)
        return false;
    int64_t start = leati_now_ns();
    memset(&stage->error, 0, sizeof(stage->error));
    leati_span span = leati_trace_begin();
    stage->tail = leati_input_take(&ring->input, want, &stage->rows, &stage->error);
    leati_trace_end(span, "read ahead", ring->node->name);
    int64_t spent = leati_now_ns() - start;
    ring->pull_ns += spent;
    ring->pulls++;
    if (leati_cancel_fired(ring->cancel))
        return false;
    stage->bytes = (int64_t)leati_block_bytes(&stage->rows);
    stage->per_row = stage->rows.n > 0 ? stage->bytes / stage->rows.n : 0;
    stage->cut = 0;
    stage->pieces = 0;
    stage->closed = false;
    leati_queue_gate_lock(ring->gate);
    int64_t outcomes = stage->rows.n + (stage->tail == LEATI_ERROR);
    if (outcomes > 0) {
        ring->fetch_ns = leati_ring_blend(ring->fetch_ns, (double)spent / (double)outcomes + 1);
        ring->last_fetch = outcomes;
    }
    if (stage->rows.n > 0)
        ring->in_bytes = leati_ring_blend(ring->in_bytes, (double)stage->per_row + 1);
    stage->mark = ring->mark;
    if (stage->mark != NULL) {
        stage->mark->refs++;
        if (stage->tail == LEATI_ERROR && stage->mark->error == INT64_MAX)
            stage->mark->error = ring->next_index + stage->rows.n;
    }
    leati_queue_gate_unlock(ring->gate);
    return true;
}

/* Wakes a consumer for whom there is something. One who naps is left alone while there is little:
 * being woken for each of them costs more than reading elements that come quickly. */
static void wake_consumer(leati_ring *ring, bool even_for_little) {
    bool much = 2 * ring->undelivered >= most_elements(ring) ||
                (double)ring->undelivered * ring->fetch_ns >= NAP_NS;
    if (ring->consumer_waits && (!ring->consumer_naps || even_for_little || much) &&
        leati_ring_choose(ring) != NULL)
        leati_queue_gate_wake(ring->gate);
}

/* Waits for room; the number of elements to ask for, or 0 when the driver must stop. */
static int64_t wait_for_room(leati_ring *ring) {
    int64_t want = 0, waited = 0;
    bool waited_long = false;
    leati_queue_gate_lock(ring->gate);
    while (!ring->stop && !leati_cancel_fired(ring->cancel)) {
        want = ring->park ? 0 : room(ring, waited_long);
        if (want > 0)
            break;
        if (ring->park && !ring->parked) {
            ring->parked = true;
            leati_queue_gate_wake(ring->gate);
        }
        wake_consumer(ring, true);
        ring->driver_waits = true;
        ring->driver_lingers = !ring->park && room(ring, true) > 0;
        int64_t end = ring->driver_lingers ? leati_now_ns() + LINGER_NS : LEATI_NO_DEADLINE;
        leat_status status =
            leati_queue_gate_wait(ring->gate, LEATI_WAIT_CONSUMER, end, &waited, NULL);
        waited_long = status == LEAT_DEADLINE_EXCEEDED;
        ring->driver_waits = false;
        ring->parked = ring->parked && ring->park;
        if (status != LEAT_OK && !waited_long)
            break;
    }
    want = ring->stop || leati_cancel_fired(ring->cancel) ? 0 : want;
    leati_ring_stage *dead = ring->dead;
    ring->dead = NULL;
    leati_queue_gate_unlock(ring->gate);
    leati_counter_add(&ring->node->counters.full_ns, waited);
    reap(ring, dead);
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
        if (fetched) {
            leati_ring_add_stage(ring, stage);
        } else {
            stage->next = ring->dead;
            ring->dead = stage;
        }
        wake_consumer(ring, false);
        leati_queue_gate_unlock(ring->gate);
        if (!fetched || tail == LEATI_END)
            break;
    }
    leati_pool_token_release(pool);
    leati_queue_gate_lock(ring->gate);
    if (trouble.code != LEAT_OK)
        ring->trouble = trouble;
    ring->driver_done = true;
    leati_queue_gate_wake(ring->gate);
    leati_queue_gate_unlock(ring->gate);
}

static leat_status start(leati_ring *ring, leat_error *err) {
    if (ring->driver != NULL || ring->input_ended)
        return LEAT_OK;
    /* The first mark comes before the driver, so that a state can always be written. */
    LEATI_TRY(mark_input(ring, err));
    ring->driver_done = ring->parked = false;
    ring->driver = leati_driver_start(ring->node->dataset->op->name, drive, ring, err);
    if (ring->driver == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    LEATI_TELL(DATA, DEBUG, "%s: a driver reads ahead", ring->node->name);
    return LEAT_OK;
}

void leati_ring_stop(leati_ring *ring) {
    leati_queue_gate_lock(ring->gate);
    ring->stop = true;
    leati_queue_gate_wake(ring->gate);
    /* Waiting here gives up a CPU token, which joining would keep. */
    leat_status status = LEAT_OK;
    while (status == LEAT_OK && ((ring->driver != NULL && !ring->driver_done) || ring->running > 0))
        status = leati_queue_gate_wait(ring->gate, LEATI_WAIT_CPU, LEATI_NO_DEADLINE, NULL, NULL);
    ring->stop = false;
    leati_queue_gate_unlock(ring->gate);
    leati_driver_join(ring->driver);
    ring->driver = NULL;
}

/* ---- the consumer ---- */

/* Waits for something to take; `may_nap`: where elements come quickly, for many of them, but not
 * for long. */
static leat_status wait_for_driver(leati_ring *ring, bool may_nap, int64_t *waited,
                                   leat_error *err) {
    int64_t deadline = ring->node->iteration->deadline_ns, end = leati_now_ns() + NAP_NS;
    bool quick = ring->fetch_ns > 0 && ring->fetch_ns < NAP_NS / 4;
    bool naps = may_nap && ring->options.program == NULL && quick && end < deadline;
    ring->consumer_waits = true;
    ring->consumer_naps = naps;
    leat_status status = leati_queue_gate_wait(ring->gate, LEATI_WAIT_INPUT, naps ? end : deadline,
                                               waited, naps ? NULL : err);
    ring->consumer_waits = ring->consumer_naps = false;
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
        } else if (ring->trouble.code != LEAT_OK && ring->pieces == NULL) {
            status = ring->trouble.code;
            if (err != NULL)
                *err = ring->trouble;
            memset(&ring->trouble, 0, sizeof(ring->trouble));
            *given_up = true;
        } else {
            status = wait_for_driver(ring, !waits, &waited, err);
            waits = true;
        }
    }
    *first = piece == ring->pieces;
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
        if (err != NULL)
            *err = piece->error;
        return LEATI_ERROR;
    }
    if (!piece->last || (stage->tail == LEATI_END && !first) ||
        (stage->tail == LEATI_ERROR && full))
        return LEATI_MORE;
    piece->last = false;
    if (stage->tail == LEATI_ERROR) {
        (*outcomes)++;
        if (err != NULL)
            *err = stage->error;
    }
    return stage->tail;
}

static void remove_piece(leati_ring *ring, leati_ring_piece *piece) {
    leati_ring_piece **at = &ring->pieces;
    while (*at != piece)
        at = &(*at)->next;
    *at = piece->next;
    if (ring->pieces_end == &piece->next)
        ring->pieces_end = at;
    ring->num_pieces--;
    ring->held -= piece->bytes;
    leati_ring_stage *stage = piece->stage;
    stage->pieces--;
    if (piece != &stage->whole) {
        piece->next = ring->free_pieces;
        ring->free_pieces = piece;
    }
    if (stage->closed && stage->pieces == 0)
        leati_ring_drop_stage(ring, stage);
}

/* After `outcomes` of the piece were delivered: lets it go, or has the rest computed. */
static leati_ring_stage *settle(leati_ring *ring, leati_ring_piece *piece, int64_t outcomes) {
    leati_queue_gate_lock(ring->gate);
    ring->undelivered -= outcomes;
    ring->delivered += outcomes;
    if (piece->rows == 0 && !piece->last) {
        remove_piece(ring, piece);
    } else if (piece->rows > 0 && piece->good == 0 && !piece->failed) {
        piece->done = false;
        leati_ring_submit(ring, piece);
    }
    leati_ring_cut(ring);
    leati_ring_account(ring);
    leati_ring_wake_driver(ring);
    leati_ring_stage *dead = ring->dead;
    ring->dead = NULL;
    leati_queue_gate_unlock(ring->gate);
    return dead;
}

leati_tail leati_ring_pull(leati_ring *ring, int64_t want, leati_block *out, leat_error *err) {
    leati_block_clear(out);
    int columns = leat_spec_num_components(ring->node->dataset->spec);
    if (leati_ring_note(ring, want, out->destinations, columns, err) != LEAT_OK ||
        start(ring, err) != LEAT_OK)
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
        reap(ring, settle(ring, piece, outcomes));
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

/* The pieces of a ring with a program exist from the start, so that reading on needs no memory. */
static leat_status make_pieces(leati_ring *ring, leat_error *err) {
    int64_t most = ring->knob.maximum;
    ring->max_pieces = LEATI_MIN(BLOCKED * most, MOST_BLOCKED);
    ring->max_pieces += most + most / 2 + 2;
    ring->all_pieces = leati_alloc_zero((size_t)ring->max_pieces, sizeof(*ring->all_pieces));
    ring->workers = leati_pool_size(ring->node->iteration->pool);
    ring->scratches = leati_alloc_zero((size_t)ring->workers, sizeof(leati_scratch *));
    if (ring->all_pieces == NULL || ring->scratches == NULL)
        return leati_no_memory(err);
    for (int64_t i = ring->max_pieces - 1; i >= 0; i--) {
        ring->all_pieces[i].next = ring->free_pieces;
        ring->free_pieces = &ring->all_pieces[i];
    }
    return LEAT_OK;
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
    if (ring->options.program != NULL) {
        leat_status status = make_pieces(ring, err);
        if (status != LEAT_OK)
            return status;
    }
    ring->below = *node->iteration;
    ring->below.cancel = ring->cancel;
    ring->below.deadline_ns = LEATI_NO_DEADLINE;
    ring->replayable = node->dataset->inputs[0]->replayable;
    leat_status status =
        leati_input_open_dataset(&ring->input, node, node->dataset->inputs[0], &ring->below, err);
    ring->input.snapshots = LEATI_SNAPSHOTS_NEVER;
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
    ring->stages_end = &ring->stages;
    ring->pieces_end = &ring->pieces;
    add_knob(ring);
    if (open_ring(ring, err) != LEAT_OK) {
        leati_ring_free(ring);
        return NULL;
    }
    leati_ring_account(ring);
    return ring;
}

void leati_ring_discard(leati_ring *ring) {
    while (ring->pieces != NULL) {
        leati_ring_piece *piece = ring->pieces;
        leati_block_clear(&piece->out);
        remove_piece(ring, piece);
    }
    while (ring->stages != NULL)
        leati_ring_drop_stage(ring, ring->stages);
    ring->uncut = NULL;
    leati_ring_forget_batch(ring);
    leati_ring_stage *dead = ring->dead;
    ring->dead = NULL;
    reap(ring, dead);
    ring->undelivered = ring->uncut_bytes = ring->held = 0;
    ring->input_ended = false;
    leati_ring_snapshot_unref(ring, ring->mark);
    ring->mark = NULL;
    memset(&ring->trouble, 0, sizeof(ring->trouble));
    leati_free(ring->wanted);
    ring->wanted = NULL;
    ring->num_wanted = ring->wanted_at = 0;
    ring->frontier = 0;
}

static void free_memory(leati_ring *ring) {
    for (leati_ring_stage *stage = ring->free_stages; stage != NULL;) {
        leati_ring_stage *next = stage->next;
        leati_block_fini(&stage->rows);
        leati_free(stage);
        stage = next;
    }
    for (int64_t i = 0; ring->all_pieces != NULL && i < ring->max_pieces; i++)
        leati_block_fini(&ring->all_pieces[i].out);
    for (int i = 0; ring->scratches != NULL && i < ring->workers; i++)
        leati_program_scratch_free(ring->scratches[i]);
    while (ring->free_marks != NULL) {
        leati_ring_snapshot *next = ring->free_marks->next;
        leati_writer_fini(&ring->free_marks->state);
        leati_free(ring->free_marks);
        ring->free_marks = next;
    }
    leati_writer_fini(&ring->ranges);
    leati_ring_lanes_free(ring);
    leati_free(ring->all_pieces);
    leati_free(ring->scratches);
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
    leati_input_close(&ring->input);
    leati_autotune_knob_remove(&ring->knob);
    free_memory(ring);
    leati_queue_gate_free(ring->gate);
    leati_cancel_unref(ring->cancel);
    leati_free(ring);
}
