/* reduce_all, reduce_any, reduce_max, reduce_mean, reduce_min, reduce_prod, reduce_sum: all values
 * of the named dimensions, or of all, made one (tf.math.reduce_all and so on). reduce_sum_squares:
 * the sum of their squares, for norms.
 *
 * Floats are summed in double, and a NaN wins; integers wrap, and their means are rounded towards
 * zero. Of no values, all holds and any does not, the sum is 0, the product 1, the mean of floats
 * NaN, the maximum the dtype's lowest and the minimum its highest. They fail where an axis is
 * outside the input, and in inference on other dtypes. No state, no locks. */
#include "core/tensor.h"
#include "graph/support/math/reduce.h"

static const leati_row reduce_rows[] = {
    {.name = "axis",
     .type = LEATI_ROW_INTS,
     .flags = LEATI_NONE | LEATI_TENSOR,
     .offset = offsetof(struct leati_reduce_args, axis),
     .doc = "The dimensions to reduce; none: all; an empty list: no dimension."},
    {.name = "keepdims",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct leati_reduce_args, keepdims),
     .doc = "Leave reduced dimensions as 1."},
    {0},
};

static leat_status reduce_infer(leati_infer_call *call, leat_error *err) {
    leat_dtype dtype = call->inputs[0].dtype;
    if (dtype <= LEAT_BOOL || dtype > LEAT_FLOAT64)
        return leati_refuse(err, DTYPE, "the input is %s; expected numbers (cast it)",
                            leat_dtype_name(dtype));
    return leati_reduce_infer_as(call, call->inputs[0].dtype, err);
}

/* Sums and products are of complex numbers, too. */
static leat_status infer_summed(leati_infer_call *call, leat_error *err) {
    leat_dtype dtype = call->inputs[0].dtype;
    return leati_dtype_is_complex(dtype) ? leati_reduce_infer_as(call, dtype, err)
                                         : reduce_infer(call, err);
}

static leat_status infer_float(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_support_want_float(call, 0, "the input", err));
    return leati_reduce_infer_as(call, call->inputs[0].dtype, err);
}

static leat_status infer_bool(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_BOOL, "the input", err));
    return leati_reduce_infer_as(call, call->inputs[0].dtype, err);
}

static leat_status reduce_kernel(leati_kernel_call *call, leati_reduce_kind kind, leat_error *err) {
    const struct leati_reduce_args *args = call->args;
    leat_shape in = leati_support_operand_shape(&call->inputs[0]);
    bool mask[LEAT_MAX_RANK];
    LEATI_TRY(leati_reduce_mask(&args->axis, in.rank, mask, err));
    leat_shape shape = leati_reduce_shape(&in, mask, args->keepdims);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    return leati_reduce(call, mask, kind, err);
}

/* ---- gradients ---- */
/* `value`, a result of the node, with its reduced dimensions back as 1. */
static leat_status reduce_expand(const leati_gradient_call *call, leat_value value, leat_value *out,
                                 leat_error *err) {
    const struct leati_reduce_args *args = call->args;
    leat_shape in = leat_value_shape(call->inputs[0]);
    *out = value;
    /* A result of all dimensions is a scalar, which broadcasts as it is. */
    if (args->keepdims || args->axis.values == NULL)
        return LEAT_OK;
    if (in.rank < 0)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "the gradient over named axes needs the input's rank; set it with "
                          "ensure_shape, or reduce with keepdims");
    bool mask[LEAT_MAX_RANK];
    LEATI_TRY(leati_reduce_mask(&args->axis, in.rank, mask, err));
    for (int32_t d = 0; d < in.rank; d++)
        if (mask[d])
            *out = leat_op_expand_dims(*out, d);
    return LEAT_OK;
}

/* Values that tie share it. */
static leat_status extreme_gradient(leati_gradient_call *call, leat_error *err) {
    const struct leati_reduce_args *args = call->args;
    leat_value x = call->inputs[0], g, top;
    LEATI_TRY(reduce_expand(call, call->output_gradients[0], &g, err));
    LEATI_TRY(reduce_expand(call, call->outputs[0], &top, err));
    leat_value chosen = leat_op_cast(leat_op_equal(x, top), leat_value_dtype(x));
    /* Named dimensions are kept as 1, so that the counts broadcast like the gradient. */
    leat_value ties =
        leat_op_reduce_sum(chosen, args->axis.values, args->axis.count, args->axis.values != NULL);
    call->input_gradients[0] = leat_op_multiply(chosen, leat_op_divide(g, ties));
    return LEAT_OK;
}

/* The gradient divided by how many values each mean has: a number where shapes say so, else
 * computed in the run. */
static leat_value share(leat_value g, leat_value x, leat_value y) {
    leat_shape in = leat_value_shape(x), out = leat_value_shape(y);
    int64_t many = leati_shape_count(&in), few = leati_shape_count(&out);
    leat_dtype dtype = leat_value_dtype(g);
    if (many > 0 && few > 0) {
        int64_t each = many / few;
        return leat_op_divide(g, leati_support_number(g.graph, dtype, (double)each));
    }
    leat_value ratio = leat_op_divide(leat_op_cast(leat_op_size(x, LEAT_INT64), dtype),
                                      leat_op_cast(leat_op_size(y, LEAT_INT64), dtype));
    return leat_op_divide(g, ratio);
}

static leat_status reduce_mean_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value g = share(call->output_gradients[0], call->inputs[0], call->outputs[0]);
    LEATI_TRY(reduce_expand(call, g, &g, err));
    call->input_gradients[0] = leat_op_broadcast_like(g, call->inputs[0]);
    return LEAT_OK;
}

/* What flows to each value: the gradient times the product of all others, which is made of those
 * before and behind it, one dimension after the other, so that zeros divide nothing. */
static leat_status reduce_prod_gradient(leati_gradient_call *call, leat_error *err) {
    const struct leati_reduce_args *args = call->args;
    leat_value x = leati_support_conjugate(call->inputs[0]), gradient, steps[LEAT_MAX_RANK];
    int32_t rank = leat_value_shape(x).rank, count = 0;
    bool mask[LEAT_MAX_RANK] = {false};
    if (rank < 0)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "the input's rank is not known; give it one with ensure_shape");
    LEATI_TRY(leati_reduce_mask(&args->axis, rank, mask, err));
    LEATI_TRY(reduce_expand(call, call->output_gradients[0], &gradient, err));
    for (int32_t d = 0; d < rank; d++) {
        if (!mask[d])
            continue;
        leat_value before = leat_op_cumprod(x, d, true, false),
                   behind = leat_op_cumprod(x, d, true, true);
        steps[count++] = leat_op_multiply(before, behind);
        /* What was reduced so far is one factor for the dimensions that follow. */
        x = leat_op_reduce_prod(x, (int64_t[]){d}, 1, true);
    }
    /* Backwards, each factor brings back the dimension that its step reduced. */
    while (count > 0)
        gradient = leat_op_multiply(gradient, steps[--count]);
    call->input_gradients[0] = gradient;
    return LEAT_OK;
}

static leat_status reduce_sum_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value g;
    LEATI_TRY(reduce_expand(call, call->output_gradients[0], &g, err));
    call->input_gradients[0] = leat_op_broadcast_like(g, call->inputs[0]);
    return LEAT_OK;
}

static leat_status squares_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value g = call->output_gradients[0];
    LEATI_TRY(reduce_expand(call, leat_op_add(g, g), &g, err));
    call->input_gradients[0] = leat_op_multiply(call->inputs[0], g);
    return LEAT_OK;
}

/* ---- kernel, builder and descriptor of each ---- */
#define REDUCTION(OP, KIND, ...)                                                                   \
    static leat_status OP##_kernel(leati_kernel_call *call, leat_error *err) {                     \
        return reduce_kernel(call, KIND, err);                                                     \
    }                                                                                              \
    const leati_tensor_op leati_tensor_op_##OP = {                                                 \
        .name = #OP,                                                                               \
        .version = 1,                                                                              \
        .inputs = "input_tensor",                                                                  \
        .outputs = "output",                                                                       \
        .checks = LEATI_CHECKS_IN_KERNEL,                                                          \
        .rows = reduce_rows,                                                                       \
        .args_size = sizeof(struct leati_reduce_args),                                             \
        .min_inputs = 1,                                                                           \
        .max_inputs = 1,                                                                           \
        .kernel = OP##_kernel,                                                                     \
        __VA_ARGS__,                                                                               \
    };
#define REDUCE_BOOL .types = "bool", .halves = LEATI_HALVES_NONE, .infer = infer_bool
#define REDUCE_NUMBER .types = "T", .halves = LEATI_HALVES_OWN, .infer = reduce_infer
#define REDUCE_SUMMED .types = "T", .halves = LEATI_HALVES_OWN, .infer = infer_summed
REDUCTION(
    reduce_all, LEATI_REDUCE_MIN, REDUCE_BOOL,
    .doc = "Whether all booleans hold over the named dimensions, or all (tf.math.reduce_all).",
    .names = "math.reduce_all reduce_all")
REDUCTION(
    reduce_any, LEATI_REDUCE_MAX, REDUCE_BOOL,
    .doc = "Whether any boolean holds over the named dimensions, or all (tf.math.reduce_any).",
    .names = "math.reduce_any reduce_any")
REDUCTION(reduce_max, LEATI_REDUCE_MAX, REDUCE_NUMBER,
          .doc = "The maximum over the named dimensions, or all (tf.math.reduce_max).",
          .names = "math.reduce_max reduce_max", .gradient = extreme_gradient)
REDUCTION(reduce_mean, LEATI_REDUCE_MEAN, REDUCE_SUMMED,
          .doc = "The mean over the named dimensions, or all (tf.math.reduce_mean).",
          .names = "math.reduce_mean reduce_mean", .gradient = reduce_mean_gradient)
REDUCTION(reduce_min, LEATI_REDUCE_MIN, REDUCE_NUMBER,
          .doc = "The minimum over the named dimensions, or all (tf.math.reduce_min).",
          .names = "math.reduce_min reduce_min", .gradient = extreme_gradient)
REDUCTION(reduce_prod, LEATI_REDUCE_PROD, REDUCE_SUMMED,
          .doc = "The product over the named dimensions, or all (tf.math.reduce_prod).",
          .names = "math.reduce_prod reduce_prod", .gradient = reduce_prod_gradient)
REDUCTION(reduce_sum, LEATI_REDUCE_SUM, REDUCE_SUMMED,
          .doc = "The sum over the named dimensions, or all (tf.math.reduce_sum).",
          .names = "math.reduce_sum reduce_sum", .gradient = reduce_sum_gradient)

static leat_status squares_kernel(leati_kernel_call *call, leat_error *err) {
    return reduce_kernel(call, LEATI_REDUCE_SQUARES, err);
}

const leati_tensor_op leati_tensor_op_reduce_sum_squares = {
    .name = "reduce_sum_squares",
    .version = 1,
    .doc = "The sum of squares over the named dimensions, or all (for norms).",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_FLOAT,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = reduce_rows,
    .args_size = sizeof(struct leati_reduce_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = infer_float,
    .kernel = squares_kernel,
    .gradient = squares_gradient,
};
