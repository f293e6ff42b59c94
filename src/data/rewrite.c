/* Applies the rewrites of data/rewrites.def to a plan, bottom up, one rule after the other. A node
 * that is used twice is rewritten once per use; its shared state stays the origin's, so that caches
 * and seed generators are still shared. */
#include "data/rewrite.h"

#define X(name) extern const leati_rewrite_rule leati_rewrite_##name;
#include "data/rewrites.def"
#undef X

static const leati_rewrite_rule *const rules[] = {
#define X(name) &leati_rewrite_##name,
#include "data/rewrites.def"
#undef X
    NULL,
};

enum { MOST_DEPTH = 1000 };

/* Rewrites below `dataset`, then the node itself. Owned. */
static leat_dataset *apply_rule(const leati_rewrite_rule *rule, leat_dataset *dataset, int depth,
                                leat_error *err) {
    if (depth > MOST_DEPTH) {
        leati_fail(err, LEAT_INVALID_ARGUMENT, "a plan deeper than %d operators", MOST_DEPTH);
        return NULL;
    }
    leat_dataset **inputs = leati_alloc_zero((size_t)dataset->num_inputs, sizeof(*inputs));
    if (inputs == NULL) {
        leati_no_memory(err, (size_t)dataset->num_inputs * sizeof(*inputs));
        return NULL;
    }
    bool changed = false;
    leat_dataset *node = NULL;
    int done = 0;
    for (; done < dataset->num_inputs; done++) {
        inputs[done] = apply_rule(rule, dataset->inputs[done], depth + 1, err);
        if (inputs[done] == NULL) {
            break;
        }
        changed = changed || inputs[done] != dataset->inputs[done];
    }
    if (done == dataset->num_inputs && changed) {
        node = leati_dataset_with(dataset, NULL, inputs, err);
        done = 0; /* given */
    } else if (done == dataset->num_inputs) {
        node = leat_dataset_ref(dataset);
    }
    for (int i = 0; i < done; i++) {
        leat_dataset_unref(inputs[i]);
    }
    leati_free(inputs);
    if (node == NULL) {
        return NULL;
    }
    leat_error local = {0};
    leat_dataset *replacement = rule->apply(node, &local);
    if (replacement == NULL && local.code == LEAT_OK) {
        return node;
    }
    leat_dataset_unref(node);
    if (replacement == NULL && err != NULL) {
        *err = local;
    }
    return replacement;
}

leat_dataset *leati_rewrite(leat_dataset *dataset, leat_error *err) {
    leat_dataset *current = leat_dataset_ref(dataset);
    for (size_t i = 0; rules[i] != NULL && current != NULL; i++) {
        leat_dataset *next = apply_rule(rules[i], current, 0, err);
        leat_dataset_unref(current);
        current = next;
    }
    return current;
}
