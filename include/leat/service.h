/* The data service: pipelines that run on other processes and machines
 * (tf.data.experimental.service).
 *
 * A dispatcher knows datasets, jobs and workers; workers run pipelines; a dataset that reads from
 * the service is a client. docs/SERVICE.md is the guide. All functions may be called from any
 * thread; one server or dataset may be used by several. */
#ifndef LEAT_SERVICE_H
#define LEAT_SERVICE_H

#include <leat/data.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How the elements of a dataset are dealt out to workers
 * (tf.data.experimental.service.ShardingPolicy). The numbers are saved: append only. */
typedef enum leat_service_policy {
    LEAT_SERVICE_OFF = 0,     /* every worker gives the whole dataset */
    LEAT_SERVICE_DYNAMIC = 1, /* workers ask for the next splits of the sources */
    LEAT_SERVICE_FILE = 2,    /* worker i of n reads every n-th file */
    LEAT_SERVICE_DATA = 3,    /* worker i of n keeps every n-th element */
    LEAT_SERVICE_FILE_OR_DATA = 4,
    LEAT_SERVICE_HINT = 5 /* shard(SHARD_HINT, SHARD_HINT) becomes the worker's share */
} leat_service_policy;

/* How often an element is given when processes die. Iterators are saved and restored under the last
 * two (docs/SERVICE.md). Append only. */
typedef enum leat_service_visitation {
    LEAT_SERVICE_AT_MOST_ONCE = 0,  /* as in TensorFlow: what a lost worker had is not given */
    LEAT_SERVICE_AT_LEAST_ONCE = 1, /* it is given again by another worker */
    LEAT_SERVICE_EXACTLY_ONCE = 2   /* again, without what clients have; of deterministic plans */
} leat_service_visitation;

/* Which workers a client reads from. Append only. */
typedef enum leat_service_targets {
    LEAT_SERVICE_TARGET_AUTO = 0, /* ANY, without workers tagged COLOCATED on other hosts */
    LEAT_SERVICE_TARGET_ANY = 1,
    LEAT_SERVICE_TARGET_LOCAL = 2 /* those of this process */
} leat_service_targets;

/* Who may connect, for servers and clients. Files are PEM; texts are borrowed for the call that
 * takes them. Without a token and without tls_ca a server listens on the loopback only, unless
 * `host` says otherwise; with one of them on every interface. NULL anywhere: what
 * LEAT_SERVICE_TOKEN, LEAT_SERVICE_TLS_CERT, LEAT_SERVICE_TLS_KEY and LEAT_SERVICE_TLS_CA say, if
 * anything. */
typedef struct leat_service_security {
    const char *token;    /* 16 printable characters or more, the same for all processes */
    const char *tls_cert; /* this side's certificate and key: both or neither */
    const char *tls_key;
    const char *tls_ca; /* whoever connects, or is connected to, has a certificate of it */
} leat_service_security;

/* ---- the dispatcher ---- */

typedef struct leat_dispatcher leat_dispatcher;

/* tf.data.experimental.service.DispatcherConfig, and what leat adds. Times in milliseconds; 0: the
 * default that is named. */
typedef struct leat_dispatcher_options {
    size_t size;
    int port;                 /* 0: any free one */
    const char *protocol;     /* NULL: "grpc"; "local" serves this process alone */
    const char *host;         /* NULL: as leat_service_security says; "all": every interface */
    const char *work_dir;     /* where its database lies; NULL: in memory */
    bool fault_tolerant_mode; /* started again on work_dir it goes on; needs one */
    const char *const
        *worker_addresses; /* "host", "host:port", "host:%port%": the order of shares */
    size_t num_worker_addresses;
    int64_t job_gc_check_interval_ms; /* 600,000 */
    int64_t job_gc_timeout_ms;        /* 300,000; -1: never */
    int64_t worker_timeout_ms;        /* 10,000: silent for so long, or cut off, a worker is lost */
    int64_t client_timeout_ms;        /* 300,000 */
    int64_t worker_max_concurrent_snapshots; /* 3 */
    bool gc_dynamic_sharding_jobs;
    int web_port; /* of page, probes and metrics; 0: any free one; -1: none */
    leat_service_security security;
    bool colocated; /* a worker on each trainer's host: AUTO reads static shares of this process's
                       own alone */
} leat_dispatcher_options;
#define LEAT_DISPATCHER_DEFAULTS .size = sizeof(leat_dispatcher_options), .web_port = -1

/* A dispatcher that does not serve yet (tf.data.experimental.service.DispatchServer). `options` may
 * be NULL. INVALID_ARGUMENT for options that do not fit. Owned. */
LEAT_API leat_dispatcher *leat_dispatcher_new(const leat_dispatcher_options *options,
                                              leat_error *err);
/* Opens the database and serves. FAILED_PRECONDITION where the port is taken, another dispatcher
 * lives on the folder, or it was stopped before; DATA_LOSS for a damaged database. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_dispatcher_start(leat_dispatcher *dispatcher,
                                                            leat_error *err);
/* Waits until it is stopped. CANCELLED where leat_interrupt_set's function says so (Ctrl-C). */
LEAT_API LEAT_WARN_UNUSED leat_status leat_dispatcher_join(leat_dispatcher *dispatcher,
                                                           leat_error *err);
/* Ends serving; what was acknowledged is in the database. Any number of times. */
LEAT_API void leat_dispatcher_stop(leat_dispatcher *dispatcher);
/* Stops and frees. NULL is allowed. */
LEAT_API void leat_dispatcher_free(leat_dispatcher *dispatcher);
/* "grpc://localhost:5000", for clients of this host; port 0 before the start. Borrowed. */
LEAT_API const char *leat_dispatcher_target(const leat_dispatcher *dispatcher);
/* The port of the page; -1: none. */
LEAT_API int leat_dispatcher_web_port(const leat_dispatcher *dispatcher);

/* ---- workers ---- */

typedef struct leat_worker leat_worker;

/* tf.data.experimental.service.WorkerConfig, and what leat adds. */
typedef struct leat_worker_options {
    size_t size;
    const char *dispatcher_address; /* "host:port"; required */
    const char *worker_address; /* what clients connect to, "host:%port%"; NULL: the address from
                                   which the dispatcher is reached, and the port */
    int port;
    const char *protocol;
    const char *host;
    int64_t heartbeat_interval_ms;      /* 30,000: while nothing is new */
    int64_t dispatcher_timeout_ms;      /* 3,600,000: how long a dispatcher is waited for */
    const char *data_transfer_protocol; /* beside `protocol`: "shm", "tcp"; NULL: shm, if any */
    const char *const *worker_tags;
    size_t num_worker_tags;
    int64_t cross_trainer_cache_size_bytes; /* 10^10 for each task, within the memory budget */
    int64_t snapshot_max_chunk_size_bytes;  /* 6 * 2^30 */
    int64_t shutdown_quiet_period_ms;       /* after stop, so that clients can take the rest */
    int num_threads;                        /* for pipelines; 0: the process's pool */
    int web_port;                           /* of probes and metrics; -1: none */
    leat_service_security security;
    /* That its tasks may hold together of what they made: ready, sent and not acknowledged, or in a
     * cross-trainer cache, dealt out equally; 0: a quarter of the memory that the process may use.
     */
    int64_t memory_budget_bytes;
} leat_worker_options;
#define LEAT_WORKER_DEFAULTS .size = sizeof(leat_worker_options), .web_port = -1

/* As the dispatcher's (tf.data.experimental.service.WorkerServer). Start returns when the
 * dispatcher knows the worker: DEADLINE_EXCEEDED after dispatcher_timeout_ms. */
LEAT_API leat_worker *leat_worker_new(const leat_worker_options *options, leat_error *err);
LEAT_API LEAT_WARN_UNUSED leat_status leat_worker_start(leat_worker *worker, leat_error *err);
/* Waits until it is stopped, or has left: the dispatcher had it drained (leat_service_drain), and
 * what is still on its way goes out while it is stopped. Hears Ctrl-C: CANCELLED. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_worker_join(leat_worker *worker, leat_error *err);
/* Takes no new tasks, gives what it has made, hands back the rest, and stops; at most
 * `timeout_ms`. DEADLINE_EXCEEDED where it was stopped before all was given. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_worker_drain(leat_worker *worker, int64_t timeout_ms,
                                                        leat_error *err);
LEAT_API void leat_worker_stop(leat_worker *worker);
LEAT_API void leat_worker_free(leat_worker *worker);
/* "host:port", as the dispatcher knows it. Borrowed; NULL before the start. */
LEAT_API const char *leat_worker_address(const leat_worker *worker);
/* How many tasks it has now. */
LEAT_API int64_t leat_worker_num_tasks(const leat_worker *worker);
LEAT_API int leat_worker_web_port(const leat_worker *worker);

/* ---- clients ---- */

/* The arguments of tf.data.experimental.service.distribute, and what leat adds. */
typedef struct leat_service_options {
    size_t size;
    leat_service_policy processing_mode;
    const char *job_name;                  /* NULL: a job of this dataset alone */
    int64_t consumer_index, num_consumers; /* coordinated reads; -1, 0: not */
    int64_t max_outstanding_requests;      /* to all workers; 0: as many as pay */
    const char *data_transfer_protocol;    /* "shm", "tcp", "grpc"; NULL: the best there is */
    const char *compression;               /* "AUTO", "SNAPPY"; NULL: none */
    const char *trainer_id;                /* of a cross-trainer cache; NULL: none */
    leat_service_targets target_workers;
    leat_service_visitation visitation;
    int64_t task_refresh_interval_hint_ms; /* 0: 1,000 */
    leat_service_security security;
} leat_service_options;
#define LEAT_SERVICE_DEFAULTS                                                                      \
    .size = sizeof(leat_service_options), .consumer_index = -1, .compression = "AUTO"

/* Makes `dataset` (borrowed) known to the dispatcher at `service` ("host:port", with "grpc://" or
 * not) and gives its id (register_dataset). `compression`: "AUTO", "SNAPPY" or NULL, none;
 * `dataset_id`: the id to have, or NULL. INVALID_ARGUMENT where the plan cannot be sent, as one
 * with Python functions, or where another dataset has the id. Blocks. Owned (leat_text_free). */
LEAT_API char *leat_service_register(const char *service, leat_dataset *dataset,
                                     const char *compression, const char *dataset_id,
                                     const leat_service_security *security, leat_error *err);

/* The elements of a registered dataset (from_dataset_id). `spec` (borrowed) may be NULL: it is
 * asked of the dispatcher, which blocks. Owned. */
LEAT_API leat_dataset *leat_service_from_dataset_id(const char *service, const char *dataset_id,
                                                    const leat_spec *spec,
                                                    const leat_service_options *options,
                                                    leat_error *err);

/* Registers `input` (given) and reads it from the service (distribute). Blocks. Owned. */
LEAT_API leat_dataset *leat_service_distribute(leat_dataset *input, const char *service,
                                               const leat_service_options *options,
                                               leat_error *err);

/* Has the workers write `dataset` (borrowed) into the folder `path`, which they and the dispatcher
 * reach, and which is not there yet; returns when the dispatcher knows
 * (tf.data.experimental.distributed_save). leat_dataset_load reads it, also while it is written.
 * `compression`: "AUTO", which is SNAPPY, "SNAPPY", "GZIP" or NULL, none. INVALID_ARGUMENT for a
 * dataset without an end, and where the dispatcher is not fault tolerant; ALREADY_EXISTS;
 * UNIMPLEMENTED for elements that have no form in files, and sources without splits. Blocks. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_service_save(const char *service, leat_dataset *dataset,
                                                        const char *path, const char *compression,
                                                        const leat_service_security *security,
                                                        leat_error *err);

/* ---- looking after a service ---- */

/* What the dispatcher knows, as JSON (docs/SERVICE.md). Blocks for `timeout_ms` at most. Owned
 * (leat_text_free). */
LEAT_API char *leat_service_status(const char *service, int64_t timeout_ms,
                                   const leat_service_security *security, leat_error *err);
/* Has a worker drain ("host:port" as status shows it, or its uid; NULL: all). NOT_FOUND. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_service_drain(const char *service, const char *worker,
                                                         int64_t timeout_ms,
                                                         const leat_service_security *security,
                                                         leat_error *err);

/* ---- calls between the processes of a job ---- */

/* Bytes that one process asks another, which answers with bytes: what tf.distribute.Server and
 * ParameterServerStrategy's coordinator speak with. By gRPC; the environment's LEAT_SERVICE_TOKEN
 * and LEAT_SERVICE_TLS_* say who may connect, as with dispatchers. Any thread. */
typedef struct leat_call_server leat_call_server;
typedef struct leat_call_channel leat_call_channel;
/* A call that has come and waits for its answer. One thread at a time. */
typedef struct leat_call leat_call;

/* Serves at a port (0: any free one). `host` is an address of this machine, NULL: as
 * leat_service_security says. Owned; NULL: FAILED_PRECONDITION where the port is taken,
 * INVALID_ARGUMENT, UNIMPLEMENTED where leat was built without gRPC. */
LEAT_API leat_call_server *leat_call_server_new(const char *host, int port, leat_error *err);
LEAT_API int leat_call_server_port(const leat_call_server *server);
/* The next call (owned: leat_call_answer or leat_call_fail). Blocks for `timeout_ms` at most
 * (negative: for ever): DEADLINE_EXCEEDED. CANCELLED once the server has been stopped. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_call_server_next(leat_call_server *server,
                                                            int64_t timeout_ms, leat_call **out,
                                                            leat_error *err);
/* What is asked for, and the bytes that came with it. Borrowed from the call. */
LEAT_API const char *leat_call_method(const leat_call *call);
LEAT_API const leat_buffer *leat_call_request(const leat_call *call);
/* Does nobody wait for the answer any more? */
LEAT_API bool leat_call_is_abandoned(const leat_call *call);
/* Ends the call (given) with bytes, which are copied; false: nobody waits for them any more. */
LEAT_API bool leat_call_answer(leat_call *call, const void *bytes, size_t size);
/* Ends the call (given) with a failure. */
LEAT_API void leat_call_fail(leat_call *call, leat_status code, const char *text);
/* Refuses calls from now on, and those that nobody has taken: UNAVAILABLE. Any number of times. */
LEAT_API void leat_call_server_stop(leat_call_server *server);
/* Stops and frees, after all of its calls were answered. NULL is allowed. */
LEAT_API void leat_call_server_free(leat_call_server *server);

/* A way to a server, "host:port" or "grpc://host:port", which is connected when first used, and
 * again after it broke. Owned; INVALID_ARGUMENT for other addresses. */
LEAT_API leat_call_channel *leat_call_channel_new(const char *address, leat_error *err);
/* Asks, and waits for the answer (owned). `timeout_ms`: 0: a minute; negative: as long as the
 * server lives. `cancel` (NULL: none) ends the wait. UNAVAILABLE where the server is not reached or
 * gone, DEADLINE_EXCEEDED, CANCELLED; else what the server failed with. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_call_channel_call(
    leat_call_channel *channel, const char *method, const void *request, size_t size,
    int64_t timeout_ms, leat_cancel *cancel, leat_buffer **out, leat_error *err);
/* Ends its calls and frees. NULL is allowed. */
LEAT_API void leat_call_channel_free(leat_call_channel *channel);

#ifdef __cplusplus
}
#endif

#endif
