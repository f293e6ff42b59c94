/* matrix_inverse, matrix_solve, matrix_triangular_solve: the inverses of square matrices, and the X
 * of A X = B for square ones, or for triangular ones, of which the other triangle is not read; all
 * with A^T instead if asked (tf.linalg.inv and so on).
 *
 * By LU factors; singular matrices fail. A 0 on the diagonal of a triangle gives infinities and
 * NaN, as in TensorFlow, and stacks of triangles broadcast. No state, no locks. */
#include "base/stop.h"
#include "graph/support/linalg/matrices.h"

struct solve_args {
    bool lower, adjoint; /* lower: of triangles */
};

#define ROW_ADJOINT(DOC)                                                                           \
    {                                                                                              \
        .name = "adjoint", .type = LEATI_ROW_BOOL, .offset = offsetof(struct solve_args, adjoint), \
        .doc = DOC                                                                                 \
    }

static const leati_row matrix_inverse_rows[] = {
    ROW_ADJOINT("The inverse of the transpose instead."), {0}};

static const leati_row matrix_solve_rows[] = {
    ROW_ADJOINT("Solve with the transposes of the matrices."), {0}};

static const leati_row matrix_triangular_solve_rows[] = {
    {.name = "lower",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct solve_args, lower),
     .default_number = 1,
     .doc = "The matrices are lower triangles, not upper ones."},
    ROW_ADJOINT("Solve with the transposes of the matrices."),
    {0},
};

/* ---- matrix_inverse ---- */
static leat_status matrix_inverse_kernel(leati_kernel_call *call, leat_error *err) {
    const struct solve_args *args = call->args;
    const leati_operand *in = &call->inputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    LEATI_TRY(leati_matrices_check(&shape, true, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    leati_matrices m = leati_matrices_of(in);
    int64_t n = m.rows, values = n * n;
    /* The matrix, what becomes its inverse, and scratch of one line. */
    double *a = leati_matrices_doubles(call, 2 * values + n, err);
    int64_t *order = a == NULL ? NULL : (int64_t *)leati_matrices_doubles(call, n, err);
    if (order == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    double *x = a + values;
    for (int64_t i = 0; i < call->n * m.count && !leati_stop_look(); i++) {
        int64_t row = i / m.count, at = i % m.count;
        leati_matrices_read_doubles(in, row, at * values, values, a);
        if (leati_factor_lu(a, n, order) == 0 && n > 0)
            return leati_matrices_refuse(call, row, at, "Input is not invertible.", err);
        /* The right sides are the identity. */
        for (int64_t k = 0; k < values; k++)
            x[k] = k / n == k % n;
        leati_factor_solve_lu(a, n, order, args->adjoint, x, n, x + values);
        leati_matrices_write_doubles(x, &call->outputs[0], row, at * values, values);
    }
    return LEAT_OK;
}

static leat_status matrix_inverse_gradient(leati_gradient_call *call, leat_error *err) {
    const struct solve_args *args = call->args;
    leat_value g = call->output_gradients[0], inverse = call->outputs[0];
    (void)err;
    /* -A^-T g A^-T; the gradient of the turned inverse is turned first. */
    leat_value right = leat_op_matmul(g, inverse, args->adjoint, !args->adjoint);
    call->input_gradients[0] =
        leat_op_negate(leat_op_matmul(inverse, right, !args->adjoint, false));
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

static leat_status matrix_solve_kernel(leati_kernel_call *call, leat_error *err) {
    const struct solve_args *args = call->args;
    const leati_operand *in = &call->inputs[0], *right = &call->inputs[1];
    leat_shape from = leati_support_operand_shape(in), other = leati_support_operand_shape(right),
               shape;
    LEATI_TRY(solution(&from, &other, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    leati_matrices m = leati_matrices_of(in), r = leati_matrices_of(right);
    int64_t n = m.rows, values = n * n, wanted = r.rows * r.columns;
    /* Scratch of one line lies behind the matrix. */
    double *a = leati_matrices_doubles(call, values + n, err);
    double *x = a == NULL ? NULL : leati_matrices_doubles(call, wanted, err);
    int64_t *order = x == NULL ? NULL : (int64_t *)leati_matrices_doubles(call, n, err);
    if (order == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    for (int64_t i = 0; i < call->n * m.count && !leati_stop_look(); i++) {
        int64_t row = i / m.count, at = i % m.count;
        leati_matrices_read_doubles(in, row, at * values, values, a);
        leati_matrices_read_doubles(right, row, at * wanted, wanted, x);
        if (leati_factor_lu(a, n, order) == 0 && n > 0)
            return leati_matrices_refuse(call, row, at, "Input matrix is not invertible.", err);
        leati_factor_solve_lu(a, n, order, args->adjoint, x, r.columns, a + values);
        leati_matrices_write_doubles(x, &call->outputs[0], row, at * wanted, wanted);
    }
    return LEAT_OK;
}

static leat_status matrix_solve_gradient(leati_gradient_call *call, leat_error *err) {
    const struct solve_args *args = call->args, turned = {.adjoint = !args->adjoint};
    leat_value x = call->outputs[0];
    (void)err;
    leat_value g = leati_graph_build2(&leati_tensor_op_matrix_solve, &turned, call->inputs[0],
                                      call->output_gradients[0]);
    /* From A X = B follows A dX = dB - dA X: with g = A^-T dL/dX that is -g X^T to A, turned where
     * A was. */
    call->input_gradients[0] = leat_op_negate(args->adjoint ? leat_op_matmul(x, g, false, true)
                                                            : leat_op_matmul(g, x, false, true));
    call->input_gradients[1] = g;
    return LEAT_OK;
}

/* ---- matrix_triangular_solve ---- */
/* A shape without its last two dimensions. */
static leat_shape stack_of(const leat_shape *shape) {
    return leati_matrices_stack_of(shape, NULL, 0);
}

static leat_status broadcast_solution(const leat_shape *a, const leat_shape *b, leat_shape *out,
                                      leat_error *err) {
    LEATI_TRY(leati_matrices_check(a, true, err));
    LEATI_TRY(leati_matrices_check(b, false, err));
    *out = (leat_shape){.rank = LEAT_UNKNOWN_RANK};
    if (a->rank < 0 || b->rank < 0)
        return LEAT_OK;
    leat_shape first = stack_of(a), second = stack_of(b);
    int64_t rows = a->dims[a->rank - 1], given = b->dims[b->rank - 2];
    LEATI_TRY(leati_support_want_equal_dims(rows, given, "rows of matrices and right sides", err));
    LEATI_TRY(leati_op_infer_broadcast_shape(&first, &second, out, err));
    if (out->rank > LEAT_MAX_RANK - 2)
        return leati_refuse(err, SHAPE, "more than %d dimensions", LEAT_MAX_RANK);
    out->dims[out->rank++] = rows == LEAT_UNKNOWN_DIM ? given : rows;
    out->dims[out->rank++] = b->dims[b->rank - 1];
    return LEAT_OK;
}

static leat_status matrix_triangular_solve_infer(leati_infer_call *call, leat_error *err) {
    leat_shape shape;
    LEATI_TRY(leati_matrices_want(call, 0, true, err));
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    LEATI_TRY(broadcast_solution(&call->inputs[0].shape, &call->inputs[1].shape, &shape, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

/* Which matrix of a stack of shape `of` stands at place `at` of the stack that it broadcasts to. */
static int64_t place_in(const leat_shape *of, const leat_shape *whole, int64_t at) {
    int64_t place = 0, step = 1;
    /* From the innermost dimension of the stack outwards. */
    for (int32_t d = 1; d <= whole->rank - 2; d++) {
        int64_t dim = whole->dims[whole->rank - 2 - d], index = at % dim;
        at /= dim;
        /* This stack lacks the outer dimensions: it is repeated along them. */
        if (d > of->rank - 2)
            continue;
        int64_t own = of->dims[of->rank - 2 - d];
        place += own == 1 ? 0 : index * step;
        step *= own;
    }
    return place;
}

static leat_status matrix_triangular_solve_kernel(leati_kernel_call *call, leat_error *err) {
    const struct solve_args *args = call->args;
    const leati_operand *in = &call->inputs[0], *right = &call->inputs[1];
    leat_shape from = leati_support_operand_shape(in), other = leati_support_operand_shape(right),
               shape;
    LEATI_TRY(broadcast_solution(&from, &other, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    leati_matrices m = leati_matrices_of(&call->outputs[0]);
    int64_t n = m.rows, values = n * n, wanted = n * m.columns;
    double *a = leati_matrices_doubles(call, values, err);
    double *x = a == NULL ? NULL : leati_matrices_doubles(call, wanted, err);
    if (x == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    for (int64_t i = 0; i < call->n * m.count && !leati_stop_look(); i++) {
        int64_t row = i / m.count, at = i % m.count;
        leati_matrices_read_doubles(in, row, place_in(&from, &shape, at) * values, values, a);
        leati_matrices_read_doubles(right, row, place_in(&other, &shape, at) * wanted, wanted, x);
        leati_factor_solve_triangle(a, n, args->lower, args->adjoint, false, x, m.columns);
        leati_matrices_write_doubles(x, &call->outputs[0], row, at * wanted, wanted);
    }
    return LEAT_OK;
}

static leat_status matrix_triangular_solve_gradient(leati_gradient_call *call, leat_error *err) {
    const struct solve_args *args = call->args;
    struct solve_args turned = *args;
    leat_value x = call->outputs[0], g, product;
    (void)err;
    turned.adjoint = !args->adjoint;
    g = leati_graph_build2(&leati_tensor_op_matrix_triangular_solve, &turned, call->inputs[0],
                           call->output_gradients[0]);
    product = args->adjoint ? leat_op_matmul(x, g, false, true) : leat_op_matmul(g, x, false, true);
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
