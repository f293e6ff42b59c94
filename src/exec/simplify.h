/* A function made ready to run: what both executors start from. */
#ifndef LEATI_EXEC_SIMPLIFY_H
#define LEATI_EXEC_SIMPLIFY_H

#include "graph/graph.h"

/* A value of the function; ids are the function's own. */
typedef struct leati_simple_value {
    const leati_type *type; /* borrowed from the function */
    int64_t count;          /* values of a row; -1: the shape is not static */
    size_t row_bytes;       /* of a static shape */
    int32_t constant;       /* number of the constant; -1: none */
    int32_t node;           /* that makes it, an index into leati_simple.nodes; -1: none */
} leati_simple_value;

typedef struct leati_simple_node {
    const leati_node *source; /* borrowed: operation, attributes, number */
    int32_t index;            /* in trace order, among the function's nodes */
    uint32_t flags;           /* attribute graphs included */
    int32_t num_inputs;
    const int32_t *inputs; /* value ids, merged values renamed */
    int32_t first_output, num_outputs;
    const struct leati_chain *chain; /* of element programs: the node stands for it; else NULL */
} leati_simple_node;

typedef struct leati_simple {
    leat_function *function; /* pruned; owned */
    leati_simple_node *nodes;
    int32_t num_nodes;
    leati_simple_value *values;
    int32_t num_values;
    leat_tensor *constants; /* owned */
    int32_t num_constants;
    int32_t *outputs; /* value ids */
    int32_t num_outputs;
    int32_t *inputs; /* of all nodes */
    uint32_t flags;  /* union of the nodes' */
} leati_simple;

/* Prunes, merges equal pure nodes and computes what depends on no argument. `*out` is {0} at first;
 * on failure it is empty. */
LEAT_WARN_UNUSED leat_status leati_simplify(const leat_function *function, leati_simple *out,
                                            leat_error *err);
void leati_simplify_fini(leati_simple *simple);

/* Whether a step can compute it: UNIMPLEMENTED for values of unknown shapes, strings and objects.
 */
LEAT_WARN_UNUSED leat_status leati_simplify_check(const leati_simple *simple, leat_error *err);

/* "op add (node 3)" in front of the error's text, as every executor names the node that failed. */
leat_status leati_simplify_blame(const leati_simple *simple, const leati_simple_node *node,
                                 leat_error *err);

#endif
