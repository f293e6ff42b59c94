/* bitwise_and, bitwise_or, bitwise_xor, invert, left_shift, right_shift: of the bits of integers,
 * broadcast (tf.bitwise.bitwise_and and so on). A shift outside the width of the dtype is the
 * nearest inside. They fail in inference on other dtypes, and where dtypes differ or shapes do not
 * broadcast. No state, no locks. */
#include "base/minmax.h"
#include "graph/support/math/elementwise.h"

#define INTEGERS2(OP, INTEGER)                                                                     \
    LEATI_LANES2_INTEGER(OP, INTEGER)                                                              \
    LEATI_ELEMENTWISE_TABLE(OP, leati_op_infer_broadcast, NULL, LEATI_TABLE_INTEGER(OP))
INTEGERS2(bitwise_and, (U)x &(U)y)
INTEGERS2(bitwise_or, (U)x | (U)y)
INTEGERS2(bitwise_xor, (U)x ^ (U)y)
/* C leaves shifts outside the width open, so y is clamped first. Both operands are of one dtype, so
 * a negative y is possible for signed ones alone. */
INTEGERS2(left_shift, (U)x << (y < 1 ? 0 : LEATI_MIN(y, (T)(8 * sizeof(T) - 1))))
INTEGERS2(right_shift, x >> (y < 1 ? 0 : LEATI_MIN(y, (T)(8 * sizeof(T) - 1))))
LEATI_LANES1_SIGNED(invert, ~x)
LEATI_LANES1_UNSIGNED(invert, ~x)
LEATI_ELEMENTWISE_TABLE(invert, leati_op_infer_same, NULL, LEATI_TABLE_INTEGER(invert))

#define BITWISE(OP, ...)                                                                           \
    LEATI_ELEMENTWISE_OP2(OP, .inputs = "x y", .types = "T T", .outputs = "z",                     \
                          .halves = LEATI_HALVES_NONE, __VA_ARGS__)
BITWISE(bitwise_and, .doc = "The bits that both integers have, broadcast (tf.bitwise.bitwise_and).",
        .names = "bitwise.bitwise_and")
BITWISE(bitwise_or, .doc = "The bits that either integer has, broadcast (tf.bitwise.bitwise_or).",
        .names = "bitwise.bitwise_or")
BITWISE(bitwise_xor,
        .doc = "The bits that one of two integers has, broadcast (tf.bitwise.bitwise_xor).",
        .names = "bitwise.bitwise_xor")
LEATI_ELEMENTWISE_OP1(invert, .doc = "All bits of integers turned (tf.bitwise.invert).",
                      .names = "bitwise.invert", .types = "T", .halves = LEATI_HALVES_NONE)
BITWISE(left_shift, .doc = "X shifted left by y bits, broadcast (tf.bitwise.left_shift).",
        .names = "bitwise.left_shift")
BITWISE(right_shift,
        .doc = "X shifted right by y bits, with its sign, broadcast (tf.bitwise.right_shift).",
        .names = "bitwise.right_shift")
