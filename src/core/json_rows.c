/* Argument rows as JSON and back: one member per argument, by TensorFlow's names. A literal
 * {"dtype", "shape", "data" or "packed"} is accepted for any argument that a tensor can be bound
 * to.
 *
 * Failures: INVALID_ARGUMENT naming the operator, the argument and what was found (an unknown name
 * is answered with the names there are), UNIMPLEMENTED (functions and objects that cannot be
 * written), RESOURCE_EXHAUSTED; the arguments are then zeroed. No locks. */
#include "core/json_parts.h"
#include "core/row_type.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"

static json_t *write_list(const leati_row_call *call, const leati_row_class *item,
                          const leati_row_list *from) {
    json_t *list = json_array();
    if (list == NULL)
        return leati_json_no_memory(call->err);
    for (int32_t i = 0; i < from->count; i++) {
        json_t *value = item->write(call, (const char *)from->values + (size_t)i * item->size);
        if (value != NULL && json_array_append_new(list, value) == 0)
            continue;
        json_decref(list);
        return leati_json_no_memory(call->err);
    }
    return list;
}

/* A value that is absent writes null. */
static json_t *write_member(const leati_row_call *call, const void *at) {
    const leati_row_class *type = &leati_row_types[call->row->type];
    if (leati_row_is_absent(call->row, at))
        return json_null();
    if (type->item == NULL)
        return type->write(call, at);
    leati_row_list list = leati_row_list_of(at);
    return write_list(call, type->item, &list);
}

json_t *leati_json_of_rows(const leati_row *rows, const void *args, bool all,
                           const leati_json_functions *functions, leat_error *err) {
    json_t *object = json_object();
    if (object == NULL)
        return leati_json_no_memory(err);
    for (const leati_row *row = rows; row->type != LEATI_ROW_END; row++) {
        const void *at = (const char *)args + row->offset;
        if (!all && !(row->flags & LEATI_REQUIRED) && leati_row_is_default(row, at))
            continue;
        if (row->type == LEATI_ROW_OBJECT && (row->flags & LEATI_CONSTRUCT))
            continue; /* made again of other arguments */
        leati_row_call call = {.row = row, .functions = functions, .err = err};
        json_t *value = write_member(&call, at);
        if (value == NULL) {
            leati_prefix(err, "argument %s", row->name);
            json_decref(object);
            return NULL;
        }
        if (json_object_set_new(object, row->name, value) != 0) {
            json_decref(object);
            return leati_json_no_memory(err);
        }
    }
    return object;
}

/* A tensor literal for an argument of another type. */
static leat_status read_literal(const leati_row *rows, const char *name, void *args,
                                const json_t *json, leat_error *err) {
    leat_tensor tensor;
    leat_status status = leati_json_to_tensor(json, &tensor, err);
    if (status != LEAT_OK)
        return status;
    status = leati_rows_bind(rows, args, name, &tensor, err);
    leat_tensor_unref(&tensor);
    return status;
}

/* A list, or one bare value in its place. */
static leat_status read_list(const leati_row_call *call, const json_t *json, void *at) {
    const leati_row_class *item = leati_row_types[call->row->type].item;
    bool bare = !json_is_array(json);
    size_t count = bare ? 1 : json_array_size(json);
    leati_row_list list = {.values = leati_alloc_zero(count, item->size)};
    if (list.values == NULL || count > INT32_MAX) {
        leati_free(list.values);
        return leati_no_memory(call->err);
    }
    for (size_t i = 0; i < count; i++) {
        leat_status status = item->read(call, bare ? json : json_array_get(json, i),
                                        (char *)list.values + i * item->size);
        if (status != LEAT_OK) {
            leati_row_list_fini(item, &list);
            return status;
        }
        list.count++;
    }
    leati_row_list_set(at, list);
    return LEAT_OK;
}

/* null keeps the default, which is also what None means to TensorFlow's signatures, but for rows
 * that say that it means none. */
static leat_status read_null(const leati_row *row, void *at, leat_error *err) {
    const leati_row_class *type = &leati_row_types[row->type];
    if (type->set_none != NULL)
        type->set_none(at);
    else if (row->flags & LEATI_ABSENT)
        leati_row_fini(row, at);
    else if (!(row->flags & LEATI_NONE) && (type->always || row->flags & LEATI_REQUIRED))
        return leati_refuse(err, VALUE, "expected %s, found null", type->name);
    return LEAT_OK;
}

static leat_status read_member(const leati_row *rows, const leati_row *row, void *args,
                               const json_t *json, const leati_json_functions *functions,
                               leat_error *err) {
    const leati_row_class *type = &leati_row_types[row->type];
    leati_row_call call = {.row = row, .functions = functions, .err = err};
    void *at = (char *)args + row->offset;
    if (json_is_null(json))
        return read_null(row, at, err);
    if (!type->structured && json_object_get(json, "dtype") != NULL &&
        (json_object_get(json, "data") != NULL || json_object_get(json, "packed") != NULL))
        return read_literal(rows, row->name, args, json, err);
    return type->item != NULL ? read_list(&call, json, at) : type->read(&call, json, at);
}

/* Answers an unknown name with the names there are. */
static leat_status fail_unknown(const leati_row *rows, const char *what, const char *name,
                                leat_error *err) {
    leati_text names = {0};
    for (const leati_row *row = rows; row->type != LEATI_ROW_END; row++)
        if (!(row->flags & LEATI_CONSTRUCT))
            leati_text_addf(&names, "%s%s", names.size > 0 ? ", " : "", row->name);
    leati_refuse(err, VALUE, "%s has no argument %.60s; it takes %s", what, name,
                 names.size > 0 && !names.failed ? names.data : "none");
    leati_text_fini(&names);
    return LEAT_INVALID_ARGUMENT;
}

/* In the order of the rows, whatever that of the members is: a function's arguments may depend on
 * what stands before it. */
static leat_status read_members(const json_t *json, const leati_row *rows, void *args,
                                const char *what, const leati_json_functions *functions,
                                leat_error *err) {
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)json, name, value) {
        if (leati_rows_find(rows, name) == NULL)
            return fail_unknown(rows, what, name, err);
    }
    for (const leati_row *row = rows; row->type != LEATI_ROW_END; row++) {
        if ((row->flags & LEATI_REQUIRED) && json_object_get(json, row->name) == NULL)
            return leati_refuse(err, VALUE, "%s: argument %s (%s) is missing", what, row->name,
                                leati_row_type_name(row->type));
    }
    for (const leati_row *row = rows; row->type != LEATI_ROW_END; row++) {
        value = json_object_get(json, row->name);
        leat_status status =
            value == NULL ? LEAT_OK : read_member(rows, row, args, value, functions, err);
        if (status != LEAT_OK) {
            leati_prefix(err, "%s: argument %s", what, row->name);
            return status;
        }
    }
    return LEAT_OK;
}

leat_status leati_json_to_rows(const json_t *json, const leati_row *rows, void *args,
                               const char *what, const leati_json_functions *functions,
                               leat_error *err) {
    if (json != NULL && !json_is_object(json))
        return leati_refuse(err, VALUE, "%s: expected an object of arguments, found %s", what,
                            leati_json_type(json));
    leat_status status = leati_rows_defaults(rows, args, err);
    if (status != LEAT_OK)
        return status;
    status = read_members(json, rows, args, what, functions, err);
    if (status != LEAT_OK)
        leati_rows_fini(rows, args);
    return status;
}
