/* bitcast: the bytes of a tensor read as values of another dtype (tf.bitcast).
 *
 * A smaller dtype adds a last dimension, a larger one takes away the last dimension, which must be
 * as many values as fill one. The kernel hands out a view, and copies where the bytes of a small
 * dtype do not lie where a larger one may. Fails on bool, strings and other dimensions. No
 * gradient, no locks. */
#include "base/stop.h"
#include "core/tensor.h"
#include "graph/support/support.h"

#include <string.h>

struct bitcast_args {
    leat_dtype type;
};

static const leati_row bitcast_rows[] = {
    {.name = "type",
     .type = LEATI_ROW_DTYPE,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct bitcast_args, type),
     .doc = "The dtype of the result, a number."},
    {0},
};

/* The shape of values of `from` that are read as `to`; an unknown rank stays unknown. */
static leat_status cast_shape(leat_dtype from, leat_dtype to, const leat_shape *in, leat_shape *out,
                              leat_error *err) {
    int64_t a = (int64_t)leat_dtype_size(from), b = (int64_t)leat_dtype_size(to);
    *out = *in;
    if (in->rank < 0 || a == b)
        return LEAT_OK;
    if (a > b && in->rank == LEAT_MAX_RANK)
        return leati_refuse(err, SHAPE, "the rank would be %d; expected at most %d",
                            (int)in->rank + 1, LEAT_MAX_RANK);
    /* Sizes of dtypes are powers of two, so the larger is a multiple of the smaller. */
    if (a > b) {
        out->dims[out->rank++] = a / b;
        return LEAT_OK;
    }
    int64_t last = in->rank == 0 ? 1 : in->dims[in->rank - 1];
    /* A scalar has no dimension to take away. */
    if (in->rank == 0 || (last != LEAT_UNKNOWN_DIM && last != b / a))
        return leati_refuse(err, SHAPE,
                            "%s as %s needs a last dimension of %lld; found %s%lld values",
                            leat_dtype_name(from), leat_dtype_name(to), (long long)(b / a),
                            in->rank == 0 ? "a scalar, " : "", (long long)last);
    out->rank--;
    return LEAT_OK;
}

static leat_status want_number(leat_dtype dtype, const char *what, leat_error *err) {
    if (leati_dtype_is_number(dtype))
        return LEAT_OK;
    return leati_refuse(err, DTYPE, "%s is %s; expected numbers", what, leat_dtype_name(dtype));
}

static leat_status bitcast_infer(leati_infer_call *call, leat_error *err) {
    const struct bitcast_args *args = call->args;
    leat_shape shape;
    LEATI_TRY(want_number(call->inputs[0].dtype, "the input", err));
    LEATI_TRY(want_number(args->type, "type", err));
    LEATI_TRY(cast_shape(call->inputs[0].dtype, args->type, &call->inputs[0].shape, &shape, err));
    return leati_op_infer_output(call, args->type, &shape, NULL, err);
}

static leat_status bitcast_kernel(leati_kernel_call *call, leat_error *err) {
    const struct bitcast_args *args = call->args;
    const leati_operand *in = &call->inputs[0], *out = &call->outputs[0];
    leat_shape from = leati_support_operand_shape(in), shape;
    LEATI_TRY(cast_shape(in->dtype, args->type, &from, &shape, err));
    size_t bytes = (size_t)in->count * leat_dtype_size(in->dtype),
           size = leat_dtype_size(args->type);
    if (((uintptr_t)in->data | (uintptr_t)in->row_stride) % size == 0 && in->data != NULL)
        return leati_support_view_as(call, &shape, err);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    for (int64_t row = 0; row < call->n && bytes > 0; row++)
        leati_stop_copy(leati_support_row_of(out, row), leati_support_row_of(in, row), bytes);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_bitcast = {
    .name = "bitcast",
    .version = 1,
    .doc = "The bytes of a tensor read as values of another dtype (tf.bitcast).",
    .names = "bitcast",
    .inputs = "input",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = bitcast_rows,
    .args_size = sizeof(struct bitcast_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = bitcast_infer,
    .kernel = bitcast_kernel,
};
