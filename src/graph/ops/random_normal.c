/* random_normal: random floats of a normal distribution (tf.random.normal).
 *
 * Box-Muller over TensorFlow's stream; see random.h. float64 takes its two numbers of a block from
 * pairs of words. Fails in inference on an unknown shape. No state, no locks. */
#include "graph/ops/random.h"

#include <math.h>

static const leati_row random_normal_rows[] =
    LEATI_RANDOM_ROWS("mean", "The mean.", "stddev", 1, "The standard deviation.");

static void normal_block(const uint32_t words[4], double out[2]) {
    double u = leati_uniform_double(words[0], words[1]);
    double angle = 6.283185307179586 * leati_uniform_double(words[2], words[3]);
    double radius = sqrt(-2.0 * log(u < 1e-7 ? 1e-7 : u));
    out[0] = sin(angle) * radius;
    out[1] = cos(angle) * radius;
}

static void normal_row(const struct leati_random_args *args, leati_philox philox, char *to,
                       int64_t n) {
    float mean = (float)args->low, deviation = (float)args->high, single[4];
    uint32_t words[4];
    double wide[2];
    int64_t step = args->dtype == LEAT_FLOAT32 ? 4 : 2;
    for (int64_t i = 0; i < n; i += step) {
        leati_philox_next(&philox, words);
        if (args->dtype == LEAT_FLOAT32) {
            leati_normal_pair(words[0], words[1], single);
            leati_normal_pair(words[2], words[3], single + 2);
        } else {
            normal_block(words, wide);
        }
        for (int64_t k = 0; k < step && i + k < n; k++) {
            if (args->dtype == LEAT_FLOAT32)
                ((float *)to)[i + k] = single[k] * deviation + mean;
            else
                ((double *)to)[i + k] = wide[k] * args->high + args->low;
        }
    }
}

static leat_status random_normal_kernel(leati_kernel_call *call, leat_error *err) {
    const struct leati_random_args *args = call->args;
    LEATI_TRY(leati_output_like(call, 0, &args->shape, err));
    const leati_operand *out = &call->outputs[0];
    for (int64_t row = 0; row < call->n; row++) {
        leati_philox philox;
        LEATI_TRY(leati_random_stream(call, &leati_tensor_op_random_normal, row,
                                      (uint64_t)out->count * 256, &philox, err));
        normal_row(args, philox, leati_row_of(out, row), out->count);
    }
    return LEAT_OK;
}

leat_value leat_random_normal(leat_graph *graph, leat_shape shape, leat_dtype dtype,
                              const leat_random_options *options) {
    struct leati_random_args args = {.shape = shape, .dtype = dtype, .high = 1};
    if (options != NULL) {
        args.low = options->mean;
        args.high = options->stddev == 0 ? 1 : options->stddev;
    }
    return leati_random_build(graph, &leati_tensor_op_random_normal, &args, options);
}

const leati_tensor_op leati_tensor_op_random_normal = {
    .name = "random_normal",
    .version = 1,
    .doc = "Random floats of a normal distribution (tf.random.normal).",
    .names = "random.normal",
    .rows = random_normal_rows,
    .args_size = sizeof(struct leati_random_args),
    .flags = LEATI_RANDOM,
    .infer = leati_random_infer,
    .complete = leati_random_complete,
    .kernel = random_normal_kernel,
};
