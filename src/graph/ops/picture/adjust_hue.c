/* adjust_hue: a turn of the hue of each colour (tf.image.adjust_hue).
 *
 * The lowest and highest channel keep their values. Integers are scaled to [0, 1] and back. Fails
 * on other numbers of channels than 3. No gradient. No state, no locks. */
#include "graph/support/picture/colour.h"

static const leati_row adjust_hue_rows[] =
    LEATI_ADJUST_ROWS("delta", "What is added to each hue, of a circle of 1; in [-1, 1].");

/* The sixths of the circle: which channel is highest, lies between, and is lowest. In even ones the
 * middle channel rises with the hue. */
static const signed char order[6][3] = {{0, 1, 2}, {1, 0, 2}, {1, 2, 0},
                                        {2, 1, 0}, {2, 0, 1}, {0, 2, 1}};

static int sixth_of(const float *rgb) {
    float r = rgb[0], g = rgb[1], b = rgb[2];
    if (r < g)
        return b < r ? 1 : b > g ? 3 : 2;
    return b < g ? 0 : b > r ? 4 : 5;
}

static void turn(const float *rgb, float by, float *out) {
    int sixth = sixth_of(rgb);
    float high = rgb[order[sixth][0]], low = rgb[order[sixth][2]], hue = 0.0F;
    if (high != low) {
        float ratio = (rgb[order[sixth][1]] - low) / (high - low);
        hue = (float)sixth + ((sixth & 1) == 0 ? ratio : 1.0F - ratio);
    }
    hue += by;
    while (hue < 0.0F)
        hue += 6.0F;
    while (hue >= 6.0F)
        hue -= 6.0F;
    sixth = hue >= 0.0F ? (int)hue : 5;
    float ratio = hue - (float)sixth;
    if ((sixth & 1) != 0)
        ratio = 1.0F - ratio;
    float middle = low + ratio * (high - low);
    out[order[sixth][0]] = high;
    out[order[sixth][1]] = middle;
    out[order[sixth][2]] = low;
}

static void adjust_hue(const float *in, float *out, const leati_frames *frames,
                       const void *context) {
    float by = (float)((const struct leati_adjust_args *)context)->amount * 6.0F;
    int64_t pixels = frames->count * frames->height * frames->width;
    for (int64_t i = 0; i < pixels; i++)
        turn(in + 3 * i, by, out + 3 * i);
}

static const leati_colour adjust_hue_colour = {
    .function = adjust_hue, .rank = 3, .in_channels = 3, .dtype = LEAT_BOOL};

static leat_status check(const struct leati_adjust_args *args, leat_error *err) {
    if (args->amount >= -1 && args->amount <= 1)
        return LEAT_OK;
    return leati_refuse(err, VALUE, "delta is %.9g; expected a number in [-1, 1]", args->amount);
}

static leat_status adjust_hue_infer(leati_infer_call *call, leat_error *err) {
    if (call->unknown == 0)
        LEATI_TRY(check(call->args, err));
    return leati_colour_infer(call, &adjust_hue_colour, err);
}

static leat_status adjust_hue_kernel(leati_kernel_call *call, leat_error *err) {
    LEATI_TRY(check(call->args, err));
    return leati_colour_kernel(call, &adjust_hue_colour, call->args, err);
}

leat_value leat_op_adjust_hue(leat_value images, double delta) {
    struct leati_adjust_args args = {delta};
    return leati_graph_build1(&leati_tensor_op_adjust_hue, &args, images);
}

const leati_tensor_op leati_tensor_op_adjust_hue = {
    .name = "adjust_hue",
    .version = 1,
    .doc = "A turn of the hue of each colour (tf.image.adjust_hue).",
    .names = "image.adjust_hue",
    .inputs = "image",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = adjust_hue_rows,
    .args_size = sizeof(struct leati_adjust_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = adjust_hue_infer,
    .kernel = adjust_hue_kernel,
};
