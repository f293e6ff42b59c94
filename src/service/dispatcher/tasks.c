/* Which worker does what: every worker reads every active iteration, as its policy says.
 *
 * A task is a stream of elements; the pair (task, attempt) is what a worker works on. Under
 * at_most_once a task ends with its worker. Under the other levels it waits for another worker,
 * which gives it again: under exactly_once only after all clients have said what they hold of it.
 * An iteration is finished when every stream has been given to its end; one whose workers were all
 * lost waits for new ones. No locks. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "service/dispatcher/parts.h"
#include <stdio.h>
#include <string.h>

leat_status leati_dispatcher_iteration_find(leati_core *core, int64_t id, leati_core_iteration *out,
                                            leat_error *err) {
    leati_query query;
    leati_database_ask(core->database, &query,
                       "SELECT i.job, i.repetition, i.state, j.policy, j.visitation, j.consumers,"
                       " j.targets, j.cached, j.dataset, s.id FROM iterations i"
                       " JOIN jobs j ON j.id = i.job LEFT JOIN snapshots s ON s.iteration = i.id"
                       " WHERE i.id = ?",
                       "i", id);
    bool found = leati_database_next(&query);
    if (found) {
        *out = (leati_core_iteration){
            .id = id,
            .job = leati_database_int(&query, 0),
            .repetition = leati_database_int(&query, 1),
            .state = leati_database_int(&query, 2),
            .policy = leati_database_int(&query, 3),
            .visitation = leati_database_int(&query, 4),
            .consumers = leati_database_int(&query, 5),
            .targets = leati_database_int(&query, 6),
            .cached = leati_database_int(&query, 7),
            .snapshot = leati_database_int(&query, 9),
        };
        (void)snprintf(out->dataset, sizeof out->dataset, "%s", leati_database_text(&query, 8));
    }
    LEATI_TRY(leati_database_end(&query, err));
    return found ? LEAT_OK
                 : leati_fail(err, LEAT_NOT_FOUND,
                              "iteration %lld is not known to the dispatcher; was it started "
                              "again without fault_tolerant_mode?",
                              (long long)id);
}

/* ---- the list of workers of static policies ---- */

/* Does an entry "host", "host:port" or "host:%port%" stand for the address? */
static bool entry_is(const char *entry, const char *address) {
    if (strcmp(entry, address) == 0)
        return true;
    const char *colon = strrchr(address, ':');
    size_t host = colon == NULL ? strlen(address) : (size_t)(colon - address);
    if (strncmp(entry, address, host) != 0)
        return false;
    const char *rest = entry + host;
    return rest[0] == '\0' || (rest[0] == ':' && rest[1] == '%');
}

/* The address of the living worker, another than `uid`, that has a share; false: nobody has. */
static leat_status share_is_taken(leati_core *core, int64_t share, const char *uid, bool *taken,
                                  leat_error *err) {
    leati_query query;
    *taken = false;
    leati_database_ask(core->database, &query,
                       "SELECT w.uid, w.share FROM workers w WHERE w.state < 2 AND w.share = ?",
                       "i", share);
    while (leati_database_next(&query))
        *taken = *taken || strcmp(leati_database_text(&query, 0), uid) != 0;
    return leati_database_end(&query, err);
}

leat_status leati_dispatcher_share_of(leati_core *core, const char *address, const char *uid,
                                      int64_t *out, leat_error *err) {
    *out = -1;
    bool listed = false;
    for (size_t i = 0; i < core->options.num_worker_addresses; i++) {
        bool taken = false;
        if (!entry_is(core->addresses[i], address))
            continue;
        listed = true;
        LEATI_TRY(share_is_taken(core, (int64_t)i, uid, &taken, err));
        if (!taken) {
            *out = (int64_t)i;
            return LEAT_OK;
        }
    }
    return leati_fail(err, listed ? LEAT_FAILED_PRECONDITION : LEAT_NOT_FOUND,
                      "worker %.200s cannot join static sharding: %s; expected one for each of the "
                      "dispatcher's worker_addresses",
                      address,
                      listed ? "other workers are already running at the configured host"
                             : "The worker's address is not configured");
}

/* ---- making tasks ---- */

static leat_status add_task(leati_core *core, const leati_core_iteration *iteration,
                            const char *worker, int64_t share, int64_t shares, leat_error *err) {
    int64_t task = 0, started = 0;
    LEATI_TRY(leati_dispatcher_new_id(core, &task, err));
    /* The seed follows from where the task stands, so that a dispatcher that is started anew
     * without its state does the same as the first one. */
    int64_t seed = 0;
    LEATI_TRY(leati_database_number(core->database, 0, &seed, err,
                                    "SELECT count(*) FROM tasks WHERE iteration = ?", "i",
                                    iteration->id));
    if (iteration->consumers > 0)
        LEATI_TRY(leati_database_number(
            core->database, 0, &started, err,
            "SELECT CASE WHEN count(*) = 0 THEN 0 ELSE -1 END FROM clients WHERE iteration = ?",
            "i", iteration->id));
    core->changed = true;
    LEATI_TRY(leati_database_run(
        core->database, err,
        "INSERT INTO tasks VALUES (?, ?, 1, ?, ?, ?, ?, ?, ?, -1, '[]', NULL, 0, 0, -1)",
        "iitiiiii", task, iteration->id, worker, share, shares,
        (iteration->repetition << 20) + seed, (int64_t)LEATI_TASK_ACTIVE, started));
    return iteration->snapshot == 0 ? LEAT_OK
                                    : leati_dispatcher_snapshot_stream(core, task, iteration, err);
}

/* Is somebody still to say what it holds of the task? */
static bool is_awaited(const leati_core *core, int64_t task) {
    for (size_t i = 0; i < core->num_awaits; i++)
        if (core->awaits[i].task == task)
            return true;
    return false;
}

/* How many streams of snapshots a worker may have for one more of the iteration. */
static int64_t most_streams(const leati_core *core, const leati_core_iteration *iteration) {
    return iteration->snapshot == 0 ? INT64_MAX : core->options.worker_max_concurrent_snapshots;
}

/* Gives a waiting task to the ready worker that has the fewest. */
static leat_status give_task(leati_core *core, int64_t task, const leati_core_iteration *iteration,
                             leat_error *err) {
    char uid[LEATI_CORE_UID] = "";
    leati_query query;
    leati_database_ask(core->database, &query,
                       "SELECT w.uid FROM workers w WHERE w.state = 0 AND (SELECT count(*) FROM"
                       " tasks t WHERE t.worker = w.uid AND t.state = 0 AND t.snapshot IS NOT NULL)"
                       " < ? ORDER BY (SELECT count(*) FROM tasks t WHERE t.worker = w.uid"
                       " AND t.state = 0 AND t.iteration = ?), w.number LIMIT 1",
                       "ii", most_streams(core, iteration), iteration->id);
    if (leati_database_next(&query))
        (void)snprintf(uid, sizeof uid, "%s", leati_database_text(&query, 0));
    LEATI_TRY(leati_database_end(&query, err));
    if (uid[0] == '\0')
        return LEAT_OK;
    core->changed = true;
    return leati_database_run(core->database, err,
                              "UPDATE tasks SET worker = ?, state = 0 WHERE id = ?", "ti", uid,
                              task);
}

static leat_status give_waiting(leati_core *core, const leati_core_iteration *iteration,
                                leat_error *err) {
    leati_ints tasks;
    LEATI_TRY(leati_dispatcher_ids(
        core, "SELECT json_group_array(id) FROM tasks WHERE iteration = ? AND state = 3",
        iteration->id, &tasks, err));
    leat_status status = LEAT_OK;
    for (int32_t i = 0; i < tasks.count && status == LEAT_OK; i++)
        if (!is_awaited(core, tasks.values[i]))
            status = give_task(core, tasks.values[i], iteration, err);
    leati_free(tasks.values);
    return status;
}

/* A worker without a task of the iteration, and its share; "" where there is none. */
struct idle {
    char uid[LEATI_CORE_UID];
    int64_t share;
};

static leat_status find_idle(leati_core *core, const leati_core_iteration *iteration,
                             struct idle *out, leat_error *err) {
    leati_query query;
    out->uid[0] = '\0';
    /* Under static policies a share that is being given, or was, is nobody else's. */
    if (iteration->policy >= LEAT_SERVICE_FILE)
        leati_database_ask(core->database, &query,
                           "SELECT w.uid, w.share FROM workers w WHERE w.state = 0 AND w.share >= 0"
                           " AND NOT EXISTS (SELECT 1 FROM tasks t WHERE t.iteration = ?"
                           " AND t.shard = w.share AND t.state != 2) ORDER BY w.number LIMIT 1",
                           "i", iteration->id);
    else
        leati_database_ask(core->database, &query,
                           "SELECT w.uid, 0 FROM workers w WHERE w.state = 0 AND NOT EXISTS"
                           " (SELECT 1 FROM tasks t WHERE t.iteration = ? AND t.worker = w.uid"
                           " AND t.state != 2) AND (SELECT count(*) FROM tasks t WHERE"
                           " t.worker = w.uid AND t.state = 0 AND t.snapshot IS NOT NULL) < ?"
                           " ORDER BY w.number LIMIT 1",
                           "ii", iteration->id, most_streams(core, iteration));
    if (leati_database_next(&query)) {
        (void)snprintf(out->uid, sizeof out->uid, "%s", leati_database_text(&query, 0));
        out->share = leati_database_int(&query, 1);
    }
    return leati_database_end(&query, err);
}

/* ---- the end ---- */

static leat_status count(leati_core *core, int64_t iteration, int64_t state, int64_t *out,
                         leat_error *err) {
    return leati_database_number(core->database, 0, out, err,
                                 "SELECT count(*) FROM tasks WHERE iteration = ? AND state = ?",
                                 "ii", iteration, state);
}

static leat_status finish(leati_core *core, const leati_core_iteration *iteration,
                          leat_error *err) {
    int64_t active = 0, waiting = 0, done = 0;
    LEATI_TRY(count(core, iteration->id, LEATI_TASK_ACTIVE, &active, err));
    LEATI_TRY(count(core, iteration->id, LEATI_TASK_WAITING, &waiting, err));
    /* A stream that ended because its worker drains says nothing of what is left. */
    LEATI_TRY(leati_database_number(core->database, 0, &done, err,
                                    "SELECT count(*) FROM tasks WHERE iteration = ? AND state = 1"
                                    " AND cut = 0",
                                    "i", iteration->id));
    int64_t wanted =
        iteration->policy >= LEAT_SERVICE_FILE ? (int64_t)core->options.num_worker_addresses : 1;
    if (active + waiting > 0 || done < wanted)
        return LEAT_OK;
    core->changed = true;
    LEATI_TRY(leati_database_run(core->database, err,
                                 "UPDATE iterations SET state = 1 WHERE id = ? AND state = 0", "i",
                                 iteration->id));
    return iteration->snapshot == 0 ? LEAT_OK
                                    : leati_dispatcher_snapshot_end(core, iteration->id, NULL, err);
}

leat_status leati_dispatcher_assign(leati_core *core, int64_t id, leat_error *err) {
    leati_core_iteration iteration = {0};
    struct idle idle;
    LEATI_TRY(leati_dispatcher_iteration_find(core, id, &iteration, err));
    if (iteration.state != LEATI_ITERATION_ACTIVE)
        return LEAT_OK;
    LEATI_TRY(give_waiting(core, &iteration, err));
    int64_t shares =
        iteration.policy >= LEAT_SERVICE_FILE ? (int64_t)core->options.num_worker_addresses : 1;
    int64_t waiting = 0;
    LEATI_TRY(count(core, id, LEATI_TASK_WAITING, &waiting, err));
    /* A stream that waits for a worker comes before another copy of the dataset, and before another
     * stream of a snapshot, which lasts. */
    bool more = waiting == 0 || (iteration.policy != LEAT_SERVICE_OFF && iteration.snapshot == 0);
    if (iteration.snapshot != 0 && more)
        LEATI_TRY(leati_dispatcher_snapshot_grows(core, id, &more, err));
    while (more) {
        LEATI_TRY(find_idle(core, &iteration, &idle, err));
        if (idle.uid[0] == '\0')
            break;
        LEATI_TRY(add_task(core, &iteration, idle.uid, idle.share, shares, err));
    }
    if (iteration.consumers > 0)
        LEATI_TRY(leati_dispatcher_rounds(core, &iteration, err));
    return finish(core, &iteration, err);
}

leat_status leati_dispatcher_assign_changed(leati_core *core, leat_error *err) {
    leati_ints iterations;
    if (!core->assigns)
        return LEAT_OK;
    core->assigns = false;
    core->changed = true;
    LEATI_TRY(leati_dispatcher_ids(
        core, "SELECT json_group_array(id) FROM iterations WHERE state = ?", 0, &iterations, err));
    leat_status status = LEAT_OK;
    for (int32_t i = 0; i < iterations.count && status == LEAT_OK; i++)
        status = leati_dispatcher_assign(core, iterations.values[i], err);
    leati_free(iterations.values);
    return status;
}

/* ---- tasks whose worker goes ---- */

leat_status leati_dispatcher_await_clients(leati_core *core, int64_t iteration, int64_t task,
                                           bool coordinated, leat_error *err) {
    /* Consumers go on together or not at all. */
    int64_t until = coordinated ? LEATI_NO_DEADLINE
                                : core->now_ns + core->options.worker_timeout_ms *
                                                     (int64_t)LEATI_CORE_NS_PER_MS;
    for (size_t i = 0; i < core->num_clients; i++) {
        if (core->clients[i]->iteration != iteration)
            continue;
        if (!leati_grow((void **)&core->awaits, &core->awaits_capacity, core->num_awaits + 1,
                        sizeof *core->awaits))
            return leati_no_memory(err);
        core->awaits[core->num_awaits++] = (leati_core_await){.task = task,
                                                              .client = core->clients[i]->id,
                                                              .until_ns = until,
                                                              .coordinated = coordinated,
                                                              .turns = -1};
    }
    return LEAT_OK;
}

static leat_status note_loss(leati_core *core, int64_t iteration, const char *worker,
                             leat_error *err) {
    leati_text text = {0};
    leati_text_addf(&text, "worker %s is gone: what it had is not given (at_most_once)", worker);
    if (!leati_grow((void **)&core->losses, &core->losses_capacity, core->num_losses + 1,
                    sizeof *core->losses) ||
        text.failed) {
        leati_text_fini(&text);
        return leati_no_memory(err);
    }
    core->losses[core->num_losses++] =
        (leati_core_loss){.iteration = iteration, .text = leati_text_take(&text)};
    return LEAT_OK;
}

leat_status leati_dispatcher_task_leaves(leati_core *core, int64_t task, const char *worker,
                                         leat_error *err) {
    leati_core_iteration iteration = {0};
    int64_t id = 0;
    LEATI_TRY(leati_database_number(core->database, 0, &id, err,
                                    "SELECT iteration FROM tasks WHERE id = ?", "i", task));
    LEATI_TRY(leati_dispatcher_iteration_find(core, id, &iteration, err));
    core->assigns = core->changed = true;
    if (iteration.visitation == LEAT_SERVICE_AT_MOST_ONCE || iteration.consumers > 0) {
        LEATI_TRY(note_loss(core, id, worker, err));
        return leati_database_run(core->database, err, "UPDATE tasks SET state = 2 WHERE id = ?",
                                  "i", task);
    }
    if (iteration.visitation == LEAT_SERVICE_EXACTLY_ONCE)
        LEATI_TRY(leati_dispatcher_await_clients(core, id, task, false, err));
    return leati_database_run(
        core->database, err,
        "UPDATE tasks SET state = 3, worker = NULL, attempt = attempt + 1 WHERE id = ?", "i", task);
}
