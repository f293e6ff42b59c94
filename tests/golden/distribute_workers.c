/* autoshard.json and processes.json: what each of several workers reads. The workers of a case are
 * threads here; their strategy joins processes elsewhere. */
#include "distribute.h"
#include "support/lockstep.h"
#include <leat/data_ops.h>

enum { MOST_WORKERS = 8 };

/* ---- autoshard.json: the elements of each worker's dataset ---- */

/* All elements of worker `member->worker`, in the order of its replicas; an error ends them. */
static json_t *stream_of(leati_membership *member, leat_dataset *dataset,
                         const leat_strategy_distribute_options *options, size_t most,
                         leat_error *err) {
    json_t *found = json_array();
    leat_element element = {0};
    leati_feed *feed = NULL;
    leat_distributed_dataset *d = leati_distributed_from_dataset(member, dataset, options, err);
    if (d != NULL) {
        leati_feed_options how = {.plan = &d->plan,
                                  .make = leati_distributed_share,
                                  .context = d,
                                  .iterator = {LEAT_ITERATOR_DEFAULTS}};
        feed = leati_feed_new(&how, err);
    }
    leat_status status = feed == NULL ? err->code : LEAT_OK;
    while (status == LEAT_OK && json_array_size(found) < most) {
        status = leati_feed_next(feed, &element, err);
        if (status == LEAT_OK)
            json_array_append_new(found, golden_nested(&element));
    }
    if (status == LEAT_OUT_OF_RANGE)
        *err = (leat_error){0};
    leat_element_fini(&element);
    leati_feed_free(feed);
    leat_distributed_dataset_free(d);
    return found;
}

void golden_autoshard_case(golden_case *c, const json_t *json, const char *folder) {
    const json_t *streams = json_object_get(json, "streams");
    json_t *plan = golden_plan_of(c, json_object_get(json, "pipeline"), folder);
    leat_strategy_distribute_options options = {LEAT_STRATEGY_DISTRIBUTE_DEFAULTS,
                                                .auto_shard_policy =
                                                    golden_policy(c, golden_text(json, "policy"))};
    int workers = (int)golden_int(json, "workers", 1);
    if ((size_t)workers != json_array_size(streams))
        golden_fail(c, "%zu streams of %d workers", json_array_size(streams), workers);
    for (int w = 0; plan != NULL && w < workers && !c->failed; w++) {
        const json_t *stream = json_array_get(streams, (size_t)w);
        const json_t *elements = json_object_get(stream, "elements");
        const json_t *error = json_object_get(stream, "error");
        leat_error err = {0};
        leati_membership member = {.num_workers = workers,
                                   .worker = w,
                                   .replicas = (int)golden_int(json, "replicas_per_worker", 1)};
        leat_dataset *dataset = golden_plan_dataset(plan, &err);
        if (dataset != NULL)
            golden_check_json(
                c, "elements", elements,
                stream_of(&member, dataset, &options, json_array_size(elements) + 3, &err));
        if (error != NULL)
            golden_check_class(c, error, &err);
        else if (err.code != LEAT_OK)
            golden_fail(c, "worker %d: %s: %s", w, leat_status_name(err.code), err.text);
    }
    json_decref(plan);
}

/* ---- processes.json: steps of workers in lock-step ---- */

struct worker {
    const json_t *json, *expected; /* the case, and this worker's task in it */
    lockstep_member member;
    leat_dataset *dataset; /* given to the thread; NULL: a function's */
    json_t *steps, *spec, *context, *per_replica_batch;
    leat_error error;
};

/* The dataset of kind "from_function". */
static leat_dataset *made_by_function(void *context, const leat_input_context *input,
                                      leat_error *err) {
    struct worker *w = context;
    const json_t *n = json_object_get(w->json, "n");
    int64_t batch = 0;
    leat_error local = {0};
    leat_status status = leat_input_context_batch_size(
        input, golden_int(w->json, "global_batch", 0), &batch, &local);
    w->context = json_pack("[i,i,i]", input->num_input_pipelines, input->input_pipeline_id,
                           input->num_replicas_in_sync);
    w->per_replica_batch =
        status == LEAT_OK ? json_integer((json_int_t)batch) : json_string(leat_status_name(status));
    batch = golden_int(w->json, "local_batch", batch);
    if (json_is_array(n))
        n = json_array_get(n, (size_t)input->input_pipeline_id);
    leat_dataset *ds = leat_dataset_range(0, json_integer_value(n), 1, NULL, err);
    if (golden_bool(w->json, "shard", false))
        ds = leat_dataset_shard(ds, input->num_input_pipelines, input->input_pipeline_id, err);
    return leat_dataset_batch(
        ds, batch,
        &(leat_dataset_batch_options){LEAT_DATASET_BATCH_DEFAULTS,
                                      .drop_remainder = golden_bool(w->json, "drop", false)},
        err);
}

static void *worker_main(void *context) {
    struct worker *w = context;
    leati_membership member = lockstep_membership(&w->member, 1);
    const char *policy = json_string_value(json_object_get(w->json, "policy"));
    leat_strategy_distribute_options options = {
        LEAT_STRATEGY_DISTRIBUTE_DEFAULTS,
        .auto_shard_policy = golden_policy(NULL, policy == NULL ? "AUTO" : policy)};
    leat_distributed_dataset *d =
        w->dataset != NULL
            ? leati_distributed_from_dataset(&member, w->dataset, &options, &w->error)
            : leati_distributed_from_function(&member, NULL, made_by_function, w, NULL, &options,
                                              &w->error);
    leat_distributed_iterator *iterator = leat_distributed_iterator_new(d, &w->error);
    leat_per_replica value = {0};
    leat_status status = iterator == NULL ? w->error.code : LEAT_OK;
    size_t most = (size_t)golden_int(w->json, "max_steps", 100);
    w->spec = d == NULL ? json_null() : golden_nested_spec(leat_distributed_dataset_spec(d));
    while (status == LEAT_OK && json_array_size(w->steps) < most) {
        status = leat_distributed_iterator_next(iterator, &value, &w->error);
        if (status == LEAT_OK)
            json_array_append_new(w->steps, golden_step(&value));
    }
    if (status == LEAT_OUT_OF_RANGE)
        w->error = (leat_error){0};
    leat_per_replica_fini(&value);
    leat_distributed_iterator_free(iterator);
    leat_distributed_dataset_free(d);
    return NULL;
}

static void check_worker(golden_case *c, const struct worker *w) {
    const json_t *error = json_object_get(w->expected, "error");
    const json_t *batch = json_object_get(w->expected, "per_replica_batch");
    const char *const lists[] = {"steps", "replica_spec", "context"};
    json_t *const found[] = {w->steps, w->spec, w->context};
    for (size_t i = 0; i < 3; i++) {
        const json_t *expected = json_object_get(w->expected, lists[i]);
        if (expected != NULL)
            golden_check_json(c, lists[i], expected, json_incref(found[i]));
    }
    if (json_is_object(batch)) {
        leat_error as_found = {0};
        for (int code = 0; code < 17; code++)
            if (strcmp(leat_status_name((leat_status)code),
                       json_is_string(w->per_replica_batch)
                           ? json_string_value(w->per_replica_batch)
                           : "OK") == 0)
                as_found.code = (leat_status)code;
        golden_check_class(c, batch, &as_found);
    } else if (batch != NULL) {
        golden_check_json(c, "per_replica_batch", batch, json_incref(w->per_replica_batch));
    }
    if (error != NULL)
        golden_check_class(c, error, &w->error);
    else if (w->error.code != LEAT_OK)
        golden_fail(c, "worker %d: %s: %s", w->member.worker, leat_status_name(w->error.code),
                    w->error.text);
}

/* The tasks in the order of their workers: a chief is the first. */
static int tasks_of(const json_t *json, const json_t *expected[MOST_WORKERS]) {
    const json_t *tasks = json_object_get(json, "tasks");
    int count = 0;
    for (int chief = 1; chief >= 0; chief--) {
        for (int i = 0; i < MOST_WORKERS && count < MOST_WORKERS; i++) {
            char name[32];
            snprintf(name, sizeof name, "%s%d", chief ? "chief" : "worker", i);
            const json_t *task = json_object_get(tasks, name);
            if (task != NULL)
                expected[count++] = task;
        }
    }
    return count;
}

void golden_processes_case(golden_case *c, const json_t *json, const char *folder) {
    const json_t *expected[MOST_WORKERS] = {NULL};
    const json_t *pipeline = json_object_get(json, "pipeline");
    struct worker workers[MOST_WORKERS] = {0};
    pthread_t threads[MOST_WORKERS];
    lockstep_cluster cluster;
    int count = tasks_of(json, expected);
    if (strcmp(golden_text(json, "kind"), "values") == 0) {
        golden_values_of_workers(c, expected, count);
        return;
    }
    json_t *plan = pipeline == NULL ? NULL : golden_plan_of(c, pipeline, folder);
    lockstep_init(&cluster, count);
    for (int w = 0; w < count; w++) {
        leat_error err = {0};
        workers[w] = (struct worker){.json = json,
                                     .expected = expected[w],
                                     .member = {.cluster = &cluster, .worker = w},
                                     .steps = json_array()};
        workers[w].dataset = plan == NULL ? NULL : golden_plan_dataset(plan, &err);
        if (err.code != LEAT_OK)
            golden_fail(c, "building: %s", err.text);
    }
    for (int w = 0; w < count && !c->failed; w++)
        pthread_create(&threads[w], NULL, worker_main, &workers[w]);
    for (int w = 0; w < count; w++)
        if (!c->failed)
            pthread_join(threads[w], NULL);
        else
            leat_dataset_unref(workers[w].dataset);
    for (int w = 0; w < count; w++) {
        if (!c->failed)
            check_worker(c, &workers[w]);
        json_decref(workers[w].steps);
        json_decref(workers[w].spec);
        json_decref(workers[w].context);
        json_decref(workers[w].per_replica_batch);
    }
    lockstep_fini(&cluster);
    json_decref(plan);
}
