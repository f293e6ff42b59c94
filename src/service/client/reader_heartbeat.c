/* The heart of a reader: what it tells the dispatcher, and what it hears; see reader_parts.h.
 *
 * Happy path: each call `client` says which tasks the reader knows and how it fares, and is
 * answered when something is new, or after the longest wait. A dispatcher that cannot be reached is
 * asked again and again, silently for five seconds, while workers are read all the same. Failures:
 * what the dispatcher refuses (it does not know the client any more) ends the iteration. Locks: the
 * reader's gate, not while it asks. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/minmax.h"
#include "service/client/reader_parts.h"
#include <string.h>

enum {
    ANSWER_MS = 20 * 1000, /* beyond the wait that was asked for: then the call counts as lost */
    QUIET_NS_OF_SECOND = 1000 * 1000 * 1000,
    QUIET_SECONDS = 5,
    CLOSE_MS = 2000 /* for which a stream that is to stop is waited for before it is told of */
};

/* ---- what it says ---- */

/* Those that it reads. One that is reported is none of them: where it did not move after all, as
 * the dispatcher could not write that or ended before, the dispatcher names it again. */
static leat_status list_tasks(const leati_client_reader *reader, leati_ints *out, leat_error *err) {
    size_t count = 0, capacity = 0;
    bool turns = leati_client_reader_is_coordinated(reader);
    for (const leati_client_reader_task *task = reader->tasks; task != NULL; task = task->next) {
        if (task->unlisted_ns != 0 || (task->reporting && !turns))
            continue;
        if (!leati_grow((void **)&out->values, &capacity, count + 2, sizeof(int64_t)))
            return leati_no_memory(err);
        out->values[count++] = task->place.task;
        out->values[count++] = task->place.attempt;
        out->count = (int32_t)count;
    }
    return LEAT_OK;
}

/* Answers what was asked: the positions that are here, of tasks that are read no more. */
static leat_status add_holdings(leati_client_reader *reader, leati_messages *out, leat_error *err) {
    for (int32_t i = 0; i < reader->reports.count; i++) {
        struct leati_message_holding *holding =
            leati_messages_add(out, &leati_message_holding, err);
        if (holding == NULL)
            return err->code;
        holding->task = reader->reports.values[i];
        const leati_client_reader_task *task = leati_client_reader_task_find(reader, holding->task);
        if (task == NULL)
            continue;
        holding->attempt = task->attempt;
        holding->turns = task->came;
        LEATI_TRY(leati_ranges_copy(&task->held, &holding->ranges, err));
    }
    return LEAT_OK;
}

static bool is_settled(const leati_client_reader_task *task) {
    return task->place.lost && task->place.turns >= 0;
}

/* Of which the log has said that nothing comes, and to whose worker there is no way now. */
static bool is_unreached(const leati_client_reader_task *task) {
    return task->warned && !task->some_came && task->state == LEATI_CLIENT_IDLE && !task->ended &&
           !task->place.lost && task->unlisted_ns == 0;
}

static leat_status list_those(const leati_client_reader *reader,
                              bool (*is)(const leati_client_reader_task *task), leati_ints *out,
                              leat_error *err) {
    size_t capacity = 0;
    for (const leati_client_reader_task *task = reader->tasks; task != NULL; task = task->next) {
        if (!is(task))
            continue;
        if (!leati_grow((void **)&out->values, &capacity, (size_t)out->count + 1, sizeof(int64_t)))
            return leati_no_memory(err);
        out->values[out->count++] = task->place.task;
    }
    return LEAT_OK;
}

/* Counts a stream that comes by `transfer`. */
static leat_status add_way(const char *transfer, leati_messages *out, leat_error *err) {
    struct leati_message_way *way = NULL, *ways = out->items;
    for (int64_t i = 0; way == NULL && i < out->count; i++)
        way = strcmp(ways[i].transfer, transfer) == 0 ? &ways[i] : NULL;
    if (way == NULL) {
        way = leati_messages_add(out, &leati_message_way, err);
        if (way == NULL)
            return err->code;
        LEATI_TRY(leati_messages_set_text(&way->transfer, transfer, err));
    }
    way->streams++;
    return LEAT_OK;
}

/* By which transfers it reads now. */
static leat_status add_ways(const leati_client_reader *reader, leati_messages *out,
                            leat_error *err) {
    for (const leati_client_reader_task *task = reader->tasks; task != NULL; task = task->next)
        if (task->state == LEATI_CLIENT_READING)
            LEATI_TRY(add_way(task->way, out, err));
    return LEAT_OK;
}

/* How the program fares since the last time. */
static void add_figures(leati_client_reader *reader, struct leati_message_client *out) {
    int64_t now = leati_now_ns(), spent = now - reader->told_ns;
    int64_t waited = reader->waited_ns - reader->told_waited_ns;
    int64_t taken = reader->taken - reader->told_taken;
    out->elements = reader->taken;
    out->buffered = reader->buffered;
    out->stall = spent <= 0 ? 0 : LEATI_MIN(1.0, (double)waited / (double)spent);
    out->element_ns = taken == 0 ? 0 : LEATI_MAX(0, spent - waited) / taken;
    reader->told_ns = now;
    reader->told_waited_ns = reader->waited_ns;
    reader->told_taken = reader->taken;
}

/* Waits until no stream of a task that is to be reported is open any more. Coordinated reads answer
 * at once: from when they were asked on, nothing comes to them. The lock is held. */
static void wait_for_reported(leati_client_reader *reader) {
    int64_t until = leati_clock_deadline_ns(CLOSE_MS);
    leat_status status = LEAT_OK;
    bool asked = reader->reports.count > 0 && !leati_client_reader_is_coordinated(reader);
    for (bool open = asked; open && status == LEAT_OK && !reader->stop;) {
        open = false;
        for (const leati_client_reader_task *task = reader->tasks; task != NULL; task = task->next)
            open = open || (task->reporting && task->state != LEATI_CLIENT_IDLE);
        if (open)
            status =
                leati_queue_gate_wait(reader->gate, LEATI_WAIT_PEER, until, NULL, &(leat_error){0});
    }
}

static leat_status write_beat(leati_client_reader *reader, struct leati_message_client *out,
                              leat_error *err) {
    leati_queue_gate_lock(reader->gate);
    wait_for_reported(reader);
    *out = (struct leati_message_client){
        .client = reader->opened.client, .round = reader->round, .agreed = reader->agreed};
    out->wait_ms = !reader->known                   ? 0
                   : reader->options.refresh_ms > 0 ? reader->options.refresh_ms
                                                    : LEATI_SERVICE_WAIT_MS;
    leat_status status = list_tasks(reader, &out->tasks, err);
    if (status == LEAT_OK)
        status = list_those(reader, is_settled, &out->settled, err);
    if (status == LEAT_OK)
        status = list_those(reader, is_unreached, &out->unreached, err);
    if (status == LEAT_OK)
        status = add_holdings(reader, &out->holding, err);
    if (status == LEAT_OK)
        status = add_ways(reader, &out->ways, err);
    add_figures(reader, out);
    leati_queue_gate_unlock(reader->gate);
    return status;
}

/* ---- what it hears ---- */

static void note_reports(leati_client_reader *reader, struct leati_message_client_answer *answer) {
    reader->reports = answer->report;
    answer->report = (leati_ints){0};
    for (int32_t i = 0; i < reader->reports.count; i++) {
        leati_client_reader_task *task =
            leati_client_reader_task_find(reader, reader->reports.values[i]);
        if (task != NULL)
            task->reporting = true;
    }
}

/* New tasks begin at a round that all consumers must still have before them. */
static void note_proposal(leati_client_reader *reader, int64_t propose) {
    reader->proposed = propose;
    reader->agreed = propose >= 0 && reader->round <= propose ? propose : -1;
}

/* Nothing comes any more but what is here. */
static void note_failure(leati_client_reader *reader,
                         const struct leati_message_client_answer *answer) {
    leat_error why = {0};
    leati_messages_failure(answer->failed, answer->why, &why);
    reader->finished = true;
    leati_client_reader_fail(reader, &why);
}

static leat_status hear(leati_client_reader *reader, struct leati_message_client_answer *answer,
                        leat_error *err) {
    leat_status status = LEAT_OK;
    leati_queue_gate_lock(reader->gate);
    /* What was asked before was answered by this call. */
    leati_free(reader->reports.values);
    reader->reports = (leati_ints){0};
    if (!answer->same) {
        status = leati_client_reader_tasks_update(reader, &answer->tasks, err);
        reader->colocated = answer->colocated;
        reader->finished = reader->finished || answer->finished;
        note_reports(reader, answer);
        note_proposal(reader, answer->propose);
        if (answer->failed != 0)
            note_failure(reader, answer);
        leati_client_reader_tasks_choose(reader);
    }
    reader->known = true;
    leati_queue_gate_wake(reader->gate);
    leati_queue_gate_unlock(reader->gate);
    for (int32_t i = 0; i < answer->lost.count; i++)
        leati_log(LEAT_LOG_WARNING, "%s: %.*s", reader->options.name,
                  (int)answer->lost.values[i].size, (const char *)answer->lost.values[i].data);
    return status;
}

/* ---- asking ---- */

static leat_status beat_once(leati_client_reader *reader, leat_error *err) {
    struct leati_message_client said = {0};
    struct leati_message_client_answer answer = {0};
    leat_status status = write_beat(reader, &said, err);
    if (status == LEAT_OK)
        status = leati_control_call(&reader->control, "client", &leati_message_client, &said,
                                    &leati_message_client_answer, &answer,
                                    leati_clock_deadline_ns(said.wait_ms + ANSWER_MS), err);
    leati_messages_fini(&leati_message_client, &said);
    if (status == LEAT_OK)
        status = hear(reader, &answer, err);
    leati_messages_fini(&leati_message_client_answer, &answer);
    return status;
}

static bool stops(leati_client_reader *reader) {
    leati_queue_gate_lock(reader->gate);
    /* Who finished hears no more. */
    bool stop = reader->stop || reader->finished;
    leati_queue_gate_unlock(reader->gate);
    return stop || leati_cancel_fired(reader->cancel);
}

static void end(leati_client_reader *reader, const leat_error *why) {
    leati_queue_gate_lock(reader->gate);
    if (!reader->stop)
        leati_client_reader_fail(reader, why);
    leati_queue_gate_wake(reader->gate);
    leati_queue_gate_unlock(reader->gate);
}

void leati_client_reader_beat(void *context) {
    leati_client_reader *reader = context;
    int64_t away_ns = 0;
    bool told = false;
    for (int attempt = 0; !stops(reader);) {
        leat_error err = {0};
        leat_status status = beat_once(reader, &err);
        if (status == LEAT_OK) {
            attempt = 0;
            away_ns = 0;
            if (told)
                leati_log(LEAT_LOG_INFO, "%s: the dispatcher at %s is there again",
                          reader->options.name, reader->control.service);
            told = false;
        } else if (leati_control_is_away(status)) {
            away_ns = away_ns == 0 ? leati_now_ns() : away_ns;
            bool loud = leati_now_ns() - away_ns >= (int64_t)QUIET_SECONDS * QUIET_NS_OF_SECOND;
            if (loud && !told)
                leati_log(LEAT_LOG_WARNING,
                          "%s: the dispatcher at %s is not reached (%s); workers are read on",
                          reader->options.name, reader->control.service, leat_error_message(&err));
            told = told || loud;
            if (leati_control_pause(reader->cancel, attempt++, LEATI_NO_DEADLINE, &err) != LEAT_OK)
                break;
        } else {
            if (status != LEAT_CANCELLED || !leati_cancel_fired(reader->cancel))
                end(reader, &err);
            break;
        }
    }
}
