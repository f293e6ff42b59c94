/* A dispatcher for tests of workers: it wants the tasks that the test says, knows one plan for
 * every dataset, deals out splits from 0 on, and remembers what workers reported. Speaks "local".
 *
 * Header only: include it after "support/cmocka.h". All waits are for somebody's message. */
#ifndef FAKE_DISPATCHER_H
#define FAKE_DISPATCHER_H

#include "base/alloc.h"
#include "base/clock.h"
#include "run/queue.h"
#include "service/transport/transport.h"
#include "service/wire/messages.h"

#include <stdio.h>
#include <string.h>

enum { FAKE_MOST_TASKS = 16, FAKE_MOST_CALLS = 64 };

typedef struct fake_task {
    struct leati_message_task wanted; /* its texts are borrowed from the test */
    bool on;
    bool done;
    int64_t failed, elements;
    char text[LEAT_ERROR_TEXT];
    int64_t acked_first, acked_last, acked_ranges;
} fake_task;

typedef struct fake_dispatcher {
    const leati_transport *transport;
    leati_transport_server *server;
    int port;
    leati_gate *gate;
    /* The gate's lock. */
    const char *plan;
    bool refuses_dataset;
    fake_task tasks[FAKE_MOST_TASKS];
    leati_transport_call *parked;
    int64_t beats, plans, leases;
    bool seen, draining;
    int64_t splits, next_split; /* of one source */
    int64_t most_wanted;
} fake_dispatcher;

static inline void fake_answer(leati_transport_call *call, const leati_message *form,
                               const void *message) {
    leati_text text = {0};
    leat_error err = {0};
    if (leati_messages_write(form, message, &text, &err) == LEAT_OK)
        (void)leati_transport_call_answer(call, text.data, text.size);
    else
        (void)leati_transport_call_fail(call, &err);
    leati_text_fini(&text);
}

static inline fake_task *fake_find(fake_dispatcher *fake, int64_t task, int64_t attempt) {
    for (int i = 0; i < FAKE_MOST_TASKS; i++)
        if (fake->tasks[i].wanted.task == task && fake->tasks[i].wanted.attempt == attempt)
            return &fake->tasks[i];
    return NULL;
}

static inline void fake_note(fake_dispatcher *fake, const struct leati_message_worker *said) {
    const struct leati_message_task_report *reports = said->tasks.items;
    for (int64_t i = 0; i < said->tasks.count; i++) {
        fake_task *task = fake_find(fake, reports[i].task, reports[i].attempt);
        if (task == NULL)
            continue;
        task->done = reports[i].done;
        task->failed = reports[i].failed;
        task->elements = reports[i].elements;
        task->acked_ranges = reports[i].acked.count / 2;
        if (reports[i].acked.count > 0) {
            task->acked_first = reports[i].acked.values[0];
            task->acked_last = reports[i].acked.values[reports[i].acked.count - 1];
        }
        if (reports[i].text != NULL)
            (void)snprintf(task->text, sizeof task->text, "%s", reports[i].text);
    }
}

/* What the worker has to begin and to end, by what it said; with the lock held. */
static inline bool fake_differs(fake_dispatcher *fake, const struct leati_message_worker *said,
                                struct leati_message_worker_answer *answer) {
    const struct leati_message_task_report *reports = said->tasks.items;
    static int64_t stop[FAKE_MOST_TASKS]; /* one fake at a time answers, under its lock */
    bool left = true;
    answer->stop.values = stop;
    for (int i = 0; i < FAKE_MOST_TASKS; i++) {
        const fake_task *task = &fake->tasks[i];
        bool has = false;
        for (int64_t k = 0; k < said->tasks.count; k++)
            has = has || (reports[k].task == task->wanted.task &&
                          reports[k].attempt == task->wanted.attempt);
        if (task->on && !has) {
            struct leati_message_task *start =
                leati_messages_add(&answer->start, &leati_message_task, &(leat_error){0});
            *start = task->wanted;
        }
        left = left && (!task->on || task->done);
    }
    for (int64_t k = 0; k < said->tasks.count; k++) {
        const fake_task *task = fake_find(fake, reports[k].task, reports[k].attempt);
        if (task == NULL || !task->on)
            stop[answer->stop.count++] = reports[k].task;
    }
    answer->leave = said->draining && left;
    return answer->start.count > 0 || answer->stop.count > 0 || answer->leave;
}

/* Tells a worker whose heartbeat is parked that something may be new: it asks again at once. */
static inline void fake_release(fake_dispatcher *fake) {
    struct leati_message_worker_answer nothing = {0};
    leati_queue_gate_lock(fake->gate);
    leati_transport_call *call = fake->parked;
    fake->parked = NULL;
    leati_queue_gate_wake(fake->gate);
    leati_queue_gate_unlock(fake->gate);
    if (call != NULL)
        fake_answer(call, &leati_message_worker_answer, &nothing);
}

static inline void fake_worker(fake_dispatcher *fake, leati_transport_call *call, const void *bytes,
                               size_t size) {
    struct leati_message_worker said;
    struct leati_message_worker_answer answer = {0};
    leat_error err = {0};
    fake_release(fake);
    if (leati_messages_read(&leati_message_worker, bytes, size, &said, &err) != LEAT_OK) {
        (void)leati_transport_call_fail(call, &err);
        return;
    }
    leati_queue_gate_lock(fake->gate);
    fake->beats++;
    fake->seen = true;
    fake->draining = said.draining;
    fake_note(fake, &said);
    bool parks = !fake_differs(fake, &said, &answer) && said.wait_ms > 0;
    leati_transport_call *before = NULL;
    if (parks) {
        before = fake->parked;
        fake->parked = call;
    }
    leati_queue_gate_wake(fake->gate);
    leati_queue_gate_unlock(fake->gate);
    if (!parks)
        fake_answer(call, &leati_message_worker_answer, &answer);
    /* One that another thread has parked meanwhile. */
    if (before != NULL)
        fake_answer(before, &leati_message_worker_answer, &(struct leati_message_worker_answer){0});
    /* Texts and ranges are the test's. */
    leati_free(answer.start.items);
    leati_messages_fini(&leati_message_worker, &said);
}

static inline void fake_splits(fake_dispatcher *fake, leati_transport_call *call, const void *bytes,
                               size_t size) {
    struct leati_message_splits asked;
    struct leati_message_lease lease = {0};
    leat_error err = {0};
    if (leati_messages_read(&leati_message_splits, bytes, size, &asked, &err) != LEAT_OK) {
        (void)leati_transport_call_fail(call, &err);
        return;
    }
    leati_queue_gate_lock(fake->gate);
    fake->leases++;
    fake->most_wanted = asked.want > fake->most_wanted ? asked.want : fake->most_wanted;
    lease.begin = lease.end = fake->next_split;
    lease.none = asked.repetition > 0 || fake->next_split >= fake->splits;
    if (!lease.none)
        lease.end = fake->next_split =
            fake->splits - lease.begin < asked.want ? fake->splits : lease.begin + asked.want;
    leati_queue_gate_wake(fake->gate);
    leati_queue_gate_unlock(fake->gate);
    fake_answer(call, &leati_message_lease, &lease);
    leati_messages_fini(&leati_message_splits, &asked);
}

static inline void fake_dataset(fake_dispatcher *fake, leati_transport_call *call) {
    leat_error err = {0};
    leati_queue_gate_lock(fake->gate);
    struct leati_message_dataset dataset = {.plan = (char *)(uintptr_t)fake->plan};
    bool refuses = fake->refuses_dataset;
    fake->plans++;
    leati_queue_gate_unlock(fake->gate);
    if (refuses) {
        leat_error_set(&err, LEAT_NOT_FOUND, "no such dataset");
        (void)leati_transport_call_fail(call, &err);
    } else {
        fake_answer(call, &leati_message_dataset, &dataset);
    }
}

static inline void fake_call(void *context, leati_transport_call *call, const char *method,
                             const char *peer, const void *request, size_t size) {
    fake_dispatcher *fake = context;
    (void)peer;
    if (strcmp(method, "version") == 0) {
        struct leati_message_version version = {.protocol = LEATI_SERVICE_PROTOCOL,
                                                .oldest = LEATI_SERVICE_OLDEST,
                                                .service = (char *)(uintptr_t) "fake",
                                                .peer = (char *)(uintptr_t) "localhost"};
        fake_answer(call, &leati_message_version, &version);
    } else if (strcmp(method, "worker") == 0) {
        fake_worker(fake, call, request, size);
    } else if (strcmp(method, "get_dataset") == 0) {
        fake_dataset(fake, call);
    } else if (strcmp(method, "splits") == 0) {
        fake_splits(fake, call, request, size);
    } else {
        leat_error err = {0};
        leat_error_set(&err, LEAT_UNIMPLEMENTED, "no %s", method);
        (void)leati_transport_call_fail(call, &err);
    }
}

/* Serves from now on, on `port` (0: any). */
static inline void fake_serve(fake_dispatcher *fake, int port) {
    leat_error err = {0};
    leati_transport_handler handler = {.context = fake, .call = fake_call};
    leati_transport_listen_options options = {.port = port};
    fake->transport = leati_transport_find("local", &err);
    fake->server = fake->transport->listen(&options, &handler, &fake->port, &err);
    if (fake->server == NULL)
        fail_msg("%s", err.text);
}

/* No longer: whoever waits is told so. */
static inline void fake_away(fake_dispatcher *fake) {
    fake_release(fake);
    fake->transport->close(fake->server, 0);
    fake->server = NULL;
    /* One that came meanwhile. */
    fake_release(fake);
}

static inline void fake_begin(fake_dispatcher *fake, const char *plan) {
    *fake = (fake_dispatcher){.plan = plan};
    fake->gate = leati_queue_gate_new("fake dispatcher", NULL, &(leat_error){0});
    fake_serve(fake, 0);
}

static inline void fake_end(fake_dispatcher *fake) {
    if (fake->server != NULL)
        fake_away(fake);
    leati_queue_gate_free(fake->gate);
}

static inline void fake_want(fake_dispatcher *fake, int index, struct leati_message_task task) {
    leati_queue_gate_lock(fake->gate);
    task.num_shards = task.num_shards > 0 ? task.num_shards : 1;
    task.dataset_id = (char *)(uintptr_t) "set";
    fake->tasks[index] = (fake_task){.wanted = task, .on = true};
    leati_queue_gate_unlock(fake->gate);
    fake_release(fake);
}

static inline void fake_unwant(fake_dispatcher *fake, int index) {
    leati_queue_gate_lock(fake->gate);
    fake->tasks[index].on = false;
    leati_queue_gate_unlock(fake->gate);
    fake_release(fake);
}

/* Waits until a task was reported as done or failed. */
static inline void fake_wait_done(fake_dispatcher *fake, int index) {
    leati_queue_gate_lock(fake->gate);
    while (!fake->tasks[index].done)
        (void)!leati_queue_gate_wait(fake->gate, LEATI_WAIT_PEER, LEATI_NO_DEADLINE, NULL,
                                     &(leat_error){0});
    leati_queue_gate_unlock(fake->gate);
}

#endif
