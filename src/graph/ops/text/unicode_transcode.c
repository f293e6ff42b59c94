/* unicode_transcode: strings of one encoding in another one (tf.strings.unicode_transcode).
 *
 * Fails in inference on encodings that nobody knows, in a run on malformed text where errors are
 * strict. No gradient, no locks. */
#include "graph/support/text/unicode.h"

struct unicode_transcode_args {
    char *input_encoding;
    char *output_encoding;
    char *errors;
    int64_t replacement_char;
    bool replace_control_characters;
};

#define ROW(field) .offset = offsetof(struct unicode_transcode_args, field)

static const leati_row unicode_transcode_rows[] = {
    {.name = "input_encoding",
     .type = LEATI_ROW_STRING,
     .flags = LEATI_REQUIRED,
     ROW(input_encoding),
     .doc = "UTF-8, or another name that ICU knows."},
    {.name = "output_encoding",
     .type = LEATI_ROW_STRING,
     .flags = LEATI_REQUIRED,
     ROW(output_encoding),
     .doc = "UTF-8, UTF-16-BE or UTF-32-BE."},
    {.name = "errors",
     .type = LEATI_ROW_STRING,
     ROW(errors),
     .default_text = "replace",
     .doc = "Malformed bytes: replace, ignore, or strict to fail."},
    {.name = "replacement_char",
     .type = LEATI_ROW_INT,
     ROW(replacement_char),
     .default_number = 65533,
     .minimum = 0,
     .maximum = 0x10FFFF,
     .doc = "The code point in their place."},
    {.name = "replace_control_characters",
     .type = LEATI_ROW_BOOL,
     ROW(replace_control_characters),
     .doc = "Replace U+0000 to U+001F, too."},
    {0},
};

/* What one call reads and writes. */
typedef struct transcoder {
    leati_decoder decoder;
    leati_encoding encoding;
} transcoder;

static leat_status open_transcoder(const struct unicode_transcode_args *args, transcoder *out,
                                   leat_error *err) {
    *out = (transcoder){.decoder = {.replacement = (int32_t)args->replacement_char,
                                    .replace_controls = args->replace_control_characters}};
    LEATI_TRY(leati_unicode_want_errors(args->errors, &out->decoder.errors, err));
    LEATI_TRY(leati_unicode_want_encoding(args->output_encoding, &out->encoding, err));
    return leati_unicode_decoder_open(&out->decoder, args->input_encoding, err);
}

static leat_status unicode_transcode_infer(leati_infer_call *call, leat_error *err) {
    transcoder t;
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_STRING, "the input", err));
    LEATI_TRY(open_transcoder(call->args, &t, err));
    leati_unicode_decoder_close(&t.decoder);
    return leati_op_infer_same(call, err);
}

static leat_status transcode(const leati_kernel_call *call, int64_t row, int64_t index,
                             void *context, leati_writer *out, leat_error *err) {
    transcoder *t = context;
    leat_string s = leati_text_strings_of(&call->inputs[0], row)[index];
    const char *at = s.size > 0 ? s.data : "", *begin = at, *end = at + s.size;
    int32_t point;
    int found;
    while ((found = leati_unicode_decoder_next(&t->decoder, &at, end, &point, &begin)) > 0)
        leati_unicode_put_point(out, t->encoding,
                                leati_unicode_is_character(point) ? point : 0xfffd);
    if (found < 0)
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "invalid formatting on input string %lld; errors \"replace\" or "
                          "\"ignore\" go on",
                          (long long)index);
    return LEAT_OK;
}

static leat_status unicode_transcode_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    transcoder t;
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    LEATI_TRY(open_transcoder(call->args, &t, err));
    leat_status status = leati_text_collect(call, transcode, &t, err);
    leati_unicode_decoder_close(&t.decoder);
    return status;
}

const leati_tensor_op leati_tensor_op_unicode_transcode = {
    .name = "unicode_transcode",
    .version = 1,
    .doc = "Strings of one encoding in another one (tf.strings.unicode_transcode).",
    .names = "strings.unicode_transcode",
    .inputs = "input",
    .types = "string",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = unicode_transcode_rows,
    .args_size = sizeof(struct unicode_transcode_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = unicode_transcode_infer,
    .kernel = unicode_transcode_kernel,
};
