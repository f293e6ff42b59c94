/* The inside of distributed datasets: who takes part, and what a step's exchange is made of. Tests
 * put their own cluster here. */
#ifndef LEATI_DIST_DISTRIBUTED_H
#define LEATI_DIST_DISTRIBUTED_H

#include "core/object.h"
#include "dist/feed.h"
#include "dist/workers.h"
#include <leat/dist.h>

/* What workers tell each other; with one worker it is not called. */
typedef struct leati_lockstep {
    void *context;
    /* As leat_strategy_exchange. */
    leat_status (*exchange)(void *context, const int64_t *mine, int count, int64_t *out,
                            leat_error *err);
    /* As leat_strategy_abort. */
    void (*abort)(void *context, const char *text);
    /* As leati_strategy_reading; NULL: nobody wants to know. */
    void (*reading)(void *context, leati_stage_writer stage, void *input);
} leati_lockstep;

/* This process's part of what is distributed. */
typedef struct leati_membership {
    int num_workers, worker;
    int replicas;          /* of this worker */
    bool per_replica_ok;   /* may each have a pipeline of its own? */
    bool drops_partial;    /* a last step with too few elements is never filled up */
    leati_lockstep others; /* with several workers */
} leati_membership;

struct leat_distributed_dataset {
    leat_object object;
    leat_strategy *strategy; /* a reference; NULL in tests */
    leati_membership member;
    int num_feeds; /* pipelines of this worker */
    /* The user's dataset; NULL: a function's. A reference. */
    leat_dataset *dataset;
    leat_dataset_function function; /* NULL: none */
    void *context;
    void (*release)(void *context);
    leat_dataset **made; /* by the function, one for each pipeline of this worker; references */
    int64_t cardinality;
    leati_split_plan plan;                    /* of this worker's first pipeline */
    leat_strategy_distribute_options options; /* without `iterator` */
    leat_iterator_options iterator;
};

/* The public constructors for a membership (copied): `dataset` is given; `function` may be NULL
 * with `dataset`, which is then used as it is. */
leat_distributed_dataset *
leati_distributed_from_dataset(const leati_membership *member, leat_dataset *dataset,
                               const leat_strategy_distribute_options *options, leat_error *err);
leat_distributed_dataset *
leati_distributed_from_function(const leati_membership *member, leat_dataset *dataset,
                                leat_dataset_function function, void *context,
                                void (*release)(void *context),
                                const leat_strategy_distribute_options *options, leat_error *err);

/* The feeds of this worker; a leati_share_maker whose context is the dataset. */
leat_dataset *leati_distributed_share(void *dataset, const leati_feed_place *place,
                                      leat_error *err);
leati_feed_place leati_distributed_place(const leat_distributed_dataset *dataset, int feed);

/* The two halves of a step, for those who do the exchange themselves. pull takes what this worker
 * has (*have elements) and tells in `mine` what the others must know; finish gets the sums over
 * all workers. */
enum { LEATI_STEP_NUMBERS = 2 };
LEAT_WARN_UNUSED leat_status leati_distributed_pull(leat_distributed_iterator *iterator,
                                                    leat_per_replica *out,
                                                    int64_t mine[LEATI_STEP_NUMBERS],
                                                    leat_error *err);
LEAT_WARN_UNUSED leat_status leati_distributed_finish(leat_distributed_iterator *iterator,
                                                      const int64_t sums[LEATI_STEP_NUMBERS],
                                                      leat_per_replica *out, leat_error *err);
/* This worker's part of a state, and the state of all parts in the order of workers. Owned. */
LEAT_WARN_UNUSED leat_status leati_distributed_save_part(leat_distributed_iterator *iterator,
                                                         const leat_iterator_save_options *options,
                                                         leati_writer *out,
                                                         leat_iterator_save_report *report,
                                                         leat_error *err);
LEAT_WARN_UNUSED leat_status leati_distributed_join(const leati_feed_part *workers, int count,
                                                    char **data, size_t *size, leat_error *err);

#endif
