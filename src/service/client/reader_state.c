/* What a reader's state is; see reader.h.
 *
 * Happy path: the state names the dispatcher's database and the iteration, and has for each task
 * the ranges of positions that the consumer took, and whether these are all that it gives. A reader
 * that goes on from it is told by the dispatcher which tasks of its iteration stand for them, and
 * counts what was taken of these before as taken by itself, so that its own states are whole.
 * Failures: UNIMPLEMENTED where no account is kept, DATA_LOSS for bytes that are no state. Locks:
 * the reader's gate. */
#include "base/alloc.h"
#include "base/error.h"
#include "service/client/reader_parts.h"
#include <string.h>

enum { MOST_RANGES = 1 << 28 };

/* ---- saving ---- */

static leat_status check_account(const leati_client_reader *reader, leat_error *err) {
    const char *name = reader->options.name;
    if (leati_client_reader_is_coordinated(reader))
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "%s: coordinated reads cannot be saved: a round whose worker is lost is "
                          "passed over, so that no state would say what comes; save elements that "
                          "were read, with save() or snapshot()",
                          name);
    if (reader->options.trainer != NULL)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "%s: a cross-trainer cache cannot be saved: its window moves on with all "
                          "trainers; read without cross_trainer_cache",
                          name);
    if (!leati_client_reader_keeps_account(reader))
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "%s: under at_most_once nobody keeps an account of what was given, so "
                          "that it cannot be saved; choose visitation exactly_once, or "
                          "at_least_once where the dataset is not deterministic",
                          name);
    return LEAT_OK;
}

static void put_holding(int64_t task, bool whole, const leati_ranges *ranges, leati_writer *out) {
    leati_put_int(out, task);
    leati_put_uint(out, whole);
    leati_put_uint(out, (uint64_t)ranges->count);
    for (int32_t i = 0; i < ranges->count; i++)
        leati_put_uint(out, (uint64_t)(ranges->values[i] - (i == 0 ? 0 : ranges->values[i - 1])));
}

/* Did the consumer take all that the task gives? */
static bool is_whole(const leati_client_reader_task *task) {
    int64_t until = 0;
    return task->total == 0 ||
           (task->total > 0 && leati_ranges_look(&task->taken, 0, &until) && until >= task->total);
}

/* Tasks of a reader that it went on from, which the dispatcher does not name to it: those that had
 * ended before. */
static void put_unlisted(leati_client_reader *reader, leati_writer *out, uint64_t *count) {
    const struct leati_message_holding *holding = reader->opened.holding.items;
    for (int64_t i = 0; i < reader->opened.holding.count; i++) {
        if (leati_client_reader_task_find(reader, holding[i].task) != NULL)
            continue;
        ++*count;
        if (out != NULL)
            put_holding(holding[i].task, holding[i].whole, &holding[i].ranges, out);
    }
}

leat_status leati_client_reader_save(leati_client_reader *reader, leati_writer *out,
                                     leat_error *err) {
    uint64_t count = 0, again = 0;
    const char *service = reader->control.version.service;
    LEATI_TRY(check_account(reader, err));
    leati_queue_gate_lock(reader->gate);
    reader->saved = true;
    leati_put_bytes(out, service == NULL ? "" : service, service == NULL ? 0 : strlen(service));
    leati_put_int(out, reader->opened.iteration);
    for (const leati_client_reader_task *task = reader->tasks; task != NULL; task = task->next)
        count++;
    put_unlisted(reader, NULL, &count);
    leati_put_uint(out, count);
    for (const leati_client_reader_task *task = reader->tasks; task != NULL; task = task->next)
        put_holding(task->place.task, is_whole(task), &task->taken, out);
    put_unlisted(reader, out, &again);
    leati_queue_gate_unlock(reader->gate);
    return LEAT_OK;
}

/* ---- going on ---- */

static leat_status damaged(leat_error *err) {
    return leati_fail(err, LEAT_DATA_LOSS,
                      "the state of a data service holds no list of tasks where one is expected");
}

static leat_status get_ranges(leati_reader *in, leati_ranges *out, leat_error *err) {
    uint64_t count = 0, step = 0;
    LEATI_TRY(leati_get_uint(in, &count, err));
    /* Each number takes a byte at least. */
    if (count > in->size - in->at || count > MOST_RANGES || count % 2 != 0)
        return damaged(err);
    out->values = leati_alloc((size_t)count, sizeof *out->values);
    if (out->values == NULL)
        return leati_no_memory(err);
    for (uint64_t i = 0, at = 0; i < count; i++) {
        LEATI_TRY(leati_get_uint(in, &step, err));
        if (step > (uint64_t)INT64_MAX - at)
            return damaged(err);
        at += step;
        out->values[out->count++] = (int64_t)at;
    }
    return leati_ranges_are_valid(out) ? LEAT_OK : damaged(err);
}

static leat_status get_holding(leati_reader *in, leati_messages *list, leat_error *err) {
    uint64_t whole = 0;
    struct leati_message_holding *holding = leati_messages_add(list, &leati_message_holding, err);
    if (holding == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    LEATI_TRY(leati_get_int(in, &holding->task, err));
    LEATI_TRY(leati_get_uint(in, &whole, err));
    if (holding->task < 0 || whole > 1)
        return damaged(err);
    holding->whole = whole != 0;
    return get_ranges(in, &holding->ranges, err);
}

static leat_status get_state(leati_reader *in, struct leati_message_restore *out, leat_error *err) {
    const void *service = NULL;
    size_t size = 0;
    uint64_t count = 0;
    LEATI_TRY(leati_get_bytes(in, &service, &size, err));
    out->service = leati_strndup(service, size);
    if (out->service == NULL)
        return leati_no_memory(err);
    LEATI_TRY(leati_get_int(in, &out->iteration, err));
    LEATI_TRY(leati_get_uint(in, &count, err));
    if (out->iteration < 0 || count > in->size - in->at)
        return damaged(err);
    for (uint64_t i = 0; i < count; i++)
        LEATI_TRY(get_holding(in, &out->holding, err));
    return LEAT_OK;
}

leat_status leati_client_reader_saved(leati_reader *in, struct leati_message_restore *out,
                                      leat_error *err) {
    *out = (struct leati_message_restore){0};
    leat_status status = get_state(in, out, err);
    if (status != LEAT_OK)
        leati_messages_fini(&leati_message_restore, out);
    return status;
}

leat_status leati_client_reader_task_begin(leati_client_reader_task *task, leat_error *err) {
    const leati_client_reader *reader = task->reader;
    const struct leati_message_holding *holding = reader->opened.holding.items;
    for (int64_t i = 0; i < reader->opened.holding.count; i++)
        if (holding[i].task == task->place.task)
            return leati_ranges_copy(&holding[i].ranges, &task->taken, err);
    return LEAT_OK;
}

const char *leati_client_reader_job(const leati_client_reader *reader) {
    return reader->opened.job_name != NULL ? reader->opened.job_name : reader->options.job_name;
}
