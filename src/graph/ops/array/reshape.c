/* reshape: the same values under another shape, of which one dimension may be -1 (tf.reshape).
 *
 * The kernel hands out a view. Fails where the numbers of values differ, in inference if they are
 * known there. No state, no locks. */
#include "graph/known.h"
#include "graph/support/support.h"

struct reshape_args {
    leati_ints shape;
};

static const leati_row reshape_rows[] = {
    {.name = "shape",
     .type = LEATI_ROW_INTS,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct reshape_args, shape),
     .doc = "The dimensions; one may be -1, which takes what the others leave."},
    {0},
};

static leat_status target_shape(const struct reshape_args *args, leat_shape *out, leat_error *err) {
    int open = 0;
    if (args->shape.count > LEAT_MAX_RANK)
        return leati_refuse(err, SHAPE, "shape has %d dimensions; expected at most %d",
                            (int)args->shape.count, LEAT_MAX_RANK);
    out->rank = args->shape.count;
    for (int32_t d = 0; d < out->rank; d++) {
        int64_t dim = out->dims[d] = args->shape.values[d];
        if (dim < -1 || (dim == -1 && ++open > 1))
            return leati_refuse(err, VALUE,
                                "shape has %lld at place %d; expected sizes, and -1 at most once",
                                (long long)dim, (int)d);
    }
    return LEAT_OK;
}

/* The -1 between other sizes of which one is 0, for an input without values: what the sizes above 0
 * leave of those of the input. False where that is no number. */
static bool open_beside_zero(const leat_shape *in, const leat_shape *shape, int64_t *out) {
    int64_t from = 1, to = 1;
    for (int32_t d = 0; d < in->rank; d++)
        if (in->dims[d] > 0 && __builtin_mul_overflow(from, in->dims[d], &from))
            return false;
    for (int32_t d = 0; d < shape->rank; d++)
        if (shape->dims[d] > 0 && __builtin_mul_overflow(to, shape->dims[d], &to))
            return false;
    *out = from / to;
    return true;
}

/* Computes the -1 of `shape` for an input of `count` values. */
static leat_status close_shape(const leat_shape *in, int64_t count, leat_shape *shape,
                               leat_error *err) {
    char text[128];
    leati_shape_text(shape, text);
    /* A product that overflows fits no number of values, except that a later 0 makes it 0 again. */
    int64_t known = 1;
    int32_t open = -1;
    for (int32_t d = 0; d < shape->rank; d++)
        if (shape->dims[d] < 0)
            open = d;
        else if (__builtin_mul_overflow(known, shape->dims[d], &known))
            known = -1;
    if (open >= 0 && known > 0 && count % known == 0)
        shape->dims[open] = count / known;
    else if (open >= 0 && known == 0 && count == 0 &&
             open_beside_zero(in, shape, &shape->dims[open]))
        return LEAT_OK;
    else if (open >= 0 || known != count)
        return leati_refuse(err, SHAPE, "%lld values do not fit into the shape %s (? is the -1)",
                            (long long)count, text);
    return LEAT_OK;
}

/* Of dimensions that the run computes: a -1 is known where all others and the input are. */
static leat_status close_known(const struct reshape_args *args, const leat_shape *in,
                               leat_shape *shape, leat_error *err) {
    int64_t count = leati_shape_count(in);
    for (int32_t d = 0; d < shape->rank; d++)
        if (args->shape.values[d] == LEATI_UNKNOWN_NUMBER)
            count = -1;
    /* Only a single -1 is left to compute; where it is not, the shape stays as it is. */
    return count < 0 || shape->rank < 0 || leati_shape_count(shape) >= 0
               ? LEAT_OK
               : close_shape(in, count, shape, err);
}

static leat_status reshape_infer(leati_infer_call *call, leat_error *err) {
    leat_shape shape = {0};
    LEATI_TRY(leati_support_want_values(call, 0, err));
    if (leati_op_infer_unknown(call, reshape_rows, offsetof(struct reshape_args, shape))) {
        const struct reshape_args *args = call->args;
        LEATI_TRY(leati_support_known_dims(&args->shape, &shape, err));
        LEATI_TRY(close_known(args, &call->inputs[0].shape, &shape, err));
        return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
    }
    LEATI_TRY(target_shape(call->args, &shape, err));
    int64_t count = leati_shape_count(&call->inputs[0].shape);
    /* Else the -1 stays, which in a shape is an unknown dimension. */
    if (count >= 0)
        LEATI_TRY(close_shape(&call->inputs[0].shape, count, &shape, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

static leat_status reshape_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape in = leati_support_operand_shape(&call->inputs[0]), shape = {0};
    LEATI_TRY(target_shape(call->args, &shape, err));
    LEATI_TRY(close_shape(&in, call->inputs[0].count, &shape, err));
    return leati_support_view_as(call, &shape, err);
}

static leat_status reshape_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] = leat_op_reshape_like(call->output_gradients[0], call->inputs[0]);
    return LEAT_OK;
}

static bool reshape_known(const leati_known_call *call, leati_known *out) {
    const struct reshape_args *args = call->args;
    /* Values keep their order, so a vector keeps its numbers; matrices are not followed. */
    *out = call->inputs[0];
    out->rank = args->shape.count;
    return call->inputs[0].rank >= 0 && (out->rank == 1 || (out->rank == 0 && out->count == 1));
}

const leati_tensor_op leati_tensor_op_reshape = {
    .name = "reshape",
    .version = 1,
    .doc = "The same values under another shape (tf.reshape).",
    .names = "reshape",
    .inputs = "tensor",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = reshape_rows,
    .args_size = sizeof(struct reshape_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = reshape_infer,
    .kernel = reshape_kernel,
    .gradient = reshape_gradient,
    .known = reshape_known,
    .trait = LEATI_TRAIT_VIEW,
};
