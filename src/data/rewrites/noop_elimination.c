/* noop_elimination: operators that change nothing go away, as TensorFlow's rewrite of that name
 * does: take of a negative count, skip(0), repeat(1), shard(1, 0), prefetch(0), and map whose
 * function returns its arguments as they are, unless that makes batches of ragged and sparse values
 * anew, which then stack whatever their sizes. list_files hands on the plan that it made, whose
 * shuffle other rewrites are then to see. */
#include "data/rewrites/rewrite.h"
#include <string.h>

/* Is the integer argument `name` equal to `value`? */
static bool argument_is(const leat_dataset *node, const char *name, int64_t value) {
    return leati_argument_int(node, name) == value;
}

static bool returns_its_arguments(const leat_dataset *node) {
    const leat_function *function = leati_argument_function(node, "map_func");
    if (function == NULL || function->body.num_nodes != 0 ||
        function->num_outputs != function->body.num_arguments) {
        return false;
    }
    for (int32_t i = 0; i < function->num_outputs; i++) {
        if (function->outputs[i] != i) {
            return false;
        }
    }
    return leat_spec_equal(node->spec, node->inputs[0]->spec) &&
           !leati_spec_is_stacked(node->inputs[0]->spec);
}

static bool does_nothing(const leat_dataset *node) {
    const char *op = node->op->name;
    return (strcmp(op, "take") == 0 && leati_argument_int(node, "count") < 0) ||
           (strcmp(op, "skip") == 0 && argument_is(node, "count", 0)) ||
           (strcmp(op, "repeat") == 0 && argument_is(node, "count", 1)) ||
           (strcmp(op, "shard") == 0 && argument_is(node, "num_shards", 1) &&
            argument_is(node, "index", 0)) ||
           strcmp(op, "list_files") == 0 ||
           (strcmp(op, "prefetch") == 0 && argument_is(node, "buffer_size", 0)) ||
           (strcmp(op, "map") == 0 && returns_its_arguments(node));
}

static leat_dataset *eliminate(leat_dataset *node, leat_error *err) {
    (void)err;
    return node->num_inputs == 1 && does_nothing(node) ? leat_dataset_ref(node->inputs[0]) : NULL;
}

const leati_rewrite_rule leati_rewrite_noop_elimination = {
    .name = "noop_elimination",
    .doc = "Leaves out take(-1), skip(0), repeat(1), shard(1, 0), prefetch(0) and maps that return "
           "their arguments.",
    .apply = eliminate,
};
