/* The dispatcher's turns; see core.h.
 *
 * Happy path: every request that has come is handled under a mark of its own in one transaction;
 * then who is overdue is dealt with, iterations get their tasks, kept heartbeats are looked at if
 * anything changed, the transaction is committed, and only then answers are given.
 * Failures: a request that fails is undone alone; a commit that fails (a full disk) fails all
 * requests of the turn with the database's words, and the next turn tries again; once another
 * dispatcher has taken over nothing is answered but that. No locks: one thread. */
#include "service/dispatcher/core.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/minmax.h"
#include "service/dispatcher/parts.h"
#include "service/wire/plans.h"
#include <stdio.h>
#include <string.h>

enum { LOOK_MS = 250 };

static const struct {
    const char *name;
    leati_core_method handle;
} methods[] = {
    {"version", leati_dispatcher_ask_version},
    {"worker", leati_dispatcher_ask_worker},
    {"register_dataset", leati_dispatcher_ask_register},
    {"get_dataset", leati_dispatcher_ask_dataset},
    {"open_iteration", leati_dispatcher_ask_open},
    {"client", leati_dispatcher_ask_client},
    {"release", leati_dispatcher_ask_release},
    {"splits", leati_dispatcher_ask_splits},
    {"status", leati_dispatcher_ask_status},
    {"drain", leati_dispatcher_ask_drain},
    {"restore", leati_dispatcher_ask_restore},
    {"save", leati_dispatcher_ask_save},
    {"commit", leati_dispatcher_ask_commit},
};

/* ---- requests that are kept ---- */

static void drop_kept(leati_core_kept *kept) {
    leati_free(kept->bytes);
    *kept = (leati_core_kept){0};
}

static void fail_kept(leati_core_kept *kept, const leat_error *why) {
    if (kept->waits)
        kept->reply.fail(kept->reply.context, why);
    drop_kept(kept);
}

void leati_dispatcher_keep(leati_core *core, leati_core_kept *kept, leati_core_asked *asked,
                           int64_t wait_ms) {
    leat_error superseded = {0};
    (void)leati_fail(&superseded, LEAT_CANCELLED, "a later heartbeat has taken this one's place");
    fail_kept(kept, &superseded);
    int64_t most = 10 * (int64_t)LEATI_SERVICE_WAIT_MS;
    *kept = (leati_core_kept){
        .waits = true,
        .until_ns = core->now_ns + LEATI_MIN(wait_ms, most) * LEATI_CORE_NS_PER_MS,
        .reply = asked->reply,
        .bytes = asked->bytes,
        .size = asked->size,
    };
    asked->bytes = NULL;
    asked->keeps = true;
}

/* ---- opening and closing ---- */

static leat_status copy_texts(leati_core *core, const leat_dispatcher_options *options,
                              leat_error *err) {
    core->addresses = leati_alloc_zero(options->num_worker_addresses + 1, sizeof(char *));
    if (core->addresses == NULL)
        return leati_no_memory(err);
    for (size_t i = 0; i < options->num_worker_addresses; i++) {
        core->addresses[i] = leati_strdup(options->worker_addresses[i]);
        if (core->addresses[i] == NULL)
            return leati_no_memory(err);
    }
    core->folder = leati_strdup(options->fault_tolerant_mode ? options->work_dir : NULL);
    if (core->folder == NULL && options->fault_tolerant_mode)
        return leati_no_memory(err);
    return LEAT_OK;
}

/* 0 means the default, as in TensorFlow's configurations. */
static int64_t or_default(int64_t value, int64_t otherwise) {
    return value == 0 ? otherwise : value;
}

static void set_defaults(leat_dispatcher_options *o) {
    o->job_gc_check_interval_ms = or_default(o->job_gc_check_interval_ms, 600000);
    o->job_gc_timeout_ms = or_default(o->job_gc_timeout_ms, 300000);
    o->worker_timeout_ms = or_default(o->worker_timeout_ms, 10000);
    o->client_timeout_ms = or_default(o->client_timeout_ms, 300000);
    o->worker_max_concurrent_snapshots = or_default(o->worker_max_concurrent_snapshots, 3);
}

/* Those that memory does not know count as heard now: they are given the time to come back. */
static leat_status read_clients(leati_core *core, leat_error *err) {
    leati_query query;
    leati_database_ask(core->database, &query,
                       "SELECT id, iteration, consumer FROM clients WHERE state = 0", "");
    leat_status status = LEAT_OK;
    while (status == LEAT_OK && leati_database_next(&query)) {
        int64_t id = leati_database_int(&query, 0);
        if (leati_dispatcher_client_find(core, id) != NULL)
            continue;
        leati_core_client *client = leati_dispatcher_client_note(
            core, id, leati_database_int(&query, 1), leati_database_int(&query, 2), err);
        if (client != NULL)
            client->before_start = true;
        else
            status = LEAT_RESOURCE_EXHAUSTED;
    }
    leat_status ended = leati_database_end(&query, status == LEAT_OK ? err : &(leat_error){0});
    return status == LEAT_OK ? ended : status;
}

/* Who was asked before and did not answer, as far as the database tells, is asked again. */
static leat_status read_awaits(leati_core *core, leat_error *err) {
    leati_query query;
    leati_database_ask(core->database, &query,
                       "SELECT t.id, t.iteration FROM tasks t"
                       " JOIN iterations i ON i.id = t.iteration JOIN jobs j ON j.id = i.job"
                       " WHERE t.state = 3 AND i.state = 0 AND j.visitation = 2",
                       "");
    leat_status status = LEAT_OK;
    while (status == LEAT_OK && leati_database_next(&query))
        status = leati_dispatcher_await_clients(core, leati_database_int(&query, 1),
                                                leati_database_int(&query, 0), false, err);
    leat_status ended = leati_database_end(&query, status == LEAT_OK ? err : &(leat_error){0});
    return status == LEAT_OK ? ended : status;
}

leati_core *leati_core_open(const leat_dispatcher_options *options, int64_t now_ns,
                            leat_error *err) {
    leati_core *core = leati_alloc_zero(1, sizeof *core);
    if (core == NULL) {
        (void)leati_no_memory(err);
        return NULL;
    }
    core->options = *options;
    set_defaults(&core->options);
    core->last = &core->first;
    core->now_ns = core->started_ns = core->collected_ns = now_ns;
    core->assigns = core->writes = true;
    leat_status status = copy_texts(core, options, err);
    if (status == LEAT_OK) {
        core->database = leati_database_open(core->folder, err);
        status = core->database == NULL ? err->code : read_clients(core, err);
    }
    if (status == LEAT_OK)
        status = read_awaits(core, err);
    if (status != LEAT_OK) {
        leati_core_close(core);
        return NULL;
    }
    return core;
}

static void free_asked(leati_core_asked *asked) {
    leati_free(asked->method);
    leati_free(asked->bytes);
    leati_text_fini(&asked->out);
    leati_free(asked);
}

static void close_all(leati_core *core, const leat_error *why) {
    for (size_t i = 0; i < core->num_workers; i++) {
        fail_kept(&core->workers[i]->kept, why);
        leati_dispatcher_worker_fini(core->workers[i]);
        leati_free(core->workers[i]);
    }
    while (core->num_clients > 0) {
        fail_kept(&core->clients[0]->kept, why);
        leati_dispatcher_client_forget(core, core->clients[0]);
    }
    while (core->first != NULL) {
        leati_core_asked *asked = core->first;
        core->first = asked->next;
        asked->reply.fail(asked->reply.context, why);
        free_asked(asked);
    }
    for (size_t i = 0; i < core->num_losses; i++)
        leati_free(core->losses[i].text);
}

void leati_core_close(leati_core *core) {
    if (core == NULL)
        return;
    leat_error why = {0};
    (void)leati_fail(&why, LEAT_UNAVAILABLE, "the dispatcher is stopping");
    close_all(core, &why);
    leati_free(core->workers);
    leati_free(core->clients);
    leati_free(core->losses);
    leati_free(core->counts);
    leati_free(core->idle);
    leati_free(core->awaits);
    leati_free(core->proposals);
    leati_database_close(core->database);
    for (size_t i = 0; core->addresses != NULL && core->addresses[i] != NULL; i++)
        leati_free(core->addresses[i]);
    leati_free(core->addresses);
    leati_free(core->folder);
    leati_free(core);
}

leat_status leati_core_broken(const leati_core *core, leat_error *err) {
    return core->broken.code == LEAT_OK ? LEAT_OK : leati_error_pass(err, &core->broken);
}

leat_status leati_dispatcher_new_id(leati_core *core, int64_t *out, leat_error *err) {
    LEATI_TRY(leati_database_run(core->database, err, "UPDATE meta SET next = next + 1", ""));
    return leati_database_number(core->database, 0, out, err, "SELECT next FROM meta", "");
}

/* ---- a turn ---- */

void leati_core_ask(leati_core *core, const char *method, const char *peer, const void *bytes,
                    size_t size, const leati_core_reply *reply) {
    leat_error err = {0};
    leati_core_asked *asked = leati_alloc_zero(1, sizeof *asked);
    if (asked == NULL) {
        (void)leati_no_memory(&err);
        reply->fail(reply->context, &err);
        return;
    }
    asked->reply = *reply;
    asked->size = size;
    asked->method = leati_strdup(method);
    asked->bytes = leati_strndup(bytes, size);
    (void)snprintf(asked->peer, sizeof asked->peer, "%s", peer);
    if (asked->method == NULL || asked->bytes == NULL) {
        (void)leati_no_memory(&err);
        reply->fail(reply->context, &err);
        free_asked(asked);
        return;
    }
    *core->last = asked;
    core->last = &asked->next;
}

static leat_status dispatch(leati_core *core, leati_core_asked *asked, leat_error *err) {
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        if (strcmp(methods[i].name, asked->method) == 0)
            return methods[i].handle(core, asked, err);
    return leati_fail(err, LEAT_UNIMPLEMENTED,
                      "a dispatcher has no call \"%.60s\"; is the other program of a newer leat?",
                      asked->method);
}

/* One request; what it wrote is undone where it fails. */
static void handle(leati_core *core, leati_core_asked *asked) {
    leat_error *err = &asked->failed;
    if (leati_database_mark(core->database, err) != LEAT_OK)
        return;
    leat_status status = dispatch(core, asked, err);
    if (status == LEAT_OK && asked->out.failed)
        status = leati_no_memory(err);
    leati_database_unmark(core->database, status == LEAT_OK);
    /* What it assigned is undone with it. */
    core->assigns = core->assigns || status != LEAT_OK;
}

static void answer(leati_core_asked *asked, const leat_error *broken) {
    if (!asked->keeps) {
        const leat_error *why = broken != NULL ? broken : &asked->failed;
        if (why->code != LEAT_OK)
            asked->reply.fail(asked->reply.context, why);
        else
            asked->reply.answer(asked->reply.context,
                                asked->out.data == NULL ? "" : asked->out.data, asked->out.size);
    }
    free_asked(asked);
}

/* ---- heartbeats that wait ---- */

/* An answer that is given after the commit. */
struct given {
    leati_core_kept kept;
    leati_text out;
    leat_error failed;
};

struct answers {
    struct given *items;
    size_t count, capacity;
};

static void give(struct answers *answers, leati_core_kept *kept, leati_text *out,
                 const leat_error *failed) {
    if (!leati_grow((void **)&answers->items, &answers->capacity, answers->count + 1,
                    sizeof *answers->items)) {
        leat_error err = {0};
        (void)leati_no_memory(&err);
        fail_kept(kept, &err);
        leati_text_fini(out);
        return;
    }
    answers->items[answers->count++] =
        (struct given){.kept = *kept, .out = *out, .failed = *failed};
    *kept = (leati_core_kept){0};
    *out = (leati_text){0};
}

/* Looks whether there is something to say; an error is an answer too. */
static void look(leati_core *core, leati_core_kept *kept, leat_status status, leati_text *out,
                 const leat_error *err, struct answers *answers) {
    (void)core;
    if (status != LEAT_OK || out->size > 0 || out->failed)
        give(answers, kept, out, err);
    leati_text_fini(out);
}

static void look_at_worker(leati_core *core, leati_core_worker *worker, struct answers *answers) {
    leat_error err = {0};
    leati_text out = {0};
    struct leati_message_worker said;
    leat_status status = leati_messages_read(&leati_message_worker, worker->kept.bytes,
                                             worker->kept.size, &said, &err);
    if (status == LEAT_OK)
        status = leati_dispatcher_worker_news(core, worker, &said,
                                              core->now_ns >= worker->kept.until_ns, &out, &err);
    leati_messages_fini(&leati_message_worker, &said);
    look(core, &worker->kept, status, &out, &err, answers);
}

static void look_at_client(leati_core *core, leati_core_client *client, struct answers *answers) {
    leat_error err = {0};
    leati_text out = {0};
    leat_status status = leati_dispatcher_client_news(
        core, client, core->now_ns >= client->kept.until_ns, &out, &err);
    look(core, &client->kept, status, &out, &err, answers);
}

static void look_at_kept(leati_core *core, struct answers *answers) {
    for (size_t i = 0; i < core->num_workers; i++) {
        leati_core_worker *worker = core->workers[i];
        if (worker->kept.waits && (core->changed || core->now_ns >= worker->kept.until_ns))
            look_at_worker(core, worker, answers);
    }
    for (size_t i = 0; i < core->num_clients; i++) {
        leati_core_client *client = core->clients[i];
        if (client->kept.waits && (core->changed || core->now_ns >= client->kept.until_ns))
            look_at_client(core, client, answers);
    }
    core->changed = false;
}

static void give_answers(struct answers *answers, const leat_error *broken) {
    for (size_t i = 0; i < answers->count; i++) {
        struct given *given = &answers->items[i];
        const leat_error *why = broken != NULL ? broken : &given->failed;
        const leati_core_reply *reply = &given->kept.reply;
        if (why->code != LEAT_OK)
            reply->fail(reply->context, why);
        else
            reply->answer(reply->context, given->out.data, given->out.size);
        leati_text_fini(&given->out);
        drop_kept(&given->kept);
    }
    leati_free(answers->items);
}

/* When the next heartbeat's wait is over; while any is kept its connection is looked at, too. */
static int64_t next_turn(const leati_core *core) {
    int64_t next =
        core->now_ns +
        LEATI_MIN(core->options.job_gc_check_interval_ms, (int64_t)LOOK_MS) * LEATI_CORE_NS_PER_MS;
    next =
        LEATI_MIN(next, core->now_ns + core->options.worker_timeout_ms * LEATI_CORE_NS_PER_MS / 4);
    for (size_t i = 0; i < core->num_workers; i++)
        if (core->workers[i]->kept.waits)
            next = LEATI_MIN(next, core->workers[i]->kept.until_ns);
    for (size_t i = 0; i < core->num_clients; i++)
        if (core->clients[i]->kept.waits)
            next = LEATI_MIN(next, core->clients[i]->kept.until_ns);
    for (size_t i = 0; i < core->num_awaits; i++)
        next = LEATI_MIN(next, core->awaits[i].until_ns);
    return next;
}

/* Everything that is written in one transaction. */
static leat_status work(leati_core *core, leati_core_asked *asked, struct answers *answers,
                        leat_error *err) {
    LEATI_TRY(leati_database_begin(core->database, err));
    for (; asked != NULL && leati_database_is_begun(core->database); asked = asked->next)
        handle(core, asked);
    /* On a full disk the database undoes all of a transaction by itself. */
    leat_status status = leati_database_is_begun(core->database)
                             ? leati_dispatcher_collect(core, err)
                             : leati_fail(err, LEAT_RESOURCE_EXHAUSTED,
                                          "the database cannot be written: is the disk full?");
    if (status == LEAT_OK)
        status = leati_dispatcher_assign_changed(core, err);
    if (status != LEAT_OK) {
        leati_database_undo(core->database);
        core->assigns = true;
        return status;
    }
    look_at_kept(core, answers);
    return leati_database_commit(core->database, err);
}

/* A turn that was undone has changed memory, too: it says again what the database does. */
static void remember(leati_core *core) {
    leat_error err = {0};
    core->num_awaits = 0;
    leat_status status = read_clients(core, &err);
    if (status == LEAT_OK)
        status = read_awaits(core, &err);
    if (status != LEAT_OK)
        leati_log(LEAT_LOG_WARNING, "dispatcher: its state cannot be read: %s", err.text);
}

int64_t leati_core_turn(leati_core *core, int64_t now_ns) {
    core->now_ns = now_ns;
    leati_core_asked *asked = core->first;
    core->first = NULL;
    core->last = &core->first;
    struct answers answers = {0};
    leat_error err = {0};
    leat_status status = leati_core_broken(core, &err);
    if (status == LEAT_OK)
        status = work(core, asked, &answers, &err);
    if (status == LEAT_OK)
        leati_dispatcher_snapshots_write(core);
    if (status == LEAT_ABORTED || status == LEAT_DATA_LOSS)
        core->broken = err;
    const leat_error *broken = status == LEAT_OK ? NULL : &err;
    /* Nothing of this turn was written: who asks again may find that it can be. */
    if (broken != NULL) {
        core->changed = core->assigns = true;
        remember(core);
        leati_log(LEAT_LOG_WARNING, "dispatcher: %s", err.text);
        leati_error_wrap(&err, LEAT_UNAVAILABLE, "the dispatcher cannot write its state");
    }
    while (asked != NULL) {
        leati_core_asked *next = asked->next;
        answer(asked, asked->keeps ? NULL : broken);
        asked = next;
    }
    give_answers(&answers, broken);
    return next_turn(core);
}

/* ---- version ---- */

leat_status leati_dispatcher_ask_version(leati_core *core, leati_core_asked *asked,
                                         leat_error *err) {
    static const char *const features[] = {"visitation", "lz4", "zstd"};
    leat_string texts[sizeof features / sizeof features[0]];
    for (size_t i = 0; i < sizeof features / sizeof features[0]; i++)
        texts[i] =
            (leat_string){.data = (char *)(uintptr_t)features[i], .size = strlen(features[i])};
    struct leati_message_version version = {
        .protocol = LEATI_SERVICE_PROTOCOL,
        .oldest = LEATI_SERVICE_OLDEST,
        .features = {.values = texts, .count = sizeof features / sizeof features[0]},
        .service = (char *)(uintptr_t)leati_database_uid(core->database),
        .incarnation = leati_database_incarnation(core->database),
        .peer = asked->peer,
        .process = (char *)(uintptr_t)leati_plans_process(),
    };
    return leati_messages_write(&leati_message_version, &version, &asked->out, err);
}
