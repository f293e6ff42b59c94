/* Probes and metrics of a worker (web/server.h), without a page: the dispatcher's shows workers.
 *
 * Ready: it serves, is known to the dispatcher and does not drain. Figures are read where they are
 * asked for; the locks of the worker and its tasks are held for moments. Failures: those of the web
 * server at the start. */
#include "base/alloc.h"
#include "base/error.h"
#include "service/wire/control.h"
#include "service/worker/worker.h"
#include "web/metrics.h"
#include "web/server.h"
#include <string.h>

#define PREFIX "leat_worker_"

static void give_metrics(void *context, leati_text *text) {
    leati_worker_figures figures = {0};
    leat_error err = {0};
    if (leati_worker_figures_read(context, &figures, &err) != LEAT_OK) {
        text->failed = true;
        return;
    }
    leati_web_metrics_single(text, PREFIX "tasks", "gauge", "Streams that the worker has.",
                             (double)figures.tasks);
    leati_web_metrics_single(text, PREFIX "elements_total", "counter",
                             "Elements that the worker has given.", (double)figures.elements);
    leati_web_metrics_single(text, PREFIX "bytes_total", "counter",
                             "Bytes that the worker has given.", (double)figures.bytes);
    leati_web_metrics_single(text, PREFIX "ready_bytes", "gauge",
                             "Bytes of elements that are made and not taken.",
                             (double)figures.ready_bytes);
    leati_web_metrics_single(text, PREFIX "memory_used_bytes", "gauge",
                             "Bytes of its memory budget that the worker's streams hold.",
                             (double)figures.memory_used_bytes);
    leati_web_metrics_single(text, PREFIX "memory_budget_bytes", "gauge",
                             "Bytes that the worker's streams may hold together.",
                             (double)figures.memory_budget_bytes);
    leati_web_metrics_single(text, PREFIX "busy_ratio", "gauge",
                             "Share of its threads' time that the worker computed.", figures.busy);
    leati_web_metrics_single(text, PREFIX "full_ratio", "gauge",
                             "Share of the time that the worker's pipelines waited for readers.",
                             figures.full);
    leati_web_metrics_head(text, PREFIX "slowest_ratio", "gauge",
                           "Share of a thread's time that the operator that bounds the worker "
                           "computed.");
    leati_web_label label = {"operator", figures.slowest};
    if (figures.slowest[0] != '\0')
        leati_web_metrics_number(text, PREFIX "slowest_ratio", &label, 1, figures.slowest_share);
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
    leati_transport_security who = leati_control_security(&o->security);
    leati_web_options options = {
        .host = leati_control_page_host(o->host, &who),
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
