/* expansion: an operator that is made of others becomes those, so that the rewrites after it see
 * what runs. Without it leati_state_node_open does the same. */
#include "data/rewrites/rewrite.h"

static leat_dataset *apply(leat_dataset *node, leat_error *err) {
    return node->op->expand == NULL ? NULL : node->op->expand(node, err);
}

static bool always(const leat_dataset *plan) {
    (void)plan;
    /* No option turns it off: the rules behind it are about what runs. */
    return true;
}

const leati_rewrite_rule leati_rewrite_expansion = {
    .name = "expansion",
    .doc = "Operators that are made of others become those.",
    .enabled = always,
    .apply = apply,
};
