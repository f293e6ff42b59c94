/* Cutting and joining rows of batched elements: see rows.h. */
#include "data/rows.h"
#include <string.h>

leat_tensor leati_tensor_rows(const leat_tensor *tensor, int64_t begin, int64_t n) {
    leat_tensor rows = *tensor;
    size_t row_bytes = leat_dtype_size(tensor->dtype);
    for (int i = 1; i < tensor->rank; i++) {
        row_bytes *= (size_t)tensor->dims[i];
    }
    rows.dims[0] = n;
    rows.data = tensor->data == NULL ? NULL : (char *)tensor->data + (size_t)begin * row_bytes;
    return leat_tensor_ref(&rows);
}

leat_status leati_element_rows(const leati_block *block, int64_t row, int64_t *rows,
                               leat_error *err) {
    for (int c = 0; c < block->num_columns; c++) {
        leat_shape shape = leati_column_row_shape(&block->columns[c], row);
        if (shape.rank < 1) {
            return leati_fail(err, LEAT_INVALID_ARGUMENT,
                              "component %d is a scalar; expected rows: use batch before it", c);
        }
        if (c > 0 && shape.dims[0] != *rows) {
            return leati_fail(err, LEAT_INVALID_ARGUMENT,
                              "component %d has %lld rows, component 0 has %lld", c,
                              (long long)shape.dims[0], (long long)*rows);
        }
        *rows = shape.dims[0];
    }
    return LEAT_OK;
}

leat_status leati_pieces_add(leati_pieces *pieces, const leati_block *block, int64_t row,
                             int64_t begin, int64_t n, leat_error *err) {
    size_t columns = (size_t)block->num_columns;
    pieces->num_components = block->num_columns;
    if (!leati_grow((void **)&pieces->tensors, &pieces->capacity, (pieces->count + 1) * columns,
                    sizeof(leat_tensor))) {
        return leati_no_memory(err, (pieces->count + 1) * columns * sizeof(leat_tensor));
    }
    for (size_t c = 0; c < columns; c++) {
        leat_tensor whole = leati_column_tensor(&block->columns[c], row);
        pieces->tensors[pieces->count * columns + c] = leati_tensor_rows(&whole, begin, n);
        leat_tensor_unref(&whole);
    }
    pieces->count++;
    return LEAT_OK;
}

static leat_status join_component(const leati_pieces *pieces, int c, leat_tensor *out,
                                  leat_error *err) {
    const leat_tensor *first = &pieces->tensors[c];
    leat_shape shape = leat_tensor_shape(first);
    for (size_t p = 1; p < pieces->count; p++) {
        const leat_tensor *piece = &pieces->tensors[p * (size_t)pieces->num_components + (size_t)c];
        leat_shape other = leat_tensor_shape(piece);
        int64_t rows = other.dims[0];
        other.dims[0] = first->dims[0];
        leat_shape expected = leat_tensor_shape(first);
        if (!leati_shape_equal(&other, &expected)) {
            char a[128], b[128];
            return leati_fail(err, LEAT_INVALID_ARGUMENT,
                              "component %d: rows of shapes %s and %s cannot be joined", c,
                              leati_shape_text(&expected, a), leati_shape_text(&other, b));
        }
        shape.dims[0] += rows;
    }
    leat_status status = leat_tensor_new(first->dtype, shape, out, err);
    char *to = out->data;
    for (size_t p = 0; p < pieces->count && status == LEAT_OK; p++) {
        const leat_tensor *piece = &pieces->tensors[p * (size_t)pieces->num_components + (size_t)c];
        leati_column column = {0};
        leat_shape row_shape = leat_tensor_shape(piece);
        int64_t rows = row_shape.dims[0];
        row_shape.rank--;
        memmove(row_shape.dims, row_shape.dims + 1,
                (size_t)row_shape.rank * sizeof(row_shape.dims[0]));
        int64_t row_bytes = (int64_t)leat_dtype_size(piece->dtype) * leati_shape_count(&row_shape);
        leati_column_strided(&column, piece->dtype, &row_shape, piece->data, row_bytes,
                             piece->owner);
        leati_column_gather(&column, 0, rows, to, row_bytes);
        if (piece->dtype == LEAT_STRING || piece->dtype == LEAT_OBJECT) {
            status = leati_column_hold(&column, 0, rows, out->owner, err);
        }
        to += rows * row_bytes;
    }
    return status;
}

leat_status leati_pieces_join(leati_pieces *pieces, leati_block *out, leat_error *err) {
    leat_status status = leati_block_prepare(out, pieces->num_components, err);
    for (int c = 0; c < pieces->num_components && status == LEAT_OK; c++) {
        leat_tensor joined = {0};
        if (pieces->count == 1) {
            joined = leat_tensor_ref(&pieces->tensors[c]);
        } else {
            status = join_component(pieces, c, &joined, err);
        }
        if (status == LEAT_OK) {
            leati_column_constant(&out->columns[c], &joined);
        }
        leat_tensor_unref(&joined);
    }
    leati_pieces_clear(pieces);
    if (status != LEAT_OK) {
        leati_block_clear(out);
        return status;
    }
    out->n = 1;
    return LEAT_OK;
}

void leati_pieces_clear(leati_pieces *pieces) {
    for (size_t i = 0; i < pieces->count * (size_t)pieces->num_components; i++) {
        leat_tensor_unref(&pieces->tensors[i]);
    }
    pieces->count = 0;
}

void leati_pieces_fini(leati_pieces *pieces) {
    leati_pieces_clear(pieces);
    leati_free(pieces->tensors);
    memset(pieces, 0, sizeof(*pieces));
}

leat_status leati_empty_element(const leat_spec *spec, leati_block *out, leat_error *err) {
    int count = leat_spec_num_components(spec);
    leat_status status = leati_block_prepare(out, count, err);
    for (int c = 0; c < count && status == LEAT_OK; c++) {
        leat_shape shape = leat_spec_component_shape(spec, c);
        if (shape.rank == LEAT_UNKNOWN_RANK) {
            shape = LEAT_SHAPE(0);
        }
        for (int i = 0; i < shape.rank; i++) {
            shape.dims[i] = i == 0 || shape.dims[i] < 0 ? 0 : shape.dims[i];
        }
        leat_tensor tensor = {0};
        status = leat_tensor_new(leat_spec_component_dtype(spec, c), shape, &tensor, err);
        if (status == LEAT_OK) {
            memset(tensor.data, 0,
                   leat_tensor_bytes(&tensor)); /* a scalar is one zero, as in TensorFlow */
            leati_column_constant(&out->columns[c], &tensor);
            leat_tensor_unref(&tensor);
        }
    }
    if (status != LEAT_OK) {
        leati_block_clear(out);
        return status;
    }
    out->n = 1;
    return LEAT_OK;
}
