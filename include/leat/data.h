/* Datasets and iterators: tf.data in C.
 *
 * Building is a chain that cannot leak: each call is *given* its input dataset, returns the new one
 * (owned), and returns NULL with `err` filled on the first failure; a NULL input passes through and
 * keeps the first error. leat_dataset_ref makes a second owner when a dataset has two consumers.
 * Datasets are immutable and may be used from any thread; an iterator belongs to one thread at a
 * time (leat_iterator_cancel excepted). Operators stand in leat/sources.h and leat/data_ops.h. */
#ifndef LEAT_DATA_H
#define LEAT_DATA_H

#include <leat/core.h>
#include <leat/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LEAT_AUTOTUNE (-1)             /* tf.data.AUTOTUNE */
#define LEAT_INFINITE_CARDINALITY (-1) /* tf.data.INFINITE_CARDINALITY */
#define LEAT_UNKNOWN_CARDINALITY (-2)  /* tf.data.UNKNOWN_CARDINALITY */

typedef struct leat_dataset leat_dataset;
typedef struct leat_iterator leat_iterator;

/* A seed argument: {0} means none was given. LEAT_SEED(7) is the seed 7. */
typedef struct leat_seed {
    bool given;
    int64_t value;
} leat_seed;
#define LEAT_SEED(number) ((leat_seed){true, (number)})

/* Adds an owner and returns its argument; NULL passes through. */
LEAT_API leat_dataset *leat_dataset_ref(leat_dataset *dataset);
/* NULL is allowed. */
LEAT_API void leat_dataset_unref(leat_dataset *dataset);

/* Spec of the elements (borrowed; NULL for NULL) and cardinality: a count,
 * LEAT_INFINITE_CARDINALITY or LEAT_UNKNOWN_CARDINALITY (tf.data.Dataset.element_spec,
 * cardinality). */
LEAT_API const leat_spec *leat_dataset_spec(const leat_dataset *dataset);
LEAT_API int64_t leat_dataset_cardinality(const leat_dataset *dataset);

/* Gives the operator a label for errors and explain (copied); the dataset is given and returned. */
LEAT_API leat_dataset *leat_dataset_label(leat_dataset *dataset, const char *label,
                                          leat_error *err);

/* The plan as JSON text, in the node format of docs/PLANS.md, and back. Callbacks must be
 * registered by name. Text owned (leat_text_free), dataset owned. A plan that comes from a text
 * reads and writes files of this machine alone, and so does what is built on it:
 * PERMISSION_DENIED for those of other machines (docs/REMOTE.md). */
LEAT_API char *leat_dataset_to_json(const leat_dataset *dataset, leat_error *err);
LEAT_API leat_dataset *leat_dataset_from_json(const char *text, leat_error *err);
/* The same of a plan that may name files of other machines, since it is the caller's own. */
LEAT_API leat_dataset *leat_dataset_from_trusted_json(const char *text, leat_error *err);

/* A dataset as a value inside a function, for flat_map and its like: operator `op` of the table
 * over dataset values `inputs`, with constant arguments as the JSON object `args_json` (NULL: none)
 * and the arguments `names` given by tensors `values`. So `lambda x: range(x)` is
 * leat_graph_dataset_op(graph, "range", NULL, NULL, 0, (const char *[]){"stop"}, &x, 1). Names that
 * repeat form a tuple. */
LEAT_API leat_value leat_graph_dataset_op(leat_graph *graph, const char *op, const char *args_json,
                                          const leat_value *inputs, int num_inputs,
                                          const char *const *names, const leat_value *values,
                                          int num_values);

/* An argument of a dataset operator that tensors give: `values` in the order of the components of
 * `structure` (borrowed; NULL: one value is itself, several are a tuple). */
typedef struct leat_bound_argument {
    const char *name;
    const leat_value *values;
    int num_values;
    const leat_spec *structure;
} leat_bound_argument;

/* An argument of a dataset operator that is a function (borrowed). Its last `num_captures`
 * arguments are `captures`, values of the graph around it (tensors or datasets): behind the
 * elements' components, so for map over pairs it is traced with a tuple (a, b, capture, ...). */
typedef struct leat_function_argument {
    const char *name;
    leat_function *function;
    const leat_value *captures;
    int num_captures;
} leat_function_argument;

typedef struct leat_dataset_call {
    const char *op;           /* of the operator table */
    const char *args;         /* constant arguments, a JSON object; NULL: none */
    const leat_value *inputs; /* dataset values */
    int num_inputs;
    const leat_bound_argument *bound;
    int num_bound;
    const leat_function_argument *functions; /* at most 4 */
    int num_functions;
} leat_dataset_call;

/* leat_graph_dataset_op in its most general form (`call` is borrowed). So
 * `lambda x: ds.map(lambda y: x + y)` is, with `add` traced for (y, x),
 *
 *     leat_value ds_value = leat_graph_dataset(graph, ds);
 *     leat_function_argument add_x = {"map_func", add, &x, 1};
 *     leat_graph_dataset_call(graph, &(leat_dataset_call){.op = "map", .inputs = &ds_value,
 *                             .num_inputs = 1, .functions = &add_x, .num_functions = 1});
 *
 * Functions may call back and may nest; the value is as pure as they are. Each run makes the
 * function anew, with the captured values as constants. Returns a failed value, and the graph keeps
 * the error, where operator, arguments and functions do not fit. */
LEAT_API leat_value leat_graph_dataset_call(leat_graph *graph, const leat_dataset_call *call);

/* A dataset (a reference is taken) as a value inside a function: `lambda _: ds`. It stays the same
 * node: iterators over it share its seed generator and its memory cache with all others, as with a
 * dataset that TensorFlow captures. The function's JSON holds the dataset's plan; reading it makes
 * a new node. */
LEAT_API leat_value leat_graph_dataset(leat_graph *graph, leat_dataset *dataset);

typedef struct leat_graph_dataset_reduce_options {
    size_t size;
    bool can_stop;  /* body gives a bool scalar before the variables: whether to go on */
    bool is_shared; /* others can see that the dataset is run through although this graph does not
                       show it: the dataset was captured from the function around it */
    /* Borrowed; one component per variable: what the variables' shapes may become. NULL:
     * dimensions that body changes become unknown by themselves. */
    const leat_spec *shape_invariants;
} leat_graph_dataset_reduce_options;
#define LEAT_GRAPH_DATASET_REDUCE_DEFAULTS .size = sizeof(leat_graph_dataset_reduce_options)

/* Runs through a dataset value inside a function (tf.data.Dataset.reduce, and `for` over a dataset,
 * in a tf.function). `body` (borrowed) takes the variables, the components of an element and the
 * captured values, which never change, and gives the variables' next values, of the same dtypes.
 * `options` (borrowed) may be NULL. In leat_function_call the dataset runs with threads of its
 * own, as in an iterator; in pipelines and steps on the thread that computes. Fills `outputs`
 * (num_variables of them, from 1 to LEAT_MAX_OUTPUTS), the variables after the last element, and
 * returns their number, or -1 (the graph keeps the error). Not differentiable. */
LEAT_API int leat_graph_dataset_reduce(leat_value dataset, leat_function *body,
                                       const leat_value *variables, int num_variables,
                                       const leat_value *captures, int num_captures,
                                       const leat_graph_dataset_reduce_options *options,
                                       leat_value *outputs);

/* 64-bit hash of the plan: operators, arguments, functions (tf.data.Dataset.fingerprint's
 * counterpart, not its bits). */
LEAT_API uint64_t leat_dataset_fingerprint(const leat_dataset *dataset);

/* How an iterator runs (part of tf.data.Options). By default it uses the shared pool, with all
 * cores, under the process's memory limit. */
typedef struct leat_iterator_options {
    size_t size;
    int num_threads;      /* of a pool of its own; 0: the shared pool is used */
    int64_t memory_limit; /* bytes that its operators may hold, in addition to
                             leat_limits_set_memory's limit */
    bool rewrites;        /* false: run the plan as written */
    bool autotune;        /* false: LEAT_AUTOTUNE values keep their start values */
    bool verify; /* verification mode: every block is re-encoded, cut at random and checksummed
                    (slow) */
    uint64_t verify_seed;
    int64_t deadline_ms; /* a call to next that waits longer fails with DEADLINE_EXCEEDED and a
                            stall report */
} leat_iterator_options;
#define LEAT_ITERATOR_DEFAULTS                                                                     \
    .size = sizeof(leat_iterator_options), .memory_limit = LEAT_UNLIMITED, .rewrites = true,       \
    .autotune = true, .deadline_ms = LEAT_UNLIMITED

/* Starts an iteration (tf.data.Dataset.__iter__). `dataset` is borrowed, the iterator keeps a
 * reference. Owned; NULL on failure. */
LEAT_API leat_iterator *leat_iterator_new(leat_dataset *dataset,
                                          const leat_iterator_options *options, leat_error *err);

/* The next element (owned by the caller's struct, which is cleared first). LEAT_OK;
 * LEAT_OUT_OF_RANGE at the end (sticky, err->text "End of sequence"); any other code is the error
 * of this one element: the next call goes on behind it. Blocks. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_iterator_next(leat_iterator *iterator, leat_element *out,
                                                         leat_error *err);

/* Stops waits and background work; a call to next that is running returns CANCELLED. Any thread. */
LEAT_API void leat_iterator_cancel(leat_iterator *iterator);

/* Ends an iteration: cancels, joins its threads. NULL is allowed. */
LEAT_API void leat_iterator_free(leat_iterator *iterator);

/* Runs through a dataset (borrowed): `function` (borrowed) takes (state, element) to the next
 * state, beginning with `initial_state` (borrowed); `out` gets the last state
 * (tf.data.Dataset.reduce). Trace the function for a tuple of the two specs, with shapes that hold
 * for every state. INVALID_ARGUMENT where structure or dtypes of the state change; the first error
 * of an element otherwise. Blocks. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_dataset_reduce(leat_dataset *dataset,
                                                          const leat_element *initial_state,
                                                          const leat_function *function,
                                                          leat_element *out, leat_error *err);

/* The one element of a dataset (borrowed); INVALID_ARGUMENT where it has none or more
 * (tf.data.Dataset.get_single_element). Blocks. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_dataset_get_single_element(leat_dataset *dataset,
                                                                      leat_element *out,
                                                                      leat_error *err);

/* Random access: opens a handle that answers any number of indices
 * (tf.data.experimental.at, with what it prepares kept). `dataset` is borrowed, the handle keeps a
 * reference; several handles may be open; each is used by one thread at a time. Owned; NULL on
 * failure. */
typedef struct leat_accessor leat_accessor;
LEAT_API leat_accessor *leat_accessor_open(leat_dataset *dataset, leat_error *err);

/* Element number `index` (owned by the caller's struct, which is cleared first), without computing
 * those before it where the operators allow that; a cache reads its input up to it.
 * UNIMPLEMENTED where an operator on the way has no random access, FAILED_PRECONDITION where its
 * cardinality is infinite or unknown, OUT_OF_RANGE outside of 0 .. cardinality - 1; otherwise the
 * element's own error. A shuffle answers by one permutation of its whole input, which is not the
 * order of its iterators. Blocks. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_accessor_get(leat_accessor *accessor, int64_t index,
                                                        leat_element *out, leat_error *err);

/* NULL is allowed. */
LEAT_API void leat_accessor_close(leat_accessor *accessor);

/* leat_accessor_get of a handle that is opened for this one call (tf.data.experimental.at). A
 * shuffle's permutation and what a cache has read stay with the dataset. Any thread. Blocks. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_dataset_at(leat_dataset *dataset, int64_t index,
                                                      leat_element *out, leat_error *err);

/* Writes the elements of a dataset (borrowed) to files in the folder `path`, which is created if
 * need be (tf.data.Dataset.save); leat_dataset_load and TensorFlow's Dataset.load read them. A
 * dataset that was saved there before is replaced when the new one is complete; its files stay. The
 * first error of an element ends the call; nothing that could be taken for a finished dataset is
 * left behind. Blocks. */
typedef struct leat_dataset_save_options {
    size_t size;
    const char *compression; /* NULL or "": none; or a compression_type. An unknown name means none,
                                with a warning, as in TensorFlow */
    const leat_function *shard_func; /* borrowed; from an element to its shard, an int64 scalar.
                                        NULL: one shard, so that the order is kept */
    /* A file that records the progress (checkpoint_args): a call that finds it goes on from there,
     * given the same plan, path and compression; it is removed at the end. NULL: none. */
    const char *checkpoint;
    int64_t checkpoint_interval; /* elements between two records of it, at least 1 */
} leat_dataset_save_options;
#define LEAT_DATASET_SAVE_DEFAULTS                                                                 \
    .size = sizeof(leat_dataset_save_options), .checkpoint_interval = 100000
LEAT_API LEAT_WARN_UNUSED leat_status leat_dataset_save(leat_dataset *dataset, const char *path,
                                                        const leat_dataset_save_options *options,
                                                        leat_error *err);

/* The state from which a new iterator of an equal plan continues with exactly the remaining
 * outcomes: positions, not data, wherever the input can be re-read. `*data` is owned
 * (leat_text_free). FAILED_PRECONDITION where an operator cannot be saved. */
typedef struct leat_iterator_save_report {
    size_t bytes;
    int64_t replay_elements; /* predicted number of elements that restoring recomputes */
    int64_t data_elements;   /* how many elements the state holds itself */
} leat_iterator_save_report;
LEAT_API LEAT_WARN_UNUSED leat_status leat_iterator_save(leat_iterator *iterator, char **data,
                                                         size_t *size,
                                                         leat_iterator_save_report *report,
                                                         leat_error *err);

/* What a state holds of the elements that operators keep or have read ahead. Saved by name. */
typedef enum leat_iterator_save_mode {
    LEAT_SAVE_AUTO = 0,  /* positions, and data where elements cannot be computed again or where
                            restoring would compute more than replay_limit of them */
    LEAT_SAVE_POSITIONS, /* positions alone; FAILED_PRECONDITION where that is impossible */
    LEAT_SAVE_DATA       /* the elements themselves, so that restoring computes little: as large as
                            the buffers are */
} leat_iterator_save_mode;

/* The same in a mode of the caller's choice; leat_iterator_restore reads all of them. With
 * `options` NULL it is leat_iterator_save. */
typedef struct leat_iterator_save_options {
    size_t size;
    leat_iterator_save_mode mode;
    int64_t replay_limit; /* elements, for LEAT_SAVE_AUTO */
} leat_iterator_save_options;
#define LEAT_ITERATOR_SAVE_DEFAULTS                                                                \
    .size = sizeof(leat_iterator_save_options), .replay_limit = LEAT_UNLIMITED
LEAT_API LEAT_WARN_UNUSED leat_status leat_iterator_save_with(
    leat_iterator *iterator, const leat_iterator_save_options *options, char **data, size_t *size,
    leat_iterator_save_report *report, leat_error *err);

/* Brings an iterator, fresh or used, to a saved state: it gives what the saved one was going to
 * give, whatever other iterators of the dataset do (docs/RESUME.md). FAILED_PRECONDITION if the
 * plan's fingerprint differs, DATA_LOSS if the bytes are damaged: then nothing has changed. After
 * another failure the iterator goes on from where it was, or, where that could not be saved, says
 * FAILED_PRECONDITION until a restore succeeds. leat_iterator_cancel ends it with CANCELLED. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_iterator_restore(leat_iterator *iterator,
                                                            const char *data, size_t size,
                                                            leat_error *err);

/* A table, one line per operator: elements/s, busy and waiting time, depth, bytes, and which stage
 * is the bottleneck with its headroom; then autotune's decisions with their reasons. Owned text
 * (leat_text_free). */
LEAT_API char *leat_iterator_explain(const leat_iterator *iterator, leat_error *err);

/* The same counters in Prometheus' text format, for a scrape or a textfile collector; samples are
 * labelled with the plan's dataset_name (leat_dataset_options), the operator and its place. Owned
 * text (leat_text_free). */
LEAT_API char *leat_iterator_metrics(const leat_iterator *iterator, leat_error *err);

/* The table of dataset operators as JSON text, for bindings: [{"name", "names" (where tf.data has
 * it, and what is beyond tf.data would stand), "doc", "num_inputs" (-1: any number), "source"
 * (whatever the number, a call gives no inputs), "tree" (inputs may be a structure of datasets),
 * "shown" (what TensorFlow calls the dataset's class; then words ROW:NAME, for another name where
 * that argument is not its default; null: the name in camel case), "arguments": [{"name", "type",
 * "required", "default", ..., "doc"}], "signature": [{"name", "default"}] (TensorFlow's order;
 * without "default" it must be given; "datasets" are the inputs; null: required arguments, then the
 * others)}]. Names of operators and arguments are those of tf.data, "default" null is None.
 * Thread-safe. Owned text (leat_text_free); NULL without memory. */
LEAT_API char *leat_dataset_operators_json(leat_error *err);

#ifdef __cplusplus
}
#endif
#endif
