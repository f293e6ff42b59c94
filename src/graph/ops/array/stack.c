/* stack: tensors of one shape along a new dimension (tf.stack).
 *
 * Fails where dtypes or shapes differ. No state, no locks. */
#include "graph/known.h"
#include "graph/support/array/join.h"

/* `shape` with a dimension of `count` at the axis. */
static leat_status stacked(const leat_shape *shape, int64_t axis, int count, int32_t *place,
                           leat_shape *out, leat_error *err) {
    if (shape->rank >= LEAT_MAX_RANK)
        return leati_refuse(err, SHAPE, "the rank would exceed %d", LEAT_MAX_RANK);
    LEATI_TRY(leati_support_normal_axis(axis, shape->rank + 1, place, err));
    out->rank = shape->rank + 1;
    for (int32_t d = 0; d < out->rank; d++)
        out->dims[d] = d == *place ? count : shape->dims[d < *place ? d : d - 1];
    return LEAT_OK;
}

static leat_status unequal(const leat_shape *first, const leat_shape *other, int index,
                           leat_error *err) {
    char texts[2][128];
    return leati_refuse(err, SHAPE, "input %d has shape %s, input 0 %s; expected equal shapes",
                        index, leati_shape_text(other, texts[0]),
                        leati_shape_text(first, texts[1]));
}

static leat_status stack_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_axis_args *args = call->args;
    leat_shape shape = call->inputs[0].shape, out = {.rank = LEAT_UNKNOWN_RANK};
    int32_t axis = 0;
    LEATI_TRY(leati_support_want_values(call, 0, err));
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    for (int i = 1; i < call->num_inputs; i++) {
        const leat_shape *other = &call->inputs[i].shape;
        if (!leati_shape_compatible(&shape, other))
            return unequal(&shape, other, i, err);
        if (shape.rank < 0)
            shape = *other;
        for (int32_t d = 0; d < shape.rank && other->rank >= 0; d++)
            if (shape.dims[d] == LEAT_UNKNOWN_DIM)
                shape.dims[d] = other->dims[d];
    }
    if (shape.rank >= 0 && call->unknown == 0)
        LEATI_TRY(stacked(&shape, args->axis, call->num_inputs, &axis, &out, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &out, NULL, err);
}

static leat_status stack_kernel(leati_kernel_call *call, leat_error *err) {
    const struct leati_axis_args *args = call->args;
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]), out = {0};
    int32_t axis = 0;
    for (int i = 1; i < call->num_inputs; i++) {
        leat_shape other = leati_support_operand_shape(&call->inputs[i]);
        if (!leati_shape_equal(&shape, &other))
            return unequal(&shape, &other, i, err);
    }
    LEATI_TRY(stacked(&shape, args->axis, call->num_inputs, &axis, &out, err));
    LEATI_TRY(leati_support_output_like(call, 0, &out, err));
    int64_t outer = 1;
    for (int32_t d = 0; d < axis; d++)
        outer *= shape.dims[d];
    return leati_array_join(call, outer, err);
}

static leat_status stack_gradient(leati_gradient_call *call, leat_error *err) {
    const struct leati_axis_args *args = call->args;
    leat_shape shape = leat_value_shape(call->outputs[0]);
    int64_t begin[LEAT_MAX_RANK] = {0}, size[LEAT_MAX_RANK];
    int32_t axis = 0;
    if (shape.rank < 0)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "the gradient of stack needs the rank; set it with ensure_shape");
    LEATI_TRY(leati_support_normal_axis(args->axis, shape.rank, &axis, err));
    for (int32_t d = 0; d < shape.rank; d++)
        size[d] = d == axis ? 1 : -1;
    for (int i = 0; i < call->num_inputs; i++) {
        begin[axis] = i;
        leat_value part = leat_op_slice(call->output_gradients[0], begin, size, shape.rank);
        call->input_gradients[i] = leat_op_reshape_like(part, call->inputs[i]);
    }
    return LEAT_OK;
}

static bool stack_known(const leati_known_call *call, leati_known *out) {
    *out = (leati_known){.rank = 1, .count = call->num_inputs};
    for (int i = 0; i < call->num_inputs; i++) {
        if (call->inputs[i].rank != 0 || i == LEAT_MAX_RANK)
            return false;
        out->values[i] = call->inputs[i].values[0];
    }
    return true;
}

leat_value leat_op_stack(const leat_value *values, int num_values, int64_t axis) {
    struct leati_axis_args args = {.axis = axis};
    return leati_graph_build_many(&leati_tensor_op_stack, &args, values, num_values);
}

const leati_tensor_op leati_tensor_op_stack = {
    .name = "stack",
    .version = 1,
    .doc = "Tensors of one shape along a new dimension (tf.stack).",
    .names = "stack",
    .inputs = "*values",
    .types = "*T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = leati_axis_rows,
    .args_size = sizeof(struct leati_axis_args),
    .min_inputs = 1,
    .max_inputs = -1,
    .infer = stack_infer,
    .kernel = stack_kernel,
    .gradient = stack_gradient,
    .known = stack_known,
};
