/* assign_add_variable: adds the input to the replica's copy of a variable. Stateful, no output. The
 * sum is that of the operation add, run in place, row after row. Fails where the shape differs. */
#include "graph/graph.h"
#include "graph/variable_ops.h"

static leat_status assign_add_variable_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_variable_infer_assign(call, err));
    leati_type types[2] = {call->inputs[0], call->inputs[0]}, sum;
    leati_infer_call inner = {.inputs = types, .num_inputs = 2, .outputs = &sum, .capacity = 1};
    return leati_tensor_op_add.infer(&inner, err);
}

static leat_status assign_add_variable_kernel(leati_kernel_call *call, leat_error *err) {
    leat_variable *variable = NULL;
    void *copy = NULL;
    leat_status status = leati_variable_of(call->args, &variable, err);
    if (status == LEAT_OK)
        status = leati_variable_check_operand(variable, &call->inputs[0], err);
    if (status == LEAT_OK)
        status = leati_variable_host_copy(call, &copy, err);
    for (int64_t i = 0; status == LEAT_OK && i < call->n; i++) {
        leati_operand total = call->inputs[0], operands[2];
        total.data = copy;
        total.owner = NULL;
        operands[0] = total;
        operands[1] = call->inputs[0];
        operands[1].data += i * operands[1].row_stride;
        leati_kernel_call inner = *call;
        inner.n = 1;
        inner.inputs = operands;
        inner.num_inputs = 2;
        inner.outputs = &total;
        inner.num_outputs = 1;
        inner.args = NULL;
        status = leati_tensor_op_add.kernel(&inner, err);
    }
    return status;
}

const leati_tensor_op leati_tensor_op_assign_add_variable = {
    .name = "assign_add_variable",
    .version = 1,
    .doc = "Adds to a variable (tf.Variable.assign_add).",
    .types = "T",
    .outputs = "",
    .halves = LEATI_HALVES_OWN,
    .rows = leati_variable_rows,
    .args_size = sizeof(struct leati_variable_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_STATEFUL,
    .infer = assign_add_variable_infer,
    .kernel = assign_add_variable_kernel,
};
