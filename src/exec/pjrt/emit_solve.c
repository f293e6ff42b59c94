/* Systems of equations as StableHLO: Gauss and Jordan's elimination with pivots of columns, a loop
 * over the columns.
 *
 * The matrix and its right sides lie as [columns, matrices, rows], so that a column is a row of the
 * loop's value. A device cannot fail: what a singular matrix gives is no number, and its
 * determinant is 0. */
#include "exec/pjrt/emit.h"

#include "base/error.h"
#include "core/spec.h"
#include "core/tensor.h"
#include <math.h>
#include <string.h>

typedef struct elimination {
    leati_hlo *hlo;
    int64_t n, width, count; /* rows, columns, matrices */
    leat_dtype dtype, part;
    leat_shape all, lines, rows; /* [width, count, n], [width, count], [count, n] */
    bool guarded;                /* a pivot of 0 leaves its column as it is */
    leati_hlo_loop loop;
    leati_hlo_value carried[4], next[4]; /* column, values, sign, determinant */
    leati_hlo_value logarithm;           /* of the determinant's absolute value, instead; -1: no */
} elimination;

static leati_hlo_value spread(const elimination *e, leati_hlo_value x, const leat_shape *shape,
                              const int64_t *axes) {
    return leati_hlo_broadcast_in(e->hlo, x, shape, axes);
}

/* [count, n] everywhere. */
static leati_hlo_value over_columns(const elimination *e, leati_hlo_value x) {
    return spread(e, x, &e->all, (int64_t[]){1, 2});
}

/* [width, count] everywhere. */
static leati_hlo_value over_rows(const elimination *e, leati_hlo_value x) {
    return spread(e, x, &e->all, (int64_t[]){0, 1});
}

static leati_hlo_value zero(const elimination *e, leati_hlo_value like) {
    return leati_hlo_fill_like(e->hlo, 0, like);
}

/* The row that `hot` [count, n] marks, of all columns: [width, count]. */
static leati_hlo_value marked_row(const elimination *e, leati_hlo_value x, leati_hlo_value hot) {
    leati_hlo_value of = leati_hlo_select(e->hlo, over_columns(e, hot), x, zero(e, x));
    return leati_hlo_reduce(e->hlo, "add", of, 0, UINT32_C(1) << 2, false);
}

/* Where the largest number of a column is, at or below the diagonal. */
static leati_hlo_value find_pivot(const elimination *e, leati_hlo_value column,
                                  leati_hlo_value place, leati_hlo_value at) {
    leati_hlo *hlo = e->hlo;
    leati_hlo_value size = leati_hlo_add(hlo, "abs", &column, 1, NULL, NULL, e->part, &e->rows);
    leati_hlo_value above = leati_hlo_compare(hlo, "LT", place, at);
    size = leati_hlo_select(hlo, above, leati_hlo_fill_like(hlo, -1, size), size);
    leati_hlo_value most = leati_hlo_reduce(hlo, "maximum", size, -INFINITY, 2, true);
    leati_hlo_value best =
        leati_hlo_compare(hlo, "EQ", size, leati_hlo_broadcast(hlo, most, &e->rows));
    leati_hlo_value last = leati_hlo_fill_like(hlo, (double)e->n - 1, place);
    leati_hlo_value first = leati_hlo_reduce(
        hlo, "minimum", leati_hlo_select(hlo, best, place, last), INFINITY, 2, true);
    return leati_hlo_compare(hlo, "EQ", place, leati_hlo_broadcast(hlo, first, &e->rows));
}

/* The pivot's part of the determinant. */
static void note_pivot(elimination *e, leati_hlo_value pivot, leati_hlo_value moved) {
    leati_hlo *hlo = e->hlo;
    leati_hlo_value sign = e->loop.first + 2, product = e->loop.first + 3;
    leati_hlo_value turned =
        leati_hlo_select(hlo, moved, leati_hlo_unary(hlo, "negate", sign), sign);
    if (e->logarithm < 0) {
        e->next[2] = turned;
        e->next[3] = leati_hlo_binary(hlo, "multiply", product, pivot);
        return;
    }
    leat_shape shape = leati_hlo_shape(hlo, pivot);
    leati_hlo_value size = leati_hlo_add(hlo, "abs", &pivot, 1, NULL, NULL, e->part, &shape);
    e->next[2] = leati_hlo_binary(hlo, "multiply", turned, leati_hlo_unary(hlo, "sign", pivot));
    e->next[3] = leati_hlo_binary(hlo, "add", product, leati_hlo_unary(hlo, "log", size));
}

static void print_column(elimination *e) {
    leati_hlo *hlo = e->hlo;
    leati_hlo_value k = e->loop.first, x = e->loop.first + 1;
    leati_hlo_value place = leati_hlo_iota(hlo, LEAT_INT32, &e->rows, 1);
    leati_hlo_value at = leati_hlo_broadcast(hlo, k, &e->rows);
    leati_hlo_value own = leati_hlo_compare(hlo, "EQ", place, at);
    leati_hlo_value found = find_pivot(e, leati_hlo_row(hlo, x, k), place, at);
    leati_hlo_value line = marked_row(e, x, found), other = marked_row(e, x, own);
    leati_hlo_value pivot = leati_hlo_row(hlo, line, k);
    leati_hlo_value stays = leati_hlo_binary(hlo, "and", own, found);
    note_pivot(e, pivot,
               leati_hlo_unary(hlo, "not", leati_hlo_reduce(hlo, "or", stays, 0, 2, false)));
    /* The two rows change places, and the pivot's is divided by it. */
    x = leati_hlo_select(hlo, over_columns(e, found), over_rows(e, other), x);
    leati_hlo_value wide = spread(e, pivot, &e->lines, (int64_t[]){1});
    leati_hlo_value unit = leati_hlo_binary(hlo, "divide", line, wide);
    if (e->guarded)
        unit = leati_hlo_select(hlo, leati_hlo_compare(hlo, "EQ", wide, zero(e, wide)),
                                zero(e, unit), unit);
    leati_hlo_value factor = leati_hlo_row(hlo, x, k);
    leati_hlo_value down =
        leati_hlo_binary(hlo, "multiply", over_rows(e, unit), over_columns(e, factor));
    x = leati_hlo_binary(hlo, "subtract", x, down);
    e->next[0] = leati_hlo_binary(hlo, "add", k, leati_hlo_number(hlo, 1));
    e->next[1] = leati_hlo_select(hlo, over_columns(e, own), over_rows(e, unit), x);
}

/* Eliminates; the loop's results from e->loop.first on. `x`: [count, n, width]. */
static void eliminate(elimination *e, leati_hlo_value x) {
    leati_hlo *hlo = e->hlo;
    leat_shape matrices = LEAT_SHAPE(e->count);
    e->part = leati_dtype_part(e->dtype);
    e->all = LEAT_SHAPE(e->width, e->count, e->n);
    e->lines = LEAT_SHAPE(e->width, e->count);
    e->rows = LEAT_SHAPE(e->count, e->n);
    e->carried[0] = leati_hlo_number(hlo, 0);
    e->carried[1] = leati_hlo_transpose(hlo, x, (int64_t[]){2, 0, 1});
    e->carried[2] = leati_hlo_fill(hlo, 1, e->dtype, &matrices);
    e->carried[3] =
        leati_hlo_fill(hlo, e->logarithm < 0, e->logarithm < 0 ? e->dtype : e->part, &matrices);
    leati_hlo_loop_begin(hlo, &e->loop, e->carried, 4);
    leati_hlo_loop_body(hlo, &e->loop,
                        leati_hlo_compare(hlo, "LT", e->loop.first, leati_hlo_number(hlo, e->n)));
    print_column(e);
    e->loop.first = leati_hlo_loop_end(hlo, &e->loop, e->next);
}

/* The matrices one behind the other, or their adjoints. */
static leati_hlo_value stack_of(leati_emit *emit, elimination *e, leati_hlo_value x, bool adjoint) {
    leati_hlo *hlo = &emit->hlo;
    leat_shape shape = leati_hlo_shape(hlo, x), stack = LEAT_SHAPE(1, 1, 1);
    for (int32_t d = 0; d < shape.rank; d++)
        stack.dims[d < shape.rank - 2 ? 0 : d - shape.rank + 3] *= shape.dims[d];
    e->hlo = hlo;
    e->count = stack.dims[0];
    e->n = stack.dims[1];
    e->dtype = leati_hlo_dtype(hlo, x);
    x = leati_hlo_reshape(hlo, x, &stack);
    if (!adjoint)
        return x;
    x = leati_hlo_transpose(hlo, x, (int64_t[]){0, 2, 1});
    return leati_emit_conjugate(emit, x);
}

static bool is_empty(const leat_shape *shape) {
    return leati_shape_count(shape) == 0;
}

/* [matrix, right sides], or with `text` "inverse" [matrix]. */
leat_status leati_emit_solve(leati_emit *emit, leat_error *err) {
    (void)err;
    leati_hlo *hlo = &emit->hlo;
    const leat_shape *out = leati_emit_shape(emit, 0);
    elimination e = {.logarithm = -1};
    leati_hlo_value parts[2];
    if (is_empty(out)) {
        emit->outputs[0] = leati_hlo_fill(hlo, 0, leati_emit_dtype(emit, 0), out);
        return LEAT_OK;
    }
    parts[0] = stack_of(emit, &e, emit->inputs[0], leati_emit_bool(emit, "adjoint"));
    leat_shape sides = LEAT_SHAPE(e.count, e.n, out->dims[out->rank - 1]);
    if (emit->text[0] == 'i') {
        leati_hlo_value row = leati_hlo_iota(hlo, LEAT_INT32, &sides, 1);
        parts[1] = leati_hlo_compare(hlo, "EQ", row, leati_hlo_iota(hlo, LEAT_INT32, &sides, 2));
        parts[1] = leati_hlo_convert(hlo, parts[1], e.dtype);
    } else {
        parts[1] = leati_hlo_reshape(hlo, emit->inputs[1], &sides);
    }
    e.width = e.n + sides.dims[2];
    eliminate(&e, leati_hlo_concatenate(hlo, parts, 2, 2));
    leati_hlo_value x = leati_hlo_slice(hlo, e.loop.first + 1, (int64_t[]){e.n, 0, 0},
                                        (int64_t[]){e.width, e.count, e.n}, (int64_t[]){1, 1, 1});
    x = leati_hlo_transpose(hlo, x, (int64_t[]){1, 2, 0});
    emit->outputs[0] = leati_hlo_reshape(hlo, x, out);
    return LEAT_OK;
}

/* The determinant, or with `text` "log" its sign and the logarithm of its absolute value. */
leat_status leati_emit_determinant(leati_emit *emit, leat_error *err) {
    leati_hlo *hlo = &emit->hlo;
    const leat_shape *out = leati_emit_shape(emit, 0);
    elimination e = {.logarithm = emit->text[0] == 'l' ? 1 : -1, .guarded = true};
    leat_shape in = leati_emit_input_shape(emit, 0);
    if (is_empty(&in))
        return leati_emit_lacks(emit, "the determinant of no values", err);
    leati_hlo_value x = stack_of(emit, &e, emit->inputs[0], false);
    e.width = e.n;
    eliminate(&e, x);
    leati_hlo_value sign = e.loop.first + 2, size = e.loop.first + 3;
    if (e.logarithm < 0) {
        emit->outputs[0] =
            leati_hlo_reshape(hlo, leati_hlo_binary(hlo, "multiply", sign, size), out);
        return LEAT_OK;
    }
    emit->outputs[0] = leati_hlo_reshape(hlo, sign, out);
    emit->outputs[1] =
        leati_hlo_reshape(hlo, leati_hlo_convert(hlo, size, leati_emit_dtype(emit, 1)), out);
    return LEAT_OK;
}
