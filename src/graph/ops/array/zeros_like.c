/* zeros_like: zeros (false, empty strings) of another tensor's shape and dtype (tf.zeros_like). The
 * gradient is none. No state, no locks. */
#include "graph/support/support.h"

#include <string.h>

static leat_status zeros_like_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_support_want_values(call, 0, err));
    return leati_op_infer_same(call, err);
}

static leat_status zeros_like_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    const leati_operand *out = &call->outputs[0];
    size_t bytes = (size_t)out->count * leat_dtype_size(out->dtype);
    for (int64_t row = 0; row < call->n && bytes > 0; row++)
        memset(leati_support_row_of(out, row), 0, bytes);
    return LEAT_OK;
}

leat_value leat_op_zeros_like(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_zeros_like, NULL, x);
}

const leati_tensor_op leati_tensor_op_zeros_like = {
    .name = "zeros_like",
    .version = 1,
    .doc = "Zeros of another tensor's shape and dtype (tf.zeros_like).",
    .names = "zeros_like",
    .inputs = "input",
    .signature = "input dtype=null name layout=null",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .by_value = true,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = zeros_like_infer,
    .kernel = zeros_like_kernel,
    .gradient = leati_op_gradient_none,
};
