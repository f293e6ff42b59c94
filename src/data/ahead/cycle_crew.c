/* Cycles: the crew, drivers that read datasets ahead of their turns.
 *
 * Happy path: the consumer reads a dataset itself when its turn comes and nobody has. Where that
 * turns out to be worth a driver's while, it hires one, each time that it has to do the work or to
 * wait, up to as many as the pool has threads. A driver takes the next slot in the order of the
 * turns that has nothing ready, then one of the queue, then those with less ready than two portions
 * or two turns; calls the function, opens, reads a portion, and publishes it. A portion is as many
 * rows as take about PORTION_NS, or half a turn, and never more than the bytes of a block. So the
 * number of threads does not depend on cycle_length, and the consumer waits only while a driver
 * reads the very portion that it needs: no budget can stop the pipeline.
 *
 * Before a portion the driver remembers the dataset's state (the mark), unless that costs much of
 * the time; once the consumer has passed that point it is the base for saving, from which a restore
 * passes what was taken since.
 *
 * Failures: want of memory is the portion's error; without threads the consumer does everything.
 * Cancellation ends every wait, and what was read meanwhile is dropped. Locks: the gate; under it
 * only the budget's. */
#include "base/clock.h"
#include "base/log.h"
#include "base/minmax.h"
#include "data/ahead/cycle_parts.h"
#include "run/trace.h"
#include <string.h>

enum {
    PORTION_NS = 200 * 1000,
    SLOW_NS = 100 * 1000, /* of a row: too slow for a consumer that has something to hand on */
    WORTH_NS = 20 * 1000, /* of a dataset */
    MOST_ROWS = 4096,     /* of a portion */
    MOST_HELD = 32 << 20, /* bytes read ahead, if they are more than a few portions */
    MOST_SCANNED = 256,   /* places */
    FORGET_OPENED = 64,   /* datasets: older measurements count half */
};

/* ---- what to do next; all with the gate locked ---- */

/* How many slots from the turn on are read ahead. */
static int64_t window(const leati_crew *crew) {
    return 4 * (int64_t)crew->most + 4;
}

static bool tight(const leati_crew *crew) {
    int64_t each = crew->portions > 0 ? crew->held / crew->portions : 0;
    return (crew->held > MOST_HELD && crew->portions > 2 * crew->most) ||
           !leati_budget_fits(crew->below.budget, each);
}

/* Rows that a turn takes, as far as that bounds what is read ahead. */
static int64_t block_rows(const leati_crew *crew) {
    int64_t rows = crew->cycle->options.block_length;
    return LEATI_MIN(rows, MOST_ROWS);
}

/* Should the slot, with at most `depth` portions ready, have one more? Two, or two turns. */
static bool wants(const leati_crew *crew, const leati_slot *slot, int depth) {
    bool readable =
        slot->phase == LEATI_PHASE_OPEN || (slot->phase == LEATI_PHASE_CALL && crew->ahead);
    bool lacks = slot->count < 2 || slot->ready_rows < 2 * block_rows(crew);
    return readable && lacks && !slot->busy && slot->fault == LEATI_FAULT_NONE &&
           slot->count <= depth;
}

static leati_slot *choose_open(const leati_crew *crew, int depth) {
    const leati_cycle *cycle = crew->cycle;
    int64_t length = cycle->options.cycle_length, seen = 0;
    for (int64_t i = 0; i < length && i < MOST_SCANNED && seen < window(crew); i++) {
        int64_t left = length - crew->turn;
        leati_slot *slot = cycle->slots[i < left ? crew->turn + i : i - left];
        if (slot != NULL && wants(crew, slot, depth))
            return slot;
        seen += slot != NULL;
    }
    return NULL;
}

/* The slot that a driver should work on, or NULL. */
static leati_slot *choose(const leati_crew *crew) {
    if (crew->stop || crew->hold || !crew->worth || tight(crew))
        return NULL;
    leati_slot *slot = choose_open(crew, 0);
    for (leati_slot *next = crew->cycle->queue; next != NULL && slot == NULL; next = next->next)
        slot = wants(crew, next, 0) ? next : NULL;
    for (int depth = 1; depth < LEATI_PORTIONS && slot == NULL; depth++)
        slot = choose_open(crew, depth);
    return slot;
}

void leati_cycle_crew_wake(leati_crew *crew) {
    if (crew->resting > 0 && choose(crew) != NULL)
        leati_queue_gate_wake(crew->gate);
}

static void account(leati_crew *crew) {
    leati_node_state *node = crew->cycle->node;
    leati_counter_set(&node->counters.depth, crew->rows);
    leati_counter_set(&node->counters.bytes_held, crew->held);
    leati_counter_set(&node->counters.parallelism, crew->worth ? crew->most : 1);
    /* Over the limit less is read ahead; it is no failure. */
    if (leati_budget_holder_set(&node->holder, crew->held, NULL) != LEAT_OK)
        return;
}

/* ---- work ---- */

/* What a worker found, to be published. */
typedef struct found {
    leati_cycle_phase phase;
    leati_fault fault;
    leati_portion *portion; /* NULL: none */
    int64_t ask, spent, mark_ns;
    bool opened, due, marked; /* a mark is due, was made */
} found;

/* With the gate locked. The state before the first portion is that of any fresh dataset. */
static found begin(leati_crew *crew, leati_slot *slot) {
    found f = {.phase = slot->phase, .ask = crew->ask};
    f.portion = &slot->ready[(slot->first + slot->count) % LEATI_PORTIONS];
    f.due = !slot->marked && slot->made > slot->base_at &&
            (crew->below.verify ? crew->marks++ % 3 != 0 : crew->mark_ns * 16 <= crew->work_ns);
    slot->busy = true;
    crew->busy++;
    return f;
}

/* Remembers the dataset's state; one that cannot be saved, or not now, is replayed from an older
 * one. */
static void mark(leati_slot *slot, found *f) {
    leati_save_cost cost = {0};
    leat_error ignored = {0};
    int64_t start = leati_now_ns();
    slot->mark.size = 0;
    slot->mark.failed = false;
    slot->mark_at = slot->made;
    f->marked = leati_input_save(&slot->input, &slot->mark, &cost, &ignored) == LEAT_OK;
    f->mark_ns = leati_now_ns() - start;
}

/* Without the gate: opens the dataset if need be, and reads a portion. */
static void work(leati_crew *crew, leati_slot *slot, leati_inner *inner, found *f) {
    leati_cycle *cycle = crew->cycle;
    leati_span span = leati_trace_begin();
    int64_t start = leati_now_ns();
    memset(&slot->error, 0, sizeof(slot->error));
    if (f->phase == LEATI_PHASE_CALL) {
        f->phase = leati_cycle_slot_open(cycle, slot, inner, false);
        f->fault = f->phase == LEATI_PHASE_ENDED ? LEATI_FAULT_DATASET : LEATI_FAULT_NONE;
        f->opened = true;
    } else if (f->due) {
        mark(slot, f);
    }
    if (f->phase != LEATI_PHASE_OPEN) {
        f->portion = NULL;
    } else {
        leati_portion *portion = f->portion;
        portion->tail = leati_input_take(&slot->input, f->ask, &portion->rows, &slot->error);
        portion->bytes = (int64_t)leati_block_bytes(&portion->rows);
        slot->made += portion->rows.n + (portion->tail == LEATI_ERROR);
        f->fault = portion->tail == LEATI_ERROR ? LEATI_FAULT_ELEMENT : LEATI_FAULT_NONE;
        f->phase = portion->tail == LEATI_END ? LEATI_PHASE_ENDED : LEATI_PHASE_OPEN;
    }
    f->spent = leati_now_ns() - start;
    leati_trace_end(span, "read ahead", cycle->node->name);
}

/* With the gate locked: what was measured. */
static void measure(leati_crew *crew, const found *f) {
    crew->work_ns += f->spent;
    crew->mark_ns += f->mark_ns;
    crew->opened += f->opened;
    if (crew->opened > FORGET_OPENED) {
        crew->opened /= 2;
        crew->work_ns /= 2;
        crew->mark_ns /= 2;
    }
    int64_t rows = f->portion == NULL ? 0 : f->portion->rows.n;
    if (rows > 0) {
        double row_ns = (double)f->spent / (double)rows;
        crew->row_ns = crew->row_ns == 0 ? row_ns : crew->row_ns + (row_ns - crew->row_ns) / 4;
    }
    if (rows == f->ask && f->ask == crew->ask && f->spent < PORTION_NS / 2 && crew->ask < MOST_ROWS)
        crew->ask *= 2;
    else if (f->ask == crew->ask && f->spent > 2 * PORTION_NS && crew->ask > 1)
        crew->ask /= 2;
    int64_t each = crew->work_ns / (crew->opened > 0 ? crew->opened : 1);
    crew->worth = crew->below.verify || each > (crew->worth ? WORTH_NS / 4 : WORTH_NS);
}

/* With the gate locked. */
static void publish(leati_crew *crew, leati_slot *slot, const found *f) {
    slot->busy = false;
    crew->busy--;
    slot->phase = f->phase;
    slot->fault = f->fault;
    slot->marked = slot->marked || f->marked;
    measure(crew, f);
    if (f->portion != NULL) {
        slot->count++;
        crew->portions++;
        crew->held += f->portion->bytes;
        crew->rows += f->portion->rows.n;
        slot->ready_rows += f->portion->rows.n;
    }
    account(crew);
}

static void drive(void *context) {
    leati_crew_worker *worker = context;
    leati_crew *crew = worker->crew;
    leati_pool *pool = crew->below.pool;
    leati_pool_token_acquire(pool);
    leati_queue_gate_lock(crew->gate);
    while (!crew->stop) {
        leati_slot *slot = choose(crew);
        if (slot == NULL) {
            crew->resting++;
            leat_status status = leati_queue_gate_wait(crew->gate, LEATI_WAIT_CONSUMER,
                                                       LEATI_NO_DEADLINE, NULL, NULL);
            crew->resting--;
            if (status != LEAT_OK)
                break;
            continue;
        }
        found f = begin(crew, slot);
        int64_t least = (block_rows(crew) + 1) / 2;
        f.ask = LEATI_MAX(f.ask, least);
        leati_queue_gate_unlock(crew->gate);
        work(crew, slot, &worker->inner, &f);
        leati_queue_gate_lock(crew->gate);
        publish(crew, slot, &f);
        bool awaited =
            crew->awaited == slot || (crew->awaited != NULL && crew->cycle->options.any_order);
        if (awaited || crew->hold)
            leati_queue_gate_wake(crew->gate);
    }
    leati_queue_gate_unlock(crew->gate);
    leati_pool_token_release(pool);
    leati_queue_gate_lock(crew->gate);
    crew->running--;
    leati_queue_gate_wake(crew->gate);
    leati_queue_gate_unlock(crew->gate);
}

/* ---- the consumer ---- */

/* Without the gate: one more driver, if they are all busy. Without memory or threads there will be
 * no more of them. */
static void hire(leati_crew *crew) {
    leati_crew_worker *worker = &crew->workers[crew->hired];
    worker->crew = crew;
    if (leati_inner_init(&worker->inner, crew->cycle->node, NULL) == LEAT_OK) {
        leati_queue_gate_lock(crew->gate);
        crew->running++;
        leati_queue_gate_unlock(crew->gate);
        worker->driver =
            leati_driver_start(crew->cycle->node->dataset->op->name, drive, worker, NULL);
    }
    if (worker->driver != NULL) {
        crew->hired++;
        LEATI_TELL(DATA, DEBUG, "%s: driver %d is hired, since the others are busy",
                   crew->cycle->node->name, crew->hired);
        return;
    }
    leati_queue_gate_lock(crew->gate);
    crew->running -= worker->inner.scratch != NULL;
    crew->most = crew->hired;
    leati_queue_gate_unlock(crew->gate);
    leati_inner_fini(&worker->inner);
}

/* Would one more driver have something to do? With the gate locked. */
static bool needs_driver(const leati_crew *crew) {
    return crew->hired < crew->most && crew->resting == 0 && choose(crew) != NULL;
}

/* With the gate locked, and again on return: the consumer does a driver's work. */
static void help(leati_crew *crew, leati_slot *slot) {
    found f = begin(crew, slot);
    bool need = needs_driver(crew);
    leati_queue_gate_unlock(crew->gate);
    if (need)
        hire(crew);
    work(crew, slot, &crew->cycle->inner, &f);
    leati_queue_gate_lock(crew->gate);
    publish(crew, slot, &f);
}

/* With the gate locked: the oldest portion becomes the front. */
static void take(leati_crew *crew, leati_slot *slot) {
    leati_portion old = slot->front;
    slot->front = slot->ready[slot->first];
    crew->held -= old.bytes;
    old.bytes = 0;
    slot->ready[slot->first] = old; /* its memory is used again */
    slot->first = (slot->first + 1) % LEATI_PORTIONS;
    slot->count--;
    slot->at = 0;
    slot->kind = LEATI_KIND_STAGED;
    crew->portions--;
    crew->rows -= slot->front.rows.n;
    slot->ready_rows -= slot->front.rows.n;
    if (slot->marked && slot->taken >= slot->mark_at) {
        leati_writer base = slot->base;
        slot->base = slot->mark;
        slot->mark = base;
        slot->base_at = slot->mark_at;
        slot->marked = false;
    }
    crew->turn = crew->cycle->at;
    account(crew);
    leati_cycle_crew_wake(crew);
}

leati_load leati_cycle_crew_load(leati_crew *crew, leati_slot *slot, bool patient,
                                 leat_error *err) {
    const leati_cycle *cycle = crew->cycle;
    const leati_iteration *iteration = cycle->node->iteration;
    int64_t waited = 0;
    leati_load load = LEATI_LOADED;
    leati_block_clear(&slot->front.rows); /* drops references without the gate */
    slot->at = 0;
    leati_queue_gate_lock(crew->gate);
    crew->turn = cycle->at;
    while (slot->count == 0) {
        if (leati_cancel_fired(crew->cancel)) {
            leati_fail(err, LEAT_CANCELLED, "%s: cancelled while waiting for its input",
                       cycle->node->name);
            load = LEATI_NOT_LOADED;
            break;
        }
        if (!slot->busy && slot->phase != LEATI_PHASE_CALL && slot->phase != LEATI_PHASE_OPEN)
            break;
        if (!patient && crew->worth && (slot->busy || crew->row_ns > SLOW_NS)) {
            load = LEATI_NOT_YET;
            break;
        }
        if (!slot->busy) {
            help(crew, slot);
            continue;
        }
        if (needs_driver(crew)) {
            leati_queue_gate_unlock(crew->gate);
            hire(crew);
            leati_queue_gate_lock(crew->gate);
            continue;
        }
        leati_cycle_crew_wake(crew);
        crew->awaited = slot;
        leat_status status = leati_queue_gate_wait(crew->gate, LEATI_WAIT_INPUT,
                                                   iteration->deadline_ns, &waited, err);
        crew->awaited = NULL;
        if (status != LEAT_OK || (cycle->options.any_order && slot->count == 0)) {
            load = status != LEAT_OK ? LEATI_NOT_LOADED : LEATI_NOT_YET;
            break;
        }
    }
    if (load == LEATI_LOADED && slot->count > 0)
        take(crew, slot);
    leati_queue_gate_unlock(crew->gate);
    leati_counter_add(&cycle->node->counters.waiting_ns, waited);
    return load;
}

/* How welcome the slot is in any order: 2 ready, 1 the consumer may work on it, 0 it must wait. */
static int welcome(const leati_cycle *cycle, const leati_slot *slot) {
    if (slot == NULL)
        return cycle->queue != NULL || !cycle->input.ended;
    if (slot->kind >= LEATI_KIND_PLAIN || slot->count > 0 || !leati_cycle_slot_drained(slot))
        return 2;
    return !slot->busy;
}

int64_t leati_cycle_crew_ready(leati_crew *crew, int64_t at) {
    const leati_cycle *cycle = crew->cycle;
    int64_t length = cycle->options.cycle_length, found_at = at;
    int best = 0;
    leati_queue_gate_lock(crew->gate);
    for (int64_t i = 0; i < length && i < MOST_SCANNED && best < 2 && crew->worth; i++) {
        int64_t place = at < length - i ? at + i : at - (length - i);
        int how = welcome(cycle, cycle->slots[place]);
        /* An empty place keeps its turn. */
        how = i == 0 && cycle->slots[place] == NULL ? 2 * how : how;
        if (how > best) {
            best = how;
            found_at = place;
        }
    }
    leati_queue_gate_unlock(crew->gate);
    return found_at;
}

int64_t leati_cycle_crew_lacks(leati_crew *crew) {
    int64_t target = 2 * (int64_t)crew->most + 2, queued = crew->cycle->queued;
    leati_queue_gate_lock(crew->gate);
    bool grow = crew->ahead && crew->worth && queued <= target / 2 && !tight(crew);
    leati_queue_gate_unlock(crew->gate);
    return grow ? target - queued : 0;
}

bool leati_cycle_crew_claim(leati_crew *crew, leati_slot *slot) {
    leati_queue_gate_lock(crew->gate);
    bool idle = slot->kind == LEATI_KIND_STAGED && leati_cycle_slot_drained(slot) &&
                slot->count == 0 && !slot->busy && slot->phase == LEATI_PHASE_OPEN;
    slot->busy = slot->busy || idle;
    leati_queue_gate_unlock(crew->gate);
    return idle;
}

void leati_cycle_crew_unclaim(leati_crew *crew, leati_slot *slot) {
    leati_queue_gate_lock(crew->gate);
    slot->busy = false;
    leati_queue_gate_unlock(crew->gate);
}

void leati_cycle_crew_forget(leati_crew *crew, const leati_slot *slot) {
    crew->held -= slot->front.bytes;
    for (int i = 0; i < slot->count; i++) {
        const leati_portion *portion = &slot->ready[(slot->first + i) % LEATI_PORTIONS];
        crew->held -= portion->bytes;
        crew->rows -= portion->rows.n;
        crew->portions--;
    }
    account(crew);
}

void leati_cycle_crew_hold(leati_crew *crew) {
    leat_status status = LEAT_OK;
    leati_queue_gate_lock(crew->gate);
    crew->hold = true;
    while (crew->busy > 0 && status == LEAT_OK)
        status = leati_queue_gate_wait(crew->gate, LEATI_WAIT_CPU, LEATI_NO_DEADLINE, NULL, NULL);
    leati_queue_gate_unlock(crew->gate);
}

void leati_cycle_crew_release(leati_crew *crew) {
    leati_queue_gate_lock(crew->gate);
    crew->hold = false;
    leati_cycle_crew_wake(crew);
    leati_queue_gate_unlock(crew->gate);
}

/* ---- opening and closing ---- */

static void wake_cancelled(leati_cancel_watch *watch) {
    leati_crew *crew = (leati_crew *)((char *)watch - offsetof(leati_crew, watch));
    leati_queue_gate_lock(crew->gate);
    leati_queue_gate_wake(crew->gate);
    leati_queue_gate_unlock(crew->gate);
}

/* More drivers than threads of the pool would only wait for its tokens, and those that find nothing
 * to do cost nothing: so there is nothing to tune. */
static int most_drivers(const leati_crew *crew) {
    const leati_cycle_options *options = &crew->cycle->options;
    int64_t most = leati_pool_size(crew->below.pool), limit = options->limit;
    most = options->cycle_length < most / 2 + 1 ? 2 * options->cycle_length : most;
    return (int)(limit != LEAT_AUTOTUNE && limit < most ? limit : most);
}

static leat_status open_crew(leati_crew *crew, leat_error *err) {
    leati_node_state *node = crew->cycle->node;
    crew->cancel = leati_cancel_new(node->iteration->cancel, err);
    if (crew->cancel == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    crew->gate = leati_queue_gate_new(node->name, NULL, err);
    if (crew->gate == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    crew->watch.fired = wake_cancelled;
    leati_cancel_watch_add(crew->cancel, &crew->watch);
    crew->below.cancel = crew->cancel;
    crew->workers = leati_alloc_zero((size_t)crew->most, sizeof(*crew->workers));
    return crew->workers == NULL ? leati_no_memory(err) : LEAT_OK;
}

leati_crew *leati_cycle_crew_new(leati_cycle *cycle, leat_error *err) {
    leati_crew *crew = leati_alloc_zero(1, sizeof(*crew));
    if (crew == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    crew->cycle = cycle;
    crew->below = *cycle->node->iteration;
    crew->below.deadline_ns = LEATI_NO_DEADLINE;
    const leat_dataset *dataset = cycle->node->dataset;
    crew->ahead = dataset->inputs[0]->pure && leati_inner_pure(dataset);
    crew->ask = 1;
    crew->worth = crew->below.verify;
    crew->most = most_drivers(crew);
    if (open_crew(crew, err) != LEAT_OK) {
        leati_cycle_crew_free(crew);
        return NULL;
    }
    return crew;
}

void leati_cycle_crew_stop(leati_crew *crew) {
    leat_status status = LEAT_OK;
    leati_cancel_fire(crew->cancel);
    leati_queue_gate_lock(crew->gate);
    crew->stop = true;
    leati_queue_gate_wake(crew->gate);
    /* Waiting here gives up a CPU token, which joining would keep. */
    while (crew->running > 0 && status == LEAT_OK)
        status = leati_queue_gate_wait(crew->gate, LEATI_WAIT_CPU, LEATI_NO_DEADLINE, NULL, NULL);
    leati_queue_gate_unlock(crew->gate);
    for (int i = 0; i < crew->hired; i++) {
        leati_driver_join(crew->workers[i].driver);
        crew->workers[i].driver = NULL;
    }
}

void leati_cycle_crew_free(leati_crew *crew) {
    if (crew->gate != NULL)
        leati_cancel_watch_remove(crew->cancel, &crew->watch);
    for (int i = 0; i < crew->hired; i++)
        leati_inner_fini(&crew->workers[i].inner);
    leati_free(crew->workers);
    leati_queue_gate_free(crew->gate);
    leati_cancel_unref(crew->cancel);
    leati_free(crew);
}
