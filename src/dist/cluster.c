/* Clusters by TensorFlow's rules (TFConfigClusterResolver, ClusterSpec and multi_worker_util).
 *
 * The description stays in TF_CONFIG's form. {job: tasks} is brought into one shape when it is
 * read: every job an object of addresses by decimal number. What is wrong there is kept and said by
 * each function that needs it. */
#include "dist/cluster.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "core/json.h"
#include <stdlib.h>
#include <string.h>

struct leat_cluster {
    const char *resolver;
    json_t *config;
    json_t *spec; /* {job: {number: address}}; NULL: `problem` */
    leat_error problem;
    const char *task_type; /* of `config` */
    int64_t task_id;
};

static const char *const known_jobs[] = {"chief", "worker", "evaluator", "ps"};

// ---- the table ----

#define X(name) extern const leati_resolver leati_resolver_##name;
#include "dist/resolvers.def"
#undef X

static const leati_resolver *const resolvers[] = {
#define X(name) &leati_resolver_##name,
#include "dist/resolvers.def"
#undef X
};

// ---- reading ----

static leat_status add_task(json_t *job, const char *name, const char *number, const json_t *task,
                            leat_error *err) {
    char *end = NULL;
    /* The number stays text: it is the key under which the address is looked up. */
    if (strtol(number, &end, 10) < 0 || *number == '\0' || *end != '\0') {
        return leati_refuse(err, VALUE, "job \"%s\" has a task \"%s\"; expected numbers from 0",
                            name, number);
    }
    if (!json_is_string(task)) {
        return leati_refuse(err, VALUE,
                            "task %s of job \"%s\" has no text as its address; expected "
                            "\"host:port\"",
                            number, name);
    }
    if (json_object_set_new(job, number, json_string(json_string_value(task))) != 0)
        return leati_no_memory(err);
    return LEAT_OK;
}

static leat_status add_job(json_t *spec, const char *name, const json_t *tasks, leat_error *err) {
    json_t *job = json_object();
    if (job == NULL || json_object_set_new(spec, name, job) != 0)
        return leati_no_memory(err);
    leat_status status = LEAT_OK;
    if (json_is_array(tasks)) {
        for (size_t i = 0; i < json_array_size(tasks) && status == LEAT_OK; i++) {
            char number[24];
            snprintf(number, sizeof number, "%zu", i);
            status = add_task(job, name, number, json_array_get(tasks, i), err);
        }
        return status;
    }
    if (!json_is_object(tasks)) {
        return leati_refuse(err, STRUCTURE,
                            "the tasks of job \"%s\" are neither a list of addresses nor addresses "
                            "by number; write \"%s\": [\"host:port\"]",
                            name, name);
    }
    const char *number;
    json_t *task;
    json_object_foreach((json_t *)tasks, number, task) {
        if (status == LEAT_OK)
            status = add_task(job, name, number, task, err);
    }
    return status;
}

/* {job: tasks} in one shape; NULL with `err`. */
static json_t *read_spec(const json_t *cluster, leat_error *err) {
    json_t *spec = json_object();
    if (spec == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    leat_status status = LEAT_OK;
    if (cluster != NULL && !json_is_object(cluster)) {
        status = leati_refuse(err, STRUCTURE,
                              "\"cluster\" of TF_CONFIG is no object of jobs; write {\"worker\": "
                              "[\"host:port\"]}");
    }
    const char *name;
    json_t *tasks;
    json_object_foreach((json_t *)cluster, name, tasks) {
        if (status == LEAT_OK)
            status = add_job(spec, name, tasks, err);
    }
    if (status != LEAT_OK) {
        json_decref(spec);
        return NULL;
    }
    return spec;
}

static leat_status read_task(leat_cluster *cluster, leat_error *err) {
    const json_t *task = json_object_get(cluster->config, "task");
    const json_t *index = json_object_get(task, "index");
    cluster->task_type = json_string_value(json_object_get(task, "type"));
    /* As in TensorFlow the index may be a number or a text, or be left out. */
    cluster->task_id = LEAT_NO_TASK;
    if (json_is_integer(index)) {
        cluster->task_id = json_integer_value(index);
    } else if (json_is_string(index)) {
        char *end = NULL;
        cluster->task_id = strtoll(json_string_value(index), &end, 10);
        if (end == json_string_value(index) || *end != '\0') {
            return leati_refuse(err, VALUE,
                                "the task's index in TF_CONFIG is \"%s\"; expected a number",
                                json_string_value(index));
        }
    } else if (index != NULL && !json_is_null(index)) {
        return leati_refuse(err, VALUE, "the task's index in TF_CONFIG is no number");
    }
    return LEAT_OK;
}

/* A cluster of a description (given, NULL passes through). */
static leat_cluster *cluster_of(json_t *config, const char *resolver, leat_error *err) {
    if (config == NULL)
        return NULL;
    leat_cluster *cluster = leati_alloc_zero(1, sizeof(*cluster));
    if (cluster == NULL) {
        json_decref(config);
        leati_no_memory(err);
        return NULL;
    }
    cluster->config = config;
    cluster->resolver = resolver;
    cluster->spec = read_spec(json_object_get(config, "cluster"), &cluster->problem);
    /* A description that is wrong is kept: a cluster of which nobody asks the jobs works, as in
     * TensorFlow, where they are read on demand. */
    if (cluster->problem.code == LEAT_RESOURCE_EXHAUSTED)
        leati_error_pass(err, &cluster->problem);
    else if (read_task(cluster, err) == LEAT_OK)
        return cluster;
    leat_cluster_free(cluster);
    return NULL;
}

json_t *leati_cluster_parse(const char *tf_config, leat_error *err) {
    static const char way_out[] =
        "write {\"cluster\": {\"worker\": [\"host:port\"]}, \"task\": {\"type\": \"worker\", "
        "\"index\": 0}}, or unset it";
    leat_error local = {0};
    json_t *config = leati_json_parse(tf_config, strlen(tf_config), &local);
    if (config == NULL) {
        /* jansson's sentence knows line and column, but not that the text is TF_CONFIG's. */
        leati_fail(err, local.code, "TF_CONFIG: %s; %s", local.text, way_out);
    } else if (!json_is_object(config)) {
        /* It names no cluster, so that each process would train alone, without a word. */
        leati_refuse(err, STRUCTURE, "TF_CONFIG is no JSON object; %s", way_out);
        json_decref(config);
        config = NULL;
    }
    return config;
}

leat_cluster *leat_cluster_new(const char *tf_config, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (tf_config != NULL)
        return cluster_of(leati_cluster_parse(tf_config, err), "tf_config", err);
    json_t *nothing = json_object();
    if (nothing == NULL)
        leati_no_memory(err);
    return cluster_of(nothing, "none", err);
}

leat_cluster *leat_cluster_find(const char *resolver, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    for (size_t i = 0; i < sizeof resolvers / sizeof resolvers[0]; i++) {
        const leati_resolver *found = resolvers[i];
        if (resolver == NULL ? found->applies() : strcmp(resolver, found->name) == 0) {
            LEATI_TELL(DIST, INFO, "the cluster is read by %s%s", found->name,
                       resolver == NULL ? ", whose variables are set" : "");
            return cluster_of(found->read(err), found->name, err);
        }
    }
    if (resolver == NULL) {
        LEATI_TELL(DIST, INFO, "no launcher's variables are set: this process is alone");
        return leat_cluster_new(NULL, err);
    }
    leati_refuse(err, VALUE,
                 "there is no resolver \"%s\"; expected tf_config, torchrun, mpi or slurm",
                 resolver);
    return NULL;
}

void leat_cluster_free(leat_cluster *cluster) {
    if (cluster != NULL) {
        json_decref(cluster->config);
        json_decref(cluster->spec);
        leati_free(cluster);
    }
}

// ---- what resolvers share ----

leat_status leati_cluster_resolver_number(const char *variable, int64_t *out, leat_error *err) {
    const char *text = getenv(variable);
    if (text == NULL)
        return leati_fail(err, LEAT_NOT_FOUND, "the environment has no %s", variable);
    char *end = NULL;
    *out = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || *out < 0) {
        return leati_refuse(err, VALUE, "%s is \"%s\"; expected a whole number of 0 or more",
                            variable, text);
    }
    return LEAT_OK;
}

json_t *leati_cluster_resolver_workers(json_t *addresses, int64_t index, leat_error *err) {
    json_t *config = addresses == NULL
                         ? NULL
                         : json_pack("{s:{s:o}, s:{s:s, s:I}}", "cluster", "worker", addresses,
                                     "task", "type", "worker", "index", (json_int_t)index);
    if (config == NULL)
        leati_no_memory(err);
    return config;
}

json_t *leati_cluster_resolver_meet_at(const char *host, int64_t port, int64_t count,
                                       leat_error *err) {
    if (count < 1 || count > LEATI_MOST_WORKERS) {
        leati_refuse(err, VALUE, "a job of %lld processes; expected 1 to %d", (long long)count,
                     LEATI_MOST_WORKERS);
        return NULL;
    }
    json_t *list = json_array();
    for (int64_t i = 0; i < count; i++) {
        /* jansson takes a NULL value for a failure, so one check serves both calls. */
        json_t *address = i == 0 ? json_sprintf("%s:%lld", host, (long long)port) : json_string("");
        if (json_array_append_new(list, address) != 0) {
            json_decref(list);
            leati_no_memory(err);
            return NULL;
        }
    }
    return list;
}

// ---- what it says ----

static const json_t *tasks_of(const leat_cluster *cluster, const char *job) {
    return job == NULL ? NULL : json_object_get(cluster->spec, job);
}

static int64_t num_tasks(const leat_cluster *cluster, const char *job) {
    return (int64_t)json_object_size(tasks_of(cluster, job));
}

static bool is_job(const char *type, const char *job) {
    return type != NULL && strcmp(type, job) == 0;
}

const char *leat_cluster_resolver(const leat_cluster *cluster) {
    return cluster->resolver;
}

const char *leat_cluster_task_type(const leat_cluster *cluster) {
    return cluster->task_type;
}

int64_t leat_cluster_task_id(const leat_cluster *cluster) {
    return cluster->task_id;
}

const char *leat_cluster_rpc_layer(const leat_cluster *cluster) {
    return json_string_value(json_object_get(cluster->config, "rpc_layer"));
}

static leat_status need_spec(const leat_cluster *cluster, leat_error *err) {
    if (cluster->spec == NULL)
        return leati_error_pass(err, &cluster->problem);
    return LEAT_OK;
}

static const char *address_of(const leat_cluster *cluster, const char *job, int64_t task) {
    char number[24];
    snprintf(number, sizeof number, "%lld", (long long)task);
    return json_string_value(json_object_get(tasks_of(cluster, job), number));
}

const char *leati_cluster_address(const leat_cluster *cluster, int64_t index) {
    int64_t chiefs = num_tasks(cluster, "chief");
    /* The chief is worker 0, and the workers follow it (multi_worker_util.id_in_cluster). */
    return index < chiefs ? address_of(cluster, "chief", index)
                          : address_of(cluster, "worker", index - chiefs);
}

/* A job as a list, or as it is where its numbers have gaps or it is empty. */
static json_t *job_as_list(const leat_cluster *cluster, const char *job) {
    int64_t count = num_tasks(cluster, job);
    json_t *list = json_array();
    for (int64_t i = 0; list != NULL && i < count; i++) {
        const char *address = address_of(cluster, job, i);
        if (address == NULL) {
            json_decref(list);
            return json_incref((json_t *)(uintptr_t)tasks_of(cluster, job));
        }
        if (json_array_append_new(list, json_string(address)) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    if (count > 0)
        return list;
    json_decref(list);
    return json_incref((json_t *)(uintptr_t)tasks_of(cluster, job));
}

char *leat_cluster_spec(const leat_cluster *cluster, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (need_spec(cluster, err) != LEAT_OK)
        return NULL;
    json_t *out = json_object(), *tasks;
    bool good = out != NULL;
    const char *job;
    json_object_foreach(cluster->spec, job, tasks) {
        good = good && json_object_set_new(out, job, job_as_list(cluster, job)) == 0;
    }
    char *text = NULL;
    if (good)
        text = leati_json_print(out, 0, false, err);
    else
        leati_no_memory(err);
    json_decref(out);
    return text;
}

/* The address before the protocol is added; empty in a cluster of one. NULL with `err`. */
static const char *find_master(const leat_cluster *cluster, const char *type, int64_t id,
                               leat_error *err) {
    const char *given = json_string_value(json_object_get(cluster->config, "session_master"));
    if (given != NULL)
        return given;
    if (need_spec(cluster, err) != LEAT_OK)
        return NULL;
    size_t jobs = json_object_size(cluster->spec);
    const json_t *only = json_object_iter_value(json_object_iter(cluster->spec));
    /* A cluster of one process has no master to connect to. */
    if (jobs == 0 || (jobs == 1 && json_object_size(only) == 1))
        return "";
    if (tasks_of(cluster, type) == NULL) {
        leati_refuse(err, VALUE, "the cluster has no job \"%s\"; its task is of it",
                     type == NULL ? "(none given)" : type);
        return NULL;
    }
    const char *address = id == LEAT_NO_TASK ? NULL : address_of(cluster, type, id);
    if (address == NULL) {
        char number[24] = "without a number";
        if (id != LEAT_NO_TASK)
            snprintf(number, sizeof number, "%lld", (long long)id);
        leati_refuse(err, VALUE, "job \"%s\" has %lld tasks and no task %s", type,
                     (long long)num_tasks(cluster, type), number);
    }
    return address;
}

char *leat_cluster_master(const leat_cluster *cluster, const char *task_type, int64_t task_id,
                          leat_error *err) {
    LEATI_ERROR_DOOR(err);
    const char *type = task_type != NULL ? task_type : cluster->task_type;
    const char *address =
        find_master(cluster, type, task_id != LEAT_NO_TASK ? task_id : cluster->task_id, err);
    if (address == NULL)
        return NULL;
    const char *layer = leat_cluster_rpc_layer(cluster);
    /* A session_master that was given is used as it is, without a protocol in front. */
    bool alone = layer == NULL || *address == '\0' ||
                 json_object_get(cluster->config, "session_master") != NULL;
    size_t room = strlen(address) + (alone ? 0 : strlen(layer) + 3) + 1;
    char *text = leati_alloc(room, 1);
    if (text == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    snprintf(text, room, "%s%s%s", alone ? "" : layer, alone ? "" : "://", address);
    return text;
}

// ---- this process's place ----

static bool known_job(const char *job) {
    for (size_t i = 0; i < sizeof known_jobs / sizeof known_jobs[0]; i++)
        if (strcmp(job, known_jobs[i]) == 0)
            return true;
    return false;
}

static leat_status check_jobs(const leat_cluster *cluster, leat_error *err) {
    const char *job;
    json_t *tasks;
    json_object_foreach(cluster->spec, job, tasks) {
        if (!known_job(job)) {
            return leati_refuse(
                err, VALUE,
                "the cluster has a job \"%s\"; expected chief, worker, evaluator or "
                "ps",
                job);
        }
        if ((is_job(job, "chief") || is_job(job, "evaluator")) && json_object_size(tasks) > 1) {
            return leati_refuse(err, VALUE,
                                "the cluster has %zu tasks in job \"%s\"; expected at most one",
                                json_object_size(tasks), job);
        }
    }
    return LEAT_OK;
}

/* Are the jobs as they should be, and is this process's among them? */
static leat_status check_type(const leat_cluster *cluster, leat_error *err) {
    const char *type = cluster->task_type;
    leat_status status = need_spec(cluster, err);
    if (status == LEAT_OK)
        status = check_jobs(cluster, err);
    if (status != LEAT_OK || type == NULL)
        return status;
    if (!known_job(type)) {
        return leati_refuse(
            err, VALUE, "this process is of type \"%s\"; expected chief, worker, evaluator or ps",
            type);
    }
    if (tasks_of(cluster, type) == NULL && !is_job(type, "evaluator")) {
        return leati_refuse(
            err, VALUE, "this process is of type \"%s\", which the cluster does not list", type);
    }
    if (tasks_of(cluster, type) != NULL && num_tasks(cluster, type) == 0) {
        return leati_refuse(err, VALUE, "this process is of type \"%s\", a job without tasks",
                            type);
    }
    return LEAT_OK;
}

/* Has this process a place in the cluster? */
static leat_status check_task(const leat_cluster *cluster, leat_error *err) {
    const char *type = cluster->task_type;
    leat_status status = check_type(cluster, err);
    if (status != LEAT_OK || tasks_of(cluster, type) == NULL)
        return status;
    if (cluster->task_id == LEAT_NO_TASK) {
        return leati_refuse(err, VALUE,
                            "the task of this process has no index; write \"task\": {\"type\": "
                            "\"%s\", \"index\": 0} in TF_CONFIG",
                            type);
    }
    if (cluster->task_id >= num_tasks(cluster, type)) {
        return leati_refuse(err, VALUE,
                            "this process is task %lld of job \"%s\", which has %lld tasks",
                            (long long)cluster->task_id, type, (long long)num_tasks(cluster, type));
    }
    return LEAT_OK;
}

leat_status leat_cluster_is_chief(const leat_cluster *cluster, bool *out, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    const char *type = cluster->task_type;
    leat_status status = check_task(cluster, err);
    *out =
        /* Without a job "chief" the first worker is it. */
        status == LEAT_OK &&
        (is_job(type, "chief") || is_job(type, "evaluator") ||
         (is_job(type, "worker") && cluster->task_id == 0 && tasks_of(cluster, "chief") == NULL));
    return status;
}

leat_status leat_cluster_id(const leat_cluster *cluster, int64_t *out, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    const char *type = cluster->task_type;
    leat_status status = check_task(cluster, err);
    *out = 0;
    if (status != LEAT_OK)
        return status;
    if (is_job(type, "worker")) {
        *out = cluster->task_id + num_tasks(cluster, "chief");
    } else if (is_job(type, "evaluator")) {
        *out = cluster->task_id;
    } else if (!is_job(type, "chief")) {
        return leati_refuse(err, VALUE, "a task of type \"%s\" has no number among the workers",
                            type == NULL ? "(none given)" : type);
    }
    return LEAT_OK;
}

leat_status leat_cluster_num_workers(const leat_cluster *cluster, int64_t *out, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    const char *type = cluster->task_type;
    leat_status status = check_type(cluster, err);
    *out = 0;
    if (status != LEAT_OK)
        return status;
    if (is_job(type, "evaluator") && tasks_of(cluster, type) != NULL) {
        *out = num_tasks(cluster, "evaluator");
    } else if (is_job(type, "worker") || is_job(type, "chief")) {
        *out = num_tasks(cluster, "chief") + num_tasks(cluster, "worker");
    } else {
        return leati_refuse(err, VALUE,
                            "a task of type \"%s\" stands beside the workers, whose number it does "
                            "not know",
                            type == NULL ? "(none given)" : type);
    }
    return LEAT_OK;
}

leat_status leati_cluster_place(const leat_cluster *cluster, int *worker, int *num_workers,
                                leat_error *err) {
    int64_t number = 0, count = 1;
    leat_status status = check_task(cluster, err);
    /* An evaluator stands beside those that train and exchanges nothing with them. */
    bool alone = cluster->spec == NULL || json_object_size(cluster->spec) == 0 ||
                 is_job(cluster->task_type, "evaluator");
    if (status == LEAT_OK && !alone) {
        status = cluster->task_type == NULL
                     ? leati_refuse(err, VALUE,
                                    "the cluster does not say which task this process is; write "
                                    "\"task\": {\"type\": \"worker\", \"index\": 0} in TF_CONFIG")
                     : leat_cluster_num_workers(cluster, &count, err);
    }
    if (status == LEAT_OK && !alone)
        status = leat_cluster_id(cluster, &number, err);
    if (status == LEAT_OK && (number < 0 || number >= count || count > LEATI_MOST_WORKERS)) {
        status = leati_refuse(err, VALUE, "this process is worker %lld of %lld", (long long)number,
                              (long long)count);
    }
    *worker = (int)number;
    *num_workers = (int)count;
    return status;
}
