/* Argument rows as JSON and back: one member per argument, by TensorFlow's names. A literal
 * {"dtype", "shape", "data"} is accepted for any argument that a tensor can be bound to.
 *
 * Failures: INVALID_ARGUMENT naming the operator, the argument and what was found (an unknown name
 * is answered with the names there are), UNIMPLEMENTED (functions and objects that cannot be
 * written), RESOURCE_EXHAUSTED; the arguments are then zeroed. No locks. */
#include "core/json_parts.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/random.h"
#include "base/text.h"
#include "core/spec.h"
#include <string.h>

static bool is_default(const leati_row *row, const void *at) {
    switch (row->type) {
    case LEATI_ROW_BOOL: return *(const bool *)at == (row->default_number != 0);
    case LEATI_ROW_BOOL_OR_NONE: return *(const int8_t *)at == (int8_t)row->default_number;
    case LEATI_ROW_INT: return *(const int64_t *)at == leati_row_default_int(row);
    case LEATI_ROW_FLOAT: return *(const double *)at == row->default_number;
    case LEATI_ROW_DTYPE: return *(const leat_dtype *)at == (leat_dtype)(int)row->default_number;
    case LEATI_ROW_SHAPE: return ((const leat_shape *)at)->rank == LEAT_UNKNOWN_RANK;
    case LEATI_ROW_SEED: return !((const leati_seed_argument *)at)->given;
    case LEATI_ROW_INTS: return ((const leati_ints *)at)->values == NULL;
    case LEATI_ROW_FLOATS: return ((const leati_floats *)at)->values == NULL;
    case LEATI_ROW_STRINGS: return ((const leati_strings *)at)->values == NULL;
    case LEATI_ROW_ELEMENT: return ((const leat_element *)at)->spec == NULL;
    case LEATI_ROW_STRING: {
        const char *text = *(char *const *)at;
        if (text == NULL || row->default_text == NULL)
            return text == row->default_text;
        return strcmp(text, row->default_text) == 0;
    }
    case LEATI_ROW_SPEC: return *(leat_spec *const *)at == NULL;
    default: return *(leat_object *const *)at == NULL;
    }
}

static json_t *write_ints(const leati_ints *ints) {
    json_t *list = json_array();
    for (int32_t i = 0; list != NULL && i < ints->count; i++) {
        if (json_array_append_new(list, json_integer(ints->values[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *write_floats(const leati_floats *floats) {
    json_t *list = json_array();
    for (int32_t i = 0; list != NULL && i < floats->count; i++) {
        if (json_array_append_new(list, leati_json_of_double(floats->values[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *write_strings(const leati_strings *strings) {
    json_t *list = json_array();
    for (int32_t i = 0; list != NULL && i < strings->count; i++) {
        const leat_string *string = &strings->values[i];
        if (json_array_append_new(list, leati_json_of_string(string->data, string->size)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* A value that is not absent, of a type that needs no error text of its own; NULL: no memory. */
static json_t *write_simple(const leati_row *row, const void *at) {
    switch (row->type) {
    case LEATI_ROW_BOOL: return json_boolean(*(const bool *)at);
    case LEATI_ROW_BOOL_OR_NONE:
        return *(const int8_t *)at < 0 ? json_null() : json_boolean(*(const int8_t *)at != 0);
    case LEATI_ROW_INT: {
        int64_t value = *(const int64_t *)at;
        bool autotune = (row->flags & LEATI_AUTOTUNE) && value == -1;
        return autotune ? json_string("AUTOTUNE") : json_integer(value);
    }
    case LEATI_ROW_FLOAT: return leati_json_of_double(*(const double *)at);
    case LEATI_ROW_DTYPE: return json_string(leat_dtype_name(*(const leat_dtype *)at));
    case LEATI_ROW_SHAPE: return leati_json_of_shape(at);
    case LEATI_ROW_SEED: return json_integer(((const leati_seed_argument *)at)->value);
    case LEATI_ROW_INTS: return write_ints(at);
    case LEATI_ROW_FLOATS: return write_floats(at);
    case LEATI_ROW_STRINGS: return write_strings(at);
    default: {
        const char *text = *(char *const *)at;
        return text != NULL ? leati_json_of_string(text, strlen(text)) : json_null();
    }
    }
}

/* A value that is absent writes null. */
static bool is_absent(const leati_row *row, const void *at) {
    switch (row->type) {
    case LEATI_ROW_DTYPE: return *(const leat_dtype *)at == LEAT_INVALID;
    case LEATI_ROW_SEED:
    case LEATI_ROW_INTS:
    case LEATI_ROW_FLOATS:
    case LEATI_ROW_STRINGS:
    case LEATI_ROW_ELEMENT:
    case LEATI_ROW_SPEC:
    case LEATI_ROW_FUNCTION:
    case LEATI_ROW_OBJECT: return is_default(row, at);
    default: return false;
    }
}

static json_t *write_member(const leati_row *row, const void *at,
                            const leati_json_functions *functions, leat_error *err) {
    json_t *json = NULL;
    if (is_absent(row, at))
        return json_null();
    switch (row->type) {
    case LEATI_ROW_SPEC: return leati_json_of_spec(*(leat_spec *const *)at, err);
    case LEATI_ROW_ELEMENT: return leati_json_of_element(at, err);
    case LEATI_ROW_FUNCTION:
        if (functions != NULL && functions->write != NULL)
            return functions->write(functions->context, *(leat_object *const *)at, err);
        leati_fail(err, LEAT_UNIMPLEMENTED, "a function cannot be written here");
        return NULL;
    case LEATI_ROW_OBJECT:
        if (functions != NULL && functions->write_object != NULL)
            return functions->write_object(functions->context, *(leat_object *const *)at, err);
        leati_fail(err, LEAT_UNIMPLEMENTED, "an object cannot be written as JSON");
        return NULL;
    default: json = write_simple(row, at); break;
    }
    return json != NULL ? json : leati_json_no_memory(err);
}

json_t *leati_json_of_rows(const leati_row *rows, const void *args, bool all,
                           const leati_json_functions *functions, leat_error *err) {
    json_t *object = json_object();
    if (object == NULL)
        return leati_json_no_memory(err);
    for (const leati_row *row = rows; row->type != LEATI_ROW_END; row++) {
        const void *at = (const char *)args + row->offset;
        if (!all && !(row->flags & LEATI_REQUIRED) && is_default(row, at))
            continue;
        if (row->type == LEATI_ROW_OBJECT && (row->flags & LEATI_CONSTRUCT))
            continue; /* made again of other arguments */
        json_t *value = write_member(row, at, functions, err);
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

static leat_status fail_type(const leati_row *row, const json_t *json, leat_error *err) {
    return leati_refuse(err, DTYPE, "expected %s%s, found %s", leati_row_type_name(row->type),
                        row->flags & LEATI_AUTOTUNE ? " or \"AUTOTUNE\"" : "",
                        leati_json_type(json));
}

/* A tensor literal for an argument of another type. */
static leat_status read_literal(const leati_row *rows, const leati_row *row, void *args,
                                const json_t *json, leat_error *err) {
    leat_tensor tensor;
    leat_status status = leati_json_to_tensor(json, &tensor, err);
    if (status != LEAT_OK)
        return status;
    status = leati_rows_bind(rows, args, row->name, &tensor, err);
    leat_tensor_unref(&tensor);
    return status;
}

/* The items of a list, or the one bare value; item i. */
static const json_t *item(const json_t *json, size_t i) {
    return json_is_array(json) ? json_array_get(json, i) : json;
}

static size_t num_items(const json_t *json) {
    return json_is_array(json) ? json_array_size(json) : 1;
}

static leat_status read_ints(const leati_row *row, const json_t *json, leati_ints *at,
                             leat_error *err) {
    size_t count = num_items(json);
    int64_t *values = leati_alloc(count, sizeof *values);
    if (values == NULL || count > INT32_MAX) {
        leati_free(values);
        return leati_no_memory(err);
    }
    for (size_t i = 0; i < count; i++) {
        if (!json_is_integer(item(json, i))) {
            leati_free(values);
            return fail_type(row, item(json, i), err);
        }
        values[i] = json_integer_value(item(json, i));
    }
    *at = (leati_ints){.values = values, .count = (int32_t)count};
    return LEAT_OK;
}

static leat_status read_floats(const json_t *json, leati_floats *at, leat_error *err) {
    size_t count = num_items(json);
    double *values = leati_alloc(count, sizeof *values);
    if (values == NULL || count > INT32_MAX) {
        leati_free(values);
        return leati_no_memory(err);
    }
    for (size_t i = 0; i < count; i++) {
        leat_status status = leati_json_to_double(item(json, i), &values[i], err);
        if (status != LEAT_OK) {
            leati_free(values);
            return status;
        }
    }
    *at = (leati_floats){.values = values, .count = (int32_t)count};
    return LEAT_OK;
}

static leat_status read_strings(const json_t *json, leati_strings *at, leat_error *err) {
    size_t count = num_items(json);
    leati_strings strings = {.values = leati_alloc_zero(count, sizeof *strings.values)};
    if (strings.values == NULL || count > INT32_MAX) {
        leati_free(strings.values);
        return leati_no_memory(err);
    }
    for (size_t i = 0; i < count; i++) {
        char *bytes;
        size_t size;
        leat_status status = leati_json_to_string(item(json, i), &bytes, &size, err);
        if (status != LEAT_OK) {
            leati_strings_fini(&strings);
            return status;
        }
        strings.values[i] = (leat_string){.data = bytes, .size = size};
        strings.count++;
    }
    *at = strings;
    return LEAT_OK;
}

static leat_status read_string(const json_t *json, char **at, leat_error *err) {
    char *bytes;
    size_t size;
    LEATI_TRY(leati_json_to_string(json, &bytes, &size, err));
    if (memchr(bytes, '\0', size) != NULL) {
        leati_free(bytes);
        return leati_refuse(err, VALUE,
                            "expected a text without the byte 0, found one of %zu bytes", size);
    }
    leati_free(*at);
    *at = bytes;
    return LEAT_OK;
}

static leat_status read_number(const leati_row *row, const json_t *json, void *at,
                               leat_error *err) {
    const char *text = json_string_value(json);
    if ((row->flags & LEATI_AUTOTUNE) && text != NULL && strcmp(text, "AUTOTUNE") == 0) {
        *(int64_t *)at = -1;
        return LEAT_OK;
    }
    if (!json_is_integer(json))
        return fail_type(row, json, err);
    int64_t value = json_integer_value(json);
    if (row->type == LEATI_ROW_INT)
        *(int64_t *)at = value;
    else
        *(leati_seed_argument *)at = (leati_seed_argument){.given = true, .value = value};
    return LEAT_OK;
}

static leat_status read_function(const leati_row *row, const json_t *json, leat_object **at,
                                 const leati_json_functions *functions, leat_error *err) {
    leat_object *(*read)(void *, const leati_row *, const json_t *, leat_error *) = NULL;
    if (functions != NULL)
        read = row->type == LEATI_ROW_FUNCTION ? functions->read : functions->read_object;
    if (read == NULL)
        return leati_fail(err, LEAT_UNIMPLEMENTED, "a value of type %s cannot be read from JSON",
                          leati_row_type_name(row->type));
    leat_error own = {0};
    leat_object *object = read(functions->context, row, json, err != NULL ? err : &own);
    if (object == NULL)
        return err != NULL ? err->code : own.code;
    *at = object;
    return LEAT_OK;
}

/* null keeps the default, which is also what None means to TensorFlow's signatures, but for rows
 * that say that it means none. */
static leat_status read_null(const leati_row *row, void *at, leat_error *err) {
    if (row->type == LEATI_ROW_SHAPE) {
        ((leat_shape *)at)->rank = LEAT_UNKNOWN_RANK;
        return LEAT_OK;
    }
    if (row->type == LEATI_ROW_BOOL_OR_NONE) {
        *(int8_t *)at = -1;
        return LEAT_OK;
    }
    if ((row->flags & LEATI_ABSENT) && row->type == LEATI_ROW_STRING) {
        leati_free(*(char **)at);
        *(char **)at = NULL;
        return LEAT_OK;
    }
    if ((row->flags & LEATI_ABSENT) && row->type == LEATI_ROW_FLOAT) {
        *(double *)at = 0;
        return LEAT_OK;
    }
    bool number =
        row->type == LEATI_ROW_BOOL || row->type == LEATI_ROW_INT || row->type == LEATI_ROW_FLOAT;
    if (row->flags & LEATI_NONE)
        return LEAT_OK;
    if (number || (row->flags & LEATI_REQUIRED))
        return leati_refuse(err, VALUE, "expected %s, found null", leati_row_type_name(row->type));
    return LEAT_OK;
}

static leat_status read_member(const leati_row *rows, const leati_row *row, void *args,
                               const json_t *json, const leati_json_functions *functions,
                               leat_error *err) {
    void *at = (char *)args + row->offset;
    leat_status status = LEAT_OK;
    if (json_is_null(json))
        return read_null(row, at, err);
    bool structured = row->type == LEATI_ROW_SPEC || row->type == LEATI_ROW_ELEMENT ||
                      row->type == LEATI_ROW_FUNCTION || row->type == LEATI_ROW_OBJECT;
    if (!structured && json_object_get(json, "dtype") != NULL &&
        json_object_get(json, "data") != NULL)
        return read_literal(rows, row, args, json, err);
    switch (row->type) {
    case LEATI_ROW_BOOL:
    case LEATI_ROW_BOOL_OR_NONE:
        if (!json_is_boolean(json))
            return fail_type(row, json, err);
        if (row->type == LEATI_ROW_BOOL)
            *(bool *)at = json_is_true(json);
        else
            *(int8_t *)at = json_is_true(json);
        return LEAT_OK;
    case LEATI_ROW_INT:
    case LEATI_ROW_SEED: return read_number(row, json, at, err);
    case LEATI_ROW_FLOAT: return leati_json_to_double(json, at, err);
    case LEATI_ROW_STRING: return read_string(json, at, err);
    case LEATI_ROW_DTYPE: return leati_json_to_dtype(json, at, err);
    case LEATI_ROW_SHAPE: return leati_json_to_shape(json, at, err);
    case LEATI_ROW_INTS: return read_ints(row, json, at, err);
    case LEATI_ROW_FLOATS: return read_floats(json, at, err);
    case LEATI_ROW_STRINGS: return read_strings(json, at, err);
    case LEATI_ROW_ELEMENT: {
        const json_t *given = json_object_get(json, "given");
        if (given != NULL && functions != NULL && functions->given != NULL)
            return functions->given(functions->context, json_integer_value(given), at, err);
        return leati_json_to_element(json, at, err);
    }
    case LEATI_ROW_SPEC: {
        leat_error own = {0};
        leat_spec *spec = leati_json_to_spec(json, &own);
        if (spec == NULL)
            return leati_error_pass(err, &own);
        *(leat_spec **)at = spec;
        return LEAT_OK;
    }
    default: status = read_function(row, json, at, functions, err); break;
    }
    return status;
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
