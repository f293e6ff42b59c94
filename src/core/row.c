/* Argument rows: defaults, deep copies, release, range checks and binding of computed values. Each
 * function walks the rows of an operator and treats the member at each row's offset by its type.
 *
 * Failures: INVALID_ARGUMENT (ranges, missing arguments, values that do not fit),
 * RESOURCE_EXHAUSTED. A failed copy leaves its target zeroed. No locks: an argument struct has one
 * owner until its dataset is built, and is immutable afterwards. */
#include "core/row.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/random.h"
#include "core/element.h"
#include "core/object.h"
#include "core/tensor.h"
#include <inttypes.h>
#include <string.h>

const leati_row leati_no_rows[] = {{0}};

static void *member(const leati_row *row, void *args) {
    return (char *)args + row->offset;
}

static const void *const_member(const leati_row *row, const void *args) {
    return (const char *)args + row->offset;
}

int64_t leati_row_default_int(const leati_row *row) {
    if (row->default_number >= 0x1p63)
        return INT64_MAX;
    return row->default_number < -0x1p63 ? INT64_MIN : (int64_t)row->default_number;
}

void leati_rows_borrow_defaults(const leati_row *rows, void *args) {
    for (const leati_row *row = rows; row->type != LEATI_ROW_END; row++) {
        void *at = member(row, args);
        switch (row->type) {
        case LEATI_ROW_BOOL: *(bool *)at = row->default_number != 0; break;
        case LEATI_ROW_BOOL_OR_NONE: *(int8_t *)at = (int8_t)row->default_number; break;
        case LEATI_ROW_INT: *(int64_t *)at = leati_row_default_int(row); break;
        case LEATI_ROW_FLOAT: *(double *)at = row->default_number; break;
        case LEATI_ROW_DTYPE: *(leat_dtype *)at = (leat_dtype)(int)row->default_number; break;
        case LEATI_ROW_SHAPE: ((leat_shape *)at)->rank = LEAT_UNKNOWN_RANK; break;
        case LEATI_ROW_STRING: *(char **)at = (char *)(uintptr_t)row->default_text; break;
        default: break; /* zero: no seed, no list, no spec, no element, no object */
        }
    }
}

leat_status leati_rows_defaults(const leati_row *rows, void *args, leat_error *err) {
    leati_rows_borrow_defaults(rows, args);
    for (const leati_row *row = rows; row->type != LEATI_ROW_END; row++) {
        char **at = member(row, args);
        if (row->type != LEATI_ROW_STRING || row->default_text == NULL)
            continue;
        *at = leati_strdup(row->default_text);
        if (*at != NULL)
            continue;
        for (const leati_row *later = row + 1; later->type != LEATI_ROW_END; later++)
            if (later->type == LEATI_ROW_STRING)
                *(char **)member(later, args) = NULL;
        leati_rows_fini(rows, args);
        return leati_no_memory(err);
    }
    return LEAT_OK;
}

static leat_status copy_array(const void *values, int32_t count, size_t size, void **out,
                              leat_error *err) {
    if (values == NULL) /* absent; an empty list that was given has memory */
        return LEAT_OK;
    void *copy = leati_alloc((size_t)count, size);
    if (copy == NULL)
        return leati_no_memory(err);
    if (count > 0)
        memcpy(copy, values, (size_t)count * size);
    *out = copy;
    return LEAT_OK;
}

leat_status leati_strings_copy(const leat_string *values, int64_t count, leati_strings *out,
                               leat_error *err) {
    if (count > INT32_MAX)
        return leati_refuse(err, VALUE, "an argument takes at most %d strings, found %" PRId64,
                            INT32_MAX, count);
    leati_strings copy = {0};
    copy.values = leati_alloc_zero((size_t)count, sizeof *copy.values);
    if (copy.values == NULL)
        return leati_no_memory(err);
    for (int64_t i = 0; i < count; i++) {
        char *text = leati_strndup(values[i].size > 0 ? values[i].data : "", values[i].size);
        if (text == NULL) {
            leati_strings_fini(&copy);
            return leati_no_memory(err);
        }
        copy.values[i] = (leat_string){.data = text, .size = values[i].size};
        copy.count++;
    }
    *out = copy;
    return LEAT_OK;
}

void leati_strings_fini(leati_strings *strings) {
    for (int32_t i = 0; i < strings->count; i++)
        leati_free((void *)(uintptr_t)strings->values[i].data);
    leati_free(strings->values);
    *strings = (leati_strings){0};
}

/* Copies one member; `at` is zeroed. */
/* Tensors over the caller's memory become copies. */
static leat_status own_tensors(leat_element *element, leat_error *err) {
    for (int i = 0; i < element->num_tensors; i++) {
        leat_tensor copy = {0};
        if (element->tensors[i].owner != NULL)
            continue;
        LEATI_TRY(leati_tensor_clone(&element->tensors[i], &copy, err));
        element->tensors[i] = copy;
    }
    return LEAT_OK;
}

static leat_status copy_member(const leati_row *row, const void *value, void *at, leat_error *err) {
    void *array = NULL;
    leat_status status = LEAT_OK;
    switch (row->type) {
    case LEATI_ROW_BOOL: *(bool *)at = *(const bool *)value; break;
    case LEATI_ROW_BOOL_OR_NONE: *(int8_t *)at = *(const int8_t *)value; break;
    case LEATI_ROW_INT: *(int64_t *)at = *(const int64_t *)value; break;
    case LEATI_ROW_FLOAT: *(double *)at = *(const double *)value; break;
    case LEATI_ROW_DTYPE: *(leat_dtype *)at = *(const leat_dtype *)value; break;
    case LEATI_ROW_SHAPE: *(leat_shape *)at = *(const leat_shape *)value; break;
    case LEATI_ROW_SEED: *(leati_seed_argument *)at = *(const leati_seed_argument *)value; break;
    case LEATI_ROW_SPEC: *(leat_spec **)at = leat_spec_ref(*(leat_spec *const *)value); break;
    case LEATI_ROW_STRING: {
        const char *text = *(char *const *)value;
        *(char **)at = leati_strdup(text);
        if (text != NULL && *(char **)at == NULL)
            status = leati_no_memory(err);
        break;
    }
    case LEATI_ROW_INTS: {
        const leati_ints *ints = value;
        status = copy_array(ints->values, ints->count, sizeof(int64_t), &array, err);
        if (status == LEAT_OK)
            *(leati_ints *)at = (leati_ints){.values = array, .count = ints->count};
        break;
    }
    case LEATI_ROW_FLOATS: {
        const leati_floats *floats = value;
        status = copy_array(floats->values, floats->count, sizeof(double), &array, err);
        if (status == LEAT_OK)
            *(leati_floats *)at = (leati_floats){.values = array, .count = floats->count};
        break;
    }
    case LEATI_ROW_STRINGS: {
        const leati_strings *strings = value;
        if (strings->values != NULL)
            status = leati_strings_copy(strings->values, strings->count, at, err);
        break;
    }
    case LEATI_ROW_ELEMENT:
        status = leati_element_copy(value, at, err);
        if (status == LEAT_OK && !(row->flags & LEATI_REFERENCED))
            status = own_tensors(at, err);
        break;
    case LEATI_ROW_FUNCTION:
    case LEATI_ROW_OBJECT:
        *(leat_object **)at = leati_object_ref(*(leat_object *const *)value);
        break;
    default: break;
    }
    return status;
}

leat_status leati_rows_copy(const leati_row *rows, const void *from, void *to, leat_error *err) {
    for (const leati_row *row = rows; row->type != LEATI_ROW_END; row++) {
        leat_status status = copy_member(row, const_member(row, from), member(row, to), err);
        if (status != LEAT_OK) {
            leati_rows_fini(rows, to);
            return status;
        }
    }
    return LEAT_OK;
}

/* Releases one member and zeroes it. */
static void fini_member(const leati_row *row, void *at) {
    switch (row->type) {
    case LEATI_ROW_BOOL: *(bool *)at = false; break;
    case LEATI_ROW_BOOL_OR_NONE: *(int8_t *)at = 0; break;
    case LEATI_ROW_INT: *(int64_t *)at = 0; break;
    case LEATI_ROW_FLOAT: *(double *)at = 0; break;
    case LEATI_ROW_DTYPE: *(leat_dtype *)at = LEAT_INVALID; break;
    case LEATI_ROW_SHAPE: *(leat_shape *)at = (leat_shape){0}; break;
    case LEATI_ROW_SEED: *(leati_seed_argument *)at = (leati_seed_argument){0}; break;
    case LEATI_ROW_SPEC:
        leat_spec_unref(*(leat_spec **)at);
        *(leat_spec **)at = NULL;
        break;
    case LEATI_ROW_STRING:
        leati_free(*(char **)at);
        *(char **)at = NULL;
        break;
    case LEATI_ROW_INTS:
        leati_free(((leati_ints *)at)->values);
        *(leati_ints *)at = (leati_ints){0};
        break;
    case LEATI_ROW_FLOATS:
        leati_free(((leati_floats *)at)->values);
        *(leati_floats *)at = (leati_floats){0};
        break;
    case LEATI_ROW_STRINGS: leati_strings_fini(at); break;
    case LEATI_ROW_ELEMENT: leat_element_fini(at); break;
    case LEATI_ROW_FUNCTION:
    case LEATI_ROW_OBJECT:
        leati_object_unref(*(leat_object **)at);
        *(leat_object **)at = NULL;
        break;
    default: break;
    }
}

void leati_rows_fini(const leati_row *rows, void *args) {
    for (const leati_row *row = rows; row->type != LEATI_ROW_END; row++)
        fini_member(row, member(row, args));
}

/* Is a required argument absent? Numbers always have a value. */
static bool is_missing(const leati_row *row, const void *at) {
    switch (row->type) {
    case LEATI_ROW_STRING: return *(char *const *)at == NULL;
    case LEATI_ROW_SPEC: return *(leat_spec *const *)at == NULL;
    case LEATI_ROW_ELEMENT: return ((const leat_element *)at)->spec == NULL;
    case LEATI_ROW_DTYPE: return *(const leat_dtype *)at == LEAT_INVALID;
    case LEATI_ROW_FUNCTION:
    case LEATI_ROW_OBJECT: return *(leat_object *const *)at == NULL;
    default: return false;
    }
}

static bool in_range(const leati_row *row, int64_t value) {
    if (row->minimum == 0 && row->maximum == 0)
        return true;
    if ((row->flags & LEATI_AUTOTUNE) && value == -1)
        return true;
    if ((row->flags & LEATI_NONE) && value == leati_row_default_int(row))
        return true;
    return value >= row->minimum && value <= row->maximum;
}

static leat_status fail_range(const leati_row *row, const char *what, int64_t value,
                              leat_error *err) {
    const char *autotune = row->flags & LEATI_AUTOTUNE ? ", or AUTOTUNE" : "";
    if (row->maximum == INT64_MAX)
        return leati_refuse(err, VALUE, "%s: %s must be at least %" PRId64 "%s, found %" PRId64,
                            what, row->name, row->minimum, autotune, value);
    return leati_refuse(err, VALUE,
                        "%s: %s must be from %" PRId64 " to %" PRId64 "%s, found %" PRId64, what,
                        row->name, row->minimum, row->maximum, autotune, value);
}

leat_status leati_rows_check(const leati_row *rows, const void *args, const char *what,
                             leat_error *err) {
    for (const leati_row *row = rows; row->type != LEATI_ROW_END; row++) {
        const void *at = const_member(row, args);
        if ((row->flags & LEATI_REQUIRED) && is_missing(row, at))
            return leati_refuse(err, VALUE, "%s: argument %s is missing", what, row->name);
        if (row->type == LEATI_ROW_INT && !in_range(row, *(const int64_t *)at))
            return fail_range(row, what, *(const int64_t *)at, err);
        const leati_ints *ints = at;
        for (int32_t i = 0; row->type == LEATI_ROW_INTS && i < ints->count; i++)
            if (!in_range(row, ints->values[i]))
                return fail_range(row, what, ints->values[i], err);
    }
    return LEAT_OK;
}

const leati_row *leati_rows_find(const leati_row *rows, const char *name) {
    for (const leati_row *row = rows; name != NULL && row->type != LEATI_ROW_END; row++)
        if (strcmp(row->name, name) == 0)
            return row;
    return NULL;
}

const char *leati_row_type_name(leati_row_type type) {
    static const char *const names[] = {
        [LEATI_ROW_END] = "nothing",
        [LEATI_ROW_BOOL] = "bool",
        [LEATI_ROW_BOOL_OR_NONE] = "bool or None",
        [LEATI_ROW_INT] = "integer",
        [LEATI_ROW_FLOAT] = "number",
        [LEATI_ROW_STRING] = "string",
        [LEATI_ROW_DTYPE] = "dtype",
        [LEATI_ROW_SHAPE] = "shape",
        [LEATI_ROW_SPEC] = "spec",
        [LEATI_ROW_SEED] = "integer seed",
        [LEATI_ROW_INTS] = "list of integers",
        [LEATI_ROW_FLOATS] = "list of numbers",
        [LEATI_ROW_STRINGS] = "list of strings",
        [LEATI_ROW_ELEMENT] = "structure of tensors",
        [LEATI_ROW_FUNCTION] = "function",
        [LEATI_ROW_OBJECT] = "object",
    };
    return names[type];
}
