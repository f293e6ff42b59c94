/* random_uniform: random numbers in [minval, maxval) (tf.random.uniform).
 *
 * TensorFlow's stream; see random.h. Integers are the remainder of 32 or 64 random bits by the size
 * of the range; a range up to the dtype's largest number may be given as the double next to it.
 * Fails in inference on an unknown shape, in a run where integers have no range. No state, no
 * locks. */
#include "graph/support/random/random.h"

static const leati_row random_uniform_rows[] = LEATI_RANDOM_ROWS(
    "minval", "The lowest value.", "maxval", 1, "The end of the range, not reached.");

static bool is_integer(const struct leati_random_args *args) {
    return args->dtype == LEAT_INT32 || args->dtype == LEAT_INT64;
}

static leat_status random_uniform_infer(leati_infer_call *call, leat_error *err) {
    struct leati_random_args floats = *(const struct leati_random_args *)call->args;
    const void *args = call->args;
    if (!is_integer(&floats))
        return leati_random_infer(call, err);
    floats.dtype = LEAT_FLOAT32; /* what is checked of integers is the same */
    call->args = &floats;
    leat_status status = leati_random_infer(call, err);
    call->args = args;
    if (status == LEAT_OK)
        call->outputs[call->num_outputs - 1].dtype =
            ((const struct leati_random_args *)args)->dtype;
    return status;
}

static leat_status random_uniform_kernel(leati_kernel_call *call, leat_error *err) {
    const struct leati_random_args *args = call->args;
    uint64_t width = 0;
    int64_t low = 0;
    if (!is_integer(args))
        return leati_random_floats(call, &leati_tensor_op_random_uniform, LEATI_UNIFORM, err);
    LEATI_TRY(leati_random_integer_range(args->dtype, args->low, args->high, &low, &width, err));
    LEATI_TRY(leati_support_output_like(call, 0, &args->shape, err));
    const leati_operand *out = &call->outputs[0];
    for (int64_t row = 0; row < call->n; row++) {
        leati_philox stream;
        LEATI_TRY(leati_random_stream(call, &leati_tensor_op_random_uniform, row,
                                      (uint64_t)out->count * LEATI_BLOCKS_PER_VALUE, &stream, err));
        leati_draw_integers(args->dtype, stream, low, width, out->count,
                            leati_support_row_of(out, row));
    }
    return LEAT_OK;
}

leat_value leat_op_random_uniform(leat_graph *graph, leat_shape shape, leat_dtype dtype,
                                  const leat_op_random_options *options) {
    struct leati_random_args args = {.shape = shape, .dtype = dtype, .high = 1};
    if (options != NULL && (options->minval != 0 || options->maxval != 0)) {
        args.low = options->minval;
        args.high = options->maxval;
    }
    return leati_random_build(graph, &leati_tensor_op_random_uniform, &args, options);
}

const leati_tensor_op leati_tensor_op_random_uniform = {
    .name = "random_uniform",
    .version = 1,
    .doc = "Random numbers in [minval, maxval) (tf.random.uniform).",
    .names = "random.uniform",
    .signature = "shape minval maxval=null dtype seed",
    .types = "",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = random_uniform_rows,
    .args_size = sizeof(struct leati_random_args),
    .flags = LEATI_RANDOM,
    .infer = random_uniform_infer,
    .complete = leati_random_complete,
    .kernel = random_uniform_kernel,
    .gradient = leati_op_gradient_none,
};
