/* Jobs, their iterations, and the clients that join them: `open_iteration` and `release`.
 *
 * Everybody who opens the same repetition of a job of one name reads one iteration. Failures:
 * INVALID_ARGUMENT where a job of that name is another one, or its arguments do not go together;
 * NOT_FOUND for a dataset that is not known; UNIMPLEMENTED where its sources cannot be split. No
 * locks. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "service/dispatcher/parts.h"
#include <stdio.h>
#include <string.h>

/* What the dispatcher must know of a dataset to open a job over it. */
struct dataset {
    int64_t cardinality, deterministic;
    char why_not[512], unsplittable[512];
};

static leat_status find_dataset(leati_core *core, const char *id, struct dataset *out,
                                leat_error *err) {
    leati_query query;
    leati_database_ask(core->database, &query,
                       "SELECT cardinality, deterministic, why_not, unsplittable FROM datasets"
                       " WHERE id = ?",
                       "t", id);
    bool found = leati_database_next(&query);
    if (found) {
        out->cardinality = leati_database_int(&query, 0);
        out->deterministic = leati_database_int(&query, 1);
        (void)snprintf(out->why_not, sizeof out->why_not, "%s", leati_database_text(&query, 2));
        (void)snprintf(out->unsplittable, sizeof out->unsplittable, "%s",
                       leati_database_text(&query, 3));
    }
    LEATI_TRY(leati_database_end(&query, err));
    return found ? LEAT_OK : leati_dispatcher_unknown_dataset(id, err);
}

static bool is_static(int64_t policy) {
    return policy >= LEAT_SERVICE_FILE;
}

static leat_status check_cached(const struct leati_message_open *said,
                                const struct dataset *dataset, leat_error *err) {
    if (said->consumers > 0)
        return leati_refuse(err, VALUE,
                            "Cross-trainer caching does not support coordinated reads. Leave out "
                            "num_consumers or cross_trainer_cache");
    if (dataset->cardinality != LEAT_INFINITE_CARDINALITY)
        return leati_refuse(
            err, VALUE,
            "Cross-trainer caching requires the input dataset to be infinite. This one "
            "has cardinality %lld: add repeat()",
            (long long)dataset->cardinality);
    if (said->repetition > 0)
        return leati_refuse(
            err, VALUE,
            "Cross-trainer caching requires infinite datasets and disallows multiple "
            "repetitions of the same dataset. This is repetition %lld: put "
            "repeat() below distribute",
            (long long)said->repetition);
    return LEAT_OK;
}

static leat_status check(const leati_core *core, const struct leati_message_open *said,
                         const struct dataset *dataset, leat_error *err) {
    if (said->policy > LEAT_SERVICE_HINT)
        return leati_refuse(err, VALUE, "processing_mode is %lld; expected 0 to %d",
                            (long long)said->policy, (int)LEAT_SERVICE_HINT);
    if (said->visitation > LEAT_SERVICE_EXACTLY_ONCE)
        return leati_refuse(err, VALUE, "visitation is %lld; expected 0 to %d",
                            (long long)said->visitation, (int)LEAT_SERVICE_EXACTLY_ONCE);
    if (said->consumers > 0 && (said->consumer < 0 || said->consumer >= said->consumers))
        return leati_refuse(err, VALUE, "consumer_index is %lld; expected 0 to %lld",
                            (long long)said->consumer, (long long)said->consumers - 1);
    if (said->visitation == LEAT_SERVICE_EXACTLY_ONCE && !dataset->deterministic)
        return leati_refuse(err, VALUE,
                            "exactly_once needs a dataset that gives the same again: %s; mend "
                            "that, or ask for at_least_once",
                            dataset->why_not);
    if (said->policy == LEAT_SERVICE_DYNAMIC && dataset->unsplittable[0] != '\0')
        return leati_fail(err, LEAT_UNIMPLEMENTED, "%s", dataset->unsplittable);
    if (is_static(said->policy) && core->options.num_worker_addresses == 0)
        return leati_fail(err, LEAT_NOT_FOUND,
                          "static sharding deals shares out to a list of workers, and a Worker of "
                          "any address is not in the workers list. Start the dispatcher with "
                          "worker_addresses, or use DYNAMIC");
    if (said->target_workers > LEAT_SERVICE_TARGET_LOCAL)
        return leati_refuse(err, VALUE, "target_workers is %lld; expected 0 to %d",
                            (long long)said->target_workers, (int)LEAT_SERVICE_TARGET_LOCAL);
    return said->cached ? check_cached(said, dataset, err) : LEAT_OK;
}

/* ---- jobs ---- */

static leat_status differs(const char *name, const char *what, const char *here, const char *said,
                           leat_error *err) {
    return leati_refuse(err, VALUE,
                        "Tried to create job with name %.100s, but found an existing job with "
                        "different parameters: Existing %s: <%s>; got <%s>; give it another "
                        "job_name",
                        name, what, here, said);
}

/* One of the names of a parameter's values, or the value itself where it has no names. */
static leat_status compare(const char *name, const char *what, const char *const *names,
                           int64_t here, int64_t said, leat_error *err) {
    char texts[2][24];
    if (here == said)
        return LEAT_OK;
    (void)snprintf(texts[0], sizeof texts[0], "%lld", (long long)here);
    (void)snprintf(texts[1], sizeof texts[1], "%lld", (long long)said);
    return differs(name, what, names != NULL ? names[here] : texts[0],
                   names != NULL ? names[said] : texts[1], err);
}

/* The part of a dataset's identity that seeds are not in; NULL: it has none. */
static const char *without_seeds(const char *identity) {
    return strchr(identity, ' ');
}

/* Clients of one job register one dataset each: are they the same? */
static leat_status same_dataset(leati_core *core, const struct leati_message_open *said,
                                const char *here, leat_error *err) {
    leati_query query;
    if (strcmp(here, said->dataset_id) == 0)
        return LEAT_OK;
    leati_database_ask(core->database, &query,
                       "SELECT a.identity, b.identity, a.spec = b.spec, a.compression, "
                       "b.compression FROM datasets a, datasets b WHERE a.id = ? AND b.id = ?",
                       "tt", here, said->dataset_id);
    leat_status status = LEAT_OK;
    if (leati_database_next(&query)) {
        const char *first = without_seeds(leati_database_text(&query, 0));
        const char *second = without_seeds(leati_database_text(&query, 1));
        bool packed = leati_database_int(&query, 3) == leati_database_int(&query, 4);
        if (!packed || leati_database_int(&query, 2) == 0)
            status = differs(said->job_name, "dataset", here, said->dataset_id, err);
        if (status != LEAT_OK)
            status =
                leati_prefix(err, "Data type mismatch in %s", packed ? "elements" : "compression");
        else if (first == NULL || second == NULL || strcmp(first, second) != 0)
            status = differs(said->job_name, "dataset", here, said->dataset_id, err);
    }
    leat_status ended = leati_database_end(&query, status == LEAT_OK ? err : &(leat_error){0});
    return status == LEAT_OK ? ended : status;
}

static leat_status same_job(const leati_query *query, const struct leati_message_open *said,
                            leat_error *err) {
    static const char *const modes[] = {"OFF", "DYNAMIC", "FILE", "DATA", "FILE_OR_DATA", "HINT"};
    static const char *const levels[] = {"at_most_once", "at_least_once", "exactly_once"};
    static const char *const targets[] = {"AUTO", "ANY", "LOCAL"};
    static const char *const enabled[] = {"disabled", "enabled"};
    const char *name = said->job_name;
    LEATI_TRY(
        compare(name, "processing mode", modes, leati_database_int(query, 1), said->policy, err));
    LEATI_TRY(
        compare(name, "visitation", levels, leati_database_int(query, 2), said->visitation, err));
    LEATI_TRY(compare(name, "number of consumers", NULL, leati_database_int(query, 3),
                      said->consumers, err));
    LEATI_TRY(compare(name, "target workers", targets, leati_database_int(query, 4),
                      said->target_workers, err));
    return compare(name, "cross-trainer cache", enabled, leati_database_int(query, 5), said->cached,
                   err);
}

/* 0: there is none. */
static leat_status find_job(leati_core *core, const struct leati_message_open *said, int64_t *out,
                            leat_error *err) {
    leati_query query;
    *out = 0;
    leati_database_ask(core->database, &query,
                       "SELECT id, policy, visitation, consumers, targets, cached, dataset"
                       " FROM jobs WHERE name = ? AND open = 1",
                       "t", said->job_name);
    leat_status status = LEAT_OK;
    if (leati_database_next(&query)) {
        *out = leati_database_int(&query, 0);
        status = same_job(&query, said, err);
        if (status == LEAT_OK)
            status = same_dataset(core, said, leati_database_text(&query, 6), err);
    }
    leat_status ended = leati_database_end(&query, status == LEAT_OK ? err : &(leat_error){0});
    return status == LEAT_OK ? ended : status;
}

static leat_status make_job(leati_core *core, const struct leati_message_open *said, int64_t *out,
                            leat_error *err) {
    LEATI_TRY(leati_dispatcher_new_id(core, out, err));
    return leati_database_run(
        core->database, err, "INSERT INTO jobs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1)", "ittiiiiii",
        *out, said->job_name, said->dataset_id, said->policy, said->visitation, said->consumers,
        said->target_workers, (int64_t)said->cached, (int64_t)said->alone);
}

leat_status leati_dispatcher_iteration_of(leati_core *core, int64_t job, int64_t repetition,
                                          int64_t *out, leat_error *err) {
    LEATI_TRY(leati_database_number(
        core->database, 0, out, err,
        "SELECT id FROM iterations WHERE job = ? AND repetition = ? AND state < 2", "ii", job,
        repetition));
    if (*out != 0)
        return LEAT_OK;
    LEATI_TRY(leati_dispatcher_new_id(core, out, err));
    return leati_database_run(core->database, err,
                              "INSERT INTO iterations VALUES (?, ?, ?, 0, 0, 0, NULL)", "iii", *out,
                              job, repetition);
}

/* ---- clients ---- */

leat_status leati_dispatcher_client_again(leati_core *core, const char *uid,
                                          struct leati_message_opened *out, leat_error *err) {
    leati_query query;
    leati_database_ask(core->database, &query,
                       "SELECT c.id, c.iteration, i.job FROM clients c"
                       " JOIN iterations i ON i.id = c.iteration WHERE c.uid = ?",
                       "t", uid);
    if (leati_database_next(&query))
        *out = (struct leati_message_opened){.client = leati_database_int(&query, 0),
                                             .iteration = leati_database_int(&query, 1),
                                             .job = leati_database_int(&query, 2)};
    return leati_database_end(&query, err);
}

leat_status leati_dispatcher_client_add(leati_core *core, const leati_core_asked *asked,
                                        const char *uid, int64_t consumer,
                                        struct leati_message_opened *out, leat_error *err) {
    LEATI_TRY(leati_dispatcher_new_id(core, &out->client, err));
    LEATI_TRY(leati_database_run(core->database, err, "INSERT INTO clients VALUES (?, ?, ?, ?, 0)",
                                 "itii", out->client, uid, out->iteration, consumer));
    leati_core_client *client =
        leati_dispatcher_client_note(core, out->client, out->iteration, consumer, err);
    if (client == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    (void)snprintf(client->peer, sizeof client->peer, "%s", asked->peer);
    core->changed = true;
    return LEAT_OK;
}

static leat_status open_iteration(leati_core *core, leati_core_asked *asked,
                                  const struct leati_message_open *said, leat_error *err) {
    struct leati_message_opened opened = {0};
    struct dataset dataset = {0};
    if (said->client == NULL || said->dataset_id == NULL || said->job_name == NULL)
        return leati_refuse(err, VALUE,
                            "open_iteration: client, dataset_id or job_name is missing");
    LEATI_TRY(leati_dispatcher_client_again(core, said->client, &opened, err));
    if (opened.client != 0)
        return leati_messages_write(&leati_message_opened, &opened, &asked->out, err);
    LEATI_TRY(find_dataset(core, said->dataset_id, &dataset, err));
    LEATI_TRY(check(core, said, &dataset, err));
    LEATI_TRY(find_job(core, said, &opened.job, err));
    if (opened.job == 0)
        LEATI_TRY(make_job(core, said, &opened.job, err));
    LEATI_TRY(
        leati_dispatcher_iteration_of(core, opened.job, said->repetition, &opened.iteration, err));
    LEATI_TRY(leati_dispatcher_assign(core, opened.iteration, err));
    LEATI_TRY(leati_dispatcher_client_add(core, asked, said->client, said->consumer, &opened, err));
    return leati_messages_write(&leati_message_opened, &opened, &asked->out, err);
}

leat_status leati_dispatcher_ask_open(leati_core *core, leati_core_asked *asked, leat_error *err) {
    struct leati_message_open said;
    LEATI_TRY(leati_messages_read(&leati_message_open, asked->bytes, asked->size, &said, err));
    leat_status status = open_iteration(core, asked, &said, err);
    leati_messages_fini(&leati_message_open, &said);
    return status;
}

leat_status leati_dispatcher_ask_release(leati_core *core, leati_core_asked *asked,
                                         leat_error *err) {
    struct leati_message_release said;
    LEATI_TRY(leati_messages_read(&leati_message_release, asked->bytes, asked->size, &said, err));
    LEATI_TRY(leati_database_run(core->database, err,
                                 "UPDATE clients SET state = 1 WHERE id = ? AND state = 0", "i",
                                 said.client));
    leati_core_client *client = leati_dispatcher_client_find(core, said.client);
    if (client != NULL) {
        leati_dispatcher_count_client(core, client, said.elements);
        LEATI_TRY(leati_dispatcher_client_took(core, client, said.elements, err));
        LEATI_TRY(leati_dispatcher_iteration_left(core, client->iteration, said.unused, err));
        leati_dispatcher_client_forget(core, client);
    }
    core->assigns = true;
    leati_text_add(&asked->out, "{}", 2);
    return LEAT_OK;
}
