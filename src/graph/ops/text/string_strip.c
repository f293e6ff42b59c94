/* string_strip: strings without the white space at both ends (tf.strings.strip). The results are
 * views of the input's bytes. Fails in inference on other dtypes. No gradient, no locks. */
#include "graph/support/text/texts.h"

static leat_status string_strip_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_STRING, "the input", err));
    return leati_op_infer_same(call, err);
}

/* C's isspace, whatever the locale: \t, \n, \v, \f and \r are in a row. */
static bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static leat_status string_strip_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[0], *out = &call->outputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    int64_t done = 0;
    for (int64_t row = 0; row < call->n; row++) {
        for (int64_t i = 0; i < in->count && !leati_stop_look_after(LEATI_TEXT_WORK, &done); i++) {
            leat_string s = leati_text_strings_of(in, row)[i];
            while (s.size > 0 && is_space(s.data[0])) {
                s.data++;
                s.size--;
            }
            while (s.size > 0 && is_space(s.data[s.size - 1]))
                s.size--;
            leati_text_strings_of(out, row)[i] = s;
        }
    }
    return leati_support_hold_strings(call, 0, err);
}

const leati_tensor_op leati_tensor_op_string_strip = {
    .name = "string_strip",
    .version = 1,
    .doc = "Strings without the white space at both ends (tf.strings.strip).",
    .names = "strings.strip",
    .inputs = "input",
    .types = "string",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .by_value = true,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = string_strip_infer,
    .kernel = string_strip_kernel,
};
