/* Heartbeats of workers: `worker`.
 *
 * A worker says what it has; what it should have stands in the database. Where the two differ it is
 * told so, whatever either believed before: nothing is remembered of what was said, so a lost
 * answer or a dispatcher that was started again changes nothing. Where they agree the heartbeat is
 * kept until they do not.
 * A worker is lost when it is silent for worker_timeout_ms, or when another process has its
 * address. Failures: FAILED_PRECONDITION for an address that static sharding does not know. No
 * locks. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "service/dispatcher/parts.h"
#include <stdio.h>
#include <string.h>

leati_core_worker *leati_dispatcher_worker_find(leati_core *core, const char *uid) {
    for (size_t i = 0; i < core->num_workers; i++)
        if (strcmp(core->workers[i]->uid, uid) == 0)
            return core->workers[i];
    return NULL;
}

void leati_dispatcher_worker_fini(leati_core_worker *worker) {
    leati_free(worker->kept.bytes);
    leati_messages_fini(&leati_message_worker, &worker->last);
}

static leati_core_worker *note_worker(leati_core *core, const char *uid, leat_error *err) {
    leati_core_worker *worker = leati_dispatcher_worker_find(core, uid);
    if (worker != NULL)
        return worker;
    worker = leati_alloc_zero(1, sizeof *worker);
    if (worker == NULL || !leati_grow((void **)&core->workers, &core->workers_capacity,
                                      core->num_workers + 1, sizeof(void *))) {
        leati_free(worker);
        (void)leati_no_memory(err);
        return NULL;
    }
    (void)snprintf(worker->uid, sizeof worker->uid, "%s", uid);
    core->workers[core->num_workers++] = worker;
    return worker;
}

/* ---- coming ---- */

/* Another process at the same address is gone: an address is listened at by one. */
static leat_status replace_others(leati_core *core, const char *address, const char *uid,
                                  leat_error *err) {
    char other[LEATI_CORE_UID] = "";
    leati_query query;
    leati_database_ask(core->database, &query,
                       "SELECT uid FROM workers WHERE address = ? AND uid != ? AND state < 2", "tt",
                       address, uid);
    if (leati_database_next(&query))
        (void)snprintf(other, sizeof other, "%s", leati_database_text(&query, 0));
    LEATI_TRY(leati_database_end(&query, err));
    return other[0] == '\0' ? LEAT_OK
                            : leati_dispatcher_worker_gone(core, other, LEATI_WORKER_LOST,
                                                           "another process has its address", err);
}

static leat_status register_worker(leati_core *core, const struct leati_message_worker *said,
                                   leat_error *err) {
    int64_t share = -1;
    LEATI_TRY(replace_others(core, said->address, said->uid, err));
    if (core->options.num_worker_addresses > 0)
        LEATI_TRY(leati_dispatcher_share_of(core, said->address, said->uid, &share, err));
    leati_text transfers = {0}, tags = {0};
    leat_status status = leati_dispatcher_strings_text(&said->transfers, &transfers, err);
    if (status == LEAT_OK)
        status = leati_dispatcher_strings_text(&said->tags, &tags, err);
    if (status == LEAT_OK)
        status = leati_database_run(
            core->database, err,
            "INSERT INTO workers (uid, address, transfers, tags, cpus, state, why, share)"
            " VALUES (?, ?, ?, ?, ?, 0, '', ?) ON CONFLICT (uid) DO UPDATE SET"
            " address = excluded.address, transfers = excluded.transfers, tags = excluded.tags,"
            " state = 0, why = '', share = excluded.share",
            "ttttii", said->uid, said->address, transfers.data, tags.data, said->cpus, share);
    leati_text_fini(&transfers);
    leati_text_fini(&tags);
    LEATI_TRY(status);
    LEATI_TELL(SERVICE, INFO, "worker %s has joined", said->address);
    core->assigns = true;
    return LEAT_OK;
}

/* Registers a worker that is new, or was taken for lost. */
static leat_status welcome(leati_core *core, const struct leati_message_worker *said,
                           leat_error *err) {
    int64_t state = 0;
    LEATI_TRY(leati_database_number(core->database, LEATI_WORKER_LEFT, &state, err,
                                    "SELECT state FROM workers WHERE uid = ? AND address = ?", "tt",
                                    said->uid, said->address));
    if (state >= LEATI_WORKER_LOST && !said->draining)
        LEATI_TRY(register_worker(core, said, err));
    return said->draining && state == LEATI_WORKER_READY
               ? leati_dispatcher_worker_drain(core, said->uid, err)
               : LEAT_OK;
}

/* ---- what it says of its tasks ---- */

static leat_status note_acked(leati_core *core, const struct leati_message_task_report *report,
                              leat_error *err) {
    leati_ints held = {0};
    leati_query query;
    leati_text before = {0}, after = {0};
    leati_database_ask(core->database, &query, "SELECT held FROM tasks WHERE id = ?", "i",
                       report->task);
    if (leati_database_next(&query))
        leati_text_addf(&before, "%s", leati_database_text(&query, 0));
    leat_status status = leati_database_end(&query, err);
    if (status == LEAT_OK)
        status = leati_dispatcher_ints_of(before.data == NULL ? "" : before.data, &held, err);
    if (status == LEAT_OK)
        status = leati_dispatcher_ranges_join(&held, &report->acked, err);
    if (status == LEAT_OK)
        status = leati_dispatcher_ints_text(&held, &after, err);
    if (status == LEAT_OK && strcmp(after.data, before.data == NULL ? "" : before.data) != 0)
        status = leati_database_run(core->database, err, "UPDATE tasks SET held = ? WHERE id = ?",
                                    "ti", after.data, report->task);
    leati_free(held.values);
    leati_text_fini(&before);
    leati_text_fini(&after);
    return status;
}

/* Has the next attempt the same elements at the same positions? Else what was acknowledged of this
 * one says nothing about it. */
static leat_status positions_stay(leati_core *core, int64_t task, bool *stay, leat_error *err) {
    int64_t found = 0;
    LEATI_TRY(leati_database_number(core->database, 0, &found, err,
                                    "SELECT d.deterministic FROM tasks t"
                                    " JOIN iterations i ON i.id = t.iteration"
                                    " JOIN jobs j ON j.id = i.job"
                                    " JOIN datasets d ON d.id = j.dataset WHERE t.id = ?",
                                    "i", task));
    *stay = found == 1;
    return LEAT_OK;
}

/* Is the task this worker's, at work, in this attempt? */
static leat_status is_at_work(leati_core *core, const char *uid,
                              const struct leati_message_task_report *report, bool *is,
                              leat_error *err) {
    int64_t found = 0;
    LEATI_TRY(leati_database_number(core->database, 0, &found, err,
                                    "SELECT 1 FROM tasks WHERE id = ? AND attempt = ?"
                                    " AND worker = ? AND state = 0",
                                    "iit", report->task, report->attempt, uid));
    *is = found == 1;
    return LEAT_OK;
}

/* A stream that cannot be written ends its snapshot; a task that cannot be read ends its iteration,
 * also for clients that had no stream of it open: they would see an end. */
static leat_status note_failure(leati_core *core, const struct leati_message_task_report *report,
                                leat_error *err) {
    int64_t snapshot = 0;
    leat_error why = {0};
    leati_messages_failure(report->failed, report->text, &why);
    LEATI_TRY(leati_database_number(core->database, 0, &snapshot, err,
                                    "SELECT iteration FROM tasks WHERE id = ?"
                                    " AND snapshot IS NOT NULL",
                                    "i", report->task));
    if (snapshot != 0)
        return leati_dispatcher_snapshot_end(core, snapshot, &why, err);
    return leati_database_run(core->database, err,
                              "UPDATE iterations SET failure = ?, why = ? WHERE failure = 0"
                              " AND id = (SELECT iteration FROM tasks WHERE id = ?)",
                              "iti", (int64_t)why.code, why.text, report->task);
}

static leat_status note_report(leati_core *core, const char *uid,
                               const struct leati_message_task_report *report, leat_error *err) {
    bool is = false, stay = false;
    LEATI_TRY(is_at_work(core, uid, report, &is, err));
    if (!is)
        return LEAT_OK;
    if (report->acked.count > 0)
        LEATI_TRY(positions_stay(core, report->task, &stay, err));
    if (stay)
        LEATI_TRY(note_acked(core, report, err));
    if (!report->done && report->failed == 0)
        return LEAT_OK;
    core->assigns = true;
    if (report->failed != 0)
        LEATI_TRY(note_failure(core, report, err));
    return leati_database_run(core->database, err, "UPDATE tasks SET state = 1 WHERE id = ?", "i",
                              report->task);
}

/* ---- the answer ---- */

static leat_status read_task(const leati_query *query, struct leati_message_task *out,
                             leat_error *err) {
    out->task = leati_database_int(query, 0);
    out->attempt = leati_database_int(query, 1);
    out->iteration = leati_database_int(query, 2);
    out->shard = leati_database_int(query, 3);
    out->num_shards = leati_database_int(query, 4);
    out->seed = leati_database_int(query, 5);
    out->repetition = leati_database_int(query, 6);
    out->policy = leati_database_int(query, 7);
    out->visitation = leati_database_int(query, 8);
    out->consumers = leati_database_int(query, 9);
    out->cached = leati_database_int(query, 10) != 0;
    LEATI_TRY(leati_messages_set_text(&out->dataset_id, leati_database_text(query, 11), err));
    return leati_dispatcher_ints_of(leati_database_text(query, 12), &out->held, err);
}

static bool has_task(const struct leati_message_worker *said, int64_t task, int64_t attempt) {
    const struct leati_message_task_report *reports = said->tasks.items;
    for (int64_t i = 0; i < said->tasks.count; i++)
        if (reports[i].task == task && reports[i].attempt == attempt)
            return true;
    return false;
}

static leat_status add_starts(leati_core *core, const struct leati_message_worker *said,
                              struct leati_message_worker_answer *answer, leat_error *err) {
    leati_query query;
    leat_status status = LEAT_OK;
    leati_database_ask(
        core->database, &query,
        "SELECT t.id, t.attempt, t.iteration, t.shard, t.shards, t.seed, i.repetition, j.policy,"
        " j.visitation, j.consumers, j.cached, j.dataset, t.held FROM tasks t"
        " JOIN iterations i ON i.id = t.iteration JOIN jobs j ON j.id = i.job"
        " WHERE t.worker = ? AND t.state = 0 AND i.state = 0 ORDER BY t.id",
        "t", said->uid);
    while (status == LEAT_OK && leati_database_next(&query)) {
        if (has_task(said, leati_database_int(&query, 0), leati_database_int(&query, 1)))
            continue;
        struct leati_message_task *task =
            leati_messages_add(&answer->start, &leati_message_task, err);
        status = task == NULL ? LEAT_RESOURCE_EXHAUSTED : read_task(&query, task, err);
        if (status == LEAT_OK)
            status = leati_dispatcher_snapshot_tell(core, task, err);
    }
    leat_status ended = leati_database_end(&query, status == LEAT_OK ? err : &(leat_error){0});
    return status == LEAT_OK ? ended : status;
}

/* A task that has ended stays with its worker, which tells readers so, while the iteration goes on.
 */
static leat_status should_stop(leati_core *core, const char *uid,
                               const struct leati_message_task_report *report, bool *stop,
                               leat_error *err) {
    int64_t stays = 0;
    LEATI_TRY(leati_database_number(core->database, 0, &stays, err,
                                    "SELECT 1 FROM tasks t JOIN iterations i ON i.id = t.iteration"
                                    " WHERE t.id = ? AND t.attempt = ? AND t.worker = ?"
                                    " AND t.state < 2 AND i.state = 0",
                                    "iit", report->task, report->attempt, uid));
    *stop = stays == 0;
    return LEAT_OK;
}

static leat_status add_stops(leati_core *core, const struct leati_message_worker *said,
                             struct leati_message_worker_answer *answer, leat_error *err) {
    const struct leati_message_task_report *reports = said->tasks.items;
    answer->stop.values = leati_alloc((size_t)said->tasks.count, sizeof(int64_t));
    if (answer->stop.values == NULL)
        return leati_no_memory(err);
    for (int64_t i = 0; i < said->tasks.count; i++) {
        bool stop = false;
        LEATI_TRY(should_stop(core, said->uid, &reports[i], &stop, err));
        if (stop)
            answer->stop.values[answer->stop.count++] = reports[i].task;
    }
    return LEAT_OK;
}

/* May a worker that drains go? It is told once, and has left. */
static leat_status may_leave(leati_core *core, const char *uid, bool *leave, leat_error *err) {
    int64_t state = 0, tasks = 0;
    LEATI_TRY(leati_database_number(core->database, LEATI_WORKER_LEFT, &state, err,
                                    "SELECT state FROM workers WHERE uid = ?", "t", uid));
    LEATI_TRY(leati_database_number(core->database, 0, &tasks, err,
                                    "SELECT count(*) FROM tasks t"
                                    " JOIN iterations i ON i.id = t.iteration"
                                    " WHERE t.worker = ? AND t.state = 0 AND i.state = 0",
                                    "t", uid));
    *leave = state != LEATI_WORKER_READY && tasks == 0;
    return *leave ? leati_database_run(core->database, err,
                                       "UPDATE workers SET state = 3, why = 'it was drained',"
                                       " share = -1 WHERE uid = ? AND state = 1",
                                       "t", uid)
                  : LEAT_OK;
}

leat_status leati_dispatcher_worker_news(leati_core *core, leati_core_worker *worker,
                                         const struct leati_message_worker *said, bool always,
                                         leati_text *out, leat_error *err) {
    struct leati_message_worker_answer answer = {0};
    leat_status status = add_starts(core, said, &answer, err);
    if (status == LEAT_OK)
        status = add_stops(core, said, &answer, err);
    if (status == LEAT_OK)
        status = may_leave(core, worker->uid, &answer.leave, err);
    if (status == LEAT_OK &&
        (always || answer.start.count > 0 || answer.stop.count > 0 || answer.leave))
        status = leati_messages_write(&leati_message_worker_answer, &answer, out, err);
    leati_messages_fini(&leati_message_worker_answer, &answer);
    return status;
}

/* ---- the call ---- */

static leat_status hear(leati_core *core, leati_core_asked *asked,
                        struct leati_message_worker *said, leat_error *err) {
    if (said->uid == NULL || said->address == NULL || strlen(said->uid) >= LEATI_CORE_UID)
        return leati_refuse(err, VALUE, "worker: uid or address is missing, or too long");
    LEATI_TRY(welcome(core, said, err));
    leati_core_worker *worker = note_worker(core, said->uid, err);
    if (worker == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    worker->heard_ns = core->now_ns;
    worker->cut_ns = 0;
    (void)snprintf(worker->peer, sizeof worker->peer, "%s", asked->peer);
    const struct leati_message_task_report *reports = said->tasks.items;
    for (int64_t i = 0; i < said->tasks.count; i++)
        LEATI_TRY(note_report(core, said->uid, &reports[i], err));
    LEATI_TRY(leati_dispatcher_assign_changed(core, err));
    LEATI_TRY(
        leati_dispatcher_worker_news(core, worker, said, said->wait_ms == 0, &asked->out, err));
    if (asked->out.size == 0)
        leati_dispatcher_keep(core, &worker->kept, asked, said->wait_ms);
    leati_dispatcher_count_worker(core, worker, said);
    leati_messages_fini(&leati_message_worker, &worker->last);
    worker->last = *said;
    *said = (struct leati_message_worker){0};
    return LEAT_OK;
}

leat_status leati_dispatcher_ask_worker(leati_core *core, leati_core_asked *asked,
                                        leat_error *err) {
    struct leati_message_worker said;
    LEATI_TRY(leati_messages_read(&leati_message_worker, asked->bytes, asked->size, &said, err));
    leat_status status = hear(core, asked, &said, err);
    leati_messages_fini(&leati_message_worker, &said);
    return status;
}
