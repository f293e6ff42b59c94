/* map_parallelization: a map whose function is dear (decoding a picture, reading a file) runs on
 * the pool, in order, as if its num_parallel_calls were AUTOTUNE.
 *
 * TensorFlow does so with every stateless map. Here blocks make cheap functions cheaper than
 * handing them over, so those stay where they are; so do functions with effects, maps that are
 * synchronous, and inputs that cannot be read again. */
#include "data/rewrites/rewrite.h"
#include <leat/data_ops.h>

static bool wanted(const leat_dataset *plan) {
    return leati_rewrite_with_autotune(plan, "map_parallelization");
}

static leat_dataset *apply(leat_dataset *node, leat_error *err) {
    if (node->op != &leati_op_map || leati_rewrite_argument_int(node, "synchronous") != 0 ||
        /* INT64_MIN stands for an argument that was not given. */
        leati_rewrite_argument_int(node, "num_parallel_calls") != INT64_MIN || !node->replayable ||
        !leati_graph_function_has(leati_rewrite_argument_function(node, "map_func"), LEATI_COSTLY))
        return NULL;
    leat_dataset *parallel = leati_rewrite_with_argument(node, "num_parallel_calls", LEAT_AUTOTUNE,
                                                         leat_dataset_ref(node->inputs[0]), err);
    if (parallel == NULL)
        return NULL;
    leat_dataset *input = leat_dataset_ref(node->inputs[0]);
    /* The map that the user wrote kept the order, and so does this one. */
    leat_dataset *ordered = leati_rewrite_with_argument(parallel, "deterministic", 1, input, err);
    leat_dataset_unref(parallel);
    return ordered;
}

const leati_rewrite_rule leati_rewrite_map_parallelization = {
    .name = "map_parallelization",
    .doc = "A map whose function is dear runs on the pool, in order.",
    .enabled = wanted,
    .apply = apply,
};
