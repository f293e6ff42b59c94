/* fill: a tensor whose shape is data, filled with a scalar (tf.fill).
 *
 * Inference knows the rank where it knows the length of `dims`; the run knows the rest, one row at
 * a time. Fails where a dimension is negative. No state, no locks. */
#include "core/tensor.h"
#include "graph/known.h"
#include "graph/support/array/moving.h"

static leat_status fill_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_support_want_index(call, 0, "the shape", err));
    LEATI_TRY(leati_support_want_rank(call, 0, 1, "the shape", err));
    LEATI_TRY(leati_support_want_values(call, 1, err));
    LEATI_TRY(leati_support_want_rank(call, 1, 0, "the value", err));
    const leat_shape *dims = &call->inputs[0].shape;
    leat_shape shape = {.rank = LEAT_UNKNOWN_RANK};
    /* A list of known length tells the rank. */
    if (dims->rank == 1 && dims->dims[0] >= 0) {
        if (dims->dims[0] > LEAT_MAX_RANK)
            return leati_refuse(err, SHAPE, "the rank would be %lld; expected at most %d",
                                (long long)dims->dims[0], LEAT_MAX_RANK);
        shape.rank = (int32_t)dims->dims[0];
        for (int32_t d = 0; d < shape.rank; d++)
            shape.dims[d] = LEAT_UNKNOWN_DIM;
    }
    leati_known known;
    if (leati_op_infer_known(call, 0, &known))
        for (int32_t d = 0; d < shape.rank && d < known.count; d++)
            if (known.values[d] >= 0) /* the run refuses others */
                shape.dims[d] = known.values[d];
    return leati_op_infer_output(call, call->inputs[1].dtype, &shape, NULL, err);
}

/* Reads the shape from row 0, which speaks for all: several rows run at once only where inference
 * knows the dimensions. */
static leat_status fill_shape(const leati_operand *dims, leat_shape *shape, leat_error *err) {
    if (dims->rank != 1)
        return leati_refuse(err, SHAPE, "the shape has rank %d; expected rank 1", (int)dims->rank);
    if (dims->count > LEAT_MAX_RANK)
        return leati_refuse(err, SHAPE, "the rank would be %lld; expected at most %d",
                            (long long)dims->count, LEAT_MAX_RANK);
    shape->rank = (int32_t)dims->count;
    for (int32_t d = 0; d < shape->rank; d++) {
        shape->dims[d] = leati_support_index_at(dims, 0, d);
        if (shape->dims[d] < 0)
            return leati_refuse(err, SHAPE, "dimension %d would be %lld; expected 0 or more",
                                (int)d, (long long)shape->dims[d]);
    }
    return LEAT_OK;
}

static leat_status fill_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *value = &call->inputs[1], *out = &call->outputs[0];
    leat_shape shape = {0};
    if (value->rank != 0)
        return leati_refuse(err, SHAPE, "the value has rank %d; expected rank 0", (int)value->rank);
    LEATI_TRY(fill_shape(&call->inputs[0], &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    for (int64_t row = 0; row < call->n && out->count > 0; row++)
        leati_moving_fill(leati_support_row_of(out, row), out->count,
                          leati_support_row_of(value, row), leat_dtype_size(out->dtype));
    return leati_support_hold_strings(call, 1, err);
}

static leat_status fill_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[1] = leat_op_reduce_sum(call->output_gradients[0], NULL, 0, false);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_fill = {
    .name = "fill",
    .version = 1,
    .doc = "A tensor of shape dims filled with a scalar (tf.fill).",
    .names = "fill",
    .inputs = "dims value",
    .signature = "dims value name layout=null",
    .types = "index_type=int32 T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = fill_infer,
    .kernel = fill_kernel,
    .gradient = fill_gradient,
};
