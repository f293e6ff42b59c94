/* Graphs of tensor operations: builder, functions, variables and gradients.
 *
 * A graph is built by calling operations (leat/ops.h) on values; a finished graph is an immutable
 * leat_function, which pipelines, eager calls and training steps run. A failed call returns a
 * failed value, which passes through every further call; the graph keeps the first error and
 * leat_graph_finish reports it. A builder belongs to one thread; functions and variables may be
 * shared. Corresponds to tf.Graph, tf.function and tf.GradientTape. */
#ifndef LEAT_GRAPH_H
#define LEAT_GRAPH_H

#include <leat/core.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct leat_graph leat_graph;
typedef struct leat_function leat_function;
typedef struct leat_variable leat_variable;

/* One output of one operation of a graph. A plain handle: copying it is free, and it is valid for
 * as long as its graph. */
typedef struct leat_value {
    leat_graph *graph;
    int32_t id; /* negative: failed */
} leat_value;

/* A new graph whose arguments are the components of `input` (borrowed; NULL: no arguments). Owned;
 * NULL on failure. */
LEAT_API leat_graph *leat_graph_new(const leat_spec *input, leat_error *err);

/* Drops an unfinished graph; NULL is allowed. */
LEAT_API void leat_graph_free(leat_graph *graph);

/* Argument `index` in component order; a failed value beyond the last one. */
LEAT_API leat_value leat_graph_argument(leat_graph *graph, int index);
LEAT_API int leat_graph_num_arguments(const leat_graph *graph);

/* A further argument behind those that there are, also between operations: what a function turns
 * out to need of the graph around it (TensorFlow's FuncGraph.capture). `spec` (given) has one
 * component; the graph's input is a tuple, of which it becomes the last child. */
LEAT_API leat_value leat_graph_add_argument(leat_graph *graph, leat_spec *spec);

/* Dtype and shape of a value as inferred (dimensions may be unknown); LEAT_INVALID for a failed
 * one. */
LEAT_API leat_dtype leat_value_dtype(leat_value value);
LEAT_API leat_shape leat_value_shape(leat_value value);

/* The spec of the elements of a value that is a dataset; NULL for others. Borrowed. */
LEAT_API const leat_spec *leat_value_element(leat_value value);

/* Takes the first error out of a graph: moves it to `err` and returns its code (LEAT_OK: there was
 * none). An eager graph can be used further; what failed stays failed. */
LEAT_API leat_status leat_graph_take_error(leat_graph *graph, leat_error *err);

/* Marks the graph as failed with a text of the caller's, unless it has already failed. For
 * functions that trace. */
LEAT_API leat_value leat_graph_fail(leat_graph *graph, leat_status code, const char *text);

/* Adds the nodes of a function (borrowed), with `inputs` for its arguments; fills `outputs` (room
 * for `capacity`) and returns their number, or -1 (the graph keeps the error). Random operations of
 * two copies in one graph draw the same numbers. */
LEAT_API int leat_graph_inline(leat_graph *graph, const leat_function *function,
                               const leat_value *inputs, int num_inputs, leat_value *outputs,
                               int capacity);

/* Ends a graph (given): a function with these outputs. `structure` (borrowed) arranges them in a
 * tree with as many components; NULL: one output is itself, several are a tuple. Owned; NULL with
 * the first error of the building. */
LEAT_API leat_function *leat_graph_finish(leat_graph *graph, const leat_value *outputs,
                                          int num_outputs, const leat_spec *structure,
                                          leat_error *err);

/* The most outputs that one operation can have. */
#define LEAT_MAX_OUTPUTS 1024

/* A function that builds another: it reads the arguments of `graph`, calls operations and fills
 * `outputs`, at most `capacity` of them; returns how many there are, or -1 after leat_graph_fail.
 * More than the capacity is UNIMPLEMENTED. */
typedef int (*leat_tracer)(void *context, leat_graph *graph, leat_value *outputs, int capacity);

/* Traces `tracer` once with arguments of `input` (borrowed). NULL `input` fails and keeps the error
 * already in `err`, so that leat_dataset_map(ds, LEAT_TRACE(f, NULL,
 * leat_dataset_spec(ds), &err), NULL, &err) passes failures on. Owned. */
LEAT_API leat_function *leat_function_trace(leat_tracer tracer, void *context,
                                            const leat_spec *input, leat_error *err);

/* The same with a structure for the outputs (given). */
LEAT_API leat_function *leat_function_trace_structured(leat_tracer tracer, void *context,
                                                       const leat_spec *input, leat_spec *structure,
                                                       leat_error *err);

/* A C function on elements. `in` is borrowed; `out` is {0} and is filled with leat_element_set. On
 * failure it returns a code and writes `err`. Called from any thread, one call at a time unless
 * declared pure. */
typedef leat_status (*leat_callback)(void *context, const leat_element *in, leat_element *out,
                                     leat_error *err);

enum {
    LEAT_PURE = 1 /* the result depends on the arguments alone; may be called ahead of time, more
                     than once, and in parallel */
};

/* A function that calls `callback` (tf.py_function's counterpart). `input` and `output` are given;
 * `name` (copied, may be NULL) is how a serialised pipeline refers to it after
 * leat_callback_register. `release` (may be NULL) frees the context with the function, or at once
 * if this call fails. Owned. */
LEAT_API leat_function *leat_function_from_callback(leat_callback callback, void *context,
                                                    void (*release)(void *context),
                                                    const char *name, uint32_t flags,
                                                    leat_spec *input, leat_spec *output,
                                                    leat_error *err);

/* Records where in the user's program the function (given and returned; NULL passes through) was
 * written: the last part of `file`, and the line. Errors from its calls name that place. The macros
 * below record the place where they are used; a binding calls this for its users. */
LEAT_API leat_function *leat_function_at(leat_function *function, const char *file, int line);
#define LEAT_TRACE(...) leat_function_at(leat_function_trace(__VA_ARGS__), __FILE__, __LINE__)
#define LEAT_TRACE_STRUCTURED(...)                                                                 \
    leat_function_at(leat_function_trace_structured(__VA_ARGS__), __FILE__, __LINE__)
#define LEAT_CALLBACK(...)                                                                         \
    leat_function_at(leat_function_from_callback(__VA_ARGS__), __FILE__, __LINE__)

/* Registers a callback by name, so that plans that mention it can be read back. Process-wide;
 * replaces an earlier callback of that name; a NULL callback removes the name. The context is
 * borrowed. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_callback_register(const char *name,
                                                             leat_callback callback, void *context,
                                                             uint32_t flags, leat_error *err);

/* Adds an owner and returns its argument, or drops one; NULL passes through both. */
LEAT_API leat_function *leat_function_ref(leat_function *function);
LEAT_API void leat_function_unref(leat_function *function);

/* Specs of the arguments and of the result. Borrowed. */
LEAT_API const leat_spec *leat_function_input(const leat_function *function);
LEAT_API const leat_spec *leat_function_output(const leat_function *function);

/* JSON text of a function, and back. Functions that call unregistered callbacks or touch variables
 * are UNIMPLEMENTED. The text is owned (leat_text_free). */
LEAT_API char *leat_function_to_json(const leat_function *function, leat_error *err);
LEAT_API leat_function *leat_function_from_json(const char *text, leat_error *err);

/* The same text for who translates a function: of each node also "types", the dtypes and shapes of
 * its outputs, and "variables", the places of its variables among `variables` (`num_variables` of
 * them, borrowed). Not for leat_function_from_json. Variables that are not among them are
 * UNIMPLEMENTED. The text is owned (leat_text_free). TensorFlow: tf.Graph.as_graph_def. */
LEAT_API char *leat_function_describe(const leat_function *function,
                                      leat_variable *const *variables, int num_variables,
                                      leat_error *err);

/* Releases text that the library returned as owned. */
LEAT_API void leat_text_free(char *text);

/* How a mirrored variable's assignments inside replicas combine (tf.VariableAggregation), and
 * whether it is one value on all replicas or one per replica summed when read
 * (tf.VariableSynchronization ON_READ). */
typedef enum leat_aggregation {
    LEAT_AGGREGATION_NONE = 0,
    LEAT_AGGREGATION_SUM,
    LEAT_AGGREGATION_MEAN,
    LEAT_AGGREGATION_ONLY_FIRST_REPLICA
} leat_aggregation;

typedef struct leat_variable_options {
    size_t size;
    const char *name; /* NULL: "Variable" */
    bool trainable;
    bool sync_on_read; /* such a variable is never trainable, whatever `trainable` says */
    leat_aggregation aggregation;
} leat_variable_options;
#define LEAT_VARIABLE_DEFAULTS .size = sizeof(leat_variable_options), .trainable = true

/* A variable with the value `initial` (borrowed, copied), tf.Variable. Under a strategy's scope it
 * gets one copy per replica; one of strings always has one copy, on the host, which any thread may
 * read and assign at any time. Owned. */
LEAT_API leat_variable *leat_variable_new(const leat_tensor *initial,
                                          const leat_variable_options *options, leat_error *err);
LEAT_API leat_variable *leat_variable_ref(leat_variable *variable);
LEAT_API void leat_variable_unref(leat_variable *variable);
LEAT_API const char *leat_variable_name(const leat_variable *variable);
LEAT_API leat_dtype leat_variable_dtype(const leat_variable *variable);
LEAT_API leat_shape leat_variable_shape(const leat_variable *variable);

/* How many copies it has (one per replica of the strategy in whose scope it was made), and the
 * value of one of them as a new host tensor. Not while a step runs. */
LEAT_API int leat_variable_num_copies(const leat_variable *variable);
LEAT_API LEAT_WARN_UNUSED leat_status leat_variable_read_copy(leat_variable *variable, int copy,
                                                              leat_tensor *out, leat_error *err);
/* Sets that copy alone to `value` (borrowed, copied), whatever the variable's aggregation is.
 * INVALID_ARGUMENT for another dtype, shape or number. Not while a step runs. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_variable_assign_copy(leat_variable *variable, int copy,
                                                                const leat_tensor *value,
                                                                leat_error *err);

/* Reads the value (sync-on-read: aggregated over replicas) into a new host tensor; assigns all
 * copies. Not while a step runs. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_variable_read(leat_variable *variable, leat_tensor *out,
                                                         leat_error *err);
LEAT_API LEAT_WARN_UNUSED leat_status leat_variable_assign(leat_variable *variable,
                                                           const leat_tensor *value,
                                                           leat_error *err);

/* The same inside a graph, in trace order (stateful nodes). Two reads without an assignment in
 * between are one node. */
LEAT_API leat_value leat_graph_read(leat_graph *graph, leat_variable *variable);
LEAT_API void leat_graph_assign(leat_graph *graph, leat_variable *variable, leat_value value);
LEAT_API void leat_graph_assign_add(leat_graph *graph, leat_variable *variable, leat_value value);
/* The same for the copy of the replica that runs the graph, without combining what the replicas
 * give, whatever the variable's aggregation is: all give the same (StrategyExtended.update). */
LEAT_API void leat_graph_assign_copy(leat_graph *graph, leat_variable *variable, leat_value value);

/* Gradients of the sum of `target` with respect to `sources`: out[i] has the shape of sources[i]; a
 * source that does not influence the target gets zeros (tf.GradientTape.gradient with
 * unconnected_gradients="zero"). */
LEAT_API void leat_value_gradients(leat_value target, const leat_value *sources, int num_sources,
                                   leat_value *out);
/* The same of the sum of `target` times `upstream`, which has its dtype and shape and counts as a
 * constant; gradients of these gradients flow through it (tf.gradients' grad_ys). */
LEAT_API void leat_value_gradients_from(leat_value target, leat_value upstream,
                                        const leat_value *sources, int num_sources,
                                        leat_value *out);
/* The same of one of both, `upstream` NULL or not, without what flows through one of `stops`: these
 * count as constants, and get gradients themselves where they are sources (tf.gradients'
 * stop_gradients). */
LEAT_API void leat_value_gradients_until(leat_value target, const leat_value *upstream,
                                         const leat_value *sources, int num_sources,
                                         const leat_value *stops, int num_stops, leat_value *out);
LEAT_API void leat_variable_gradients(leat_value target, leat_variable *const *variables,
                                      int num_variables, leat_value *out);

/* Eager execution: a graph that computes operations as they are called, and remembers them (a
 * gradient tape, persistent). leat_value_gradients works on it. Owned (leat_graph_free). */
LEAT_API leat_graph *leat_graph_new_eager(leat_error *err);

/* A host tensor as a value of an eager graph or a constant of a traced one; a reference is taken.
 */
LEAT_API leat_value leat_graph_tensor(leat_graph *graph, const leat_tensor *tensor);

/* The value computed in an eager graph. Owned. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_value_tensor(leat_value value, leat_tensor *out,
                                                        leat_error *err);

/* Calls any operation by name inside a graph: `attributes` is JSON text of its attributes (NULL:
 * none). An attribute {"input": k} takes its value from input k, which then is not an input of the
 * operation; in a traced graph only attributes that leat_operations_json marks "tensor" may have
 * values that are not constants. Inputs of a dtype that TensorFlow accepts but the operation does
 * not compute in are cast first, as the table says: halves to float32, with the results rounded
 * back; narrow indices; integers that are divided. Fills the first `capacity` of the outputs and
 * returns how many there are (never more than LEAT_MAX_OUTPUTS), or -1 (the graph keeps the error).
 */
LEAT_API int leat_graph_call(leat_graph *graph, const char *operation, const char *attributes,
                             const leat_value *inputs, int num_inputs, leat_value *outputs,
                             int capacity);

/* The table of tensor operations as JSON text, for bindings: [{"name", "names": TensorFlow's paths
 * below "tf." (none: internal), "doc", "min_inputs", "max_inputs" (-1: any), "flags": [elementwise,
 * random, stateful, impure, costly, and what the next lines say], "inputs": [{"name", "type" or
 * "dtype", "default", "list", "rows"}], "outputs": [names], "result", "of_shape", "halves",
 * "checks", "arguments": [{"name", "type", "required", "default", ..., "doc"}], "signature":
 * [{"name", "kind", "default"}]}].
 *
 * Inputs of one "type" have one dtype, that of the argument of that name where there is one;
 * "default" is the dtype of what has none, such as an empty list; a list with "rows" may be a
 * tensor's rows. "result" is what TensorFlow's function returns: a "tensor", a "tuple", a "list" or
 * the name of a tuple with fields. "of_shape": the result is the input's shape as "dimensions" or
 * "size", and known where that is. "halves": "own", "float" (computed as float32) or "none".
 * "checks": where TensorFlow refuses values, in the "kernel" or in "python". Further flags: "cuts
 * gradients", "by value" (of ragged tensors, on their values), "large" (worth a compiled step),
 * "counts from zero" (where the second input is left out, the first one given is that).
 *
 * The signature has TensorFlow's parameters in order; "kind" is
 * input, argument, name (of no effect) or fixed (takes its default alone); "default" stands where
 * it is not the argument's own: an input that may be left out, or null where None means the
 * argument's default. Of several operations with one path, the number of inputs decides.
 * Thread-safe. Owned text (leat_text_free); NULL without memory. */
LEAT_API char *leat_operations_json(leat_error *err);

/* The object of one operation in that list, as text; NULL with NOT_FOUND for an unknown name, or
 * without memory. Thread-safe. Owned text (leat_text_free). */
LEAT_API char *leat_operation_json(const char *name, leat_error *err);

/* A short list, for a binding that asks for the details of an operation when it is used: one line
 * for each operation, in the order of leat_operations_json, such as "abs abs math.abs": its name
 * and TensorFlow's paths (none: internal), separated by blanks. Thread-safe. Owned text
 * (leat_text_free); NULL without memory. */
LEAT_API char *leat_operation_names(leat_error *err);

/* leat_graph_call where an attribute {"function": k} is functions[k] (borrowed), which may call
 * back. So "cond" has the attributes
 *
 *     {"then_branch": {"function": 0}, "else_branch": {"function": 1}}
 *
 * with two functions, and the predicate as its first input. */
LEAT_API int leat_graph_call_functions(leat_graph *graph, const char *operation,
                                       const char *attributes, leat_function *const *functions,
                                       int num_functions, const leat_value *inputs, int num_inputs,
                                       leat_value *outputs, int capacity);

/* tf.cond: the outputs of `then_branch` where the bool scalar `predicate` holds, else those of
 * `else_branch`. Both functions (borrowed) take `inputs` and give equally many outputs of equal
 * dtypes. Fills `outputs` (room for as many as the functions' results have components) and returns
 * their number, or -1 (the graph keeps the error). */
LEAT_API int leat_op_cond(leat_value predicate, leat_function *then_branch,
                          leat_function *else_branch, const leat_value *inputs, int num_inputs,
                          leat_value *outputs);

typedef struct leat_op_while_options {
    size_t size;
    int64_t maximum_iterations; /* the loop ends after so many, without an error */
    /* Borrowed; one component per variable, of which the shapes count: what a variable's shape may
     * become. NULL: dimensions that body changes become unknown by themselves. */
    const leat_spec *shape_invariants;
} leat_op_while_options;
#define LEAT_OP_WHILE_DEFAULTS                                                                     \
    .size = sizeof(leat_op_while_options), .maximum_iterations = LEAT_UNLIMITED

/* tf.while_loop: runs `body` on the loop variables as long as `cond` gives true. Both functions
 * (borrowed) take the variables and then the invariants, which never change (what TensorFlow
 * captures); `cond` gives a bool scalar, `body` the variables' next values, of the same dtypes.
 * Shapes: trace the functions for shapes that hold in every iteration (unknown dimensions where
 * they change); INVALID_ARGUMENT where body makes a shape that it does not take itself. `options`
 * (borrowed) may be NULL: no limit. Random operations draw other numbers in each iteration.
 * Differentiable once, by running the loop again and keeping each iteration's variables. Fills
 * `outputs` (num_variables of them, from 1 to LEAT_MAX_OUTPUTS), the variables after the last
 * iteration, and returns their number, or -1 (the graph keeps the error). An error of a run names
 * the iteration, counted from 0, and the function. */
LEAT_API int leat_op_while(leat_function *cond, leat_function *body, const leat_value *variables,
                           int num_variables, const leat_value *invariants, int num_invariants,
                           const leat_op_while_options *options, leat_value *outputs);

/* Runs a function once on host tensors of its components' dtypes; fills `outputs` (as many as the
 * result has components). Owned references. Thread-safe. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_function_call(const leat_function *function,
                                                         const leat_tensor *inputs, int num_inputs,
                                                         leat_tensor *outputs, int num_outputs,
                                                         leat_error *err);

/* A means to end calls from another thread. */
typedef struct leat_cancel leat_cancel;

/* Owned; NULL without memory. */
LEAT_API leat_cancel *leat_cancel_new(leat_error *err);
/* Ends the calls that were given `cancel`, and any that are given it later. From any thread, but
 * not from a signal handler. */
LEAT_API void leat_cancel_fire(leat_cancel *cancel);
/* NULL is allowed. Not while a call uses it. */
LEAT_API void leat_cancel_free(leat_cancel *cancel);

/* leat_function_call that ends with CANCELLED after `cancel` (borrowed; may be NULL) has fired:
 * before the next iteration of a loop, and while it waits for an element of a dataset. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_function_call_cancellable(
    const leat_function *function, const leat_tensor *inputs, int num_inputs, leat_tensor *outputs,
    int num_outputs, leat_cancel *cancel, leat_error *err);

#ifdef __cplusplus
}
#endif
#endif
