/* map_and_batch_fusion: a batch directly over a map fails and goes on as TensorFlow's fused
 * operator does: an element that fails costs exactly its batch, and the batches keep the input's
 * order whatever the map was told. The computation needs no fusing here: the map writes into the
 * batch's rows anyway. Not applied to a batch with num_parallel_calls, as in TensorFlow. */
#include "data/rewrites/rewrite.h"

static leat_dataset *apply(leat_dataset *node, leat_error *err) {
    if (node->op != &leati_op_batch || node->inputs[0]->op != &leati_op_map ||
        leati_rewrite_argument_int(node, "num_parallel_calls") != 0 ||
        leati_rewrite_argument_int(node, "fused") != 0)
        return NULL;
    leat_dataset *map = node->inputs[0];
    if (leati_rewrite_argument_int(map, "deterministic") == 0) {
        map = leati_rewrite_with_argument(map, "deterministic", 1, leat_dataset_ref(map->inputs[0]),
                                          err);
        if (map == NULL)
            return NULL;
    } else {
        map = leat_dataset_ref(map);
    }
    /* The new batch takes the map, also on failure. */
    return leati_rewrite_with_argument(node, "fused", 1, map, err);
}

const leati_rewrite_rule leati_rewrite_map_and_batch_fusion = {
    .name = "map_and_batch_fusion",
    .doc = "An element that fails below a batch over a map costs exactly its batch, as in "
           "TensorFlow's fused operator.",
    .apply = apply,
};
