/* random_normal: random floats of a normal distribution (tf.random.normal).
 *
 * Box-Muller over TensorFlow's stream; see random.h. Fails in inference on an unknown shape. No
 * state, no locks. */
#include "graph/support/random/random.h"

static const leati_row random_normal_rows[] =
    LEATI_RANDOM_ROWS("mean", "The mean.", "stddev", 1, "The standard deviation.");

static leat_status random_normal_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_random_floats(call, &leati_tensor_op_random_normal, LEATI_NORMAL, err);
}

leat_value leat_op_random_normal(leat_graph *graph, leat_shape shape, leat_dtype dtype,
                                 const leat_op_random_options *options) {
    return leati_random_normals(graph, &leati_tensor_op_random_normal, shape, dtype, options);
}

const leati_tensor_op leati_tensor_op_random_normal = {
    .name = "random_normal",
    .version = 1,
    .doc = "Random floats of a normal distribution (tf.random.normal).",
    .names = "random.normal",
    .types = "",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = random_normal_rows,
    .args_size = sizeof(struct leati_random_args),
    .flags = LEATI_RANDOM,
    .infer = leati_random_infer,
    .complete = leati_random_complete,
    .kernel = random_normal_kernel,
    .gradient = leati_op_gradient_none,
};
