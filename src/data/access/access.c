/* Accessors: opening, the slot's call with its bookkeeping, closing; see access.h for the contract.
 *
 * Happy path: leati_access_open makes the record of one operator; get calls the operator's at,
 * which asks its inputs through leati_access_input, so that a tree grows as far as it is used.
 * Failures name the operator in which they arose and the element; operators without the slot are
 * UNIMPLEMENTED. No locks: see access.h. */
#include "data/access/access.h"
#include "base/error.h"
#include "core/verify.h"

leati_access *leati_access_open(const leat_dataset *dataset, leati_iteration *iteration,
                                leati_node_state *parent, bool for_iteration, leat_error *err) {
    const leati_dataset_op *op = dataset->op;
    if (op->expand != NULL) {
        leat_dataset *plan = op->expand(dataset, err);
        /* The accessors keep references to the nodes that they stand for, so the plan may go. */
        leati_access *made =
            plan == NULL ? NULL : leati_access_open(plan, iteration, parent, for_iteration, err);
        leat_dataset_unref(plan);
        return made;
    }
    leati_access *access = leati_alloc_zero(1, sizeof(*access));
    void *state = leati_alloc_zero(1, op->access_size);
    leati_access **inputs = leati_alloc_zero((size_t)dataset->num_inputs, sizeof(leati_access *));
    if (access == NULL || state == NULL || inputs == NULL) {
        leati_free(access);
        leati_free(state);
        leati_free(inputs);
        leati_no_memory(err);
        return NULL;
    }
    access->state = state;
    access->inputs = inputs;
    access->for_iteration = for_iteration;
    leati_state_node_init(&access->node, dataset, iteration, parent);
    if (op->access_open != NULL && op->access_open(access, err) != LEAT_OK) {
        leati_access_close(access);
        return NULL;
    }
    return access;
}

void leati_access_close(leati_access *access) {
    if (access == NULL)
        return;
    const leat_dataset *dataset = access->node.dataset;
    for (int i = 0; i < dataset->num_inputs; i++)
        leati_access_close(access->inputs[i]);
    if (dataset->op->access_close != NULL)
        dataset->op->access_close(access);
    leati_state_node_fini(&access->node);
    leati_block_fini(&access->spare);
    leati_free(access->indices);
    leati_free(access->inputs);
    leati_free(access->state);
    leati_free(access);
}

int64_t *leati_access_indices(leati_access *access, int64_t n, leat_error *err) {
    if (!leati_grow((void **)&access->indices, &access->capacity, (size_t)n, sizeof(int64_t))) {
        leati_no_memory(err);
        return NULL;
    }
    return access->indices;
}

/* Verification mode: the reader sees the rows in another column form. */
static void reencode(leati_access *access, leati_block *out) {
    uint64_t seed = access->node.iteration->verify_seed + access->calls;
    /* Rows in the caller's own memory have to stay there. */
    if (out->destinations == NULL &&
        leati_verify_reencode(out, seed, &access->spare, &(leat_error){0}) == LEAT_OK)
        leati_block_move(&access->spare, out);
    leati_block_clear(&access->spare);
}

leat_status leati_access_get(leati_access *access, const int64_t *indices, int64_t n,
                             leati_block *out, leat_error *err) {
    const leat_dataset *dataset = access->node.dataset;
    /* In verification mode each call's rows get another form. */
    access->calls++;
    leat_status status =
        dataset->op->at != NULL
            ? dataset->op->at(access, indices, n, out, err)
            : leati_fail(err, LEAT_UNIMPLEMENTED, "random access is not implemented for %s",
                         dataset->op->name);
    leati_counter_add(&access->node.counters.pulls, 1);
    if (status == LEAT_OK) {
        leati_counter_add(&access->node.counters.elements, out->n);
        if (access->node.iteration->verify)
            reencode(access, out);
        return LEAT_OK;
    }
    leati_block_clear(out);
    leati_counter_add(&access->node.counters.errors, 1);
    /* By contract a failure is that of the first index; rows before it were given out already. */
    leati_error_at_operator(err, access->node.name, indices[0]);
    return status;
}

leat_status leati_access_input(leati_access *access, int input, const int64_t *indices, int64_t n,
                               leati_block *out, leat_error *err) {
    if (access->inputs[input] == NULL) {
        access->inputs[input] =
            leati_access_open(access->node.dataset->inputs[input], access->node.iteration,
                              &access->node, access->for_iteration, err);
        if (access->inputs[input] == NULL)
            return err->code;
    }
    return leati_access_get(access->inputs[input], indices, n, out, err);
}

leat_status leati_access_outside(int64_t index, int64_t count, leat_error *err) {
    return count <= 0
               ? leati_fail(err, LEAT_OUT_OF_RANGE,
                            "there are no elements, and so none of index %lld", (long long)index)
               : leati_fail(err, LEAT_OUT_OF_RANGE, "the index is %lld; expected 0 to %lld",
                            (long long)index, (long long)count - 1);
}

int64_t leati_access_checked(const leati_access *access, const int64_t *indices, int64_t n,
                             leat_error *err) {
    const leat_dataset *dataset = access->node.dataset;
    int64_t good = 0;
    if (dataset->cardinality < 0) {
        leati_fail(err, LEAT_FAILED_PRECONDITION,
                   "%s has %s cardinality, which does not allow random access; give it one with %s",
                   dataset->op->name,
                   dataset->cardinality == LEAT_INFINITE_CARDINALITY ? "infinite" : "unknown",
                   dataset->cardinality == LEAT_INFINITE_CARDINALITY ? "take"
                                                                     : "assert_cardinality");
        return 0;
    }
    /* One outside behind good ones is met, and named, when the caller asks for the rest. */
    while (good < n && indices[good] >= 0 && indices[good] < dataset->cardinality)
        good++;
    if (good == 0)
        leati_access_outside(indices[0], dataset->cardinality, err);
    return good;
}

leat_status leati_access_check(const leat_dataset *dataset, leat_error *err) {
    const leati_dataset_op *op = dataset->op;
    leat_status status = LEAT_OK;
    if (op->expand != NULL) {
        leat_dataset *plan = op->expand(dataset, err);
        status = plan == NULL ? err->code : leati_access_check(plan, err);
        leat_dataset_unref(plan);
        return status;
    }
    /* An operator may know better than by whether it has the slot, as by its arguments. */
    if (op->indexable != NULL) {
        status = op->indexable(dataset, err);
    } else if (op->at == NULL) {
        status = leati_fail(err, LEAT_FAILED_PRECONDITION,
                            "%s does not support random access; global_shuffle needs it of every "
                            "operator below: shuffle instead, or move %s behind it",
                            op->name, op->name);
    }
    for (int i = 0; i < dataset->num_inputs && status == LEAT_OK; i++)
        status = leati_access_check(dataset->inputs[i], err);
    return status;
}
