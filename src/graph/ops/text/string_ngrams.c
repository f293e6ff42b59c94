/* string_ngrams: runs of neighbouring strings of each row, joined (what tf.strings.ngrams is made
 * of).
 *
 * Inputs are the strings and the row splits of their rows, int32 or int64; outputs the n-grams, the
 * widths one after the other, and their row splits. `pad` strings stand before and behind a row, at
 * most one less than a width. Where `preserve_short` is set and a row gives nothing at all, it is
 * one n-gram as a whole. How many there are is data, so rows run one at a time. Fails on row splits
 * that do not fit, and without memory. No gradient, no locks. */
#include "base/minmax.h"
#include "graph/support/text/texts.h"

#include <string.h>

struct string_ngrams_args {
    leati_ints ngram_widths;
    char *separator, *left_pad, *right_pad;
    int64_t pad_width;
    bool preserve_short_sequences;
};

#define ROW(field) .offset = offsetof(struct string_ngrams_args, field)

static const leati_row string_ngrams_rows[] = {
    {.name = "ngram_widths",
     .type = LEATI_ROW_INTS,
     .flags = LEATI_REQUIRED,
     ROW(ngram_widths),
     .doc = "How many strings make an n-gram, one or several numbers from 1 on."},
    {.name = "separator",
     .type = LEATI_ROW_STRING,
     ROW(separator),
     .default_text = " ",
     .doc = "What stands between two strings."},
    {.name = "left_pad",
     .type = LEATI_ROW_STRING,
     ROW(left_pad),
     .default_text = "",
     .doc = "The string before a row."},
    {.name = "right_pad",
     .type = LEATI_ROW_STRING,
     ROW(right_pad),
     .default_text = "",
     .doc = "The string behind a row."},
    {.name = "pad_width",
     .type = LEATI_ROW_INT,
     ROW(pad_width),
     .minimum = -1,
     .maximum = INT32_MAX,
     .doc = "How many there are at each end, at most one less than a width; -1: as many."},
    {.name = "preserve_short_sequences",
     .type = LEATI_ROW_BOOL,
     ROW(preserve_short_sequences),
     .doc = "A row that is shorter than all widths is one n-gram."},
    {0},
};

static leat_status string_ngrams_infer(leati_infer_call *call, leat_error *err) {
    const struct string_ngrams_args *args = call->args;
    leat_shape grams = LEAT_SHAPE(LEAT_UNKNOWN_DIM), splits = grams;
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_STRING, "the input", err));
    LEATI_TRY(leati_support_want_rank(call, 0, 1, "the input", err));
    LEATI_TRY(leati_support_want_index(call, 1, "the row splits", err));
    LEATI_TRY(leati_support_want_rank(call, 1, 1, "the row splits", err));
    for (int32_t i = 0; i < args->ngram_widths.count; i++)
        /* The upper bound keeps sums of widths and paddings far from an overflow. */
        if (args->ngram_widths.values[i] < 1 || args->ngram_widths.values[i] > INT32_MAX)
            return leati_refuse(err, VALUE, "ngram_widths has %lld; expected numbers from 1 on",
                                (long long)args->ngram_widths.values[i]);
    if (call->inputs[1].shape.rank == 1)
        splits = call->inputs[1].shape;
    LEATI_TRY(leati_op_infer_output(call, LEAT_STRING, &grams, NULL, err));
    return leati_op_infer_output(call, call->inputs[1].dtype, &splits, NULL, err);
}

/* A row between its paddings. */
typedef struct sequence {
    const leat_string *strings;
    int64_t count;
    const struct string_ngrams_args *args;
} sequence;

/* A negative pad_width stands for as much as the width allows, as with TensorFlow. */
static int64_t padding(const sequence *s, int64_t width) {
    int64_t pad = s->args->pad_width;
    return pad < 0 || pad > width - 1 ? width - 1 : pad;
}

static int64_t grams_of(const sequence *s, int64_t width) {
    int64_t all = s->count + 2 * padding(s, width);
    return all >= width ? all - width + 1 : 0;
}

/* The width of the one n-gram that a short row is; 0: it is none. */
static int64_t short_width(const sequence *s) {
    if (!s->args->preserve_short_sequences || s->count == 0)
        return 0;
    for (int32_t i = 0; i < s->args->ngram_widths.count; i++)
        if (grams_of(s, s->args->ngram_widths.values[i]) > 0)
            return 0;
    /* Here the whole padding counts, as with TensorFlow; only without widths is it negative. */
    return s->count + 2 * LEATI_MAX(s->args->pad_width, 0);
}

static int64_t count_grams(const sequence *s) {
    int64_t sum = short_width(s) > 0;
    for (int32_t i = 0; i < s->args->ngram_widths.count; i++)
        sum += grams_of(s, s->args->ngram_widths.values[i]);
    return sum;
}

/* Appends `width` strings from place `from` on, where `pad` places stand before the row. */
static void put_gram(const sequence *s, int64_t from, int64_t width, int64_t pad,
                     leati_writer *out) {
    const char *between = s->args->separator == NULL ? "" : s->args->separator;
    for (int64_t i = from; i < from + width; i++) {
        const char *edge = i < pad ? s->args->left_pad : s->args->right_pad;
        if (i > from)
            leati_put_raw(out, between, strlen(between));
        if (i >= pad && i < pad + s->count)
            leati_put_raw(out, s->strings[i - pad].data, s->strings[i - pad].size);
        else if (edge != NULL)
            leati_put_raw(out, edge, strlen(edge));
    }
}

static sequence row_of(const leati_kernel_call *call, int64_t row) {
    int64_t from = leati_support_index_at(&call->inputs[1], 0, row);
    const leat_string *strings = leati_text_strings_of(&call->inputs[0], 0);
    /* NULL, of no strings at all, must not be moved. */
    return (sequence){.strings = from > 0 ? strings + from : strings,
                      .count = leati_support_index_at(&call->inputs[1], 0, row + 1) - from,
                      .args = call->args};
}

/* Where the n-gram that is written next stands. */
typedef struct cursor {
    int64_t row, width, at; /* number of the row, of its width, and of the n-gram of that */
} cursor;

static leat_status put_next(const leati_kernel_call *call, int64_t row, int64_t index,
                            void *context, leati_writer *out, leat_error *err) {
    cursor *c = context;
    (void)row;
    (void)index;
    (void)err;
    /* Ends, as no more n-grams are asked for than count_grams found. */
    for (;; c->row++, c->width = 0, c->at = 0) {
        sequence s = row_of(call, c->row);
        int64_t whole = short_width(&s);
        if (whole > 0 && c->at == 0) {
            put_gram(&s, 0, whole, (whole - s.count) / 2, out);
            c->at++;
            return LEAT_OK;
        }
        for (; whole == 0 && c->width < s.args->ngram_widths.count; c->width++, c->at = 0) {
            int64_t width = s.args->ngram_widths.values[c->width];
            if (c->at >= grams_of(&s, width))
                continue;
            put_gram(&s, c->at++, width, padding(&s, width), out);
            return LEAT_OK;
        }
    }
}

static leat_status check_rows(const leati_kernel_call *call, leat_error *err) {
    const leati_operand *splits = &call->inputs[1];
    bool good = call->inputs[0].rank == 1 && splits->rank == 1 && splits->count > 0 &&
                leati_support_index_at(splits, 0, 0) == 0 &&
                leati_support_index_at(splits, 0, splits->count - 1) == call->inputs[0].count;
    for (int64_t i = 1; good && i < splits->count; i++)
        good = leati_support_index_at(splits, 0, i - 1) <= leati_support_index_at(splits, 0, i);
    if (good)
        return LEAT_OK;
    return leati_refuse(err, VALUE, "row splits that do not rise from 0 to the number of strings");
}

static leat_status string_ngrams_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape splits = LEAT_SHAPE(call->inputs[1].count), grams = LEAT_SHAPE(0);
    cursor c = {0};
    LEATI_TRY(check_rows(call, err));
    LEATI_TRY(leati_support_output_like(call, 1, &splits, err));
    char *ends = call->outputs[1].data;
    bool wide = call->outputs[1].dtype == LEAT_INT64;
    for (int64_t row = 0; row < splits.dims[0]; row++) {
        if (wide)
            ((int64_t *)(void *)ends)[row] = grams.dims[0];
        else
            ((int32_t *)(void *)ends)[row] = (int32_t)grams.dims[0];
        if (row + 1 == splits.dims[0])
            break;
        /* The split of the row behind is what rows so far add up to. */
        sequence s = row_of(call, row);
        grams.dims[0] += count_grams(&s);
        if (!wide && grams.dims[0] > INT32_MAX)
            return leati_refuse(err, VALUE,
                                "%lld n-grams do not fit row splits of int32; use int64",
                                (long long)grams.dims[0]);
    }
    LEATI_TRY(leati_support_output_like(call, 0, &grams, err));
    return leati_text_collect(call, put_next, &c, err);
}

const leati_tensor_op leati_tensor_op_string_ngrams = {
    .name = "string_ngrams",
    .version = 1,
    .doc = "Runs of neighbouring strings of each row, joined (what tf.strings.ngrams is made of).",
    .types = "string Tindices",
    .outputs = "ngrams ngrams_splits",
    .halves = LEATI_HALVES_NONE,
    .rows = string_ngrams_rows,
    .args_size = sizeof(struct string_ngrams_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = string_ngrams_infer,
    .kernel = string_ngrams_kernel,
};
