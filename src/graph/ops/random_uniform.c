/* random_uniform: random numbers in [minval, maxval) (tf.random.uniform).
 *
 * TensorFlow's stream; see random.h. Integers are the remainder of 32 or 64 random bits by the size
 * of the range. Fails in inference on an unknown shape, in a run where integers have no range. No
 * state, no locks. */
#include "graph/ops/random.h"

static const leati_row random_uniform_rows[] = LEATI_RANDOM_ROWS(
    "minval", "The lowest value.", "maxval", 1, "The end of the range, not reached.");

static void uniform_row(const struct leati_random_args *args, leati_philox philox, char *to,
                        int64_t n) {
    float low = (float)args->low, width = (float)args->high - low;
    double wide_width = args->high - args->low;
    uint32_t words[4];
    int64_t step = args->dtype == LEAT_FLOAT32 ? 4 : 2;
    for (int64_t i = 0; i < n; i += step) {
        leati_philox_next(&philox, words);
        for (int64_t k = 0; k < step && i + k < n; k++) {
            if (args->dtype == LEAT_FLOAT32)
                ((float *)to)[i + k] = leati_uniform_float(words[k]) * width + low;
            else
                ((double *)to)[i + k] =
                    leati_uniform_double(words[2 * k], words[2 * k + 1]) * wide_width + args->low;
        }
    }
}

/* Two words make one int64, one an int32; each step of the stream has four. */
static void integer_row(const struct leati_random_args *args, leati_philox philox, char *to,
                        int64_t n) {
    int64_t low = (int64_t)args->low, high = (int64_t)args->high;
    uint64_t width = (uint64_t)high - (uint64_t)low;
    uint32_t words[4];
    bool narrow = args->dtype == LEAT_INT32;
    for (int64_t i = 0; i < n;) {
        leati_philox_next(&philox, words);
        for (int k = 0; k < 4 && i < n; k += narrow ? 1 : 2, i++) {
            uint64_t bits = narrow ? words[k] : (uint64_t)words[k + 1] << 32 | words[k];
            int64_t value = (int64_t)((uint64_t)low + bits % width);
            if (narrow)
                ((int32_t *)(void *)to)[i] = (int32_t)value;
            else
                ((int64_t *)(void *)to)[i] = value;
        }
    }
}

static bool is_integer(const struct leati_random_args *args) {
    return args->dtype == LEAT_INT32 || args->dtype == LEAT_INT64;
}

static leat_status random_uniform_infer(leati_infer_call *call, leat_error *err) {
    struct leati_random_args floats = *(const struct leati_random_args *)call->args;
    const void *args = call->args;
    if (!is_integer(&floats))
        return leati_random_infer(call, err);
    floats.dtype = LEAT_FLOAT32; /* what is checked of integers is the same */
    call->args = &floats;
    leat_status status = leati_random_infer(call, err);
    call->args = args;
    if (status == LEAT_OK)
        call->outputs[call->num_outputs - 1].dtype =
            ((const struct leati_random_args *)args)->dtype;
    return status;
}

static leat_status check_range(const struct leati_random_args *args, leat_error *err) {
    double limit = args->dtype == LEAT_INT32 ? 2147483648.0 : 9223372036854775808.0;
    if (args->low < args->high && args->low >= -limit && args->high <= limit - 1)
        return LEAT_OK;
    return leati_fail(err, LEAT_INVALID_ARGUMENT,
                      "need minval < maxval within %s; found %.17g and %.17g",
                      leat_dtype_name(args->dtype), args->low, args->high);
}

static leat_status random_uniform_kernel(leati_kernel_call *call, leat_error *err) {
    const struct leati_random_args *args = call->args;
    if (is_integer(args))
        LEATI_TRY(check_range(args, err));
    LEATI_TRY(leati_output_like(call, 0, &args->shape, err));
    const leati_operand *out = &call->outputs[0];
    for (int64_t row = 0; row < call->n; row++) {
        leati_philox philox;
        LEATI_TRY(leati_random_stream(call, &leati_tensor_op_random_uniform, row,
                                      (uint64_t)out->count * 256, &philox, err));
        (is_integer(args) ? integer_row : uniform_row)(args, philox, leati_row_of(out, row),
                                                       out->count);
    }
    return LEAT_OK;
}

leat_value leat_random_uniform(leat_graph *graph, leat_shape shape, leat_dtype dtype,
                               const leat_random_options *options) {
    struct leati_random_args args = {.shape = shape, .dtype = dtype, .high = 1};
    if (options != NULL && (options->minval != 0 || options->maxval != 0)) {
        args.low = options->minval;
        args.high = options->maxval;
    }
    return leati_random_build(graph, &leati_tensor_op_random_uniform, &args, options);
}

const leati_tensor_op leati_tensor_op_random_uniform = {
    .name = "random_uniform",
    .version = 1,
    .doc = "Random numbers in [minval, maxval) (tf.random.uniform).",
    .names = "random.uniform",
    .signature = "shape minval maxval=null dtype seed",
    .rows = random_uniform_rows,
    .args_size = sizeof(struct leati_random_args),
    .flags = LEATI_RANDOM,
    .infer = random_uniform_infer,
    .complete = leati_random_complete,
    .kernel = random_uniform_kernel,
};
