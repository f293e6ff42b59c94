/* The processes of a job, and which of them this one is (tf.distribute.cluster_resolver).
 *
 * A cluster is read once, from TF_CONFIG or from the variables of another launcher, and never
 * changes; any number of threads may ask it. Mistakes in it are reported by the function that needs
 * the part in question, so that a process without a place in the cluster can still print it. */
#ifndef LEAT_CLUSTER_H
#define LEAT_CLUSTER_H

#include <leat/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct leat_cluster leat_cluster;

/* A task number that is not given. */
#define LEAT_NO_TASK INT64_MIN

/* A cluster of TF_CONFIG's text ({"cluster": {job: [address]}, "task": {"type", "index"}}; NULL, an
 * empty object: no cluster). Text that is no JSON object is INVALID_ARGUMENT. Owned
 * (tf.distribute.cluster_resolver.TFConfigClusterResolver). */
LEAT_API leat_cluster *leat_cluster_new(const char *tf_config, leat_error *err);

/* The cluster that the environment describes, as the resolver of this name reads it ("tf_config",
 * "slurm", "torchrun", "mpi"); NULL: the first that finds its variables, else no cluster. Owned. */
LEAT_API leat_cluster *leat_cluster_find(const char *resolver, leat_error *err);
LEAT_API void leat_cluster_free(leat_cluster *cluster);

/* Which resolver found it; "none" without a cluster. Borrowed. */
LEAT_API const char *leat_cluster_resolver(const leat_cluster *cluster);

/* Job name and number of this process: NULL and LEAT_NO_TASK where they are not given. Borrowed. */
LEAT_API const char *leat_cluster_task_type(const leat_cluster *cluster);
LEAT_API int64_t leat_cluster_task_id(const leat_cluster *cluster);

/* {job: [address]}, or {job: {number: address}} where numbers are missing (ClusterSpec.as_dict).
 * Owned (leat_text_free); NULL where addresses are no text. */
LEAT_API char *leat_cluster_spec(const leat_cluster *cluster, leat_error *err);

/* The protocol before the address of the master, such as "grpc"; NULL: none. Borrowed. */
LEAT_API const char *leat_cluster_rpc_layer(const leat_cluster *cluster);

/* The address of a task (NULL, LEAT_NO_TASK: of this one), after the protocol and "://" if there is
 * one; empty in a cluster of one task (ClusterResolver.master). Owned (leat_text_free). */
LEAT_API char *leat_cluster_master(const leat_cluster *cluster, const char *task_type,
                                   int64_t task_id, leat_error *err);

/* Whether this process does what is done only once, such as writing checkpoints: the chief does, or
 * worker 0 where there is none. An evaluator is its own chief. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_cluster_is_chief(const leat_cluster *cluster, bool *out,
                                                            leat_error *err);
/* This process's number among chief and workers, the chief first. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_cluster_id(const leat_cluster *cluster, int64_t *out,
                                                      leat_error *err);
/* How many processes train: chief and workers; of an evaluator: evaluators. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_cluster_num_workers(const leat_cluster *cluster,
                                                               int64_t *out, leat_error *err);

#ifdef __cplusplus
}
#endif
#endif
