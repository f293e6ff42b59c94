/* Who is overdue, and what nobody reads any more; looked at in every turn.
 *
 * A worker whose connection is gone, or that is silent, is lost; a client likewise. What a client
 * does not say of a task that moves is not waited for longer than a worker is. An iteration without
 * clients is dropped after job_gc_timeout_ms, unless that would break its visitation guarantee
 * (DYNAMIC, unless gc_dynamic_sharding_jobs says so, and exactly_once). No locks. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/minmax.h"
#include "service/dispatcher/parts.h"
#include <stdio.h>
#include <string.h>

/* A connection that broke is soon there again where its process lives. */
enum { CUT_MS = 1000 };

/* Notes a kept heartbeat that nobody waits for any more. */
static void look_for_cut(leati_core *core, leati_core_kept *kept, int64_t *cut_ns) {
    if (!kept->waits || !kept->reply.abandoned(kept->reply.context))
        return;
    leat_error gone = {0};
    (void)leati_fail(&gone, LEAT_CANCELLED, "nobody waits for the answer");
    kept->reply.fail(kept->reply.context, &gone);
    leati_free(kept->bytes);
    *kept = (leati_core_kept){0};
    *cut_ns = core->now_ns;
}

static bool is_over(const leati_core *core, int64_t since_ns, int64_t ms) {
    return since_ns != 0 && core->now_ns - since_ns >= ms * LEATI_CORE_NS_PER_MS;
}

/* ---- workers ---- */

/* Silent since when: a worker of before the start is given its time from there on. */
static int64_t heard_ns(const leati_core *core, const leati_core_worker *worker) {
    return worker == NULL ? core->started_ns : worker->heard_ns;
}

static const char *overdue(leati_core *core, leati_core_worker *worker) {
    int64_t timeout = core->options.worker_timeout_ms;
    if (worker != NULL && worker->kept.waits)
        return NULL;
    if (worker != NULL && is_over(core, worker->cut_ns, LEATI_MIN(timeout, CUT_MS)))
        return "its connection broke";
    return is_over(core, heard_ns(core, worker), timeout) ? "it is silent" : NULL;
}

static leat_status next_overdue(leati_core *core, char uid[LEATI_CORE_UID], const char **why,
                                leat_error *err) {
    leati_query query;
    *why = NULL;
    leati_database_ask(core->database, &query, "SELECT uid FROM workers WHERE state < 2", "");
    while (*why == NULL && leati_database_next(&query)) {
        const char *name = leati_database_text(&query, 0);
        *why = overdue(core, leati_dispatcher_worker_find(core, name));
        (void)snprintf(uid, LEATI_CORE_UID, "%s", name);
    }
    return leati_database_end(&query, err);
}

static leat_status collect_workers(leati_core *core, leat_error *err) {
    for (size_t i = 0; i < core->num_workers; i++)
        look_for_cut(core, &core->workers[i]->kept, &core->workers[i]->cut_ns);
    for (;;) {
        char uid[LEATI_CORE_UID];
        const char *why = NULL;
        LEATI_TRY(next_overdue(core, uid, &why, err));
        if (why == NULL)
            return LEAT_OK;
        LEATI_TRY(leati_dispatcher_worker_gone(core, uid, LEATI_WORKER_LOST, why, err));
    }
}

/* ---- clients ---- */

static leat_status collect_clients(leati_core *core, leat_error *err) {
    for (size_t i = 0; i < core->num_clients; i++)
        look_for_cut(core, &core->clients[i]->kept, &core->clients[i]->cut_ns);
    for (size_t i = 0; i < core->num_clients;) {
        leati_core_client *client = core->clients[i];
        bool gone = !client->kept.waits &&
                    (is_over(core, client->cut_ns, core->options.worker_timeout_ms) ||
                     is_over(core, client->heard_ns, core->options.client_timeout_ms));
        if (!gone) {
            i++;
            continue;
        }
        LEATI_TELL(SERVICE, INFO, "client %lld at %s is lost", (long long)client->id, client->peer);
        LEATI_TRY(leati_database_run(core->database, err,
                                     "UPDATE clients SET state = 2 WHERE id = ?", "i", client->id));
        LEATI_TRY(leati_dispatcher_consumer_lost(core, client, err));
        LEATI_TRY(leati_dispatcher_iteration_left(core, client->iteration, false, err));
        leati_dispatcher_client_forget(core, client);
        core->assigns = true;
    }
    return LEAT_OK;
}

static void collect_awaits(leati_core *core) {
    size_t kept = 0;
    for (size_t i = 0; i < core->num_awaits; i++)
        if (core->now_ns < core->awaits[i].until_ns)
            core->awaits[kept++] = core->awaits[i];
    if (kept != core->num_awaits)
        core->assigns = true;
    core->num_awaits = kept;
}

/* ---- iterations ---- */

leat_status leati_dispatcher_iteration_drop(leati_core *core, int64_t iteration, leat_error *err) {
    static const char *const statements[] = {
        "DELETE FROM streams WHERE task IN (SELECT id FROM tasks WHERE iteration = ?)",
        "DELETE FROM leases WHERE task IN (SELECT id FROM tasks WHERE iteration = ?)",
        "DELETE FROM tasks WHERE iteration = ?",
        "DELETE FROM providers WHERE iteration = ?",
        ("UPDATE iterations SET state = 2 WHERE id = ? AND (state = 0"
         " OR (SELECT alone FROM jobs WHERE jobs.id = iterations.job) = 1)"),
    };
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++)
        LEATI_TRY(leati_database_run(core->database, err, statements[i], "i", iteration));
    core->changed = true;
    LEATI_TELL(SERVICE, INFO, "iteration %lld is collected: nobody reads it", (long long)iteration);
    return LEAT_OK;
}

/* Nobody reads it again, but a state that was saved of it may go on elsewhere: workers end its
 * tasks, and what was given to whom stays. */
static leat_status park_iteration(leati_core *core, int64_t iteration, leat_error *err) {
    core->changed = true;
    return leati_database_run(core->database, err,
                              "UPDATE iterations SET state = 1 WHERE id = ? AND state = 0", "i",
                              iteration);
}

static int64_t count_readers(const leati_core *core, int64_t iteration) {
    int64_t readers = 0;
    for (size_t i = 0; i < core->num_clients; i++)
        readers += core->clients[i]->iteration == iteration;
    return readers;
}

leat_status leati_dispatcher_iteration_left(leati_core *core, int64_t iteration, bool unused,
                                            leat_error *err) {
    int64_t visitation = 0, alone = 0, clients = 0;
    if (count_readers(core, iteration) > 1)
        return LEAT_OK;
    leati_query query;
    leati_database_ask(core->database, &query,
                       "SELECT j.visitation, j.alone, (SELECT count(*) FROM clients c"
                       " WHERE c.iteration = i.id) FROM iterations i JOIN jobs j ON j.id = i.job"
                       " WHERE i.id = ?",
                       "i", iteration);
    if (leati_database_next(&query)) {
        visitation = leati_database_int(&query, 0);
        alone = leati_database_int(&query, 1);
        clients = leati_database_int(&query, 2);
    }
    LEATI_TRY(leati_database_end(&query, err));
    if (visitation == LEAT_SERVICE_AT_MOST_ONCE)
        return alone ? leati_dispatcher_iteration_drop(core, iteration, err) : LEAT_OK;
    if (unused && clients == 1)
        return leati_dispatcher_iteration_drop(core, iteration, err);
    return alone ? park_iteration(core, iteration, err) : LEAT_OK;
}

/* Since when an iteration has been without clients; it is noted where that is new. 0 without
 * memory: it is looked at again. */
static int64_t idle_since(leati_core *core, int64_t iteration) {
    for (size_t i = 0; i < core->num_idle; i++)
        if (core->idle[i].iteration == iteration) {
            core->idle[i].seen = true;
            return core->idle[i].since_ns;
        }
    if (!leati_grow((void **)&core->idle, &core->idle_capacity, core->num_idle + 1,
                    sizeof *core->idle))
        return 0;
    core->idle[core->num_idle++] =
        (leati_core_idle){.iteration = iteration, .since_ns = core->now_ns, .seen = true};
    return core->now_ns;
}

static void forget_busy(leati_core *core) {
    size_t kept = 0;
    for (size_t i = 0; i < core->num_idle; i++)
        if (core->idle[i].seen) {
            core->idle[kept] = core->idle[i];
            core->idle[kept++].seen = false;
        }
    core->num_idle = kept;
}

static leat_status collect_iterations(leati_core *core, leat_error *err) {
    leati_ints iterations;
    LEATI_TRY(leati_dispatcher_ids(
        core,
        "SELECT json_group_array(i.id) FROM iterations i JOIN jobs j ON j.id = i.job"
        " WHERE i.state < 2 AND j.visitation < 2 AND (j.policy != 1 OR j.alone = 1 OR ? = 1)"
        " AND EXISTS (SELECT 1 FROM tasks t WHERE t.iteration = i.id)"
        " AND EXISTS (SELECT 1 FROM clients c WHERE c.iteration = i.id)"
        " AND NOT EXISTS (SELECT 1 FROM clients c WHERE c.iteration = i.id AND c.state = 0)",
        core->options.gc_dynamic_sharding_jobs, &iterations, err));
    leat_status status = LEAT_OK;
    for (int32_t i = 0; i < iterations.count && status == LEAT_OK; i++)
        if (is_over(core, idle_since(core, iterations.values[i]), core->options.job_gc_timeout_ms))
            status = leati_dispatcher_iteration_drop(core, iterations.values[i], err);
    forget_busy(core);
    leati_free(iterations.values);
    return status;
}

leat_status leati_dispatcher_collect(leati_core *core, leat_error *err) {
    LEATI_TRY(collect_workers(core, err));
    LEATI_TRY(collect_clients(core, err));
    collect_awaits(core);
    bool due = is_over(core, core->collected_ns, core->options.job_gc_check_interval_ms);
    if (!due || core->options.job_gc_timeout_ms < 0)
        return LEAT_OK;
    core->collected_ns = core->now_ns;
    return collect_iterations(core, err);
}
