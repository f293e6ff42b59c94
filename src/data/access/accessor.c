/* Random access for users: a handle that answers many indices, and the call that answers one.
 *
 * Happy path: leat_accessor_open applies the rewrites, as an iterator does, and opens the accessor
 * of the last operator; get asks it for one row. What an answer costs once for all (a shuffle's
 * permutation, what a cache has read) lies in the plan's nodes and serves every handle. Failures
 * are those of the operators. No locks: a handle belongs to one thread at a time. */
#include "data/access/access.h"
#include "data/plan/options.h"
#include "data/rewrites/rewrite.h"
#include <string.h>

struct leat_accessor {
    leati_iteration iteration;
    leat_dataset *dataset;   /* as the user built it */
    leat_dataset *rewritten; /* as it runs */
    leati_access *access;
    leati_block block; /* scratch */
};

static leat_status open_accessor(leat_accessor *accessor, leat_error *err) {
    /* One row is computed at a time, on the caller's thread: there is nothing to read ahead. */
    accessor->iteration.inline_only = true;
    accessor->iteration.quality = leati_plan_quality(accessor->dataset);
    accessor->iteration.budget = leati_budget_new(0, 1, err);
    if (accessor->iteration.budget == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    accessor->rewritten = leati_rewrite(accessor->dataset, true, err);
    if (accessor->rewritten == NULL)
        return err->code;
    accessor->access =
        leati_access_open(accessor->rewritten, &accessor->iteration, NULL, false, err);
    return accessor->access == NULL ? err->code : LEAT_OK;
}

leat_accessor *leat_accessor_open(leat_dataset *dataset, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (dataset == NULL) {
        /* A builder that failed has given NULL and said why: its error stands. */
        if (err->code == LEAT_OK)
            leati_refuse(err, VALUE, "random access: dataset is NULL; pass a dataset");
        return NULL;
    }
    leat_accessor *accessor = leati_alloc_zero(1, sizeof(*accessor));
    if (accessor == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    accessor->dataset = leat_dataset_ref(dataset);
    /* Not the caller's record, which may hold an earlier failure. */
    leat_error fresh = {0};
    leati_stop_scope before = leati_dataset_enter(dataset);
    leat_status status = open_accessor(accessor, &fresh);
    leati_stop_leave(before);
    if (status != LEAT_OK) {
        *err = fresh;
        leat_accessor_close(accessor);
        return NULL;
    }
    return accessor;
}

void leat_accessor_close(leat_accessor *accessor) {
    if (accessor == NULL)
        return;
    leati_block_fini(&accessor->block);
    leati_access_close(accessor->access);
    leati_budget_unref(accessor->iteration.budget);
    leat_dataset_unref(accessor->rewritten);
    leat_dataset_unref(accessor->dataset);
    leati_free(accessor);
}

leat_status leat_accessor_get(leat_accessor *accessor, int64_t index, leat_element *out,
                              leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (accessor == NULL || out == NULL) {
        return leati_refuse(err, VALUE, "leat_accessor_get: %s is NULL",
                            accessor == NULL ? "accessor" : "out");
    }
    leat_error local = {0};
    /* A failure leaves it empty. */
    leat_element_clear(out);
    leati_stop_scope before = leati_dataset_enter(accessor->dataset);
    leat_status status = leati_access_get(accessor->access, &index, 1, &accessor->block, &local);
    leati_stop_leave(before);
    if (status == LEAT_OK)
        status = leati_block_element(&accessor->block, accessor->dataset->spec, 0, out, &local);
    leati_block_clear(&accessor->block);
    if (status != LEAT_OK)
        *err = local;
    return status;
}

leat_status leat_dataset_at(leat_dataset *dataset, int64_t index, leat_element *out,
                            leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_accessor *accessor = leat_accessor_open(dataset, err);
    leat_status status =
        accessor == NULL ? err->code : leat_accessor_get(accessor, index, out, err);
    leat_accessor_close(accessor);
    return status;
}
