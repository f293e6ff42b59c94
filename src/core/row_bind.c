/* Binding an argument to a computed tensor: `lambda x: from_tensors(x).repeat(x)` gives repeat its
 * count only when the iterator is opened. The tensor's dtype and rank must fit the row's type; the
 * old value is released only when the new one is ready.
 *
 * Failures: INVALID_ARGUMENT naming the argument, RESOURCE_EXHAUSTED. No locks. */
#include "core/row.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/random.h"
#include "core/spec.h"
#include "core/tensor.h"
#include <string.h>

static leat_status fail_type(const leati_row *row, const leat_tensor *value, leat_error *err) {
    leat_shape shape = leat_tensor_shape(value);
    char text[128];
    return leati_refuse(err, SHAPE, "argument %s: expected %s, found %s%s", row->name,
                        leati_row_type_name(row->type), leat_dtype_name(value->dtype),
                        leati_shape_text(&shape, text));
}

static bool is_numeric(leat_dtype dtype) {
    return leati_dtype_is_integer(dtype) || leati_dtype_is_float(dtype);
}

static leat_status bind_ints(const leat_tensor *value, leati_ints *at, leat_error *err) {
    int64_t count = leat_tensor_count(value);
    int64_t *values = leati_alloc((size_t)count, sizeof *values);
    if (values == NULL)
        return leati_no_memory(err);
    for (int64_t i = 0; i < count; i++)
        values[i] = leati_tensor_int_at(value, i);
    leati_free(at->values);
    *at = (leati_ints){.values = values, .count = (int32_t)count};
    return LEAT_OK;
}

static leat_status bind_floats(const leat_tensor *value, leati_floats *at, leat_error *err) {
    int64_t count = leat_tensor_count(value);
    double *values = leati_alloc((size_t)count, sizeof *values);
    if (values == NULL)
        return leati_no_memory(err);
    for (int64_t i = 0; i < count; i++)
        values[i] = leati_tensor_float_at(value, i);
    leati_free(at->values);
    *at = (leati_floats){.values = values, .count = (int32_t)count};
    return LEAT_OK;
}

static leat_status bind_string(const leat_tensor *value, char **at, leat_error *err) {
    const leat_string *text = value->data;
    char *copy = leati_strndup(text->size > 0 ? text->data : "", text->size);
    if (copy == NULL)
        return leati_no_memory(err);
    leati_free(*at);
    *at = copy;
    return LEAT_OK;
}

static leat_status bind_strings(const leat_tensor *value, leati_strings *at, leat_error *err) {
    leati_strings copy;
    LEATI_TRY(leati_strings_copy(value->data, leat_tensor_count(value), &copy, err));
    leati_strings_fini(at);
    *at = copy;
    return LEAT_OK;
}

static leat_status bind_element(const leat_tensor *value, leat_element *at, leat_error *err) {
    leat_spec *spec = leat_spec_tensor(value->dtype, leat_tensor_shape(value), err);
    if (spec == NULL)
        return LEAT_RESOURCE_EXHAUSTED; /* the dtype was checked, the shape is a tensor's */
    leat_status status = leat_element_set(at, spec, value, err);
    leat_spec_unref(spec);
    return status;
}

/* A vector of integers as a shape; -1 is an unknown dimension. */
static leat_status bind_shape(const leati_row *row, const leat_tensor *value, leat_shape *at,
                              leat_error *err) {
    leat_shape shape = {.rank = LEAT_MAX_RANK + 1};
    int64_t count = leat_tensor_count(value);
    if (value->rank == 1 && count <= LEAT_MAX_RANK) {
        shape.rank = (int32_t)count;
        for (int64_t i = 0; i < count; i++)
            shape.dims[i] = leati_tensor_int_at(value, i);
    }
    if (!leati_shape_is_valid(&shape))
        return fail_type(row, value, err);
    *at = shape;
    return LEAT_OK;
}

static leat_status bind_int(const leati_row *row, const leat_tensor *value, int64_t *out,
                            leat_error *err) {
    leat_status status = leati_tensor_to_int64(value, out, err);
    if (status != LEAT_OK)
        leati_prefix(err, "argument %s", row->name);
    return status;
}

static leat_status bind_list(const leati_row *row, void *at, const leat_tensor *value,
                             leat_error *err) {
    leat_dtype dtype = value->dtype;
    if (value->rank > 1 || leat_tensor_count(value) > INT32_MAX)
        return fail_type(row, value, err);
    if (row->type == LEATI_ROW_INTS && leati_dtype_is_integer(dtype))
        return bind_ints(value, at, err);
    if (row->type == LEATI_ROW_FLOATS && is_numeric(dtype))
        return bind_floats(value, at, err);
    if (row->type == LEATI_ROW_STRINGS && dtype == LEAT_STRING)
        return bind_strings(value, at, err);
    return fail_type(row, value, err);
}

static leat_status bind_member(const leati_row *row, void *at, const leat_tensor *value,
                               leat_error *err) {
    leat_dtype dtype = value->dtype;
    int64_t number;
    switch (row->type) {
    case LEATI_ROW_INT:
    case LEATI_ROW_SEED:
        if (!leati_dtype_is_integer(dtype) || value->rank != 0)
            return fail_type(row, value, err);
        LEATI_TRY(bind_int(row, value, &number, err));
        if (row->type == LEATI_ROW_INT)
            *(int64_t *)at = number;
        else
            *(leati_seed_argument *)at = (leati_seed_argument){.given = true, .value = number};
        return LEAT_OK;
    case LEATI_ROW_BOOL:
    case LEATI_ROW_BOOL_OR_NONE:
        if (dtype != LEAT_BOOL || value->rank != 0)
            return fail_type(row, value, err);
        if (row->type == LEATI_ROW_BOOL)
            *(bool *)at = leati_tensor_int_at(value, 0) != 0;
        else
            *(int8_t *)at = leati_tensor_int_at(value, 0) != 0;
        return LEAT_OK;
    case LEATI_ROW_FLOAT:
        if (!is_numeric(dtype) || value->rank != 0)
            return fail_type(row, value, err);
        *(double *)at = leati_tensor_float_at(value, 0);
        return LEAT_OK;
    case LEATI_ROW_SHAPE:
        return leati_dtype_is_integer(dtype) ? bind_shape(row, value, at, err)
                                             : fail_type(row, value, err);
    case LEATI_ROW_STRING:
        if (dtype != LEAT_STRING || value->rank != 0)
            return fail_type(row, value, err);
        return bind_string(value, at, err);
    case LEATI_ROW_ELEMENT: return bind_element(value, at, err);
    default: return bind_list(row, at, value, err);
    }
}

leat_status leati_rows_bind(const leati_row *rows, void *args, const char *name,
                            const leat_tensor *value, leat_error *err) {
    const leati_row *row = leati_rows_find(rows, name);
    if (row == NULL)
        return leati_refuse(err, VALUE, "there is no argument %s", name);
    if (leat_dtype_size(value->dtype) == 0)
        return leati_refuse(err, VALUE,
                            "argument %s: the tensor is empty (dtype "
                            "invalid); the call that made it failed",
                            name);
    return bind_member(row, (char *)args + row->offset, value, err);
}
