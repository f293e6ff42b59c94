/* Coordinated reads: at which round workers join and leave.
 *
 * All consumers must take the same round from the same worker. So a change of the tasks is put to
 * them as a round that none of them has reached; each one says that it will not go beyond it, and
 * when all have, the change holds from that round on: for every worker that waits, at once. A
 * consumer that is beyond the round already has the change put off, the further the more often that
 * happened.
 *
 * When a worker is lost, consumers may have got different numbers of its turns. Each is asked how
 * many came to it; once all have said, the least of these numbers is how many turns count: no
 * program has taken more, as workers tell consumers which turns came to all of them before they may
 * be taken, and every consumer has so many. All pass over the later ones, until the task's turns
 * end at an agreed round. A consumer that does not answer is waited for as long as it is one; where
 * it is lost, the others cannot go on, and hear so.
 *
 * A consumer that has no way to a worker which the dispatcher hears would hold up all for ever:
 * once it has said so, all fail, by a word that names both.
 *
 * Everything but the outcomes is in memory: a dispatcher that is started again asks and proposes
 * anew. No locks. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include "service/dispatcher/parts.h"
#include <inttypes.h>
#include <stdio.h>

enum { MOST_FAILURES = 16, LONGEST_MARGIN = 64, MARGIN_NS = 200000000 };

static leati_core_proposal *find(const leati_core *core, int64_t iteration) {
    for (size_t i = 0; i < core->num_proposals; i++)
        if (core->proposals[i].iteration == iteration)
            return &core->proposals[i];
    return NULL;
}

int64_t leati_dispatcher_proposed(const leati_core *core, int64_t iteration) {
    const leati_core_proposal *proposal = find(core, iteration);
    return proposal == NULL ? -1 : proposal->round;
}

static void drop(leati_core *core, leati_core_proposal *proposal) {
    *proposal = core->proposals[--core->num_proposals];
    core->changed = true;
}

/* What the consumers of an iteration said last. */
struct consumers {
    int64_t here, furthest, agreed; /* how many, the greatest round, how many keep to `round` */
    int64_t element_ns;
};

static struct consumers ask(const leati_core *core, int64_t iteration, int64_t round) {
    struct consumers out = {0};
    for (size_t i = 0; i < core->num_clients; i++) {
        const leati_core_client *client = core->clients[i];
        if (client->iteration != iteration)
            continue;
        out.here++;
        out.furthest = LEATI_MAX(out.furthest, client->last.round);
        out.agreed += client->last.agreed == round && client->last.round <= round;
        out.element_ns = LEATI_MAX(out.element_ns, client->last.element_ns);
    }
    return out;
}

static leat_status propose(leati_core *core, const leati_core_iteration *iteration,
                           const struct consumers *consumers, leat_error *err) {
    leati_core_proposal *proposal = find(core, iteration->id);
    int64_t failures = 0, living = 0;
    if (proposal != NULL)
        failures = LEATI_MIN(proposal->failures + 1, (int64_t)MOST_FAILURES);
    else if (!leati_grow((void **)&core->proposals, &core->proposals_capacity,
                         core->num_proposals + 1, sizeof *core->proposals))
        return leati_no_memory(err);
    else
        proposal = &core->proposals[core->num_proposals++];
    LEATI_TRY(leati_database_number(core->database, 0, &living, err,
                                    "SELECT count(*) FROM tasks WHERE iteration = ? AND state = 0"
                                    " AND start_round >= 0",
                                    "i", iteration->id));
    /* As far ahead as the consumers go while they are asked; where nobody can go on, not at all. */
    int64_t margin =
        consumers->element_ns == 0 ? 1 : MARGIN_NS / LEATI_MAX(consumers->element_ns, 1);
    margin = LEATI_MIN(LEATI_MAX(margin, 1), (int64_t)LONGEST_MARGIN) << failures;
    *proposal = (leati_core_proposal){
        .iteration = iteration->id,
        .round = consumers->furthest + (living == 0 ? 0 : margin),
        .failures = failures,
    };
    core->changed = true;
    return LEAT_OK;
}

static leat_status settle(leati_core *core, int64_t iteration, leati_core_proposal *proposal,
                          leat_error *err) {
    LEATI_TRY(leati_database_run(core->database, err,
                                 "UPDATE tasks SET start_round = ? WHERE iteration = ?"
                                 " AND state = 0 AND start_round < 0",
                                 "ii", proposal->round, iteration));
    LEATI_TRY(leati_database_run(core->database, err,
                                 "UPDATE tasks SET end_round = ? WHERE iteration = ?"
                                 " AND state = 2 AND start_round >= 0 AND end_round < 0",
                                 "ii", proposal->round, iteration));
    drop(core, proposal);
    return LEAT_OK;
}

/* ---- lost tasks ---- */

/* The least number of turns that consumers said; -1: somebody is still to say it. */
static int64_t count_turns(const leati_core *core, int64_t task, bool *asked) {
    int64_t turns = INT64_MAX;
    *asked = false;
    for (size_t i = 0; i < core->num_awaits; i++) {
        if (core->awaits[i].task != task)
            continue;
        *asked = true;
        turns = LEATI_MIN(turns, core->awaits[i].turns);
    }
    return turns;
}

static void forget_answers(leati_core *core, int64_t task) {
    size_t kept = 0;
    for (size_t i = 0; i < core->num_awaits; i++)
        if (core->awaits[i].task != task)
            core->awaits[kept++] = core->awaits[i];
    core->num_awaits = kept;
}

/* Asks all consumers how many turns of a lost task came to them, or says how many count, where all
 * have answered. What cannot be written is undone, and then they are asked again, as after a new
 * start of the dispatcher: they answer the same. */
static leat_status settle_task(leati_core *core, int64_t iteration, int64_t task, leat_error *err) {
    bool asked = false;
    int64_t turns = count_turns(core, task, &asked);
    core->changed = core->changed || !asked || turns >= 0;
    if (!asked)
        return leati_dispatcher_await_clients(core, iteration, task, true, err);
    if (turns < 0)
        return LEAT_OK;
    forget_answers(core, task);
    return leati_database_run(core->database, err, "UPDATE tasks SET turns = ? WHERE id = ?", "ii",
                              turns, task);
}

static leat_status settle_tasks(leati_core *core, int64_t iteration, leat_error *err) {
    leati_ints tasks;
    LEATI_TRY(leati_dispatcher_ids(core,
                                   "SELECT json_group_array(id) FROM tasks WHERE iteration = ?"
                                   " AND state = 2 AND start_round >= 0 AND turns < 0",
                                   iteration, &tasks, err));
    leat_status status = LEAT_OK;
    for (int32_t i = 0; i < tasks.count && status == LEAT_OK; i++)
        status = settle_task(core, iteration, tasks.values[i], err);
    leati_free(tasks.values);
    return status;
}

/* ---- consumers that are lost ---- */

/* All consumers of the iteration hear it, unless they have heard of another failure. */
static leat_status fail_all(leati_core *core, int64_t iteration, const leat_error *why,
                            leat_error *err) {
    core->changed = true;
    return leati_database_run(core->database, err,
                              "UPDATE iterations SET failure = ?, why = ? WHERE id = ?"
                              " AND failure = 0 AND (SELECT consumers FROM jobs"
                              " WHERE jobs.id = iterations.job) > 0",
                              "iti", (int64_t)why->code, why->text, iteration);
}

/* One that was released has read all that it wanted, and so have the others, or will. */
leat_status leati_dispatcher_consumer_lost(leati_core *core, const leati_core_client *client,
                                           leat_error *err) {
    leat_error why = {0};
    if (client->consumer < 0)
        return LEAT_OK;
    (void)leati_fail(&why, LEAT_FAILED_PRECONDITION,
                     "consumer %" PRId64 " at %s is lost. Coordinated reads do not go on without "
                     "it; start all of them under another job_name",
                     client->consumer, client->peer[0] == '\0' ? "an unknown place" : client->peer);
    return fail_all(core, client->iteration, &why, err);
}

/* ---- workers that a consumer does not reach ---- */

/* The address of the worker of an active task if the dispatcher hears from it; else "". */
static leat_status find_heard(leati_core *core, int64_t task, char *address, size_t size,
                              leat_error *err) {
    leati_query query;
    address[0] = '\0';
    leati_database_ask(core->database, &query,
                       "SELECT uid, address FROM workers WHERE state < 2 AND uid ="
                       " (SELECT worker FROM tasks WHERE id = ? AND state = 0)",
                       "i", task);
    if (leati_database_next(&query)) {
        const leati_core_worker *worker =
            leati_dispatcher_worker_find(core, leati_database_text(&query, 0));
        int64_t recent = core->options.worker_timeout_ms * LEATI_CORE_NS_PER_MS / 2;
        if (worker != NULL && (worker->kept.waits || core->now_ns - worker->heard_ns < recent))
            (void)snprintf(address, size, "%s", leati_database_text(&query, 1));
    }
    return leati_database_end(&query, err);
}

leat_status leati_dispatcher_unreached(leati_core *core, const leati_core_client *client,
                                       leat_error *err) {
    const leati_ints *tasks = &client->last.unreached;
    for (int32_t i = 0; i < tasks->count && client->consumer >= 0; i++) {
        char address[280];
        leat_error why = {0};
        LEATI_TRY(find_heard(core, tasks->values[i], address, sizeof address, err));
        if (address[0] == '\0')
            continue;
        (void)leati_fail(&why, LEAT_FAILED_PRECONDITION,
                         "consumer %" PRId64 " at %s does not reach worker %s, which the "
                         "dispatcher hears, and holds up all others; look for a firewall, or "
                         "another network, between, and start all of them under another job_name",
                         client->consumer,
                         client->peer[0] == '\0' ? "an unknown place" : client->peer, address);
        return fail_all(core, client->iteration, &why, err);
    }
    return LEAT_OK;
}

leat_status leati_dispatcher_rounds(leati_core *core, leati_core_iteration *iteration,
                                    leat_error *err) {
    int64_t changes = 0;
    /* A worker that was lost before it had a turn has none to end. */
    LEATI_TRY(leati_database_run(core->database, err,
                                 "UPDATE tasks SET end_round = 0 WHERE iteration = ? AND state = 2"
                                 " AND start_round < 0 AND end_round < 0",
                                 "i", iteration->id));
    LEATI_TRY(settle_tasks(core, iteration->id, err));
    LEATI_TRY(leati_database_number(core->database, 0, &changes, err,
                                    "SELECT count(*) FROM tasks WHERE iteration = ?"
                                    " AND ((state = 0 AND start_round < 0)"
                                    " OR (state = 2 AND start_round >= 0 AND end_round < 0))",
                                    "i", iteration->id));
    leati_core_proposal *proposal = find(core, iteration->id);
    struct consumers consumers = ask(core, iteration->id, proposal == NULL ? -1 : proposal->round);
    if (changes == 0) {
        if (proposal != NULL)
            drop(core, proposal);
        return LEAT_OK;
    }
    if (consumers.here < iteration->consumers)
        return LEAT_OK;
    if (proposal != NULL && consumers.agreed >= iteration->consumers)
        return settle(core, iteration->id, proposal, err);
    if (proposal == NULL || consumers.furthest > proposal->round)
        return propose(core, iteration, &consumers, err);
    return LEAT_OK;
}
