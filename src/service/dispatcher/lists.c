/* Lists in columns of the database, and ranges of positions. No locks. */
#include "base/alloc.h"
#include "base/error.h"
#include "service/dispatcher/parts.h"
#include "service/wire/ranges.h"
#include <string.h>

leat_status leati_dispatcher_ints_text(const leati_ints *ints, leati_text *out, leat_error *err) {
    leati_text_add(out, "[", 1);
    for (int32_t i = 0; i < ints->count; i++)
        leati_text_addf(out, i == 0 ? "%lld" : ",%lld", (long long)ints->values[i]);
    leati_text_add(out, "]", 1);
    return out->failed ? leati_no_memory(err) : LEAT_OK;
}

static json_t *list_of(const char *text, leat_error *err) {
    if (text[0] == '\0')
        text = "[]";
    json_t *json = leati_json_parse(text, strlen(text), err);
    if (json != NULL && !json_is_array(json)) {
        json_decref(json);
        (void)leati_fail(err, LEAT_DATA_LOSS, "the dispatcher's database has no list where one is");
        return NULL;
    }
    return json;
}

leat_status leati_dispatcher_ints_of(const char *text, leati_ints *out, leat_error *err) {
    *out = (leati_ints){0};
    json_t *json = list_of(text, err);
    if (json == NULL)
        return err->code;
    size_t count = json_array_size(json);
    out->values = leati_alloc(count, sizeof *out->values);
    for (size_t i = 0; out->values != NULL && i < count; i++)
        out->values[i] = json_integer_value(json_array_get(json, i));
    out->count = (int32_t)count;
    json_decref(json);
    return out->values == NULL ? leati_no_memory(err) : LEAT_OK;
}

leat_status leati_dispatcher_strings_text(const leati_strings *strings, leati_text *out,
                                          leat_error *err) {
    json_t *json = json_array();
    bool whole = json != NULL;
    for (int32_t i = 0; whole && i < strings->count; i++)
        whole = json_array_append_new(json, leati_json_of_string(strings->values[i].data,
                                                                 strings->values[i].size)) == 0;
    char *text = whole ? leati_json_print(json, 0, false, err) : NULL;
    json_decref(json);
    if (text == NULL)
        return leati_no_memory(err);
    leati_text_add(out, text, strlen(text));
    leati_free(text);
    return out->failed ? leati_no_memory(err) : LEAT_OK;
}

leat_status leati_dispatcher_strings_of(const char *text, leati_strings *out, leat_error *err) {
    *out = (leati_strings){0};
    json_t *json = list_of(text, err);
    if (json == NULL)
        return err->code;
    size_t count = json_array_size(json);
    leat_string *values = leati_alloc_zero(count, sizeof *values);
    leat_status status = values == NULL ? leati_no_memory(err) : LEAT_OK;
    for (size_t i = 0; i < count && status == LEAT_OK; i++) {
        char *bytes = NULL;
        status = leati_json_to_string(json_array_get(json, i), &bytes, &values[i].size, err);
        values[i].data = bytes;
    }
    json_decref(json);
    *out = (leati_strings){.values = values, .count = (int32_t)count};
    if (status != LEAT_OK)
        leati_strings_fini(out);
    return status;
}

leat_status leati_dispatcher_ids_read(leati_query *query, leati_ints *out, leat_error *err) {
    leati_text list = {0};
    *out = (leati_ints){0};
    if (leati_database_next(query))
        leati_text_addf(&list, "%s", leati_database_text(query, 0));
    leat_status status = leati_database_end(query, err);
    if (status == LEAT_OK)
        status = leati_dispatcher_ints_of(list.data == NULL ? "" : list.data, out, err);
    leati_text_fini(&list);
    return status;
}

leat_status leati_dispatcher_ids(leati_core *core, const char *sql, int64_t argument,
                                 leati_ints *out, leat_error *err) {
    leati_query query;
    leati_database_ask(core->database, &query, sql, "i", argument);
    return leati_dispatcher_ids_read(&query, out, err);
}

/* ---- ranges ---- */

leat_status leati_dispatcher_ranges_join(leati_ranges *to, const leati_ranges *more,
                                         leat_error *err) {
    if (!leati_ranges_are_valid(to) || !leati_ranges_are_valid(more))
        return leati_refuse(err, VALUE, "positions are no list of ascending ranges");
    for (int32_t i = 0; i < more->count; i += 2)
        LEATI_TRY(leati_ranges_add(to, more->values[i], more->values[i + 1], err));
    return LEAT_OK;
}
