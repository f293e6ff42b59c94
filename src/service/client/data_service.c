/* data_service: the elements of a dataset that the workers of a data service make
 * (tf.data.experimental.service.distribute and from_dataset_id).
 *
 * Each iterator, and each epoch of one, reads one iteration of a job through a reader
 * (client/reader.h), whose number is the next one of a counter that all iterators of the node
 * share; so repetitions of one dataset, and of equal ones under one job_name, meet in the same
 * iterations. Without a job_name the node draws a name that nobody else knows.
 *
 * It counts as impure: what one iterator takes nobody else of the job gets, so operators above ask
 * for no more than they will use. The reader itself keeps elements under way all the same, as
 * TensorFlow's does.
 *
 * A state says what was taken; who goes on from it reads the rest as a job of its own, whose later
 * repetitions are those that follow, for iterators that are opened afterwards, too.
 *
 * Failures: the dispatcher's refusals when it is opened or restored; errors of elements where they
 * stand; UNIMPLEMENTED for the state of a job of which no account is kept. Locks: the reader's; the
 * node's, a leaf, which guards what iterators share. */
#include "service/client/data_service.h"
#include "base/random.h"
#include "data/run/state.h"
#include "service/client/credentials.h"
#include "service/client/reader.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 40 };

struct service_args {
    char *dataset_id, *service, *job_name;
    int64_t processing_mode, consumer_index, num_consumers, max_outstanding_requests;
    char *data_transfer_protocol, *compression, *trainer_id;
    int64_t target_workers, visitation, task_refresh_interval_hint_ms;
    leat_spec *spec;
    int64_t cardinality;
    leat_object *credentials;
};

/* Of the node: what all iterators share. */
struct service_shared {
    char name[NAME_BYTES]; /* of the job, where the user gave none */
    pthread_mutex_t lock;
    int64_t next; /* the lock's: the number of the next repetition */
    char *job;    /* the lock's: of the job that was restored last, owned; NULL: none was */
};

struct service_state {
    leati_client_reader *reader;
    int64_t repetition;
    char *job;     /* that it reads, owned */
    bool restored; /* its repetitions are its own, not the next ones that are shared */
    bool late;     /* the iterator is restored, and no reader is open yet */
    bool done;
};

#define ROW(field) .offset = offsetof(struct service_args, field)

static const leati_row service_rows[] = {
    {.name = "dataset_id",
     .type = LEATI_ROW_STRING,
     .flags = LEATI_REQUIRED,
     ROW(dataset_id),
     .doc = "The id that the dataset was registered under."},
    {.name = "service",
     .type = LEATI_ROW_STRING,
     .flags = LEATI_REQUIRED | LEATI_PLACE,
     ROW(service),
     .doc = "The dispatcher's address, \"host:port\" or \"grpc://host:port\"."},
    {.name = "processing_mode",
     .type = LEATI_ROW_INT,
     ROW(processing_mode),
     .maximum = LEAT_SERVICE_HINT,
     .doc = "How elements are dealt out to workers: 0 OFF, 1 DYNAMIC, 2 FILE, 3 DATA, 4 "
            "FILE_OR_DATA, 5 HINT."},
    {.name = "job_name",
     .type = LEATI_ROW_STRING,
     .flags = LEATI_NONE,
     ROW(job_name),
     .doc = "The job to join; none: one of this dataset alone."},
    {.name = "consumer_index",
     .type = LEATI_ROW_INT,
     ROW(consumer_index),
     .default_number = -1,
     .minimum = -1,
     .maximum = INT64_MAX,
     .doc = "Which of num_consumers this is, in a coordinated read; -1: no coordinated read."},
    {.name = "num_consumers",
     .type = LEATI_ROW_INT,
     ROW(num_consumers),
     .maximum = INT64_MAX,
     .doc = "How many consumers read in step; 0: no coordinated read."},
    {.name = "max_outstanding_requests",
     .type = LEATI_ROW_INT,
     ROW(max_outstanding_requests),
     .maximum = INT64_MAX,
     .doc = "Elements that may be asked for and not yet taken, of all workers; 0: as many as pay."},
    {.name = "data_transfer_protocol",
     .type = LEATI_ROW_STRING,
     .flags = LEATI_NONE,
     ROW(data_transfer_protocol),
     .doc = "The protocol that elements come by: shm, tcp, grpc; none: the best that both sides "
            "have."},
    {.name = "compression",
     .type = LEATI_ROW_STRING,
     .flags = LEATI_NONE,
     ROW(compression),
     .doc = "AUTO: where it pays; SNAPPY: always; none."},
    {.name = "target_workers",
     .type = LEATI_ROW_INT,
     ROW(target_workers),
     .maximum = LEAT_SERVICE_TARGET_LOCAL,
     .doc = "Which workers are read: 0 AUTO, 1 ANY, 2 LOCAL."},
    {.name = "trainer_id",
     .type = LEATI_ROW_STRING,
     .flags = LEATI_NONE,
     ROW(trainer_id),
     .doc = "The trainer's name in a cross-trainer cache; none: no cache."},
    {.name = "visitation",
     .type = LEATI_ROW_INT,
     ROW(visitation),
     .maximum = LEAT_SERVICE_EXACTLY_ONCE,
     .doc = "What becomes of a lost worker's elements: 0 at most once, 1 at least once, 2 exactly "
            "once."},
    {.name = "task_refresh_interval_hint_ms",
     .type = LEATI_ROW_INT,
     ROW(task_refresh_interval_hint_ms),
     .maximum = INT64_MAX,
     .doc = "Longest time between two questions to the dispatcher, which answers at once where "
            "something is new; 0: 1,000."},
    {.name = "spec",
     .type = LEATI_ROW_SPEC,
     .flags = LEATI_REQUIRED,
     ROW(spec),
     .doc = "The spec of the elements."},
    {.name = "cardinality",
     .type = LEATI_ROW_INT,
     ROW(cardinality),
     .default_number = LEAT_UNKNOWN_CARDINALITY,
     .minimum = LEAT_UNKNOWN_CARDINALITY,
     .maximum = INT64_MAX,
     .doc = "Number of elements of the registered dataset; -1 endless, -2 unknown."},
    {.name = "credentials",
     .type = LEATI_ROW_OBJECT,
     .flags = LEATI_CONSTRUCT,
     ROW(credentials),
     .doc = "Token and certificates that the constructor was given, which no plan shows."},
    {0},
};

static const struct service_args *args_of(const leat_dataset *dataset) {
    return dataset->args;
}

/* ---- plan side ---- */

static leat_status service_check(leat_dataset *dataset, leat_error *err) {
    const struct service_args *args = args_of(dataset);
    if (args->dataset_id[0] == '\0' || args->service[0] == '\0')
        return leati_refuse(err, VALUE, "data_service: dataset_id and service must not be empty");
    if (args->job_name != NULL && args->job_name[0] == '\0')
        return leati_refuse(err, VALUE, "data_service: job_name must not be empty");
    if ((args->consumer_index >= 0) != (args->num_consumers > 0))
        return leati_refuse(err, VALUE,
                            "data_service: consumer_index and num_consumers go together; they are "
                            "%lld and %lld",
                            (long long)args->consumer_index, (long long)args->num_consumers);
    if (args->num_consumers > 0 && args->consumer_index >= args->num_consumers)
        return leati_refuse(err, VALUE,
                            "data_service: consumer_index is %lld; expected less than "
                            "num_consumers, %lld",
                            (long long)args->consumer_index, (long long)args->num_consumers);
    if (args->num_consumers > 0 && args->job_name == NULL)
        return leati_refuse(err, VALUE, "data_service: num_consumers needs a job_name");
    if (args->num_consumers > 0 && args->target_workers == LEAT_SERVICE_TARGET_LOCAL)
        return leati_refuse(err, VALUE,
                            "data_service: Coordinated reads require non-local workers; "
                            "target_workers is LOCAL");
    if (args->trainer_id != NULL && args->job_name == NULL)
        return leati_refuse(err, VALUE,
                            "data_service: Cross-trainer caching requires named jobs. Got empty "
                            "`job_name`.");
    if (args->compression != NULL && strcmp(args->compression, "AUTO") != 0 &&
        strcmp(args->compression, "SNAPPY") != 0)
        return leati_refuse(err, VALUE,
                            "data_service: compression is \"%.40s\"; expected AUTO, SNAPPY or none",
                            args->compression);
    return LEAT_OK;
}

static leat_spec *service_spec(const leat_dataset *dataset, leat_error *err) {
    (void)err;
    return leat_spec_ref(args_of(dataset)->spec);
}

/* As TensorFlow says it: several workers may give the elements, each once or each all of them. */
static int64_t service_cardinality(const leat_dataset *dataset) {
    const struct service_args *args = args_of(dataset);
    if (args->num_consumers > 0)
        return LEAT_INFINITE_CARDINALITY;
    /* Dealt out in front of a batch that drops the rest, an endless dataset may be an empty one. */
    bool endless = args->cardinality == LEAT_INFINITE_CARDINALITY &&
                   (args->processing_mode == LEAT_SERVICE_OFF ||
                    args->processing_mode == LEAT_SERVICE_DYNAMIC ||
                    args->processing_mode == LEAT_SERVICE_DATA);
    return args->cardinality == 0 || endless ? args->cardinality : LEAT_UNKNOWN_CARDINALITY;
}

/* The name of a job that nobody else knows. */
static leat_status draw_name(char name[NAME_BYTES], leat_error *err) {
    uint64_t drawn = 0;
    if (!leati_random_secret(&drawn, sizeof drawn))
        return leati_fail(err, LEAT_INTERNAL, "the system gives no random numbers");
    (void)snprintf(name, NAME_BYTES, "alone %016llx", (unsigned long long)drawn);
    return LEAT_OK;
}

static void *service_share(const leat_dataset *dataset, leat_error *err) {
    struct service_shared *shared = leati_alloc_zero(1, sizeof *shared);
    if (shared == NULL) {
        (void)leati_no_memory(err);
        return NULL;
    }
    if (draw_name(shared->name, err) != LEAT_OK) {
        leati_free(shared);
        return NULL;
    }
    (void)dataset;
    pthread_mutex_init(&shared->lock, NULL);
    return shared;
}

static void service_unshare(void *context) {
    struct service_shared *shared = context;
    pthread_mutex_destroy(&shared->lock);
    leati_free(shared->job);
    leati_free(shared);
}

/* ---- run side ---- */

/* Opens a reader of the state's job and repetition; `saved` (may be NULL) is what it goes on from.
 */
static leat_status open_reader(leati_node_state *node, struct service_state *s,
                               const struct leati_message_restore *saved, leat_error *err) {
    const struct service_args *args = args_of(node->dataset);
    leati_client_reader_options options = {
        .service = args->service,
        .dataset_id = args->dataset_id,
        .job_name = s->job,
        .alone = args->job_name == NULL,
        .policy = (leat_service_policy)args->processing_mode,
        .visitation = (leat_service_visitation)args->visitation,
        .targets = (leat_service_targets)args->target_workers,
        .repetition = s->repetition,
        .consumer = args->consumer_index,
        .consumers = args->num_consumers,
        .max_outstanding = args->max_outstanding_requests,
        .transfer = args->data_transfer_protocol,
        .compression = args->compression,
        .trainer = args->trainer_id,
        .refresh_ms = args->task_refresh_interval_hint_ms,
        .security = leati_client_credentials(args->credentials),
        .spec = args->spec,
        .name = node->name,
        .saved = saved,
    };
    s->done = false;
    s->reader = leati_client_reader_open(&options, node->iteration->cancel, err);
    return s->reader == NULL ? err->code : LEAT_OK;
}

/* The next repetition: the iterator's own where it was restored, else that of the node. */
static leat_status choose_repetition(leati_node_state *node, struct service_state *s,
                                     leat_error *err) {
    const struct service_args *args = args_of(node->dataset);
    struct service_shared *shared = leati_dataset_shared(node->dataset, err);
    if (shared == NULL)
        return err->code;
    if (s->restored) {
        s->repetition++;
        return LEAT_OK;
    }
    pthread_mutex_lock(&shared->lock);
    const char *name = shared->job != NULL      ? shared->job
                       : args->job_name != NULL ? args->job_name
                                                : shared->name;
    leati_free(s->job);
    s->job = leati_strdup(name);
    s->repetition = shared->next++;
    pthread_mutex_unlock(&shared->lock);
    return s->job == NULL ? leati_no_memory(err) : LEAT_OK;
}

static leat_status begin(leati_node_state *node, struct service_state *s, leat_error *err) {
    LEATI_TRY(choose_repetition(node, s, err));
    return open_reader(node, s, NULL, err);
}

/* Of a restored iterator: a state of the node may follow. */
static leat_status service_open(leati_node_state *node, void *state, leat_error *err) {
    const struct service_args *args = args_of(node->dataset);
    struct service_state *s = state;
    s->late = node->iteration->restored && args->job_name != NULL && args->num_consumers == 0 &&
              args->trainer_id == NULL;
    return s->late ? LEAT_OK : begin(node, s, err);
}

static void end(struct service_state *s) {
    leati_client_reader_close(s->reader);
    s->reader = NULL;
}

static void count(leati_node_state *node, struct service_state *s, int64_t waited) {
    leati_client_reader_figures figures;
    leati_client_reader_figures_get(s->reader, &figures);
    leati_counter_add(&node->counters.waiting_ns, waited);
    leati_counter_set(&node->counters.depth, figures.buffered);
    leati_counter_set(&node->counters.depth_limit, figures.window);
    leati_counter_set(&node->counters.bytes_held, figures.bytes);
    leati_counter_set(&node->counters.parallelism, figures.tasks);
}

/* Iterators that are opened from now on follow the one that was restored. */
static leat_status share_job(leati_node_state *node, const struct service_state *s,
                             leat_error *err) {
    struct service_shared *shared = leati_dataset_shared(node->dataset, err);
    char *job = shared == NULL ? NULL : leati_strdup(s->job);
    if (shared == NULL)
        return err->code;
    if (job == NULL)
        return leati_no_memory(err);
    pthread_mutex_lock(&shared->lock);
    char *before = shared->job;
    shared->job = job;
    shared->next = s->repetition + 1;
    pthread_mutex_unlock(&shared->lock);
    leati_free(before);
    return LEAT_OK;
}

/* The state says nothing of the node, as the saved iterator had not come to it (behind a shuffle,
 * say). Others may have read the job of that name meanwhile, so this one reads one of its own. */
static leat_status begin_alone(leati_node_state *node, struct service_state *s, leat_error *err) {
    char name[NAME_BYTES];
    if (!s->late)
        return LEAT_OK;
    LEATI_TRY(draw_name(name, err));
    leati_free(s->job);
    s->job = leati_strdup(name);
    if (s->job == NULL)
        return leati_no_memory(err);
    s->repetition = 0;
    LEATI_TRY(open_reader(node, s, NULL, err));
    s->late = false;
    s->restored = true;
    return share_job(node, s, err);
}

static leati_tail service_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                               leat_error *err) {
    struct service_state *s = state;
    leati_block_clear(out);
    if (begin_alone(node, s, err) != LEAT_OK)
        return LEATI_ERROR;
    if (s->done || s->reader == NULL)
        return LEATI_END;
    int64_t waited = 0;
    leati_client_reader_outcome outcome =
        leati_client_reader_take(s->reader, want, node->iteration->deadline_ns, out, &waited, err);
    count(node, s, waited);
    s->done = outcome == LEATI_CLIENT_END;
    return outcome == LEATI_CLIENT_ROWS     ? LEATI_MORE
           : outcome == LEATI_CLIENT_FAILED ? LEATI_ERROR
                                            : LEATI_END;
}

static leat_status service_save(leati_node_state *node, void *state, leati_writer *out,
                                leati_save_cost *cost, leat_error *err) {
    struct service_state *s = state;
    (void)cost;
    LEATI_TRY(begin_alone(node, s, err));
    leati_put_int(out, s->repetition);
    leati_put_uint(out, s->done);
    return leati_client_reader_save(s->reader, out, err);
}

static leat_status go_on(leati_node_state *node, struct service_state *s, int64_t repetition,
                         const struct leati_message_restore *saved, leat_error *err) {
    end(s);
    s->late = false;
    s->repetition = repetition;
    LEATI_TRY(open_reader(node, s, saved, err));
    char *job = leati_strdup(leati_client_reader_job(s->reader));
    if (job == NULL)
        return leati_no_memory(err);
    leati_free(s->job);
    s->job = job;
    s->restored = true;
    return share_job(node, s, err);
}

static leat_status service_restore(leati_node_state *node, void *state, leati_reader *in,
                                   leat_error *err) {
    struct service_state *s = state;
    struct leati_message_restore saved;
    int64_t repetition = 0;
    uint64_t done = 0;
    LEATI_TRY(leati_get_int(in, &repetition, err));
    LEATI_TRY(leati_get_uint(in, &done, err));
    if (repetition < 0 || repetition == INT64_MAX || done > 1)
        return leati_fail(err, LEAT_DATA_LOSS,
                          "the state of a data service holds no repetition where one is expected");
    LEATI_TRY(leati_client_reader_saved(in, &saved, err));
    leat_status status = go_on(node, s, repetition, &saved, err);
    leati_messages_fini(&leati_message_restore, &saved);
    s->done = done != 0;
    return status;
}

static leat_status service_reset(leati_node_state *node, void *state, leat_error *err) {
    struct service_state *s = state;
    end(s);
    return s->late ? begin_alone(node, s, err) : begin(node, s, err);
}

static void service_close(leati_node_state *node, void *state) {
    struct service_state *s = state;
    (void)node;
    end(s);
    leati_free(s->job);
    s->job = NULL;
}

const leati_dataset_op leati_op_data_service = {
    .name = "data_service",
    .version = 1,
    .doc = "The elements of a registered dataset, which workers of a data service make. Saved, "
           "under the visitation levels exactly_once and at_least_once, as the dispatcher's name "
           "and what was taken of each worker's stream; restoring has workers make these streams "
           "again from their beginnings, without what was taken.",
    .names = "experimental.service.distribute experimental.service.from_dataset_id",
    .shown = "_DataServiceDatasetV2",
    .num_inputs = 0,
    .flow = LEATI_SOURCE,
    .shards = LEATI_SHARD_NOT,
    .splits = LEATI_SPLITS_REFUSED, /* as in TensorFlow */
    .batches = LEATI_BATCHES_OTHER,
    .flags = LEATI_OP_IMPURE | LEATI_OP_REMOTE,
    .args_size = sizeof(struct service_args),
    .rows = service_rows,
    .check = service_check,
    .spec = service_spec,
    .cardinality = service_cardinality,
    .share = service_share,
    .unshare = service_unshare,
    .state_size = sizeof(struct service_state),
    .open = service_open,
    .pull = service_pull,
    .save = service_save,
    .restore = service_restore,
    .reset = service_reset,
    .close = service_close,
};

leat_dataset *leati_data_service_new(const char *service, const char *dataset_id,
                                     const char *compression, const leat_spec *spec,
                                     int64_t cardinality, const leat_service_options *options,
                                     leat_error *err) {
    struct service_args args = {
        .dataset_id = (char *)(uintptr_t)dataset_id,
        .service = (char *)(uintptr_t)service,
        .job_name = (char *)(uintptr_t)options->job_name,
        .processing_mode = options->processing_mode,
        .consumer_index = options->num_consumers > 0 || options->consumer_index >= 0
                              ? options->consumer_index
                              : -1,
        .num_consumers = options->num_consumers,
        .max_outstanding_requests = options->max_outstanding_requests,
        .data_transfer_protocol = (char *)(uintptr_t)options->data_transfer_protocol,
        .compression = (char *)(uintptr_t)compression,
        .trainer_id = (char *)(uintptr_t)options->trainer_id,
        .target_workers = options->target_workers,
        .visitation = options->visitation,
        .task_refresh_interval_hint_ms = options->task_refresh_interval_hint_ms,
        .spec = (leat_spec *)(uintptr_t)spec,
        .cardinality = cardinality,
    };
    if (leati_client_credentials_new(&options->security, &args.credentials, err) != LEAT_OK)
        return NULL;
    leat_dataset *dataset = leati_dataset_new(&leati_op_data_service, &args, NULL, 0, err);
    leati_object_unref(args.credentials);
    return dataset;
}
