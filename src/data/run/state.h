/* The run side of the framework: one record per operator of an iterator, and what the iterator
 * shares. */
#ifndef LEATI_DATA_RUN_STATE_H
#define LEATI_DATA_RUN_STATE_H

#include "data/plan/dataset.h"
#include "exec/program.h"

/* What the user leaves to autotune; each LEATI_OPTION_NOT_SET, or 0 for no limit of its own. */
typedef struct leati_tuning {
    int64_t memory; /* bytes held beyond which no buffer grows */
    int64_t start;  /* calls at a time to start with */
    int64_t least;  /* calls at a time to keep at least */
} leati_tuning;

/* What one iterator shares among its operators. */
struct leati_iteration {
    leati_pool *pool;     /* borrowed */
    leat_cancel *cancel;  /* a reference */
    leati_budget *budget; /* a reference */
    int64_t deadline_ns;  /* of the running call of next; LEATI_NO_DEADLINE */
    bool verify;
    uint64_t verify_seed;
    bool autotune;
    leati_tuning tuning;
    leati_picture_quality quality;
    bool inline_only;            /* a dataset inside a function: no drivers, no pool (DESIGN 6) */
    const struct leati_own *own; /* a restored iterator's own states of nodes; borrowed */
    bool restored;               /* the tree was opened for a state */
    uint64_t scope;              /* random numbers: hash of the ordinals of enclosing functions */
    leat_buffer *origins;        /* the paths of rows' origins, data/run/origins.h; borrowed */
    struct leati_tuner *tuner;   /* NULL: none; data/run/autotune.h */
    int64_t started_ns;          /* when the iterator was made */
    const struct leati_splits *splits; /* data/run/splits.h; NULL: there are none. Borrowed */
    leati_node_state *root; /* stands above the tree; children are linked from their parents */
};

struct leati_node_state {
    const leat_dataset *dataset; /* a reference */
    leati_iteration *iteration;
    void *state;        /* op->state_size bytes */
    bool gives_origins; /* rows get origins where they can; set by open */
    bool ended;         /* END was delivered: sticky until reset */
    bool stale;         /* a reset failed half way: the next call begins with another one */
    leati_counters counters;
    leati_holder holder;
    int64_t position; /* outcomes delivered since open: kept by the framework */
    int depth;        /* in the tree, for explain */
    /* Of leati_explain_load, under the same lock as `children`: computing that it has told, and
     * that of children which were closed since, which nobody else can tell. */
    int64_t told_ns, gone_ns;
    leati_node_state *parent;
    /* Open children, linked by `sibling`; changed only by the thread that opens or closes them,
     * under the process-wide lock that explain takes too. */
    leati_node_state *children, *sibling;
    struct leati_knob *knobs; /* under the same lock */
    char name[64];            /* operator and label: map "decode" */
};

/* Guards the lists of children; a leaf. */
void leati_state_tree_lock(void);
void leati_state_tree_unlock(void);

/* Opens an operator and, through its inputs, the tree below. Owned; NULL on failure (everything is
 * closed again). */
leati_node_state *leati_state_node_open(const leat_dataset *dataset, leati_iteration *iteration,
                                        leati_node_state *parent, leat_error *err);
void leati_state_node_close(leati_node_state *node);
/* The record alone, zeroed before: names, counters, the place in the tree. */
void leati_state_node_init(leati_node_state *node, const leat_dataset *dataset,
                           leati_iteration *iteration, leati_node_state *parent);
void leati_state_node_fini(leati_node_state *node);

/* The protocol's calls, with counters, position and END made sticky. want >= 1. An error gets the
 * operator's name and the outcome's number where it arises; one from below has a place already. */
leati_tail leati_state_node_pull(leati_node_state *node, int64_t want, leati_block *out,
                                 leat_error *err);
leati_tail leati_state_node_advance(leati_node_state *node, int64_t n, int64_t *passed,
                                    leat_error *err);
/* Was an error that comes where elements are computed again an outcome in the run before, too? Of
 * cancelling and of want of memory, threads or descriptors nobody knows, and counting them would
 * give elements twice. */
static inline bool leati_state_recurs(const leat_error *err) {
    return err->code != LEAT_CANCELLED && err->code != LEAT_RESOURCE_EXHAUSTED;
}

/* The default of an operator's advance: pulls and drops. For operators that can do better only over
 * some inputs. */
leati_tail leati_state_node_advance_by_pulling(leati_node_state *node, int64_t n, int64_t *passed,
                                               leat_error *err);
/* Is every outcome an element, so that what is passed unseen holds no error? Only where all
 * operators are known to be so. */
bool leati_state_cannot_fail(const leat_dataset *dataset);
/* Only where the operator has its own way to skip. */
leati_tail leati_state_node_skip(leati_node_state *node, int64_t n, int64_t *skipped,
                                 leat_error *err);
LEAT_WARN_UNUSED leat_status leati_state_node_save(leati_node_state *node, leati_writer *out,
                                                   leati_save_cost *cost, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_state_node_restore(leati_node_state *node, leati_reader *in,
                                                      leat_error *err);
/* The seed generators of a plan that are read in step with the consumer, also of operators that
 * have not been opened yet: as `own` has them (data/run/own.h). A restored iterator must draw what
 * the saved one was going to draw. */
LEAT_WARN_UNUSED leat_status leati_state_generators_save(const leat_dataset *plan,
                                                         const struct leati_own *own,
                                                         leati_writer *out, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_state_generators_restore(const leat_dataset *plan,
                                                            const struct leati_own *own,
                                                            leati_reader *in, leat_error *err);
/* An iteration derived for datasets inside a function: same pool, cancel and budget, inline only,
 * its own random scope. */
void leati_state_iteration_derive(const leati_iteration *from, uint64_t ordinal,
                                  leati_iteration *out);

/* The random context of a call of `function`, argument of `node`, for its outcome number `ordinal`.
 */
leati_call_context leati_state_node_context(const leati_node_state *node, int64_t ordinal);

/* A new epoch of the same operator tree. */
LEAT_WARN_UNUSED leat_status leati_state_node_reset(leati_node_state *node, leat_error *err);

#endif
