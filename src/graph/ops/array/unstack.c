/* unstack: the slices of a tensor along a dimension, each an output (tf.unstack).
 *
 * The number of outputs is the size of the dimension, which must be known while the function is
 * built, or given. Fails where a run finds another size. No state, no locks. */
#include "graph/support/array/moving.h"

struct unstack_args {
    int64_t num, axis;
};

static const leati_row unstack_rows[] = {
    {.name = "num",
     .type = LEATI_ROW_INT,
     .flags = LEATI_NONE,
     .offset = offsetof(struct unstack_args, num),
     .default_number = (double)INT64_MIN,
     .doc = "The size of the dimension; none: as inferred."},
    {.name = "axis",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct unstack_args, axis),
     .doc = "The dimension that goes; negative counts from the end."},
    {0},
};

/* One slice's shape, and the size of the dimension that goes. */
static leat_status sliced(const struct unstack_args *args, const leat_shape *in, int32_t *axis,
                          leat_shape *out, leat_error *err) {
    LEATI_TRY(leati_support_normal_axis(args->axis, in->rank, axis, err));
    *out = (leat_shape){.rank = 0};
    for (int32_t d = 0; d < in->rank; d++)
        if (d != *axis)
            out->dims[out->rank++] = in->dims[d];
    return LEAT_OK;
}

static leat_status unstack_infer(leati_infer_call *call, leat_error *err) {
    const struct unstack_args *args = call->args;
    const leat_shape *in = &call->inputs[0].shape;
    leat_shape shape = {.rank = LEAT_UNKNOWN_RANK};
    int64_t count = args->num == INT64_MIN ? -1 : args->num;
    int32_t axis = 0;
    LEATI_TRY(leati_support_want_values(call, 0, err));
    if (in->rank >= 0) {
        LEATI_TRY(sliced(args, in, &axis, &shape, err));
        /* Both the argument and the dimension may say the number; then they must agree. */
        if (count >= 0)
            LEATI_TRY(
                leati_support_want_equal_dims(in->dims[axis], count, "the dimension and num", err));
        count = count >= 0 ? count : in->dims[axis];
    }
    if (count < 0)
        return leati_refuse(err, SHAPE, "the size of the dimension is not known; expected num");
    if (count > LEAT_MAX_OUTPUTS)
        return leati_fail(err, LEAT_UNIMPLEMENTED, "%lld slices; at most %d outputs are possible",
                          (long long)count, LEAT_MAX_OUTPUTS);
    for (int64_t i = 0; i < count; i++)
        LEATI_TRY(leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err));
    return LEAT_OK;
}

static leat_status unstack_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    leat_shape from = leati_support_operand_shape(in), shape = {0};
    int32_t axis = 0;
    LEATI_TRY(sliced(call->args, &from, &axis, &shape, err));
    int64_t outer = 1, dim = from.dims[axis];
    /* The number of outputs was fixed while the graph was built. */
    LEATI_TRY(leati_support_want_equal_dims(dim, call->num_outputs, "the dimension and num", err));
    for (int32_t d = 0; d < axis; d++)
        outer *= from.dims[d];
    size_t piece = leat_dtype_size(in->dtype);
    for (int32_t d = axis + 1; d < from.rank; d++)
        piece *= (size_t)from.dims[d];
    for (int k = 0; k < call->num_outputs; k++) {
        /* One piece of the input is a view of it. */
        if (outer == 1 && in->count > 0) {
            LEATI_TRY(leati_op_kernel_view(call, k, shape.rank, shape.dims,
                                           in->data + (size_t)k * piece, in->row_stride, in->owner,
                                           err));
            continue;
        }
        LEATI_TRY(leati_support_output_like(call, k, &shape, err));
        const leati_operand *out = &call->outputs[k];
        /* Slice k is one piece at each place before the axis. */
        const leati_moving_dim dims[2] = {{call->n, out->row_stride, in->row_stride},
                                          {outer, (int64_t)piece, dim * (int64_t)piece}};
        if (out->count > 0)
            leati_moving_copy(out->data, in->data + (size_t)k * piece, dims, 2, piece);
        if (in->dtype == LEAT_STRING)
            LEATI_TRY(leati_op_kernel_hold(call, k, 0, err));
    }
    return LEAT_OK;
}

static leat_status unstack_gradient(leati_gradient_call *call, leat_error *err) {
    const struct unstack_args *args = call->args;
    leat_value slices[LEAT_MAX_OUTPUTS];
    (void)err;
    /* Slices that nothing used get zeros, so that all have their places again. */
    for (int i = 0; i < call->num_outputs; i++)
        slices[i] = call->output_gradients[i].id < 0 ? leat_op_zeros_like(call->outputs[i])
                                                     : call->output_gradients[i];
    /* stack needs an input; an empty dimension has no gradient. */
    if (call->num_outputs > 0)
        call->input_gradients[0] = leat_op_stack(slices, call->num_outputs, args->axis);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_unstack = {
    .name = "unstack",
    .version = 1,
    .doc = "The slices of a tensor along a dimension, each an output (tf.unstack).",
    .names = "unstack",
    .inputs = "value",
    .types = "T",
    .outputs = "*output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = unstack_rows,
    .args_size = sizeof(struct unstack_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = unstack_infer,
    .kernel = unstack_kernel,
    .gradient = unstack_gradient,
};
