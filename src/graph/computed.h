/* Operations with attributes that the run computes. */
#ifndef LEATI_GRAPH_COMPUTED_H
#define LEATI_GRAPH_COMPUTED_H

#include "graph/graph.h"
#include "graph/op.h"

struct leati_computed_args {
    char *op;
    char *arguments;
    leati_strings bound;
    leat_object *target; /* the operation with its arguments, read from the others */
};

/* The rows of computed, to put into a list. */
#define LEATI_COMPUTED_ROWS                                                                        \
    {.name = "op",                                                                                 \
     .type = LEATI_ROW_STRING,                                                                     \
     .flags = LEATI_REQUIRED,                                                                      \
     .offset = offsetof(struct leati_computed_args, op),                                           \
     .doc = "The name of the operation."},                                                         \
        {.name = "arguments",                                                                      \
         .type = LEATI_ROW_STRING,                                                                 \
         .offset = offsetof(struct leati_computed_args, arguments),                                \
         .default_text = "{}",                                                                     \
         .doc = "Its arguments as a JSON object, with something in place of those that are "       \
                "bound."},                                                                         \
        {.name = "bound",                                                                          \
         .type = LEATI_ROW_STRINGS,                                                                \
         .flags = LEATI_REQUIRED,                                                                  \
         .offset = offsetof(struct leati_computed_args, bound),                                    \
         .doc = "The names of the arguments that the last inputs give, in order."},                \
    {                                                                                              \
        .name = "target", .type = LEATI_ROW_OBJECT, .flags = LEATI_CONSTRUCT,                      \
        .offset = offsetof(struct leati_computed_args, target),                                    \
        .doc = "The operation with its arguments, read."                                           \
    }

/* The slot `complete` of operations that begin with these arguments. */
leat_status leati_computed_complete(leat_graph *graph, void *node_args, leat_error *err);
/* Its arguments with row `row` of the bound operands; released with leati_node_args_free. */
LEAT_WARN_UNUSED leat_status leati_computed_bind(const struct leati_computed_args *args,
                                                 const leati_operand *bound, int64_t row,
                                                 void **out, leat_error *err);

/* The operation alone, with row `row` of the bound operands for its attributes, as a function of
 * `count` inputs of such types, LEAT_MAX_OUTPUTS at most; `reverse`: the gradient of that
 * (leati_graph_function_gradient). Owned; NULL with err. */
leat_function *leati_computed_function(const struct leati_computed_args *args,
                                       const leati_type *inputs, int count,
                                       const leati_operand *bound, int64_t row, bool reverse,
                                       leat_error *err);

/* The same as leati_computed_bind in the arena, sharing what is not bound; of the bound arguments,
 * which are numbers or lists of integers, nothing is to be released. */
LEAT_WARN_UNUSED leat_status leati_computed_borrow(const struct leati_computed_args *args,
                                                   const leati_operand *bound, int64_t row,
                                                   leati_arena *arena, void **out, leat_error *err);

/* A node of computed_gradient: `inputs` are those of the node of computed, of which `own` are the
 * operation's, then a gradient for each floating-point output. Its outputs are the gradients of the
 * operation's floating-point inputs. */
leat_value leati_computed_gradient_node(leat_graph *graph, const struct leati_computed_args *args,
                                        int own, const leat_value *inputs, int num_inputs);

/* Adds a node that calls `op` with `args` (borrowed), of which those named by `bound` are
 * placeholders: `values` give them, one each. The first output's id, or -1 with the graph's error
 * set. */
int32_t leati_graph_add_computed(leat_graph *graph, const leati_tensor_op *op, const void *args,
                                 const leat_value *inputs, int num_inputs, const leat_string *bound,
                                 const leat_value *values, int num_bound);

/* Of the attributes of a node of `computed`: the operation, its arguments with placeholders, and
 * the names of those that the last inputs give. Borrowed; NULL before the node is complete. */
const leati_tensor_op *leati_computed_op(const void *args);
const void *leati_computed_args_of(const void *args);
const leati_strings *leati_computed_bound(const void *args);

#endif
