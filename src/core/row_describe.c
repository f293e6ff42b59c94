/* Argument rows described as JSON, for listings and bindings: what a caller has to know of each to
 * offer it as a keyword. Rows that constructors fill are left out.
 *
 * Failures: memory alone (NULL). No state, no locks. */
#include "core/row_type.h"

#include <string.h>

bool leati_json_row_is_none(const leati_row *row) {
    return row->type == LEATI_ROW_INT && leati_row_default_int(row) == INT64_MIN;
}

/* The row's default in memory for one member. */
static const void *default_of(const leati_row *row, leati_row_memory *memory) {
    memset(memory, 0, sizeof *memory);
    if (leati_row_types[row->type].set != NULL)
        leati_row_types[row->type].set(row, memory);
    return memory;
}

bool leati_json_row_has_default(const leati_row *row) {
    leati_row_memory memory;
    return !(row->flags & LEATI_REQUIRED) && leati_row_types[row->type].set != NULL &&
           !leati_row_is_absent(row, default_of(row, &memory));
}

static json_t *describe_default(const leati_row *row) {
    leati_row_memory memory;
    leat_error err = {0};
    leati_row_call call = {.row = row, .err = &err};
    if (!leati_json_row_has_default(row) || leati_json_row_is_none(row))
        return json_null();
    if (row->type == LEATI_ROW_INT) /* a listing has the number, "autotune" its name */
        return json_integer(leati_row_default_int(row));
    return leati_row_types[row->type].write(&call, default_of(row, &memory));
}

json_t *leati_json_row_placeholder(const leati_row *row) {
    const char *blank = leati_row_types[row->type].blank;
    if (row->type == LEATI_ROW_INT && row->minimum > 0)
        return json_integer(row->minimum);
    return json_loads(blank != NULL ? blank : "[]", JSON_DECODE_ANY, NULL);
}

bool leati_json_put(json_t *object, const char *key, json_t *value) {
    return json_object_set_new(object, key, value) == 0;
}

static json_t *describe_row(const leati_row *row) {
    json_t *object = json_object();
    bool required = row->flags & LEATI_REQUIRED;
    bool good = object != NULL && leati_json_put(object, "name", json_string(row->name)) &&
                leati_json_put(object, "type", json_string(leati_row_type_name(row->type))) &&
                leati_json_put(object, "required", json_boolean(required));
    if (good && !required)
        good = leati_json_put(object, "default", describe_default(row));
    if (good && row->type == LEATI_ROW_INT && (row->minimum || row->maximum))
        good = leati_json_put(object, "minimum", json_integer(row->minimum)) &&
               leati_json_put(object, "maximum", json_integer(row->maximum));
    static const struct {
        uint32_t flag;
        const char *name;
    } flags[] = {{LEATI_AUTOTUNE, "autotune"},
                 {LEATI_NONE, "none"},
                 {LEATI_ABSENT, "absent"},
                 {LEATI_NODE, "node"},
                 {LEATI_TENSOR, "tensor"}};
    for (size_t i = 0; good && i < sizeof flags / sizeof flags[0]; i++)
        if (row->flags & flags[i].flag)
            good = leati_json_put(object, flags[i].name, json_true());
    if (good && leati_json_put(object, "doc", json_string(row->doc != NULL ? row->doc : "")))
        return object;
    json_decref(object);
    return NULL;
}

json_t *leati_json_describe_rows(const leati_row *rows) {
    json_t *list = json_array();
    bool good = list != NULL;
    for (const leati_row *row = rows; good && row != NULL && row->type != LEATI_ROW_END; row++)
        if (!(row->flags & LEATI_CONSTRUCT))
            good = json_array_append_new(list, describe_row(row)) == 0;
    if (good)
        return list;
    json_decref(list);
    return NULL;
}
