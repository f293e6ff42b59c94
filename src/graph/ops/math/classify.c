/* is_finite, is_inf, is_nan: what kind of number a float is, as bool (tf.math.is_finite and so on).
 * They fail in inference on other dtypes. No state, no locks. */
#include "graph/support/math/elementwise.h"

/* HALF and BFLOAT are of the bits x, FLOAT of the number x. */
#define CLASS_LANES(OP, HALF, BFLOAT, FLOAT)                                                       \
    LEATI_LANE1(OP##_float16, uint16_t, uint16_t, bool, HALF)                                      \
    LEATI_LANE1(OP##_bfloat16, uint16_t, uint16_t, bool, BFLOAT)                                   \
    LEATI_LANE1(OP##_float32, float, float, bool, FLOAT)                                           \
    LEATI_LANE1(OP##_float64, double, double, bool, FLOAT)                                         \
    LEATI_ELEMENTWISE_TABLE(OP, leati_op_infer_compare, NULL, LEATI_TABLE_FLOAT(OP))
/* The exponent's bits, 0x7c00 of float16 and 0x7f80 of bfloat16, are all set in infinities and,
 * with a fraction behind them, in NaN. */
CLASS_LANES(is_finite, (x & 0x7c00) != 0x7c00, (x & 0x7f80) != 0x7f80, isfinite(x) != 0)
CLASS_LANES(is_inf, (x & 0x7fff) == 0x7c00, (x & 0x7fff) == 0x7f80, isinf(x) != 0)
CLASS_LANES(is_nan, (x & 0x7fff) > 0x7c00, (x & 0x7fff) > 0x7f80, isnan(x) != 0)

#define CLASSIFY(OP, ...)                                                                          \
    LEATI_ELEMENTWISE_OP1(OP, .types = "T", .halves = LEATI_HALVES_OWN, __VA_ARGS__)
CLASSIFY(is_finite, .doc = "Whether x is neither infinite nor NaN, as bool (tf.math.is_finite).",
         .names = "math.is_finite")
CLASSIFY(is_inf, .doc = "Whether x is infinite, as bool (tf.math.is_inf).", .names = "math.is_inf")
CLASSIFY(is_nan, .doc = "Whether x is not a number, as bool (tf.math.is_nan).",
         .names = "math.is_nan")
