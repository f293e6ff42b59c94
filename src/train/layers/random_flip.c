/* RandomFlip: in training pictures are mirrored by chance, left to right, upside down or both at
 * once (keras.layers.RandomFlip). Failures: another mode. No locks. */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/support/pictures.h"
#include <string.h>

struct random_flip_args {
    struct leati_picture_args common;
    char *mode;
};

static const leati_row random_flip_rows[] = {
    LEATI_LAYER_ROW(random_flip_args, mode, STRING, .default_text = "horizontal_and_vertical",
                    .doc = "\"horizontal\", \"vertical\" or \"horizontal_and_vertical\"."),
    LEATI_PICTURE_MASKS_ROW,
    LEATI_PICTURE_SEED_ROWS,
    {0},
};

static leat_status random_flip_check(const void *arguments, leat_error *err) {
    const struct random_flip_args *args = arguments;
    const char *mode = args->mode == NULL ? "" : args->mode;
    if (strcmp(mode, "horizontal") != 0 && strcmp(mode, "vertical") != 0 &&
        strcmp(mode, "horizontal_and_vertical") != 0)
        return leati_refuse(err, VALUE,
                            "mode is \"%.60s\"; expected horizontal, vertical or "
                            "horizontal_and_vertical",
                            mode);
    return leati_pictures_check(&args->common, (leati_picture_range){0, 0}, err);
}

/* Mirrored along a dimension where `flips` says so. */
static leat_value mirror(leat_value x, leat_value flips, int64_t axis) {
    return leat_op_select(flips, leat_op_reverse(x, &axis, 1), x);
}

static leat_value random_flip_call(const leati_pass *pass) {
    const struct random_flip_args *args = pass->args;
    leati_picture_arguments p = leati_pictures_begin(pass);
    if (pass->training && !leati_support_value_failed(p.x)) {
        leat_value drawn = leati_pictures_draw(&p, 1, (leati_picture_range){0, 1});
        leat_value flips =
            leat_op_less_equal(drawn, leati_support_times(leat_op_ones_like(drawn), 0.5));
        /* "horizontal" and "horizontal_and_vertical"; both directions by the same draw. */
        if (strncmp(args->mode, "horizontal", 10) == 0)
            p.x = mirror(p.x, flips, 2);
        /* All modes but "horizontal" itself turn pictures upside down. */
        if (strcmp(args->mode, "horizontal") != 0)
            p.x = mirror(p.x, flips, 1);
    }
    return leati_pictures_end(&p, p.x);
}

const leati_layer_kind leati_layer_random_flip = {
    .kind =
        {
            .name = "RandomFlip",
            .doc = "In training pictures are mirrored by chance (keras.layers.RandomFlip).",
            .rows = random_flip_rows,
            .signature = "mode seed data_format",
            .config = "seed",
            .args_size = sizeof(struct random_flip_args),
            .check = random_flip_check,
        },
    .prefix = "random_flip",
    .min_rank = 3,
    .expects = "[height, width, channels] with or without batch",
    .prepares = true,
    .seed = leati_picture_seed,
    .weights = leati_picture_weights,
    .call = random_flip_call,
};
