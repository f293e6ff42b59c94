/* sparse_order, sparse_union, sparse_reshape, sparse_fill_empty_rows, sparse_dense_matmul: places
 * of sparse values (what tf.sparse.reorder, add, maximum, reshape, fill_empty_rows and
 * sparse_dense_matmul are made of).
 *
 * Places are rows of indices [n, rank] within a shape [rank]. They come out in row-major order,
 * with numbers that say which value each had, so that values are gathered or added up, and
 * gradients flow, by operations of their own. Places that are in order, as they mostly are, are
 * neither sorted nor copied; the crew shares passes over all of them. They fail where shapes do not
 * fit, where an index lies outside of the shape, and without memory. No gradient of places; no
 * state, no locks. */
#include "base/isa.h"
#include "base/minmax.h"
#include "base/stop.h"
#include "graph/support/array/moving.h"
#include "graph/support/array/places.h"
#include "run/crew.h"

#include <string.h>

struct sparse_args {
    bool adjoint_a;
};

static const leati_row matmul_rows[] = {
    {.name = "adjoint_a",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct sparse_args, adjoint_a),
     .doc = "The sparse matrix is transposed."},
    {0},
};

/* ---- inference ---- */
/* Indices [n, rank] and, where `shape` is one of the inputs, that of [rank]. */
static leat_status want_places(const leati_infer_call *call, int indices, int shape, int64_t *rank,
                               leat_error *err) {
    const leat_shape *found = &call->inputs[indices].shape;
    LEATI_TRY(leati_support_want_dtype(call, indices, LEAT_INT64, "indices", err));
    LEATI_TRY(leati_support_want_rank(call, indices, 2, "indices", err));
    LEATI_TRY(leati_support_want_dtype(call, shape, LEAT_INT64, "the shape", err));
    LEATI_TRY(leati_support_want_rank(call, shape, 1, "the shape", err));
    *rank = found->rank == 2 ? found->dims[1] : LEAT_UNKNOWN_DIM;
    int64_t other =
        call->inputs[shape].shape.rank == 1 ? call->inputs[shape].shape.dims[0] : LEAT_UNKNOWN_DIM;
    LEATI_TRY(
        leati_support_want_equal_dims(*rank, other, "columns of indices and dimensions", err));
    *rank = *rank == LEAT_UNKNOWN_DIM ? other : *rank;
    return LEAT_OK;
}

static int64_t first_dim(const leat_shape *shape) {
    return shape->rank > 0 ? shape->dims[0] : LEAT_UNKNOWN_DIM;
}

static leat_status sparse_order_infer(leati_infer_call *call, leat_error *err) {
    int64_t rank = 0;
    LEATI_TRY(want_places(call, 0, 1, &rank, err));
    leat_shape indices = LEAT_SHAPE(first_dim(&call->inputs[0].shape), rank);
    leat_shape order = LEAT_SHAPE(indices.dims[0]);
    LEATI_TRY(leati_op_infer_output(call, LEAT_INT64, &indices, NULL, err));
    return leati_op_infer_output(call, LEAT_INT64, &order, NULL, err);
}

static leat_status sparse_union_infer(leati_infer_call *call, leat_error *err) {
    int64_t rank = 0;
    LEATI_TRY(want_places(call, 0, 2, &rank, err));
    LEATI_TRY(want_places(call, 1, 2, &rank, err));
    leat_shape indices = LEAT_SHAPE(LEAT_UNKNOWN_DIM, rank);
    LEATI_TRY(leati_op_infer_output(call, LEAT_INT64, &indices, NULL, err));
    for (int i = 0; i < 2; i++) {
        leat_shape numbers = LEAT_SHAPE(first_dim(&call->inputs[i].shape));
        LEATI_TRY(leati_op_infer_output(call, LEAT_INT64, &numbers, NULL, err));
    }
    return LEAT_OK;
}

static leat_status sparse_reshape_infer(leati_infer_call *call, leat_error *err) {
    int64_t rank = 0;
    LEATI_TRY(want_places(call, 0, 1, &rank, err));
    LEATI_TRY(leati_support_want_dtype(call, 2, LEAT_INT64, "the new shape", err));
    LEATI_TRY(leati_support_want_rank(call, 2, 1, "the new shape", err));
    leat_shape indices =
        LEAT_SHAPE(first_dim(&call->inputs[0].shape), first_dim(&call->inputs[2].shape));
    return leati_op_infer_output(call, LEAT_INT64, &indices, NULL, err);
}

static leat_status sparse_fill_empty_rows_infer(leati_infer_call *call, leat_error *err) {
    int64_t rank = 0;
    LEATI_TRY(want_places(call, 0, 1, &rank, err));
    leat_shape indices = LEAT_SHAPE(LEAT_UNKNOWN_DIM, rank), order = LEAT_SHAPE(LEAT_UNKNOWN_DIM);
    LEATI_TRY(leati_op_infer_output(call, LEAT_INT64, &indices, NULL, err));
    LEATI_TRY(leati_op_infer_output(call, LEAT_INT64, &order, NULL, err));
    return leati_op_infer_output(call, LEAT_BOOL, &order, NULL, err);
}

static leat_status sparse_dense_matmul_infer(leati_infer_call *call, leat_error *err) {
    int64_t rank = 0;
    leat_shape out = LEAT_SHAPE(LEAT_UNKNOWN_DIM, LEAT_UNKNOWN_DIM);
    LEATI_TRY(want_places(call, 0, 2, &rank, err));
    LEATI_TRY(leati_support_want_equal_dims(rank, 2, "the rank of the sparse matrix", err));
    LEATI_TRY(leati_support_want_rank(call, 1, 1, "values", err));
    LEATI_TRY(leati_support_want_rank(call, 3, 2, "the dense matrix", err));
    LEATI_TRY(leati_support_want_float(call, 1, "values", err));
    LEATI_TRY(leati_support_want_dtype(call, 3, call->inputs[1].dtype, "the dense matrix", err));
    if (call->inputs[3].shape.rank == 2)
        out.dims[1] = call->inputs[3].shape.dims[1];
    return leati_op_infer_output(call, call->inputs[1].dtype, &out, NULL, err);
}

/* ---- in order ---- */
/* Places put where they belong, and which each was. */
typedef struct filling {
    const leati_places *p;
    const leati_places_order *places;
    int64_t *to, *from;
} filling;

static void count_steps(void *data, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++)
        ((int64_t *)data)[i] = i;
}

/* 0, 1, 2, and so on. */
static void count_up(int64_t *to, int64_t count) {
    leati_moving_share(count, sizeof *to, count_steps, to);
}

static void order_steps(void *data, int64_t begin, int64_t end) {
    const filling *f = data;
    int64_t rank = f->p->rank;
    for (int64_t i = begin; i < end; i++) {
        int64_t from = f->from[i] = leati_places_nth(f->places, i);
        for (int64_t d = 0; d < rank; d++)
            f->to[i * rank + d] = f->p->indices[from * rank + d];
    }
}

static leat_status sparse_order_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape indices = leati_support_operand_shape(&call->inputs[0]);
    leat_shape order = LEAT_SHAPE(indices.dims[0]);
    LEATI_TRY(leati_support_output_like(call, 1, &order, err));
    for (int64_t row = 0; row < call->n; row++) {
        leati_places p = {0};
        leati_places_order all;
        call->failed_row = row;
        LEATI_TRY(leati_places_of(call, 0, 1, row, &p, err));
        LEATI_TRY(leati_places_sort(call, &p, &all, err));
        int64_t *from = (int64_t *)(void *)leati_support_row_of(&call->outputs[1], row);
        if (all.order == NULL)
            count_up(from, p.count);
        if (all.order == NULL && call->n == 1)
            return leati_support_view_as(call, &indices, err);
        LEATI_TRY(leati_support_output_like(call, 0, &indices, err));
        int64_t *to = (int64_t *)(void *)leati_support_row_of(&call->outputs[0], row);
        filling f = {.p = &p, .places = &all, .to = to, .from = from};
        leati_moving_share(p.count, 4 * p.rank * (int64_t)sizeof *to, order_steps, &f);
    }
    call->failed_row = 0;
    return LEAT_OK;
}

/* ---- two of them ---- */
/* Merges the places of both; how many there are. `numbers` gets each of them, `at` for each value
 * of a side which of them it has. */
static int64_t merge(const leati_places_order *all, const int64_t *counts, int64_t *numbers,
                     int64_t *const *at) {
    int64_t next[2] = {0}, count = 0;
    while ((next[0] < counts[0] || next[1] < counts[1]) && !leati_stop_look_at(count)) {
        int64_t number = INT64_MAX;
        for (int k = 0; k < 2; k++)
            if (next[k] < counts[k])
                number = LEATI_MIN(number, all[k].numbers[leati_places_nth(&all[k], next[k])]);
        for (int k = 0; k < 2; k++)
            for (; next[k] < counts[k]; next[k]++) {
                int64_t from = leati_places_nth(&all[k], next[k]);
                if (all[k].numbers[from] != number)
                    break;
                at[k][from] = count;
            }
        numbers[count++] = number;
    }
    return count;
}

static leat_status sparse_union_kernel(leati_kernel_call *call, leat_error *err) {
    leati_places p[2] = {0};
    leati_places_order all[2] = {0};
    leati_places_split split;
    int64_t counts[2] = {0}, *at[2] = {NULL};
    for (int k = 0; k < 2; k++) {
        LEATI_TRY(leati_places_of(call, k, 2, 0, &p[k], err));
        LEATI_TRY(leati_places_sort(call, &p[k], &all[k], err));
        counts[k] = p[k].count;
        leat_shape shape = LEAT_SHAPE(counts[k]);
        LEATI_TRY(leati_support_output_like(call, k + 1, &shape, err));
        at[k] = (int64_t *)(void *)call->outputs[k + 1].data;
    }
    int64_t *numbers =
        leati_arena_alloc(call->arena, (size_t)(counts[0] + counts[1] + 1) * sizeof *numbers);
    if (numbers == NULL)
        return leati_no_memory(err);
    int64_t count = merge(all, counts, numbers, at);
    leat_shape shape = LEAT_SHAPE(count, p[0].rank);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    LEATI_TRY(leati_places_split_init(&split, call, p[0].shape, p[0].rank, err));
    int64_t *to = (int64_t *)(void *)call->outputs[0].data;
    for (int64_t i = 0; i < count && !leati_stop_look_at(i); i++)
        leati_places_write(&split, numbers[i], to + i * p[0].rank);
    return LEAT_OK;
}

/* ---- other shapes ---- */
typedef struct reshaping {
    const int64_t *numbers;
    const leati_places_split *split;
    int64_t *to;
} reshaping;

static void reshape_steps(void *data, int64_t begin, int64_t end) {
    const reshaping *r = data;
    for (int64_t i = begin; i < end; i++)
        leati_places_write(r->split, r->numbers[i], r->to + i * r->split->rank);
}

static leat_status reshape_row(leati_kernel_call *call, int64_t row, leat_error *err) {
    const leati_operand *dims = &call->inputs[2];
    const int64_t *shape = (const int64_t *)(const void *)leati_support_row_of(dims, row);
    int64_t *numbers = NULL, most = 1;
    bool rises = false;
    leati_places p = {0};
    leati_places_split split;
    LEATI_TRY(leati_places_of(call, 0, 1, row, &p, err));
    for (int64_t d = 0; d < dims->count; d++)
        if (shape[d] < 0 || __builtin_mul_overflow(most, shape[d], &most))
            return leati_refuse(err, SHAPE,
                                "dimension %lld of the new shape is %lld; expected "
                                "one of a shape that an int64 counts",
                                (long long)d, (long long)shape[d]);
    LEATI_TRY(leati_places_number(call, &p, &numbers, &rises, err));
    for (int64_t i = 0; i < p.count && !leati_stop_look_at(i); i++)
        if (numbers[i] >= most)
            return leati_refuse(err, SHAPE,
                                "the new shape has %lld places; expected as many as "
                                "the old one",
                                (long long)most);
    LEATI_TRY(leati_places_split_init(&split, call, shape, dims->count, err));
    reshaping r = {.numbers = numbers,
                   .split = &split,
                   .to = (int64_t *)(void *)leati_support_row_of(&call->outputs[0], row)};
    leati_moving_share(p.count, dims->count * 4 * (int64_t)sizeof(int64_t), reshape_steps, &r);
    return LEAT_OK;
}

static leat_status sparse_reshape_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape shape = LEAT_SHAPE(call->inputs[0].dims[0], call->inputs[2].count);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    for (int64_t row = 0; row < call->n; row++) {
        call->failed_row = row;
        LEATI_TRY(reshape_row(call, row, err));
    }
    call->failed_row = 0;
    return LEAT_OK;
}

/* ---- empty rows ---- */
/* Where each row begins among all, with a place for each empty one; how many there are. */
static leat_status count_rows(const leati_places *p, int64_t *begins, bool *empty, int64_t *out,
                              leat_error *err) {
    int64_t rows = p->shape[0], at = 0;
    memset(begins, 0, (size_t)rows * sizeof *begins);
    for (int64_t i = 0; i < p->count; i++) {
        int64_t row = p->indices[i * p->rank];
        if (row < 0 || row >= rows)
            return leati_refuse(err, VALUE, "indices(%lld, 0) is invalid: %lld; expected 0 to %lld",
                                (long long)i, (long long)row, (long long)rows - 1);
        begins[row]++;
    }
    for (int64_t row = 0; row < rows; row++) {
        int64_t count = begins[row];
        empty[row] = count == 0;
        begins[row] = at;
        at += LEATI_MAX(count, 1);
    }
    *out = at;
    return LEAT_OK;
}

/* Do the places come row by row? */
static bool rows_rise(const leati_places *p) {
    int64_t last = INT64_MIN;
    bool falls = false;
    for (int64_t i = 0; i < p->count && !leati_stop_look_at(i); i++) {
        falls |= p->indices[i * p->rank] < last;
        last = p->indices[i * p->rank];
    }
    return !falls;
}

/* Puts the default at the first place of each empty row. */
static void fill_empty(const leati_places *p, const int64_t *begins, const bool *is_empty,
                       int64_t *to, int64_t *from) {
    for (int64_t row = 0; row < p->shape[0]; row++)
        if (is_empty[row]) {
            memset(to + begins[row] * p->rank, 0, (size_t)p->rank * sizeof *to);
            to[begins[row] * p->rank] = row;
            from[begins[row]] = p->count; /* behind the values stands the default */
        }
}

/* The places in front of each empty row, and behind the last one, are copied at once. */
static void copy_runs(const leati_places *p, const int64_t *begins, const bool *is_empty,
                      int64_t *to, int64_t *from) {
    int64_t done = 0, filled = 0;
    for (int64_t row = 0; row <= p->shape[0]; row++) {
        if (row < p->shape[0] && !is_empty[row])
            continue;
        int64_t end = row < p->shape[0] ? begins[row] - filled : p->count;
        if (end > done)
            leati_stop_copy(to + (done + filled) * p->rank, p->indices + done * p->rank,
                            (size_t)((end - done) * p->rank) * sizeof *to);
        for (int64_t i = done; i < end; i++)
            from[i + filled] = i;
        done = end;
        filled++;
    }
}

static leat_status sparse_fill_empty_rows_kernel(leati_kernel_call *call, leat_error *err) {
    leati_places p = {0};
    LEATI_TRY(leati_places_of(call, 0, 1, 0, &p, err));
    if (p.rank < 1 || p.shape[0] < 0)
        return leati_refuse(err, SHAPE, "a sparse value without rows; expected a matrix");
    int64_t rows = p.shape[0], count = 0;
    int64_t *begins = leati_arena_alloc(call->arena, (size_t)(rows + 1) * sizeof *begins);
    leat_shape empty = LEAT_SHAPE(rows);
    if (begins == NULL)
        return leati_no_memory(err);
    LEATI_TRY(leati_support_output_like(call, 2, &empty, err));
    bool *is_empty = (bool *)call->outputs[2].data;
    LEATI_TRY(count_rows(&p, begins, is_empty, &count, err));
    leat_shape indices = LEAT_SHAPE(count, p.rank), order = LEAT_SHAPE(count);
    bool rises = rows_rise(&p);
    LEATI_TRY(leati_support_output_like(call, 1, &order, err));
    int64_t *from = (int64_t *)(void *)call->outputs[1].data;
    if (rises && count == p.count) { /* nothing changes */
        count_up(from, count);
        return leati_support_view_as(call, &indices, err);
    }
    LEATI_TRY(leati_support_output_like(call, 0, &indices, err));
    int64_t *to = (int64_t *)(void *)call->outputs[0].data;
    fill_empty(&p, begins, is_empty, to, from);
    if (rises) {
        copy_runs(&p, begins, is_empty, to, from);
        return LEAT_OK;
    }
    for (int64_t i = 0; i < p.count && !leati_stop_look_at(i); i++) {
        int64_t at = begins[p.indices[i * p.rank]]++;
        memcpy(to + at * p.rank, p.indices + i * p.rank, (size_t)p.rank * sizeof *to);
        from[at] = i;
    }
    return LEAT_OK;
}

/* ---- products ---- */
typedef struct product {
    const int64_t *indices;
    const char *values, *b;
    char *out;
    int64_t count, lines, at_once, columns;
    int row; /* the column of the indices that says the line of the result */
} product;

/* A piece is some lines of the result; it looks at all places and takes its own in their order. */
#define MULTIPLY(TYPE)                                                                             \
    LEATI_ALWAYS_INLINE void multiply_##TYPE##_loop(product *p) {                                  \
        int64_t n = p->columns, begin = p->at_once, end = p->lines;                                \
        const TYPE *values = (const TYPE *)(const void *)p->values;                                \
        int64_t done = 0;                                                                          \
        for (int64_t i = 0; i < p->count; i++) {                                                   \
            int64_t line = p->indices[2 * i + p->row];                                             \
            if (line < begin || line >= end)                                                       \
                continue;                                                                          \
            TYPE *out = (TYPE *)(void *)p->out + line * n, value = values[i];                      \
            const TYPE *b = (const TYPE *)(const void *)p->b + p->indices[2 * i + 1 - p->row] * n; \
            LEATI_INDEPENDENT                                                                      \
            for (int64_t c = 0; c < n; c++)                                                        \
                out[c] += value * b[c];                                                            \
            if (leati_stop_look_after(n, &done))                                                   \
                return;                                                                            \
        }                                                                                          \
    }                                                                                              \
    LEATI_ISA(multiply_##TYPE, multiply_##TYPE##_loop, product *)                                  \
    static void multiply_piece_##TYPE(void *data, int64_t piece) {                                 \
        product part = *(const product *)data;                                                     \
        part.lines = LEATI_MIN((piece + 1) * part.at_once, part.lines);                            \
        part.at_once *= piece;                                                                     \
        if (part.lines > part.at_once)                                                             \
            memset((TYPE *)(void *)part.out + part.at_once * part.columns, 0,                      \
                   (size_t)((part.lines - part.at_once) * part.columns) * sizeof(TYPE));           \
        multiply_##TYPE(&part);                                                                    \
    }
MULTIPLY(float)
MULTIPLY(double)

enum { PIECES = 8 };
#define NS_PER_PRODUCT 0.4
#define NS_PER_PLACE 6

static leat_status multiply_row(leati_kernel_call *call, int64_t row, leat_error *err) {
    const struct sparse_args *args = call->args;
    const leati_operand *b = &call->inputs[3];
    leati_places p = {0};
    LEATI_TRY(leati_places_of(call, 0, 2, row, &p, err));
    product all = {.indices = p.indices,
                   .values = leati_support_row_of(&call->inputs[1], row),
                   .b = leati_support_row_of(b, row),
                   .count = p.count,
                   .columns = b->rank == 2 ? b->dims[1] : 0,
                   .row = args->adjoint_a ? 1 : 0};
    if (p.rank != 2 || b->rank != 2 || call->inputs[1].count != p.count)
        return leati_refuse(err, SHAPE,
                            "a sparse matrix of rank %lld and a dense one of rank %d; "
                            "expected 2 and 2, and a value for each place",
                            (long long)p.rank, (int)b->rank);
    all.lines = p.shape[all.row];
    if (p.shape[1 - all.row] != b->dims[0])
        return leati_refuse(err, SHAPE,
                            "Cannot multiply A and B because inner dimension does not "
                            "match: %lld vs. %lld",
                            (long long)p.shape[1 - all.row], (long long)b->dims[0]);
    for (int64_t i = 0; i < 2 * p.count; i++)
        if (p.indices[i] < 0 || p.indices[i] >= p.shape[i % 2])
            return leati_refuse(err, VALUE,
                                "indices[%lld] has %lld for dimension %lld; expected 0 "
                                "to %lld",
                                (long long)i / 2, (long long)p.indices[i], (long long)i % 2,
                                (long long)p.shape[i % 2] - 1);
    leat_shape shape = LEAT_SHAPE(all.lines, all.columns);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    all.out = leati_support_row_of(&call->outputs[0], row);
    all.at_once = (all.lines + PIECES - 1) / PIECES;
    double ns = (double)p.count * ((double)all.columns * NS_PER_PRODUCT + NS_PER_PLACE);
    if (call->outputs[0].count > 0)
        leati_crew_share(ns, PIECES,
                         b->dtype == LEAT_FLOAT32 ? multiply_piece_float : multiply_piece_double,
                         &all);
    return LEAT_OK;
}

static leat_status sparse_dense_matmul_kernel(leati_kernel_call *call, leat_error *err) {
    for (int64_t row = 0; row < call->n; row++) {
        call->failed_row = row;
        LEATI_TRY(multiply_row(call, row, err));
    }
    return LEAT_OK;
}

/* ---- descriptors ---- */
#define SPARSE(OP, INPUTS, ...)                                                                    \
    const leati_tensor_op leati_tensor_op_##OP = {                                                 \
        .name = #OP,                                                                               \
        .version = 1,                                                                              \
        .halves = LEATI_HALVES_NONE,                                                               \
        .min_inputs = INPUTS,                                                                      \
        .max_inputs = INPUTS,                                                                      \
        .infer = OP##_infer,                                                                       \
        .kernel = OP##_kernel,                                                                     \
        __VA_ARGS__,                                                                               \
    };
SPARSE(sparse_order, 2, .types = "int64 int64", .outputs = "indices order", .rows = leati_no_rows,
       .doc = "Places in row-major order, and which each was (tf.raw_ops.SparseReorder).")
SPARSE(sparse_union, 3, .types = "int64 int64 int64", .outputs = "indices from_a from_b",
       .rows = leati_no_rows,
       .doc =
           "The places that one of two sparse values has, and for each value of both which it is "
           "(tf.raw_ops.SparseAdd).")
SPARSE(sparse_reshape, 3, .types = "int64 int64 int64", .outputs = "indices", .rows = leati_no_rows,
       .doc = "The same places of another shape (tf.raw_ops.SparseReshape).")
SPARSE(sparse_fill_empty_rows, 2, .types = "int64 int64", .outputs = "indices order empty",
       .rows = leati_no_rows,
       .doc = "Places row by row with one more in each empty row, whose number is that behind the "
              "last value (tf.raw_ops.SparseFillEmptyRows).")
SPARSE(sparse_dense_matmul, 4, .types = "int64 T int64 T", .outputs = "product",
       .rows = matmul_rows, .args_size = sizeof(struct sparse_args),
       .doc = "A sparse matrix times a dense one (tf.raw_ops.SparseTensorDenseMatMul).")
