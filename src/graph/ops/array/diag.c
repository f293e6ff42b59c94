/* diag: matrices made of their diagonals (tf.linalg.diag).
 *
 * Without num_rows and num_cols the matrix is as small as the diagonals allow, and square where
 * neither is given. Fails where the sizes do not fit. No state, no locks. */
#include "base/minmax.h"
#include "graph/support/linalg/diagonal.h"

static const leati_row diag_rows[] = {
    LEATI_ROW_DIAGONALS,
    {.name = "num_rows",
     .type = LEATI_ROW_INT,
     .flags = LEATI_TENSOR,
     .offset = offsetof(struct leati_diagonal_args, num_rows),
     .default_number = -1,
     .doc = "How many rows a matrix has; -1: as few as can be."},
    {.name = "num_cols",
     .type = LEATI_ROW_INT,
     .flags = LEATI_TENSOR,
     .offset = offsetof(struct leati_diagonal_args, num_cols),
     .default_number = -1,
     .doc = "How many columns a matrix has; -1: as few as can be."},
    LEATI_ROW_DIAGONAL_PADDING,
    LEATI_ROW_DIAGONAL_ALIGN,
    {0},
};

/* The diagonals that an array of shape `in` has, and the shape of the matrices. */
static leat_status matrices(const struct leati_diagonal_args *args, const leat_shape *in,
                            leati_diagonals *d, leat_shape *out, leat_error *err) {
    LEATI_TRY(leati_diagonals_read(d, args, err));
    int32_t used = d->low == d->high ? 1 : 2;
    if (in->rank < used)
        return leati_refuse(err, SHAPE,
                            "diagonal must be at least %d-dim, received "
                            "rank %d",
                            (int)used, (int)in->rank);
    int64_t lines = used == 2 ? in->dims[in->rank - 2] : 1;
    if (lines >= 0 && lines != d->high - d->low + 1)
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "The number of diagonals provided in the input does not match the "
                          "lower_diag_index and upper_diag_index range: %lld for %lld",
                          (long long)lines, (long long)(d->high - d->low + 1));
    *out = (leat_shape){.rank = 0};
    for (int32_t i = 0; i < in->rank - used; i++)
        out->dims[out->rank++] = in->dims[i];
    if (out->rank + 2 > LEAT_MAX_RANK)
        return leati_refuse(err, SHAPE, "the rank would be %d; expected at most %d",
                            (int)out->rank + 2, LEAT_MAX_RANK);
    d->longest = in->dims[in->rank - 1];
    d->rows = args->num_rows;
    d->columns = args->num_cols;
    if (d->longest >= 0) {
        int64_t rows = d->longest - LEATI_MIN(d->high, 0);
        int64_t columns = d->longest + LEATI_MAX(d->low, 0);
        int64_t larger = LEATI_MAX(rows, columns);
        d->rows = args->num_rows >= 0 ? args->num_rows : args->num_cols >= 0 ? rows : larger;
        d->columns = args->num_cols >= 0 ? args->num_cols : args->num_rows >= 0 ? columns : larger;
        if (d->rows < rows || d->columns < columns || (d->rows != rows && d->columns != columns))
            return leati_fail(err, LEAT_INVALID_ARGUMENT,
                              "The number of rows or columns is not consistent with the specified "
                              "d_lower, d_upper, and diagonal: %lld x %lld for at least %lld x "
                              "%lld, one of them exactly",
                              (long long)d->rows, (long long)d->columns, (long long)rows,
                              (long long)columns);
    }
    out->dims[out->rank++] = d->rows < 0 ? LEAT_UNKNOWN_DIM : d->rows;
    out->dims[out->rank++] = d->columns < 0 ? LEAT_UNKNOWN_DIM : d->columns;
    return LEAT_OK;
}

static leat_status diag_infer(leati_infer_call *call, leat_error *err) {
    const leat_shape *in = &call->inputs[0].shape;
    leat_shape shape = {.rank = LEAT_UNKNOWN_RANK};
    leati_diagonals d;
    LEATI_TRY(leati_diagonal_want_fixed(call, 0, err));
    if (in->rank >= 0 && call->unknown == 0)
        LEATI_TRY(matrices(call->args, in, &d, &shape, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

static leat_status diag_kernel(leati_kernel_call *call, leat_error *err) {
    const struct leati_diagonal_args *args = call->args;
    const leati_operand *in = &call->inputs[0], *out = &call->outputs[0];
    leat_shape from = leati_support_operand_shape(in), shape;
    leati_diagonals d;
    LEATI_TRY(matrices(args, &from, &d, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    size_t size = leat_dtype_size(in->dtype);
    int64_t matrix = d.rows * d.columns, array = (d.high - d.low + 1) * d.longest;
    for (int64_t row = 0; row < call->n && out->count > 0; row++) {
        char *to = leati_support_row_of(out, row);
        for (int64_t i = 0; i < out->count; i++)
            (void)leati_support_store_number(in->dtype, args->padding_value, to + (size_t)i * size);
        for (int64_t i = 0; i < out->count / matrix && in->count > 0; i++)
            leati_diagonals_copy(&d, size, to + (size_t)(i * matrix) * size,
                                 leati_support_row_of(in, row) + (size_t)(i * array) * size, false);
    }
    return LEAT_OK;
}

static leat_status diag_gradient(leati_gradient_call *call, leat_error *err) {
    struct leati_diagonal_args args = *(const struct leati_diagonal_args *)call->args;
    (void)err;
    args.padding_value = 0;
    call->input_gradients[0] =
        leati_graph_build1(&leati_tensor_op_diag_part, &args, call->output_gradients[0]);
    return LEAT_OK;
}

leat_value leat_op_diag(leat_value diagonal, int64_t k) {
    char align[] = "RIGHT_LEFT";
    struct leati_diagonal_args args = {
        .k = {.values = &k, .count = 1}, .num_rows = -1, .num_cols = -1, .align = align};
    return leati_graph_build1(&leati_tensor_op_diag, &args, diagonal);
}

const leati_tensor_op leati_tensor_op_diag = {
    .name = "diag",
    .version = 1,
    .doc = "Matrices made of their diagonals (tf.linalg.diag).",
    .names = "linalg.diag",
    .inputs = "diagonal",
    .signature = "diagonal name k=0 num_rows num_cols padding_value align",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = diag_rows,
    .args_size = sizeof(struct leati_diagonal_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = diag_infer,
    .kernel = diag_kernel,
    .gradient = diag_gradient,
};
