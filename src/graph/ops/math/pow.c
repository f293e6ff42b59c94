/* pow: x to the power of y, with broadcasting (tf.math.pow). Integers wrap. Fails in a run on a
 * negative power of an integer, in inference where dtypes differ or shapes do not broadcast. No
 * state, no locks. */
#include "graph/support/math/elementwise.h"

/* Integers by squaring, wrapping around; a negative exponent refuses the value. */
#define POW_LANE(NAME, TYPE, UTYPE)                                                                \
    static void NAME(leati_lane *lane) {                                                           \
        for (int64_t i = 0; i < lane->n; i++) {                                                    \
            TYPE y = *(const TYPE *)(lane->in[1] + i * lane->in_step[1]);                          \
            UTYPE base = (UTYPE) * (const TYPE *)(lane->in[0] + i * lane->in_step[0]), result = 1; \
            if (y < 0) {                                                                           \
                lane->failed = i;                                                                  \
                return;                                                                            \
            }                                                                                      \
            for (; y > 0; y = (TYPE)(y >> 1)) {                                                    \
                result = (UTYPE)(y & 1 ? result * base : result);                                  \
                base = (UTYPE)(base * base);                                                       \
            }                                                                                      \
            *(TYPE *)(lane->out + i * lane->out_step) = (TYPE)result;                              \
        }                                                                                          \
    }

POW_LANE(pow_int8, int8_t, uint32_t)
POW_LANE(pow_int16, int16_t, uint32_t)
POW_LANE(pow_int32, int32_t, uint32_t)
POW_LANE(pow_int64, int64_t, uint64_t)
LEATI_LANES2_FLOAT(pow, powf(x, y), pow(x, y))

static const leati_lane_function pow_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_SIGNED(pow),
                                                               LEATI_TABLE_FLOAT(pow)};

LEATI_ELEMENTWISE_SLOTS(pow, leati_op_infer_broadcast, 0,
                        "a negative power of an integer is no integer; cast to floats first")

static leat_status pow_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], x = call->inputs[0], y = call->inputs[1];
    leat_value z = call->outputs[0], none = leat_op_zeros_like(z);
    leat_value one = leati_support_number(x.graph, leat_value_dtype(x), 1);
    leat_value positive = leat_op_greater(x, leat_op_zeros_like(x));
    leat_value logarithm = leat_op_select(positive, leat_op_log(x), none);
    leat_value slope = leat_op_multiply(y, leat_op_pow(x, leat_op_subtract(y, one)));
    call->input_gradients[0] = leati_op_gradient_unbroadcast(leat_op_multiply(g, slope), x);
    call->input_gradients[1] =
        leati_op_gradient_unbroadcast(leat_op_multiply(g, leat_op_multiply(z, logarithm)), y);
    return LEAT_OK;
}

leat_value leat_op_pow(leat_value x, leat_value y) {
    return leati_graph_build2(&leati_tensor_op_pow, NULL, x, y);
}

const leati_tensor_op leati_tensor_op_pow = {
    .name = "pow",
    .version = 1,
    .doc = "x to the power of y, broadcast (tf.math.pow).",
    .names = "math.pow pow",
    .inputs = "x y",
    .types = "T T",
    .outputs = "z",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_ELEMENTWISE,
    .infer = pow_infer,
    .kernel = pow_kernel,
    .gradient = pow_gradient,
};
