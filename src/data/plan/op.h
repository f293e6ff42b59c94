/* The descriptor of a dataset operator, and the protocol between operators.
 *
 * pull(state, want, out, err) returns up to `want` outcomes as a block of elements and a tail:
 *
 *     MORE    out->n >= 1 elements, no error seen yet
 *     END     out->n >= 0 elements, then the end: every later pull gives n = 0 and END
 *     ERROR   out->n >= 0 elements, then one error, written to err; the next pull goes on after it
 *
 * An element or an error is one outcome; positions count outcomes. Short blocks are legal. `out` is
 * a block that the caller owns; the callee prepares it. Operators keep no leftovers: they read a
 * child through leati_input (data/run/input.h). */
#ifndef LEATI_DATA_PLAN_OP_H
#define LEATI_DATA_PLAN_OP_H

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/text.h"
#include "core/block.h"
#include "core/row.h"
#include "run/budget.h"
#include "run/cancel.h"
#include "run/counters.h"
#include "run/pool.h"
#include <leat/data.h>

typedef enum leati_tail { LEATI_MORE = 0, LEATI_END, LEATI_ERROR } leati_tail;

/* The framework's record around an operator's state, and what one iterator shares:
 * data/run/state.h. */
typedef struct leati_node_state leati_node_state;
typedef struct leati_iteration leati_iteration;
/* An operator that answers by number: data/access/access.h. */
typedef struct leati_access leati_access;

/* How outcomes in relate to outcomes out; default cardinality and checks follow from it. */
typedef enum leati_flow {
    LEATI_SOURCE = 0,
    LEATI_ONE_TO_ONE, /* one out for one in, in order */
    LEATI_FEWER,
    LEATI_MORE_OUT,
    LEATI_REORDERS, /* the same elements in another order */
    LEATI_MIXES     /* several inputs */
} leati_flow;

enum {
    LEATI_OP_IMPURE = 1,      /* pulling ahead would be seen: callbacks with effects, cache writers,
                                 draws from a shared seed */
    LEATI_OP_SHARED_DRAW = 4, /* draws from a seed generator shared by iterators: asking ahead would
                                 be seen, replay is exact */
    LEATI_OP_SEED_GENERATOR = 8, /* the node's shared state is a leati_seed_generator */
    LEATI_OP_OWN_INPUTS = 16,    /* check makes the inputs; a written plan leaves them out */
    LEATI_OP_READS_FILES = 32,   /* waits for files: worth a thread of its own */
    LEATI_OP_NEVER_FAILS = 64,   /* gives no errors but those of its inputs */
    LEATI_OP_REMOTE = 128,       /* other processes make its elements; suites that run operators by
                                    themselves leave it to the tests of these processes */
    LEATI_OP_ASKS_ON = 256       /* asks its input again behind errors, until it ends: readers below
                                    pass over files that cannot be opened */
};

/* How the elements of a worker's share are those of its share of the files: what the policy FILE
 * does at a node on its way from the sink to the readers (data/shares/sharding.c; tf.data's
 * auto_shard for its own operators). Zero says nothing; every operator has to. */
typedef enum leati_shards {
    LEATI_SHARD_UNSAID = 0,
    LEATI_SHARD_READER,       /* reads the files that the argument `files` or an input names, which
                                 are dealt out */
    LEATI_SHARD_SEES_THROUGH, /* works on what the inputs give: files are dealt out below all of
                                 them */
    LEATI_SHARD_CALLS,        /* calls functions that make datasets: where these are readers, the
                                 elements are names and dealt out; else as LEATI_SHARD_SEES_THROUGH */
    LEATI_SHARD_LEFT_OUT,     /* claims what does not hold for a share: the share does without it */
    LEATI_SHARD_AS_PLAN,      /* as the plan that `expand` makes */
    LEATI_SHARD_NOT           /* shares by file are none of its elements, or there are no files */
} leati_shards;

/* How the operator takes part where the splits of its sources are handed out, one lease after the
 * other, to several workers that all run the plan (data/shares/splits.h; MakeSplitProviders of
 * tf.data's operators). Zero says nothing; every operator has to. */
typedef enum leati_splits_part {
    LEATI_SPLITS_UNSAID = 0,
    LEATI_SPLITS_ROWS,    /* a source: each element is a split, and `advance` is cheap */
    LEATI_SPLITS_FILES,   /* LEATI_SHARD_READER: each name in its list is a split, or names come
                             from an input whose splits count */
    LEATI_SPLITS_WHOLE,   /* a source: all of its elements together are one split */
    LEATI_SPLITS_LOCAL,   /* a source that every worker runs for itself, in full */
    LEATI_SPLITS_THROUGH, /* works on what the inputs give; one that stands for an argument is run
                             by every worker in full */
    LEATI_SPLITS_IN_STEP, /* the same, and an input that ends early costs elements of the others */
    LEATI_SPLITS_REFUSED  /* has no meaning there: UNIMPLEMENTED */
} leati_splits_part;

/* What strategies find out about the number of rows of an element, the global batch
 * (dist/planner.c; TensorFlow's compute_batch_size for its own operators). Zero says nothing. */
typedef enum leati_batches {
    LEATI_BATCHES_UNSAID = 0,
    LEATI_BATCHES_ROWS,  /* it is the argument `batch_size` */
    LEATI_BATCHES_SAME,  /* it is that of the inputs, where they agree */
    LEATI_BATCHES_APART, /* elements are taken apart, so that rows of a batch part again: unknown */
    LEATI_BATCHES_AS_PLAN, /* as the plan that `expand` makes */
    LEATI_BATCHES_OTHER    /* unknown */
} leati_batches;

/* How a tree is saved, and the predicted cost of restoring it, summed over the tree. */
typedef struct leati_save_cost {
    int64_t replay_elements;
    int64_t data_elements;        /* that the state holds itself */
    leat_iterator_save_mode mode; /* DATA: hold elements rather than compute them again */
    bool lasting;    /* the user asked for the state; else it is an input's own snapshot */
    bool alternates; /* what others computed from positions does not come again (data/run/own.h) */
} leati_save_cost;

/* Adds what a state inside another one costs. */
static inline void leati_op_save_cost_add(leati_save_cost *to, const leati_save_cost *inside) {
    to->replay_elements += inside->replay_elements;
    to->data_elements += inside->data_elements;
}

/* A number of an operator's state that is its position: an int64_t or a bool. */
typedef struct leati_saved {
    enum { LEATI_SAVED_END = 0, LEATI_SAVED_INT, LEATI_SAVED_FLAG } kind;
    bool kept; /* goes on counting in the next epoch; others start at 0 */
    size_t offset;
} leati_saved;

#define LEATI_SAVED(type, field)                                                                   \
    {                                                                                              \
        .kind = _Generic(((type *)0)->field, int64_t                                               \
                         : LEATI_SAVED_INT, bool                                                   \
                         : LEATI_SAVED_FLAG),                                                      \
        .offset = offsetof(type, field)                                                            \
    }
#define LEATI_SAVED_KEPT(type, field)                                                              \
    { .kind = LEATI_SAVED_INT, .kept = true, .offset = offsetof(type, field) }

typedef struct leati_dataset_op {
    const char *name; /* TensorFlow's, snake case */
    int version;
    const char *doc; /* one paragraph; then how it is saved and what restoring costs */
    /* For bindings. `names`: TensorFlow's exported paths below "tf.data.", separated by blanks:
     * methods of Dataset; classes, which end in Dataset; of operators over one dataset functions
     * for Dataset.apply; else functions. What tf.data does not have stands where it would. NULL:
     * internal, no binding shows it. `signature`: the rows' names in TensorFlow's order, NAME=JSON
     * with its default, NAME alone where it must be given; "datasets" stands for the inputs. NULL:
     * the required rows, then the others with their own defaults. `shown`: what TensorFlow calls
     * the class of the dataset, without Dataset; then ROW:NAME, for the name where that row's value
     * is not its default. NULL: the operator's name in camel case. */
    const char *names, *signature, *shown;
    int num_inputs; /* -1: any number */
    leati_flow flow;
    leati_shards shards;
    const char *files; /* LEATI_SHARD_READER: the list of strings that names the files; else NULL */
    leati_splits_part splits;
    /* LEATI_SPLITS_WHOLE: a plan of the same elements (owned) whose sources have splits; NULL
     * without an error: this node has none. NULL slot: no node has. */
    leat_dataset *(*parts)(const leat_dataset *dataset, leat_error *err);
    leati_batches batches;
    const char *batch_size; /* LEATI_BATCHES_ROWS: the integer; else NULL */
    /* Is it unknown to strategies all the same, as that of TensorFlow's parallel batch? NULL: no.
     */
    bool (*hides_batch_size)(const leat_dataset *dataset);
    uint32_t flags;
    size_t args_size;
    const leati_row *rows;
    /* Plan side. `check` validates arguments beyond their rows and completes them (it may replace a
     * resolved seed); NULL: nothing. */
    leat_status (*check)(leat_dataset *dataset, leat_error *err);
    /* A plan's "inputs" as a tree ({"tuple"}, {"dict"}) is stored in this SPEC argument; NULL: only
     * lists. */
    const char *structure_argument;
    leat_spec *(*spec)(const leat_dataset *dataset,
                       leat_error *err); /* owned; NULL slot: the input's */
    /* Spec of the arguments of function argument `row`, when a plan is read; `args` is filled up to
     * that row. Owned. NULL slot: the spec of input 0's elements. */
    leat_spec *(*function_input)(const void *args, leat_dataset *const *inputs, int num_inputs,
                                 const leati_row *row, leat_error *err);
    /* A reader that makes functions from names asks after each: the arguments' spec with which to
     * make it again (owned), or NULL without an error where it will do. NULL slot: it will do. */
    leat_spec *(*function_again)(const leat_function *function, const leat_spec *input,
                                 const leati_row *row, leat_error *err);
    /* Where an argument is a structure of tensors (from_tensors): the spec of the elements for a
     * structure of this spec, whose dimensions may be unknown. Owned. NULL slot: no such argument.
     */
    leat_spec *(*spec_of_elements)(const leat_spec *tensors, leat_error *err);
    /* May the node be written as JSON? NULL slot: yes. */
    leat_status (*writable)(const leat_dataset *dataset, leat_error *err);
    int64_t (*cardinality)(const leat_dataset *dataset); /* NULL slot: by flow */
    bool (*pure)(
        const leat_dataset *dataset); /* NULL slot: by flags and functions; inputs are and-ed */
    /* Are the elements of this node those of input 0, so that plans do without the node? NULL slot:
     * no. */
    bool (*changes_nothing)(const leat_dataset *dataset);
    /* Does an iterator of this node read the input ahead on a thread of its own? NULL slot: no. */
    bool (*reads_ahead)(const leat_dataset *dataset);
    /* For operators made of others: the plan that stands for the node (owned), over its inputs.
     * The node is replaced by it when an iterator is made, and has no run side; spec, purity and,
     * without a slot of its own, cardinality are the plan's. It is asked when the node is made,
     * too. NULL: none. */
    leat_dataset *(*expand)(const leat_dataset *dataset, leat_error *err);
    /* Shared state of the node, made on first use by leati_dataset_shared, freed with the node;
     * NULL: none. */
    void *(*share)(const leat_dataset *dataset, leat_error *err);
    void (*unshare)(void *shared);
    /* Shared state that a restored iterator has for itself (data/run/own.h); `own` and `shared` are
     * of `share`. NULL settle: all iterators always share it. */
    void (*shared_settle)(void *own, void *shared); /* restored: `shared` may follow from here on */
    void (*shared_copy)(void *own, void *shared);   /* begins as `shared` stands; NULL: anew */
    /* What is in it, once for the whole state; NULL slots: each node's own part has it. The
     * restored one may take from `shared` what is the same. *unfinished: opening `dataset`
     * completes it. */
    leat_status (*shared_save)(const leat_dataset *dataset, void *state, leati_writer *out,
                               leati_save_cost *cost, leat_error *err);
    leat_status (*shared_restore)(const leat_dataset *dataset, void *own, void *shared,
                                  leati_reader *in, bool *unfinished, leat_error *err);
    /* Is it still empty, so that each place of the node that opens now runs the input itself? NULL:
     * never. Thread-safe. */
    bool (*shared_empty)(const leat_dataset *dataset, void *state);
    /* Lines for explain about how the node runs, each with `name` in front. NULL: none. */
    void (*remark)(const leat_dataset *dataset, const char *name, leati_text *text);
    /* Run side. `state` is zeroed memory of state_size that the framework owns; close always runs,
     * also after a failed open. The state of an operator over one input that leaves out open, save,
     * restore, reset or close starts with its leati_input, and the default does that slot's work on
     * the input (if it is open) and on the numbers in `saved`. */
    size_t state_size;
    leati_saved saved[4]; /* ends with {0} */
    /* Makes the state's own part that of a new epoch, before open and before reset. NULL: zeros,
     * which memory and the numbers in `saved` have already. */
    void (*start)(leati_node_state *node, void *state);
    leat_status (*open)(leati_node_state *node, void *state, leat_error *err);
    leati_tail (*pull)(leati_node_state *node, void *state, int64_t want, leati_block *out,
                       leat_error *err);
    /* Passes up to n outcomes without computing pure maps; *passed says how many before the end.
     * The caller knows from an earlier run that they are elements, so nothing need be checked.
     * NULL: pulls and drops. */
    leati_tail (*advance)(leati_node_state *node, void *state, int64_t n, int64_t *passed,
                          leat_error *err);
    /* Passes up to n elements for the operators skip and shard, which see their errors: MORE means
     * that *skipped is n, ERROR that one error outcome came after *skipped elements. NULL: pulls
     * and drops, so that functions run, as in TensorFlow. */
    leati_tail (*skip)(leati_node_state *node, void *state, int64_t n, int64_t *skipped,
                       leat_error *err);
    /* Writes the position after the last outcome delivered; restore is called after open, before
     * any pull. Children are saved through their leati_input. */
    leat_status (*save)(leati_node_state *node, void *state, leati_writer *out,
                        leati_save_cost *cost, leat_error *err);
    leat_status (*restore)(leati_node_state *node, void *state, leati_reader *in, leat_error *err);
    /* For the default of restore: checks the numbers that were read, before the input's state is,
     * and completes the state by them. NULL: nothing. */
    leat_status (*restored)(leati_node_state *node, void *state, leat_error *err);
    /* Starts over as a fresh open would (a new epoch). */
    leat_status (*reset)(leati_node_state *node, void *state, leat_error *err);
    void (*close)(leati_node_state *node, void *state);
    /* Random access (data/access/access.h has the contract of at). access_open and access_close may
     * be NULL; close runs also after a failed open. NULL at: UNIMPLEMENTED. */
    size_t access_size;
    leat_status (*access_open)(leati_access *access, leat_error *err);
    leat_status (*at)(leati_access *access, const int64_t *indices, int64_t n, leati_block *out,
                      leat_error *err);
    void (*access_close)(leati_access *access);
    /* May global_shuffle stand over this node, its inputs aside? NULL slot: where there is an at.
     */
    leat_status (*indexable)(const leat_dataset *dataset, leat_error *err);
} leati_dataset_op;

/* The table: data/ops.def, joined with those of higher rooms. */
const leati_dataset_op *leati_op_find(const char *name);
const leati_dataset_op *const *leati_plan_ops(size_t *count);
/* For leati_join_operators alone (src/leat_operators.c): adds the operators of a higher room. */
void leati_plan_ops_join(const leati_dataset_op *const *more, size_t count);

/* Its operators, for what is about one of them: a rewrite that matches it, an operator made of it.
 */
#define X(name) extern const leati_dataset_op leati_op_##name;
#include "data/ops.def"
#undef X

#endif
