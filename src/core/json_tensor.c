/* Tensor literals: {"dtype", "shape", "data"}, {"dtype", "shape", "packed"} of large ones, and bare
 * values that become tensors as tf.constant makes them. Every number is checked against its dtype's
 * range; string bytes go into the tensor's own buffer. Failures: INVALID_ARGUMENT naming the value,
 * RESOURCE_EXHAUSTED. No locks. */
#include "core/json_parts.h"

#include "base/alloc.h"
#include "base/base64.h"
#include "base/error.h"
#include "core/half.h"
#include "core/spec.h"
#include "core/tensor.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Numbers from so many bytes on are written as their bytes, which people do not read anyway. */
enum { PACKED_BYTES = 4096 };

static bool is_number(leat_dtype dtype) {
    return leati_dtype_is_number(dtype) || dtype == LEAT_BOOL;
}

static bool is_packed(const leat_tensor *tensor) {
    return is_number(tensor->dtype) && leat_tensor_bytes(tensor) >= PACKED_BYTES;
}

/* From memory to little-endian bytes, or back. */
static void put_in_order(void *values, size_t size, size_t each) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    (void)values, (void)size, (void)each;
#else
    for (uint8_t *at = values, *end = at + size; at < end; at += each)
        for (size_t i = 0; i < each / 2; i++) {
            uint8_t byte = at[i];
            at[i] = at[each - 1 - i];
            at[each - 1 - i] = byte;
        }
#endif
}

/* The values' bytes as base64; NULL without memory. */
static json_t *pack_values(const leat_tensor *tensor) {
    const size_t size = leat_tensor_bytes(tensor), letters = leati_base64_letters(size);
    char *text = leati_alloc(letters, 1);
    if (text == NULL)
        return NULL;
    leati_base64_encode(tensor->data, size, text);
    json_t *json = json_stringn_nocheck(text, letters);
    leati_free(text);
    return json;
}

static json_t *list_values(const leat_tensor *tensor) {
    int64_t count = leat_tensor_count(tensor);
    json_t *data = json_array();
    for (int64_t i = 0; data != NULL && i < count; i++) {
        if (json_array_append_new(data, leati_json_of_value(tensor, i)) != 0) {
            json_decref(data);
            data = NULL;
        }
    }
    return data;
}

json_t *leati_json_of_tensor(const leat_tensor *tensor, leat_error *err) {
    if (tensor->dtype == LEAT_OBJECT || leat_dtype_size(tensor->dtype) == 0) {
        leati_fail(err, LEAT_UNIMPLEMENTED, "a tensor of dtype %s cannot be written as JSON",
                   leat_dtype_name(tensor->dtype));
        return NULL;
    }
    leat_shape shape = leat_tensor_shape(tensor);
    const bool packs = is_packed(tensor);
    /* json_pack takes over both references also where it fails. */
    json_t *json = json_pack("{s:s, s:o, s:o}", "dtype", leat_dtype_name(tensor->dtype), "shape",
                             leati_json_of_shape(&shape), packs ? "packed" : "data",
                             packs ? pack_values(tensor) : list_values(tensor));
    return json != NULL ? json : leati_json_no_memory(err);
}

static leat_status fail_value(leat_dtype dtype, const json_t *json, leat_error *err) {
    if (json_is_integer(json))
        return leati_refuse(err, VALUE, "expected a value of %s, found %" JSON_INTEGER_FORMAT,
                            leat_dtype_name(dtype), json_integer_value(json));
    return leati_refuse(err, VALUE, "expected a value of %s, found %s", leat_dtype_name(dtype),
                        leati_json_type(json));
}

/* Text of decimal digits as a uint64. */
static bool decimal_text(const json_t *json, uint64_t *out) {
    const char *text = json_string_value(json);
    /* strtoull alone would take signs and blanks; the length finds a NUL inside. */
    if (text == NULL || text[0] == '\0' || strspn(text, "0123456789") != json_string_length(json))
        return false;
    errno = 0;
    *out = strtoull(text, NULL, 10);
    return errno == 0;
}

/* The inclusive range of a signed or small unsigned dtype. */
static void range_of(leat_dtype dtype, int64_t *low, int64_t *high) {
    int bits = 8 * (int)leat_dtype_size(dtype);
    bool is_unsigned = leati_dtype_is_unsigned(dtype);
    *low = is_unsigned ? 0 : bits == 64 ? INT64_MIN : -((int64_t)1 << (bits - 1));
    *high = bits == 64 ? INT64_MAX : ((int64_t)1 << (is_unsigned ? bits : bits - 1)) - 1;
}

static leat_status read_integer(leat_dtype dtype, const json_t *json, char *at, leat_error *err) {
    /* Two's complement: the low bytes are the value, signed or not. */
    uint64_t large = 0;
    int64_t low;
    int64_t high;
    range_of(dtype, &low, &high);
    if (decimal_text(json, &large)) {
        /* Text of digits may be any dtype's; only uint64 has numbers beyond int64. */
        if (dtype != LEAT_UINT64 && large > (uint64_t)high)
            return fail_value(dtype, json, err);
    } else {
        if (!json_is_integer(json) || json_integer_value(json) < low ||
            json_integer_value(json) > high)
            return fail_value(dtype, json, err);
        large = (uint64_t)json_integer_value(json);
    }
    switch (leat_dtype_size(dtype)) {
    case 1: *(uint8_t *)at = (uint8_t)large; break;
    case 2: *(uint16_t *)(void *)at = (uint16_t)large; break;
    case 4: *(uint32_t *)(void *)at = (uint32_t)large; break;
    default: *(uint64_t *)(void *)at = large; break;
    }
    return LEAT_OK;
}

static leat_status read_float(leat_dtype dtype, const json_t *json, char *at, leat_error *err) {
    double value;
    LEATI_TRY(leati_json_to_double(json, &value, err));
    switch (dtype) {
    case LEAT_FLOAT16: *(uint16_t *)(void *)at = leati_half_of_float((float)value); break;
    case LEAT_BFLOAT16: *(uint16_t *)(void *)at = leati_bfloat16_of_float((float)value); break;
    case LEAT_FLOAT32: *(float *)(void *)at = (float)value; break;
    default: *(double *)(void *)at = value; break;
    }
    return LEAT_OK;
}

/* A list of the real part and the imaginary one. */
static leat_status read_complex(leat_dtype dtype, const json_t *json, char *at, leat_error *err) {
    const leat_dtype part = leati_dtype_part(dtype);
    if (json_array_size(json) != 2) /* 0 of what is no list */
        return leati_refuse(err, VALUE, "expected a %s as [real, imaginary], found %s",
                            leat_dtype_name(dtype), leati_json_type(json));
    LEATI_TRY(read_float(part, json_array_get(json, 0), at, err));
    return read_float(part, json_array_get(json, 1), at + leat_dtype_size(part), err);
}

static leat_status read_values(const json_t *values, leat_tensor *tensor, leat_error *err) {
    leat_dtype dtype = tensor->dtype;
    size_t size = leat_dtype_size(dtype);
    for (size_t i = 0; i < json_array_size(values); i++) {
        const json_t *value = json_array_get(values, i);
        char *at = (char *)tensor->data + i * size;
        leat_status status = LEAT_OK;
        if (leati_dtype_is_float(dtype))
            status = read_float(dtype, value, at, err);
        else if (leati_dtype_is_complex(dtype))
            status = read_complex(dtype, value, at, err);
        else if (leati_dtype_is_integer(dtype))
            status = read_integer(dtype, value, at, err);
        else if (json_is_boolean(value))
            *(uint8_t *)at = json_is_true(value) ? 1 : 0;
        else
            status = fail_value(dtype, value, err);
        if (status != LEAT_OK) {
            leati_prefix(err, "value %zu of a tensor", i);
            return status;
        }
    }
    return LEAT_OK;
}

/* Headers and bytes in one buffer: the sizes first, then the bytes. */
static leat_status read_strings(const leat_shape *shape, const json_t *values, leat_tensor *out,
                                leat_error *err) {
    size_t count = json_array_size(values);
    size_t total = count * sizeof(leat_string);
    for (size_t i = 0; i < count; i++) {
        size_t size;
        leat_status status = leati_json_string_size(json_array_get(values, i), &size, err);
        if (status != LEAT_OK) {
            leati_prefix(err, "value %zu of a tensor", i);
            return status;
        }
        if (!leati_add_size(total, size, &total))
            return leati_no_memory(err);
    }
    leat_buffer *owner = leat_buffer_new(total, err);
    if (owner == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leat_string *strings = leat_buffer_data(owner);
    char *bytes = (char *)(strings + count);
    leat_error unwanted, *e = leati_error_unwanted(&unwanted);
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(values, i);
        size_t size = 0;
        /* It was checked above, so it does not fail here. */
        if (leati_json_string_size(value, &size, e) == LEAT_OK)
            leati_json_string_bytes(value, bytes);
        strings[i] = (leat_string){.data = bytes, .size = size};
        bytes += size;
    }
    *out = leat_tensor_view(LEAT_STRING, *shape, strings);
    out->owner = owner;
    return LEAT_OK;
}

leat_status leati_json_to_values(leat_dtype dtype, const leat_shape *shape, const json_t *values,
                                 leat_tensor *out, leat_error *err) {
    char text[128];
    int64_t count = leati_shape_count(shape);
    if (count < 0 || !json_is_array(values) || json_array_size(values) != (size_t)count)
        return leati_refuse(
            err, SHAPE, "expected a flat list of the values of shape %s, found %s of %zu",
            leati_shape_text(shape, text), leati_json_type(values), json_array_size(values));
    if (dtype == LEAT_OBJECT)
        return leati_fail(err, LEAT_UNIMPLEMENTED, "dtype object cannot be read from JSON");
    if (dtype == LEAT_STRING)
        return read_strings(shape, values, out, err);
    leat_tensor tensor;
    leat_status status = leat_tensor_new(dtype, *shape, &tensor, err);
    if (status != LEAT_OK)
        return status;
    status = read_values(values, &tensor, err);
    if (status != LEAT_OK) {
        leat_tensor_unref(&tensor);
        return status;
    }
    *out = tensor;
    return LEAT_OK;
}

static leat_status check_bools(const leat_tensor *tensor, leat_error *err) {
    const uint8_t *values = tensor->data;
    for (int64_t i = 0; i < leat_tensor_count(tensor); i++)
        if (values[i] > 1)
            return leati_refuse(err, VALUE, "value %" PRId64 " of a tensor: byte %d is no bool", i,
                                values[i]);
    return LEAT_OK;
}

static leat_status read_packed(leat_dtype dtype, const leat_shape *shape, const json_t *packed,
                               leat_tensor *out, leat_error *err) {
    char text[128];
    leat_tensor tensor;
    const char *letters = json_string_value(packed);
    const size_t size = json_string_length(packed), each = leat_dtype_size(dtype);
    const int64_t count = leati_shape_count(shape);
    if (letters == NULL || !is_number(dtype))
        return leati_refuse(err, DTYPE, "expected the bytes of numbers as base64, found %s for %s",
                            leati_json_type(packed), leat_dtype_name(dtype));
    if (count < 0 || (uint64_t)count > SIZE_MAX / 2 / each ||
        size != leati_base64_letters((size_t)count * each))
        return leati_refuse(err, SHAPE,
                            "expected the bytes of %s values of shape %s as base64, found %zu "
                            "letters",
                            leat_dtype_name(dtype), leati_shape_text(shape, text), size);
    LEATI_TRY(leat_tensor_new(dtype, *shape, &tensor, err));
    const size_t place = leati_base64_decode(letters, size, tensor.data);
    leat_status status = place == size ? LEAT_OK
                                       : leati_refuse(err, VALUE,
                                                      "the bytes of a tensor: character %zu is no "
                                                      "letter of base64",
                                                      place);
    put_in_order(tensor.data, (size_t)count * each, leat_dtype_size(leati_dtype_part(dtype)));
    if (status == LEAT_OK && dtype == LEAT_BOOL)
        status = check_bools(&tensor, err);
    if (status != LEAT_OK)
        leat_tensor_unref(&tensor);
    else
        *out = tensor;
    return status;
}

leat_status leati_json_to_tensor(const json_t *json, leat_tensor *out, leat_error *err) {
    leat_dtype dtype;
    leat_shape shape;
    if (!json_is_object(json))
        return leati_refuse(err, SHAPE, "expected {\"dtype\", \"shape\", \"data\"}, found %s",
                            leati_json_type(json));
    LEATI_TRY(leati_json_to_dtype(json_object_get(json, "dtype"), &dtype, err));
    LEATI_TRY(leati_json_to_shape(json_object_get(json, "shape"), &shape, err));
    const json_t *packed = json_object_get(json, "packed");
    if (packed != NULL)
        return read_packed(dtype, &shape, packed, out, err);
    return leati_json_to_values(dtype, &shape, json_object_get(json, "data"), out, err);
}

/* What the values of a bare list are together. */
struct bare {
    json_t *flat;
    leat_shape shape;
    bool strings, bools, reals, integers, wide;
};

static void classify(const json_t *json, struct bare *bare) {
    if (json_is_integer(json)) {
        json_int_t value = json_integer_value(json);
        bare->integers = true;
        bare->wide = bare->wide || value < INT32_MIN || value > INT32_MAX;
    }
    bare->reals = bare->reals || json_is_real(json);
    bare->bools = bare->bools || json_is_boolean(json);
    bare->strings = bare->strings || json_is_string(json) || json_is_object(json);
}

/* Appends the values below `json` and checks that all lists at a level have one length. */
static leat_status flatten(const json_t *json, int level, struct bare *bare, leat_error *err) {
    if (!json_is_array(json)) {
        /* The first value was found at depth `rank`; others must lie as deep. */
        if (level != bare->shape.rank)
            return leati_refuse(err, SHAPE,
                                "a list mixes values and lists; a tensor needs a regular shape");
        classify(json, bare);
        if (json_array_append(bare->flat, (json_t *)(uintptr_t)json) != 0)
            leati_json_no_memory(err);
        else
            return LEAT_OK;
        return LEAT_RESOURCE_EXHAUSTED;
    }
    size_t size = json_array_size(json);
    if (level >= bare->shape.rank || (size_t)bare->shape.dims[level] != size)
        return leati_refuse(err, SHAPE,
                            "lists of one level differ in length; a tensor needs a regular shape");
    for (size_t i = 0; i < size; i++)
        LEATI_TRY(flatten(json_array_get(json, i), level + 1, bare, err));
    return LEAT_OK;
}

leat_status leati_json_to_bare(const json_t *json, leat_tensor *out, leat_error *err) {
    struct bare bare = {.flat = json_array()};
    if (bare.flat == NULL) {
        leati_json_no_memory(err);
        return LEAT_RESOURCE_EXHAUSTED;
    }
    /* The first value of each level says what the shape has to be. */
    for (const json_t *at = json; json_is_array(at); at = json_array_get(at, 0)) {
        if (bare.shape.rank == LEAT_MAX_RANK) {
            json_decref(bare.flat);
            return leati_refuse(err, SHAPE, "a tensor has at most %d dimensions", LEAT_MAX_RANK);
        }
        bare.shape.dims[bare.shape.rank++] = (int64_t)json_array_size(at);
    }
    leat_status status = flatten(json, 0, &bare, err);
    /* Integers and reals are one kind: together they are float32, as in tf.constant([1, 2.5]). */
    int kinds = bare.strings + bare.bools + (bare.reals || bare.integers);
    if (status == LEAT_OK && kinds > 1)
        status = leati_refuse(err, DTYPE,
                              "a list mixes numbers, texts and bools; a tensor has one dtype");
    if (status == LEAT_OK) {
        /* As tf.constant does it, which takes int32 where all integers fit. */
        leat_dtype dtype = LEAT_FLOAT32; /* of an empty list too, as tf.constant([]) */
        if (bare.strings)
            dtype = LEAT_STRING;
        else if (bare.bools)
            dtype = LEAT_BOOL;
        else if (bare.integers && !bare.reals)
            dtype = bare.wide ? LEAT_INT64 : LEAT_INT32;
        status = leati_json_to_values(dtype, &bare.shape, bare.flat, out, err);
    }
    json_decref(bare.flat);
    return status;
}
