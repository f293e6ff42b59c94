/* expand_dims, squeeze: a dimension of 1 put in front of place `axis`, and dimensions of 1 taken
 * away, those named or all (tf.expand_dims, tf.squeeze).
 *
 * The kernels hand out views. They fail where the axis is outside [-rank - 1, rank], and where a
 * named dimension is not 1. No state, no locks. */
#include "graph/known.h"
#include "graph/support/support.h"

struct expand_dims_args {
    int64_t axis;
};

static const leati_row expand_dims_rows[] = {
    {.name = "axis",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct expand_dims_args, axis),
     .doc = "The place of the new dimension; negative counts from the end."},
    {0},
};

static leat_status expanded(const struct expand_dims_args *args, const leat_shape *in,
                            leat_shape *out, leat_error *err) {
    int32_t axis = 0;
    if (in->rank >= LEAT_MAX_RANK)
        return leati_refuse(err, SHAPE, "the rank would exceed %d", LEAT_MAX_RANK);
    /* One place more than the input has dimensions: the new one may be the last. */
    LEATI_TRY(leati_support_normal_axis(args->axis, in->rank + 1, &axis, err));
    out->rank = in->rank + 1;
    for (int32_t d = 0; d < out->rank; d++)
        out->dims[d] = d == axis ? 1 : in->dims[d < axis ? d : d - 1];
    return LEAT_OK;
}

static leat_status expand_dims_infer(leati_infer_call *call, leat_error *err) {
    leat_shape shape = {.rank = LEAT_UNKNOWN_RANK};
    LEATI_TRY(leati_support_want_values(call, 0, err));
    if (call->inputs[0].shape.rank >= 0 && call->unknown == 0)
        LEATI_TRY(expanded(call->args, &call->inputs[0].shape, &shape, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

static leat_status expand_dims_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape in = leati_support_operand_shape(&call->inputs[0]), shape = {0};
    LEATI_TRY(expanded(call->args, &in, &shape, err));
    return leati_support_view_as(call, &shape, err);
}

static bool expand_dims_known(const leati_known_call *call, leati_known *out) {
    *out = call->inputs[0];
    /* A scalar becomes a vector of one; a vector would become a matrix, which is not followed. */
    out->rank = 1;
    return call->inputs[0].rank == 0;
}

struct squeeze_args {
    leati_ints axis;
};

static const leati_row squeeze_rows[] = {
    {.name = "axis",
     .type = LEATI_ROW_INTS,
     .flags = LEATI_NONE,
     .offset = offsetof(struct squeeze_args, axis),
     .doc = "The dimensions to take away; none named: every dimension of 1."},
    {0},
};

static leat_status squeezed(const leati_ints *axes, const leat_shape *in, leat_shape *out,
                            leat_error *err) {
    bool named[LEAT_MAX_RANK] = {false};
    for (int32_t i = 0; i < axes->count; i++) {
        int32_t axis = 0;
        LEATI_TRY(leati_support_normal_axis(axes->values[i], in->rank, &axis, err));
        /* An unknown dimension may be 1; the run looks again. */
        if (in->dims[axis] != 1 && in->dims[axis] != LEAT_UNKNOWN_DIM)
            return leati_refuse(err, SHAPE,
                                "dimension %d is %lld; only dimensions of 1 can be taken away",
                                (int)axis, (long long)in->dims[axis]);
        named[axis] = true;
    }
    out->rank = 0;
    for (int32_t d = 0; d < in->rank; d++)
        if (axes->count > 0 ? !named[d] : in->dims[d] != 1)
            out->dims[out->rank++] = in->dims[d];
    return LEAT_OK;
}

static leat_status squeeze_infer(leati_infer_call *call, leat_error *err) {
    const struct squeeze_args *args = call->args;
    const leat_shape *in = &call->inputs[0].shape;
    leat_shape shape = {.rank = LEAT_UNKNOWN_RANK};
    LEATI_TRY(leati_support_want_values(call, 0, err));
    /* Without named axes, which dimensions go depends on all sizes. */
    bool known = in->rank >= 0;
    for (int32_t d = 0; d < in->rank && args->axis.count == 0; d++)
        known = known && in->dims[d] != LEAT_UNKNOWN_DIM;
    if (known)
        LEATI_TRY(squeezed(&args->axis, in, &shape, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

static leat_status squeeze_kernel(leati_kernel_call *call, leat_error *err) {
    const struct squeeze_args *args = call->args;
    leat_shape in = leati_support_operand_shape(&call->inputs[0]), shape = {0};
    LEATI_TRY(squeezed(&args->axis, &in, &shape, err));
    return leati_support_view_as(call, &shape, err);
}

static bool squeeze_known(const leati_known_call *call, leati_known *out) {
    *out = call->inputs[0];
    out->rank = 0;
    return call->inputs[0].rank == 1 && call->inputs[0].count == 1;
}

static leat_status gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] = leat_op_reshape_like(call->output_gradients[0], call->inputs[0]);
    return LEAT_OK;
}

#define UNIT_DIMS(OP, ...)                                                                         \
    const leati_tensor_op leati_tensor_op_##OP = {                                                 \
        .name = #OP,                                                                               \
        .version = 1,                                                                              \
        .names = #OP,                                                                              \
        .inputs = "input",                                                                         \
        .types = "T",                                                                              \
        .outputs = "output",                                                                       \
        .halves = LEATI_HALVES_OWN,                                                                \
        .checks = LEATI_CHECKS_IN_KERNEL,                                                          \
        .rows = OP##_rows,                                                                         \
        .args_size = sizeof(struct OP##_args),                                                     \
        .min_inputs = 1,                                                                           \
        .max_inputs = 1,                                                                           \
        .infer = OP##_infer,                                                                       \
        .kernel = OP##_kernel,                                                                     \
        .gradient = gradient,                                                                      \
        .known = OP##_known,                                                                       \
        .trait = LEATI_TRAIT_VIEW,                                                                 \
        __VA_ARGS__,                                                                               \
    };
UNIT_DIMS(expand_dims, .doc = "A dimension of 1 put in front of place axis (tf.expand_dims).")
UNIT_DIMS(squeeze, .doc = "Dimensions of 1 taken away (tf.squeeze).")
