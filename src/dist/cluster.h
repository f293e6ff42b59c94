/* The inside of clusters, for the resolvers. */
#ifndef LEATI_DIST_CLUSTER_H
#define LEATI_DIST_CLUSTER_H

#include <jansson.h>
#include <leat/cluster.h>

/* More processes than this are taken for a mistake. */
enum { LEATI_MOST_WORKERS = 1 << 20 };

/* A resolver is one file and one line in dist/resolvers.def. */
typedef struct leati_resolver {
    const char *name; /* "slurm" */
    const char *doc;
    /* Are the launcher's variables there? */
    bool (*applies)(void);
    /* A cluster in TF_CONFIG's form: {"cluster", "task"}; owned, NULL with `err`. */
    json_t *(*read)(leat_error *err);
} leati_resolver;

/* The address of worker `index`, counted as leat_cluster_id counts. Borrowed; NULL: none. */
const char *leati_cluster_address(const leat_cluster *cluster, int64_t index);

/* Which of how many processes that train together this one is: 0 of 1 where the cluster names none,
 * and for an evaluator. */
LEAT_WARN_UNUSED leat_status leati_cluster_place(const leat_cluster *cluster, int *worker,
                                                 int *num_workers, leat_error *err);

/* A whole number of 0 or more from a variable of the environment. */
LEAT_WARN_UNUSED leat_status leati_cluster_resolver_number(const char *variable, int64_t *out,
                                                           leat_error *err);

/* Reads TF_CONFIG's text, an object; owned, NULL with `err`: INVALID_ARGUMENT. */
json_t *leati_cluster_parse(const char *tf_config, leat_error *err);

/* Addresses of `count` workers who know that of the first alone; the others' are empty and are
 * exchanged when all have met there. Owned. */
json_t *leati_cluster_resolver_meet_at(const char *host, int64_t port, int64_t count,
                                       leat_error *err);

/* {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": index}}; `addresses` is
 * given. NULL without memory. */
json_t *leati_cluster_resolver_workers(json_t *addresses, int64_t index, leat_error *err);

#endif
