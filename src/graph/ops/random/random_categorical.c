/* random_categorical: classes drawn by their unnormalised logarithms (tf.random.categorical).
 *
 * Draws from a stream of its own; see random.h. Fails where the logits are no matrix with classes.
 * No gradient, no state, no locks. */
#include "graph/support/random/sample.h"

static const leati_row random_categorical_rows[] = {LEATI_CATEGORICAL_ROWS, LEATI_SEED_ROWS};

static leat_status random_categorical_kernel(leati_kernel_call *call, leat_error *err) {
    uint64_t blocks = 0;
    LEATI_TRY(leati_sample_categorical_begin(call, &blocks, err));
    for (int64_t row = 0; row < call->n; row++) {
        leati_philox stream;
        LEATI_TRY(leati_random_stream(call, &leati_tensor_op_random_categorical, row, blocks,
                                      &stream, err));
        LEATI_TRY(leati_sample_categorical_row(call, row, stream, err));
    }
    return LEAT_OK;
}

leat_value leat_op_random_categorical(leat_value logits, int64_t num_samples, leat_dtype dtype,
                                      const leat_op_random_options *options) {
    struct leati_random_args args = {.num_samples = num_samples, .dtype = dtype};
    return leati_random_build_of(logits, &leati_tensor_op_random_categorical, &args, options);
}

const leati_tensor_op leati_tensor_op_random_categorical = {
    .name = "random_categorical",
    .version = 1,
    .doc = "Classes drawn by their unnormalised logarithms (tf.random.categorical).",
    .names = "random.categorical",
    .inputs = "logits",
    .signature = "logits num_samples dtype=null seed",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = random_categorical_rows,
    .args_size = sizeof(struct leati_random_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_RANDOM,
    .infer = leati_sample_categorical_infer,
    .complete = leati_random_complete,
    .kernel = random_categorical_kernel,
};
