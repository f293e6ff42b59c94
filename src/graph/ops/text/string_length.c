/* string_length: the number of bytes or of characters of UTF-8 of each string, as int32
 * (tf.strings.length).
 *
 * A character is a byte that begins one, whatever follows. Fails in inference on other dtypes and
 * units, and in a run on a string of 2 GiB or more. No gradient, no locks. */
#include "graph/support/text/units.h"

struct string_length_args {
    char *unit;
};

static const leati_row string_length_rows[] = {
    LEATI_UNIT_ROW(struct string_length_args),
    {0},
};

static leat_status string_length_infer(leati_infer_call *call, leat_error *err) {
    const struct string_length_args *args = call->args;
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_STRING, "the input", err));
    LEATI_TRY(leati_units_want(args->unit, err));
    return leati_op_infer_output(call, LEAT_INT32, &call->inputs[0].shape, NULL, err);
}

static leat_status string_length_kernel(leati_kernel_call *call, leat_error *err) {
    const struct string_length_args *args = call->args;
    const leati_operand *in = &call->inputs[0], *out = &call->outputs[0];
    bool characters = leati_unit_is_character(args->unit);
    leat_shape shape = leati_support_operand_shape(in);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    for (int64_t row = 0; row < call->n; row++) {
        for (int64_t i = 0; i < in->count; i++) {
            const leat_string *s = leati_text_strings_of(in, row) + i;
            size_t size = characters ? (size_t)leati_units_count_characters(s) : s->size;
            if (size > INT32_MAX) {
                call->failed_row = row;
                return leati_fail(err, LEAT_INVALID_ARGUMENT,
                                  "a string of %zu units: its length does not fit int32", size);
            }
            ((int32_t *)(void *)leati_support_row_of(out, row))[i] = (int32_t)size;
        }
    }
    return LEAT_OK;
}

leat_value leat_op_string_length(leat_value x) {
    struct string_length_args args = {.unit = leati_bytes_unit};
    return leati_graph_build1(&leati_tensor_op_string_length, &args, x);
}

leat_value leat_op_string_length_utf8(leat_value x) {
    struct string_length_args args = {.unit = leati_character_unit};
    return leati_graph_build1(&leati_tensor_op_string_length, &args, x);
}

const leati_tensor_op leati_tensor_op_string_length = {
    .name = "string_length",
    .version = 1,
    .doc = "The number of bytes or of characters of each string, as int32 (tf.strings.length).",
    .names = "strings.length",
    .inputs = "input",
    .types = "string",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .by_value = true,
    .rows = string_length_rows,
    .args_size = sizeof(struct string_length_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = string_length_infer,
    .kernel = string_length_kernel,
};
