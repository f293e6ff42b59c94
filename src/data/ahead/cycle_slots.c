/* Cycles: one dataset of the cycle, from the element that it is made of to its end. See
 * cycle_parts.h. No locks. */
#include "base/clock.h"
#include "data/ahead/cycle_parts.h"
#include "run/trace.h"
#include <string.h>

leati_cycle_slot *leati_cycle_slot_new(leat_error *err) {
    leati_cycle_slot *slot = leati_alloc_zero(1, sizeof(*slot));
    if (slot == NULL)
        leati_no_memory(err);
    return slot;
}

void leati_cycle_slot_free(leati_cycle_slot *slot) {
    leati_input_close(&slot->source.input);
    leat_dataset_unref(slot->source.dataset);
    for (int i = 0; i < LEATI_CYCLE_BLOCKS; i++)
        leati_block_fini(&slot->ready.blocks[i].rows);
    leati_block_fini(&slot->front.block.rows);
    leati_block_fini(&slot->element);
    leati_writer_fini(&slot->front.base.state);
    leati_writer_fini(&slot->ready.snapshot.state);
    leati_free(slot);
}

/* Impure datasets keep the consumer's deadline. */
static leat_status open_dataset(leati_cycle *cycle, leati_cycle_slot *slot, bool plain) {
    const leati_iteration *from = plain ? cycle->node->iteration : &cycle->workers->below;
    leati_state_iteration_derive(from, (uint64_t)slot->call, &slot->iteration);
    leat_status status =
        leati_input_open_dataset(&slot->source.input, cycle->node, slot->source.dataset,
                                 &slot->iteration, &slot->source.error);
    leat_dataset_unref(slot->source.dataset);
    slot->source.dataset = NULL;
    slot->source.input.ends_at_error = true;
    if (status == LEAT_OK && !plain)
        slot->source.input.snapshots = LEATI_SNAPSHOTS_NEVER; /* blocks have them */
    return status;
}

leati_cycle_phase leati_cycle_slot_open(leati_cycle *cycle, leati_cycle_slot *slot,
                                        leati_inner *inner, bool plain) {
    leat_status status = LEAT_OK;
    if (slot->source.dataset == NULL) {
        status = leati_inner_call(inner, cycle->node, &slot->element, 0, slot->call,
                                  &slot->source.dataset, &slot->source.error);
    }
    if (status == LEAT_OK && !plain && !slot->source.dataset->pure)
        return LEATI_PHASE_MADE;
    status = status == LEAT_OK ? open_dataset(cycle, slot, plain) : status;
    return status == LEAT_OK ? LEATI_PHASE_OPEN : LEATI_PHASE_ENDED;
}

/* Remembers the dataset's state; one that cannot be saved, or not now, is replayed from an older
 * one. */
static void take_snapshot(leati_cycle_slot *slot, leati_cycle_found *f) {
    leati_save_cost cost = {0};
    leat_error ignored = {0};
    int64_t start = leati_now_ns();
    slot->ready.snapshot.state.size = 0;
    slot->ready.snapshot.state.failed = false;
    slot->ready.snapshot.at = slot->source.made;
    f->snapped = leati_input_save(&slot->source.input, &slot->ready.snapshot.state, &cost,
                                  &ignored) == LEAT_OK;
    f->snapshot_ns = leati_now_ns() - start;
}

void leati_cycle_slot_read(leati_cycle *cycle, leati_cycle_slot *slot, leati_inner *inner,
                           leati_cycle_found *f) {
    leati_span span = leati_trace_begin();
    int64_t start = leati_now_ns();
    memset(&slot->source.error, 0, sizeof(slot->source.error));
    if (f->phase == LEATI_PHASE_CALL) {
        f->phase = leati_cycle_slot_open(cycle, slot, inner, false);
        f->fault = f->phase == LEATI_PHASE_ENDED ? LEATI_FAULT_DATASET : LEATI_FAULT_NONE;
        f->opened = true;
    } else if (f->due) {
        take_snapshot(slot, f);
    }
    if (f->phase != LEATI_PHASE_OPEN) {
        f->block = NULL;
    } else {
        leati_cycle_block *block = f->block;
        block->tail =
            leati_input_take(&slot->source.input, f->ask, &block->rows, &slot->source.error);
        block->bytes = (int64_t)leati_block_bytes(&block->rows);
        slot->source.made += block->rows.n + (block->tail == LEATI_ERROR);
        f->fault = block->tail == LEATI_ERROR ? LEATI_FAULT_ELEMENT : LEATI_FAULT_NONE;
        f->phase = block->tail == LEATI_END ? LEATI_PHASE_ENDED : LEATI_PHASE_OPEN;
    }
    f->spent = leati_now_ns() - start;
    leati_trace_end(span, "read ahead", cycle->node->name);
}
