/* The mirrored strategy of several workers: replicas in one process per task of a cluster,
 * variables mirrored on all (tf.distribute.MultiWorkerMirroredStrategy).
 *
 * Joins the job (dist/workers.c), then makes a strategy as any other, whose collective spans the
 * processes. Also here: what all workers exchange outside of steps. Failures: the cluster's, those
 * of joining, and of a job that failed. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "base/stop.h"
#include "dist/agreement.h"
#include "dist/strategy.h"
#include <stdio.h>

extern const leati_strategy_kind leati_strategy_multi_worker_mirrored;

// ---- life ----

static leat_status check(const leat_strategy_multi_worker_mirrored_options *options, int count,
                         leat_error *err) {
    if (count < 1 || options->timeout_ms < 1 || options->start_timeout_ms < 1 ||
        options->heartbeat_timeout_ms < 1 || options->bytes_per_pack < 0) {
        return leati_refuse(
            err, VALUE,
            "strategy \"multi_worker_mirrored\": %d devices, timeouts of %lld, %lld "
            "and %lld ms, bytes_per_pack %lld; expected at least one device and 1 ms, and "
            "nothing negative",
            count, (long long)options->timeout_ms, (long long)options->start_timeout_ms,
            (long long)options->heartbeat_timeout_ms, (long long)options->bytes_per_pack);
    }
    if (options->communication < LEAT_COMMUNICATION_AUTO ||
        options->communication > LEAT_COMMUNICATION_MPI) {
        return leati_refuse(
            err, VALUE,
            "communication %d; expected LEAT_COMMUNICATION_AUTO, _RING, _SHARED or _MPI",
            (int)options->communication);
    }
    return LEAT_OK;
}

/* `devices` are open; given. */
static leat_strategy *join(const leat_cluster *cluster,
                           const leat_strategy_multi_worker_mirrored_options *options,
                           leati_device *const *devices, int count, leat_error *err) {
    leati_workers *workers = leati_workers_join(cluster, options, count, err);
    /* Without an error NULL is a job of one worker, which needs nobody. */
    if (workers == NULL && err->code != LEAT_OK) {
        for (int i = 0; i < count; i++)
            devices[i]->ops->close(devices[i]);
        return NULL;
    }
    const leati_strategy_parts parts = {.kind = &leati_strategy_multi_worker_mirrored,
                                        .devices = devices,
                                        .num_devices = count,
                                        .workers = workers,
                                        .timeout_ms = options->timeout_ms,
                                        .bytes_per_pack = options->bytes_per_pack};
    return leati_strategy_new(&parts, err);
}

static leat_strategy *make_in(const leat_cluster *cluster,
                              const leat_strategy_multi_worker_mirrored_options *options,
                              leat_error *err) {
    static const char *const first = "CPU:0";
    const char *const *names = options->devices != NULL ? options->devices : &first;
    /* One replica per process, unless more are asked for. */
    int count = options->devices != NULL ? options->num_devices : 1;
    if (check(options, count, err) != LEAT_OK)
        return NULL;
    leati_device **devices = leati_strategy_open_devices(names, count, err);
    leat_strategy *strategy = devices == NULL ? NULL : join(cluster, options, devices, count, err);
    leati_free(devices);
    return strategy;
}

leat_strategy *
leat_strategy_multi_worker_mirrored(const leat_strategy_multi_worker_mirrored_options *options,
                                    leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_strategy_multi_worker_mirrored_options o = {LEAT_STRATEGY_MULTI_WORKER_MIRRORED_DEFAULTS};
    leat_error local = {0};
    if (LEATI_OPTIONS(leat_strategy_multi_worker_mirrored_options, &o, options, err) != LEAT_OK)
        return NULL;
    leat_cluster *found = o.cluster == NULL ? leat_cluster_find(NULL, &local) : NULL;
    const leat_cluster *cluster = o.cluster != NULL ? o.cluster : found;
    /* Waiting for the others may be ended: nobody else has anything of this strategy yet. */
    leati_stop_scope before = leati_stop_enter(NULL, NULL, NULL);
    leat_strategy *strategy = cluster == NULL ? NULL : make_in(cluster, &o, &local);
    leati_stop_leave(before);
    leat_cluster_free(found);
    if (strategy == NULL)
        *err = local;
    return strategy;
}

static leat_strategy *make(leat_error *err) {
    return leat_strategy_multi_worker_mirrored(NULL, err);
}

// ---- together ----

static leat_status check_call(const leat_strategy *strategy, const char *name, bool complete,
                              leat_error *err) {
    if (strategy == NULL || !complete) {
        return leati_refuse(err, VALUE, "%s: %s is NULL", name,
                            strategy == NULL ? "strategy" : "an argument");
    }
    return strategy->workers == NULL ? LEAT_OK : leati_workers_check(strategy->workers, err);
}

leat_status leat_strategy_exchange(leat_strategy *strategy, const int64_t *mine, int count,
                                   int64_t *out, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_status status = check_call(strategy, "leat_strategy_exchange",
                                    (mine != NULL && out != NULL) || count == 0, err);
    if (status != LEAT_OK || count <= 0)
        return status;
    if (strategy->workers == NULL) {
        for (int i = 0; i < count; i++)
            out[i] = mine[i];
        return LEAT_OK;
    }
    leati_collective *between = leati_workers_collective(strategy->workers);
    return between->ops->all_gather(between, leati_workers_number(strategy->workers), mine, count,
                                    LEAT_INT64, out, err);
}

leat_status leat_strategy_broadcast(leat_strategy *strategy, void *data, size_t count,
                                    leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_status status =
        check_call(strategy, "leat_strategy_broadcast", data != NULL || count == 0, err);
    if (status != LEAT_OK || strategy->workers == NULL || count == 0)
        return status;
    leati_collective *between = leati_workers_collective(strategy->workers);
    return between->ops->broadcast(between, leati_workers_number(strategy->workers), 0, data,
                                   (int64_t)count, LEAT_UINT8, err);
}

struct said {
    const char *what, *value;
};

static void list_said(const void *context, leati_agreement_list *list) {
    const struct said *said = context;
    leati_agreement_add_text(list, said->what, said->value);
}

leat_status leat_strategy_agree(leat_strategy *strategy, const char *what, const char *value,
                                leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_status status =
        check_call(strategy, "leat_strategy_agree", what != NULL && value != NULL, err);
    if (status != LEAT_OK || strategy->workers == NULL)
        return status;
    const struct said said = {.what = what, .value = value};
    return leati_agreement_compare(strategy, "the program", list_said, &said,
                                   "start the same one with the same data on all workers", err);
}

leat_status leat_strategy_barrier(leat_strategy *strategy, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_status status = check_call(strategy, "leat_strategy_barrier", true, err);
    if (status != LEAT_OK || strategy->workers == NULL)
        return status;
    leati_collective *between = leati_workers_collective(strategy->workers);
    return between->ops->barrier(between, leati_workers_number(strategy->workers), err);
}

void leat_strategy_abort(leat_strategy *strategy, const char *text) {
    if (strategy != NULL && strategy->workers != NULL) {
        leat_error why = {0};
        leati_fail(&why, LEAT_ABORTED, "%s", text == NULL ? "it gave up" : text);
        leati_workers_fail(strategy->workers, &why);
    }
}

void leati_strategy_reading(leat_strategy *strategy, leati_stage_writer stage, void *input) {
    if (strategy->workers != NULL)
        leati_workers_reading(strategy->workers, stage, input);
}

void leati_strategy_note(leat_strategy *strategy, leati_store_phase phase) {
    if (strategy->workers != NULL)
        leati_workers_note(strategy->workers, phase);
}

const leati_strategy_kind leati_strategy_multi_worker_mirrored = {
    .name = "multi_worker_mirrored",
    .doc = "Replicas on all workers of a cluster, one process each; variables are mirrored "
           "(tf.distribute.MultiWorkerMirroredStrategy).",
    .make = make,
};
