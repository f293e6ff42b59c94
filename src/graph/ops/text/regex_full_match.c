/* regex_full_match: is each string as a whole what a regular expression describes
 * (tf.strings.regex_full_match)?
 *
 * The syntax is RE2's, see graph/support/text/regex.h. Fails on a bad pattern, in inference if it
 * is known there, in a run where a search goes back too often. No gradient, no locks. */
#include "graph/support/text/regex.h"

struct regex_full_match_args {
    char *pattern;
};

static const leati_row regex_full_match_rows[] = {
    {.name = "pattern",
     .type = LEATI_ROW_STRING,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct regex_full_match_args, pattern),
     .doc = "The regular expression."},
    {0},
};

static const char *pattern_of(const struct regex_full_match_args *args) {
    return args->pattern == NULL ? "" : args->pattern;
}

static leat_status regex_full_match_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_STRING, "the input", err));
    leati_regex *regex = leati_regex_new(pattern_of(call->args), false, err);
    if (regex == NULL)
        return err == NULL ? LEAT_INVALID_ARGUMENT : err->code;
    leati_regex_free(regex);
    return leati_op_infer_output(call, LEAT_BOOL, &call->inputs[0].shape, NULL, err);
}

static leat_status match_rows(leati_kernel_call *call, leati_regex *regex, leat_error *err) {
    const leati_operand *in = &call->inputs[0], *out = &call->outputs[0];
    for (int64_t row = 0; row < call->n; row++) {
        bool *to = (bool *)leati_support_row_of(out, row);
        for (int64_t i = 0; i < in->count; i++) {
            int found = leati_regex_search(regex, leati_text_strings_of(in, row)[i], 0, true, err);
            if (found < 0) {
                call->failed_row = row;
                return LEAT_RESOURCE_EXHAUSTED;
            }
            to[i] = found > 0;
        }
    }
    return LEAT_OK;
}

static leat_status regex_full_match_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    bool often = call->inputs[0].count * call->n >= LEATI_REGEX_OFTEN;
    leati_regex *regex = leati_regex_new(pattern_of(call->args), often, err);
    if (regex == NULL)
        return err == NULL ? LEAT_RESOURCE_EXHAUSTED : err->code;
    leat_status status = match_rows(call, regex, err);
    leati_regex_free(regex);
    return status;
}

leat_value leat_op_regex_full_match(leat_value input, const char *pattern) {
    struct regex_full_match_args args = {.pattern = (char *)(uintptr_t)pattern};
    return leati_graph_build1(&leati_tensor_op_regex_full_match, &args, input);
}

const leati_tensor_op leati_tensor_op_regex_full_match = {
    .name = "regex_full_match",
    .version = 1,
    .doc = "Is each string as a whole what a regular expression describes "
           "(tf.strings.regex_full_match)?",
    .names = "strings.regex_full_match",
    .inputs = "input",
    .types = "string",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = regex_full_match_rows,
    .args_size = sizeof(struct regex_full_match_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = regex_full_match_infer,
    .kernel = regex_full_match_kernel,
};
