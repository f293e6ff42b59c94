/* Attention as StableHLO: the whole matrix of queries by keys, which the compiler may cut.
 *
 * Heads come first, and heads of queries that share one of keys and values are rows of one product.
 * Where a mask hides a key its score is the number that the CPU's kernel takes, and nothing flows
 * back. */
#include "exec/pjrt/emit.h"

#include "base/error.h"
#include <math.h>
#include <string.h>

/* Of graph/support/nn/attention.c. */
#define MASKED_SCORE (-0.7 * 3.38953e38)

typedef struct attention {
    leati_hlo *hlo;
    int64_t batch, queries, keys, heads, key_heads, depth, width;
    leati_hlo_value q, k, v;        /* [batch, key_heads, rows, values] */
    leati_hlo_value scores, hidden; /* [batch, heads, queries, keys]; hidden: -1: nothing is */
    leat_shape grid, groups;        /* of the scores, and with the queries' heads as rows */
    int bias;                       /* number of the input; -1: none */
    double scale;
} attention;

/* [batch, length, heads, values] with heads first, those that share a key as one. */
static leati_hlo_value group(leati_hlo *hlo, leati_hlo_value x, int64_t key_heads) {
    leat_shape shape = leati_hlo_shape(hlo, x);
    leat_shape grouped = LEAT_SHAPE(shape.dims[0], key_heads,
                                    shape.dims[2] / key_heads * shape.dims[1], shape.dims[3]);
    x = leati_hlo_transpose(hlo, x, (int64_t[]){0, 2, 1, 3});
    return leati_hlo_reshape(hlo, x, &grouped);
}

/* And back, of `heads` heads. */
static leati_hlo_value ungroup(leati_hlo *hlo, leati_hlo_value x, int64_t heads) {
    leat_shape shape = leati_hlo_shape(hlo, x);
    leat_shape apart =
        LEAT_SHAPE(shape.dims[0], heads, shape.dims[1] * shape.dims[2] / heads, shape.dims[3]);
    x = leati_hlo_reshape(hlo, x, &apart);
    return leati_hlo_transpose(hlo, x, (int64_t[]){0, 2, 1, 3});
}

static leati_hlo_value or_hidden(attention *a, leati_hlo_value more) {
    return a->hidden < 0 ? more : leati_hlo_binary(a->hlo, "or", a->hidden, more);
}

/* Scale, bias and what is hidden; inputs from `rest` on are bias and mask. */
static void print_scores(leati_emit *emit, attention *a, int rest) {
    leati_hlo *hlo = a->hlo;
    leati_hlo_value x = leati_hlo_matmul(hlo, a->q, a->k, false, true);
    x = leati_hlo_reshape(hlo, x, &a->grid);
    x = leati_hlo_binary(hlo, "multiply", x, leati_hlo_fill_like(hlo, a->scale, x));
    a->hidden = a->bias = -1;
    for (int i = rest; i < emit->num_inputs; i++) {
        leati_hlo_value wide = leati_hlo_broadcast(hlo, emit->inputs[i], &a->grid);
        if (leati_emit_input_dtype(emit, i) == LEAT_BOOL) {
            a->hidden = or_hidden(a, leati_hlo_unary(hlo, "not", wide));
        } else {
            a->bias = i;
            x = leati_hlo_binary(hlo, "add", x, wide);
        }
    }
    if (leati_emit_bool(emit, "is_causal")) {
        leati_hlo_value query = leati_hlo_iota(hlo, LEAT_INT64, &a->grid, 2);
        leati_hlo_value key = leati_hlo_iota(hlo, LEAT_INT64, &a->grid, 3);
        a->hidden = or_hidden(a, leati_hlo_compare(hlo, "GT", key, query));
    }
    if (a->hidden >= 0)
        x = leati_hlo_select(hlo, a->hidden, leati_hlo_fill_like(hlo, MASKED_SCORE, x), x);
    a->scores = x;
}

/* Query, key and value are inputs from `first` on. */
static void read_inputs(leati_emit *emit, attention *a, int first, int rest) {
    leat_shape q = leati_emit_input_shape(emit, first), k = leati_emit_input_shape(emit, first + 1);
    leat_shape v = leati_emit_input_shape(emit, first + 2);
    *a = (attention){.hlo = &emit->hlo,
                     .batch = q.dims[0],
                     .queries = q.dims[1],
                     .keys = k.dims[1],
                     .heads = q.dims[2],
                     .key_heads = k.dims[2],
                     .depth = q.dims[3],
                     .width = v.dims[3],
                     .scale = leati_emit_float(emit, "scale")};
    a->grid = LEAT_SHAPE(a->batch, a->heads, a->queries, a->keys);
    a->groups = LEAT_SHAPE(a->batch, a->key_heads, a->heads / a->key_heads * a->queries, a->keys);
    a->q = group(a->hlo, emit->inputs[first], a->key_heads);
    a->k = group(a->hlo, emit->inputs[first + 1], a->key_heads);
    a->v = group(a->hlo, emit->inputs[first + 2], a->key_heads);
    print_scores(emit, a, rest);
}

static leati_hlo_value wide(const attention *a, leati_hlo_value line) {
    return leati_hlo_broadcast(a->hlo, line, &a->grid);
}

leat_status leati_emit_attention(leati_emit *emit, leat_error *err) {
    (void)err;
    attention a;
    read_inputs(emit, &a, 0, 3);
    leati_hlo *hlo = a.hlo;
    const uint32_t keys = 1 << 3;
    leati_hlo_value top = leati_hlo_reduce(hlo, "maximum", a.scores, -INFINITY, keys, true);
    leati_hlo_value e = leati_hlo_binary(hlo, "subtract", a.scores, wide(&a, top));
    e = leati_hlo_unary(hlo, "exponential", e);
    leati_hlo_value sum = leati_hlo_reduce(hlo, "add", e, 0, keys, true);
    leat_shape lines = LEAT_SHAPE(a.batch, a.key_heads, a.groups.dims[2], a.width);
    leat_shape column = LEAT_SHAPE(a.batch, a.key_heads, a.groups.dims[2], 1);
    leati_hlo_value out =
        leati_hlo_matmul(hlo, leati_hlo_reshape(hlo, e, &a.groups), a.v, false, false);
    leati_hlo_value by = leati_hlo_broadcast(hlo, leati_hlo_reshape(hlo, sum, &column), &lines);
    out = a.keys == 0 ? leati_hlo_fill_like(hlo, 0, out) : leati_hlo_binary(hlo, "divide", out, by);
    emit->outputs[0] = ungroup(hlo, out, a.heads);
    emit->outputs[1] = leati_hlo_concatenate(hlo, (leati_hlo_value[]){top, sum}, 2, 3);
    return LEAT_OK;
}

/* The moment of each query, wide as the scores. */
static leati_hlo_value moment(const attention *a, leati_hlo_value moments, int64_t which) {
    leati_hlo_value x = leati_hlo_slice(a->hlo, moments, (int64_t[]){0, 0, 0, which},
                                        (int64_t[]){a->batch, a->heads, a->queries, which + 1},
                                        (int64_t[]){1, 1, 1, 1});
    return wide(a, x);
}

/* The sum over heads, queries and keys that share a value of the bias. */
static leati_hlo_value into_bias(leati_emit *emit, const attention *a, leati_hlo_value slopes) {
    leat_shape shape = leati_emit_input_shape(emit, a->bias);
    return leati_hlo_sum_to(a->hlo, slopes, &shape);
}

/* Inputs: the gradient, query, key, value, the result, moments, bias and mask. */
leat_status leati_emit_attention_grad(leati_emit *emit, leat_error *err) {
    (void)err;
    attention a;
    read_inputs(emit, &a, 1, 6);
    leati_hlo *hlo = a.hlo;
    leati_hlo_value p = leati_hlo_binary(hlo, "subtract", a.scores, moment(&a, emit->inputs[5], 0));
    p = leati_hlo_binary(hlo, "divide", leati_hlo_unary(hlo, "exponential", p),
                         moment(&a, emit->inputs[5], 1));
    leati_hlo_value g = group(hlo, emit->inputs[0], a.key_heads);
    leati_hlo_value y = group(hlo, emit->inputs[4], a.key_heads);
    leati_hlo_value line =
        leati_hlo_reduce(hlo, "add", leati_hlo_binary(hlo, "multiply", g, y), 0, 1 << 3, true);
    leati_hlo_value ds = leati_hlo_matmul(hlo, g, a.v, false, true);
    ds = leati_hlo_binary(hlo, "subtract", ds, leati_hlo_broadcast(hlo, line, &a.groups));
    ds = leati_hlo_binary(hlo, "multiply", p, leati_hlo_reshape(hlo, ds, &a.grid));
    if (a.hidden >= 0)
        ds = leati_hlo_select(hlo, a.hidden, leati_hlo_fill_like(hlo, 0, ds), ds);
    if (a.bias >= 0)
        emit->outputs[3] = into_bias(emit, &a, ds);
    ds = leati_hlo_binary(hlo, "multiply", ds, leati_hlo_fill_like(hlo, a.scale, ds));
    ds = leati_hlo_reshape(hlo, ds, &a.groups);
    p = leati_hlo_reshape(hlo, p, &a.groups);
    emit->outputs[0] = ungroup(hlo, leati_hlo_matmul(hlo, ds, a.k, false, false), a.heads);
    emit->outputs[1] = ungroup(hlo, leati_hlo_matmul(hlo, ds, a.q, true, false), a.key_heads);
    emit->outputs[2] = ungroup(hlo, leati_hlo_matmul(hlo, p, g, true, false), a.key_heads);
    return LEAT_OK;
}
