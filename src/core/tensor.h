/* Helpers over tensors that several rooms need. */
#ifndef LEATI_CORE_TENSOR_H
#define LEATI_CORE_TENSOR_H

#include <leat/core.h>

/* The failure of what got a tensor without a dtype, or none: INVALID_ARGUMENT, or
 * RESOURCE_EXHAUSTED where this thread lacked memory before, because then it is a leat_scalar_*
 * that failed. */
leat_status leati_tensor_missing(leat_error *err, const char *what);

/* A copy in memory of its own (string bytes included). Owned. */
LEAT_WARN_UNUSED leat_status leati_tensor_clone(const leat_tensor *tensor, leat_tensor *out,
                                                leat_error *err);

/* Same dtype, shape and bytes (strings by content, objects by address). NaNs of equal bits are
 * equal, 0.0 and -0.0 differ. */
bool leati_tensor_equal(const leat_tensor *a, const leat_tensor *b);

/* Rows [begin, begin + n) along axis 0 as a view. Owned. */
leat_tensor leati_tensor_rows(const leat_tensor *tensor, int64_t begin, int64_t n);

/* n tensors (tensors[0], tensors[step], ...; at least one) one after the other along axis 0; one is
 * given out as it is. INVALID_ARGUMENT for scalars and where the other dimensions differ. Owned. */
LEAT_WARN_UNUSED leat_status leati_tensor_concat(const leat_tensor *tensors, int64_t step,
                                                 int64_t n, leat_tensor *out, leat_error *err);

/* The value of an integer or bool scalar (or of the single value of any shape); a uint64 beyond
 * int64 is INVALID_ARGUMENT, as are other dtypes and counts. */
LEAT_WARN_UNUSED leat_status leati_tensor_to_int64(const leat_tensor *tensor, int64_t *out,
                                                   leat_error *err);

/* The same of value `index`, which must be there. */
LEAT_WARN_UNUSED leat_status leati_tensor_int64_at(const leat_tensor *tensor, int64_t index,
                                                   int64_t *out, leat_error *err);

/* Value `index` of an integer or bool tensor, unchecked but for uint64, which saturates. */
int64_t leati_tensor_int_at(const leat_tensor *tensor, int64_t index);
/* Value `index` of a tensor of any numeric dtype that is not complex. */
double leati_tensor_float_at(const leat_tensor *tensor, int64_t index);

static inline bool leati_dtype_is_integer(leat_dtype dtype) {
    return dtype >= LEAT_INT8 && dtype <= LEAT_UINT64;
}
static inline bool leati_dtype_is_unsigned(leat_dtype dtype) {
    return dtype >= LEAT_UINT8 && dtype <= LEAT_UINT64;
}
static inline bool leati_dtype_is_float(leat_dtype dtype) {
    return dtype >= LEAT_FLOAT16 && dtype <= LEAT_FLOAT64;
}
static inline bool leati_dtype_is_complex(leat_dtype dtype) {
    return dtype == LEAT_COMPLEX64 || dtype == LEAT_COMPLEX128;
}
/* Integer, float or complex. */
static inline bool leati_dtype_is_number(leat_dtype dtype) {
    return (dtype >= LEAT_INT8 && dtype <= LEAT_FLOAT64) || leati_dtype_is_complex(dtype);
}
/* The dtype of the parts of a complex number; any other dtype itself. */
static inline leat_dtype leati_dtype_part(leat_dtype dtype) {
    return dtype == LEAT_COMPLEX64 ? LEAT_FLOAT32 : dtype == LEAT_COMPLEX128 ? LEAT_FLOAT64 : dtype;
}

#endif
