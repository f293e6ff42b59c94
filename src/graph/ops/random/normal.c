/* random_normal, random_truncated_normal, stateless_normal, stateless_truncated_normal: random
 * floats of a normal distribution, or of one without its tails (tf.random.normal and so on).
 *
 * Box-Muller over TensorFlow's stream, see random.h, or over that of a seed, see stateless.h. Of
 * truncated ones, what lies two deviations or more from the mean is drawn again; see core/draw.h.
 * They fail in inference on an unknown shape. Nothing flows through them. No state, no locks. */
#include "graph/support/random/stateless.h"

/* Same rows, but for the seed: the random ones have it as an attribute, the others as input 0. */
static const leati_row random_rows[] =
    LEATI_RANDOM_ROWS("mean", "The mean.", "stddev", 1, "The standard deviation.");
static const leati_row stateless_rows[] = {
    LEATI_DRAW_ROWS("mean", "The mean.", "stddev", 1, "The standard deviation."),
    LEATI_ALG_ROW,
    {0}};

#define NORMAL(OP, ...)                                                                            \
    const leati_tensor_op leati_tensor_op_##OP = {                                                 \
        .name = #OP,                                                                               \
        .version = 1,                                                                              \
        .outputs = "output",                                                                       \
        .halves = LEATI_HALVES_OWN,                                                                \
        .checks = LEATI_CHECKS_IN_KERNEL,                                                          \
        .args_size = sizeof(struct leati_random_args),                                             \
        .kernel = OP##_kernel,                                                                     \
        __VA_ARGS__,                                                                               \
    };
#define RANDOM(OP, DISTRIBUTION, ...)                                                              \
    static leat_status OP##_kernel(leati_kernel_call *call, leat_error *err) {                     \
        return leati_random_floats(call, &leati_tensor_op_##OP, DISTRIBUTION, err);                \
    }                                                                                              \
    NORMAL(OP, .types = "", .rows = random_rows, .flags = LEATI_RANDOM,                            \
           .infer = leati_random_infer, .complete = leati_random_complete,                         \
           .gradient = leati_op_gradient_none, __VA_ARGS__)
#define STATELESS(OP, DISTRIBUTION, ...)                                                           \
    static leat_status OP##_kernel(leati_kernel_call *call, leat_error *err) {                     \
        return leati_stateless_floats(call, DISTRIBUTION, err);                                    \
    }                                                                                              \
    NORMAL(OP, .inputs = "seed", .signature = "shape seed mean stddev dtype alg",                  \
           .types = "Tseed", .rows = stateless_rows, .min_inputs = 1, .max_inputs = 1,             \
           .infer = leati_stateless_infer, __VA_ARGS__)
/* The flag says that each call draws anew; a stateless node is a plain function of its seed. */
RANDOM(random_normal, LEATI_NORMAL,
       .doc = "Random floats of a normal distribution (tf.random.normal).",
       .names = "random.normal")
RANDOM(
    random_truncated_normal, LEATI_TRUNCATED_NORMAL,
    .doc = "Random floats of a normal distribution without its tails (tf.random.truncated_normal).",
    .names = "random.truncated_normal")
STATELESS(stateless_normal, LEATI_NORMAL,
          .doc = "Random floats of a normal distribution of a seed (tf.random.stateless_normal).",
          .names = "random.stateless_normal")
STATELESS(stateless_truncated_normal, LEATI_TRUNCATED_NORMAL,
          .doc = "Random floats of a normal distribution without its tails of a seed "
                 "(tf.random.stateless_truncated_normal).",
          .names = "random.stateless_truncated_normal")
