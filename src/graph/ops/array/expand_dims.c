/* expand_dims: a dimension of 1 put in front of place `axis` (tf.expand_dims).
 *
 * The kernel hands out a view. Fails where the axis is outside [-rank - 1, rank]. No state, no
 * locks. */
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

static leat_status expand_dims_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] = leat_op_reshape_like(call->output_gradients[0], call->inputs[0]);
    return LEAT_OK;
}

leat_value leat_op_expand_dims(leat_value x, int64_t axis) {
    struct expand_dims_args args = {.axis = axis};
    return leati_graph_build1(&leati_tensor_op_expand_dims, &args, x);
}

static bool expand_dims_known(const leati_known_call *call, leati_known *out) {
    *out = call->inputs[0];
    out->rank = 1;
    return call->inputs[0].rank == 0;
}

const leati_tensor_op leati_tensor_op_expand_dims = {
    .name = "expand_dims",
    .version = 1,
    .doc = "A dimension of 1 put in front of place axis (tf.expand_dims).",
    .names = "expand_dims",
    .inputs = "input",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = expand_dims_rows,
    .args_size = sizeof(struct expand_dims_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = expand_dims_infer,
    .kernel = expand_dims_kernel,
    .gradient = expand_dims_gradient,
    .known = expand_dims_known,
    .trait = LEATI_TRAIT_VIEW,
};
