/* string_lower, string_upper: letters in lower or upper case (tf.strings.lower, tf.strings.upper):
 * those of ASCII, other bytes as they are, or with the encoding utf-8 those of Unicode. They fail
 * in inference on other dtypes and encodings. No gradient, no locks. */
#include "graph/support/text/unicode.h"

struct case_args {
    char *encoding;
};

static const leati_row case_rows[] = {
    {.name = "encoding",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct case_args, encoding),
     .default_text = "",
     .doc = "utf-8, or nothing for ASCII."},
    {0},
};

static leat_status case_infer(leati_infer_call *call, leat_error *err) {
    const struct case_args *args = call->args;
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_STRING, "the input", err));
    LEATI_TRY(leati_unicode_want_case_encoding(args->encoding, err));
    return leati_op_infer_same(call, err);
}

/* The letters from `first` on become those from `other` on. */
static size_t turned(const leati_kernel_call *call, int64_t row, int64_t index, char first,
                     char other, char *to) {
    const leat_string *s = leati_text_strings_of(&call->inputs[0], row) + index;
    /* Bytes of UTF-8 beyond ASCII are negative or above 'z', and so never a letter here. */
    for (size_t i = 0; to != NULL && i < s->size; i++) {
        char c = s->data[i];
        to[i] = (char)(c >= first && c <= first + 25 ? c - first + other : c);
    }
    return s->size;
}

static size_t lower(const leati_kernel_call *call, int64_t row, int64_t index, char *to) {
    return turned(call, row, index, 'A', 'a', to);
}

static size_t upper(const leati_kernel_call *call, int64_t row, int64_t index, char *to) {
    return turned(call, row, index, 'a', 'A', to);
}

static leat_status turned_by_unicode(const leati_kernel_call *call, int64_t row, int64_t index,
                                     void *context, leati_writer *out, leat_error *err) {
    const bool *to_upper = context;
    return leati_unicode_case(leati_text_strings_of(&call->inputs[0], row)[index], *to_upper, out,
                              err);
}

static leat_status case_kernel(leati_kernel_call *call, bool to_upper, leat_error *err) {
    const struct case_args *args = call->args;
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    /* Letters of Unicode may change their number of bytes, so texts are collected. */
    if (args->encoding != NULL && args->encoding[0] != '\0')
        return leati_text_collect(call, turned_by_unicode, &to_upper, err);
    return leati_text_write(call, to_upper ? upper : lower, err);
}

#define CASE(OP, TO_UPPER, ...)                                                                    \
    static leat_status OP##_kernel(leati_kernel_call *call, leat_error *err) {                     \
        return case_kernel(call, TO_UPPER, err);                                                   \
    }                                                                                              \
    const leati_tensor_op leati_tensor_op_##OP = {                                                 \
        .name = #OP,                                                                               \
        .version = 1,                                                                              \
        .inputs = "input",                                                                         \
        .types = "string",                                                                         \
        .outputs = "output",                                                                       \
        .halves = LEATI_HALVES_NONE,                                                               \
        .checks = LEATI_CHECKS_IN_KERNEL,                                                          \
        .by_value = true,                                                                          \
        .rows = case_rows,                                                                         \
        .args_size = sizeof(struct case_args),                                                     \
        .min_inputs = 1,                                                                           \
        .max_inputs = 1,                                                                           \
        .infer = case_infer,                                                                       \
        .kernel = OP##_kernel,                                                                     \
        __VA_ARGS__,                                                                               \
    };
CASE(string_lower, false, .doc = "Letters in lower case (tf.strings.lower).",
     .names = "strings.lower")
CASE(string_upper, true, .doc = "Letters in upper case (tf.strings.upper).",
     .names = "strings.upper")
