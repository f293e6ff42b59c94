/* strategy.json's questions about input, and processes.json's about values of several workers. */
#include "distribute.h"
#include <leat/cluster.h>
#include <leat/data_ops.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- input ---- */

static void batch_size_of_context(golden_case *c, const json_t *json, int replicas, int64_t batch) {
    leat_input_context input = {.num_input_pipelines = 1, .num_replicas_in_sync = replicas};
    const json_t *error = json_object_get(json, "error");
    int64_t found = 0;
    leat_error err = {0};
    leat_status status = leat_input_context_batch_size(&input, batch, &found, &err);
    if (error != NULL)
        golden_check_class(c, error, &err);
    else
        golden_check_json(c, "size", json_object_get(json, "result"),
                          status == LEAT_OK ? json_integer((json_int_t)found) : json_null());
}

/* Rows 100 * id and on, in batches of 2; notes its context. */
static leat_dataset *hundreds(void *context, const leat_input_context *input, leat_error *err) {
    json_array_append_new(context,
                          json_pack("[i,i,i]", input->num_input_pipelines, input->input_pipeline_id,
                                    input->num_replicas_in_sync));
    int64_t first = 100 * (int64_t)input->input_pipeline_id;
    return leat_dataset_batch(leat_dataset_range(first, first + 6, 1, NULL, err), 2, NULL, err);
}

/* What a dataset function under these options gives on two replicas. */
static void check_function(golden_case *c, const json_t *json,
                           const leat_strategy_distribute_options *options) {
    const json_t *error = json_object_get(json, "error");
    json_t *contexts = json_array(), *steps = json_array();
    leat_error err = {0};
    leat_per_replica value = {0};
    leat_strategy *strategy = golden_mirrored(c, 2);
    leat_distributed_dataset *d = leat_strategy_distribute_datasets_from_function(
        strategy, hundreds, contexts, NULL, options, &err);
    leat_distributed_iterator *it = leat_distributed_iterator_new(d, &err);
    leat_status status = it == NULL ? err.code : LEAT_OK;
    while (status == LEAT_OK) {
        status = leat_distributed_iterator_next(it, &value, &err);
        if (status == LEAT_OK)
            json_array_append_new(steps, golden_step(&value));
    }
    if (error != NULL)
        golden_check_class(c, error, &err);
    else
        golden_check_json(c, "result", json_object_get(json, "result"),
                          json_pack("{s:O,s:O}", "contexts", contexts, "steps", steps));
    leat_per_replica_fini(&value);
    leat_distributed_iterator_free(it);
    leat_distributed_dataset_free(d);
    leat_strategy_unref(strategy);
    json_decref(contexts);
    json_decref(steps);
}

bool golden_input_question(golden_case *c, const json_t *json, const char *what) {
    int replicas = 0, batch = 0;
    leat_strategy_distribute_options options = {LEAT_STRATEGY_DISTRIBUTE_DEFAULTS,
                                                .replication = LEAT_INPUT_PER_REPLICA};
    if (sscanf(what, "R=%d get_per_replica_batch_size(%d)", &replicas, &batch) == 2) {
        batch_size_of_context(c, json, replicas, batch);
    } else if (strcmp(what, "place dataset on device with fetch to device") == 0) {
        options.place_dataset_on_device = true;
        check_function(c, json, &options);
    } else if (strcmp(what, "PER_REPLICA mode of a dataset function") == 0) {
        check_function(c, json, &options);
    } else if (strcmp(what, "iterate a distributed dataset in PER_REPLICA mode") == 0) {
        leat_error err = {0};
        leat_strategy *strategy = golden_mirrored(c, 2);
        leat_distributed_dataset *d = leat_strategy_distribute_dataset(
            strategy, leat_dataset_batch(leat_dataset_range(0, 4, 1, NULL, &err), 2, NULL, &err),
            &options, &err);
        golden_check_class(c, json_object_get(json, "error"), &err);
        leat_distributed_dataset_free(d);
        leat_strategy_unref(strategy);
    } else {
        return false;
    }
    return true;
}

/* ---- values of several workers: each a thread with a strategy of its own ---- */

enum { MOST_WORKERS = 8, LIMIT_MS = 60000 };

struct worker {
    char config[1024];
    int number;
    const json_t *expected;
    json_t *found;
    leat_error error;
};

/* An element of one tensor: number + 1, as a scalar or so often. */
static leat_status value_of(int number, bool vector, leat_element *out, leat_error *err) {
    leat_tensor tensor = {0};
    leat_status status =
        leat_tensor_new(LEAT_FLOAT32, vector ? LEAT_SHAPE(number + 1) : LEAT_SCALAR, &tensor, err);
    for (int i = 0; status == LEAT_OK && i < (vector ? number + 1 : 1); i++)
        ((float *)tensor.data)[i] = (float)(number + 1);
    leat_spec *spec =
        status == LEAT_OK ? leat_spec_tensor(LEAT_FLOAT32, leat_tensor_shape(&tensor), err) : NULL;
    if (status == LEAT_OK)
        status = spec == NULL ? err->code : leat_element_set(out, spec, &tensor, err);
    leat_spec_unref(spec);
    leat_tensor_unref(&tensor);
    return status;
}

static leat_status ask(struct worker *w, leat_strategy *strategy, leat_per_replica *vector,
                       leat_per_replica *scalar, leat_error *err) {
    static const struct {
        const char *what;
        leat_reduce_op op;
        bool rows;
    } questions[] = {{"reduce SUM axis 0", LEAT_REDUCE_SUM, true},
                     {"reduce MEAN axis 0", LEAT_REDUCE_MEAN, true},
                     {"reduce SUM", LEAT_REDUCE_SUM, false},
                     {"reduce MEAN", LEAT_REDUCE_MEAN, false}};
    leat_element out = {0};
    json_object_set_new(w->found, "local", json_pack("[o]", golden_nested(&vector->elements[0])));
    leat_status status = LEAT_OK;
    for (size_t i = 0; i < 4 && status == LEAT_OK; i++) {
        status =
            leat_strategy_reduce(strategy, questions[i].op, questions[i].rows ? vector : scalar,
                                 questions[i].rows ? 0 : LEAT_NO_AXIS, &out, err);
        if (status == LEAT_OK)
            json_object_set_new(w->found, questions[i].what, golden_nested(&out));
    }
    if (status == LEAT_OK)
        status = leat_strategy_gather(strategy, vector, 0, &out, err);
    if (status == LEAT_OK)
        json_object_set_new(w->found, "gather", golden_nested(&out));
    leat_element_fini(&out);
    return status;
}

static void *values_main(void *context) {
    struct worker *w = context;
    leat_element elements[2] = {{0}};
    leat_per_replica vector = {&elements[0], 1}, scalar = {&elements[1], 1};
    leat_cluster *cluster = leat_cluster_new(w->config, &w->error);
    leat_strategy_multi_worker_mirrored_options options = {
        LEAT_STRATEGY_MULTI_WORKER_MIRRORED_DEFAULTS, .cluster = cluster, .timeout_ms = LIMIT_MS,
        .start_timeout_ms = LIMIT_MS, .heartbeat_timeout_ms = LIMIT_MS};
    leat_strategy *strategy =
        cluster == NULL ? NULL : leat_strategy_multi_worker_mirrored(&options, &w->error);
    leat_status status = strategy == NULL ? w->error.code : LEAT_OK;
    for (int i = 0; i < 2 && status == LEAT_OK; i++)
        status = value_of(w->number, i == 0, &elements[i], &w->error);
    if (status == LEAT_OK)
        status = ask(w, strategy, &vector, &scalar, &w->error);
    leat_element_fini(&elements[0]);
    leat_element_fini(&elements[1]);
    leat_strategy_unref(strategy);
    leat_cluster_free(cluster);
    return NULL;
}

/* A port of this host that was free a moment ago; 0: none. */
static int free_port(void) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof at;
    int probe = socket(AF_INET, SOCK_STREAM, 0);
    bool good = probe >= 0 && bind(probe, (struct sockaddr *)&at, sizeof at) == 0 &&
                getsockname(probe, (struct sockaddr *)&at, &length) == 0;
    if (probe >= 0)
        close(probe);
    return good ? ntohs(at.sin_port) : 0;
}

/* Numbers as single precision, which the answers were recorded in. */
static json_t *single(const json_t *json) {
    return json_pack("{s:s,s:O}", "dtype", "float32", "data", json);
}

static void check_values(golden_case *c, const struct worker *w) {
    const char *what = NULL;
    json_t *expected = NULL;
    if (w->error.code != LEAT_OK)
        golden_fail(c, "worker %d: %s: %s", w->number, leat_status_name(w->error.code),
                    w->error.text);
    json_object_foreach((json_t *)w->expected, what, expected) {
        json_t *a = single(expected), *found = json_object_get(w->found, what);
        if (found != NULL)
            golden_check_json(c, what, a, single(found));
        else
            golden_fail(c, "worker %d: no answer to \"%s\"", w->number, what);
        json_decref(a);
    }
}

void golden_values_of_workers(golden_case *c, const json_t *const *tasks, int count) {
    struct worker workers[MOST_WORKERS];
    pthread_t threads[MOST_WORKERS];
    int port = free_port();
    memset(workers, 0, sizeof workers);
    for (int w = 0; w < count; w++) {
        size_t used = (size_t)snprintf(workers[w].config, sizeof workers[w].config,
                                       "{\"cluster\": {\"worker\": [\"127.0.0.1:%d\"", port);
        for (int i = 1; i < count; i++)
            used += (size_t)snprintf(workers[w].config + used, sizeof workers[w].config - used,
                                     ", \"10.0.0.%d:2222\"", i);
        snprintf(workers[w].config + used, sizeof workers[w].config - used,
                 "]}, \"task\": {\"type\": \"worker\", \"index\": %d}}", w);
        workers[w].number = w;
        workers[w].expected = tasks[w];
        workers[w].found = json_object();
        pthread_create(&threads[w], NULL, values_main, &workers[w]);
    }
    for (int w = 0; w < count; w++) {
        pthread_join(threads[w], NULL);
        check_values(c, &workers[w]);
        json_decref(workers[w].found);
    }
}
