/* image_gradients: the differences of each pixel to the one below and to the one on its right, as
 * two batches of pictures [N, H, W, C] (tf.image.image_gradients).
 *
 * The last row of the first, and the last column of the second are 0. Integers wrap. Fails in
 * inference on other ranks. No state, no locks. */
#include "graph/support/picture/neighbours.h"

#include <string.h>

static leat_status image_gradients_infer(leati_infer_call *call, leat_error *err) {
    leat_dtype dtype = call->inputs[0].dtype;
    if (dtype <= LEAT_BOOL || dtype > LEAT_FLOAT64)
        return leati_refuse(err, DTYPE, "the pictures are %s; expected numbers",
                            leat_dtype_name(dtype));
    LEATI_TRY(leati_support_want_rank(call, 0, 4, "image", err));
    for (int i = 0; i < 2; i++)
        LEATI_TRY(leati_op_infer_output(call, dtype, &call->inputs[0].shape, NULL, err));
    return LEAT_OK;
}

/* x[1:] - x[:-1] of the rows of a picture, by the kernel of subtract: `lines` lines of `count`
 * values, `line` apart, each minus the values `back` values behind it. */
static leat_status subtract_lines(leati_kernel_call *call, const char *in, char *out, int64_t lines,
                                  int64_t line, int64_t count, int64_t back, leat_error *err) {
    leat_dtype dtype = call->inputs[0].dtype;
    int64_t size = (int64_t)leat_dtype_size(dtype);
    leati_operand operand = {.dtype = dtype,
                             .rank = 1,
                             .dims = {count},
                             .count = count,
                             .row_stride = line * size,
                             .owner = call->inputs[0].owner};
    leati_operand operands[2] = {operand, operand}, result = operand;
    leati_kernel_call inner = *call;
    operands[0].data = (char *)(uintptr_t)in + back * size;
    operands[1].data = (char *)(uintptr_t)in;
    result.data = out;
    inner.n = lines;
    inner.inputs = operands;
    inner.num_inputs = 2;
    inner.outputs = &result;
    inner.num_outputs = 1;
    inner.args = NULL;
    return lines > 0 && count > 0 ? leati_tensor_op_subtract.kernel(&inner, err) : LEAT_OK;
}

static leat_status image_gradients_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    if (shape.rank != 4)
        return leati_refuse(err, SHAPE, "the pictures have rank %d; expected 4", (int)shape.rank);
    int64_t line = shape.dims[2] * shape.dims[3], picture = shape.dims[1] * line;
    size_t size = leat_dtype_size(in->dtype), bytes = (size_t)picture * size;
    for (int k = 0; k < 2; k++)
        LEATI_TRY(leati_support_output_like(call, k, &shape, err));
    for (int64_t row = 0; row < call->n && in->count > 0; row++) {
        for (int64_t i = 0; i < shape.dims[0]; i++) {
            const char *from = leati_support_row_of(in, row) + (size_t)i * bytes;
            char *down = leati_support_row_of(&call->outputs[0], row) + (size_t)i * bytes;
            char *right = leati_support_row_of(&call->outputs[1], row) + (size_t)i * bytes;
            memset(down + bytes - (size_t)line * size, 0, (size_t)line * size);
            for (int64_t y = 1; y <= shape.dims[1]; y++)
                memset(right + (size_t)(y * line - shape.dims[3]) * size, 0,
                       (size_t)shape.dims[3] * size);
            LEATI_TRY(subtract_lines(call, from, down, 1, line, picture - line, line, err));
            LEATI_TRY(subtract_lines(call, from, right, shape.dims[1], line, line - shape.dims[3],
                                     shape.dims[3], err));
        }
    }
    return LEAT_OK;
}

static leat_status image_gradients_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value x, results[2];
    leati_support_gradient_sources(call, &x);
    for (int32_t k = 0; k < 2; k++) {
        int64_t paddings[8] = {0};
        paddings[2 * (k + 1) + 1] = 1;
        results[k] = leat_op_pad(leati_neighbours_steps_along(x, k + 1), paddings, 4);
    }
    return leati_support_gradient_through(call, &x, results, err);
}

int leat_op_image_gradients(leat_value image, leat_value *outputs) {
    outputs[0] = leati_graph_build1(&leati_tensor_op_image_gradients, NULL, image);
    outputs[1] = (leat_value){.graph = outputs[0].graph, .id = outputs[0].id + 1};
    return leati_support_value_failed(outputs[0]) ? -1 : 2;
}

const leati_tensor_op leati_tensor_op_image_gradients = {
    .name = "image_gradients",
    .version = 1,
    .doc = "The differences of each pixel to the one below and to the one on its right "
           "(tf.image.image_gradients).",
    .names = "image.image_gradients",
    .inputs = "image",
    .types = "T",
    .outputs = "dy dx",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = image_gradients_infer,
    .kernel = image_gradients_kernel,
    .gradient = image_gradients_gradient,
};
