/* read_variable: the value of a variable at this point of the trace. Stateful: keeps its place
 * among the assignments. The kernel copies, because a later assignment writes in place. Its
 * gradient is asked for with leat_variable_gradients. */
#include "graph/kernel_host.h"
#include "graph/variable_ops.h"
#include <string.h>

static leat_status read_variable_infer(leati_infer_call *call, leat_error *err) {
    leat_variable *variable = NULL;
    LEATI_TRY(leati_variable_of(call->args, &variable, err));
    return leati_op_infer_output(call, variable->dtype, &variable->shape, NULL, err);
}

static leat_status read_variable_kernel(leati_kernel_call *call, leat_error *err) {
    leat_variable *variable = NULL;
    void *copy = NULL;
    leat_status status = leati_variable_of(call->args, &variable, err);
    if (status == LEAT_OK)
        status = leati_variable_host_copy(call, &copy, err);
    if (status == LEAT_OK)
        status = leati_op_kernel_output(call, 0, variable->shape.rank, variable->shape.dims, err);
    if (status != LEAT_OK)
        return status;
    leati_operand *output = &call->outputs[0];
    for (int64_t i = 0; i < call->n; i++)
        memcpy(output->data + i * output->row_stride, copy, leati_kernel_operand_row_bytes(output));
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_read_variable = {
    .name = "read_variable",
    .version = 1,
    .doc = "The value of a variable (tf.Variable.read_value).",
    .types = "",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .rows = leati_variable_rows,
    .args_size = sizeof(struct leati_variable_args),
    .flags = LEATI_STATEFUL,
    .infer = read_variable_infer,
    .kernel = read_variable_kernel,
};
