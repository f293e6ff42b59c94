/* Datasets that the dispatcher knows: `register_dataset` and `get_dataset`.
 *
 * A dataset with an id that was asked for is the one that has the id already if its content is the
 * same; one without is the newest of those with the same content, or a new one. Failures:
 * INVALID_ARGUMENT where another dataset has the id, NOT_FOUND. No locks. */
#include "base/error.h"
#include "base/text.h"
#include "service/dispatcher/parts.h"
#include <stdio.h>
#include <string.h>

static leat_status answer_id(leati_core_asked *asked, const char *id, leat_error *err) {
    struct leati_message_dataset_id answer = {.dataset_id = (char *)(uintptr_t)id};
    return leati_messages_write(&leati_message_dataset_id, &answer, &asked->out, err);
}

/* What is there under the id that is asked for: *found, or a refusal. */
static leat_status check_same(leati_core *core, const struct leati_message_dataset *said,
                              bool *found, leat_error *err) {
    leati_query query;
    leati_database_ask(core->database, &query,
                       "SELECT spec, compression, cardinality, identity FROM datasets WHERE id = ?",
                       "t", said->dataset_id);
    *found = leati_database_next(&query);
    leat_status status = LEAT_OK;
    const char *spec = said->spec == NULL ? "" : said->spec;
    if (*found && strcmp(leati_database_text(&query, 0), spec) != 0)
        status =
            leati_refuse(err, STRUCTURE,
                         "Datasets with the same ID should have the same structure: id \"%s\" is "
                         "taken by one of elements %.300s; this one has %.300s",
                         said->dataset_id, leati_database_text(&query, 0), spec);
    else if (*found && leati_database_int(&query, 1) != said->compression)
        status =
            leati_refuse(err, VALUE,
                         "Datasets with the same ID should have the same structure: id \"%s\" is "
                         "taken by one of another compression",
                         said->dataset_id);
    else if (*found && leati_database_int(&query, 2) != said->cardinality)
        status =
            leati_refuse(err, VALUE,
                         "Datasets with the same ID should have the same structure: id \"%s\" is "
                         "taken by one of cardinality %lld; this one has %lld",
                         said->dataset_id, (long long)leati_database_int(&query, 2),
                         (long long)said->cardinality);
    leat_status ended = leati_database_end(&query, status == LEAT_OK ? err : &(leat_error){0});
    return status == LEAT_OK ? ended : status;
}

static leat_status insert(leati_core *core, const struct leati_message_dataset *said,
                          const char *id, leat_error *err) {
    leati_text providers = {0}, in_step = {0};
    leat_status status = leati_dispatcher_ints_text(&said->providers, &providers, err);
    if (status == LEAT_OK)
        status = leati_dispatcher_ints_text(&said->in_step, &in_step, err);
    if (status == LEAT_OK)
        status = leati_database_run(
            core->database, err,
            "INSERT INTO datasets (id, identity, plan, spec, cardinality, compression,"
            " deterministic, why_not, providers, in_step, unsplittable)"
            " VALUES (?,?,?,?,?,?,?,?,?,?,?)",
            "ttttiiitttt", id, said->identity, said->plan, said->spec, said->cardinality,
            said->compression, (int64_t)said->deterministic, said->why_not, providers.data,
            in_step.data, said->unsplittable);
    leati_text_fini(&providers);
    leati_text_fini(&in_step);
    return status;
}

/* Equal datasets are one: `id` gets the id of one of the same content, "" where there is none. One
 * with an id that was asked for stands for itself. */
static leat_status find_same(leati_core *core, const struct leati_message_dataset *said, char *id,
                             size_t size, leat_error *err) {
    id[0] = '\0';
    if (said->identity == NULL)
        return LEAT_OK;
    leati_query query;
    leati_database_ask(core->database, &query,
                       "SELECT id FROM datasets WHERE identity = ? AND spec = ? AND compression = ?"
                       " AND id NOT GLOB '*[^0-9]*' ORDER BY number DESC LIMIT 1",
                       "tti", said->identity, said->spec, said->compression);
    if (leati_database_next(&query))
        (void)snprintf(id, size, "%s", leati_database_text(&query, 0));
    return leati_database_end(&query, err);
}

/* A number from 1000 on, as in TensorFlow, that nobody has asked for as a name. */
static leat_status free_id(leati_core *core, char *id, size_t size, leat_error *err) {
    int64_t number = 0, taken = 1;
    LEATI_TRY(leati_database_number(core->database, 0, &number, err,
                                    "SELECT 1000 + count(*) FROM datasets", ""));
    for (; taken > 0; number++) {
        (void)snprintf(id, size, "%lld", (long long)number);
        LEATI_TRY(leati_database_number(core->database, 0, &taken, err,
                                        "SELECT count(*) FROM datasets WHERE id = ?", "t", id));
    }
    return LEAT_OK;
}

static leat_status add(leati_core *core, leati_core_asked *asked,
                       const struct leati_message_dataset *said, leat_error *err) {
    bool found = false;
    if (said->dataset_id != NULL) {
        LEATI_TRY(check_same(core, said, &found, err));
        if (!found)
            LEATI_TRY(insert(core, said, said->dataset_id, err));
        return answer_id(asked, said->dataset_id, err);
    }
    char id[128];
    LEATI_TRY(find_same(core, said, id, sizeof id, err));
    if (id[0] == '\0') {
        LEATI_TRY(free_id(core, id, sizeof id, err));
        LEATI_TRY(insert(core, said, id, err));
    }
    return answer_id(asked, id, err);
}

leat_status leati_dispatcher_ask_register(leati_core *core, leati_core_asked *asked,
                                          leat_error *err) {
    struct leati_message_dataset said;
    LEATI_TRY(leati_messages_read(&leati_message_dataset, asked->bytes, asked->size, &said, err));
    leat_status status = said.plan == NULL || said.spec == NULL
                             ? leati_refuse(err, VALUE, "a dataset without a plan or a spec")
                             : add(core, asked, &said, err);
    leati_messages_fini(&leati_message_dataset, &said);
    return status;
}

/* ---- asking for one ---- */

leat_status leati_dispatcher_unknown_dataset(const char *id, leat_error *err) {
    return leati_fail(err, LEAT_NOT_FOUND,
                      "Dataset id %.100s not found. The dispatcher knows no dataset of that id; "
                      "register it first (register_dataset)",
                      id == NULL ? "" : id);
}

static leat_status read_row(const leati_query *query, struct leati_message_dataset *out,
                            leat_error *err) {
    char **const texts[] = {&out->plan, &out->spec, &out->identity, &out->why_not,
                            &out->unsplittable};
    for (int i = 0; i < 5; i++) {
        const char *text = leati_database_text(query, i);
        LEATI_TRY(leati_messages_set_text(texts[i], text[0] == '\0' ? NULL : text, err));
    }
    out->cardinality = leati_database_int(query, 5);
    out->compression = leati_database_int(query, 6);
    out->deterministic = leati_database_int(query, 7) != 0;
    return leati_dispatcher_ints_of(leati_database_text(query, 8), &out->providers, err);
}

static leat_status find(leati_core *core, const char *id, struct leati_message_dataset *out,
                        leat_error *err) {
    leati_query query;
    leati_database_ask(core->database, &query,
                       "SELECT plan, spec, identity, why_not, unsplittable, cardinality,"
                       " compression, deterministic, providers FROM datasets WHERE id = ?",
                       "t", id);
    leat_status status = LEAT_OK;
    if (leati_database_next(&query))
        status = read_row(&query, out, err);
    else if (leati_database_end(&query, err) == LEAT_OK)
        return leati_dispatcher_unknown_dataset(id, err);
    leat_status ended = leati_database_end(&query, status == LEAT_OK ? err : &(leat_error){0});
    return status == LEAT_OK ? ended : status;
}

leat_status leati_dispatcher_ask_dataset(leati_core *core, leati_core_asked *asked,
                                         leat_error *err) {
    struct leati_message_dataset_id said;
    struct leati_message_dataset answer = {0};
    LEATI_TRY(
        leati_messages_read(&leati_message_dataset_id, asked->bytes, asked->size, &said, err));
    leat_status status = find(core, said.dataset_id, &answer, err);
    if (status == LEAT_OK)
        status = leati_messages_set_text(&answer.dataset_id, said.dataset_id, err);
    if (status == LEAT_OK && said.brief)
        status = leati_messages_set_text(&answer.plan, NULL, err);
    if (status == LEAT_OK)
        status = leati_messages_write(&leati_message_dataset, &answer, &asked->out, err);
    leati_messages_fini(&leati_message_dataset, &answer);
    leati_messages_fini(&leati_message_dataset_id, &said);
    return status;
}
