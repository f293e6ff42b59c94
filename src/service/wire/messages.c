/* The forms of messages, and their JSON; see messages.h.
 *
 * Happy path: rows are written and read by core/json, lists of messages as arrays of objects.
 * Failures: INVALID_ARGUMENT names message and field, RESOURCE_EXHAUSTED. No locks. */
#include "service/wire/messages.h"
#include "base/alloc.h"
#include "base/error.h"
#include "service/wire/frame.h"
#include <string.h>

enum { MOST_MESSAGES = 1 << 20 };

#define FIELD(message, kind, field, ...)                                                           \
    {                                                                                              \
        .name = #field, .type = LEATI_ROW_##kind,                                                  \
        .offset = offsetof(struct leati_message_##message, field), __VA_ARGS__                     \
    }
#define COUNT(message, field) FIELD(message, INT, field, .minimum = 0, .maximum = INT64_MAX)
#define ABSENT_TEXT(message, field) FIELD(message, STRING, field, .flags = LEATI_ABSENT)
#define FORM(message, ...)                                                                         \
    const leati_message leati_message_##message = {                                                \
        .name = #message,                                                                          \
        .size = sizeof(struct leati_message_##message),                                            \
        .rows = message##_rows,                                                                    \
        .lists = {__VA_ARGS__},                                                                    \
    }
#define LIST(message, field, item)                                                                 \
    {                                                                                              \
        .name = #field, .offset = offsetof(struct leati_message_##message, field),                 \
        .of = &leati_message_##item                                                                \
    }

static const leati_row version_rows[] = {
    COUNT(version, protocol),          COUNT(version, oldest),
    FIELD(version, STRINGS, features), ABSENT_TEXT(version, service),
    COUNT(version, incarnation),       ABSENT_TEXT(version, peer),
    ABSENT_TEXT(version, process),     {0},
};
FORM(version, {0});

static const leati_row task_rows[] = {
    COUNT(task, task),
    COUNT(task, attempt),
    COUNT(task, iteration),
    COUNT(task, repetition),
    ABSENT_TEXT(task, dataset_id),
    COUNT(task, policy),
    COUNT(task, visitation),
    COUNT(task, shard),
    COUNT(task, num_shards),
    COUNT(task, consumers),
    FIELD(task, BOOL, cached),
    FIELD(task, INT, seed),
    FIELD(task, INTS, held),
    ABSENT_TEXT(task, snapshot),
    COUNT(task, stream),
    ABSENT_TEXT(task, compression),
    COUNT(task, chunks),
    COUNT(task, chunk_elements),
    COUNT(task, chunk_attempt),
    {0},
};
FORM(task, {0});

static const leati_row task_report_rows[] = {
    COUNT(task_report, task),        COUNT(task_report, attempt),
    COUNT(task_report, elements),    COUNT(task_report, bytes),
    FIELD(task_report, BOOL, done),  COUNT(task_report, failed),
    ABSENT_TEXT(task_report, text),  COUNT(task_report, element_ns),
    FIELD(task_report, INTS, acked), {0},
};
FORM(task_report, {0});

static const leati_row worker_rows[] = {
    ABSENT_TEXT(worker, uid),
    ABSENT_TEXT(worker, address),
    FIELD(worker, STRINGS, transfers),
    FIELD(worker, STRINGS, tags),
    FIELD(worker, BOOL, draining),
    COUNT(worker, cpus),
    ABSENT_TEXT(worker, slowest),
    FIELD(worker, FLOAT, slowest_share),
    FIELD(worker, FLOAT, busy),
    FIELD(worker, FLOAT, full),
    COUNT(worker, elements),
    COUNT(worker, bytes),
    COUNT(worker, ready_bytes),
    COUNT(worker, memory_used_bytes),
    COUNT(worker, memory_budget_bytes),
    COUNT(worker, wait_ms),
    {0},
};
FORM(worker, LIST(worker, tasks, task_report));

static const leati_row worker_answer_rows[] = {
    FIELD(worker_answer, INTS, stop),
    FIELD(worker_answer, BOOL, leave),
    {0},
};
FORM(worker_answer, LIST(worker_answer, start, task));

static const leati_row dataset_rows[] = {
    ABSENT_TEXT(dataset, dataset_id),    ABSENT_TEXT(dataset, plan),
    ABSENT_TEXT(dataset, spec),          FIELD(dataset, INT, cardinality),
    COUNT(dataset, compression),         ABSENT_TEXT(dataset, identity),
    FIELD(dataset, BOOL, deterministic), ABSENT_TEXT(dataset, why_not),
    FIELD(dataset, INTS, providers),     FIELD(dataset, INTS, in_step),
    ABSENT_TEXT(dataset, unsplittable),  {0},
};
FORM(dataset, {0});

static const leati_row dataset_id_rows[] = {
    ABSENT_TEXT(dataset_id, dataset_id),
    FIELD(dataset_id, BOOL, brief),
    {0},
};
FORM(dataset_id, {0});

static const leati_row open_rows[] = {
    ABSENT_TEXT(open, client),
    ABSENT_TEXT(open, dataset_id),
    ABSENT_TEXT(open, job_name),
    COUNT(open, policy),
    COUNT(open, visitation),
    COUNT(open, repetition),
    FIELD(open, INT, consumer, .default_number = -1),
    COUNT(open, consumers),
    COUNT(open, target_workers),
    FIELD(open, BOOL, cached),
    FIELD(open, BOOL, alone),
    {0},
};
FORM(open, {0});

static const leati_row opened_rows[] = {
    COUNT(opened, job),
    COUNT(opened, iteration),
    COUNT(opened, client),
    {0},
};
FORM(opened, {0});

static const leati_row place_rows[] = {
    COUNT(place, task),
    COUNT(place, attempt),
    ABSENT_TEXT(place, worker),
    ABSENT_TEXT(place, address),
    FIELD(place, STRINGS, transfers),
    FIELD(place, STRINGS, tags),
    COUNT(place, start_round),
    FIELD(place, INT, end_round, .default_number = -1),
    FIELD(place, BOOL, lost),
    FIELD(place, INT, turns, .default_number = -1),
    {0},
};
FORM(place, {0});

static const leati_row holding_rows[] = {
    COUNT(holding, task),        COUNT(holding, attempt), FIELD(holding, INTS, ranges),
    FIELD(holding, BOOL, whole), COUNT(holding, turns),   {0},
};
FORM(holding, {0});

static const leati_row way_rows[] = {
    ABSENT_TEXT(way, transfer),
    COUNT(way, streams),
    {0},
};
FORM(way, {0});

static const leati_row client_rows[] = {
    COUNT(client, client),          FIELD(client, INTS, tasks),
    COUNT(client, round),           FIELD(client, INT, agreed, .default_number = -1),
    COUNT(client, elements),        FIELD(client, FLOAT, stall),
    COUNT(client, buffered),        COUNT(client, element_ns),
    COUNT(client, wait_ms),         FIELD(client, INTS, settled),
    FIELD(client, INTS, unreached), {0},
};
FORM(client, LIST(client, holding, holding), LIST(client, ways, way));

static const leati_row client_answer_rows[] = {
    FIELD(client_answer, BOOL, same),
    FIELD(client_answer, BOOL, finished),
    FIELD(client_answer, INT, propose, .default_number = -1),
    FIELD(client_answer, INTS, report),
    FIELD(client_answer, BOOL, colocated),
    FIELD(client_answer, STRINGS, lost),
    COUNT(client_answer, failed),
    ABSENT_TEXT(client_answer, why),
    {0},
};
FORM(client_answer, LIST(client_answer, tasks, place));

static const leati_row release_rows[] = {
    COUNT(release, client),
    COUNT(release, elements),
    FIELD(release, BOOL, unused),
    {0},
};
FORM(release, {0});

static const leati_row restore_rows[] = {
    ABSENT_TEXT(restore, service),
    ABSENT_TEXT(restore, client),
    COUNT(restore, iteration),
    {0},
};
FORM(restore, LIST(restore, holding, holding));

static const leati_row restored_rows[] = {
    COUNT(restored, job),
    COUNT(restored, iteration),
    COUNT(restored, client),
    ABSENT_TEXT(restored, job_name),
    {0},
};
FORM(restored, LIST(restored, holding, holding));

static const leati_row drain_rows[] = {
    ABSENT_TEXT(drain, worker),
    {0},
};
FORM(drain, {0});

static const leati_row save_rows[] = {
    ABSENT_TEXT(save, request),
    ABSENT_TEXT(save, dataset_id),
    ABSENT_TEXT(save, path),
    ABSENT_TEXT(save, compression),
    {0},
};
FORM(save, {0});

static const leati_row commit_rows[] = {
    COUNT(commit, task), COUNT(commit, attempt), COUNT(commit, chunk), COUNT(commit, elements), {0},
};
FORM(commit, {0});

static const leati_row committed_rows[] = {
    COUNT(committed, chunks),
    {0},
};
FORM(committed, {0});

static const leati_row splits_rows[] = {
    COUNT(splits, task),
    COUNT(splits, attempt),
    COUNT(splits, provider),
    COUNT(splits, repetition),
    COUNT(splits, sequence),
    COUNT(splits, want),
    {0},
};
FORM(splits, {0});

static const leati_row lease_rows[] = {
    COUNT(lease, begin),
    COUNT(lease, end),
    FIELD(lease, BOOL, none),
    {0},
};
FORM(lease, {0});

static const leati_row read_rows[] = {
    COUNT(read, task),
    COUNT(read, attempt),
    COUNT(read, client),
    FIELD(read, INT, consumer, .default_number = -1),
    COUNT(read, round),
    COUNT(read, taken),
    COUNT(read, window),
    ABSENT_TEXT(read, trainer),
    COUNT(read, credit_elements),
    COUNT(read, credit_bytes),
    FIELD(read, BOOL, acks),
    FIELD(read, STRINGS, compression),
    FIELD(read, BOOL, where_it_pays),
    ABSENT_TEXT(read, worker),
    {0},
};
FORM(read, {0});

static const leati_message *const forms[] = {
#define X(name) &leati_message_##name,
#include "service/wire/messages.def"
#undef X
};

const leati_message *leati_messages_find(const char *name) {
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (strcmp(forms[i]->name, name) == 0)
            return forms[i];
    return NULL;
}

static leati_messages *list_at(const leati_message_list *list, const void *message) {
    return (leati_messages *)((char *)(uintptr_t)message + list->offset);
}

/* ---- writing ---- */

static json_t *write_message(const leati_message *form, const void *message, leat_error *err);

static leat_status write_list(const leati_message_list *list, const void *message, json_t *object,
                              leat_error *err) {
    const leati_messages *items = list_at(list, message);
    json_t *array = json_array();
    for (int64_t i = 0; array != NULL && i < items->count; i++) {
        json_t *item =
            write_message(list->of, (const char *)items->items + (size_t)i * list->of->size, err);
        if (item == NULL || json_array_append_new(array, item) != 0) {
            json_decref(array);
            array = NULL;
        }
    }
    return leati_json_put(object, list->name, array) ? LEAT_OK : leati_no_memory(err);
}

/* NULL: the error is set. */
static json_t *write_message(const leati_message *form, const void *message, leat_error *err) {
    json_t *object = leati_json_of_rows(form->rows, message, false, NULL, err);
    for (const leati_message_list *list = form->lists; object != NULL && list->name != NULL; list++)
        if (write_list(list, message, object, err) != LEAT_OK) {
            json_decref(object);
            object = NULL;
        }
    return object;
}

leat_status leati_messages_write(const leati_message *form, const void *message, leati_text *out,
                                 leat_error *err) {
    json_t *object = write_message(form, message, err);
    if (object == NULL)
        return leati_prefix(err, "message %s", form->name);
    char *text = leati_json_print(object, 0, false, err);
    json_decref(object);
    if (text == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leati_text_add(out, text, strlen(text));
    leati_free(text);
    return out->failed ? leati_no_memory(err) : LEAT_OK;
}

/* ---- reading ---- */

static leat_status read_message(const leati_message *form, json_t *json, void *message,
                                leat_error *err);

/* The list's messages; what was read so far stays with the message, whose fini drops it. */
static leat_status read_list(const leati_message_list *list, json_t *json, void *message,
                             leat_error *err) {
    json_t *array = json_object_get(json, list->name);
    if (array == NULL)
        return LEAT_OK;
    if (!json_is_array(array) || json_array_size(array) > MOST_MESSAGES)
        return leati_refuse(err, VALUE, "%s: expected a list of at most %d", list->name,
                            MOST_MESSAGES);
    size_t count = json_array_size(array);
    leati_messages *items = list_at(list, message);
    items->items = count == 0 ? NULL : leati_alloc_zero(count, list->of->size);
    if (count > 0 && items->items == NULL)
        return leati_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        LEATI_TRY(read_message(list->of, json_array_get(array, i),
                               (char *)items->items + i * list->of->size, err));
        items->count++;
    }
    return LEAT_OK;
}

/* The fields that the form has: others are of a newer program. */
static json_t *known_fields(const leati_message *form, json_t *json, leat_error *err) {
    json_t *known = leati_json_copy(NULL, err);
    for (const leati_row *row = form->rows; known != NULL && row->type != LEATI_ROW_END; row++) {
        json_t *value = json_object_get(json, row->name);
        if (value != NULL && json_object_set(known, row->name, value) != 0) {
            json_decref(known);
            known = NULL;
            (void)leati_no_memory(err);
        }
    }
    return known;
}

static leat_status read_message(const leati_message *form, json_t *json, void *message,
                                leat_error *err) {
    if (!json_is_object(json))
        return leati_refuse(err, VALUE, "message %s: expected an object", form->name);
    json_t *known = known_fields(form, json, err);
    if (known == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leat_status status = leati_json_to_rows(known, form->rows, message, form->name, NULL, err);
    json_decref(known);
    LEATI_TRY(status);
    status = leati_rows_check(form->rows, message, form->name, err);
    for (const leati_message_list *list = form->lists; status == LEAT_OK && list->name != NULL;
         list++)
        status = read_list(list, json, message, err);
    if (status != LEAT_OK)
        leati_messages_fini(form, message);
    return status;
}

leat_status leati_messages_read(const leati_message *form, const void *bytes, size_t size,
                                void *message, leat_error *err) {
    memset(message, 0, form->size);
    json_t *json = leati_json_parse(bytes, size, err);
    if (json == NULL)
        return leati_prefix(err, "message %s", form->name);
    leat_status status = read_message(form, json, message, err);
    json_decref(json);
    return status;
}

/* ---- memory ---- */

void leati_messages_fini(const leati_message *form, void *message) {
    for (const leati_message_list *list = form->lists; list->name != NULL; list++) {
        leati_messages *items = list_at(list, message);
        for (int64_t i = 0; i < items->count; i++)
            leati_messages_fini(list->of, (char *)items->items + (size_t)i * list->of->size);
        leati_free(items->items);
        *items = (leati_messages){0};
    }
    leati_rows_fini(form->rows, message);
}

void *leati_messages_add(leati_messages *list, const leati_message *form, leat_error *err) {
    size_t count = (size_t)list->count;
    /* Grows at powers of two, which the count itself tells. */
    if ((count & (count - 1)) == 0) {
        void *items = leati_alloc_resize(list->items, count == 0 ? 1 : 2 * count, form->size);
        if (items == NULL) {
            (void)leati_no_memory(err);
            return NULL;
        }
        list->items = items;
    }
    void *item = (char *)list->items + count * form->size;
    memset(item, 0, form->size);
    if (leati_rows_defaults(form->rows, item, err) != LEAT_OK)
        return NULL;
    list->count++;
    return item;
}

leat_status leati_messages_set_text(char **field, const char *text, leat_error *err) {
    char *copy = leati_strdup(text);
    if (text != NULL && copy == NULL)
        return leati_no_memory(err);
    leati_free(*field);
    *field = copy;
    return LEAT_OK;
}

void leati_messages_failure(int64_t code, const char *text, leat_error *out) {
    (void)leati_fail(out, leati_error_is_code(code) ? (leat_status)code : LEAT_UNKNOWN, "%s",
                     text == NULL ? "" : text);
}
