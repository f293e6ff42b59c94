/* log_softmax: the logarithm of softmax along the last dimension (tf.nn.log_softmax).
 *
 * Computed without the exponentials' quotient, so small probabilities keep their digits. Fails in
 * inference on scalars and other dtypes. No state, no locks. */
#include "graph/ops/nn/softmax.h"

static void log_softmax_line(leat_dtype dtype, const char *in, char *out, int64_t n) {
    if (dtype == LEAT_FLOAT32) {
        float *to = (float *)out,
              log_sum = leati_softmax_shift_logits_float((const float *)in, to, n);
        for (int64_t i = 0; i < n; i++)
            to[i] -= log_sum;
    } else {
        double *to = (double *)out,
               log_sum = leati_softmax_shift_logits_double((const double *)in, to, n);
        for (int64_t i = 0; i < n; i++)
            to[i] -= log_sum;
    }
}

static leat_status log_softmax_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_softmax_over_lines(call, log_softmax_line, err);
}

static leat_status log_softmax_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], y = call->outputs[0];
    leat_value sum = leat_op_reduce_sum(g, (int64_t[]){-1}, 1, true);
    call->input_gradients[0] = leat_op_subtract(g, leat_op_multiply(sum, leat_op_exp(y)));
    return LEAT_OK;
}

leat_value leat_op_log_softmax(leat_value x) {
    return leati_graph_build1(&leati_tensor_op_log_softmax, NULL, x);
}

const leati_tensor_op leati_tensor_op_log_softmax = {
    .name = "log_softmax",
    .version = 1,
    .doc = "The logarithm of softmax along the last dimension (tf.nn.log_softmax).",
    .names = "nn.log_softmax math.log_softmax",
    .inputs = "logits",
    .signature = "logits axis=null",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_FLOAT,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = leati_softmax_infer,
    .kernel = log_softmax_kernel,
    .gradient = log_softmax_gradient,
};
