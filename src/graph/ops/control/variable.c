/* assign_variable, assign_add_variable, read_variable: the replica's copy of a variable becomes the
 * input, has it added, and is read at this point of the trace (tf.Variable.assign and so on).
 * Stateful: they keep their places among each other.
 *
 * Of n rows that are assigned the last one stays, as if they were assigned in order; a sum is that
 * of the operation add, run in place, row after row. Reading copies, because a later assignment
 * writes in place, but for what it replaces (strings, unknown dimensions); its gradient is asked
 * for with leat_variable_gradients. They fail where the shape differs. */
#include "graph/graph.h"
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
    if (status == LEAT_OK && call->n > 0 && variable->is_replaced) {
        const leat_tensor last = leati_kernel_operand_tensor(value, call->n - 1);
        return leati_variable_replace(variable, &last, err);
    }
    if (status == LEAT_OK)
        status = leati_variable_host_copy(call, &copy, err);
    /* The rows before the last one would be overwritten at once. */
    if (status == LEAT_OK && call->n > 0)
        memcpy(copy, value->data + (call->n - 1) * value->row_stride,
               leati_kernel_operand_row_bytes(value));
    return status;
}

static leat_status assign_add_variable_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_variable_infer_assign(call, err));
    /* Which dtypes have a sum is for add to say. */
    leati_type types[2] = {call->inputs[0], call->inputs[0]}, sum;
    leati_infer_call inner = {.inputs = types, .num_inputs = 2, .outputs = &sum, .capacity = 1};
    return leati_tensor_op_add.infer(&inner, err);
}

/* Adds the rows of the call to what lies at `copy`. */
static leat_status add_rows(leati_kernel_call *call, void *copy, leat_error *err) {
    leat_status status = LEAT_OK;
    for (int64_t i = 0; status == LEAT_OK && i < call->n; i++) {
        /* The total is operand and result of add. It has no owner: the variable keeps
         * its memory. */
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

/* The sum takes the place of the value; nothing is broadcast. */
static leat_status add_and_replace(leati_kernel_call *call, leat_variable *variable,
                                   leat_error *err) {
    char found[128], expected[128];
    leat_tensor value = leati_variable_share(variable), sum = {0};
    leat_shape now = leat_tensor_shape(&value), given = {.rank = call->inputs[0].rank};
    memcpy(given.dims, call->inputs[0].dims, sizeof given.dims);
    leat_status status = leati_shape_equal(&now, &given)
                             ? leat_tensor_copy_of(value.dtype, now, value.data, &sum, err)
                             : leati_refuse(err, SHAPE,
                                            "variable %s has a value of shape %s; what is added to "
                                            "it has shape %s",
                                            variable->name, leati_shape_text(&now, expected),
                                            leati_shape_text(&given, found));
    leat_tensor_unref(&value);
    if (status == LEAT_OK)
        status = add_rows(call, sum.data, err);
    if (status == LEAT_OK)
        status = leati_variable_replace(variable, &sum, err);
    leat_tensor_unref(&sum);
    return status;
}

static leat_status assign_add_variable_kernel(leati_kernel_call *call, leat_error *err) {
    leat_variable *variable = NULL;
    void *copy = NULL;
    LEATI_TRY(leati_variable_of(call->args, &variable, err));
    if (variable->is_replaced)
        return add_and_replace(call, variable, err);
    LEATI_TRY(leati_variable_check_operand(variable, &call->inputs[0], err));
    LEATI_TRY(leati_variable_host_copy(call, &copy, err));
    return add_rows(call, copy, err);
}

static leat_status read_variable_infer(leati_infer_call *call, leat_error *err) {
    leat_variable *variable = NULL;
    LEATI_TRY(leati_variable_of(call->args, &variable, err));
    return leati_op_infer_output(call, variable->dtype, &variable->shape, NULL, err);
}

static leat_status read_shared(leati_kernel_call *call, const leat_variable *variable,
                               leat_error *err) {
    leat_tensor value = leati_variable_share(variable);
    leat_status status = LEAT_OK;
    for (int64_t i = 0; status == LEAT_OK && i < call->n; i++)
        status = leati_kernel_store(call, 0, i, &value, err);
    leat_tensor_unref(&value);
    return status;
}

static leat_status read_variable_kernel(leati_kernel_call *call, leat_error *err) {
    leat_variable *variable = NULL;
    void *copy = NULL;
    leat_status status = leati_variable_of(call->args, &variable, err);
    if (status == LEAT_OK && variable->is_replaced)
        return read_shared(call, variable, err);
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

#define VARIABLE(OP, INPUTS, ...)                                                                  \
    const leati_tensor_op leati_tensor_op_##OP = {                                                 \
        .name = #OP,                                                                               \
        .version = 1,                                                                              \
        .halves = LEATI_HALVES_OWN,                                                                \
        .rows = leati_variable_rows,                                                               \
        .args_size = sizeof(struct leati_variable_args),                                           \
        .min_inputs = INPUTS,                                                                      \
        .max_inputs = INPUTS,                                                                      \
        .flags = LEATI_STATEFUL,                                                                   \
        .kernel = OP##_kernel,                                                                     \
        __VA_ARGS__,                                                                               \
    };
VARIABLE(assign_add_variable, 1, .doc = "Adds to a variable (tf.Variable.assign_add).",
         .types = "T", .outputs = "", .infer = assign_add_variable_infer)
VARIABLE(assign_variable, 1, .doc = "Sets a variable (tf.Variable.assign).", .types = "T",
         .outputs = "", .infer = leati_variable_infer_assign)
VARIABLE(read_variable, 0, .doc = "The value of a variable (tf.Variable.read_value).", .types = "",
         .outputs = "output", .infer = read_variable_infer)
