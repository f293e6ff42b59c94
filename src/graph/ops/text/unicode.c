/* unicode_decode, unicode_encode, unicode_script, unicode_transcode: the code points of each string
 * of a vector, rows of code points as strings, ICU's number of each code point's script (-1 for
 * what is none), and strings of one encoding in another one (tf.strings.unicode_script,
 * tf.strings.unicode_transcode, and what tf.strings.unicode_decode and its like are made of).
 *
 * Decoding gives all points in one vector, where each string's begin, and the byte that each began
 * at: the values, row splits and offsets of ragged tensors. How many there are is data, so rows run
 * one at a time: one pass counts, a second writes. They fail in inference on encodings that nobody
 * knows and, of scripts, in a build without ICU; in a run on row splits that do not fit and, where
 * errors are strict, on malformed text and on numbers that are no code points. No gradient, no
 * locks. */
#include "graph/support/text/unicode.h"
#include "graph/support/array/moving.h"

struct unicode_args {
    char *input_encoding, *output_encoding;
    char *errors;
    int64_t replacement_char;
    bool replace_control_characters;
};

#define ROW(NAME, TYPE, ...)                                                                       \
    { .name = #NAME, .type = TYPE, .offset = offsetof(struct unicode_args, NAME), __VA_ARGS__ }
#define ROW_INPUT_ENCODING                                                                         \
    ROW(input_encoding, LEATI_ROW_STRING, .flags = LEATI_REQUIRED,                                 \
        .doc = "UTF-8, or another name that ICU knows.")
#define ROW_OUTPUT_ENCODING                                                                        \
    ROW(output_encoding, LEATI_ROW_STRING, .flags = LEATI_REQUIRED,                                \
        .doc = "UTF-8, UTF-16-BE or UTF-32-BE.")
#define ROW_ERRORS(WHAT)                                                                           \
    ROW(errors, LEATI_ROW_STRING, .default_text = "replace",                                       \
        .doc = WHAT ": replace, ignore, or strict to fail.")
#define ROW_REPLACEMENT                                                                            \
    ROW(replacement_char, LEATI_ROW_INT, .default_number = 65533, .minimum = 0,                    \
        .maximum = 0x10FFFF, .doc = "The code point in their place.")
#define ROW_CONTROLS                                                                               \
    ROW(replace_control_characters, LEATI_ROW_BOOL, .doc = "Replace U+0000 to U+001F, too.")

static const leati_row decode_rows[] = {
    ROW_INPUT_ENCODING, ROW_ERRORS("Malformed bytes"), ROW_REPLACEMENT, ROW_CONTROLS, {0},
};

static const leati_row encode_rows[] = {
    ROW_OUTPUT_ENCODING,
    ROW_ERRORS("Numbers that are no code points"),
    ROW_REPLACEMENT,
    {0},
};

static const leati_row transcode_rows[] = {
    ROW_INPUT_ENCODING, ROW_OUTPUT_ENCODING, ROW_ERRORS("Malformed bytes"),
    ROW_REPLACEMENT,    ROW_CONTROLS,        {0},
};

static leat_status open_decoder(const struct unicode_args *args, leati_decoder *out,
                                leat_error *err) {
    *out = (leati_decoder){.replacement = (int32_t)args->replacement_char,
                           .replace_controls = args->replace_control_characters};
    /* Checked before the converter is opened, so that a failure leaves nothing open. */
    LEATI_TRY(leati_unicode_want_errors(args->errors, &out->errors, err));
    return leati_unicode_decoder_open(out, args->input_encoding, err);
}

static leat_status malformed(int64_t index, leat_error *err) {
    return leati_refuse(err, VALUE,
                        "invalid formatting on input string %lld; errors \"replace\" or "
                        "\"ignore\" go on",
                        (long long)index);
}

/* ---- unicode_decode ---- */
static leat_status unicode_decode_infer(leati_infer_call *call, leat_error *err) {
    leati_decoder decoder;
    leat_shape unknown = LEAT_SHAPE(LEAT_UNKNOWN_DIM);
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_STRING, "the input", err));
    /* Opened to learn whether the encoding is known. */
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
    int64_t done = 0;
    for (int64_t i = 0; i < in->count; i++) {
        /* A decoder is at its beginning behind each string, so both passes find the same. */
        int64_t count = decode(decoder, strings[i], NULL, NULL);
        if (leati_stop_look_after(LEATI_TEXT_WORK + 8 * (int64_t)strings[i].size, &done))
            return leati_stop_check(err);
        if (count < 0)
            return malformed(i, err);
        ends[i + 1] = ends[i] + count;
    }
    values.dims[0] = ends[in->count];
    LEATI_TRY(leati_support_output_like(call, 0, &values, err));
    LEATI_TRY(leati_support_output_like(call, 2, &values, err));
    int32_t *points = (int32_t *)(void *)call->outputs[0].data;
    int64_t *offsets = (int64_t *)(void *)call->outputs[2].data;
    for (int64_t i = 0;
         i < in->count && values.dims[0] > 0 &&
         !leati_stop_look_after(LEATI_TEXT_WORK + 8 * (int64_t)strings[i].size, &done);
         i++)
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

/* ---- unicode_transcode ---- */
/* What one call reads and writes. */
typedef struct transcoder {
    leati_decoder decoder;
    leati_encoding encoding;
} transcoder;

static leat_status open_transcoder(const struct unicode_args *args, transcoder *out,
                                   leat_error *err) {
    LEATI_TRY(leati_unicode_want_encoding(args->output_encoding, &out->encoding, err));
    return open_decoder(args, &out->decoder, err);
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
    /* A user's replacement may itself be no character: U+FFFD stands for it. */
    while ((found = leati_unicode_decoder_next(&t->decoder, &at, end, &point, &begin)) > 0)
        leati_unicode_put_point(out, t->encoding,
                                leati_unicode_is_character(point) ? point : 0xfffd);
    if (found < 0)
        return malformed(index, err);
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

/* ---- unicode_encode: inputs int32 code points and the row splits of the rows ---- */
static leat_status unicode_encode_infer(leati_infer_call *call, leat_error *err) {
    const struct unicode_args *args = call->args;
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
    const struct unicode_args *args = call->args;
    const int32_t *points =
        (const int32_t *)(const void *)leati_support_row_of(&call->inputs[0], row);
    int64_t from = leati_support_index_at(&call->inputs[1], row, index);
    int64_t to = leati_support_index_at(&call->inputs[1], row, index + 1);
    leati_text_errors errors;
    LEATI_TRY(leati_unicode_want_errors(args->errors, &errors, err));
    int32_t other = (int32_t)args->replacement_char;
    /* Checked row by row where they are used: splits come from the user. */
    if (from < 0 || to < from || to > call->inputs[0].count)
        return leati_refuse(err, VALUE,
                            "row splits that do not rise from 0 to the number of code points");
    for (int64_t i = from; i < to; i++) {
        int32_t point = points[i];
        if (!leati_unicode_is_character(point)) {
            if (errors == LEATI_TEXT_STRICT)
                return leati_refuse(err, VALUE,
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
    const struct unicode_args *args = call->args;
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

/* ---- unicode_script ---- */
static leat_status unicode_script_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_INT32, "the input", err));
    LEATI_TRY(leati_unicode_want_icu("the script of a code point", err));
    return leati_op_infer_same(call, err);
}

typedef struct scripts {
    const int32_t *from;
    int32_t *to;
} scripts;

static void script_steps(void *data, int64_t begin, int64_t end) {
    const scripts *s = data;
    for (int64_t i = begin; i < end; i++)
        s->to[i] = leati_unicode_script(s->from[i]);
}

static leat_status unicode_script_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[0], *out = &call->outputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    enum { BYTES = 64 }; /* that could be moved while a code point is looked up */
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    for (int64_t row = 0; row < call->n; row++) {
        scripts s = {(const int32_t *)(const void *)leati_support_row_of(in, row),
                     (int32_t *)(void *)leati_support_row_of(out, row)};
        leati_moving_share(in->count, BYTES, script_steps, &s);
    }
    return LEAT_OK;
}

/* ---- descriptors ---- */
#define UNICODE(OP, INPUTS, ...)                                                                   \
    const leati_tensor_op leati_tensor_op_##OP = {                                                 \
        .name = #OP,                                                                               \
        .version = 1,                                                                              \
        .halves = LEATI_HALVES_NONE,                                                               \
        .min_inputs = INPUTS,                                                                      \
        .max_inputs = INPUTS,                                                                      \
        .infer = OP##_infer,                                                                       \
        .kernel = OP##_kernel,                                                                     \
        __VA_ARGS__,                                                                               \
    };
#define UNICODE_ARGS(ROWS) .rows = ROWS, .args_size = sizeof(struct unicode_args)
UNICODE(unicode_decode, 1,
        .doc = "The code points of each string of a vector, where each string's begin, and their "
               "bytes (what tf.strings.unicode_decode is made of).",
        .types = "string", .outputs = "char_values row_splits char_to_byte_starts",
        UNICODE_ARGS(decode_rows))
UNICODE(unicode_encode, 2,
        .doc = "Rows of code points as strings (what tf.strings.unicode_encode is made of).",
        .types = "int32 Tindices", .outputs = "output", UNICODE_ARGS(encode_rows))
UNICODE(unicode_script, 1,
        .doc = "ICU's number of each code point's script (tf.strings.unicode_script).",
        .names = "strings.unicode_script", .inputs = "input", .types = "int32", .outputs = "output",
        .checks = LEATI_CHECKS_IN_KERNEL, .rows = leati_no_rows)
UNICODE(unicode_transcode, 1,
        .doc = "Strings of one encoding in another one (tf.strings.unicode_transcode).",
        .names = "strings.unicode_transcode", .inputs = "input", .types = "string",
        .outputs = "output", .checks = LEATI_CHECKS_IN_KERNEL, UNICODE_ARGS(transcode_rows))
