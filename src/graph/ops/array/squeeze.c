/* squeeze: dimensions of 1 taken away, those named or all (tf.squeeze).
 *
 * The kernel hands out a view. Fails where a named dimension is not 1. No state, no locks. */
#include "graph/known.h"
#include "graph/support/support.h"

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

static leat_status squeeze_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] = leat_op_reshape_like(call->output_gradients[0], call->inputs[0]);
    return LEAT_OK;
}

leat_value leat_op_squeeze(leat_value x, const int64_t *axes, int num_axes) {
    struct squeeze_args args = {.axis = {.values = (int64_t *)(uintptr_t)axes, .count = num_axes}};
    return leati_graph_build1(&leati_tensor_op_squeeze, &args, x);
}

static bool squeeze_known(const leati_known_call *call, leati_known *out) {
    *out = call->inputs[0];
    out->rank = 0;
    return call->inputs[0].rank == 1 && call->inputs[0].count == 1;
}

const leati_tensor_op leati_tensor_op_squeeze = {
    .name = "squeeze",
    .version = 1,
    .doc = "Dimensions of 1 taken away (tf.squeeze).",
    .names = "squeeze",
    .inputs = "input",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = squeeze_rows,
    .args_size = sizeof(struct squeeze_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = squeeze_infer,
    .kernel = squeeze_kernel,
    .gradient = squeeze_gradient,
    .known = squeeze_known,
    .trait = LEATI_TRAIT_VIEW,
};
