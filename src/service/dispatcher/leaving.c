/* Workers that go: lost, or drained at their own wish or by `drain`.
 *
 * A lost worker's tasks end or wait for another worker, as their visitation level says
 * (leati_core_task_leaves). One that drains gets no new tasks and no more splits; tasks that
 * another worker can give again are handed over, those of coordinated reads end as if it were lost,
 * the others it gives to their end. Failures:
 * NOT_FOUND for a worker that is not at work. No locks. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "service/dispatcher/parts.h"
#include <stdio.h>

static leat_status tasks_leave(leati_core *core, const char *uid, const char *address,
                               bool keep_finite, leat_error *err) {
    leati_query query;
    leati_ints tasks = {0};
    /* What a drained worker may finish: under at_most_once nobody else can. Coordinated reads have
     * no end. */
    leati_database_ask(core->database, &query,
                       "SELECT json_group_array(t.id) FROM tasks t"
                       " JOIN iterations i ON i.id = t.iteration JOIN jobs j ON j.id = i.job"
                       " WHERE t.worker = ? AND t.state = 0 AND i.state = 0"
                       " AND (? = 0 OR j.visitation > 0 OR j.consumers > 0)",
                       "ti", uid, (int64_t)keep_finite);
    leat_status status = leati_dispatcher_ids_read(&query, &tasks, err);
    for (int32_t i = 0; i < tasks.count && status == LEAT_OK; i++)
        status = leati_dispatcher_task_leaves(core, tasks.values[i], address, err);
    leati_free(tasks.values);
    return status;
}

static leat_status address_of(leati_core *core, const char *uid, char *address, size_t size,
                              leat_error *err) {
    leati_query query;
    address[0] = '\0';
    leati_database_ask(core->database, &query, "SELECT address FROM workers WHERE uid = ?", "t",
                       uid);
    if (leati_database_next(&query))
        (void)snprintf(address, size, "%s", leati_database_text(&query, 0));
    return leati_database_end(&query, err);
}

leat_status leati_dispatcher_worker_gone(leati_core *core, const char *uid, int64_t state,
                                         const char *why, leat_error *err) {
    char address[256];
    LEATI_TRY(address_of(core, uid, address, sizeof address, err));
    if (state == LEATI_WORKER_LOST)
        leati_log(LEAT_LOG_WARNING, "dispatcher: worker %s is lost: %s", address, why);
    LEATI_TRY(leati_database_run(core->database, err,
                                 "UPDATE workers SET state = ?, why = ?, share = -1 WHERE uid = ?",
                                 "itt", state, why, uid));
    core->assigns = core->changed = true;
    return tasks_leave(core, uid, address, false, err);
}

leat_status leati_dispatcher_worker_drain(leati_core *core, const char *uid, leat_error *err) {
    char address[256];
    LEATI_TRY(address_of(core, uid, address, sizeof address, err));
    LEATI_TRY(leati_database_run(
        core->database, err, "UPDATE workers SET state = 1 WHERE uid = ? AND state = 0", "t", uid));
    LEATI_TELL(SERVICE, INFO, "worker %s drains", address);
    core->assigns = core->changed = true;
    return tasks_leave(core, uid, address, true, err);
}

leat_status leati_dispatcher_drain(leati_core *core, const char *worker, leat_error *err) {
    int64_t drained = 0;
    for (;; drained++) {
        char uid[LEATI_CORE_UID] = "";
        leati_query query;
        leati_database_ask(core->database, &query,
                           "SELECT uid FROM workers WHERE state = 0"
                           " AND (? = '' OR uid = ? OR address = ?) LIMIT 1",
                           "ttt", worker, worker, worker);
        if (leati_database_next(&query))
            (void)snprintf(uid, sizeof uid, "%s", leati_database_text(&query, 0));
        LEATI_TRY(leati_database_end(&query, err));
        if (uid[0] == '\0')
            break;
        LEATI_TRY(leati_dispatcher_worker_drain(core, uid, err));
    }
    return drained > 0 || worker[0] == '\0'
               ? LEAT_OK
               : leati_fail(err, LEAT_NOT_FOUND,
                            "no worker \"%.200s\" is at work; `leat service status` lists them",
                            worker);
}

leat_status leati_dispatcher_ask_drain(leati_core *core, leati_core_asked *asked, leat_error *err) {
    struct leati_message_drain said;
    LEATI_TRY(leati_messages_read(&leati_message_drain, asked->bytes, asked->size, &said, err));
    leat_status status = leati_dispatcher_drain(core, said.worker == NULL ? "" : said.worker, err);
    leati_messages_fini(&leati_message_drain, &said);
    leati_text_add(&asked->out, "{}", 2);
    return status;
}
