/* sobel_edges: how steep float pictures [N, H, W, C] are downwards and to the right, by Sobel's
 * filters, as [N, H, W, C, 2] (tf.image.sobel_edges).
 *
 * Beyond the borders the picture is mirrored without its last row and column, so it has at least
 * 2 x 2 pixels. Fails on other ranks, other dtypes and smaller pictures. No state, no locks. */
#include "graph/support/picture/neighbours.h"

static leat_status check_size(const leat_shape *shape, leat_error *err) {
    char text[128];
    for (int32_t d = 1; d <= 2; d++)
        if (shape->dims[d] >= 0 && shape->dims[d] < 2)
            return leati_refuse(err, SHAPE,
                                "the pictures have shape %s; expected at least 2 x 2 pixels",
                                leati_shape_text(shape, text));
    return LEAT_OK;
}

static leat_status sobel_edges_infer(leati_infer_call *call, leat_error *err) {
    leat_shape shape = call->inputs[0].shape;
    leat_dtype dtype = call->inputs[0].dtype;
    if (!leati_graph_dtype_is_floating(dtype))
        return leati_refuse(err, DTYPE, "the pictures are %s; expected floats",
                            leat_dtype_name(dtype));
    LEATI_TRY(leati_support_want_rank(call, 0, 4, "image", err));
    if (shape.rank == 4) {
        LEATI_TRY(check_size(&shape, err));
        shape.dims[shape.rank++] = 2;
    }
    return leati_op_infer_output(call, dtype, &shape, NULL, err);
}

/* Of one picture, summed in the order of a convolution's; the rows and columns beside one that is
 * at a border are both the inner one. */
#define EDGES(TYPE)                                                                                \
    static void edges_##TYPE(const TYPE *in, TYPE *out, int64_t height, int64_t width,             \
                             int64_t channels) {                                                   \
        int64_t line = width * channels;                                                           \
        for (int64_t y = 0; y < height; y++) {                                                     \
            const TYPE *row = in + y * line;                                                       \
            const TYPE *above = in + (y > 0 ? y - 1 : 1) * line;                                   \
            const TYPE *below = in + (y + 1 < height ? y + 1 : height - 2) * line;                 \
            for (int64_t x = 0; x < width; x++) {                                                  \
                int64_t left = (x > 0 ? x - 1 : 1) * channels, at = x * channels;                  \
                int64_t right = (x + 1 < width ? x + 1 : width - 2) * channels;                    \
                for (int64_t c = 0; c < channels; c++, left++, at++, right++, out += 2) {          \
                    out[0] = -above[left] - 2 * above[at] - above[right] + below[left] +           \
                             2 * below[at] + below[right];                                         \
                    out[1] = -above[left] + above[right] - 2 * row[left] + 2 * row[right] -        \
                             below[left] + below[right];                                           \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }
EDGES(float)
EDGES(double)

static leat_status sobel_edges_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    leat_dtype dtype = call->inputs[0].dtype;
    leati_operand in = call->inputs[0];
    if (shape.rank != 4)
        return leati_refuse(err, SHAPE, "the pictures have rank %d; expected 4", (int)shape.rank);
    LEATI_TRY(check_size(&shape, err));
    int64_t pictures = shape.dims[0], height = shape.dims[1], width = shape.dims[2];
    int64_t channels = shape.dims[3], values = height * width * channels;
    shape.dims[shape.rank++] = 2;
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    leati_operand out = call->outputs[0];
    if (dtype != LEAT_FLOAT32 && dtype != LEAT_FLOAT64) {
        LEATI_TRY(leati_support_inner_cast(call, &call->inputs[0], LEAT_FLOAT32, &in, err));
        LEATI_TRY(leati_support_inner_memory(call, &call->outputs[0], LEAT_FLOAT32, &out, err));
    }
    for (int64_t row = 0; row < call->n && in.count > 0; row++) {
        char *from = leati_support_row_of(&in, row), *to = leati_support_row_of(&out, row);
        for (int64_t i = 0; i < pictures; i++) {
            if (dtype == LEAT_FLOAT64)
                edges_double((const double *)(const void *)from + i * values,
                             (double *)(void *)to + 2 * i * values, height, width, channels);
            else
                edges_float((const float *)(const void *)from + i * values,
                            (float *)(void *)to + 2 * i * values, height, width, channels);
        }
    }
    if (out.data == call->outputs[0].data)
        return LEAT_OK;
    return leati_support_inner_cast_into(call, &out, &call->outputs[0], err);
}

/* The value with its second and its last but one part along a dimension put around it. */
static leat_value mirror_around(leat_value x, int32_t axis, int64_t size) {
    const leat_value parts[3] = {leati_neighbours_part_along(x, axis, 1, size - 2), x,
                                 leati_neighbours_part_along(x, axis, size - 2, 1)};
    return leat_op_concat(parts, 3, axis);
}

/* a + 2 b + c of three neighbours along a dimension. */
static leat_value smooth_along(leat_value x, int32_t axis) {
    leat_value sides = leat_op_add(leati_neighbours_part_along(x, axis, 0, 2),
                                   leati_neighbours_part_along(x, axis, 2, 0));
    return leat_op_add(sides, leati_support_times(leati_neighbours_part_along(x, axis, 1, 1), 2));
}

static leat_value step_along(leat_value x, int32_t axis) {
    return leat_op_subtract(leati_neighbours_part_along(x, axis, 2, 0),
                            leati_neighbours_part_along(x, axis, 0, 2));
}

static leat_status sobel_edges_gradient(leati_gradient_call *call, leat_error *err) {
    leat_shape shape = leat_value_shape(call->inputs[0]);
    leat_value x;
    if (shape.rank != 4 || shape.dims[1] < 0 || shape.dims[2] < 0)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "the gradient needs to know height and width; set them with "
                          "ensure_shape");
    leati_support_gradient_sources(call, &x);
    leat_value padded = mirror_around(mirror_around(x, 1, shape.dims[1]), 2, shape.dims[2]);
    const leat_value edges[2] = {step_along(smooth_along(padded, 2), 1),
                                 step_along(smooth_along(padded, 1), 2)};
    leat_value result = leat_op_stack(edges, 2, -1);
    return leati_support_gradient_through(call, &x, &result, err);
}

leat_value leat_op_sobel_edges(leat_value image) {
    return leati_graph_build1(&leati_tensor_op_sobel_edges, NULL, image);
}

const leati_tensor_op leati_tensor_op_sobel_edges = {
    .name = "sobel_edges",
    .version = 1,
    .doc = "How steep pictures are downwards and to the right, by Sobel's filters "
           "(tf.image.sobel_edges).",
    .names = "image.sobel_edges",
    .inputs = "image",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = sobel_edges_infer,
    .kernel = sobel_edges_kernel,
    .gradient = sobel_edges_gradient,
};
