/* 64 workers and 1,000 clients of one job on a virtual clock: everybody hears what there is, every
 * split is given once, and nobody asks more often than once a second while nothing is new. */
#include "support/cmocka.h"

#include "base/alloc.h"
#include "service/dispatcher/core.h"
#include "service/wire/messages.h"
#include <stdio.h>
#include <string.h>

#define MS INT64_C(1000000)
enum { WORKERS = 64, CLIENTS = 1000, SPLITS = 100000, STEP_MS = 20 };

struct process {
    struct world *world;
    bool waits;        /* for the answer to its heartbeat */
    int64_t asked;     /* heartbeats so far */
    int64_t id, known; /* the client's number; how many tasks it knows */
    char *tasks;       /* as it says them */
    int64_t task;      /* the worker's */
    int64_t splits, sequence;
    bool ended, finished;
};

struct world {
    leati_core *core;
    int64_t now_ns;
    struct process workers[WORKERS], clients[CLIENTS];
    int64_t given[SPLITS];
};

static bool is_here(const void *context) {
    (void)context;
    return false;
}

static void on_failure(void *context, const leat_error *why) {
    (void)context;
    /* A worker that has ended its task says so though its last heartbeat still waits. */
    if (why->code != LEAT_CANCELLED)
        fail_msg("%s", why->text);
}

static void ask(struct process *process, const char *method, const char *text,
                void (*answer)(void *, const char *, size_t)) {
    leati_core_reply reply = {process, answer, on_failure, is_here};
    leati_core_ask(process->world->core, method, "", text, strlen(text), &reply);
}

/* ---- clients ---- */

static void client_opened(void *context, const char *bytes, size_t size) {
    struct process *client = context;
    struct leati_message_opened opened;
    assert_int_equal(
        leati_messages_read(&leati_message_opened, bytes, size, &opened, &(leat_error){0}),
        LEAT_OK);
    client->id = opened.client;
}

static void client_hears(void *context, const char *bytes, size_t size) {
    struct process *client = context;
    struct leati_message_client_answer heard;
    assert_int_equal(
        leati_messages_read(&leati_message_client_answer, bytes, size, &heard, &(leat_error){0}),
        LEAT_OK);
    client->waits = false;
    if (!heard.same) {
        const struct leati_message_place *places = heard.tasks.items;
        leati_text tasks = {0};
        for (int64_t i = 0; i < heard.tasks.count; i++)
            leati_text_addf(&tasks, i == 0 ? "%lld,%lld" : ",%lld,%lld", (long long)places[i].task,
                            (long long)places[i].attempt);
        leati_free(client->tasks);
        client->tasks = leati_text_take(&tasks);
        client->known = heard.tasks.count;
        client->finished = heard.finished;
    }
    leati_messages_fini(&leati_message_client_answer, &heard);
}

static void client_speaks(struct process *client) {
    leati_text text = {0};
    leati_text_addf(&text, "{\"client\":%lld,\"tasks\":[%s],\"wait_ms\":1000}",
                    (long long)client->id, client->tasks == NULL ? "" : client->tasks);
    client->waits = true;
    client->asked++;
    ask(client, "client", text.data, client_hears);
    leati_text_fini(&text);
}

/* ---- workers ---- */

static void worker_hears(void *context, const char *bytes, size_t size) {
    struct process *worker = context;
    struct leati_message_worker_answer heard;
    assert_int_equal(
        leati_messages_read(&leati_message_worker_answer, bytes, size, &heard, &(leat_error){0}),
        LEAT_OK);
    worker->waits = false;
    if (heard.start.count > 0)
        worker->task = ((struct leati_message_task *)heard.start.items)->task;
    leati_messages_fini(&leati_message_worker_answer, &heard);
}

static void worker_speaks(struct process *worker) {
    char text[256], tasks[96] = "";
    int number = (int)(worker - worker->world->workers);
    if (worker->task != 0)
        (void)snprintf(tasks, sizeof tasks, "{\"attempt\":1,\"task\":%lld%s}",
                       (long long)worker->task, worker->ended ? ",\"done\":true" : "");
    (void)snprintf(text, sizeof text,
                   "{\"uid\":\"w%d\",\"address\":\"host:%d\",\"wait_ms\":1000,\"tasks\":[%s]}",
                   number, number, tasks);
    worker->waits = true;
    worker->asked++;
    ask(worker, "worker", text, worker_hears);
}

static void worker_leases(void *context, const char *bytes, size_t size) {
    struct process *worker = context;
    struct leati_message_lease lease;
    assert_int_equal(
        leati_messages_read(&leati_message_lease, bytes, size, &lease, &(leat_error){0}), LEAT_OK);
    for (int64_t i = lease.begin; i < lease.end; i++)
        worker->world->given[i]++;
    worker->splits += lease.end - lease.begin;
    worker->sequence++;
    if (lease.none) {
        worker->ended = true;
        worker_speaks(worker);
    }
}

static void worker_asks(struct process *worker) {
    char text[128];
    (void)snprintf(text, sizeof text,
                   "{\"task\":%lld,\"attempt\":1,\"sequence\":%lld,\"want\":100}",
                   (long long)worker->task, (long long)worker->sequence);
    ask(worker, "splits", text, worker_leases);
}

/* ---- the world ---- */

static void registered(void *context, const char *bytes, size_t size) {
    (void)context;
    (void)bytes;
    (void)size;
}

static void turn(struct world *world) {
    world->now_ns += STEP_MS * MS;
    (void)leati_core_turn(world->core, world->now_ns);
}

static void open_world(struct world *world) {
    leat_error err = {0};
    leat_dispatcher_options options = {LEAT_DISPATCHER_DEFAULTS};
    world->now_ns = 1000 * MS;
    world->core = leati_core_open(&options, world->now_ns, &err);
    assert_non_null(world->core);
    for (int w = 0; w < WORKERS; w++)
        world->workers[w].world = world;
    for (int c = 0; c < CLIENTS; c++)
        world->clients[c].world = world;
    char text[256];
    (void)snprintf(text, sizeof text,
                   "{\"dataset_id\":\"d\",\"plan\":\"p\",\"spec\":\"s\",\"providers\":[%d]}",
                   SPLITS);
    ask(&world->clients[0], "register_dataset", text, registered);
    turn(world);
    for (int c = 0; c < CLIENTS; c++) {
        (void)snprintf(text, sizeof text,
                       "{\"client\":\"c%d\",\"dataset_id\":\"d\",\"job_name\":\"j\",\"policy\":1}",
                       c);
        ask(&world->clients[c], "open_iteration", text, client_opened);
    }
    turn(world);
}

static bool all_finished(const struct world *world) {
    for (int c = 0; c < CLIENTS; c++)
        if (!world->clients[c].finished)
            return false;
    return true;
}

static void test_many(void **state) {
    (void)state;
    struct world *world = leati_alloc_zero(1, sizeof *world);
    assert_non_null(world);
    open_world(world);
    int steps = 0;
    for (; steps < 3000 && !all_finished(world); steps++) {
        for (int w = 0; w < WORKERS; w++) {
            struct process *worker = &world->workers[w];
            if (!worker->waits)
                worker_speaks(worker);
            if (worker->task != 0 && !worker->ended && steps > 50)
                worker_asks(worker);
        }
        for (int c = 0; c < CLIENTS; c++)
            if (!world->clients[c].waits && !world->clients[c].finished)
                client_speaks(&world->clients[c]);
        turn(world);
        /* A worker that comes is told to all clients within a second. */
        for (int c = 0; c < CLIENTS && steps == 50; c++)
            assert_int_equal(world->clients[c].known, WORKERS);
    }
    assert_true(all_finished(world));
    for (int i = 0; i < SPLITS; i++)
        assert_int_equal(world->given[i], 1);
    int64_t heartbeats = 0;
    for (int c = 0; c < CLIENTS; c++)
        heartbeats += world->clients[c].asked;
    /* One each second, and one for each piece of news: workers come in a few turns, and end one by
     * one. */
    assert_in_range(heartbeats, CLIENTS, CLIENTS * (int64_t)(steps * STEP_MS / 1000 + WORKERS + 4));
    leati_core_close(world->core);
    for (int c = 0; c < CLIENTS; c++)
        leati_free(world->clients[c].tasks);
    leati_free(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
