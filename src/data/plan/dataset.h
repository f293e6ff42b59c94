/* The plan: an immutable, reference-counted node. */
#ifndef LEATI_DATA_PLAN_DATASET_H
#define LEATI_DATA_PLAN_DATASET_H

#include "base/options.h"
#include "core/json.h"
#include "core/object.h"
#include "data/plan/op.h"
#include "graph/graph.h"

struct leat_dataset {
    leat_object object; /* first: a dataset is a value of dtype object */
    const leati_dataset_op *op;
    void *args; /* op->args_size bytes under the rows' rules; immutable after check */
    leat_dataset **inputs;
    int num_inputs;
    leat_spec *spec;
    int64_t cardinality;
    bool pure; /* this node and all below: nobody sees that more was asked for than used */
    /* This node and all below: computing again from a saved state gives the same. */
    bool replayable;
    bool is_local; /* this node or one below is of a stranger's plan: leat_dataset_from_json */
    char *label;   /* NULL: none */
    _Atomic uint64_t fingerprint; /* 0: not asked for yet */
    /* The node that owns the shared state; itself unless this is a rewritten copy, which borrows
     * (and references) its origin's. */
    leat_dataset *origin;
    void *shared; /* made once, under a process-wide lock */
};

/* The one constructor. `args` (may be NULL) is copied by the rows' rules; `inputs` are given; a
 * NULL among them passes through (the others are released, err is kept). Owned. */
leat_dataset *leati_dataset_new(const leati_dataset_op *op, const void *args,
                                leat_dataset *const *inputs, int num_inputs, leat_error *err);

/* The thread works on the plan: what a stranger's opens lies on this machine. For leati_stop_leave.
 */
leati_stop_scope leati_dataset_enter(const leat_dataset *dataset);

/* Releases what a builder was given, as leati_dataset_new does where it fails; NULL. */
leat_dataset *leati_dataset_give_up(leat_dataset *const *inputs, int num_inputs);
/* Where a builder's own failures go: `err`, or `unwanted` where a NULL among the inputs passes an
 * earlier one on. */
leat_error *leati_dataset_error(leat_dataset *const *inputs, int num_inputs, leat_error *err,
                                leat_error *unwanted);
/* LEATI_OPTIONS for a builder: false, with the inputs released, where they cannot be read. */
#define LEATI_DATASET_OPTIONS(type, own, options, inputs, num_inputs, err)                         \
    (LEATI_OPTIONS(type, own, options,                                                             \
                   leati_dataset_error(inputs, num_inputs, err, &(leat_error){0})) == LEAT_OK ||   \
     leati_dataset_give_up(inputs, num_inputs) != NULL)

/* Are its elements those of its input, so that plans do without it? */
static inline bool leati_dataset_changes_nothing(const leat_dataset *dataset) {
    return dataset->op->changes_nothing != NULL && dataset->op->changes_nothing(dataset);
}

/* leat_dataset_shard for a worker of several that all need an element: INVALID_ARGUMENT in place of
 * the first one where there are fewer than num_shards (TensorFlow's require_non_empty). */
leat_dataset *leati_dataset_shard_for_all(leat_dataset *input, int64_t num_shards, int64_t index,
                                          leat_error *err);

/* Is the node a shard of SHARD_HINT, which distribution fills in? */
bool leati_dataset_shard_is_hint(const leat_dataset *dataset);

/* leat_dataset_shuffle with a seed pair that was resolved before, for operators made of others. */
leat_dataset *leati_dataset_shuffle_resolved(leat_dataset *input, int64_t buffer_size,
                                             const int64_t pair[2], leat_error *err);

/* leat_dataset_sample_from_datasets, ending with the first dataset that ends, by weights that a
 * dataset gives: `inputs` are `num_datasets` datasets and then that one. The seed pair was resolved
 * before.
 */
leat_dataset *leati_dataset_sample_resolved(leat_dataset *const *inputs, int num_datasets,
                                            const int64_t pair[2], leat_error *err);

/* leat_dataset_batch joined with what lies below it as map_and_batch_fusion joins it with a map: an
 * element that fails costs exactly its batch. For operators made of others. */
leat_dataset *leati_dataset_batch_fused(leat_dataset *input, int64_t batch_size,
                                        bool drop_remainder, leat_error *err);
/* Tensors whose shapes are not known as ragged values, for ragged_batch. */
leat_dataset *leati_dataset_dense_to_ragged(leat_dataset *input, leat_dtype row_splits_dtype,
                                            leat_error *err);

/* How many epochs a shuffle node runs through: 1, or what fusion with repeat set (-1: forever). 0
 * for other operators. */
int64_t leati_dataset_shuffle_epochs(const leat_dataset *dataset);
/* A copy of a shuffle node that runs through `epochs` (1 or more, or -1) epochs: repeat over
 * shuffle as one operator, for the rewrite. Owned. */
leat_dataset *leati_dataset_shuffle_repeated(const leat_dataset *shuffle, int64_t epochs,
                                             leat_error *err);
/* The number of elements of `count` epochs of a dataset, as repeat has it. */
int64_t leati_dataset_repeat_cardinality(const leat_dataset *input, int64_t count);

/* What the functions among an operator's arguments do: their flags (graph/op.h), joined. */
uint32_t leati_dataset_functions_flags(const leati_row *rows, const void *args);
/* Does a function of this node (not of those below) have effects, or a random state of its own? */
bool leati_dataset_has_effects(const leat_dataset *dataset);
/* The first operator of the plan, consumer's end first, whose functions have one of the flags
 * (graph/op.h); NULL: none. Borrowed. */
const leat_dataset *leati_dataset_with_functions(const leat_dataset *dataset, uint32_t flags);
/* Do other processes make elements of the plan, or of a dataset that its functions hold? */
bool leati_dataset_is_remote(const leat_dataset *dataset);

/* Calls `visit` for the datasets that the functions of this node (not of those below) hold as
 * constants and that are not pure, in the order of the functions; stops at the first failure. */
typedef leat_status (*leati_captured_visit)(const leat_dataset *dataset, void *context,
                                            leat_error *err);
LEAT_WARN_UNUSED leat_status leati_dataset_visit_captured(const leat_dataset *dataset,
                                                          leati_captured_visit visit, void *context,
                                                          leat_error *err);

/* Is the object a dataset? */
bool leati_dataset_of_object_check(const leat_object *object);

/* A copy of `dataset` over other inputs (given; released on failure) and, if not NULL, other args:
 * for rewrites. Shares the origin's shared state. Owned. */
leat_dataset *leati_dataset_with(const leat_dataset *dataset, const void *args,
                                 leat_dataset *const *inputs, leat_error *err);

/* The node's shared state (op->share on first use). Thread-safe. NULL with err on failure. */
void *leati_dataset_shared(const leat_dataset *dataset, leat_error *err);

/* Forgets the parsed arguments of dataset values that functions have made
 * (data/functions/dataset.c): for tests that count memory. */
void leati_dataset_templates_trim(void);

/* JSON of the node format. The reader takes the names of functions, `let` references and so on from
 * `context`. */
typedef struct leati_plan_reader {
    void *context;
    /* A function argument: `json` as found, `operator`, argument name and the spec of its
     * arguments. NULL slot: only {"graph": ...} and {"callback": name}. Owned. */
    leat_function *(*function)(void *context, const json_t *json, const char *op,
                               const char *argument, const leat_spec *input, leat_error *err);
    /* {"ref": name}. Owned (a new reference). NULL slot: refused. */
    leat_dataset *(*ref)(void *context, const char *name, leat_error *err);
    /* A structure of tensors for {"given": number}; `out` is {0} or holds an element. NULL slot:
     * refused. */
    leat_status (*given)(void *context, int64_t number, leat_element *out, leat_error *err);
} leati_plan_reader;
leat_dataset *leati_plan_read(const json_t *json, const leati_plan_reader *reader, leat_error *err);
json_t *leati_plan_write(const leat_dataset *dataset, leat_error *err);
/* The argument for which the last input of a node stands (names of files, a choice); NULL: none. */
const leati_row *leati_plan_input_row(const leat_dataset *dataset);

#endif
