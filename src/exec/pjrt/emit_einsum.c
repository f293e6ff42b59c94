/* Sums of products by an equation as StableHLO: operands are contracted from the left, two at a
 * time, as products of matrices [batch, rows, depth] and [batch, depth, columns]. */
#include "exec/pjrt/emit.h"

#include "base/error.h"
#include "graph/support/linalg/equation.h"
#include <string.h>

/* A value whose dimensions have labels. */
typedef struct labelled {
    leati_hlo_value value;
    int8_t labels[LEAT_MAX_RANK];
    int32_t rank;
} labelled;

static int32_t place_of(const labelled *x, int label) {
    for (int32_t d = 0; d < x->rank; d++)
        if (x->labels[d] == label)
            return d;
    return -1;
}

/* Sums over dimension d. */
static void sum_over(leati_emit *emit, labelled *x, int32_t d) {
    x->value = leati_hlo_reduce(&emit->hlo, "add", x->value, 0, UINT32_C(1) << d, false);
    memmove(x->labels + d, x->labels + d + 1, (size_t)(x->rank - d - 1));
    x->rank--;
}

/* An operand with each label once, each dimension as long as its label. */
static labelled read_operand(leati_emit *emit, int input, const leati_equation_view *view,
                             const int64_t *dims) {
    leati_hlo *hlo = &emit->hlo;
    labelled x = {.value = leati_emit_single(emit, emit->inputs[input]), .rank = view->rank};
    leat_shape shape = leati_hlo_shape(hlo, x.value);
    memcpy(x.labels, view->labels, sizeof x.labels);
    for (int32_t d = 0; d < x.rank; d++)
        shape.dims[d] = dims[x.labels[d]];
    x.value = leati_hlo_broadcast(hlo, x.value, &shape);
    for (int32_t d = x.rank - 1; d > 0; d--) {
        int32_t first = place_of(&x, x.labels[d]);
        if (first == d)
            continue;
        /* A label that stands twice is the diagonal: elsewhere zeros are added. */
        leat_shape now = leati_hlo_shape(hlo, x.value);
        leati_hlo_value on =
            leati_hlo_compare(hlo, "EQ", leati_hlo_iota(hlo, LEAT_INT64, &now, first),
                              leati_hlo_iota(hlo, LEAT_INT64, &now, d));
        x.value = leati_hlo_select(hlo, on, x.value, leati_hlo_fill_like(hlo, 0, x.value));
        sum_over(emit, &x, d);
    }
    return x;
}

/* Sums what no other needs. */
static void sum_unneeded(leati_emit *emit, labelled *x, const labelled *other, const bool *kept) {
    for (int32_t d = x->rank - 1; d >= 0; d--)
        if (!kept[x->labels[d]] && (other == NULL || place_of(other, x->labels[d]) < 0))
            sum_over(emit, x, d);
}

/* x with its dimensions in an order of labels. */
static leati_hlo_value in_order(leati_emit *emit, const labelled *x, const int8_t *labels) {
    int64_t order[LEAT_MAX_RANK];
    for (int32_t d = 0; d < x->rank; d++)
        order[d] = place_of(x, labels[d]);
    return leati_hlo_transpose(&emit->hlo, x->value, order);
}

/* The labels of x that the other has, or lacks, and that are kept, or not, appended; the product
 * of their sizes. */
static int64_t list(const labelled *x, const labelled *other, bool shared, bool stay,
                    const bool *kept, const int64_t *dims, int8_t *labels, int32_t *count) {
    int64_t size = 1;
    for (int32_t d = 0; d < x->rank; d++) {
        int label = x->labels[d];
        if ((place_of(other, label) >= 0) != shared || (shared && kept[label] != stay))
            continue;
        labels[(*count)++] = (int8_t)label;
        size *= dims[label];
    }
    return size;
}

static leat_status contract(leati_emit *emit, labelled *a, labelled *b, const bool *kept,
                            const int64_t *dims, labelled *out, leat_error *err) {
    leati_hlo *hlo = &emit->hlo;
    int8_t batch[LEAT_MAX_RANK], rows[LEAT_MAX_RANK], depth[LEAT_MAX_RANK], columns[LEAT_MAX_RANK];
    int32_t batches = 0, num_rows = 0, depths = 0, num_columns = 0;
    sum_unneeded(emit, a, b, kept);
    sum_unneeded(emit, b, a, kept);
    int64_t n = list(a, b, true, true, kept, dims, batch, &batches);
    int64_t k = list(a, b, true, false, kept, dims, depth, &depths);
    int64_t r = list(a, b, false, true, kept, dims, rows, &num_rows);
    int64_t c = list(b, a, false, true, kept, dims, columns, &num_columns);
    int8_t of_a[LEAT_MAX_RANK], of_b[LEAT_MAX_RANK];
    leat_shape left = LEAT_SHAPE(n, r, k), right = LEAT_SHAPE(n, k, c);
    leat_shape shape = {.rank = batches + num_rows + num_columns};
    if (shape.rank > LEAT_MAX_RANK)
        return leati_emit_lacks(emit, "a product of more than 8 dimensions", err);
    memcpy(of_a, batch, (size_t)batches);
    memcpy(of_a + batches, rows, (size_t)num_rows);
    memcpy(of_a + batches + num_rows, depth, (size_t)depths);
    memcpy(of_b, batch, (size_t)batches);
    memcpy(of_b + batches, depth, (size_t)depths);
    memcpy(of_b + batches + depths, columns, (size_t)num_columns);
    leati_hlo_value x = leati_hlo_reshape(hlo, in_order(emit, a, of_a), &left);
    leati_hlo_value y = leati_hlo_reshape(hlo, in_order(emit, b, of_b), &right);
    *out = (labelled){.rank = shape.rank};
    memcpy(out->labels, of_a, (size_t)(batches + num_rows));
    memcpy(out->labels + batches + num_rows, columns, (size_t)num_columns);
    for (int32_t d = 0; d < shape.rank; d++)
        shape.dims[d] = dims[out->labels[d]];
    out->value = leati_hlo_reshape(hlo, leati_hlo_matmul(hlo, x, y, false, false), &shape);
    return LEAT_OK;
}

leat_status leati_emit_einsum(leati_emit *emit, leat_error *err) {
    leat_shape shapes[LEATI_EQUATION_OPERANDS];
    leati_equation_view views[LEATI_EQUATION_OPERANDS], result;
    int64_t dims[LEATI_EQUATION_LABELS];
    leati_equation e;
    LEATI_TRY(leati_equation_read(leati_emit_string(emit, "equation"), emit->num_inputs, &e, err));
    for (int i = 0; i < emit->num_inputs; i++)
        shapes[i] = leati_emit_input_shape(emit, i);
    LEATI_TRY(leati_equation_lay_out(&e, shapes, views, dims, &result, err));
    labelled left = read_operand(emit, 0, &views[0], dims);
    bool kept[LEATI_EQUATION_LABELS];
    for (int i = 1; i <= emit->num_inputs; i++) {
        memset(kept, 0, sizeof kept);
        for (int d = 0; d < result.rank; d++)
            kept[result.labels[d]] = true;
        for (int k = i + 1; k < emit->num_inputs; k++)
            for (int d = 0; d < views[k].rank; d++)
                kept[views[k].labels[d]] = true;
        if (i == emit->num_inputs) {
            sum_unneeded(emit, &left, NULL, kept);
            break;
        }
        labelled right = read_operand(emit, i, &views[i], dims), out;
        LEATI_TRY(contract(emit, &left, &right, kept, dims, &out, err));
        left = out;
    }
    emit->outputs[0] = in_order(emit, &left, result.labels);
    return LEAT_OK;
}
