/* Blocks: preparing, views of ranges, strides and selections, and single elements.
 *
 * Every view is built into `out`, which is emptied first; on failure `out` is left empty. Views of
 * STRIDED columns change pointers; a selection over SELECTED columns is composed once for all
 * columns that share an array of row numbers; arrays of tensors are gathered by reference.
 *
 * Failures: INTERNAL (a range outside the block: the caller's bug), RESOURCE_EXHAUSTED. No locks: a
 * block has one owner. */
#include "core/block.h"
#include "core/element.h"

#include "base/alloc.h"
#include "base/error.h"
#include <inttypes.h>
#include <string.h>

leat_status leati_block_prepare(leati_block *block, int num_columns, leat_error *err) {
    leati_block_clear(block);
    if (num_columns > block->capacity) {
        void *columns = block->columns;
        size_t capacity = (size_t)block->capacity;
        if (!leati_grow(&columns, &capacity, (size_t)num_columns, sizeof(leati_column)))
            return leati_no_memory(err);
        block->columns = columns;
        block->capacity = (int32_t)capacity;
    }
    /* A block that never had columns has no array to clear. */
    if (num_columns > 0)
        memset(block->columns, 0, (size_t)num_columns * sizeof(leati_column));
    block->num_columns = num_columns;
    return LEAT_OK;
}

void leati_block_clear(leati_block *block) {
    for (int32_t c = 0; c < block->num_columns; c++)
        leati_column_fini(&block->columns[c]);
    if (block->origins.data != NULL)
        leati_column_fini(&block->origins);
    block->num_columns = 0;
    block->n = 0;
}

void leati_block_fini(leati_block *block) {
    leati_block_clear(block);
    leati_free(block->columns);
    *block = (leati_block){0};
}

static leat_status check_range(const leati_block *block, int64_t begin, int64_t step, int64_t n,
                               leat_error *err) {
    /* Divided instead of multiplied: (n - 1) * step may overflow. No rows may begin at the end,
     * too. */
    bool inside =
        begin >= 0 && step >= 0 && n >= 0 &&
        (n == 0 ? begin <= block->n
                : begin < block->n && (step == 0 || n - 1 <= (block->n - 1 - begin) / step));
    if (inside)
        return LEAT_OK;
    return leati_fail(err, LEAT_INTERNAL,
                      "%" PRId64 " rows from %" PRId64 " by %" PRId64
                      " do not lie in a block of %" PRId64 " rows",
                      n, begin, step, block->n);
}

leat_status leati_block_slice(const leati_block *block, int64_t begin, int64_t n, leati_block *out,
                              leat_error *err) {
    leat_status status = check_range(block, begin, 1, n, err);
    if (status != LEAT_OK)
        return status;
    if (out != block) {
        status = leati_block_prepare(out, block->num_columns, err);
        if (status != LEAT_OK)
            return status;
        for (int32_t c = 0; c < block->num_columns; c++)
            leati_column_copy(&block->columns[c], &out->columns[c]);
        if (block->origins.data != NULL)
            leati_column_copy(&block->origins, &out->origins);
    }
    /* In place (out == block) nothing is copied: the columns are only moved on. */
    if (out->origins.data != NULL && begin > 0)
        leati_column_skip(&out->origins, begin);
    for (int32_t c = 0; begin > 0 && c < out->num_columns; c++)
        leati_column_skip(&out->columns[c], begin);
    out->n = n;
    return LEAT_OK;
}

/* Which rows a view takes: those numbered in `rows`, or begin, begin + step and so on. */
struct pick {
    const uint32_t *rows;
    leat_buffer *rows_owner;
    int64_t begin;
    int64_t step;
    int64_t n;
};

static int64_t picked(const struct pick *pick, int64_t i) {
    return pick->rows != NULL ? (int64_t)pick->rows[i] : pick->begin + i * pick->step;
}

static leat_status pick_strided(const leati_column *from, const struct pick *pick,
                                leati_column *to) {
    leati_column_copy(from, to);
    if (pick->rows == NULL) {
        to->data += pick->begin * from->stride;
        to->stride = from->stride * pick->step;
        /* Of a constant every row is the same, so no row numbers are needed: it stays as it is. */
    } else if (from->stride != 0) {
        to->form = LEATI_SELECTED;
        to->rows = pick->rows;
        to->rows_owner = leat_buffer_ref(pick->rows_owner);
    }
    return LEAT_OK;
}

/* The composed row numbers that an earlier column of `out` got for the same array, or new ones. */
static leat_status pick_selected(const leati_block *block, int32_t c, const struct pick *pick,
                                 leati_block *out, leat_error *err) {
    /* The origins are treated as one more column behind the last. */
    bool hidden = c == block->num_columns;
    const leati_column *from = hidden ? &block->origins : &block->columns[c];
    leati_column *to = hidden ? &out->origins : &out->columns[c];
    const uint32_t *composed = NULL;
    leat_buffer *owner = NULL;
    /* Columns that share row numbers (after a filter, all of them) go on sharing: one array is
     * made. */
    for (int32_t k = 0; k < c && composed == NULL; k++) {
        const leati_column *earlier = &block->columns[k];
        if (earlier->form == LEATI_SELECTED && earlier->rows == from->rows) {
            composed = out->columns[k].rows;
            owner = leat_buffer_ref(out->columns[k].rows_owner);
        }
    }
    if (composed == NULL) {
        owner = leat_buffer_new((size_t)pick->n * sizeof(uint32_t), err);
        if (owner == NULL)
            return LEAT_RESOURCE_EXHAUSTED;
        uint32_t *rows = owner->data;
        for (int64_t i = 0; i < pick->n; i++)
            rows[i] = from->rows[picked(pick, i)];
        composed = rows;
    }
    *to = *from;
    leat_buffer_ref(to->owner);
    to->rows = composed;
    to->rows_owner = owner;
    return LEAT_OK;
}

static leat_status pick_tensors(const leati_column *from, const struct pick *pick, leati_column *to,
                                leat_error *err) {
    leat_buffer *owner = leati_buffer_of_tensors(pick->n, err);
    if (owner == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leat_tensor *tensors = owner->data;
    /* The buffer drops the references at its end, also those of an array that is filled in part. */
    for (int64_t i = 0; i < pick->n; i++)
        tensors[i] = leat_tensor_ref(&from->tensors[picked(pick, i)]);
    leati_column_tensors(to, from->dtype, owner);
    return LEAT_OK;
}

static leat_status pick_rows(const leati_block *block, const struct pick *pick, leati_block *out,
                             leat_error *err) {
    if (out == block)
        return leati_fail(err, LEAT_INTERNAL, "a selection cannot replace the block it reads");
    leat_status status = leati_block_prepare(out, block->num_columns, err);
    for (int32_t c = 0; status == LEAT_OK && c < block->num_columns; c++) {
        const leati_column *from = &block->columns[c];
        if (from->form == LEATI_STRIDED)
            status = pick_strided(from, pick, &out->columns[c]);
        else if (from->form == LEATI_SELECTED)
            status = pick_selected(block, c, pick, out, err);
        else
            status = pick_tensors(from, pick, &out->columns[c], err);
    }
    if (status == LEAT_OK && block->origins.data != NULL)
        status = block->origins.form == LEATI_STRIDED
                     ? pick_strided(&block->origins, pick, &out->origins)
                     : pick_selected(block, block->num_columns, pick, out, err);
    if (status != LEAT_OK) {
        leati_block_clear(out);
        return status;
    }
    out->n = pick->n;
    return LEAT_OK;
}

leat_status leati_block_stride(const leati_block *block, int64_t begin, int64_t step, int64_t n,
                               leati_block *out, leat_error *err) {
    LEATI_TRY(check_range(block, begin, step, n, err));
    /* Consecutive rows are a slice, which keeps each column's form. */
    if (step == 1 || n == 0)
        return leati_block_slice(block, begin, n, out, err);
    struct pick pick = {.begin = begin, .step = step, .n = n};
    return pick_rows(block, &pick, out, err);
}

leat_status leati_block_select(const leati_block *block, const uint32_t *rows,
                               leat_buffer *rows_owner, int64_t n, leati_block *out,
                               leat_error *err) {
    if (n == 0)
        return leati_block_slice(block, 0, 0, out, err);
    /* One row needs no array of numbers. */
    if (n == 1)
        return leati_block_slice(block, rows[0], 1, out, err);
    struct pick pick = {.rows = rows, .rows_owner = rows_owner, .n = n};
    return pick_rows(block, &pick, out, err);
}

void leati_block_move(leati_block *from, leati_block *to) {
    if (from == to)
        return;
    leati_block_clear(to);
    /* The arrays change places, so that neither block allocates again. */
    leati_column *columns = to->columns;
    int32_t capacity = to->capacity;
    to->n = from->n;
    to->num_columns = from->num_columns;
    to->columns = from->columns;
    to->capacity = from->capacity;
    to->origins = from->origins;
    from->origins = (leati_column){0};
    from->n = 0;
    from->num_columns = 0;
    from->columns = columns;
    from->capacity = capacity;
}

leat_status leati_block_element(const leati_block *block, const leat_spec *spec, int64_t i,
                                leat_element *out, leat_error *err) {
    if (i < 0 || i >= block->n || leat_spec_num_components(spec) != block->num_columns)
        return leati_fail(err, LEAT_INTERNAL,
                          "element %" PRId64 " of %d components is not in a block of %" PRId64
                          " rows and %d columns",
                          i, leat_spec_num_components(spec), block->n, (int)block->num_columns);
    LEATI_TRY(leati_element_reserve(out, block->num_columns, err));
    /* Before clearing: the element may hold the last reference to the same spec. */
    leat_spec *kept = leat_spec_ref(spec);
    leat_element_clear(out);
    for (int32_t c = 0; c < block->num_columns; c++)
        out->tensors[c] = leati_column_tensor(&block->columns[c], i);
    out->num_tensors = block->num_columns;
    out->spec = kept;
    return LEAT_OK;
}

leat_status leati_block_of_element(const leat_element *element, leati_block *out, leat_error *err) {
    LEATI_TRY(leati_block_prepare(out, element->num_tensors, err));
    for (int c = 0; c < element->num_tensors; c++)
        leati_column_constant(&out->columns[c], &element->tensors[c]);
    out->n = 1;
    return LEAT_OK;
}

size_t leati_block_bytes(const leati_block *block) {
    size_t bytes = 0;
    /* Saturates: views of one constant may claim more bytes than there are. */
    for (int32_t c = 0; c < block->num_columns; c++)
        if (!leati_add_size(bytes, leati_column_bytes(&block->columns[c], 0, block->n), &bytes))
            return SIZE_MAX;
    return bytes;
}
