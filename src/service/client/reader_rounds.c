/* Coordinated reads: whose turn it is; see reader_parts.h.
 *
 * Round r is that of task r mod n of the n tasks that take turns in it, in the order of the list,
 * so that all consumers read the same worker in the same round. A task whose worker is lost keeps
 * its turns, which are passed over, until all consumers have agreed on a round from which on it has
 * none; in the same way new tasks begin. A consumer that comes to an agreed round waits there until
 * the dispatcher has said what is so from it on. Cannot fail. No locks of its own. */
#include "service/client/reader_parts.h"

static bool takes_turns(const leati_client_reader_task *task, int64_t round) {
    const struct leati_message_place *place = &task->place;
    return task->unlisted_ns == 0 && place->start_round <= round &&
           (place->end_round < 0 || round < place->end_round);
}

static leati_client_reader_task *task_of(leati_client_reader *reader, int64_t round) {
    int64_t count = 0;
    for (leati_client_reader_task *task = reader->tasks; task != NULL; task = task->next)
        count += takes_turns(task, round);
    int64_t turn = count == 0 ? -1 : round % count;
    for (leati_client_reader_task *task = reader->tasks; task != NULL; task = task->next)
        if (takes_turns(task, round) && turn-- == 0)
            return task;
    return NULL;
}

leati_client_reader_part *leati_client_reader_round_part(leati_client_reader *reader) {
    for (;;) {
        if (reader->proposed >= 0 && reader->agreed == reader->proposed &&
            reader->round >= reader->agreed)
            return NULL;
        leati_client_reader_task *task = task_of(reader, reader->round);
        if (task == NULL)
            return NULL;
        if (!task->place.lost || task->parts.first != NULL) {
            leati_client_reader_part *part = leati_client_reader_queue_take(&task->parts);
            if (part == NULL || part->kind != LEATI_FRAME_SKIP)
                return part;
            /* The worker had nothing for any consumer in this round. */
            leati_client_reader_window_took(part, 1);
            leati_client_reader_part_drop(reader, part);
        }
        leati_client_reader_round_next(reader, task);
    }
}

void leati_client_reader_round_next(leati_client_reader *reader, leati_client_reader_task *task) {
    task->turns++;
    reader->round++;
}
