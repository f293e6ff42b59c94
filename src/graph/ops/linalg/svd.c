/* svd: the singular values of matrices in descending order, and, if asked, the U and V with
 * A = U diag(s) V^H (tf.linalg.svd).
 *
 * The signs, or directions, of the columns of U and V are those that come out, as in TensorFlow,
 * and other ones than there. Of a matrix with NaN or infinities all is NaN. No state, no locks. */
#include "base/minmax.h"
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
    leat_dtype dtype = call->inputs[0].dtype;
    for (int i = 0; i < (args->compute_uv ? 3 : 1); i++)
        LEATI_TRY(leati_op_infer_output(call, i == 0 ? leati_dtype_part(dtype) : dtype, &shapes[i],
                                        NULL, err));
    return LEAT_OK;
}

/* Writes the first `kept` columns of matrix `at` of a[rows, columns]. */
static void write_columns(const double *a, int64_t rows, int64_t columns, int64_t kept,
                          const leati_operand *to, int64_t row, int64_t at) {
    for (int64_t k = 0; k < rows; k++)
        leati_matrices_write_doubles(a + k * columns, to, row, (at * rows + k) * kept, kept);
}

enum { SMALL = 12 };

static leat_status by_lapack(const leati_matrices_loop *loop, int64_t row, int64_t at) {
    const struct svd_args *args = loop->call->args;
    const leati_operand *in = &loop->call->inputs[0], *out = loop->call->outputs;
    int64_t rows = loop->rows, columns = loop->columns, inner = LEATI_MIN(rows, columns);
    int64_t left = args->full_matrices ? rows : inner,
            right = args->full_matrices ? columns : inner;
    void *u = NULL, *v = NULL;
    if (args->compute_uv) {
        u = leati_matrices_at(&out[1], row, at * rows * left);
        v = leati_matrices_at(&out[2], row, at * columns * right);
    }
    return leati_lapack_svd(in->dtype, leati_matrices_at(in, row, at * rows * columns), rows,
                            columns, args->full_matrices,
                            leati_matrices_at(&out[0], row, at * inner), u, v);
}

static leat_status plainly(const leati_matrices_loop *loop, int64_t row, int64_t at) {
    const struct svd_args *args = loop->call->args;
    const leati_operand *in = &loop->call->inputs[0], *out = loop->call->outputs;
    bool wide = loop->columns > loop->rows; /* then its transpose is taken apart */
    int64_t length = wide ? loop->columns : loop->rows, inner = wide ? loop->rows : loop->columns;
    int64_t values = length * inner;
    /* The matrix, the same as it was read where it is turned, the singular values, u with scratch
     * behind it, and v. */
    double *a =
        leati_matrices_doubles(2 * values + inner + 2 * length * length + length + inner * inner);
    double *s = a + 2 * values, *u = s + inner, *v = u + 2 * length * length + length;
    if (a == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leati_matrices_read_doubles(in, row, at * values, values, wide ? a + values : a);
    if (wide)
        leati_factor_transpose(a + values, loop->rows, loop->columns, a);
    if (!leati_factor_svd(a, length, inner, s, u, v, u + length * length))
        return LEAT_INVALID_ARGUMENT;
    leati_matrices_write_doubles(s, &out[0], row, at * inner, inner);
    if (!args->compute_uv)
        return LEAT_OK;
    /* If A^T = U S V^T, then A = V S U^T: both change places. */
    write_columns(u, length, length, args->full_matrices ? length : inner, &out[wide ? 2 : 1], row,
                  at);
    write_columns(v, inner, inner, inner, &out[wide ? 1 : 2], row, at);
    return LEAT_OK;
}

static leat_status take_apart(const leati_matrices_loop *loop, int64_t row, int64_t at) {
    const struct svd_args *args = loop->call->args;
    leat_status status = (loop->by_lapack ? by_lapack : plainly)(loop, row, at);
    if (status != LEAT_INVALID_ARGUMENT)
        return status;
    for (int i = 0; i < (args->compute_uv ? 3 : 1); i++) {
        const leati_operand *to = &loop->call->outputs[i];
        int64_t values = to->dims[to->rank - 1] * (i == 0 ? 1 : to->dims[to->rank - 2]);
        leati_matrices_write_nan(to, row, at * values, values);
    }
    return LEAT_OK;
}

static leat_status svd_kernel(leati_kernel_call *call, leat_error *err) {
    const struct svd_args *args = call->args;
    leat_shape from = leati_support_operand_shape(&call->inputs[0]), shapes[3];
    LEATI_TRY(leati_matrices_check(&from, false, err));
    shapes_of(args, &from, shapes);
    for (int i = 0; i < (args->compute_uv ? 3 : 1); i++)
        LEATI_TRY(leati_support_output_like(call, i, &shapes[i], err));
    leati_matrices_loop loop = leati_matrices_loop_of(call, sizeof(struct svd_args), take_apart);
    LEATI_TRY(leati_matrices_choose(&loop, call->inputs[0].dtype, SMALL, err));
    return leati_matrices_run(&loop, leati_matrices_ns(&loop, 2), err);
}

/* The gradient of A with at most as many rows as columns, u square: what flows through u and the
 * part of v that u's columns belong to, and, where A has more columns, through the rest of v. */
static leat_value wide_gradient(leat_value s, leat_value u, leat_value v, leat_value ds,
                                leat_value du, leat_value dv, bool square) {
    /* The columns of U are eigenvectors of A A^H, whose eigenvalues are the squares of s. */
    leat_value gaps = leati_matrices_gaps(leat_op_square(s)), line = leat_op_expand_dims(s, -2);
    leat_value fu = leat_op_multiply(gaps, leati_matrices_product(u, du, true, false));
    leat_value vdv = leati_matrices_product(v, dv, true, false);
    leat_value fv = leat_op_multiply(gaps, vdv);
    fu = leat_op_multiply(leat_op_add(fu, leati_matrices_adjoint(fu)), line);
    fv = leat_op_multiply(leat_op_expand_dims(s, -1), leat_op_add(fv, leati_matrices_adjoint(fv)));
    leat_value middle = leat_op_add(leati_matrices_diagonal(ds), leat_op_add(fu, fv));
    leat_value scale = leati_matrices_safe_reciprocal(s);
    if (!leati_support_value_failed(middle) && leati_dtype_is_complex(leat_value_dtype(middle))) {
        /* U and V may turn together: only what is real of the diagonal of V^H dV is kept. */
        leat_value turned = leati_matrices_diagonal_of(vdv);
        turned = leat_op_subtract(leati_support_conjugate(turned), turned);
        turned = leati_support_times(leat_op_multiply(scale, turned), 0.5);
        middle = leat_op_add(middle, leati_matrices_diagonal(turned));
    }
    leat_value whole =
        leat_op_matmul(u, leati_matrices_product(middle, v, false, true), false, false);
    if (square)
        return whole;
    /* Of dv only what leads out of the space of v's columns is left for the rest. */
    leat_value inside = leati_matrices_product(dv, v, true, false);
    leat_value rest = leat_op_subtract(leati_matrices_adjoint(dv),
                                       leati_matrices_product(inside, v, false, true));
    leat_value scaled = leat_op_multiply(u, leat_op_expand_dims(scale, -2));
    return leat_op_add(whole, leat_op_matmul(scaled, rest, false, false));
}

/* Singular values, which are real, in the dtype of the matrices. */
static leat_value as_matrix(leat_value s, leat_value matrix) {
    return leati_support_value_failed(s) || leati_support_value_failed(matrix) ||
                   leat_value_dtype(s) == leat_value_dtype(matrix)
               ? s
               : leat_op_cast(s, leat_value_dtype(matrix));
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
        leat_value line = leat_op_expand_dims(as_matrix(call->output_gradients[0], u), -2);
        /* Of the singular values alone: U diag(ds) V^H. */
        call->input_gradients[0] =
            leati_matrices_product(leat_op_multiply(u, line), v, false, true);
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
    leat_value u = call->outputs[1], v = call->outputs[2], s = as_matrix(call->outputs[0], u);
    leat_value ds = as_matrix(or_zeros(call->output_gradients[0], call->outputs[0]), u);
    leat_value du = or_zeros(call->output_gradients[1], u);
    leat_value dv = or_zeros(call->output_gradients[2], v);
    call->input_gradients[0] =
        /* A tall A is the transpose of a wide one, with U and V exchanged. */
        rows <= columns ? wide_gradient(s, u, v, ds, du, dv, rows == columns)
                        : leati_matrices_adjoint(wide_gradient(s, v, u, ds, dv, du, false));
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_svd = {
    .name = "svd",
    .version = 1,
    .doc =
        "The singular values of matrices in descending order, and the U and V with A = U diag(s) "
        "V^H (tf.linalg.svd).",
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
