/* adjust_gamma: gain times the values to the power of gamma (tf.image.adjust_gamma).
 *
 * Integers are scaled to [0, 1] and back, clipped. Fails where gamma is negative. No state, no
 * locks. */
#include "graph/support/picture/colour.h"

#include <math.h>

struct adjust_gamma_args {
    double gamma, gain;
};

static const leati_row adjust_gamma_rows[] = {
    {.name = "gamma",
     .type = LEATI_ROW_FLOAT,
     .flags = LEATI_TENSOR,
     .offset = offsetof(struct adjust_gamma_args, gamma),
     .default_number = 1,
     .doc = "The power, 0 or more."},
    {.name = "gain",
     .type = LEATI_ROW_FLOAT,
     .flags = LEATI_TENSOR,
     .offset = offsetof(struct adjust_gamma_args, gain),
     .default_number = 1,
     .doc = "The factor."},
    {0},
};

static void adjust_gamma(const float *in, float *out, const leati_frames *frames,
                         const void *context) {
    const struct adjust_gamma_args *args = context;
    float gamma = (float)args->gamma, gain = (float)args->gain;
    int64_t count = frames->count * frames->height * frames->width * frames->channels;
    for (int64_t i = 0; i < count; i++)
        out[i] = gain * powf(in[i], gamma);
}

static const leati_colour adjust_gamma_colour = {
    .function = adjust_gamma, .dtype = LEAT_BOOL, .saturate = true};

static leat_status check(const struct adjust_gamma_args *args, leat_error *err) {
    if (args->gamma >= 0)
        return LEAT_OK;
    return leati_refuse(err, VALUE, "gamma is %.9g; expected 0 or more", args->gamma);
}

static leat_status adjust_gamma_infer(leati_infer_call *call, leat_error *err) {
    if (call->unknown == 0)
        LEATI_TRY(check(call->args, err));
    return leati_colour_infer(call, &adjust_gamma_colour, err);
}

static leat_status adjust_gamma_kernel(leati_kernel_call *call, leat_error *err) {
    LEATI_TRY(check(call->args, err));
    return leati_colour_kernel(call, &adjust_gamma_colour, call->args, err);
}

static leat_status adjust_gamma_gradient(leati_gradient_call *call, leat_error *err) {
    const struct adjust_gamma_args *args = call->args;
    leat_value x = call->inputs[0];
    (void)err;
    leat_value power = leati_support_number(call->graph, leat_value_dtype(x), args->gamma - 1);
    call->input_gradients[0] =
        leat_op_multiply(leati_support_times(leat_op_pow(x, power), args->gain * args->gamma),
                         call->output_gradients[0]);
    return LEAT_OK;
}

leat_value leat_op_adjust_gamma(leat_value images, double gamma, double gain) {
    struct adjust_gamma_args args = {gamma, gain};
    return leati_graph_build1(&leati_tensor_op_adjust_gamma, &args, images);
}

const leati_tensor_op leati_tensor_op_adjust_gamma = {
    .name = "adjust_gamma",
    .version = 1,
    .doc = "Gain times the values to the power of gamma (tf.image.adjust_gamma).",
    .names = "image.adjust_gamma",
    .inputs = "image",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = adjust_gamma_rows,
    .args_size = sizeof(struct adjust_gamma_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = adjust_gamma_infer,
    .kernel = adjust_gamma_kernel,
    .gradient = adjust_gamma_gradient,
};
