/* The table of dataset operators as JSON: what a binding needs to offer each.
 *
 * Failures: memory. No locks. */
#include "data/plan/listing.h"

#include "core/json.h"
#include "core/words.h"
#include "data/plan/op.h"

/* The words of a list, each as `item` has it. Owned; NULL without memory. */
static json_t *words(const char *text, json_t *(*item)(const leati_word *word)) {
    json_t *list = json_array();
    bool good = list != NULL;
    for (leati_word w; good && leati_word_next(&text, &w);)
        good = json_array_append_new(list, item(&w)) == 0;
    if (good)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *name_of(const leati_word *word) {
    return json_stringn(word->name, word->size);
}

/* {"name", "default"}, without the default where there is none. JSON that does not parse is a
 * mistake in the table, which the conformance suite finds, and stands as null. */
static json_t *parameter_of(const leati_word *word) {
    leat_error ignored = {0};
    json_t *object = json_object(), *value = NULL;
    bool good = object != NULL && leati_json_put(object, "name", name_of(word));
    if (good && word->value != NULL) {
        value = leati_json_parse(word->value, word->value_size, &ignored);
        if (value == NULL && ignored.code != LEAT_RESOURCE_EXHAUSTED)
            value = json_null();
        good = leati_json_put(object, "default", value);
    }
    if (good)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *text_or_null(const char *text) {
    return text != NULL ? json_string(text) : json_null();
}

static json_t *describe(const leati_dataset_op *op) {
    json_t *object = json_object();
    if (object != NULL && leati_json_put(object, "name", json_string(op->name)) &&
        leati_json_put(object, "names", words(op->names, name_of)) &&
        leati_json_put(object, "doc", json_string(op->doc)) &&
        leati_json_put(object, "num_inputs", json_integer(op->num_inputs)) &&
        leati_json_put(object, "source", json_boolean(op->flow == LEATI_SOURCE)) &&
        leati_json_put(object, "tree", json_boolean(op->structure_argument != NULL)) &&
        leati_json_put(object, "shown", text_or_null(op->shown)) &&
        leati_json_put(object, "arguments", leati_json_describe_rows(op->rows)) &&
        leati_json_put(object, "signature",
                       op->signature == NULL ? json_null() : words(op->signature, parameter_of)))
        return object;
    json_decref(object);
    return NULL;
}

json_t *leati_plan_ops_describe(void) {
    size_t count;
    const leati_dataset_op *const *ops = leati_plan_ops(&count);
    json_t *list = json_array();
    bool good = list != NULL;
    for (size_t i = 0; good && i < count; i++)
        good = json_array_append_new(list, describe(ops[i])) == 0;
    if (good)
        return list;
    json_decref(list);
    return NULL;
}

char *leat_dataset_operators_json(leat_error *err) {
    LEATI_ERROR_DOOR(err);
    json_t *list = leati_plan_ops_describe();
    char *text = NULL;
    if (list != NULL)
        text = leati_json_print(list, 0, false, err);
    else
        leati_no_memory(err);
    json_decref(list);
    return text;
}
