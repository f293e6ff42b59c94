/* tridiagonal_solve, banded_triangular_solve: the X of A X = B for matrices of three diagonals, and
 * for triangular ones of few, of which the diagonals are given, line after line
 * (tf.linalg.tridiagonal_solve, tf.linalg.banded_triangular_solve).
 *
 * A line has A's row i at place i: of what stands left of the main diagonal the first values count
 * nothing, of what stands right of it the last. Three diagonals are eliminated with the larger of
 * two rows as pivot, in the dtype; where it is 0 all is NaN. A triangle with a 0 on the diagonal
 * fails, both as in TensorFlow. No state, no locks. */
#include "core/complex.h"
#include "graph/support/linalg/matrices.h"
#include "run/crew.h"

#include <math.h>
#include <string.h>

/* ---- loops over a matrix, for each dtype ---- */
/* One matrix: its lines, of n values each, and columns of B and X. */
typedef struct lines {
    const void *lines, *b;
    void *x, *scratch; /* of 3 n values */
    int64_t count, n, columns;
    bool lower, adjoint;
} lines;

#define SIZE(Z) (fabs(Z))
#define COMPLEX_SIZE(Z) (fabs(creal(Z)) + fabs(cimag(Z)))
#define SAME(Z) (Z)

/* Rows are eliminated from the first on; each then has a pivot u[i][0] and up to two values right
 * of it. False: a pivot is 0. */
#define TRIDIAGONAL(NAME, TYPE, SIZE_OF)                                                           \
    static void subtract_##NAME(TYPE *to, const TYPE *from, TYPE factor, int64_t n) {              \
        for (int64_t c = 0; c < n; c++)                                                            \
            to[c] -= factor * from[c];                                                             \
    }                                                                                              \
    static void exchange_##NAME(TYPE *one, TYPE *other, int64_t n) {                               \
        for (int64_t c = 0; c < n; c++) {                                                          \
            TYPE kept = one[c];                                                                    \
            one[c] = other[c];                                                                     \
            other[c] = kept;                                                                       \
        }                                                                                          \
    }                                                                                              \
    static bool tridiagonal_##NAME(const lines *l) {                                               \
        int64_t n = l->n, k = l->columns;                                                          \
        const TYPE *above = l->lines, *main = above + n, *below = main + n;                        \
        TYPE *x = l->x, (*u)[3] = l->scratch;                                                      \
        memcpy(x, l->b, (size_t)(n * k) * sizeof *x);                                              \
        TYPE first = main[0], second = n > 1 ? above[0] : 0;                                       \
        for (int64_t i = 0; i + 1 < n; i++) {                                                      \
            TYPE next[3] = {below[i + 1], main[i + 1], i + 2 < n ? above[i + 1] : 0};              \
            bool turn = SIZE_OF(first) < SIZE_OF(next[0]);                                         \
            u[i][0] = turn ? next[0] : first;                                                      \
            u[i][1] = turn ? next[1] : second;                                                     \
            u[i][2] = turn ? next[2] : 0;                                                          \
            if (u[i][0] == 0)                                                                      \
                return false;                                                                      \
            TYPE factor = (turn ? first : next[0]) / u[i][0];                                      \
            first = (turn ? second : next[1]) - factor * u[i][1];                                  \
            second = (turn ? 0 : next[2]) - factor * u[i][2];                                      \
            if (turn)                                                                              \
                exchange_##NAME(x + i * k, x + (i + 1) * k, k);                                    \
            subtract_##NAME(x + (i + 1) * k, x + i * k, factor, k);                                \
        }                                                                                          \
        u[n - 1][0] = first;                                                                       \
        if (first == 0)                                                                            \
            return false;                                                                          \
        for (int64_t i = n - 1; i >= 0; i--) {                                                     \
            for (int64_t step = 1; step <= 2 && i + step < n; step++)                              \
                subtract_##NAME(x + i * k, x + (i + step) * k, u[i][step], k);                     \
            for (int64_t c = 0; c < k; c++)                                                        \
                x[i * k + c] /= u[i][0];                                                           \
        }                                                                                          \
        return true;                                                                               \
    }
TRIDIAGONAL(float32, float, SIZE)
TRIDIAGONAL(float64, double, SIZE)
TRIDIAGONAL(complex64, leati_complex64, COMPLEX_SIZE)
TRIDIAGONAL(complex128, leati_complex128, COMPLEX_SIZE)

/* Value [i, i -+ step] of a triangle stands in the line that is `step` from the main one. */
#define BANDED(NAME, TYPE, CONJUGATE)                                                              \
    static bool banded_##NAME(const lines *l) {                                                    \
        int64_t n = l->n, k = l->columns, last = l->count - 1;                                     \
        const TYPE *all = l->lines;                                                                \
        TYPE *x = l->x;                                                                            \
        bool forward = l->lower != l->adjoint;                                                     \
        memcpy(x, l->b, (size_t)(n * k) * sizeof *x);                                              \
        for (int64_t done = 0; done < n; done++) {                                                 \
            int64_t i = forward ? done : n - 1 - done;                                             \
            for (int64_t step = 1; step <= last && step <= done; step++) {                         \
                int64_t other = forward ? i - step : i + step;                                     \
                TYPE value = all[(l->lower ? step : last - step) * n + (l->adjoint ? other : i)];  \
                subtract_##NAME(x + i * k, x + other * k, l->adjoint ? CONJUGATE(value) : value,   \
                                k);                                                                \
            }                                                                                      \
            TYPE pivot = all[(l->lower ? 0 : last) * n + i];                                       \
            if (pivot == 0)                                                                        \
                return false;                                                                      \
            pivot = l->adjoint ? CONJUGATE(pivot) : pivot;                                         \
            for (int64_t c = 0; c < k; c++)                                                        \
                x[i * k + c] /= pivot;                                                             \
        }                                                                                          \
        return true;                                                                               \
    }
BANDED(float32, float, SAME)
BANDED(float64, double, SAME)
BANDED(complex64, leati_complex64, conjf)
BANDED(complex128, leati_complex128, conj)

#define BY_DTYPE(NAME)                                                                             \
    static bool NAME(leat_dtype dtype, const lines *l) {                                           \
        switch (dtype) {                                                                           \
        case LEAT_FLOAT32: return NAME##_float32(l);                                               \
        case LEAT_FLOAT64: return NAME##_float64(l);                                               \
        case LEAT_COMPLEX64: return NAME##_complex64(l);                                           \
        default: return NAME##_complex128(l);                                                      \
        }                                                                                          \
    }
BY_DTYPE(tridiagonal)
BY_DTYPE(banded)

/* ---- tridiagonal_solve ---- */
static leat_status want_lines(const leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_matrices_want(call, 0, false, err));
    LEATI_TRY(leati_matrices_check(&call->inputs[1].shape, false, err));
    return leati_support_want_same_dtypes(call, err);
}

static leat_status tridiagonal_shape(const leat_shape *diagonals, const leat_shape *b,
                                     leat_shape *out, leat_error *err) {
    *out = *b;
    if (diagonals->rank < 0 || b->rank < 0)
        return LEAT_OK;
    LEATI_TRY(leati_matrices_check(diagonals, false, err));
    LEATI_TRY(leati_matrices_check(b, false, err));
    if (diagonals->rank != b->rank)
        return leati_refuse(err, SHAPE,
                            "the diagonals have %d dimensions and the right sides %d; "
                            "expected as many",
                            diagonals->rank, b->rank);
    const int64_t *last = &diagonals->dims[diagonals->rank - 2];
    if (last[0] != 3 && last[0] != LEAT_UNKNOWN_DIM)
        return leati_refuse(err, SHAPE, "there are %lld diagonals; expected 3", (long long)last[0]);
    for (int32_t d = 0; d < b->rank - 2; d++)
        LEATI_TRY(leati_support_want_equal_dims(diagonals->dims[d], b->dims[d],
                                                "stacks of diagonals and right sides", err));
    return leati_support_want_equal_dims(last[1], b->dims[b->rank - 2],
                                         "values of diagonals and rows of right sides", err);
}

static leat_status tridiagonal_solve_infer(leati_infer_call *call, leat_error *err) {
    leat_shape shape;
    LEATI_TRY(want_lines(call, err));
    LEATI_TRY(tridiagonal_shape(&call->inputs[0].shape, &call->inputs[1].shape, &shape, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

static leat_status solve_three(const leati_matrices_loop *loop, int64_t row, int64_t at) {
    const leati_operand *in = &loop->call->inputs[0], *right = &loop->call->inputs[1];
    int64_t n = loop->columns, columns = right->dims[right->rank - 1];
    if (n * columns == 0)
        return LEAT_OK;
    lines l = {.lines = leati_matrices_at(in, row, at * 3 * n),
               .b = leati_matrices_at(right, row, at * n * columns),
               .x = leati_matrices_at(&loop->call->outputs[0], row, at * n * columns),
               .scratch = leati_crew_scratch((size_t)(3 * n) * leat_dtype_size(in->dtype)),
               .n = n,
               .columns = columns};
    if (l.scratch == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    if (!tridiagonal(in->dtype, &l))
        leati_matrices_write_nan(&loop->call->outputs[0], row, at * n * columns, n * columns);
    return LEAT_OK;
}

static leat_status tridiagonal_solve_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape from = leati_support_operand_shape(&call->inputs[0]),
               other = leati_support_operand_shape(&call->inputs[1]), shape;
    LEATI_TRY(tridiagonal_shape(&from, &other, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    leati_matrices_loop loop = leati_matrices_loop_of(call, 0, solve_three);
    return leati_matrices_run(
        &loop, 100 + 5 * (double)(loop.columns * (4 + shape.dims[shape.rank - 1])), err);
}

/* The values of a line one place later or earlier, with a 0 where there is none. */
static leat_value moved(leat_value x, int64_t axis, bool later) {
    leat_shape shape = leat_value_shape(x);
    int64_t begin[LEAT_MAX_RANK] = {0}, size[LEAT_MAX_RANK], one[LEAT_MAX_RANK];
    int64_t at = shape.rank + axis;
    for (int32_t d = 0; d < shape.rank; d++)
        size[d] = one[d] = -1;
    one[at] = 1;
    leat_value none = leat_op_zeros_like(leat_op_slice(x, begin, shape.rank, one, shape.rank));
    size[at] = later ? shape.dims[at] - 1 : -1;
    begin[at] = later ? 0 : 1;
    leat_value rest = leat_op_slice(x, begin, shape.rank, size, shape.rank);
    leat_value both[2] = {later ? none : rest, later ? rest : none};
    return leat_op_concat(both, 2, axis);
}

static leat_status tridiagonal_solve_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value x = call->outputs[0], parts[3], g;
    leat_shape shape = leat_value_shape(call->inputs[0]);
    for (int32_t d = 0; d < shape.rank; d++)
        if (shape.dims[d] == LEAT_UNKNOWN_DIM)
            shape.rank = LEAT_UNKNOWN_RANK;
    if (shape.rank < 0 || leat_value_shape(x).rank < 0 || shape.dims[shape.rank - 1] == 0)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "the gradient needs the sizes of the matrices, and at least one row; set "
                          "them with ensure_shape");
    for (int64_t i = 0; i < 3; i++) {
        int64_t begin[LEAT_MAX_RANK] = {0}, size[LEAT_MAX_RANK];
        for (int32_t d = 0; d < shape.rank; d++)
            size[d] = -1;
        begin[shape.rank - 2] = i;
        size[shape.rank - 2] = 1;
        parts[i] = leat_op_slice(call->inputs[0], begin, shape.rank, size, shape.rank);
    }
    /* The transpose, of complex matrices, too, since TensorFlow does not take conjugates here: what
     * stood above the diagonal stands below it, one place later. */
    leat_value turned[3] = {moved(parts[2], -1, false), parts[1], moved(parts[0], -1, true)};
    g = leati_graph_build2(&leati_tensor_op_tridiagonal_solve, NULL, leat_op_concat(turned, 3, -2),
                           call->output_gradients[0]);
    call->input_gradients[1] = g;
    if (leati_support_value_failed(g))
        return LEAT_OK;
    /* Of -g X^T the three diagonals. */
    for (int i = 0; i < 3; i++) {
        leat_value other = i == 1 ? x : moved(x, -2, i == 2);
        leat_value sum = leat_op_reduce_sum(leat_op_multiply(g, other), (int64_t[]){-1}, 1, false);
        parts[i] = leat_op_expand_dims(leat_op_negate(sum), -2);
    }
    call->input_gradients[0] = leat_op_concat(parts, 3, -2);
    return LEAT_OK;
}

/* ---- banded_triangular_solve ---- */
struct banded_args {
    bool lower, adjoint;
};

static const leati_row banded_triangular_solve_rows[] = {
    {.name = "lower",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct banded_args, lower),
     .default_number = 1,
     .doc = "The matrices are lower triangles, whose main diagonal is the first line, not upper "
            "ones, whose last it is."},
    {.name = "adjoint",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct banded_args, adjoint),
     .doc = "Solve with the adjoints of the matrices."},
    {0},
};

static leat_status banded_shape(const leat_shape *bands, const leat_shape *b, leat_shape *out,
                                leat_error *err) {
    LEATI_TRY(leati_matrices_check(bands, false, err));
    LEATI_TRY(leati_matrices_check(b, false, err));
    *out = (leat_shape){.rank = LEAT_UNKNOWN_RANK};
    if (bands->rank < 0 || b->rank < 0)
        return LEAT_OK;
    if (bands->dims[bands->rank - 2] == 0)
        return leati_refuse(err, SHAPE, "there are no bands; expected at least the main diagonal");
    leat_shape as_matrix = *bands;
    as_matrix.dims[bands->rank - 2] = bands->dims[bands->rank - 1];
    return leati_matrices_broadcast_solution(&as_matrix, b, out, err);
}

static leat_status banded_triangular_solve_infer(leati_infer_call *call, leat_error *err) {
    leat_shape shape;
    LEATI_TRY(want_lines(call, err));
    LEATI_TRY(banded_shape(&call->inputs[0].shape, &call->inputs[1].shape, &shape, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

static leat_status solve_bands(const leati_matrices_loop *loop, int64_t row, int64_t at) {
    const struct banded_args *args = loop->call->args;
    const leati_operand *in = &loop->call->inputs[0], *right = &loop->call->inputs[1];
    leat_shape from = leati_support_operand_shape(in), other = leati_support_operand_shape(right);
    leat_shape shape = leati_support_operand_shape(&loop->call->outputs[0]);
    int64_t count = from.dims[from.rank - 2], n = loop->rows, wanted = n * loop->columns;
    if (wanted == 0)
        return LEAT_OK;
    lines l = {
        .lines = leati_matrices_at(in, row, leati_matrices_place(&from, &shape, at) * count * n),
        .b = leati_matrices_at(right, row, leati_matrices_place(&other, &shape, at) * wanted),
        .x = leati_matrices_at(&loop->call->outputs[0], row, at * wanted),
        .count = count,
        .n = n,
        .columns = loop->columns,
        .lower = args->lower,
        .adjoint = args->adjoint};
    return banded(in->dtype, &l) ? LEAT_OK : LEAT_INVALID_ARGUMENT;
}

static leat_status banded_triangular_solve_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape from = leati_support_operand_shape(&call->inputs[0]),
               other = leati_support_operand_shape(&call->inputs[1]), shape;
    LEATI_TRY(banded_shape(&from, &other, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    leati_matrices m = leati_matrices_of(&call->outputs[0]);
    leati_matrices_loop loop =
        leati_matrices_loop_of(call, sizeof(struct banded_args), solve_bands);
    loop.count = m.count;
    loop.rows = m.rows;
    loop.columns = m.columns;
    loop.why = "Input matrix is not invertible.";
    double bands = (double)from.dims[from.rank - 2];
    return leati_matrices_run(&loop, 100 + (double)m.rows * (4 + bands * (double)m.columns), err);
}

static leat_status banded_triangular_solve_gradient(leati_gradient_call *call, leat_error *err) {
    const struct banded_args *args = call->args;
    struct banded_args turned = {args->lower, !args->adjoint};
    leat_value x = call->outputs[0];
    const leat_shape shape = leat_value_shape(call->inputs[0]);
    int64_t count = shape.rank < 2 ? LEAT_UNKNOWN_DIM : shape.dims[shape.rank - 2];
    if (count == LEAT_UNKNOWN_DIM)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "the gradient needs the number of bands; set it with ensure_shape");
    leat_value g = leati_graph_build2(&leati_tensor_op_banded_triangular_solve, &turned,
                                      call->inputs[0], call->output_gradients[0]);
    leat_value product = args->adjoint ? leati_matrices_product(x, g, false, true)
                                       : leati_matrices_product(g, x, false, true);
    int64_t k[2] = {args->lower ? 1 - count : 0, args->lower ? 0 : count - 1};
    /* Negated before, so that places beyond the matrix are 0, not -0. */
    leat_value bands = leat_op_diag_part(leat_op_negate(product), k, 2, 0, "LEFT_RIGHT");
    if (count == 1) /* the part of one diagonal has no dimension for it */
        bands = leat_op_expand_dims(bands, -2);
    call->input_gradients[0] = leati_op_gradient_unbroadcast(bands, call->inputs[0]);
    call->input_gradients[1] = leati_op_gradient_unbroadcast(g, call->inputs[1]);
    return LEAT_OK;
}

#define SOLVE(OP, ...)                                                                             \
    const leati_tensor_op leati_tensor_op_##OP = {                                                 \
        .name = #OP,                                                                               \
        .version = 1,                                                                              \
        .types = "T T",                                                                            \
        .outputs = "output",                                                                       \
        .halves = LEATI_HALVES_NONE,                                                               \
        .checks = LEATI_CHECKS_IN_KERNEL,                                                          \
        .min_inputs = 2,                                                                           \
        .max_inputs = 2,                                                                           \
        .infer = OP##_infer,                                                                       \
        .kernel = OP##_kernel,                                                                     \
        .gradient = OP##_gradient,                                                                 \
        __VA_ARGS__,                                                                               \
    };
SOLVE(banded_triangular_solve,
      .doc =
          "The X of A X = B for triangular matrices A of few diagonals, which the lines of bands "
          "are (tf.linalg.banded_triangular_solve).",
      .names = "linalg.banded_triangular_solve", .inputs = "bands rhs",
      .rows = banded_triangular_solve_rows, .args_size = sizeof(struct banded_args))
SOLVE(tridiagonal_solve,
      .doc =
          "The X of A X = B for matrices A of three diagonals: that above the main one, the main "
          "one and that below it are the lines of diagonals (tf.linalg.tridiagonal_solve).",
      .inputs = "diagonals rhs", .rows = leati_no_rows)
