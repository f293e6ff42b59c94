/* Tensors by their rows along axis 0: views of some, and several tensors as one.
 *
 * Concatenating writes rows with the column code of blocks, so that strings keep what they point
 * into and objects are referenced. Failures: INVALID_ARGUMENT naming both shapes,
 * RESOURCE_EXHAUSTED; `out` is then empty. No locks. */
#include "core/block.h"
#include "core/tensor.h"

#include "base/alloc.h"
#include "base/error.h"
#include <string.h>

/* Bytes of a row along axis 0. */
static size_t row_bytes_of(const leat_tensor *tensor) {
    size_t bytes = leat_dtype_size(tensor->dtype);
    for (int32_t i = 1; i < tensor->rank; i++)
        bytes *= (size_t)tensor->dims[i];
    return bytes;
}

leat_tensor leati_tensor_rows(const leat_tensor *tensor, int64_t begin, int64_t n) {
    leat_tensor rows = *tensor;
    rows.dims[0] = n;
    /* A tensor without values may have no memory. */
    if (tensor->data != NULL)
        rows.data = (char *)tensor->data + (size_t)begin * row_bytes_of(tensor);
    return leat_tensor_ref(&rows);
}

static leat_status unequal(const leat_tensor *a, const leat_tensor *b, leat_error *err) {
    leat_shape left = leat_tensor_shape(a), right = leat_tensor_shape(b);
    char texts[2][128];
    return leati_refuse(
        err, SHAPE,
        "rows of shapes %s and %s cannot be joined; make all but the first dimension "
        "equal",
        leati_shape_text(&left, texts[0]), leati_shape_text(&right, texts[1]));
}

/* Copies all rows of `tensor` to `to`, a part of `out`. */
static leat_status put_rows(const leat_tensor *tensor, char *to, const leat_tensor *out,
                            leat_error *err) {
    leati_column column = {0};
    leat_shape shape = leat_tensor_shape(tensor);
    int64_t rows = shape.dims[0], bytes = (int64_t)row_bytes_of(tensor);
    shape.rank--;
    memmove(shape.dims, shape.dims + 1, (size_t)shape.rank * sizeof shape.dims[0]);
    /* A borrowed column: no reference is taken, and it is not finished. */
    leati_column_strided(&column, tensor->dtype, &shape, tensor->data, bytes, tensor->owner);
    leati_column_gather(&column, 0, rows, to, bytes);
    if (tensor->dtype != LEAT_STRING && tensor->dtype != LEAT_OBJECT)
        return LEAT_OK;
    return leati_column_hold(&column, 0, rows, out->owner, err);
}

leat_status leati_tensor_concat(const leat_tensor *tensors, int64_t step, int64_t n,
                                leat_tensor *out, leat_error *err) {
    leat_shape shape = leat_tensor_shape(tensors);
    if (shape.rank < 1)
        return leati_refuse(err, SHAPE, "scalars have no rows that could be joined");
    for (int64_t i = 1; i < n; i++) {
        const leat_tensor *next = &tensors[i * step];
        bool same = next->rank == shape.rank && next->dtype == tensors->dtype;
        for (int32_t d = 1; same && d < shape.rank; d++)
            same = next->dims[d] == shape.dims[d];
        if (!same)
            return unequal(tensors, next, err);
        /* Tensors without bytes (another dimension is 0) may have any number of rows. */
        if (__builtin_add_overflow(shape.dims[0], next->dims[0], &shape.dims[0]))
            return leati_no_memory(err);
    }
    /* Nothing to join, hence nothing to copy. */
    if (n == 1) {
        *out = leat_tensor_ref(tensors);
        return LEAT_OK;
    }
    leat_status status = leat_tensor_new(tensors->dtype, shape, out, err);
    char *to = status == LEAT_OK ? out->data : NULL;
    for (int64_t i = 0; i < n && status == LEAT_OK; i++) {
        const leat_tensor *next = &tensors[i * step];
        if (next->dims[0] > 0)
            status = put_rows(next, to, out, err);
        to += leat_tensor_bytes(next);
        if (status != LEAT_OK)
            leat_tensor_unref(out);
    }
    return status;
}
