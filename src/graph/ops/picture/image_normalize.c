/* image_normalize: (x - mean) / std for each channel of pictures.
 *
 * Floats keep their dtype, integers become float32 and keep their scale. Computed in float32, of
 * float64 in double; bytes by a table of each channel. The gradient is dy / std. Fails on numbers
 * that are not one for each channel, and on a deviation of 0. No state, no locks. */
#include "graph/support/support.h"
#include <leat/ops.h>

struct normalize_args {
    leati_floats mean, std;
};

static const leati_row normalize_rows[] = {
    {.name = "mean",
     .type = LEATI_ROW_FLOATS,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct normalize_args, mean),
     .doc = "What is subtracted: a number for each channel or one for all, in the pictures' unit."},
    {.name = "std",
     .type = LEATI_ROW_FLOATS,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct normalize_args, std),
     .doc = "What is divided by, not 0: a number for each channel or one for all."},
    {0},
};

static bool is_float(leat_dtype dtype) {
    return dtype >= LEAT_FLOAT16 && dtype <= LEAT_FLOAT64;
}

/* The number of channel `c`. */
static double number_of(const leati_floats *list, int64_t c) {
    return list->values[list->count == 1 ? 0 : c];
}

static leat_status check_list(const leati_floats *list, const char *name, int64_t channels,
                              leat_error *err) {
    if (list->count == 1 || (list->count > 1 && (channels < 0 || list->count == channels)))
        return LEAT_OK;
    return leati_refuse(err, SHAPE,
                        "%s has %d numbers for %lld channels; expected one for each or one for all",
                        name, (int)list->count, (long long)channels);
}

static leat_status check(const struct normalize_args *args, const leat_shape *shape,
                         leat_error *err) {
    if (shape->rank == 0)
        return leati_refuse(err, SHAPE,
                            "the pictures are a scalar; expected channels in the last dimension");
    int64_t channels = shape->rank > 0 ? shape->dims[shape->rank - 1] : -1;
    LEATI_TRY(check_list(&args->mean, "mean", channels, err));
    LEATI_TRY(check_list(&args->std, "std", channels, err));
    for (int32_t i = 0; i < args->std.count; i++)
        /* Refused here, as infinite pixels would only be found far behind. */
        if (args->std.values[i] == 0)
            return leati_refuse(err, VALUE, "std[%d] is 0; expected another number", (int)i);
    return LEAT_OK;
}

static leat_status normalize_infer(leati_infer_call *call, leat_error *err) {
    const leati_type *in = &call->inputs[0];
    if (in->dtype <= LEAT_BOOL || in->dtype > LEAT_FLOAT64)
        return leati_refuse(err, DTYPE, "the pictures are %s; expected numbers",
                            leat_dtype_name(in->dtype));
    LEATI_TRY(check(call->args, &in->shape, err));
    return leati_op_infer_output(call, is_float(in->dtype) ? in->dtype : LEAT_FLOAT32, &in->shape,
                                 NULL, err);
}

/* ---- rows ---- */

static void normalize_doubles(const double *from, const struct normalize_args *args,
                              int64_t channels, int64_t count, double *to) {
    for (int64_t i = 0; i < count; i++)
        to[i] =
            (from[i] - number_of(&args->mean, i % channels)) / number_of(&args->std, i % channels);
}

/* `mean` and `std` have `period` numbers, a multiple of the channels, so that the inner loop has a
 * constant length for the compiler. */
enum { PERIOD = 48 };

static void normalize_floats(const float *from, const float *mean, const float *std, int64_t period,
                             int64_t count, float *to) {
    int64_t i = 0;
    for (; period == PERIOD && i + PERIOD <= count; i += PERIOD)
        for (int k = 0; k < PERIOD; k++)
            /* Divided, not multiplied with a reciprocal: the result is that of the formula. */
            to[i + k] = (from[i + k] - mean[k]) / std[k];
    for (; i < count; i++)
        to[i] = (from[i] - mean[i % period]) / std[i % period];
}

/* `table` has 256 floats for each channel. */
static void look_up(const uint8_t *from, const float *table, int64_t channels, int64_t count,
                    float *to) {
    /* Most pictures: three lookups without an inner loop. */
    if (channels == 3) {
        for (int64_t i = 0; i + 3 <= count; i += 3) {
            to[i] = table[from[i]];
            to[i + 1] = table[256 + from[i + 1]];
            to[i + 2] = table[512 + from[i + 2]];
        }
        return;
    }
    for (int64_t i = 0; i < count; i += channels)
        for (int64_t c = 0; c < channels; c++)
            to[i + c] = table[256 * c + from[i + c]];
}

/* Numbers for the loop over floats, and of bytes the table behind them. */
static leat_status prepare(leati_kernel_call *call, int64_t channels, int64_t period, bool bytes,
                           float **out, leat_error *err) {
    const struct normalize_args *args = call->args;
    size_t size = (size_t)(2 * period + (bytes ? 256 * channels : 0)) * sizeof(float);
    float *numbers = leati_arena_alloc(call->arena, size);
    if (numbers == NULL)
        return leati_no_memory(err);
    for (int64_t i = 0; i < period; i++) {
        numbers[i] = (float)number_of(&args->mean, i % channels);
        numbers[period + i] = (float)number_of(&args->std, i % channels);
    }
    for (int64_t i = 0; bytes && i < 256 * channels; i++)
        /* i / 256 is the channel; a byte has 256 values, so all results are known beforehand. */
        numbers[2 * period + i] = ((float)(i % 256) - numbers[i / 256]) / numbers[period + i / 256];
    *out = numbers;
    return LEAT_OK;
}

static leat_status run_floats(leati_kernel_call *call, int64_t channels, leat_error *err) {
    leati_operand in = call->inputs[0], out = call->outputs[0];
    bool bytes = in.dtype == LEAT_UINT8;
    /* 48 is a multiple of 1, 2, 3 and 4 channels and of the floats in a vector. */
    int64_t period = PERIOD % channels == 0 ? PERIOD : channels;
    float *numbers = NULL;
    LEATI_TRY(prepare(call, channels, period, bytes, &numbers, err));
    if (!bytes && in.dtype != LEAT_FLOAT32)
        LEATI_TRY(leati_support_inner_cast(call, &call->inputs[0], LEAT_FLOAT32, &in, err));
    if (out.dtype != LEAT_FLOAT32) /* a narrow float, which was cast: computed in place */
        out = in;
    for (int64_t row = 0; row < call->n; row++) {
        float *to = (float *)(void *)leati_support_row_of(&out, row);
        const char *from = leati_support_row_of(&in, row);
        if (bytes)
            look_up((const uint8_t *)from, numbers + 2 * period, channels, in.count, to);
        else
            normalize_floats((const float *)(const void *)from, numbers, numbers + period, period,
                             in.count, to);
    }
    return out.dtype == call->outputs[0].dtype
               ? LEAT_OK
               : leati_support_inner_cast_into(call, &out, &call->outputs[0], err);
}

static leat_status normalize_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    LEATI_TRY(check(call->args, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    int64_t channels = shape.dims[shape.rank - 1];
    if (in->count == 0)
        return LEAT_OK;
    if (in->dtype != LEAT_FLOAT64)
        return run_floats(call, channels, err);
    for (int64_t row = 0; row < call->n; row++)
        normalize_doubles((const double *)(const void *)leati_support_row_of(in, row), call->args,
                          channels, in->count,
                          (double *)(void *)leati_support_row_of(&call->outputs[0], row));
    return LEAT_OK;
}

static leat_status normalize_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    double zero = 0;
    struct normalize_args args = *(const struct normalize_args *)call->args;
    /* dy / std is the operation itself with a mean of 0. */
    args.mean = (leati_floats){.values = &zero, .count = 1};
    if (is_float(leat_value_dtype(call->inputs[0])))
        call->input_gradients[0] =
            leati_graph_build1(&leati_tensor_op_image_normalize, &args, call->output_gradients[0]);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_image_normalize = {
    .name = "image_normalize",
    .version = 1,
    .doc = "(x - mean) / std for each channel of pictures; integers become float32 and keep their "
           "scale.",
    .names = "image.normalize",
    .inputs = "images",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = normalize_rows,
    .args_size = sizeof(struct normalize_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = normalize_infer,
    .kernel = normalize_kernel,
    .gradient = normalize_gradient,
};
