/* stateless_uniform: random numbers in [minval, maxval) (tf.random.stateless_uniform).
 *
 * The seed alone decides; see stateless.h. Integers are the remainder of 32 or 64 random bits by
 * the size of the range. Fails in inference on an unknown shape, in a run where integers have no
 * range. No gradient, no state, no locks. */
#include "graph/support/random/stateless.h"

static const leati_row stateless_uniform_rows[] = {
    LEATI_DRAW_ROWS("minval", "The lowest value.", "maxval", 1,
                    "The end of the range, not reached."),
    LEATI_ALG_ROW,
    {0}};

static bool is_integer(leat_dtype dtype) {
    return dtype == LEAT_INT32 || dtype == LEAT_INT64;
}

static leat_status stateless_uniform_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_random_args *args = call->args;
    if (!is_integer(args->dtype))
        return leati_stateless_infer(call, err);
    LEATI_TRY(leati_stateless_check_alg(args, err));
    LEATI_TRY(leati_stateless_want_seed(call, 0, true, err));
    return leati_support_infer_said(call, args->dtype, &args->shape, err);
}

static leat_status stateless_uniform_kernel(leati_kernel_call *call, leat_error *err) {
    const struct leati_random_args *args = call->args;
    uint64_t width = 0;
    int64_t low = 0;
    if (!is_integer(args->dtype))
        return leati_stateless_floats(call, LEATI_UNIFORM, err);
    LEATI_TRY(leati_random_integer_range(args->dtype, args->low, args->high, &low, &width, err));
    LEATI_TRY(leati_support_output_like(call, 0, &args->shape, err));
    const leati_operand *out = &call->outputs[0];
    for (int64_t row = 0; row < call->n; row++) {
        leati_philox stream;
        call->failed_row = row;
        LEATI_TRY(leati_stateless_stream(call, 0, true, row, &stream, err));
        leati_draw_integers(args->dtype, stream, low, width, out->count,
                            leati_support_row_of(out, row));
    }
    return LEAT_OK;
}

leat_value leat_op_stateless_uniform(leat_value seed, leat_shape shape, leat_dtype dtype,
                                     const leat_op_random_options *options) {
    bool given = options != NULL && (options->minval != 0 || options->maxval != 0);
    return leati_stateless_build(seed, &leati_tensor_op_stateless_uniform, shape, dtype,
                                 given ? options->minval : 0, given ? options->maxval : 1);
}

const leati_tensor_op leati_tensor_op_stateless_uniform = {
    .name = "stateless_uniform",
    .version = 1,
    .doc = "Random numbers in [minval, maxval) of a seed (tf.random.stateless_uniform).",
    .names = "random.stateless_uniform",
    .inputs = "seed",
    .signature = "shape seed minval=0 maxval=null dtype alg",
    .types = "Tseed",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = stateless_uniform_rows,
    .args_size = sizeof(struct leati_random_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = stateless_uniform_infer,
    .kernel = stateless_uniform_kernel,
};
