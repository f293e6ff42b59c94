/* noop_elimination: operators that change nothing go away, as TensorFlow's rewrite of that name
 * does; when that is, each operator says (changes_nothing). */
#include "data/rewrites/rewrite.h"

static leat_dataset *eliminate(leat_dataset *node, leat_error *err) {
    (void)err;
    return leati_dataset_changes_nothing(node) ? leat_dataset_ref(node->inputs[0]) : NULL;
}

const leati_rewrite_rule leati_rewrite_noop_elimination = {
    .name = "noop_elimination",
    .doc = "Leaves out take(-1), skip(0), repeat(1), shard(1, 0), prefetch(0) and maps that return "
           "their arguments.",
    .apply = eliminate,
};
