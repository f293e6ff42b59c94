/* A cluster of threads: what workers tell each other, without processes. Each worker's thread calls
 * the exchanges in the same order; an abort wakes all of them with its text. */
#ifndef TESTS_LOCKSTEP_H
#define TESTS_LOCKSTEP_H

#include "base/error.h"
#include "dist/distributed.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct lockstep_cluster {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int num_workers, arrived;
    uint64_t generation;
    int64_t *slots, *result; /* of the running exchange, and of the last one */
    bool aborted;
    char text[LEAT_ERROR_TEXT];
    int64_t exchanges;
} lockstep_cluster;

/* A worker's end of it. */
typedef struct lockstep_member {
    lockstep_cluster *cluster;
    int worker;
} lockstep_member;

static inline void lockstep_init(lockstep_cluster *cluster, int num_workers) {
    memset(cluster, 0, sizeof *cluster);
    pthread_mutex_init(&cluster->lock, NULL);
    pthread_cond_init(&cluster->changed, NULL);
    cluster->num_workers = num_workers;
}

static inline void lockstep_fini(lockstep_cluster *cluster) {
    free(cluster->slots);
    free(cluster->result);
    pthread_cond_destroy(&cluster->changed);
    pthread_mutex_destroy(&cluster->lock);
}

static leat_status lockstep_exchange(void *context, const int64_t *mine, int count, int64_t *out,
                                     leat_error *err) {
    const lockstep_member *member = context;
    lockstep_cluster *c = member->cluster;
    size_t bytes = (size_t)count * sizeof *mine;
    leat_status status = LEAT_OK;
    pthread_mutex_lock(&c->lock);
    uint64_t generation = c->generation;
    if (c->arrived++ == 0)
        c->slots = realloc(c->slots, bytes * (size_t)c->num_workers + 1);
    memcpy((char *)c->slots + bytes * (size_t)member->worker, mine, bytes);
    if (c->arrived == c->num_workers) {
        int64_t *last = c->result;
        c->result = c->slots;
        c->slots = last;
        c->arrived = 0;
        c->generation++;
        c->exchanges++;
        pthread_cond_broadcast(&c->changed);
    }
    while (c->generation == generation && !c->aborted)
        pthread_cond_wait(&c->changed, &c->lock);
    if (c->generation == generation)
        status = leati_fail(err, LEAT_ABORTED, "%s", c->text);
    else
        memcpy(out, c->result, bytes * (size_t)c->num_workers);
    pthread_mutex_unlock(&c->lock);
    return status;
}

static void lockstep_abort(void *context, const char *text) {
    lockstep_cluster *c = ((lockstep_member *)context)->cluster;
    pthread_mutex_lock(&c->lock);
    if (!c->aborted)
        snprintf(c->text, sizeof c->text, "%s", text);
    c->aborted = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

/* Worker `member->worker` of the cluster, with `replicas` replicas. */
static inline leati_membership lockstep_membership(lockstep_member *member, int replicas) {
    return (leati_membership){
        .num_workers = member->cluster->num_workers,
        .worker = member->worker,
        .replicas = replicas,
        .per_replica_ok = true,
        .others = {.context = member, .exchange = lockstep_exchange, .abort = lockstep_abort}};
}

#endif
