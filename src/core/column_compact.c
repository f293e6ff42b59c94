/* Copies of columns that own their memory: for whoever keeps elements beyond the next pull.
 *
 * leati_column_compact decides (twice the bytes pinned is the limit) and leati_column_clone copies.
 * Numbers are gathered; strings get headers and bytes in one buffer; objects are referenced; arrays
 * of tensors become new arrays whose tensors are copied only where they pin too much. Failures:
 * RESOURCE_EXHAUSTED, with the column as before. No locks. */
#include "core/block.h"
#include "core/tensor.h"

#include "base/alloc.h"
#include "base/error.h"
#include "core/object.h"
#include <string.h>

/* Copies string rows: headers first, their bytes behind them. */
static leat_buffer *clone_strings(const leati_column *column, int64_t begin, int64_t n,
                                  leat_error *err) {
    size_t row_bytes = leati_column_row_bytes(column);
    int64_t values = (int64_t)(row_bytes / sizeof(leat_string));
    size_t headers;
    size_t total;
    /* Sizes that overflow stay at SIZE_MAX, which no allocation gives: one check serves them
     * all. */
    if (!leati_mul_size((size_t)n, row_bytes, &headers))
        headers = SIZE_MAX;
    total = headers;
    for (int64_t i = begin; i < begin + n; i++) {
        const leat_string *strings = leati_column_row(column, i);
        for (int64_t k = 0; k < values; k++)
            if (!leati_add_size(total, strings[k].size, &total))
                total = SIZE_MAX;
    }
    leat_buffer *buffer = leat_buffer_new(total, err);
    if (buffer == NULL)
        return NULL;
    leat_string *to = buffer->data;
    char *bytes = (char *)buffer->data + headers;
    for (int64_t i = begin; i < begin + n; i++) {
        const leat_string *strings = leati_column_row(column, i);
        for (int64_t k = 0; k < values; k++) {
            *to++ = (leat_string){.data = bytes, .size = strings[k].size};
            /* The data of an empty string may be NULL. */
            if (strings[k].size > 0)
                memcpy(bytes, strings[k].data, strings[k].size);
            bytes += strings[k].size;
        }
    }
    return buffer;
}

/* A new array with references to n tensors. */
static leat_buffer *clone_array(const leati_column *column, int64_t begin, int64_t n,
                                leat_error *err) {
    leat_buffer *owner = leati_buffer_of_tensors(n, err);
    if (owner == NULL)
        return NULL;
    leat_tensor *tensors = owner->data;
    for (int64_t i = 0; i < n; i++)
        tensors[i] = leat_tensor_ref(&column->tensors[begin + i]);
    return owner;
}

/* Replaces tensors [from, to), which share an owner, by copies. */
static leat_status clone_run(leat_tensor *tensors, int64_t from, int64_t to, leat_error *err) {
    for (int64_t i = from; i < to; i++) {
        leat_tensor copy;
        LEATI_TRY(leati_tensor_clone(&tensors[i], &copy, err));
        leat_tensor_unref(&tensors[i]);
        tensors[i] = copy;
    }
    return LEAT_OK;
}

static bool pins_too_much(size_t pinned, size_t bytes) {
    /* Divided, since twice the bytes may overflow. */
    return pinned / 2 > bytes;
}

/* Copies the tensors whose owners pin too much (`all`: every one). Neighbours that share an owner
 * are judged together. */
static leat_status compact_array(leat_tensor *tensors, int64_t n, bool all, leat_error *err) {
    for (int64_t from = 0; from < n;) {
        leat_buffer *owner = tensors[from].owner;
        size_t bytes = 0;
        int64_t to = from;
        /* Rows of one batch share its buffer: each alone pins too much, all of them together do
         * not. */
        while (to < n && tensors[to].owner == owner) {
            leati_column one = {
                .form = LEATI_TENSORS, .dtype = tensors[to].dtype, .tensors = tensors};
            if (!leati_add_size(bytes, leati_column_bytes(&one, to, 1), &bytes))
                bytes = SIZE_MAX;
            to++;
        }
        if (all || pins_too_much(leati_buffer_pinned(owner), bytes))
            LEATI_TRY(clone_run(tensors, from, to, err));
        from = to;
    }
    return LEAT_OK;
}

static leat_status clone_tensors(const leati_column *column, int64_t begin, int64_t n, bool all,
                                 leati_column *out, leat_error *err) {
    leat_buffer *owner = clone_array(column, begin, n, err);
    if (owner == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leat_status status = compact_array(owner->data, n, all, err);
    if (status != LEAT_OK) {
        leat_buffer_unref(owner);
        return status;
    }
    leati_column_tensors(out, column->dtype, owner);
    return LEAT_OK;
}

leat_status leati_column_clone(const leati_column *column, int64_t begin, int64_t n,
                               leati_column *out, leat_error *err) {
    if (column->form == LEATI_TENSORS)
        return clone_tensors(column, begin, n, true, out, err);
    size_t row_bytes = leati_column_row_bytes(column);
    bool constant = column->form == LEATI_STRIDED && column->stride == 0 && n > 0;
    int64_t copies = constant ? 1 : n;
    size_t bytes;
    leat_buffer *owner = NULL;
    if (!leati_mul_size((size_t)copies, row_bytes, &bytes))
        return leati_no_memory(err);
    if (column->dtype == LEAT_STRING)
        owner = clone_strings(column, begin, copies, err);
    else if (column->dtype == LEAT_OBJECT)
        owner = leati_buffer_of_objects((int64_t)(bytes / sizeof(leat_object *)), err);
    else
        owner = leat_buffer_new(bytes, err);
    if (owner == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    if (column->dtype != LEAT_STRING)
        leati_column_gather(column, begin, copies, owner->data, (int64_t)row_bytes);
    /* A constant stays one: its one row is copied and the stride is 0 again. */
    leat_shape shape = leati_column_row_shape(column, begin);
    leati_column_strided(out, column->dtype, &shape, owner->data, constant ? 0 : (int64_t)row_bytes,
                         owner);
    return LEAT_OK;
}

leat_status leati_column_compact(leati_column *column, int64_t n, leat_error *err) {
    leati_column compact;
    leat_status status;
    if (column->form == LEATI_TENSORS) {
        size_t array = (size_t)n * sizeof(leat_tensor);
        /* The array of tensors pins memory as well: a few rows may be all that is left of a large
         * one. */
        bool keep = !pins_too_much(leati_buffer_pinned(column->owner), array);
        for (int64_t i = 0; keep && i < n; i++)
            keep = !pins_too_much(leati_buffer_pinned(column->tensors[i].owner),
                                  leati_column_bytes(column, i, 1));
        if (keep)
            return LEAT_OK;
        status = clone_tensors(column, 0, n, false, &compact, err);
    } else {
        size_t pinned = leati_buffer_pinned(column->owner);
        /* Row numbers count: after a filter they may be most of what a column of small values
         * holds. */
        size_t rows = leati_buffer_pinned(column->rows_owner);
        if (!leati_add_size(pinned, rows, &pinned))
            pinned = SIZE_MAX;
        if (!pins_too_much(pinned, leati_column_bytes(column, 0, n)))
            return LEAT_OK;
        status = leati_column_clone(column, 0, n, &compact, err);
    }
    if (status != LEAT_OK)
        return status;
    /* Last, so that a failure above leaves the column as it was. */
    leati_column_fini(column);
    *column = compact;
    return LEAT_OK;
}
