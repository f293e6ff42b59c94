/* qr: matrices as products Q R of orthonormal columns and upper triangles (tf.linalg.qr).
 *
 * By Householder's reflections, whose signs R's diagonal has. No failure modes in the run. No
 * state, no locks. */
#include "graph/support/linalg/matrices.h"

struct qr_args {
    bool full_matrices;
};

static const leati_row qr_rows[] = {
    {.name = "full_matrices",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct qr_args, full_matrices),
     .doc = "A square Q, and an R with rows of zeros."},
    {0},
};

/* The shapes of Q and R. */
static void shapes_of(const struct qr_args *args, const leat_shape *in, leat_shape *q,
                      leat_shape *r) {
    *q = *r = *in;
    if (in->rank < 2)
        return;
    int64_t rows = in->dims[in->rank - 2], columns = in->dims[in->rank - 1];
    int64_t inner = args->full_matrices ? rows : leati_matrices_smaller_dim(rows, columns);
    *q = leati_matrices_stack_of(in, (int64_t[]){rows, inner}, 2);
    *r = leati_matrices_stack_of(in, (int64_t[]){inner, columns}, 2);
}

static leat_status qr_infer(leati_infer_call *call, leat_error *err) {
    leat_shape q, r;
    LEATI_TRY(leati_matrices_want(call, 0, false, err));
    shapes_of(call->args, &call->inputs[0].shape, &q, &r);
    LEATI_TRY(leati_op_infer_output(call, call->inputs[0].dtype, &q, NULL, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &r, NULL, err);
}

enum { SMALL = 12 };

static leat_status factor(const leati_matrices_loop *loop, int64_t row, int64_t at) {
    const struct qr_args *args = loop->call->args;
    const leati_operand *in = &loop->call->inputs[0], *out = loop->call->outputs;
    int64_t rows = loop->rows, columns = loop->columns, values = rows * columns;
    int64_t inner = out[0].dims[out[0].rank - 1];
    if (loop->by_lapack)
        return leati_lapack_qr(in->dtype, leati_matrices_at(in, row, at * values), rows, columns,
                               args->full_matrices,
                               leati_matrices_at(&out[0], row, at * rows * inner),
                               leati_matrices_at(&out[1], row, at * inner * columns));
    /* All of Q is computed, whatever is asked for, and scratch behind it. */
    double *a = leati_matrices_doubles(values + rows * rows + rows), *q = a + values;
    if (a == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leati_matrices_read_doubles(in, row, at * values, values, a);
    leati_factor_qr(a, rows, columns, q, q + rows * rows);
    /* Each line of Q gives its first `inner` values. */
    for (int64_t k = 0; k < rows; k++)
        leati_matrices_write_doubles(q + k * rows, &out[0], row, (at * rows + k) * inner, inner);
    /* Behind the first `inner` rows of R there are zeros. */
    leati_matrices_write_doubles(a, &out[1], row, at * inner * columns, inner * columns);
    return LEAT_OK;
}

static leat_status qr_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape from = leati_support_operand_shape(&call->inputs[0]), left, right;
    LEATI_TRY(leati_matrices_check(&from, false, err));
    shapes_of(call->args, &from, &left, &right);
    LEATI_TRY(leati_support_output_like(call, 0, &left, err));
    LEATI_TRY(leati_support_output_like(call, 1, &right, err));
    leati_matrices_loop loop = leati_matrices_loop_of(call, sizeof(struct qr_args), factor);
    LEATI_TRY(leati_matrices_choose(&loop, call->inputs[0].dtype, SMALL, err));
    return leati_matrices_run(&loop, leati_matrices_ns(&loop, 0.3), err);
}

/* x R^-H, by the triangles R. */
static leat_value over(leat_value x, leat_value r) {
    return leati_matrices_adjoint(
        leat_op_matrix_triangular_solve(r, leati_matrices_adjoint(x), false, false));
}

/* Of complex matrices the diagonal of R is kept real, which takes the imaginary part out of that of
 * R dR^H - (Q^H dQ)^H. */
static leat_value kept_real(leat_value q, leat_value r, leat_value qdq, leat_value rdr) {
    leat_value diagonal =
        leati_matrices_diagonal_of(leat_op_subtract(rdr, leati_matrices_adjoint(qdq)));
    leat_value turned = leat_op_subtract(
        diagonal, leat_op_cast(leat_op_real(diagonal), leat_value_dtype(diagonal)));
    return over(leati_matrices_product(q, leati_matrices_diagonal(turned), false, true), r);
}

/* Of matrices with at least as many rows as columns. */
static leat_value tall_gradient(leat_value q, leat_value r, leat_value dq, leat_value dr) {
    leat_value qdq = leati_matrices_product(q, dq, true, false);
    leat_value rdr = leati_matrices_product(r, dr, false, true);
    leat_value skew = leat_op_add(leat_op_subtract(qdq, leati_matrices_adjoint(qdq)),
                                  leat_op_subtract(rdr, leati_matrices_adjoint(rdr)));
    /* The part of the gradient in the space of Q's columns; what leads out of it follows as
     * `outside`. */
    leat_value below = leat_op_band_part(skew, -1, 0);
    leat_value inside = leat_op_matmul(q, leat_op_add(dr, over(below, r)), false, false);
    leat_value outside = over(leat_op_subtract(dq, leat_op_matmul(q, qdq, false, false)), r);
    leat_value whole = leat_op_add(inside, outside);
    if (leati_support_value_failed(whole) || !leati_dtype_is_complex(leat_value_dtype(whole)))
        return whole;
    return leat_op_add(whole, kept_real(q, r, qdq, rdr));
}

/* So many columns of matrices from `first` on; -1: all that follow. */
static leat_value columns_of(leat_value x, int64_t first, int64_t count) {
    int64_t begin[LEAT_MAX_RANK] = {0}, size[LEAT_MAX_RANK];
    int32_t rank = leat_value_shape(x).rank;
    for (int32_t d = 0; d < rank; d++)
        size[d] = -1;
    begin[rank - 1] = first;
    size[rank - 1] = count;
    return leat_op_slice(x, begin, rank, size, rank);
}

static leat_status qr_gradient(leati_gradient_call *call, leat_error *err) {
    const struct qr_args *args = call->args;
    leat_value q = call->outputs[0], r = call->outputs[1], a = call->inputs[0];
    leat_value dq = call->output_gradients[0], dr = call->output_gradients[1];
    const leat_shape shape = leat_value_shape(call->inputs[0]);
    int64_t rows = shape.rank < 2 ? LEAT_UNKNOWN_DIM : shape.dims[shape.rank - 2];
    int64_t columns = shape.rank < 2 ? LEAT_UNKNOWN_DIM : shape.dims[shape.rank - 1];
    if (rows == LEAT_UNKNOWN_DIM || columns == LEAT_UNKNOWN_DIM)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "the gradient needs the sizes of the matrices; set them with "
                          "ensure_shape");
    if (args->full_matrices && rows > columns)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "no gradient of %lld x %lld matrices with full_matrices=True; those with "
                          "more rows than columns have one with full_matrices=False",
                          (long long)rows, (long long)columns);
    dq = dq.id < 0 ? leat_op_zeros_like(q) : dq;
    dr = dr.id < 0 ? leat_op_zeros_like(r) : dr;
    if (rows >= columns) {
        call->input_gradients[0] = tall_gradient(q, r, dq, dr);
        return LEAT_OK;
    }
    /* A = [X Y] and R = [U V] with X = Q U and Y = Q V: what flows to Y, and by Q to X. */
    leat_value y = columns_of(a, rows, -1), dv = columns_of(dr, rows, -1);
    leat_value both[2];
    if (leati_support_value_failed(y) || leati_support_value_failed(dv))
        return LEAT_OK;
    both[0] = tall_gradient(q, columns_of(r, 0, rows),
                            leat_op_add(dq, leati_matrices_product(y, dv, false, true)),
                            columns_of(dr, 0, rows));
    both[1] = leat_op_matmul(q, dv, false, false);
    call->input_gradients[0] = leat_op_concat(both, 2, -1);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_qr = {
    .name = "qr",
    .version = 1,
    .doc = "Matrices as products Q R of orthonormal columns and upper triangles (tf.linalg.qr).",
    .names = "linalg.qr",
    .inputs = "input",
    .types = "T",
    .outputs = "Qr(q r)",
    .halves = LEATI_HALVES_FLOAT,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = qr_rows,
    .args_size = sizeof(struct qr_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = qr_infer,
    .kernel = qr_kernel,
    .gradient = qr_gradient,
};
