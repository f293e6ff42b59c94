/* ceil, floor, rint, round: integers near floats (tf.math.ceil and so on); round takes integers as
 * they are. Nothing flows through them. They fail in inference on other dtypes. No state, no
 * locks. */
#include "graph/support/math/elementwise.h"

LEATI_FLOATS1(ceil, ceilf(x), ceil(x))
LEATI_FLOATS1(floor, floorf(x), floor(x))
LEATI_FLOATS1(rint, rintf(x), rint(x))
LEATI_LANES1_SIGNED(round, x)
LEATI_LANES1_UNSIGNED(round, x)
LEATI_LANES1_FLOAT(round, rintf(x), rint(x))
LEATI_ELEMENTWISE_TABLE(round, leati_op_infer_same, NULL, LEATI_TABLE_NUMBER(round))

#define ROUNDING(OP, ...)                                                                          \
    LEATI_ELEMENTWISE_OP1(OP, .types = "T", .halves = LEATI_HALVES_OWN,                            \
                          .gradient = leati_op_gradient_none, __VA_ARGS__)
ROUNDING(ceil, .doc = "The smallest integer not below x (tf.math.ceil).", .names = "math.ceil")
ROUNDING(floor, .doc = "The largest integer not above x (tf.math.floor).",
         .names = "math.floor floor")
ROUNDING(rint, .doc = "The nearest integer, the even one of two (tf.math.rint).",
         .names = "math.rint")
ROUNDING(round, .doc = "The nearest integer, the even one of two (tf.math.round).",
         .names = "math.round round")
