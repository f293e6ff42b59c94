/* string_upper: ASCII letters in upper case, other bytes as they are (tf.strings.upper). Fails in
 * inference on other dtypes. No gradient, no locks. */
#include "graph/ops/texts.h"

static leat_status string_upper_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_want_dtype(call, 0, LEAT_STRING, "the input", err));
    return leati_infer_same(call, err);
}

static size_t upper(const leati_kernel_call *call, int64_t row, int64_t index, char *to) {
    const leat_string *s = leati_strings_of(&call->inputs[0], row) + index;
    for (size_t i = 0; to != NULL && i < s->size; i++)
        to[i] =
            (char)(s->data[i] >= 'a' && s->data[i] <= 'z' ? s->data[i] - 'a' + 'A' : s->data[i]);
    return s->size;
}

static leat_status string_upper_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape shape = leati_operand_shape(&call->inputs[0]);
    LEATI_TRY(leati_output_like(call, 0, &shape, err));
    return leati_write_texts(call, upper, err);
}

leat_value leat_string_upper(leat_value x) {
    return leati_op1(&leati_tensor_op_string_upper, NULL, x);
}

const leati_tensor_op leati_tensor_op_string_upper = {
    .name = "string_upper",
    .version = 1,
    .doc = "ASCII letters in upper case (tf.strings.upper).",
    .names = "strings.upper",
    .inputs = "input",
    .signature = "input encoding=\"\"",
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = string_upper_infer,
    .kernel = string_upper_kernel,
};
