/* What the dispatcher knows as metrics of Prometheus. Names begin with leat_service_;
 * docs/SERVICE.md lists them. No locks. */
#include "web/metrics.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include "service/dispatcher/parts.h"

#define PREFIX "leat_service_"

static void head(leati_text *text, const char *name, const char *type, const char *help) {
    leati_web_metrics_head(text, name, type, help);
}

/* A sample for each row of a query of (label value, number). */
static leat_status counted(leati_core *core, leati_text *text, const char *name, const char *label,
                           const char *sql, leat_error *err) {
    leati_query query;
    leati_database_ask(core->database, &query, sql, "");
    while (leati_database_next(&query)) {
        leati_web_label labels[] = {{label, leati_database_text(&query, 0)}};
        leati_web_metrics_integer(text, name, labels, 1, leati_database_int(&query, 1));
    }
    return leati_database_end(&query, err);
}

/* ---- figures of workers ---- */

static double elements_of(const struct leati_message_worker *said) {
    return (double)said->elements;
}
static double bytes_of(const struct leati_message_worker *said) {
    return (double)said->bytes;
}
static double ready_of(const struct leati_message_worker *said) {
    return (double)said->ready_bytes;
}
static double used_of(const struct leati_message_worker *said) {
    return (double)said->memory_used_bytes;
}
static double budget_of(const struct leati_message_worker *said) {
    return (double)said->memory_budget_bytes;
}
static double busy_of(const struct leati_message_worker *said) {
    return said->busy;
}
static double full_of(const struct leati_message_worker *said) {
    return said->full;
}

static const struct {
    const char *name, *type, *help;
    double (*value)(const struct leati_message_worker *said);
} worker_figures[] = {
    {PREFIX "worker_elements_total", "counter", "Elements that the worker has given.", elements_of},
    {PREFIX "worker_bytes_total", "counter", "Bytes that the worker has given.", bytes_of},
    {PREFIX "worker_ready_bytes", "gauge", "Bytes of elements that are made and not taken.",
     ready_of},
    {PREFIX "worker_memory_used_bytes", "gauge",
     "Bytes of its memory budget that the worker's streams hold.", used_of},
    {PREFIX "worker_memory_budget_bytes", "gauge",
     "Bytes that the worker's streams may hold together.", budget_of},
    {PREFIX "worker_busy_ratio", "gauge", "Share of its threads' time that the worker computed.",
     busy_of},
    {PREFIX "worker_full_ratio", "gauge",
     "Share of the time that the worker's pipelines waited for readers.", full_of},
};

/* The operator is a label: it changes as another one begins to bound the worker. */
static void of_slowest(const leati_core *core, leati_text *text) {
    static const char name[] = PREFIX "worker_slowest_ratio";
    head(text, name, "gauge",
         "Share of a thread's time that the operator that bounds the worker computed.");
    for (size_t i = 0; i < core->num_workers; i++) {
        const struct leati_message_worker *said = &core->workers[i]->last;
        leati_web_label labels[] = {{"worker", said->address}, {"operator", said->slowest}};
        if (said->address != NULL && said->slowest != NULL)
            leati_web_metrics_number(text, name, labels, 2, said->slowest_share);
    }
}

static void of_workers(const leati_core *core, leati_text *text) {
    for (size_t f = 0; f < sizeof worker_figures / sizeof worker_figures[0]; f++) {
        head(text, worker_figures[f].name, worker_figures[f].type, worker_figures[f].help);
        for (size_t i = 0; i < core->num_workers; i++) {
            const struct leati_message_worker *said = &core->workers[i]->last;
            leati_web_label label = {"worker", said->address};
            if (said->address != NULL)
                leati_web_metrics_number(text, worker_figures[f].name, &label, 1,
                                         worker_figures[f].value(said));
        }
    }
    of_slowest(core, text);
    leati_web_metrics_single(text, PREFIX "elements_total", "counter",
                             "Elements that workers gave since the dispatcher's start.",
                             (double)core->elements);
    leati_web_metrics_single(text, PREFIX "bytes_total", "counter",
                             "Bytes that workers gave since the dispatcher's start.",
                             (double)core->bytes);
}

/* Of those that the database still has as active. */
static leat_status of_iterations(leati_core *core, leati_text *text, leat_error *err) {
    static const char name[] = PREFIX "iteration_elements_total";
    leati_query query;
    head(text, name, "counter",
         "Elements that clients of an active pass took since the dispatcher's start.");
    leati_database_ask(core->database, &query,
                       "SELECT i.id, j.name FROM iterations i JOIN jobs j ON j.id = i.job"
                       " WHERE i.state = 0 ORDER BY i.id",
                       "");
    while (leati_database_next(&query)) {
        leati_web_label labels[] = {{"iteration", leati_database_text(&query, 0)},
                                    {"job", leati_database_text(&query, 1)}};
        leati_web_metrics_integer(text, name, labels, 2,
                                  leati_dispatcher_counted(core, leati_database_int(&query, 0)));
    }
    return leati_database_end(&query, err);
}

static leat_status of_streams(const leati_core *core, leati_text *text, leat_error *err) {
    static const char name[] = PREFIX "client_streams";
    json_t *streams = json_object(), *count = NULL;
    const char *transfer = NULL;
    if (streams == NULL)
        return leati_no_memory(err);
    for (size_t i = 0; i < core->num_clients; i++)
        leati_dispatcher_add_ways(core->clients[i], streams);
    head(text, name, "gauge", "Streams from workers to clients by the way that they take.");
    json_object_foreach(streams, transfer, count) {
        leati_web_label label = {"transfer", transfer};
        leati_web_metrics_integer(text, name, &label, 1, json_integer_value(count));
    }
    json_decref(streams);
    return LEAT_OK;
}

static void of_clients(const leati_core *core, leati_text *text) {
    double stall = 0;
    int64_t buffered = 0;
    for (size_t i = 0; i < core->num_clients; i++) {
        stall += core->clients[i]->last.stall;
        buffered += core->clients[i]->last.buffered;
    }
    leati_web_metrics_single(text, PREFIX "clients", "gauge", "Clients that read.",
                             (double)core->num_clients);
    leati_web_metrics_single(text, PREFIX "client_stall_ratio", "gauge",
                             "Mean share of the time that clients wait for elements.",
                             core->num_clients == 0 ? 0 : stall / (double)core->num_clients);
    leati_web_metrics_single(text, PREFIX "client_buffered_elements", "gauge",
                             "Elements that clients have and did not take yet.", (double)buffered);
}

/* The most that one of the active passes wants. */
static leat_status of_wanted(leati_core *core, leati_text *text, leat_error *err) {
    leati_ints iterations;
    int64_t most = 0;
    LEATI_TRY(leati_dispatcher_ids(core,
                                   "SELECT json_group_array(id) FROM iterations WHERE state = ?",
                                   LEATI_ITERATION_ACTIVE, &iterations, err));
    leat_status status = LEAT_OK;
    for (int32_t i = 0; i < iterations.count && status == LEAT_OK; i++) {
        int64_t wanted = 0;
        status = leati_dispatcher_workers_wanted(core, iterations.values[i], &wanted, err);
        most = LEATI_MAX(most, wanted);
    }
    leati_free(iterations.values);
    if (status == LEAT_OK)
        leati_web_metrics_single(text, PREFIX "workers_wanted", "gauge",
                                 "Workers that would keep clients from waiting; 0: not known yet.",
                                 (double)most);
    return status;
}

leat_status leati_core_metrics(leati_core *core, leati_text *text, leat_error *err) {
    head(text, PREFIX "workers", "gauge", "Workers by state.");
    LEATI_TRY(
        counted(core, text, PREFIX "workers", "state",
                "SELECT CASE state WHEN 0 THEN 'ready' WHEN 1 THEN 'draining'"
                " WHEN 2 THEN 'lost' ELSE 'stopped' END, count(*) FROM workers GROUP BY state",
                err));
    head(text, PREFIX "iterations", "gauge", "Passes over datasets by state.");
    LEATI_TRY(counted(core, text, PREFIX "iterations", "state",
                      "SELECT CASE state WHEN 0 THEN 'active' WHEN 1 THEN 'finished'"
                      " ELSE 'collected' END, count(*) FROM iterations GROUP BY state",
                      err));
    head(text, PREFIX "tasks", "gauge", "Streams of active passes by state.");
    LEATI_TRY(counted(core, text, PREFIX "tasks", "state",
                      "SELECT CASE t.state WHEN 0 THEN 'active' WHEN 1 THEN 'done'"
                      " WHEN 2 THEN 'lost' ELSE 'waiting' END, count(*) FROM tasks t"
                      " JOIN iterations i ON i.id = t.iteration WHERE i.state = 0 GROUP BY t.state",
                      err));
    head(text, PREFIX "splits_given", "gauge", "Splits of sources that active passes gave out.");
    LEATI_TRY(counted(core, text, PREFIX "splits_given", "iteration",
                      "SELECT p.iteration, sum(p.next) FROM providers p JOIN iterations i"
                      " ON i.id = p.iteration WHERE i.state = 0 GROUP BY p.iteration",
                      err));
    LEATI_TRY(of_wanted(core, text, err));
    of_workers(core, text);
    LEATI_TRY(of_iterations(core, text, err));
    of_clients(core, text);
    LEATI_TRY(of_streams(core, text, err));
    leati_web_metrics_single(text, PREFIX "incarnation", "gauge",
                             "How often a dispatcher was started on its database.",
                             (double)leati_database_incarnation(core->database));
    return text->failed ? leati_no_memory(err) : LEAT_OK;
}
