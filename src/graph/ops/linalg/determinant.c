/* matrix_determinant, log_matrix_determinant: the determinants of square matrices, or their signs
 * and the logarithms of their sizes, which do not overflow (tf.linalg.det, tf.linalg.slogdet).
 *
 * By the diagonal of LU factors. A singular matrix has sign 0 and -inf. No failure modes in the
 * run. No state, no locks. */
#include "core/complex.h"
#include "graph/support/linalg/matrices.h"

#include <math.h>

static leat_status infer(leati_infer_call *call, int outputs, leat_error *err) {
    LEATI_TRY(leati_matrices_want(call, 0, true, err));
    leat_shape shape = leati_matrices_stack_of(&call->inputs[0].shape, NULL, 0);
    for (int i = 0; i < outputs; i++)
        LEATI_TRY(leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err));
    return LEAT_OK;
}

enum { SMALL = 16 };

/* The diagonal of LU factors, two doubles for each number, in the thread's scratch. */
static leat_status diagonal_of(const leati_matrices_loop *loop, int64_t row, int64_t at,
                               const double **diagonal, bool *is_odd) {
    const leati_operand *in = &loop->call->inputs[0];
    int64_t n = loop->rows, values = n * n;
    if (loop->by_lapack)
        return leati_lapack_pivots(in->dtype, leati_matrices_at(in, row, at * values), n, diagonal,
                                   is_odd);
    /* An int64 is as large as a double, so the same memory serves. */
    double *a = leati_matrices_doubles(values + 3 * n), *made = a + values;
    if (a == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leati_matrices_read_doubles(in, row, at * values, values, a);
    int sign = leati_factor_lu(a, n, (int64_t *)(void *)(made + 2 * n));
    double lost = 0; /* NaN where one is there */
    for (int64_t k = 0; k < values && sign == 0; k++)
        lost += isnan(a[k]) ? a[k] : 0;
    for (int64_t k = 0; k < n; k++) {
        /* Behind the first pivot of 0 nothing is factored. */
        made[2 * k] = sign == 0 ? lost : a[k * n + k];
        made[2 * k + 1] = 0;
    }
    *diagonal = made;
    *is_odd = sign < 0;
    return LEAT_OK;
}

/* Writes a number as the dtype of an output. */
static void write_number(leati_complex128 value, const leati_operand *to, int64_t row, int64_t at) {
    void *data = leati_matrices_at(to, row, at);
    switch (to->dtype) {
    case LEAT_FLOAT32: *(float *)data = (float)creal(value); break;
    case LEAT_FLOAT64: *(double *)data = creal(value); break;
    case LEAT_COMPLEX64: *(leati_complex64 *)data = (leati_complex64)value; break;
    default: *(leati_complex128 *)data = value;
    }
}

static leat_status run(leati_kernel_call *call, int outputs,
                       leat_status (*one)(const leati_matrices_loop *, int64_t, int64_t),
                       leat_error *err) {
    leat_shape from = leati_support_operand_shape(&call->inputs[0]),
               shape = leati_matrices_stack_of(&from, NULL, 0);
    LEATI_TRY(leati_matrices_check(&from, true, err));
    for (int i = 0; i < outputs; i++)
        LEATI_TRY(leati_support_output_like(call, i, &shape, err));
    leati_matrices_loop loop = leati_matrices_loop_of(call, 0, one);
    LEATI_TRY(leati_matrices_choose(&loop, call->inputs[0].dtype, SMALL, err));
    return leati_matrices_run(&loop, leati_matrices_ns(&loop, 0.1), err);
}

/* To the matrices, of what flows to the logarithms of the determinants. */
static void flow(leati_gradient_call *call, leat_value share) {
    share = leat_op_expand_dims(leat_op_expand_dims(share, -1), -1);
    call->input_gradients[0] =
        leat_op_multiply(share, leat_op_matrix_inverse(call->inputs[0], true));
}

/* ---- matrix_determinant ---- */
static leat_status product_of(const leati_matrices_loop *loop, int64_t row, int64_t at) {
    const double *diagonal = NULL;
    bool is_odd = false;
    LEATI_TRY(diagonal_of(loop, row, at, &diagonal, &is_odd));
    double re = is_odd ? -1 : 1, im = 0;
    bool parts = leati_dtype_is_complex(loop->call->inputs[0].dtype);
    /* Of a singular matrix nothing behind the first pivot of 0 is a factor. */
    for (int64_t k = 0; k < loop->rows && (re != 0 || im != 0); k++) {
        double a = diagonal[2 * k], b = diagonal[2 * k + 1], before = re;
        re = parts ? re * a - im * b : re * a;
        im = parts ? before * b + im * a : 0;
    }
    write_number(leati_complex128_of(re, im), &loop->call->outputs[0], row, at);
    return LEAT_OK;
}

static leat_status matrix_determinant_infer(leati_infer_call *call, leat_error *err) {
    return infer(call, 1, err);
}

static leat_status matrix_determinant_kernel(leati_kernel_call *call, leat_error *err) {
    return run(call, 1, product_of, err);
}

static leat_status matrix_determinant_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    flow(call, leat_op_multiply(call->output_gradients[0], call->outputs[0]));
    return LEAT_OK;
}

/* ---- log_matrix_determinant ---- */
/* The sign, of complex numbers the direction, and the logarithm of the size. */
static leat_status logarithm_of(const leati_matrices_loop *loop, int64_t row, int64_t at) {
    const double *diagonal = NULL;
    bool is_odd = false;
    LEATI_TRY(diagonal_of(loop, row, at, &diagonal, &is_odd));
    leati_complex128 sign = is_odd ? -1 : 1;
    double size = 0;
    for (int64_t k = 0; k < loop->rows && size != -INFINITY; k++) {
        double re = diagonal[2 * k], im = diagonal[2 * k + 1], length = hypot(re, im);
        /* Infinite real numbers have a sign; a 0 has none, whatever follows. */
        sign *= length == 0 ? 0
                : im == 0   ? copysign(1, re)
                            : leati_complex128_of(re / length, im / length);
        size = length == 0 ? -INFINITY : size + log(length);
    }
    if (size != size)
        sign = leati_complex128_of(NAN, NAN);
    write_number(sign, &loop->call->outputs[0], row, at);
    write_number(size, &loop->call->outputs[1], row, at);
    return LEAT_OK;
}

static leat_status log_matrix_determinant_infer(leati_infer_call *call, leat_error *err) {
    return infer(call, 2, err);
}

static leat_status log_matrix_determinant_kernel(leati_kernel_call *call, leat_error *err) {
    return run(call, 2, logarithm_of, err);
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
