/* Which workers a client reads from: target_workers; see reader_parts.h.
 *
 * ANY reads all, LOCAL those of this process, AUTO all but workers of other processes that are
 * tagged COLOCATED, or that have a share of their own where the dispatcher says that it is deployed
 * so. Coordinated consumers read all under AUTO, too: each round is for all of them, wherever they
 * are. Failures: LOCAL without a worker in this process ends the iteration with INVALID_ARGUMENT.
 * No locks of its own. */
#include "base/error.h"
#include "service/client/reader_parts.h"
#include "service/worker/reading.h"
#include <string.h>

static bool is_here(const leati_client_reader_task *task) {
    return task->place.address != NULL && leati_worker_is_here(task->place.address);
}

static bool is_colocated(const leati_client_reader_task *task) {
    const leati_strings *tags = &task->place.tags;
    for (int32_t i = 0; i < tags->count; i++)
        if (strcmp(tags->values[i].data, "COLOCATED") == 0)
            return true;
    return false;
}

/* Is it there for the trainer of its own host? */
static bool is_of_others(const leati_client_reader *reader, const leati_client_reader_task *task) {
    return is_colocated(task) || (reader->colocated && reader->options.policy >= LEAT_SERVICE_FILE);
}

static bool is_read(const leati_client_reader *reader, const leati_client_reader_task *task) {
    if (leati_client_reader_is_coordinated(reader))
        return true;
    switch (reader->options.targets) {
    case LEAT_SERVICE_TARGET_LOCAL: return is_here(task);
    case LEAT_SERVICE_TARGET_AUTO: return !is_of_others(reader, task) || is_here(task);
    default: return true;
    }
}

void leati_client_reader_tasks_choose(leati_client_reader *reader) {
    bool any = false, none = true;
    for (leati_client_reader_task *task = reader->tasks; task != NULL; task = task->next) {
        task->passed = !is_read(reader, task);
        any = true;
        none = none && task->passed;
    }
    if (!any || !none || reader->options.targets != LEAT_SERVICE_TARGET_LOCAL)
        return;
    leat_error why = {0};
    (void)leati_refuse(&why, VALUE,
                       "target_workers is LOCAL. Local reads require local tf.data workers, but no "
                       "local worker is found. None of the service at %s runs in this process; "
                       "start one here, or ask for ANY",
                       reader->control.service);
    leati_client_reader_fail(reader, &why);
}
