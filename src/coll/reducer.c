/* Sums and maxima of two buffers, by dtype, and of many.
 *
 * Many are combined tile by tile: a tile stays in the first-level cache, so memory is read and
 * written once. Two float32 buffers, the common case, have a loop of their own without a tile. Half
 * precision is computed in float32; where only two buffers are known (a ring) it is rounded after
 * each addition. Nothing here fails or locks. */
#include "coll/reducer.h"
#include "base/error.h"
#include "base/minmax.h"
#include "core/half.h"
#include <string.h>

enum { TILE = 2048 }; /* 16 KiB of doubles: half of a usual first-level cache */

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
            ((type *)out)[i] = LEATI_MAX(y, x);                                                    \
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
            ((uint16_t *)out)[i] = of_float(LEATI_MAX(y, x));                                      \
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

/* Times 0.5 and divided by 2 are the same number before rounding, hence the same bits after it. */
#define MEAN(name, type)                                                                           \
    static void mean_##name(void *out, const void *a, const void *b, size_t count) {               \
        for (size_t i = 0; i < count; i++)                                                         \
            ((type *)out)[i] = (((const type *)a)[i] + ((const type *)b)[i]) * (type)0.5;          \
    }
MEAN(float32, float)
MEAN(float64, double)

leati_reducer leati_reducer_mean_of_two(leat_dtype dtype) {
    return dtype == LEAT_FLOAT32 ? mean_float32 : dtype == LEAT_FLOAT64 ? mean_float64 : NULL;
}

static bool is_floating(leat_dtype dtype) {
    return dtype == LEAT_FLOAT32 || dtype == LEAT_FLOAT64 || dtype == LEAT_FLOAT16 ||
           dtype == LEAT_BFLOAT16;
}

leat_status leati_reducer_check(leat_dtype dtype, leati_reduction reduction, leat_error *err) {
    if (leati_reducer_of(dtype, reduction) == NULL) {
        return leati_refuse(err, DTYPE, "all_reduce of %s; expected numbers",
                            leat_dtype_name(dtype));
    }
    if (reduction == LEATI_REDUCTION_MEAN && !is_floating(dtype)) {
        return leati_refuse(err, DTYPE,
                            "the mean of %s over replicas; cast to a floating dtype first",
                            leat_dtype_name(dtype));
    }
    return LEAT_OK;
}

#define DIVIDE(type)                                                                               \
    for (int64_t i = 0; i < count; i++)                                                            \
        ((type *)data)[i] = ((type *)data)[i] / (type)divisor;                                     \
    return

#define DIVIDE_HALF(to_float, of_float)                                                            \
    for (int64_t i = 0; i < count; i++) {                                                          \
        uint16_t *half = (uint16_t *)data + i;                                                     \
        *half = of_float(to_float(*half) / (float)divisor);                                        \
    }                                                                                              \
    return

void leati_reducer_divide(void *data, int64_t count, leat_dtype dtype, int divisor) {
    switch (dtype) {
    case LEAT_FLOAT32: DIVIDE(float);
    case LEAT_FLOAT64: DIVIDE(double);
    case LEAT_FLOAT16: DIVIDE_HALF(leati_float_of_half, leati_half_of_float);
    case LEAT_BFLOAT16: DIVIDE_HALF(leati_float_of_bfloat16, leati_bfloat16_of_float);
    default: return;
    }
}

// ---- many buffers ----

/* Two float32 buffers, where the results go back to both. */
static void sum_of_two(float *restrict a, float *restrict b, int64_t count, float scale) {
    for (int64_t i = 0; i < count; i++) {
        float value = (a[i] + b[i]) * scale;
        a[i] = value;
        b[i] = value;
    }
}

static void widen(float *out, const uint16_t *in, size_t count, leat_dtype dtype) {
    for (size_t i = 0; i < count; i++) {
        out[i] =
            dtype == LEAT_FLOAT16 ? leati_float_of_half(in[i]) : leati_float_of_bfloat16(in[i]);
    }
}

static void narrow(uint16_t *out, const float *in, size_t count, leat_dtype dtype) {
    for (size_t i = 0; i < count; i++) {
        out[i] =
            dtype == LEAT_FLOAT16 ? leati_half_of_float(in[i]) : leati_bfloat16_of_float(in[i]);
    }
}

static void combine_tile(leati_combination how, const void *const *inputs, int num_inputs,
                         size_t offset, size_t count, void *tile) {
    leati_reducer combine = leati_reducer_of(how.dtype, how.reduction);
    /* In rank order on every rank: floating-point sums depend on the order. */
    memcpy(tile, (const char *)inputs[0] + offset, count * leat_dtype_size(how.dtype));
    for (int r = 1; r < num_inputs; r++)
        combine(tile, tile, (const char *)inputs[r] + offset, count);
    if (how.reduction == LEATI_REDUCTION_MEAN)
        leati_reducer_divide(tile, (int64_t)count, how.dtype, num_inputs);
}

static void combine_half_tile(leati_combination how, const void *const *inputs, int num_inputs,
                              size_t offset, size_t count, void *tile) {
    leati_reducer combine = leati_reducer_of(LEAT_FLOAT32, how.reduction);
    float sum[TILE], other[TILE];
    widen(sum, (const void *)((const char *)inputs[0] + offset), count, how.dtype);
    for (int r = 1; r < num_inputs; r++) {
        widen(other, (const void *)((const char *)inputs[r] + offset), count, how.dtype);
        combine(sum, sum, other, count);
    }
    if (how.reduction == LEATI_REDUCTION_MEAN)
        leati_reducer_divide(sum, (int64_t)count, LEAT_FLOAT32, num_inputs);
    /* Rounded once, after the division. */
    narrow(tile, sum, count, how.dtype);
}

void leati_reducer_combine(leati_combination how, const void *const *inputs, int num_inputs,
                           size_t from, void *const *outputs, int num_outputs, size_t to,
                           int64_t count) {
    if (how.dtype == LEAT_FLOAT32 && how.reduction != LEATI_REDUCTION_MAX && num_inputs == 2 &&
        num_outputs == 2 && inputs[0] == outputs[0] && inputs[1] == outputs[1] &&
        inputs[0] != inputs[1] && from == to) {
        sum_of_two((float *)(void *)((char *)outputs[0] + to),
                   (float *)(void *)((char *)outputs[1] + to), count,
                   how.reduction == LEATI_REDUCTION_MEAN ? 0.5f : 1.0f);
        return;
    }
    _Alignas(64) char tile[TILE * sizeof(double)];
    size_t item = leat_dtype_size(how.dtype);
    bool half = how.dtype == LEAT_FLOAT16 || how.dtype == LEAT_BFLOAT16;
    if (num_inputs == 2 && num_outputs == 1 && !half) {
        leati_reducer combine = how.reduction == LEATI_REDUCTION_MEAN
                                    ? leati_reducer_mean_of_two(how.dtype)
                                    : leati_reducer_of(how.dtype, how.reduction);
        combine((char *)outputs[0] + to, (const char *)inputs[0] + from,
                (const char *)inputs[1] + from, (size_t)count);
        return;
    }
    for (int64_t at = 0; at < count; at += TILE) {
        size_t n = (size_t)LEATI_MIN(count - at, TILE), byte = (size_t)at * item;
        /* The tile is whole before any output is written, so outputs may be inputs. */
        (half ? combine_half_tile : combine_tile)(how, inputs, num_inputs, from + byte, n, tile);
        for (int o = 0; o < num_outputs; o++)
            memcpy((char *)outputs[o] + to + byte, tile, n * item);
    }
}

leat_status leati_reducer_check_root(int root, int num_ranks, leat_error *err) {
    if (root < 0 || root >= num_ranks) {
        return leati_refuse(err, VALUE, "broadcast from rank %d; expected 0 to %d", root,
                            num_ranks - 1);
    }
    return LEAT_OK;
}
