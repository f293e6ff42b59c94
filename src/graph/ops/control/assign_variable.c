/* assign_variable: the replica's copy of a variable becomes the input. Stateful, no output. Of n
 * rows the last one stays, as if they were assigned in order. Fails where the shape differs. */
#include "graph/kernel_host.h"
#include "graph/variable_ops.h"
#include <string.h>

static leat_status assign_variable_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *value = &call->inputs[0];
    leat_variable *variable = NULL;
    void *copy = NULL;
    leat_status status = leati_variable_of(call->args, &variable, err);
    if (status == LEAT_OK)
        status = leati_variable_check_operand(variable, value, err);
    if (status == LEAT_OK)
        status = leati_variable_host_copy(call, &copy, err);
    if (status == LEAT_OK && call->n > 0)
        memcpy(copy, value->data + (call->n - 1) * value->row_stride,
               leati_kernel_operand_row_bytes(value));
    return status;
}

const leati_tensor_op leati_tensor_op_assign_variable = {
    .name = "assign_variable",
    .version = 1,
    .doc = "Sets a variable (tf.Variable.assign).",
    .types = "T",
    .outputs = "",
    .halves = LEATI_HALVES_OWN,
    .rows = leati_variable_rows,
    .args_size = sizeof(struct leati_variable_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_STATEFUL,
    .infer = leati_variable_infer_assign,
    .kernel = assign_variable_kernel,
};
