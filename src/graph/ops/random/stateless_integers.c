/* stateless_integers: integers of all bits (tf.random.stateless_uniform without bounds).
 *
 * The seed alone decides; see stateless.h. Fails in inference on other dtypes and on an unknown
 * shape. No gradient, no state, no locks. */
#include "graph/support/random/stateless.h"

static const leati_row stateless_integers_rows[] = {
    {.name = "shape",
     .type = LEATI_ROW_SHAPE,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct leati_random_args, shape),
     .doc = "The shape of the result, without unknown dimensions."},
    {.name = "dtype",
     .type = LEATI_ROW_DTYPE,
     .offset = offsetof(struct leati_random_args, dtype),
     .default_number = LEAT_INT32,
     .doc = "int32, int64, uint32 or uint64."},
    LEATI_ALG_ROW,
    {0}};

static leat_status stateless_integers_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_random_args *args = call->args;
    leat_dtype dtype = args->dtype;
    if (dtype != LEAT_INT32 && dtype != LEAT_INT64 && dtype != LEAT_UINT32 && dtype != LEAT_UINT64)
        return leati_refuse(err, DTYPE, "dtype is %s; expected int32, int64, uint32 or uint64",
                            leat_dtype_name(dtype));
    LEATI_TRY(leati_stateless_check_alg(args, err));
    LEATI_TRY(leati_stateless_want_seed(call, 0, true, err));
    return leati_support_infer_said(call, dtype, &args->shape, err);
}

static leat_status stateless_integers_kernel(leati_kernel_call *call, leat_error *err) {
    const struct leati_random_args *args = call->args;
    LEATI_TRY(leati_support_output_like(call, 0, &args->shape, err));
    const leati_operand *out = &call->outputs[0];
    for (int64_t row = 0; row < call->n; row++) {
        leati_philox stream;
        call->failed_row = row;
        LEATI_TRY(leati_stateless_stream(call, 0, true, row, &stream, err));
        leati_draw_integers(args->dtype, stream, 0, 0, out->count, leati_support_row_of(out, row));
    }
    return LEAT_OK;
}

leat_value leat_op_stateless_integers(leat_value seed, leat_shape shape, leat_dtype dtype) {
    return leati_stateless_build(seed, &leati_tensor_op_stateless_integers, shape, dtype, 0, 0);
}

const leati_tensor_op leati_tensor_op_stateless_integers = {
    .name = "stateless_integers",
    .version = 1,
    .doc = "Integers of all bits of a seed (tf.random.stateless_uniform without bounds).",
    .inputs = "seed",
    .types = "Tseed",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .rows = stateless_integers_rows,
    .args_size = sizeof(struct leati_random_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = stateless_integers_infer,
    .kernel = stateless_integers_kernel,
};
