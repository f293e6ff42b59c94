/* Sums that do not fall when a task, a worker or a client goes: what workers gave, and what clients
 * of each iteration took, since the dispatcher's start.
 *
 * Processes say how much it was since they began. Of one that was there before the start only the
 * growth counts, so that a start does not look like a burst. Failures: without memory an iteration
 * is not counted. No locks. */
#include "base/alloc.h"
#include "service/dispatcher/parts.h"

enum { MOST_COUNTS = 1024 };

/* How much more it is than what was counted. A heartbeat that comes late says less. */
static int64_t grow(int64_t *counted, int64_t now) {
    int64_t grown = now > *counted ? now - *counted : 0;
    *counted += grown;
    return grown;
}

void leati_dispatcher_count_worker(leati_core *core, leati_core_worker *worker,
                                   const struct leati_message_worker *said) {
    bool first = worker->last.uid == NULL;
    int64_t elements = grow(&worker->elements, said->elements),
            bytes = grow(&worker->bytes, said->bytes);
    core->elements += first ? 0 : elements;
    core->bytes += first ? 0 : bytes;
}

static bool is_read(const leati_core *core, int64_t iteration) {
    for (size_t i = 0; i < core->num_clients; i++)
        if (core->clients[i]->iteration == iteration)
            return true;
    return false;
}

/* The oldest one that nobody reads makes room. */
static void make_room(leati_core *core) {
    for (size_t i = 0; i < core->num_counts; i++) {
        if (is_read(core, core->counts[i].iteration))
            continue;
        core->num_counts--;
        for (; i < core->num_counts; i++)
            core->counts[i] = core->counts[i + 1];
        return;
    }
}

static leati_core_count *count_of(leati_core *core, int64_t iteration) {
    for (size_t i = 0; i < core->num_counts; i++)
        if (core->counts[i].iteration == iteration)
            return &core->counts[i];
    if (core->num_counts >= MOST_COUNTS)
        make_room(core);
    if (!leati_grow((void **)&core->counts, &core->counts_capacity, core->num_counts + 1,
                    sizeof *core->counts))
        return NULL;
    core->counts[core->num_counts] = (leati_core_count){.iteration = iteration};
    return &core->counts[core->num_counts++];
}

void leati_dispatcher_count_client(leati_core *core, leati_core_client *client, int64_t elements) {
    bool first = client->before_start && client->last.client == 0;
    int64_t more = grow(&client->counted, elements);
    leati_core_count *count = first ? NULL : count_of(core, client->iteration);
    if (count != NULL)
        count->elements += more;
}

int64_t leati_dispatcher_counted(const leati_core *core, int64_t iteration) {
    for (size_t i = 0; i < core->num_counts; i++)
        if (core->counts[i].iteration == iteration)
            return core->counts[i].elements;
    return 0;
}
