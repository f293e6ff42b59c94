/* The inside of strategies: devices, a thread per replica of this process, one collective of the
 * replicas of all processes. */
#ifndef LEATI_DIST_STRATEGY_H
#define LEATI_DIST_STRATEGY_H

#include "base/stop.h"
#include "coll/coll.h"
#include "dist/workers.h"
#include "exec/device.h"
#include "run/driver.h"
#include "run/queue.h"
#include <leat/dist.h>

/* Work for one replica of this process, by its number here, called on its thread. */
typedef leat_status (*leati_replica_function)(void *context, int replica, leat_error *err);

typedef struct leati_replica {
    struct leat_strategy *strategy;
    int index;            /* in this process */
    leati_driver *driver; /* NULL for replica 0, which runs on the caller's thread */
    leat_status status;   /* of the last job; written before `done` */
    leat_error error;
    _Atomic uint64_t done; /* number of the last job that this replica finished */
} leati_replica;

struct leat_strategy {
    leat_object object;
    const struct leati_strategy_kind *kind;
    int num_replicas;       /* of all workers */
    int num_local;          /* of this process */
    int first_replica;      /* number of this process's first one among all */
    leati_workers *workers; /* owned; NULL: this process alone */
    leati_device **devices; /* of this process; owned */
    /* Of all replicas; NULL: one replica. Replaced under the gate's lock, but under several
     * workers, where a job that failed stays failed. */
    leati_collective *collective;
    int64_t timeout_ms;
    int64_t bytes_per_pack;          /* of one exchange of gradients; 0: no limit */
    leati_replica *replicas;         /* of this process */
    char *described;                 /* owned */
    leati_gate *gate;                /* where threads sleep after they have spun for a while */
    int spins;                       /* 0 where replicas share cores */
    leati_replica_function function; /* written before `job` */
    void *context;
    _Atomic uint64_t job; /* number of the running or last job */
    _Atomic bool stop;
    leati_stop_team team; /* the replicas; stopping: cancelled since the last job began */
    int64_t steps;        /* runs since the global seed was set: the key of random operations */
    uint64_t seed_epoch;  /* of those runs; both belong to the thread that runs */
};

/* A strategy is one file and one line in dist/strategies.def. */
typedef struct leati_strategy_kind {
    const char *name; /* "mirrored" */
    const char *doc;
    leat_strategy *(*make)(leat_error *err); /* with its defaults */
    bool places_nothing;                     /* variables lie as outside of any scope */
    bool input_per_replica;                  /* each replica may have a pipeline of its own */
    bool drops_partial; /* a last step with too few elements is never filled up */
} leati_strategy_kind;

/* What a strategy is made of. */
typedef struct leati_strategy_parts {
    const leati_strategy_kind *kind;
    leati_device *const *devices; /* each given, also on failure */
    int num_devices;
    leati_workers *workers; /* given, also on failure; NULL: this process alone */
    int64_t timeout_ms, bytes_per_pack;
} leati_strategy_parts;
leat_strategy *leati_strategy_new(const leati_strategy_parts *parts, leat_error *err);

/* Runs `function` on every replica of this process at the same time and waits for all. The first
 * failure by replica number is reported; the others' collectives are aborted, also on the other
 * workers. */
LEAT_WARN_UNUSED leat_status leati_strategy_run_on_replicas(leat_strategy *strategy,
                                                            leati_replica_function function,
                                                            void *context, leat_error *err);

/* The same on the caller's thread, for one replica after the other: what they do takes less time
 * than waking the others' threads, and `function` must exchange nothing with other replicas. */
LEAT_WARN_UNUSED leat_status leati_strategy_run_in_turn(leat_strategy *strategy,
                                                        leati_replica_function function,
                                                        void *context, leat_error *err);

/* Logical devices: how many there are, and device `index` (owned). Fixes their number. */
int leati_strategy_logical_cpus(void);
leati_device *leati_strategy_logical_cpu_open(int index, leat_error *err);
/* Devices by name such as "CPU:1"; NULL: the first `count` ones. Each is owned, and so is the list
 * of them (leati_free); on failure NULL, and none is left open. */
leati_device **leati_strategy_open_devices(const char *const *names, int count, leat_error *err);
/* A strategy of this process alone on such devices; `options` may be NULL: all devices. */
leat_strategy *leati_strategy_of_devices(const leati_strategy_kind *kind,
                                         const leat_strategy_mirrored_options *options,
                                         leat_error *err);

/* As leati_workers_reading; nothing where there is one worker. */
void leati_strategy_reading(leat_strategy *strategy, leati_stage_writer stage, void *input);
/* What this worker is doing, for stall reports; nothing where there is one worker. */
void leati_strategy_note(leat_strategy *strategy, leati_store_phase phase);

/* The strategies' table, for `leat ops` and the golden runner. */
const leati_strategy_kind *const *leati_strategy_kinds(size_t *count);

#endif
