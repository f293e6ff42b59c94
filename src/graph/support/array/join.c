/* The copy that concat and stack share; see join.h. */
#include "graph/support/array/join.h"

#include <string.h>

const leati_row leati_axis_rows[] = {
    {.name = "axis",
     .type = LEATI_ROW_INT,
     .flags = LEATI_TENSOR,
     .offset = offsetof(struct leati_axis_args, axis),
     .doc = "The dimension along which the inputs follow each other; negative counts from "
            "the end."},
    {0},
};

/* Copies n pieces of `bytes`; small powers of two as one load and store each. */
static void copy_pieces(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n,
                        size_t bytes) {
    if (bytes == 8)
        for (int64_t i = 0; i < n; i++)
            memcpy(to + i * to_step, from + i * from_step, 8);
    else if (bytes == 4)
        for (int64_t i = 0; i < n; i++)
            memcpy(to + i * to_step, from + i * from_step, 4);
    else if (bytes > 0)
        for (int64_t i = 0; i < n; i++)
            memcpy(to + i * to_step, from + i * from_step, bytes);
}

leat_status leati_array_join(leati_kernel_call *call, int64_t outer, leat_error *err) {
    const leati_operand *out = &call->outputs[0];
    size_t size = leat_dtype_size(out->dtype), at = 0;
    if (outer == 0 || out->count == 0)
        return LEAT_OK;
    size_t step = (size_t)(out->count / outer) * size;
    for (int i = 0; i < call->num_inputs; i++) {
        const leati_operand *in = &call->inputs[i];
        size_t bytes = (size_t)(in->count / outer) * size;
        if (outer == 1)
            copy_pieces(out->data + at, out->row_stride, in->data, in->row_stride, call->n, bytes);
        for (int64_t row = 0; row < call->n && outer > 1; row++)
            copy_pieces(leati_support_row_of(out, row) + at, (int64_t)step,
                        leati_support_row_of(in, row), (int64_t)bytes, outer, bytes);
        at += bytes;
    }
    return leati_support_hold_strings(call, 0, err);
}
