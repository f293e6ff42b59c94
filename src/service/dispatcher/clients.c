/* Heartbeats of clients: `client`.
 *
 * As a worker's: the client says which tasks it was told of, and hears when others are at work,
 * when the iteration is finished, or what it is to answer. What it says of itself (rates, stall) is
 * kept for people and for the estimate of how many workers are wanted. Failures: NOT_FOUND for a
 * client of another dispatcher. No locks. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "service/dispatcher/parts.h"
#include <stdio.h>
#include <string.h>

leati_core_client *leati_dispatcher_client_find(leati_core *core, int64_t id) {
    for (size_t i = 0; i < core->num_clients; i++)
        if (core->clients[i]->id == id)
            return core->clients[i];
    return NULL;
}

leati_core_client *leati_dispatcher_client_note(leati_core *core, int64_t id, int64_t iteration,
                                                int64_t consumer, leat_error *err) {
    leati_core_client *client = leati_alloc_zero(1, sizeof *client);
    if (client == NULL || !leati_grow((void **)&core->clients, &core->clients_capacity,
                                      core->num_clients + 1, sizeof(void *))) {
        leati_free(client);
        (void)leati_no_memory(err);
        return NULL;
    }
    *client = (leati_core_client){
        .id = id,
        .iteration = iteration,
        .consumer = consumer,
        .heard_ns = core->now_ns,
        .joined_ns = core->now_ns,
    };
    client->last.agreed = -1;
    client->lost_told = (int64_t)core->num_losses;
    core->clients[core->num_clients++] = client;
    return client;
}

static void forget_awaits(leati_core *core, int64_t client, int64_t task) {
    size_t kept = 0;
    for (size_t i = 0; i < core->num_awaits; i++)
        if (core->awaits[i].client != client || (task != 0 && core->awaits[i].task != task))
            core->awaits[kept++] = core->awaits[i];
    if (kept != core->num_awaits)
        core->assigns = true;
    core->num_awaits = kept;
}

void leati_dispatcher_client_forget(leati_core *core, leati_core_client *client) {
    forget_awaits(core, client->id, 0);
    if (client->kept.waits) {
        leat_error left = {0};
        (void)leati_fail(&left, LEAT_CANCELLED, "the client was released");
        client->kept.reply.fail(client->kept.reply.context, &left);
    }
    for (size_t i = 0; i < core->num_clients; i++)
        if (core->clients[i] == client)
            core->clients[i] = core->clients[--core->num_clients];
    leati_free(client->kept.bytes);
    leati_messages_fini(&leati_message_client, &client->last);
    leati_free(client);
}

/* ---- what it took ---- */

/* One that was killed before another one came never takes anything again, so that the two do not
 * share the iteration. */
leat_status leati_dispatcher_client_took(leati_core *core, leati_core_client *client,
                                         int64_t elements, leat_error *err) {
    if (elements <= client->elements)
        return LEAT_OK;
    client->elements = elements;
    client->took_ns = core->now_ns;
    for (size_t i = 0; i < core->num_clients && !client->shared; i++) {
        leati_core_client *other = core->clients[i];
        if (other == client || other->iteration != client->iteration ||
            other->took_ns <= client->joined_ns || client->took_ns <= other->joined_ns)
            continue;
        client->shared = other->shared = true;
        LEATI_TRY(leati_database_run(core->database, err,
                                     "UPDATE iterations SET shared = 1 WHERE id = ?", "i",
                                     client->iteration));
    }
    return LEAT_OK;
}

/* ---- what it holds of tasks that move ---- */

/* The question about a task that the client has not answered yet; NULL: there is none. */
static leati_core_await *find_await(const leati_core *core, int64_t client, int64_t task) {
    for (size_t i = 0; i < core->num_awaits; i++) {
        leati_core_await *await = &core->awaits[i];
        if (await->client == client && (task == 0 || await->task == task) && await->turns < 0)
            return await;
    }
    return NULL;
}

static leat_status note_holding(leati_core *core, int64_t client,
                                const struct leati_message_holding *holding, leat_error *err) {
    leati_ints held = {0};
    leati_core_await *await = find_await(core, client, holding->task);
    if (await != NULL && await->coordinated) {
        await->turns = holding->turns;
        return LEAT_OK;
    }
    leati_query query;
    leati_text text = {0};
    leati_database_ask(core->database, &query, "SELECT held FROM tasks WHERE id = ? AND state = 3",
                       "i", holding->task);
    bool found = leati_database_next(&query);
    leat_status status =
        found ? leati_dispatcher_ints_of(leati_database_text(&query, 0), &held, err) : LEAT_OK;
    leat_status ended = leati_database_end(&query, status == LEAT_OK ? err : &(leat_error){0});
    status = status == LEAT_OK ? ended : status;
    if (status == LEAT_OK && found)
        status = leati_dispatcher_ranges_join(&held, &holding->ranges, err);
    if (status == LEAT_OK && found)
        status = leati_dispatcher_ints_text(&held, &text, err);
    if (status == LEAT_OK && found)
        status = leati_database_run(core->database, err, "UPDATE tasks SET held = ? WHERE id = ?",
                                    "ti", text.data, holding->task);
    leati_free(held.values);
    leati_text_fini(&text);
    LEATI_TRY(status);
    forget_awaits(core, client, holding->task);
    return LEAT_OK;
}

static leat_status add_reports(const leati_core *core, int64_t client,
                               struct leati_message_client_answer *answer, leat_error *err) {
    answer->report.values = leati_alloc(core->num_awaits, sizeof(int64_t));
    if (answer->report.values == NULL)
        return leati_no_memory(err);
    for (size_t i = 0; i < core->num_awaits; i++)
        if (core->awaits[i].client == client && core->awaits[i].turns < 0)
            answer->report.values[answer->report.count++] = core->awaits[i].task;
    return LEAT_OK;
}

/* ---- the tasks that it reads ---- */

/* Of an iteration, as clients are told of them: those at work, and under coordinated reads the lost
 * ones too, whose turns are passed over up to the round that all agree on. */
static const char tasks_sql[] =
    "SELECT t.id, t.attempt, w.uid, w.address, w.transfers, w.tags, t.start_round,"
    " t.end_round, t.state = 2, t.turns FROM tasks t"
    " JOIN workers w ON w.uid = t.worker WHERE t.iteration = ? AND (t.state = 0 OR"
    " (t.state = 2 AND t.start_round >= 0 AND t.end_round != 0"
    " AND (SELECT j.consumers FROM iterations i JOIN jobs j ON j.id = i.job"
    " WHERE i.id = t.iteration) > 0)) AND t.start_round >= 0 ORDER BY t.start_round, t.id";

static leat_status read_place(const leati_query *query, struct leati_message_place *out,
                              leat_error *err) {
    out->task = leati_database_int(query, 0);
    out->attempt = leati_database_int(query, 1);
    out->start_round = leati_database_int(query, 6);
    out->end_round = leati_database_int(query, 7);
    out->lost = leati_database_int(query, 8) != 0;
    out->turns = leati_database_int(query, 9);
    LEATI_TRY(leati_messages_set_text(&out->worker, leati_database_text(query, 2), err));
    LEATI_TRY(leati_messages_set_text(&out->address, leati_database_text(query, 3), err));
    LEATI_TRY(leati_dispatcher_strings_of(leati_database_text(query, 4), &out->transfers, err));
    return leati_dispatcher_strings_of(leati_database_text(query, 5), &out->tags, err);
}

static leat_status add_places(leati_core *core, const leati_core_client *client,
                              struct leati_message_client_answer *answer, leat_error *err) {
    leati_query query;
    leat_status status = LEAT_OK;
    leati_database_ask(core->database, &query, tasks_sql, "i", client->iteration);
    while (status == LEAT_OK && leati_database_next(&query)) {
        struct leati_message_place *place =
            leati_messages_add(&answer->tasks, &leati_message_place, err);
        status = place == NULL ? LEAT_RESOURCE_EXHAUSTED : read_place(&query, place, err);
    }
    leat_status ended = leati_database_end(&query, status == LEAT_OK ? err : &(leat_error){0});
    return status == LEAT_OK ? ended : status;
}

static bool has(const leati_ints *ints, int64_t value) {
    for (int32_t i = 0; i < ints->count; i++)
        if (ints->values[i] == value)
            return true;
    return false;
}

/* Are the tasks those that it said, and does it know how many turns of lost ones count? A change of
 * ends comes with that of the proposed round. */
static leat_status tasks_differ(leati_core *core, const leati_core_client *client, bool *differ,
                                leat_error *err) {
    leati_query query;
    const leati_ints *said = &client->last.tasks;
    int32_t i = 0;
    *differ = false;
    leati_database_ask(core->database, &query, tasks_sql, "i", client->iteration);
    while (!*differ && leati_database_next(&query)) {
        *differ = i + 2 > said->count || said->values[i] != leati_database_int(&query, 0) ||
                  said->values[i + 1] != leati_database_int(&query, 1) ||
                  (leati_database_int(&query, 9) >= 0 &&
                   !has(&client->last.settled, leati_database_int(&query, 0)));
        i += 2;
    }
    *differ = *differ || i != said->count;
    return leati_database_end(&query, err);
}

/* ---- the answer ---- */

static leat_status add_losses(leati_core *core, leati_core_client *client,
                              struct leati_message_client_answer *answer, leat_error *err) {
    size_t news = core->num_losses - (size_t)client->lost_told;
    leat_string *values = leati_alloc_zero(news, sizeof *values);
    if (values == NULL)
        return leati_no_memory(err);
    answer->lost.values = values;
    for (size_t i = (size_t)client->lost_told; i < core->num_losses; i++) {
        if (core->losses[i].iteration != client->iteration)
            continue;
        size_t size = strlen(core->losses[i].text);
        char *copy = leati_strndup(core->losses[i].text, size);
        if (copy == NULL)
            return leati_no_memory(err);
        values[answer->lost.count++] = (leat_string){.data = copy, .size = size};
    }
    client->lost_told = (int64_t)core->num_losses;
    return LEAT_OK;
}

/* What is said of an iteration as a whole, into the answer; *state is its own. */
static leat_status read_iteration(leati_core *core, int64_t iteration, int64_t *state,
                                  struct leati_message_client_answer *answer, leat_error *err) {
    leati_query query;
    leat_status status = LEAT_OK;
    *state = LEATI_ITERATION_COLLECTED;
    leati_database_ask(core->database, &query,
                       "SELECT state, failure, why FROM iterations WHERE id = ?", "i", iteration);
    while (status == LEAT_OK && leati_database_next(&query)) {
        *state = leati_database_int(&query, 0);
        answer->failed = leati_database_int(&query, 1);
        if (answer->failed != 0)
            status = leati_messages_set_text(&answer->why, leati_database_text(&query, 2), err);
    }
    leat_status ended = leati_database_end(&query, status == LEAT_OK ? err : &(leat_error){0});
    answer->finished = *state == LEATI_ITERATION_FINISHED;
    return status == LEAT_OK ? ended : status;
}

static leat_status write_news(leati_core *core, leati_core_client *client,
                              struct leati_message_client_answer *answer, leati_text *out,
                              leat_error *err) {
    answer->colocated = core->options.colocated;
    answer->propose = leati_dispatcher_proposed(core, client->iteration);
    LEATI_TRY(add_places(core, client, answer, err));
    LEATI_TRY(add_reports(core, client->id, answer, err));
    LEATI_TRY(add_losses(core, client, answer, err));
    return leati_messages_write(&leati_message_client_answer, answer, out, err);
}

/* The news for a client, where there are some. */
static leat_status tell_news(leati_core *core, leati_core_client *client,
                             struct leati_message_client_answer *answer, leati_text *out,
                             leat_error *err) {
    int64_t state = 0, proposed = leati_dispatcher_proposed(core, client->iteration);
    bool news = false;
    LEATI_TRY(read_iteration(core, client->iteration, &state, answer, err));
    if (state == LEATI_ITERATION_COLLECTED)
        return leati_fail(err, LEAT_FAILED_PRECONDITION,
                          "iteration %lld was collected: its clients were silent for longer than "
                          "job_gc_timeout_ms",
                          (long long)client->iteration);
    LEATI_TRY(tasks_differ(core, client, &news, err));
    news = news || answer->finished || answer->failed != 0 ||
           find_await(core, client->id, 0) != NULL ||
           (proposed >= 0 && client->last.agreed != proposed) ||
           (proposed < 0 && client->last.agreed >= 0);
    return news ? write_news(core, client, answer, out, err) : LEAT_OK;
}

leat_status leati_dispatcher_client_news(leati_core *core, leati_core_client *client, bool always,
                                         leati_text *out, leat_error *err) {
    struct leati_message_client_answer answer = {0};
    size_t before = out->size;
    leat_status status = tell_news(core, client, &answer, out, err);
    leati_messages_fini(&leati_message_client_answer, &answer);
    if (status == LEAT_OK && always && out->size == before)
        leati_text_add(out, "{\"same\":true}", 13);
    return status;
}

/* ---- the call ---- */

/* Finds the client of before the start too, where the database knows it. */
static leat_status find(leati_core *core, int64_t id, leati_core_client **out, leat_error *err) {
    *out = leati_dispatcher_client_find(core, id);
    return *out != NULL ? LEAT_OK
                        : leati_fail(err, LEAT_NOT_FOUND,
                                     "Unknown iteration client id (Iteration client id not found: "
                                     "%lld); was it released, silent for longer than "
                                     "client_timeout_ms, or was the dispatcher started again "
                                     "without fault_tolerant_mode?",
                                     (long long)id);
}

static leat_status hear(leati_core *core, leati_core_asked *asked,
                        struct leati_message_client *said, leat_error *err) {
    leati_core_client *client = NULL;
    leati_core_iteration iteration = {0};
    LEATI_TRY(find(core, said->client, &client, err));
    client->heard_ns = core->now_ns;
    client->cut_ns = 0;
    (void)snprintf(client->peer, sizeof client->peer, "%s", asked->peer);
    const struct leati_message_holding *holding = said->holding.items;
    for (int64_t i = 0; i < said->holding.count; i++)
        LEATI_TRY(note_holding(core, client->id, &holding[i], err));
    int64_t wait_ms = said->wait_ms;
    leati_dispatcher_count_client(core, client, said->elements);
    LEATI_TRY(leati_dispatcher_client_took(core, client, said->elements, err));
    leati_messages_fini(&leati_message_client, &client->last);
    client->last = *said;
    *said = (struct leati_message_client){0};
    LEATI_TRY(leati_dispatcher_iteration_find(core, client->iteration, &iteration, err));
    if (iteration.consumers > 0 && iteration.state == LEATI_ITERATION_ACTIVE) {
        LEATI_TRY(leati_dispatcher_rounds(core, &iteration, err));
        LEATI_TRY(leati_dispatcher_unreached(core, client, err));
    }
    LEATI_TRY(leati_dispatcher_client_news(core, client, wait_ms == 0, &asked->out, err));
    if (asked->out.size == 0)
        leati_dispatcher_keep(core, &client->kept, asked, wait_ms);
    return LEAT_OK;
}

leat_status leati_dispatcher_ask_client(leati_core *core, leati_core_asked *asked,
                                        leat_error *err) {
    struct leati_message_client said;
    LEATI_TRY(leati_messages_read(&leati_message_client, asked->bytes, asked->size, &said, err));
    leat_status status = hear(core, asked, &said, err);
    leati_messages_fini(&leati_message_client, &said);
    return status;
}
