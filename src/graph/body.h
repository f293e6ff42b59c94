/* Nodes and values: what a graph under construction and a finished function have in common. */
#ifndef LEATI_GRAPH_BODY_H
#define LEATI_GRAPH_BODY_H

#include "graph/graph.h"

/* Appends an argument; leati_body_order puts those behind nodes to the others. A reference to
 * type->element is taken. */
LEAT_WARN_UNUSED leat_status leati_body_add_argument(leati_body *body, const leati_type *type,
                                                     leat_error *err);
/* Arguments for every component of `input` (NULL: none). */
LEAT_WARN_UNUSED leat_status leati_body_add_arguments(leati_body *body, const leat_spec *input,
                                                      leat_error *err);
/* Numbers the values so that arguments come first, in a body that is complete; `ids`, `count` of
 * them, are renumbered, too. */
LEAT_WARN_UNUSED leat_status leati_body_order(leati_body *body, int32_t *ids, int count,
                                              leat_error *err);
/* Appends a node: checks arity, input ids and attributes, copies `args` (NULL: the defaults) and
 * infers. On failure nothing is appended and the text names operation and node. */
LEAT_WARN_UNUSED leat_status leati_body_add_node(leati_body *body, const leati_tensor_op *op,
                                                 const void *args, const int32_t *inputs,
                                                 int num_inputs, int64_t number, leat_error *err);
void leati_body_fini(leati_body *body);

/* Flags of one node: the operation's own and those of its attribute graphs. */
uint32_t leati_body_node_flags(const leati_node *node);

#endif
