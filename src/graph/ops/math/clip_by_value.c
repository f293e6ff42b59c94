/* clip_by_value: t, but not below one bound nor above another, with broadcasting
 * (tf.clip_by_value).
 *
 * A NaN stays one, also a bound's; where the bounds cross, the lower one wins, as in TensorFlow,
 * which takes the minimum first. The gradient goes to t within the bounds, else to the bound. Fails
 * in inference where the dtypes differ or the shapes do not broadcast. No state, no locks. */
#include "graph/support/math/elementwise.h"

/* LOAD makes a number of a stored value, STORE the opposite. */
#define CLIP_LANE(NAME, TYPE, NUMBER, LOAD, STORE)                                                 \
    static void NAME(leati_lane *lane) {                                                           \
        for (int64_t i = 0; i < lane->n; i++) {                                                    \
            NUMBER x = LOAD(*(const TYPE *)(lane->in[0] + i * lane->in_step[0]));                  \
            NUMBER low = LOAD(*(const TYPE *)(lane->in[1] + i * lane->in_step[1]));                \
            NUMBER high = LOAD(*(const TYPE *)(lane->in[2] + i * lane->in_step[2]));               \
            x = x < high || x != x ? x : high;                                                     \
            x = x > low || x != x ? x : low;                                                       \
            *(TYPE *)(lane->out + i * lane->out_step) = (TYPE)STORE(x);                            \
        }                                                                                          \
    }
#define PLAIN(x) (x)

CLIP_LANE(clip_int8, int8_t, int8_t, PLAIN, PLAIN)
CLIP_LANE(clip_int16, int16_t, int16_t, PLAIN, PLAIN)
CLIP_LANE(clip_int32, int32_t, int32_t, PLAIN, PLAIN)
CLIP_LANE(clip_int64, int64_t, int64_t, PLAIN, PLAIN)
CLIP_LANE(clip_uint8, uint8_t, uint8_t, PLAIN, PLAIN)
CLIP_LANE(clip_uint16, uint16_t, uint16_t, PLAIN, PLAIN)
CLIP_LANE(clip_uint32, uint32_t, uint32_t, PLAIN, PLAIN)
CLIP_LANE(clip_uint64, uint64_t, uint64_t, PLAIN, PLAIN)
CLIP_LANE(clip_float16, uint16_t, float, leati_float_of_half, leati_half_of_float)
CLIP_LANE(clip_bfloat16, uint16_t, float, leati_float_of_bfloat16, leati_bfloat16_of_float)
CLIP_LANE(clip_float32, float, float, PLAIN, PLAIN)
CLIP_LANE(clip_float64, double, double, PLAIN, PLAIN)

static const leati_lane_function clip_lanes[LEAT_NUM_DTYPES] = {LEATI_TABLE_NUMBER(clip)};

LEATI_ELEMENTWISE_SLOTS(clip, leati_op_infer_broadcast, 0, NULL)

static leat_status clip_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], t = call->inputs[0], none = leat_op_zeros_like(g);
    leat_value low = leat_op_less(t, call->inputs[1]), high = leat_op_greater(t, call->inputs[2]);
    /* A NaN is neither below nor above, so it counts as inside. */
    leat_value inside = leat_op_logical_not(leat_op_logical_or(low, high));
    call->input_gradients[0] = leati_op_gradient_unbroadcast(leat_op_select(inside, g, none), t);
    call->input_gradients[1] =
        leati_op_gradient_unbroadcast(leat_op_select(low, g, none), call->inputs[1]);
    call->input_gradients[2] =
        leati_op_gradient_unbroadcast(leat_op_select(high, g, none), call->inputs[2]);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_clip_by_value = {
    .name = "clip_by_value",
    .version = 1,
    .doc = "t, but not below one bound nor above another, broadcast (tf.clip_by_value).",
    .names = "clip_by_value",
    .inputs = "t clip_value_min clip_value_max",
    .types = "T T T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .by_value = true,
    .rows = leati_no_rows,
    .min_inputs = 3,
    .max_inputs = 3,
    .flags = LEATI_ELEMENTWISE,
    .infer = clip_infer,
    .kernel = clip_kernel,
    .gradient = clip_gradient,
};
