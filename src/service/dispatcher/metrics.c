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

/* What a worker said last, in sum over its tasks. */
static int64_t sum_of(const leati_core_worker *worker, bool bytes) {
    const struct leati_message_task_report *reports = worker->last.tasks.items;
    int64_t sum = 0;
    for (int64_t i = 0; i < worker->last.tasks.count; i++)
        sum += bytes ? reports[i].bytes : reports[i].elements;
    return sum;
}

static void of_workers(const leati_core *core, leati_text *text) {
    static const char elements[] = PREFIX "worker_elements", bytes[] = PREFIX "worker_bytes",
                      busy[] = PREFIX "worker_busy_ratio";
    head(text, elements, "gauge", "Elements that the worker's present tasks have given.");
    for (size_t i = 0; i < core->num_workers; i++) {
        const leati_core_worker *worker = core->workers[i];
        leati_web_label label = {"worker", worker->last.address};
        if (worker->last.address != NULL)
            leati_web_metrics_integer(text, elements, &label, 1, sum_of(worker, false));
    }
    head(text, bytes, "gauge", "Bytes that the worker's present tasks have given.");
    for (size_t i = 0; i < core->num_workers; i++) {
        const leati_core_worker *worker = core->workers[i];
        leati_web_label label = {"worker", worker->last.address};
        if (worker->last.address != NULL)
            leati_web_metrics_integer(text, bytes, &label, 1, sum_of(worker, true));
    }
    head(text, busy, "gauge", "Share of the time in which the worker computed.");
    for (size_t i = 0; i < core->num_workers; i++) {
        const leati_core_worker *worker = core->workers[i];
        leati_web_label label = {"worker", worker->last.address};
        if (worker->last.address != NULL)
            leati_web_metrics_number(text, busy, &label, 1, worker->last.busy);
    }
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
    of_clients(core, text);
    return text->failed ? leati_no_memory(err) : LEAT_OK;
}
