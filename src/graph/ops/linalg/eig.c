/* eig, eigvals: the eigenvalues of square matrices, as complex numbers, and their vectors as
 * columns (tf.linalg.eig, tf.linalg.eigvals).
 *
 * Values are in no order, vectors have length 1 and the direction that comes out, both other ones
 * than TensorFlow's. They fail where a matrix has values that are no numbers, and without OpenBLAS.
 * No state, no locks. */
#include "graph/support/linalg/matrices.h"

/* The complex dtype of a float's or complex number's parts. */
static leat_dtype complex_of(leat_dtype dtype) {
    return leati_dtype_part(dtype) == LEAT_FLOAT64 ? LEAT_COMPLEX128 : LEAT_COMPLEX64;
}

static leat_status infer(leati_infer_call *call, bool vectors, leat_error *err) {
    leat_shape in = leati_matrices_square_of(&call->inputs[0].shape);
    LEATI_TRY(leati_matrices_want(call, 0, true, err));
    leat_shape values = leati_matrices_stack_of(&in, in.rank < 2 ? NULL : &in.dims[in.rank - 1], 1);
    leat_dtype dtype = complex_of(call->inputs[0].dtype);
    LEATI_TRY(leati_op_infer_output(call, dtype, &values, NULL, err));
    return vectors ? leati_op_infer_output(call, dtype, &in, NULL, err) : LEAT_OK;
}

static leat_status take_apart(const leati_matrices_loop *loop, bool vectors, int64_t row,
                              int64_t at) {
    const leati_operand *in = &loop->call->inputs[0], *out = loop->call->outputs;
    int64_t n = loop->rows, values = n * n;
    if (n == 0)
        return LEAT_OK;
    return leati_lapack_general_eigen(in->dtype, leati_matrices_at(in, row, at * values), n,
                                      leati_matrices_at(&out[0], row, at * n),
                                      vectors ? leati_matrices_at(&out[1], row, at * values)
                                              : NULL);
}

static leat_status with_vectors(const leati_matrices_loop *loop, int64_t row, int64_t at) {
    return take_apart(loop, true, row, at);
}

static leat_status without_vectors(const leati_matrices_loop *loop, int64_t row, int64_t at) {
    return take_apart(loop, false, row, at);
}

static leat_status run(leati_kernel_call *call, bool vectors, leat_error *err) {
    leat_shape from = leati_support_operand_shape(&call->inputs[0]);
    LEATI_TRY(leati_matrices_check(&from, true, err));
    leat_shape shape = leati_matrices_stack_of(&from, &from.dims[from.rank - 1], 1);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    if (vectors)
        LEATI_TRY(leati_support_output_like(call, 1, &from, err));
    leati_matrices_loop loop =
        leati_matrices_loop_of(call, 0, vectors ? with_vectors : without_vectors);
    loop.why = "Eigen decomposition was not successful. The input might not be valid.";
    LEATI_TRY(leati_lapack_load(loop.rows, err));
    return leati_matrices_run(&loop, leati_matrices_ns(&loop, 5), err);
}

/* What flows to matrices of a dtype with vectors v, where `middle` flows to v^-1 A v. */
static leat_value flow(leat_dtype dtype, leat_value v, leat_value middle) {
    leat_value turned = leati_matrices_adjoint(v);
    leat_value whole =
        leat_op_matrix_solve(turned, leat_op_matmul(middle, turned, false, false), false);
    return leati_support_value_failed(whole) || dtype == leat_value_dtype(whole)
               ? whole
               : leat_op_cast(leat_op_real(whole), dtype);
}

/* ---- eig ---- */
static leat_status eig_infer(leati_infer_call *call, leat_error *err) {
    return infer(call, true, err);
}

static leat_status eig_kernel(leati_kernel_call *call, leat_error *err) {
    return run(call, true, err);
}

static leat_status eig_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value e = call->outputs[0], v = call->outputs[1];
    leat_value de = call->output_gradients[0], dv = call->output_gradients[1];
    (void)err;
    leat_value middle = leati_matrices_diagonal(de.id < 0 ? leat_op_zeros_like(e) : de);
    if (dv.id >= 0) {
        /* A vector turns towards another the faster the nearer their eigenvalues are, and stays as
         * long as it is. */
        leat_value along = leati_matrices_product(v, dv, true, false);
        leat_value own =
            leat_op_cast(leat_op_real(leati_matrices_diagonal_of(along)), leat_value_dtype(v));
        leat_value kept = leat_op_multiply(leati_matrices_product(v, v, true, false),
                                           leat_op_expand_dims(own, -2));
        middle =
            leat_op_add(middle, leat_op_multiply(leati_support_conjugate(leati_matrices_gaps(e)),
                                                 leat_op_subtract(along, kept)));
    }
    call->input_gradients[0] = flow(leat_value_dtype(call->inputs[0]), v, middle);
    return LEAT_OK;
}

/* ---- eigvals ---- */
static leat_status eigvals_infer(leati_infer_call *call, leat_error *err) {
    return infer(call, false, err);
}

static leat_status eigvals_kernel(leati_kernel_call *call, leat_error *err) {
    return run(call, false, err);
}

static leat_status eigvals_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    /* The vectors are computed now, and the values again, in the same order. */
    leat_value e = leati_graph_build1(&leati_tensor_op_eig, NULL, call->inputs[0]);
    if (leati_support_value_failed(e))
        return LEAT_OK;
    call->input_gradients[0] =
        flow(leat_value_dtype(call->inputs[0]), (leat_value){e.graph, e.id + 1},
             leati_matrices_diagonal(call->output_gradients[0]));
    return LEAT_OK;
}

#define EIGEN(OP, ...)                                                                             \
    const leati_tensor_op leati_tensor_op_##OP = {                                                 \
        .name = #OP,                                                                               \
        .version = 1,                                                                              \
        .inputs = "tensor",                                                                        \
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
EIGEN(eig,
      .doc = "The eigenvalues of square matrices, as complex numbers, and their vectors as columns "
             "(tf.linalg.eig).",
      .names = "linalg.eig eig", .outputs = "e v")
EIGEN(eigvals, .doc = "The eigenvalues of square matrices, as complex numbers (tf.linalg.eigvals).",
      .names = "linalg.eigvals eigvals", .outputs = "e")
