/* What the layers share that change pictures: their arguments, draws for each picture, colours, and
 * looking at pictures through projections. */
#ifndef LEATI_TRAIN_SUPPORT_PICTURES_H
#define LEATI_TRAIN_SUPPORT_PICTURES_H

#include "train/frame/layer.h"

/* The arguments that several of them have. */
struct leati_picture_args {
    char *name; /* first: struct leati_layer_args */
    leati_floats factor, height_factor, width_factor, value_range;
    char *interpolation, *fill_mode, *data_format;
    double fill_value;
    int64_t height, width;
    leati_seed_argument seed;
    bool masks;
};

#define LEATI_PICTURE_ROW(MEMBER, TYPE, ...)                                                       \
    LEATI_LAYER_ROW(leati_picture_args, MEMBER, TYPE, __VA_ARGS__)
#define LEATI_PICTURE_SEED_ROWS                                                                    \
    LEATI_PICTURE_ROW(data_format, STRING, .doc = "\"channels_last\"."),                           \
        LEATI_PICTURE_ROW(seed, SEED,                                                              \
                          .doc = "What fixes the draws; none: drawn when the layer is made."),     \
        LEATI_LAYER_NAME
#define LEATI_PICTURE_FACTOR_ROW(FLAGS, DOC)                                                       \
    LEATI_PICTURE_ROW(factor, FLOATS, .flags = (FLAGS), .doc = (DOC))
#define LEATI_PICTURE_VALUE_RANGE_ROW                                                              \
    LEATI_PICTURE_ROW(value_range, FLOATS,                                                         \
                      .doc = "The lowest and the highest value of the pictures; 0 and 255 by "     \
                             "default.")
#define LEATI_PICTURE_SIZE_ROWS                                                                    \
    LEATI_PICTURE_ROW(height, INT, .flags = LEATI_REQUIRED, .minimum = 1, .maximum = INT32_MAX,    \
                      .doc = "Height of the result in pixels."),                                   \
        LEATI_PICTURE_ROW(width, INT, .flags = LEATI_REQUIRED, .minimum = 1, .maximum = INT32_MAX, \
                          .doc = "Width of the result in pixels.")
/* Of layers that move pixels; no argument of Keras', whose layers are given both at once. */
#define LEATI_PICTURE_MASKS_ROW                                                                    \
    LEATI_PICTURE_ROW(masks, BOOL,                                                                 \
                      .doc = "The pictures are masks of classes: pixels are moved as those of "    \
                             "pictures by the same seed, but neither blended nor coloured.")
#define LEATI_PICTURE_INTERPOLATION_ROW                                                            \
    LEATI_PICTURE_ROW(interpolation, STRING, .default_text = "bilinear",                           \
                      .doc = "\"bilinear\" or \"nearest\".")
/* Of layers that look through projections. */
#define LEATI_PICTURE_VIEW_ROWS                                                                    \
    LEATI_PICTURE_ROW(fill_mode, STRING, .default_text = "reflect",                                \
                      .doc = "What lies outside: \"reflect\", \"wrap\", \"nearest\" or "           \
                             "\"constant\"."),                                                     \
        LEATI_PICTURE_INTERPOLATION_ROW, LEATI_PICTURE_MASKS_ROW,                                  \
        LEATI_PICTURE_ROW(fill_value, FLOAT,                                                       \
                          .doc = "The value outside where fill_mode is \"constant\".")

/* Numbers from `low` to `high`. */
typedef struct leati_picture_range {
    double low, high;
} leati_picture_range;

/* For check: none, one number or two, within `bounds`. */
LEAT_WARN_UNUSED leat_status leati_pictures_check_factor(const leati_floats *factor,
                                                         const char *name,
                                                         leati_picture_range bounds,
                                                         leat_error *err);
/* For check: a factor, a range of values, an order of dimensions and a view, of which a layer has
 * some. */
LEAT_WARN_UNUSED leat_status leati_pictures_check(const struct leati_picture_args *args,
                                                  leati_picture_range bounds, leat_error *err);
/* What a factor stands for: a number f for [-f, f], but not below `least`; two numbers for what
 * lies between them; none is `standard`. */
leati_picture_range leati_pictures_factor_range(const leati_floats *factor, double standard,
                                                double least);
leati_picture_range leati_pictures_value_range(const leati_floats *range);

/* The slots `seed` and `weights` of layers that draw; struct leati_picture_args comes first. */
leati_seed_argument leati_picture_seed(const void *args);
LEAT_WARN_UNUSED leat_status leati_picture_weights(const void *args, const leat_shape *input,
                                                   leati_weights *out, leat_error *err);

/* One call: pictures, and how often was drawn for them. */
typedef struct leati_picture_arguments {
    const leati_pass *pass;
    leat_value x; /* floats [batch, height, width, channels] */
    bool single;  /* the input was one picture */
    int draws;
} leati_picture_arguments;

/* One picture or a batch as floats, and the result in the form that the input had. */
leati_picture_arguments leati_pictures_begin(const leati_pass *pass);
leat_value leati_pictures_end(const leati_picture_arguments *pictures, leat_value value);

/* Uniform numbers [batch, 1, 1, count] of [low, high) in the dtype of the pictures, drawn in
 * float32 or (`own`) in that dtype: Keras' layers say one or the other. */
leat_value leati_pictures_draw(leati_picture_arguments *pictures, int64_t count,
                               leati_picture_range range);
leat_value leati_pictures_draw_own(leati_picture_arguments *pictures, int64_t count,
                                   leati_picture_range range);
/* Is a picture chosen, [batch, 1, 1, 1], by a chance of this range? Two draws. */
leat_value leati_pictures_chosen(leati_picture_arguments *pictures, leati_picture_range chance);
/* Uniform numbers [count] for all pictures together in the dtype of the pictures, or normal ones of
 * their shape. */
leat_value leati_pictures_draw_vector(leati_picture_arguments *pictures, int64_t count,
                                      leati_picture_range range);
leat_value leati_pictures_draw_normal(leati_picture_arguments *pictures);
/* Uniform integers int64 [batch, 1, 1, 1] of [low, high). */
leat_value leati_pictures_draw_integers(leati_picture_arguments *pictures,
                                        leati_picture_range range);
/* The seed of the next draw, or of the next `count` of them. */
leat_value leati_pictures_seed(leati_picture_arguments *pictures);
leat_value leati_pictures_seeds(leati_picture_arguments *pictures, int count);
/* Number `index` of the last dimension, which stays with size 1. */
leat_value leati_pictures_part(leat_value numbers, int64_t index);
/* 1 or -1 for each picture, by a number that was drawn from 0 to 1. */
leat_value leati_pictures_sign(leat_value drawn);
/* One value of each picture, [batch, 1, 1, 1], for what has as many. */
leat_value leati_pictures_corner(leat_value x);
/* The size along a dimension, as a scalar of the dtype of x. */
leat_value leati_pictures_size(const leati_picture_arguments *pictures, int dimension);

/* `count` numbers, each a scalar or [batch, 1, 1, 1], as [batch, count]. */
enum { LEATI_PICTURE_NUMBERS = 64 };
leat_value leati_pictures_rows(const leati_picture_arguments *pictures, const leat_value *numbers,
                               int count);
/* The pictures seen through the projections of a table [batch, 8]. */
leat_value leati_pictures_project(const leati_picture_arguments *pictures,
                                  const struct leati_picture_args *args, leat_value table);
/* The pictures seen through projections: the numbers a0 a1 a2 b0 b1 b2, each a scalar or [batch, 1,
 * 1, 1] (graph/ops/picture/projective_transform). */
leat_value leati_pictures_view(const leati_picture_arguments *pictures,
                               const struct leati_picture_args *args, const leat_value *numbers);

/* x * number + offset, x kept within a range, and x carried from one range to another. */
leat_value leati_pictures_linear(leat_value x, double number, double offset);
leat_value leati_pictures_clip(leat_value x, leati_picture_range range);
leat_value leati_pictures_rescale(leat_value x, leati_picture_range from, leati_picture_range to);
/* Red, green and blue as one channel of grey; one channel stays. */
leat_value leati_pictures_grey(leat_value x);
/* The number of channels; below 1, and the graph fails, where it is unknown. */
int64_t leati_pictures_known_channels(leat_value x);
/* Each channel by itself with a kernel [height, width], "same". */
leat_value leati_pictures_filter(leat_value x, leat_value kernel);

/* Changes of colour, each picture's drawn from `factor`. */
void leati_pictures_brighten(leati_picture_arguments *pictures, leati_picture_range factor,
                             leati_picture_range values);
void leati_pictures_contrast(leati_picture_arguments *pictures, leati_picture_range factor,
                             leati_picture_range values);
void leati_pictures_saturate(leati_picture_arguments *pictures, leati_picture_range factor,
                             leati_picture_range values);
void leati_pictures_shift_hue(leati_picture_arguments *pictures, leati_picture_range factor,
                              leati_picture_range values);

/* The pictures scaled; `cut`: after cutting off what is too much for the proportions; `padded`:
 * after a border of `fill` where they are too small. Sizes are unknown only where neither is. */
typedef struct leati_scaling_layer {
    int64_t height, width;
    const char *method;
    bool cut, padded, antialias;
    double fill;
} leati_scaling_layer;
leat_value leati_pictures_scale(leat_value x, const leati_scaling_layer *scaling);

#endif
