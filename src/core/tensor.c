/* Tensors: a value type over a buffer. Making one checks dtype, rank and dimensions (all sizes are
 * overflow-checked) and allocates one buffer; strings that are copied keep headers and bytes in
 * that same buffer. Views and rows add a reference and copy nothing.
 *
 * Failures: INVALID_ARGUMENT (dtype, shape), OUT_OF_RANGE (a row), RESOURCE_EXHAUSTED. No locks. */
#include "core/tensor.h"

#include "base/alloc.h"
#include "base/error.h"
#include "core/buffer.h"
#include "core/half.h"
#include "core/object.h"
#include "core/spec.h"
#include <inttypes.h>
#include <string.h>

leat_status leati_tensor_missing(leat_error *err, const char *what) {
    return leati_alloc_refused() > 0 ? leati_no_memory(err)
                                     : leati_refuse(err, VALUE, "%s is not a tensor", what);
}

static bool values_bytes(leat_dtype dtype, int64_t count, size_t *out) {
    return count >= 0 && leati_mul_size((size_t)count, leat_dtype_size(dtype), out) &&
           *out <= PTRDIFF_MAX;
}

/* Checks dtype and shape; the count of values and their bytes on success. */
static leat_status check_new(leat_dtype dtype, const leat_shape *shape, int64_t *count,
                             size_t *bytes, leat_error *err) {
    char text[128];
    if (leat_dtype_size(dtype) == 0)
        return leati_refuse(err, VALUE, "expected a dtype for a new tensor, found number %d",
                            (int)dtype);
    if (!leati_shape_is_valid(shape) || !leati_shape_is_static(shape))
        return leati_refuse(err, SHAPE, "a new tensor needs known dimensions, found %s",
                            leati_shape_is_valid(shape) ? leati_shape_text(shape, text)
                                                        : "an invalid shape");
    *count = leati_shape_count(shape);
    if (!values_bytes(dtype, *count, bytes))
        return leati_fail(err, LEAT_RESOURCE_EXHAUSTED,
                          "a tensor of dtype %s and shape %s is larger than the address space",
                          leat_dtype_name(dtype), leati_shape_text(shape, text));
    return LEAT_OK;
}

static leat_tensor tensor_over(leat_dtype dtype, const leat_shape *shape, leat_buffer *owner) {
    leat_tensor tensor = {
        .dtype = dtype, .rank = shape->rank, .data = leat_buffer_data(owner), .owner = owner};
    for (int32_t i = 0; i < shape->rank; i++)
        tensor.dims[i] = shape->dims[i];
    return tensor;
}

leat_status leat_tensor_new(leat_dtype dtype, leat_shape shape, leat_tensor *out, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    int64_t count = 0;
    size_t bytes = 0;
    LEATI_TRY(check_new(dtype, &shape, &count, &bytes, err));
    leat_buffer *owner =
        dtype == LEAT_OBJECT ? leati_buffer_of_objects(count, err) : leat_buffer_new(bytes, err);
    if (owner == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    /* Headers must be readable whatever becomes of the tensor: empty strings. */
    if (dtype == LEAT_STRING)
        memset(owner->data, 0, bytes);
    *out = tensor_over(dtype, &shape, owner);
    return LEAT_OK;
}

/* One buffer with `count` headers and behind them the bytes of all strings. */
static leat_buffer *copy_strings(const leat_string *from, int64_t count, leat_error *err) {
    /* check_new has found that this product fits. */
    size_t headers = (size_t)count * sizeof(leat_string);
    size_t total = headers;
    for (int64_t i = 0; i < count; i++) {
        if (!leati_add_size(total, from[i].size, &total)) {
            leati_no_memory(err);
            return NULL;
        }
    }
    leat_buffer *buffer = leat_buffer_new(total, err);
    if (buffer == NULL)
        return NULL;
    leat_string *to = buffer->data;
    char *bytes = (char *)buffer->data + headers;
    for (int64_t i = 0; i < count; i++) {
        to[i] = (leat_string){.data = bytes, .size = from[i].size};
        if (from[i].size > 0)
            memcpy(bytes, from[i].data, from[i].size);
        bytes += from[i].size;
    }
    return buffer;
}

leat_status leat_tensor_copy_of(leat_dtype dtype, leat_shape shape, const void *data,
                                leat_tensor *out, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    int64_t count = 0;
    size_t bytes = 0;
    leat_status status = check_new(dtype, &shape, &count, &bytes, err);
    if (status != LEAT_OK)
        return status;
    if (data == NULL && bytes > 0)
        return leati_refuse(
            err, VALUE, "expected %zu bytes to copy into a tensor, found a null pointer", bytes);
    if (dtype == LEAT_STRING) {
        leat_buffer *owner = copy_strings(data, count, err);
        if (owner == NULL)
            return LEAT_RESOURCE_EXHAUSTED;
        *out = tensor_over(dtype, &shape, owner);
        return LEAT_OK;
    }
    leat_tensor tensor;
    status = leat_tensor_new(dtype, shape, &tensor, err);
    if (status != LEAT_OK)
        return status;
    if (bytes > 0)
        memcpy(tensor.data, data, bytes);
    /* The bytes were copied, so each pointer is one reference more, which the buffer drops at its
     * end. */
    for (int64_t i = 0; dtype == LEAT_OBJECT && i < count; i++)
        leati_object_ref(((leat_object **)tensor.data)[i]);
    *out = tensor;
    return LEAT_OK;
}

leat_status leati_tensor_clone(const leat_tensor *tensor, leat_tensor *out, leat_error *err) {
    return leat_tensor_copy_of(tensor->dtype, leat_tensor_shape(tensor), tensor->data, out, err);
}

leat_tensor leat_tensor_view(leat_dtype dtype, leat_shape shape, const void *data) {
    leat_tensor tensor = {0};
    if (leat_dtype_size(dtype) == 0 || !leati_shape_is_valid(&shape) ||
        leati_shape_count(&shape) < 0)
        return tensor;
    tensor.dtype = dtype;
    tensor.rank = shape.rank;
    for (int32_t i = 0; i < shape.rank; i++)
        tensor.dims[i] = shape.dims[i];
    tensor.data = (void *)(uintptr_t)data;
    return tensor;
}

static leat_tensor scalar(leat_dtype dtype, const void *value) {
    leat_tensor tensor;
    if (leat_tensor_copy_of(dtype, LEAT_SCALAR, value, &tensor, NULL) != LEAT_OK)
        return (leat_tensor){0};
    return tensor;
}

leat_tensor leat_scalar_int64(int64_t value) {
    return scalar(LEAT_INT64, &value);
}

leat_tensor leat_scalar_int32(int32_t value) {
    return scalar(LEAT_INT32, &value);
}

leat_tensor leat_scalar_float32(float value) {
    return scalar(LEAT_FLOAT32, &value);
}

leat_tensor leat_scalar_float64(double value) {
    return scalar(LEAT_FLOAT64, &value);
}

leat_tensor leat_scalar_bool(bool value) {
    uint8_t byte = value ? 1 : 0;
    return scalar(LEAT_BOOL, &byte);
}

leat_tensor leat_scalar_string(const char *text) {
    leat_string value = {.data = text, .size = text != NULL ? strlen(text) : 0};
    return scalar(LEAT_STRING, &value);
}

leat_tensor leat_tensor_ref(const leat_tensor *tensor) {
    leat_buffer_ref(tensor->owner);
    return *tensor;
}

void leat_tensor_unref(leat_tensor *tensor) {
    if (tensor == NULL)
        return;
    leat_buffer_unref(tensor->owner);
    *tensor = (leat_tensor){0};
}

leat_shape leat_tensor_shape(const leat_tensor *tensor) {
    leat_shape shape = {.rank = tensor->rank};
    for (int32_t i = 0; i < tensor->rank; i++)
        shape.dims[i] = tensor->dims[i];
    return shape;
}

int64_t leat_tensor_count(const leat_tensor *tensor) {
    int64_t count = 1;
    /* The product of the other dimensions may overflow then. */
    for (int32_t i = 0; i < tensor->rank; i++)
        if (tensor->dims[i] == 0)
            return 0;
    /* Whoever made the tensor checked that the product fits. */
    for (int32_t i = 0; i < tensor->rank; i++)
        count *= tensor->dims[i];
    return count;
}

size_t leat_tensor_bytes(const leat_tensor *tensor) {
    return (size_t)leat_tensor_count(tensor) * leat_dtype_size(tensor->dtype);
}

leat_status leat_tensor_row(const leat_tensor *tensor, int64_t index, leat_tensor *out,
                            leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (tensor->rank < 1)
        return leati_refuse(err, SHAPE,
                            "a row needs a tensor of at least one dimension, found a scalar");
    if (index < 0 || index >= tensor->dims[0])
        return leati_fail(err, LEAT_OUT_OF_RANGE,
                          "row %" PRId64 " of a tensor of %" PRId64 " rows does not exist", index,
                          tensor->dims[0]);
    leat_tensor row = {.dtype = tensor->dtype, .rank = tensor->rank - 1, .owner = tensor->owner};
    for (int32_t i = 0; i < row.rank; i++)
        row.dims[i] = tensor->dims[i + 1];
    row.data = (char *)tensor->data + (size_t)index * leat_tensor_bytes(&row);
    *out = leat_tensor_ref(&row);
    return LEAT_OK;
}

bool leati_tensor_equal(const leat_tensor *a, const leat_tensor *b) {
    leat_shape shape_a = leat_tensor_shape(a);
    leat_shape shape_b = leat_tensor_shape(b);
    if (a->dtype != b->dtype || !leati_shape_equal(&shape_a, &shape_b))
        return false;
    if (a->dtype != LEAT_STRING) {
        size_t bytes = leat_tensor_bytes(a);
        return bytes == 0 || memcmp(a->data, b->data, bytes) == 0;
    }
    const leat_string *left = a->data;
    const leat_string *right = b->data;
    int64_t count = leat_tensor_count(a);
    for (int64_t i = 0; i < count; i++) {
        if (left[i].size != right[i].size)
            return false;
        if (left[i].size > 0 && memcmp(left[i].data, right[i].data, left[i].size) != 0)
            return false;
    }
    return true;
}

int64_t leati_tensor_int_at(const leat_tensor *tensor, int64_t index) {
    const void *data = tensor->data;
    switch (tensor->dtype) {
    case LEAT_BOOL:
    case LEAT_UINT8: return ((const uint8_t *)data)[index];
    case LEAT_INT8: return ((const int8_t *)data)[index];
    case LEAT_INT16: return ((const int16_t *)data)[index];
    case LEAT_INT32: return ((const int32_t *)data)[index];
    case LEAT_INT64: return ((const int64_t *)data)[index];
    case LEAT_UINT16: return ((const uint16_t *)data)[index];
    case LEAT_UINT32: return ((const uint32_t *)data)[index];
    case LEAT_UINT64: {
        uint64_t value = ((const uint64_t *)data)[index];
        return value > INT64_MAX ? INT64_MAX : (int64_t)value;
    }
    default: return 0;
    }
}

double leati_tensor_float_at(const leat_tensor *tensor, int64_t index) {
    const void *data = tensor->data;
    switch (tensor->dtype) {
    case LEAT_FLOAT16: return (double)leati_float_of_half(((const uint16_t *)data)[index]);
    case LEAT_BFLOAT16: return (double)leati_float_of_bfloat16(((const uint16_t *)data)[index]);
    case LEAT_FLOAT32: return (double)((const float *)data)[index];
    case LEAT_FLOAT64: return ((const double *)data)[index];
    case LEAT_UINT64: return (double)((const uint64_t *)data)[index];
    default: return (double)leati_tensor_int_at(tensor, index);
    }
}

leat_status leati_tensor_to_int64(const leat_tensor *tensor, int64_t *out, leat_error *err) {
    bool integer = tensor->dtype == LEAT_BOOL || leati_dtype_is_integer(tensor->dtype);
    if (!integer || leat_tensor_count(tensor) != 1) {
        leat_shape shape = leat_tensor_shape(tensor);
        char text[128];
        return leati_refuse(err, SHAPE, "expected one integer, found dtype %s and shape %s",
                            leat_dtype_name(tensor->dtype), leati_shape_text(&shape, text));
    }
    if (tensor->dtype == LEAT_UINT64 && *(const uint64_t *)tensor->data > INT64_MAX)
        return leati_refuse(err, VALUE, "expected an integer below 2^63, found %" PRIu64,
                            *(const uint64_t *)tensor->data);
    *out = leati_tensor_int_at(tensor, 0);
    return LEAT_OK;
}

leat_status leati_tensor_int64_at(const leat_tensor *tensor, int64_t index, int64_t *out,
                                  leat_error *err) {
    char *at = (char *)tensor->data + (size_t)index * leat_dtype_size(tensor->dtype);
    leat_tensor one = leat_tensor_view(tensor->dtype, LEAT_SCALAR, at);
    return leati_tensor_to_int64(&one, out, err);
}
