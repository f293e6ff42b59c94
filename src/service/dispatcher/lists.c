/* Lists in columns of the database, and ranges of positions. No locks. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include "service/dispatcher/parts.h"
#include <stdlib.h>
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

leat_status leati_dispatcher_ids(leati_core *core, const char *sql, int64_t argument,
                                 leati_ints *out, leat_error *err) {
    leati_query query;
    leati_text list = {0};
    *out = (leati_ints){0};
    leati_database_ask(core->database, &query, sql, "i", argument);
    if (leati_database_next(&query))
        leati_text_addf(&list, "%s", leati_database_text(&query, 0));
    leat_status status = leati_database_end(&query, err);
    if (status == LEAT_OK)
        status = leati_dispatcher_ints_of(list.data == NULL ? "" : list.data, out, err);
    leati_text_fini(&list);
    return status;
}

/* ---- ranges ---- */

struct range {
    int64_t begin, end;
};

static int by_begin(const void *a, const void *b) {
    const struct range *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

/* Sorts and joins `count` ranges in place; how many are left. */
static size_t join(struct range *ranges, size_t count) {
    qsort(ranges, count, sizeof *ranges, by_begin);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (ranges[i].begin == ranges[i].end)
            continue;
        if (kept > 0 && ranges[i].begin <= ranges[kept - 1].end)
            ranges[kept - 1].end = LEATI_MAX(ranges[kept - 1].end, ranges[i].end);
        else
            ranges[kept++] = ranges[i];
    }
    return kept;
}

static leat_status check(const leati_ranges *ranges, leat_error *err) {
    if (ranges->count % 2 != 0)
        return leati_refuse(err, VALUE, "ranges of positions have %d numbers; expected pairs",
                            (int)ranges->count);
    for (int32_t i = 0; i < ranges->count; i += 2)
        if (ranges->values[i] < 0 || ranges->values[i + 1] < ranges->values[i])
            return leati_refuse(err, VALUE, "a range of positions is [%lld, %lld)",
                                (long long)ranges->values[i], (long long)ranges->values[i + 1]);
    return LEAT_OK;
}

leat_status leati_dispatcher_ranges_join(leati_ranges *to, const leati_ranges *more,
                                         leat_error *err) {
    LEATI_TRY(check(to, err));
    LEATI_TRY(check(more, err));
    size_t first = (size_t)to->count / 2, second = (size_t)more->count / 2;
    struct range *ranges = leati_alloc(first + second, sizeof *ranges);
    if (ranges == NULL)
        return leati_no_memory(err);
    if (first > 0)
        memcpy(ranges, to->values, first * sizeof *ranges);
    if (second > 0)
        memcpy(ranges + first, more->values, second * sizeof *ranges);
    size_t kept = join(ranges, first + second);
    leati_free(to->values);
    /* A pair of numbers is what a range is. */
    to->values = (int64_t *)ranges;
    to->count = (int32_t)(2 * kept);
    return LEAT_OK;
}
