/* Cycles: one dataset of the cycle, from the element that it is made of to its end. See
 * cycle_parts.h. No locks. */
#include "data/ahead/cycle_parts.h"

leati_slot *leati_cycle_slot_new(leat_error *err) {
    leati_slot *slot = leati_alloc_zero(1, sizeof(*slot));
    if (slot == NULL)
        leati_no_memory(err);
    return slot;
}

void leati_cycle_slot_free(leati_slot *slot) {
    leati_input_close(&slot->input);
    leat_dataset_unref(slot->dataset);
    for (int i = 0; i < LEATI_PORTIONS; i++)
        leati_block_fini(&slot->ready[i].rows);
    leati_block_fini(&slot->front.rows);
    leati_block_fini(&slot->element);
    leati_writer_fini(&slot->base);
    leati_writer_fini(&slot->mark);
    leati_free(slot);
}

/* Impure datasets keep the consumer's deadline. */
static leat_status open_dataset(leati_cycle *cycle, leati_slot *slot, bool plain) {
    const leati_iteration *from = plain ? cycle->node->iteration : &cycle->crew->below;
    leati_state_iteration_derive(from, (uint64_t)slot->call, &slot->iteration);
    leat_status status = leati_input_open_dataset(&slot->input, cycle->node, slot->dataset,
                                                  &slot->iteration, &slot->error);
    leat_dataset_unref(slot->dataset);
    slot->dataset = NULL;
    slot->input.ends_at_error = true;
    if (status == LEAT_OK && !plain)
        slot->input.snapshots = LEATI_SNAPSHOTS_NEVER; /* portions have marks */
    return status;
}

leati_cycle_phase leati_cycle_slot_open(leati_cycle *cycle, leati_slot *slot, leati_inner *inner,
                                        bool plain) {
    leat_status status = LEAT_OK;
    if (slot->dataset == NULL) {
        status = leati_inner_call(inner, cycle->node, &slot->element, 0, slot->call, &slot->dataset,
                                  &slot->error);
    }
    if (status == LEAT_OK && !plain && !slot->dataset->pure)
        return LEATI_PHASE_MADE;
    status = status == LEAT_OK ? open_dataset(cycle, slot, plain) : status;
    return status == LEAT_OK ? LEATI_PHASE_OPEN : LEATI_PHASE_ENDED;
}
