/* lu: square matrices as products of unit lower triangles and upper ones, both in one matrix, with
 * rows exchanged (tf.linalg.lu).
 *
 * Row i of L U is row p[i] of the matrix. Fails where a matrix is singular. No state, no locks. */
#include "base/stop.h"
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

static leat_status lu_kernel(leati_kernel_call *call, leat_error *err) {
    const struct lu_args *args = call->args;
    const leati_operand *in = &call->inputs[0];
    leat_shape from = leati_support_operand_shape(in);
    LEATI_TRY(leati_matrices_check(&from, true, err));
    leat_shape shape = leati_matrices_stack_of(&from, &from.dims[from.rank - 1], 1);
    LEATI_TRY(leati_support_output_like(call, 0, &from, err));
    LEATI_TRY(leati_support_output_like(call, 1, &shape, err));
    leati_matrices m = leati_matrices_of(in);
    int64_t n = m.rows, values = n * n;
    size_t size = leat_dtype_size(args->output_idx_type);
    double *a = leati_matrices_doubles(call, values, err);
    int64_t *order = a == NULL ? NULL : (int64_t *)leati_matrices_doubles(call, n, err);
    if (order == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    for (int64_t i = 0; i < call->n * m.count && !leati_stop_look(); i++) {
        int64_t row = i / m.count, at = i % m.count;
        leati_matrices_read_doubles(in, row, at * values, values, a);
        if (leati_factor_lu(a, n, order) == 0 && n > 0)
            return leati_matrices_refuse(call, row, at, "Input is not invertible.", err);
        leati_matrices_write_doubles(a, &call->outputs[0], row, at * values, values);
        for (int64_t k = 0; k < n; k++)
            /* Doubles hold all numbers of rows. */
            (void)leati_support_store_number(args->output_idx_type, (double)order[k],
                                             leati_support_row_of(&call->outputs[1], row) +
                                                 (size_t)(at * n + k) * size);
    }
    return LEAT_OK;
}

/* L^-T (the strict lower triangle of L^T g + the upper one of g U^T) U^-T, its rows put back. */
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
    leat_value none = leat_op_zeros_like(leat_op_diag_part(both, &(int64_t){0}, 1, 0, NULL)),
               one = leat_op_add(none, leati_support_number(both.graph, leat_value_dtype(both), 1));
    leat_value lower =
        leat_op_set_diag(leat_op_band_part(both, -1, 0), one, &(int64_t){0}, 1, NULL);
    leat_value upper = leat_op_band_part(both, 0, -1);
    leat_value below = leat_op_set_diag(leat_op_band_part(g, -1, 0), none, &(int64_t){0}, 1, NULL);
    below = leat_op_set_diag(leat_op_band_part(leat_op_matmul(lower, below, true, false), -1, 0),
                             none, &(int64_t){0}, 1, NULL);
    leat_value above = leat_op_matmul(leat_op_band_part(g, 0, -1), upper, false, true);
    leat_value middle = leat_op_add(below, leat_op_band_part(above, 0, -1));
    /* Solving is more exact than multiplying with inverses. */
    middle = leat_op_matrix_triangular_solve(lower, middle, true, true);
    middle = leati_matrices_transposed(
        leat_op_matrix_triangular_solve(upper, leati_matrices_transposed(middle), false, false));
    /* One line of zeros and a 1 for each p[i]: its transpose takes row i back to row p[i]. */
    leat_value rows = leat_op_one_hot(
        call->outputs[1], n,
        &(leat_op_one_hot_options){LEAT_OP_ONE_HOT_DEFAULTS, .dtype = leat_value_dtype(both)});
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
