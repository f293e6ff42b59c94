/* select: x where the condition holds, else y, all three broadcast (tf.where).
 *
 * Values are copied by their size, so every dtype shares five lanes; strings keep what they point
 * into alive. Fails in inference where the condition is not bool, x and y differ in dtype, or
 * shapes do not broadcast. No state, no locks. */
#include "graph/support/array/moving.h"
#include "graph/support/math/elementwise.h"

/* A string: the widest value that is copied. */
typedef struct sixteen_bytes {
    uint64_t words[2];
} sixteen_bytes;

/* What is dense in all operands, or constant in one of the choices, becomes vector code; any steps,
 * 0 of a broadcast operand among them, are followed one by one. */
#define SELECT_LOOP(X, Y)                                                                          \
    do {                                                                                           \
        LEATI_INDEPENDENT                                                                          \
        for (int64_t i = 0; i < n; i++)                                                            \
            out[i] = condition[i] ? (X) : (Y);                                                     \
        return;                                                                                    \
    } while (0)
#define SELECT_LANE(NAME, TYPE)                                                                    \
    LEATI_ALWAYS_INLINE void NAME##_loop(leati_lane *lane) {                                       \
        const int64_t n = lane->n;                                                                 \
        const uint8_t *condition = (const uint8_t *)lane->in[0];                                   \
        const TYPE *x = (const TYPE *)lane->in[1], *y = (const TYPE *)lane->in[2];                 \
        TYPE *out = (TYPE *)lane->out;                                                             \
        if (lane->in_step[1] == 0 && lane->in_step[2] == 0) {                                      \
            const TYPE a = *x, b = *y;                                                             \
            SELECT_LOOP(a, b);                                                                     \
        }                                                                                          \
        if (lane->in_step[1] == 0) {                                                               \
            const TYPE a = *x;                                                                     \
            SELECT_LOOP(a, y[i]);                                                                  \
        }                                                                                          \
        if (lane->in_step[2] == 0) {                                                               \
            const TYPE b = *y;                                                                     \
            SELECT_LOOP(x[i], b);                                                                  \
        }                                                                                          \
        SELECT_LOOP(x[i], y[i]);                                                                   \
    }                                                                                              \
    LEATI_ISA(NAME##_dense, NAME##_loop, leati_lane *)                                             \
    static void NAME(leati_lane *lane) {                                                           \
        const int64_t n = lane->n, size = (int64_t)sizeof(TYPE);                                   \
        const int64_t sx = lane->in_step[1], sy = lane->in_step[2];                                \
        if (lane->in_step[0] == 1 && lane->out_step == size && (sx == size || sx == 0) &&          \
            (sy == size || sy == 0)) {                                                             \
            NAME##_dense(lane);                                                                    \
            return;                                                                                \
        }                                                                                          \
        if (lane->in_step[0] == 0 && n > 0) {                                                      \
            run_chosen(lane, size);                                                                \
            return;                                                                                \
        }                                                                                          \
        for (int64_t i = 0; i < n; i++) {                                                          \
            bool condition = *(const bool *)(lane->in[0] + i * lane->in_step[0]);                  \
            int from = condition ? 1 : 2;                                                          \
            *(TYPE *)(lane->out + i * lane->out_step) =                                            \
                *(const TYPE *)(lane->in[from] + i * lane->in_step[from]);                         \
        }                                                                                          \
    }

/* One condition for all values: they are those of one choice. */
static void run_chosen(const leati_lane *lane, int64_t size) {
    int from = *(const bool *)lane->in[0] ? 1 : 2;
    const leati_moving_dim dim = {lane->n, lane->out_step, lane->in_step[from]};
    leati_moving_copy(lane->out, lane->in[from], &dim, 1, (size_t)size);
}

SELECT_LANE(select_1, uint8_t)
SELECT_LANE(select_2, uint16_t)
SELECT_LANE(select_4, uint32_t)
SELECT_LANE(select_8, uint64_t)
SELECT_LANE(select_16, sixteen_bytes)

static leat_status select_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_BOOL, "the condition", err));
    const leati_type *x = &call->inputs[1], *y = &call->inputs[2];
    if (x->dtype != y->dtype || x->dtype == LEAT_OBJECT)
        return leati_refuse(err, DTYPE,
                            "the choices are %s and %s; expected one dtype that is not object",
                            leat_dtype_name(x->dtype), leat_dtype_name(y->dtype));
    leat_shape choices, all;
    LEATI_TRY(leati_op_infer_broadcast_shape(&x->shape, &y->shape, &choices, err));
    LEATI_TRY(leati_op_infer_broadcast_shape(&call->inputs[0].shape, &choices, &all, err));
    return leati_op_infer_output(call, x->dtype, &all, NULL, err);
}

static leat_status select_kernel(leati_kernel_call *call, leat_error *err) {
    leati_lane_function lane;
    switch (leat_dtype_size(call->inputs[1].dtype)) {
    case 1: lane = select_1; break;
    case 2: lane = select_2; break;
    case 4: lane = select_4; break;
    case 8: lane = select_8; break;
    default: lane = select_16; break;
    }
    LEATI_TRY(leati_elementwise(call, lane, NULL, err));
    if (call->inputs[1].dtype == LEAT_STRING) {
        LEATI_TRY(leati_op_kernel_hold(call, 0, 1, err));
        LEATI_TRY(leati_op_kernel_hold(call, 0, 2, err));
    }
    return LEAT_OK;
}

static leat_status select_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_value g = call->output_gradients[0], condition = call->inputs[0];
    /* Each choice gets the gradient where it was chosen, summed down if it was broadcast. */
    leat_value none = leat_op_zeros_like(g);
    call->input_gradients[1] =
        leati_op_gradient_unbroadcast(leat_op_select(condition, g, none), call->inputs[1]);
    call->input_gradients[2] =
        leati_op_gradient_unbroadcast(leat_op_select(condition, none, g), call->inputs[2]);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_select = {
    .name = "select",
    .version = 1,
    .doc = "x where the condition holds, else y, broadcast (tf.where).",
    .names = "where",
    .inputs = "condition x y",
    .signature = "condition x=null y=null",
    .types = "bool T T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = leati_no_rows,
    .min_inputs = 3,
    .max_inputs = 3,
    .flags = LEATI_ELEMENTWISE,
    .infer = select_infer,
    .kernel = select_kernel,
    .gradient = select_gradient,
};
