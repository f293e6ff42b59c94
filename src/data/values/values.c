/* Elements, blocks and errors as bytes. A block is written column by column, each
 * row as a tensor: dtype, rank, dimensions and values. Reading checks every count against the bytes
 * that are left. */
#include "data/values/values.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include <string.h>

#define X(name) extern const leati_value_form leati_value_form_##name;
#include "data/value_forms.def"
#undef X

static const leati_value_form *const forms[] = {
#define X(name) &leati_value_form_##name,
#include "data/value_forms.def"
#undef X
};
enum { NUM_FORMS = sizeof(forms) / sizeof(forms[0]) };

static leat_status put_dataset(leati_writer *out, const leat_object *object, leat_error *err) {
    for (int i = 0; i < NUM_FORMS; i++) {
        /* Its number is saved, so the table only grows at its end. */
        if (forms[i]->is(object)) {
            leati_put_uint(out, (uint64_t)i);
            return forms[i]->put(out, object, err);
        }
    }
    return leati_fail(err, LEAT_FAILED_PRECONDITION,
                      "an element that is a dataset cannot be saved as data");
}

static leat_status put_datasets(leati_writer *out, leat_object *const *objects, int64_t count,
                                leat_error *err) {
    leat_status status = LEAT_OK;
    for (int64_t i = 0; i < count && status == LEAT_OK; i++)
        status = put_dataset(out, objects[i], err);
    return status;
}

static leat_status put_values(leati_writer *out, leat_dtype dtype, const void *data, int64_t count,
                              leat_error *err) {
    if (dtype == LEAT_OBJECT)
        return put_datasets(out, data, count, err);
    if (dtype == LEAT_STRING) {
        const leat_string *strings = data;
        for (int64_t i = 0; i < count; i++)
            leati_put_bytes(out, strings[i].data, strings[i].size);
    } else {
        leati_put_bytes(out, data, (size_t)count * leat_dtype_size(dtype));
    }
    return out->failed ? leati_no_memory(err) : LEAT_OK;
}

leat_status leati_values_put_tensor(leati_writer *out, const leat_tensor *tensor, leat_error *err) {
    /* By name: the numbers of dtypes are this library's own. */
    const char *name = leat_dtype_name(tensor->dtype);
    leati_put_bytes(out, name, strlen(name));
    leati_put_uint(out, (uint64_t)tensor->rank);
    for (int i = 0; i < tensor->rank; i++)
        leati_put_int(out, tensor->dims[i]);
    return put_values(out, tensor->dtype, tensor->data, leat_tensor_count(tensor), err);
}

static leat_status get_strings(leati_reader *in, leat_shape shape, int64_t count, leat_tensor *out,
                               leat_error *err) {
    /* Each string takes at least one byte for its length. */
    if ((uint64_t)count > in->size - in->at) {
        return leati_fail(err, LEAT_DATA_LOSS, "a saved tensor of %lld strings in %zu bytes",
                          (long long)count, in->size - in->at);
    }
    leat_string *strings = leati_alloc((size_t)count, sizeof(*strings));
    if (strings == NULL)
        return leati_no_memory(err);
    leat_status status = LEAT_OK;
    for (int64_t i = 0; i < count && status == LEAT_OK; i++) {
        const void *bytes = NULL;
        status = leati_get_bytes(in, &bytes, &strings[i].size, err);
        strings[i].data = bytes;
    }
    if (status == LEAT_OK)
        status = leat_tensor_copy_of(LEAT_STRING, shape, strings, out, err);
    leati_free(strings);
    return status;
}

leat_status leati_values_get_tensor(leati_reader *in, leat_tensor *out, leat_error *err) {
    const void *name = NULL, *bytes = NULL;
    size_t size = 0;
    uint64_t rank = 0;
    leat_status status = leati_get_bytes(in, &name, &size, err);
    if (status == LEAT_OK)
        status = leati_get_uint(in, &rank, err);
    if (status != LEAT_OK)
        return status;
    char text[32] = {0};
    /* A longer name is cut, and then is none. */
    memcpy(text, name, LEATI_MIN(size, sizeof(text) - 1));
    leat_dtype dtype = leat_dtype_from_name(text);
    if (dtype == LEAT_INVALID || dtype == LEAT_OBJECT || rank > LEAT_MAX_RANK) {
        return leati_fail(err, LEAT_DATA_LOSS, "a saved tensor of dtype \"%s\" and rank %llu", text,
                          (unsigned long long)rank);
    }
    leat_shape shape = {.rank = (int32_t)rank};
    size_t count = 1;
    for (int i = 0; i < shape.rank && status == LEAT_OK; i++) {
        status = leati_get_int(in, &shape.dims[i], err);
        if (status == LEAT_OK &&
            (shape.dims[i] < 0 || !leati_mul_size(count, (size_t)shape.dims[i], &count))) {
            status = leati_fail(err, LEAT_DATA_LOSS, "a saved tensor with dimension %lld",
                                (long long)shape.dims[i]);
        }
    }
    if (status != LEAT_OK)
        return status;
    if (dtype == LEAT_STRING)
        return get_strings(in, shape, (int64_t)count, out, err);
    status = leati_get_bytes(in, &bytes, &size, err);
    /* No dtype has more than 16 bytes: the product cannot overflow. */
    if (status == LEAT_OK && (count > SIZE_MAX / 16 || size != count * leat_dtype_size(dtype))) {
        status = leati_fail(err, LEAT_DATA_LOSS, "a saved tensor of %zu values in %zu bytes", count,
                            size);
    }
    return status == LEAT_OK ? leat_tensor_copy_of(dtype, shape, bytes, out, err) : status;
}

leat_status leati_values_put_block(leati_writer *out, const leati_block *block, int64_t begin,
                                   int64_t n, leat_error *err) {
    leati_put_int(out, n);
    leati_put_uint(out, (uint64_t)block->num_columns);
    for (int c = 0; c < block->num_columns; c++) {
        for (int64_t i = begin; i < begin + n; i++) {
            leat_tensor row = leati_column_tensor(&block->columns[c], i);
            leat_status status = leati_values_put_tensor(out, &row, err);
            leat_tensor_unref(&row);
            if (status != LEAT_OK)
                return status;
        }
    }
    return out->failed ? leati_no_memory(err) : LEAT_OK;
}

/* A scalar of one dataset with elements of `element`, as put_datasets wrote it. */
static leat_status get_dataset(leati_reader *in, const leat_spec *element, leat_tensor *out,
                               leat_error *err) {
    const void *name = NULL;
    size_t size = 0;
    uint64_t rank = 0, form = 0;
    leat_status status = leati_get_bytes(in, &name, &size, err);
    if (status == LEAT_OK)
        status = leati_get_uint(in, &rank, err);
    /* The name that was read is the dtype, which the spec has told already. */
    if (status == LEAT_OK && (element == NULL || rank != 0)) {
        status = leati_fail(err, LEAT_DATA_LOSS, "a saved dataset of rank %llu; expected 0",
                            (unsigned long long)rank);
    }
    if (status == LEAT_OK)
        status = leati_get_uint(in, &form, err);
    if (status == LEAT_OK && form >= NUM_FORMS) {
        status = leati_fail(err, LEAT_DATA_LOSS, "a saved dataset of form %llu; there are %d",
                            (unsigned long long)form, NUM_FORMS);
    }
    if (status != LEAT_OK)
        return status;
    leat_error local = {0};
    leat_dataset *dataset = forms[form]->get(in, element, &local);
    status = dataset == NULL ? leati_error_pass(err, &local)
                             : leat_tensor_copy_of(LEAT_OBJECT, LEAT_SCALAR, &dataset, out, err);
    leat_dataset_unref(dataset);
    return status;
}

leat_status leati_values_get_component(leati_reader *in, const leat_spec *spec, int component,
                                       leat_tensor *out, leat_error *err) {
    leat_status status =
        leat_spec_component_dtype(spec, component) == LEAT_OBJECT
            ? get_dataset(in, leati_spec_component_element(spec, component), out, err)
            : leati_values_get_tensor(in, out, err);
    return status == LEAT_OK ? leati_spec_check_tensor(spec, component, out, err) : status;
}

leat_status leati_values_get_block(leati_reader *in, const leat_spec *spec, leati_block *out,
                                   leat_error *err) {
    int64_t n = 0;
    uint64_t columns = 0;
    leat_status status = leati_get_int(in, &n, err);
    if (status == LEAT_OK)
        status = leati_get_uint(in, &columns, err);
    if (status != LEAT_OK)
        return status;
    int expected = leat_spec_num_components(spec);
    /* A row's component takes a byte at least: no memory for more rows than can be there. Rows
     * without components take none. */
    bool possible = n >= 0 && (expected == 0 || (uint64_t)n <= in->size - in->at);
    if (!possible || (n > 0 && columns != (uint64_t)expected)) {
        return leati_fail(err, LEAT_DATA_LOSS,
                          "a saved block of %lld rows and %llu columns; expected %d columns",
                          (long long)n, (unsigned long long)columns, expected);
    }
    status = leati_block_prepare(out, expected, err);
    for (int c = 0; c < expected && status == LEAT_OK && n > 0; c++) {
        leat_buffer *buffer = leati_buffer_of_tensors(n, err);
        if (buffer == NULL) {
            status = LEAT_RESOURCE_EXHAUSTED;
            break;
        }
        leat_tensor *rows = leat_buffer_data(buffer);
        for (int64_t i = 0; i < n && status == LEAT_OK; i++)
            status = leati_values_get_component(in, spec, c, &rows[i], err);
        /* Also after a failure: the column then owns the rows that were read, and is cleared
         * below. */
        leati_column_tensors(&out->columns[c], leat_spec_component_dtype(spec, c), buffer);
    }
    if (status != LEAT_OK) {
        leati_block_clear(out);
        return status;
    }
    out->n = n;
    return LEAT_OK;
}

static void put_text(leati_writer *out, const char *text) {
    leati_put_bytes(out, text, strlen(text));
}

static leat_status get_text(leati_reader *in, char *text, size_t room, leat_error *err) {
    const void *bytes = NULL;
    size_t size = 0;
    leat_status status = leati_get_bytes(in, &bytes, &size, err);
    /* A byte of 0 would end the text before the offsets into it. */
    if (status == LEAT_OK && (size >= room || memchr(bytes, 0, size) != NULL))
        status = leati_fail(err, LEAT_DATA_LOSS, "a saved error with a text of %zu bytes", size);
    if (status == LEAT_OK) {
        memcpy(text, bytes, size);
        text[size] = '\0';
    }
    return status;
}

void leati_values_put_error(leati_writer *out, const leat_error *error) {
    /* By name, as a saved state outlives the numbers of a version. */
    put_text(out, leat_status_name(error->code));
    put_text(out, leat_reason_name(error->reason));
    leati_put_uint(out, error->at_end ? 1 : 0);
    leati_put_uint(out, error->decompressed ? 1 : 0);
    put_text(out, error->op);
    put_text(out, error->function);
    put_text(out, error->file);
    leati_put_int(out, error->element);
    leati_put_int(out, error->byte);
    put_text(out, error->text);
    leati_put_uint(out, error->place_at);
    leati_put_uint(out, error->message_at);
}

static leat_status get_bool(leati_reader *in, bool *out, leat_error *err) {
    uint64_t number = 0;
    leat_status status = leati_get_uint(in, &number, err);
    *out = number != 0;
    return status;
}

/* Where a part begins in the text. */
static leat_status get_offset(leati_reader *in, size_t most, uint16_t *out, leat_error *err) {
    uint64_t number = 0;
    leat_status status = leati_get_uint(in, &number, err);
    if (status == LEAT_OK && number > most) {
        status = leati_fail(err, LEAT_DATA_LOSS, "a saved error whose text begins at %llu of %zu",
                            (unsigned long long)number, most);
    }
    *out = (uint16_t)number;
    return status;
}

leat_status leati_values_get_error(leati_reader *in, leat_error *out, leat_error *err) {
    char code[32] = "", reason[32] = "";
    memset(out, 0, sizeof(*out));
    LEATI_TRY(get_text(in, code, sizeof(code), err));
    LEATI_TRY(get_text(in, reason, sizeof(reason), err));
    if (!leati_status_from_name(code, &out->code) || out->code == LEAT_OK ||
        !leati_reason_from_name(reason, &out->reason)) {
        return leati_fail(err, LEAT_DATA_LOSS, "a saved error of code \"%s\", reason \"%s\"", code,
                          reason);
    }
    LEATI_TRY(get_bool(in, &out->at_end, err));
    LEATI_TRY(get_bool(in, &out->decompressed, err));
    LEATI_TRY(get_text(in, out->op, sizeof(out->op), err));
    LEATI_TRY(get_text(in, out->function, sizeof(out->function), err));
    LEATI_TRY(get_text(in, out->file, sizeof(out->file), err));
    LEATI_TRY(leati_get_int(in, &out->element, err));
    LEATI_TRY(leati_get_int(in, &out->byte, err));
    LEATI_TRY(get_text(in, out->text, sizeof(out->text), err));
    LEATI_TRY(get_offset(in, strlen(out->text), &out->place_at, err));
    return get_offset(in, strlen(out->text), &out->message_at, err);
}
