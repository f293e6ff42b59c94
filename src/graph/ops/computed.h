/* Operations with attributes that the run computes. */
#ifndef LEATI_GRAPH_OPS_COMPUTED_H
#define LEATI_GRAPH_OPS_COMPUTED_H

#include "graph/graph.h"

/* Adds a node that calls `op` with `args` (borrowed), of which those named by `bound` are
 * placeholders: `values` give them, one each. The first output's id, or -1 with the graph's error
 * set. */
int32_t leati_graph_add_computed(leat_graph *graph, const leati_tensor_op *op, const void *args,
                                 const leat_value *inputs, int num_inputs, const leat_string *bound,
                                 const leat_value *values, int num_bound);

/* Of the attributes of a node of `computed`: the operation, its arguments with placeholders, and
 * the names of those that the last inputs give. Borrowed; NULL before the node is complete. */
const leati_tensor_op *leati_computed_op(const void *args);
const void *leati_computed_args(const void *args);
const leati_strings *leati_computed_bound(const void *args);

#endif
