/* Coordinated reads: whose turn it is, and what may be taken; see reader_parts.h.
 *
 * Round r is that of task r mod n of the n tasks that take turns in it, in the order of the list,
 * so that all consumers read the same worker in the same round. An element is taken only when the
 * worker has said that its turn is whole: it came to all consumers. So that nobody waits for that,
 * turns come a window ahead of the program. New tasks begin at a round on
 * which all have agreed: a consumer that comes to it waits there until the dispatcher has said what
 * is so from it on.
 *
 * A task whose worker is lost is read no more. Each consumer tells the dispatcher how many of its
 * turns came, and hears the least of these numbers, which is no less than the number of whole turns
 * that any of them was told of: all take those turns, and pass over the later ones, until the task
 * has none from an agreed round on; where no other worker is there, not before that is known. So
 * all take the same rounds in the same order.
 *
 * Failures: FAILED_PRECONDITION where turns came to another process that was this consumer,
 * INTERNAL where a turn that all are to take did not come. No locks of its own. */
#include "base/error.h"
#include "base/minmax.h"
#include "service/client/reader_parts.h"
#include <inttypes.h>

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

/* A turn that all others take did not come: they could not be followed. */
static void fail(leati_client_reader_task *task) {
    leat_error why = {0};
    if (task->came < task->place.turns)
        (void)leati_fail(&why, LEAT_FAILED_PRECONDITION,
                         "%" PRId64 " turns of task %" PRId64
                         ", whose worker %s is lost, came to all consumers, and %" PRId64
                         " of them to this process. Coordinated reads do not go on with a consumer "
                         "that was started again; start all of them under another job_name",
                         task->place.turns, task->place.task, task->place.address, task->came);
    else
        (void)leati_fail(&why, LEAT_INTERNAL,
                         "turn %" PRId64 " of task %" PRId64
                         " came to all consumers but this one, whose worker %s is lost",
                         task->turns, task->place.task, task->place.address);
    leati_client_reader_fail(task->reader, &why);
}

/* Is there a worker to go on with, once a turn of a lost one is passed over? */
static bool goes_on(const leati_client_reader_task *lost) {
    const leati_client_reader *reader = lost->reader;
    for (const leati_client_reader_task *task = reader->tasks; task != NULL; task = task->next)
        if (takes_turns(task, reader->round) && !task->place.lost)
            return true;
    return lost->place.end_round >= 0;
}

/* May the task's next turn be taken, passed over, or neither yet? */
typedef enum decision { WAIT, TAKE, PASS } decision;

static decision decide(leati_client_reader_task *task) {
    const struct leati_message_place *place = &task->place;
    bool settled = place->lost && place->turns >= 0;
    if (settled && task->turns >= place->turns)
        return goes_on(task) ? PASS : WAIT;
    if (task->parts.first == NULL) {
        if (settled)
            fail(task);
        return WAIT;
    }
    return settled || task->turns < task->whole ? TAKE : WAIT;
}

leati_client_reader_part *leati_client_reader_round_part(leati_client_reader *reader) {
    reader->awaited = NULL;
    for (;;) {
        if (reader->proposed >= 0 && reader->agreed == reader->proposed &&
            reader->round >= reader->agreed)
            return NULL;
        leati_client_reader_task *task = task_of(reader, reader->round);
        decision next = task == NULL ? WAIT : decide(task);
        if (next == WAIT) {
            /* The worker is told that the program has all that came, so that it may skip a turn. */
            reader->awaited = task;
            if (task != NULL && leati_client_reader_round_is_due(task))
                leati_queue_gate_wake(reader->gate);
            return NULL;
        }
        leati_client_reader_part *part = leati_client_reader_queue_take(&task->parts);
        if (next == TAKE && part->kind != LEATI_FRAME_SKIP)
            return part;
        /* The worker had nothing for any consumer in this round, or it did not come to all. */
        if (part != NULL)
            leati_client_reader_part_drop(reader, part);
        leati_client_reader_round_next(reader, task);
    }
}

void leati_client_reader_round_next(leati_client_reader *reader, leati_client_reader_task *task) {
    task->turns++;
    reader->round++;
    if (leati_client_reader_round_is_due(task))
        leati_queue_gate_wake(reader->gate);
}

bool leati_client_reader_round_is_due(const leati_client_reader_task *task) {
    return task->state == LEATI_CLIENT_READING && !task->place.lost &&
           (task->came > task->told_came ||
            2 * (task->turns - task->told_turns) >= task->window.elements ||
            (task->reader->awaited == task && task->turns > task->told_turns));
}

bool leati_client_reader_round_wakes(const leati_client_reader_task *task) {
    return task->reader->awaited == task || leati_client_reader_round_is_due(task);
}

void leati_client_reader_round_tell(leati_client_reader_task *task) {
    leati_client_reader *reader = task->reader;
    leati_transport_stream *stream =
        task->stream == NULL ? NULL : leati_transport_stream_ref(task->stream);
    int64_t turns = task->told_turns = task->turns, came = task->told_came = task->came;
    leati_queue_gate_unlock(reader->gate);
    if (stream == NULL) {
        leati_client_reader_direct_ack(task, turns, came);
    } else {
        uint8_t bytes[LEATI_FRAME_CREDIT_SIZE];
        leati_frame_credit credit = {.acked_begin = turns, .acked_end = came};
        leati_transport_part part = {.data = bytes, .size = sizeof bytes};
        leati_frame_put_credit(&credit, bytes);
        /* A stream that broke is opened again with these numbers. */
        (void)!leati_transport_stream_write(stream, &part, 1, reader->cancel, &(leat_error){0});
        leati_transport_stream_unref(stream);
    }
    leati_queue_gate_lock(reader->gate);
}
