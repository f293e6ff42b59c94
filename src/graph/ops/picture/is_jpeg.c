/* is_jpeg: do strings begin as a JPEG does (tf.io.is_jpeg)?
 *
 * Three bytes are looked at. Fails in inference on other dtypes than string. No state, no locks. */
#include "graph/support/support.h"

#include <string.h>

static leat_status is_jpeg_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_STRING, "the contents", err));
    return leati_op_infer_output(call, LEAT_BOOL, &call->inputs[0].shape, NULL, err);
}

static leat_status is_jpeg_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    for (int64_t row = 0; row < call->n; row++) {
        const leat_string *contents =
            (const leat_string *)(const void *)leati_support_row_of(in, row);
        bool *out = (bool *)leati_support_row_of(&call->outputs[0], row);
        for (int64_t i = 0; i < in->count; i++)
            out[i] = contents[i].size >= 3 && memcmp(contents[i].data, "\xff\xd8\xff", 3) == 0;
    }
    return LEAT_OK;
}

leat_value leat_op_is_jpeg(leat_value contents) {
    return leati_graph_build1(&leati_tensor_op_is_jpeg, NULL, contents);
}

const leati_tensor_op leati_tensor_op_is_jpeg = {
    .name = "is_jpeg",
    .version = 1,
    .doc = "Do strings begin as a JPEG does (tf.io.is_jpeg)?",
    .names = "io.is_jpeg image.is_jpeg",
    .inputs = "contents",
    .types = "string",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = is_jpeg_infer,
    .kernel = is_jpeg_kernel,
};
