/* Joining rows: see join.h. The columns are the reservoir's, which knows which rows have a fixed
 * size. All memory is taken at the beginning, so that rows that were consumed cannot get lost. */
#include "data/join.h"

enum { MOST_ROWS = 4096 };

leat_status leati_join_init(leati_join *join, const leat_spec *spec, leat_error *err) {
    return leati_reservoir_init(&join->columns, spec, err);
}

void leati_join_fini(leati_join *join) {
    leati_reservoir_fini(&join->columns);
}

leat_status leati_join_begin(leati_join *join, int64_t want, leati_block *out, int64_t *most,
                             leat_error *err) {
    size_t row = 0;
    for (int c = 0; c < join->columns.num_columns; c++) {
        row += join->columns.columns[c].row_bytes;
    }
    int64_t n = out->byte_target == 0 || row == 0 ? want : (int64_t)(out->byte_target / row);
    n = n < 1 ? 1 : n;
    n = want < n ? want : n;
    *most = n < MOST_ROWS || out->destinations != NULL ? n : MOST_ROWS;
    leat_status status = leati_reservoir_begin(&join->columns, *most, out, err);
    out->n = 0;
    join->most = *most;
    return status;
}

static void join_origins(leati_join *join, const leati_block *block, int64_t begin, int64_t n,
                         leati_block *out) {
    const leat_buffer *owner = block->origins.owner;
    if (owner == NULL || owner->num_holds != 1) {
        return;
    }
    if (out->origins.data == NULL) {
        leati_reservoir_begin_origins(&join->columns, owner->holds[0], join->most, out);
    }
    if (out->origins.data != NULL && out->origins.owner->holds[0] == owner->holds[0]) {
        leati_column_gather(&block->origins, begin, n,
                            out->origins.data + out->n * (int64_t)sizeof(int64_t), sizeof(int64_t));
    }
}

void leati_join_rows(leati_join *join, const leati_block *block, int64_t begin, int64_t n,
                     leati_block *out) {
    for (int c = 0; c < join->columns.num_columns; c++) {
        const leati_column *from = &block->columns[c];
        leati_column *to = &out->columns[c];
        if (join->columns.columns[c].row_bytes > 0) {
            leati_column_gather(from, begin, n, to->data + out->n * to->stride, to->stride);
            continue;
        }
        leat_tensor *tensors = (leat_tensor *)(uintptr_t)to->tensors;
        for (int64_t i = 0; i < n; i++) {
            tensors[out->n + i] = leati_column_tensor(from, begin + i);
        }
    }
    if (block->origins.data != NULL) {
        join_origins(join, block, begin, n, out);
    }
    out->n += n;
}
