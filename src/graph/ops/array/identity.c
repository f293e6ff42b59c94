/* identity: the input as it is, as a view without a copy. Differentiable. Cannot fail but for
 * memory. */
#include "graph/known.h"
#include "graph/op.h"

static leat_status identity_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *input = &call->inputs[0];
    return leati_op_kernel_view(call, 0, input->rank, input->dims, input->data, input->row_stride,
                                input->owner, err);
}

static leat_status identity_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] = call->output_gradients[0];
    return LEAT_OK;
}

static const leati_row identity_rows[] = {{0}};

const leati_tensor_op leati_tensor_op_identity = {
    .name = "identity",
    .version = 1,
    .doc = "The input unchanged (tf.identity).",
    .names = "identity",
    .inputs = "input",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .by_value = true,
    .rows = identity_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = leati_op_infer_same,
    .kernel = identity_kernel,
    .gradient = identity_gradient,
    .known = leati_known_same,
    .trait = LEATI_TRAIT_VIEW,
};
