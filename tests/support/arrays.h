/* Recorded cases for tests: JSON files of tests/golden/data and the arrays in them.
 *
 * Header only: include it after "support/cmocka.h". An array is {"dtype", "shape"} with
 * its numbers in "data", or as a slice of a .npy file ("file", "offset" in elements). Whatever is
 * wrong with a file fails the test. */
#ifndef ARRAYS_H
#define ARRAYS_H

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARRAYS_UNUSED __attribute__((unused))

/* Is this the kind of processor that the cases were recorded on? What libjpeg's vectors make of the
 * numbers of damaged pictures, which are beyond those that a JPEG may hold, is each kind's own. */
#if defined(__x86_64__)
#define ARRAYS_RECORDED_HERE true
#else
#define ARRAYS_RECORDED_HERE false
#endif

/* A whole file; free() it. */
ARRAYS_UNUSED static uint8_t *arrays_read_file(const char *folder, const char *name,
                                               size_t *out_size) {
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        fail_msg("cannot open %s", path);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long size = ftell(file);
    assert_true(size >= 0);
    rewind(file);
    uint8_t *data = malloc((size_t)size + 1);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, (size_t)size, file), size);
    (void)fclose(file);
    data[size] = 0;
    *out_size = (size_t)size;
    return data;
}

/* The object of a JSON file; json_decref it. */
ARRAYS_UNUSED static json_t *arrays_read_json(const char *folder, const char *name) {
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    json_error_t error;
    json_t *root = json_load_file(path, 0, &error);
    if (root == NULL)
        fail_msg("%s: line %d: %s", path, error.line, error.text);
    return root;
}

ARRAYS_UNUSED static const char *arrays_text(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text == NULL ? "" : text;
}

ARRAYS_UNUSED static int64_t arrays_int(const json_t *object, const char *key, int64_t absent) {
    const json_t *value = json_object_get(object, key);
    return value == NULL ? absent : (int64_t)json_number_value(value);
}

ARRAYS_UNUSED static bool arrays_bool(const json_t *object, const char *key, bool absent) {
    const json_t *value = json_object_get(object, key);
    return json_is_boolean(value) ? json_is_true(value) : absent;
}

typedef struct arrays_array {
    char dtype[16];
    int32_t rank;
    int64_t shape[8];
    size_t count;
    size_t item_size;
    void *data;
} arrays_array;

ARRAYS_UNUSED static size_t arrays_item_size(const char *dtype) {
    static const struct {
        const char *name;
        size_t size;
    } sizes[] = {{"uint8", 1}, {"int8", 1},   {"bool", 1},   {"uint16", 2},
                 {"int16", 2}, {"int32", 4},  {"uint32", 4}, {"float32", 4},
                 {"int64", 8}, {"uint64", 8}, {"float64", 8}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (strcmp(dtype, sizes[i].name) == 0)
            return sizes[i].size;
    fail_msg("unknown dtype %s", dtype);
    return 1;
}

ARRAYS_UNUSED static double arrays_number(const json_t *value) {
    if (json_is_boolean(value))
        return json_is_true(value) ? 1 : 0;
    if (json_is_string(value))
        return strcmp(json_string_value(value), "nan") == 0    ? (double)NAN
               : strcmp(json_string_value(value), "-inf") == 0 ? -(double)INFINITY
                                                               : (double)INFINITY;
    return json_number_value(value);
}

ARRAYS_UNUSED static void arrays_store(arrays_array *array, size_t index, const json_t *value) {
    double number = arrays_number(value);
    long long whole = json_is_integer(value) ? json_integer_value(value) : (long long)number;
    void *at = (char *)array->data + index * array->item_size;
    if (strcmp(array->dtype, "float32") == 0) {
        float narrow = (float)number;
        memcpy(at, &narrow, sizeof narrow);
    } else if (strcmp(array->dtype, "float64") == 0) {
        memcpy(at, &number, sizeof number);
    } else {
        memcpy(at, &whole, array->item_size); /* little-endian: the low bytes are the number */
    }
}

/* Points *out_values at the numbers of a .npy file held in memory. */
ARRAYS_UNUSED static size_t arrays_npy_start(const uint8_t *file, size_t size) {
    assert_true(size > 10 && memcmp(file, "\x93NUMPY\x01", 7) == 0);
    size_t start = 10 + (size_t)file[8] + ((size_t)file[9] << 8);
    assert_true(start <= size);
    return start;
}

/* The array that a JSON value describes; arrays_free it. */
ARRAYS_UNUSED static arrays_array arrays_read(const char *folder, const json_t *value) {
    arrays_array array = {.count = 1};
    (void)snprintf(array.dtype, sizeof array.dtype, "%s", arrays_text(value, "dtype"));
    array.item_size = arrays_item_size(array.dtype);
    const json_t *shape = json_object_get(value, "shape");
    array.rank = (int32_t)json_array_size(shape);
    assert_true(array.rank <= 8);
    for (int32_t i = 0; i < array.rank; i++) {
        array.shape[i] = (int64_t)json_integer_value(json_array_get(shape, (size_t)i));
        array.count *= (size_t)array.shape[i];
    }
    array.data = calloc(array.count + 1, array.item_size);
    assert_non_null(array.data);
    const json_t *numbers = json_object_get(value, "data");
    if (numbers != NULL) {
        assert_int_equal(json_array_size(numbers), array.count);
        for (size_t i = 0; i < array.count; i++)
            arrays_store(&array, i, json_array_get(numbers, i));
        return array;
    }
    size_t size;
    uint8_t *file = arrays_read_file(folder, arrays_text(value, "file"), &size);
    size_t start =
        arrays_npy_start(file, size) + (size_t)arrays_int(value, "offset", 0) * array.item_size;
    assert_true(start + array.count * array.item_size <= size);
    memcpy(array.data, file + start, array.count * array.item_size);
    free(file);
    return array;
}

ARRAYS_UNUSED static void arrays_free(arrays_array *array) {
    free(array->data);
    array->data = NULL;
}

#endif
