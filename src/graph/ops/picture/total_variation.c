/* total_variation: how much neighbouring pixels differ: the sum of the absolute differences to the
 * pixel below and to the one on the right (tf.image.total_variation).
 *
 * One number for a picture [H, W, C], N for a batch. Floats are summed in double; integers wrap as
 * they do elsewhere. Fails in inference on other ranks, and on unsigned integers. No state, no
 * locks. */
#include "graph/support/picture/frames.h"
#include "graph/support/picture/neighbours.h"

static leat_status total_variation_infer(leati_infer_call *call, leat_error *err) {
    const leat_shape *in = &call->inputs[0].shape;
    leat_dtype dtype = call->inputs[0].dtype;
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
INTEGER_STEP(int8_t, uint8_t)
INTEGER_STEP(int16_t, uint16_t)
INTEGER_STEP(int32_t, uint32_t)
INTEGER_STEP(int64_t, uint64_t)
static inline double step_float(float a, float b) {
    float d = a - b;
    return (double)(d < 0 ? -d : d);
}
static inline double step_double(double a, double b) {
    return a < b ? b - a : a - b;
}

#define VARIATION(TYPE, SUM)                                                                       \
    static SUM variation_##TYPE(const void *data, const leati_frames *f) {                         \
        const TYPE *in = data;                                                                     \
        int64_t line = f->width * f->channels;                                                     \
        SUM sum = 0;                                                                               \
        for (int64_t y = 0; y < f->height; y++, in += line) {                                      \
            for (int64_t i = f->channels; i < line; i++)                                           \
                sum += step_##TYPE(in[i], in[i - f->channels]);                                    \
            for (int64_t i = 0; i < line && y + 1 < f->height; i++)                                \
                sum += step_##TYPE(in[line + i], in[i]);                                           \
        }                                                                                          \
        return sum;                                                                                \
    }
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

static leat_status total_variation_kernel(leati_kernel_call *call, leat_error *err) {
    leat_dtype dtype = call->inputs[0].dtype;
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]), out = {0};
    leati_operand in = call->inputs[0];
    leati_frames frames;
    LEATI_TRY(leati_frames_of(&shape, &frames, err));
    out.rank = shape.rank - 3;
    out.dims[0] = frames.count;
    LEATI_TRY(leati_support_output_like(call, 0, &out, err));
    if (dtype == LEAT_FLOAT16 || dtype == LEAT_BFLOAT16)
        LEATI_TRY(leati_support_inner_cast(call, &call->inputs[0], LEAT_FLOAT32, &in, err));
    size_t picture =
        (size_t)(frames.height * frames.width * frames.channels) * leat_dtype_size(in.dtype);
    if (in.count == 0)
        frames.height = 0; /* there may be no memory */
    for (int64_t row = 0; row < call->n; row++)
        for (int64_t k = 0; k < frames.count; k++)
            store(dtype, in.count > 0 ? leati_support_row_of(&in, row) + (size_t)k * picture : NULL,
                  &frames,
                  leati_support_row_of(&call->outputs[0], row) +
                      (size_t)k * leat_dtype_size(dtype));
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
        sum[i] = leat_op_reduce_sum(leat_op_abs(leati_neighbours_steps_along(x, rank - 3 + i)),
                                    axes, 3, false);
    leat_value result = leat_op_add(sum[0], sum[1]);
    return leati_support_gradient_through(call, &x, &result, err);
}

leat_value leat_op_total_variation(leat_value images) {
    return leati_graph_build1(&leati_tensor_op_total_variation, NULL, images);
}

const leati_tensor_op leati_tensor_op_total_variation = {
    .name = "total_variation",
    .version = 1,
    .doc = "The sum of the absolute differences of neighbouring pixels "
           "(tf.image.total_variation).",
    .names = "image.total_variation",
    .inputs = "images",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = total_variation_infer,
    .kernel = total_variation_kernel,
    .gradient = total_variation_gradient,
};
