/* Cutting and joining rows of batched elements: see rows.h. Dense leaves are cut as views of
 * columns; ragged and sparse ones leaf by leaf, by core/composite. */
#include "data/run/rows.h"
#include "base/minmax.h"
#include "core/tensor.h"
#include "data/run/origins.h"
#include <string.h>

leat_status leati_rows_open(leati_leaves *leaves, leati_input *input, leati_node_state *node,
                            leat_error *err) {
    leat_status status = leati_leaves_init(leaves, node->dataset->inputs[0]->spec, err);
    if (status == LEAT_OK)
        status = leati_input_open(input, node, 0, err);
    /* An element is consumed when its last part is out, and must come again until then. */
    input->snapshots = LEATI_SNAPSHOTS_ALWAYS;
    return status;
}

/* The rows of a dense leaf: a view. */
static void cut_dense(const leat_tensor *whole, int64_t begin, leati_column *column) {
    leat_shape row = {.rank = whole->rank - 1};
    size_t bytes = leat_dtype_size(whole->dtype);
    for (int i = 0; i < row.rank; i++) {
        row.dims[i] = whole->dims[i + 1];
        bytes *= (size_t)row.dims[i];
    }
    /* A tensor without values may have no memory, and an offset to NULL is undefined. */
    char *data = whole->data == NULL ? NULL : (char *)whole->data + (size_t)begin * bytes;
    leati_column_strided(column, whole->dtype, &row, data, (int64_t)bytes,
                         leat_buffer_ref(whole->owner));
}

static leat_status cut_composite(const leat_spec *leaf, const leat_tensor *value, int64_t begin,
                                 int64_t n, leati_column *columns, leat_error *err) {
    int parts = leati_composite_row_parts(leaf);
    leat_tensor *arrays[LEATI_MAX_PARTS];
    leat_buffer *owners[LEATI_MAX_PARTS] = {NULL};
    leat_status status = LEAT_OK;
    for (int p = 0; p < parts && status == LEAT_OK; p++) {
        owners[p] = leati_buffer_of_tensors(n, err);
        arrays[p] = owners[p] == NULL ? NULL : leat_buffer_data(owners[p]);
        status = owners[p] == NULL ? LEAT_RESOURCE_EXHAUSTED : LEAT_OK;
    }
    if (status == LEAT_OK)
        status = leati_composite_cut(leaf, value, begin, n, arrays, err);
    for (int p = 0; p < parts; p++)
        if (status == LEAT_OK)
            leati_column_tensors(&columns[p], arrays[p][0].dtype, owners[p]);
        else
            leat_buffer_unref(owners[p]);
    return status;
}

leat_status leati_rows_cut(const leati_leaves *leaves, const leati_block *block, int64_t row,
                           int64_t begin, int64_t n, leati_block *out, leat_error *err) {
    int columns = 0, column = 0;
    for (int l = 0; l < leaves->count; l++)
        columns += leati_composite_row_parts(leaves->items[l].spec);
    leat_status status = leati_block_prepare(out, columns, err);
    for (int l = 0; l < leaves->count && status == LEAT_OK; l++) {
        const leati_leaf *leaf = &leaves->items[l];
        leat_tensor value[LEATI_MAX_PARTS];
        leati_leaf_value(leaf, block, row, value);
        if (leati_spec_is_composite(leaf->spec))
            status = cut_composite(leaf->spec, value, begin, n, &out->columns[column], err);
        else
            cut_dense(value, begin, &out->columns[column]);
        column += leati_composite_row_parts(leaf->spec);
    }
    if (status != LEAT_OK) {
        leati_block_clear(out);
        return status;
    }
    leati_origins_share(block, row, &out->origins);
    out->n = n;
    return LEAT_OK;
}

void leati_rows_piece_range(const void *piece, int64_t rows, int64_t *begin, int64_t *end) {
    const leati_rows_piece *p = piece;
    int64_t step = (rows + p->pieces - 1) / p->pieces;
    *begin = p->number * step < rows ? p->number * step : rows;
    *end = *begin + step < rows ? *begin + step : rows;
}

static leat_status part_of_leaf(const leati_leaf *leaf, const leati_block *block, int64_t row,
                                leati_row_range range, const void *context, bool *refused,
                                leati_block *out, leat_error *err) {
    leat_tensor value[LEATI_MAX_PARTS], part[LEATI_MAX_PARTS] = {0};
    int64_t rows = 0, begin = 0, end = 0;
    leati_leaf_value(leaf, block, row, value);
    leat_status status = leati_composite_rows(leaf->spec, value, &rows, err);
    if (status == LEAT_OK)
        range(context, rows, &begin, &end);
    if (status == LEAT_OK && begin == end) {
        status = leati_leaves_check_empty("a part", leaf, err);
        /* Nothing failed but that this leaf has no value without rows: the caller may do without
         * it. */
        *refused = status != LEAT_OK;
    }
    if (status == LEAT_OK)
        status = leati_composite_slice(leaf->spec, value, begin, end - begin, part, err);
    if (status != LEAT_OK)
        leati_prefix(err, "component %d", leaf->first);
    for (int p = 0; p < leaf->count && status == LEAT_OK; p++) {
        leati_column_constant(&out->columns[leaf->first + p], &part[p]);
        leat_tensor_unref(&part[p]);
    }
    return status;
}

leat_status leati_rows_cut_part(const leati_leaves *leaves, const leati_block *block, int64_t row,
                                leati_row_range range, const void *context, bool *refused,
                                leati_block *out, leat_error *err) {
    leat_status status = leati_block_prepare(out, block->num_columns, err);
    for (int l = 0; l < leaves->count && status == LEAT_OK; l++)
        status = part_of_leaf(&leaves->items[l], block, row, range, context, refused, out, err);
    if (status != LEAT_OK) {
        leati_block_clear(out);
        return status;
    }
    leati_origins_share(block, row, &out->origins);
    out->n = 1;
    return LEAT_OK;
}

leat_status leati_rows_pieces_add(leati_pieces *pieces, const leati_leaves *leaves,
                                  const leati_block *block, int64_t row, int64_t begin, int64_t n,
                                  leat_error *err) {
    size_t columns = (size_t)block->num_columns;
    pieces->num_components = block->num_columns;
    if (!leati_grow((void **)&pieces->tensors, &pieces->capacity, (pieces->count + 1) * columns,
                    sizeof(leat_tensor)))
        return leati_no_memory(err);
    leat_tensor *piece = &pieces->tensors[pieces->count * columns];
    /* Empty, so that after a failure half way all can be released. */
    memset(piece, 0, columns * sizeof(*piece));
    leat_status status = LEAT_OK;
    for (int l = 0; l < leaves->count && status == LEAT_OK; l++) {
        const leati_leaf *leaf = &leaves->items[l];
        leat_tensor value[LEATI_MAX_PARTS];
        leati_leaf_value(leaf, block, row, value);
        status = leati_composite_slice(leaf->spec, value, begin, n, &piece[leaf->first], err);
    }
    for (size_t c = 0; c < columns && status != LEAT_OK; c++)
        leat_tensor_unref(&piece[c]);
    /* What is made of several elements is named after the first. */
    if (status == LEAT_OK && pieces->count++ == 0)
        leati_origins_share(block, row, &pieces->origins);
    return status;
}

leat_status leati_rows_pieces_join(leati_pieces *pieces, const leati_leaves *leaves,
                                   leati_block *out, leat_error *err) {
    leat_status status = leati_block_prepare(out, pieces->num_components, err);
    for (int l = 0; l < leaves->count && status == LEAT_OK; l++) {
        const leati_leaf *leaf = &leaves->items[l];
        leat_tensor joined[LEATI_MAX_PARTS] = {0};
        status = leati_composite_join(leaf->spec, &pieces->tensors[leaf->first],
                                      pieces->num_components, (int64_t)pieces->count, joined, err);
        if (status != LEAT_OK)
            leati_prefix(err, "component %d", leaf->first);
        for (int p = 0; p < leaf->count && status == LEAT_OK; p++) {
            leati_column_constant(&out->columns[leaf->first + p], &joined[p]);
            leat_tensor_unref(&joined[p]);
        }
    }
    if (status == LEAT_OK) {
        out->origins = pieces->origins;
        pieces->origins = (leati_column){0};
    }
    leati_rows_pieces_clear(pieces);
    if (status != LEAT_OK) {
        leati_block_clear(out);
        return status;
    }
    out->n = 1;
    return LEAT_OK;
}

void leati_rows_pieces_clear(leati_pieces *pieces) {
    for (size_t i = 0; i < pieces->count * (size_t)pieces->num_components; i++)
        leat_tensor_unref(&pieces->tensors[i]);
    pieces->count = 0;
    leati_column_fini(&pieces->origins);
}

void leati_rows_pieces_fini(leati_pieces *pieces) {
    leati_rows_pieces_clear(pieces);
    leati_free(pieces->tensors);
    memset(pieces, 0, sizeof(*pieces));
}

leat_status leati_rows_empty_element(const leat_spec *spec, leati_block *out, leat_error *err) {
    leati_leaves leaves = {0};
    leat_status status = leati_leaves_init(&leaves, spec, err);
    if (status == LEAT_OK)
        status = leati_block_prepare(out, leat_spec_num_components(spec), err);
    for (int l = 0; l < leaves.count && status == LEAT_OK; l++) {
        const leati_leaf *leaf = &leaves.items[l];
        leat_tensor value[LEATI_MAX_PARTS] = {0};
        status = leati_composite_empty(leaf->spec, value, err);
        for (int p = 0; p < leaf->count && status == LEAT_OK; p++) {
            leati_column_constant(&out->columns[leaf->first + p], &value[p]);
            leat_tensor_unref(&value[p]);
        }
    }
    leati_leaves_fini(&leaves);
    if (status != LEAT_OK) {
        leati_block_clear(out);
        return status;
    }
    out->n = 1;
    return LEAT_OK;
}

void leati_rows_fill_values(void *to, int64_t count, size_t size, const leat_tensor *value) {
    size_t bytes = (size_t)count * size;
    if (value == NULL || bytes == 0) {
        memset(to, 0, bytes);
        return;
    }
    memcpy(to, value->data, size);
    for (size_t done = size; done < bytes;) { /* what is filled is the source of as much again */
        size_t n = LEATI_MIN(done, bytes - done);
        memcpy((char *)to + done, to, n);
        done += n;
    }
}
