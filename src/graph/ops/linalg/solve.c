/* matrix_inverse, matrix_solve, matrix_triangular_solve: the inverses of square matrices, and the X
 * of A X = B for square ones, or for triangular ones, of which the other triangle is not read; all
 * with A^H instead if asked (tf.linalg.inv and so on).
 *
 * By LU factors; singular matrices fail. A 0 on the diagonal of a triangle gives infinities and
 * NaN, as in TensorFlow, and stacks of triangles broadcast. No state, no locks. */
#include "graph/support/linalg/matrices.h"

struct solve_args {
    bool lower, adjoint; /* lower: of triangles */
};

#define ROW_ADJOINT(DOC)                                                                           \
    {                                                                                              \
        .name = "adjoint", .type = LEATI_ROW_BOOL, .offset = offsetof(struct solve_args, adjoint), \
        .doc = DOC                                                                                 \
    }

static const leati_row matrix_inverse_rows[] = {ROW_ADJOINT("The inverse of the adjoint instead."),
                                                {0}};

static const leati_row matrix_solve_rows[] = {
    ROW_ADJOINT("Solve with the adjoints of the matrices."), {0}};

static const leati_row matrix_triangular_solve_rows[] = {
    {.name = "lower",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct solve_args, lower),
     .default_number = 1,
     .doc = "The matrices are lower triangles, not upper ones."},
    ROW_ADJOINT("Solve with the adjoints of the matrices."),
    {0},
};

/* ---- matrix_inverse ---- */
enum { SMALL = 16, SMALL_TRIANGLE = 32 };

static leat_status invert(const leati_matrices_loop *loop, int64_t row, int64_t at) {
    const struct solve_args *args = loop->call->args;
    const leati_operand *in = &loop->call->inputs[0], *out = &loop->call->outputs[0];
    int64_t n = loop->rows, values = n * n;
    if (loop->by_lapack)
        return leati_lapack_inverse(in->dtype, leati_matrices_at(in, row, at * values), n,
                                    args->adjoint, leati_matrices_at(out, row, at * values));
    /* The matrix, what becomes its inverse, scratch of one line, and the order of rows: an int64 is
     * as large as a double, so the same memory serves. */
    double *a = leati_matrices_doubles(2 * values + 2 * n), *x = a + values, *line = x + values;
    int64_t *order = (int64_t *)(void *)(line + n);
    if (a == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leati_matrices_read_doubles(in, row, at * values, values, a);
    if (leati_factor_lu(a, n, order) == 0 && n > 0)
        return LEAT_INVALID_ARGUMENT;
    /* The right sides are the identity. */
    for (int64_t k = 0; k < values; k++)
        x[k] = k / n == k % n;
    leati_factor_solve_lu(a, n, order, args->adjoint, x, n, line);
    leati_matrices_write_doubles(x, out, row, at * values, values);
    return LEAT_OK;
}

static leat_status matrix_inverse_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    LEATI_TRY(leati_matrices_check(&shape, true, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    leati_matrices_loop loop = leati_matrices_loop_of(call, sizeof(struct solve_args), invert);
    loop.why = "Input is not invertible.";
    LEATI_TRY(leati_matrices_choose(&loop, in->dtype, SMALL, err));
    return leati_matrices_run(&loop, leati_matrices_ns(&loop, 0.2), err);
}

static leat_status matrix_inverse_gradient(leati_gradient_call *call, leat_error *err) {
    const struct solve_args *args = call->args;
    leat_value g = call->output_gradients[0], inverse = call->outputs[0];
    (void)err;
    /* -A^-H g A^-H; the gradient of the turned inverse is turned first. */
    leat_value right = leati_matrices_product(g, inverse, args->adjoint, !args->adjoint);
    call->input_gradients[0] =
        leat_op_negate(leati_matrices_product(inverse, right, !args->adjoint, false));
    return LEAT_OK;
}

/* ---- matrix_solve ---- */
/* The shape of X, which is that of B with what A says of it. */
static leat_status solution(const leat_shape *a, const leat_shape *b, leat_shape *out,
                            leat_error *err) {
    LEATI_TRY(leati_matrices_check(a, true, err));
    LEATI_TRY(leati_matrices_check(b, false, err));
    *out = *b;
    if (a->rank < 0 || b->rank < 0)
        return LEAT_OK;
    if (a->rank != b->rank)
        return leati_refuse(
            err, SHAPE, "the matrices have %d dimensions and the right sides %d; expected as many",
            a->rank, b->rank);
    for (int32_t d = 0; d < a->rank - 1; d++) {
        LEATI_TRY(leati_support_want_equal_dims(
            a->dims[d], b->dims[d], "rows and stacks of matrices and right sides", err));
        /* Of the rows and the stack A may know more than B. */
        if (b->dims[d] == LEAT_UNKNOWN_DIM)
            out->dims[d] = a->dims[d];
    }
    return LEAT_OK;
}

static leat_status matrix_solve_infer(leati_infer_call *call, leat_error *err) {
    leat_shape shape;
    LEATI_TRY(leati_matrices_want(call, 0, true, err));
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    LEATI_TRY(solution(&call->inputs[0].shape, &call->inputs[1].shape, &shape, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

static leat_status solve(const leati_matrices_loop *loop, int64_t row, int64_t at) {
    const struct solve_args *args = loop->call->args;
    const leati_operand *in = &loop->call->inputs[0], *right = &loop->call->inputs[1];
    const leati_operand *out = &loop->call->outputs[0];
    int64_t n = loop->rows, columns = right->dims[right->rank - 1], values = n * n;
    int64_t wanted = n * columns;
    if (loop->by_lapack)
        return leati_lapack_solve(in->dtype, leati_matrices_at(in, row, at * values), n,
                                  args->adjoint, leati_matrices_at(right, row, at * wanted),
                                  columns, leati_matrices_at(out, row, at * wanted));
    /* The matrix, the right sides, scratch of one line, and the order of rows. */
    double *a = leati_matrices_doubles(values + wanted + 2 * n), *x = a + values,
           *line = x + wanted;
    int64_t *order = (int64_t *)(void *)(line + n);
    if (a == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leati_matrices_read_doubles(in, row, at * values, values, a);
    leati_matrices_read_doubles(right, row, at * wanted, wanted, x);
    if (leati_factor_lu(a, n, order) == 0 && n > 0)
        return LEAT_INVALID_ARGUMENT;
    leati_factor_solve_lu(a, n, order, args->adjoint, x, columns, line);
    leati_matrices_write_doubles(x, out, row, at * wanted, wanted);
    return LEAT_OK;
}

static leat_status matrix_solve_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape from = leati_support_operand_shape(&call->inputs[0]),
               other = leati_support_operand_shape(&call->inputs[1]), shape;
    LEATI_TRY(solution(&from, &other, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    leati_matrices_loop loop = leati_matrices_loop_of(call, sizeof(struct solve_args), solve);
    loop.why = "Input matrix is not invertible.";
    LEATI_TRY(leati_matrices_choose(&loop, call->inputs[0].dtype, SMALL, err));
    double n = (double)loop.rows, columns = (double)shape.dims[shape.rank - 1];
    return leati_matrices_run(&loop, 100 + 0.1 * n * n * (n + columns), err);
}

static leat_status matrix_solve_gradient(leati_gradient_call *call, leat_error *err) {
    const struct solve_args *args = call->args, turned = {.adjoint = !args->adjoint};
    leat_value x = call->outputs[0];
    (void)err;
    leat_value g = leati_graph_build2(&leati_tensor_op_matrix_solve, &turned, call->inputs[0],
                                      call->output_gradients[0]);
    /* From A X = B follows A dX = dB - dA X: with g = A^-H dL/dX that is -g X^H to A, turned where
     * A was. */
    call->input_gradients[0] =
        leat_op_negate(args->adjoint ? leati_matrices_product(x, g, false, true)
                                     : leati_matrices_product(g, x, false, true));
    call->input_gradients[1] = g;
    return LEAT_OK;
}

/* ---- matrix_triangular_solve ---- */
static leat_status matrix_triangular_solve_infer(leati_infer_call *call, leat_error *err) {
    leat_shape shape;
    LEATI_TRY(leati_matrices_want(call, 0, true, err));
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    LEATI_TRY(leati_matrices_broadcast_solution(&call->inputs[0].shape, &call->inputs[1].shape,
                                                &shape, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

static leat_status solve_triangle(const leati_matrices_loop *loop, int64_t row, int64_t at) {
    const struct solve_args *args = loop->call->args;
    const leati_operand *in = &loop->call->inputs[0], *right = &loop->call->inputs[1];
    const leati_operand *out = &loop->call->outputs[0];
    leat_shape from = leati_support_operand_shape(in), other = leati_support_operand_shape(right);
    leat_shape shape = leati_support_operand_shape(out);
    int64_t n = loop->rows, columns = loop->columns, values = n * n, wanted = n * columns;
    int64_t matrix = leati_matrices_place(&from, &shape, at) * values,
            side = leati_matrices_place(&other, &shape, at) * wanted;
    if (loop->by_lapack) {
        leati_lapack_solve_triangle(in->dtype, leati_matrices_at(in, row, matrix), n, args->lower,
                                    args->adjoint, leati_matrices_at(right, row, side), columns,
                                    leati_matrices_at(out, row, at * wanted));
        return LEAT_OK;
    }
    double *a = leati_matrices_doubles(values + wanted), *x = a + values;
    if (a == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leati_matrices_read_doubles(in, row, matrix, values, a);
    leati_matrices_read_doubles(right, row, side, wanted, x);
    leati_factor_solve_triangle(a, n, args->lower, args->adjoint, false, x, columns);
    leati_matrices_write_doubles(x, out, row, at * wanted, wanted);
    return LEAT_OK;
}

static leat_status matrix_triangular_solve_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape from = leati_support_operand_shape(&call->inputs[0]),
               other = leati_support_operand_shape(&call->inputs[1]), shape;
    LEATI_TRY(leati_matrices_broadcast_solution(&from, &other, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    leati_matrices m = leati_matrices_of(&call->outputs[0]);
    leati_matrices_loop loop =
        leati_matrices_loop_of(call, sizeof(struct solve_args), solve_triangle);
    loop.count = m.count;
    loop.columns = m.columns;
    LEATI_TRY(leati_matrices_choose(&loop, call->inputs[0].dtype, SMALL_TRIANGLE, err));
    return leati_matrices_run(&loop, 100 + 0.1 * (double)(m.rows * m.rows * m.columns), err);
}

static leat_status matrix_triangular_solve_gradient(leati_gradient_call *call, leat_error *err) {
    const struct solve_args *args = call->args;
    struct solve_args turned = *args;
    leat_value x = call->outputs[0], g, product;
    (void)err;
    turned.adjoint = !args->adjoint;
    g = leati_graph_build2(&leati_tensor_op_matrix_triangular_solve, &turned, call->inputs[0],
                           call->output_gradients[0]);
    product = args->adjoint ? leati_matrices_product(x, g, false, true)
                            : leati_matrices_product(g, x, false, true);
    product =
        /* The other triangle was not read, so nothing flows to it. */
        leat_op_negate(leat_op_band_part(product, args->lower ? -1 : 0, args->lower ? 0 : -1));
    call->input_gradients[0] = leati_op_gradient_unbroadcast(product, call->inputs[0]);
    call->input_gradients[1] = leati_op_gradient_unbroadcast(g, call->inputs[1]);
    return LEAT_OK;
}

/* ---- descriptors ---- */
#define SOLVE(OP, INPUTS, ...)                                                                     \
    const leati_tensor_op leati_tensor_op_##OP = {                                                 \
        .name = #OP,                                                                               \
        .version = 1,                                                                              \
        .outputs = "output",                                                                       \
        .checks = LEATI_CHECKS_IN_KERNEL,                                                          \
        .rows = OP##_rows,                                                                         \
        .args_size = sizeof(struct solve_args),                                                    \
        .min_inputs = INPUTS,                                                                      \
        .max_inputs = INPUTS,                                                                      \
        .kernel = OP##_kernel,                                                                     \
        .gradient = OP##_gradient,                                                                 \
        __VA_ARGS__,                                                                               \
    };
SOLVE(matrix_inverse, 1, .doc = "The inverse of square matrices (tf.linalg.inv).",
      .names = "linalg.inv", .inputs = "input", .types = "T", .halves = LEATI_HALVES_FLOAT,
      .infer = leati_matrices_infer_square)
SOLVE(matrix_solve, 2, .doc = "The X of A X = B for square matrices A (tf.linalg.solve).",
      .names = "linalg.solve", .inputs = "matrix rhs", .types = "T T", .halves = LEATI_HALVES_NONE,
      .infer = matrix_solve_infer)
SOLVE(matrix_triangular_solve, 2,
      .doc = "The X of A X = B for triangular matrices A (tf.linalg.triangular_solve).",
      .names = "linalg.triangular_solve", .inputs = "matrix rhs", .types = "T T",
      .halves = LEATI_HALVES_NONE, .infer = matrix_triangular_solve_infer)
