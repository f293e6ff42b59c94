/* string_lower: ASCII letters in lower case, other bytes as they are (tf.strings.lower). Fails in
 * inference on other dtypes. No gradient, no locks. */
#include "graph/ops/texts.h"

static leat_status string_lower_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_want_dtype(call, 0, LEAT_STRING, "the input", err));
    return leati_infer_same(call, err);
}

static size_t changed(const leati_kernel_call *call, int64_t row, int64_t index, char *to) {
    const leat_string *s = leati_strings_of(&call->inputs[0], row) + index;
    for (size_t i = 0; to != NULL && i < s->size; i++)
        to[i] =
            (char)(s->data[i] >= 'A' && s->data[i] <= 'Z' ? s->data[i] - 'A' + 'a' : s->data[i]);
    return s->size;
}

static leat_status string_lower_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape shape = leati_operand_shape(&call->inputs[0]);
    LEATI_TRY(leati_output_like(call, 0, &shape, err));
    return leati_write_texts(call, changed, err);
}

leat_value leat_string_lower(leat_value x) {
    return leati_op1(&leati_tensor_op_string_lower, NULL, x);
}

const leati_tensor_op leati_tensor_op_string_lower = {
    .name = "string_lower",
    .version = 1,
    .doc = "ASCII letters in lower case (tf.strings.lower).",
    .names = "strings.lower",
    .inputs = "input",
    .signature = "input encoding=\"\"",
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = string_lower_infer,
    .kernel = string_lower_kernel,
};
