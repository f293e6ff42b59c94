/* Windows under construction; see windows.h. Failures: no memory. */
#include "data/run/windows.h"
#include "data/run/rows.h"
#include "data/values/values.h"
#include <string.h>

leat_status leati_windows_open(leati_run_windows *s, const leat_spec *spec, int64_t length,
                               leat_error *err) {
    s->length = length;
    s->columns = leati_alloc_zero((size_t)leat_spec_num_components(spec), sizeof(*s->columns));
    if (s->columns == NULL)
        return leati_no_memory(err);
    s->count = leat_spec_num_components(spec);
    for (int c = 0; c < s->count; c++) {
        s->columns[c].dtype = leat_spec_component_dtype(spec, c);
        s->columns[c].size = leat_dtype_size(s->columns[c].dtype);
    }
    return LEAT_OK;
}

void leati_windows_close(leati_run_windows *s) {
    leati_windows_drop(s);
    leati_free(s->columns);
    leati_pools_close(&s->pools);
}

void leati_windows_drop(leati_run_windows *s) {
    for (int c = 0; c < s->count; c++) {
        leat_buffer_unref(s->columns[c].buffer);
        s->columns[c].buffer = NULL;
    }
    s->rows = s->row = 0;
}

/* Bytes of a window; SIZE_MAX: more than there can be. */
static size_t window_bytes(const leati_run_windows *s) {
    size_t bytes = 0, part = 0;
    for (int c = 0; c < s->count; c++)
        if (!leati_mul_size((size_t)s->length, s->columns[c].size, &part) ||
            !leati_add_size(bytes, part, &bytes))
            return SIZE_MAX;
    return bytes;
}

leat_status leati_windows_take(leati_run_windows *s, int64_t want, size_t target, leat_error *err) {
    size_t window = window_bytes(s);
    target = target > 0 ? target : LEATI_BYTE_TARGET;
    /* One at least, however large it is. */
    size_t fit = window < target ? target / window : 1;
    s->rows = fit < (uint64_t)want ? (int64_t)fit : want;
    for (int c = 0; c < s->count; c++)
        s->rows = s->columns[c].dtype == LEAT_STRING ? 1 : s->rows;
    for (int c = 0; c < s->count; c++) {
        size_t bytes = 0;
        if (!leati_mul_size((size_t)(s->rows * s->length), s->columns[c].size, &bytes))
            /* More than any allocation gives: the failure is that of memory. */
            bytes = SIZE_MAX;
        s->columns[c].buffer = leati_pools_take(&s->pools, bytes, err);
        if (s->columns[c].buffer == NULL) {
            leati_windows_drop(s);
            return LEAT_RESOURCE_EXHAUSTED;
        }
    }
    return LEAT_OK;
}

void *leati_windows_at(const leati_run_windows *s, int c, int64_t at) {
    const leati_windows_column *column = &s->columns[c];
    return (char *)column->buffer->data + (size_t)(s->row * s->length + at) * column->size;
}

leat_status leati_windows_pad(leati_run_windows *s, leat_error *err) {
    leat_status status = LEAT_OK;
    for (int c = 0; c < s->count && status == LEAT_OK && s->fill < s->length; c++) {
        const leati_windows_column *column = &s->columns[c];
        leati_rows_fill_values(leati_windows_at(s, c, s->fill), s->length - s->fill, column->size,
                               column->pad);
        if (column->dtype == LEAT_STRING && column->pad != NULL && column->pad->owner != NULL)
            status = leati_buffer_hold(column->buffer, column->pad->owner, err);
    }
    return status;
}

leat_status leati_windows_hand_on(leati_run_windows *s, int64_t first, int64_t n, leati_block *out,
                                  leat_error *err) {
    LEATI_TRY(leati_block_prepare(out, s->count, err));
    leat_shape shape = LEAT_SHAPE(s->length);
    for (int c = 0; c < s->count; c++) {
        leati_windows_column *column = &s->columns[c];
        int64_t stride = s->length * (int64_t)column->size;
        leati_column_strided(&out->columns[c], column->dtype, &shape,
                             (char *)column->buffer->data + first * stride, stride,
                             leat_buffer_ref(column->buffer));
    }
    out->n = n;
    return LEAT_OK;
}

size_t leati_windows_held(const leati_run_windows *s) {
    size_t bytes = 0;
    for (int c = 0; c < s->count; c++)
        bytes += s->columns[c].buffer->size;
    return bytes;
}

leat_status leati_windows_put(const leati_run_windows *s, leati_writer *out, leat_error *err) {
    for (int c = 0; c < s->count; c++) {
        leat_tensor tokens = {.dtype = s->columns[c].dtype, .rank = 1, .dims = {s->fill}};
        tokens.data = leati_windows_at(s, c, 0);
        LEATI_TRY(leati_values_put_tensor(out, &tokens, err));
    }
    return LEAT_OK;
}

leat_status leati_windows_get(leati_run_windows *s, leati_reader *in, bool *fits, leat_error *err) {
    leat_status status = LEAT_OK;
    *fits = true;
    for (int c = 0; c < s->count && *fits && status == LEAT_OK; c++) {
        leati_windows_column *column = &s->columns[c];
        leat_tensor tokens = {0};
        LEATI_TRY(leati_values_get_tensor(in, &tokens, err));
        /* A full window would have been given out, and an empty one not saved. */
        *fits = tokens.dtype == column->dtype && tokens.rank == 1 && tokens.dims[0] > 0 &&
                tokens.dims[0] < s->length && (c == 0 || tokens.dims[0] == s->fill);
        if (*fits) {
            s->fill = tokens.dims[0];
            memcpy(leati_windows_at(s, c, 0), tokens.data, (size_t)s->fill * column->size);
            if (column->dtype == LEAT_STRING)
                status = leati_buffer_hold(column->buffer, tokens.owner, err);
        }
        leat_tensor_unref(&tokens);
    }
    return status;
}
