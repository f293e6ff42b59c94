/* What operations share whose attributes are functions that their kernels run: cond, while,
 * while_gradient. No state. */
#ifndef LEATI_GRAPH_SUPPORT_CONTROL_BRANCH_H
#define LEATI_GRAPH_SUPPORT_CONTROL_BRANCH_H

#include "graph/function.h"
#include "graph/kernel_host.h"

/* The attribute as a function. */
static inline leat_function *leati_branch(leat_object *object) {
    return (leat_function *)(void *)object;
}

/* Attribute `name` again for arguments of these types. Owned; failures start with the name. */
leat_function *leati_branch_specialise(const char *name, const leat_object *object,
                                       const leati_type *types, int count, leat_error *err);

/* What the nodes inside know when row `row` runs: the row is a call of its own. `forward` is the
 * number of the node that this one computes again, -1: none; `which` tells the functions of a node
 * apart. */
leati_call_context leati_branch_context(const leati_kernel_call *call, int64_t row, int64_t forward,
                                        int64_t which);

/* The number of the node whose gradient is asked for. */
int64_t leati_branch_forward_number(const leati_gradient_call *call);

/* For builders that take functions: false with the graph failed if one of them is NULL. */
bool leati_branch_given(leat_graph *graph, const char *op, leat_function *const *functions,
                        int count);

#endif
