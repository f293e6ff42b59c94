/* Reading and writing .safetensors: 8 bytes with the length of the header, the header, the values.
 *
 * Happy path of writing: the header is made first, padded with blanks so that values begin at a
 * multiple of 8, then all goes through one atomic file. Of reading: the file comes in one buffer,
 * and tensors are views of it. Failures: DATA_LOSS for damage, which names the file and the tensor;
 * those of the file system; no memory. No locks. */
#include "file/safetensors.h"

#include "base/alloc.h"
#include "base/error.h"
#include "core/json.h"
#include "file/atomic.h"
#include "file/fs.h"
#include <stdlib.h>
#include <string.h>

#define NOTES "__metadata__"

struct leati_safetensors {
    leat_buffer *buffer;
    json_t *header; /* owns names and notes */
    leati_named_tensor *tensors;
    int count;
};

/* The format's names, of which those that leat has no dtype for are refused. */
static const struct {
    leat_dtype dtype;
    const char *name;
} dtypes[] = {{LEAT_BOOL, "BOOL"},   {LEAT_INT8, "I8"},       {LEAT_INT16, "I16"},
              {LEAT_INT32, "I32"},   {LEAT_INT64, "I64"},     {LEAT_UINT8, "U8"},
              {LEAT_UINT16, "U16"},  {LEAT_UINT32, "U32"},    {LEAT_UINT64, "U64"},
              {LEAT_FLOAT16, "F16"}, {LEAT_BFLOAT16, "BF16"}, {LEAT_FLOAT32, "F32"},
              {LEAT_FLOAT64, "F64"}};
enum { NUM_DTYPES = sizeof dtypes / sizeof *dtypes };

static const char *name_of(leat_dtype dtype) {
    for (int i = 0; i < NUM_DTYPES; i++)
        if (dtypes[i].dtype == dtype)
            return dtypes[i].name;
    return NULL;
}

static leat_dtype dtype_of(const char *name) {
    for (int i = 0; name != NULL && i < NUM_DTYPES; i++)
        if (strcmp(dtypes[i].name, name) == 0)
            return dtypes[i].dtype;
    return LEAT_INVALID;
}

/* ---- writing ---- */

/* {"dtype", "shape", "data_offsets"}; moves *at behind the values. NULL without memory. */
static json_t *entry_of(const leat_tensor *tensor, size_t *at) {
    json_t *shape = json_array();
    bool good = shape != NULL;
    for (int32_t d = 0; good && d < tensor->rank; d++)
        good = json_array_append_new(shape, json_integer(tensor->dims[d])) == 0;
    size_t end = *at + leat_tensor_bytes(tensor);
    /* O takes a reference of its own, so `shape` is released in any case. */
    json_t *entry =
        good ? json_pack("{s:s, s:O, s:[I, I]}", "dtype", name_of(tensor->dtype), "shape", shape,
                         "data_offsets", (json_int_t)*at, (json_int_t)end)
             : NULL;
    json_decref(shape);
    *at = end;
    return entry;
}

static leat_status add_tensor(json_t *header, const leati_named_tensor *one, size_t *at,
                              leat_error *err) {
    if (name_of(one->tensor.dtype) == NULL)
        return leati_refuse(err, DTYPE, "tensor \"%.80s\" is %s; a safetensors file holds numbers",
                            one->name, leat_dtype_name(one->tensor.dtype));
    /* The name of the notes, also in a file that has none. */
    if (strcmp(one->name, NOTES) == 0)
        return leati_refuse(err, VALUE,
                            "a tensor is called \"" NOTES "\", as the notes of a file are; call it "
                            "something else");
    /* JSON objects would silently keep the last of two. */
    if (json_object_get(header, one->name) != NULL)
        return leati_refuse(
            err, VALUE, "two tensors are called \"%.80s\"; names in a file are unique", one->name);
    json_t *entry = entry_of(&one->tensor, at);
    return entry != NULL && json_object_set_new(header, one->name, entry) == 0
               ? LEAT_OK
               : leati_no_memory(err);
}

/* The header as text; freed by leati_free. */
static leat_status make_header(const leati_named_tensor *tensors, int count,
                               const leati_note *notes, int num_notes, char **out,
                               leat_error *err) {
    json_t *header = json_object(), *texts = json_object();
    leat_status status = header != NULL && texts != NULL ? LEAT_OK : leati_no_memory(err);
    size_t at = 0;
    for (int i = 0; status == LEAT_OK && i < num_notes; i++)
        if (json_object_set_new(texts, notes[i].key, json_string(notes[i].text)) != 0)
            status = leati_fail(err, LEAT_INVALID_ARGUMENT,
                                "note \"%.80s\" is no text in UTF-8, or there is no memory",
                                notes[i].key);
    if (status == LEAT_OK && num_notes > 0 && json_object_set(header, NOTES, texts) != 0)
        status = leati_no_memory(err);
    for (int i = 0; status == LEAT_OK && i < count; i++)
        status = add_tensor(header, &tensors[i], &at, err);
    if (status == LEAT_OK) {
        *out = leati_json_print(header, 0, false, err);
        status = *out != NULL ? LEAT_OK : LEAT_RESOURCE_EXHAUSTED;
    }
    json_decref(texts);
    json_decref(header);
    return status;
}

static leat_status write_all(leati_output *output, const char *header,
                             const leati_named_tensor *tensors, int count, leat_error *err) {
    /* Blanks behind the header, which JSON ignores. */
    size_t size = strlen(header), padding = (8 - size % 8) % 8;
    uint8_t length[8];
    for (int i = 0; i < 8; i++)
        length[i] = (uint8_t)((uint64_t)(size + padding) >> (8 * i));
    leat_status status = leati_atomic_write(output, length, sizeof length, err);
    if (status == LEAT_OK)
        status = leati_atomic_write(output, header, size, err);
    if (status == LEAT_OK)
        status = leati_atomic_write(output, "        ", padding, err);
    for (int i = 0; status == LEAT_OK && i < count; i++)
        if (leat_tensor_bytes(&tensors[i].tensor) > 0)
            status = leati_atomic_write(output, tensors[i].tensor.data,
                                        leat_tensor_bytes(&tensors[i].tensor), err);
    return status;
}

leat_status leati_safetensors_write(const char *path, const leati_named_tensor *tensors, int count,
                                    const leati_note *notes, int num_notes, leat_error *err) {
    char *header = NULL;
    leati_output *output = NULL;
    leat_status status = make_header(tensors, count, notes, num_notes, &header, err);
    if (status == LEAT_OK)
        status = leati_atomic_open(path, LEATI_ATOMIC_FILE, &output, err);
    if (status == LEAT_OK) {
        status = write_all(output, header, tensors, count, err);
        if (status == LEAT_OK)
            status = leati_atomic_commit(output, err);
        else
            leati_atomic_discard(output);
    }
    leati_free(header);
    return status;
}

/* ---- reading ---- */

static leat_status damaged(const char *path, const char *what, leat_error *err) {
    return leati_fail_in_file(err, LEAT_DATA_LOSS, path, -1, false,
                              "not a safetensors file, or damaged: %s", what);
}

/* Shape, dtype and place of one entry; `values` are the bytes behind the header. */
static leat_status read_entry(const json_t *entry, char *values, size_t size, leat_tensor *out,
                              const char **wrong) {
    const json_t *shape = json_object_get(entry, "shape");
    const json_t *places = json_object_get(entry, "data_offsets");
    json_int_t begin = json_integer_value(json_array_get(places, 0));
    json_int_t end = json_integer_value(json_array_get(places, 1));
    /* 0 where "shape" is none; that is refused below. */
    leat_shape dims = {.rank = (int32_t)json_array_size(shape)};
    leat_dtype dtype = dtype_of(json_string_value(json_object_get(entry, "dtype")));
    *wrong = "an entry's dtype or shape";
    if (dtype == LEAT_INVALID || !json_is_array(shape) || json_array_size(shape) > LEAT_MAX_RANK)
        return LEAT_DATA_LOSS;
    size_t bytes = leat_dtype_size(dtype);
    for (int32_t d = 0; d < dims.rank; d++) {
        const json_t *dim = json_array_get(shape, (size_t)d);
        dims.dims[d] = json_integer_value(dim);
        /* 0 for what is no integer, so the type is asked as well. */
        if (!json_is_integer(dim) || dims.dims[d] < 0 ||
            !leati_mul_size(bytes, (size_t)dims.dims[d], &bytes))
            return LEAT_DATA_LOSS;
    }
    *wrong = "an entry's place in the file";
    /* Missing places are 0 and 0, hence the count of two. */
    if (json_array_size(places) != 2 || begin < 0 || end < begin || (uint64_t)end > size ||
        (uint64_t)(end - begin) != bytes)
        return LEAT_DATA_LOSS;
    *out = leat_tensor_view(dtype, dims, values + begin);
    return LEAT_OK;
}

static int by_place(const void *a, const void *b) {
    const leat_tensor *const *one = a, *const *other = b;
    return ((*one)->data > (*other)->data) - ((*one)->data < (*other)->data);
}

/* Values that belong to two tensors: a few bytes could stand for many large ones. */
static leat_status check_apart(const leati_safetensors *file, const char *path, leat_error *err) {
    const leat_tensor **sorted = leati_alloc_zero((size_t)file->count, sizeof *sorted);
    if (sorted == NULL)
        return leati_no_memory(err);
    int count = 0;
    for (int i = 0; i < file->count; i++)
        if (leat_tensor_bytes(&file->tensors[i].tensor) > 0)
            sorted[count++] = &file->tensors[i].tensor;
    qsort(sorted, (size_t)count, sizeof *sorted, by_place);
    leat_status status = LEAT_OK;
    for (int i = 1; i < count && status == LEAT_OK; i++)
        if ((const char *)sorted[i - 1]->data + leat_tensor_bytes(sorted[i - 1]) >
            (const char *)sorted[i]->data)
            status = damaged(path, "two entries' places overlap", err);
    leati_free(sorted);
    return status;
}

static leat_status read_entries(leati_safetensors *file, const char *path, char *values,
                                size_t size, leat_error *err) {
    const char *name = NULL, *wrong = NULL;
    json_t *entry = NULL;
    file->tensors = leati_alloc_zero(json_object_size(file->header), sizeof *file->tensors);
    if (file->tensors == NULL)
        return leati_no_memory(err);
    json_object_foreach(file->header, name, entry) {
        leati_named_tensor *one = &file->tensors[file->count];
        if (strcmp(name, NOTES) == 0)
            continue;
        if (read_entry(entry, values, size, &one->tensor, &wrong) != LEAT_OK)
            return damaged(path, wrong, err);
        one->name = name;
        file->count++;
    }
    return check_apart(file, path, err);
}

static leat_status read_header(leati_safetensors *file, const char *path, leat_error *err) {
    const uint8_t *bytes = leat_buffer_data(file->buffer);
    size_t size = leat_buffer_size(file->buffer);
    uint64_t length = 0;
    if (size < 8)
        return damaged(path, "it has less than 8 bytes", err);
    for (int i = 0; i < 8; i++)
        length |= (uint64_t)bytes[i] << (8 * i);
    /* The length comes from outside: held against the file before it is added to anything. */
    if (length > LEATI_SAFETENSORS_MOST || length > size - 8)
        return damaged(path, "the header is longer than the file", err);
    leat_error inner = {0};
    file->header = leati_json_parse((const char *)bytes + 8, (size_t)length, &inner);
    if (file->header == NULL && inner.code == LEAT_RESOURCE_EXHAUSTED)
        return leati_no_memory(err);
    /* NULL, for text that is no JSON, is none either. */
    if (!json_is_object(file->header))
        return damaged(path, "the header is no object of JSON", err);
    /* Tensors are views of the file's buffer, which lives as long as they do. */
    return read_entries(file, path, (char *)(uintptr_t)bytes + 8 + length,
                        size - 8 - (size_t)length, err);
}

leat_status leati_safetensors_read(const char *path, leati_safetensors **out, leat_error *err) {
    leati_safetensors *file = leati_alloc_zero(1, sizeof *file);
    if (file == NULL)
        return leati_no_memory(err);
    leat_status status = leati_file_read_all(path, &file->buffer, err);
    if (status == LEAT_OK)
        status = read_header(file, path, err);
    if (status == LEAT_OK)
        *out = file;
    else
        leati_safetensors_free(file);
    return status;
}

void leati_safetensors_free(leati_safetensors *file) {
    if (file == NULL)
        return;
    leati_free(file->tensors);
    json_decref(file->header);
    leat_buffer_unref(file->buffer);
    leati_free(file);
}

const leat_tensor *leati_safetensors_find(const leati_safetensors *file, const char *name) {
    for (int i = 0; i < file->count; i++)
        if (strcmp(file->tensors[i].name, name) == 0)
            return &file->tensors[i].tensor;
    return NULL;
}

const char *leati_safetensors_note(const leati_safetensors *file, const char *key) {
    return json_string_value(json_object_get(json_object_get(file->header, NOTES), key));
}

int leati_safetensors_count(const leati_safetensors *file) {
    return file->count;
}
