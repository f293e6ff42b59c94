/* A dispatcher and workers that do what a test says, over the transport within a process. One
 * client at a time. Workers give the numbers base, base + 1, ... as int64 scalars. */
#ifndef FAKE_SERVICE_H
#define FAKE_SERVICE_H

#include "base/alloc.h"
#include "base/error.h"
#include "service/transport/transport.h"
#include "service/wire/frame.h"
#include "service/wire/messages.h"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define FAKE_UNUSED __attribute__((unused))

enum { FAKE_MOST = 8 };

/* A task, and the worker that has it alone. */
typedef struct fake_worker {
    leati_transport_server *server;
    char address[64], transfer[160];
    const char *before[2]; /* transfers that are named before its own; NULL: none */
    int64_t task, attempt, start_round, end_round;
    int64_t base, count; /* of elements; -1: no end */
    int64_t rows;        /* in a frame */
    int64_t fails_at;    /* position whose outcome is an error; -1: none */
    int64_t breaks_at;   /* position before which the stream breaks once; -1: none */
    int64_t skips_at;    /* coordinated: turn that is skipped; -1: none */
    int64_t whole_to;    /* coordinated: turns that it says to be whole at most */
    bool lost;           /* coordinated, as `turns`: what the dispatcher says of it */
    int64_t turns;
    leat_status refuses; /* what opening a stream is answered with */
    int64_t again;       /* position where the next stream begins; 0: where the last one ended */
    bool silent;         /* sends nothing, and ends no stream by itself */
    const char *tag;     /* NULL: none */
    bool listed;         /* the dispatcher names it */
    /* ---- what happened; under the lock ---- */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int64_t next;                    /* position */
    int64_t given, took, came, told; /* coordinated: turns */
    int64_t elements_credit, bytes_credit;
    int64_t most_under_way;          /* elements credit that was ever there */
    int opens, streams;              /* asked for; accepted */
    struct leati_message_read asked; /* the last one's */
    leati_transport_stream *stream;
    bool open, stop;
    pthread_t thread;
    bool running;
    int64_t acked_begin[64], acked_end[64];
    int num_acked;
} fake_worker;

typedef struct fake_service {
    leati_transport_server *server;
    char address[64], target[80];
    fake_worker workers[FAKE_MOST];
    int num_workers;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int64_t state, told; /* changes of what follows, and which of them the client knows */
    bool finished, colocated;
    int64_t propose;
    int64_t report; /* a task to report; 0: none */
    const char *lost;
    leat_status refuses; /* what open_iteration is answered with */
    leat_status forgets; /* what heartbeats are answered with */
    int64_t protocol;    /* that `version` says */
    bool stranger;       /* answers `version` by what is no message */
    leati_transport_call *kept;
    struct leati_message_open opened; /* the last one's */
    struct leati_message_client beat; /* the last one's */
    int beats, opens, releases;
} fake_service;

/* By which protocol the workers of services that start from now on give their elements. */
static const char *fake_transfers = "local";

static int64_t fake_min(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* ---- the worker ---- */

static leat_status fake_send(leati_transport_stream *stream, leati_frame *frame) {
    leat_error err = {0};
    leat_status status =
        leati_transport_stream_write(stream, frame->parts, frame->num_parts, NULL, &err);
    leati_frame_fini(frame);
    return status;
}

/* One frame of n rows; the number of what was sent: 0, the stream is gone. */
static int64_t fake_rows(fake_worker *worker, leati_transport_stream *stream, int64_t at,
                         int64_t n) {
    leat_error err = {0};
    leati_block block = {0};
    leati_frame frame = {0};
    leat_buffer *buffer = leat_buffer_new((size_t)n * sizeof(int64_t), &err);
    assert(buffer != NULL);
    int64_t *values = leat_buffer_data(buffer);
    for (int64_t i = 0; i < n; i++)
        values[i] = worker->base + at + i;
    leat_status status = leati_block_prepare(&block, 1, &err);
    leat_shape scalar = LEAT_SCALAR;
    leati_column_strided(&block.columns[0], LEAT_INT64, &scalar, values, sizeof *values, buffer);
    block.n = n;
    if (status == LEAT_OK)
        status = leati_frame_of_block(&block, 0, n, at, LEATI_FRAME_PLAIN, &frame, &err);
    assert(status == LEAT_OK);
    leati_block_fini(&block);
    return fake_send(stream, &frame) == LEAT_OK ? n : 0;
}

static int64_t fake_event(leati_transport_stream *stream, leati_frame_kind kind, int64_t at) {
    leat_error err = {0}, why = {0};
    leati_frame frame = {0};
    (void)leati_fail(&why, LEAT_DATA_LOSS, "element %lld is bad", (long long)at);
    leat_status status =
        leati_frame_of_event(kind, at, kind == LEATI_FRAME_ERROR ? &why : NULL, &frame, &err);
    assert(status == LEAT_OK);
    return fake_send(stream, &frame) == LEAT_OK ? 1 : 0;
}

static bool fake_is_coordinated(const fake_worker *worker) {
    return worker->asked.consumer >= 0;
}

/* May it send no more elements now? */
static bool fake_is_full(const fake_worker *worker) {
    return fake_is_coordinated(worker) ? worker->given - worker->took >= worker->asked.window
                                       : worker->elements_credit <= 0;
}

/* How many turns it has to say to be whole. */
static int64_t fake_whole(const fake_worker *worker) {
    return fake_is_coordinated(worker) ? fake_min(worker->came, worker->whole_to) : 0;
}

/* Sends one message; false: nothing more is to be sent. The lock is held, and left meanwhile. */
static bool fake_step(fake_worker *worker, leati_transport_stream *stream) {
    int64_t at = worker->next, sent, left = worker->count < 0 ? INT64_MAX : worker->count - at;
    int64_t n = fake_min(fake_min(worker->rows, worker->elements_credit), left);
    bool fails = at == worker->fails_at, skips = at == worker->skips_at;
    if (fake_whole(worker) > worker->told) {
        worker->told = fake_whole(worker);
        int64_t whole = worker->told;
        pthread_mutex_unlock(&worker->lock);
        sent = fake_event(stream, LEATI_FRAME_WHOLE, whole);
        pthread_mutex_lock(&worker->lock);
        return sent > 0;
    }
    if (fake_is_coordinated(worker)) {
        n = fake_min(n, 1);
        worker->given++;
    }
    if (at == worker->breaks_at) {
        worker->breaks_at = -1;
        worker->open = false;
        pthread_mutex_unlock(&worker->lock);
        /* Without a failure, so that what was sent before arrives. */
        leati_transport_stream_close(stream, NULL);
        pthread_mutex_lock(&worker->lock);
        return false;
    }
    for (int i = 0; i < 2; i++) {
        int64_t stops = i == 0 ? worker->fails_at : worker->breaks_at;
        if (stops > at && stops - at < n)
            n = stops - at;
    }
    /* Before it is sent, since credit for it may come back before the call returns. */
    worker->elements_credit -= left == 0 ? 0 : skips || fails ? 1 : n;
    pthread_mutex_unlock(&worker->lock);
    if (left == 0)
        sent = fake_event(stream, LEATI_FRAME_END, at);
    else if (skips)
        sent = fake_event(stream, LEATI_FRAME_SKIP, at);
    else
        sent = fails ? fake_event(stream, LEATI_FRAME_ERROR, at) : fake_rows(worker, stream, at, n);
    pthread_mutex_lock(&worker->lock);
    if (left == 0 || sent == 0)
        return false;
    worker->skips_at = skips ? -1 : worker->skips_at;
    worker->next += skips ? 0 : sent;
    return true;
}

static void *fake_stream(void *context) {
    fake_worker *worker = context;
    pthread_mutex_lock(&worker->lock);
    leati_transport_stream *stream = leati_transport_stream_ref(worker->stream);
    for (bool more = true; more;) {
        while (worker->open && !worker->stop && fake_whole(worker) <= worker->told &&
               (fake_is_full(worker) || worker->silent) &&
               (worker->next != worker->count || worker->silent))
            pthread_cond_wait(&worker->changed, &worker->lock);
        more = worker->open && !worker->stop && fake_step(worker, stream);
    }
    pthread_mutex_unlock(&worker->lock);
    leati_transport_stream_unref(stream);
    return NULL;
}

/* The context of one stream's events, which may come when the next stream is open already. */
typedef struct fake_opening {
    fake_worker *worker;
    int number; /* of the worker's streams */
} fake_opening;

/* Is it the worker's last? Its lock is held. */
static bool fake_is_last(const fake_opening *opening) {
    return opening->number == opening->worker->streams;
}

static void fake_credit(void *context, leat_buffer *message) {
    const fake_opening *opening = context;
    fake_worker *worker = opening->worker;
    leati_frame_credit credit;
    leat_error err = {0};
    leat_status status =
        leati_frame_get_credit(leat_buffer_data(message), leat_buffer_size(message), &credit, &err);
    assert(status == LEAT_OK);
    leat_buffer_unref(message);
    pthread_mutex_lock(&worker->lock);
    bool last = fake_is_last(opening), coordinated = fake_is_coordinated(worker);
    worker->elements_credit += last ? credit.elements : 0;
    worker->bytes_credit += last ? credit.bytes : 0;
    if (worker->elements_credit > worker->most_under_way)
        worker->most_under_way = worker->elements_credit;
    if (coordinated && last) {
        worker->took = credit.acked_begin;
        worker->came = credit.acked_end;
    } else if (!coordinated && credit.acked_end > credit.acked_begin && worker->num_acked < 64) {
        worker->acked_begin[worker->num_acked] = credit.acked_begin;
        worker->acked_end[worker->num_acked++] = credit.acked_end;
    }
    pthread_cond_broadcast(&worker->changed);
    pthread_mutex_unlock(&worker->lock);
}

static void fake_closed(void *context, const leat_error *why) {
    fake_opening *opening = context;
    fake_worker *worker = opening->worker;
    (void)why;
    pthread_mutex_lock(&worker->lock);
    worker->open = worker->open && !fake_is_last(opening);
    pthread_cond_broadcast(&worker->changed);
    pthread_mutex_unlock(&worker->lock);
    leati_free(opening);
}

static void fake_join(fake_worker *worker) {
    if (!worker->running)
        return;
    pthread_join(worker->thread, NULL);
    leati_transport_stream_unref(worker->stream);
    worker->running = false;
}

static leat_status fake_open(void *context, leati_transport_stream *stream, const char *method,
                             const char *peer, const void *request, size_t size,
                             leati_transport_events *events, void **events_context,
                             leat_error *err) {
    fake_worker *worker = context;
    (void)peer;
    if (strcmp(method, "read") != 0)
        return leati_fail(err, LEAT_UNIMPLEMENTED, "no method %s", method);
    pthread_mutex_lock(&worker->lock);
    worker->opens++;
    leat_status refuses = worker->refuses;
    pthread_mutex_unlock(&worker->lock);
    if (refuses != LEAT_OK)
        return leati_fail(err, refuses, "refused as the test said");
    fake_join(worker);
    leati_messages_fini(&leati_message_read, &worker->asked);
    LEATI_TRY(leati_messages_read(&leati_message_read, request, size, &worker->asked, err));
    *events = (leati_transport_events){.message = fake_credit, .closed = fake_closed};
    fake_opening *opening = leati_alloc(1, sizeof *opening);
    assert(opening != NULL);
    *events_context = opening;
    pthread_mutex_lock(&worker->lock);
    *opening = (fake_opening){.worker = worker, .number = ++worker->streams};
    worker->stream = leati_transport_stream_ref(stream);
    worker->next = worker->again > 0 ? worker->again : worker->next;
    worker->again = 0;
    worker->open = worker->running = true;
    worker->elements_credit = worker->most_under_way = worker->asked.credit_elements;
    worker->given = worker->came = worker->asked.round;
    worker->took = worker->asked.taken;
    worker->told = 0;
    worker->bytes_credit = worker->asked.credit_bytes;
    int failed = pthread_create(&worker->thread, NULL, fake_stream, worker);
    pthread_mutex_unlock(&worker->lock);
    assert(failed == 0);
    return LEAT_OK;
}

static void fake_no_call(void *context, leati_transport_call *call, const char *method,
                         const char *peer, const void *request, size_t size) {
    (void)context, (void)method, (void)peer, (void)request, (void)size;
    leat_error why = {0};
    (void)leati_fail(&why, LEAT_UNIMPLEMENTED, "this is a worker");
    leati_transport_call_fail(call, &why);
}

/* ---- the dispatcher ---- */

static void fake_answer(leati_transport_call *call, const leati_message *form,
                        const void *message) {
    leati_text text = {0};
    leat_error err = {0};
    leat_status status = leati_messages_write(form, message, &text, &err);
    assert(status == LEAT_OK);
    leati_transport_call_answer(call, text.data, text.size);
    leati_text_fini(&text);
}

static void fake_fail(leati_transport_call *call, leat_status code) {
    leat_error why = {0};
    (void)leati_fail(&why, code, "refused as the test said");
    leati_transport_call_fail(call, &why);
}

static void fake_strings(leati_strings *out, const char *text) {
    leat_error err = {0};
    leat_string string = {.data = (char *)(uintptr_t)text, .size = strlen(text)};
    leat_status status = leati_strings_copy(&string, 1, out, &err);
    assert(status == LEAT_OK);
}

static void fake_transfers_of(const fake_worker *worker, const char *own, leati_strings *out) {
    leat_string all[3];
    int64_t count = 0;
    leat_error err = {0};
    for (int i = 0; i < 2 && worker->before[i] != NULL; i++)
        all[count++] =
            (leat_string){(char *)(uintptr_t)worker->before[i], strlen(worker->before[i])};
    all[count++] = (leat_string){(char *)(uintptr_t)own, strlen(own)};
    leat_status status = leati_strings_copy(all, count, out, &err);
    assert(status == LEAT_OK);
}

/* Tells the client of everything; the lock is held. */
static void fake_tell(fake_service *service, leati_transport_call *call) {
    struct leati_message_client_answer answer = {.finished = service->finished,
                                                 .colocated = service->colocated,
                                                 .propose = service->propose};
    leat_error err = {0};
    for (int i = 0; i < service->num_workers; i++) {
        const fake_worker *worker = &service->workers[i];
        char transfer[200];
        if (!worker->listed)
            continue;
        struct leati_message_place *place =
            leati_messages_add(&answer.tasks, &leati_message_place, &err);
        assert(place != NULL);
        place->task = worker->task;
        place->attempt = worker->attempt;
        place->start_round = worker->start_round;
        place->end_round = worker->end_round;
        place->lost = worker->lost;
        place->turns = worker->turns;
        snprintf(transfer, sizeof transfer, "%s %s", fake_transfers, worker->transfer);
        fake_transfers_of(worker, transfer, &place->transfers);
        if (worker->tag != NULL)
            fake_strings(&place->tags, worker->tag);
        leat_status status = leati_messages_set_text(&place->address, worker->address, &err);
        assert(status == LEAT_OK);
    }
    if (service->lost != NULL)
        fake_strings(&answer.lost, service->lost);
    service->lost = NULL;
    answer.report.values = leati_alloc(1, sizeof(int64_t));
    answer.report.values[0] = service->report;
    answer.report.count = service->report != 0;
    service->told = service->state;
    fake_answer(call, &leati_message_client_answer, &answer);
    leati_messages_fini(&leati_message_client_answer, &answer);
}

static void fake_beat(fake_service *service, leati_transport_call *call, const void *request,
                      size_t size) {
    leat_error err = {0};
    pthread_mutex_lock(&service->lock);
    leati_messages_fini(&leati_message_client, &service->beat);
    leat_status status =
        leati_messages_read(&leati_message_client, request, size, &service->beat, &err);
    assert(status == LEAT_OK);
    service->beats++;
    pthread_cond_broadcast(&service->changed);
    /* Only the newest call waits: an older one was given up. */
    if (service->kept != NULL)
        fake_fail(service->kept, LEAT_CANCELLED);
    service->kept = NULL;
    if (service->forgets != LEAT_OK)
        fake_fail(call, service->forgets);
    else if (service->beat.wait_ms == 0 || service->told != service->state)
        fake_tell(service, call);
    else
        service->kept = call;
    pthread_cond_broadcast(&service->changed);
    pthread_mutex_unlock(&service->lock);
}

static void fake_open_iteration(fake_service *service, leati_transport_call *call,
                                const void *request, size_t size) {
    leat_error err = {0};
    pthread_mutex_lock(&service->lock);
    leati_messages_fini(&leati_message_open, &service->opened);
    leat_status status =
        leati_messages_read(&leati_message_open, request, size, &service->opened, &err);
    assert(status == LEAT_OK);
    struct leati_message_opened opened = {.job = 1, .iteration = 2, .client = 3 + service->opens};
    service->opens++;
    status = service->refuses;
    pthread_mutex_unlock(&service->lock);
    if (status != LEAT_OK)
        fake_fail(call, status);
    else
        fake_answer(call, &leati_message_opened, &opened);
}

static void fake_call(void *context, leati_transport_call *call, const char *method,
                      const char *peer, const void *request, size_t size) {
    fake_service *service = context;
    (void)peer;
    if (strcmp(method, "version") == 0 && service->stranger) {
        leati_transport_call_answer(call, "hello", 5);
    } else if (strcmp(method, "version") == 0) {
        struct leati_message_version version = {.protocol = service->protocol,
                                                .oldest = service->protocol};
        fake_answer(call, &leati_message_version, &version);
    } else if (strcmp(method, "open_iteration") == 0) {
        fake_open_iteration(service, call, request, size);
    } else if (strcmp(method, "client") == 0) {
        fake_beat(service, call, request, size);
    } else if (strcmp(method, "release") == 0) {
        pthread_mutex_lock(&service->lock);
        service->releases++;
        pthread_mutex_unlock(&service->lock);
        leati_transport_call_answer(call, "{}", 2);
    } else {
        fake_fail(call, LEAT_UNIMPLEMENTED);
    }
}

/* Something changed: the client hears of it. */
static FAKE_UNUSED void fake_change(fake_service *service) {
    pthread_mutex_lock(&service->lock);
    service->state++;
    if (service->kept != NULL)
        fake_tell(service, service->kept);
    service->kept = NULL;
    pthread_mutex_unlock(&service->lock);
}

/* Waits until a heartbeat is kept. */
static FAKE_UNUSED void fake_await_kept(fake_service *service) {
    pthread_mutex_lock(&service->lock);
    while (service->kept == NULL)
        pthread_cond_wait(&service->changed, &service->lock);
    pthread_mutex_unlock(&service->lock);
}

/* Answers the heartbeat that is kept as one whose wait is over. */
static FAKE_UNUSED void fake_nothing_new(fake_service *service) {
    pthread_mutex_lock(&service->lock);
    leati_transport_call_answer(service->kept, "{\"same\":true}", 13);
    service->kept = NULL;
    pthread_mutex_unlock(&service->lock);
}

/* Waits for `beats` further heartbeats. */
static FAKE_UNUSED void fake_await_beats(fake_service *service, int beats) {
    pthread_mutex_lock(&service->lock);
    int until = service->beats + beats;
    while (service->beats < until)
        pthread_cond_wait(&service->changed, &service->lock);
    pthread_mutex_unlock(&service->lock);
}

/* ---- life ---- */

static leati_transport_server *fake_listen(const char *protocol,
                                           const leati_transport_handler *handler, char *address,
                                           size_t size) {
    leat_error err = {0};
    int port = 0;
    const leati_transport *transport = leati_transport_find(protocol, &err);
    assert(transport != NULL);
    leati_transport_listen_options options = {.port = 0};
    leati_transport_server *server = transport->listen(&options, handler, &port, &err);
    assert(server != NULL);
    if (transport->address != NULL)
        transport->address(server, "127.0.0.1", address, size);
    else
        snprintf(address, size, "localhost:%d", port);
    return server;
}

/* A service of so many workers, each of which gives `count` numbers from 1000 * its number on, in
 * frames of 5; all are listed. */
static FAKE_UNUSED void fake_start(fake_service *service, int workers, int64_t count) {
    memset(service, 0, sizeof *service);
    service->propose = -1;
    service->protocol = LEATI_SERVICE_PROTOCOL;
    service->num_workers = workers;
    pthread_mutex_init(&service->lock, NULL);
    pthread_cond_init(&service->changed, NULL);
    for (int i = 0; i < workers; i++) {
        fake_worker *worker = &service->workers[i];
        leati_transport_handler handler = {
            .context = worker, .call = fake_no_call, .open = fake_open};
        pthread_mutex_init(&worker->lock, NULL);
        pthread_cond_init(&worker->changed, NULL);
        worker->task = 100 + i;
        worker->attempt = 1;
        worker->end_round = -1;
        worker->base = 1000 * i;
        worker->count = count;
        worker->rows = 5;
        worker->fails_at = worker->breaks_at = worker->skips_at = worker->turns = -1;
        worker->whole_to = INT64_MAX;
        worker->listed = true;
        snprintf(worker->address, sizeof worker->address, "localhost:%d", 70000 + i);
        worker->server =
            fake_listen(fake_transfers, &handler, worker->transfer, sizeof worker->transfer);
    }
    leati_transport_handler handler = {.context = service, .call = fake_call, .open = fake_open};
    service->server = fake_listen("local", &handler, service->address, sizeof service->address);
    snprintf(service->target, sizeof service->target, "local://%s", service->address);
}

static FAKE_UNUSED void fake_stop(fake_service *service) {
    leat_error err = {0};
    const leati_transport *local = leati_transport_find("local", &err);
    const leati_transport *transfers = leati_transport_find(fake_transfers, &err);
    pthread_mutex_lock(&service->lock);
    if (service->kept != NULL)
        fake_fail(service->kept, LEAT_UNAVAILABLE);
    service->kept = NULL;
    pthread_mutex_unlock(&service->lock);
    local->close(service->server, INT64_MAX);
    for (int i = 0; i < service->num_workers; i++) {
        fake_worker *worker = &service->workers[i];
        pthread_mutex_lock(&worker->lock);
        worker->stop = true;
        pthread_cond_broadcast(&worker->changed);
        pthread_mutex_unlock(&worker->lock);
        fake_join(worker);
        transfers->close(worker->server, INT64_MAX);
        leati_messages_fini(&leati_message_read, &worker->asked);
        pthread_mutex_destroy(&worker->lock);
        pthread_cond_destroy(&worker->changed);
    }
    leati_messages_fini(&leati_message_open, &service->opened);
    leati_messages_fini(&leati_message_client, &service->beat);
    pthread_mutex_destroy(&service->lock);
    pthread_cond_destroy(&service->changed);
}

#endif
