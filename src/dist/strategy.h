/* The inside of strategies: devices, a thread per replica, one collective. */
#ifndef LEATI_DIST_STRATEGY_H
#define LEATI_DIST_STRATEGY_H

#include "coll/coll.h"
#include "exec/device.h"
#include "run/driver.h"
#include "run/queue.h"
#include <leat/dist.h>

/* Work for one replica, called on its thread. */
typedef leat_status (*leati_replica_function)(void *context, int replica, leat_error *err);

typedef struct leati_replica {
    struct leat_strategy *strategy;
    int index;
    leati_driver *driver; /* NULL for replica 0, which runs on the caller's thread */
    leat_status status;   /* of the last job; written before `done` */
    leat_error error;
    _Atomic uint64_t done; /* number of the last job that this replica finished */
} leati_replica;

struct leat_strategy {
    leat_object object;
    const struct leati_strategy_kind *kind;
    int num_replicas;
    leati_device **devices;       /* owned */
    leati_collective *collective; /* NULL: one replica; replaced under the gate's lock */
    int64_t timeout_ms;
    leati_replica *replicas;
    leati_gate *gate;                /* where threads sleep after they have spun for a while */
    int spins;                       /* 0 where replicas share cores */
    leati_replica_function function; /* written before `job` */
    void *context;
    _Atomic uint64_t job; /* number of the running or last job */
    _Atomic bool stop;
    _Atomic bool cancelled; /* since the last job began */
    int64_t steps;          /* runs since the global seed was set: the key of random operations */
    uint64_t seed_epoch;    /* of those runs; both belong to the thread that runs */
};

/* A strategy is one file and one line in dist/strategies.def. */
typedef struct leati_strategy_kind {
    const char *name; /* "mirrored" */
    const char *doc;
} leati_strategy_kind;

/* A strategy over `devices` (given, also on failure). Owned. */
leat_strategy *leati_strategy_new(const leati_strategy_kind *kind, leati_device *const *devices,
                                  int num_devices, int64_t timeout_ms, leat_error *err);

/* Runs `function` on every replica at the same time and waits for all. The first failure by replica
 * number is reported; the others' collectives are aborted. */
LEAT_WARN_UNUSED leat_status leati_strategy_run_on_replicas(leat_strategy *strategy,
                                                            leati_replica_function function,
                                                            void *context, leat_error *err);

/* Logical devices: how many there are, and device `index` (owned). Fixes their number. */
int leati_logical_cpus(void);
leati_device *leati_logical_cpu_open(int index, leat_error *err);

/* The strategies' table, for `leat ops` and the golden runner. */
const leati_strategy_kind *const *leati_strategy_kinds(size_t *count);

#endif
