/* matrix_determinant, log_matrix_determinant: the determinants of square matrices, or their signs
 * and the logarithms of their sizes, which do not overflow (tf.linalg.det, tf.linalg.slogdet).
 *
 * By the diagonal of LU factors. A singular matrix has sign 0 and -inf. No failure modes in the
 * run. No state, no locks. */
#include "base/stop.h"
#include "graph/support/linalg/matrices.h"

#include <math.h>

static leat_status infer(leati_infer_call *call, int outputs, leat_error *err) {
    LEATI_TRY(leati_matrices_want(call, 0, true, err));
    leat_shape shape = leati_matrices_stack_of(&call->inputs[0].shape, NULL, 0);
    for (int i = 0; i < outputs; i++)
        LEATI_TRY(leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err));
    return LEAT_OK;
}

/* Makes the outputs of LU factors `a` of n values, whose rows turned around so often that a
 * determinant gets `sign`, 0 of a singular matrix. */
typedef void (*finish_function)(const double *a, int64_t n, double sign, double *out);

static leat_status run(leati_kernel_call *call, int outputs, finish_function finish,
                       leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    leat_shape from = leati_support_operand_shape(in),
               shape = leati_matrices_stack_of(&from, NULL, 0);
    LEATI_TRY(leati_matrices_check(&from, true, err));
    for (int i = 0; i < outputs; i++)
        LEATI_TRY(leati_support_output_like(call, i, &shape, err));
    leati_matrices m = leati_matrices_of(in);
    int64_t n = m.rows, values = n * n;
    double *a = leati_matrices_doubles(call, values, err);
    /* An int64 is as large as a double, so the same memory serves. */
    int64_t *order = a == NULL ? NULL : (int64_t *)leati_matrices_doubles(call, n, err);
    if (order == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    for (int64_t i = 0; i < call->n * m.count && !leati_stop_look(); i++) {
        int64_t row = i / m.count, at = i % m.count;
        double out[2];
        leati_matrices_read_doubles(in, row, at * values, values, a);
        double sign = leati_factor_lu(a, n, order);
        finish(a, n, sign, out);
        for (int k = 0; k < outputs; k++)
            leati_matrices_write_doubles(&out[k], &call->outputs[k], row, at, 1);
    }
    return LEAT_OK;
}

/* To the matrices, of what flows to the logarithms of the determinants. */
static void flow(leati_gradient_call *call, leat_value share) {
    share = leat_op_expand_dims(leat_op_expand_dims(share, -1), -1);
    call->input_gradients[0] =
        leat_op_multiply(share, leat_op_matrix_inverse(call->inputs[0], true));
}

/* ---- matrix_determinant ---- */
static void finish_product(const double *a, int64_t n, double sign, double *out) {
    double product = sign;
    /* Of a singular matrix `sign` is 0, and nothing behind the first pivot of 0 is a factor. */
    for (int64_t k = 0; k < n && product != 0; k++)
        product *= a[k * n + k];
    out[0] = product;
}

static leat_status matrix_determinant_infer(leati_infer_call *call, leat_error *err) {
    return infer(call, 1, err);
}

static leat_status matrix_determinant_kernel(leati_kernel_call *call, leat_error *err) {
    return run(call, 1, finish_product, err);
}

static leat_status matrix_determinant_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    flow(call, leat_op_multiply(call->output_gradients[0], call->outputs[0]));
    return LEAT_OK;
}

/* ---- log_matrix_determinant ---- */
static void finish_logarithm(const double *a, int64_t n, double sign, double *out) {
    double size = sign == 0 ? -INFINITY : 0;
    for (int64_t k = 0; k < n && sign != 0; k++) {
        size += log(fabs(a[k * n + k]));
        /* The sign of the row exchanges takes in those of the pivots. */
        sign = a[k * n + k] < 0 ? -sign : sign;
    }
    out[0] = sign;
    out[1] = size;
}

static leat_status log_matrix_determinant_infer(leati_infer_call *call, leat_error *err) {
    return infer(call, 2, err);
}

static leat_status log_matrix_determinant_kernel(leati_kernel_call *call, leat_error *err) {
    return run(call, 2, finish_logarithm, err);
}

static leat_status log_matrix_determinant_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    if (call->output_gradients[1].id >= 0) /* signs do not change */
        flow(call, call->output_gradients[1]);
    return LEAT_OK;
}

#define DETERMINANT(OP, ...)                                                                       \
    const leati_tensor_op leati_tensor_op_##OP = {                                                 \
        .name = #OP,                                                                               \
        .version = 1,                                                                              \
        .inputs = "input",                                                                         \
        .types = "T",                                                                              \
        .halves = LEATI_HALVES_NONE,                                                               \
        .checks = LEATI_CHECKS_IN_KERNEL,                                                          \
        .rows = leati_no_rows,                                                                     \
        .min_inputs = 1,                                                                           \
        .max_inputs = 1,                                                                           \
        .infer = OP##_infer,                                                                       \
        .kernel = OP##_kernel,                                                                     \
        .gradient = OP##_gradient,                                                                 \
        __VA_ARGS__,                                                                               \
    };
DETERMINANT(log_matrix_determinant,
            .doc = "The signs of the determinants of square matrices, and the logarithms of their "
                   "sizes (tf.linalg.slogdet).",
            .names = "linalg.slogdet", .outputs = "LogMatrixDeterminant(sign log_abs_determinant)")
DETERMINANT(matrix_determinant, .doc = "The determinants of square matrices (tf.linalg.det).",
            .names = "linalg.det", .outputs = "output")
