/* Files and values of recorded cases: JSON lists, arrays inline or in .npy files, comparisons. */
#include "core/element.h"
#include "core/half.h"
#include "golden.h"
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A whole file, a byte of 0 behind it; free() it. NULL if it cannot be read. */
static char *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    char *data = NULL;
    if (file == NULL)
        return NULL;
    long end = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (end >= 0 && (data = malloc((size_t)end + 1)) != NULL) {
        rewind(file);
        *size = fread(data, 1, (size_t)end, file);
        data[*size] = '\0';
    }
    (void)fclose(file);
    return data;
}

/* A reducer is one argument of a recorded case, and three functions of the operator: NAME.init and
 * so on. */
static void expand_reducers(json_t *json) {
    static const char *const parts[][2] = {
        {"init_func", "init"}, {"reduce_func", "reduce"}, {"finalize_func", "finalize"}};
    const char *key = NULL;
    json_t *value = NULL;
    size_t i = 0;
    json_t *reducer = json_incref(json_object_get(json, "reducer"));
    if (json_is_string(reducer)) {
        for (i = 0; i < sizeof parts / sizeof parts[0]; i++)
            json_object_set_new(json, parts[i][0],
                                json_sprintf("%s.%s", json_string_value(reducer), parts[i][1]));
        json_object_del(json, "reducer");
    }
    json_decref(reducer);
    json_object_foreach(json, key, value) {
        expand_reducers(value);
    }
    json_array_foreach(json, i, value) {
        expand_reducers(value);
    }
}

json_t *golden_read_json(golden_run *run, const char *file) {
    size_t size = 0;
    leat_error err = {0};
    char *text = read_file(file, &size);
    if (text == NULL) {
        golden_broken(run, "cannot read %s", file);
        return NULL;
    }
    json_t *root = leati_json_parse(text, size, &err);
    free(text);
    if (root == NULL)
        golden_broken(run, "%s: %s", file, err.text);
    return root;
}

json_t *golden_read_cases(golden_run *run, const char *file) {
    json_t *root = golden_read_json(run, file);
    if (root == NULL)
        return NULL;
    json_t *cases = json_is_object(root) ? json_object_get(root, "cases") : root;
    if (!json_is_array(cases)) {
        golden_broken(run, "%s: no list of cases", file);
        cases = NULL;
    }
    expand_reducers(cases);
    json_incref(cases);
    json_decref(root);
    return cases;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

json_t *golden_list(golden_run *run, const char *folder) {
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, NULL, NULL);
    if (count < 0) {
        golden_broken(run, "no folder %s", folder);
        return NULL;
    }
    const char **names = calloc((size_t)count + 1, sizeof *names);
    size_t kept = 0;
    for (int i = 0; i < count; i++) {
        size_t length = strlen(entries[i]->d_name);
        if (length > 5 && strcmp(entries[i]->d_name + length - 5, ".json") == 0)
            names[kept++] = entries[i]->d_name;
    }
    qsort(names, kept, sizeof *names, by_name);
    json_t *list = json_array();
    for (size_t i = 0; i < kept; i++)
        json_array_append_new(list, json_string(names[i]));
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
    free((void *)names);
    if (kept == 0)
        golden_broken(run, "no case file in %s", folder);
    return list;
}

void golden_run_files(golden_run *run, const char *folder, const void *files, size_t count,
                      size_t size, void (*run_file)(golden_run *run, const void *file)) {
    json_t *names = golden_list(run, folder);
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));
        const void *found = NULL;
        for (size_t at = 0; at < count && found == NULL; at++) {
            const void *line = (const char *)files + at * size;
            found = strcmp(*(const char *const *)line, name) == 0 ? line : NULL;
        }
        if (found == NULL)
            golden_broken(run, "%s/%s: cases of an unknown kind", folder, name);
        else
            run_file(run, found);
    }
    json_decref(names);
}

const char *golden_text(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text == NULL ? "" : text;
}

int64_t golden_int(const json_t *object, const char *key, int64_t absent) {
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? (int64_t)json_number_value(value) : absent;
}

bool golden_bool(const json_t *object, const char *key, bool absent) {
    const json_t *value = json_object_get(object, key);
    return json_is_boolean(value) ? json_is_true(value) : absent;
}

/* ---- arrays ---- */

/* numpy's letters for the dtypes that files hold, little-endian. */
static leat_dtype dtype_of_descr(const char *descr) {
    static const struct {
        const char *descr;
        leat_dtype dtype;
    } names[] = {{"|u1", LEAT_UINT8},   {"|i1", LEAT_INT8},    {"|b1", LEAT_BOOL},
                 {"<u2", LEAT_UINT16},  {"<i2", LEAT_INT16},   {"<u4", LEAT_UINT32},
                 {"<i4", LEAT_INT32},   {"<u8", LEAT_UINT64},  {"<i8", LEAT_INT64},
                 {"<f2", LEAT_FLOAT16}, {"<f4", LEAT_FLOAT32}, {"<f8", LEAT_FLOAT64}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(names[i].descr, descr, 3) == 0)
            return names[i].dtype;
    return LEAT_INVALID;
}

/* Shape and dtype from the header's text, a Python dict. */
static bool read_header(const char *header, leat_dtype *dtype, leat_shape *shape) {
    const char *descr = strstr(header, "'descr': '"), *dims = strstr(header, "'shape': (");
    if (descr == NULL || dims == NULL || strstr(header, "'fortran_order': False") == NULL)
        return false;
    *dtype = dtype_of_descr(descr + strlen("'descr': '"));
    *shape = LEAT_SCALAR;
    for (const char *at = dims + strlen("'shape': ("); *at >= '0' && *at <= '9';) {
        char *end = NULL;
        if (shape->rank == LEAT_MAX_RANK)
            return false;
        shape->dims[shape->rank++] = strtoll(at, &end, 10);
        at = end + strspn(end, ", ");
    }
    return *dtype != LEAT_INVALID;
}

leat_status golden_npy(const char *folder, const char *name, leat_tensor *out, leat_error *err) {
    char path[1024];
    size_t size = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    char *file = read_file(path, &size);
    leat_dtype dtype = LEAT_INVALID;
    leat_shape shape = LEAT_SCALAR;
    leat_status status = LEAT_OK;
    size_t start = 0;
    if (file == NULL)
        return leati_fail(err, LEAT_NOT_FOUND, "cannot read %s", path);
    if (size > 10 && memcmp(file, "\x93NUMPY\x01", 7) == 0)
        start = 10 + (size_t)(uint8_t)file[8] + ((size_t)(uint8_t)file[9] << 8);
    if (start == 0 || start > size || !read_header(file + 10, &dtype, &shape)) {
        status = leati_fail(err, LEAT_DATA_LOSS, "%s: not a .npy file of version 1", path);
    } else if ((status = leat_tensor_new(dtype, shape, out, err)) == LEAT_OK) {
        if (leat_tensor_bytes(out) > size - start) {
            leat_tensor_unref(out);
            status = leati_fail(err, LEAT_DATA_LOSS, "%s is cut short", path);
        } else if (leat_tensor_bytes(out) > 0) {
            memcpy(out->data, file + start, leat_tensor_bytes(out));
        }
    }
    free(file);
    return status;
}

/* Float32 numbers as what the case calls them: files hold bfloat16 as float32. */
static leat_status narrow(const leat_tensor *stored, const char *dtype, leat_tensor *out,
                          leat_error *err) {
    if (stored->dtype != LEAT_FLOAT32 || strcmp(dtype, "bfloat16") != 0)
        return leati_fail(err, LEAT_DATA_LOSS, "the case says %s, its file %s", dtype,
                          leat_dtype_name(stored->dtype));
    leat_status status = leat_tensor_new(LEAT_BFLOAT16, leat_tensor_shape(stored), out, err);
    if (status != LEAT_OK)
        return status;
    for (int64_t i = 0; i < leat_tensor_count(stored); i++)
        ((uint16_t *)out->data)[i] = leati_bfloat16_of_float(((const float *)stored->data)[i]);
    return LEAT_OK;
}

static leat_status array_slice(const char *folder, const json_t *json, leat_tensor *out,
                               leat_error *err) {
    leat_tensor whole = {0};
    leat_shape shape = LEAT_SCALAR;
    leat_status status = leati_json_to_shape(json_object_get(json, "shape"), &shape, err);
    if (status == LEAT_OK)
        status = golden_npy(folder, golden_text(json, "file"), &whole, err);
    if (status != LEAT_OK)
        return status;
    int64_t begin = golden_int(json, "offset", 0), count = 1;
    for (int32_t i = 0; i < shape.rank; i++)
        count *= shape.dims[i];
    if (begin < 0 || count < 0 || begin + count > leat_tensor_count(&whole)) {
        status =
            leati_fail(err, LEAT_DATA_LOSS, "%s has no elements %lld to %lld",
                       golden_text(json, "file"), (long long)begin, (long long)(begin + count));
    } else {
        leat_tensor view = whole;
        view.rank = shape.rank;
        memcpy(view.dims, shape.dims, sizeof view.dims);
        view.data = (char *)whole.data + (size_t)begin * leat_dtype_size(whole.dtype);
        if (leat_dtype_from_name(golden_text(json, "dtype")) == whole.dtype)
            *out = leat_tensor_ref(&view);
        else
            status = narrow(&view, golden_text(json, "dtype"), out, err);
    }
    leat_tensor_unref(&whole);
    return status;
}

leat_status golden_array(const char *folder, const json_t *json, leat_tensor *out,
                         leat_error *err) {
    if (json_object_get(json, "file") != NULL)
        return array_slice(folder, json, out, err);
    return leati_json_to_tensor(json, out, err);
}

double golden_number(const leat_tensor *tensor, int64_t index) {
    const void *data = tensor->data;
    switch (tensor->dtype) {
    case LEAT_BOOL: return ((const bool *)data)[index];
    case LEAT_INT8: return ((const int8_t *)data)[index];
    case LEAT_INT16: return ((const int16_t *)data)[index];
    case LEAT_INT32: return ((const int32_t *)data)[index];
    case LEAT_INT64: return (double)((const int64_t *)data)[index];
    case LEAT_UINT8: return ((const uint8_t *)data)[index];
    case LEAT_UINT16: return ((const uint16_t *)data)[index];
    case LEAT_UINT32: return ((const uint32_t *)data)[index];
    case LEAT_UINT64: return (double)((const uint64_t *)data)[index];
    case LEAT_FLOAT16: return leati_float_of_half(((const uint16_t *)data)[index]);
    case LEAT_BFLOAT16: return leati_float_of_bfloat16(((const uint16_t *)data)[index]);
    case LEAT_FLOAT32: return ((const float *)data)[index];
    case LEAT_FLOAT64: return ((const double *)data)[index];
    default: return NAN;
    }
}

bool golden_close(golden_case *c, const char *what, const leat_tensor *expected,
                  const leat_tensor *found, double relative, double absolute) {
    bool same = expected->dtype == found->dtype && expected->rank == found->rank;
    for (int32_t i = 0; same && i < expected->rank; i++)
        same = expected->dims[i] == found->dims[i];
    if (!same) {
        char shapes[2][200];
        leat_spec *a = leat_spec_tensor(expected->dtype, leat_tensor_shape(expected), NULL);
        leat_spec *b = leat_spec_tensor(found->dtype, leat_tensor_shape(found), NULL);
        leat_spec_print(a, shapes[0], sizeof shapes[0]);
        leat_spec_print(b, shapes[1], sizeof shapes[1]);
        golden_fail(c, "%s: expected %s, found %s", what, shapes[0], shapes[1]);
        leat_spec_unref(a);
        leat_spec_unref(b);
        return false;
    }
    double largest = 0;
    for (int64_t i = 0; i < leat_tensor_count(expected); i++) {
        double size = fabs(golden_number(expected, i));
        largest = isfinite(size) && size > largest ? size : largest;
    }
    double allowed = largest * relative + absolute;
    for (int64_t i = 0; i < leat_tensor_count(expected); i++) {
        double a = golden_number(expected, i), b = golden_number(found, i);
        if (a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= allowed)
            continue;
        golden_fail(c, "%s: value %lld: expected %.9g, found %.9g (%.3g allowed)", what,
                    (long long)i, a, b, allowed);
        return false;
    }
    return true;
}

/* ---- JSON ---- */

static bool equal(const json_t *expected, const json_t *found, bool single) {
    if (json_is_number(expected) && json_is_number(found)) {
        if (json_is_integer(expected) && json_is_integer(found))
            return json_integer_value(expected) == json_integer_value(found);
        double a = json_number_value(expected), b = json_number_value(found);
        return a == b || (single && (float)a == (float)b);
    }
    if (json_is_array(expected) && json_is_array(found)) {
        size_t count = json_array_size(expected);
        for (size_t i = 0; count == json_array_size(found) && i < count; i++)
            if (!equal(json_array_get(expected, i), json_array_get(found, i), single))
                return false;
        return count == json_array_size(found);
    }
    if (json_is_object(expected) && json_is_object(found)) {
        const char *key = NULL;
        json_t *value = NULL;
        const char *dtype = json_string_value(json_object_get(expected, "dtype"));
        bool narrow_values = dtype != NULL && strcmp(dtype, "float64") != 0;
        json_object_foreach((json_t *)expected, key, value) {
            if (!equal(value, json_object_get(found, key), narrow_values))
                return false;
        }
        /* Recorded ragged values do not say how wide their row splits are; their spec does. */
        bool unsaid = json_object_get(found, "row_splits_dtype") != NULL &&
                      json_object_get(expected, "row_splits_dtype") == NULL;
        return json_object_size(expected) == json_object_size(found) - unsaid;
    }
    return json_equal(expected, found);
}

bool golden_json_equal(const json_t *expected, const json_t *found) {
    return equal(expected, found, false);
}

void golden_json_text(const json_t *json, char *text, size_t size) {
    char *whole = json == NULL ? NULL : leati_json_print(json, 0, false, &(leat_error){0});
    snprintf(text, size, "%s", whole == NULL ? "nothing" : whole);
    leati_free(whole);
}

leat_status golden_code_of_class(const char *type) {
    static const struct {
        const char *type;
        leat_status code;
    } classes[] = {{"ValueError", LEAT_INVALID_ARGUMENT},
                   {"TypeError", LEAT_INVALID_ARGUMENT},
                   {"InvalidArgumentError", LEAT_INVALID_ARGUMENT},
                   {"AssertionError", LEAT_INVALID_ARGUMENT},
                   {"NotFoundError", LEAT_NOT_FOUND},
                   {"FailedPreconditionError", LEAT_FAILED_PRECONDITION},
                   {"RuntimeError", LEAT_FAILED_PRECONDITION},
                   {"OutOfRangeError", LEAT_OUT_OF_RANGE},
                   {"UnimplementedError", LEAT_UNIMPLEMENTED},
                   {"NotImplementedError", LEAT_UNIMPLEMENTED},
                   {"InternalError", LEAT_INTERNAL},
                   {"DataLossError", LEAT_DATA_LOSS},
                   {"UnavailableError", LEAT_UNAVAILABLE},
                   {"AbortedError", LEAT_ABORTED}};
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        if (strcmp(classes[i].type, type) == 0)
            return classes[i].code;
    return LEAT_OK;
}

json_t *golden_dataset_value(void *context, leat_object *object, leat_error *err) {
    (void)context;
    if (!leati_dataset_of_object_check(object)) {
        leati_fail(err, LEAT_UNIMPLEMENTED, "a value that is no dataset");
        return NULL;
    }
    leat_iterator *iterator = leat_iterator_new((leat_dataset *)object, NULL, err);
    json_t *list = json_array();
    leat_element element = {0};
    leat_error local = {0};
    while (iterator != NULL && json_array_size(list) < 100 &&
           leat_iterator_next(iterator, &element, &local) == LEAT_OK) {
        json_t *value = leati_json_of_element_with(&element, golden_dataset_value, NULL, err);
        json_array_append_new(list, value != NULL ? value : json_null());
    }
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    return list;
}
