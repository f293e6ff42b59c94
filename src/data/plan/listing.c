/* The table of dataset operators as JSON: what a binding needs to offer each.
 *
 * Failures: memory. No locks. */
#include "data/plan/listing.h"

#include "core/json.h"
#include "data/plan/op.h"

static json_t *describe(const leati_dataset_op *op) {
    json_t *object = json_object();
    if (object && leati_json_put(object, "name", json_string(op->name)) &&
        leati_json_put(object, "doc", json_string(op->doc)) &&
        leati_json_put(object, "num_inputs", json_integer(op->num_inputs)) &&
        leati_json_put(object, "arguments", leati_rows_describe(op->rows))) {
        return object;
    }
    json_decref(object);
    return NULL;
}

json_t *leati_dataset_ops_describe(void) {
    size_t count;
    const leati_dataset_op *const *ops = leati_dataset_ops(&count);
    json_t *list = json_array();
    bool good = list != NULL;
    for (size_t i = 0; good && i < count; i++) {
        good = json_array_append_new(list, describe(ops[i])) == 0;
    }
    if (good) {
        return list;
    }
    json_decref(list);
    return NULL;
}

char *leat_dataset_operators_json(leat_error *err) {
    json_t *list = leati_dataset_ops_describe();
    char *text = NULL;
    if (list != NULL) {
        text = leati_json_print(list, 0, false, err);
    } else {
        leati_no_memory(err);
    }
    json_decref(list);
    return text;
}
