/* string_to_number: the number that a string says (tf.strings.to_number).
 *
 * White space around it is allowed; a decimal point is a point in every locale. Fails in a run
 * where the text is no number or leaves the dtype's range, with the text and its row. No gradient,
 * no locks. */
#include "base/minmax.h"
#include "core/number.h"
#include "graph/support/text/texts.h"

struct string_to_number_args {
    leat_dtype out_type;
};

static const leati_row string_to_number_rows[] = {
    {.name = "out_type",
     .type = LEATI_ROW_DTYPE,
     .offset = offsetof(struct string_to_number_args, out_type),
     .default_number = LEAT_FLOAT32,
     .doc = "int32, int64, uint32, uint64, float32 or float64."},
    {0},
};

static leat_status string_to_number_infer(leati_infer_call *call, leat_error *err) {
    const struct string_to_number_args *args = call->args;
    leat_dtype dtype = args->out_type;
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_STRING, "the input", err));
    if (dtype != LEAT_INT32 && dtype != LEAT_INT64 && dtype != LEAT_UINT32 &&
        dtype != LEAT_UINT64 && dtype != LEAT_FLOAT32 && dtype != LEAT_FLOAT64)
        return leati_refuse(
            err, DTYPE, "out_type is %s; expected int32, int64, uint32, uint64, float32 or float64",
            leat_dtype_name(dtype));
    return leati_op_infer_output(call, dtype, &call->inputs[0].shape, NULL, err);
}

static leat_status string_to_number_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[0], *out = &call->outputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    int64_t done = 0;
    for (int64_t row = 0; row < call->n; row++) {
        for (int64_t i = 0; i < in->count && !leati_stop_look_after(LEATI_TEXT_WORK, &done); i++) {
            leat_string s = leati_text_strings_of(in, row)[i];
            char *to = leati_support_row_of(out, row);
            /* Parsed straight into the output: a failure discards that anyway. */
            if (leati_number_parse(s, out->dtype, to + (size_t)i * leat_dtype_size(out->dtype)))
                continue;
            call->failed_row = row;
            /* A long text is shown in part; one without bytes has no address to print from. */
            return leati_refuse(err, VALUE, "\"%.*s\" is not a number of %s",
                                (int)LEATI_MIN(s.size, 60), s.data == NULL ? "" : s.data,
                                leat_dtype_name(out->dtype));
        }
    }
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_string_to_number = {
    .name = "string_to_number",
    .version = 1,
    .doc = "The number that a string says (tf.strings.to_number).",
    .names = "strings.to_number",
    .inputs = "input",
    .types = "string",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .by_value = true,
    .rows = string_to_number_rows,
    .args_size = sizeof(struct string_to_number_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = string_to_number_infer,
    .kernel = string_to_number_kernel,
};
