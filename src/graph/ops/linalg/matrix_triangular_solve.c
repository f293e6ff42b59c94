/* matrix_triangular_solve: the X of A X = B for triangular matrices A, of which the other triangle
 * is not read, or of A^T X = B (tf.linalg.triangular_solve).
 *
 * Stacks of matrices broadcast. A 0 on a diagonal gives infinities and NaN, as in TensorFlow. No
 * failure modes in the run. No state, no locks. */
#include "graph/support/linalg/matrices.h"

struct matrix_triangular_solve_args {
    bool lower, adjoint;
};

static const leati_row matrix_triangular_solve_rows[] = {
    {.name = "lower",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct matrix_triangular_solve_args, lower),
     .default_number = 1,
     .doc = "The matrices are lower triangles, not upper ones."},
    LEATI_ROW_ADJOINT(struct matrix_triangular_solve_args,
                      "Solve with the transposes of the matrices."),
    {0},
};

/* A shape without its last two dimensions. */
static leat_shape stack_of(const leat_shape *shape) {
    return leati_matrices_stack_of(shape, NULL, 0);
}

static leat_status solution(const leat_shape *a, const leat_shape *b, leat_shape *out,
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
    LEATI_TRY(solution(&call->inputs[0].shape, &call->inputs[1].shape, &shape, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

/* Which matrix of a stack of shape `of` stands at place `at` of the stack that it broadcasts to. */
static int64_t place_in(const leat_shape *of, const leat_shape *whole, int64_t at) {
    int64_t place = 0, step = 1;
    for (int32_t d = 1; d <= whole->rank - 2; d++) {
        int64_t dim = whole->dims[whole->rank - 2 - d], index = at % dim;
        at /= dim;
        if (d > of->rank - 2)
            continue;
        int64_t own = of->dims[of->rank - 2 - d];
        place += own == 1 ? 0 : index * step;
        step *= own;
    }
    return place;
}

static leat_status matrix_triangular_solve_kernel(leati_kernel_call *call, leat_error *err) {
    const struct matrix_triangular_solve_args *args = call->args;
    const leati_operand *in = &call->inputs[0], *right = &call->inputs[1];
    leat_shape from = leati_support_operand_shape(in), other = leati_support_operand_shape(right),
               shape;
    LEATI_TRY(solution(&from, &other, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    leati_matrices m = leati_matrices_of(&call->outputs[0]);
    int64_t n = m.rows, values = n * n, wanted = n * m.columns;
    double *a = leati_matrices_doubles(call, values, err);
    double *x = a == NULL ? NULL : leati_matrices_doubles(call, wanted, err);
    if (x == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    for (int64_t i = 0; i < call->n * m.count; i++) {
        int64_t row = i / m.count, at = i % m.count;
        leati_matrices_read_doubles(in, row, place_in(&from, &shape, at) * values, values, a);
        leati_matrices_read_doubles(right, row, place_in(&other, &shape, at) * wanted, wanted, x);
        leati_factor_solve_triangle(a, n, args->lower, args->adjoint, false, x, m.columns);
        leati_matrices_write_doubles(x, &call->outputs[0], row, at * wanted, wanted);
    }
    return LEAT_OK;
}

static leat_status matrix_triangular_solve_gradient(leati_gradient_call *call, leat_error *err) {
    const struct matrix_triangular_solve_args *args = call->args;
    struct matrix_triangular_solve_args turned = *args;
    leat_value x = call->outputs[0], g, product;
    (void)err;
    turned.adjoint = !args->adjoint;
    g = leati_graph_build2(&leati_tensor_op_matrix_triangular_solve, &turned, call->inputs[0],
                           call->output_gradients[0]);
    product = args->adjoint ? leat_op_matmul(x, g, false, true) : leat_op_matmul(g, x, false, true);
    product =
        leat_op_negate(leat_op_band_part(product, args->lower ? -1 : 0, args->lower ? 0 : -1));
    call->input_gradients[0] = leati_op_gradient_unbroadcast(product, call->inputs[0]);
    call->input_gradients[1] = leati_op_gradient_unbroadcast(g, call->inputs[1]);
    return LEAT_OK;
}

leat_value leat_op_matrix_triangular_solve(leat_value matrix, leat_value rhs, bool lower,
                                           bool adjoint) {
    struct matrix_triangular_solve_args args = {.lower = lower, .adjoint = adjoint};
    return leati_graph_build2(&leati_tensor_op_matrix_triangular_solve, &args, matrix, rhs);
}

const leati_tensor_op leati_tensor_op_matrix_triangular_solve = {
    .name = "matrix_triangular_solve",
    .version = 1,
    .doc = "The X of A X = B for triangular matrices A (tf.linalg.triangular_solve).",
    .names = "linalg.triangular_solve",
    .inputs = "matrix rhs",
    .types = "T T",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = matrix_triangular_solve_rows,
    .args_size = sizeof(struct matrix_triangular_solve_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = matrix_triangular_solve_infer,
    .kernel = matrix_triangular_solve_kernel,
    .gradient = matrix_triangular_solve_gradient,
};
