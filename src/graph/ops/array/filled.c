/* ones, zeros, ones_like, zeros_like: tensors of ones (true) or zeros (false, empty strings), of a
 * shape or of that and the dtype of another tensor (tf.ones and so on). Nothing flows through them.
 *
 * They fail where a dimension is unknown, and of ones on strings. No state, no locks. */
#include "graph/support/array/moving.h"
#include "graph/support/math/elementwise.h"

struct filled_args {
    leat_shape shape;
    leat_dtype dtype;
};

static const leati_row filled_rows[] = {
    {.name = "shape",
     .type = LEATI_ROW_SHAPE,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct filled_args, shape),
     .doc = "The shape of the result, without unknown dimensions."},
    {.name = "dtype",
     .type = LEATI_ROW_DTYPE,
     .offset = offsetof(struct filled_args, dtype),
     .default_number = LEAT_FLOAT32,
     .doc = "The dtype of the result."},
    {0},
};

static leat_status filled_infer(leati_infer_call *call, leat_error *err) {
    const struct filled_args *args = call->args;
    if (args->dtype <= LEAT_INVALID || args->dtype == LEAT_OBJECT)
        return leati_refuse(err, DTYPE, "dtype is %s; expected one of values",
                            leat_dtype_name(args->dtype));
    return leati_support_infer_said(call, args->dtype, &args->shape, err);
}

/* Fills output 0 with `number`; strings are empty where it is 0. */
static leat_status filled_kernel(leati_kernel_call *call, double number, leat_error *err) {
    const struct filled_args *args = call->args;
    LEATI_TRY(leati_support_output_like(call, 0, &args->shape, err));
    const leati_operand *out = &call->outputs[0];
    size_t size = leat_dtype_size(out->dtype);
    /* All bytes 0 are the zero of every dtype, and the empty string. */
    _Alignas(8) char value[16] = {0};
    if (number != 0 && !leati_support_store_number(out->dtype, number, value))
        return leati_refuse(err, DTYPE, "a %s is no number", leat_dtype_name(out->dtype));
    for (int64_t row = 0; row < call->n; row++)
        leati_moving_fill(leati_support_row_of(out, row), out->count, value, size);
    return LEAT_OK;
}

static leat_status ones_infer(leati_infer_call *call, leat_error *err) {
    const struct filled_args *args = call->args;
    if (args->dtype == LEAT_STRING)
        return leati_refuse(err, VALUE, "dtype is string; expected a number or bool");
    return filled_infer(call, err);
}

static leat_status ones_kernel(leati_kernel_call *call, leat_error *err) {
    return filled_kernel(call, 1, err);
}

static leat_status zeros_kernel(leati_kernel_call *call, leat_error *err) {
    return filled_kernel(call, 0, err);
}

LEATI_LANE1(ones_like_bool, bool, bool, bool, ((void)x, true))
LEATI_LANES1_SIGNED(ones_like, ((void)x, 1))
LEATI_LANES1_UNSIGNED(ones_like, ((void)x, 1u))
LEATI_LANES1_FLOAT(ones_like, ((void)x, 1.0f), ((void)x, 1.0))
LEATI_LANES1_COMPLEX(ones_like, ((void)x, 1.0f), ((void)x, 1.0))
LEATI_ELEMENTWISE_TABLE(ones_like, leati_op_infer_same, NULL, LEATI_TABLE_NUMBER(ones_like),
                        LEATI_TABLE_COMPLEX(ones_like), [LEAT_BOOL] = ones_like_bool)

static leat_status zeros_like_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_support_want_values(call, 0, err));
    return leati_op_infer_same(call, err);
}

static leat_status zeros_like_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    const leati_operand *out = &call->outputs[0];
    int64_t bytes = out->count * (int64_t)leat_dtype_size(out->dtype);
    for (int64_t row = 0; row < call->n && bytes > 0; row++)
        leati_moving_fill(leati_support_row_of(out, row), bytes, "", 1);
    return LEAT_OK;
}

#define FILLED(OP, ...)                                                                            \
    const leati_tensor_op leati_tensor_op_##OP = {                                                 \
        .name = #OP,                                                                               \
        .version = 1,                                                                              \
        .names = #OP,                                                                              \
        .signature = "shape dtype name layout=null",                                               \
        .types = "",                                                                               \
        .outputs = "output",                                                                       \
        .halves = LEATI_HALVES_OWN,                                                                \
        .checks = LEATI_CHECKS_IN_KERNEL,                                                          \
        .rows = filled_rows,                                                                       \
        .args_size = sizeof(struct filled_args),                                                   \
        .kernel = OP##_kernel,                                                                     \
        __VA_ARGS__,                                                                               \
    };
FILLED(ones, .doc = "A tensor of ones (tf.ones).", .infer = ones_infer)
FILLED(zeros, .doc = "A tensor of zeros (tf.zeros).", .infer = filled_infer)

#define FILLED_LIKE(OP, ...)                                                                       \
    const leati_tensor_op leati_tensor_op_##OP = {                                                 \
        .name = #OP,                                                                               \
        .version = 1,                                                                              \
        .names = #OP,                                                                              \
        .inputs = "input",                                                                         \
        .signature = "input dtype=null name layout=null",                                          \
        .types = "T",                                                                              \
        .outputs = "output",                                                                       \
        .halves = LEATI_HALVES_OWN,                                                                \
        .checks = LEATI_CHECKS_IN_KERNEL,                                                          \
        .by_value = true,                                                                          \
        .rows = leati_no_rows,                                                                     \
        .min_inputs = 1,                                                                           \
        .max_inputs = 1,                                                                           \
        .flags = LEATI_ELEMENTWISE,                                                                \
        .infer = OP##_infer,                                                                       \
        .kernel = OP##_kernel,                                                                     \
        .gradient = leati_op_gradient_none,                                                        \
        __VA_ARGS__,                                                                               \
    };
FILLED_LIKE(ones_like, .doc = "Ones of another tensor's shape and dtype (tf.ones_like).")
FILLED_LIKE(zeros_like, .doc = "Zeros of another tensor's shape and dtype (tf.zeros_like).")
