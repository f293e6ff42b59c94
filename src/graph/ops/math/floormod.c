/* floormod: the remainder of floordiv, which has the sign of y, with broadcasting
 * (tf.math.floormod, Python's %).
 *
 * Integers divide exactly and wrap; floats follow IEEE 754. Fails in inference where the dtypes
 * differ or the shapes do not broadcast, and in a run where an integer divisor is 0. No state, no
 * locks. */
#include "graph/support/math/division.h"

LEATI_DIVISION_LANES(floormod, (U)x &(((U)1 << shift) - 1), LEATI_ROUNDED_UP ? (U)r + (U)y : (U)r,
                     r)

static inline double floor_remainder(double x, double y) {
    double r = fmod(x, y);
    return r != 0 && (y < 0) != (r < 0) ? r + y : r;
}

static inline float floor_remainderf(float x, float y) {
    float r = fmodf(x, y);
    return r != 0 && (y < 0) != (r < 0) ? r + y : r;
}

LEATI_LANES2_FLOAT(floormod, floor_remainderf(x, y), floor_remainder(x, y))

static const leati_lane_function floormod_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_NUMBER(floormod)};

LEATI_ELEMENTWISE_SLOTS(floormod, leati_op_infer_broadcast, 0,
                        "integer division by zero: a divisor is 0")

/* x - y * floor(x / y), whose quotient does not change with x and y. */
static leat_status floormod_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value x = call->inputs[0], y = call->inputs[1], g = call->output_gradients[0];
    (void)err;
    call->input_gradients[0] = leati_op_gradient_unbroadcast(g, x);
    call->input_gradients[1] = leati_op_gradient_unbroadcast(
        leat_op_multiply(g, leat_op_negate(leat_op_floordiv(x, y))), y);
    return LEAT_OK;
}

leat_value leat_op_floormod(leat_value x, leat_value y) {
    return leati_graph_build2(&leati_tensor_op_floormod, NULL, x, y);
}

const leati_tensor_op leati_tensor_op_floormod = {
    .name = "floormod",
    .version = 1,
    .doc = "The remainder of floordiv, with the sign of y, broadcast; Python's % "
           "(tf.math.floormod).",
    .names = "math.floormod math.mod",
    .inputs = "x y",
    .types = "T T",
    .outputs = "z",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_ELEMENTWISE,
    .infer = floormod_infer,
    .kernel = floormod_kernel,
    .gradient = floormod_gradient,
};
