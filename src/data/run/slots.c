/* The slots of an operator, and what stands for those that it leaves out: see data/plan/op.h.
 *
 * An operator whose state is an input and a few numbers says which numbers (`saved`), and how an
 * epoch starts where zeros will not do (`start`); the rest is here. A saved number that is none is
 * DATA_LOSS. No locks. */
#include "data/run/slots.h"
#include "data/run/input.h"

/* The input that the state starts with: NULL where the operator has none or did not open it. */
static leati_input *input_of(const leati_node_state *node) {
    leati_input *input = node->dataset->num_inputs == 1 ? node->state : NULL;
    return input != NULL && input->child != NULL ? input : NULL;
}

static void *number_at(const leati_node_state *node, const leati_saved *saved) {
    return (char *)node->state + saved->offset;
}

leat_status leati_slots_open(leati_node_state *node, leat_error *err) {
    const leati_dataset_op *op = node->dataset->op;
    if (op->start != NULL)
        op->start(node, node->state);
    if (op->open != NULL)
        return op->open(node, node->state, err);
    return node->dataset->num_inputs == 1 ? leati_input_open(node->state, node, 0, err) : LEAT_OK;
}

leat_status leati_slots_save(leati_node_state *node, leati_writer *out, leati_save_cost *cost,
                             leat_error *err) {
    const leati_dataset_op *op = node->dataset->op;
    if (op->save != NULL)
        return op->save(node, node->state, out, cost, err);
    for (const leati_saved *number = op->saved; number->kind != LEATI_SAVED_END; number++)
        if (number->kind == LEATI_SAVED_FLAG)
            leati_put_uint(out, *(const bool *)number_at(node, number));
        else
            leati_put_int(out, *(const int64_t *)number_at(node, number));
    leati_input *input = input_of(node);
    return input != NULL ? leati_input_save(input, out, cost, err) : LEAT_OK;
}

static leat_status restore_number(leati_node_state *node, const leati_saved *number,
                                  leati_reader *in, leat_error *err) {
    if (number->kind == LEATI_SAVED_INT)
        return leati_get_int(in, number_at(node, number), err);
    uint64_t flag = 0;
    leat_status status = leati_get_uint(in, &flag, err);
    *(bool *)number_at(node, number) = flag != 0;
    return status == LEAT_OK && flag > 1
               ? leati_fail(err, LEAT_DATA_LOSS, "%s: a saved flag of %llu; expected 0 or 1",
                            node->name, (unsigned long long)flag)
               : status;
}

leat_status leati_slots_restore(leati_node_state *node, leati_reader *in, leat_error *err) {
    const leati_dataset_op *op = node->dataset->op;
    leat_status status = LEAT_OK;
    if (op->restore != NULL)
        return op->restore(node, node->state, in, err);
    for (const leati_saved *number = op->saved;
         number->kind != LEATI_SAVED_END && status == LEAT_OK; number++)
        status = restore_number(node, number, in, err);
    /* A wrong number is refused before the input is read again. */
    if (status == LEAT_OK && op->restored != NULL)
        status = op->restored(node, node->state, err);
    leati_input *input = input_of(node);
    return status == LEAT_OK && input != NULL ? leati_input_restore(input, in, err) : status;
}

leat_status leati_slots_reset(leati_node_state *node, leat_error *err) {
    const leati_dataset_op *op = node->dataset->op;
    for (const leati_saved *number = op->saved; number->kind != LEATI_SAVED_END; number++)
        if (number->kind == LEATI_SAVED_FLAG)
            *(bool *)number_at(node, number) = false;
        else if (!number->kept)
            *(int64_t *)number_at(node, number) = 0;
    if (op->start != NULL)
        op->start(node, node->state);
    if (op->reset != NULL)
        return op->reset(node, node->state, err);
    leati_input *input = input_of(node);
    return input != NULL ? leati_input_reset(input, err) : LEAT_OK;
}

void leati_slots_close(leati_node_state *node) {
    if (node->dataset->op->close != NULL)
        node->dataset->op->close(node, node->state);
    else if (input_of(node) != NULL)
        leati_input_close(node->state);
}
