/* Synchronous data parallelism: strategies, distributed datasets, steps on replicas, reductions
 * (tf.distribute).
 *
 * A strategy owns its devices and the threads that drive them. Its functions are called from one
 * thread at a time; objects made under it keep it alive. Every wait has a deadline.
 *
 * Under a strategy of several processes (workers) every worker makes the same calls in the same
 * order; those marked "together" exchange something and wait for all. A worker that is killed,
 * stops answering or fails ends the job: every later call on every worker fails with ABORTED,
 * naming that worker and the reason. Then start all workers again from the last checkpoint. */
#ifndef LEAT_DIST_H
#define LEAT_DIST_H

#include <leat/cluster.h>
#include <leat/data.h>
#include <leat/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct leat_strategy leat_strategy;
typedef struct leat_distributed_dataset leat_distributed_dataset;
typedef struct leat_distributed_iterator leat_distributed_iterator;
typedef struct leat_step leat_step;

/* Splits the process's cores into `count` logical devices CPU:0 .. CPU:count-1
 * (tf.config.set_logical_device_configuration). Only before the first strategy: FAILED_PRECONDITION
 * afterwards. Not thread-safe. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_device_set_logical_cpus(int count, leat_error *err);

/* How many logical devices of `kind` ("CPU") there are (tf.config.list_logical_devices). */
LEAT_API int leat_device_num_logical(const char *kind);

/* A folder, such as site-packages of a Python, in which PJRT plug-ins are looked for when devices
 * of another kind than "CPU" are first asked for (packages jax-cuda13-pjrt, libtpu, xla-cpu-pjrt);
 * before it LEAT_PJRT_PLUGIN, a path or KIND=path, behind it $VIRTUAL_ENV. Any thread. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_device_search(const char *folder, leat_error *err);

typedef struct leat_device_description {
    int num_devices;      /* of this process */
    const char *platform; /* "host", "cuda"; static, as the others */
    const char *version;  /* of the plug-in's interfaces; "" of CPU */
    const char *path;     /* of the plug-in; "" of CPU */
} leat_device_description;

/* What there is of a kind: "CPU", "GPU", "TPU" or "XLA_CPU" (the host's cores by XLA). A plug-in is
 * loaded when it is first asked for. NOT_FOUND without one; what it says where it finds no device.
 * Any thread. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_device_describe(const char *kind,
                                                           leat_device_description *out,
                                                           leat_error *err);

/* The function as StableHLO (openxla.org/stablehlo), for any compiler of that: a module whose
 * function main takes the components of the function's input and gives those of its output, all of
 * static shapes. Variables are constants of it, of the value that they have. Needs no device.
 * UNIMPLEMENTED naming an operation that devices do not have, random numbers without a seed, a
 * write to a variable, or an unknown dimension. The text is owned (leat_text_free); NULL with err.
 */
LEAT_API char *leat_function_to_stablehlo(const leat_function *function, leat_error *err);

typedef struct leat_strategy_mirrored_options {
    size_t size;
    const char *const *devices; /* names such as "CPU:1"; NULL: all logical devices */
    int num_devices;
    int64_t timeout_ms;     /* of every collective */
    int64_t bytes_per_pack; /* values that are reduced together are exchanged in packs; a pack ends
                               as soon as it has more bytes than this. 0, as in TensorFlow: chosen
                               automatically: 1 MiB for the first pack, for the others an eighth of
                               everything, between 1 and 25 MiB */
} leat_strategy_mirrored_options;
#define LEAT_STRATEGY_MIRRORED_DEFAULTS                                                            \
    .size = sizeof(leat_strategy_mirrored_options), .timeout_ms = 60000

/* One replica per device of this process (tf.distribute.MirroredStrategy). Owned; NULL on failure.
 */
LEAT_API leat_strategy *leat_strategy_mirrored(const leat_strategy_mirrored_options *options,
                                               leat_error *err);

/* One replica on one device; NULL: "CPU:0" (tf.distribute.OneDeviceStrategy). Owned. */
LEAT_API leat_strategy *leat_strategy_one_device(const char *device, leat_error *err);

/* One replica per device as under the mirrored strategy, the variables' values in the memory of
 * the host (tf.distribute.experimental.CentralStorageStrategy). Owned. */
LEAT_API leat_strategy *leat_strategy_central_storage(const leat_strategy_mirrored_options *options,
                                                      leat_error *err);

/* The strategy that changes nothing: one replica, and variables as outside of any scope
 * (tf.distribute.get_strategy without a scope). Owned. */
LEAT_API leat_strategy *leat_strategy_default(leat_error *err);

/* How workers exchange values (tf.distribute.experimental.CommunicationImplementation). */
typedef enum leat_communication {
    /* Shared memory where all are on one host, else MPI where mpirun started all, else rings; in a
     * job with TLS never MPI. */
    LEAT_COMMUNICATION_AUTO = 0,
    LEAT_COMMUNICATION_RING,   /* over TCP (gloo), or over TLS where the job has it */
    LEAT_COMMUNICATION_SHARED, /* shared memory */
    LEAT_COMMUNICATION_MPI     /* MPI, of a job that mpirun started; UNIMPLEMENTED with TLS */
} leat_communication;

typedef struct leat_strategy_multi_worker_mirrored_options {
    size_t size;
    const leat_cluster *cluster; /* borrowed for the call; NULL: leat_cluster_find(NULL) */
    const char *const *devices;  /* this worker's; NULL: "CPU:0" alone, as TensorFlow has it */
    int num_devices;             /* as many on every worker */
    leat_communication communication;
    int64_t timeout_ms;           /* of every exchange */
    int64_t start_timeout_ms;     /* until all workers are there */
    int64_t heartbeat_timeout_ms; /* a worker that is silent for this long is lost */
    int64_t bytes_per_pack;       /* as of the mirrored strategy */
    const char *program; /* text that must be the same on all workers; NULL: the program's file; "":
                            not compared */
} leat_strategy_multi_worker_mirrored_options;
#define LEAT_STRATEGY_MULTI_WORKER_MIRRORED_DEFAULTS                                               \
    .size = sizeof(leat_strategy_multi_worker_mirrored_options), .timeout_ms = 300000,             \
    .start_timeout_ms = 300000, .heartbeat_timeout_ms = 10000

/* Replicas on all workers of a cluster, one process each
 * (tf.distribute.MultiWorkerMirroredStrategy). Waits together until all workers are there;
 * DEADLINE_EXCEEDED names the missing. FAILED_PRECONDITION names a worker whose program, version of
 * leat, number of devices or options differ. Worker 0 listens at its address in the cluster.
 * Without a cluster, and for an evaluator, a job of one worker. Owned. */
LEAT_API leat_strategy *
leat_strategy_multi_worker_mirrored(const leat_strategy_multi_worker_mirrored_options *options,
                                    leat_error *err);

/* A strategy by its name in the table of `leat ops` ("mirrored"), with its defaults. NOT_FOUND, or
 * UNIMPLEMENTED with a way out for TensorFlow's others. Owned. */
LEAT_API leat_strategy *leat_strategy_named(const char *name, leat_error *err);

/* Adds a reference and returns its argument. Owned. */
LEAT_API leat_strategy *leat_strategy_ref(leat_strategy *strategy);
/* Under several workers, dropping the last reference leaves the job: do so on all of them. */
LEAT_API void leat_strategy_unref(leat_strategy *strategy);

/* The name in the table: "mirrored". Borrowed. */
LEAT_API const char *leat_strategy_name(const leat_strategy *strategy);
/* One line: workers, replicas, how they are connected, and which worker this is. Borrowed. */
LEAT_API const char *leat_strategy_describe(const leat_strategy *strategy);

/* Strategy.num_replicas_in_sync: replicas of all workers; 0 for NULL. */
LEAT_API int leat_strategy_num_replicas(const leat_strategy *strategy);
/* Replicas of this process, which is how many elements a leat_per_replica has; 0 for NULL. */
LEAT_API int leat_strategy_num_local_replicas(const leat_strategy *strategy);
/* The number of this process's first replica among all of them; its others follow. */
LEAT_API int leat_strategy_first_replica(const leat_strategy *strategy);
/* How many processes train: 1 unless there are several workers; 0 for NULL. */
LEAT_API int leat_strategy_num_workers(const leat_strategy *strategy);
/* This process's number among them. */
LEAT_API int leat_strategy_worker(const leat_strategy *strategy);
/* Whether this process does what is done only once, such as writing files: worker 0 does. */
LEAT_API bool leat_strategy_is_chief(const leat_strategy *strategy);

/* Together: `out` (num_workers * count numbers) gets every worker's `mine` in their order. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_strategy_exchange(leat_strategy *strategy,
                                                             const int64_t *mine, int count,
                                                             int64_t *out, leat_error *err);
/* Together: `data` (count bytes) becomes that of worker 0. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_strategy_broadcast(leat_strategy *strategy, void *data,
                                                              size_t count, leat_error *err);
/* Together: is `value` the same text on all workers? FAILED_PRECONDITION names one that differs,
 * with both texts; `what` says what it is ("plan"). Costs milliseconds. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_strategy_agree(leat_strategy *strategy, const char *what,
                                                          const char *value, leat_error *err);
/* Together: returns when every worker is here. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_strategy_barrier(leat_strategy *strategy,
                                                            leat_error *err);
/* Ends the job for all workers, whose calls then fail with this text: for a failure between runs
 * that keeps this worker from going on. Nothing where there is one worker. From any thread. */
LEAT_API void leat_strategy_abort(leat_strategy *strategy, const char *text);

/* Strategy.scope: variables that this thread creates between enter and exit get one copy per
 * replica; under several workers together, with worker 0's initial value. Scopes nest; exit ends
 * the innermost one. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_strategy_enter(leat_strategy *strategy, leat_error *err);
LEAT_API void leat_strategy_exit(leat_strategy *strategy);

/* Which part of the data a worker reads (tf.data.experimental.AutoShardPolicy). With one worker
 * nothing is cut off, but the policy decides how a batch is split among its replicas, as in
 * TensorFlow. Every row is read once, except under OFF, where every worker reads everything. */
typedef enum leat_auto_shard_policy {
    LEAT_SHARD_AUTO = 0, /* FILE where files are read, else DATA, which the log says */
    LEAT_SHARD_FILE,     /* file i is worker i mod workers' */
    LEAT_SHARD_DATA,     /* every worker reads everything and takes its pieces of each batch */
    LEAT_SHARD_HINT,     /* by leat_dataset_shard(ds, -1, -1) in the plan */
    LEAT_SHARD_OFF       /* every worker reads everything */
} leat_auto_shard_policy;

/* How often a dataset function is called (tf.distribute.InputReplicationMode). */
typedef enum leat_input_replication {
    LEAT_INPUT_PER_WORKER = 0,
    LEAT_INPUT_PER_REPLICA /* under the mirrored strategy alone */
} leat_input_replication;

/* What tf.distribute.InputOptions and DistributeOptions say. */
typedef struct leat_strategy_distribute_options {
    size_t size;
    leat_auto_shard_policy auto_shard_policy;
    const leat_iterator_options *iterator; /* borrowed for the call; NULL: the defaults */
    leat_input_replication replication;
    bool fetch_to_device;         /* experimental_fetch_to_device */
    bool place_dataset_on_device; /* with PER_REPLICA and without fetch_to_device alone; devices of
                                     leat compute in host memory, so it changes nothing */
    int per_replica_buffer_size;  /* elements of each replica that are kept ready */
    bool count_rows;              /* leat_distributed_iterator_rows tells rows of every step */
} leat_strategy_distribute_options;
#define LEAT_STRATEGY_DISTRIBUTE_DEFAULTS                                                          \
    .size = sizeof(leat_strategy_distribute_options), .fetch_to_device = true,                     \
    .per_replica_buffer_size = 1

/* Ends whatever its replicas wait for: a run in progress fails with ABORTED, now or at its next
 * exchange, unless all replicas of it have begun to write what they write together: then it ends
 * well, so that none of them is a step ahead. Does nothing when there is no run. From any thread.
 */
LEAT_API void leat_strategy_cancel(leat_strategy *strategy);

/* Strategy.experimental_distribute_dataset: `dataset` (given; NULL passes through) yields global
 * batches, which are split among all replicas by TensorFlow's rebatch rules, each worker reading
 * the part that the policy gives it. Together: FAILED_PRECONDITION names a worker whose dataset
 * is another one. NOT_FOUND where LEAT_SHARD_FILE finds no record files to deal out;
 * UNIMPLEMENTED for LEAT_INPUT_PER_REPLICA. Warns once per process where shuffling follows
 * batching. Owned. */
LEAT_API leat_distributed_dataset *
leat_strategy_distribute_dataset(leat_strategy *strategy, leat_dataset *dataset,
                                 const leat_strategy_distribute_options *options, leat_error *err);

/* What a dataset function is given (tf.distribute.InputContext). */
typedef struct leat_input_context {
    int num_input_pipelines, input_pipeline_id;
    int num_replicas_in_sync;
} leat_input_context;

/* InputContext.get_per_replica_batch_size: INVALID_ARGUMENT where the batch cannot be divided. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_input_context_batch_size(const leat_input_context *input,
                                                                    int64_t global_batch_size,
                                                                    int64_t *out, leat_error *err);

/* Makes the dataset of one pipeline (`input` is borrowed): what its replicas are to receive; the
 * function batches and shards it itself. Owned; NULL with `err` set. */
typedef leat_dataset *(*leat_dataset_function)(void *context, const leat_input_context *input,
                                               leat_error *err);

/* Strategy.distribute_datasets_from_function: `function` is called for this worker's pipeline, or
 * with LEAT_INPUT_PER_REPLICA for each of its replicas; element k of a pipeline goes to its replica
 * k mod replicas as it is. The policy has no effect. Restoring a state of another number of
 * pipelines calls it for those, too. `release` (may be NULL) frees the context with the dataset, or
 * at once if the call fails. Together. Owned. */
LEAT_API leat_distributed_dataset *leat_strategy_distribute_datasets_from_function(
    leat_strategy *strategy, leat_dataset_function function, void *context,
    void (*release)(void *context), const leat_strategy_distribute_options *options,
    leat_error *err);

/* The same for a dataset that this worker's pipeline already has (given; NULL passes through):
 * its state can be restored only on as many workers. Owned. */
LEAT_API leat_distributed_dataset *
leat_strategy_distribute_replica_batches(leat_strategy *strategy, leat_dataset *dataset,
                                         const leat_strategy_distribute_options *options,
                                         leat_error *err);
LEAT_API void leat_distributed_dataset_free(leat_distributed_dataset *dataset);
/* Steps per epoch: the cardinality of the user's dataset. */
LEAT_API int64_t leat_distributed_dataset_cardinality(const leat_distributed_dataset *dataset);
/* Spec of what one replica receives. Borrowed. */
LEAT_API const leat_spec *leat_distributed_dataset_spec(const leat_distributed_dataset *dataset);
/* One line that says what was decided (policy, rebatch rule, sizes, which files or pieces this
 * worker reads) and why. Borrowed. */
LEAT_API const char *leat_distributed_dataset_describe(const leat_distributed_dataset *dataset);

/* One value per replica of this process (tf.distribute.DistributedValues, PerReplica). {0} is
 * empty. */
typedef struct leat_per_replica {
    leat_element *elements; /* one per local replica; host memory */
    int num_replicas;
} leat_per_replica;
LEAT_API void leat_per_replica_fini(leat_per_replica *value);
/* Prints as TensorFlow prints PerReplica values; returns the length needed. */
LEAT_API size_t leat_per_replica_print(const leat_per_replica *value, char *text, size_t size);

/* An iteration; next fills one element per replica of this process, empty batches (leading
 * dimension 0) where rows have run out. LEAT_OUT_OF_RANGE at the end, which under several workers
 * comes on all after the same step: the number of steps is agreed once where all know theirs, else
 * before each step. There next is called together, and another failure ends the job; with one
 * worker it ends its step alone. Owned by the caller. Cancel may come from any thread. */
LEAT_API leat_distributed_iterator *leat_distributed_iterator_new(leat_distributed_dataset *dataset,
                                                                  leat_error *err);
LEAT_API LEAT_WARN_UNUSED leat_status leat_distributed_iterator_next(
    leat_distributed_iterator *iterator, leat_per_replica *out, leat_error *err);
/* The same, but a last step with fewer elements than replicas is filled up whatever the shapes are
 * (DistributedIterator.get_next_as_optional). */
LEAT_API LEAT_WARN_UNUSED leat_status leat_distributed_iterator_next_filled(
    leat_distributed_iterator *iterator, leat_per_replica *out, leat_error *err);
/* With count_rows: how many rows the last step gave to each replica of this process (`rows` has
 * room for all; NULL: not wanted) and to all replicas of all workers. A sum over rows divided by
 * `total`, summed over replicas, is the exact mean of an uneven step. FAILED_PRECONDITION without
 * the option or before the first step. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_distributed_iterator_rows(
    const leat_distributed_iterator *iterator, int64_t *rows, int64_t *total, leat_error *err);

/* The state of the input of all workers, between two steps: each gets the whole of it, so that one
 * of them can write it. Together. `*data` is owned (leat_text_free); `options` and `report` may be
 * NULL and are those of leat_iterator_save_with. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_distributed_iterator_save(
    leat_distributed_iterator *iterator, const leat_iterator_save_options *options, char **data,
    size_t *size, leat_iterator_save_report *report, leat_error *err);
/* Brings a fresh iterator to a saved state. With another number of workers or replicas what was
 * left is dealt out among these: every row comes once, batches and steps are those of the new
 * number. FAILED_PRECONDITION where the dataset, or the policy in force, is another one; DATA_LOSS
 * for damaged bytes. Every worker gives the same bytes; nothing is exchanged. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_distributed_iterator_restore(
    leat_distributed_iterator *iterator, const char *data, size_t size, leat_error *err);

/* The iterator that reads the batches before they are split, to be measured; NULL where there are
 * several. Borrowed. */
LEAT_API leat_iterator *leat_distributed_iterator_base(leat_distributed_iterator *iterator);
LEAT_API void leat_distributed_iterator_cancel(leat_distributed_iterator *iterator);
LEAT_API void leat_distributed_iterator_free(leat_distributed_iterator *iterator);
/* As leat_iterator_explain. */
LEAT_API char *leat_distributed_iterator_explain(const leat_distributed_iterator *iterator,
                                                 leat_error *err);

/* A step: a function that is traced once per shape of its arguments, compiled for each replica's
 * device, and remembers its executables (tf.function). `context` is borrowed. The tracer may create
 * variables on its first run; NULL: a step for leat_strategy_run_functions. Owned. */
LEAT_API leat_step *leat_step_new(leat_tracer tracer, void *context, leat_error *err);
LEAT_API void leat_step_free(leat_step *step);

/* Strategy.run: runs the step on every replica with its element of `args` (borrowed), all at the
 * same time; `out` gets one result per replica. The first failure, by replica number, is reported
 * with its replica; the others are stopped, and under several workers the job. Together. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_strategy_run(leat_strategy *strategy, leat_step *step,
                                                        const leat_per_replica *args,
                                                        leat_per_replica *out, leat_error *err);

/* The same with functions that are traced already: replica r runs functions[r] (borrowed) on its
 * element of `args`. Their inputs have static shapes; they were traced in the strategy's scope;
 * replicas whose arguments have equal shapes share one. The step keeps them and their executables.
 */
LEAT_API LEAT_WARN_UNUSED leat_status leat_strategy_run_functions(
    leat_strategy *strategy, leat_step *step, leat_function *const *functions,
    const leat_per_replica *args, leat_per_replica *out, leat_error *err);

typedef enum leat_reduce_op { LEAT_REDUCE_SUM = 0, LEAT_REDUCE_MEAN } leat_reduce_op;
#define LEAT_NO_AXIS INT32_MIN

/* Strategy.reduce: combines the values of all replicas component by component; with an axis also
 * over that axis, MEAN then by the number of rows. Together. `out` is an element of host tensors.
 */
LEAT_API LEAT_WARN_UNUSED leat_status leat_strategy_reduce(leat_strategy *strategy,
                                                           leat_reduce_op op,
                                                           const leat_per_replica *value, int axis,
                                                           leat_element *out, leat_error *err);

/* Strategy.gather: the values of all replicas behind one another along `axis`, component by
 * component; other dimensions are equal. Numbers and bools of rank 1 and more. Together.
 * `out` is an element of host tensors. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_strategy_gather(leat_strategy *strategy,
                                                           const leat_per_replica *value, int axis,
                                                           leat_element *out, leat_error *err);

/* Nanoseconds that replica 0 has spent in all runs of a step: on what results are computed from, on
 * gradients, in exchanges with other replicas (waiting included), and on updates of variables. */
typedef struct leat_step_times {
    int64_t forward_ns, backward_ns, reduce_ns, update_ns;
} leat_step_times;
/* Not while the step runs. RESOURCE_EXHAUSTED without memory. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_step_get_times(const leat_step *step,
                                                          leat_step_times *out, leat_error *err);

/* Where the step's time went: one line per operation and implementation of replica 0's executables
 * with time and share of all runs so far, the longest first. Owned text (leat_text_free). */
LEAT_API char *leat_step_explain(const leat_step *step, leat_error *err);

#ifdef __cplusplus
}
#endif
#endif
