/* What the operations that update variables share; see slots.h. Failures: a variable that is none,
 * other dtypes or shapes, memory of a device. No locks: a step owns the copies. */
#include "graph/support/control/slots.h"

leat_status leati_slot_copy(const leati_kernel_call *call, leat_object *variable, void **out,
                            leat_error *err) {
    struct leati_variable_args args = {.variable = variable};
    /* The variable is found through the arguments of a call; a slot is not the node's first
     * variable, so the call is made for it alone. */
    leati_kernel_call inner = *call;
    inner.args = &args;
    return leati_variable_host_copy(&inner, out, err);
}

leat_status leati_slot_infer(leati_infer_call *call, leat_object *const *slots, int num_slots,
                             leat_error *err) {
    leat_variable *variable = NULL, *slot = NULL;
    LEATI_TRY(leati_variable_of(call->args, &variable, err));
    LEATI_TRY(leati_support_want_float(call, 0, "the gradient", err));
    /* As for an assignment, the gradient has the dtype and the shape of the variable. */
    LEATI_TRY(leati_variable_infer_assign(call, err));
    LEATI_TRY(leati_support_want_dtype(call, 1, variable->dtype, "the learning rate", err));
    LEATI_TRY(leati_support_want_rank(call, 1, 0, "the learning rate", err));
    for (int i = 0; i < num_slots; i++) {
        struct leati_variable_args args = {.variable = slots[i]};
        LEATI_TRY(leati_variable_of(&args, &slot, err));
        if (slot->dtype != variable->dtype || !leati_shape_equal(&slot->shape, &variable->shape))
            return leati_refuse(err, SHAPE, "slot %s has not the dtype and shape of variable %s",
                                slot->name, variable->name);
    }
    return LEAT_OK;
}

leat_status leati_slot_check(const leati_kernel_call *call, leat_error *err) {
    leat_variable *variable = NULL;
    LEATI_TRY(leati_variable_of(call->args, &variable, err));
    return leati_variable_check_operand(variable, &call->inputs[0], err);
}

void leati_slot_build(const leati_tensor_op *op, const void *args, const leat_value *inputs,
                      int num_inputs) {
    /* A failed gradient has failed its graph, and there is no output to pass that on. */
    if (!leati_support_value_failed(inputs[0]))
        leati_graph_build_many(op, args, inputs, num_inputs);
}
