/* Reading several datasets in turns: see cycle.h and cycle_parts.h.
 *
 * Happy path: a visit to a slot adds rows to the result, from the slot's front block, or, where
 * the dataset is not read ahead, from its input's block. Pure datasets are asked for their share of
 * what the consumer wants at least, others only for what the present turn takes.
 *
 * Failures: those of the input, of the function and of the datasets are one outcome each. Locks:
 * the workers' gate, where there are any, while places and queue change. */
#include "base/minmax.h"
#include "data/ahead/cycle_parts.h"

typedef enum visit_mode { VISIT_PULL, VISIT_ADVANCE, VISIT_SKIP } visit_mode;

/* ---- places and queue ---- */

static void lock(leati_cycle *cycle) {
    if (cycle->workers != NULL)
        leati_queue_gate_lock(cycle->workers->gate);
}

static void unlock(leati_cycle *cycle) {
    if (cycle->workers != NULL)
        leati_queue_gate_unlock(cycle->workers->gate);
}

static void drop(leati_cycle *cycle, leati_cycle_slot *slot) {
    if (cycle->workers != NULL) {
        lock(cycle);
        leati_cycle_ahead_forget(cycle->workers, slot);
        unlock(cycle);
    }
    leati_cycle_slot_free(slot);
}

static void clear_place(leati_cycle *cycle, int64_t at) {
    leati_cycle_slot *slot = cycle->slots[at];
    lock(cycle);
    cycle->slots[at] = NULL;
    unlock(cycle);
    cycle->open--;
    drop(cycle, slot);
}

void leati_cycle_place(leati_cycle *cycle, int64_t at, leati_cycle_slot *slot) {
    lock(cycle);
    cycle->slots[at] = slot;
    unlock(cycle);
    cycle->open++;
}

void leati_cycle_enqueue(leati_cycle *cycle, leati_cycle_slot *slot) {
    slot->next = NULL;
    lock(cycle);
    *cycle->queue_end = slot;
    cycle->queue_end = &slot->next;
    unlock(cycle);
    cycle->queued++;
}

static leati_cycle_slot *dequeue(leati_cycle *cycle) {
    leati_cycle_slot *slot = cycle->queue;
    lock(cycle);
    cycle->queue = slot->next;
    if (cycle->queue == NULL)
        cycle->queue_end = &cycle->queue;
    unlock(cycle);
    slot->next = NULL;
    cycle->queued--;
    return slot;
}

void leati_cycle_empty(leati_cycle *cycle) {
    for (int64_t i = 0; cycle->open > 0; i++)
        if (cycle->slots[i] != NULL)
            clear_place(cycle, i);
    while (cycle->queue != NULL)
        drop(cycle, dequeue(cycle));
}

/* ---- opening and closing ---- */

int64_t leati_cycle_of_cores(int64_t num_parallel_calls) {
    int64_t cores = leati_pool_num_cores();
    if (num_parallel_calls == LEAT_UNSET)
        return cores;
    if (num_parallel_calls == LEAT_AUTOTUNE)
        return (cores + 2) / 3;
    return LEATI_MIN(num_parallel_calls, cores);
}

static void open_together(leati_cycle *cycle);

leat_status leati_cycle_open(leati_node_state *node, const leati_cycle_options *options,
                             leat_error *err) {
    leati_cycle *cycle = node->state;
    cycle->node = node;
    cycle->options = *options;
    cycle->queue_end = &cycle->queue;
    if ((uint64_t)options->cycle_length <= SIZE_MAX / sizeof(void *))
        cycle->slots = leati_alloc_zero((size_t)options->cycle_length, sizeof(leati_cycle_slot *));
    if (cycle->slots == NULL) {
        return leati_fail(err, LEAT_RESOURCE_EXHAUSTED,
                          "no memory for %lld open datasets; choose a smaller cycle_length",
                          (long long)options->cycle_length);
    }
    leat_status status = leati_inner_init(&cycle->inner, node, err);
    if (status == LEAT_OK)
        status = leati_join_init(&cycle->join, node->dataset->spec, err);
    if (status == LEAT_OK) {
        status = leati_input_open(&cycle->input, node, 0, err);
        cycle->input.ends_at_error = true;
    }
    if (status == LEAT_OK && options->parallel && !node->iteration->inline_only) {
        cycle->workers = leati_cycle_workers_new(cycle, err);
        status = cycle->workers == NULL ? LEAT_RESOURCE_EXHAUSTED : LEAT_OK;
    }
    if (status == LEAT_OK)
        open_together(cycle);
    return status;
}

void leati_cycle_close(leati_node_state *node, void *state) {
    leati_cycle *cycle = state;
    (void)node;
    if (cycle->workers != NULL)
        leati_cycle_workers_stop(cycle->workers);
    leati_cycle_empty(cycle);
    if (cycle->workers != NULL) {
        leati_cycle_workers_free(cycle->workers);
        cycle->workers = NULL;
    }
    leati_free((void *)cycle->slots);
    leati_join_fini(&cycle->join);
    leati_inner_fini(&cycle->inner);
    leati_input_close(&cycle->input);
}

leat_status leati_cycle_reset(leati_node_state *node, void *state, leat_error *err) {
    leati_cycle *cycle = state;
    (void)node;
    if (cycle->workers != NULL)
        leati_cycle_workers_hold(cycle->workers);
    leati_cycle_empty(cycle);
    if (cycle->workers != NULL)
        leati_cycle_workers_release(cycle->workers);
    cycle->at = cycle->block = 0;
    LEATI_TRY(leati_input_reset(&cycle->input, err));
    open_together(cycle);
    return LEAT_OK;
}

/* ---- turns ---- */

static void pass_turn(leati_cycle *cycle) {
    cycle->at = cycle->at + 1 == cycle->options.cycle_length ? 0 : cycle->at + 1;
    cycle->block = 0;
}

/* n outcomes of the present block were given. */
static void take_turns(leati_cycle *cycle, int64_t n) {
    cycle->block += n;
    if (cycle->block == cycle->options.block_length)
        pass_turn(cycle);
}

/* Takes row `row` of the input's block into the slot: a view, or a copy where that would keep a
 * large block alive. */
static leat_status keep_element(const leati_cycle *cycle, int64_t row, leati_cycle_slot *slot,
                                leat_error *err) {
    leat_status status = leati_block_slice(&cycle->input.block, row, 1, &slot->element, err);
    for (int c = 0; c < slot->element.num_columns && status == LEAT_OK; c++)
        status = leati_column_compact(&slot->element.columns[c], 1, err);
    return status;
}

/* Queues up to `want` outcomes of the input: MORE, END where it has ended, or ERROR without memory,
 * when nothing is lost. */
static leati_tail read_input(leati_cycle *cycle, int64_t want, leat_error *err) {
    int64_t available = 0;
    leat_error failure = {0};
    leati_tail tail = leati_input_peek(&cycle->input, want, NULL, &available, &failure);
    if (available == 0 && tail == LEATI_END)
        return LEATI_END;
    int64_t outcomes = available < 1 ? 1 : LEATI_MIN(available, want);
    for (int64_t i = 0; i < outcomes; i++) {
        leati_cycle_slot *slot = leati_cycle_slot_new(err);
        if (slot == NULL)
            return LEATI_ERROR;
        slot->call = cycle->call;
        if (available == 0) {
            slot->ready.phase = LEATI_PHASE_ENDED;
            slot->ready.fault = LEATI_FAULT_DATASET;
            slot->source.error = failure;
        } else if (keep_element(cycle, leati_input_begin(&cycle->input), slot, err) != LEAT_OK) {
            leati_cycle_slot_free(slot);
            return LEATI_ERROR;
        }
        cycle->call++;
        leati_input_consume(&cycle->input, 1);
        leati_cycle_enqueue(cycle, slot);
    }
    return LEATI_MORE;
}

/* The slot whose turn it is has ended. Its place gets another dataset if the input has one beyond
 * those for the places that are empty already. ERROR without memory: nothing has happened. */
static leati_tail end_turn(leati_cycle *cycle, leat_error *err) {
    int64_t rest = cycle->options.keeps_block ? cycle->block : 0;
    int64_t wanted = cycle->options.cycle_length - cycle->open + 1;
    while (rest > 0 && cycle->queued < wanted && !cycle->input.ended) {
        int64_t ask = leati_input_pure(&cycle->input) ? wanted - cycle->queued : 1;
        if (read_input(cycle, ask, err) == LEATI_ERROR)
            return LEATI_ERROR;
    }
    bool replaced = cycle->queued >= wanted;
    clear_place(cycle, cycle->at);
    pass_turn(cycle);
    cycle->block = replaced ? 0 : rest;
    return LEATI_MORE;
}

/* The place whose turn it is stays empty. */
static void pass_empty(leati_cycle *cycle) {
    int64_t rest = cycle->options.keeps_block ? cycle->block : 0;
    pass_turn(cycle);
    cycle->block = rest;
}

/* Fills the empty place whose turn it is: MORE, END where the input has ended, or ERROR without
 * memory. */
static leati_tail fill_place(leati_cycle *cycle, leat_error *err) {
    leati_cycle_workers *workers = cycle->workers;
    int64_t lacks = workers == NULL || cycle->input.ended ? 0 : leati_cycle_ahead_lacks(workers);
    if (cycle->queue == NULL || lacks > 0) {
        leat_error local = {0};
        leati_tail tail =
            cycle->input.ended ? LEATI_END : read_input(cycle, LEATI_MAX(lacks, 1), &local);
        if (cycle->queue == NULL && tail != LEATI_MORE) {
            if (tail == LEATI_ERROR)
                *err = local;
            return tail;
        }
    }
    leati_cycle_place(cycle, cycle->at, dequeue(cycle));
    if (workers != NULL && lacks > 0) {
        leati_queue_gate_lock(workers->gate);
        leati_cycle_workers_wake(workers);
        leati_queue_gate_unlock(workers->gate);
    }
    return LEATI_MORE;
}

/* Delivers the slot's error, which stands behind everything that was read, if there is one, or in
 * place of a dataset. */
static leati_tail deliver_error(leati_cycle *cycle, leati_cycle_slot *slot, leat_error *err) {
    *err = slot->source.error;
    lock(cycle);
    leati_cycle_fault fault = slot->ready.fault;
    slot->ready.fault = LEATI_FAULT_NONE;
    unlock(cycle);
    if (fault == LEATI_FAULT_ELEMENT)
        return LEATI_ERROR;
    if (cycle->options.parallel)
        slot->front.kind = LEATI_KIND_SPENT;
    else
        clear_place(cycle, cycle->at);
    return LEATI_ERROR;
}

/* ---- a visit ---- */

typedef struct visit_request {
    visit_mode mode;
    int64_t want, most; /* rows for the consumer, and for this turn */
    leati_block *out;   /* PULL */
    int64_t n;          /* rows added, or outcomes passed */
    bool later;         /* nothing can be had without waiting */
    bool stuck;         /* an ERROR that is no outcome: there is no memory to take rows */
} visit_request;

/* Adds rows of a plain slot. */
static leati_tail pull_plain(leati_cycle *cycle, leati_cycle_slot *slot, visit_request *r,
                             leat_error *err) {
    int64_t share = (r->want + cycle->open - 1) / cycle->open;
    int64_t ask = leati_input_pure(&slot->source.input) && share > r->most ? share : r->most;
    int64_t available = 0;
    leati_tail tail = leati_input_peek(&slot->source.input, ask, NULL, &available, err);
    if (available == 0) {
        leati_input_consume(&slot->source.input, tail == LEATI_ERROR);
        return tail;
    }
    r->n = LEATI_MIN(available, r->most);
    r->stuck =
        leati_join_rows(&cycle->join, &slot->source.input.block,
                        leati_input_begin(&slot->source.input), &r->n, r->out, err) != LEAT_OK;
    leati_input_consume(&slot->source.input, r->n);
    return r->stuck ? LEATI_ERROR : LEATI_MORE;
}

static leati_tail read_plain(leati_cycle *cycle, leati_cycle_slot *slot, visit_request *r,
                             leat_error *err) {
    slot->iteration.deadline_ns = cycle->node->iteration->deadline_ns;
    switch (r->mode) {
    case VISIT_PULL: return pull_plain(cycle, slot, r, err);
    case VISIT_ADVANCE: return leati_input_advance(&slot->source.input, r->most, &r->n, err);
    default: return leati_input_skip(&slot->source.input, r->most, &r->n, err);
    }
}

/* Makes sure that the slot has rows or a tail in front. MORE; ERROR without an outcome. */
static leati_tail load(leati_cycle *cycle, leati_cycle_slot *slot, visit_request *r,
                       leat_error *err) {
    if (slot->front.kind == LEATI_KIND_STAGED && !leati_cycle_slot_drained(slot))
        return LEATI_MORE;
    if (slot->front.kind == LEATI_KIND_STAGED && r->mode == VISIT_ADVANCE &&
        leati_cycle_ahead_claim(cycle->workers, slot)) {
        leati_tail tail = leati_input_advance(&slot->source.input, r->most, &r->n, err);
        slot->source.made += r->n;
        slot->front.taken += r->n;
        leati_cycle_ahead_unclaim(cycle->workers, slot);
        if (r->n > 0 || tail == LEATI_ERROR)
            return tail == LEATI_END ? LEATI_MORE : tail;
    }
    bool patient = r->mode != VISIT_PULL || r->out->n == 0;
    leati_cycle_load loaded = leati_cycle_ahead_load(cycle->workers, slot, patient, err);
    r->later = loaded == LEATI_NOT_YET;
    return loaded == LEATI_NOT_LOADED ? LEATI_ERROR : LEATI_MORE;
}

/* Takes what stands in front of a staged slot. */
static leati_tail read_front(leati_cycle *cycle, leati_cycle_slot *slot, visit_request *r,
                             leat_error *err) {
    leati_cycle_block *front = &slot->front.block;
    int64_t left = front->rows.n - slot->front.at;
    if (left > 0) {
        r->n = LEATI_MIN(left, r->most);
        r->stuck =
            r->mode == VISIT_PULL && leati_join_rows(&cycle->join, &front->rows, slot->front.at,
                                                     &r->n, r->out, err) != LEAT_OK;
        slot->front.at += r->n;
        slot->front.taken += r->n;
        return r->stuck ? LEATI_ERROR : LEATI_MORE;
    }
    if (front->tail != LEATI_ERROR)
        return front->tail;
    front->tail = LEATI_MORE;
    slot->front.taken++;
    deliver_error(cycle, slot, err);
    r->n = r->mode == VISIT_ADVANCE; /* there it is an outcome as any other */
    return r->mode == VISIT_ADVANCE ? LEATI_MORE : LEATI_ERROR;
}

/* Opens a slot that only the consumer may open. */
static bool open_plain(leati_cycle *cycle, leati_cycle_slot *slot) {
    if (slot->ready.phase == LEATI_PHASE_ENDED)
        return false;
    slot->source.error = (leat_error){0};
    if (leati_cycle_slot_open(cycle, slot, &cycle->inner, true) == LEATI_PHASE_OPEN) {
        slot->front.kind = LEATI_KIND_PLAIN;
        return true;
    }
    slot->ready.fault = LEATI_FAULT_DATASET;
    return false;
}

/* Other processes may give nothing to one reader while others are missing (coordinated reads), so
 * in the parallel form all that are in turn are opened at once. What fails is told in its turn. */
static void open_together(leati_cycle *cycle) {
    bool more = cycle->options.parallel && leati_dataset_is_remote(cycle->node->dataset);
    leat_error unwanted = {0};
    for (cycle->at = 0; more && cycle->at < cycle->options.cycle_length; cycle->at++) {
        more = fill_place(cycle, &unwanted) == LEATI_MORE;
        leati_cycle_slot *slot = cycle->slots[cycle->at];
        if (slot != NULL && cycle->workers != NULL)
            (void)leati_cycle_ahead_load(cycle->workers, slot, true, &unwanted);
        if (slot != NULL && slot->front.kind == LEATI_KIND_NEW)
            (void)open_plain(cycle, slot);
    }
    cycle->at = 0;
}

/* Reads the slot whose turn it is. */
static leati_tail read_slot(leati_cycle *cycle, visit_request *r, leat_error *err) {
    leati_cycle_slot *slot = cycle->slots[cycle->at];
    int64_t left = cycle->options.block_length - cycle->block;
    r->most = LEATI_MIN(r->want, left);
    if (cycle->workers != NULL && slot->front.kind != LEATI_KIND_PLAIN) {
        leati_tail tail = load(cycle, slot, r, err);
        if (tail != LEATI_MORE || r->later)
            return tail;
    }
    if (slot->front.kind == LEATI_KIND_NEW && !open_plain(cycle, slot)) {
        leati_tail tail = deliver_error(cycle, slot, err);
        if (cycle->options.parallel)
            take_turns(cycle, 1);
        return tail;
    }
    leati_tail tail = LEATI_MORE;
    if (slot->front.kind == LEATI_KIND_PLAIN)
        tail = read_plain(cycle, slot, r, err);
    else if (r->n == 0)
        tail = read_front(cycle, slot, r, err);
    if (tail == LEATI_END && r->n < r->most)
        return end_turn(cycle, err);
    if (r->stuck)
        return tail;
    bool counts = tail == LEATI_ERROR && r->mode == VISIT_PULL && cycle->options.parallel;
    take_turns(cycle, r->n + counts);
    return tail == LEATI_ERROR ? tail : LEATI_MORE;
}

/* In any order: gives the turn to a slot that is ready. */
static void choose_turn(leati_cycle *cycle) {
    const leati_cycle_slot *slot = cycle->slots[cycle->at];
    if (slot != NULL && (slot->front.kind >= LEATI_KIND_PLAIN || !leati_cycle_slot_drained(slot)))
        return;
    int64_t at = leati_cycle_ahead_ready(cycle->workers, cycle->at);
    if (at != cycle->at) {
        cycle->at = at;
        cycle->block = 0;
    }
}

/* Visits slots until one gave something: MORE with r->n > 0 or r->later, or END, or ERROR for one
 * outcome after r->n others. */
static leati_tail visit(leati_cycle *cycle, visit_request *r, leat_error *err) {
    r->n = 0;
    r->later = false;
    while (r->n == 0) {
        if (cycle->options.any_order && cycle->workers != NULL)
            choose_turn(cycle);
        const leati_cycle_slot *slot = cycle->slots[cycle->at];
        leati_tail tail = LEATI_MORE;
        if (slot == NULL && cycle->input.ended && cycle->queue == NULL) {
            if (cycle->open == 0)
                return LEATI_END;
            pass_empty(cycle);
        } else if (slot == NULL) {
            tail = fill_place(cycle, err);
        } else if (slot->front.kind == LEATI_KIND_SPENT) {
            tail = end_turn(cycle, err);
        } else {
            tail = read_slot(cycle, r, err);
        }
        if (tail == LEATI_ERROR)
            return tail;
        if (r->later && (r->out == NULL || r->out->n > 0))
            return LEATI_MORE;
        r->later = false;
    }
    return LEATI_MORE;
}

leati_tail leati_cycle_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                            leat_error *err) {
    leati_cycle *cycle = state;
    leati_tail tail = LEATI_MORE;
    (void)node;
    if (leati_join_begin(&cycle->join, want, out, err) != LEAT_OK)
        return LEATI_ERROR;
    visit_request r = {.mode = VISIT_PULL, .out = out};
    while (!leati_join_full(&cycle->join, out) && tail == LEATI_MORE && !r.later) {
        r.want = cycle->join.most - out->n;
        tail = visit(cycle, &r, err);
    }
    if (out->n == 0)
        leati_block_clear(out);
    return tail;
}

/* Passes elements of the parallel form, which reads what it skips. */
static leati_tail skip_by_pulling(leati_node_state *node, void *state, int64_t n, int64_t *skipped,
                                  leat_error *err) {
    leati_block block = {.byte_target = LEATI_BYTE_TARGET};
    leati_tail tail = LEATI_MORE;
    while (*skipped < n && tail == LEATI_MORE) {
        tail = leati_cycle_pull(node, state, n - *skipped, &block, err);
        *skipped += block.n;
    }
    leati_block_fini(&block);
    return tail;
}

leati_tail leati_cycle_skip(leati_node_state *node, void *state, int64_t n, int64_t *skipped,
                            leat_error *err) {
    leati_cycle *cycle = state;
    if (cycle->options.parallel)
        return skip_by_pulling(node, state, n, skipped, err);
    visit_request r = {.mode = VISIT_SKIP};
    leati_tail tail = LEATI_MORE;
    while (*skipped < n && tail == LEATI_MORE) {
        r.want = n - *skipped;
        tail = visit(cycle, &r, err);
        *skipped += r.n;
    }
    return tail;
}

leati_tail leati_cycle_advance(leati_node_state *node, void *state, int64_t n, int64_t *passed,
                               leat_error *err) {
    leati_cycle *cycle = state;
    /* In the sequential form errors do not count in a block, so that all must be looked at. */
    if (!cycle->options.parallel)
        return leati_state_node_advance_by_pulling(node, n, passed, err);
    visit_request r = {.mode = VISIT_ADVANCE};
    leati_tail tail = LEATI_MORE;
    while (*passed < n && tail == LEATI_MORE) {
        r.want = n - *passed;
        tail = visit(cycle, &r, err);
        *passed += r.n;
        if (tail == LEATI_ERROR && leati_state_recurs(err)) {
            ++*passed; /* one error outcome, as before */
            tail = LEATI_MORE;
        }
    }
    return tail;
}
