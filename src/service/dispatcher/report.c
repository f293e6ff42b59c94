/* What the dispatcher knows, for people: JSON for `status` and the page (web/state.md), and
 * metrics.
 *
 * Rates are those that workers and clients said last. The wanted number of workers of a job follows
 * from how often its clients ask for an element and how long a worker takes to make one: their
 * product, rounded up. No locks. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include "base/text.h"
#include "service/dispatcher/parts.h"
#include <math.h>
#include <string.h>
#include <time.h>

enum { MOST_WORKERS = 100000 };

static double ms_since(const leati_core *core, int64_t since_ns) {
    return (double)((core->now_ns - since_ns) / LEATI_CORE_NS_PER_MS);
}

/* Adds {"key": value}; what has no memory is found out by the printer, which has none either. */
static void put_text(json_t *object, const char *key, const char *text) {
    (void)leati_json_put(object, key, leati_json_of_string(text, strlen(text)));
}

static void put_number(json_t *object, const char *key, double value) {
    (void)leati_json_put(object, key, json_real(value));
}

static void put_int(json_t *object, const char *key, int64_t value) {
    (void)leati_json_put(object, key, json_integer(value));
}

static json_t *add_object(json_t *list) {
    json_t *object = json_object();
    return json_array_append_new(list, object) == 0 ? object : NULL;
}

/* ---- workers ---- */

static void put_heard(const leati_core *core, const leati_core_worker *worker, json_t *object) {
    const struct leati_message_worker *last = &worker->last;
    put_int(object, "elements", last->elements);
    put_int(object, "bytes", last->bytes);
    put_int(object, "ready_bytes", last->ready_bytes);
    put_int(object, "memory_used_bytes", last->memory_used_bytes);
    put_int(object, "memory_budget_bytes", last->memory_budget_bytes);
    put_number(object, "busy", last->busy);
    put_number(object, "full", last->full);
    put_number(object, "heard_ms", ms_since(core, worker->heard_ns));
    if (last->slowest == NULL)
        return;
    json_t *slowest = json_object();
    put_text(slowest, "operator", last->slowest);
    put_number(slowest, "share", last->slowest_share);
    (void)leati_json_put(object, "slowest", slowest);
}

static leat_status add_workers(leati_core *core, json_t *list, leat_error *err) {
    static const char *const states[] = {"ready", "draining", "lost", "stopped"};
    leati_query query;
    leati_database_ask(core->database, &query,
                       "SELECT uid, address, tags, state, why, (SELECT count(*) FROM tasks t WHERE"
                       " t.worker = uid AND t.state = 0) FROM workers ORDER BY number",
                       "");
    while (leati_database_next(&query)) {
        json_t *object = add_object(list);
        put_text(object, "uid", leati_database_text(&query, 0));
        put_text(object, "address", leati_database_text(&query, 1));
        const char *tags = leati_database_text(&query, 2);
        (void)leati_json_put(object, "tags", json_loads(tags, 0, NULL));
        put_text(object, "state", states[leati_database_int(&query, 3) & 3]);
        put_text(object, "why", leati_database_text(&query, 4));
        put_int(object, "tasks", leati_database_int(&query, 5));
        const leati_core_worker *worker =
            leati_dispatcher_worker_find(core, leati_database_text(&query, 0));
        if (worker != NULL)
            put_heard(core, worker, object);
    }
    return leati_database_end(&query, err);
}

/* ---- jobs ---- */

/* Mean time of making an element on the workers of an iteration; 0: not known. */
static leat_status element_ns(leati_core *core, int64_t iteration, double *out, leat_error *err) {
    leati_query query;
    double sum = 0;
    int64_t count = 0;
    leati_database_ask(core->database, &query,
                       "SELECT id, worker FROM tasks WHERE iteration = ? AND state = 0", "i",
                       iteration);
    while (leati_database_next(&query)) {
        const leati_core_worker *worker =
            leati_dispatcher_worker_find(core, leati_database_text(&query, 1));
        const struct leati_message_task_report *reports =
            worker == NULL ? NULL : worker->last.tasks.items;
        for (int64_t i = 0; worker != NULL && i < worker->last.tasks.count; i++)
            if (reports[i].task == leati_database_int(&query, 0) && reports[i].element_ns > 0) {
                sum += (double)reports[i].element_ns;
                count++;
            }
    }
    *out = count == 0 ? 0 : sum / (double)count;
    return leati_database_end(&query, err);
}

/* Clients ask for `wanted` elements per ns in sum. */
static double wanted_rate(const leati_core *core, int64_t iteration, int64_t *clients) {
    double rate = 0;
    *clients = 0;
    for (size_t i = 0; i < core->num_clients; i++) {
        const leati_core_client *client = core->clients[i];
        if (client->iteration != iteration)
            continue;
        ++*clients;
        rate += client->last.element_ns > 0 ? 1 / (double)client->last.element_ns : 0;
    }
    return rate;
}

leat_status leati_dispatcher_workers_wanted(leati_core *core, int64_t iteration, int64_t *out,
                                            leat_error *err) {
    int64_t clients;
    double making = 0, rate = wanted_rate(core, iteration, &clients);
    LEATI_TRY(element_ns(core, iteration, &making, err));
    *out =
        making > 0 && rate > 0 ? (int64_t)LEATI_MIN(ceil(making * rate), (double)MOST_WORKERS) : 0;
    return LEAT_OK;
}

static leat_status put_job(leati_core *core, const leati_query *query, json_t *object,
                           leat_error *err) {
    static const char *const policies[] = {"off",  "dynamic",      "file",
                                           "data", "file_or_data", "hint"};
    static const char *const levels[] = {"at_most_once", "at_least_once", "exactly_once"};
    int64_t iteration = leati_database_int(query, 0), clients = 0, wanted = 0;
    put_int(object, "id", iteration);
    put_text(object, "name", leati_database_text(query, 1));
    put_text(object, "dataset", leati_database_text(query, 2));
    put_text(object, "policy", policies[leati_database_int(query, 3) % 6]);
    put_text(object, "visitation", levels[leati_database_int(query, 4) % 3]);
    put_int(object, "epoch", leati_database_int(query, 5));
    put_text(object, "state", leati_database_int(query, 6) == 0 ? "active" : "finished");
    LEATI_TRY(leati_dispatcher_workers_wanted(core, iteration, &wanted, err));
    (void)wanted_rate(core, iteration, &clients);
    put_int(object, "clients", clients);
    put_int(object, "elements", leati_dispatcher_counted(core, iteration));
    put_int(object, "splits_given", leati_database_int(query, 7));
    if (wanted > 0)
        put_int(object, "optimal_workers", wanted);
    return LEAT_OK;
}

static leat_status add_jobs(leati_core *core, json_t *list, leat_error *err) {
    leati_query query;
    leat_status status = LEAT_OK;
    leati_database_ask(core->database, &query,
                       "SELECT i.id, j.name, j.dataset, j.policy, j.visitation, i.repetition,"
                       " i.state, (SELECT coalesce(sum(p.next), 0) FROM providers p"
                       " WHERE p.iteration = i.id) FROM iterations i JOIN jobs j ON j.id = i.job"
                       " WHERE i.state < 2 ORDER BY i.state, i.id DESC LIMIT 200",
                       "");
    while (status == LEAT_OK && leati_database_next(&query))
        status = put_job(core, &query, add_object(list), err);
    leat_status ended = leati_database_end(&query, status == LEAT_OK ? err : &(leat_error){0});
    return status == LEAT_OK ? ended : status;
}

void leati_dispatcher_add_ways(const leati_core_client *client, json_t *object) {
    const struct leati_message_way *ways = client->last.ways.items;
    for (int64_t i = 0; i < client->last.ways.count; i++) {
        const char *transfer = ways[i].transfer != NULL ? ways[i].transfer : "";
        put_int(object, transfer,
                json_integer_value(json_object_get(object, transfer)) + ways[i].streams);
    }
}

/* The addresses of workers that it does not reach. */
static leat_status add_unreached(const leati_core *core, const leati_core_client *client,
                                 json_t *list, leat_error *err) {
    const leati_ints *tasks = &client->last.unreached;
    for (int32_t i = 0; i < tasks->count; i++) {
        leati_query query;
        leati_database_ask(core->database, &query,
                           "SELECT address FROM workers WHERE uid ="
                           " (SELECT worker FROM tasks WHERE id = ?)",
                           "i", tasks->values[i]);
        if (leati_database_next(&query))
            (void)json_array_append_new(list, json_string(leati_database_text(&query, 0)));
        LEATI_TRY(leati_database_end(&query, err));
    }
    return LEAT_OK;
}

static leat_status add_clients(const leati_core *core, json_t *list, leat_error *err) {
    for (size_t i = 0; i < core->num_clients; i++) {
        const leati_core_client *client = core->clients[i];
        json_t *object = add_object(list);
        put_int(object, "id", client->id);
        put_int(object, "job", client->iteration);
        put_text(object, "address", client->peer);
        put_int(object, "elements", client->last.elements);
        put_number(object, "stall", client->last.stall);
        put_int(object, "buffered", client->last.buffered);
        json_t *transfers = json_object();
        leati_dispatcher_add_ways(client, transfers);
        (void)leati_json_put(object, "transfers", transfers);
        put_number(object, "heard_ms", ms_since(core, client->heard_ns));
        json_t *unreached = json_array();
        (void)leati_json_put(object, "unreached", unreached);
        LEATI_TRY(add_unreached(core, client, unreached, err));
    }
    return LEAT_OK;
}

/* ---- snapshots ---- */

static leat_status add_snapshots(leati_core *core, json_t *list, leat_error *err) {
    static const char *const states[] = {"writing", "writing", "done", "done"};
    leati_query query;
    leati_database_ask(core->database, &query,
                       "SELECT s.path, s.state, s.code, s.why, s.streams, (SELECT count(*) FROM"
                       " tasks t WHERE t.iteration = s.iteration AND t.state = 0), s.chunks +"
                       " (SELECT coalesce(sum(w.chunks), 0) FROM streams w JOIN tasks t"
                       " ON t.id = w.task WHERE t.iteration = s.iteration), s.elements +"
                       " (SELECT coalesce(sum(w.elements), 0) FROM streams w JOIN tasks t"
                       " ON t.id = w.task WHERE t.iteration = s.iteration) FROM snapshots s"
                       " ORDER BY s.state > 1, s.id DESC LIMIT 200",
                       "");
    while (leati_database_next(&query)) {
        json_t *object = add_object(list);
        bool failed = leati_database_int(&query, 2) != LEAT_OK;
        put_text(object, "path", leati_database_text(&query, 0));
        put_text(object, "state", failed ? "failed" : states[leati_database_int(&query, 1) & 3]);
        if (failed)
            put_text(object, "why", leati_database_text(&query, 3));
        put_int(object, "streams", leati_database_int(&query, 4));
        put_int(object, "active", leati_database_int(&query, 5));
        put_int(object, "chunks", leati_database_int(&query, 6));
        put_int(object, "elements", leati_database_int(&query, 7));
    }
    return leati_database_end(&query, err);
}

/* ---- everything ---- */

static void put_totals(const leati_core *core, json_t *object) {
    int64_t buffered = 0;
    double stall = 0;
    for (size_t i = 0; i < core->num_clients; i++) {
        buffered += core->clients[i]->last.buffered;
        stall += core->clients[i]->last.stall;
    }
    json_t *totals = json_object();
    put_int(totals, "elements", core->elements);
    put_int(totals, "bytes", core->bytes);
    put_int(totals, "buffered", buffered);
    if (core->num_clients > 0)
        put_number(totals, "stall", stall / (double)core->num_clients);
    (void)leati_json_put(object, "totals", totals);
}

static leat_status put_all(leati_core *core, json_t *object, leat_error *err) {
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    json_t *workers = json_array(), *jobs = json_array(), *clients = json_array();
    json_t *snapshots = json_array();
    (void)leati_json_put(object, "snapshots", snapshots);
    (void)leati_json_put(object, "workers", workers);
    (void)leati_json_put(object, "jobs", jobs);
    (void)leati_json_put(object, "clients", clients);
    put_text(object, "kind", "service");
    put_text(object, "name", "data service");
    put_text(object, "version", leat_version());
    put_text(object, "service", leati_database_uid(core->database));
    put_int(object, "incarnation", leati_database_incarnation(core->database));
    put_number(object, "now_ms", (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6);
    put_number(object, "uptime_ms", ms_since(core, core->started_ns));
    (void)leati_json_put(object, "actions", json_pack("[s]", "drain"));
    put_totals(core, object);
    LEATI_TRY(add_workers(core, workers, err));
    LEATI_TRY(add_jobs(core, jobs, err));
    LEATI_TRY(add_clients(core, clients, err));
    return add_snapshots(core, snapshots, err);
}

leat_status leati_core_state(leati_core *core, leati_text *json, leat_error *err) {
    json_t *object = json_object();
    leat_status status = object == NULL ? leati_no_memory(err) : put_all(core, object, err);
    char *text = status == LEAT_OK ? leati_json_print(object, 0, false, err) : NULL;
    json_decref(object);
    LEATI_TRY(status);
    if (text == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leati_text_add(json, text, strlen(text));
    leati_free(text);
    return json->failed ? leati_no_memory(err) : LEAT_OK;
}

leat_status leati_dispatcher_ask_status(leati_core *core, leati_core_asked *asked,
                                        leat_error *err) {
    return leati_core_state(core, &asked->out, err);
}
