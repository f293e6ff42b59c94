/* seed_fold_in, seed_split: a seed of another and an integer, and many seeds of one
 * (tf.random.fold_in, tf.random.split).
 *
 * Of a seed that is folded, the first number is drawn, the second the integer; both have its dtype.
 * They fail on what is no seed. No gradient, no state, no locks. */
#include "graph/support/random/stateless.h"

#include <string.h>

static const leati_row seed_fold_in_rows[] = {LEATI_ALG_ROW, {0}};

static leat_status seed_fold_in_infer(leati_infer_call *call, leat_error *err) {
    leat_shape shape = LEAT_SHAPE(2);
    LEATI_TRY(leati_stateless_check_alg(call->args, err));
    LEATI_TRY(leati_stateless_want_seed(call, 0, false, err));
    LEATI_TRY(leati_support_want_index(call, 1, "data", err));
    LEATI_TRY(leati_support_want_rank(call, 1, 0, "data", err));
    /* The new seed has the integer's dtype, as the integer stands in it unchanged. */
    return leati_op_infer_output(call, call->inputs[1].dtype, &shape, NULL, err);
}

static leat_status seed_fold_in_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape shape = LEAT_SHAPE(2);
    if (call->inputs[1].rank != 0)
        return leati_refuse(err, SHAPE, "data has rank %d; expected a scalar",
                            (int)call->inputs[1].rank);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    const leati_operand *out = &call->outputs[0];
    size_t size = leat_dtype_size(out->dtype);
    for (int64_t row = 0; row < call->n; row++) {
        leati_philox stream;
        call->failed_row = row;
        LEATI_TRY(leati_stateless_stream(call, 0, false, row, &stream, err));
        /* Width 0: all bits of the word. */
        leati_draw_integers(out->dtype, stream, 0, 0, 1, leati_support_row_of(out, row));
        /* The integer itself is the second number, so no two integers give one seed. */
        memcpy(leati_support_row_of(out, row) + size, leati_support_row_of(&call->inputs[1], row),
               size);
    }
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_seed_fold_in = {
    .name = "seed_fold_in",
    .version = 1,
    .doc = "A seed of another and an integer (tf.random.fold_in).",
    .names = "random.fold_in random.experimental.stateless_fold_in",
    .inputs = "seed data",
    .types = "Tseed Tindices",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = seed_fold_in_rows,
    .args_size = sizeof(struct leati_random_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = seed_fold_in_infer,
    .kernel = seed_fold_in_kernel,
};

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
    /* Any algorithm that TensorFlow's CPU has is Philox; the argument is checked and not used. */
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
