/* svd: the singular values of matrices in descending order, and, if asked, the U and V with
 * A = U diag(s) V^T (tf.linalg.svd).
 *
 * The signs of the columns of U and V are those that come out, as in TensorFlow, and other ones
 * than there. Fails where a matrix has values that are no numbers. No state, no locks. */
#include "base/stop.h"
#include "graph/support/linalg/matrices.h"

struct svd_args {
    bool full_matrices, compute_uv;
};

static const leati_row svd_rows[] = {
    {.name = "full_matrices",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct svd_args, full_matrices),
     .doc = "Square U and V."},
    {.name = "compute_uv",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct svd_args, compute_uv),
     .default_number = 1,
     .doc = "Give s, U and V, not s alone."},
    {0},
};

/* The shapes of s, U and V. */
static void shapes_of(const struct svd_args *args, const leat_shape *in, leat_shape out[3]) {
    out[0] = out[1] = out[2] = *in;
    if (in->rank < 2)
        return;
    int64_t rows = in->dims[in->rank - 2], columns = in->dims[in->rank - 1];
    int64_t inner = leati_matrices_smaller_dim(rows, columns);
    out[0] = leati_matrices_stack_of(in, &inner, 1);
    out[1] = leati_matrices_stack_of(in, (int64_t[]){rows, args->full_matrices ? rows : inner}, 2);
    out[2] =
        leati_matrices_stack_of(in, (int64_t[]){columns, args->full_matrices ? columns : inner}, 2);
}

static leat_status svd_infer(leati_infer_call *call, leat_error *err) {
    const struct svd_args *args = call->args;
    leat_shape shapes[3];
    LEATI_TRY(leati_matrices_want(call, 0, false, err));
    shapes_of(args, &call->inputs[0].shape, shapes);
    for (int i = 0; i < (args->compute_uv ? 3 : 1); i++)
        LEATI_TRY(leati_op_infer_output(call, call->inputs[0].dtype, &shapes[i], NULL, err));
    return LEAT_OK;
}

/* Writes the first `kept` columns of matrix `at` of a[rows, columns]. */
static void write_columns(const double *a, int64_t rows, int64_t columns, int64_t kept,
                          const leati_operand *to, int64_t row, int64_t at) {
    for (int64_t k = 0; k < rows; k++)
        leati_matrices_write_doubles(a + k * columns, to, row, (at * rows + k) * kept, kept);
}

static leat_status svd_kernel(leati_kernel_call *call, leat_error *err) {
    const struct svd_args *args = call->args;
    const leati_operand *in = &call->inputs[0], *out = call->outputs;
    leat_shape from = leati_support_operand_shape(in), shapes[3];
    LEATI_TRY(leati_matrices_check(&from, false, err));
    shapes_of(args, &from, shapes);
    for (int i = 0; i < (args->compute_uv ? 3 : 1); i++)
        LEATI_TRY(leati_support_output_like(call, i, &shapes[i], err));
    leati_matrices m = leati_matrices_of(in);
    bool wide = m.columns > m.rows; /* then its transpose is taken apart */
    int64_t length = wide ? m.columns : m.rows, inner = wide ? m.rows : m.columns;
    int64_t values = length * inner;
    /* The matrix, the same as it was read where it is turned, and the singular values. */
    double *a = leati_matrices_doubles(call, 2 * values + inner, err);
    double *u = a == NULL ? NULL : leati_matrices_doubles(call, 2 * length * length + length, err);
    double *v = u == NULL ? NULL : leati_matrices_doubles(call, inner * inner, err);
    if (v == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    double *s = a + 2 * values;
    for (int64_t i = 0; i < call->n * m.count && !leati_stop_look(); i++) {
        int64_t row = i / m.count, at = i % m.count;
        leati_matrices_read_doubles(in, row, at * values, values, wide ? a + values : a);
        if (wide)
            leati_factor_transpose(a + values, m.rows, m.columns, a);
        if (!leati_factor_svd(a, length, inner, s, u, v, u + length * length))
            return leati_matrices_refuse(
                call, row, at, "it has values that are no numbers; SVD was not successful", err);
        leati_matrices_write_doubles(s, &out[0], row, at * inner, inner);
        if (!args->compute_uv)
            continue;
        /* If A^T = U S V^T, then A = V S U^T: both change places. */
        write_columns(u, length, length, args->full_matrices ? length : inner, &out[wide ? 2 : 1],
                      row, at);
        write_columns(v, inner, inner, inner, &out[wide ? 1 : 2], row, at);
    }
    return LEAT_OK;
}

/* The gradient of A with at most as many rows as columns, u square: what flows through u and the
 * part of v that u's columns belong to, and, where A has more columns, through the rest of v. */
static leat_value wide_gradient(leat_value s, leat_value u, leat_value v, leat_value ds,
                                leat_value du, leat_value dv, bool square) {
    /* The columns of U are eigenvectors of A A^T, whose eigenvalues are the squares of s. */
    leat_value gaps = leati_matrices_gaps(leat_op_square(s)), line = leat_op_expand_dims(s, -2);
    leat_value fu = leat_op_multiply(gaps, leat_op_matmul(u, du, true, false));
    leat_value fv = leat_op_multiply(gaps, leat_op_matmul(v, dv, true, false));
    fu = leat_op_multiply(leat_op_add(fu, leati_matrices_transposed(fu)), line);
    fv = leat_op_multiply(leat_op_expand_dims(s, -1),
                          leat_op_add(fv, leati_matrices_transposed(fv)));
    leat_value middle =
        leat_op_add(leat_op_diag(ds, &(leat_op_diag_options){LEAT_OP_DIAG_DEFAULTS,
                                                             .k = &(int64_t){0}, .num_k = 1}),
                    leat_op_add(fu, fv));
    leat_value whole = leat_op_matmul(u, leat_op_matmul(middle, v, false, true), false, false);
    if (square)
        return whole;
    /* Of dv only what leads out of the space of v's columns is left for the rest. */
    leat_value inside = leat_op_matmul(dv, v, true, false);
    leat_value rest =
        leat_op_subtract(leati_matrices_transposed(dv), leat_op_matmul(inside, v, false, true));
    leat_value scaled =
        leat_op_multiply(u, leat_op_expand_dims(leati_matrices_safe_reciprocal(s), -2));
    return leat_op_add(whole, leat_op_matmul(scaled, rest, false, false));
}

static leat_value or_zeros(leat_value gradient, leat_value like) {
    return gradient.id < 0 ? leat_op_zeros_like(like) : gradient;
}

static leat_status svd_gradient(leati_gradient_call *call, leat_error *err) {
    const struct svd_args *args = call->args, thin = {.compute_uv = true};
    const leat_shape shape = leat_value_shape(call->inputs[0]);
    if (!args->compute_uv) { /* U and V are computed now */
        leat_value s = leati_graph_build1(&leati_tensor_op_svd, &thin, call->inputs[0]);
        leat_value u = {s.graph, s.id + 1}, v = {s.graph, s.id + 2};
        if (leati_support_value_failed(s))
            return LEAT_OK;
        leat_value line = leat_op_expand_dims(call->output_gradients[0], -2);
        /* Of the singular values alone: U diag(ds) V^T. */
        call->input_gradients[0] = leat_op_matmul(leat_op_multiply(u, line), v, false, true);
        return LEAT_OK;
    }
    int64_t rows = shape.rank < 2 ? LEAT_UNKNOWN_DIM : shape.dims[shape.rank - 2];
    int64_t columns = shape.rank < 2 ? LEAT_UNKNOWN_DIM : shape.dims[shape.rank - 1];
    if (rows == LEAT_UNKNOWN_DIM || columns == LEAT_UNKNOWN_DIM)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "the gradient needs the sizes of the matrices; set them with "
                          "ensure_shape");
    if (args->full_matrices && rows != columns)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "no gradient of %lld x %lld matrices with full_matrices=True; leave it "
                          "False",
                          (long long)rows, (long long)columns);
    leat_value s = call->outputs[0], u = call->outputs[1], v = call->outputs[2];
    leat_value ds = or_zeros(call->output_gradients[0], s);
    leat_value du = or_zeros(call->output_gradients[1], u);
    leat_value dv = or_zeros(call->output_gradients[2], v);
    call->input_gradients[0] =
        /* A tall A is the transpose of a wide one, with U and V exchanged. */
        rows <= columns ? wide_gradient(s, u, v, ds, du, dv, rows == columns)
                        : leati_matrices_transposed(wide_gradient(s, v, u, ds, dv, du, false));
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_svd = {
    .name = "svd",
    .version = 1,
    .doc =
        "The singular values of matrices in descending order, and the U and V with A = U diag(s) "
        "V^T (tf.linalg.svd).",
    .names = "linalg.svd",
    .inputs = "tensor",
    .types = "T",
    .outputs = "s u v",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = svd_rows,
    .args_size = sizeof(struct svd_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = svd_infer,
    .kernel = svd_kernel,
    .gradient = svd_gradient,
};
