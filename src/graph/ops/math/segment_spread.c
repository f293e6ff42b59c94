/* segment_spread: to each slice of the third input that of its segment in the first: the gradient
 * of segment sums. Inputs: values, segment_ids, data. Slices whose number is no segment get zeros.
 * Fails where shapes do not fit. No state, no locks. */
#include "graph/support/math/segment.h"

#include <string.h>

static leat_status segment_spread_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_combine_want_number(call, 0, "the values", err));
    LEATI_TRY(leati_support_want_index(call, 1, "segment_ids", err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &call->inputs[2].shape, NULL, err);
}

static leat_status segment_spread_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *values = &call->inputs[0], *ids = &call->inputs[1];
    const leati_operand *out = &call->outputs[0];
    leat_shape shape = leati_support_operand_shape(&call->inputs[2]);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    int64_t segments = values->rank > 0 ? values->dims[0] : 0;
    if (out->count == 0)
        return LEAT_OK;
    int64_t each = ids->count > 0 ? out->count / ids->count : 0;
    if (each * ids->count != out->count || (segments > 0 && values->count != segments * each))
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "%lld values of %lld segments do not fit %lld values of %lld slices",
                          (long long)values->count, (long long)segments, (long long)out->count,
                          (long long)ids->count);
    size_t bytes = (size_t)each * leat_dtype_size(out->dtype);
    for (int64_t row = 0; row < call->n; row++) {
        char *to = leati_support_row_of(out, row);
        for (int64_t i = 0; i < ids->count; i++, to += bytes) {
            int64_t id = leati_support_index_at(ids, row, i);
            if (id >= 0 && id < segments)
                memcpy(to, leati_support_row_of(values, row) + (size_t)id * bytes, bytes);
            else
                memset(to, 0, bytes);
        }
    }
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_segment_spread = {
    .name = "segment_spread",
    .version = 1,
    .doc = "To each slice of data that of its segment in values (for gradients).",
    .types = "T Tindices U",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .rows = leati_no_rows,
    .min_inputs = 3,
    .max_inputs = 3,
    .infer = segment_spread_infer,
    .kernel = segment_spread_kernel,
};
