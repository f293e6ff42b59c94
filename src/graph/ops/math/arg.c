/* argmax, argmin: the index of the largest or smallest value along a dimension (tf.math.argmax,
 * tf.math.argmin). The first of equals is found; a NaN never wins over a number that came before.
 *
 * They fail where the dimension is empty or outside the input. No gradient, no state, no locks. */
#include "base/stop.h"
#include "core/half.h"
#include "graph/support/math/elementwise.h"

struct arg_args {
    int64_t axis;
    leat_dtype output_type;
};

static const leati_row arg_rows[] = {
    {.name = "axis",
     .type = LEATI_ROW_INT,
     .flags = LEATI_NONE | LEATI_TENSOR,
     .offset = offsetof(struct arg_args, axis),
     .doc = "The dimension to search; negative counts from the end."},
    {.name = "output_type",
     .type = LEATI_ROW_DTYPE,
     .offset = offsetof(struct arg_args, output_type),
     .default_number = LEAT_INT64,
     .doc = "int32 or int64; of argmax also int16 or uint16."},
    {0},
};

/* The place of the first best of n values, `step` values apart; LOAD makes a number of one. */
#define ARG_SEARCH(NAME, TYPE, LOAD, BETTER)                                                       \
    static int64_t NAME(const char *data, int64_t n, int64_t step) {                               \
        const TYPE *values = (const TYPE *)data;                                                   \
        int64_t best = 0;                                                                          \
        for (int64_t i = 1; i < n && !leati_stop_look_at(i); i++)                                  \
            if (LOAD(values[i * step]) BETTER LOAD(values[best * step]))                           \
                best = i;                                                                          \
        return best;                                                                               \
    }
#define ARG_SEARCHES(NAME, TYPE, LOAD)                                                             \
    ARG_SEARCH(argmax_##NAME, TYPE, LOAD, >)                                                       \
    ARG_SEARCH(argmin_##NAME, TYPE, LOAD, <)

ARG_SEARCHES(bool, bool, )
ARG_SEARCHES(int8, int8_t, )
ARG_SEARCHES(int16, int16_t, )
ARG_SEARCHES(int32, int32_t, )
ARG_SEARCHES(int64, int64_t, )
ARG_SEARCHES(uint8, uint8_t, )
ARG_SEARCHES(uint16, uint16_t, )
ARG_SEARCHES(uint32, uint32_t, )
ARG_SEARCHES(uint64, uint64_t, )
ARG_SEARCHES(float16, uint16_t, leati_float_of_half)
ARG_SEARCHES(bfloat16, uint16_t, leati_float_of_bfloat16)
ARG_SEARCHES(float32, float, )
ARG_SEARCHES(float64, double, )

typedef int64_t (*search_function)(const char *data, int64_t n, int64_t step);

static const search_function searches[2][LEAT_NUM_DTYPES] = {
    {LEATI_TABLE_NUMBER(argmax), [LEAT_BOOL] = argmax_bool},
    {LEATI_TABLE_NUMBER(argmin), [LEAT_BOOL] = argmin_bool},
};

static leat_status without_axis(const struct arg_args *args, const leat_shape *in, int32_t *axis,
                                leat_shape *out, leat_error *err) {
    LEATI_TRY(leati_support_normal_axis(args->axis, in->rank, axis, err));
    /* Refused even where the other dimensions leave no result, as in TensorFlow. */
    if (in->dims[*axis] == 0)
        return leati_refuse(
            err, SHAPE, "dimension %d is empty: it has no largest or smallest value", (int)*axis);
    out->rank = 0;
    for (int32_t d = 0; d < in->rank; d++)
        if (d != *axis)
            out->dims[out->rank++] = in->dims[d];
    return LEAT_OK;
}

static leat_status arg_infer(leati_infer_call *call, bool smallest, leat_error *err) {
    const struct arg_args *args = call->args;
    leat_shape shape = {.rank = LEAT_UNKNOWN_RANK};
    int32_t axis = 0;
    if (searches[0][call->inputs[0].dtype] == NULL)
        return leati_refuse(err, DTYPE, "the input is %s; expected numbers or booleans",
                            leat_dtype_name(call->inputs[0].dtype));
    if (args->output_type != LEAT_INT32 && args->output_type != LEAT_INT64 &&
        (smallest || (args->output_type != LEAT_INT16 && args->output_type != LEAT_UINT16)))
        return leati_refuse(err, DTYPE, "output_type is %s; expected int32 or int64%s",
                            leat_dtype_name(args->output_type),
                            smallest ? "" : ", int16 or uint16");
    if (call->unknown != 0) { /* the axis */
        /* One dimension goes, whichever it is. */
        shape.rank = call->inputs[0].shape.rank > 0 ? call->inputs[0].shape.rank - 1 : shape.rank;
        for (int32_t d = 0; d < shape.rank; d++)
            shape.dims[d] = LEAT_UNKNOWN_DIM;
    } else if (call->inputs[0].shape.rank >= 0) {
        LEATI_TRY(without_axis(args, &call->inputs[0].shape, &axis, &shape, err));
    }
    return leati_op_infer_output(call, args->output_type, &shape, NULL, err);
}

static leat_status arg_kernel(leati_kernel_call *call, bool smallest, leat_error *err) {
    const leati_operand *in = &call->inputs[0], *out = &call->outputs[0];
    leat_shape from = leati_support_operand_shape(in), shape = {0};
    search_function search = searches[smallest][in->dtype];
    int32_t axis = 0;
    LEATI_TRY(without_axis(call->args, &from, &axis, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    int64_t inner = 1, dim = from.dims[axis];
    for (int32_t d = axis + 1; d < from.rank; d++)
        inner *= from.dims[d];
    int64_t size = (int64_t)leat_dtype_size(in->dtype);
    int64_t done = 0;
    for (int64_t row = 0; row < call->n; row++) {
        for (int64_t i = 0; i < out->count && !leati_stop_look_after(dim, &done); i++) {
            /* Lines along the axis stand side by side, `inner` of them; then follow `dim` times as
             * many values. */
            int64_t first = i / inner * inner * dim + i % inner;
            int64_t best = search(leati_support_row_of(in, row) + first * size, dim, inner);
            switch (out->dtype) {
            case LEAT_INT32: ((int32_t *)leati_support_row_of(out, row))[i] = (int32_t)best; break;
            case LEAT_INT64: ((int64_t *)leati_support_row_of(out, row))[i] = best; break;
            /* int16 and uint16 have the same bits for the places that both can say. */
            default: ((uint16_t *)leati_support_row_of(out, row))[i] = (uint16_t)best; break;
            }
        }
    }
    return LEAT_OK;
}

#define ARG(OP, SMALLEST, ...)                                                                     \
    static leat_status OP##_infer(leati_infer_call *call, leat_error *err) {                       \
        return arg_infer(call, SMALLEST, err);                                                     \
    }                                                                                              \
    static leat_status OP##_kernel(leati_kernel_call *call, leat_error *err) {                     \
        return arg_kernel(call, SMALLEST, err);                                                    \
    }                                                                                              \
    const leati_tensor_op leati_tensor_op_##OP = {                                                 \
        .name = #OP,                                                                               \
        .version = 1,                                                                              \
        .inputs = "input",                                                                         \
        .signature = "input axis=null output_type",                                                \
        .types = "T",                                                                              \
        .outputs = "output",                                                                       \
        .halves = LEATI_HALVES_OWN,                                                                \
        .checks = LEATI_CHECKS_IN_KERNEL,                                                          \
        .rows = arg_rows,                                                                          \
        .args_size = sizeof(struct arg_args),                                                      \
        .min_inputs = 1,                                                                           \
        .max_inputs = 1,                                                                           \
        .infer = OP##_infer,                                                                       \
        .kernel = OP##_kernel,                                                                     \
        __VA_ARGS__,                                                                               \
    };
ARG(argmax, false,
    .doc =
        "The index of the largest value along a dimension, the first of equals (tf.math.argmax).",
    .names = "math.argmax argmax")
ARG(argmin, true,
    .doc =
        "The index of the smallest value along a dimension, the first of equals (tf.math.argmin).",
    .names = "math.argmin argmin")
