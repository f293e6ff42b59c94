/* max_pool2d_grad_grad: the values of a tensor at the places where max_pool2d found its maxima
 * (tf.raw_ops.MaxPoolGradGrad). Inputs: the pooling's input, its output, the tensor, of the
 * input's shape.
 *
 * It is what flows back through max_pool2d_grad, which also says which place counts. Fails where
 * shapes do not fit. No state, no locks. */
#include "graph/support/picture/window.h"

static leat_status max_pool2d_grad_grad_infer(leati_infer_call *call, leat_error *err) {
    leati_conv_plan plan;
    leat_shape input, output, given, shape;
    LEATI_TRY(leati_support_want_float(call, 0, "the input", err));
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    LEATI_TRY(leati_window_want_rank4(call, 0, "the input", &input, err));
    LEATI_TRY(leati_window_want_rank4(call, 1, "the output", &output, err));
    LEATI_TRY(leati_window_want_rank4(call, 2, "the gradient", &given, err));
    LEATI_TRY(leati_window_pool_plan_init(&plan, call->args, &input, &shape, err));
    LEATI_TRY(leati_window_want_result_shape(&output, &shape, err));
    LEATI_TRY(leati_window_want_result_shape(&given, &input, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

static leat_status max_pool2d_grad_grad_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_window_max_pool_route(call, true, err);
}

static leat_status max_pool2d_grad_grad_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[2] =
        leati_graph_build3(&leati_tensor_op_max_pool2d_grad, call->args, call->inputs[0],
                           call->inputs[1], call->output_gradients[0]);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_max_pool2d_grad_grad = {
    .name = "max_pool2d_grad_grad",
    .version = 1,
    .doc = "The values where max_pool2d found its maxima (tf.raw_ops.MaxPoolGradGrad).",
    .types = "T T T",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .rows = leati_pool_rows,
    .args_size = sizeof(struct leati_pool_args),
    .min_inputs = 3,
    .max_inputs = 3,
    .infer = max_pool2d_grad_grad_infer,
    .kernel = max_pool2d_grad_grad_kernel,
    .gradient = max_pool2d_grad_grad_gradient,
};
