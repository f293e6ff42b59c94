/* string_bytes_split: the bytes of each string of a vector as strings, all in one vector, and where
 * each string's begin: the values and row splits of a ragged tensor (what tf.strings.bytes_split is
 * made of).
 *
 * How many bytes there are is data, so rows run one at a time; the results are views of the input's
 * bytes. Fails where the input is no vector of strings. No gradient, no locks. */
#include "graph/support/text/texts.h"

static leat_status string_bytes_split_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_STRING, "the input", err));
    return leati_text_infer_parts(call, LEAT_STRING, LEAT_INT64, err);
}

static leat_status string_bytes_split_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    if (in->rank != 1)
        return leati_refuse(err, SHAPE, "the input has rank %d; expected rank 1", (int)in->rank);
    const leat_string *strings = leati_text_strings_of(in, 0);
    leat_shape splits = LEAT_SHAPE(in->count + 1), values = LEAT_SHAPE(0);
    LEATI_TRY(leati_support_output_like(call, 1, &splits, err));
    int64_t *ends = (int64_t *)(void *)call->outputs[1].data;
    /* Row splits are both counts and places: the last one is the number of values. */
    ends[0] = 0;
    for (int64_t i = 0; i < in->count; i++)
        ends[i + 1] = ends[i] + (int64_t)strings[i].size;
    values.dims[0] = ends[in->count];
    LEATI_TRY(leati_support_output_like(call, 0, &values, err));
    /* NULL where there are no values, and then nothing is written. */
    leat_string *to = leati_text_strings_of(&call->outputs[0], 0);
    int64_t done = 0;
    for (int64_t i = 0; i < in->count; i++)
        for (size_t b = 0; b < strings[i].size && !leati_stop_look_after(1, &done); b++)
            *to++ = (leat_string){.data = strings[i].data + b, .size = 1};
    return leati_support_hold_strings(call, 0, err);
}

const leati_tensor_op leati_tensor_op_string_bytes_split = {
    .name = "string_bytes_split",
    .version = 1,
    .doc = "The bytes of each string of a vector, and where each string's begin (what "
           "tf.strings.bytes_split is made of).",
    .types = "string",
    .outputs = "values row_splits",
    .halves = LEATI_HALVES_NONE,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = string_bytes_split_infer,
    .kernel = string_bytes_split_kernel,
};
