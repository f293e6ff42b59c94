/* concat: tensors joined along an existing dimension (tf.concat).
 *
 * Fails where dtypes, ranks or the other dimensions differ. The gradient slices; it needs the sizes
 * along the axis in inference, but for the last input's. No state, no locks. */
#include "graph/known.h"
#include "graph/support/array/join.h"

/* Adds the shape `next` to `shape` along the axis. */
static leat_status join_shape(leat_shape *shape, const leat_shape *next, int32_t axis, int index,
                              leat_error *err) {
    char texts[2][128];
    bool fits = shape->rank == next->rank;
    for (int32_t d = 0; d < shape->rank && fits; d++) {
        int64_t a = shape->dims[d], b = next->dims[d];
        bool open = a == LEAT_UNKNOWN_DIM || b == LEAT_UNKNOWN_DIM;
        if (d == axis && open)
            shape->dims[d] = LEAT_UNKNOWN_DIM;
        else if (d == axis)
            fits = !__builtin_add_overflow(a, b, &shape->dims[d]);
        else if (open || a == b)
            shape->dims[d] = a == LEAT_UNKNOWN_DIM ? b : a;
        else
            fits = false;
    }
    if (fits)
        return LEAT_OK;
    return leati_refuse(
        err, SHAPE,
        "input %d has shape %s, those before it joined %s; expected equal dimensions "
        "but for axis %d, and a sum below 2^63 there",
        index, leati_shape_text(next, texts[0]), leati_shape_text(shape, texts[1]), (int)axis);
}

/* Of an axis that the run computes: the inputs' rank. */
static leat_shape shape_of_any_axis(const leati_infer_call *call) {
    leat_shape shape = {.rank = LEAT_UNKNOWN_RANK};
    for (int i = 0; i < call->num_inputs && shape.rank == LEAT_UNKNOWN_RANK; i++)
        shape.rank = call->inputs[i].shape.rank;
    for (int32_t d = 0; d < shape.rank; d++)
        shape.dims[d] = LEAT_UNKNOWN_DIM;
    return shape;
}

static leat_status concat_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_axis_args *args = call->args;
    leat_shape shape = {.rank = LEAT_UNKNOWN_RANK};
    int32_t axis = 0;
    bool whole = true; /* are all ranks known? */
    LEATI_TRY(leati_support_want_values(call, 0, err));
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    if (call->unknown != 0) {
        shape = shape_of_any_axis(call);
        return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
    }
    for (int i = 0; i < call->num_inputs; i++) {
        const leat_shape *next = &call->inputs[i].shape;
        whole = whole && next->rank != LEAT_UNKNOWN_RANK;
        if (next->rank != LEAT_UNKNOWN_RANK && shape.rank != LEAT_UNKNOWN_RANK) {
            LEATI_TRY(join_shape(&shape, next, axis, i, err));
        } else if (next->rank != LEAT_UNKNOWN_RANK) {
            shape = *next;
            if (call->num_inputs > 1) /* one alone is itself, whatever its rank */
                LEATI_TRY(leati_support_normal_axis(args->axis, shape.rank, &axis, err));
        }
    }
    if (!whole && shape.rank != LEAT_UNKNOWN_RANK)
        shape.dims[axis] = LEAT_UNKNOWN_DIM;
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

static leat_status concat_kernel(leati_kernel_call *call, leat_error *err) {
    const struct leati_axis_args *args = call->args;
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    int32_t axis = 0;
    if (call->num_inputs > 1)
        LEATI_TRY(leati_support_normal_axis(args->axis, shape.rank, &axis, err));
    for (int i = 1; i < call->num_inputs; i++) {
        leat_shape next = leati_support_operand_shape(&call->inputs[i]);
        LEATI_TRY(join_shape(&shape, &next, axis, i, err));
    }
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    int64_t outer = 1;
    for (int32_t d = 0; d < axis; d++)
        outer *= shape.dims[d];
    return leati_array_join(call, outer, err);
}

static leat_status concat_gradient(leati_gradient_call *call, leat_error *err) {
    const struct leati_axis_args *args = call->args;
    leat_shape shape = leat_value_shape(call->outputs[0]);
    int64_t begin[LEAT_MAX_RANK] = {0}, size[LEAT_MAX_RANK];
    int32_t axis = 0;
    if (call->num_inputs == 1) {
        call->input_gradients[0] = call->output_gradients[0];
        return LEAT_OK;
    }
    if (shape.rank >= 0)
        LEATI_TRY(leati_support_normal_axis(args->axis, shape.rank, &axis, err));
    for (int i = 0; i < call->num_inputs; i++) {
        leat_shape part = leat_value_shape(call->inputs[i]);
        bool last = i == call->num_inputs - 1;
        if (part.rank < 0 || (part.dims[axis] == LEAT_UNKNOWN_DIM && !last))
            return leati_fail(err, LEAT_UNIMPLEMENTED,
                              "the gradient of concat needs the size of input %d along axis %d; "
                              "set it with ensure_shape",
                              i, (int)axis);
        for (int32_t d = 0; d < shape.rank; d++)
            size[d] = d == axis ? part.dims[d] : -1;
        call->input_gradients[i] =
            leat_op_slice(call->output_gradients[0], begin, size, shape.rank);
        begin[axis] += part.dims[axis];
    }
    return LEAT_OK;
}

static bool concat_known(const leati_known_call *call, leati_known *out) {
    *out = (leati_known){.rank = 1};
    for (int i = 0; i < call->num_inputs; i++) {
        const leati_known *part = &call->inputs[i];
        if (part->rank != 1 || out->count + part->count > LEAT_MAX_RANK)
            return false;
        for (int32_t k = 0; k < part->count; k++)
            out->values[out->count++] = part->values[k];
    }
    return true;
}

leat_value leat_op_concat(const leat_value *values, int num_values, int64_t axis) {
    struct leati_axis_args args = {.axis = axis};
    return leati_graph_build_many(&leati_tensor_op_concat, &args, values, num_values);
}

const leati_tensor_op leati_tensor_op_concat = {
    .name = "concat",
    .version = 1,
    .doc = "Tensors joined along an existing dimension (tf.concat).",
    .names = "concat",
    .inputs = "*values",
    .types = "*T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_axis_rows,
    .args_size = sizeof(struct leati_axis_args),
    .min_inputs = 1,
    .max_inputs = -1,
    .infer = concat_infer,
    .kernel = concat_kernel,
    .gradient = concat_gradient,
    .known = concat_known,
};
