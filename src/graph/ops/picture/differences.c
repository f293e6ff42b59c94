/* image_gradients: the differences of each pixel to the one below and to the one on its right, as
 * two batches of pictures [N, H, W, C]. total_variation: the sum of their magnitudes, one number
 * for a picture [H, W, C], N for a batch. sobel_edges: how steep float pictures [N, H, W, C] are
 * downwards and to the right, by Sobel's filters, as [N, H, W, C, 2] (tf.image.image_gradients and
 * its like).
 *
 * The last row of the first differences, and the last column of the second are 0. Integers wrap; in
 * total_variation floats are summed in double. Beyond the borders Sobel's picture is mirrored
 * without its last row and column, so it has at least 2 x 2 pixels. Fails in inference on other
 * ranks and dtypes, and on smaller pictures. No state, no locks. */
#include "base/isa.h"
#include "base/stop.h"
#include "graph/support/array/moving.h"
#include "graph/support/picture/frames.h"
#include <string.h>

/* Values [first, -last) along one dimension; `last` counts those left out at the end. */
static leat_value part_along(leat_value x, int32_t axis, int64_t first, int64_t last) {
    int64_t begin[LEAT_MAX_RANK] = {0}, end[LEAT_MAX_RANK] = {0};
    /* Masked ends are those of the dimension: an end of -0 would be 0, the beginning. */
    const int64_t all = (INT64_C(1) << LEAT_MAX_RANK) - 1, own = INT64_C(1) << axis;
    const leat_op_strided_slice_options masks = {LEAT_OP_STRIDED_SLICE_DEFAULTS,
                                                 .begin_mask = all & ~own,
                                                 .end_mask = last > 0 ? all & ~own : all};
    begin[axis] = first;
    end[axis] = -last;
    return leat_op_strided_slice(x, begin, axis + 1, end, axis + 1, &masks);
}

/* x[1:] - x[:-1] along that dimension. */
static leat_value steps_along(leat_value x, int32_t axis) {
    return leat_op_subtract(part_along(x, axis, 1, 0), part_along(x, axis, 0, 1));
}

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
    /* Lines are the rows of the inner call, so one call subtracts all of them. */
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
    for (int64_t row = 0, done = 0; row < call->n && in->count > 0; row++) {
        for (int64_t i = 0; i < shape.dims[0] && !leati_stop_look_after(4 * picture, &done); i++) {
            const char *from = leati_support_row_of(in, row) + (size_t)i * bytes;
            char *down = leati_support_row_of(&call->outputs[0], row) + (size_t)i * bytes;
            char *right = leati_support_row_of(&call->outputs[1], row) + (size_t)i * bytes;
            /* The last row has no neighbour below, the last column none on its right. */
            memset(down + bytes - (size_t)line * size, 0, (size_t)line * size);
            for (int64_t y = 1; y <= shape.dims[1]; y++)
                memset(right + (size_t)(y * line - shape.dims[3]) * size, 0,
                       (size_t)shape.dims[3] * size);
            /* Downwards a picture is one line: the neighbour is a row behind. */
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
        /* One zero behind the values of dimension 1 or 2. */
        paddings[2 * (k + 1) + 1] = 1;
        results[k] = leat_op_pad(steps_along(x, k + 1), paddings, 4);
    }
    return leati_support_gradient_through(call, &x, results, err);
}

static leat_status total_variation_infer(leati_infer_call *call, leat_error *err) {
    const leat_shape *in = &call->inputs[0].shape;
    leat_dtype dtype = call->inputs[0].dtype;
    /* A number for each picture of a batch. */
    leat_shape shape = {.rank = in->rank == 4 ? 1 : 0, .dims = {in->rank == 4 ? in->dims[0] : 0}};
    char text[128];
    if (!leati_graph_dtype_is_floating(dtype) && (dtype < LEAT_INT8 || dtype > LEAT_INT64))
        return leati_refuse(err, DTYPE, "the pictures are %s; expected floats or signed integers",
                            leat_dtype_name(dtype));
    if (in->rank >= 0 && in->rank != 3 && in->rank != 4)
        return leati_refuse(err, SHAPE,
                            "the pictures have shape %s; expected [H, W, C] or [N, H, W, C]",
                            leati_shape_text(in, text));
    if (in->rank < 0)
        shape.rank = -1;
    return leati_op_infer_output(call, dtype, &shape, NULL, err);
}

/* The absolute difference of values of a type, as a sum takes it. */
#define INTEGER_STEP(TYPE, UNSIGNED)                                                               \
    static inline uint64_t step_##TYPE(TYPE a, TYPE b) {                                           \
        TYPE d = (TYPE)((UNSIGNED)a - (UNSIGNED)b);                                                \
        return (uint64_t)(int64_t)(d < 0 ? (TYPE)(0U - (UNSIGNED)d) : d);                          \
    }
/* Differences wrap as unsigned ones do; the lowest number's magnitude wraps to itself. */
INTEGER_STEP(int8_t, uint8_t)
INTEGER_STEP(int16_t, uint16_t)
INTEGER_STEP(int32_t, uint32_t)
INTEGER_STEP(int64_t, uint64_t)
static inline double step_float(float a, float b) {
    /* In float32, as TensorFlow subtracts; the sum is kept in double. */
    float d = a - b;
    return (double)(d < 0 ? -d : d);
}
static inline double step_double(double a, double b) {
    return a < b ? b - a : a - b;
}

/* Both directions of a line; the sums of 16 lanes, whose values lie side by side, are joined as a
 * tree at the end, so that their order is the same on every instruction set. */
enum { VARIATION_LANES = 16 };
#define VARIATION(TYPE, SUM)                                                                       \
    typedef struct lanes_##TYPE {                                                                  \
        SUM sums[VARIATION_LANES];                                                                 \
        const TYPE *a, *b;                                                                         \
        int64_t n;                                                                                 \
    } lanes_##TYPE;                                                                                \
    LEATI_ALWAYS_INLINE void add_steps_##TYPE##_loop(lanes_##TYPE *l) {                            \
        SUM sums[VARIATION_LANES];                                                                 \
        int64_t i = 0;                                                                             \
        for (int k = 0; k < VARIATION_LANES; k++)                                                  \
            sums[k] = l->sums[k];                                                                  \
        for (; i + VARIATION_LANES <= l->n; i += VARIATION_LANES)                                  \
            for (int k = 0; k < VARIATION_LANES; k++)                                              \
                sums[k] += step_##TYPE(l->a[i + k], l->b[i + k]);                                  \
        for (int k = 0; i < l->n; i++, k++)                                                        \
            sums[k] += step_##TYPE(l->a[i], l->b[i]);                                              \
        for (int k = 0; k < VARIATION_LANES; k++)                                                  \
            l->sums[k] = sums[k];                                                                  \
    }                                                                                              \
    LEATI_ISA(add_steps_##TYPE, add_steps_##TYPE##_loop, lanes_##TYPE *)                           \
    static SUM variation_##TYPE(const void *data, const leati_frames *f) {                         \
        const TYPE *in = data;                                                                     \
        int64_t line = f->width * f->channels;                                                     \
        lanes_##TYPE lanes = {.n = 0};                                                             \
        for (int64_t y = 0; y < f->height; y++, in += line) {                                      \
            lanes.a = in + f->channels;                                                            \
            lanes.b = in;                                                                          \
            lanes.n = line - f->channels;                                                          \
            add_steps_##TYPE(&lanes);                                                              \
            lanes.a = in + line;                                                                   \
            lanes.n = y + 1 < f->height ? line : 0;                                                \
            add_steps_##TYPE(&lanes);                                                              \
        }                                                                                          \
        for (int half = VARIATION_LANES / 2; half > 0; half /= 2)                                  \
            for (int k = 0; k < half; k++)                                                         \
                lanes.sums[k] += lanes.sums[k + half];                                             \
        return lanes.sums[0];                                                                      \
    }
/* Sums of integers wrap at 64 bits, then at the dtype's. */
VARIATION(int8_t, uint64_t)
VARIATION(int16_t, uint64_t)
VARIATION(int32_t, uint64_t)
VARIATION(int64_t, uint64_t)
VARIATION(float, double)
VARIATION(double, double)

static void store(leat_dtype dtype, const void *picture, const leati_frames *f, void *to) {
    switch (dtype) {
    case LEAT_INT8: *(int8_t *)to = (int8_t)variation_int8_t(picture, f); break;
    case LEAT_INT16: *(int16_t *)to = (int16_t)variation_int16_t(picture, f); break;
    case LEAT_INT32: *(int32_t *)to = (int32_t)variation_int32_t(picture, f); break;
    case LEAT_INT64: *(int64_t *)to = (int64_t)variation_int64_t(picture, f); break;
    case LEAT_FLOAT64: *(double *)to = variation_double(picture, f); break;
    default: (void)leati_support_store_number(dtype, variation_float(picture, f), to); break;
    }
}

/* One row: each step is a picture. */
typedef struct variation_work {
    leat_dtype dtype;
    const leati_frames *frames;
    size_t picture; /* bytes */
    const char *from;
    char *to;
} variation_work;

static void variation_steps(void *data, int64_t begin, int64_t end) {
    const variation_work *w = data;
    for (int64_t k = begin; k < end; k++)
        store(w->dtype, w->from == NULL ? NULL : w->from + (size_t)k * w->picture, w->frames,
              w->to + (size_t)k * leat_dtype_size(w->dtype));
}

static leat_status total_variation_kernel(leati_kernel_call *call, leat_error *err) {
    leat_dtype dtype = call->inputs[0].dtype;
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]), out = {0};
    leati_operand in = call->inputs[0];
    leati_frames frames;
    LEATI_TRY(leati_frames_of(&shape, &frames, err));
    /* Rank 0 for one picture, 1 for a batch. */
    out.rank = shape.rank - 3;
    out.dims[0] = frames.count;
    LEATI_TRY(leati_support_output_like(call, 0, &out, err));
    if (dtype == LEAT_FLOAT16 || dtype == LEAT_BFLOAT16)
        LEATI_TRY(leati_support_inner_cast(call, &call->inputs[0], LEAT_FLOAT32, &in, err));
    size_t picture =
        (size_t)(frames.height * frames.width * frames.channels) * leat_dtype_size(in.dtype);
    if (in.count == 0)
        frames.height = 0; /* there may be no memory */
    variation_work work = {.dtype = dtype, .frames = &frames, .picture = picture};
    for (int64_t row = 0; row < call->n; row++) {
        work.from = in.count > 0 ? leati_support_row_of(&in, row) : NULL;
        work.to = leati_support_row_of(&call->outputs[0], row);
        /* Sums take longer than moves of their values. */
        leati_moving_share(frames.count, (int64_t)picture * 4, variation_steps, &work);
    }
    return LEAT_OK;
}

static leat_status total_variation_gradient(leati_gradient_call *call, leat_error *err) {
    static const int64_t axes[3] = {-3, -2, -1};
    leat_value x, sum[2];
    int32_t rank = leat_value_shape(call->inputs[0]).rank;
    if (rank < 0)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "the input's rank is not known; give it one with ensure_shape");
    leati_support_gradient_sources(call, &x);
    for (int i = 0; i < 2; i++)
        sum[i] = leat_op_reduce_sum(leat_op_abs(steps_along(x, rank - 3 + i)), axes, 3, false);
    leat_value result = leat_op_add(sum[0], sum[1]);
    return leati_support_gradient_through(call, &x, &result, err);
}

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
        /* Downwards and to the right, behind the channels. */
        shape.dims[shape.rank++] = 2;
    }
    return leati_op_infer_output(call, dtype, &shape, NULL, err);
}

/* A row of one picture and those beside it. */
typedef struct edge_row {
    const void *above, *row, *below;
    void *out;
    int64_t width, channels;
} edge_row;

/* Summed in the order of a convolution's; the columns beside one that is at a border are both the
 * inner one. */
#define EDGES(TYPE)                                                                                \
    LEATI_ALWAYS_INLINE void edge_##TYPE(const TYPE *above, const TYPE *row, const TYPE *below,    \
                                         int64_t left, int64_t at, int64_t right, TYPE *out) {     \
        out[0] = -above[left] - 2 * above[at] - above[right] + below[left] + 2 * below[at] +       \
                 below[right];                                                                     \
        out[1] = -above[left] + above[right] - 2 * row[left] + 2 * row[right] - below[left] +      \
                 below[right];                                                                     \
    }                                                                                              \
    LEATI_ALWAYS_INLINE void edges_##TYPE##_loop(const edge_row *e) {                              \
        const TYPE *above = e->above, *row = e->row, *below = e->below;                            \
        TYPE *out = e->out;                                                                        \
        const int64_t n = e->channels, last = (e->width - 1) * n;                                  \
        for (int64_t i = 0; i < n; i++)                                                            \
            edge_##TYPE(above, row, below, n + i, i, n + i, out + 2 * i);                          \
        LEATI_INDEPENDENT                                                                          \
        for (int64_t i = n; i < last; i++)                                                         \
            edge_##TYPE(above, row, below, i - n, i, i + n, out + 2 * i);                          \
        for (int64_t i = last; i < last + n; i++)                                                  \
            edge_##TYPE(above, row, below, i - n, i, i - n, out + 2 * i);                          \
    }                                                                                              \
    LEATI_ISA(edges_##TYPE, edges_##TYPE##_loop, const edge_row *)
EDGES(float)
EDGES(double)

/* One row of the call; a step is a row of a picture. */
typedef struct edge_work {
    const char *from;
    char *to;
    int64_t height, width, channels;
    bool wide; /* float64 */
} edge_work;

static void edge_steps(void *data, int64_t begin, int64_t end) {
    const edge_work *w = data;
    int64_t bytes = w->width * w->channels * (int64_t)(w->wide ? sizeof(double) : sizeof(float));
    for (int64_t k = begin; k < end; k++) {
        int64_t y = k % w->height;
        const char *row = w->from + k * bytes;
        /* The rows beside one that is at a border are both the inner one. */
        edge_row e = {.above = row + (y > 0 ? -bytes : bytes),
                      .row = row,
                      .below = row + (y + 1 < w->height ? bytes : -bytes),
                      .out = w->to + 2 * k * bytes,
                      .width = w->width,
                      .channels = w->channels};
        if (w->wide)
            edges_double(&e);
        else
            edges_float(&e);
    }
}

static leat_status sobel_edges_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    leat_dtype dtype = call->inputs[0].dtype;
    leati_operand in = call->inputs[0];
    if (shape.rank != 4)
        return leati_refuse(err, SHAPE, "the pictures have rank %d; expected 4", (int)shape.rank);
    LEATI_TRY(check_size(&shape, err));
    edge_work work = {.height = shape.dims[1],
                      .width = shape.dims[2],
                      .channels = shape.dims[3],
                      .wide = dtype == LEAT_FLOAT64};
    int64_t rows = shape.dims[0] * shape.dims[1];
    shape.dims[shape.rank++] = 2;
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    leati_operand out = call->outputs[0];
    /* Narrow floats are computed in float32 and rounded once. */
    if (dtype != LEAT_FLOAT32 && dtype != LEAT_FLOAT64) {
        LEATI_TRY(leati_support_inner_cast(call, &call->inputs[0], LEAT_FLOAT32, &in, err));
        LEATI_TRY(leati_support_inner_memory(call, &call->outputs[0], LEAT_FLOAT32, &out, err));
    }
    int64_t bytes = work.width * work.channels * (int64_t)leat_dtype_size(in.dtype);
    for (int64_t row = 0; row < call->n && in.count > 0; row++) {
        work.from = leati_support_row_of(&in, row);
        work.to = leati_support_row_of(&out, row);
        /* Two values of each, and what they are computed of. */
        leati_moving_share(rows, 4 * bytes, edge_steps, &work);
    }
    if (out.data == call->outputs[0].data)
        return LEAT_OK;
    return leati_support_inner_cast_into(call, &out, &call->outputs[0], err);
}

/* The value with its second and its last but one part along a dimension put around it. */
static leat_value mirror_around(leat_value x, int32_t axis, int64_t size) {
    /* The second part and the last but one: the border itself is not repeated. */
    const leat_value parts[3] = {part_along(x, axis, 1, size - 2), x,
                                 part_along(x, axis, size - 2, 1)};
    return leat_op_concat(parts, 3, axis);
}

/* a + 2 b + c of three neighbours along a dimension. */
static leat_value smooth_along(leat_value x, int32_t axis) {
    leat_value sides = leat_op_add(part_along(x, axis, 0, 2), part_along(x, axis, 2, 0));
    return leat_op_add(sides, leati_support_times(part_along(x, axis, 1, 1), 2));
}

static leat_value step_along(leat_value x, int32_t axis) {
    return leat_op_subtract(part_along(x, axis, 2, 0), part_along(x, axis, 0, 2));
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
    /* Sobel's filters as products of [1 2 1] and [-1 0 1], of which gradients are known. */
    const leat_value edges[2] = {step_along(smooth_along(padded, 2), 1),
                                 step_along(smooth_along(padded, 1), 2)};
    leat_value result = leat_op_stack(edges, 2, -1);
    return leati_support_gradient_through(call, &x, &result, err);
}

/* The descriptor of one operation. */
#define DIFFERENCES_OP(NAME, DOC, ...)                                                             \
    const leati_tensor_op leati_tensor_op_##NAME = {                                               \
        .name = #NAME,                                                                             \
        .version = 1,                                                                              \
        .doc = DOC " (tf.image." #NAME ").",                                                       \
        .names = "image." #NAME,                                                                   \
        .types = "T",                                                                              \
        .halves = LEATI_HALVES_OWN,                                                                \
        .checks = LEATI_CHECKS_IN_PYTHON,                                                          \
        .rows = leati_no_rows,                                                                     \
        .min_inputs = 1,                                                                           \
        .max_inputs = 1,                                                                           \
        .infer = NAME##_infer,                                                                     \
        .kernel = NAME##_kernel,                                                                   \
        .gradient = NAME##_gradient,                                                               \
        __VA_ARGS__,                                                                               \
    };
DIFFERENCES_OP(image_gradients,
               "The differences of each pixel to the one below and to the one on its right",
               .inputs = "image", .outputs = "dy dx")
DIFFERENCES_OP(total_variation, "The sum of the absolute differences of neighbouring pixels",
               .inputs = "images", .outputs = "output")
DIFFERENCES_OP(sobel_edges, "How steep pictures are downwards and to the right, by Sobel's filters",
               .inputs = "image", .outputs = "output")
