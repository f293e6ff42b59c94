/* CutMix: in training a window of each picture of a batch is cut from another one, and labels are
 * mixed by area (keras.layers.CutMix). One picture alone stays as it is. Failures: a factor
 * outside of 0 to 1. No locks. */
#include "graph/support/support.h"
#include "train/support/mixing.h"

static const leati_row cut_mix_rows[] = {
    LEATI_PICTURE_FACTOR_ROW(0, "The range of the parameter of the parts' beta distribution: f for "
                                "0 to f, or two numbers; 1 by default."),
    LEATI_PICTURE_MASKS_ROW,
    LEATI_PICTURE_SEED_ROWS,
    {0},
};

static leat_status cut_mix_check(const void *args, leat_error *err) {
    return leati_pictures_check(args, (leati_picture_range){0, 1}, err);
}

static leat_value cut_mix_call(const leati_pass *pass) {
    const struct leati_picture_args *args = pass->args;
    leati_picture_range range = leati_pictures_factor_range(&args->factor, 1, 0);
    /* The arguments are borrowed for the call alone: the operation copies what it keeps. */
    struct leati_mix_args mix = {.factor = {(double[]){range.low, range.high}, 2}};
    /* One picture has no other to be cut from. No draw is made for it, unlike in MixUp. */
    if (leat_value_shape(pass->inputs[0]).rank == 3) {
        leati_picture_arguments p = leati_pictures_begin(pass);
        return pass->num_inputs > 1 ? pass->inputs[1] : leati_pictures_end(&p, p.x);
    }
    /* The parameter, the parts, two numbers of the place, and the order of the batch. */
    return leati_mixing_call(pass, &leati_tensor_op_stateless_cutmix, &mix, 5);
}

const leati_layer_kind leati_layer_cut_mix = {
    .kind =
        {
            .name = "CutMix",
            .doc = "In training a window of each picture is cut from another one of the batch, and "
                   "labels are mixed by area (keras.layers.CutMix).",
            .rows = cut_mix_rows,
            .signature = "factor=1.0 seed=null data_format",
            .args_size = sizeof(struct leati_picture_args),
            .check = cut_mix_check,
        },
    .prefix = "cut_mix",
    .min_rank = 3,
    .expects = "[height, width, channels] with or without batch",
    .prepares = true,
    .labels = true,
    .seed = leati_picture_seed,
    .weights = leati_picture_weights,
    .call = cut_mix_call,
};
