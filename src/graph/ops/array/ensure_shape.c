/* ensure_shape: the value unchanged, with a shape that inference may rely on (tf.ensure_shape).
 *
 * The kernel hands out a view. Fails where the shape is another one, in inference if that is known
 * there. No state, no locks. */
#include "graph/support/support.h"

struct ensure_shape_args {
    leat_shape shape;
};

static const leati_row ensure_shape_rows[] = {
    {.name = "shape",
     .type = LEATI_ROW_SHAPE,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct ensure_shape_args, shape),
     .doc = "The shape; -1 stands for any size."},
    {0},
};

static leat_status check_shape(const leat_shape *expected, const leat_shape *found,
                               leat_error *err) {
    char texts[2][128];
    if (leati_shape_compatible(expected, found))
        return LEAT_OK;
    return leati_refuse(err, SHAPE, "the shape is %s; expected %s",
                        leati_shape_text(found, texts[0]), leati_shape_text(expected, texts[1]));
}

static leat_status ensure_shape_infer(leati_infer_call *call, leat_error *err) {
    const struct ensure_shape_args *args = call->args;
    const leat_shape *in = &call->inputs[0].shape;
    LEATI_TRY(leati_support_want_values(call, 0, err));
    LEATI_TRY(check_shape(&args->shape, in, err));
    /* What either of both shapes knows. */
    leat_shape shape = in->rank >= 0 ? *in : args->shape;
    for (int32_t d = 0; d < shape.rank && args->shape.rank >= 0; d++)
        if (shape.dims[d] == LEAT_UNKNOWN_DIM)
            shape.dims[d] = args->shape.dims[d];
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

static leat_status ensure_shape_kernel(leati_kernel_call *call, leat_error *err) {
    const struct ensure_shape_args *args = call->args;
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    LEATI_TRY(check_shape(&args->shape, &shape, err));
    return leati_support_view_as(call, &shape, err);
}

static leat_status ensure_shape_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] = call->output_gradients[0];
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_ensure_shape = {
    .name = "ensure_shape",
    .version = 1,
    .doc = "The value unchanged, checked against a shape (tf.ensure_shape).",
    .names = "ensure_shape",
    .inputs = "x",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = ensure_shape_rows,
    .args_size = sizeof(struct ensure_shape_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = ensure_shape_infer,
    .kernel = ensure_shape_kernel,
    .gradient = ensure_shape_gradient,
    .trait = LEATI_TRAIT_VIEW,
};
