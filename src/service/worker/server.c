/* A worker's life (leat_worker): starting, serving, draining, stopping.
 *
 * Happy path: start listens, greets the dispatcher, hears its own address from it, and returns when
 * the first heartbeat was answered; then threads do the work (worker.h). Stop ends them in this
 * order: the heartbeat, so that no task comes; the quiet period; readers, streams, the transport;
 * producers; the way to the dispatcher.
 *
 * Failures: at the start those of listening and of the dispatcher, for which it waits for
 * dispatcher_timeout_ms. Locks: the worker's gate, a leaf. */
#include "web/server.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/minmax.h"
#include "base/options.h"
#include "base/random.h"
#include "run/machine.h"
#include "service/transport/ends.h"
#include "service/worker/worker.h"
#include <stdio.h>
#include <string.h>

enum {
    CLOSE_MS = 1000,
    HEARTBEAT_MS = 30 * 1000,
    DISPATCHER_MS = 3600 * 1000,
    MOST_PORT = 65535,
    MEMORY_SHARE = 4 /* of the memory that the process may use: one part of so many */
};

static const int64_t cache_bytes = INT64_C(10) * 1000 * 1000 * 1000;
static const int64_t chunk_bytes = INT64_C(6) << 30;

/* ---- options ---- */

static leat_status check_options(const leat_worker_options *o, leat_error *err) {
    if (o->dispatcher_address == NULL || o->dispatcher_address[0] == '\0')
        return leati_refuse(err, VALUE,
                            "leat_worker_new: dispatcher_address is missing; give \"host:port\"");
    if (o->port < 0 || o->port > MOST_PORT)
        return leati_refuse(err, VALUE, "leat_worker_new: port is %d; expected 0 to %d", o->port,
                            MOST_PORT);
    for (size_t i = 0; i < o->num_worker_tags; i++)
        if (o->worker_tags[i][0] == '\0')
            return leati_refuse(err, VALUE, "Worker tags cannot be empty. Tag %zu of %zu is", i + 1,
                                o->num_worker_tags);
    if (o->heartbeat_interval_ms < 0 || o->dispatcher_timeout_ms < 0 ||
        o->cross_trainer_cache_size_bytes < 0 || o->snapshot_max_chunk_size_bytes < 0 ||
        o->shutdown_quiet_period_ms < 0 || o->num_threads < 0 || o->memory_budget_bytes < 0)
        return leati_refuse(err, VALUE,
                            "leat_worker_new: times, sizes and num_threads are at least 0");
    return LEAT_OK;
}

static leat_status copy_tags(leat_worker *worker, const leat_worker_options *o, leat_error *err) {
    worker->tags = leati_alloc_zero(o->num_worker_tags + 1, sizeof(char *));
    if (worker->tags == NULL)
        return leati_no_memory(err);
    for (size_t i = 0; i < o->num_worker_tags; i++) {
        worker->tags[i] = leati_strdup(o->worker_tags[i]);
        if (worker->tags[i] == NULL)
            return leati_no_memory(err);
    }
    return LEAT_OK;
}

/* The worker's own texts in place of the caller's. */
static leat_status copy_options(leat_worker *worker, const leat_worker_options *given,
                                leat_error *err) {
    leat_worker_options *o = &worker->options;
    *o = *given;
    if (o->protocol == NULL)
        o->protocol = "grpc";
    leati_transport_security who = leati_control_security(&given->security);
    LEATI_TRY(leati_control_check(&who, err));
    o->security = (leat_service_security){who.token, who.tls_cert, who.tls_key, who.tls_ca};
    const char **const texts[LEATI_WORKER_NUM_TEXTS] = {
        &o->dispatcher_address,    &o->worker_address,    &o->protocol,         &o->host,
        &o->security.token,        &o->security.tls_cert, &o->security.tls_key, &o->security.tls_ca,
        &o->data_transfer_protocol};
    for (int i = 0; i < LEATI_WORKER_NUM_TEXTS; i++) {
        worker->texts[i] = leati_strdup(*texts[i]);
        if (*texts[i] != NULL && worker->texts[i] == NULL)
            return leati_no_memory(err);
        *texts[i] = worker->texts[i];
    }
    LEATI_TRY(copy_tags(worker, given, err));
    o->worker_tags = (const char *const *)worker->tags;
    int64_t *const numbers[] = {&o->heartbeat_interval_ms, &o->dispatcher_timeout_ms,
                                &o->cross_trainer_cache_size_bytes,
                                &o->snapshot_max_chunk_size_bytes, &o->memory_budget_bytes};
    const int64_t defaults[] = {HEARTBEAT_MS, DISPATCHER_MS, cache_bytes, chunk_bytes,
                                LEATI_MAX(leati_machine_memory() / MEMORY_SHARE, 1)};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (*numbers[i] == 0)
            *numbers[i] = defaults[i];
    return LEAT_OK;
}

static leat_status draw_uid(leat_worker *worker, leat_error *err) {
    uint8_t secret[16];
    if (!leati_random_secret(secret, sizeof secret))
        return leati_fail(err, LEAT_UNAVAILABLE, "the system gives no random bytes");
    for (size_t i = 0; i < sizeof secret; i++)
        (void)snprintf(worker->uid + 2 * i, 3, "%02x", secret[i]);
    return LEAT_OK;
}

leat_worker *leat_worker_new(const leat_worker_options *options, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_worker_options o = {LEAT_WORKER_DEFAULTS};
    if (LEATI_OPTIONS(leat_worker_options, &o, options, err) != LEAT_OK ||
        check_options(&o, err) != LEAT_OK)
        return NULL;
    leat_worker *worker = leati_alloc_zero(1, sizeof *worker);
    if (worker == NULL) {
        (void)leati_no_memory(err);
        return NULL;
    }
    leat_status status = copy_options(worker, &o, err);
    if (status == LEAT_OK)
        status = draw_uid(worker, err);
    if (status == LEAT_OK) {
        worker->gate = leati_queue_gate_new("a worker", NULL, err);
        worker->cancel = leati_cancel_new(NULL, err);
        worker->bell = leati_worker_bell_new(err);
        worker->budget = leati_worker_budget_new(worker->options.memory_budget_bytes, err);
        status = worker->gate == NULL || worker->cancel == NULL || worker->bell == NULL ||
                         worker->budget == NULL
                     ? LEAT_RESOURCE_EXHAUSTED
                     : LEAT_OK;
    }
    if (status != LEAT_OK) {
        leat_worker_free(worker);
        return NULL;
    }
    return worker;
}

/* ---- start ---- */

static void on_call(void *context, leati_transport_call *call, const char *method, const char *peer,
                    const void *request, size_t size) {
    leat_worker *worker = context;
    leati_text text = {0};
    leat_error err = {0};
    (void)peer;
    (void)request;
    (void)size;
    leat_status status =
        strcmp(method, "status") == 0
            ? leati_worker_status(worker, &text, &err)
            : leati_fail(&err, LEAT_UNIMPLEMENTED, "a worker has no call \"%.60s\"", method);
    if (status == LEAT_OK)
        (void)leati_transport_call_answer(call, text.data, text.size);
    else
        (void)leati_transport_call_fail(call, &err);
    leati_text_fini(&text);
}

static leat_status listen(leat_worker *worker, int *port, leat_error *err) {
    const leat_worker_options *o = &worker->options;
    leati_transport_listen_options where = {
        .port = o->port,
        .security = {o->security.token, o->security.tls_cert, o->security.tls_key,
                     o->security.tls_ca},
    };
    where.host = leati_control_host(o->host, &where.security);
    leati_transport_handler handler = {
        .context = worker, .call = on_call, .open = leati_worker_stream_open};
    worker->transport = leati_transport_find(o->protocol, err);
    if (worker->transport == NULL)
        return err->code;
    worker->server = worker->transport->listen(&where, &handler, port, err);
    return worker->server == NULL ? err->code : LEAT_OK;
}

/* "host:%port%" with the port; else the address as the dispatcher sees it. */
static leat_status set_address(leat_worker *worker, int port, leat_error *err) {
    static const char hole[] = "%port%";
    const char *given = worker->options.worker_address, *peer = worker->control.version.peer;
    const char *at = given == NULL ? NULL : strstr(given, hole);
    int length;
    if (at != NULL)
        length = snprintf(worker->address, sizeof worker->address, "%.*s%d%s", (int)(at - given),
                          given, port, at + strlen(hole));
    else if (given != NULL)
        length = snprintf(worker->address, sizeof worker->address, "%s", given);
    else if (peer == NULL || peer[0] == '\0')
        length = snprintf(worker->address, sizeof worker->address, "localhost:%d", port);
    else
        length = snprintf(worker->address, sizeof worker->address,
                          strchr(peer, ':') != NULL ? "[%s]:%d" : "%s:%d", peer, port);
    if (length < 0 || (size_t)length >= sizeof worker->address)
        return leati_refuse(err, VALUE, "worker_address is longer than %zu bytes",
                            sizeof worker->address - 1);
    (void)snprintf(worker->transfer, sizeof worker->transfer, "%.16s %s", worker->options.protocol,
                   worker->address);
    return LEAT_OK;
}

/* Greets and hears which address this worker has. */
static leat_status greet(leat_worker *worker, int64_t deadline_ns, leat_error *err) {
    struct leati_message_version mine = {.protocol = LEATI_SERVICE_PROTOCOL,
                                         .oldest = LEATI_SERVICE_OLDEST};
    struct leati_message_version theirs = {0};
    /* The first call greets by itself; what it heard stands in the control. */
    leat_status status =
        leati_control_ask(&worker->control, "version", &leati_message_version, &mine,
                          &leati_message_version, &theirs, deadline_ns, err);
    leati_messages_fini(&leati_message_version, &theirs);
    return status;
}

/* Waits until the dispatcher knows the worker. */
static leat_status announce(leat_worker *worker, int64_t deadline_ns, leat_error *err) {
    for (int attempt = 0;; attempt++) {
        leat_status status = leati_worker_beat(worker, 0, worker->cancel, err);
        if (!leati_control_is_away(status))
            return status;
        leat_error late = {0};
        status = leati_control_pause(worker->cancel, attempt, deadline_ns, &late);
        if (status == LEAT_DEADLINE_EXCEEDED)
            return leati_fail(err, LEAT_DEADLINE_EXCEEDED,
                              "the dispatcher at %s did not answer in %lld ms; is it started, and "
                              "is dispatcher_address right?",
                              worker->options.dispatcher_address,
                              (long long)worker->options.dispatcher_timeout_ms);
        if (status != LEAT_OK)
            return leati_error_pass(err, &late);
    }
}

static leat_status begin(leat_worker *worker, leat_error *err) {
    const leat_worker_options *o = &worker->options;
    int64_t deadline_ns = leati_clock_deadline_ns(o->dispatcher_timeout_ms);
    char service[320];
    int port = 0;
    /* The dispatcher is spoken to by the worker's protocol, unless the address names one. */
    bool named = strstr(o->dispatcher_address, "://") != NULL;
    int length = snprintf(service, sizeof service, "%s%s%s", named ? "" : o->protocol,
                          named ? "" : "://", o->dispatcher_address);
    if (length < 0 || (size_t)length >= sizeof service)
        return leati_refuse(err, VALUE, "dispatcher_address is longer than %zu bytes",
                            sizeof service - 1);
    LEATI_TRY(leati_control_open(service, &o->security, worker->cancel, &worker->control, err));
    LEATI_TRY(listen(worker, &port, err));
    leat_status status = greet(worker, deadline_ns, err);
    if (status == LEAT_UNAVAILABLE)
        return leati_fail(err, LEAT_DEADLINE_EXCEEDED,
                          "the dispatcher at %s was not reached in %lld ms; is it started, and is "
                          "dispatcher_address right?",
                          o->dispatcher_address, (long long)o->dispatcher_timeout_ms);
    LEATI_TRY(status);
    LEATI_TRY(set_address(worker, port, err));
    LEATI_TRY(leati_worker_transfers_open(worker, err));
    worker->entry = (leati_worker_entry){
        .address = worker->address, .find = leati_worker_find_task, .worker = worker};
    leati_worker_entry_add(&worker->entry);
    worker->entered = true;
    LEATI_TRY(announce(worker, deadline_ns, err));
    LEATI_TRY(leati_worker_probes_open(worker, err));
    worker->heart = leati_driver_start("leat-worker", leati_worker_heart, worker, err);
    return worker->heart == NULL ? err->code : LEAT_OK;
}

/* ---- stop ---- */

/* Until all was sent, or (`closed`) clients have it and are gone. */
static leat_status wait_for_streams(leat_worker *worker, bool closed, int64_t deadline_ns,
                                    leat_error *err) {
    leat_status status = LEAT_OK;
    leati_queue_gate_lock(worker->gate);
    while (status == LEAT_OK && leati_worker_streams_any(worker, closed))
        status = leati_queue_gate_wait(worker->gate, LEATI_WAIT_CONSUMER, deadline_ns, NULL, err);
    leati_queue_gate_unlock(worker->gate);
    return status;
}

static void end_tasks(leat_worker *worker) {
    /* All are told first, so that none waits for another. */
    for (size_t i = 0; i < worker->num_tasks; i++)
        leati_worker_task_cancel(worker->tasks[i]);
}

static void drop_tasks(leat_worker *worker) {
    for (size_t i = 0; i < worker->num_tasks; i++) {
        leati_worker_task_stop(worker->tasks[i]);
        leati_worker_task_unref(worker->tasks[i]);
    }
    worker->num_tasks = 0;
}

/* In whatever state a start has left it. The heartbeat has ended, so the list of tasks changes no
 * more. */
static void end(leat_worker *worker) {
    leati_web_close(worker->web);
    worker->web = NULL;
    leati_worker_bell_end(worker->bell);
    if (worker->entered)
        leati_worker_entry_remove(&worker->entry);
    worker->entered = false;
    end_tasks(worker);
    if (worker->server != NULL)
        worker->transport->close(worker->server, leati_clock_deadline_ns(CLOSE_MS));
    worker->server = NULL;
    leati_worker_transfers_close(worker, leati_clock_deadline_ns(CLOSE_MS));
    leati_worker_streams_reap(worker, true);
    drop_tasks(worker);
    leati_control_close(&worker->control);
}

leat_status leat_worker_start(leat_worker *worker, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leati_queue_gate_lock(worker->gate);
    leati_worker_state state = worker->state;
    bool first = state == LEATI_WORKER_NEW;
    if (first)
        worker->state = LEATI_WORKER_SERVING;
    leati_queue_gate_unlock(worker->gate);
    if (state == LEATI_WORKER_SERVING)
        return LEAT_OK;
    if (!first)
        return leati_fail(err, LEAT_FAILED_PRECONDITION,
                          "a worker that was stopped cannot be started again; make another");
    leati_stop_scope before = leati_cancel_enter(worker->cancel);
    leat_status status = begin(worker, err);
    leati_stop_leave(before);
    if (status == LEAT_OK)
        LEATI_TELL(SERVICE, INFO, "worker %s serves", worker->address);
    else
        leat_worker_stop(worker);
    return status;
}

leat_status leat_worker_join(leat_worker *worker, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_status status = LEAT_OK;
    leati_transport_wait wait;
    /* Whom Ctrl-C tells, on a thread that is asked. */
    leat_cancel *cancel = leati_cancel_new(NULL, err);
    if (cancel == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leati_stop_scope before = leati_cancel_enter(cancel);
    leati_transport_wait_begin(&wait, worker->gate, cancel);
    leati_queue_gate_lock(worker->gate);
    while (status == LEAT_OK && worker->state != LEATI_WORKER_STOPPED && !worker->left)
        status = leati_transport_wait_once(&wait, LEATI_NO_DEADLINE, err);
    leati_queue_gate_unlock(worker->gate);
    leati_transport_wait_end(&wait);
    leati_stop_leave(before);
    leati_cancel_unref(cancel);
    return status;
}

static void set_draining(leat_worker *worker) {
    size_t count = 0;
    leat_error err = {0};
    leati_queue_gate_lock(worker->gate);
    worker->draining = true;
    leati_queue_gate_unlock(worker->gate);
    leati_worker_task **tasks = leati_worker_tasks_copy(worker, &count, &err);
    /* Others are given by another worker, which makes what this one would have made; what consumers
     * read together has no end. */
    for (size_t i = 0; tasks != NULL && i < count; i++)
        if (tasks[i]->about.visitation == LEAT_SERVICE_AT_MOST_ONCE &&
            tasks[i]->about.consumers == 0)
            leati_worker_task_drain(tasks[i]);
    leati_worker_tasks_drop(tasks, count);
    leati_worker_bell_ring(worker->bell);
}

leat_status leat_worker_drain(leat_worker *worker, int64_t timeout_ms, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    int64_t deadline_ns = leati_clock_deadline_ns(timeout_ms);
    leat_status status = LEAT_OK;
    set_draining(worker);
    leati_queue_gate_lock(worker->gate);
    while (status == LEAT_OK && worker->state == LEATI_WORKER_SERVING && !worker->left)
        status = leati_queue_gate_wait(worker->gate, LEATI_WAIT_PEER, deadline_ns, NULL, err);
    leati_queue_gate_unlock(worker->gate);
    if (status == LEAT_OK)
        status = wait_for_streams(worker, false, deadline_ns, err);
    /* What was sent is on its way, and would be cut off. */
    if (status == LEAT_OK)
        (void)!wait_for_streams(worker, true, leati_clock_deadline_ns(CLOSE_MS), &(leat_error){0});
    if (status == LEAT_DEADLINE_EXCEEDED)
        status = leati_fail(err, LEAT_DEADLINE_EXCEEDED,
                            "worker %s had more to give when its %lld ms to drain were over",
                            worker->address, (long long)timeout_ms);
    leat_worker_stop(worker);
    return status;
}

/* True for the one who stops it; others wait until that is done. */
static bool claim_stop(leat_worker *worker) {
    leati_queue_gate_lock(worker->gate);
    bool mine = worker->state < LEATI_WORKER_STOPPING;
    if (mine)
        worker->state = LEATI_WORKER_STOPPING;
    leati_queue_gate_wake(worker->gate);
    leat_status status = LEAT_OK;
    while (!mine && status == LEAT_OK && worker->state != LEATI_WORKER_STOPPED)
        status = leati_queue_gate_wait(worker->gate, LEATI_WAIT_PEER, LEATI_NO_DEADLINE, NULL,
                                       &(leat_error){0});
    leati_queue_gate_unlock(worker->gate);
    return mine;
}

void leat_worker_stop(leat_worker *worker) {
    if (!claim_stop(worker))
        return;
    int64_t quiet_ms = worker->options.shutdown_quiet_period_ms;
    if (quiet_ms > 0 && worker->heart != NULL)
        (void)!wait_for_streams(worker, true, leati_clock_deadline_ns(quiet_ms), &(leat_error){0});
    leati_cancel_fire(worker->cancel);
    leati_driver_join(worker->heart);
    worker->heart = NULL;
    end(worker);
    leati_queue_gate_lock(worker->gate);
    worker->state = LEATI_WORKER_STOPPED;
    leati_queue_gate_wake(worker->gate);
    leati_queue_gate_unlock(worker->gate);
}

void leat_worker_free(leat_worker *worker) {
    if (worker == NULL)
        return;
    if (worker->gate != NULL && worker->cancel != NULL && worker->bell != NULL)
        leat_worker_stop(worker);
    leati_worker_datasets_fini(worker);
    leati_worker_bell_unref(worker->bell);
    leati_worker_budget_unref(worker->budget);
    leati_cancel_unref(worker->cancel);
    leati_queue_gate_free(worker->gate);
    leati_free(worker->tasks);
    for (size_t i = 0; worker->tags != NULL && worker->tags[i] != NULL; i++)
        leati_free(worker->tags[i]);
    leati_free(worker->tags);
    for (int i = 0; i < LEATI_WORKER_NUM_TEXTS; i++)
        leati_free(worker->texts[i]);
    leati_free(worker);
}

const char *leat_worker_address(const leat_worker *worker) {
    return worker->address[0] == '\0' ? NULL : worker->address;
}

int64_t leat_worker_num_tasks(const leat_worker *worker) {
    leati_queue_gate_lock(worker->gate);
    int64_t count = (int64_t)worker->num_tasks;
    leati_queue_gate_unlock(worker->gate);
    return count;
}
