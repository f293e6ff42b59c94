/* random_uniform: random floats in [minval, maxval) (tf.random.uniform).
 *
 * TensorFlow's stream; see random.h. Fails in inference on an unknown shape. No state, no locks. */
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

static leat_status random_uniform_kernel(leati_kernel_call *call, leat_error *err) {
    const struct leati_random_args *args = call->args;
    LEATI_TRY(leati_output_like(call, 0, &args->shape, err));
    const leati_operand *out = &call->outputs[0];
    for (int64_t row = 0; row < call->n; row++)
        uniform_row(args, leati_random_stream(call, row), leati_row_of(out, row), out->count);
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
    .doc = "Random floats in [minval, maxval) (tf.random.uniform).",
    .names = "random.uniform",
    .signature = "shape minval maxval=null dtype seed",
    .rows = random_uniform_rows,
    .args_size = sizeof(struct leati_random_args),
    .flags = LEATI_RANDOM,
    .infer = leati_random_infer,
    .complete = leati_random_complete,
    .kernel = random_uniform_kernel,
};
