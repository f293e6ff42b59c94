/* identity, stop_gradient: the input as it is, as a view without a copy; through the second no
 * gradient flows (tf.identity, tf.stop_gradient). They cannot fail but for memory. No state, no
 * locks. */
#include "graph/known.h"
#include "graph/support/support.h"

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

#define IDENTITY(OP, ...)                                                                          \
    const leati_tensor_op leati_tensor_op_##OP = {                                                 \
        .name = #OP,                                                                               \
        .version = 1,                                                                              \
        .names = #OP,                                                                              \
        .inputs = "input",                                                                         \
        .types = "T",                                                                              \
        .outputs = "output",                                                                       \
        .halves = LEATI_HALVES_OWN,                                                                \
        .checks = LEATI_CHECKS_IN_KERNEL,                                                          \
        .by_value = true,                                                                          \
        .rows = leati_no_rows,                                                                     \
        .min_inputs = 1,                                                                           \
        .max_inputs = 1,                                                                           \
        .infer = leati_op_infer_same,                                                              \
        .kernel = identity_kernel,                                                                 \
        __VA_ARGS__,                                                                               \
    };
IDENTITY(identity, .doc = "The input unchanged (tf.identity).", .flags = LEATI_ELEMENTWISE,
         .gradient = identity_gradient, .known = leati_known_same, .trait = LEATI_TRAIT_VIEW)
IDENTITY(stop_gradient,
         .doc = "The input unchanged; no gradient flows through it (tf.stop_gradient).",
         .gradient = leati_op_gradient_none)
