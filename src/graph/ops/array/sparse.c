/* sparse_order, sparse_union, sparse_reshape, sparse_fill_empty_rows, sparse_dense_matmul: places
 * of sparse values (what tf.sparse.reorder, add, maximum, reshape, fill_empty_rows and
 * sparse_dense_matmul are made of).
 *
 * Places are rows of indices [n, rank] within a shape [rank]. They come out in row-major order,
 * with numbers that say which value each had, so that values are gathered or added up, and
 * gradients flow, by operations of their own. Places that are in order, as they mostly are, are not
 * sorted. They fail where shapes do not fit, where an index lies outside of the shape, and without
 * memory. No gradient of places; no state, no locks. */
#include "base/isa.h"
#include "base/minmax.h"
#include "base/stop.h"
#include "graph/support/support.h"
#include "run/crew.h"

#include <stdlib.h>
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

/* ---- places ---- */
typedef struct places {
    const int64_t *indices, *shape;
    int64_t count, rank;
} places;

static leat_status places_of(const leati_kernel_call *call, int indices, int shape, int64_t row,
                             places *out, leat_error *err) {
    const leati_operand *in = &call->inputs[indices], *dims = &call->inputs[shape];
    if (in->rank != 2 || dims->rank != 1 || in->dims[1] != dims->count)
        return leati_refuse(err, SHAPE,
                            "indices of rank %d and a shape of %lld dimensions; expected "
                            "[n, rank] and [rank]",
                            (int)in->rank, (long long)dims->count);
    *out = (places){.indices = (const int64_t *)(const void *)leati_support_row_of(in, row),
                    .shape = (const int64_t *)(const void *)leati_support_row_of(dims, row),
                    .count = in->dims[0],
                    .rank = in->dims[1]};
    return LEAT_OK;
}

/* The number of place i of all places of the shape. */
static leat_status number_of(const places *p, int64_t i, int64_t *out, leat_error *err) {
    const int64_t *index = p->indices + i * p->rank;
    int64_t number = 0;
    for (int64_t d = 0; d < p->rank; d++) {
        if (index[d] < 0 || index[d] >= p->shape[d])
            return leati_refuse(err, VALUE,
                                "indices[%lld] has %lld for dimension %lld; expected 0 "
                                "to %lld",
                                (long long)i, (long long)index[d], (long long)d,
                                (long long)p->shape[d] - 1);
        if (__builtin_mul_overflow(number, p->shape[d], &number) ||
            __builtin_add_overflow(number, index[d], &number))
            return leati_refuse(err, SHAPE, "the shape has more places than an int64 counts");
    }
    *out = number;
    return LEAT_OK;
}

static void write_place(int64_t number, const int64_t *shape, int64_t rank, int64_t *to) {
    for (int64_t d = rank - 1; d > 0; d--) {
        int64_t rest = number / shape[d];
        to[d] = number - rest * shape[d];
        number = rest;
    }
    if (rank > 0)
        to[0] = number;
}

typedef struct entry {
    int64_t number, from;
} entry;

static int by_number(const void *a, const void *b) {
    const entry *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->from < y->from ? -1 : 1;
}

/* The places in order, equal ones as they came. */
static leat_status ordered(leati_kernel_call *call, const places *p, entry **out, bool *was,
                           leat_error *err) {
    entry *all = leati_arena_alloc(call->arena, (size_t)LEATI_MAX(p->count, 1) * sizeof *all);
    if (all == NULL)
        return leati_no_memory(err);
    *was = true;
    for (int64_t i = 0; i < p->count; i++) {
        all[i].from = i;
        LEATI_TRY(number_of(p, i, &all[i].number, err));
        *was = *was && (i == 0 || all[i - 1].number <= all[i].number);
    }
    if (!*was)
        qsort(all, (size_t)p->count, sizeof *all, by_number);
    *out = all;
    return LEAT_OK;
}

static leat_status sparse_order_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape indices = leati_support_operand_shape(&call->inputs[0]);
    leat_shape order = LEAT_SHAPE(indices.dims[0]);
    LEATI_TRY(leati_support_output_like(call, 0, &indices, err));
    LEATI_TRY(leati_support_output_like(call, 1, &order, err));
    for (int64_t row = 0; row < call->n; row++) {
        places p = {0};
        entry *all = NULL;
        bool was = false;
        call->failed_row = row;
        LEATI_TRY(places_of(call, 0, 1, row, &p, err));
        LEATI_TRY(ordered(call, &p, &all, &was, err));
        int64_t *to = (int64_t *)(void *)leati_support_row_of(&call->outputs[0], row);
        int64_t *from = (int64_t *)(void *)leati_support_row_of(&call->outputs[1], row);
        size_t size = (size_t)p.rank * sizeof *to;
        if (was && p.count > 0)
            memcpy(to, p.indices, (size_t)p.count * size);
        for (int64_t i = 0; i < p.count; i++) {
            from[i] = all[i].from;
            if (!was)
                memcpy(to + i * p.rank, p.indices + from[i] * p.rank, size);
        }
    }
    return LEAT_OK;
}

/* ---- two of them ---- */
/* Merges the places of both; how many there are. `numbers` gets each of them, `at` for each value
 * of a side which of them it has. */
static int64_t merge(const entry *const *all, const int64_t *counts, int64_t *numbers,
                     int64_t *const *at) {
    int64_t next[2] = {0}, count = 0;
    while (next[0] < counts[0] || next[1] < counts[1]) {
        int64_t number = INT64_MAX;
        for (int k = 0; k < 2; k++)
            if (next[k] < counts[k])
                number = LEATI_MIN(number, all[k][next[k]].number);
        for (int k = 0; k < 2; k++)
            while (next[k] < counts[k] && all[k][next[k]].number == number)
                at[k][all[k][next[k]++].from] = count;
        numbers[count++] = number;
    }
    return count;
}

static leat_status sparse_union_kernel(leati_kernel_call *call, leat_error *err) {
    places p[2] = {0};
    entry *all[2] = {NULL};
    bool was = false;
    int64_t counts[2] = {0}, *at[2] = {NULL};
    for (int k = 0; k < 2; k++) {
        LEATI_TRY(places_of(call, k, 2, 0, &p[k], err));
        LEATI_TRY(ordered(call, &p[k], &all[k], &was, err));
        counts[k] = p[k].count;
        leat_shape shape = LEAT_SHAPE(counts[k]);
        LEATI_TRY(leati_support_output_like(call, k + 1, &shape, err));
        at[k] = (int64_t *)(void *)call->outputs[k + 1].data;
    }
    int64_t *numbers =
        leati_arena_alloc(call->arena, (size_t)(counts[0] + counts[1] + 1) * sizeof *numbers);
    if (numbers == NULL)
        return leati_no_memory(err);
    int64_t count = merge((const entry *const[]){all[0], all[1]}, counts, numbers, at);
    leat_shape shape = LEAT_SHAPE(count, p[0].rank);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    int64_t *to = (int64_t *)(void *)call->outputs[0].data;
    for (int64_t i = 0; i < count; i++)
        write_place(numbers[i], p[0].shape, p[0].rank, to + i * p[0].rank);
    return LEAT_OK;
}

/* ---- other shapes ---- */
static leat_status sparse_reshape_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *dims = &call->inputs[2];
    leat_shape shape = LEAT_SHAPE(call->inputs[0].dims[0], dims->count);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    for (int64_t row = 0; row < call->n; row++) {
        const int64_t *to = (const int64_t *)(const void *)leati_support_row_of(dims, row);
        int64_t *out = (int64_t *)(void *)leati_support_row_of(&call->outputs[0], row), most = 1;
        places p = {0};
        call->failed_row = row;
        LEATI_TRY(places_of(call, 0, 1, row, &p, err));
        for (int64_t d = 0; d < dims->count; d++)
            if (to[d] < 0 || __builtin_mul_overflow(most, to[d], &most))
                return leati_refuse(err, SHAPE,
                                    "dimension %lld of the new shape is %lld; expected "
                                    "one of a shape that an int64 counts",
                                    (long long)d, (long long)to[d]);
        for (int64_t i = 0; i < p.count; i++) {
            int64_t number = 0;
            LEATI_TRY(number_of(&p, i, &number, err));
            if (number >= most)
                return leati_refuse(err, SHAPE,
                                    "the new shape has %lld places; expected as many as "
                                    "the old one",
                                    (long long)most);
            write_place(number, to, dims->count, out + i * dims->count);
        }
    }
    return LEAT_OK;
}

/* ---- empty rows ---- */
/* Where each row begins among all, with a place for each empty one; how many there are. */
static leat_status count_rows(const places *p, int64_t *begins, bool *empty, int64_t *out,
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

static leat_status sparse_fill_empty_rows_kernel(leati_kernel_call *call, leat_error *err) {
    places p = {0};
    LEATI_TRY(places_of(call, 0, 1, 0, &p, err));
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
    LEATI_TRY(leati_support_output_like(call, 0, &indices, err));
    LEATI_TRY(leati_support_output_like(call, 1, &order, err));
    int64_t *to = (int64_t *)(void *)call->outputs[0].data;
    int64_t *from = (int64_t *)(void *)call->outputs[1].data;
    for (int64_t row = 0; row < rows; row++)
        if (is_empty[row]) {
            memset(to + begins[row] * p.rank, 0, (size_t)p.rank * sizeof *to);
            to[begins[row] * p.rank] = row;
            from[begins[row]] = p.count; /* behind the values stands the default */
        }
    for (int64_t i = 0; i < p.count; i++) {
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
    places p = {0};
    LEATI_TRY(places_of(call, 0, 2, row, &p, err));
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
