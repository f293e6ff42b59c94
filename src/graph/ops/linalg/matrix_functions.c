/* matrix_square_root, matrix_logarithm: the matrices S with S S = A whose eigenvalues have real
 * parts of 0 or more (tf.linalg.sqrtm), and those whose exponential is A, of complex ones
 * (tf.linalg.logm).
 *
 * Where there is none that the method finds (NaN, infinities, several eigenvalues of 0, negative
 * ones of a real matrix) all is NaN, as in TensorFlow. Without OpenBLAS roots of real matrices are
 * found by Newton's steps, and all else is refused. No state, no locks. */
#include "graph/support/linalg/matrices.h"

/* By the function that is given, where one is, or plainly. */
typedef leat_status matrix_function(leat_dtype dtype, const void *a, int64_t n, void *out);

static leat_status find(const leati_matrices_loop *loop, matrix_function *function, int64_t row,
                        int64_t at) {
    const leati_operand *in = &loop->call->inputs[0], *out = &loop->call->outputs[0];
    int64_t n = loop->rows, values = n * n;
    leat_status status = LEAT_OK;
    if (loop->by_lapack) {
        status = function(in->dtype, leati_matrices_at(in, row, at * values), n,
                          leati_matrices_at(out, row, at * values));
    } else {
        /* The matrix, scratch of three more and a line, and the order of rows. */
        double *a = leati_matrices_doubles(4 * values + 2 * n), *scratch = a + values;
        if (a == NULL)
            return LEAT_RESOURCE_EXHAUSTED;
        leati_matrices_read_doubles(in, row, at * values, values, a);
        status =
            leati_factor_square_root(a, n, scratch, (int64_t *)(void *)(scratch + 3 * values + n))
                ? LEAT_OK
                : LEAT_INVALID_ARGUMENT;
        leati_matrices_write_doubles(a, out, row, at * values, values);
    }
    if (status != LEAT_INVALID_ARGUMENT)
        return status;
    leati_matrices_write_nan(out, row, at * values, values);
    return LEAT_OK;
}

static leat_status run(leati_kernel_call *call,
                       leat_status (*one)(const leati_matrices_loop *, int64_t, int64_t),
                       leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    LEATI_TRY(leati_matrices_check(&shape, true, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    leati_matrices_loop loop = leati_matrices_loop_of(call, 0, one);
    LEATI_TRY(leati_matrices_choose(&loop, in->dtype, 0, err));
    return leati_matrices_run(&loop, leati_matrices_ns(&loop, 5), err);
}

/* ---- matrix_square_root ---- */
static leat_status root_of(const leati_matrices_loop *loop, int64_t row, int64_t at) {
    return find(loop, leati_lapack_square_root, row, at);
}

static leat_status matrix_square_root_infer(leati_infer_call *call, leat_error *err) {
    return leati_matrices_infer_square(call, err);
}

static leat_status matrix_square_root_kernel(leati_kernel_call *call, leat_error *err) {
    return run(call, root_of, err);
}

/* a with every value multiplied by the whole of b, as blocks: the Kronecker product. */
static leat_value kronecker(leat_value a, leat_value b) {
    return leat_op_multiply(leat_op_expand_dims(leat_op_expand_dims(a, -1), -3),
                            leat_op_expand_dims(leat_op_expand_dims(b, -2), -4));
}

static leat_status matrix_square_root_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value root = call->outputs[0], g = call->output_gradients[0];
    const leat_shape shape = leat_value_shape(call->inputs[0]);
    int64_t n = shape.rank < 2 ? LEAT_UNKNOWN_DIM : shape.dims[shape.rank - 1];
    int64_t sizes[LEAT_MAX_RANK];
    for (int32_t d = 0; d < shape.rank; d++)
        n = shape.dims[d] == LEAT_UNKNOWN_DIM ? LEAT_UNKNOWN_DIM : n;
    if (n == LEAT_UNKNOWN_DIM || shape.rank > LEAT_MAX_RANK - 2)
        return leati_fail(
            err, LEAT_UNIMPLEMENTED,
            "the gradient needs the sizes of the matrices, and at most %d dimensions; "
            "set them with ensure_shape",
            LEAT_MAX_RANK - 2);
    /* From S S = A follows S dS + dS S = dA: what flows to A is the X of S^T X + X S^T = g, of
     * complex matrices, too, since TensorFlow does not take conjugates here. As one system for X's
     * values, line after line, that is (S^T x 1 + 1 x S) x = g. */
    leat_value one = leati_matrices_diagonal(leat_op_ones_like(leati_matrices_diagonal_of(root)));
    leat_value system =
        leat_op_add(kronecker(leati_matrices_transposed(root), one), kronecker(one, root));
    for (int32_t d = 0; d < shape.rank - 2; d++)
        sizes[d] = shape.dims[d];
    sizes[shape.rank - 2] = sizes[shape.rank - 1] = n * n;
    system = leat_op_reshape(system, sizes, shape.rank);
    sizes[shape.rank - 1] = 1;
    leat_value x = leat_op_matrix_solve(system, leat_op_reshape(g, sizes, shape.rank), false);
    call->input_gradients[0] = leat_op_reshape(x, shape.dims, shape.rank);
    return LEAT_OK;
}

/* ---- matrix_logarithm ---- */
static leat_status logarithm_of(const leati_matrices_loop *loop, int64_t row, int64_t at) {
    return find(loop, leati_lapack_logarithm, row, at);
}

static leat_status matrix_logarithm_infer(leati_infer_call *call, leat_error *err) {
    leat_dtype found = call->inputs[0].dtype;
    if (!leati_dtype_is_complex(found))
        return leati_refuse(err, DTYPE,
                            "Value for attr 'T' of %s is not in the list of allowed values: "
                            "complex64, complex128; cast the matrices",
                            leat_dtype_name(found));
    return leati_matrices_infer_square(call, err);
}

static leat_status matrix_logarithm_kernel(leati_kernel_call *call, leat_error *err) {
    return run(call, logarithm_of, err);
}

#define FUNCTION(OP, ...)                                                                          \
    const leati_tensor_op leati_tensor_op_##OP = {                                                 \
        .name = #OP,                                                                               \
        .version = 1,                                                                              \
        .inputs = "input",                                                                         \
        .types = "T",                                                                              \
        .outputs = "output",                                                                       \
        .halves = LEATI_HALVES_NONE,                                                               \
        .checks = LEATI_CHECKS_IN_KERNEL,                                                          \
        .rows = leati_no_rows,                                                                     \
        .min_inputs = 1,                                                                           \
        .max_inputs = 1,                                                                           \
        .infer = OP##_infer,                                                                       \
        .kernel = OP##_kernel,                                                                     \
        __VA_ARGS__,                                                                               \
    };
FUNCTION(matrix_logarithm, .doc = "The logarithms of complex square matrices (tf.linalg.logm).",
         .names = "linalg.logm")
FUNCTION(matrix_square_root, .doc = "The square roots of square matrices (tf.linalg.sqrtm).",
         .names = "linalg.sqrtm matrix_square_root", .gradient = matrix_square_root_gradient)
