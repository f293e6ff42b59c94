/* A saved iterator goes on: `restore`.
 *
 * The state names an iteration and says which positions of its tasks were taken. A new iteration,
 * of a new job that nobody else knows, gets a copy of each task with its leases, and of the
 * cursors: what was leased to whom, before the state was saved and after, is given again by the
 * copies without what the state says was taken, and what was never leased comes from the cursors.
 * So nothing depends on what became of the saved iterator, of its clients and of its workers. The
 * iteration itself stays as it is: other states of it may be restored.
 *
 * Failures: NOT_FOUND for another dispatcher's state, FAILED_PRECONDITION for an iteration that was
 * collected or whose elements several clients took, UNIMPLEMENTED where no account is kept. No
 * locks. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "service/dispatcher/parts.h"
#include "service/wire/ranges.h"
#include <string.h>

/* ---- may it? ---- */

static leat_status check_kind(const leati_core_iteration *from, leat_error *err) {
    if (from->consumers > 0 || from->cached)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "no account is kept of %s, so that its iterators cannot be restored",
                          from->cached ? "a cross-trainer cache" : "a coordinated read");
    if (from->visitation == LEAT_SERVICE_AT_MOST_ONCE)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "under at_most_once no account is kept of what was given, so that its "
                          "iterators cannot be restored; use exactly_once or at_least_once");
    return LEAT_OK;
}

/* What was dropped after its end has no tasks left. */
static leat_status check_there(leati_core *core, const leati_core_iteration *from,
                               leat_error *err) {
    int64_t there = 0, shared = 0;
    LEATI_TRY(leati_database_number(core->database, 0, &there, err,
                                    "SELECT j.alone = 1 OR i.state = 0 OR EXISTS (SELECT 1 FROM"
                                    " tasks t WHERE t.iteration = i.id) FROM iterations i"
                                    " JOIN jobs j ON j.id = i.job WHERE i.id = ?",
                                    "i", from->id));
    if (from->state == LEATI_ITERATION_COLLECTED || there == 0)
        return leati_fail(err, LEAT_FAILED_PRECONDITION,
                          "what the saved iterator was reading, iteration %lld, was collected: "
                          "nobody had read it for job_gc_timeout_ms; begin the epoch anew, give "
                          "the dispatcher a longer one, or use exactly_once, which is kept",
                          (long long)from->id);
    LEATI_TRY(leati_database_number(core->database, 0, &shared, err,
                                    "SELECT shared FROM iterations WHERE id = ?", "i", from->id));
    if (shared != 0)
        return leati_fail(err, LEAT_FAILED_PRECONDITION,
                          "the saved iterator shared its job with other clients, whose elements "
                          "are not in its state; give each client a job_name of its own");
    return LEAT_OK;
}

static leat_status check_holding(const struct leati_message_restore *said, leat_error *err) {
    const struct leati_message_holding *holding = said->holding.items;
    for (int64_t i = 0; i < said->holding.count; i++)
        if (!leati_ranges_are_valid(&holding[i].ranges))
            return leati_refuse(err, VALUE, "restore: the ranges of task %lld do not ascend",
                                (long long)holding[i].task);
    return LEAT_OK;
}

static leat_status check(leati_core *core, const struct leati_message_restore *said,
                         leati_core_iteration *from, leat_error *err) {
    if (said->service == NULL || strcmp(said->service, leati_database_uid(core->database)) != 0)
        return leati_fail(err, LEAT_NOT_FOUND,
                          "the saved iterator read from another dispatcher; it goes on where the "
                          "dispatcher keeps its work_dir and fault_tolerant_mode");
    LEATI_TRY(leati_dispatcher_iteration_find(core, said->iteration, from, err));
    LEATI_TRY(check_kind(from, err));
    LEATI_TRY(check_there(core, from, err));
    return check_holding(said, err);
}

/* ---- copying ---- */

/* What the state says of a task. Other attempts of a dataset that is not deterministic have other
 * elements at its positions: then all of it comes again. NULL: nothing. */
static const struct leati_message_holding *holding_of(const struct leati_message_restore *said,
                                                      int64_t task, bool deterministic) {
    const struct leati_message_holding *holding = said->holding.items;
    for (int64_t i = 0; i < said->holding.count && deterministic; i++)
        if (holding[i].task == task)
            return &holding[i];
    return NULL;
}

/* A task that was taken to its end is one that has ended. */
static leat_status copy_task(leati_core *core, int64_t from, int64_t iteration,
                             const struct leati_message_holding *holding, leat_error *err) {
    static const leati_ranges nothing = {0};
    int64_t task = 0, state = LEATI_TASK_WAITING;
    leati_text held = {0};
    LEATI_TRY(leati_dispatcher_new_id(core, &task, err));
    if (holding != NULL && holding->whole)
        state = LEATI_TASK_DONE;
    leat_status status =
        leati_dispatcher_ints_text(holding == NULL ? &nothing : &holding->ranges, &held, err);
    if (status == LEAT_OK)
        status = leati_database_run(
            core->database, err,
            "INSERT INTO tasks SELECT ?, ?, 1, NULL, shard, shards, seed, ?, 0, -1, ?, NULL, 0, 0,"
            " -1"
            " FROM tasks WHERE id = ?",
            "iiiti", task, iteration, state, held.data, from);
    leati_text_fini(&held);
    LEATI_TRY(status);
    return leati_database_run(core->database, err,
                              "INSERT INTO leases SELECT ?, provider, repetition, sequence,"
                              " first, last FROM leases WHERE task = ?",
                              "ii", task, from);
}

static leat_status copy_tasks(leati_core *core, const struct leati_message_restore *said,
                              int64_t iteration, leat_error *err) {
    leati_ints tasks;
    int64_t deterministic = 0;
    LEATI_TRY(leati_database_number(core->database, 0, &deterministic, err,
                                    "SELECT d.deterministic FROM iterations i"
                                    " JOIN jobs j ON j.id = i.job"
                                    " JOIN datasets d ON d.id = j.dataset WHERE i.id = ?",
                                    "i", said->iteration));
    LEATI_TRY(leati_dispatcher_ids(
        core,
        "SELECT json_group_array(id) FROM (SELECT id FROM tasks WHERE iteration = ? ORDER BY id)",
        said->iteration, &tasks, err));
    leat_status status = LEAT_OK;
    for (int32_t i = 0; i < tasks.count && status == LEAT_OK; i++)
        status = copy_task(core, tasks.values[i], iteration,
                           holding_of(said, tasks.values[i], deterministic != 0), err);
    leati_free(tasks.values);
    return status;
}

/* A name that nobody has given, however often the iterator was restored before. */
static leat_status copy_job(leati_core *core, const leati_core_iteration *from,
                            struct leati_message_opened *opened, leat_error *err) {
    LEATI_TRY(leati_dispatcher_new_id(core, &opened->job, err));
    LEATI_TRY(leati_database_run(
        core->database, err,
        "INSERT INTO jobs SELECT ?, substr(name, 1, instr(name || ' restored as ', ' restored as ')"
        " - 1) || ' restored as ' || ?, dataset, policy, visitation, consumers, targets, cached,"
        " alone, 1 FROM jobs WHERE id = ?",
        "iii", opened->job, opened->job, from->job));
    return leati_dispatcher_iteration_of(core, opened->job, from->repetition, &opened->iteration,
                                         err);
}

/* ---- the answer ---- */

static leat_status add_holding(const leati_query *query, leati_messages *out, leat_error *err) {
    struct leati_message_holding *holding = leati_messages_add(out, &leati_message_holding, err);
    if (holding == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    holding->task = leati_database_int(query, 0);
    holding->whole = leati_database_int(query, 1) == LEATI_TASK_DONE;
    return leati_dispatcher_ints_of(leati_database_text(query, 2), &holding->ranges, err);
}

/* Who asks again has read nothing yet, so that the tasks hold still what they began with. */
static leat_status add_holdings(leati_core *core, int64_t iteration, leati_messages *out,
                                leat_error *err) {
    leati_query query;
    leat_status status = LEAT_OK;
    leati_database_ask(core->database, &query,
                       "SELECT id, state, held FROM tasks WHERE iteration = ? AND held != '[]'"
                       " OR iteration = ? AND state = 1",
                       "ii", iteration, iteration);
    while (status == LEAT_OK && leati_database_next(&query))
        status = add_holding(&query, out, err);
    leat_status ended = leati_database_end(&query, status == LEAT_OK ? err : &(leat_error){0});
    return status == LEAT_OK ? ended : status;
}

static leat_status set_name(leati_core *core, int64_t job, char **out, leat_error *err) {
    leati_query query;
    leati_database_ask(core->database, &query, "SELECT name FROM jobs WHERE id = ?", "i", job);
    leat_status status = leati_database_next(&query)
                             ? leati_messages_set_text(out, leati_database_text(&query, 0), err)
                             : LEAT_OK;
    leat_status ended = leati_database_end(&query, status == LEAT_OK ? err : &(leat_error){0});
    return status == LEAT_OK ? ended : status;
}

static leat_status answer(leati_core *core, leati_core_asked *asked,
                          const struct leati_message_opened *opened, leat_error *err) {
    struct leati_message_restored restored = {
        .job = opened->job, .iteration = opened->iteration, .client = opened->client};
    leat_status status = set_name(core, opened->job, &restored.job_name, err);
    if (status == LEAT_OK)
        status = add_holdings(core, opened->iteration, &restored.holding, err);
    if (status == LEAT_OK)
        status = leati_messages_write(&leati_message_restored, &restored, &asked->out, err);
    leati_messages_fini(&leati_message_restored, &restored);
    return status;
}

/* ---- the call ---- */

static leat_status restore(leati_core *core, leati_core_asked *asked,
                           const struct leati_message_restore *said, leat_error *err) {
    struct leati_message_opened opened = {0};
    leati_core_iteration from = {0};
    if (said->client == NULL)
        return leati_refuse(err, VALUE, "restore: client is missing");
    LEATI_TRY(leati_dispatcher_client_again(core, said->client, &opened, err));
    if (opened.client != 0)
        return answer(core, asked, &opened, err);
    LEATI_TRY(check(core, said, &from, err));
    LEATI_TRY(copy_job(core, &from, &opened, err));
    LEATI_TRY(copy_tasks(core, said, opened.iteration, err));
    LEATI_TRY(leati_database_run(core->database, err,
                                 "INSERT INTO providers SELECT ?, provider, repetition, next"
                                 " FROM providers WHERE iteration = ?",
                                 "ii", opened.iteration, said->iteration));
    LEATI_TRY(leati_dispatcher_client_add(core, asked, said->client, -1, &opened, err));
    LEATI_TRY(answer(core, asked, &opened, err));
    /* After the answer, which says what the tasks begin with. */
    return leati_dispatcher_assign(core, opened.iteration, err);
}

leat_status leati_dispatcher_ask_restore(leati_core *core, leati_core_asked *asked,
                                         leat_error *err) {
    struct leati_message_restore said;
    LEATI_TRY(leati_messages_read(&leati_message_restore, asked->bytes, asked->size, &said, err));
    leat_status status = restore(core, asked, &said, err);
    leati_messages_fini(&leati_message_restore, &said);
    return status;
}
