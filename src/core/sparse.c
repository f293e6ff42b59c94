/* Cutting, stacking and joining sparse values, as TensorFlow's serialised form of them does it.
 *
 * Cutting needs the indices in order, because rows are found by their place; stacking and joining
 * take any, and write them one value after the other with their rows raised. The values themselves
 * are views where one value is cut, and are copied where several meet. Failures: INVALID_ARGUMENT
 * (parts that do not fit each other, indices out of order, other ranks), RESOURCE_EXHAUSTED; `out`
 * is then empty. No locks. */
#include "core/sparse.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include "core/spec.h"
#include "core/tensor.h"
#include <inttypes.h>
#include <string.h>

enum { INDICES, VALUES, SHAPE, PARTS };

static int64_t rank_of(const leat_tensor *value) {
    return value[SHAPE].dims[0];
}

static const int64_t *index_at(const leat_tensor *value, int64_t i) {
    return (const int64_t *)value[INDICES].data + i * rank_of(value);
}

static const int64_t *shape_of(const leat_tensor *value) {
    return value[SHAPE].data;
}

static leat_status check_parts(const leat_tensor *value, leat_error *err) {
    const leat_tensor *indices = &value[INDICES], *shape = &value[SHAPE];
    bool fits = shape->rank == 1 && shape->dtype == LEAT_INT64 && shape->dims[0] <= LEAT_MAX_RANK &&
                indices->rank == 2 && indices->dtype == LEAT_INT64 && value[VALUES].rank == 1 &&
                indices->dims[1] == shape->dims[0] && indices->dims[0] == value[VALUES].dims[0];
    if (fits)
        return LEAT_OK;
    char texts[PARTS][128];
    for (int p = 0; p < PARTS; p++) {
        leat_shape found = leat_tensor_shape(&value[p]);
        leati_shape_text(&found, texts[p]);
    }
    return leati_refuse(
        err, SHAPE,
        "a sparse value with indices of shape %s, values of %s and a dense shape of "
        "%s; expected [n, rank], [n] and [rank]",
        texts[INDICES], texts[VALUES], texts[SHAPE]);
}

/* Index i lies in the shape, and behind index i - 1. */
static bool in_order(const leat_tensor *value, int64_t i) {
    int64_t rank = rank_of(value);
    const int64_t *index = index_at(value, i), *shape = shape_of(value);
    /* The first number that differs decides, as in the order of words. Equal indices are not in
     * order. */
    bool behind = i == 0, decided = i == 0;
    for (int64_t d = 0; d < rank; d++) {
        if (index[d] < 0 || index[d] >= shape[d])
            return false;
        /* index - rank is the index before, since they lie one after the other. */
        if (!decided && index[d] != index[d - rank]) {
            behind = index[d] > index[d - rank];
            decided = true;
        }
    }
    return behind;
}

leat_status leati_sparse_rows(const leat_tensor *value, int64_t *rows, leat_error *err) {
    LEATI_TRY(check_parts(value, err));
    if (rank_of(value) < 2)
        return leati_refuse(
            err, SHAPE, "a sparse value of %" PRId64 " dimensions has no rows; expected 2 or more",
            rank_of(value));
    for (int64_t i = 0; i < value[VALUES].dims[0]; i++) {
        if (!in_order(value, i))
            return leati_refuse(err, VALUE,
                                "index %" PRId64
                                " of a sparse value lies outside its dense shape or "
                                "not behind the one before it; put the indices in order",
                                i);
    }
    *rows = shape_of(value)[0];
    return *rows >= 0 ? LEAT_OK
                      : leati_refuse(err, VALUE, "a sparse value with %" PRId64 " rows", *rows);
}

/* The first index from `from` on in row `row` or behind it. */
static int64_t first_of_row(const leat_tensor *value, int64_t row, int64_t from) {
    int64_t to = value[VALUES].dims[0];
    while (from < to) {
        int64_t middle = from + (to - from) / 2;
        if (index_at(value, middle)[0] < row)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Indices [begin, end), without their first numbers where `drop` is 1, which are lowered by `row`
 * elsewhere; values as a view, and the rest of the dense shape behind `rows`. */
static leat_status part_of(const leat_tensor *value, int64_t begin, int64_t end, int64_t drop,
                           int64_t row, int64_t rows, leat_tensor *const out[PARTS],
                           leat_error *err) {
    int64_t rank = rank_of(value), kept = rank - drop;
    leat_status status =
        leat_tensor_new(LEAT_INT64, LEAT_SHAPE(end - begin, kept), out[INDICES], err);
    if (status == LEAT_OK)
        status = leat_tensor_new(LEAT_INT64, LEAT_SHAPE(kept), out[SHAPE], err);
    if (status != LEAT_OK)
        return status;
    int64_t *indices = out[INDICES]->data, *shape = out[SHAPE]->data;
    for (int64_t i = begin; i < end; i++) {
        /* A row of its own has no first number; rows of a slice count from its beginning. */
        memcpy(indices, index_at(value, i) + drop, (size_t)kept * sizeof *indices);
        if (drop == 0)
            indices[0] -= row;
        indices += kept;
    }
    memcpy(shape, shape_of(value) + drop, (size_t)kept * sizeof *shape);
    if (drop == 0)
        shape[0] = rows;
    *out[VALUES] = leati_tensor_rows(&value[VALUES], begin, end - begin);
    return LEAT_OK;
}

leat_status leati_sparse_cut(const leat_tensor *value, int64_t begin, int64_t n,
                             leat_tensor *const *out, leat_error *err) {
    leat_status status = LEAT_OK;
    /* One search for the first row; the others follow it. */
    int64_t from = first_of_row(value, begin, 0), count = value[VALUES].dims[0];
    for (int64_t i = 0; i < n && status == LEAT_OK; i++) {
        int64_t to = from;
        while (to < count && index_at(value, to)[0] == begin + i)
            to++;
        leat_tensor *const parts[PARTS] = {&out[0][i], &out[1][i], &out[2][i]};
        status = part_of(value, from, to, 1, 0, 0, parts, err);
        from = to;
    }
    return status;
}

static leat_status drop_parts(leat_tensor *out, leat_status status) {
    for (int p = 0; p < PARTS && status != LEAT_OK; p++)
        leat_tensor_unref(&out[p]);
    return status;
}

leat_status leati_sparse_slice(const leat_tensor *value, int64_t begin, int64_t n, leat_tensor *out,
                               leat_error *err) {
    int64_t from = first_of_row(value, begin, 0), to = first_of_row(value, begin + n, from);
    leat_tensor *const parts[PARTS] = {&out[0], &out[1], &out[2]};
    return drop_parts(out, part_of(value, from, to, 0, begin, n, parts, err));
}

/* Are there values of one rank, and how many indices have they together? */
static leat_status check_together(const leat_tensor *values, int64_t step, int64_t n,
                                  int64_t *count, leat_error *err) {
    *count = 0;
    for (int64_t i = 0; i < n; i++) {
        const leat_tensor *value = &values[i * step];
        LEATI_TRY(check_parts(value, err));
        if (rank_of(value) != rank_of(values))
            return leati_refuse(err, SHAPE,
                                "sparse values of %" PRId64 " and %" PRId64
                                " dimensions cannot stand in one batch",
                                rank_of(values), rank_of(value));
        *count += value[VALUES].dims[0];
    }
    return LEAT_OK;
}

/* Writes all indices; each value's follow a new first number where `front` is 1, or have the first
 * one raised by the rows before it. */
static void put_indices(const leat_tensor *values, int64_t step, int64_t n, int64_t front,
                        int64_t *out) {
    int64_t rows = 0, rank = rank_of(values);
    for (int64_t v = 0; v < n; v++) {
        const leat_tensor *value = &values[v * step];
        for (int64_t i = 0; i < value[VALUES].dims[0]; i++) {
            memcpy(out + front, index_at(value, i), (size_t)rank * sizeof *out);
            if (front == 1)
                out[0] = v;
            else
                out[0] += rows;
            out += rank + front;
        }
        /* In a stack the first number is the value's own; nothing is raised. */
        rows += front == 0 ? shape_of(value)[0] : 0;
    }
}

/* The rows of all values along the dimension that they have. */
static leat_status sum_rows(const leat_tensor *values, int64_t step, int64_t n, int64_t *out,
                            leat_error *err) {
    *out = 0;
    for (int64_t v = 0; v < n; v++) {
        int64_t rows = shape_of(&values[v * step])[0];
        /* A dense shape costs nothing, so its numbers may be as large as they like. */
        if (rows > INT64_MAX - *out)
            return leati_refuse(
                err, VALUE, "sparse values of %" PRId64 " rows and more: their sum has no number",
                rows);
        *out += rows;
    }
    return LEAT_OK;
}

/* The largest of each dimension from `begin` on, unless the leaf knows it. */
static void put_shape(const leat_spec *leaf, const leat_tensor *values, int64_t step, int64_t n,
                      int64_t begin, int64_t *out) {
    leat_shape known = leat_spec_shape(leaf);
    for (int64_t d = begin; d < rank_of(values); d++) {
        int64_t most = 0;
        for (int64_t v = 0; v < n; v++) {
            int64_t size = shape_of(&values[v * step])[d];
            most = LEATI_MAX(size, most);
        }
        /* TensorFlow deserialises to the largest of the shapes, unless the spec says more. */
        out[d] = d < known.rank && known.dims[d] >= 0 ? known.dims[d] : most;
    }
}

/* n values as one, with a new first dimension (`front` 1) or along the one they have (0). */
static leat_status together(const leat_spec *leaf, const leat_tensor *values, int64_t step,
                            int64_t n, int64_t front, leat_tensor *out, leat_error *err) {
    int64_t count = 0;
    leat_status status = check_together(values, step, n, &count, err);
    if (status != LEAT_OK)
        return status;
    int64_t rank = rank_of(values) + front, rows = n;
    /* Stacking adds a dimension, so values of the highest rank do not stack. */
    if (rank < 1 || rank > LEAT_MAX_RANK)
        return leati_refuse(err, SHAPE,
                            "a sparse value of %" PRId64 " dimensions; expected 1 to %d", rank,
                            LEAT_MAX_RANK);
    if (front == 0)
        status = sum_rows(values, step, n, &rows, err);
    if (status == LEAT_OK)
        status = leat_tensor_new(LEAT_INT64, LEAT_SHAPE(count, rank), &out[INDICES], err);
    if (status == LEAT_OK)
        status = leat_tensor_new(LEAT_INT64, LEAT_SHAPE(rank), &out[SHAPE], err);
    if (status == LEAT_OK)
        status = leati_tensor_concat(&values[VALUES], step, n, &out[VALUES], err);
    if (status != LEAT_OK)
        return drop_parts(out, status);
    put_indices(values, step, n, front, out[INDICES].data);
    int64_t *shape = out[SHAPE].data;
    put_shape(leaf, values, step, n, 1 - front, shape + front);
    shape[0] = rows;
    return LEAT_OK;
}

leat_status leati_sparse_stack(const leat_spec *leaf, const leat_tensor *values, int64_t step,
                               int64_t n, leat_tensor *out, leat_error *err) {
    return together(leaf, values, step, n, 1, out, err);
}

leat_status leati_sparse_join(const leat_spec *leaf, const leat_tensor *values, int64_t step,
                              int64_t n, leat_tensor *out, leat_error *err) {
    return together(leaf, values, step, n, 0, out, err);
}
