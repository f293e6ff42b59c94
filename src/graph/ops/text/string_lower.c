/* string_lower: letters in lower case (tf.strings.lower): those of ASCII, other bytes as they are,
 * or with the encoding utf-8 those of Unicode. Fails in inference on other dtypes and encodings. No
 * gradient, no locks. */
#include "graph/support/text/unicode.h"

struct string_lower_args {
    char *encoding;
};

static const leati_row string_lower_rows[] = {
    {.name = "encoding",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct string_lower_args, encoding),
     .default_text = "",
     .doc = "utf-8, or nothing for ASCII."},
    {0},
};

static leat_status string_lower_infer(leati_infer_call *call, leat_error *err) {
    const struct string_lower_args *args = call->args;
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_STRING, "the input", err));
    LEATI_TRY(leati_unicode_want_case_encoding(args->encoding, err));
    return leati_op_infer_same(call, err);
}

static size_t lower(const leati_kernel_call *call, int64_t row, int64_t index, char *to) {
    const leat_string *s = leati_text_strings_of(&call->inputs[0], row) + index;
    for (size_t i = 0; to != NULL && i < s->size; i++)
        to[i] =
            (char)(s->data[i] >= 'A' && s->data[i] <= 'Z' ? s->data[i] - 'A' + 'a' : s->data[i]);
    return s->size;
}

static leat_status unicode_lower(const leati_kernel_call *call, int64_t row, int64_t index,
                                 void *context, leati_writer *out, leat_error *err) {
    (void)context;
    return leati_unicode_case(leati_text_strings_of(&call->inputs[0], row)[index], false, out, err);
}

static leat_status string_lower_kernel(leati_kernel_call *call, leat_error *err) {
    const struct string_lower_args *args = call->args;
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    if (args->encoding != NULL && args->encoding[0] != '\0')
        return leati_text_collect(call, unicode_lower, NULL, err);
    return leati_text_write(call, lower, err);
}

leat_value leat_op_string_lower(leat_value x) {
    struct string_lower_args args = {.encoding = NULL};
    return leati_graph_build1(&leati_tensor_op_string_lower, &args, x);
}

leat_value leat_op_string_lower_utf8(leat_value x) {
    char encoding[] = "utf-8";
    struct string_lower_args args = {.encoding = encoding};
    return leati_graph_build1(&leati_tensor_op_string_lower, &args, x);
}

const leati_tensor_op leati_tensor_op_string_lower = {
    .name = "string_lower",
    .version = 1,
    .doc = "Letters in lower case (tf.strings.lower).",
    .names = "strings.lower",
    .inputs = "input",
    .types = "string",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .by_value = true,
    .rows = string_lower_rows,
    .args_size = sizeof(struct string_lower_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = string_lower_infer,
    .kernel = string_lower_kernel,
};
