/* Pieces of one dtype combined in place; see combine.h. Plain loops that the compiler turns into
 * vector code. No failure modes, no state, no locks. */
#include "graph/support/replica/combine.h"

#include "base/minmax.h"
#include "graph/support/array/moving.h"
#include "graph/support/math/elementwise.h"

#include <float.h>
#include <string.h>

#define COMBINE_LOOP(NAME, TYPE, NUMBER, LOAD, STORE, UPDATE)                                      \
    static void NAME(char *to, const char *from, int64_t n) {                                      \
        TYPE *out = (TYPE *)(void *)to;                                                            \
        const TYPE *in = (const TYPE *)(const void *)from;                                         \
        for (int64_t i = 0; i < n; i++) {                                                          \
            NUMBER a = (NUMBER)LOAD(out[i]), v = (NUMBER)LOAD(in[i]);                              \
            out[i] = (TYPE)STORE(UPDATE);                                                          \
        }                                                                                          \
    }
#define PLAIN(x) (x) /* dtypes that C computes with need no LOAD and STORE */
/* SMALL and LARGE: the types of signed integers up to 32 and of 64 bits while they are combined. */
#define COMBINE_TYPES(KIND, SMALL, LARGE, UPDATE)                                                  \
    COMBINE_LOOP(KIND##_int8, int8_t, SMALL, PLAIN, PLAIN, UPDATE)                                 \
    COMBINE_LOOP(KIND##_int16, int16_t, SMALL, PLAIN, PLAIN, UPDATE)                               \
    COMBINE_LOOP(KIND##_int32, int32_t, SMALL, PLAIN, PLAIN, UPDATE)                               \
    COMBINE_LOOP(KIND##_int64, int64_t, LARGE, PLAIN, PLAIN, UPDATE)                               \
    COMBINE_LOOP(KIND##_uint8, uint8_t, uint32_t, PLAIN, PLAIN, UPDATE)                            \
    COMBINE_LOOP(KIND##_uint16, uint16_t, uint32_t, PLAIN, PLAIN, UPDATE)                          \
    COMBINE_LOOP(KIND##_uint32, uint32_t, uint32_t, PLAIN, PLAIN, UPDATE)                          \
    COMBINE_LOOP(KIND##_uint64, uint64_t, uint64_t, PLAIN, PLAIN, UPDATE)                          \
    COMBINE_LOOP(KIND##_float16, uint16_t, float, leati_float_of_half, leati_half_of_float,        \
                 UPDATE)                                                                           \
    COMBINE_LOOP(KIND##_bfloat16, uint16_t, float, leati_float_of_bfloat16,                        \
                 leati_bfloat16_of_float, UPDATE)                                                  \
    COMBINE_LOOP(KIND##_float32, float, float, PLAIN, PLAIN, UPDATE)                               \
    COMBINE_LOOP(KIND##_float64, double, double, PLAIN, PLAIN, UPDATE)

#define COMBINE_COMPLEX(KIND, UPDATE)                                                              \
    COMBINE_LOOP(KIND##_complex64, leati_complex64, leati_complex64, PLAIN, PLAIN, UPDATE)         \
    COMBINE_LOOP(KIND##_complex128, leati_complex128, leati_complex128, PLAIN, PLAIN, UPDATE)

/* Signed integers are added as unsigned ones, which wrap; a signed overflow would be undefined. */
COMBINE_TYPES(sum, uint32_t, uint64_t, a + v)
COMBINE_TYPES(difference, uint32_t, uint64_t, a - v)
COMBINE_TYPES(product, uint32_t, uint64_t, a *v)
COMBINE_COMPLEX(sum, a + v)
COMBINE_COMPLEX(difference, a - v)
COMBINE_COMPLEX(product, a *v)
/* LEATI_MIN(v, a) keeps a where they cannot be compared: a NaN that is there stays, one that comes
 * is passed over. */
COMBINE_TYPES(minimum, int32_t, int64_t, LEATI_MIN(v, a))
COMBINE_TYPES(maximum, int32_t, int64_t, LEATI_MAX(v, a))
COMBINE_TYPES(later_minimum, int32_t, int64_t, LEATI_MIN(a, v))
COMBINE_TYPES(later_maximum, int32_t, int64_t, LEATI_MAX(a, v))

static const leati_combine_function functions[][LEAT_NUM_DTYPES] = {
    [LEATI_COMBINE_SUM] = {LEATI_TABLE_NUMBER(sum), LEATI_TABLE_COMPLEX(sum)},
    [LEATI_COMBINE_DIFFERENCE] = {LEATI_TABLE_NUMBER(difference), LEATI_TABLE_COMPLEX(difference)},
    [LEATI_COMBINE_PRODUCT] = {LEATI_TABLE_NUMBER(product), LEATI_TABLE_COMPLEX(product)},
    [LEATI_COMBINE_MINIMUM] = {LEATI_TABLE_NUMBER(minimum)},
    [LEATI_COMBINE_MAXIMUM] = {LEATI_TABLE_NUMBER(maximum)},
    [LEATI_COMBINE_LATER_MINIMUM] = {LEATI_TABLE_NUMBER(later_minimum)},
    [LEATI_COMBINE_LATER_MAXIMUM] = {LEATI_TABLE_NUMBER(later_maximum)},
};

leati_combine_function leati_combine_of(leati_combine_kind kind, leat_dtype dtype) {
    return functions[kind][dtype];
}

leat_status leati_combine_want(const leati_infer_call *call, leati_combine_kind kind, int index,
                               const char *what, leat_error *err) {
    leat_dtype dtype = call->inputs[index].dtype;
    if (functions[kind][dtype] != NULL)
        return LEAT_OK;
    return leati_refuse(err, DTYPE, "%s is %s; expected %s (cast it)", what, leat_dtype_name(dtype),
                        functions[LEATI_COMBINE_SUM][dtype] != NULL ? "real numbers" : "numbers");
}

/* The highest or lowest number of an integer dtype, or of a float dtype. */
static void store_extreme(leat_dtype dtype, bool high, char *to) {
    static const double largest[LEAT_NUM_DTYPES] = {[LEAT_FLOAT16] = 65504,
                                                    [LEAT_BFLOAT16] = 0x1.fep127,
                                                    [LEAT_FLOAT32] = FLT_MAX,
                                                    [LEAT_FLOAT64] = DBL_MAX};
    size_t size = leat_dtype_size(dtype);
    if (largest[dtype] > 0) {
        (void)leati_support_store_number(dtype, high ? largest[dtype] : -largest[dtype], to);
        return;
    }
    bool has_sign = dtype >= LEAT_INT8 && dtype <= LEAT_INT64;
    /* The sign bit of two's complement: alone the lowest number, all bits below it the highest. */
    uint64_t top = (uint64_t)1 << (8 * size - 1);
    uint64_t bits = has_sign ? (high ? top - 1 : top) : (high ? UINT64_MAX : 0);
    memcpy(to, &bits, size); /* little-endian: the low bytes */
}

void leati_combine_start(leati_combine_kind kind, leat_dtype dtype, char *to, int64_t n) {
    size_t size = leat_dtype_size(dtype);
    _Alignas(16) char value[16] = {0}; /* the widest dtype, and 0 for sums and differences */
    if (kind == LEATI_COMBINE_PRODUCT)
        (void)leati_support_store_number(dtype, 1, value);
    else if (kind >= LEATI_COMBINE_MINIMUM)
        store_extreme(dtype, kind == LEATI_COMBINE_MINIMUM || kind == LEATI_COMBINE_LATER_MINIMUM,
                      value);
    if (n > 0)
        leati_moving_fill(to, n, value, size);
}
