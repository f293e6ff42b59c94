/* inject_prefetch: a plan that does something dear (decodes pictures, reads files) and does not end
 * in an operator with a thread of its own gets a prefetch at its end, so that the consumer's work
 * and the pipeline's overlap.
 *
 * TensorFlow does so with every plan. Here a plan that only passes blocks on stays on the
 * consumer's thread, where it is faster; and so does one that cannot be read again, where reading
 * ahead would be seen. */
#include "data/rewrites/rewrite.h"
#include <leat/data_ops.h>

static bool wanted(const leat_dataset *plan) {
    return leati_rewrite_with_autotune(plan, "inject_prefetch");
}

static bool is_costly(const leat_dataset *node) {
    bool costly = (node->op->flags & LEATI_OP_READS_FILES) != 0 ||
                  (leati_dataset_functions_flags(node->op->rows, node->args) & LEATI_COSTLY) != 0;
    for (int i = 0; i < node->num_inputs && !costly; i++)
        costly = is_costly(node->inputs[i]);
    return costly;
}

static leat_dataset *apply_to_plan(leat_dataset *plan, leat_error *err) {
    bool ahead = plan->op->reads_ahead != NULL && plan->op->reads_ahead(plan);
    if (ahead || !plan->replayable || !is_costly(plan))
        return leat_dataset_ref(plan);
    return leat_dataset_prefetch(leat_dataset_ref(plan), LEAT_AUTOTUNE, err);
}

const leati_rewrite_rule leati_rewrite_inject_prefetch = {
    .name = "inject_prefetch",
    .doc = "A plan that decodes pictures or reads files, and does not end in an operator with a "
           "thread of its own, gets a prefetch at its end.",
    .enabled = wanted,
    .apply_to_plan = apply_to_plan,
};
