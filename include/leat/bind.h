/* For bindings to other languages: plans over objects of the caller, elements by rows, operations
 * that are computed over and over, and variables whose shape changes. The calls of C programs stand
 * in leat/data.h, leat/data_ops.h and leat/graph.h. */
#ifndef LEAT_BIND_H
#define LEAT_BIND_H

#include <leat/data.h>
#include <leat/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the references of a plan stand for; everything is borrowed for the call. */
typedef struct leat_bindings {
    leat_dataset *const *datasets; /* {"ref": "0"} in place of a node */
    int num_datasets;
    const leat_element *elements; /* {"given": 0} in place of a structure of tensors */
    int num_elements;
    /* {"function": number} in place of a function: called with the operator, the argument and the
     * spec of what the function gets (borrowed); returns an owned function, or NULL with `err`.
     * Where an operator needs another input spec (scan), it is called again. */
    leat_function *(*function)(void *context, int64_t number, const char *op, const char *argument,
                               const leat_spec *input, leat_error *err);
    void *context;
} leat_bindings;

/* A dataset of a plan's JSON text (docs/PLANS.md) whose references the bindings (NULL: none) give.
 * Owned; NULL on failure. */
LEAT_API leat_dataset *leat_dataset_build(const char *plan, const leat_bindings *bindings,
                                          leat_error *err);

/* A variable whose values fit `shape`, of which dimensions or the rank may be unknown
 * (tf.Variable(..., shape=[None])); else as leat_variable_new. Like one of strings it has one copy,
 * on the host, which is replaced when it is assigned. What reads it has that shape, which steps of
 * a strategy refuse; what updates a value where it lies (leat_optimizer_apply) does, too.
 * INVALID_ARGUMENT where `initial` does not fit. Owned. */
LEAT_API leat_variable *leat_variable_new_of_shape(const leat_tensor *initial,
                                                   const leat_shape *shape,
                                                   const leat_variable_options *options,
                                                   leat_error *err);

/* The next rows of an iterator: up to `most` elements that are ready, each component stacked along
 * a new first axis of *n (views where they lie so in memory). Elements whose shapes differ come one
 * at a time; a component of LEAT_MAX_RANK dimensions or of objects comes alone and without the new
 * axis. `out` has room for the spec's components; the tensors are owned. Status as
 * leat_iterator_next; *n is 0 unless LEAT_OK. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_iterator_next_rows(leat_iterator *iterator, int64_t most,
                                                              leat_tensor *out, int64_t *n,
                                                              leat_error *err);

/* An operation whose attributes are read once, to be computed many times without a graph, as
 * bindings do that call the same ones over and over. Immutable: any number of threads may use it.
 */
typedef struct leat_operation leat_operation;

/* The operation of that name with these attributes (JSON text; NULL: none). UNIMPLEMENTED for one
 * that keeps state, draws numbers, runs functions or may wait, which takes a graph. Owned
 * (leat_operation_free). */
LEAT_API leat_operation *leat_operation_new(const char *name, const char *attributes,
                                            leat_error *err);
LEAT_API void leat_operation_free(leat_operation *operation); /* NULL does nothing */
/* Does a call take time for its inputs' bytes alone, elementwise? */
LEAT_API bool leat_operation_is_brief(const leat_operation *operation);
/* Computes it of borrowed host tensors: fills `outputs` (owned; room for `capacity`) and returns
 * how many there are. -1 where it takes a graph: inputs that are cast before it, strings, datasets,
 * many outputs, and each call that fails; leat_graph_call then computes it or says why not.
 * Thread-safe. */
LEAT_API int leat_operation_run(const leat_operation *operation, const leat_tensor *inputs,
                                int num_inputs, leat_tensor *outputs, int capacity);

#ifdef __cplusplus
}
#endif
#endif
