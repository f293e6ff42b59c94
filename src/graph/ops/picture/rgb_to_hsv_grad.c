/* rgb_to_hsv_grad: what flows back through rgb_to_hsv. Inputs: the colours, the gradient.
 *
 * Of equal channels red counts before green and green before blue as the largest, and the other way
 * round as the smallest; where nothing is largest, or a term is divided by 0, nothing flows, and
 * none of the saturation to a smallest channel of 0, as in TensorFlow. Computed in float32. Fails
 * where shapes differ. No gradient of its own. No state, no locks. */
#include "graph/support/support.h"

static leat_status rgb_to_hsv_grad_infer(leati_infer_call *call, leat_error *err) {
    leat_dtype dtype = call->inputs[0].dtype;
    if (dtype < LEAT_FLOAT16 || dtype > LEAT_FLOAT64)
        return leati_refuse(err, DTYPE, "the colours are %s; expected floats",
                            leat_dtype_name(dtype));
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    return leati_op_infer_output(call, dtype, &call->inputs[0].shape, NULL, err);
}

static float over(float number) {
    return number == 0 ? 0 : 1 / number;
}

/* Of one colour. */
static void flow_back(const float in[3], const float g[3], float out[3]) {
    float r = in[0], green = in[1], b = in[2];
    int most = r >= b && r >= green ? 0 : green > r && green >= b ? 1 : 2;
    int least = r < b && r < green ? 0 : green <= r && green < b ? 1 : 2;
    int first = (most + 1) % 3, second = (most + 2) % 3;
    float high = in[most], low = in[least], range = high - low;
    float across = (in[first] - in[second]) * over(range * range), step = over(range);
    float hue = high > 0 ? g[0] / 6 : 0;
    out[0] = out[1] = out[2] = 0;
    out[most] += g[2];
    if (most == least)
        return;
    out[most] += high > 0 ? g[1] * low * over(high * high) : 0;
    out[least] -= low > 0 ? g[1] * over(high) : 0;
    out[most] -= hue * across;
    out[first] += hue * (step + (first == least ? across : 0));
    out[second] += hue * ((second == least ? across : 0) - step);
}

static leat_status rgb_to_hsv_grad_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    leat_shape other = leati_support_operand_shape(&call->inputs[1]);
    leati_operand in, gradient, out;
    if (!leati_shape_equal(&shape, &other) || shape.rank < 1 || shape.dims[shape.rank - 1] != 3)
        return leati_refuse(err, SHAPE,
                            "colours of rank %d and a gradient of rank %d; expected equal shapes, "
                            "with 3 channels",
                            (int)shape.rank, (int)other.rank);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    LEATI_TRY(leati_support_inner_cast(call, &call->inputs[0], LEAT_FLOAT32, &in, err));
    LEATI_TRY(leati_support_inner_cast(call, &call->inputs[1], LEAT_FLOAT32, &gradient, err));
    out = gradient;
    for (int64_t row = 0; row < call->n; row++) {
        const float *colours = (const float *)(const void *)leati_support_row_of(&in, row);
        float *numbers = (float *)(void *)leati_support_row_of(&gradient, row);
        for (int64_t i = 0; i < in.count; i += 3) {
            float flowing[3] = {numbers[i], numbers[i + 1], numbers[i + 2]};
            flow_back(colours + i, flowing, numbers + i);
        }
    }
    return leati_support_inner_cast_into(call, &out, &call->outputs[0], err);
}

const leati_tensor_op leati_tensor_op_rgb_to_hsv_grad = {
    .name = "rgb_to_hsv_grad",
    .version = 1,
    .doc = "What flows back through rgb_to_hsv (for gradients).",
    .types = "T T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = rgb_to_hsv_grad_infer,
    .kernel = rgb_to_hsv_grad_kernel,
};
