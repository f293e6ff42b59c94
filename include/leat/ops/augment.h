/* Made by tools/builders.py from the tables of src/graph/ops: make builders. */
/* Builders of tensor operations: pictures changed at random; see leat/ops.h. */
#ifndef LEAT_OPS_AUGMENT_H
#define LEAT_OPS_AUGMENT_H

#include <leat/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A batch of pictures with a window of each from another one of the batch, and its labels mixed
 * by area (tf.keras.layers.CutMix).
 * `factor`: the range, in [0, 1], of the parameter of the weights' beta distribution; one
 * number is its end; without it 0 to 1; NULL: not given.
 * `seed`: the operation's seed; NULL: not given.
 * Returns `images_out`; `labels_out` may be NULL. */
LEAT_API leat_value leat_op_cutmix(leat_value images, leat_value labels, const double *factor,
                                   int num_factor, const int64_t *seed, leat_value *labels_out);

/* A batch of pictures and its labels, each blended with another one of the batch by a random
 * weight (tf.keras.layers.MixUp).
 * `alpha`: the weights' beta distribution is (alpha, alpha); in (0, 1]; by default 0.2.
 * `seed`: the operation's seed; NULL: not given.
 * Returns `images_out`; `labels_out` may be NULL. */
LEAT_API leat_value leat_op_mixup(leat_value images, leat_value labels, double alpha,
                                  const int64_t *seed, leat_value *labels_out);

typedef struct leat_op_rand_augment_options {
    size_t size; /* set by the macro below */
    /* The lowest and the highest value of pictures; without it 0 and 255; NULL: not given. */
    const double *value_range;
    int num_value_range;
    /* How many distortions follow each other; by default 2. */
    int64_t num_ops;
    /* The range, in [0, 1], of strengths; one number is its end; without it 0 to 0.5; NULL: not
     * given. */
    const double *factor;
    int num_factor;
    /* How pixels are read that lie between others: bilinear or nearest; by default "bilinear". */
    const char *interpolation;
    /* The pictures are masks of classes: pixels are moved as those of pictures by the same seed,
     * but neither blended nor coloured; by default false. */
    bool masks;
    /* The operation's seed; NULL: not given. */
    const int64_t *seed;
} leat_op_rand_augment_options;
#define LEAT_OP_RAND_AUGMENT_DEFAULTS .size = sizeof(leat_op_rand_augment_options), .num_ops = 2
/* A few random distortions of pictures one after the other, as float32
 * (tf.keras.layers.RandAugment).
 * `options`: NULL for the defaults. */
LEAT_API leat_value leat_op_rand_augment(leat_value images,
                                         const leat_op_rand_augment_options *options);

/* A random number in [-max_delta, max_delta) added to all values of pictures
 * (tf.image.random_brightness).
 * `max_delta`: the largest change, 0 or more.
 * `seed`: the operation's seed; NULL: not given. */
LEAT_API leat_value leat_op_random_brightness(leat_value image, double max_delta,
                                              const int64_t *seed);

/* Adjust_contrast with a random factor (tf.image.random_contrast).
 * `lower`: the smallest factor, 0 or more.
 * `upper`: the end of the factors, not reached.
 * `seed`: the operation's seed; NULL: not given. */
LEAT_API leat_value leat_op_random_contrast(leat_value image, double lower, double upper,
                                            const int64_t *seed);

/* A part of a size at a random place of a tensor (tf.image.random_crop).
 * `size`: the result's shape.
 * `seed`: the operation's seed; NULL: not given. */
LEAT_API leat_value leat_op_random_crop(leat_value value, const int64_t *size, int num_size,
                                        const int64_t *seed);

/* Pictures mirrored along their width, at random (tf.image.random_flip_left_right).
 * `seed`: the operation's seed; NULL: not given. */
LEAT_API leat_value leat_op_random_flip_left_right(leat_value image, const int64_t *seed);

/* Pictures mirrored along their height, at random (tf.image.random_flip_up_down).
 * `seed`: the operation's seed; NULL: not given. */
LEAT_API leat_value leat_op_random_flip_up_down(leat_value image, const int64_t *seed);

/* Adjust_hue with a random number in [-max_delta, max_delta) (tf.image.random_hue).
 * `max_delta`: the largest change, in [0, 0.5].
 * `seed`: the operation's seed; NULL: not given. */
LEAT_API leat_value leat_op_random_hue(leat_value image, double max_delta, const int64_t *seed);

/* Adjust_jpeg_quality with a random quality (tf.image.random_jpeg_quality).
 * `min_jpeg_quality`: the lowest quality.
 * `max_jpeg_quality`: the end of the qualities, not reached.
 * `seed`: the operation's seed; NULL: not given. */
LEAT_API leat_value leat_op_random_jpeg_quality(leat_value image, double min_jpeg_quality,
                                                double max_jpeg_quality, const int64_t *seed);

typedef struct leat_op_random_resized_crop_options {
    size_t size; /* set by the macro below */
    /* The least and the greatest part of the area; without it 0.08 and 1; NULL: not given. */
    const double *scale;
    int num_scale;
    /* The least and the greatest width over height; without it 3/4 and 4/3; NULL: not given. */
    const double *ratio;
    int num_ratio;
    /* How to scale, as in resize; by default "bilinear". */
    const char *method;
    /* Blend all pixels that a smaller picture's pixel covers; by default false. */
    bool antialias;
    /* The operation's seed; NULL: not given. */
    const int64_t *seed;
} leat_op_random_resized_crop_options;
#define LEAT_OP_RANDOM_RESIZED_CROP_DEFAULTS .size = sizeof(leat_op_random_resized_crop_options)
/* A random part of pictures, of a random area and proportions, scaled to one size, as float32.
 * `size`: height and width of the result, in pixels.
 * `options`: NULL for the defaults. */
LEAT_API leat_value leat_op_random_resized_crop(leat_value images, const int64_t *size,
                                                int num_size,
                                                const leat_op_random_resized_crop_options *options);

/* Adjust_saturation with a random factor (tf.image.random_saturation).
 * `lower`: the smallest factor, 0 or more.
 * `upper`: the end of the factors, not reached.
 * `seed`: the operation's seed; NULL: not given. */
LEAT_API leat_value leat_op_random_saturation(leat_value image, double lower, double upper,
                                              const int64_t *seed);

typedef struct leat_op_sample_distorted_bounding_box_options {
    size_t size; /* set by the macro below */
    /* The part of one of the boxes that must be inside, 0 or more; by default 0.1. */
    double min_object_covered;
    /* The least and the greatest width over height; without it 0.75 and 1.33; NULL: not given. */
    const double *aspect_ratio_range;
    int num_aspect_ratio_range;
    /* The least and the greatest part of the picture's area; without it 0.05 and 1; NULL: not
     * given. */
    const double *area_range;
    int num_area_range;
    /* How often to try before the whole picture is taken; by default 100. */
    int64_t max_attempts;
    /* Take the picture as the box where there is none; else that is an error; by default false. */
    bool use_image_if_no_bounding_boxes;
    /* The operation's seed; NULL: not given. */
    const int64_t *seed;
} leat_op_sample_distorted_bounding_box_options;
#define LEAT_OP_SAMPLE_DISTORTED_BOUNDING_BOX_DEFAULTS                                             \
    .size = sizeof(leat_op_sample_distorted_bounding_box_options), .min_object_covered = 0.1,      \
    .max_attempts = 100
/* A random part of a picture that covers enough of a box: begin, size and the part as a box
 * (tf.image.sample_distorted_bounding_box).
 * `options`: NULL for the defaults.
 * Returns `begin`; `size` and `bboxes` may be NULL. */
LEAT_API leat_value
leat_op_sample_distorted_bounding_box(leat_value image_size, leat_value bounding_boxes,
                                      const leat_op_sample_distorted_bounding_box_options *options,
                                      leat_value *size, leat_value *bboxes);

typedef struct leat_op_stateless_aug_mix_options {
    size_t size; /* set by the macro below */
    /* The lowest and the highest value of pictures; without it 0 and 255; NULL: not given. */
    const double *value_range;
    int num_value_range;
    /* How many chains there are; by default 3. */
    int64_t num_chains;
    /* How many places for a distortion a chain has; by default 3. */
    int64_t chain_depth;
    /* The range, in [0, 1], of strengths; one number is its end; without it 0 to 0.3; NULL: not
     * given. */
    const double *factor;
    int num_factor;
    /* The parameter of the weights' Dirichlet and beta distributions; by default 1.0. */
    double alpha;
    /* Also brightness, loss of colour, contrast and sharpness; by default true. */
    bool all_ops;
    /* How pixels are read that lie between others: bilinear or nearest; by default "bilinear". */
    const char *interpolation;
    /* The pictures are masks of classes: pixels are moved as those of pictures by the same seed,
     * but neither blended nor coloured; by default false. */
    bool masks;
} leat_op_stateless_aug_mix_options;
#define LEAT_OP_STATELESS_AUG_MIX_DEFAULTS                                                         \
    .size = sizeof(leat_op_stateless_aug_mix_options), .num_chains = 3, .chain_depth = 3,          \
    .alpha = 1.0, .all_ops = true
/* Pictures blended with what a few chains of random distortions make of them, as float32
 * (tf.keras.layers.AugMix).
 * `options`: NULL for the defaults. */
LEAT_API leat_value leat_op_stateless_aug_mix(leat_value images, leat_value seed,
                                              const leat_op_stateless_aug_mix_options *options);

/* A batch of pictures with a window of each from another one of the batch, and its labels mixed
 * by area (tf.keras.layers.CutMix).
 * `factor`: the range, in [0, 1], of the parameter of the weights' beta distribution; one
 * number is its end; without it 0 to 1; NULL: not given.
 * Returns `images_out`; `labels_out` may be NULL. */
LEAT_API leat_value leat_op_stateless_cutmix(leat_value images, leat_value labels, leat_value seed,
                                             const double *factor, int num_factor,
                                             leat_value *labels_out);

/* A batch of pictures and its labels, each blended with another one of the batch by a random
 * weight (tf.keras.layers.MixUp).
 * `alpha`: the weights' beta distribution is (alpha, alpha); in (0, 1]; by default 0.2.
 * Returns `images_out`; `labels_out` may be NULL. */
LEAT_API leat_value leat_op_stateless_mixup(leat_value images, leat_value labels, leat_value seed,
                                            double alpha, leat_value *labels_out);

typedef struct leat_op_stateless_rand_augment_options {
    size_t size; /* set by the macro below */
    /* The lowest and the highest value of pictures; without it 0 and 255; NULL: not given. */
    const double *value_range;
    int num_value_range;
    /* How many distortions follow each other; by default 2. */
    int64_t num_ops;
    /* The range, in [0, 1], of strengths; one number is its end; without it 0 to 0.5; NULL: not
     * given. */
    const double *factor;
    int num_factor;
    /* How pixels are read that lie between others: bilinear or nearest; by default "bilinear". */
    const char *interpolation;
    /* The pictures are masks of classes: pixels are moved as those of pictures by the same seed,
     * but neither blended nor coloured; by default false. */
    bool masks;
} leat_op_stateless_rand_augment_options;
#define LEAT_OP_STATELESS_RAND_AUGMENT_DEFAULTS                                                    \
    .size = sizeof(leat_op_stateless_rand_augment_options), .num_ops = 2
/* A few random distortions of pictures one after the other, as float32
 * (tf.keras.layers.RandAugment).
 * `options`: NULL for the defaults. */
LEAT_API leat_value leat_op_stateless_rand_augment(
    leat_value images, leat_value seed, const leat_op_stateless_rand_augment_options *options);

/* A random number in [-max_delta, max_delta) added to all values of pictures
 * (tf.image.stateless_random_brightness).
 * `max_delta`: the largest change, 0 or more. */
LEAT_API leat_value leat_op_stateless_random_brightness(leat_value image, double max_delta,
                                                        leat_value seed);

/* Adjust_contrast with a random factor (tf.image.stateless_random_contrast).
 * `lower`: the smallest factor, 0 or more.
 * `upper`: the end of the factors, not reached. */
LEAT_API leat_value leat_op_stateless_random_contrast(leat_value image, double lower, double upper,
                                                      leat_value seed);

/* A part of a size at a random place of a tensor (tf.image.stateless_random_crop).
 * `size`: the result's shape. */
LEAT_API leat_value leat_op_stateless_random_crop(leat_value value, const int64_t *size,
                                                  int num_size, leat_value seed);

/* Pictures mirrored along their width, at random (tf.image.stateless_random_flip_left_right). */
LEAT_API leat_value leat_op_stateless_random_flip_left_right(leat_value image, leat_value seed);

/* Pictures mirrored along their height, at random (tf.image.stateless_random_flip_up_down). */
LEAT_API leat_value leat_op_stateless_random_flip_up_down(leat_value image, leat_value seed);

/* Adjust_hue with a random number in [-max_delta, max_delta) (tf.image.stateless_random_hue).
 * `max_delta`: the largest change, in [0, 0.5]. */
LEAT_API leat_value leat_op_stateless_random_hue(leat_value image, double max_delta,
                                                 leat_value seed);

/* Adjust_jpeg_quality with a random quality (tf.image.stateless_random_jpeg_quality).
 * `min_jpeg_quality`: the lowest quality.
 * `max_jpeg_quality`: the end of the qualities, not reached. */
LEAT_API leat_value leat_op_stateless_random_jpeg_quality(leat_value image, double min_jpeg_quality,
                                                          double max_jpeg_quality, leat_value seed);

typedef struct leat_op_stateless_random_resized_crop_options {
    size_t size; /* set by the macro below */
    /* The least and the greatest part of the area; without it 0.08 and 1; NULL: not given. */
    const double *scale;
    int num_scale;
    /* The least and the greatest width over height; without it 3/4 and 4/3; NULL: not given. */
    const double *ratio;
    int num_ratio;
    /* How to scale, as in resize; by default "bilinear". */
    const char *method;
    /* Blend all pixels that a smaller picture's pixel covers; by default false. */
    bool antialias;
} leat_op_stateless_random_resized_crop_options;
#define LEAT_OP_STATELESS_RANDOM_RESIZED_CROP_DEFAULTS                                             \
    .size = sizeof(leat_op_stateless_random_resized_crop_options)
/* A random part of pictures, of a random area and proportions, scaled to one size, as float32;
 * the seed decides.
 * `size`: height and width of the result, in pixels.
 * `options`: NULL for the defaults. */
LEAT_API leat_value leat_op_stateless_random_resized_crop(
    leat_value images, const int64_t *size, int num_size, leat_value seed,
    const leat_op_stateless_random_resized_crop_options *options);

/* Adjust_saturation with a random factor (tf.image.stateless_random_saturation).
 * `lower`: the smallest factor, 0 or more.
 * `upper`: the end of the factors, not reached. */
LEAT_API leat_value leat_op_stateless_random_saturation(leat_value image, double lower,
                                                        double upper, leat_value seed);

typedef struct leat_op_stateless_sample_distorted_bounding_box_options {
    size_t size; /* set by the macro below */
    /* The part of one of the boxes that must be inside, 0 or more; by default 0.1. */
    double min_object_covered;
    /* The least and the greatest width over height; without it 0.75 and 1.33; NULL: not given. */
    const double *aspect_ratio_range;
    int num_aspect_ratio_range;
    /* The least and the greatest part of the picture's area; without it 0.05 and 1; NULL: not
     * given. */
    const double *area_range;
    int num_area_range;
    /* How often to try before the whole picture is taken; by default 100. */
    int64_t max_attempts;
    /* Take the picture as the box where there is none; else that is an error; by default false. */
    bool use_image_if_no_bounding_boxes;
} leat_op_stateless_sample_distorted_bounding_box_options;
#define LEAT_OP_STATELESS_SAMPLE_DISTORTED_BOUNDING_BOX_DEFAULTS                                   \
    .size = sizeof(leat_op_stateless_sample_distorted_bounding_box_options),                       \
    .min_object_covered = 0.1, .max_attempts = 100
/* A random part of a picture that covers enough of a box: begin, size and the part as a box
 * (tf.image.stateless_sample_distorted_bounding_box).
 * `options`: NULL for the defaults.
 * Returns `begin`; `size` and `bboxes` may be NULL. */
LEAT_API leat_value leat_op_stateless_sample_distorted_bounding_box(
    leat_value image_size, leat_value bounding_boxes, leat_value seed,
    const leat_op_stateless_sample_distorted_bounding_box_options *options, leat_value *size,
    leat_value *bboxes);

#ifdef __cplusplus
}
#endif
#endif
