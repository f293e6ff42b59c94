/* Pictures cut, padded, scaled to fit, and differences of their pixels, put together of moves and
 * sums. No failures of their own, no state. */
#include "exec/pjrt/emit_compose.h"

#include "base/error.h"
#include "core/spec.h"
#include "graph/build.h"
#include "graph/support/picture/resize.h"
#include <string.h>

/* ---- windows ---- */

/* Where the result's first line or column lies in pictures of `size`; negative: so far before. */
static int64_t start_of(const leati_emit *emit, int side, int64_t size, int64_t target) {
    int64_t offset = leati_emit_int(emit, side == 0 ? "offset_height" : "offset_width");
    switch (emit->text[0]) {
    case 'c': return offset;
    case 'p': return -offset;
    default: return (size - target) / 2; /* towards 0: an odd pixel is at the end */
    }
}

/* `text`: "cut" by the attributes, "put" at them, or the "middle". Zeros lie outside. */
leat_status leati_emit_window(leati_emit *emit, leat_error *err) {
    (void)err;
    leati_hlo *hlo = &emit->hlo;
    leat_shape in = leati_emit_input_shape(emit, 0);
    const leat_shape *out = leati_emit_shape(emit, 0);
    int64_t before[LEAT_MAX_RANK] = {0}, after[LEAT_MAX_RANK] = {0};
    for (int side = 0; side < 2; side++) {
        int32_t d = in.rank - 3 + side;
        int64_t start = start_of(emit, side, in.dims[d], out->dims[d]);
        before[d] = -start;
        after[d] = start + out->dims[d] - in.dims[d];
    }
    leati_hlo_value zero = leati_hlo_fill(hlo, 0, leati_emit_input_dtype(emit, 0), &LEAT_SCALAR);
    emit->outputs[0] = leati_hlo_pad(hlo, emit->inputs[0], zero, before, after, NULL);
    return LEAT_OK;
}

/* How pictures of input `index` are scaled into the target; false: the graph has failed. */
static bool scaling_of(const leati_emit *emit, leat_value like, leati_scaling *out) {
    leat_shape shape = leat_value_shape(like);
    leat_error err = {0};
    leati_frames frames;
    if (leati_frames_of(&shape, &frames, &err) == LEAT_OK &&
        leati_resize_fitting(emit->node->source->args, &frames, out, &err) == LEAT_OK)
        return true;
    (void)leati_graph_error(like.graph, &err);
    return false;
}

static void build_resize_with_pad(const leati_emit *emit, const leat_value *in, leat_value *out) {
    leati_scaling scaling;
    out[0] = in[0];
    if (!scaling_of(emit, in[0], &scaling))
        return;
    leat_value x =
        leat_op_resize(in[0], (const int64_t[]){scaling.height, scaling.width}, 2,
                       &(leat_op_resize_options){LEAT_OP_RESIZE_DEFAULTS,
                                                 .method = leati_emit_string(emit, "method"),
                                                 .antialias = leati_emit_bool(emit, "antialias")});
    out[0] = leat_op_pad_to_bounding_box(x, scaling.top, scaling.left, scaling.canvas_height,
                                         scaling.canvas_width);
}
LEATI_EMIT_COMPOSED(resize_with_pad)

/* Inputs: the result's gradient, and pictures, whose shape counts. */
static void build_resize_with_pad_grad(const leati_emit *emit, const leat_value *in,
                                       leat_value *out) {
    leati_scaling scaling;
    out[0] = in[1];
    if (!scaling_of(emit, in[1], &scaling))
        return;
    int64_t size[2] = {scaling.height, scaling.width};
    const struct leati_resize_args args = {.size = {.values = size, .count = 2},
                                           .method =
                                               (char *)(uintptr_t)leati_emit_string(emit, "method"),
                                           .antialias = leati_emit_bool(emit, "antialias")};
    leat_value g = leat_op_crop_to_bounding_box(in[0], scaling.top, scaling.left, scaling.height,
                                                scaling.width);
    out[0] = leati_graph_build2(&leati_tensor_op_resize_grad, &args, g, in[1]);
}
LEATI_EMIT_COMPOSED(resize_with_pad_grad)

/* ---- differences ---- */

/* Values [first, size - last) along a dimension. */
static leat_value part(leat_value x, int32_t axis, int64_t first, int64_t last) {
    return leati_emit_part_along(x, axis, first, leat_value_shape(x).dims[axis] - first - last);
}

/* x[1:] - x[:-1] along a dimension. */
static leat_value steps(leat_value x, int32_t axis) {
    if (leat_value_shape(x).dims[axis] == 0)
        return x;
    return leat_op_subtract(part(x, axis, 1, 0), part(x, axis, 0, 1));
}

static void build_image_gradients(const leati_emit *emit, const leat_value *in, leat_value *out) {
    (void)emit;
    for (int32_t k = 0; k < 2; k++) {
        int64_t paddings[8] = {0};
        /* One zero behind the values of dimension 1 or 2. */
        paddings[2 * (k + 1) + 1] = 1;
        out[k] = leat_op_pad(steps(in[0], k + 1), paddings, 4);
    }
}
LEATI_EMIT_COMPOSED(image_gradients)

static leat_value single(leat_value x) {
    leat_dtype dtype = leat_value_dtype(x);
    bool half = dtype == LEAT_FLOAT16 || dtype == LEAT_BFLOAT16;
    return half ? leat_op_cast(x, LEAT_FLOAT32) : x;
}

static void build_total_variation(const leati_emit *emit, const leat_value *in, leat_value *out) {
    static const int64_t axes[3] = {-3, -2, -1};
    leat_value x = single(in[0]), sums[2];
    int32_t rank = leat_value_shape(x).rank;
    (void)emit;
    for (int i = 0; i < 2; i++)
        sums[i] = leat_op_reduce_sum(leat_op_abs(steps(x, rank - 3 + i)), axes, 3, false);
    out[0] = leat_op_add(sums[0], sums[1]);
}
LEATI_EMIT_COMPOSED(total_variation)

/* The value with its second and its last but one part along a dimension put around it. */
static leat_value mirrored(leat_value x, int32_t axis) {
    int64_t size = leat_value_shape(x).dims[axis];
    const leat_value parts[3] = {leati_emit_part_along(x, axis, 1, 1), x,
                                 leati_emit_part_along(x, axis, size - 2, 1)};
    return leat_op_concat(parts, 3, axis);
}

/* a + 2 b + c, and c - a, of three neighbours along a dimension. */
static leat_value smooth(leat_value x, int32_t axis) {
    leat_value sides = leat_op_add(part(x, axis, 0, 2), part(x, axis, 2, 0));
    return leat_op_add(sides, leati_support_times(part(x, axis, 1, 1), 2));
}

static leat_value step_over(leat_value x, int32_t axis) {
    return leat_op_subtract(part(x, axis, 2, 0), part(x, axis, 0, 2));
}

static void build_sobel_edges(const leati_emit *emit, const leat_value *in, leat_value *out) {
    (void)emit;
    leat_value x = mirrored(mirrored(single(in[0]), 1), 2);
    const leat_value edges[2] = {step_over(smooth(x, 2), 1), step_over(smooth(x, 1), 2)};
    out[0] = leat_op_stack(edges, 2, -1);
}
LEATI_EMIT_COMPOSED(sobel_edges)
