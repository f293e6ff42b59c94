/* A dispatcher's core on a virtual clock, and the processes that talk to it. Include it after
 * "support/cmocka.h". Whatever goes wrong fails the test. */
#ifndef DISPATCHER_WORLD_H
#define DISPATCHER_WORLD_H

#include "base/alloc.h"
#include "service/dispatcher/core.h"
#include "service/wire/messages.h"
#include <stdio.h>
#include <string.h>

#define MS INT64_C(1000000)

struct world {
    leati_core *core;
    int64_t now_ns;
    leat_dispatcher_options options;
};

/* What was answered to one request. */
struct asked {
    bool answered, failed, abandoned;
    leat_status code;
    char *text;
};

static inline void note_answer(void *context, const char *bytes, size_t size) {
    struct asked *asked = context;
    asked->answered = true;
    asked->text = leati_strndup(bytes, size);
}

static inline void note_failure(void *context, const leat_error *why) {
    struct asked *asked = context;
    asked->failed = true;
    asked->code = why->code;
}

static inline bool is_abandoned(const void *context) {
    return ((const struct asked *)context)->abandoned;
}

static inline void turn(struct world *world, int64_t ms) {
    world->now_ns += ms * MS;
    (void)leati_core_turn(world->core, world->now_ns);
}

static inline void ask(struct world *world, const char *method, const char *text,
                       struct asked *asked) {
    *asked = (struct asked){0};
    leati_core_reply reply = {asked, note_answer, note_failure, is_abandoned};
    leati_core_ask(world->core, method, "10.0.0.9", text, strlen(text), &reply);
}

static inline void done(struct asked *asked) {
    leati_free(asked->text);
    *asked = (struct asked){0};
}

/* Asks, and reads the answer as a message of `form`; NULL: it failed with `code`. */
static inline void answer(struct world *world, const char *method, const char *text,
                          const leati_message *form, void *out) {
    struct asked asked;
    leat_error err = {0};
    ask(world, method, text, &asked);
    turn(world, 1);
    if (!asked.answered)
        fail_msg("%s %s: not answered, code %d", method, text, (int)asked.code);
    assert_int_equal(leati_messages_read(form, asked.text, strlen(asked.text), out, &err), LEAT_OK);
    done(&asked);
}

static inline leat_status failure(struct world *world, const char *method, const char *text) {
    struct asked asked;
    ask(world, method, text, &asked);
    turn(world, 1);
    assert_true(asked.failed);
    leat_status code = asked.code;
    done(&asked);
    return code;
}

static inline void open_world(struct world *world, const char *folder) {
    leat_error err = {0};
    if (world->now_ns == 0)
        *world = (struct world){.now_ns = 1000 * MS, .options = {LEAT_DISPATCHER_DEFAULTS}};
    world->options.work_dir = folder;
    world->options.fault_tolerant_mode = folder != NULL;
    world->core = leati_core_open(&world->options, world->now_ns, &err);
    if (world->core == NULL)
        fail_msg("%s", err.text);
}

static inline void close_world(struct world *world) {
    leati_core_close(world->core);
    world->core = NULL;
}

static inline void register_dataset(struct world *world, const char *more) {
    char text[512];
    struct leati_message_dataset_id id;
    (void)snprintf(text, sizeof text,
                   "{\"dataset_id\": \"d\", \"plan\": \"{}\", \"spec\": \"{}\", \"cardinality\": "
                   "100%s}",
                   more);
    answer(world, "register_dataset", text, &leati_message_dataset_id, &id);
    assert_string_equal(id.dataset_id, "d");
    leati_messages_fini(&leati_message_dataset_id, &id);
}

static inline struct leati_message_opened open_job(struct world *world, const char *client,
                                                   const char *more) {
    char text[512];
    struct leati_message_opened opened;
    (void)snprintf(text, sizeof text,
                   "{\"client\": \"%s\", \"dataset_id\": \"d\", \"job_name\": \"j\"%s}", client,
                   more);
    answer(world, "open_iteration", text, &leati_message_opened, &opened);
    return opened;
}

static inline void worker_says(struct world *world, int worker, const char *more,
                               struct leati_message_worker_answer *out) {
    char text[1024];
    (void)snprintf(text, sizeof text, "{\"uid\": \"w%d\", \"address\": \"host:%d\"%s}", worker,
                   worker, more);
    answer(world, "worker", text, &leati_message_worker_answer, out);
}

/* The one task that a worker is told to start. */
static inline struct leati_message_task one_start(struct world *world, int worker,
                                                  const char *more) {
    struct leati_message_worker_answer said;
    worker_says(world, worker, more, &said);
    assert_int_equal(said.start.count, 1);
    struct leati_message_task task = *(struct leati_message_task *)said.start.items;
    task.dataset_id = task.snapshot = task.compression = NULL;
    task.held = (leati_ranges){0};
    leati_messages_fini(&leati_message_worker_answer, &said);
    return task;
}

static inline void client_says(struct world *world, int64_t client, const char *more,
                               struct leati_message_client_answer *out) {
    char text[1024];
    (void)snprintf(text, sizeof text, "{\"client\": %lld%s}", (long long)client, more);
    answer(world, "client", text, &leati_message_client_answer, out);
}

static inline struct leati_message_lease lease(struct world *world, int64_t task, int64_t attempt,
                                               int64_t repetition, int64_t sequence, int64_t want) {
    char text[256];
    struct leati_message_lease out;
    (void)snprintf(text, sizeof text,
                   "{\"task\": %lld, \"attempt\": %lld, \"repetition\": %lld, \"sequence\": %lld, "
                   "\"want\": %lld}",
                   (long long)task, (long long)attempt, (long long)repetition, (long long)sequence,
                   (long long)want);
    answer(world, "splits", text, &leati_message_lease, &out);
    return out;
}

static inline void task_done(struct world *world, int worker, struct leati_message_task task) {
    char more[160];
    struct leati_message_worker_answer said;
    (void)snprintf(more, sizeof more,
                   ", \"tasks\": [{\"task\": %lld, \"attempt\": %lld, \"done\": true}]",
                   (long long)task.task, (long long)task.attempt);
    worker_says(world, worker, more, &said);
    leati_messages_fini(&leati_message_worker_answer, &said);
}

#endif
