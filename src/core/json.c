/* The smallest JSON values: numbers, strings and shapes in the forms of the recorded cases (floats
 * that JSON lacks as text, bytes that are not printable as hex). Failures: INVALID_ARGUMENT with
 * what was expected and found, RESOURCE_EXHAUSTED. No locks. */
#include "core/json.h"
#include "core/json_parts.h"

#include "base/alloc.h"
#include "base/error.h"
#include "core/spec.h"
#include "core/tensor.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *leati_json_no_memory(leat_error *err) {
    leati_fail(err, LEAT_RESOURCE_EXHAUSTED, "no memory for a JSON value");
    return NULL;
}

const char *leati_json_type(const json_t *json) {
    if (json == NULL)
        return "nothing";
    switch (json_typeof(json)) {
    case JSON_OBJECT: return "an object";
    case JSON_ARRAY: return "a list";
    case JSON_STRING: return "a text";
    case JSON_INTEGER: return "an integer";
    case JSON_REAL: return "a real number";
    case JSON_NULL: return "null";
    default: return json_is_true(json) ? "true" : "false";
    }
}

json_t *leati_json_of_double(double value) {
    if (isnan(value))
        return json_string("nan");
    if (isinf(value))
        return json_string(value > 0 ? "inf" : "-inf");
    return json_real(value);
}

/* A float32 as the double that its shortest decimal names. Both conversions follow the same locale,
 * so its decimal point does not matter. */
static json_t *of_float(float value) {
    if (!isfinite(value))
        return leati_json_of_double((double)value);
    double decimal = (double)value;
    /* 6 digits suffice for most float32 that people write, 9 for all; (float)0.1 is then 0.1 again
     * and not 0.10000000149011612. */
    for (int digits = 6; digits <= 9; digits++) {
        char text[32];
        snprintf(text, sizeof text, "%.*g", digits, (double)value);
        decimal = strtod(text, NULL);
        if ((float)decimal == value)
            break;
    }
    return json_real(decimal);
}

/* A complex number: a list of its two parts. */
static json_t *of_parts(const leat_tensor *tensor, int64_t index) {
    json_t *parts[2];
    for (int i = 0; i < 2; i++)
        parts[i] = tensor->dtype == LEAT_COMPLEX64
                       ? of_float(((const float *)tensor->data)[2 * index + i])
                       : leati_json_of_double(((const double *)tensor->data)[2 * index + i]);
    return json_pack("[oo]", parts[0], parts[1]); /* NULL where one of them is */
}

json_t *leati_json_of_value(const leat_tensor *tensor, int64_t index) {
    switch (tensor->dtype) {
    case LEAT_BOOL: return json_boolean(leati_tensor_int_at(tensor, index) != 0);
    case LEAT_FLOAT32: return of_float(((const float *)tensor->data)[index]);
    case LEAT_FLOAT16:
    case LEAT_BFLOAT16:
    case LEAT_FLOAT64: return leati_json_of_double(leati_tensor_float_at(tensor, index));
    case LEAT_COMPLEX64:
    case LEAT_COMPLEX128: return of_parts(tensor, index);
    case LEAT_UINT64: {
        uint64_t value = ((const uint64_t *)tensor->data)[index];
        char text[24];
        /* JSON's integers here are signed 64 bits; larger ones travel as text (see
         * json_parse.c). */
        if (value <= INT64_MAX)
            return json_integer((json_int_t)value);
        snprintf(text, sizeof text, "%llu", (unsigned long long)value);
        return json_string(text);
    }
    case LEAT_STRING: {
        const leat_string *string = (const leat_string *)tensor->data + index;
        return leati_json_of_string(string->data, string->size);
    }
    default: return json_integer(leati_tensor_int_at(tensor, index));
    }
}

json_t *leati_json_of_string(const char *bytes, size_t size) {
    bool printable = true;
    /* Plain ASCII alone. JSON must be UTF-8, and bytes of any other kind come back exactly from
     * hex. */
    for (size_t i = 0; printable && i < size; i++)
        printable = bytes[i] >= 0x20 && bytes[i] < 0x7f;
    /* The data of an empty string may be NULL. */
    if (printable)
        return json_stringn(size > 0 ? bytes : "", size);
    char *hex = leati_alloc(size, 2);
    if (hex == NULL)
        return NULL;
    for (size_t i = 0; i < size; i++) {
        static const char digits[] = "0123456789abcdef";
        hex[2 * i] = digits[(uint8_t)bytes[i] >> 4];
        hex[2 * i + 1] = digits[(uint8_t)bytes[i] & 15];
    }
    json_t *text = json_stringn(hex, 2 * size);
    leati_free(hex);
    return text != NULL ? json_pack("{s:o}", "hex", text) : NULL;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

leat_status leati_json_string_size(const json_t *json, size_t *out, leat_error *err) {
    if (json_is_string(json)) {
        /* Not strlen: a text may have NUL bytes. */
        *out = json_string_length(json);
        return LEAT_OK;
    }
    const json_t *hex = json_is_object(json) ? json_object_get(json, "hex") : NULL;
    if (!json_is_string(hex))
        return leati_refuse(err, VALUE, "expected a text or {\"hex\": \"00ff\"}, found %s",
                            leati_json_type(json));
    const char *digits = json_string_value(hex);
    size_t length = json_string_length(hex);
    for (size_t i = 0; i < length; i++)
        if (hex_digit(digits[i]) < 0)
            return leati_refuse(err, VALUE, "expected hexadecimal digits, found \"%.40s\"", digits);
    if (length % 2 != 0)
        return leati_refuse(err, VALUE,
                            "expected two hexadecimal digits per byte, found %zu digits", length);
    *out = length / 2;
    return LEAT_OK;
}

void leati_json_string_bytes(const json_t *json, char *bytes) {
    if (json_is_string(json)) {
        memcpy(bytes, json_string_value(json), json_string_length(json));
        return;
    }
    const json_t *hex = json_object_get(json, "hex");
    const char *digits = json_string_value(hex);
    for (size_t i = 0; i < json_string_length(hex) / 2; i++)
        bytes[i] = (char)(hex_digit(digits[2 * i]) << 4 | hex_digit(digits[2 * i + 1]));
}

leat_status leati_json_to_string(const json_t *json, char **bytes, size_t *size, leat_error *err) {
    LEATI_TRY(leati_json_string_size(json, size, err));
    char *copy = leati_alloc(*size + 1, 1);
    if (copy == NULL)
        return leati_no_memory(err);
    leati_json_string_bytes(json, copy);
    /* For callers that want a C string; it is not counted in *size. */
    copy[*size] = '\0';
    *bytes = copy;
    return LEAT_OK;
}

leat_status leati_json_to_double(const json_t *json, double *out, leat_error *err) {
    const char *text = json_string_value(json);
    if (json_is_number(json))
        *out = json_number_value(json);
    else if (text != NULL && strcmp(text, "nan") == 0)
        *out = (double)NAN;
    else if (text != NULL && strcmp(text, "inf") == 0)
        *out = (double)INFINITY;
    else if (text != NULL && strcmp(text, "-inf") == 0)
        *out = -(double)INFINITY;
    else
        return leati_refuse(err, VALUE, "expected a number, \"nan\", \"inf\" or \"-inf\", found %s",
                            leati_json_type(json));
    return LEAT_OK;
}

json_t *leati_json_of_shape(const leat_shape *shape) {
    if (shape->rank < 0)
        return json_null();
    json_t *list = json_array();
    for (int32_t i = 0; list != NULL && i < shape->rank; i++) {
        if (json_array_append_new(list, json_integer(shape->dims[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

leat_status leati_json_to_shape(const json_t *json, leat_shape *out, leat_error *err) {
    leat_shape shape = {.rank = LEAT_UNKNOWN_RANK};
    if (!json_is_null(json)) {
        /* The size of what is not an array is 0. */
        if (!json_is_array(json) || json_array_size(json) > LEAT_MAX_RANK)
            return leati_refuse(
                err, SHAPE,
                "expected a shape (a list of at most %d dimensions, or null), found "
                "%s of %zu",
                LEAT_MAX_RANK, leati_json_type(json), json_array_size(json));
        shape.rank = (int32_t)json_array_size(json);
    }
    for (int32_t i = 0; i < shape.rank; i++) {
        const json_t *dim = json_array_get(json, (size_t)i);
        if (!json_is_null(dim) && (!json_is_integer(dim) || json_integer_value(dim) < -1))
            return leati_refuse(
                err, SHAPE,
                "dimension %d of a shape: expected an integer of at least -1, found "
                "%s",
                (int)i, leati_json_type(dim));
        shape.dims[i] = json_is_null(dim) ? LEAT_UNKNOWN_DIM : json_integer_value(dim);
    }
    *out = shape;
    return LEAT_OK;
}

leat_status leati_json_to_dtype(const json_t *json, leat_dtype *out, leat_error *err) {
    const char *name = json_string_value(json);
    leat_dtype dtype = leat_dtype_from_name(name);
    if (dtype == LEAT_INVALID)
        return leati_refuse(
            err, VALUE, "expected a dtype such as \"int64\" or \"float32\", found %s%s%.40s%s",
            leati_json_type(json), name ? " \"" : "", name ? name : "", name ? "\"" : "");
    *out = dtype;
    return LEAT_OK;
}
