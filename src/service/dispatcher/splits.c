/* Leases on splits of the sources of an iteration (DYNAMIC): `splits`.
 *
 * Each source has a cursor, a number that is stored, so that restoring it costs the same whatever
 * was given out. A lease is noted under its task before it is given: who asks again for the same
 * place of a stream, because an answer was lost or a stream is given again by another worker, gets
 * the same splits. Leases are ranges, as long as the worker asks for, but never more than a fair
 * part of what is left, so that workers end together.
 * Repetitions as in TensorFlow: asking for an earlier one gives none, asking for the next one
 * begins it for everybody. Failures: NOT_FOUND for a task that is another worker's now. No locks.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include "service/dispatcher/parts.h"

enum { LONGEST_LEASE = 1 << 22 };

/* The task, its iteration and the number of splits of the provider (-1: endless). */
struct source {
    int64_t iteration, visitation, splits, sharers, draining, in_step;
};

static leat_status find_source(leati_core *core, const struct leati_message_splits *said,
                               struct source *out, leat_error *err) {
    leati_query query;
    leati_database_ask(
        core->database, &query,
        "SELECT t.iteration, j.visitation, json_extract(d.providers, '$[' || ? || ']'),"
        " (SELECT count(*) FROM tasks o WHERE o.iteration = t.iteration AND o.state = 0), w.state,"
        " json_extract(d.in_step, '$[' || ? || ']')"
        " FROM tasks t JOIN iterations i ON i.id = t.iteration JOIN jobs j ON j.id = i.job"
        " JOIN datasets d ON d.id = j.dataset JOIN workers w ON w.uid = t.worker"
        " WHERE t.id = ? AND t.attempt = ? AND t.state = 0 AND i.state = 0",
        "iiii", said->provider, said->provider, said->task, said->attempt);
    bool found = leati_database_next(&query);
    /* The column is null, which has no text, for a provider that there is not. */
    bool known = found && leati_database_text(&query, 2)[0] != '\0';
    if (found)
        *out = (struct source){
            .iteration = leati_database_int(&query, 0),
            .visitation = leati_database_int(&query, 1),
            .splits = leati_database_int(&query, 2),
            .sharers = leati_database_int(&query, 3),
            .draining = leati_database_int(&query, 4) != LEATI_WORKER_READY,
            .in_step = leati_database_int(&query, 5),
        };
    LEATI_TRY(leati_database_end(&query, err));
    if (!found)
        return leati_fail(err, LEAT_NOT_FOUND, "task %lld, attempt %lld, is not at work any more",
                          (long long)said->task, (long long)said->attempt);
    return known ? LEAT_OK
                 : leati_refuse(err, VALUE, "the dataset has no source number %lld",
                                (long long)said->provider);
}

/* What was given for this place of the stream before. */
static leat_status find_lease(leati_core *core, const struct leati_message_splits *said,
                              struct leati_message_lease *out, bool *found, leat_error *err) {
    leati_query query;
    leati_database_ask(core->database, &query,
                       "SELECT first, last FROM leases WHERE task = ? AND provider = ?"
                       " AND repetition = ? AND sequence = ?",
                       "iiii", said->task, said->provider, said->repetition, said->sequence);
    *found = leati_database_next(&query);
    if (*found) {
        *out = (struct leati_message_lease){.begin = leati_database_int(&query, 0),
                                            .end = leati_database_int(&query, 1)};
        out->none = out->begin == out->end;
    }
    return leati_database_end(&query, err);
}

/* The cursor of the source; one that nobody has moved stands at the beginning. */
static leat_status find_cursor(leati_core *core, int64_t iteration, int64_t provider,
                               int64_t *repetition, int64_t *next, leat_error *err) {
    leati_query query;
    *repetition = *next = 0;
    leati_database_ask(core->database, &query,
                       "SELECT repetition, next FROM providers WHERE iteration = ?"
                       " AND provider = ?",
                       "ii", iteration, provider);
    if (leati_database_next(&query)) {
        *repetition = leati_database_int(&query, 0);
        *next = leati_database_int(&query, 1);
    }
    return leati_database_end(&query, err);
}

/* How many splits a worker gets that wants `want`. */
static int64_t lease_length(const struct source *source, int64_t next, int64_t want) {
    int64_t length = LEATI_MIN(LEATI_MAX(want, 1), (int64_t)LONGEST_LEASE);
    if (source->in_step)
        length = 1;
    if (source->splits < 0)
        return LEATI_MIN(length, INT64_MAX - next);
    int64_t left = source->splits - next;
    int64_t fair = LEATI_MAX(left / (2 * LEATI_MAX(source->sharers, 1)), 1);
    return LEATI_MIN(LEATI_MIN(length, fair), left);
}

static leat_status note_lease(leati_core *core, const struct leati_message_splits *said,
                              const struct source *source, const struct leati_message_lease *lease,
                              leat_error *err) {
    /* Where streams are not given again, only the last lease can be asked for again. */
    if (source->visitation == LEAT_SERVICE_AT_MOST_ONCE)
        LEATI_TRY(leati_database_run(core->database, err,
                                     "DELETE FROM leases WHERE task = ? AND provider = ?", "ii",
                                     said->task, said->provider));
    LEATI_TRY(leati_database_run(
        core->database, err, "INSERT INTO leases VALUES (?, ?, ?, ?, ?, ?)", "iiiiii", said->task,
        said->provider, said->repetition, said->sequence, lease->begin, lease->end));
    return leati_database_run(core->database, err,
                              "INSERT OR REPLACE INTO providers VALUES (?, ?, ?, ?)", "iiii",
                              source->iteration, said->provider, said->repetition, lease->end);
}

static leat_status give(leati_core *core, const struct leati_message_splits *said,
                        struct leati_message_lease *out, leat_error *err) {
    struct source source = {0};
    bool found = false;
    int64_t repetition = 0, next = 0;
    LEATI_TRY(find_source(core, said, &source, err));
    LEATI_TRY(find_lease(core, said, out, &found, err));
    if (found)
        return LEAT_OK;
    LEATI_TRY(find_cursor(core, source.iteration, said->provider, &repetition, &next, err));
    *out = (struct leati_message_lease){.none = true};
    if (said->repetition < repetition)
        return LEAT_OK;
    /* A worker that drains begins nothing, no repetition either. */
    if (source.draining)
        return leati_database_run(core->database, err, "UPDATE tasks SET cut = 1 WHERE id = ?", "i",
                                  said->task);
    if (said->repetition > repetition)
        next = 0;
    int64_t length = lease_length(&source, next, said->want);
    if (length == 0 && said->repetition == repetition)
        return LEAT_OK;
    *out = (struct leati_message_lease){.begin = next, .end = next + length, .none = length == 0};
    return note_lease(core, said, &source, out, err);
}

leat_status leati_dispatcher_ask_splits(leati_core *core, leati_core_asked *asked,
                                        leat_error *err) {
    struct leati_message_splits said;
    struct leati_message_lease lease = {0};
    LEATI_TRY(leati_messages_read(&leati_message_splits, asked->bytes, asked->size, &said, err));
    leat_status status = give(core, &said, &lease, err);
    if (status == LEAT_OK)
        status = leati_messages_write(&leati_message_lease, &lease, &asked->out, err);
    leati_messages_fini(&leati_message_splits, &said);
    return status;
}
