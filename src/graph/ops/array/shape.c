/* shape, size: the dimensions of a tensor, and the number of its values, as int32 or int64; rank:
 * the number of its dimensions, as int32 (tf.shape, tf.size, tf.rank). No gradient flows. No state,
 * no locks. */
#include "graph/known.h"
#include "graph/support/support.h"

struct counts_args {
    leat_dtype out_type;
};

static const leati_row counts_rows[] = {
    {.name = "out_type",
     .type = LEATI_ROW_DTYPE,
     .offset = offsetof(struct counts_args, out_type),
     .default_number = LEAT_INT32,
     .doc = "int32 or int64."},
    {0},
};

static leat_status counts_check(const struct counts_args *args, leat_error *err) {
    if (args->out_type == LEAT_INT32 || args->out_type == LEAT_INT64)
        return LEAT_OK;
    return leati_refuse(err, DTYPE, "out_type is %s; expected int32 or int64",
                        leat_dtype_name(args->out_type));
}

/* Writes `count` numbers into every row of output 0. */
static void counts_write(leati_kernel_call *call, const int64_t *numbers, int64_t count) {
    const leati_operand *out = &call->outputs[0];
    for (int64_t row = 0; row < call->n; row++) {
        char *to = leati_support_row_of(out, row);
        for (int64_t i = 0; i < count; i++)
            if (out->dtype == LEAT_INT32)
                ((int32_t *)to)[i] = (int32_t)numbers[i];
            else
                ((int64_t *)to)[i] = numbers[i];
    }
}

static leat_status size_infer(leati_infer_call *call, leat_error *err) {
    const struct counts_args *args = call->args;
    leat_shape scalar = LEAT_SCALAR;
    LEATI_TRY(counts_check(args, err));
    return leati_op_infer_output(call, args->out_type, &scalar, NULL, err);
}

static leat_status size_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape scalar = LEAT_SCALAR;
    int64_t count = call->inputs[0].count;
    LEATI_TRY(leati_support_output_like(call, 0, &scalar, err));
    if (call->outputs[0].dtype == LEAT_INT32 && count > INT32_MAX)
        return leati_refuse(err, VALUE, "%lld values are more than an int32 counts; use int64",
                            (long long)count);
    counts_write(call, &count, 1);
    return LEAT_OK;
}

static leat_status shape_infer(leati_infer_call *call, leat_error *err) {
    const struct counts_args *args = call->args;
    int32_t rank = call->inputs[0].shape.rank;
    leat_shape shape = LEAT_SHAPE(rank >= 0 ? rank : LEAT_UNKNOWN_DIM);
    LEATI_TRY(counts_check(args, err));
    return leati_op_infer_output(call, args->out_type, &shape, NULL, err);
}

static leat_status shape_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    leat_shape shape = LEAT_SHAPE(in->rank);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    counts_write(call, in->dims, in->rank);
    return LEAT_OK;
}

static bool shape_known(const leati_known_call *call, leati_known *out) {
    /* The shape is known in part at least; numbers left open are computed in the run. */
    const leat_shape *shape = &call->types[0]->shape;
    if (shape->rank < 0)
        return false;
    *out = (leati_known){.rank = 1, .count = shape->rank};
    for (int32_t d = 0; d < shape->rank; d++)
        out->values[d] = shape->dims[d] < 0 ? LEATI_UNKNOWN_NUMBER : shape->dims[d];
    return true;
}

static bool size_known(const leati_known_call *call, leati_known *out) {
    int64_t count = leati_shape_is_static(&call->types[0]->shape)
                        ? leati_shape_count(&call->types[0]->shape)
                        : LEATI_UNKNOWN_NUMBER;
    *out = (leati_known){.rank = 0, .count = 1, .values = {count}};
    return count != LEATI_UNKNOWN_NUMBER;
}

#define COUNTS(OP, ...)                                                                            \
    const leati_tensor_op leati_tensor_op_##OP = {                                                 \
        .name = #OP,                                                                               \
        .version = 1,                                                                              \
        .names = #OP,                                                                              \
        .inputs = "input",                                                                         \
        .signature = "input out_type=null",                                                        \
        .types = "T",                                                                              \
        .outputs = "output",                                                                       \
        .halves = LEATI_HALVES_OWN,                                                                \
        .checks = LEATI_CHECKS_IN_KERNEL,                                                          \
        .rows = counts_rows,                                                                       \
        .args_size = sizeof(struct counts_args),                                                   \
        .min_inputs = 1,                                                                           \
        .max_inputs = 1,                                                                           \
        .infer = OP##_infer,                                                                       \
        .kernel = OP##_kernel,                                                                     \
        __VA_ARGS__,                                                                               \
    };
COUNTS(shape, .doc = "The dimensions as a vector (tf.shape).", .of_shape = "dimensions",
       .known = shape_known)
COUNTS(size, .doc = "The number of values (tf.size).", .of_shape = "size", .known = size_known)

/* ---- rank ---- */
static leat_status rank_infer(leati_infer_call *call, leat_error *err) {
    leat_shape scalar = LEAT_SCALAR;
    return leati_op_infer_output(call, LEAT_INT32, &scalar, NULL, err);
}

static leat_status rank_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape scalar = LEAT_SCALAR;
    LEATI_TRY(leati_support_output_like(call, 0, &scalar, err));
    for (int64_t row = 0; row < call->n; row++)
        *(int32_t *)(void *)leati_support_row_of(&call->outputs[0], row) = call->inputs[0].rank;
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_rank = {
    .name = "rank",
    .version = 1,
    .doc = "The number of dimensions of a tensor, an int32 scalar (tf.rank).",
    .names = "rank",
    .inputs = "input",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = rank_infer,
    .kernel = rank_kernel,
    .gradient = leati_op_gradient_none,
};
