/* Cycles: their states.
 *
 * A state is positions at what the consumer has taken: of the turn; for each open slot the element
 * that it was made from (as data: the input has passed it) and where its dataset stood; the
 * elements of the queue; and the input. What was read ahead is read again: a staged slot is the
 * state of its dataset before some block and the number of outcomes taken since. Nothing waits
 * for the drivers. Restoring calls the function once for each slot of which something was taken.
 *
 * Failures: an element that holds datasets cannot be saved (FAILED_PRECONDITION). */
#include "data/ahead/cycle_parts.h"
#include "data/values/values.h"

enum { SAVED_EMPTY = 0, SAVED_OPEN, SAVED_SPENT, SAVED_AHEAD, SAVED_FAILED };

/* ---- saving ---- */

/* Where nothing was read ahead, the dataset as it is; elsewhere its base. */
static leat_status save_staged(leati_cycle *cycle, leati_cycle_slot *slot, leati_writer *out,
                               leati_save_cost *cost, leat_error *err) {
    leati_writer now = {0};
    bool saved = false;
    if (leati_cycle_ahead_claim(cycle->workers, slot)) {
        leati_save_cost own = {0};
        leat_error ignored = {0};
        saved = leati_input_save(&slot->source.input, &now, &own, &ignored) == LEAT_OK;
        leati_cycle_ahead_unclaim(cycle->workers, slot);
        cost->replay_elements += saved ? own.replay_elements : 0;
    }
    int64_t since = saved ? 0 : slot->front.taken - slot->front.base.at;
    const leati_writer *state = saved ? &now : &slot->front.base.state;
    leati_put_bytes(out, state->data, state->size);
    leati_put_int(out, since);
    cost->replay_elements += since;
    leati_writer_fini(&now);
    return out->failed ? leati_no_memory(err) : LEAT_OK;
}

static leat_status save_slot(leati_cycle *cycle, leati_cycle_slot *slot, leati_writer *out,
                             leati_save_cost *cost, leat_error *err) {
    if (slot->front.kind == LEATI_KIND_SPENT) {
        leati_put_uint(out, SAVED_SPENT);
        return LEAT_OK;
    }
    bool failed = slot->element.n == 0, plain = slot->front.kind == LEATI_KIND_PLAIN;
    leati_put_uint(out, failed ? SAVED_FAILED : plain ? SAVED_OPEN : SAVED_AHEAD);
    leati_put_int(out, slot->call);
    if (failed) {
        leati_values_put_error(out, &slot->source.error);
        return LEAT_OK;
    }
    LEATI_TRY(leati_values_put_block(out, &slot->element, 0, 1, err));
    if (plain)
        return leati_input_save(&slot->source.input, out, cost, err);
    if (slot->front.kind == LEATI_KIND_STAGED)
        return save_staged(cycle, slot, out, cost, err);
    leati_put_bytes(out, NULL, 0);
    leati_put_int(out, 0);
    return LEAT_OK;
}

leat_status leati_cycle_save(leati_node_state *node, void *state, leati_writer *out,
                             leati_save_cost *cost, leat_error *err) {
    leati_cycle *cycle = state;
    leat_status status = LEAT_OK;
    int64_t left = cycle->open;
    leati_put_int(out, cycle->call);
    leati_put_int(out, cycle->at);
    leati_put_int(out, cycle->block);
    leati_put_int(out, cycle->open);
    for (int64_t i = 0; left > 0 && status == LEAT_OK; i++) {
        if (cycle->slots[i] != NULL) {
            leati_put_int(out, i);
            status = save_slot(cycle, cycle->slots[i], out, cost, err);
            left--;
        }
    }
    leati_put_int(out, cycle->queued);
    for (leati_cycle_slot *slot = cycle->queue; slot != NULL && status == LEAT_OK;
         slot = slot->next)
        status = save_slot(cycle, slot, out, cost, err);
    if (status != LEAT_OK)
        return leati_prefix(err, "%s", node->name);
    return leati_input_save(&cycle->input, out, cost, err);
}

/* ---- restoring ---- */

/* Opens the dataset again; one of which something was read ahead may be so again. */
static leat_status open_again(leati_cycle *cycle, leati_cycle_slot *slot, bool staged,
                              leat_error *err) {
    staged = staged && cycle->workers != NULL;
    slot->ready.phase = leati_cycle_slot_open(cycle, slot, &cycle->inner, !staged);
    slot->front.kind = LEATI_KIND_STAGED;
    /* It is impure: the consumer alone reads it, so it is opened as one of its own. */
    if (slot->ready.phase == LEATI_PHASE_MADE) {
        slot->ready.phase = leati_cycle_slot_open(cycle, slot, &cycle->inner, true);
        staged = false;
    }
    if (slot->ready.phase == LEATI_PHASE_ENDED) {
        *err = slot->source.error;
        return slot->source.error.code;
    }
    if (!staged) {
        slot->front.kind = LEATI_KIND_PLAIN;
        slot->ready.phase = LEATI_PHASE_MADE;
    }
    return LEAT_OK;
}

static leat_status restore_ahead(leati_cycle *cycle, leati_cycle_slot *slot, leati_reader *in,
                                 leat_error *err) {
    const void *data = NULL;
    leati_reader base = {0};
    int64_t since = 0, passed = 0;
    LEATI_TRY(leati_get_bytes(in, &data, &base.size, err));
    base.data = data;
    LEATI_TRY(leati_get_int(in, &since, err));
    if (since < 0) {
        return leati_fail(err, LEAT_DATA_LOSS, "%s: a saved slot %lld outcomes after a point",
                          cycle->node->name, (long long)since);
    }
    if (base.size == 0 && since == 0)
        return LEAT_OK; /* made when it is wanted */
    LEATI_TRY(open_again(cycle, slot, true, err));
    if (base.size > 0)
        LEATI_TRY(leati_input_restore(&slot->source.input, &base, err));
    leat_error local = {0};
    leati_tail tail = leati_input_advance(&slot->source.input, since, &passed, &local);
    LEATI_TRY(leati_input_came_again(cycle->node->name, since, passed, tail, &local, err));
    leati_put_raw(&slot->front.base.state, base.data, base.size);
    slot->source.made = slot->front.taken = since;
    return slot->front.base.state.failed ? leati_no_memory(err) : LEAT_OK;
}

static leat_status restore_slot(leati_cycle *cycle, leati_cycle_slot *slot, leati_reader *in,
                                leat_error *err) {
    const leati_node_state *node = cycle->node;
    uint64_t how = 0;
    LEATI_TRY(leati_get_uint(in, &how, err));
    if (how == SAVED_EMPTY || how > SAVED_FAILED) {
        return leati_fail(err, LEAT_DATA_LOSS, "%s: a saved slot of kind %llu; expected 1 to 4",
                          node->name, (unsigned long long)how);
    }
    if (how == SAVED_SPENT) {
        slot->front.kind = LEATI_KIND_SPENT;
        slot->ready.phase = LEATI_PHASE_ENDED;
        return LEAT_OK;
    }
    LEATI_TRY(leati_get_int(in, &slot->call, err));
    if (how == SAVED_FAILED) {
        slot->ready.phase = LEATI_PHASE_ENDED;
        slot->ready.fault = LEATI_FAULT_DATASET;
        return leati_values_get_error(in, &slot->source.error, err);
    }
    LEATI_TRY(leati_values_get_block(in, node->dataset->inputs[0]->spec, &slot->element, err));
    if (slot->element.n != 1) {
        return leati_fail(err, LEAT_DATA_LOSS, "%s: a saved slot of %lld elements; expected 1",
                          node->name, (long long)slot->element.n);
    }
    if (how == SAVED_AHEAD)
        return restore_ahead(cycle, slot, in, err);
    LEATI_TRY(open_again(cycle, slot, false, err));
    return leati_input_restore(&slot->source.input, in, err);
}

/* One slot, in place `at` or, with -1, in the queue; there before it is restored, so that it is
 * freed with the others. */
static leat_status restore_place(leati_cycle *cycle, int64_t at, leati_reader *in,
                                 leat_error *err) {
    leati_cycle_slot *slot = leati_cycle_slot_new(err);
    if (slot == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    if (at < 0)
        leati_cycle_enqueue(cycle, slot);
    else
        leati_cycle_place(cycle, at, slot);
    return restore_slot(cycle, slot, in, err);
}

static leat_status restore_slots(leati_cycle *cycle, leati_reader *in, leat_error *err) {
    int64_t open = 0, queued = 0;
    LEATI_TRY(leati_get_int(in, &open, err));
    for (int64_t i = 0, last = -1; i < open; i++) {
        int64_t at = 0;
        LEATI_TRY(leati_get_int(in, &at, err));
        if (at <= last || at >= cycle->options.cycle_length) {
            return leati_fail(err, LEAT_DATA_LOSS, "%s: a saved slot of number %lld of %lld",
                              cycle->node->name, (long long)at,
                              (long long)cycle->options.cycle_length);
        }
        LEATI_TRY(restore_place(cycle, at, in, err));
        last = at;
    }
    LEATI_TRY(leati_get_int(in, &queued, err));
    for (int64_t i = 0; i < queued; i++)
        LEATI_TRY(restore_place(cycle, -1, in, err));
    return LEAT_OK;
}

static leat_status restore_all(leati_cycle *cycle, leati_reader *in, leat_error *err) {
    const leati_cycle_options *options = &cycle->options;
    LEATI_TRY(leati_get_int(in, &cycle->call, err));
    LEATI_TRY(leati_get_int(in, &cycle->at, err));
    LEATI_TRY(leati_get_int(in, &cycle->block, err));
    if (cycle->at < 0 || cycle->at >= options->cycle_length || cycle->block < 0 ||
        cycle->block >= options->block_length) {
        cycle->at = cycle->block = 0;
        return leati_fail(err, LEAT_DATA_LOSS,
                          "%s: a saved turn outside of cycle_length %lld and block_length %lld",
                          cycle->node->name, (long long)options->cycle_length,
                          (long long)options->block_length);
    }
    LEATI_TRY(restore_slots(cycle, in, err));
    return leati_input_restore(&cycle->input, in, err);
}

leat_status leati_cycle_restore(leati_node_state *node, void *state, leati_reader *in,
                                leat_error *err) {
    leati_cycle *cycle = state;
    (void)node;
    if (cycle->workers != NULL)
        leati_cycle_workers_hold(cycle->workers);
    leati_cycle_empty(cycle);
    leat_status status = restore_all(cycle, in, err);
    if (cycle->workers != NULL)
        leati_cycle_workers_release(cycle->workers);
    return status;
}
