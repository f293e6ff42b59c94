/* Probes and metrics of a worker (web/server.h), without a page: the dispatcher's shows workers.
 *
 * Ready: it serves, is known to the dispatcher and does not drain. Figures are read where they are
 * asked for; the locks of the worker and its tasks are held for moments. Failures: those of the web
 * server at the start. */
#include "base/alloc.h"
#include "base/error.h"
#include "service/worker/worker.h"
#include "web/metrics.h"
#include "web/server.h"
#include <string.h>

#define PREFIX "leat_service_worker_"

/* What the tasks say together. */
struct sums {
    int64_t tasks, elements, bytes, held;
};

static struct sums sum_up(leat_worker *worker) {
    struct sums sums = {0};
    size_t count = 0;
    leat_error err = {0};
    leati_worker_task **tasks = leati_worker_tasks_copy(worker, &count, &err);
    for (size_t i = 0; tasks != NULL && i < count; i++) {
        struct leati_message_task_report report = {0};
        if (leati_worker_task_report(tasks[i], &report, &err) == LEAT_OK) {
            sums.elements += report.elements;
            sums.bytes += report.bytes;
        }
        sums.tasks++;
        sums.held += leati_worker_task_held(tasks[i]);
        leati_messages_fini(&leati_message_task_report, &report);
    }
    leati_worker_tasks_drop(tasks, count);
    return sums;
}

static void give_metrics(void *context, leati_text *text) {
    struct sums sums = sum_up(context);
    leati_web_metrics_single(text, PREFIX "tasks", "gauge", "Streams that the worker gives.",
                             (double)sums.tasks);
    leati_web_metrics_single(text, PREFIX "elements", "gauge",
                             "Elements that the present tasks have given.", (double)sums.elements);
    leati_web_metrics_single(text, PREFIX "bytes", "gauge",
                             "Bytes that the present tasks have given.", (double)sums.bytes);
    leati_web_metrics_single(text, PREFIX "ready_bytes", "gauge",
                             "Bytes of elements that are made and not taken.", (double)sums.held);
}

static bool is_ready(void *context, leati_text *why_not) {
    leat_worker *worker = context;
    leati_queue_gate_lock(worker->gate);
    bool serving = worker->state == LEATI_WORKER_SERVING, draining = worker->draining;
    leati_queue_gate_unlock(worker->gate);
    if (!serving || draining)
        leati_text_addf(why_not, serving ? "the worker drains" : "the worker has stopped");
    return serving && !draining;
}

leat_status leati_worker_probes_open(leat_worker *worker, leat_error *err) {
    const leat_worker_options *o = &worker->options;
    leati_web_options options = {
        .host = o->host == NULL || strcmp(o->host, "all") != 0 ? o->host : "::",
        .port = o->web_port,
        .token = o->security.token,
        .certificate = o->security.tls_cert,
        .key = o->security.tls_key,
        .source = {.context = worker, .metrics = give_metrics, .ready = is_ready},
    };
    if (o->web_port < 0)
        return LEAT_OK;
    worker->web = leati_web_open(&options, err);
    return worker->web == NULL ? err->code : LEAT_OK;
}

int leat_worker_web_port(const leat_worker *worker) {
    return worker->web == NULL ? -1 : leati_web_port(worker->web);
}
