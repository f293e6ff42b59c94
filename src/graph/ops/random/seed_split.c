/* seed_split: many seeds of one (tf.random.split).
 *
 * Fails on what is no seed. No gradient, no state, no locks. */
#include "graph/support/random/stateless.h"

static const leati_row seed_split_rows[] = {
    {.name = "num",
     .type = LEATI_ROW_INT,
     .flags = LEATI_TENSOR,
     .offset = offsetof(struct leati_random_args, num_samples),
     .default_number = 2,
     .maximum = INT32_MAX,
     .doc = "How many seeds."},
    LEATI_ALG_ROW,
    {0}};

static leat_status seed_split_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_random_args *args = call->args;
    leat_shape shape = {.rank = 2,
                        .dims = {call->unknown ? LEAT_UNKNOWN_DIM : args->num_samples, 2}};
    LEATI_TRY(leati_stateless_check_alg(args, err));
    LEATI_TRY(leati_stateless_want_seed(call, 0, false, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

static leat_status seed_split_kernel(leati_kernel_call *call, leat_error *err) {
    const struct leati_random_args *args = call->args;
    leat_shape shape = {.rank = 2, .dims = {args->num_samples, 2}};
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    const leati_operand *out = &call->outputs[0];
    for (int64_t row = 0; row < call->n; row++) {
        leati_philox stream;
        call->failed_row = row;
        LEATI_TRY(leati_stateless_stream(call, 0, false, row, &stream, err));
        leati_draw_integers(out->dtype, stream, 0, 0, out->count, leati_support_row_of(out, row));
    }
    return LEAT_OK;
}

leat_value leat_op_seed_split(leat_value seed, int64_t num) {
    struct leati_random_args args = {.num_samples = num, .dtype = LEAT_INT32};
    return leati_graph_build1(&leati_tensor_op_seed_split, &args, seed);
}

const leati_tensor_op leati_tensor_op_seed_split = {
    .name = "seed_split",
    .version = 1,
    .doc = "Many seeds of one (tf.random.split).",
    .names = "random.split random.experimental.stateless_split",
    .inputs = "seed",
    .types = "Tseed",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = seed_split_rows,
    .args_size = sizeof(struct leati_random_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = seed_split_infer,
    .kernel = seed_split_kernel,
};
