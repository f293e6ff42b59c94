/* string_split: the parts of each string of a vector, all in one vector, and where each string's
 * parts begin: the values and row splits of a ragged tensor (what tf.strings.split is made of).
 *
 * Without a separator runs of ASCII white space part, and none stands around a part; a separator
 * parts wherever it stands, so parts may be empty. After `maxsplit` cuts the rest is one part as it
 * is, even an empty one; 0 leaves strings whole. How many parts there are is data, so rows run one
 * at a time; parts are views of the input's bytes. Fails where the input is no vector of strings.
 * No gradient, no locks. */
#define _GNU_SOURCE /* memmem */
#include "graph/support/text/texts.h"

#include <string.h>

struct string_split_args {
    char *sep;
    int64_t maxsplit;
};

static const leati_row string_split_rows[] = {
    {.name = "sep",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct string_split_args, sep),
     .default_text = "",
     .doc = "What stands between two parts; empty: white space."},
    {.name = "maxsplit",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct string_split_args, maxsplit),
     .default_number = -1,
     .doc = "How many cuts there are at most in a string; a negative number: no limit."},
    {0},
};

static leat_status string_split_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_STRING, "the input", err));
    return leati_text_infer_parts(call, LEAT_STRING, LEAT_INT64, err);
}

enum { PART = 16 }; /* the work of finding one, in numbers moved */

static bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* An empty string may have no address: NULL must not be moved. */
static leat_string skip(leat_string s, size_t size) {
    return size == 0 ? s : (leat_string){.data = s.data + size, .size = s.size - size};
}

static leat_string skip_space(leat_string s) {
    size_t size = 0;
    while (size < s.size && is_space(s.data[size]))
        size++;
    return skip(s, size);
}

/* Cuts the next part off `rest`; false where there is none, and `rest` is the last part or, by
 * white space, nothing. */
static bool next_part(leat_string *rest, const char *sep, size_t sep_size, leat_string *part) {
    *part = *rest;
    if (sep_size > 0) {
        const char *at =
            rest->size < sep_size ? NULL : memmem(rest->data, rest->size, sep, sep_size);
        if (at == NULL)
            return false;
        part->size = (size_t)(at - rest->data);
        *rest = skip(*rest, part->size + sep_size);
        return true;
    }
    part->size = 0;
    while (part->size < rest->size && !is_space(rest->data[part->size]))
        part->size++;
    *rest = skip_space(skip(*rest, part->size));
    return part->size > 0;
}

/* Writes the parts of `s` to `to`, or where that is NULL only counts them; *done is that of
 * leati_stop_look_after. */
static int64_t split_one(leat_string s, const struct string_split_args *args, leat_string *to,
                         int64_t *done) {
    const char *sep = args->sep == NULL ? "" : args->sep;
    size_t sep_size = strlen(sep);
    /* White space in front is no empty part; with maxsplit 0 the string stays as it is. */
    leat_string rest = sep_size > 0 || args->maxsplit == 0 ? s : skip_space(s), part;
    int64_t count = 0;
    /* A negative maxsplit is never reached: there are as many cuts as there can be. */
    while (count != args->maxsplit && next_part(&rest, sep, sep_size, &part) &&
           !leati_stop_look_after(PART, done)) {
        if (to != NULL)
            to[count] = part;
        count++;
    }
    /* By white space a rest is left only where cutting stopped early. */
    if (sep_size == 0 && count != args->maxsplit)
        return count;
    if (to != NULL)
        to[count] = rest;
    return count + 1;
}

static leat_status string_split_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    if (in->rank != 1)
        return leati_refuse(err, SHAPE, "the input has rank %d; expected rank 1", (int)in->rank);
    const leat_string *strings = leati_text_strings_of(in, 0);
    leat_shape splits = LEAT_SHAPE(in->count + 1), values = LEAT_SHAPE(0);
    LEATI_TRY(leati_support_output_like(call, 1, &splits, err));
    int64_t *ends = (int64_t *)(void *)call->outputs[1].data;
    int64_t done = 0;
    ends[0] = 0;
    for (int64_t i = 0; i < in->count; i++)
        ends[i + 1] = ends[i] + split_one(strings[i], call->args, NULL, &done);
    LEATI_TRY(leati_stop_check(err)); /* else both passes may not find as many */
    values.dims[0] = ends[in->count];
    LEATI_TRY(leati_support_output_like(call, 0, &values, err));
    leat_string *to = leati_text_strings_of(&call->outputs[0], 0);
    for (int64_t i = 0; i < in->count && to != NULL && !leati_stop_stopped(); i++)
        (void)split_one(strings[i], call->args, to + ends[i], &done);
    return leati_support_hold_strings(call, 0, err);
}

const leati_tensor_op leati_tensor_op_string_split = {
    .name = "string_split",
    .version = 1,
    .doc = "The parts of each string of a vector, and where each string's parts begin (what "
           "tf.strings.split is made of).",
    .types = "string",
    .outputs = "values row_splits",
    .halves = LEATI_HALVES_NONE,
    .rows = string_split_rows,
    .args_size = sizeof(struct string_split_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = string_split_infer,
    .kernel = string_split_kernel,
};
