/* unicode_encode: rows of code points as strings (what tf.strings.unicode_encode is made of).
 *
 * Inputs are int32 code points and the row splits of the rows, int32 or int64. Fails in inference
 * on other encodings, in a run on row splits that do not fit and, where errors are strict, on
 * numbers that are no code points. No gradient, no locks. */
#include "graph/support/text/unicode.h"

struct unicode_encode_args {
    char *output_encoding;
    char *errors;
    int64_t replacement_char;
};

static const leati_row unicode_encode_rows[] = {
    {.name = "output_encoding",
     .type = LEATI_ROW_STRING,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct unicode_encode_args, output_encoding),
     .doc = "UTF-8, UTF-16-BE or UTF-32-BE."},
    {.name = "errors",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct unicode_encode_args, errors),
     .default_text = "replace",
     .doc = "Numbers that are no code points: replace, ignore, or strict to fail."},
    {.name = "replacement_char",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct unicode_encode_args, replacement_char),
     .default_number = 65533,
     .minimum = 0,
     .maximum = 0x10FFFF,
     .doc = "The code point in their place."},
    {0},
};

static leat_status unicode_encode_infer(leati_infer_call *call, leat_error *err) {
    const struct unicode_encode_args *args = call->args;
    leati_encoding encoding;
    leati_text_errors errors;
    leat_shape rows = LEAT_SHAPE(LEAT_UNKNOWN_DIM);
    const leat_shape *splits = &call->inputs[1].shape;
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_INT32, "the code points", err));
    LEATI_TRY(leati_support_want_rank(call, 0, 1, "the code points", err));
    LEATI_TRY(leati_support_want_index(call, 1, "the row splits", err));
    LEATI_TRY(leati_support_want_rank(call, 1, 1, "the row splits", err));
    LEATI_TRY(leati_unicode_want_encoding(args->output_encoding, &encoding, err));
    LEATI_TRY(leati_unicode_want_errors(args->errors, &errors, err));
    if (splits->rank == 1 && splits->dims[0] == 0)
        return leati_refuse(err, VALUE,
                            "the row splits are empty; expected at least one, which is 0");
    if (splits->rank == 1 && splits->dims[0] > 0)
        rows.dims[0] = splits->dims[0] - 1;
    return leati_op_infer_output(call, LEAT_STRING, &rows, NULL, err);
}

static leat_status encode(const leati_kernel_call *call, int64_t row, int64_t index, void *context,
                          leati_writer *out, leat_error *err) {
    const struct unicode_encode_args *args = call->args;
    const int32_t *points =
        (const int32_t *)(const void *)leati_support_row_of(&call->inputs[0], row);
    int64_t from = leati_support_index_at(&call->inputs[1], row, index);
    int64_t to = leati_support_index_at(&call->inputs[1], row, index + 1);
    leati_text_errors errors;
    LEATI_TRY(leati_unicode_want_errors(args->errors, &errors, err));
    int32_t other = (int32_t)args->replacement_char;
    if (from < 0 || to < from || to > call->inputs[0].count)
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "row splits that do not rise from 0 to the number of code points");
    for (int64_t i = from; i < to; i++) {
        int32_t point = points[i];
        if (!leati_unicode_is_character(point)) {
            if (errors == LEATI_TEXT_STRICT)
                return leati_fail(err, LEAT_INVALID_ARGUMENT,
                                  "code point %d is out of range for Unicode, or a surrogate",
                                  (int)point);
            if (errors == LEATI_TEXT_IGNORE)
                continue;
            point = leati_unicode_is_character(other) ? other : 0xfffd;
        }
        leati_unicode_put_point(out, *(const leati_encoding *)context, point);
    }
    return LEAT_OK;
}

static leat_status unicode_encode_kernel(leati_kernel_call *call, leat_error *err) {
    const struct unicode_encode_args *args = call->args;
    leati_encoding encoding = LEATI_UTF_8;
    leat_shape shape = LEAT_SHAPE(call->inputs[1].count - 1);
    if (call->inputs[0].rank != 1 || call->inputs[1].rank != 1 || shape.dims[0] < 0)
        return leati_refuse(
            err, SHAPE,
            "code points and row splits have ranks %d and %d; expected vectors, the "
            "second not empty",
            (int)call->inputs[0].rank, (int)call->inputs[1].rank);
    LEATI_TRY(leati_unicode_want_encoding(args->output_encoding, &encoding, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    return leati_text_collect(call, encode, &encoding, err);
}

const leati_tensor_op leati_tensor_op_unicode_encode = {
    .name = "unicode_encode",
    .version = 1,
    .doc = "Rows of code points as strings (what tf.strings.unicode_encode is made of).",
    .types = "int32 Tindices",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .rows = unicode_encode_rows,
    .args_size = sizeof(struct unicode_encode_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = unicode_encode_infer,
    .kernel = unicode_encode_kernel,
};
