/* The inside of graphs and functions: a list of nodes in trace order over a list of values. */
#ifndef LEATI_GRAPH_GRAPH_H
#define LEATI_GRAPH_GRAPH_H

#include "base/alloc.h"
#include "base/options.h"
#include "core/object.h"
#include "graph/op.h"
#include <leat/graph.h>

/* What is known about a value. For dtype object holding datasets, `element` is the spec of their
 * elements. */
typedef struct leati_value {
    leati_type type;
    int32_t node;   /* -1: an argument */
    int32_t output; /* number of the output, or of the argument */
} leati_value;

typedef struct leati_node {
    const leati_tensor_op *op;
    void *args; /* op->args_size bytes, owned by the rows' rules */
    int32_t *inputs;
    int32_t num_inputs;
    int32_t first_output; /* outputs are values first_output .. first_output + num_outputs - 1 */
    int32_t num_outputs;
    int64_t number; /* fixed before any rewrite; the key of random operations */
    bool reverse;   /* made by a gradient's reverse pass; for traces, so not saved */
} leati_node;

/* Nodes and values common to a graph that is built and a function that is finished. */
typedef struct leati_body {
    leati_node *nodes;
    size_t num_nodes, node_capacity;
    leati_value *values;
    size_t num_values, value_capacity;
    int32_t num_arguments; /* values 0 .. num_arguments - 1 */
} leati_body;

struct leat_graph {
    leati_body body;
    leat_spec *input; /* NULL: none */
    leat_error error; /* the first */
    int64_t next_number;
    /* Called after each node (eager execution); NULL in a traced graph. `hook_free` runs with the
     * graph. */
    leat_status (*hook)(void *context, leat_graph *graph, int32_t node, leat_error *err);
    void (*hook_free)(void *context);
    /* The tensor of a value that the hook computed (owned); NULL: none is known. */
    leat_status (*hook_value)(void *context, int32_t value, leat_tensor *out, leat_error *err);
    void *hook_context;
    struct leati_read *reads; /* the last read of each variable, until it is assigned */
    size_t num_reads, read_capacity;
    bool reverses; /* nodes that are added now belong to a reverse pass */
};

struct leat_function {
    leat_object object;
    leati_body body;
    leat_spec *input, *output;
    int32_t *outputs; /* value ids, one per component of `output` */
    int32_t num_outputs;
    uint32_t flags; /* union of the nodes' LEATI_STATEFUL, LEATI_RANDOM, LEATI_IMPURE, attribute
                       graphs included */
    uint64_t fingerprint;
    struct leati_draws *draws; /* atomic; made when it is needed (graph/draws.h). Owned */
    char place[128];           /* in the user's program: "user.c:41", or several; empty: unknown */
};

/* Adds a node: checks arity, copies `args` (rows' rules), infers, runs the hook. Returns the id of
 * its first output, or -1 with the graph's error set. */
int32_t leati_graph_add(leat_graph *graph, const leati_tensor_op *op, const void *args,
                        const int32_t *inputs, int num_inputs);
/* Convenience for operations of one output: failed inputs pass through. */
leat_value leati_graph_node(leat_graph *graph, const leati_tensor_op *op, const void *args,
                            const leat_value *inputs, int num_inputs);

/* Sets the first error and returns a failed value. */
leat_value leati_graph_error(leat_graph *graph, const leat_error *err);

/* LEATI_OPTIONS for what adds to a graph: false, with the graph's first error, where they cannot be
 * read. */
#define LEATI_GRAPH_OPTIONS(type, own, options, graph)                                             \
    leati_graph_read_options((graph), (type *){own}, sizeof(type), (const type *){options}, #type)
bool leati_graph_read_options(leat_graph *graph, void *own, size_t known, const void *given,
                              const char *name);

/* True if the object is a leat_function. */
bool leati_graph_object_is_function(const leat_object *object);

/* Copies the nodes of `function` into `graph`, with `arguments` for its arguments; fills `outputs`
 * (room for function->num_outputs). Node numbers are kept, so that random operations draw the same
 * values. False with the graph's error set on failure. */
bool leati_graph_inline(leat_graph *graph, const leat_function *function,
                        const leat_value *arguments, leat_value *outputs);

/* The reverse of `function`: its arguments are those of `function` and then one gradient for each
 * trainable output, its results one gradient for each trainable argument (zeros where nothing
 * flows), in component order. The forward nodes are computed again inside. Owned.
 * UNIMPLEMENTED if the function reads or writes state or a node on the way has no gradient. */
leat_function *leati_graph_function_gradient(const leat_function *function, leat_error *err);

/* True for floating-point dtypes. */
bool leati_graph_dtype_is_floating(leat_dtype dtype);
/* Floating or complex: gradients flow through such values. */
bool leati_graph_dtype_is_trainable(leat_dtype dtype);

/* How functions inside argument rows are written to and read from JSON; context NULL. */
extern const struct leati_json_functions leati_function_json;

/* A copy of `function` whose dead nodes are gone; stateful nodes stay in order. Owned. */
leat_function *leati_graph_function_prune(const leat_function *function, leat_error *err);

/* Inference again for concrete argument types (static shapes of a step). Owned; same outputs. */
leat_function *leati_graph_function_specialise(const leat_function *function,
                                               const leati_type *arguments, leat_error *err);

/* A node without inputs that takes the place of an argument. */
typedef struct leati_binding {
    const leati_tensor_op *op;
    const void *args; /* borrowed */
} leati_binding;

/* A copy of `function` whose last `count` arguments are nodes of these operations; types are
 * inferred again. INVALID_ARGUMENT where one is not what the argument takes, or an operation
 * refuses what is now known. Owned. */
leat_function *leati_graph_function_bind(const leat_function *function,
                                         const leati_binding *bindings, int count, leat_error *err);

/* True if nodes of the function (or of its attribute graphs) have any of `flags`. */
bool leati_graph_function_has(const leat_function *function, uint32_t flags);

/* The names of output i's operation etc. for errors: "map_func: op add (node 3)". */
void leati_graph_function_describe_node(const leat_function *function, int32_t node, char *text,
                                        size_t size);

/* The table of operations: graph/ops.def joined with data/functions.def by src/leat.c. */
const leati_tensor_op *leati_graph_op_find(const char *name);
const leati_tensor_op *const *leati_graph_ops(size_t *count);
/* The family that the operation's line in graph/ops.def says, "data" for those of other tables. */
const char *leati_graph_op_family(const leati_tensor_op *op);
/* Called once by src/leat.c with every table, before any lookup. The array is static. */
void leati_graph_ops_join(const leati_tensor_op *const *ops, size_t count);

#endif
