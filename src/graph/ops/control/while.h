/* Running loops: what the operations while and while_gradient share. */
#ifndef LEATI_GRAPH_OPS_CONTROL_WHILE_H
#define LEATI_GRAPH_OPS_CONTROL_WHILE_H

#include "graph/support/control/branch.h"

struct leati_while_args {
    leat_object *cond, *body;
    int64_t num_variables, maximum_iterations;
    leat_spec *shape_invariants;
};

/* The types of a loop, while they are inferred. */
typedef struct leati_loop_types {
    const leat_object *body;
    int first;                         /* output of body that is the first variable's next value */
    const leat_spec *shape_invariants; /* NULL: shapes follow what body makes */
    leati_type *types;                 /* of everything that body takes, the variables first */
    int num_types, num_variables;
} leati_loop_types;

/* Joins the variables' types with what body makes of them until nothing changes. Where the function
 * fails, its code stands in the error alone. */
LEAT_WARN_UNUSED leat_status leati_while_join(leati_infer_call *call, const leati_loop_types *loop,
                                              leat_error *err);
/* Adds an output for each variable. */
LEAT_WARN_UNUSED leat_status leati_while_outputs(leati_infer_call *call,
                                                 const leati_loop_types *loop, leat_error *err);

/* One loop on tensors. `values` has room for num_inputs tensors: the loop variables, owned from
 * leati_while_start on, then the invariants, borrowed. `next` has room for num_variables. */
typedef struct leati_loop {
    const leat_function *cond, *body;
    int num_variables, num_inputs;
    int64_t maximum;   /* iterations; negative: any number */
    int64_t forward;   /* number of the node whose loop this one repeats, -1: none */
    int64_t iteration; /* that comes next */
    leati_call_context context;
    leat_tensor *values, *next;
} leati_loop;

/* Takes references to row `row` of the call's first num_inputs inputs. */
void leati_while_start(leati_loop *loop, const leati_kernel_call *call, int64_t row);
/* Does another iteration follow? Failures name the iteration. */
LEAT_WARN_UNUSED leat_status leati_while_test(const leati_loop *loop, bool *more, leat_error *err);
/* One iteration: the body's results become the variables. */
LEAT_WARN_UNUSED leat_status leati_while_step(leati_loop *loop, leat_error *err);
void leati_while_end(leati_loop *loop);
/* What the nodes of the body know in iteration `iteration`. */
leati_call_context leati_while_context(const leati_loop *loop, int64_t iteration);

#endif
