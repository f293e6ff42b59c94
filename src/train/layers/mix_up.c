/* MixUp: in training each picture of a batch, and each label, is blended with another one of the
 * batch by a random weight (keras.layers.MixUp). Failures: an alpha outside of 0 to 1. No locks. */
#include "base/error.h"
#include "train/support/mixing.h"

struct mix_up_args {
    struct leati_picture_args common;
    double alpha;
};

static const leati_row mix_up_rows[] = {
    LEATI_LAYER_ROW(mix_up_args, alpha, FLOAT, .default_number = 0.2,
                    .doc = "Weights have the beta distribution (alpha, alpha); above 0, up to 1."),
    LEATI_PICTURE_MASKS_ROW,
    LEATI_PICTURE_SEED_ROWS,
    {0},
};

static leat_status mix_up_check(const void *arguments, leat_error *err) {
    const struct mix_up_args *args = arguments;
    if (!(args->alpha > 0 && args->alpha <= 1))
        return leati_refuse(err, VALUE, "alpha is %g; expected a number above 0, up to 1",
                            args->alpha);
    return leati_pictures_check(&args->common, (leati_picture_range){0, 1}, err);
}

static leat_value mix_up_call(const leati_pass *pass) {
    const struct mix_up_args *args = pass->args;
    struct leati_mix_args mix = {.alpha = args->alpha};
    /* The order of the batch and the weights. */
    return leati_mixing_call(pass, &leati_tensor_op_stateless_mixup, &mix, 2);
}

const leati_layer_kind leati_layer_mix_up = {
    .kind =
        {
            .name = "MixUp",
            .doc = "In training pictures and labels are blended with others of the batch "
                   "(keras.layers.MixUp).",
            .rows = mix_up_rows,
            .signature = "alpha=0.2 data_format seed=null",
            .args_size = sizeof(struct mix_up_args),
            .check = mix_up_check,
        },
    .prefix = "mix_up",
    .min_rank = 3,
    .expects = "[height, width, channels] with or without batch",
    .prepares = true,
    .labels = true,
    .seed = leati_picture_seed,
    .weights = leati_picture_weights,
    .call = mix_up_call,
};
