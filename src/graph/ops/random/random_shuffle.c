/* random_shuffle: rows, along the first dimension, in a random order (tf.random.shuffle).
 *
 * Draws from a stream of its own; see random.h. No gradient, no state, no locks. */
#include "graph/support/random/sample.h"

static const leati_row random_shuffle_rows[] = {LEATI_SEED_ROWS};

static leat_status random_shuffle_kernel(leati_kernel_call *call, leat_error *err) {
    uint64_t blocks = 0;
    LEATI_TRY(leati_sample_permute_begin(call, &blocks, err));
    for (int64_t row = 0; row < call->n; row++) {
        leati_philox stream;
        LEATI_TRY(
            leati_random_stream(call, &leati_tensor_op_random_shuffle, row, blocks, &stream, err));
        LEATI_TRY(leati_sample_permute_row(call, row, stream, err));
    }
    return LEAT_OK;
}

leat_value leat_op_random_shuffle(leat_value x, const leat_op_random_options *options) {
    struct leati_random_args args = {.dtype = leat_value_dtype(x)};
    return leati_random_build_of(x, &leati_tensor_op_random_shuffle, &args, options);
}

const leati_tensor_op leati_tensor_op_random_shuffle = {
    .name = "random_shuffle",
    .version = 1,
    .doc = "Rows, along the first dimension, in a random order (tf.random.shuffle).",
    .names = "random.shuffle",
    .inputs = "value",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = random_shuffle_rows,
    .args_size = sizeof(struct leati_random_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_RANDOM,
    .infer = leati_sample_permute_infer,
    .complete = leati_random_complete,
    .kernel = random_shuffle_kernel,
};
