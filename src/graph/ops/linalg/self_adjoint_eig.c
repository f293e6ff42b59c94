/* self_adjoint_eig, self_adjoint_eigvals: the eigenvalues of self-adjoint matrices, of which the
 * lower triangle is read, in ascending order, and their vectors as columns (tf.linalg.eigh,
 * tf.linalg.eigvalsh).
 *
 * The signs, or directions, of the vectors are those that come out, as in TensorFlow, and other
 * ones than there. They fail where a matrix has values that are no numbers. No state, no locks. */
#include "graph/support/linalg/matrices.h"

enum { SMALL = 12 };

static leat_status infer(leati_infer_call *call, bool vectors, leat_error *err) {
    leat_shape in = leati_matrices_square_of(&call->inputs[0].shape);
    LEATI_TRY(leati_matrices_want(call, 0, true, err));
    leat_shape values = leati_matrices_stack_of(&in, in.rank < 2 ? NULL : &in.dims[in.rank - 1], 1);
    LEATI_TRY(leati_op_infer_output(call, call->inputs[0].dtype, &values, NULL, err));
    return vectors ? leati_op_infer_output(call, call->inputs[0].dtype, &in, NULL, err) : LEAT_OK;
}

static leat_status take_apart(const leati_matrices_loop *loop, bool vectors, int64_t row,
                              int64_t at) {
    const leati_operand *in = &loop->call->inputs[0], *out = loop->call->outputs;
    int64_t n = loop->rows, values = n * n;
    if (loop->by_lapack)
        return leati_lapack_eigen(in->dtype, leati_matrices_at(in, row, at * values), n,
                                  leati_matrices_at(&out[0], row, at * n),
                                  vectors ? leati_matrices_at(&out[1], row, at * values) : NULL);
    /* Behind the matrix its eigenvalues and scratch. */
    double *a = leati_matrices_doubles(values + 2 * n);
    if (a == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leati_matrices_read_doubles(in, row, at * values, values, a);
    if (!leati_factor_eigen(a, n, a + values, a + values + n))
        return LEAT_INVALID_ARGUMENT;
    leati_matrices_write_doubles(a + values, &out[0], row, at * n, n);
    if (vectors)
        leati_matrices_write_doubles(a, &out[1], row, at * values, values);
    return LEAT_OK;
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
    loop.why = "Self-adjoint eigen decomposition was not successful. The input might not be valid.";
    LEATI_TRY(leati_matrices_choose(&loop, call->inputs[0].dtype, SMALL, err));
    return leati_matrices_run(&loop, leati_matrices_ns(&loop, 1), err);
}

/* What flows to a matrix with vectors v, where `middle` flows to v^H A v. */
static leat_value flow(leat_value v, leat_value middle) {
    leat_value whole =
        leat_op_matmul(v, leati_matrices_product(middle, v, false, true), false, false);
    /* The upper triangle was not read, so all flows to the lower one. */
    return leati_matrices_lower_half(whole);
}

/* ---- self_adjoint_eig ---- */
static leat_status self_adjoint_eig_infer(leati_infer_call *call, leat_error *err) {
    return infer(call, true, err);
}

static leat_status self_adjoint_eig_kernel(leati_kernel_call *call, leat_error *err) {
    return run(call, true, err);
}

static leat_status self_adjoint_eig_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value e = call->outputs[0], v = call->outputs[1];
    leat_value de = call->output_gradients[0], dv = call->output_gradients[1];
    (void)err;
    leat_value middle = leati_matrices_diagonal(de.id < 0 ? leat_op_zeros_like(e) : de);
    /* A vector turns towards another the faster the nearer their eigenvalues are. */
    if (dv.id >= 0)
        middle = leat_op_add(middle, leat_op_multiply(leati_matrices_gaps(e),
                                                      leati_matrices_product(v, dv, true, false)));
    call->input_gradients[0] = flow(v, middle);
    return LEAT_OK;
}

/* ---- self_adjoint_eigvals ---- */
static leat_status self_adjoint_eigvals_infer(leati_infer_call *call, leat_error *err) {
    return infer(call, false, err);
}

static leat_status self_adjoint_eigvals_kernel(leati_kernel_call *call, leat_error *err) {
    return run(call, false, err);
}

static leat_status self_adjoint_eigvals_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    /* The vectors are computed now. */
    leat_value e = leati_graph_build1(&leati_tensor_op_self_adjoint_eig, NULL, call->inputs[0]);
    if (leati_support_value_failed(e))
        return LEAT_OK;
    call->input_gradients[0] =
        flow((leat_value){e.graph, e.id + 1}, leati_matrices_diagonal(call->output_gradients[0]));
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
EIGEN(self_adjoint_eig,
      .doc = "The eigenvalues of self-adjoint matrices in ascending order, and their vectors as "
             "columns (tf.linalg.eigh).",
      .names = "linalg.eigh", .outputs = "e v")
EIGEN(self_adjoint_eigvals,
      .doc = "The eigenvalues of self-adjoint matrices in ascending order (tf.linalg.eigvalsh).",
      .names = "linalg.eigvalsh", .outputs = "e")
