/* unicode_script: ICU's number of each code point's script, -1 for what is none
 * (tf.strings.unicode_script). Fails in inference on other dtypes and in a build without ICU. No
 * gradient, no locks. */
#include "graph/support/text/unicode.h"

static leat_status unicode_script_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_INT32, "the input", err));
    LEATI_TRY(leati_unicode_want_icu("the script of a code point", err));
    return leati_op_infer_same(call, err);
}

static leat_status unicode_script_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[0], *out = &call->outputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    for (int64_t row = 0; row < call->n; row++) {
        const int32_t *from = (const int32_t *)(const void *)leati_support_row_of(in, row);
        int32_t *to = (int32_t *)(void *)leati_support_row_of(out, row);
        for (int64_t i = 0; i < in->count; i++)
            to[i] = leati_unicode_script(from[i]);
    }
    return LEAT_OK;
}

leat_value leat_op_unicode_script(leat_value input) {
    return leati_graph_build1(&leati_tensor_op_unicode_script, NULL, input);
}

const leati_tensor_op leati_tensor_op_unicode_script = {
    .name = "unicode_script",
    .version = 1,
    .doc = "ICU's number of each code point's script (tf.strings.unicode_script).",
    .names = "strings.unicode_script",
    .inputs = "input",
    .types = "int32",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = unicode_script_infer,
    .kernel = unicode_script_kernel,
};
