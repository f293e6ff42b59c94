/* make_sloppy: with the option deterministic=False, parallel operators that leave their order open
 * give elements as they are ready. */
#include "data/rewrites/rewrite.h"

static bool wanted(const leat_dataset *plan) {
    return leati_plan_option(plan, "deterministic") == 0;
}

static leat_dataset *apply(leat_dataset *node, leat_error *err) {
    /* -1: the node leaves it open. An operator without such an argument has INT64_MIN. */
    if (leati_rewrite_argument_int(node, "deterministic") != -1 || node->num_inputs != 1 ||
        leati_rewrite_argument_int(node, "num_parallel_calls") == 0)
        return NULL;
    /* The origin stays the node itself, with whose shared state the copy runs. */
    return leati_rewrite_with_argument(node, "deterministic", 0, leat_dataset_ref(node->inputs[0]),
                                       err);
}

const leati_rewrite_rule leati_rewrite_make_sloppy = {
    .name = "make_sloppy",
    .doc = "With the option deterministic=False, parallel operators give elements as they are "
           "ready.",
    .enabled = wanted,
    .apply = apply,
};
