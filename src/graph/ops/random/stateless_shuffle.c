/* stateless_shuffle: rows, along the first dimension, in the order of a seed
 * (tf.random.experimental.stateless_shuffle).
 *
 * Fails on what is no seed. No gradient, no state, no locks. */
#include "graph/support/random/stateless.h"

static const leati_row stateless_shuffle_rows[] = {LEATI_ALG_ROW, {0}};

static leat_status stateless_shuffle_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_stateless_check_alg(call->args, err));
    LEATI_TRY(leati_stateless_want_seed(call, 1, false, err));
    return leati_sample_permute_infer(call, err);
}

static leat_status stateless_shuffle_kernel(leati_kernel_call *call, leat_error *err) {
    uint64_t blocks = 0;
    LEATI_TRY(leati_sample_permute_begin(call, &blocks, err));
    for (int64_t row = 0; row < call->n; row++) {
        leati_philox stream;
        call->failed_row = row;
        LEATI_TRY(leati_stateless_stream(call, 1, false, row, &stream, err));
        LEATI_TRY(leati_sample_permute_row(call, row, stream, err));
    }
    return LEAT_OK;
}

leat_value leat_op_stateless_shuffle(leat_value x, leat_value seed) {
    struct leati_random_args args = {.dtype = leat_value_dtype(x)};
    return leati_graph_build2(&leati_tensor_op_stateless_shuffle, &args, x, seed);
}

const leati_tensor_op leati_tensor_op_stateless_shuffle = {
    .name = "stateless_shuffle",
    .version = 1,
    .doc = "Rows, along the first dimension, in the order of a seed "
           "(tf.random.experimental.stateless_shuffle).",
    .names = "random.experimental.stateless_shuffle",
    .inputs = "value seed",
    .types = "T Tseed",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = stateless_shuffle_rows,
    .args_size = sizeof(struct leati_random_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = stateless_shuffle_infer,
    .kernel = stateless_shuffle_kernel,
};
