/* regex_full_match, regex_replace: is each string as a whole what a regular expression describes,
 * and strings with what it finds in them, all of it or the first, replaced
 * (tf.strings.regex_full_match, tf.strings.regex_replace)?
 *
 * The syntax is RE2's, see graph/support/text/regex.h. In the replacement \0 is the match, \1 to \9
 * a group and \\ a backslash; a group that the pattern does not have leaves the string as it is,
 * another escape ends the replacement, or with replace_global off leaves the string, as in
 * TensorFlow. An empty match right behind another match does not count. They fail on a bad pattern,
 * in inference if it is known there, in a run where a search goes back too often. No gradient, no
 * locks. */
#include "graph/support/text/regex.h"

#include <string.h>

struct regex_args {
    char *pattern;
    char *rewrite;
    bool replace_global;
};

#define PATTERN_ROW                                                                                \
    {                                                                                              \
        .name = "pattern", .type = LEATI_ROW_STRING, .flags = LEATI_REQUIRED | LEATI_TENSOR,       \
        .offset = offsetof(struct regex_args, pattern), .doc = "The regular expression."           \
    }

static const leati_row match_rows[] = {PATTERN_ROW, {0}};

static const leati_row replace_rows[] = {
    PATTERN_ROW,
    {.name = "rewrite",
     .type = LEATI_ROW_STRING,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct regex_args, rewrite),
     .doc = "What stands in a match's place."},
    {.name = "replace_global",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct regex_args, replace_global),
     .default_number = 1,
     .doc = "Replace every match, else the first."},
    {0},
};

static const char *text_of(const char *text) {
    return text == NULL ? "" : text;
}

/* Strings, and a pattern that can be one. */
static leat_status want_pattern(const leati_infer_call *call, leat_error *err) {
    const struct regex_args *args = call->args;
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_STRING, "the input", err));
    /* Compiled as a check alone: a regex is for one thread, so each kernel makes its own. */
    leati_regex *regex = leati_regex_new(text_of(args->pattern), false, false, err);
    if (regex == NULL)
        return err->code;
    leati_regex_free(regex);
    return LEAT_OK;
}

/* Of few texts: is one of them long? */
static bool has_long_text(const leati_kernel_call *call) {
    const leati_operand *in = &call->inputs[0];
    for (int64_t row = 0; row < call->n; row++)
        for (int64_t i = 0; i < in->count; i++)
            if (leati_text_strings_of(in, row)[i].size >= LEATI_REGEX_LONG)
                return true;
    return false;
}

/* Output 0 has input 0's shape; `run` fills it. */
static leat_status with_regex(leati_kernel_call *call, bool whole,
                              leat_status (*run)(leati_kernel_call *call, leati_regex *regex,
                                                 leat_error *err),
                              leat_error *err) {
    const struct regex_args *args = call->args;
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    /* Of few strings the time to prepare a regex for many would not come back. */
    bool often = call->inputs[0].count * call->n >= LEATI_REGEX_OFTEN || has_long_text(call);
    leati_regex *regex = leati_regex_new(text_of(args->pattern), often, whole, err);
    if (regex == NULL)
        return err->code;
    leat_status status = run(call, regex, err);
    leati_regex_free(regex);
    return status;
}

/* ---- regex_full_match ---- */
static leat_status regex_full_match_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(want_pattern(call, err));
    return leati_op_infer_output(call, LEAT_BOOL, &call->inputs[0].shape, NULL, err);
}

static leat_status match_all(leati_kernel_call *call, leati_regex *regex, leat_error *err) {
    const leati_operand *in = &call->inputs[0], *out = &call->outputs[0];
    for (int64_t row = 0; row < call->n; row++) {
        bool *to = (bool *)leati_support_row_of(out, row);
        for (int64_t i = 0; i < in->count; i++) {
            int found = leati_regex_search(regex, leati_text_strings_of(in, row)[i], 0, err);
            if (found < 0) {
                call->failed_row = row;
                return err->code;
            }
            to[i] = found > 0;
        }
    }
    return LEAT_OK;
}

static leat_status regex_full_match_kernel(leati_kernel_call *call, leat_error *err) {
    return with_regex(call, true, match_all, err);
}

/* ---- regex_replace ---- */
static leat_status regex_replace_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(want_pattern(call, err));
    return leati_op_infer_same(call, err);
}

/* The largest group that a replacement names; *good: its escapes are all of those that there are.
 */
static int most_group(const char *rewrite, bool *good) {
    int most = 0;
    *good = true;
    for (; *rewrite != '\0'; rewrite++) {
        if (*rewrite != '\\')
            continue;
        if (*++rewrite >= '0' && *rewrite <= '9')
            most = *rewrite - '0' > most ? *rewrite - '0' : most;
        else if (*rewrite != '\\')
            *good = false;
        /* A backslash ends the text: the loop's step must not pass the zero byte. */
        if (*rewrite == '\0')
            break;
    }
    return most;
}

static void put_rewrite(const leati_regex *regex, const char *rewrite, leat_string text,
                        leati_writer *out) {
    for (; *rewrite != '\0'; rewrite++) {
        size_t begin = 0, end = 0;
        if (*rewrite != '\\') {
            leati_put_raw(out, rewrite, 1);
            continue;
        }
        rewrite++;
        if (*rewrite == '\\')
            leati_put_raw(out, rewrite, 1);
        else if (*rewrite < '0' || *rewrite > '9')
            /* RE2's GlobalReplace writes what came before a bad escape. */
            return;
        else if (leati_regex_group(regex, *rewrite - '0', &begin, &end) && end > begin)
            leati_put_raw(out, text.data + begin, end - begin);
    }
}

/* One character, or one byte that is none. */
static size_t step(leat_string text, size_t at) {
    int32_t point;
    size_t size = leati_text_utf8_next(text.data + at, text.data + text.size, &point);
    return point < 0 ? 1 : size;
}

static leat_status replace(const leati_kernel_call *call, int64_t row, int64_t index, void *context,
                           leati_writer *out, leat_error *err) {
    const struct regex_args *args = call->args;
    const char *rewrite = text_of(args->rewrite);
    leati_regex *regex = context;
    leat_string text = leati_text_strings_of(&call->inputs[0], row)[index];
    size_t at = 0, last = SIZE_MAX; /* the end of the last match */
    /* Without `names` nothing is replaced, nor by a bad escape if the first match alone counts. */
    bool good, names = most_group(rewrite, &good) <= leati_regex_groups(regex);
    while (names && (good || args->replace_global) && at <= text.size) {
        size_t begin = 0, end = 0;
        int found = leati_regex_search(regex, text, at, err);
        if (found < 0)
            return err->code;
        if (found == 0 || !leati_regex_group(regex, 0, &begin, &end))
            break;
        if (begin > at)
            leati_put_raw(out, text.data + at, begin - at);
        at = end;
        /* An empty match where the last one ended is none: one character is passed instead. */
        if (begin != end || begin != last) {
            put_rewrite(regex, rewrite, text, out);
            last = end;
            if (!args->replace_global)
                break;
        } else if (at < text.size) {
            size_t size = step(text, at);
            leati_put_raw(out, text.data + at, size);
            at += size;
        } else {
            at++; /* beyond the end: the loop is left */
        }
    }
    if (at < text.size)
        leati_put_raw(out, text.data + at, text.size - at);
    return LEAT_OK;
}

static leat_status replace_all(leati_kernel_call *call, leati_regex *regex, leat_error *err) {
    return leati_text_collect(call, replace, regex, err);
}

static leat_status regex_replace_kernel(leati_kernel_call *call, leat_error *err) {
    return with_regex(call, false, replace_all, err);
}

#define REGEX(OP, ...)                                                                             \
    const leati_tensor_op leati_tensor_op_##OP = {                                                 \
        .name = #OP,                                                                               \
        .version = 1,                                                                              \
        .names = "strings." #OP,                                                                   \
        .inputs = "input",                                                                         \
        .types = "string",                                                                         \
        .outputs = "output",                                                                       \
        .halves = LEATI_HALVES_NONE,                                                               \
        .checks = LEATI_CHECKS_IN_KERNEL,                                                          \
        .args_size = sizeof(struct regex_args),                                                    \
        .min_inputs = 1,                                                                           \
        .max_inputs = 1,                                                                           \
        .infer = OP##_infer,                                                                       \
        .kernel = OP##_kernel,                                                                     \
        __VA_ARGS__,                                                                               \
    };
REGEX(regex_full_match,
      .doc = "Is each string as a whole what a regular expression describes "
             "(tf.strings.regex_full_match)?",
      .rows = match_rows)
REGEX(
    regex_replace,
    .doc =
        "Strings with what a regular expression finds in them replaced (tf.strings.regex_replace).",
    .rows = replace_rows)
