/* broadcast_to, broadcast_like: a tensor repeated to a shape, or to that of the second input, by
 * numpy's broadcasting (tf.broadcast_to; the second for gradients of sums).
 *
 * They fail where the shapes do not broadcast to that shape. No state, no locks. */
#include "graph/support/array/moving.h"

/* Writes input 0, of shape `from`, into output 0, of shape `to`. */
static leat_status repeat(leati_kernel_call *call, const leat_shape *from, const leat_shape *to,
                          leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    size_t size = leat_dtype_size(in->dtype);
    int64_t dense[LEAT_MAX_RANK], steps[LEAT_MAX_RANK] = {0}, out_steps[LEAT_MAX_RANK];
    LEATI_TRY(leati_support_output_like(call, 0, to, err));
    leati_support_dense_steps(from, size, dense);
    leati_support_dense_steps(to, size, out_steps);
    for (int32_t k = 0; k < from->rank; k++)
        /* A dimension of 1, or one that is missing in front, keeps step 0: one value
         * is read again. */
        if (from->dims[k] != 1)
            steps[to->rank - from->rank + k] = dense[k];
    leati_moving_rows(call, &call->outputs[0], 0, out_steps, in, 0, steps, to->dims, to->rank,
                      size);
    return leati_support_hold_strings(call, 0, err);
}

/* ---- broadcast_to ---- */
struct broadcast_to_args {
    leati_ints shape;
};

static const leati_row broadcast_to_rows[] = {
    {.name = "shape",
     .type = LEATI_ROW_INTS,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct broadcast_to_args, shape),
     .doc = "The shape of the result."},
    {0},
};

/* The shape that the argument says, to which `in` must broadcast; not the other way round. */
static leat_status target(const leati_ints *dims, const leat_shape *in, leat_shape *out,
                          leat_error *err) {
    char texts[2][128];
    LEATI_TRY(leati_support_unknown_dims(dims, out, err));
    bool fits = in->rank <= out->rank;
    for (int32_t d = 0; d < out->rank; d++) {
        out->dims[d] = dims->values[d];
        int32_t k = d - (out->rank - in->rank);
        /* An unknown rank is -1: all dimensions count as missing, and the run checks them. */
        int64_t from = k >= 0 && in->rank >= 0 ? in->dims[k] : 1;
        fits = fits && out->dims[d] >= 0 &&
               (from == 1 || from == LEAT_UNKNOWN_DIM || from == out->dims[d]);
    }
    if (fits)
        return LEAT_OK;
    return leati_refuse(err, SHAPE, "shape %s does not broadcast to %s",
                        leati_shape_text(in, texts[0]), leati_shape_text(out, texts[1]));
}

static leat_status broadcast_to_infer(leati_infer_call *call, leat_error *err) {
    const struct broadcast_to_args *args = call->args;
    leat_shape shape = {0};
    LEATI_TRY(leati_support_want_values(call, 0, err));
    /* Dimensions that the run computes are checked there; those that are known stay. */
    if (call->unknown != 0)
        LEATI_TRY(leati_support_known_dims(&args->shape, &shape, err));
    else
        LEATI_TRY(target(&args->shape, &call->inputs[0].shape, &shape, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

static leat_status broadcast_to_kernel(leati_kernel_call *call, leat_error *err) {
    const struct broadcast_to_args *args = call->args;
    leat_shape from = leati_support_operand_shape(&call->inputs[0]), shape = {0};
    LEATI_TRY(target(&args->shape, &from, &shape, err));
    return repeat(call, &from, &shape, err);
}

static leat_status broadcast_to_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] =
        leati_op_gradient_unbroadcast(call->output_gradients[0], call->inputs[0]);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_broadcast_to = {
    .name = "broadcast_to",
    .version = 1,
    .doc = "A tensor repeated to a shape by numpy's broadcasting (tf.broadcast_to).",
    .names = "broadcast_to",
    .inputs = "input",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = broadcast_to_rows,
    .args_size = sizeof(struct broadcast_to_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = broadcast_to_infer,
    .kernel = broadcast_to_kernel,
    .gradient = broadcast_to_gradient,
};

/* ---- broadcast_like ---- */
static leat_status broadcast_like_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_support_want_values(call, 0, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &call->inputs[1].shape, NULL, err);
}

static leat_status broadcast_like_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape from = leati_support_operand_shape(&call->inputs[0]),
               to = leati_support_operand_shape(&call->inputs[1]), joined;
    char texts[2][128];
    LEATI_TRY(leati_op_infer_broadcast_shape(&from, &to, &joined, err));
    /* Broadcasting could enlarge the second shape, too; here it must stay as it is. */
    if (!leati_shape_equal(&joined, &to))
        return leati_refuse(err, SHAPE, "%s does not broadcast to %s",
                            leati_shape_text(&from, texts[0]), leati_shape_text(&to, texts[1]));
    return repeat(call, &from, &to, err);
}

static leat_status broadcast_like_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] = leat_op_sum_like(call->output_gradients[0], call->inputs[0]);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_broadcast_like = {
    .name = "broadcast_like",
    .version = 1,
    .doc = "The first input repeated to the second's shape (tf.broadcast_to, for "
           "gradients).",
    .inputs = "x like",
    .types = "T U",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = broadcast_like_infer,
    .kernel = broadcast_like_kernel,
    .gradient = broadcast_like_gradient,
};
