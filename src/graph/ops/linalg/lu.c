/* lu: square matrices as products of unit lower triangles and upper ones, both in one matrix, with
 * rows exchanged (tf.linalg.lu).
 *
 * Row i of L U is row p[i] of the matrix. Fails where a matrix is singular. No state, no locks. */
#include "graph/support/linalg/matrices.h"

struct lu_args {
    leat_dtype output_idx_type;
};

static const leati_row lu_rows[] = {
    {.name = "output_idx_type",
     .type = LEATI_ROW_DTYPE,
     .offset = offsetof(struct lu_args, output_idx_type),
     .default_number = LEAT_INT32,
     .doc = "The dtype of p: int32 or int64."},
    {0},
};

static leat_status lu_infer(leati_infer_call *call, leat_error *err) {
    const struct lu_args *args = call->args;
    leat_shape in = leati_matrices_square_of(&call->inputs[0].shape);
    LEATI_TRY(leati_matrices_want(call, 0, true, err));
    if (args->output_idx_type != LEAT_INT32 && args->output_idx_type != LEAT_INT64)
        return leati_refuse(err, DTYPE, "output_idx_type is %s; expected int32 or int64",
                            leat_dtype_name(args->output_idx_type));
    /* Of an unknown rank nothing is taken; the shape stays unknown. */
    leat_shape order = leati_matrices_stack_of(&in, in.rank < 2 ? NULL : &in.dims[in.rank - 1], 1);
    LEATI_TRY(leati_op_infer_output(call, call->inputs[0].dtype, &in, NULL, err));
    return leati_op_infer_output(call, args->output_idx_type, &order, NULL, err);
}

enum { SMALL = 16 };

static leat_status factor(const leati_matrices_loop *loop, int64_t row, int64_t at) {
    const leati_operand *in = &loop->call->inputs[0], *out = loop->call->outputs;
    int64_t n = loop->rows, values = n * n;
    void *order = leati_matrices_at(&out[1], row, at * n);
    if (loop->by_lapack)
        return leati_lapack_lu(in->dtype, leati_matrices_at(in, row, at * values), n,
                               leati_matrices_at(&out[0], row, at * values), out[1].dtype, order);
    /* An int64 is as large as a double, so the same memory serves. */
    double *a = leati_matrices_doubles(values + n);
    int64_t *places = (int64_t *)(void *)(a + values);
    if (a == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leati_matrices_read_doubles(in, row, at * values, values, a);
    if (leati_factor_lu(a, n, places) == 0 && n > 0)
        return LEAT_INVALID_ARGUMENT;
    leati_matrices_write_doubles(a, &out[0], row, at * values, values);
    for (int64_t k = 0; k < n; k++)
        if (out[1].dtype == LEAT_INT64)
            ((int64_t *)order)[k] = places[k];
        else
            ((int32_t *)order)[k] = (int32_t)places[k];
    return LEAT_OK;
}

static leat_status lu_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape from = leati_support_operand_shape(&call->inputs[0]);
    LEATI_TRY(leati_matrices_check(&from, true, err));
    leat_shape shape = leati_matrices_stack_of(&from, &from.dims[from.rank - 1], 1);
    LEATI_TRY(leati_support_output_like(call, 0, &from, err));
    LEATI_TRY(leati_support_output_like(call, 1, &shape, err));
    leati_matrices_loop loop = leati_matrices_loop_of(call, sizeof(struct lu_args), factor);
    loop.why = "Input is not invertible.";
    LEATI_TRY(leati_matrices_choose(&loop, call->inputs[0].dtype, SMALL, err));
    return leati_matrices_run(&loop, leati_matrices_ns(&loop, 0.1), err);
}

/* L^-H (the strict lower triangle of L^H g + the upper one of g U^H) U^-H, its rows put back. */
static leat_status lu_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value both = call->outputs[0], g = call->output_gradients[0];
    const leat_shape shape = leat_value_shape(call->outputs[1]);
    /* one_hot below takes the number of rows as an argument. */
    int64_t n = shape.rank < 1 ? LEAT_UNKNOWN_DIM : shape.dims[shape.rank - 1];
    if (n == LEAT_UNKNOWN_DIM)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "the gradient needs the sizes of the matrices; set them with "
                          "ensure_shape");
    /* Both triangles share a matrix, whose diagonal is that of U; L's is ones. */
    leat_value none = leat_op_zeros_like(leati_matrices_diagonal_of(both)),
               one = leat_op_add(none, leati_support_number(both.graph, leat_value_dtype(both), 1));
    leat_value lower =
        leat_op_set_diag(leat_op_band_part(both, -1, 0), one, &(int64_t){0}, 1, NULL);
    leat_value upper = leat_op_band_part(both, 0, -1);
    leat_value below = leat_op_set_diag(leat_op_band_part(g, -1, 0), none, &(int64_t){0}, 1, NULL);
    below = leat_op_set_diag(
        leat_op_band_part(leati_matrices_product(lower, below, true, false), -1, 0), none,
        &(int64_t){0}, 1, NULL);
    leat_value above = leati_matrices_product(leat_op_band_part(g, 0, -1), upper, false, true);
    leat_value middle = leat_op_add(below, leat_op_band_part(above, 0, -1));
    /* Solving is more exact than multiplying with inverses. */
    middle = leat_op_matrix_triangular_solve(lower, middle, true, true);
    middle = leati_matrices_adjoint(
        leat_op_matrix_triangular_solve(upper, leati_matrices_adjoint(middle), false, false));
    /* One line of zeros and a 1 for each p[i]: its transpose takes row i back to row p[i]. */
    leat_value rows = leat_op_one_hot(
        call->outputs[1], n,
        &(leat_op_one_hot_options){LEAT_OP_ONE_HOT_DEFAULTS,
                                   .dtype = leati_dtype_part(leat_value_dtype(both))});
    if (leati_dtype_is_complex(leat_value_dtype(both)))
        rows = leat_op_cast(rows, leat_value_dtype(both));
    call->input_gradients[0] = leat_op_matmul(rows, middle, true, false);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_lu = {
    .name = "lu",
    .version = 1,
    .doc = "Square matrices as products of lower and upper triangles, with rows exchanged "
           "(tf.linalg.lu).",
    .names = "linalg.lu",
    .inputs = "input",
    .types = "T",
    .outputs = "Lu(lu p)",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = lu_rows,
    .args_size = sizeof(struct lu_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = lu_infer,
    .kernel = lu_kernel,
    .gradient = lu_gradient,
};
