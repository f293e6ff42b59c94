/* By which of a worker's transfers a task is read; see reader_parts.h.
 *
 * Happy path: the first that reaches this process, as long as something comes by it. Failures: one
 * by which nothing came is passed over, with pauses that grow, and so is one that cannot carry what
 * is sent (memory that cannot be mapped, another version, certificates that are not believed).
 * Another try of the same way would not mend that: once all ways in a row have failed so, the last
 * failure ends the iteration. So does a failure that the worker answers, by whichever way. A worker
 * that no way reaches for long is waited for, and the log says so once. Locks: the reader's gate.
 */
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "service/client/reader_parts.h"
#include <stdio.h>
#include <string.h>

const char *leati_client_reader_way(leati_client_reader_task *task) {
    const leati_strings *transfers = &task->place.transfers;
    const char *only = task->reader->options.transfer;
    size_t size = only == NULL ? 0 : strlen(only);
    const char *found[8];
    int count = 0;
    for (int32_t i = 0; i < transfers->count && count < 8; i++) {
        const char *one = transfers->values[i].data;
        bool wanted = only == NULL || (strncmp(one, only, size) == 0 && one[size] == ' ');
        if (wanted && leati_transport_reaches(one))
            found[count++] = one;
    }
    task->ways = count;
    const char *chosen = count == 0 ? NULL : found[task->passed_over % count];
    (void)snprintf(task->way, sizeof task->way, "%.*s",
                   chosen == NULL ? 0 : (int)strcspn(chosen, " "), chosen == NULL ? "" : chosen);
    return chosen;
}

leat_status leati_client_reader_no_way(const leati_client_reader_task *task, leat_error *err) {
    const char *only = task->reader->options.transfer;
    return leati_fail(err, LEAT_NOT_FOUND,
                      "data transfer by %s is not available from worker %s%s; leave out "
                      "data_transfer_protocol, or start the worker with that one",
                      only == NULL ? "any protocol" : only, task->place.address,
                      only != NULL && strcmp(only, "shm") == 0
                          ? " to this process, which may be of another host, container or user"
                          : "");
}

/* May opening it again help? A worker that was just told of a task may not have it yet, which is
 * UNAVAILABLE. */
static bool may_help(const leat_error *why) {
    return why->code == LEAT_OK || leati_control_is_away(why->code) || why->code == LEAT_CANCELLED;
}

/* Is it to be said that nothing has come for long? */
static bool is_to_warn(leati_client_reader_task *task) {
    int64_t now = leati_now_ns();
    if (task->some_came)
        task->warned = false;
    if (task->some_came || task->away_ns == 0)
        task->away_ns = now;
    int64_t silence = leati_transport_tuned().silence_ms * INT64_C(1000000);
    bool warns = !task->warned && now - task->away_ns >= silence;
    task->warned = task->warned || warns;
    return warns;
}

bool leati_client_reader_way_next(leati_client_reader_task *task, const leat_error *why, bool broke,
                                  leati_client_reader_passing *passing) {
    bool helps = may_help(why);
    /* A worker that answers, though that it has no such task yet, is reached. */
    bool of_way = broke || task->transport == NULL || !task->transport->tells;
    passing->told = of_way && !task->some_came && task->ways > 1;
    passing->warns = is_to_warn(task);
    (void)snprintf(passing->address, sizeof passing->address, "%s", task->place.address);
    memcpy(passing->way, task->way, sizeof passing->way);
    task->refused = helps ? 0 : task->some_came ? 1 : task->refused + 1;
    task->passed_over += of_way && (!task->some_came || !helps);
    task->retry_ns = leati_now_ns() + leati_control_pause_ns(task->failures++);
    return !helps && (!broke || task->refused >= task->ways);
}

void leati_client_reader_way_passed(const leati_client_reader_passing *passing,
                                    const leat_error *why) {
    if (passing->told)
        LEATI_TELL(SERVICE, INFO, "worker %s is not read by %s (%s); the next way is tried",
                   passing->address, passing->way, leat_error_message(why));
    if (passing->warns)
        leati_log(
            LEAT_LOG_WARNING,
            "nothing comes from worker %s, which the dispatcher names (by %s: %s); waiting "
            "for it. Where it is not reached, look for a firewall, or another network, between",
            passing->address, passing->way, leat_error_message(why));
}
