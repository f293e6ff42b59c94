/* stateless_normal: random floats of a normal distribution
 * (tf.random.stateless_normal).
 *
 * The seed alone decides; see stateless.h. Fails in inference on an unknown shape. No gradient,
 * no state, no locks. */
#include "graph/support/random/stateless.h"

static const leati_row stateless_normal_rows[] = {
    LEATI_DRAW_ROWS("mean", "The mean.", "stddev", 1, "The standard deviation."),
    LEATI_ALG_ROW,
    {0}};

static leat_status stateless_normal_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_stateless_floats(call, LEATI_NORMAL, err);
}

leat_value leat_op_stateless_normal(leat_value seed, leat_shape shape, leat_dtype dtype,
                                    const leat_op_random_options *options) {
    double mean = options != NULL ? options->mean : 0;
    double stddev = options != NULL && options->stddev != 0 ? options->stddev : 1;
    return leati_stateless_build(seed, &leati_tensor_op_stateless_normal, shape, dtype, mean,
                                 stddev);
}

const leati_tensor_op leati_tensor_op_stateless_normal = {
    .name = "stateless_normal",
    .version = 1,
    .doc = "Random floats of a normal distribution of a seed "
           "(tf.random.stateless_normal).",
    .names = "random.stateless_normal",
    .inputs = "seed",
    .signature = "shape seed mean stddev dtype alg",
    .types = "Tseed",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = stateless_normal_rows,
    .args_size = sizeof(struct leati_random_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = leati_stateless_infer,
    .kernel = stateless_normal_kernel,
};
