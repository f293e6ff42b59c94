/* unicode_decode: the code points of each string of a vector, all in one vector, where each
 * string's begin, and the byte that each began at: the values, row splits and offsets of ragged
 * tensors (what tf.strings.unicode_decode and its like are made of).
 *
 * How many there are is data, so rows run one at a time: one pass counts, a second writes. Fails in
 * inference on encodings that nobody knows, in a run on malformed text where errors are strict. No
 * gradient, no locks. */
#include "graph/support/text/unicode.h"

struct unicode_decode_args {
    char *input_encoding;
    char *errors;
    int64_t replacement_char;
    bool replace_control_characters;
};

#define ROW(field) .offset = offsetof(struct unicode_decode_args, field)

static const leati_row unicode_decode_rows[] = {
    {.name = "input_encoding",
     .type = LEATI_ROW_STRING,
     .flags = LEATI_REQUIRED,
     ROW(input_encoding),
     .doc = "UTF-8, or another name that ICU knows."},
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

static leat_status open_decoder(const struct unicode_decode_args *args, leati_decoder *out,
                                leat_error *err) {
    *out = (leati_decoder){.replacement = (int32_t)args->replacement_char,
                           .replace_controls = args->replace_control_characters};
    LEATI_TRY(leati_unicode_want_errors(args->errors, &out->errors, err));
    return leati_unicode_decoder_open(out, args->input_encoding, err);
}

static leat_status unicode_decode_infer(leati_infer_call *call, leat_error *err) {
    leati_decoder decoder;
    leat_shape unknown = LEAT_SHAPE(LEAT_UNKNOWN_DIM);
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_STRING, "the input", err));
    LEATI_TRY(open_decoder(call->args, &decoder, err));
    leati_unicode_decoder_close(&decoder);
    LEATI_TRY(leati_text_infer_parts(call, LEAT_INT32, LEAT_INT64, err));
    return leati_op_infer_output(call, LEAT_INT64, &unknown, NULL, err);
}

/* Writes the points and offsets of one string, or where `points` is NULL only counts; -1 where it
 * is refused. */
static int64_t decode(leati_decoder *decoder, leat_string s, int32_t *points, int64_t *offsets) {
    const char *at = s.size > 0 ? s.data : "", *start = at, *begin = at, *end = at + s.size;
    int64_t count = 0;
    int32_t point;
    int found;
    while ((found = leati_unicode_decoder_next(decoder, &at, end, &point, &begin)) > 0) {
        if (points != NULL) {
            points[count] = point;
            offsets[count] = begin - start;
        }
        count++;
    }
    return found < 0 ? -1 : count;
}

static leat_status decode_all(leati_kernel_call *call, leati_decoder *decoder, leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    const leat_string *strings = leati_text_strings_of(in, 0);
    leat_shape splits = LEAT_SHAPE(in->count + 1), values = LEAT_SHAPE(0);
    LEATI_TRY(leati_support_output_like(call, 1, &splits, err));
    int64_t *ends = (int64_t *)(void *)call->outputs[1].data;
    ends[0] = 0;
    for (int64_t i = 0; i < in->count; i++) {
        int64_t count = decode(decoder, strings[i], NULL, NULL);
        if (count < 0)
            return leati_fail(err, LEAT_INVALID_ARGUMENT,
                              "invalid formatting on input string %lld; errors \"replace\" or "
                              "\"ignore\" go on",
                              (long long)i);
        ends[i + 1] = ends[i] + count;
    }
    values.dims[0] = ends[in->count];
    LEATI_TRY(leati_support_output_like(call, 0, &values, err));
    LEATI_TRY(leati_support_output_like(call, 2, &values, err));
    int32_t *points = (int32_t *)(void *)call->outputs[0].data;
    int64_t *offsets = (int64_t *)(void *)call->outputs[2].data;
    for (int64_t i = 0; i < in->count && values.dims[0] > 0; i++)
        (void)decode(decoder, strings[i], points + ends[i], offsets + ends[i]);
    return LEAT_OK;
}

static leat_status unicode_decode_kernel(leati_kernel_call *call, leat_error *err) {
    leati_decoder decoder;
    if (call->inputs[0].rank != 1)
        return leati_refuse(err, SHAPE, "the input has rank %d; expected rank 1",
                            (int)call->inputs[0].rank);
    LEATI_TRY(open_decoder(call->args, &decoder, err));
    leat_status status = decode_all(call, &decoder, err);
    leati_unicode_decoder_close(&decoder);
    return status;
}

const leati_tensor_op leati_tensor_op_unicode_decode = {
    .name = "unicode_decode",
    .version = 1,
    .doc = "The code points of each string of a vector, where each string's begin, and their bytes "
           "(what tf.strings.unicode_decode is made of).",
    .types = "string",
    .outputs = "char_values row_splits char_to_byte_starts",
    .halves = LEATI_HALVES_NONE,
    .rows = unicode_decode_rows,
    .args_size = sizeof(struct unicode_decode_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = unicode_decode_infer,
    .kernel = unicode_decode_kernel,
};
