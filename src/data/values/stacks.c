/* Gathering ragged and sparse rows for one batch: see stacks.h. No locks. */
#include "data/values/stacks.h"
#include "base/alloc.h"
#include "base/error.h"
#include <string.h>

leat_status leati_stacks_init(leati_stacks *stacks, const leat_spec *spec, leat_error *err) {
    leat_status status = leati_leaves_init(&stacks->leaves, spec, err);
    for (int l = 0; l < stacks->leaves.count && status == LEAT_OK; l++) {
        const leati_leaf *leaf = &stacks->leaves.items[l];
        stacks->parts += leati_spec_is_composite(leaf->spec) ? leaf->count : 0;
    }
    return status;
}

void leati_stacks_clear(leati_stacks *stacks) {
    for (size_t i = 0; i < stacks->count * (size_t)stacks->parts; i++)
        leat_tensor_unref(&stacks->values[i]);
    stacks->count = 0;
}

void leati_stacks_fini(leati_stacks *stacks) {
    leati_stacks_clear(stacks);
    leati_free(stacks->values);
    leati_leaves_fini(&stacks->leaves);
    memset(stacks, 0, sizeof(*stacks));
}

leat_status leati_stacks_add(leati_stacks *stacks, const leati_block *block, int64_t begin,
                             int64_t n, leat_error *err) {
    size_t parts = (size_t)stacks->parts, needed = (stacks->count + (size_t)n) * parts;
    if (parts == 0)
        return LEAT_OK;
    if (!leati_grow((void **)&stacks->values, &stacks->capacity, needed, sizeof(leat_tensor)))
        return leati_no_memory(err);
    /* From here on nothing fails. */
    leat_tensor *to = &stacks->values[stacks->count * parts];
    for (int64_t i = begin; i < begin + n; i++) {
        for (int l = 0; l < stacks->leaves.count; l++) {
            const leati_leaf *leaf = &stacks->leaves.items[l];
            for (int p = 0; p < leaf->count && leati_spec_is_composite(leaf->spec); p++)
                *to++ = leati_column_tensor(&block->columns[leaf->first + p], i);
        }
    }
    stacks->count += (size_t)n;
    return LEAT_OK;
}

/* Components of a batch of a leaf: a ragged one gets row splits more, unless its rank was below 0.
 */
static int stacked_parts(const leati_leaf *leaf) {
    bool ragged = leat_spec_get_kind(leaf->spec) == LEAT_SPEC_RAGGED &&
                  leat_spec_ragged_rank(leaf->spec) >= 0;
    return leaf->count + ragged;
}

int leati_stacks_columns(const leati_stacks *stacks, int leaf) {
    int columns = 0;
    for (int l = 0; l < leaf; l++)
        columns += stacked_parts(&stacks->leaves.items[l]);
    return columns;
}

leat_status leati_stacks_put(const leati_stacks *stacks, int leaf, leati_block *out,
                             leat_error *err) {
    const leati_leaf *items = stacks->leaves.items;
    leat_tensor stack[LEATI_MAX_PARTS] = {0};
    int before = 0, first = leati_stacks_columns(stacks, leaf);
    for (int l = 0; l < leaf; l++)
        before += leati_spec_is_composite(items[l].spec) ? items[l].count : 0;
    /* One leaf's values stand `parts` apart, because each row has those of all leaves. */
    leat_status status = leati_composite_stack(items[leaf].spec, &stacks->values[before],
                                               stacks->parts, (int64_t)stacks->count, stack, err);
    if (status != LEAT_OK) {
        leati_prefix(err, "batch: component %d", items[leaf].first);
        return status;
    }
    for (int p = 0; p < stacked_parts(&items[leaf]); p++) {
        /* A batch is one row, so its column is a constant; it takes a reference of its own. */
        leati_column_constant(&out->columns[first + p], &stack[p]);
        leat_tensor_unref(&stack[p]);
    }
    return LEAT_OK;
}
