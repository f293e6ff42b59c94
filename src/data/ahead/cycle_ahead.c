/* Cycles: what is read ahead of its turn. See cycle_parts.h.
 *
 * Happy path: the consumer reads a dataset itself when its turn comes and nobody has. A driver
 * takes the next slot in the order of the turns that has nothing ready, then one of the queue, then
 * those with less ready than two blocks or two turns; calls the function, opens, reads a block, and
 * publishes it. A block has as many rows as take about READ_NS, or half a turn, and never more than
 * the bytes of a block. So the consumer waits only while a driver reads the very block that it
 * needs: no budget can stop the pipeline.
 *
 * A block may have a snapshot of the dataset before it, unless that costs much of the time; once
 * the consumer has passed that point it is the base for saving, from which a restore passes what
 * was taken since.
 *
 * Failures: want of memory is the block's error. Cancellation ends every wait, and what was read
 * meanwhile is dropped. Locks: the gate; under it only the budget's. */
#include "base/debug.h"
#include "base/minmax.h"
#include "data/ahead/cycle_parts.h"

enum {
    READ_NS = 200 * 1000, /* of a block */
    SLOW_NS = 100 * 1000, /* of a row: too slow for a consumer that has something to hand on */
    WORTH_NS = 20 * 1000, /* of a dataset */
    MOST_ROWS = 4096,     /* of a block */
    MOST_HELD = 32 << 20, /* bytes read ahead, if they are more than a few blocks */
    MOST_SCANNED = 256,   /* places */
    FORGET_OPENED = 64,   /* datasets: older measurements count half */
};

/* ---- what to do next; all with the gate locked ---- */

/* How many slots from the turn on are read ahead. */
static int64_t window(const leati_cycle_workers *workers) {
    return 4 * (int64_t)workers->hiring.most + 4;
}

static bool tight(const leati_cycle_workers *workers) {
    int64_t each = workers->stock.blocks > 0 ? workers->stock.held / workers->stock.blocks : 0;
    return (workers->stock.held > MOST_HELD && workers->stock.blocks > 2 * workers->hiring.most) ||
           !leati_budget_fits(workers->below.budget, each);
}

int64_t leati_cycle_ahead_turn_rows(const leati_cycle_workers *workers) {
    int64_t rows = workers->cycle->options.block_length;
    return LEATI_MIN(rows, MOST_ROWS);
}

/* Should the slot, with at most `depth` blocks ready, have one more? Two, or two turns. */
static bool wants(const leati_cycle_workers *workers, const leati_cycle_slot *slot, int depth) {
    bool readable = slot->ready.phase == LEATI_PHASE_OPEN ||
                    (slot->ready.phase == LEATI_PHASE_CALL && workers->ahead);
    bool lacks =
        slot->ready.count < 2 || slot->ready.rows < 2 * leati_cycle_ahead_turn_rows(workers);
    return readable && lacks && !slot->ready.busy && slot->ready.fault == LEATI_FAULT_NONE &&
           slot->ready.count <= depth;
}

static leati_cycle_slot *choose_open(const leati_cycle_workers *workers, int depth) {
    const leati_cycle *cycle = workers->cycle;
    int64_t length = cycle->options.cycle_length, seen = 0;
    for (int64_t i = 0; i < length && i < MOST_SCANNED && seen < window(workers); i++) {
        int64_t left = length - workers->stock.turn;
        leati_cycle_slot *slot = cycle->slots[i < left ? workers->stock.turn + i : i - left];
        if (slot != NULL && wants(workers, slot, depth))
            return slot;
        seen += slot != NULL;
    }
    return NULL;
}

leati_cycle_slot *leati_cycle_ahead_choose(const leati_cycle_workers *workers) {
    if (workers->hiring.stop || workers->hiring.hold || !workers->rates.worth || tight(workers))
        return NULL;
    leati_cycle_slot *slot = choose_open(workers, 0);
    for (leati_cycle_slot *next = workers->cycle->queue; next != NULL && slot == NULL;
         next = next->next)
        slot = wants(workers, next, 0) ? next : NULL;
    for (int depth = 1; depth < LEATI_CYCLE_BLOCKS && slot == NULL; depth++)
        slot = choose_open(workers, depth);
    return slot;
}

static void account(leati_cycle_workers *workers) {
    leati_node_state *node = workers->cycle->node;
    leati_counter_set(&node->counters.depth, workers->stock.rows);
    leati_counter_set(&node->counters.bytes_held, workers->stock.held);
    leati_counter_set(&node->counters.parallelism, workers->rates.worth ? workers->hiring.most : 1);
    /* Over the limit less is read ahead; it is no failure. */
    leat_error unwanted;
    if (leati_budget_holder_set(&node->holder, workers->stock.held,
                                leati_error_unwanted(&unwanted)) != LEAT_OK)
        return;
}

/* ---- work ---- */

/* The state before the first block is that of any fresh dataset. */
leati_cycle_found leati_cycle_ahead_begin(leati_cycle_workers *workers, leati_cycle_slot *slot,
                                          int64_t least) {
    LEATI_ASSERT(!slot->ready.busy && slot->ready.count < LEATI_CYCLE_BLOCKS);
    leati_cycle_found f = {.phase = slot->ready.phase, .ask = LEATI_MAX(workers->rates.ask, least)};
    f.block = &slot->ready.blocks[(slot->ready.first + slot->ready.count) % LEATI_CYCLE_BLOCKS];
    f.due = !slot->ready.snapped && slot->source.made > slot->front.base.at &&
            (workers->below.verify ? workers->rates.snapshots++ % 3 != 0
                                   : workers->rates.snapshot_ns * 16 <= workers->rates.work_ns);
    slot->ready.busy = true;
    workers->stock.busy++;
    return f;
}

/* With the gate locked: what was measured. */
static void measure(leati_cycle_workers *workers, const leati_cycle_found *f) {
    workers->rates.work_ns += f->spent;
    workers->rates.snapshot_ns += f->snapshot_ns;
    workers->rates.opened += f->opened;
    if (workers->rates.opened > FORGET_OPENED) {
        workers->rates.opened /= 2;
        workers->rates.work_ns /= 2;
        workers->rates.snapshot_ns /= 2;
    }
    int64_t rows = f->block == NULL ? 0 : f->block->rows.n;
    if (rows > 0) {
        double row_ns = (double)f->spent / (double)rows;
        workers->rates.row_ns = workers->rates.row_ns == 0
                                    ? row_ns
                                    : workers->rates.row_ns + (row_ns - workers->rates.row_ns) / 4;
    }
    if (rows == f->ask && f->ask == workers->rates.ask && f->spent < READ_NS / 2 &&
        workers->rates.ask < MOST_ROWS)
        workers->rates.ask *= 2;
    else if (f->ask == workers->rates.ask && f->spent > 2 * READ_NS && workers->rates.ask > 1)
        workers->rates.ask /= 2;
    int64_t each = workers->rates.work_ns / (workers->rates.opened > 0 ? workers->rates.opened : 1);
    workers->rates.worth =
        workers->below.verify || each > (workers->rates.worth ? WORTH_NS / 4 : WORTH_NS);
}

void leati_cycle_ahead_publish(leati_cycle_workers *workers, leati_cycle_slot *slot,
                               const leati_cycle_found *f) {
    LEATI_ASSERT(slot->ready.busy && workers->stock.busy > 0);
    slot->ready.busy = false;
    workers->stock.busy--;
    slot->ready.phase = f->phase;
    slot->ready.fault = f->fault;
    slot->ready.snapped = slot->ready.snapped || f->snapped;
    measure(workers, f);
    if (f->block != NULL) {
        slot->ready.count++;
        workers->stock.blocks++;
        workers->stock.held += f->block->bytes;
        workers->stock.rows += f->block->rows.n;
        slot->ready.rows += f->block->rows.n;
    }
    account(workers);
}

/* ---- the consumer ---- */

/* With the gate locked, and again on return: the consumer does a driver's work. */
static void help(leati_cycle_workers *workers, leati_cycle_slot *slot) {
    leati_cycle_found f = leati_cycle_ahead_begin(workers, slot, 1);
    bool need = leati_cycle_workers_lack(workers);
    leati_queue_gate_unlock(workers->gate);
    if (need)
        leati_cycle_workers_hire(workers);
    leati_cycle_slot_read(workers->cycle, slot, &workers->cycle->inner, &f);
    leati_queue_gate_lock(workers->gate);
    leati_cycle_ahead_publish(workers, slot, &f);
}

#ifdef LEATI_DEBUG
static void add_stock(const leati_cycle_slot *slot, leati_cycle_stock *sum) {
    int64_t rows = 0;
    for (int i = 0; i < slot->ready.count; i++) {
        const leati_cycle_block *block =
            &slot->ready.blocks[(slot->ready.first + i) % LEATI_CYCLE_BLOCKS];
        rows += block->rows.n;
        sum->held += block->bytes;
    }
    assert(slot->ready.count <= LEATI_CYCLE_BLOCKS && rows == slot->ready.rows);
    sum->held += slot->front.block.bytes;
    sum->blocks += slot->ready.count;
    sum->rows += rows;
    sum->busy += slot->ready.busy;
}
#endif

/* With the gate locked, by the consumer: what slots hold is what was counted. */
static void assert_stock(const leati_cycle_workers *workers) {
#ifdef LEATI_DEBUG
    const leati_cycle *cycle = workers->cycle;
    const leati_cycle_stock *stock = &workers->stock;
    leati_cycle_stock sum = {0};
    for (int64_t i = 0, left = cycle->open; left > 0; i++) {
        if (cycle->slots[i] != NULL) {
            add_stock(cycle->slots[i], &sum);
            left--;
        }
    }
    for (const leati_cycle_slot *slot = cycle->queue; slot != NULL; slot = slot->next)
        add_stock(slot, &sum);
    assert(sum.held == stock->held && sum.blocks == stock->blocks);
    assert(sum.rows == stock->rows && sum.busy == stock->busy);
#else
    (void)workers;
#endif
}

/* With the gate locked: the oldest block becomes the front. */
static void take(leati_cycle_workers *workers, leati_cycle_slot *slot) {
    LEATI_ASSERT(slot->ready.count > 0 && workers->stock.blocks > 0);
    leati_cycle_block old = slot->front.block;
    slot->front.block = slot->ready.blocks[slot->ready.first];
    workers->stock.held -= old.bytes;
    old.bytes = 0;
    slot->ready.blocks[slot->ready.first] = old; /* its memory is used again */
    slot->ready.first = (slot->ready.first + 1) % LEATI_CYCLE_BLOCKS;
    slot->ready.count--;
    slot->front.at = 0;
    slot->front.kind = LEATI_KIND_STAGED;
    workers->stock.blocks--;
    workers->stock.rows -= slot->front.block.rows.n;
    slot->ready.rows -= slot->front.block.rows.n;
    if (slot->ready.snapped && slot->front.taken >= slot->ready.snapshot.at) {
        leati_cycle_snapshot base = slot->front.base;
        slot->front.base = slot->ready.snapshot;
        slot->ready.snapshot = base;
        slot->ready.snapped = false;
    }
    workers->stock.turn = workers->cycle->at;
    account(workers);
    assert_stock(workers);
    leati_cycle_workers_wake(workers);
}

leati_cycle_load leati_cycle_ahead_load(leati_cycle_workers *workers, leati_cycle_slot *slot,
                                        bool patient, leat_error *err) {
    const leati_cycle *cycle = workers->cycle;
    const leati_iteration *iteration = cycle->node->iteration;
    int64_t waited = 0;
    leati_cycle_load load = LEATI_LOADED;
    leati_block_clear(&slot->front.block.rows); /* drops references without the gate */
    slot->front.at = 0;
    leati_queue_gate_lock(workers->gate);
    workers->stock.turn = cycle->at;
    while (slot->ready.count == 0) {
        if (leati_cancel_fired(workers->cancel)) {
            leati_fail(err, LEAT_CANCELLED, "%s: cancelled while waiting for its input",
                       cycle->node->name);
            load = LEATI_NOT_LOADED;
            break;
        }
        if (!slot->ready.busy && slot->ready.phase != LEATI_PHASE_CALL &&
            slot->ready.phase != LEATI_PHASE_OPEN)
            break;
        if (!patient && workers->rates.worth &&
            (slot->ready.busy || workers->rates.row_ns > SLOW_NS)) {
            load = LEATI_NOT_YET;
            break;
        }
        if (!slot->ready.busy) {
            help(workers, slot);
            continue;
        }
        if (leati_cycle_workers_lack(workers)) {
            leati_queue_gate_unlock(workers->gate);
            leati_cycle_workers_hire(workers);
            leati_queue_gate_lock(workers->gate);
            continue;
        }
        leati_cycle_workers_wake(workers);
        workers->stock.awaited = slot;
        leat_status status = leati_queue_gate_wait(workers->gate, LEATI_WAIT_INPUT,
                                                   iteration->deadline_ns, &waited, err);
        workers->stock.awaited = NULL;
        if (status != LEAT_OK || (cycle->options.any_order && slot->ready.count == 0)) {
            load = status != LEAT_OK ? LEATI_NOT_LOADED : LEATI_NOT_YET;
            break;
        }
    }
    if (load == LEATI_LOADED && slot->ready.count > 0)
        take(workers, slot);
    leati_queue_gate_unlock(workers->gate);
    leati_counter_add(&cycle->node->counters.waiting_ns, waited);
    return load;
}

/* How welcome the slot is in any order: 2 ready, 1 the consumer may work on it, 0 it must wait. */
static int welcome(const leati_cycle *cycle, const leati_cycle_slot *slot) {
    if (slot == NULL)
        return cycle->queue != NULL || !cycle->input.ended;
    if (slot->front.kind >= LEATI_KIND_PLAIN || slot->ready.count > 0 ||
        !leati_cycle_slot_drained(slot))
        return 2;
    return !slot->ready.busy;
}

int64_t leati_cycle_ahead_ready(leati_cycle_workers *workers, int64_t at) {
    const leati_cycle *cycle = workers->cycle;
    int64_t length = cycle->options.cycle_length, found_at = at;
    int best = 0;
    leati_queue_gate_lock(workers->gate);
    for (int64_t i = 0; i < length && i < MOST_SCANNED && best < 2 && workers->rates.worth; i++) {
        int64_t place = at < length - i ? at + i : at - (length - i);
        int how = welcome(cycle, cycle->slots[place]);
        /* An empty place keeps its turn. */
        how = i == 0 && cycle->slots[place] == NULL ? 2 * how : how;
        if (how > best) {
            best = how;
            found_at = place;
        }
    }
    leati_queue_gate_unlock(workers->gate);
    return found_at;
}

int64_t leati_cycle_ahead_lacks(leati_cycle_workers *workers) {
    int64_t target = 2 * (int64_t)workers->hiring.most + 2, queued = workers->cycle->queued;
    leati_queue_gate_lock(workers->gate);
    bool grow = workers->ahead && workers->rates.worth && queued <= target / 2 && !tight(workers);
    leati_queue_gate_unlock(workers->gate);
    return grow ? target - queued : 0;
}

bool leati_cycle_ahead_claim(leati_cycle_workers *workers, leati_cycle_slot *slot) {
    leati_queue_gate_lock(workers->gate);
    bool idle = slot->front.kind == LEATI_KIND_STAGED && leati_cycle_slot_drained(slot) &&
                slot->ready.count == 0 && !slot->ready.busy &&
                slot->ready.phase == LEATI_PHASE_OPEN;
    slot->ready.busy = slot->ready.busy || idle;
    leati_queue_gate_unlock(workers->gate);
    return idle;
}

void leati_cycle_ahead_unclaim(leati_cycle_workers *workers, leati_cycle_slot *slot) {
    leati_queue_gate_lock(workers->gate);
    slot->ready.busy = false;
    leati_queue_gate_unlock(workers->gate);
}

void leati_cycle_ahead_forget(leati_cycle_workers *workers, const leati_cycle_slot *slot) {
    workers->stock.held -= slot->front.block.bytes;
    for (int i = 0; i < slot->ready.count; i++) {
        const leati_cycle_block *block =
            &slot->ready.blocks[(slot->ready.first + i) % LEATI_CYCLE_BLOCKS];
        workers->stock.held -= block->bytes;
        workers->stock.rows -= block->rows.n;
        workers->stock.blocks--;
    }
    account(workers);
}
