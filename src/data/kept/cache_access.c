/* Random access to a memory cache: the rows of the first complete iteration, which the node's
 * iterators share, and until there is one rows of its own. Failures: OUT_OF_RANGE for an index
 * outside, those of the input, want of memory. Locks: those of data/kept/cache_store.c. */
#include "data/kept/cache_access.h"

leat_status leati_cache_access_at(leati_access *access, const int64_t *indices, int64_t n,
                                  leati_block *out, leat_error *err) {
    (void)n;
    leati_cache_access *a = access->state;
    const leat_dataset *dataset = access->node.dataset;
    leati_cache_shared *both = leati_dataset_shared(dataset, err);
    if (both == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    if (a->rows == NULL) {
        a->rows = leati_cache_store_get(both->store);
        a->cursor = (leati_cache_cursor){0};
    }
    if (indices[0] < 0 || (a->rows != NULL && indices[0] >= a->rows->rows)) {
        return leati_access_outside(indices[0],
                                    a->rows != NULL ? a->rows->rows : dataset->cardinality, err);
    }
    if (a->rows != NULL)
        return leati_cache_rows_view(a->rows, &a->cursor, indices[0], 1, out, err);
    int64_t bytes = 0;
    leat_status status = leati_cache_fill_row(both->fill, dataset->inputs[0], &a->cursor,
                                              indices[0], out, &bytes, err);
    leat_status held = leati_budget_holder_set(&access->node.holder, bytes, err);
    return status == LEAT_OK ? held : status;
}

void leati_cache_access_close(leati_access *access) {
    leati_cache_rows_unref(((leati_cache_access *)access->state)->rows);
}
