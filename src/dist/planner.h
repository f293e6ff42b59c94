/* How a dataset of global batches is split among workers and replicas: TensorFlow's rules
 * (tf.distribute's input library, tf.data's auto_shard and their kernels). Pure functions of the
 * dataset and of a worker's place; they ask no other worker and read no file. */
#ifndef LEATI_DIST_PLANNER_H
#define LEATI_DIST_PLANNER_H

#include "data/plan/dataset.h"
#include <leat/dist.h>

/* One of the pipelines that feed a strategy: workers have one each, and replicas with
 * LEAT_INPUT_PER_REPLICA. */
typedef struct leati_feed_place {
    int num_workers, worker; /* pipelines, and which of them this is */
    int replicas;            /* that each of them feeds */
} leati_feed_place;

static inline int leati_planner_all_replicas(const leati_feed_place *place) {
    return place->num_workers * place->replicas;
}

typedef enum leati_rebatch_rule {
    LEATI_REBATCH_NONE = 0, /* elements as they are */
    LEATI_REBATCH_SIZES,    /* by a list of sizes (the second version) */
    LEATI_REBATCH_PIECES    /* every batch in equal pieces (the first version) */
} leati_rebatch_rule;

/* What policies (LEAT_SHARD_...) and rules are called, in texts and in saved states. */
const char *leati_planner_policy_name(int policy);
const char *leati_planner_rule_name(int rule);

typedef struct leati_split_plan {
    leati_feed_place place;
    leati_rebatch_rule rule;
    int64_t global_batch;          /* -1: unknown */
    leat_auto_shard_policy policy; /* in force: never AUTO */
    /* The function of distribute_datasets_from_function made it: elements belong together. */
    bool as_is;
    /* Are steps with fewer elements than replicas filled up with empty ones? Off for infinite
     * datasets, and with one worker for static specs. */
    bool fill;
    leat_spec *spec; /* of what a replica receives; owned */
    char text[768];  /* what was decided and why, one line */
} leati_split_plan;

/* The batch size of a dataset as TensorFlow computes it: the common static first dimension, else
 * that of the batch operator seen through transparent operators, else -1. INVALID_ARGUMENT for
 * scalar components. */
LEAT_WARN_UNUSED leat_status leati_planner_batch_size(const leat_dataset *dataset, int64_t *out,
                                                      leat_error *err);

/* The sizes that worker `worker` of `num_workers`, each with `replicas` replicas, takes in turn;
 * `sizes` has room for num_workers * replicas. */
void leati_planner_batch_sizes(int64_t global_batch, int num_workers, int replicas, int worker,
                               int64_t *sizes);

/* The plan of a dataset that yields the replicas' batches already: nothing is split. */
LEAT_WARN_UNUSED leat_status leati_planner_as_is(const leat_dataset *dataset,
                                                 const leati_feed_place *place,
                                                 leati_split_plan *plan, leat_error *err);

/* Decides how `dataset` (borrowed) is split. NOT_FOUND where the policy FILE is asked for and finds
 * no files. `plan` is {0} at first; leati_planner_split_fini also after a failure. */
LEAT_WARN_UNUSED leat_status leati_planner_split(const leat_dataset *dataset,
                                                 const leati_feed_place *place,
                                                 leat_auto_shard_policy policy,
                                                 leati_split_plan *plan, leat_error *err);
void leati_planner_split_fini(leati_split_plan *plan);

/* What worker `worker` of `num_workers` reads of `dataset` (borrowed) under the policy in force: a
 * dataset of global batches, of its own files, or of all with DATA and OFF. Owned. */
leat_dataset *leati_planner_share(const leat_dataset *dataset, leat_auto_shard_policy policy,
                                  int num_workers, int worker, leat_error *err);

#endif
