/* stateless_categorical: classes drawn by their unnormalised logarithms
 * (tf.random.stateless_categorical).
 *
 * The seed alone decides. Fails where the logits are no matrix with classes. No gradient, no state,
 * no locks. */
#include "graph/support/random/stateless.h"

static const leati_row stateless_categorical_rows[] = {LEATI_CATEGORICAL_ROWS, {0}};

static leat_status stateless_categorical_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_stateless_want_seed(call, 1, false, err));
    return leati_sample_categorical_infer(call, err);
}

static leat_status stateless_categorical_kernel(leati_kernel_call *call, leat_error *err) {
    uint64_t blocks = 0;
    LEATI_TRY(leati_sample_categorical_begin(call, &blocks, err));
    for (int64_t row = 0; row < call->n; row++) {
        leati_philox stream;
        call->failed_row = row;
        LEATI_TRY(leati_stateless_stream(call, 1, false, row, &stream, err));
        LEATI_TRY(leati_sample_categorical_row(call, row, stream, err));
    }
    return LEAT_OK;
}

leat_value leat_op_stateless_categorical(leat_value logits, leat_value seed, int64_t num_samples,
                                         leat_dtype dtype) {
    struct leati_random_args args = {.num_samples = num_samples, .dtype = dtype};
    return leati_graph_build2(&leati_tensor_op_stateless_categorical, &args, logits, seed);
}

const leati_tensor_op leati_tensor_op_stateless_categorical = {
    .name = "stateless_categorical",
    .version = 1,
    .doc = "Classes drawn by their unnormalised logarithms (tf.random.stateless_categorical).",
    .names = "random.stateless_categorical",
    .inputs = "logits seed",
    .signature = "logits num_samples seed dtype",
    .types = "T Tseed",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = stateless_categorical_rows,
    .args_size = sizeof(struct leati_random_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = stateless_categorical_infer,
    .kernel = stateless_categorical_kernel,
};
