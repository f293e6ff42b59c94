/* Factors of stacks of matrices as StableHLO: QR by Householder's reflections, LU with pivots of
 * columns. Loops over columns, of masked sums, so that all matrices of a stack go the same way.
 *
 * A device cannot fail: a singular matrix's LU is what the divisions give. Complex matrices are
 * refused. */
#include "exec/pjrt/emit_factor.h"

#include "base/error.h"
#include "base/minmax.h"
#include "core/spec.h"
#include "core/tensor.h"
#include <string.h>

static leati_hlo_value binary(const leati_emit_factor *s, const char *name, leati_hlo_value a,
                              leati_hlo_value b) {
    return leati_hlo_binary(s->hlo, name, a, b);
}

static leati_hlo_value number_like(const leati_emit_factor *s, double x, leati_hlo_value like) {
    return leati_hlo_fill_like(s->hlo, x, like);
}

static leati_hlo_value unary(const leati_emit_factor *s, const char *name, leati_hlo_value x) {
    return leati_hlo_unary(s->hlo, name, x);
}

/* Where the condition holds x, else 0. */
static leati_hlo_value where(const leati_emit_factor *s, leati_hlo_value condition,
                             leati_hlo_value x) {
    return leati_hlo_select(s->hlo, condition, x, number_like(s, 0, x));
}

bool leati_emit_factor_open(leati_emit *emit, leati_emit_factor *out, leati_hlo_value *x) {
    leat_shape shape = leati_emit_input_shape(emit, 0), whole = LEAT_SHAPE(1, 1, 1);
    for (int32_t d = 0; d < shape.rank; d++)
        whole.dims[d < shape.rank - 2 ? 0 : d - shape.rank + 3] *= shape.dims[d];
    *out = (leati_emit_factor){.hlo = &emit->hlo,
                               .count = whole.dims[0],
                               .rows = whole.dims[1],
                               .columns = whole.dims[2],
                               .dtype = leati_emit_input_dtype(emit, 0)};
    *x = leati_hlo_reshape(&emit->hlo, emit->inputs[0], &whole);
    return !leati_dtype_is_complex(out->dtype);
}

leat_status leati_emit_factor_lacks_complex(const leati_emit *emit, leat_error *err) {
    return leati_emit_lacks(emit, "the operation on complex matrices", err);
}

static bool is_empty(leati_emit *emit) {
    leat_shape shape = leati_emit_input_shape(emit, 0);
    return leati_shape_count(&shape) == 0;
}

/* The places along an axis of [count, rows, columns], compared with a scalar. */
static leati_hlo_value places(const leati_emit_factor *s, const leat_shape *shape, int32_t axis,
                              const char *direction, leati_hlo_value k) {
    leati_hlo_value place = leati_hlo_iota(s->hlo, LEAT_INT32, shape, axis);
    return leati_hlo_compare(s->hlo, direction, place, leati_hlo_broadcast(s->hlo, k, shape));
}

leati_hlo_value leati_emit_factor_eye(const leati_emit_factor *s, const leat_shape *shape) {
    leati_hlo_value row = leati_hlo_iota(s->hlo, LEAT_INT32, shape, 1);
    leati_hlo_value is_on =
        leati_hlo_compare(s->hlo, "EQ", row, leati_hlo_iota(s->hlo, LEAT_INT32, shape, 2));
    return leati_hlo_convert(s->hlo, is_on, s->dtype);
}

leati_hlo_value leati_emit_factor_sum(const leati_emit_factor *s, leati_hlo_value x, int32_t axis) {
    return leati_hlo_reduce(s->hlo, "add", x, 0, UINT32_C(1) << axis, true);
}

static leati_hlo_value spread(const leati_emit_factor *s, leati_hlo_value x, leati_hlo_value like) {
    leat_shape shape = leati_hlo_shape(s->hlo, like);
    return leati_hlo_broadcast(s->hlo, x, &shape);
}

/* x[:, :, k] as [count, rows, 1]. */
static leati_hlo_value column(const leati_emit_factor *s, leati_hlo_value x, leati_hlo_value k) {
    leat_shape shape = leati_hlo_shape(s->hlo, x);
    return leati_emit_factor_sum(s, where(s, places(s, &shape, 2, "EQ", k), x), 2);
}

static leati_hlo_value first_part(const leati_emit_factor *s, leati_hlo_value x, int64_t rows,
                                  int64_t columns) {
    return leati_hlo_slice(s->hlo, x, (int64_t[]){0, 0, 0}, (int64_t[]){s->count, rows, columns},
                           (int64_t[]){1, 1, 1});
}

static leati_hlo_value upper(const leati_emit_factor *s, leati_hlo_value x) {
    leat_shape shape = leati_hlo_shape(s->hlo, x);
    leati_hlo_value row = leati_hlo_iota(s->hlo, LEAT_INT32, &shape, 1);
    leati_hlo_value across = leati_hlo_iota(s->hlo, LEAT_INT32, &shape, 2);
    return where(s, leati_hlo_compare(s->hlo, "LE", row, across), x);
}

/* ---- QR ---- */

/* One reflection: what column k has below row k becomes 0. */
static void reflect(const leati_emit_factor *s, leati_hlo_value k, leati_hlo_value x,
                    leati_hlo_value q, leati_hlo_value next[3]) {
    leat_shape lines = LEAT_SHAPE(s->count, s->rows, 1);
    leati_hlo_value line = column(s, x, k);
    leati_hlo_value own = places(s, &lines, 1, "EQ", k), below = places(s, &lines, 1, "GT", k);
    leati_hlo_value alpha = leati_emit_factor_sum(s, where(s, own, line), 1),
                    tail = where(s, below, line);
    leati_hlo_value rest = leati_emit_factor_sum(s, binary(s, "multiply", tail, tail), 1);
    leati_hlo_value size =
        unary(s, "sqrt", binary(s, "add", binary(s, "multiply", alpha, alpha), rest));
    leati_hlo_value negative = leati_hlo_compare(s->hlo, "LT", alpha, number_like(s, 0, alpha));
    leati_hlo_value beta = leati_hlo_select(s->hlo, negative, size, unary(s, "negate", size));
    /* A column that is 0 below stays. */
    leati_hlo_value moves = leati_hlo_compare(s->hlo, "GT", rest, number_like(s, 0, rest));
    leati_hlo_value one = number_like(s, 1, alpha);
    beta = leati_hlo_select(s->hlo, moves, beta, one);
    leati_hlo_value tau =
        where(s, moves, binary(s, "divide", binary(s, "subtract", beta, alpha), beta));
    leati_hlo_value over = leati_hlo_select(s->hlo, moves, binary(s, "subtract", alpha, beta), one);
    leati_hlo_value v = binary(s, "divide", tail, spread(s, over, tail));
    v = leati_hlo_select(s->hlo, own, number_like(s, 1, v), v);
    leati_hlo_value scaled = binary(s, "multiply", v, spread(s, tau, v));
    leati_hlo_value vx = leati_hlo_matmul(s->hlo, v, x, true, false);
    leati_hlo_value qv = leati_hlo_matmul(s->hlo, q, v, false, false);
    next[0] = binary(s, "add", k, leati_hlo_number(s->hlo, 1));
    next[1] = binary(s, "subtract", x, leati_hlo_matmul(s->hlo, scaled, vx, false, false));
    next[2] = binary(s, "subtract", q, leati_hlo_matmul(s->hlo, qv, scaled, false, true));
}

leati_hlo_value leati_emit_factor_qr(const leati_emit_factor *s, leati_hlo_value x,
                                     leati_hlo_value *q) {
    leat_shape square = LEAT_SHAPE(s->count, s->rows, s->rows);
    leati_hlo_value next[3],
        starts[3] = {leati_hlo_number(s->hlo, 0), x, leati_emit_factor_eye(s, &square)};
    leati_hlo_value steps = leati_hlo_number(s->hlo, LEATI_MIN(s->rows - 1, s->columns));
    leati_hlo_loop loop;
    leati_hlo_loop_begin(s->hlo, &loop, starts, 3);
    leati_hlo_loop_body(s->hlo, &loop, leati_hlo_compare(s->hlo, "LT", loop.first, steps));
    reflect(s, loop.first, loop.first + 1, loop.first + 2, next);
    leati_hlo_value out = leati_hlo_loop_end(s->hlo, &loop, next);
    *q = out + 2;
    return upper(s, out + 1);
}

leat_status leati_emit_qr(leati_emit *emit, leat_error *err) {
    leati_emit_factor s;
    leati_hlo_value x, q;
    if (!leati_emit_factor_open(emit, &s, &x))
        return leati_emit_factor_lacks_complex(emit, err);
    int64_t inner = leati_emit_bool(emit, "full_matrices") ? s.rows : LEATI_MIN(s.rows, s.columns);
    if (is_empty(emit)) {
        leat_shape square = LEAT_SHAPE(s.count, s.rows, inner);
        emit->outputs[0] =
            leati_hlo_reshape(s.hlo, leati_emit_factor_eye(&s, &square), leati_emit_shape(emit, 0));
        emit->outputs[1] = leati_hlo_fill(s.hlo, 0, s.dtype, leati_emit_shape(emit, 1));
        return LEAT_OK;
    }
    x = leati_emit_factor_qr(&s, x, &q);
    emit->outputs[0] =
        leati_hlo_reshape(s.hlo, first_part(&s, q, s.rows, inner), leati_emit_shape(emit, 0));
    emit->outputs[1] =
        leati_hlo_reshape(s.hlo, first_part(&s, x, inner, s.columns), leati_emit_shape(emit, 1));
    return LEAT_OK;
}

/* ---- LU ---- */

/* Where the first largest number of [count, rows, 1] is at or below row k. */
static leati_hlo_value find_pivot(const leati_emit_factor *s, leati_hlo_value line,
                                  leati_hlo_value k) {
    leat_shape lines = LEAT_SHAPE(s->count, s->rows, 1);
    leati_hlo_value size = unary(s, "abs", line);
    size = leati_hlo_select(s->hlo, places(s, &lines, 1, "LT", k), number_like(s, -1, size), size);
    leati_hlo_value most = leati_hlo_reduce(s->hlo, "maximum", size, -1, 2, true);
    leati_hlo_value best = leati_hlo_compare(s->hlo, "EQ", size, spread(s, most, size));
    leati_hlo_value place = leati_hlo_iota(s->hlo, LEAT_INT32, &lines, 1);
    leati_hlo_value last = number_like(s, (double)s->rows - 1, place);
    leati_hlo_value first = leati_hlo_reduce(
        s->hlo, "minimum", leati_hlo_select(s->hlo, best, place, last), (double)s->rows, 2, true);
    return leati_hlo_compare(s->hlo, "EQ", place, spread(s, first, place));
}

/* The row that a mask [count, rows, 1] marks, as [count, 1, ...]. */
static leati_hlo_value marked(const leati_emit_factor *s, leati_hlo_value x, leati_hlo_value mask) {
    return leati_emit_factor_sum(s, where(s, spread(s, mask, x), x), 1);
}

/* x with the rows that two masks mark exchanged. */
static leati_hlo_value exchanged(const leati_emit_factor *s, leati_hlo_value x, leati_hlo_value own,
                                 leati_hlo_value found) {
    leati_hlo_value mine = spread(s, marked(s, x, own), x);
    leati_hlo_value other = spread(s, marked(s, x, found), x);
    x = leati_hlo_select(s->hlo, spread(s, found, x), mine, x);
    return leati_hlo_select(s->hlo, spread(s, own, x), other, x);
}

static void eliminate(const leati_emit_factor *s, leati_hlo_value k, leati_hlo_value x,
                      leati_hlo_value order, leati_hlo_value next[3]) {
    leat_shape lines = LEAT_SHAPE(s->count, s->rows, 1), whole = leati_hlo_shape(s->hlo, x);
    leati_hlo_value own = places(s, &lines, 1, "EQ", k), below = places(s, &lines, 1, "GT", k);
    leati_hlo_value found = find_pivot(s, column(s, x, k), k);
    x = exchanged(s, x, own, found);
    leati_hlo_value line = marked(s, x, own), down = column(s, x, k);
    leati_hlo_value factors =
        where(s, below, binary(s, "divide", down, spread(s, marked(s, down, own), down)));
    /* To the right of the pivot alone; below it the factors stand. */
    leati_hlo_value right = where(s, places(s, &whole, 2, "GT", k), spread(s, line, x));
    right = binary(s, "multiply", right, spread(s, factors, x));
    leati_hlo_value under = binary(s, "and", spread(s, below, x), places(s, &whole, 2, "EQ", k));
    x = binary(s, "subtract", x, right);
    next[0] = binary(s, "add", k, leati_hlo_number(s->hlo, 1));
    next[1] = leati_hlo_select(s->hlo, under, spread(s, factors, x), x);
    next[2] = exchanged(s, order, own, found);
}

leat_status leati_emit_lu(leati_emit *emit, leat_error *err) {
    leati_emit_factor s;
    leati_hlo_value x, next[3];
    if (!leati_emit_factor_open(emit, &s, &x))
        return leati_emit_factor_lacks_complex(emit, err);
    leat_shape lines = LEAT_SHAPE(s.count, s.rows, 1);
    leati_hlo_value starts[3] = {leati_hlo_number(s.hlo, 0), x,
                                 leati_hlo_iota(s.hlo, LEAT_INT32, &lines, 1)};
    leati_hlo_value out = starts[0];
    if (!is_empty(emit)) {
        leati_hlo_loop loop;
        leati_hlo_value steps = leati_hlo_number(s.hlo, s.rows);
        leati_hlo_loop_begin(s.hlo, &loop, starts, 3);
        leati_hlo_loop_body(s.hlo, &loop, leati_hlo_compare(s.hlo, "LT", loop.first, steps));
        eliminate(&s, loop.first, loop.first + 1, loop.first + 2, next);
        out = leati_hlo_loop_end(s.hlo, &loop, next);
        x = out + 1;
        starts[2] = out + 2;
    }
    emit->outputs[0] = leati_hlo_reshape(s.hlo, x, leati_emit_shape(emit, 0));
    emit->outputs[1] = leati_hlo_reshape(s.hlo, starts[2], leati_emit_shape(emit, 1));
    return LEAT_OK;
}
