/* qr: matrices as products Q R of orthonormal columns and upper triangles (tf.linalg.qr).
 *
 * By Householder's reflections, whose signs R's diagonal has. No failure modes in the run. No
 * state, no locks. */
#include "base/stop.h"
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

static leat_status qr_kernel(leati_kernel_call *call, leat_error *err) {
    const struct qr_args *args = call->args;
    const leati_operand *in = &call->inputs[0];
    leat_shape from = leati_support_operand_shape(in), left, right;
    LEATI_TRY(leati_matrices_check(&from, false, err));
    shapes_of(args, &from, &left, &right);
    LEATI_TRY(leati_support_output_like(call, 0, &left, err));
    LEATI_TRY(leati_support_output_like(call, 1, &right, err));
    leati_matrices m = leati_matrices_of(in);
    int64_t rows = m.rows, values = rows * m.columns, inner = left.dims[left.rank - 1];
    double *a = leati_matrices_doubles(call, values, err);
    /* All of Q is computed, whatever is asked for, and scratch behind it. */
    double *q = a == NULL ? NULL : leati_matrices_doubles(call, rows * rows + rows, err);
    if (q == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    for (int64_t i = 0; i < call->n * m.count && !leati_stop_look(); i++) {
        int64_t row = i / m.count, at = i % m.count;
        leati_matrices_read_doubles(in, row, at * values, values, a);
        leati_factor_qr(a, rows, m.columns, q, q + rows * rows);
        /* Each line of Q gives its first `inner` values. */
        for (int64_t k = 0; k < rows; k++)
            leati_matrices_write_doubles(q + k * rows, &call->outputs[0], row,
                                         (at * rows + k) * inner, inner);
        /* Behind the first `inner` rows of R there are zeros. */
        leati_matrices_write_doubles(a, &call->outputs[1], row, at * inner * m.columns,
                                     inner * m.columns);
    }
    return LEAT_OK;
}

/* x R^-T, by the triangles R. */
static leat_value over(leat_value x, leat_value r) {
    return leati_matrices_transposed(
        leat_op_matrix_triangular_solve(r, leati_matrices_transposed(x), false, false));
}

static leat_status qr_gradient(leati_gradient_call *call, leat_error *err) {
    const struct qr_args *args = call->args;
    leat_value q = call->outputs[0], r = call->outputs[1];
    leat_value dq = call->output_gradients[0], dr = call->output_gradients[1];
    const leat_shape shape = leat_value_shape(call->inputs[0]);
    int64_t rows = shape.rank < 2 ? LEAT_UNKNOWN_DIM : shape.dims[shape.rank - 2];
    int64_t columns = shape.rank < 2 ? LEAT_UNKNOWN_DIM : shape.dims[shape.rank - 1];
    if (rows == LEAT_UNKNOWN_DIM || columns == LEAT_UNKNOWN_DIM)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "the gradient needs the sizes of the matrices; set them with "
                          "ensure_shape");
    if (rows < columns || (args->full_matrices && rows != columns))
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "no gradient of %lld x %lld matrices%s; those with at least as many rows "
                          "as columns have one, with full_matrices=False",
                          (long long)rows, (long long)columns,
                          args->full_matrices ? " with full_matrices=True" : "");
    dq = dq.id < 0 ? leat_op_zeros_like(q) : dq;
    dr = dr.id < 0 ? leat_op_zeros_like(r) : dr;
    leat_value qdq = leat_op_matmul(q, dq, true, false), rdr = leat_op_matmul(r, dr, false, true);
    leat_value skew = leat_op_add(leat_op_subtract(qdq, leati_matrices_transposed(qdq)),
                                  leat_op_subtract(rdr, leati_matrices_transposed(rdr)));
    /* The part of the gradient in the space of Q's columns; what leads out of it follows as
     * `outside`. */
    leat_value below = leat_op_band_part(skew, -1, 0);
    leat_value inside = leat_op_matmul(q, leat_op_add(dr, over(below, r)), false, false);
    leat_value outside = over(leat_op_subtract(dq, leat_op_matmul(q, qdq, false, false)), r);
    call->input_gradients[0] = leat_op_add(inside, outside);
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
