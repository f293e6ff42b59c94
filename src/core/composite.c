/* Cutting, stacking and joining ragged leaves; sparse ones go to sparse.c, and a tensor is a ragged
 * leaf without row splits here.
 *
 * Cutting follows a range of rows through the levels: the row splits of each say which range of the
 * next one belongs to it, and what is left at the bottom is a view of the values. Stacking and
 * joining write the row splits one after the other, each raised by the rows already there.
 * Failures: INVALID_ARGUMENT (row splits that do not fit, unequal inner dimensions, int32 row
 * splits that overflow), RESOURCE_EXHAUSTED; `out` is then empty. No locks. */
#include "core/composite.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include "core/sparse.h"
#include "core/tensor.h"
#include <inttypes.h>
#include <string.h>

bool leati_spec_is_composite(const leat_spec *leaf) {
    leat_spec_kind kind = leat_spec_get_kind(leaf);
    return kind == LEAT_SPEC_RAGGED || kind == LEAT_SPEC_SPARSE;
}

bool leati_spec_has_composite(const leat_spec *spec) {
    for (int i = 0; i < leat_spec_num_children(spec); i++)
        if (leati_spec_has_composite(leat_spec_child(spec, i)))
            return true;
    return leati_spec_is_composite(spec);
}

/* Appends the leaves below `spec`; there is room. */
static void collect_leaves(const leat_spec *spec, leati_leaf *leaves, int *count, int *component) {
    leat_spec_kind kind = leat_spec_get_kind(spec);
    if (kind == LEAT_SPEC_TUPLE || kind == LEAT_SPEC_DICT) {
        for (int i = 0; i < leat_spec_num_children(spec); i++)
            collect_leaves(leat_spec_child(spec, i), leaves, count, component);
        return;
    }
    int parts = leat_spec_num_components(spec);
    if (parts == 0)
        return; /* None has nothing that could be cut or stacked */
    leaves[(*count)++] = (leati_leaf){.spec = spec, .first = *component, .count = parts};
    *component += parts;
}

leat_status leati_spec_leaves(const leat_spec *spec, leati_leaf **out, int *count,
                              leat_error *err) {
    int component = 0;
    size_t most = (size_t)leat_spec_num_components(spec);
    leati_leaf *leaves = leati_alloc_zero(most, sizeof *leaves);
    if (leaves == NULL)
        return leati_no_memory(err);
    *count = 0;
    collect_leaves(spec, leaves, count, &component);
    *out = leaves;
    return LEAT_OK;
}

/* Levels of row splits of a leaf. */
static int levels_of(const leat_spec *leaf) {
    /* The ragged rank of rows falls with each level that is cut off, below 0 in the end: a
     * tensor. */
    int rank = leat_spec_ragged_rank(leaf);
    return LEATI_MAX(rank, 0);
}

static bool is_sparse(const leat_spec *leaf) {
    return leat_spec_get_kind(leaf) == LEAT_SPEC_SPARSE;
}

int leati_composite_row_parts(const leat_spec *leaf) {
    int levels = levels_of(leaf);
    return is_sparse(leaf) ? 3 : levels > 0 ? levels : 1;
}

static int64_t split_at(const leat_tensor *splits, int64_t i) {
    return splits->dtype == LEAT_INT32 ? ((const int32_t *)splits->data)[i]
                                       : ((const int64_t *)splits->data)[i];
}

static void put_split(leat_tensor *splits, int64_t i, int64_t value) {
    if (splits->dtype == LEAT_INT32)
        ((int32_t *)splits->data)[i] = (int32_t)value;
    else
        ((int64_t *)splits->data)[i] = value;
}

static void unref_all(leat_tensor *tensors, int count) {
    for (int i = 0; i < count; i++)
        leat_tensor_unref(&tensors[i]);
}

/* Do the row splits of each level start at 0, never fall, and end at the rows below them? */
static leat_status check_ragged(const leat_spec *leaf, const leat_tensor *value, leat_error *err) {
    int levels = levels_of(leaf);
    /* A scalar has no rows; -1 is no split, so every level above it is refused. */
    int64_t below = value[0].rank > 0 ? value[0].dims[0] : -1;
    for (int level = levels; level > 0; level--) {
        const leat_tensor *splits = &value[level];
        int64_t last = splits->rank == 1 ? splits->dims[0] - 1 : -1;
        /* A level must have at least the split 0, even of no rows. The dtype comes first: split_at
         * reads by it. */
        bool valid = splits->dtype == leat_spec_row_splits_dtype(leaf) && last >= 0 &&
                     split_at(splits, 0) == 0 && split_at(splits, last) == below;
        for (int64_t i = 0; valid && i < last; i++)
            valid = split_at(splits, i) <= split_at(splits, i + 1);
        if (!valid)
            return leati_refuse(
                err, VALUE,
                "level %d of a ragged value: expected %s row splits that start at 0, "
                "never fall and end at the %" PRId64 " rows below them",
                level, leat_dtype_name(leat_spec_row_splits_dtype(leaf)), below);
        below = last;
    }
    return LEAT_OK;
}

leat_status leati_composite_rows(const leat_spec *leaf, const leat_tensor *value, int64_t *rows,
                                 leat_error *err) {
    if (is_sparse(leaf))
        return leati_sparse_rows(value, rows, err);
    if (value[0].rank < 1)
        return leati_refuse(err, SHAPE, "a scalar has no rows; use batch before this operator");
    leat_status status = check_ragged(leaf, value, err);
    if (status == LEAT_OK)
        *rows = levels_of(leaf) > 0 ? value[1].dims[0] - 1 : value[0].dims[0];
    return status;
}

/* Row splits [*begin, *end] of a level as row splits of their own; the range becomes that of the
 * rows below. */
static leat_status cut_splits(const leat_tensor *splits, int64_t *begin, int64_t *end,
                              leat_tensor *out, leat_error *err) {
    /* n rows have n + 1 splits, and those of a part start at 0 again. */
    int64_t n = *end - *begin, first = split_at(splits, *begin), last = split_at(splits, *end);
    leat_status status = leat_tensor_new(splits->dtype, LEAT_SHAPE(n + 1), out, err);
    for (int64_t i = 0; status == LEAT_OK && i <= n; i++)
        put_split(out, i, split_at(splits, *begin + i) - first);
    *begin = first;
    *end = last;
    return status;
}

/* Rows [begin, end) below `level` of the value: values to out[0], row splits behind it. */
static leat_status cut_below(const leat_spec *leaf, const leat_tensor *value, int level,
                             int64_t begin, int64_t end, leat_tensor *const *out, int64_t at,
                             leat_error *err) {
    int made = 1;
    for (int l = level + 1; l <= levels_of(leaf); l++)
        LEATI_TRY(cut_splits(&value[l], &begin, &end, &out[made++][at], err));
    out[0][at] = leati_tensor_rows(&value[0], begin, end - begin);
    return LEAT_OK;
}

leat_status leati_composite_cut(const leat_spec *leaf, const leat_tensor *value, int64_t begin,
                                int64_t n, leat_tensor *const *out, leat_error *err) {
    leat_status status = LEAT_OK;
    if (is_sparse(leaf))
        return leati_sparse_cut(value, begin, n, out, err);
    for (int64_t i = 0; status == LEAT_OK && i < n; i++) {
        /* A row has one level less: the outermost splits say which range of the next level it
         * is. */
        int64_t row = begin + i;
        if (levels_of(leaf) == 0)
            status = leat_tensor_row(value, row, &out[0][i], err);
        else
            status = cut_below(leaf, value, 1, split_at(&value[1], row),
                               split_at(&value[1], row + 1), out, i, err);
    }
    return status;
}

leat_status leati_composite_slice(const leat_spec *leaf, const leat_tensor *value, int64_t begin,
                                  int64_t n, leat_tensor *out, leat_error *err) {
    if (is_sparse(leaf))
        return leati_sparse_slice(value, begin, n, out, err);
    leat_tensor *parts[LEATI_MAX_PARTS];
    for (int p = 0; p <= levels_of(leaf); p++)
        parts[p] = &out[p];
    /* From level 0: the rows that are left keep their outermost splits. */
    leat_status status = cut_below(leaf, value, 0, begin, begin + n, parts, 0, err);
    if (status != LEAT_OK)
        unref_all(out, levels_of(leaf) + 1);
    return status;
}

/* The row splits of one level of n values, one after the other. */
static leat_status join_splits(const leat_tensor *splits, int64_t step, int64_t n, leat_tensor *out,
                               leat_error *err) {
    int64_t rows = 0, below = 0, at = 0;
    for (int64_t i = 0; i < n; i++) {
        rows += splits[i * step].dims[0] - 1;
        below += split_at(&splits[i * step], splits[i * step].dims[0] - 1);
    }
    leat_dtype dtype = splits[0].dtype;
    /* Each value's splits fit; their sum need not. */
    if (dtype == LEAT_INT32 && below > INT32_MAX)
        return leati_refuse(
            err, VALUE, "%" PRId64 " ragged rows do not fit row splits of int32; use int64", below);
    LEATI_TRY(leat_tensor_new(dtype, LEAT_SHAPE(rows + 1), out, err));
    /* One 0 for all values: the last split of each is the first one of the next. */
    put_split(out, 0, 0);
    below = 0;
    for (int64_t i = 0; i < n; i++) {
        const leat_tensor *from = &splits[i * step];
        int64_t count = from->dims[0] - 1;
        for (int64_t k = 1; k <= count; k++)
            put_split(out, at + k, below + split_at(from, k));
        at += count;
        below += split_at(from, count);
    }
    return LEAT_OK;
}

static leat_status check_all(const leat_spec *leaf, const leat_tensor *values, int64_t step,
                             int64_t n, leat_error *err) {
    for (int64_t i = 0; i < n; i++)
        LEATI_TRY(check_ragged(leaf, &values[i * step], err));
    return LEAT_OK;
}

/* n checked values along their first dimension. */
static leat_status join_ragged(const leat_spec *leaf, const leat_tensor *values, int64_t step,
                               int64_t n, leat_tensor *const *out, leat_error *err) {
    leat_status status = leati_tensor_concat(values, step, n, out[0], err);
    for (int l = 1; status == LEAT_OK && l <= levels_of(leaf); l++)
        status = join_splits(&values[l], step, n, out[l], err);
    return status;
}

leat_status leati_composite_join(const leat_spec *leaf, const leat_tensor *values, int64_t step,
                                 int64_t n, leat_tensor *out, leat_error *err) {
    if (is_sparse(leaf))
        return leati_sparse_join(leaf, values, step, n, out, err);
    leat_tensor *parts[LEATI_MAX_PARTS];
    for (int p = 0; p <= levels_of(leaf); p++)
        parts[p] = &out[p];
    leat_status status = check_all(leaf, values, step, n, err);
    if (status == LEAT_OK)
        status = join_ragged(leaf, values, step, n, parts, err);
    if (status != LEAT_OK)
        unref_all(out, levels_of(leaf) + 1);
    return status;
}

/* Tensors of one shape as one with a new first dimension: what rows of a rank below 0 are. */
static leat_status stack_tensors(const leat_tensor *values, int64_t step, int64_t n,
                                 leat_tensor *out, leat_error *err) {
    leat_shape shape = leat_tensor_shape(&values[0]), whole;
    leat_status status = leati_shape_prepend(&shape, n, &whole, err);
    if (status != LEAT_OK)
        return status;
    leat_tensor *rows = leati_alloc((size_t)n, sizeof *rows);
    if (rows == NULL)
        return leati_no_memory(err);
    for (int64_t i = 0; i < n && status == LEAT_OK; i++) {
        leat_shape own = leat_tensor_shape(&values[i * step]);
        /* A value of another rank than the first is for leati_tensor_concat to refuse, with both
         * shapes. */
        own.rank = own.rank < LEAT_MAX_RANK ? own.rank : LEAT_MAX_RANK - 1;
        status = leati_shape_prepend(&own, 1, &own, err);
        /* Borrowed views, each with a row of its own; they are not unreferenced. */
        rows[i] = values[i * step];
        rows[i].rank = own.rank;
        memcpy(rows[i].dims, own.dims, sizeof rows[i].dims);
    }
    if (status == LEAT_OK)
        status = leati_tensor_concat(rows, 1, n, out, err);
    leati_free(rows);
    return status;
}

/* The outermost row splits of a stack: each value is one row. */
static leat_status stack_splits(const leat_spec *leaf, const leat_tensor *values, int64_t step,
                                int64_t n, leat_tensor *out, leat_error *err) {
    leat_dtype dtype = leat_spec_row_splits_dtype(leaf);
    int64_t rows = 0;
    LEATI_TRY(leat_tensor_new(dtype, LEAT_SHAPE(n + 1), out, err));
    put_split(out, 0, 0);
    for (int64_t i = 0; i < n; i++) {
        const leat_tensor *value = &values[i * step];
        rows += levels_of(leaf) > 0 ? value[1].dims[0] - 1 : value[0].dims[0];
        put_split(out, i + 1, rows);
    }
    /* Asked at the end: splits that were cut off on the way are thrown away here. */
    if (dtype == LEAT_INT32 && rows > INT32_MAX) {
        leat_tensor_unref(out);
        return leati_refuse(
            err, VALUE, "%" PRId64 " ragged rows do not fit row splits of int32; use int64", rows);
    }
    return LEAT_OK;
}

/* The size of dimension `i` of a value, one of those that batching stacked; -1 where a size of 0
 * before it leaves that open. */
static int64_t stacked_size(const leat_spec *leaf, const leat_tensor *value, int i) {
    int levels = levels_of(leaf);
    if (is_sparse(leaf))
        return i < value[2].dims[0] ? ((const int64_t *)value[2].data)[i] : -1;
    if (i == 0)
        return levels > 0 ? value[1].dims[0] - 1 : value[0].rank > 0 ? value[0].dims[0] : -1;
    /* Behind the row splits come the dimensions of the flat values, of which the first is that of
     * rows. */
    if (i > levels)
        return i - levels < value[0].rank ? value[0].dims[i - levels] : -1;
    /* Batching made all rows of this dimension equal, so the first one tells its size. */
    return value[i].dims[0] > 1 ? split_at(&value[i], 1) : -1;
}

/* Are checked values equal in the sizes of the dimensions that batching stacked? */
static leat_status check_stacked(const leat_spec *leaf, const leat_tensor *values, int64_t step,
                                 int64_t n, leat_error *err) {
    int stacked = leati_spec_stacked(leaf), rank = leat_spec_ragged_rank(leaf) + 1;
    if (!is_sparse(leaf) && stacked > 0 && rank < stacked + 1)
        return leati_refuse(
            err, SHAPE,
            "a batch of batches of what lies below the row splits of a ragged value "
            "has a ragged rank of %d; expected at least %d, as in TensorFlow: make "
            "tensors of the rows first (map)",
            rank, stacked + 1);
    for (int d = 0; d < stacked; d++) {
        int64_t first = stacked_size(leaf, values, d);
        for (int64_t i = 1; i < n; i++) {
            int64_t size = stacked_size(leaf, &values[i * step], d);
            /* Sizes left open contradict nothing. */
            if (size != first && size >= 0 && first >= 0)
                return leati_refuse(
                    err, SHAPE,
                    "Cannot batch tensors with different shapes: the first value is "
                    "a batch of %" PRId64 ", value %" PRId64 " one of %" PRId64
                    "; drop the remainder below, or unbatch first",
                    first, i, size);
        }
    }
    return LEAT_OK;
}

leat_status leati_composite_stack(const leat_spec *leaf, const leat_tensor *values, int64_t step,
                                  int64_t n, leat_tensor *out, leat_error *err) {
    leat_status status = is_sparse(leaf) ? LEAT_OK : check_all(leaf, values, step, n, err);
    if (status == LEAT_OK)
        status = check_stacked(leaf, values, step, n, err);
    if (status != LEAT_OK)
        return status;
    if (is_sparse(leaf))
        return leati_sparse_stack(leaf, values, step, n, out, err);
    int levels = levels_of(leaf);
    bool ragged = leat_spec_get_kind(leaf) == LEAT_SPEC_RAGGED && leat_spec_ragged_rank(leaf) >= 0;
    if (!ragged)
        return stack_tensors(values, step, n, out, err);
    leat_tensor *parts[LEATI_MAX_PARTS] = {&out[0]};
    /* out[1] is the new outermost level, so those of the values move one place back. */
    for (int l = 1; l <= levels; l++)
        parts[l] = &out[l + 1];
    status = join_ragged(leaf, values, step, n, parts, err);
    if (status == LEAT_OK)
        status = stack_splits(leaf, values, step, n, &out[1], err);
    if (status != LEAT_OK)
        unref_all(out, levels + 2);
    return status;
}

leat_status leati_composite_empty(const leat_spec *leaf, leat_tensor *out, leat_error *err) {
    int count = leat_spec_num_components(leaf);
    leat_status status = LEAT_OK;
    for (int p = 0; p < count && status == LEAT_OK; p++) {
        leat_shape shape = leat_spec_component_shape(leaf, p);
        if (shape.rank == LEAT_UNKNOWN_RANK)
            shape = LEAT_SHAPE(0);
        /* Row splits of no rows are one number, 0. */
        bool splits = leat_spec_get_kind(leaf) == LEAT_SPEC_RAGGED && p > 0;
        bool dense_shape = is_sparse(leaf) && p == 2;
        for (int32_t i = 0; i < shape.rank; i++)
            shape.dims[i] = splits                        ? 1
                            : dense_shape                 ? (shape.dims[i] < 0 ? 1 : shape.dims[i])
                            : i == 0 || shape.dims[i] < 0 ? 0
                                                          : shape.dims[i];
        status = leat_tensor_new(leat_spec_component_dtype(leaf, p), shape, &out[p], err);
        if (status == LEAT_OK && leat_tensor_bytes(&out[p]) > 0)
            memset(out[p].data, 0, leat_tensor_bytes(&out[p]));
    }
    if (status == LEAT_OK && is_sparse(leaf)) {
        leat_shape shape = leat_spec_shape(leaf);
        for (int32_t i = 1; i < shape.rank; i++)
            ((int64_t *)out[2].data)[i] = LEATI_MAX(0, shape.dims[i]);
    }
    if (status != LEAT_OK)
        unref_all(out, count);
    return status;
}
