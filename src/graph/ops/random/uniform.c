/* random_uniform, stateless_uniform: random numbers in [minval, maxval), and stateless_integers:
 * integers of all bits (tf.random.uniform, tf.random.stateless_uniform, and that without bounds).
 *
 * TensorFlow's stream, see random.h, or that of a seed, see stateless.h. Integers are the remainder
 * of 32 or 64 random bits by the size of the range; a range up to the dtype's largest number may be
 * given as the double next to it. They fail in inference on an unknown shape, in a run where
 * integers have no range. Nothing flows through them. No state, no locks. */
#include "graph/support/random/stateless.h"

/* Bounds of integers that were given as doubles; fails unless low < high within the dtype. */
static leat_status integer_range(leat_dtype dtype, double low, double high, int64_t *out_low,
                                 uint64_t *out_width, leat_error *err) {
    /* int64's end may be the double 2^63 itself, which stands for the number below it. */
    double limit = dtype == LEAT_INT32 ? 0x1p31 : 0x1p63;
    bool inside = low >= -limit && high <= (dtype == LEAT_INT32 ? limit - 1 : limit);
    if (!inside || !(low < high))
        return leati_refuse(err, VALUE, "need minval < maxval within %s; found %.17g and %.17g",
                            leat_dtype_name(dtype), low, high);
    /* 2^63 - 1 is no double; the one next to it stands for it. */
    int64_t end = high >= 0x1p63 ? INT64_MAX : (int64_t)high;
    *out_low = (int64_t)low;
    /* As unsigned: the whole range of int64 does not fit an int64. */
    *out_width = (uint64_t)end - (uint64_t)*out_low;
    return LEAT_OK;
}

/* ---- random_uniform ---- */
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
    /* The call borrows the changed copy as long as this check runs. */
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
    /* In the run, since bounds may be values that are computed there. */
    LEATI_TRY(integer_range(args->dtype, args->low, args->high, &low, &width, err));
    LEATI_TRY(leati_support_output_like(call, 0, &args->shape, err));
    const leati_operand *out = &call->outputs[0];
    for (int64_t row = 0; row < call->n; row++) {
        leati_philox stream;
        LEATI_TRY(leati_random_stream(call, &leati_tensor_op_random_uniform, row,
                                      (uint64_t)out->count * LEATI_BLOCKS_PER_VALUE, &stream, err));
        leati_random_draw_integers(args->dtype, stream, low, width, out->count,
                                   leati_support_row_of(out, row));
    }
    return LEAT_OK;
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

/* ---- stateless_uniform ---- */
static const leati_row stateless_uniform_rows[] = {
    LEATI_DRAW_ROWS("minval", "The lowest value.", "maxval", 1,
                    "The end of the range, not reached."),
    LEATI_ALG_ROW,
    {0}};

static leat_status stateless_uniform_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_random_args *args = call->args;
    if (!is_integer(args))
        return leati_stateless_infer(call, err);
    /* leati_stateless_infer would ask for a float dtype. */
    LEATI_TRY(leati_stateless_check_alg(args, err));
    LEATI_TRY(leati_stateless_want_seed(call, 0, true, err));
    return leati_support_infer_said(call, args->dtype, &args->shape, err);
}

static leat_status stateless_uniform_kernel(leati_kernel_call *call, leat_error *err) {
    const struct leati_random_args *args = call->args;
    uint64_t width = 0;
    int64_t low = 0;
    if (!is_integer(args))
        return leati_stateless_floats(call, LEATI_UNIFORM, err);
    /* The width is asked for once: all rows have one range. */
    LEATI_TRY(integer_range(args->dtype, args->low, args->high, &low, &width, err));
    LEATI_TRY(leati_support_output_like(call, 0, &args->shape, err));
    const leati_operand *out = &call->outputs[0];
    for (int64_t row = 0; row < call->n; row++) {
        leati_philox stream;
        call->failed_row = row;
        LEATI_TRY(leati_stateless_stream(call, 0, true, row, &stream, err));
        leati_random_draw_integers(args->dtype, stream, low, width, out->count,
                                   leati_support_row_of(out, row));
    }
    return LEAT_OK;
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

/* ---- stateless_integers ---- */
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
        /* No range: all bits, which is why unsigned dtypes are allowed here alone. */
        leati_random_draw_integers(args->dtype, stream, 0, 0, out->count,
                                   leati_support_row_of(out, row));
    }
    return LEAT_OK;
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
