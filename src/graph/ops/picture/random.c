/* random_brightness, random_contrast, random_crop, random_flip_left_right, random_flip_up_down,
 * random_hue, random_jpeg_quality, random_resized_crop, random_saturation: distortions of pictures
 * by random numbers (tf.image.random_brightness and its like; random_resized_crop is leat's own).
 *
 * What is drawn goes on from call to call; see random.h. Of the forms whose names begin with
 * stateless the seed, two integers, decides. Flips draw for each picture of several by itself; of
 * resized crops, also of their failures, see resized_crop.c. Brightness has a gradient, and so have
 * the stateless forms of crop and flips. No state, no locks. */
#include "graph/support/picture/augment.h"

/* Rows of the range of what is drawn, and of the largest change. */
#define AUGMENT_ROW(NAME, TYPE, FIELD, DOC)                                                        \
    {                                                                                              \
        .name = NAME, .type = LEATI_ROW_##TYPE, .flags = LEATI_REQUIRED | LEATI_TENSOR,            \
        .offset = offsetof(struct leati_augment_args, FIELD), .doc = DOC                           \
    }

#define RESIZED_CROP_ROWS                                                                          \
    AUGMENT_ROW("size", INTS, size, "Height and width of the result, in pixels."),                 \
        {.name = "scale",                                                                          \
         .type = LEATI_ROW_FLOATS,                                                                 \
         .flags = LEATI_NONE,                                                                      \
         .offset = offsetof(struct leati_augment_args, scale),                                     \
         .doc = "The least and the greatest part of the area; without it 0.08 and 1."},            \
        {.name = "ratio",                                                                          \
         .type = LEATI_ROW_FLOATS,                                                                 \
         .flags = LEATI_NONE,                                                                      \
         .offset = offsetof(struct leati_augment_args, ratio),                                     \
         .doc = "The least and the greatest width over height; without it 3/4 and 4/3."},          \
        {.name = "method",                                                                         \
         .type = LEATI_ROW_STRING,                                                                 \
         .offset = offsetof(struct leati_augment_args, method),                                    \
         .default_text = "bilinear",                                                               \
         .doc = "How to scale, as in resize."},                                                    \
    {                                                                                              \
        .name = "antialias", .type = LEATI_ROW_BOOL,                                               \
        .offset = offsetof(struct leati_augment_args, antialias),                                  \
        .doc = "Blend all pixels that a smaller picture's pixel covers."                           \
    }

/* The rows of both forms of one operation. */
#define ROWS(NAME, ...)                                                                            \
    static const leati_row random_##NAME##_rows[] = {__VA_ARGS__, LEATI_SEED_ROWS};                \
    static const leati_row stateless_random_##NAME##_rows[] = {__VA_ARGS__, {0}};
ROWS(brightness, AUGMENT_ROW("max_delta", FLOAT, random.high, "The largest change, 0 or more."))
ROWS(contrast, AUGMENT_ROW("lower", FLOAT, random.low, "The smallest factor, 0 or more."),
     AUGMENT_ROW("upper", FLOAT, random.high, "The end of the factors, not reached."))
ROWS(saturation, AUGMENT_ROW("lower", FLOAT, random.low, "The smallest factor, 0 or more."),
     AUGMENT_ROW("upper", FLOAT, random.high, "The end of the factors, not reached."))
ROWS(hue, AUGMENT_ROW("max_delta", FLOAT, random.high, "The largest change, in [0, 0.5]."))
ROWS(jpeg_quality, AUGMENT_ROW("min_jpeg_quality", FLOAT, random.low, "The lowest quality."),
     AUGMENT_ROW("max_jpeg_quality", FLOAT, random.high, "The end of the qualities, not reached."))
ROWS(crop, AUGMENT_ROW("size", INTS, size, "The result's shape."))
ROWS(resized_crop, RESIZED_CROP_ROWS)
static const leati_row flip_rows[] = {LEATI_SEED_ROWS};

static leat_status random_crop_window(const leati_kernel_call *call, leati_window *out,
                                      leat_error *err) {
    return leati_augment_image_window(call, &leati_augment_crop, out, err);
}

static leat_status stateless_random_crop_window(const leati_kernel_call *call, leati_window *out,
                                                leat_error *err) {
    return leati_augment_window(call, &leati_augment_crop, out, err);
}

static leat_status random_resized_crop_window(const leati_kernel_call *call, leati_window *out,
                                              leat_error *err) {
    return leati_augment_image_window(call, &leati_augment_resized_crop, out, err);
}

static leat_status stateless_random_resized_crop_window(const leati_kernel_call *call,
                                                        leati_window *out, leat_error *err) {
    return leati_augment_window(call, &leati_augment_resized_crop, out, err);
}

static leat_status flip_left_right_gradient(leati_gradient_call *call, leat_error *err) {
    /* The same seed mirrors the same pictures, so the operation is its own gradient. */
    return leati_augment_gradient_flip(call, &leati_tensor_op_stateless_random_flip_left_right,
                                       err);
}

static leat_status flip_up_down_gradient(leati_gradient_call *call, leat_error *err) {
    return leati_augment_gradient_flip(call, &leati_tensor_op_stateless_random_flip_up_down, err);
}

/* The descriptor of one form and its slots; FORM is `_image` where it is stateful. */
#define AUGMENT_OP(NAME, AUGMENT, FORM, DOC, NUM_INPUTS, ...)                                      \
    static leat_status NAME##_infer(leati_infer_call *call, leat_error *err) {                     \
        return leati_augment##FORM##_infer(call, &AUGMENT, err);                                   \
    }                                                                                              \
    static leat_status NAME##_kernel(leati_kernel_call *call, leat_error *err) {                   \
        return leati_augment##FORM##_kernel(call, &AUGMENT, err);                                  \
    }                                                                                              \
    const leati_tensor_op leati_tensor_op_##NAME = {                                               \
        .name = #NAME,                                                                             \
        .version = 1,                                                                              \
        .doc = DOC,                                                                                \
        .names = "image." #NAME,                                                                   \
        .outputs = "output",                                                                       \
        .halves = LEATI_HALVES_OWN,                                                                \
        .checks = LEATI_CHECKS_IN_PYTHON,                                                          \
        .args_size = sizeof(struct leati_augment_args),                                            \
        .min_inputs = NUM_INPUTS,                                                                  \
        .max_inputs = NUM_INPUTS,                                                                  \
        .infer = NAME##_infer,                                                                     \
        .kernel = NAME##_kernel,                                                                   \
        __VA_ARGS__,                                                                               \
    };
#define RANDOM(NAME, AUGMENT, DOC, INPUT, SIGNATURE, ROWS, FLAGS, ...)                             \
    AUGMENT_OP(NAME, AUGMENT, _image, DOC, 1, .inputs = INPUT, .signature = INPUT SIGNATURE,       \
               .types = "T", .rows = ROWS, .flags = LEATI_RANDOM | (FLAGS),                        \
               .complete = leati_random_complete, __VA_ARGS__)
#define STATELESS(NAME, AUGMENT, DOC, INPUT, SIGNATURE, ROWS, FLAGS, ...)                          \
    AUGMENT_OP(NAME, AUGMENT, , DOC, 2, .inputs = INPUT " seed", .signature = INPUT SIGNATURE,     \
               .types = "T Tseed", .rows = ROWS, .flags = FLAGS, __VA_ARGS__)
/* Both forms of one operation. */
#define PAIR(NAME, AUGMENT, DOC, SIGNATURE, FLAGS, GRADIENT)                                       \
    RANDOM(random_##NAME, AUGMENT, DOC " (tf.image.random_" #NAME ").", "image",                   \
           SIGNATURE " seed", random_##NAME##_rows, FLAGS, .gradient = GRADIENT)                   \
    STATELESS(stateless_random_##NAME, AUGMENT, DOC " (tf.image.stateless_random_" #NAME ").",     \
              "image", SIGNATURE " seed", stateless_random_##NAME##_rows, FLAGS,                   \
              .gradient = GRADIENT)
/* Quality and resized crops are worth a thread for each picture; the others are not. */
PAIR(brightness, leati_augment_brightness,
     "A random number in [-max_delta, max_delta) added to all values of pictures", " max_delta", 0,
     leati_augment_gradient_same)
PAIR(contrast, leati_augment_contrast, "Adjust_contrast with a random factor", " lower upper", 0,
     NULL)
PAIR(hue, leati_augment_hue, "Adjust_hue with a random number in [-max_delta, max_delta)",
     " max_delta", 0, NULL)
PAIR(jpeg_quality, leati_augment_quality, "Adjust_jpeg_quality with a random quality",
     " min_jpeg_quality max_jpeg_quality", LEATI_COSTLY, NULL)
RANDOM(random_saturation, leati_augment_saturation,
       "Adjust_saturation with a random factor (tf.image.random_saturation).", "image",
       " lower upper seed", random_saturation_rows, 0, .gradient = NULL)
STATELESS(stateless_random_saturation, leati_augment_saturation,
          "Adjust_saturation with a random factor (tf.image.stateless_random_saturation).", "image",
          " lower upper seed=null", stateless_random_saturation_rows, 0, .gradient = NULL)
RANDOM(random_flip_left_right, leati_augment_flip_left_right,
       "Pictures mirrored along their width, at random (tf.image.random_flip_left_right).", "image",
       " seed", flip_rows, 0, .trait = LEATI_TRAIT_MIRROR)
STATELESS(
    stateless_random_flip_left_right, leati_augment_flip_left_right,
    "Pictures mirrored along their width, at random (tf.image.stateless_random_flip_left_right).",
    "image", " seed", leati_no_rows, 0, .gradient = flip_left_right_gradient,
    .trait = LEATI_TRAIT_MIRROR)
RANDOM(random_flip_up_down, leati_augment_flip_up_down,
       "Pictures mirrored along their height, at random (tf.image.random_flip_up_down).", "image",
       " seed", flip_rows, 0, .trait = LEATI_TRAIT_MIRROR)
STATELESS(
    stateless_random_flip_up_down, leati_augment_flip_up_down,
    "Pictures mirrored along their height, at random (tf.image.stateless_random_flip_up_down).",
    "image", " seed", leati_no_rows, 0, .gradient = flip_up_down_gradient,
    .trait = LEATI_TRAIT_MIRROR)
RANDOM(random_crop, leati_augment_crop,
       "A part of a size at a random place of a tensor (tf.image.random_crop).", "value",
       " size seed", random_crop_rows, 0, .window = random_crop_window)
STATELESS(stateless_random_crop, leati_augment_crop,
          "A part of a size at a random place of a tensor (tf.image.stateless_random_crop).",
          "value", " size seed", stateless_random_crop_rows, 0,
          .gradient = leati_augment_gradient_crop, .window = stateless_random_crop_window)
RANDOM(
    random_resized_crop, leati_augment_resized_crop,
    "A random part of pictures, of a random area and proportions, scaled to one size, as float32.",
    "images", " size scale ratio method antialias seed", random_resized_crop_rows, LEATI_COSTLY,
    .window = random_resized_crop_window)
STATELESS(stateless_random_resized_crop, leati_augment_resized_crop,
          "A random part of pictures, of a random area and proportions, scaled to one size, as "
          "float32; the seed decides.",
          "images", " size seed scale ratio method antialias", stateless_random_resized_crop_rows,
          LEATI_COSTLY, .window = stateless_random_resized_crop_window)
