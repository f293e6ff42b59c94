/* rgb_to_grayscale, grayscale_to_rgb, rgb_to_hsv, hsv_to_rgb, rgb_to_yiq, yiq_to_rgb, rgb_to_yuv,
 * yuv_to_rgb: pictures in another colour space (tf.image.rgb_to_grayscale and its like);
 * rgb_to_hsv_grad: what flows back through rgb_to_hsv. Inputs: the colours, the gradient.
 *
 * Grey is 0.2989 R + 0.587 G + 0.114 B; integers are scaled to [0, 1] and back. Hue, saturation and
 * value are in [0, 1]; these and YIQ and YUV are of floats, computed in float32, of float64 in
 * float64. Fails on other types and other numbers of channels. No gradient flows through
 * hsv_to_rgb, and rgb_to_hsv_grad has none: of equal channels red counts before green and green
 * before blue as the largest, and the other way round as the smallest; where nothing is largest, or
 * a term is divided by 0, nothing flows, and none of the saturation to a smallest channel of 0, as
 * in TensorFlow. No state, no locks. */
#include "base/isa.h"
#include "graph/support/picture/colour.h"
#include "graph/support/support.h"
#include <math.h>
#include <string.h>

/* The slots of an operation whose function NAME##_colour names. */
#define SLOTS(NAME)                                                                                \
    static leat_status NAME##_infer(leati_infer_call *call, leat_error *err) {                     \
        return leati_colour_infer(call, &NAME##_colour, err);                                      \
    }                                                                                              \
    static leat_status NAME##_kernel(leati_kernel_call *call, leat_error *err) {                   \
        return leati_colour_kernel(call, &NAME##_colour, NULL, err);                               \
    }

/* tf.image's weights, close to those of ITU-R BT.601. */
static const float weights[3] = {0.2989F, 0.587F, 0.114F};

static void rgb_to_grayscale(const float *in, float *out, const leati_frames *frames,
                             const void *context) {
    int64_t pixels = frames->count * frames->height * frames->width;
    (void)context;
    for (int64_t i = 0; i < pixels; i++, in += 3)
        out[i] = in[0] * weights[0] + in[1] * weights[1] + in[2] * weights[2];
}

static const leati_colour rgb_to_grayscale_colour = {.function = rgb_to_grayscale,
                                                     .rank = 1,
                                                     .in_channels = 3,
                                                     .out_channels = 1,
                                                     .dtype = LEAT_BOOL};

SLOTS(rgb_to_grayscale)

static leat_status rgb_to_grayscale_gradient(leati_gradient_call *call, leat_error *err) {
    leat_tensor tensor;
    LEATI_TRY(leat_tensor_copy_of(LEAT_FLOAT32, LEAT_SHAPE(3), weights, &tensor, err));
    /* [3] against [..., 1]: broadcasting gives each channel its weight. */
    leat_value each = leat_op_cast(leat_graph_tensor(call->graph, &tensor),
                                   leat_value_dtype(call->output_gradients[0]));
    /* The graph has its own reference. */
    leat_tensor_unref(&tensor);
    call->input_gradients[0] = leat_op_multiply(call->output_gradients[0], each);
    return LEAT_OK;
}

static leat_status check(const leat_shape *shape, leat_error *err) {
    char text[128];
    /* Rank 0 has no last dimension, and falls through to the refusal. */
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
        /* With a constant size the copies become single moves. */
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

/* In TensorFlow's order of operations; norm is infinite without a range, and then not used. The
 * highest channel says in which third of the circle the hue is. */
#define RGB_TO_HSV(NAME, T, MOST, LEAST)                                                           \
    static void NAME(const T *in, T *out, const leati_frames *frames, const void *context) {       \
        int64_t pixels = frames->count * frames->height * frames->width;                           \
        (void)context;                                                                             \
        for (int64_t i = 0; i < pixels; i++, in += 3, out += 3) {                                  \
            T r = in[0], g = in[1], b = in[2];                                                     \
            T value = MOST(r, MOST(g, b)), range = value - LEAST(r, LEAST(g, b));                  \
            T norm = (T)1 / range * ((T)1 / 6), hue;                                               \
            if (r == value)                                                                        \
                hue = norm * (g - b);                                                              \
            else if (g == value)                                                                   \
                hue = norm * (b - r) + (T)2 / 6;                                                   \
            else                                                                                   \
                hue = norm * (r - g) + (T)4 / 6;                                                   \
            hue = range > 0 ? hue : 0;                                                             \
            out[0] = hue < 0 ? hue + 1 : hue;                                                      \
            out[1] = value > 0 ? range / value : 0;                                                \
            out[2] = value;                                                                        \
        }                                                                                          \
    }
RGB_TO_HSV(rgb_to_hsv, float, fmaxf, fminf)
RGB_TO_HSV(rgb_to_hsv_wide, double, fmax, fmin)

static const leati_colour rgb_to_hsv_colour = {.function = rgb_to_hsv,
                                               .wide = rgb_to_hsv_wide,
                                               .rank = 1,
                                               .in_channels = 3,
                                               .out_channels = 3,
                                               .dtype = LEAT_BOOL,
                                               .floats = true};

SLOTS(rgb_to_hsv)

static leat_status rgb_to_hsv_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] = leati_graph_build2(&leati_tensor_op_rgb_to_hsv_grad, NULL,
                                                  call->inputs[0], call->output_gradients[0]);
    return LEAT_OK;
}

static leat_status rgb_to_hsv_grad_infer(leati_infer_call *call, leat_error *err) {
    leat_dtype dtype = call->inputs[0].dtype;
    if (dtype < LEAT_FLOAT16 || dtype > LEAT_FLOAT64)
        return leati_refuse(err, DTYPE, "the colours are %s; expected floats",
                            leat_dtype_name(dtype));
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    return leati_op_infer_output(call, dtype, &call->inputs[0].shape, NULL, err);
}

/* 1 / number, but 0 for 0: TensorFlow's div_no_nan, by which nothing flows there. */
static float over(float number) {
    return number == 0 ? 0 : 1 / number;
}

/* Of one colour. */
static void flow_back(const float in[3], const float g[3], float out[3]) {
    float r = in[0], green = in[1], b = in[2];
    /* TensorFlow's comparisons, also of equal channels; see the top comment. */
    int most = r >= b && r >= green ? 0 : green > r && green >= b ? 1 : 2;
    int least = r < b && r < green ? 0 : green <= r && green < b ? 1 : 2;
    /* The others in the circle's order: hue is (first - second) / (6 range) + constant. */
    int first = (most + 1) % 3, second = (most + 2) % 3;
    float high = in[most], low = in[least], range = high - low;
    /* The slopes of (first - second) / range: step is that by first, -across that by range. */
    float across = (in[first] - in[second]) * over(range * range), step = over(range);
    float hue = high > 0 ? g[0] / 6 : 0;
    out[0] = out[1] = out[2] = 0;
    /* value is the highest channel itself. */
    out[most] += g[2];
    /* Only with a NaN, which is neither more nor less than others. */
    if (most == least)
        return;
    /* saturation = 1 - low / high. */
    out[most] += high > 0 ? g[1] * low * over(high * high) : 0;
    out[least] -= low > 0 ? g[1] * over(high) : 0;
    /* The range is high - low, so hue moves with both, beside the two in its numerator. */
    out[most] -= hue * across;
    out[first] += hue * (step + (first == least ? across : 0));
    out[second] += hue * ((second == least ? across : 0) - step);
}

static leat_status rgb_to_hsv_grad_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    leat_shape other = leati_support_operand_shape(&call->inputs[1]);
    leati_operand in, gradient, out;
    if (!leati_shape_equal(&shape, &other) || shape.rank < 1 || shape.dims[shape.rank - 1] != 3)
        return leati_refuse(err, SHAPE,
                            "colours of rank %d and a gradient of rank %d; expected equal shapes, "
                            "with 3 channels",
                            (int)shape.rank, (int)other.rank);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    LEATI_TRY(leati_support_inner_cast(call, &call->inputs[0], LEAT_FLOAT32, &in, err));
    LEATI_TRY(leati_support_inner_cast(call, &call->inputs[1], LEAT_FLOAT32, &gradient, err));
    /* In place: the gradient is a copy in the arena, and a colour is read before it is written. */
    out = gradient;
    for (int64_t row = 0; row < call->n; row++) {
        const float *colours = (const float *)(const void *)leati_support_row_of(&in, row);
        float *numbers = (float *)(void *)leati_support_row_of(&gradient, row);
        for (int64_t i = 0; i < in.count; i += 3) {
            float flowing[3] = {numbers[i], numbers[i + 1], numbers[i + 2]};
            flow_back(colours + i, flowing, numbers + i);
        }
    }
    return leati_support_inner_cast_into(call, &out, &call->outputs[0], err);
}

typedef struct pixel_line {
    const void *in;
    void *out;
    int64_t pixels;
} pixel_line;

/* Over the hue each channel is a trapezium: up, two sixths high, down. A NaN stays one. */
#define HSV_TO_RGB(NAME, T, ABS)                                                                   \
    LEATI_ALWAYS_INLINE T NAME##_clip(T x) {                                                       \
        T above = x <= 0 ? 0 : x;                                                                  \
        return above >= 1 ? 1 : above;                                                             \
    }                                                                                              \
    LEATI_ALWAYS_INLINE void NAME##_loop(const pixel_line *line) {                                 \
        const T *in = line->in;                                                                    \
        T *out = line->out;                                                                        \
        LEATI_INDEPENDENT                                                                          \
        for (int64_t i = 0; i < line->pixels; i++) {                                               \
            T hue = in[3 * i], saturation = in[3 * i + 1], value = in[3 * i + 2];                  \
            T sixth = hue * 6, grey = 1 - saturation;                                              \
            out[3 * i] = (grey + saturation * NAME##_clip(ABS(sixth - 3) - 1)) * value;            \
            out[3 * i + 1] = (grey + saturation * NAME##_clip(2 - ABS(sixth - 2))) * value;        \
            out[3 * i + 2] = (grey + saturation * NAME##_clip(2 - ABS(sixth - 4))) * value;        \
        }                                                                                          \
    }                                                                                              \
    LEATI_ISA(NAME##_line, NAME##_loop, const pixel_line *)                                        \
    static void NAME(const T *in, T *out, const leati_frames *frames, const void *context) {       \
        int64_t pixels = frames->count * frames->height * frames->width;                           \
        (void)context;                                                                             \
        NAME##_line(&(const pixel_line){in, out, pixels});                                         \
    }
HSV_TO_RGB(hsv_to_rgb, float, fabsf)
HSV_TO_RGB(hsv_to_rgb_wide, double, fabs)

static const leati_colour hsv_to_rgb_colour = {.function = hsv_to_rgb,
                                               .wide = hsv_to_rgb_wide,
                                               .rank = 1,
                                               .in_channels = 3,
                                               .out_channels = 3,
                                               .dtype = LEAT_BOOL,
                                               .floats = true};

SLOTS(hsv_to_rgb)

/* ---- colour spaces by a matrix: out[k] = sum over i of in[i] * matrix[i][k] ---- */

#define MIX(NAME, T)                                                                               \
    static void NAME(const T *in, T *out, const leati_frames *frames, const void *context) {       \
        const double *m = context;                                                                 \
        int64_t pixels = frames->count * frames->height * frames->width;                           \
        for (int64_t i = 0; i < pixels; i++, in += 3, out += 3)                                    \
            for (int k = 0; k < 3; k++)                                                            \
                out[k] = in[0] * (T)m[k] + in[1] * (T)m[3 + k] + in[2] * (T)m[6 + k];              \
    }
MIX(mix, float)
MIX(mix_wide, double)

static leat_status mix_gradient(leati_gradient_call *call, const double matrix[9],
                                leat_error *err) {
    leat_value dy = call->output_gradients[0];
    leat_dtype dtype = leat_value_dtype(dy);
    double turned[9];
    leat_tensor tensor;
    for (int i = 0; i < 9; i++)
        /* Transposed: what flows back through a matrix. */
        turned[i] = matrix[i % 3 * 3 + i / 3];
    LEATI_TRY(leat_tensor_copy_of(LEAT_FLOAT64, LEAT_SHAPE(3, 3), turned, &tensor, err));
    leat_value mixed = leat_op_cast(leat_graph_tensor(call->graph, &tensor), dtype);
    leat_tensor_unref(&tensor);
    /* All pixels as lines, since a matrix product takes two dimensions. */
    const int64_t rows[2] = {-1, 3};
    call->input_gradients[0] = leat_op_reshape_like(
        leat_op_matmul(leat_op_reshape(dy, rows, 2), mixed, false, false), call->inputs[0]);
    return LEAT_OK;
}

static const leati_colour colours = {.function = mix,
                                     .wide = mix_wide,
                                     .rank = 1,
                                     .in_channels = 3,
                                     .dtype = LEAT_BOOL,
                                     .floats = true};

/* The descriptor of a conversion. */
#define COLOUR_OP(NAME, DOC, ...)                                                                  \
    const leati_tensor_op leati_tensor_op_##NAME = {                                               \
        .name = #NAME,                                                                             \
        .version = 1,                                                                              \
        .doc = DOC " (tf.image." #NAME ").",                                                       \
        .names = "image." #NAME,                                                                   \
        .inputs = "images",                                                                        \
        .types = "T",                                                                              \
        .outputs = "output",                                                                       \
        .halves = LEATI_HALVES_OWN,                                                                \
        .checks = LEATI_CHECKS_IN_PYTHON,                                                          \
        .rows = leati_no_rows,                                                                     \
        .min_inputs = 1,                                                                           \
        .max_inputs = 1,                                                                           \
        .infer = NAME##_infer,                                                                     \
        .kernel = NAME##_kernel,                                                                   \
        __VA_ARGS__,                                                                               \
    };
COLOUR_OP(rgb_to_grayscale, "The brightness of colours, as one channel",
          .gradient = rgb_to_grayscale_gradient)
COLOUR_OP(grayscale_to_rgb, "One channel, repeated as three", .gradient = grayscale_to_rgb_gradient)
COLOUR_OP(rgb_to_hsv, "Hue, saturation and value of colours, all in [0, 1]",
          .gradient = rgb_to_hsv_gradient)
COLOUR_OP(hsv_to_rgb, "Colours of a hue, saturation and value in [0, 1]",
          .gradient = leati_op_gradient_none)

const leati_tensor_op leati_tensor_op_rgb_to_hsv_grad = {
    .name = "rgb_to_hsv_grad",
    .version = 1,
    .doc = "What flows back through rgb_to_hsv (for gradients).",
    .types = "T T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = rgb_to_hsv_grad_infer,
    .kernel = rgb_to_hsv_grad_kernel,
};

/* The descriptor of a conversion by a matrix. */
#define MATRIX(NAME, FROM, TO, ...)                                                                \
    static const double NAME##_matrix[9] = __VA_ARGS__;                                            \
    static leat_status NAME##_infer(leati_infer_call *call, leat_error *err) {                     \
        return leati_colour_infer(call, &colours, err);                                            \
    }                                                                                              \
    static leat_status NAME##_kernel(leati_kernel_call *call, leat_error *err) {                   \
        return leati_colour_kernel(call, &colours, NAME##_matrix, err);                            \
    }                                                                                              \
    static leat_status NAME##_gradient(leati_gradient_call *call, leat_error *err) {               \
        return mix_gradient(call, NAME##_matrix, err);                                             \
    }                                                                                              \
    COLOUR_OP(NAME, FROM " pixels as " TO ", the last dimension 3", .gradient = NAME##_gradient)
MATRIX(rgb_to_yiq, "RGB", "YIQ",
       {0.299, 0.59590059, 0.2115, 0.587, -0.27455667, -0.52273617, 0.114, -0.32134392, 0.31119955})
MATRIX(rgb_to_yuv, "RGB", "YUV",
       {0.299, -0.14714119, 0.61497538, 0.587, -0.28886916, -0.51496512, 0.114, 0.43601035,
        -0.10001026})
MATRIX(yiq_to_rgb, "YIQ", "RGB",
       {1.0, 1.0, 1.0, 0.95598634, -0.27201283, -1.10674021, 0.6208248, -0.64720424, 1.70423049})
MATRIX(yuv_to_rgb, "YUV", "RGB",
       {1.0, 1.0, 1.0, 0.0, -0.394642334, 2.03206185, 1.13988303, -0.58062185, 0.0})
