/* logical_and, logical_not, logical_or, logical_xor: of booleans, broadcast (tf.math.logical_and
 * and so on). They fail in inference on other dtypes, and where shapes do not broadcast. No state,
 * no locks. */
#include "graph/support/math/elementwise.h"

/* As bytes of 0 or 1, which every compiler knows as vector code. */
LEATI_LANE2(logical_and_bool, uint8_t, uint8_t, uint8_t, x &y)
LEATI_LANE1(logical_not_bool, uint8_t, uint8_t, uint8_t, x ^ 1)
LEATI_LANE2(logical_or_bool, uint8_t, uint8_t, uint8_t, x | y)
LEATI_LANE2(logical_xor_bool, uint8_t, uint8_t, uint8_t, x ^ y)

#define BOOLEANS(OP, RULE) LEATI_ELEMENTWISE_TABLE(OP, RULE, NULL, [LEAT_BOOL] = OP##_bool)
BOOLEANS(logical_and, leati_op_infer_compare)
BOOLEANS(logical_not, leati_op_infer_same)
BOOLEANS(logical_or, leati_op_infer_compare)
BOOLEANS(logical_xor, leati_op_infer_broadcast)

#define LOGICAL(OP, ...)                                                                           \
    LEATI_ELEMENTWISE_OP2(OP, .inputs = "x y", .types = "bool bool", .outputs = "z",               \
                          .halves = LEATI_HALVES_NONE, __VA_ARGS__)
LOGICAL(logical_and, .doc = "x && y of booleans, broadcast (tf.math.logical_and).",
        .names = "math.logical_and logical_and")
LEATI_ELEMENTWISE_OP1(logical_not, .doc = "!x of booleans (tf.math.logical_not).",
                      .names = "math.logical_not logical_not", .types = "bool",
                      .halves = LEATI_HALVES_NONE)
LOGICAL(logical_or, .doc = "x || y of booleans, broadcast (tf.math.logical_or).",
        .names = "math.logical_or logical_or")
LOGICAL(logical_xor, .doc = "Whether one of two booleans holds, broadcast (tf.math.logical_xor).",
        .names = "math.logical_xor")
