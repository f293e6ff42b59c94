/* grayscale_to_rgb: one channel, repeated as three (tf.image.grayscale_to_rgb).
 *
 * The gradient adds the three up. Fails where the last dimension is not 1. No state, no locks. */
#include "graph/support/support.h"

#include <string.h>

static leat_status check(const leat_shape *shape, leat_error *err) {
    char text[128];
    if (shape->rank < 0 || (shape->rank > 0 && (shape->dims[shape->rank - 1] == 1 ||
                                                shape->dims[shape->rank - 1] < 0)))
        return LEAT_OK;
    return leati_refuse(err, SHAPE,
                        "the pictures have shape %s; expected 1 channel in the last dimension",
                        leati_shape_text(shape, text));
}

static leat_status grayscale_to_rgb_infer(leati_infer_call *call, leat_error *err) {
    leat_shape shape = call->inputs[0].shape;
    leat_dtype dtype = call->inputs[0].dtype;
    if (dtype > LEAT_FLOAT64)
        return leati_refuse(err, DTYPE, "the pictures are %s; expected numbers",
                            leat_dtype_name(dtype));
    LEATI_TRY(check(&shape, err));
    if (shape.rank > 0)
        shape.dims[shape.rank - 1] = 3;
    return leati_op_infer_output(call, dtype, &shape, NULL, err);
}

static inline void repeat(const char *from, char *to, int64_t count, size_t size) {
    for (int64_t i = 0; i < count; i++)
        for (size_t c = 0; c < 3; c++)
            memcpy(to + ((size_t)i * 3 + c) * size, from + (size_t)i * size, size);
}

static leat_status grayscale_to_rgb_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    size_t size = leat_dtype_size(in->dtype);
    LEATI_TRY(check(&shape, err));
    shape.dims[shape.rank - 1] = 3;
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    for (int64_t row = 0; row < call->n && in->count > 0; row++) {
        char *to = leati_support_row_of(&call->outputs[0], row);
        if (size == 1)
            repeat(leati_support_row_of(in, row), to, in->count, 1);
        else if (size == 4)
            repeat(leati_support_row_of(in, row), to, in->count, 4);
        else
            repeat(leati_support_row_of(in, row), to, in->count, size);
    }
    return LEAT_OK;
}

static leat_status grayscale_to_rgb_gradient(leati_gradient_call *call, leat_error *err) {
    const int64_t last = -1;
    (void)err;
    call->input_gradients[0] = leat_op_reduce_sum(call->output_gradients[0], &last, 1, true);
    return LEAT_OK;
}

leat_value leat_op_grayscale_to_rgb(leat_value images) {
    return leati_graph_build1(&leati_tensor_op_grayscale_to_rgb, NULL, images);
}

const leati_tensor_op leati_tensor_op_grayscale_to_rgb = {
    .name = "grayscale_to_rgb",
    .version = 1,
    .doc = "One channel, repeated as three (tf.image.grayscale_to_rgb).",
    .names = "image.grayscale_to_rgb",
    .inputs = "images",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = grayscale_to_rgb_infer,
    .kernel = grayscale_to_rgb_kernel,
    .gradient = grayscale_to_rgb_gradient,
};
