/* einsum: sums of products of tensors, by a text that names dimensions (tf.einsum).
 *
 * The text "ij,jk->ik" has letters for the dimensions of each operand and of the result; "..."
 * stands for further ones, which broadcast. Without "->" the result has the letters that occur
 * once, in alphabetical order. Operands are contracted from the left, two at a time, as matrix
 * products of dense copies in the call's arena. Fails where text and operands do not fit. No state,
 * no locks. */
#include "base/minmax.h"
#include "base/stop.h"
#include "core/complex.h"
#include "graph/support/array/moving.h"
#include "graph/support/linalg/equation.h"
#include "graph/support/linalg/gemm.h"
#include <string.h>

struct einsum_args {
    char *equation;
};

static const leati_row einsum_rows[] = {
    {.name = "equation",
     .type = LEATI_ROW_STRING,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct einsum_args, equation),
     .doc =
         "Letters for the dimensions of each operand, separated by commas, and after -> those of "
         "the result."},
    {0},
};

static leat_status einsum_infer(leati_infer_call *call, leat_error *err) {
    const struct einsum_args *args = call->args;
    leat_dtype dtype = call->inputs[0].dtype;
    leat_shape shapes[LEATI_EQUATION_OPERANDS], shape = {.rank = LEAT_UNKNOWN_RANK};
    leati_equation_view views[LEATI_EQUATION_OPERANDS], result;
    int64_t dims[LEATI_EQUATION_LABELS];
    leati_equation e;
    bool known = true;
    if (dtype != LEAT_INT32 && dtype != LEAT_INT64)
        LEATI_TRY(leati_support_want_trainable(call, 0, "the first operand", err));
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    LEATI_TRY(leati_equation_read(args->equation, call->num_inputs, &e, err));
    for (int i = 0; i < call->num_inputs; i++) {
        shapes[i] = call->inputs[i].shape;
        known = known && shapes[i].rank >= 0;
    }
    if (known) {
        LEATI_TRY(leati_equation_lay_out(&e, shapes, views, dims, &result, err));
        shape.rank = result.rank;
        for (int d = 0; d < result.rank; d++)
            shape.dims[d] = result.dims[d] < 0 ? LEAT_UNKNOWN_DIM : result.dims[d];
    }
    return leati_op_infer_output(call, dtype, &shape, NULL, err);
}

/* ---- computing ---- */

typedef struct machine {
    leati_arena *arena;
    leat_dtype dtype;
    size_t size;
    const int64_t *dims; /* of all labels */
} machine;

static bool has(const leati_equation_view *v, int label) {
    for (int d = 0; d < v->rank; d++)
        if (v->labels[d] == label)
            return true;
    return false;
}

static void push(leati_equation_view *v, const machine *m, int label) {
    v->labels[v->rank] = (int8_t)label;
    v->dims[v->rank++] = m->dims[label];
}

static int64_t count_of(const leati_equation_view *v, int first) {
    int64_t count = 1;
    for (int d = first; d < v->rank; d++)
        count *= v->dims[d];
    return count;
}

/* Steps of a dense array. */
static void set_dense(const machine *m, leati_equation_view *v) {
    int64_t step = (int64_t)m->size;
    for (int d = v->rank - 1; d >= 0; d--) {
        v->steps[d] = step;
        step *= v->dims[d];
    }
}

/* Copies `from` with its dimensions as `to` has them; a label that stands twice is a diagonal. */
static void copy_view(const machine *m, char *data, const leati_equation_view *to,
                      const leati_equation_view *from) {
    int64_t steps[LEAT_MAX_RANK] = {0}, out[LEAT_MAX_RANK];
    for (int d = 0; d < to->rank; d++) {
        out[d] = to->steps[d];
        /* A label that `from` lacks, or has with size 1 to be broadcast, keeps step 0. One that it
         * has twice adds both steps, which walks along the diagonal. */
        for (int k = 0; k < from->rank; k++)
            if (from->labels[k] == to->labels[d] && (from->dims[k] > 1 || to->dims[d] == 1))
                steps[d] += from->steps[k];
    }
    if (count_of(to, 0) > 0)
        leati_moving_strided(data, out, from->data, steps, to->dims, to->rank, m->size);
}

/* Does the view lie as a dense array with the labels of `out` does? */
static bool lies_as(const leati_equation_view *from, const leati_equation_view *out) {
    bool same = from->rank == out->rank;
    for (int d = 0; same && d < out->rank; d++)
        same = from->labels[d] == out->labels[d] && from->dims[d] == out->dims[d] &&
               from->steps[d] == out->steps[d];
    return same;
}

/* What is viewed with the labels that `out` has, dense: a copy in the arena where it is not so. */
static leat_status arrange(const machine *m, const leati_equation_view *from,
                           leati_equation_view *out, leat_error *err) {
    size_t bytes = 0;
    set_dense(m, out);
    if (lies_as(from, out)) {
        out->data = from->data;
        return LEAT_OK;
    }
    if (!leati_mul_size((size_t)count_of(out, 0), m->size, &bytes))
        return leati_no_memory(err);
    char *data = leati_arena_alloc(m->arena, bytes > 0 ? bytes : 1);
    if (data == NULL)
        return leati_no_memory(err);
    copy_view(m, data, out, from);
    out->data = data;
    return LEAT_OK;
}

/* The products of a and b, each dense as [batch, rows, depth] and [batch, depth, columns]. */
static leat_status products(const machine *m, const leati_equation_view *a,
                            const leati_equation_view *b, leati_equation_view *out, int64_t batch,
                            int64_t depth, leat_error *err) {
    int64_t rows = batch * depth > 0 ? count_of(a, 0) / (batch * depth) : 0;
    int64_t columns = batch * depth > 0 ? count_of(b, 0) / (batch * depth) : 0;
    size_t bytes = (size_t)count_of(out, 0) * m->size;
    char *data = leati_arena_alloc(m->arena, bytes > 0 ? bytes : 1);
    if (data == NULL)
        return leati_no_memory(err);
    memset(data, 0, bytes);
    leati_gemm_stack(m->dtype, batch, rows, columns, depth, (leati_gemm_matrix){a->data, depth, 1},
                     rows * depth, (leati_gemm_matrix){b->data, columns, 1}, depth * columns, data,
                     rows * columns);
    set_dense(m, out);
    out->data = data;
    return LEAT_OK;
}

/* What becomes of a label in a product; also the order in which they are arranged. */
enum { BATCHED = 0, OF_A, SUMMED, OF_B, ABSENT };

static int kind_of(const leati_equation_view *a, const leati_equation_view *b, const bool *kept,
                   int label) {
    bool in_a = has(a, label), in_b = has(b, label);
    if (!in_a && !in_b)
        return ABSENT;
    /* A label that only one side has is repeated on the other one by arrange. */
    if (!kept[label])
        return SUMMED;
    return in_a && in_b ? BATCHED : in_a ? OF_A : OF_B;
}

/* Contracts two views; labels in `kept` stay. */
static leat_status contract(const machine *m, const leati_equation_view *a,
                            const leati_equation_view *b, const bool *kept,
                            leati_equation_view *out, leat_error *err) {
    leati_equation_view sides[2] = {{.rank = 0}, {.rank = 0}};
    int64_t batch = 1, depth = 1;
    int ranks = 0;
    *out = (leati_equation_view){.rank = 0};
    /* The order of kinds makes a [batch, rows, depth], b [batch, depth, columns] and the result
     * [batch, rows, columns]. */
    for (int kind = BATCHED; kind < ABSENT; kind++) {
        for (int label = 0; label < LEATI_EQUATION_LABELS; label++) {
            if (kind_of(a, b, kept, label) != kind)
                continue;
            ranks = LEATI_MAX(kind != OF_B ? sides[0].rank : 0, kind != OF_A ? sides[1].rank : 0);
            if (ranks == LEAT_MAX_RANK || (kind != SUMMED && out->rank == LEAT_MAX_RANK))
                return leati_fail(err, LEAT_UNIMPLEMENTED,
                                  "a product of two operands has more than %d dimensions",
                                  LEAT_MAX_RANK);
            if (kind != OF_B)
                push(&sides[0], m, label);
            if (kind != OF_A)
                push(&sides[1], m, label);
            if (kind != SUMMED)
                push(out, m, label);
            batch *= kind == BATCHED ? m->dims[label] : 1;
            depth *= kind == SUMMED ? m->dims[label] : 1;
        }
    }
    LEATI_TRY(arrange(m, a, &sides[0], err));
    LEATI_TRY(arrange(m, b, &sides[1], err));
    return products(m, &sides[0], &sides[1], out, batch, depth, err);
}

/* One operand alone: a product with the number 1, which sums what does not stay. */
static leat_status sum_alone(const machine *m, const leati_equation_view *a, const bool *kept,
                             leati_equation_view *out, leat_error *err) {
    leati_complex128 one; /* room for a value of any of the dtypes */
    (void)leati_support_store_number(m->dtype, 1, &one);
    leati_equation_view b = {.data = (const char *)&one, .rank = 0};
    return contract(m, a, &b, kept, out, err);
}

static leat_status compute_row(const machine *m, const leati_equation_view *views, int count,
                               const leati_equation_view *result, char *to, leat_error *err) {
    leati_equation_view left = views[0], out;
    for (int i = 1; i < count || i == 1; i++) { /* one operand alone takes the loop once, too */
        bool kept[LEATI_EQUATION_LABELS] = {false};
        for (int d = 0; d < result->rank; d++)
            kept[result->labels[d]] = true;
        for (int k = i + 1; k < count; k++)
            for (int d = 0; d < views[k].rank; d++)
                kept[views[k].labels[d]] = true;
        if (count == 1)
            LEATI_TRY(sum_alone(m, &left, kept, &out, err));
        else
            LEATI_TRY(contract(m, &left, &views[i], kept, &out, err));
        left = out;
    }
    leati_equation_view dense = *result;
    set_dense(m, &dense);
    copy_view(m, to, &dense, &left);
    return LEAT_OK;
}

static leat_status einsum_kernel(leati_kernel_call *call, leat_error *err) {
    const struct einsum_args *args = call->args;
    leat_shape shapes[LEATI_EQUATION_OPERANDS], shape = {.rank = 0};
    leati_equation_view views[LEATI_EQUATION_OPERANDS], result;
    int64_t dims[LEATI_EQUATION_LABELS];
    leati_equation e;
    LEATI_TRY(leati_equation_read(args->equation, call->num_inputs, &e, err));
    for (int i = 0; i < call->num_inputs; i++)
        shapes[i] = leati_support_operand_shape(&call->inputs[i]);
    LEATI_TRY(leati_equation_lay_out(&e, shapes, views, dims, &result, err));
    for (int d = 0; d < result.rank; d++)
        shape.dims[shape.rank++] = result.dims[d];
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    machine m = {.arena = call->arena, .dtype = call->outputs[0].dtype, .dims = dims};
    m.size = leat_dtype_size(m.dtype);
    for (int64_t row = 0; row < call->n && call->outputs[0].count > 0; row++) {
        for (int i = 0; i < call->num_inputs; i++) {
            set_dense(&m, &views[i]);
            views[i].data = leati_support_row_of(&call->inputs[i], row);
        }
        LEATI_TRY(compute_row(&m, views, call->num_inputs, &result,
                              leati_support_row_of(&call->outputs[0], row), err));
    }
    return LEAT_OK;
}

/* ---- the gradient ---- */

static char *write_subscript(const leati_equation_subscript *s, char *to) {
    for (int i = 0; i < s->count; i++) {
        int label = s->labels[i];
        if (label == LEATI_EQUATION_ELLIPSIS)
            memcpy(to, "...", 3);
        else
            *to = (char)(label < 26 ? 'a' + label : 'A' + label - 26);
        to += label == LEATI_EQUATION_ELLIPSIS ? 3 : 1;
    }
    return to;
}

static bool names(const leati_equation_subscript *s, int label) {
    for (int i = 0; i < s->count; i++)
        if (s->labels[i] == label)
            return true;
    return false;
}

/* Is the label of operand `index` one of the result or of another operand? */
static bool is_elsewhere(const leati_equation *e, int index, int label) {
    bool found = names(&e->result, label);
    for (int i = 0; i < e->num_operands; i++)
        found = found || (i != index && names(&e->operands[i], label));
    return found;
}

/* Does the label stand before place `at`, too? The place where it first does, or -1. */
static int before(const leati_equation_subscript *s, int at) {
    for (int i = 0; i < at; i++)
        if (s->labels[i] == s->labels[at])
            return i;
    return -1;
}

/* The place of a label among the dimensions of an operand of `rank`. */
static int axis_of(const leati_equation_subscript *s, int at, int rank) {
    for (int i = 0; i < at; i++)
        if (s->labels[i] == LEATI_EQUATION_ELLIPSIS)
            return rank + at - s->count;
    return at;
}

/* g where its numbers along dimensions a and b are equal, zeros elsewhere. */
static leat_value keep_diagonal(leat_value g, int rank, int a, int b) {
    int64_t there[LEAT_MAX_RANK], back[LEAT_MAX_RANK];
    int count = 0;
    for (int d = 0; d < rank; d++)
        if (d != a && d != b)
            there[count++] = d;
    there[count++] = a;
    there[count++] = b;
    for (int d = 0; d < rank; d++)
        back[there[d]] = d;
    /* A band of no other diagonals leaves what both dimensions number alike. */
    g = leat_op_band_part(leat_op_transpose(g, there, rank), 0, 0);
    return leat_op_transpose(g, back, rank);
}

static leat_value gradient_of(const leati_gradient_call *call, const leati_equation *e, int index) {
    char text[LEATI_EQUATION_OPERANDS * 64], *at = write_subscript(&e->result, text);
    leat_value values[LEATI_EQUATION_OPERANDS + 1] = {call->output_gradients[0]};
    const leati_equation_subscript *mine = &e->operands[index];
    leati_equation_subscript found = {.count = 0};
    int count = 1, missing[2 * LEAT_MAX_RANK], num_missing = 0;
    bool behind = false;
    for (int i = 0; i < e->num_operands; i++) {
        if (i == index)
            continue;
        *at++ = ',';
        at = write_subscript(&e->operands[i], at);
        values[count++] = leati_support_conjugate(call->inputs[i]);
    }
    for (int k = 0; k < mine->count; k++) {
        behind = behind || mine->labels[k] == LEATI_EQUATION_ELLIPSIS;
        /* A label of this operand alone was summed: its gradient is the same at each place. Places
         * behind an ellipsis count from the end. */
        if (before(mine, k) < 0 && is_elsewhere(e, index, mine->labels[k]))
            found.labels[found.count++] = mine->labels[k];
        else
            missing[num_missing++] = behind ? k - mine->count : k;
    }
    memcpy(at, "->", 2);
    at = write_subscript(&found, at + 2);
    *at = '\0';
    struct einsum_args args = {.equation = text};
    leat_value g = leati_graph_build_many(&leati_tensor_op_einsum, &args, values, count);
    for (int k = 0; k < num_missing; k++) /* those from the front in order, then from the end */
        if (missing[k] >= 0)
            g = leat_op_expand_dims(g, missing[k]);
    for (int k = num_missing - 1; k >= 0; k--)
        if (missing[k] < 0)
            g = leat_op_expand_dims(g, missing[k]);
    if (num_missing > 0)
        g = leat_op_broadcast_like(g, call->inputs[index]);
    int rank = leat_value_shape(call->inputs[index]).rank;
    for (int k = 0; k < mine->count; k++)
        if (before(mine, k) >= 0)
            g = keep_diagonal(g, rank, axis_of(mine, before(mine, k), rank),
                              axis_of(mine, k, rank));
    return names(mine, LEATI_EQUATION_ELLIPSIS)
               ? leati_op_gradient_unbroadcast(g, call->inputs[index])
               : g;
}

static leat_status einsum_gradient(leati_gradient_call *call, leat_error *err) {
    const struct einsum_args *args = call->args;
    leati_equation e;
    LEATI_TRY(leati_equation_read(args->equation, call->num_inputs, &e, err));
    if (call->num_inputs == LEATI_EQUATION_OPERANDS)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "no gradient of %d operands; contract some first",
                          LEATI_EQUATION_OPERANDS);
    for (int i = 0; i < call->num_inputs; i++) {
        const leati_equation_subscript *s = &e.operands[i];
        for (int k = 0; k < s->count; k++) {
            if (s->labels[k] == LEATI_EQUATION_ELLIPSIS &&
                !names(&e.result, LEATI_EQUATION_ELLIPSIS))
                return leati_fail(err, LEAT_UNIMPLEMENTED,
                                  "no gradient where an ellipsis is summed; use reduce_sum");
            if (before(s, k) >= 0 && leat_value_shape(call->inputs[i]).rank < 0)
                return leati_fail(err, LEAT_UNIMPLEMENTED,
                                  "no gradient where an operand of unknown rank has a label "
                                  "twice; set its rank with ensure_shape");
        }
        call->input_gradients[i] = gradient_of(call, &e, i);
    }
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_einsum = {
    .name = "einsum",
    .version = 1,
    .doc = "Sums of products of tensors, by a text that names dimensions (tf.einsum).",
    .inputs = "*inputs",
    .types = "*T",
    .outputs = "output",
    .halves = LEATI_HALVES_FLOAT,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .large = true,
    .rows = einsum_rows,
    .args_size = sizeof(struct einsum_args),
    .min_inputs = 1,
    .max_inputs = -1,
    .infer = einsum_infer,
    .kernel = einsum_kernel,
    .gradient = einsum_gradient,
};
