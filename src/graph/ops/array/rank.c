/* rank: the number of dimensions of a tensor, an int32 scalar (tf.rank). No gradient flows. No
 * state, no locks. */
#include "graph/support/support.h"

static leat_status rank_infer(leati_infer_call *call, leat_error *err) {
    leat_shape scalar = LEAT_SCALAR;
    return leati_op_infer_output(call, LEAT_INT32, &scalar, NULL, err);
}

static leat_status rank_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape scalar = LEAT_SCALAR;
    LEATI_TRY(leati_support_output_like(call, 0, &scalar, err));
    for (int64_t row = 0; row < call->n; row++)
        *(int32_t *)(void *)leati_support_row_of(&call->outputs[0], row) = call->inputs[0].rank;
    return LEAT_OK;
}

leat_value leat_op_rank(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_rank, NULL, x);
}

const leati_tensor_op leati_tensor_op_rank = {
    .name = "rank",
    .version = 1,
    .doc = "The number of dimensions of a tensor, an int32 scalar (tf.rank).",
    .names = "rank",
    .inputs = "input",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = rank_infer,
    .kernel = rank_kernel,
    .gradient = leati_op_gradient_none,
};
