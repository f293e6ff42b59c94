/* diag, diag_part, set_diag: matrices made of their diagonals, the diagonals of matrices, and
 * matrices with other values on them (tf.linalg.diag and so on).
 *
 * Diagonal k is k places above the main one (below, where k is negative). A range of them is an
 * array whose lines run from the highest k down, as long as the longest; shorter ones stand at the
 * left or right of their line. Without num_rows and num_cols a matrix of diag is as small as the
 * diagonals allow, and square where neither is given. They fail where a diagonal is outside the
 * matrix and where sizes do not fit. No state, no locks. */
#include "base/minmax.h"
#include "base/stop.h"
#include "core/tensor.h"
#include "graph/support/array/moving.h"
#include "graph/support/support.h"

#include <string.h>

struct diagonal_args {
    leati_ints k;
    int64_t num_rows, num_cols;
    double padding_value;
    char *align;
};

#define ROW_DIAGONALS                                                                              \
    {                                                                                              \
        .name = "k", .type = LEATI_ROW_INTS, .flags = LEATI_TENSOR,                                \
        .offset = offsetof(struct diagonal_args, k),                                               \
        .doc =                                                                                     \
            "One diagonal, 0 the main one and 1 the next above, or the lowest and the highest of " \
            "several."                                                                             \
    }
#define ROW_DIAGONAL_PADDING                                                                       \
    {                                                                                              \
        .name = "padding_value", .type = LEATI_ROW_FLOAT,                                          \
        .offset = offsetof(struct diagonal_args, padding_value),                                   \
        .doc = "What stands where there is no value."                                              \
    }
#define ROW_DIAGONAL_ALIGN                                                                         \
    {                                                                                              \
        .name = "align", .type = LEATI_ROW_STRING,                                                 \
        .offset = offsetof(struct diagonal_args, align), .default_text = "RIGHT_LEFT",             \
        .doc = "Where short diagonals stand, those from the main one up and those below it: "      \
               "RIGHT_LEFT, LEFT_RIGHT, LEFT_LEFT or RIGHT_RIGHT."                                 \
    }

/* Diagonals low..high of matrices of rows x columns; `longest` values in a line. */
typedef struct diagonals {
    int64_t low, high, rows, columns, longest;
    bool above_right, below_right;
} diagonals;

static const leati_row diag_rows[] = {
    ROW_DIAGONALS,
    {.name = "num_rows",
     .type = LEATI_ROW_INT,
     .flags = LEATI_TENSOR,
     .offset = offsetof(struct diagonal_args, num_rows),
     .default_number = -1,
     .doc = "How many rows a matrix has; -1: as few as can be."},
    {.name = "num_cols",
     .type = LEATI_ROW_INT,
     .flags = LEATI_TENSOR,
     .offset = offsetof(struct diagonal_args, num_cols),
     .default_number = -1,
     .doc = "How many columns a matrix has; -1: as few as can be."},
    ROW_DIAGONAL_PADDING,
    ROW_DIAGONAL_ALIGN,
    {0},
};

static const leati_row diag_part_rows[] = {
    ROW_DIAGONALS,
    ROW_DIAGONAL_PADDING,
    ROW_DIAGONAL_ALIGN,
    {0},
};

static const leati_row set_diag_rows[] = {
    ROW_DIAGONALS,
    ROW_DIAGONAL_ALIGN,
    {0},
};

/* Padding is a number, so strings have none. */
static leat_status want_fixed(const leati_infer_call *call, int index, leat_error *err) {
    leat_dtype dtype = call->inputs[index].dtype;
    if (dtype == LEAT_BOOL || leati_dtype_is_number(dtype))
        return LEAT_OK;
    return leati_refuse(err, DTYPE, "the values are %s; expected numbers or bool",
                        leat_dtype_name(dtype));
}

/* The range and the alignment that the arguments say; the sizes are left alone. */
static leat_status diagonals_read(diagonals *out, const struct diagonal_args *args,
                                  leat_error *err) {
    /* In the order of binary numbers: bit 1 puts the diagonals from the main one up at the right,
     * bit 0 those below it. */
    static const char *const aligns[] = {"LEFT_LEFT", "LEFT_RIGHT", "RIGHT_LEFT", "RIGHT_RIGHT"};
    int align = 0;
    while (align < 4 && strcmp(args->align, aligns[align]) != 0)
        align++;
    if (align == 4)
        return leati_refuse(err, VALUE,
                            "align is %.32s; expected RIGHT_LEFT, LEFT_RIGHT, LEFT_LEFT or "
                            "RIGHT_RIGHT",
                            args->align);
    if (args->k.count > 2)
        return leati_refuse(err, SHAPE,
                            "diag_index must have only one or two elements, received %d elements",
                            (int)args->k.count);
    *out = (diagonals){.above_right = align >= 2, .below_right = align % 2 == 1};
    /* Without any number it is the main diagonal. */
    if (args->k.count > 0) {
        out->low = args->k.values[0];
        out->high = args->k.values[args->k.count - 1];
    }
    if (out->low < INT32_MIN || out->high > INT32_MAX)
        return leati_refuse(err, VALUE, "k is from %lld to %lld; expected int32 numbers",
                            (long long)out->low, (long long)out->high);
    if (out->low > out->high)
        return leati_refuse(
            err, VALUE, "lower_diag_index must not be larger than upper_diag_index: %lld > %lld",
            (long long)out->low, (long long)out->high);
    return LEAT_OK;
}

/* How many values diagonal k has. */
static int64_t length_of(const diagonals *d, int64_t k) {
    int64_t rows = d->rows + LEATI_MIN(k, 0), columns = d->columns - LEATI_MAX(k, 0);
    return LEATI_MIN(rows, columns);
}

/* The diagonals of matrices of shape `in`; dimensions may be unknown, then so are `longest` and the
 * sizes. */
static leat_status diagonals_of(diagonals *out, const struct diagonal_args *args,
                                const leat_shape *in, leat_error *err) {
    LEATI_TRY(diagonals_read(out, args, err));
    if (in->rank < 2)
        return leati_refuse(err, SHAPE, "input must be at least 2-dim, received rank %d",
                            (int)in->rank);
    out->rows = in->dims[in->rank - 2];
    out->columns = in->dims[in->rank - 1];
    out->longest = LEAT_UNKNOWN_DIM;
    if (out->rows < 0 || out->columns < 0)
        return LEAT_OK;
    int64_t ends[] = {out->low, out->high};
    for (int i = 0; i < 2; i++)
        /* Diagonal 0 is allowed in every matrix, also in one without rows or columns. */
        if (ends[i] != 0 && (ends[i] <= -out->rows || ends[i] >= out->columns))
            return leati_refuse(err, VALUE,
                                "diagonal %lld is out of bound: it must be between %lld and %lld",
                                (long long)ends[i], (long long)-out->rows, (long long)out->columns);
    /* The longest is the main diagonal or, of a range without it, the nearest to it: the sizes less
     * the rows above its first value and the columns left of it. */
    int64_t rows = out->rows + LEATI_MIN(out->high, 0);
    int64_t columns = out->columns - LEATI_MAX(out->low, 0);
    out->longest = LEATI_MIN(rows, columns);
    return LEAT_OK;
}

/* The shape of the array of the diagonals of matrices of shape `in`. */
static leat_shape diagonals_shape(const diagonals *d, const leat_shape *in) {
    leat_shape out = {.rank = 0};
    for (int32_t i = 0; i < in->rank - 2; i++)
        out.dims[out.rank++] = in->dims[i];
    /* A single diagonal has no dimension of lines. */
    if (d->low != d->high)
        out.dims[out.rank++] = d->high - d->low + 1;
    out.dims[out.rank++] = d->longest;
    return out;
}

/* Copies the values of one matrix to the array, or back. */
static void diagonals_copy(const diagonals *d, size_t size, char *matrix, char *array,
                           bool to_array) {
    int64_t done = 0;
    for (int64_t k = d->low; k <= d->high && !leati_stop_look_after(d->longest, &done); k++) {
        int64_t length = length_of(d, k), line = (d->high - k) * d->longest;
        bool right = k >= 0 ? d->above_right : d->below_right;
        char *compact = array + (size_t)(line + (right ? d->longest - length : 0)) * size;
        /* Diagonal k begins in row -k or in column k; columns + 1 values on are the next row and
         * column. */
        char *value = matrix + (size_t)((k < 0 ? -k : 0) * d->columns + LEATI_MAX(k, 0)) * size;
        int64_t dense = (int64_t)size, step = (d->columns + 1) * dense;
        const leati_moving_dim dim = {length, to_array ? dense : step, to_array ? step : dense};
        leati_moving_copy(to_array ? compact : value, to_array ? value : compact, &dim, 1, size);
    }
}

/* ---- diag ---- */
/* The diagonals that an array of shape `in` has, and the shape of the matrices. */
static leat_status matrices(const struct diagonal_args *args, const leat_shape *in, diagonals *d,
                            leat_shape *out, leat_error *err) {
    LEATI_TRY(diagonals_read(d, args, err));
    int32_t used = d->low == d->high ? 1 : 2;
    if (in->rank < used)
        return leati_refuse(err, SHAPE,
                            "diagonal must be at least %d-dim, received "
                            "rank %d",
                            (int)used, (int)in->rank);
    int64_t lines = used == 2 ? in->dims[in->rank - 2] : 1;
    if (lines >= 0 && lines != d->high - d->low + 1)
        return leati_refuse(err, SHAPE,
                            "The number of diagonals provided in the input does not match the "
                            "lower_diag_index and upper_diag_index range: %lld for %lld",
                            (long long)lines, (long long)(d->high - d->low + 1));
    /* What is left in front are the dimensions of the stack. */
    *out = (leat_shape){.rank = 0};
    for (int32_t i = 0; i < in->rank - used; i++)
        out->dims[out->rank++] = in->dims[i];
    if (out->rank + 2 > LEAT_MAX_RANK)
        return leati_refuse(err, SHAPE, "the rank would be %d; expected at most %d",
                            (int)out->rank + 2, LEAT_MAX_RANK);
    d->longest = in->dims[in->rank - 1];
    /* Sizes that are not given are -1; they stay unknown as long as the length of the lines is. */
    d->rows = args->num_rows;
    d->columns = args->num_cols;
    if (d->longest >= 0) {
        /* The smallest matrix that the longest diagonal fits in. */
        int64_t rows = d->longest - LEATI_MIN(d->high, 0);
        int64_t columns = d->longest + LEATI_MAX(d->low, 0);
        int64_t larger = LEATI_MAX(rows, columns);
        d->rows = args->num_rows >= 0 ? args->num_rows : args->num_cols >= 0 ? rows : larger;
        d->columns = args->num_cols >= 0 ? args->num_cols : args->num_rows >= 0 ? columns : larger;
        /* If both sizes were larger than the smallest, every diagonal would have more values than
         * the array gives. */
        if (d->rows < rows || d->columns < columns || (d->rows != rows && d->columns != columns))
            return leati_refuse(
                err, SHAPE,
                "The number of rows or columns is not consistent with the specified "
                "d_lower, d_upper, and diagonal: %lld x %lld for at least %lld x "
                "%lld, one of them exactly",
                (long long)d->rows, (long long)d->columns, (long long)rows, (long long)columns);
    }
    out->dims[out->rank++] = d->rows < 0 ? LEAT_UNKNOWN_DIM : d->rows;
    out->dims[out->rank++] = d->columns < 0 ? LEAT_UNKNOWN_DIM : d->columns;
    return LEAT_OK;
}

static leat_status diag_infer(leati_infer_call *call, leat_error *err) {
    const leat_shape *in = &call->inputs[0].shape;
    leat_shape shape = {.rank = LEAT_UNKNOWN_RANK};
    diagonals d;
    LEATI_TRY(want_fixed(call, 0, err));
    if (in->rank >= 0 && call->unknown == 0)
        LEATI_TRY(matrices(call->args, in, &d, &shape, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

static leat_status diag_kernel(leati_kernel_call *call, leat_error *err) {
    const struct diagonal_args *args = call->args;
    const leati_operand *in = &call->inputs[0], *out = &call->outputs[0];
    leat_shape from = leati_support_operand_shape(in), shape;
    diagonals d;
    LEATI_TRY(matrices(args, &from, &d, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    size_t size = leat_dtype_size(in->dtype);
    int64_t matrix = d.rows * d.columns, array = (d.high - d.low + 1) * d.longest;
    _Alignas(8) char padding[16] = {0};
    (void)leati_support_store_number(in->dtype, args->padding_value, padding);
    for (int64_t row = 0; row < call->n && out->count > 0; row++) {
        char *to = leati_support_row_of(out, row);
        /* All is padding first; the diagonals are then written over it. */
        leati_moving_fill(to, out->count, padding, size);
        for (int64_t i = 0; i < out->count / matrix && in->count > 0; i++)
            diagonals_copy(&d, size, to + (size_t)(i * matrix) * size,
                           leati_support_row_of(in, row) + (size_t)(i * array) * size, false);
    }
    return LEAT_OK;
}

static leat_status diag_gradient(leati_gradient_call *call, leat_error *err) {
    struct diagonal_args args = *(const struct diagonal_args *)call->args;
    (void)err;
    /* Where a short line of the input is filled up, nothing is read and so nothing flows. */
    args.padding_value = 0;
    call->input_gradients[0] =
        leati_graph_build1(&leati_tensor_op_diag_part, &args, call->output_gradients[0]);
    return LEAT_OK;
}

/* ---- diag_part ---- */
static leat_status diag_part_infer(leati_infer_call *call, leat_error *err) {
    const leat_shape *in = &call->inputs[0].shape;
    leat_shape shape = {.rank = LEAT_UNKNOWN_RANK};
    diagonals d;
    LEATI_TRY(want_fixed(call, 0, err));
    if (in->rank >= 0 && call->unknown == 0) {
        LEATI_TRY(diagonals_of(&d, call->args, in, err));
        shape = diagonals_shape(&d, in);
    }
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

static leat_status diag_part_kernel(leati_kernel_call *call, leat_error *err) {
    const struct diagonal_args *args = call->args;
    const leati_operand *in = &call->inputs[0], *out = &call->outputs[0];
    leat_shape from = leati_support_operand_shape(in);
    diagonals d;
    LEATI_TRY(diagonals_of(&d, args, &from, err));
    leat_shape shape = diagonals_shape(&d, &from);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    size_t size = leat_dtype_size(in->dtype);
    int64_t matrix = d.rows * d.columns, array = (d.high - d.low + 1) * d.longest;
    _Alignas(8) char padding[16] = {0};
    (void)leati_support_store_number(in->dtype, args->padding_value, padding);
    for (int64_t row = 0; row < call->n && out->count > 0; row++) {
        char *to = leati_support_row_of(out, row);
        /* Short diagonals leave the rest of their lines as padding. */
        leati_moving_fill(to, out->count, padding, size);
        for (int64_t i = 0; i < out->count / array; i++)
            diagonals_copy(&d, size, leati_support_row_of(in, row) + (size_t)(i * matrix) * size,
                           to + (size_t)(i * array) * size, true);
    }
    return LEAT_OK;
}

static leat_status diag_part_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    /* Only values on the diagonals were read. */
    call->input_gradients[0] =
        leati_graph_build2(&leati_tensor_op_set_diag, call->args,
                           leat_op_zeros_like(call->inputs[0]), call->output_gradients[0]);
    return LEAT_OK;
}

/* ---- set_diag: inputs input, diagonal ---- */
static leat_status check(const struct diagonal_args *args, const leat_shape *in,
                         const leat_shape *diagonal, diagonals *d, leat_error *err) {
    char texts[2][128];
    LEATI_TRY(diagonals_of(d, args, in, err));
    leat_shape wanted = diagonals_shape(d, in);
    if (leati_shape_compatible(&wanted, diagonal))
        return LEAT_OK;
    return leati_refuse(err, SHAPE, "the diagonals have shape %s; expected %s of the input",
                        leati_shape_text(diagonal, texts[0]), leati_shape_text(&wanted, texts[1]));
}

static leat_status set_diag_infer(leati_infer_call *call, leat_error *err) {
    const leat_shape *in = &call->inputs[0].shape;
    diagonals d;
    LEATI_TRY(want_fixed(call, 0, err));
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    if (in->rank >= 0 && call->unknown == 0)
        LEATI_TRY(check(call->args, in, &call->inputs[1].shape, &d, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, in, NULL, err);
}

static leat_status set_diag_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[0], *diagonal = &call->inputs[1];
    leat_shape shape = leati_support_operand_shape(in),
               values = leati_support_operand_shape(diagonal);
    diagonals d;
    LEATI_TRY(check(call->args, &shape, &values, &d, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    size_t size = leat_dtype_size(in->dtype);
    int64_t matrix = d.rows * d.columns, array = (d.high - d.low + 1) * d.longest;
    for (int64_t row = 0; row < call->n && in->count > 0; row++) {
        char *to = leati_support_row_of(&call->outputs[0], row);
        leati_stop_copy(to, leati_support_row_of(in, row), (size_t)in->count * size);
        for (int64_t i = 0; i < in->count / matrix; i++)
            diagonals_copy(&d, size, to + (size_t)(i * matrix) * size,
                           leati_support_row_of(diagonal, row) + (size_t)(i * array) * size, false);
    }
    return LEAT_OK;
}

static leat_status set_diag_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value g = call->output_gradients[0];
    (void)err;
    /* What was replaced gets no gradient. */
    call->input_gradients[0] = leati_graph_build2(&leati_tensor_op_set_diag, call->args, g,
                                                  leat_op_zeros_like(call->inputs[1]));
    call->input_gradients[1] = leati_graph_build1(&leati_tensor_op_diag_part, call->args, g);
    return LEAT_OK;
}

#define DIAGONAL(OP, INPUTS, ...)                                                                  \
    const leati_tensor_op leati_tensor_op_##OP = {                                                 \
        .name = #OP,                                                                               \
        .version = 1,                                                                              \
        .names = "linalg." #OP,                                                                    \
        .outputs = "output",                                                                       \
        .halves = LEATI_HALVES_OWN,                                                                \
        .checks = LEATI_CHECKS_IN_KERNEL,                                                          \
        .rows = OP##_rows,                                                                         \
        .args_size = sizeof(struct diagonal_args),                                                 \
        .min_inputs = INPUTS,                                                                      \
        .max_inputs = INPUTS,                                                                      \
        .infer = OP##_infer,                                                                       \
        .kernel = OP##_kernel,                                                                     \
        .gradient = OP##_gradient,                                                                 \
        __VA_ARGS__,                                                                               \
    };
DIAGONAL(diag, 1, .doc = "Matrices made of their diagonals (tf.linalg.diag).", .inputs = "diagonal",
         .signature = "diagonal name k=0 num_rows num_cols padding_value align", .types = "T")
DIAGONAL(diag_part, 1, .doc = "The diagonals of matrices (tf.linalg.diag_part).", .inputs = "input",
         .signature = "input name k=0 padding_value align", .types = "T")
DIAGONAL(set_diag, 2, .doc = "Matrices with other values on their diagonals (tf.linalg.set_diag).",
         .inputs = "input diagonal", .signature = "input diagonal name k=0 align", .types = "T T")
