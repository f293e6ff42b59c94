/* Tensors of one value; see filled.h. Fails on unknown dimensions and on dtypes that have no such
 * value. No state, no locks. */
#include "graph/support/array/filled.h"

#include <string.h>

const leati_row leati_filled_rows[] = {
    {.name = "shape",
     .type = LEATI_ROW_SHAPE,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct leati_filled_args, shape),
     .doc = "The shape of the result, without unknown dimensions."},
    {.name = "dtype",
     .type = LEATI_ROW_DTYPE,
     .offset = offsetof(struct leati_filled_args, dtype),
     .default_number = LEAT_FLOAT32,
     .doc = "The dtype of the result."},
    {0},
};

leat_status leati_filled_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_filled_args *args = call->args;
    if (args->dtype <= LEAT_INVALID || args->dtype == LEAT_OBJECT)
        return leati_refuse(err, DTYPE, "dtype is %s; expected one of values",
                            leat_dtype_name(args->dtype));
    return leati_support_infer_said(call, args->dtype, &args->shape, err);
}

leat_status leati_filled_kernel(leati_kernel_call *call, double number, leat_error *err) {
    const struct leati_filled_args *args = call->args;
    LEATI_TRY(leati_support_output_like(call, 0, &args->shape, err));
    const leati_operand *out = &call->outputs[0];
    size_t size = leat_dtype_size(out->dtype);
    _Alignas(8) char value[16] = {0};
    if (number != 0 && !leati_support_store_number(out->dtype, number, value))
        return leati_refuse(err, DTYPE, "a %s is no number", leat_dtype_name(out->dtype));
    for (int64_t row = 0; row < call->n; row++)
        for (int64_t i = 0; i < out->count; i++)
            memcpy(leati_support_row_of(out, row) + (size_t)i * size, value, size);
    return LEAT_OK;
}
