/* RandomGaussianBlur: in training pictures are blurred by chance, all of a batch equally
 * (keras.layers.RandomGaussianBlur). Failures: a kernel_size that is even, factors outside of 0 to
 * 1, an unknown number of channels. No locks. */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/support/pictures.h"

struct random_gaussian_blur_args {
    struct leati_picture_args common;
    leati_ints kernel_size;
    leati_floats sigma;
};

static const leati_row random_gaussian_blur_rows[] = {
    LEATI_PICTURE_FACTOR_ROW(
        0, "The chance: one number f for one drawn from 0 to f, or two numbers; 1 by default."),
    LEATI_LAYER_ROW(random_gaussian_blur_args, kernel_size, INTS, .minimum = 1, .maximum = 4095,
                    .doc = "Height and width of the window, odd numbers, or one for both; 3 by "
                           "default."),
    LEATI_LAYER_ROW(random_gaussian_blur_args, sigma, FLOATS,
                    .doc = "The deviation in pixels: one number f for 0 to f, or two numbers; 1 by "
                           "default."),
    LEATI_PICTURE_VALUE_RANGE_ROW,
    LEATI_PICTURE_SEED_ROWS,
    {0},
};

static leat_status random_gaussian_blur_check(const void *arguments, leat_error *err) {
    const struct random_gaussian_blur_args *args = arguments;
    const leati_picture_range unit = {0, 1};
    LEATI_TRY(leati_layer_check_numbers(&args->kernel_size, "kernel_size", 2, err));
    for (int32_t i = 0; i < args->kernel_size.count; i++)
        if (args->kernel_size.values[i] % 2 == 0)
            return leati_refuse(err, VALUE, "kernel_size is %lld; expected an odd number",
                                (long long)args->kernel_size.values[i]);
    LEATI_TRY(leati_pictures_check_factor(&args->sigma, "sigma", unit, err));
    return leati_pictures_check(&args->common, unit, err);
}

/* The bell curve of `size` places as a vector that adds up to 1. */
static leat_value bell(leat_value sigma, int64_t size) {
    leat_value places = leat_op_cumsum(
        leat_op_ones(sigma.graph, LEAT_SHAPE(size), leat_value_dtype(sigma)), 0, true, false);
    /* From the middle place, for sizes are odd. */
    leat_value apart = leati_pictures_linear(places, 1, -(double)(size - 1) / 2);
    leat_value curve =
        leat_op_exp(leati_pictures_linear(leat_op_square(leat_op_divide(apart, sigma)), -0.5, 0));
    return leat_op_divide(curve, leat_op_reduce_sum(curve, NULL, 0, true));
}

/* The window, of which Keras computes width by height and then reads height by width. */
static leat_value window(leat_value sigma, const int64_t *size) {
    leat_value curves[2];
    for (int i = 0; i < 2; i++)
        curves[i] =
            bell(leat_op_slice(sigma, (const int64_t[]){i}, 1, (const int64_t[]){1}, 1), size[i]);
    leat_value outer = leat_op_multiply(leat_op_reshape(curves[1], (const int64_t[]){-1, 1}, 2),
                                        leat_op_reshape(curves[0], (const int64_t[]){1, -1}, 2));
    return leat_op_reshape(outer, size, 2);
}

static leat_value random_gaussian_blur_call(const leati_pass *pass) {
    const struct random_gaussian_blur_args *args = pass->args;
    leati_picture_arguments p = leati_pictures_begin(pass);
    int64_t size[2];
    leati_layer_numbers_of(&args->kernel_size, 3, 2, size);
    if (!pass->training || leati_support_value_failed(p.x))
        return leati_pictures_end(&p, p.x);
    leat_value applied =
        leati_pictures_chosen(&p, leati_pictures_factor_range(&args->common.factor, 1, 0));
    leat_value sigma =
        leati_pictures_draw_vector(&p, 2, leati_pictures_factor_range(&args->sigma, 1, 0));
    /* A sigma of 0 would divide by 0. */
    leat_value blurred =
        leati_pictures_filter(p.x, window(leati_pictures_linear(sigma, 1, 1e-6), size));
    leat_value out = leat_op_select(applied, blurred, p.x);
    return leati_pictures_end(
        &p, leati_pictures_clip(out, leati_pictures_value_range(&args->common.value_range)));
}

const leati_layer_kind leati_layer_random_gaussian_blur = {
    .kind =
        {
            .name = "RandomGaussianBlur",
            .doc = "In training pictures are blurred by chance (keras.layers.RandomGaussianBlur).",
            .rows = random_gaussian_blur_rows,
            .signature =
                "factor=1.0 kernel_size=3 sigma=1.0 value_range=[0,255] data_format seed=null",
            .args_size = sizeof(struct random_gaussian_blur_args),
            .check = random_gaussian_blur_check,
        },
    .prefix = "random_gaussian_blur",
    .min_rank = 3,
    .expects = "[height, width, channels] with or without batch",
    .prepares = true,
    .seed = leati_picture_seed,
    .weights = leati_picture_weights,
    .call = random_gaussian_blur_call,
};
