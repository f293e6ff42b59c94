/* Singular values and eigenvalues of stacks of matrices as StableHLO.
 *
 * Singular values: Jacobi's rotations make the columns of A V orthogonal, half of all pairs at
 * once, which change partners as in a tournament, until a whole round turned nothing. U is the Q of
 * A V, so it is whole where singular values are 0. Eigenvalues: XLA's own expansion of "Eigh",
 * which CPUs, GPUs and TPUs have. Signs are those that come out. Complex matrices are refused. */
#include "exec/pjrt/emit_factor.h"

#include "base/error.h"
#include "base/minmax.h"
#include "core/spec.h"
#include "core/tensor.h"
#include <stdio.h>

/* ---- eigenvalues ---- */

/* `text`: "vectors" or nothing. */
leat_status leati_emit_eigen(leati_emit *emit, leat_error *err) {
    leati_emit_factor s;
    leati_hlo_value x;
    char attributes[128];
    if (!leati_emit_factor_open(emit, &s, &x))
        return leati_emit_factor_lacks_complex(emit, err);
    bool vectors = emit->text[0] == 'v';
    if (s.count * s.rows == 0) {
        for (int i = 0; i <= vectors; i++)
            emit->outputs[i] = leati_hlo_fill(s.hlo, 0, s.dtype, leati_emit_shape(emit, i));
        return LEAT_OK;
    }
    /* Lower triangle, sorted, most sweeps, tolerance. */
    snprintf(attributes, sizeof attributes,
             "call_target_name = \"Eigh\", backend_config = \"1,1,100,%s\"",
             s.dtype == LEAT_FLOAT64 ? "1e-15" : "1e-7");
    const leati_hlo_type types[2] = {{s.dtype, LEAT_SHAPE(s.count, s.rows, s.rows)},
                                     {s.dtype, LEAT_SHAPE(s.count, s.rows)}};
    leati_hlo_value out =
        leati_hlo_add_several(s.hlo, "custom_call", &x, 1, NULL, attributes, types, 2);
    emit->outputs[0] = leati_hlo_reshape(s.hlo, out + 1, leati_emit_shape(emit, 0));
    if (vectors)
        emit->outputs[1] = leati_hlo_reshape(s.hlo, out, leati_emit_shape(emit, 1));
    return LEAT_OK;
}

/* ---- singular values ---- */

typedef struct pairs {
    leati_emit_factor s; /* of matrices at least as high as wide */
    int64_t width;       /* columns, an even number, of which the last may be none */
    double least;        /* a cosine that counts as 0 */
    bool vectors;
    leati_hlo_value next[4]; /* steps, steps without a turn, left and right columns */
} pairs;

static leati_hlo_value binary(const pairs *p, const char *name, leati_hlo_value a,
                              leati_hlo_value b) {
    return leati_hlo_binary(p->s.hlo, name, a, b);
}

/* Columns [first, first + count) of [count, ?, ?], rows [0, rows). */
static leati_hlo_value part(const pairs *p, leati_hlo_value x, int64_t row, int64_t rows,
                            int64_t first, int64_t columns) {
    return leati_hlo_slice(p->s.hlo, x, (int64_t[]){0, row, first},
                           (int64_t[]){p->s.count, row + rows, first + columns},
                           (int64_t[]){1, 1, 1});
}

static leati_hlo_value joined(const pairs *p, leati_hlo_value a, leati_hlo_value b, int32_t axis) {
    return leati_hlo_concatenate(p->s.hlo, (const leati_hlo_value[]){a, b}, 2, axis);
}

/* Sums over the rows of the matrix, not of V below it: [count, 1, columns]. */
static leati_hlo_value dot(const pairs *p, leati_hlo_value a, leati_hlo_value b) {
    leat_shape shape = leati_hlo_shape(p->s.hlo, a);
    a = part(p, a, 0, p->s.rows, 0, shape.dims[2]);
    b = part(p, b, 0, p->s.rows, 0, shape.dims[2]);
    return leati_emit_factor_sum(&p->s, binary(p, "multiply", a, b), 1);
}

/* The tournament: the first stays, the others move on by one place. */
static void change_partners(pairs *p, leati_hlo_value left, leati_hlo_value right) {
    int64_t half = p->width / 2, rows = leati_hlo_shape(p->s.hlo, left).dims[1];
    p->next[2] = left;
    p->next[3] = right;
    if (half == 1)
        return;
    leati_hlo_value head =
        joined(p, part(p, left, 0, rows, 0, 1), part(p, right, 0, rows, 0, 1), 2);
    p->next[2] = half == 2 ? head : joined(p, head, part(p, left, 0, rows, 1, half - 2), 2);
    p->next[3] =
        joined(p, part(p, right, 0, rows, 1, half - 1), part(p, left, 0, rows, half - 1, 1), 2);
}

static void turn_pairs(pairs *p, leati_hlo_value step, leati_hlo_value quiet, leati_hlo_value left,
                       leati_hlo_value right) {
    leati_hlo *hlo = p->s.hlo;
    leati_hlo_value a = dot(p, left, left), b = dot(p, right, right), c = dot(p, left, right);
    leati_hlo_value one = leati_hlo_fill_like(hlo, 1, c), two = leati_hlo_fill_like(hlo, 2, c);
    leati_hlo_value bound = leati_hlo_unary(hlo, "sqrt", binary(p, "multiply", a, b));
    bound = binary(p, "multiply", bound, leati_hlo_fill_like(hlo, p->least, bound));
    leati_hlo_value turns = leati_hlo_compare(hlo, "GT", leati_hlo_unary(hlo, "abs", c), bound);
    /* The smaller of the two angles that make the columns orthogonal. */
    leati_hlo_value safe = leati_hlo_select(hlo, turns, c, one);
    leati_hlo_value zeta =
        binary(p, "divide", binary(p, "subtract", b, a), binary(p, "multiply", two, safe));
    leati_hlo_value root =
        leati_hlo_unary(hlo, "sqrt", binary(p, "add", one, binary(p, "multiply", zeta, zeta)));
    leati_hlo_value tangent =
        binary(p, "divide", one, binary(p, "add", leati_hlo_unary(hlo, "abs", zeta), root));
    leati_hlo_value below = leati_hlo_compare(hlo, "LT", zeta, leati_hlo_fill_like(hlo, 0, zeta));
    tangent = leati_hlo_select(hlo, below, leati_hlo_unary(hlo, "negate", tangent), tangent);
    tangent = leati_hlo_select(hlo, turns, tangent, leati_hlo_fill_like(hlo, 0, tangent));
    leati_hlo_value cosine = leati_hlo_unary(
        hlo, "rsqrt", binary(p, "add", one, binary(p, "multiply", tangent, tangent)));
    leati_hlo_value sine = binary(p, "multiply", cosine, tangent);
    leat_shape shape = leati_hlo_shape(hlo, left);
    cosine = leati_hlo_broadcast(hlo, cosine, &shape);
    sine = leati_hlo_broadcast(hlo, sine, &shape);
    leati_hlo_value turned[2] = {
        binary(p, "subtract", binary(p, "multiply", cosine, left),
               binary(p, "multiply", sine, right)),
        binary(p, "add", binary(p, "multiply", sine, left), binary(p, "multiply", cosine, right))};
    leati_hlo_value any = leati_hlo_reduce(hlo, "or", turns, 0, 7, false);
    leati_hlo_value first = leati_hlo_number(hlo, 1);
    p->next[0] = binary(p, "add", step, first);
    p->next[1] =
        leati_hlo_select(hlo, any, leati_hlo_number(hlo, 0), binary(p, "add", quiet, first));
    change_partners(p, turned[0], turned[1]);
}

enum { MOST_ROUNDS = 40 };

/* [A V; V] for x = A, with as many columns as `width`. */
static leati_hlo_value orthogonalise(pairs *p, leati_hlo_value x) {
    leati_hlo *hlo = p->s.hlo;
    int64_t half = p->width / 2;
    leat_shape square = LEAT_SHAPE(p->s.count, p->width, p->width);
    leat_shape column = LEAT_SHAPE(p->s.count, p->s.rows, 1);
    if (p->width > p->s.columns)
        x = joined(p, x, leati_hlo_fill(hlo, 0, p->s.dtype, &column), 2);
    x = joined(p, x, leati_emit_factor_eye(&p->s, &square), 1);
    int64_t rows = p->s.rows + p->width;
    leati_hlo_value starts[4] = {leati_hlo_number(hlo, 0), leati_hlo_number(hlo, 0),
                                 part(p, x, 0, rows, 0, half), part(p, x, 0, rows, half, half)};
    leati_hlo_value round = leati_hlo_number(hlo, p->width - 1);
    leati_hlo_value most = leati_hlo_number(hlo, MOST_ROUNDS * (p->width - 1));
    leati_hlo_loop loop;
    leati_hlo_loop_begin(hlo, &loop, starts, 4);
    leati_hlo_value goes_on = binary(p, "and", leati_hlo_compare(hlo, "LT", loop.first, most),
                                     leati_hlo_compare(hlo, "LT", loop.first + 1, round));
    leati_hlo_loop_body(hlo, &loop, goes_on);
    turn_pairs(p, loop.first, loop.first + 1, loop.first + 2, loop.first + 3);
    leati_hlo_value out = leati_hlo_loop_end(hlo, &loop, p->next);
    return joined(p, out + 2, out + 3, 2);
}

/* [width, width] matrices that put the columns of descending norms `size` [count, 1, width] in
 * their order. */
static leati_hlo_value order_of(const pairs *p, leati_hlo_value size) {
    leati_hlo *hlo = p->s.hlo;
    leat_shape square = LEAT_SHAPE(p->s.count, p->width, p->width);
    leati_hlo_value mine = leati_hlo_transpose(hlo, size, (int64_t[]){0, 2, 1});
    mine = leati_hlo_broadcast(hlo, mine, &square);
    leati_hlo_value other = leati_hlo_broadcast(hlo, size, &square);
    leati_hlo_value row = leati_hlo_iota(hlo, LEAT_INT32, &square, 1);
    leati_hlo_value across = leati_hlo_iota(hlo, LEAT_INT32, &square, 2);
    leati_hlo_value before = binary(p, "and", leati_hlo_compare(hlo, "EQ", other, mine),
                                    leati_hlo_compare(hlo, "LT", across, row));
    before = binary(p, "or", before, leati_hlo_compare(hlo, "GT", other, mine));
    leati_hlo_value rank =
        leati_emit_factor_sum(&p->s, leati_hlo_convert(hlo, before, LEAT_INT32), 2);
    rank = leati_hlo_compare(hlo, "EQ", leati_hlo_broadcast(hlo, rank, &square), across);
    return leati_hlo_convert(hlo, rank, p->s.dtype);
}

/* NaN for matrices that have a value that is not finite, else 0: [count, 1, 1]. */
static leati_hlo_value poison_of(const pairs *p, leati_hlo_value x) {
    x = binary(p, "multiply", x, leati_hlo_fill_like(p->s.hlo, 0, x));
    return leati_emit_factor_sum(&p->s, leati_emit_factor_sum(&p->s, x, 1), 2);
}

static leati_hlo_value poisoned(const pairs *p, leati_hlo_value x, leati_hlo_value poison) {
    leat_shape shape = leati_hlo_shape(p->s.hlo, x);
    return binary(p, "add", x, leati_hlo_broadcast(p->s.hlo, poison, &shape));
}

/* Singular values [count, 1, columns] and, if asked, U, of all rows, and V. */
static void decompose(pairs *p, leati_hlo_value x, leati_hlo_value out[3]) {
    leati_hlo *hlo = p->s.hlo;
    leati_hlo_value poison = poison_of(p, x);
    x = orthogonalise(p, x);
    leati_hlo_value size = dot(p, x, x), key = size;
    if (p->width > p->s.columns) {
        /* The column that is none comes last. */
        leati_hlo_value mark = part(p, x, p->s.rows + p->width - 1, 1, 0, p->width);
        leati_hlo_value none =
            leati_hlo_compare(hlo, "GT", mark, leati_hlo_fill_like(hlo, 0.5, mark));
        key = leati_hlo_select(hlo, none, leati_hlo_fill_like(hlo, -1, size), size);
    }
    leati_hlo_value order = order_of(p, key);
    size = leati_hlo_matmul(hlo, size, order, false, false);
    size = part(p, leati_hlo_unary(hlo, "sqrt", size), 0, 1, 0, p->s.columns);
    out[0] = poisoned(p, size, poison);
    if (!p->vectors)
        return;
    x = leati_hlo_matmul(hlo, x, order, false, false);
    out[2] = poisoned(p, part(p, x, p->s.rows, p->s.columns, 0, p->s.columns), poison);
    leati_hlo_value q,
        r = leati_emit_factor_qr(&p->s, part(p, x, 0, p->s.rows, 0, p->s.columns), &q);
    /* The signs of R's diagonal go into U. */
    leat_shape square = leati_hlo_shape(hlo, q);
    leati_hlo_value line = part(p, r, 0, p->s.columns, 0, p->s.columns);
    leat_shape small = leati_hlo_shape(hlo, line);
    line = binary(p, "multiply", line, leati_emit_factor_eye(&p->s, &small));
    line = leati_emit_factor_sum(&p->s, line, 1);
    leati_hlo_value one = leati_hlo_fill_like(hlo, 1, line);
    leati_hlo_value sign =
        leati_hlo_select(hlo, leati_hlo_compare(hlo, "LT", line, leati_hlo_fill_like(hlo, 0, line)),
                         leati_hlo_unary(hlo, "negate", one), one);
    if (p->s.rows > p->s.columns) {
        leat_shape rest = LEAT_SHAPE(p->s.count, 1, p->s.rows - p->s.columns);
        sign = joined(p, sign, leati_hlo_fill(hlo, 1, p->s.dtype, &rest), 2);
    }
    out[1] = poisoned(p, binary(p, "multiply", q, leati_hlo_broadcast(hlo, sign, &square)), poison);
}

leat_status leati_emit_svd(leati_emit *emit, leat_error *err) {
    pairs p = {.vectors = leati_emit_bool(emit, "compute_uv")};
    leati_hlo_value x, out[3] = {0};
    if (!leati_emit_factor_open(emit, &p.s, &x))
        return leati_emit_factor_lacks_complex(emit, err);
    leat_shape in = leati_emit_input_shape(emit, 0);
    if (leati_shape_count(&in) == 0)
        return leati_emit_lacks(emit, "the singular values of no values", err);
    bool wide = p.s.columns > p.s.rows;
    if (wide) {
        int64_t rows = p.s.rows;
        x = leati_hlo_transpose(p.s.hlo, x, (int64_t[]){0, 2, 1});
        p.s.rows = p.s.columns;
        p.s.columns = rows;
    }
    p.width = p.s.columns + p.s.columns % 2;
    p.least = p.s.dtype == LEAT_FLOAT64 ? 2.3e-16 : 1.2e-7;
    decompose(&p, x, out);
    emit->outputs[0] = leati_hlo_reshape(p.s.hlo, out[0], leati_emit_shape(emit, 0));
    for (int i = 1; i <= 2 && p.vectors; i++) {
        leati_hlo_value side = out[wide ? 3 - i : i];
        const leat_shape *shape = leati_emit_shape(emit, i);
        side = part(&p, side, 0, leati_hlo_shape(p.s.hlo, side).dims[1], 0,
                    shape->dims[shape->rank - 1]);
        emit->outputs[i] = leati_hlo_reshape(p.s.hlo, side, shape);
    }
    return LEAT_OK;
}
