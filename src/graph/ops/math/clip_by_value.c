/* clip_by_value: t, but not below one bound nor above another, with broadcasting
 * (tf.clip_by_value).
 *
 * A NaN stays one, also a bound's; where the bounds cross, the lower one wins, as in TensorFlow,
 * which takes the minimum first. The gradient goes to t within the bounds, else to the bound. Fails
 * in inference where the dtypes differ or the shapes do not broadcast. No state, no locks. */
#include "graph/support/math/elementwise.h"

/* Bounds for all values are what most programs have. */
/* One choice after the other: compilers make vector code of that, but not of choices between two
 * conditions. */
#define CLIPPED(TYPE, HIGH, LOW)                                                                   \
    do {                                                                                           \
        TYPE y = x < (HIGH) ? x : (HIGH);                                                          \
        y = x != x ? x : y;                                                                        \
        TYPE z = y > (LOW) ? y : (LOW);                                                            \
        x = y != y ? y : z;                                                                        \
    } while (0)
#define CLIP_LANE(NAME, TYPE)                                                                      \
    LEATI_ALWAYS_INLINE void NAME##_loop(leati_lane *lane) {                                       \
        const TYPE *a = (const TYPE *)lane->in[0], low = *(const TYPE *)lane->in[1],               \
                   high = *(const TYPE *)lane->in[2];                                              \
        TYPE *out = (TYPE *)lane->out;                                                             \
        LEATI_INDEPENDENT                                                                          \
        for (int64_t i = 0, n = lane->n; i < n; i++) {                                             \
            TYPE x = a[i];                                                                         \
            CLIPPED(TYPE, high, low);                                                              \
            out[i] = x;                                                                            \
        }                                                                                          \
    }                                                                                              \
    LEATI_ISA(NAME##_dense, NAME##_loop, leati_lane *)                                             \
    static void NAME(leati_lane *lane) {                                                           \
        const int64_t size = (int64_t)sizeof(TYPE);                                                \
        if (lane->in_step[0] == size && lane->out_step == size && lane->in_step[1] == 0 &&         \
            lane->in_step[2] == 0) {                                                               \
            NAME##_dense(lane);                                                                    \
            return;                                                                                \
        }                                                                                          \
        for (int64_t i = 0; i < lane->n; i++) {                                                    \
            TYPE x = *(const TYPE *)(lane->in[0] + i * lane->in_step[0]);                          \
            TYPE low = *(const TYPE *)(lane->in[1] + i * lane->in_step[1]);                        \
            TYPE high = *(const TYPE *)(lane->in[2] + i * lane->in_step[2]);                       \
            CLIPPED(TYPE, high, low);                                                              \
            *(TYPE *)(lane->out + i * lane->out_step) = x;                                         \
        }                                                                                          \
    }
/* Of float16 or bfloat16. */
#define CLIP_HALF(NAME, HALF)                                                                      \
    static void NAME(leati_lane *lane) {                                                           \
        for (int64_t i = 0; i < lane->n; i++) {                                                    \
            float number[3];                                                                       \
            for (int k = 0; k < 3; k++)                                                            \
                number[k] = leati_float_of_##HALF(                                                 \
                    *(const uint16_t *)(lane->in[k] + i * lane->in_step[k]));                      \
            float x = number[0];                                                                   \
            CLIPPED(float, number[2], number[1]);                                                  \
            *(uint16_t *)(lane->out + i * lane->out_step) = leati_##HALF##_of_float(x);            \
        }                                                                                          \
    }

CLIP_LANE(clip_int8, int8_t)
CLIP_LANE(clip_int16, int16_t)
CLIP_LANE(clip_int32, int32_t)
CLIP_LANE(clip_int64, int64_t)
CLIP_LANE(clip_uint8, uint8_t)
CLIP_LANE(clip_uint16, uint16_t)
CLIP_LANE(clip_uint32, uint32_t)
CLIP_LANE(clip_uint64, uint64_t)
CLIP_HALF(clip_float16, half)
CLIP_HALF(clip_bfloat16, bfloat16)
CLIP_LANE(clip_float32, float)
CLIP_LANE(clip_float64, double)

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
