/* map_fusion: a map of a map becomes one map of the composed function, so that a chain of them is
 * one program over each block, without intermediate results.
 *
 * Both functions must be free of effects, and both maps must run the same way (sequential, or with
 * equal parallelism and order). Outcomes are one to one in both, so elements, codes of errors and
 * random numbers stay as they were: numbers of calls and of nodes are kept. Only an error's text
 * names both labels and both functions' lines. */
#include "data/rewrites/rewrite.h"
#include <stdio.h>
#include <string.h>

static bool is_pure_map(const leat_dataset *node) {
    const leat_function *function = NULL;
    if (node->op == &leati_op_map)
        function = leati_rewrite_argument_function(node, "map_func");
    return function != NULL && !leati_graph_function_has(function, LEATI_IMPURE | LEATI_STATEFUL);
}

static bool run_alike(const leat_dataset *a, const leat_dataset *b) {
    return leati_rewrite_argument_int(a, "num_parallel_calls") ==
               leati_rewrite_argument_int(b, "num_parallel_calls") &&
           leati_rewrite_argument_int(a, "deterministic") ==
               leati_rewrite_argument_int(b, "deterministic") &&
           leati_rewrite_argument_int(a, "synchronous") ==
               leati_rewrite_argument_int(b, "synchronous");
}

/* The lines of both: "user.c:41, user.c:57", or one where they are the same. */
static void name_places(leat_function *composed, const char *first, const char *second) {
    bool both = first[0] != '\0' && second[0] != '\0' && strcmp(first, second) != 0;
    /* Both are shown where they are long, rather than the first alone. */
    int half = (int)sizeof(composed->place) / 2 - 2;
    snprintf(composed->place, sizeof(composed->place), both ? "%.*s, %.*s" : "%.*s%.*s", half,
             first, half, both || first[0] == '\0' ? second : "");
}

/* second(first(x)). Owned; NULL where the functions do not fit each other after all, or without
 * memory. */
static leat_function *compose(const leat_function *first, const leat_function *second,
                              leat_error *err) {
    if (first->num_outputs != second->body.num_arguments)
        return NULL;
    leat_graph *graph = leat_graph_new(first->input, err);
    size_t most = (size_t)first->body.num_arguments + (size_t)first->num_outputs +
                  (size_t)second->num_outputs;
    leat_value *values = leati_alloc(most, sizeof(*values));
    if (graph == NULL || values == NULL) {
        leat_graph_free(graph);
        leati_free(values);
        leati_no_memory(err);
        return NULL;
    }
    leat_value *middle = values + first->body.num_arguments;
    leat_value *outputs = middle + first->num_outputs;
    for (int32_t i = 0; i < first->body.num_arguments; i++)
        values[i] = leat_graph_argument(graph, i);
    leat_function *composed = NULL;
    leat_error local = {0};
    if (leati_graph_inline(graph, first, values, middle) &&
        leati_graph_inline(graph, second, middle, outputs)) {
        composed = leat_graph_finish(graph, outputs, second->num_outputs, second->output, &local);
    } else {
        /* Finishing would have freed the graph, with its error. */
        local = graph->error;
        leat_graph_free(graph);
    }
    leati_free(values);
    if (composed != NULL)
        name_places(composed, first->place, second->place);
    /* Any other failure means that the maps stay two, which is no failure of the plan. */
    if (composed == NULL && local.code == LEAT_RESOURCE_EXHAUSTED)
        *err = local;
    return composed;
}

/* The label of both: "decode, augment". */
static leat_dataset *label_both(leat_dataset *fused, const leat_dataset *first,
                                const leat_dataset *second, leat_error *err) {
    if (fused == NULL || (first->label == NULL && second->label == NULL))
        return fused;
    char text[128];
    bool both = first->label != NULL && second->label != NULL;
    snprintf(text, sizeof(text), "%s%s%s", first->label != NULL ? first->label : "",
             both ? ", " : "", second->label != NULL ? second->label : "");
    return leat_dataset_label(fused, text, err);
}

static leat_dataset *fuse(leat_dataset *node, leat_error *err) {
    if (!is_pure_map(node) || !is_pure_map(node->inputs[0]) || !run_alike(node, node->inputs[0]))
        return NULL;
    const leat_dataset *inner = node->inputs[0];
    leat_function *composed = compose(leati_rewrite_argument_function(inner, "map_func"),
                                      leati_rewrite_argument_function(node, "map_func"), err);
    if (composed == NULL)
        return NULL;
    leat_dataset *input = leat_dataset_ref(inner->inputs[0]);
    leat_dataset *fused = leati_rewrite_with_function(node, "map_func", composed, &input, err);
    leat_function_unref(composed);
    return label_both(fused, inner, node, err);
}

const leati_rewrite_rule leati_rewrite_map_fusion = {
    .name = "map_fusion",
    .doc = "Consecutive maps without effects that run the same way become one.",
    .apply = fuse,
};
