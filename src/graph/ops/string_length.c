/* string_length: the number of bytes of each string, as int32 (tf.strings.length). Fails in
 * inference on other dtypes, and in a run on a string of 2 GiB or more. No gradient, no locks. */
#include "graph/ops/texts.h"

static leat_status string_length_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_want_dtype(call, 0, LEAT_STRING, "the input", err));
    return leati_infer_output(call, LEAT_INT32, &call->inputs[0].shape, NULL, err);
}

static leat_status string_length_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[0], *out = &call->outputs[0];
    leat_shape shape = leati_operand_shape(in);
    LEATI_TRY(leati_output_like(call, 0, &shape, err));
    for (int64_t row = 0; row < call->n; row++) {
        for (int64_t i = 0; i < in->count; i++) {
            size_t size = leati_strings_of(in, row)[i].size;
            if (size > INT32_MAX) {
                call->failed_row = row;
                return leati_fail(err, LEAT_INVALID_ARGUMENT,
                                  "a string of %zu bytes: its length does not fit int32", size);
            }
            ((int32_t *)(void *)leati_row_of(out, row))[i] = (int32_t)size;
        }
    }
    return LEAT_OK;
}

leat_value leat_string_length(leat_value x) {
    return leati_op1(&leati_tensor_op_string_length, NULL, x);
}

const leati_tensor_op leati_tensor_op_string_length = {
    .name = "string_length",
    .version = 1,
    .doc = "The number of bytes of each string, as int32 (tf.strings.length).",
    .names = "strings.length",
    .inputs = "input",
    .signature = "input unit=\"BYTE\"",
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = string_length_infer,
    .kernel = string_length_kernel,
};
