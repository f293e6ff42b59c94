/* The leaves of elements that operators cut and join: see leaves.h. No state, no locks. */
#include "data/values/leaves.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include <string.h>

leat_status leati_leaves_init(leati_leaves *leaves, const leat_spec *spec, leat_error *err) {
    leaves->composite = leati_spec_has_composite(spec);
    return leati_spec_leaves(spec, &leaves->items, &leaves->count, err);
}

void leati_leaves_fini(leati_leaves *leaves) {
    leati_free(leaves->items);
    *leaves = (leati_leaves){0};
}

void leati_leaf_value(const leati_leaf *leaf, const leati_block *block, int64_t row,
                      leat_tensor value[LEATI_MAX_PARTS]) {
    for (int p = 0; p < leaf->count; p++) {
        const leati_column *column = &block->columns[leaf->first + p];
        leat_shape shape = leati_column_row_shape(column, row);
        value[p] = (leat_tensor){
            .dtype = column->dtype, .rank = shape.rank, .data = leati_column_row(column, row)};
        /* Borrowed as all of it: named so that a view of the value can take a reference. */
        value[p].owner = column->form == LEATI_TENSORS ? column->tensors[row].owner : column->owner;
        memcpy(value[p].dims, shape.dims, sizeof(shape.dims));
    }
}

leat_status leati_leaves_rows(const leati_leaves *leaves, const leati_block *block, int64_t row,
                              int64_t *rows, leat_error *err) {
    for (int l = 0; l < leaves->count; l++) {
        const leati_leaf *leaf = &leaves->items[l];
        leat_tensor value[LEATI_MAX_PARTS];
        int64_t own = 0;
        leati_leaf_value(leaf, block, row, value);
        leat_status status = leati_composite_rows(leaf->spec, value, &own, err);
        if (status != LEAT_OK) {
            leati_prefix(err, "component %d", leaf->first);
            return status;
        }
        /* The first leaf says how many there are; the others must agree. */
        if (l > 0 && own != *rows) {
            return leati_refuse(err, SHAPE, "component %d has %lld rows, component 0 has %lld",
                                leaf->first, (long long)own, (long long)*rows);
        }
        *rows = own;
    }
    return LEAT_OK;
}

leat_status leati_leaves_check_empty(const char *op, const leati_leaf *leaf, leat_error *err) {
    int levels = leat_spec_ragged_rank(leaf->spec);
    leat_spec_kind kind = leat_spec_get_kind(leaf->spec);
    /* The flat values have the dimensions behind the ragged ones, and one for all of these. */
    bool inner = leat_spec_shape(leaf->spec).rank - LEATI_MAX(levels, 0) > 1;
    if (kind != LEAT_SPEC_SPARSE && !(kind == LEAT_SPEC_RAGGED && inner))
        return LEAT_OK;
    return leati_refuse(
        err, STRUCTURE,
        "%s: component %d is %s: it has no batch without rows; leave sizes of 0 out", op,
        leaf->first, kind == LEAT_SPEC_SPARSE ? "sparse" : "ragged with inner dimensions");
}
