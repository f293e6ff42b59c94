/* shuffle_and_repeat_separation: where the options forbid shuffle_and_repeat_fusion, a repeat over
 * a shuffle draws seeds as TensorFlow's two operators do: once more after the last epoch. A node
 * without a run side between the two says so to repeat. */
#include "data/rewrites/rewrite.h"
#include <leat/data_ops.h>

static bool wanted(const leat_dataset *plan) {
    return !leati_rewrite_by_option(plan, "shuffle_and_repeat_fusion");
}

static leat_dataset *apply(leat_dataset *node, leat_error *err) {
    if (node->op != &leati_op_repeat || node->inputs[0]->op != &leati_op_shuffle)
        return NULL;
    /* Without any option it changes nothing but what repeat sees below itself. */
    leat_dataset *between = leat_dataset_with_options(leat_dataset_ref(node->inputs[0]), NULL, err);
    return between == NULL ? NULL : leati_dataset_with(node, NULL, &between, err);
}

const leati_rewrite_rule leati_rewrite_shuffle_and_repeat_separation = {
    .name = "shuffle_and_repeat_separation",
    .doc = "Without shuffle_and_repeat_fusion, repeat over shuffle draws seeds as the two do.",
    .enabled = wanted,
    .apply = apply,
};
