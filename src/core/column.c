/* One column of a block: construction, reading, views, gathering, and what keeps strings alive.
 *
 * A column owns one reference to the buffer of its values (or of its tensor array) and, when
 * selected, one to the buffer of its row numbers. Views change pointers only. Failures: only
 * leati_column_hold, by RESOURCE_EXHAUSTED. No locks: a column has one owner, buffers are shared.
 */
#include "core/block.h"

#include "base/alloc.h"
#include "base/error.h"
#include "core/object.h"
#include <string.h>

void leati_column_constant(leati_column *column, const leat_tensor *tensor) {
    *column = (leati_column){.form = LEATI_STRIDED, .dtype = tensor->dtype, .rank = tensor->rank};
    for (int32_t i = 0; i < tensor->rank; i++)
        column->dims[i] = tensor->dims[i];
    /* The stride stays 0: every row is this one. */
    column->data = tensor->data;
    column->owner = leat_buffer_ref(tensor->owner);
}

void leati_column_strided(leati_column *column, leat_dtype dtype, const leat_shape *row_shape,
                          void *data, int64_t stride, leat_buffer *owner) {
    *column = (leati_column){.form = LEATI_STRIDED,
                             .dtype = dtype,
                             .rank = row_shape->rank,
                             .data = data,
                             .stride = stride,
                             .owner = owner};
    for (int32_t i = 0; i < row_shape->rank; i++)
        column->dims[i] = row_shape->dims[i];
}

void leati_column_tensors(leati_column *column, leat_dtype dtype, leat_buffer *owner) {
    *column = (leati_column){
        .form = LEATI_TENSORS, .dtype = dtype, .owner = owner, .tensors = leat_buffer_data(owner)};
}

void leati_column_copy(const leati_column *from, leati_column *to) {
    leat_buffer_ref(from->owner);
    leat_buffer_ref(from->rows_owner);
    *to = *from;
}

void leati_column_skip(leati_column *column, int64_t begin) {
    switch (column->form) {
    case LEATI_STRIDED: column->data += begin * column->stride; break;
    case LEATI_SELECTED: column->rows += begin; break;
    default: column->tensors += begin; break;
    }
}

void leati_column_fini(leati_column *column) {
    leat_buffer_unref(column->owner);
    leat_buffer_unref(column->rows_owner);
    *column = (leati_column){0};
}

leat_shape leati_column_row_shape(const leati_column *column, int64_t i) {
    if (column->form == LEATI_TENSORS)
        return leat_tensor_shape(&column->tensors[i]);
    leat_shape shape = {.rank = column->rank};
    for (int32_t d = 0; d < column->rank; d++)
        shape.dims[d] = column->dims[d];
    return shape;
}

/* Values of a row of a STRIDED or SELECTED column. */
static int64_t row_values(const leati_column *column) {
    int64_t count = 1;
    for (int32_t i = 0; i < column->rank; i++)
        count *= column->dims[i];
    return count;
}

size_t leati_column_row_bytes(const leati_column *column) {
    return (size_t)row_values(column) * leat_dtype_size(column->dtype);
}

leat_tensor leati_column_tensor(const leati_column *column, int64_t i) {
    if (column->form == LEATI_TENSORS)
        return leat_tensor_ref(&column->tensors[i]);
    leat_tensor tensor = {.dtype = column->dtype,
                          .rank = column->rank,
                          .data = leati_column_row(column, i),
                          .owner = leat_buffer_ref(column->owner)};
    for (int32_t d = 0; d < column->rank; d++)
        tensor.dims[d] = column->dims[d];
    return tensor;
}

/* Copies rows of `bytes` bytes, a constant after inlining for the common sizes. */
static inline void copy_rows(const leati_column *column, int64_t begin, int64_t n, char *target,
                             int64_t target_stride, size_t bytes) {
    if (column->form == LEATI_SELECTED) {
        /* Row numbers are relative to `data`, wherever a view begins: only `rows` is moved on. */
        const uint32_t *rows = column->rows + begin;
        for (int64_t i = 0; i < n; i++)
            memcpy(target + i * target_stride, column->data + (int64_t)rows[i] * column->stride,
                   bytes);
        return;
    }
    const char *source = column->data + begin * column->stride;
    for (int64_t i = 0; i < n; i++)
        memcpy(target + i * target_stride, source + i * column->stride, bytes);
}

static void gather_tensors(const leati_column *column, int64_t begin, int64_t n, char *target,
                           int64_t target_stride) {
    for (int64_t i = 0; i < n; i++) {
        const leat_tensor *tensor = &column->tensors[begin + i];
        size_t bytes = leat_tensor_bytes(tensor);
        if (bytes > 0)
            memcpy(target + i * target_stride, tensor->data, bytes);
    }
}

static void gather_objects(const leati_column *column, int64_t begin, int64_t n, char *target,
                           int64_t target_stride) {
    for (int64_t i = 0; i < n; i++) {
        leat_shape shape = leati_column_row_shape(column, begin + i);
        leat_object *const *from = leati_column_row(column, begin + i);
        leat_object **to = (leat_object **)(void *)(target + i * target_stride);
        int64_t count = leati_shape_count(&shape);
        for (int64_t k = 0; k < count; k++) {
            /* The new reference first: both may be the same object. */
            leat_object *old = to[k];
            to[k] = leati_object_ref(from[k]);
            leati_object_unref(old);
        }
    }
}

void leati_column_gather(const leati_column *column, int64_t begin, int64_t n, char *target,
                         int64_t target_stride) {
    if (n <= 0)
        return;
    if (column->dtype == LEAT_OBJECT) {
        gather_objects(column, begin, n, target, target_stride);
        return;
    }
    if (column->form == LEATI_TENSORS) {
        gather_tensors(column, begin, n, target, target_stride);
        return;
    }
    size_t bytes = leati_column_row_bytes(column);
    /* `data` may be NULL then, which memcpy does not take. */
    if (bytes == 0)
        return;
    /* Rows that lie one after the other on both sides are one piece of memory. */
    if (column->form == LEATI_STRIDED && column->stride == (int64_t)bytes &&
        target_stride == (int64_t)bytes) {
        memcpy(target, column->data + begin * column->stride, (size_t)n * bytes);
        return;
    }
    switch (bytes) {
    case 1: copy_rows(column, begin, n, target, target_stride, 1); break;
    case 2: copy_rows(column, begin, n, target, target_stride, 2); break;
    case 4: copy_rows(column, begin, n, target, target_stride, 4); break;
    case 8: copy_rows(column, begin, n, target, target_stride, 8); break;
    case 16: copy_rows(column, begin, n, target, target_stride, 16); break;
    default: copy_rows(column, begin, n, target, target_stride, bytes); break;
    }
}

/* Where `rows` rows of `count` values each lie one after the other, they are one row of all. */
static void join_rows(const leati_column *column, int64_t *rows, int64_t *count) {
    int64_t all;
    if (*rows > 0 && column->form == LEATI_STRIDED && column->stride > 0 &&
        column->stride == (int64_t)leati_column_row_bytes(column) &&
        !__builtin_mul_overflow(*rows, *count, &all)) {
        *rows = 1;
        *count = all;
    }
}

/* Does any of the strings lie in the buffer's own memory? */
static bool points_into(const leat_string *strings, int64_t count, const leat_buffer *buffer) {
    uintptr_t low = (uintptr_t)buffer->data;
    uintptr_t high = low + buffer->size;
    for (int64_t i = 0; i < count; i++) {
        uintptr_t at = (uintptr_t)strings[i].data;
        /* Empty strings point nowhere that matters. */
        if (strings[i].size > 0 && at >= low && at < high)
            return true;
    }
    return false;
}

/* Keeps alive what `count` strings whose headers lie in `source` point into. A buffer of leat's own
 * without a deleter keeps string bytes either in itself or in what it holds. */
static leat_status hold_strings(leat_buffer *source, bool needs_itself, leat_buffer *owner,
                                leat_error *err) {
    /* An adopted buffer, or one with a deleter, may keep bytes where only the deleter knows. */
    bool headers_only =
        source != NULL && source->writable && source->deleter == NULL && !needs_itself;
    if (!headers_only)
        return leati_buffer_hold(owner, source, err);
    for (int32_t i = 0; i < source->num_holds; i++)
        LEATI_TRY(leati_buffer_hold(owner, source->holds[i], err));
    return LEAT_OK;
}

leat_status leati_column_hold(const leati_column *column, int64_t begin, int64_t n,
                              leat_buffer *owner, leat_error *err) {
    if (column->dtype != LEAT_STRING || n <= 0)
        return LEAT_OK;
    if (column->form == LEATI_TENSORS) {
        for (int64_t i = begin; i < begin + n; i++) {
            const leat_tensor *tensor = &column->tensors[i];
            bool inside = tensor->owner != NULL &&
                          points_into(tensor->data, leat_tensor_count(tensor), tensor->owner);
            LEATI_TRY(hold_strings(tensor->owner, inside, owner, err));
        }
        return LEAT_OK;
    }
    int64_t count = row_values(column), rows = n;
    join_rows(column, &rows, &count);
    bool inside = false;
    /* Static memory without an owner lives as long as the process. */
    for (int64_t i = begin; column->owner != NULL && !inside && i < begin + rows; i++)
        inside = points_into(leati_column_row(column, i), count, column->owner);
    return hold_strings(column->owner, inside, owner, err);
}

/* Without a branch for each string: all of them are read, and a sum that wrapped is known at the
 * end. */
static size_t string_bytes(const leat_string *strings, int64_t count) {
    size_t bytes = 0;
    bool wrapped = false;
    for (int64_t i = 0; i < count; i++) {
        bytes += strings[i].size;
        wrapped |= bytes < strings[i].size;
    }
    return wrapped ? SIZE_MAX : bytes;
}

static size_t saturating_add(size_t a, size_t b) {
    size_t sum;
    return __builtin_add_overflow(a, b, &sum) ? SIZE_MAX : sum;
}

size_t leati_column_bytes(const leati_column *column, int64_t begin, int64_t n) {
    size_t bytes = 0;
    bool strings = column->dtype == LEAT_STRING;
    if (column->form == LEATI_TENSORS) {
        for (int64_t i = begin; i < begin + n; i++) {
            const leat_tensor *tensor = &column->tensors[i];
            bytes = saturating_add(bytes, leat_tensor_bytes(tensor));
            if (strings)
                bytes =
                    saturating_add(bytes, string_bytes(tensor->data, leat_tensor_count(tensor)));
        }
        return bytes;
    }
    /* A constant is kept once, however many rows it stands for. */
    if (column->form == LEATI_STRIDED && column->stride == 0 && n > 1)
        n = 1;
    if (n > 0 && !leati_mul_size((size_t)n, leati_column_row_bytes(column), &bytes))
        return SIZE_MAX;
    int64_t count = row_values(column);
    join_rows(column, &n, &count);
    for (int64_t i = begin; strings && i < begin + n; i++)
        bytes = saturating_add(bytes, string_bytes(leati_column_row(column, i), count));
    return bytes;
}
