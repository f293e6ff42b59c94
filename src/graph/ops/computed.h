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

#endif
