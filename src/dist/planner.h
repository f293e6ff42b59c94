/* How a dataset of global batches is split among replicas: TensorFlow's rules (tf.distribute's
 * input library and its kernels). */
#ifndef LEATI_DIST_PLANNER_H
#define LEATI_DIST_PLANNER_H

#include "data/dataset.h"
#include <leat/dist.h>

typedef enum leati_rebatch_rule {
    LEATI_REBATCH_NONE = 0, /* one replica */
    LEATI_REBATCH_SIZES,    /* rebatch by a list of sizes (the second version) */
    LEATI_REBATCH_PIECES    /* every batch in equal pieces (the first version) */
} leati_rebatch_rule;

typedef struct leati_split_plan {
    leati_rebatch_rule rule;
    int64_t global_batch;          /* -1: unknown */
    leat_auto_shard_policy policy; /* in force: never AUTO */
    /* Are steps with fewer elements than replicas filled up with empty ones? Off for static specs
     * and infinite datasets. */
    bool fill;
    char text[256]; /* what was decided and why, one line */
} leati_split_plan;

/* The batch size of a dataset as TensorFlow computes it: the common static first dimension, else
 * that of the batch operator seen through transparent operators, else -1. INVALID_ARGUMENT for
 * scalar components. */
LEAT_WARN_UNUSED leat_status leati_compute_batch_size(const leat_dataset *dataset, int64_t *out,
                                                      leat_error *err);

/* The sizes that worker `worker` of `num_workers`, each with `replicas` replicas, takes in turn;
 * `sizes` has room for num_workers * replicas. */
void leati_batch_sizes(int64_t global_batch, int num_workers, int replicas, int worker,
                       int64_t *sizes);

/* Can the dataset be sharded by file: does the walk from the sink reach a record reader? */
bool leati_reads_files(const leat_dataset *dataset);

/* The plan of a dataset that yields the replicas' batches already: nothing is split. */
void leati_plan_as_is(const leat_dataset *dataset, int num_replicas, leati_split_plan *plan);

/* Decides, and returns the dataset of per-replica batches (owned; `dataset` is given; NULL on
 * failure). */
leat_dataset *leati_plan_split(leat_dataset *dataset, int num_replicas,
                               leat_auto_shard_policy policy, leati_split_plan *plan,
                               leat_error *err);

#endif
