/* Attributes of nodes from and to JSON, and the constructor of constants: shared by the builder,
 * the serialiser and the gradients. */
#ifndef LEATI_GRAPH_NODE_ARGS_H
#define LEATI_GRAPH_NODE_ARGS_H

#include "graph/graph.h"
#include <jansson.h>

/* Functions may nest this deep in attributes; the way to the deepest still fits an error's text. */
#define LEATI_MAX_NESTING 12
/* A function that comes from outside has at most this many nodes. */
#define LEATI_MAX_NODES 1000000

/* New attributes of `op` from a JSON object (NULL: the defaults); NULL `*out` where it has none.
 * `graph` is the one that is built, NULL where a function is read; `depth` counts functions around
 * this one. */
LEAT_WARN_UNUSED leat_status leati_node_args_read(leat_graph *graph, const leati_tensor_op *op,
                                                  const json_t *json, int depth, void **out,
                                                  leat_error *err);
void leati_node_args_free(const leati_tensor_op *op, void *args);

/* Attributes of the operation constant. */
struct leati_constant_args {
    leat_element value;
    leat_spec *spec; /* NULL: what the value is */
};
extern const leati_tensor_op leati_tensor_op_constant;

/* Adds a constant node. A tensor without an owner is copied, any other is referenced. A failure of
 * the node itself stands in the graph. */
LEAT_WARN_UNUSED leat_status leati_graph_constant(leat_graph *graph, const leat_tensor *tensor,
                                                  leat_value *out, leat_error *err);

/* The tensor of a constant node (borrowed); NULL: the node is another, or inference may not know.
 */
const leat_tensor *leati_node_constant(const leati_node *node);

/* Like leati_graph_add, from handles; checks that they belong to the graph. */
int32_t leati_graph_add_values(leat_graph *graph, const leati_tensor_op *op, const void *args,
                               const leat_value *inputs, int num_inputs);

#endif
