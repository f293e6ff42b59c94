/* Sums and maxima of two buffers, by dtype. Half precision is computed in float32 and rounded after
 * each addition, as the in-process collective does between ranks. */
#include "coll/reducer.h"
#include "base/error.h"
#include "core/half.h"

#define SUM(name, type)                                                                            \
    static void sum_##name(void *out, const void *a, const void *b, size_t count) {                \
        for (size_t i = 0; i < count; i++) {                                                       \
            ((type *)out)[i] = (type)(((const type *)a)[i] + ((const type *)b)[i]);                \
        }                                                                                          \
    }

#define MAX(name, type)                                                                            \
    static void max_##name(void *out, const void *a, const void *b, size_t count) {                \
        for (size_t i = 0; i < count; i++) {                                                       \
            type x = ((const type *)a)[i], y = ((const type *)b)[i];                               \
            ((type *)out)[i] = y > x ? y : x;                                                      \
        }                                                                                          \
    }

#define HALF(name, to_float, of_float)                                                             \
    static void sum_##name(void *out, const void *a, const void *b, size_t count) {                \
        for (size_t i = 0; i < count; i++) {                                                       \
            float x = to_float(((const uint16_t *)a)[i]), y = to_float(((const uint16_t *)b)[i]);  \
            ((uint16_t *)out)[i] = of_float(x + y);                                                \
        }                                                                                          \
    }                                                                                              \
    static void max_##name(void *out, const void *a, const void *b, size_t count) {                \
        for (size_t i = 0; i < count; i++) {                                                       \
            float x = to_float(((const uint16_t *)a)[i]), y = to_float(((const uint16_t *)b)[i]);  \
            ((uint16_t *)out)[i] = of_float(y > x ? y : x);                                        \
        }                                                                                          \
    }

/* Signed integers wrap, so they are added as unsigned ones. */
SUM(float32, float)
SUM(float64, double)
SUM(uint8, uint8_t)
SUM(uint16, uint16_t)
SUM(uint32, uint32_t)
SUM(uint64, uint64_t)
MAX(float32, float)
MAX(float64, double)
MAX(int8, int8_t)
MAX(int16, int16_t)
MAX(int32, int32_t)
MAX(int64, int64_t)
MAX(uint8, uint8_t)
MAX(uint16, uint16_t)
MAX(uint32, uint32_t)
MAX(uint64, uint64_t)
HALF(float16, leati_float_of_half, leati_half_of_float)
HALF(bfloat16, leati_float_of_bfloat16, leati_bfloat16_of_float)

leati_reducer leati_reducer_of(leat_dtype dtype, leati_reduction reduction) {
    bool max = reduction == LEATI_REDUCTION_MAX;
    switch (dtype) {
    case LEAT_FLOAT32: return max ? max_float32 : sum_float32;
    case LEAT_FLOAT64: return max ? max_float64 : sum_float64;
    case LEAT_FLOAT16: return max ? max_float16 : sum_float16;
    case LEAT_BFLOAT16: return max ? max_bfloat16 : sum_bfloat16;
    case LEAT_INT8: return max ? max_int8 : sum_uint8;
    case LEAT_INT16: return max ? max_int16 : sum_uint16;
    case LEAT_INT32: return max ? max_int32 : sum_uint32;
    case LEAT_INT64: return max ? max_int64 : sum_uint64;
    case LEAT_UINT8: return max ? max_uint8 : sum_uint8;
    case LEAT_UINT16: return max ? max_uint16 : sum_uint16;
    case LEAT_UINT32: return max ? max_uint32 : sum_uint32;
    case LEAT_UINT64: return max ? max_uint64 : sum_uint64;
    default: return NULL;
    }
}

static bool is_floating(leat_dtype dtype) {
    return dtype == LEAT_FLOAT32 || dtype == LEAT_FLOAT64 || dtype == LEAT_FLOAT16 ||
           dtype == LEAT_BFLOAT16;
}

leat_status leati_check_reduction(leat_dtype dtype, leati_reduction reduction, leat_error *err) {
    if (leati_reducer_of(dtype, reduction) == NULL) {
        return leati_fail(err, LEAT_INVALID_ARGUMENT, "all_reduce of %s; expected numbers",
                          leat_dtype_name(dtype));
    }
    if (reduction == LEATI_REDUCTION_MEAN && !is_floating(dtype)) {
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "the mean of %s over replicas; cast to a floating dtype first",
                          leat_dtype_name(dtype));
    }
    return LEAT_OK;
}

void leati_divide(void *data, int64_t count, leat_dtype dtype, int divisor) {
    for (int64_t i = 0; i < count; i++) {
        switch (dtype) {
        case LEAT_FLOAT32: ((float *)data)[i] /= (float)divisor; break;
        case LEAT_FLOAT64: ((double *)data)[i] /= divisor; break;
        case LEAT_FLOAT16: {
            uint16_t *half = (uint16_t *)data + i;
            *half = leati_half_of_float(leati_float_of_half(*half) / (float)divisor);
            break;
        }
        case LEAT_BFLOAT16: {
            uint16_t *half = (uint16_t *)data + i;
            *half = leati_bfloat16_of_float(leati_float_of_bfloat16(*half) / (float)divisor);
            break;
        }
        default: return;
        }
    }
}

leat_status leati_check_root(int root, int num_ranks, leat_error *err) {
    if (root < 0 || root >= num_ranks) {
        return leati_fail(err, LEAT_INVALID_ARGUMENT, "broadcast from rank %d; expected 0 to %d",
                          root, num_ranks - 1);
    }
    return LEAT_OK;
}
