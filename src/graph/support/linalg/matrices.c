/* What the operations of linear algebra share; see matrices.h. No state, no locks. */
#include "graph/support/linalg/matrices.h"
#include "base/minmax.h"

#include <string.h>

leat_status leati_matrices_check(const leat_shape *shape, bool square, leat_error *err) {
    char text[128];
    if (shape->rank == LEAT_UNKNOWN_RANK)
        return LEAT_OK;
    if (shape->rank < 2)
        return leati_refuse(err, SHAPE,
                            "the input has shape %s; Input matrix must be of rank 2 or more",
                            leati_shape_text(shape, text));
    int64_t rows = shape->dims[shape->rank - 2], columns = shape->dims[shape->rank - 1];
    if (square && rows != columns && rows != LEAT_UNKNOWN_DIM && columns != LEAT_UNKNOWN_DIM)
        return leati_refuse(err, SHAPE, "the input has shape %s; Input matrix must be square",
                            leati_shape_text(shape, text));
    return LEAT_OK;
}

leat_status leati_matrices_want(const leati_infer_call *call, int index, bool square,
                                leat_error *err) {
    LEATI_TRY(leati_support_want_float(call, index, "a matrix", err));
    return leati_matrices_check(&call->inputs[index].shape, square, err);
}

leat_shape leati_matrices_stack_of(const leat_shape *stack, const int64_t *last, int count) {
    leat_shape out = *stack;
    if (stack->rank < 2)
        return out;
    out.rank = stack->rank - 2 + count;
    for (int i = 0; i < count; i++)
        out.dims[stack->rank - 2 + i] = last[i];
    return out;
}

leat_shape leati_matrices_square_of(const leat_shape *in) {
    leat_shape out = *in;
    int64_t *sides = in->rank < 2 ? NULL : &out.dims[in->rank - 2];
    if (sides != NULL && sides[0] == LEAT_UNKNOWN_DIM)
        sides[0] = sides[1];
    else if (sides != NULL && sides[1] == LEAT_UNKNOWN_DIM)
        sides[1] = sides[0];
    return out;
}

leat_status leati_matrices_infer_square(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_matrices_want(call, 0, true, err));
    leat_shape square = leati_matrices_square_of(&call->inputs[0].shape);
    return leati_op_infer_output(call, call->inputs[0].dtype, &square, NULL, err);
}

int64_t leati_matrices_smaller_dim(int64_t a, int64_t b) {
    if (a == 0 || b == 0)
        return 0;
    if (a == LEAT_UNKNOWN_DIM || b == LEAT_UNKNOWN_DIM)
        return LEAT_UNKNOWN_DIM;
    return LEATI_MIN(a, b);
}

leati_matrices leati_matrices_of(const leati_operand *operand) {
    leati_matrices m = {1, operand->dims[operand->rank - 2], operand->dims[operand->rank - 1]};
    for (int32_t d = 0; d < operand->rank - 2; d++)
        m.count *= operand->dims[d];
    return m;
}

double *leati_matrices_doubles(leati_kernel_call *call, int64_t count, leat_error *err) {
    size_t bytes = 0;
    double *made = leati_mul_size((size_t)(count > 0 ? count : 1), sizeof *made, &bytes)
                       ? leati_arena_alloc(call->arena, bytes)
                       : NULL;
    if (made == NULL)
        (void)leati_no_memory(err);
    return made;
}

void leati_matrices_read_doubles(const leati_operand *from, int64_t row, int64_t first,
                                 int64_t count, double *to) {
    const char *data = leati_support_row_of(from, row);
    if (count > 0 && from->dtype == LEAT_FLOAT64)
        memcpy(to, (const double *)data + first, (size_t)count * sizeof *to);
    for (int64_t i = 0; i < count && from->dtype == LEAT_FLOAT32; i++)
        to[i] = (double)((const float *)data)[first + i];
}

void leati_matrices_write_doubles(const double *from, const leati_operand *to, int64_t row,
                                  int64_t first, int64_t count) {
    char *data = leati_support_row_of(to, row);
    if (count > 0 && to->dtype == LEAT_FLOAT64)
        memcpy((double *)data + first, from, (size_t)count * sizeof *from);
    for (int64_t i = 0; i < count && to->dtype == LEAT_FLOAT32; i++)
        ((float *)data)[first + i] = (float)from[i];
}

leat_status leati_matrices_refuse(leati_kernel_call *call, int64_t row, int64_t matrix,
                                  const char *why, leat_error *err) {
    call->failed_row = row;
    return leati_refuse(err, VALUE, "matrix %lld: %s", (long long)matrix, why);
}

/* ---- for gradients ---- */

leat_value leati_matrices_transposed(leat_value x) {
    return leat_op_einsum(&x, 1, "...ij->...ji");
}

leat_value leati_matrices_safe_reciprocal(leat_value x) {
    leat_value square = leat_op_square(x);
    return leat_op_divide(
        x, leat_op_add(square, leati_support_number(x.graph, leat_value_dtype(x), 1e-20)));
}

leat_value leati_matrices_gaps(leat_value v) {
    leat_value gaps = leat_op_subtract(leat_op_expand_dims(v, -2), leat_op_expand_dims(v, -1));
    return leat_op_set_diag(leati_matrices_safe_reciprocal(gaps), leat_op_zeros_like(v),
                            &(int64_t){0}, 1, NULL);
}

leat_value leati_matrices_lower_half(leat_value x) {
    leat_value both = leat_op_band_part(leat_op_add(x, leati_matrices_transposed(x)), -1, 0);
    return leat_op_set_diag(
        both, leati_support_times(leat_op_diag_part(both, &(int64_t){0}, 1, 0, NULL), 0.5),
        &(int64_t){0}, 1, NULL);
}
