/* Made by tools/builders.py from the tables of src/graph/ops: make builders. */
#include "graph/build.h"
#include <leat/ops/augment.h>

leat_value leat_op_cutmix(leat_value images, leat_value labels, const double *factor,
                          int num_factor, const int64_t *seed, leat_value *labels_out) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_cutmix, NULL);
    leati_build_input(&build, images);
    leati_build_input(&build, labels);
    leati_build_floats(&build, "factor", factor, num_factor);
    leati_build_seed(&build, "seed", seed);
    leat_value first = leati_build_end(&build);
    leati_build_output(&build, 1, labels_out);
    return first;
}

leat_value leat_op_mixup(leat_value images, leat_value labels, double alpha, const int64_t *seed,
                         leat_value *labels_out) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_mixup, NULL);
    leati_build_input(&build, images);
    leati_build_input(&build, labels);
    leati_build_float(&build, "alpha", alpha);
    leati_build_seed(&build, "seed", seed);
    leat_value first = leati_build_end(&build);
    leati_build_output(&build, 1, labels_out);
    return first;
}

leat_value leat_op_rand_augment(leat_value images, const leat_op_rand_augment_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_rand_augment, NULL);
    leati_build_input(&build, images);
    leat_op_rand_augment_options own = {LEAT_OP_RAND_AUGMENT_DEFAULTS};
    leati_build_options(&build, &own, sizeof own, options, "leat_op_rand_augment_options");
    leati_build_floats(&build, "value_range", own.value_range, own.num_value_range);
    leati_build_int(&build, "num_ops", own.num_ops);
    leati_build_floats(&build, "factor", own.factor, own.num_factor);
    leati_build_text(&build, "interpolation", own.interpolation);
    leati_build_bool(&build, "masks", own.masks);
    leati_build_seed(&build, "seed", own.seed);
    return leati_build_end(&build);
}

leat_value leat_op_random_brightness(leat_value image, double max_delta, const int64_t *seed) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_random_brightness, NULL);
    leati_build_input(&build, image);
    leati_build_float(&build, "max_delta", max_delta);
    leati_build_seed(&build, "seed", seed);
    return leati_build_end(&build);
}

leat_value leat_op_random_contrast(leat_value image, double lower, double upper,
                                   const int64_t *seed) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_random_contrast, NULL);
    leati_build_input(&build, image);
    leati_build_float(&build, "lower", lower);
    leati_build_float(&build, "upper", upper);
    leati_build_seed(&build, "seed", seed);
    return leati_build_end(&build);
}

leat_value leat_op_random_crop(leat_value value, const int64_t *size, int num_size,
                               const int64_t *seed) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_random_crop, NULL);
    leati_build_input(&build, value);
    leati_build_ints(&build, "size", size, num_size);
    leati_build_seed(&build, "seed", seed);
    return leati_build_end(&build);
}

leat_value leat_op_random_flip_left_right(leat_value image, const int64_t *seed) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_random_flip_left_right, NULL);
    leati_build_input(&build, image);
    leati_build_seed(&build, "seed", seed);
    return leati_build_end(&build);
}

leat_value leat_op_random_flip_up_down(leat_value image, const int64_t *seed) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_random_flip_up_down, NULL);
    leati_build_input(&build, image);
    leati_build_seed(&build, "seed", seed);
    return leati_build_end(&build);
}

leat_value leat_op_random_hue(leat_value image, double max_delta, const int64_t *seed) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_random_hue, NULL);
    leati_build_input(&build, image);
    leati_build_float(&build, "max_delta", max_delta);
    leati_build_seed(&build, "seed", seed);
    return leati_build_end(&build);
}

leat_value leat_op_random_jpeg_quality(leat_value image, double min_jpeg_quality,
                                       double max_jpeg_quality, const int64_t *seed) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_random_jpeg_quality, NULL);
    leati_build_input(&build, image);
    leati_build_float(&build, "min_jpeg_quality", min_jpeg_quality);
    leati_build_float(&build, "max_jpeg_quality", max_jpeg_quality);
    leati_build_seed(&build, "seed", seed);
    return leati_build_end(&build);
}

leat_value leat_op_random_resized_crop(leat_value images, const int64_t *size, int num_size,
                                       const leat_op_random_resized_crop_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_random_resized_crop, NULL);
    leati_build_input(&build, images);
    leati_build_ints(&build, "size", size, num_size);
    leat_op_random_resized_crop_options own = {LEAT_OP_RANDOM_RESIZED_CROP_DEFAULTS};
    leati_build_options(&build, &own, sizeof own, options, "leat_op_random_resized_crop_options");
    leati_build_floats(&build, "scale", own.scale, own.num_scale);
    leati_build_floats(&build, "ratio", own.ratio, own.num_ratio);
    leati_build_text(&build, "method", own.method);
    leati_build_bool(&build, "antialias", own.antialias);
    leati_build_seed(&build, "seed", own.seed);
    return leati_build_end(&build);
}

leat_value leat_op_random_saturation(leat_value image, double lower, double upper,
                                     const int64_t *seed) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_random_saturation, NULL);
    leati_build_input(&build, image);
    leati_build_float(&build, "lower", lower);
    leati_build_float(&build, "upper", upper);
    leati_build_seed(&build, "seed", seed);
    return leati_build_end(&build);
}

leat_value
leat_op_sample_distorted_bounding_box(leat_value image_size, leat_value bounding_boxes,
                                      const leat_op_sample_distorted_bounding_box_options *options,
                                      leat_value *size, leat_value *bboxes) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_sample_distorted_bounding_box, NULL);
    leati_build_input(&build, image_size);
    leati_build_input(&build, bounding_boxes);
    leat_op_sample_distorted_bounding_box_options own = {
        LEAT_OP_SAMPLE_DISTORTED_BOUNDING_BOX_DEFAULTS};
    leati_build_options(&build, &own, sizeof own, options,
                        "leat_op_sample_distorted_bounding_box_options");
    leati_build_float(&build, "min_object_covered", own.min_object_covered);
    leati_build_floats(&build, "aspect_ratio_range", own.aspect_ratio_range,
                       own.num_aspect_ratio_range);
    leati_build_floats(&build, "area_range", own.area_range, own.num_area_range);
    leati_build_int(&build, "max_attempts", own.max_attempts);
    leati_build_bool(&build, "use_image_if_no_bounding_boxes", own.use_image_if_no_bounding_boxes);
    leati_build_seed(&build, "seed", own.seed);
    leat_value first = leati_build_end(&build);
    leati_build_output(&build, 1, size);
    leati_build_output(&build, 2, bboxes);
    return first;
}

leat_value leat_op_stateless_aug_mix(leat_value images, leat_value seed,
                                     const leat_op_stateless_aug_mix_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_stateless_aug_mix, NULL);
    leati_build_input(&build, images);
    leati_build_input(&build, seed);
    leat_op_stateless_aug_mix_options own = {LEAT_OP_STATELESS_AUG_MIX_DEFAULTS};
    leati_build_options(&build, &own, sizeof own, options, "leat_op_stateless_aug_mix_options");
    leati_build_floats(&build, "value_range", own.value_range, own.num_value_range);
    leati_build_int(&build, "num_chains", own.num_chains);
    leati_build_int(&build, "chain_depth", own.chain_depth);
    leati_build_floats(&build, "factor", own.factor, own.num_factor);
    leati_build_float(&build, "alpha", own.alpha);
    leati_build_bool(&build, "all_ops", own.all_ops);
    leati_build_text(&build, "interpolation", own.interpolation);
    leati_build_bool(&build, "masks", own.masks);
    return leati_build_end(&build);
}

leat_value leat_op_stateless_cutmix(leat_value images, leat_value labels, leat_value seed,
                                    const double *factor, int num_factor, leat_value *labels_out) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_stateless_cutmix, NULL);
    leati_build_input(&build, images);
    leati_build_input(&build, labels);
    leati_build_input(&build, seed);
    leati_build_floats(&build, "factor", factor, num_factor);
    leat_value first = leati_build_end(&build);
    leati_build_output(&build, 1, labels_out);
    return first;
}

leat_value leat_op_stateless_mixup(leat_value images, leat_value labels, leat_value seed,
                                   double alpha, leat_value *labels_out) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_stateless_mixup, NULL);
    leati_build_input(&build, images);
    leati_build_input(&build, labels);
    leati_build_input(&build, seed);
    leati_build_float(&build, "alpha", alpha);
    leat_value first = leati_build_end(&build);
    leati_build_output(&build, 1, labels_out);
    return first;
}

leat_value leat_op_stateless_rand_augment(leat_value images, leat_value seed,
                                          const leat_op_stateless_rand_augment_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_stateless_rand_augment, NULL);
    leati_build_input(&build, images);
    leati_build_input(&build, seed);
    leat_op_stateless_rand_augment_options own = {LEAT_OP_STATELESS_RAND_AUGMENT_DEFAULTS};
    leati_build_options(&build, &own, sizeof own, options,
                        "leat_op_stateless_rand_augment_options");
    leati_build_floats(&build, "value_range", own.value_range, own.num_value_range);
    leati_build_int(&build, "num_ops", own.num_ops);
    leati_build_floats(&build, "factor", own.factor, own.num_factor);
    leati_build_text(&build, "interpolation", own.interpolation);
    leati_build_bool(&build, "masks", own.masks);
    return leati_build_end(&build);
}

leat_value leat_op_stateless_random_brightness(leat_value image, double max_delta,
                                               leat_value seed) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_stateless_random_brightness, NULL);
    leati_build_input(&build, image);
    leati_build_input(&build, seed);
    leati_build_float(&build, "max_delta", max_delta);
    return leati_build_end(&build);
}

leat_value leat_op_stateless_random_contrast(leat_value image, double lower, double upper,
                                             leat_value seed) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_stateless_random_contrast, NULL);
    leati_build_input(&build, image);
    leati_build_input(&build, seed);
    leati_build_float(&build, "lower", lower);
    leati_build_float(&build, "upper", upper);
    return leati_build_end(&build);
}

leat_value leat_op_stateless_random_crop(leat_value value, const int64_t *size, int num_size,
                                         leat_value seed) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_stateless_random_crop, NULL);
    leati_build_input(&build, value);
    leati_build_input(&build, seed);
    leati_build_ints(&build, "size", size, num_size);
    return leati_build_end(&build);
}

leat_value leat_op_stateless_random_hue(leat_value image, double max_delta, leat_value seed) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_stateless_random_hue, NULL);
    leati_build_input(&build, image);
    leati_build_input(&build, seed);
    leati_build_float(&build, "max_delta", max_delta);
    return leati_build_end(&build);
}

leat_value leat_op_stateless_random_jpeg_quality(leat_value image, double min_jpeg_quality,
                                                 double max_jpeg_quality, leat_value seed) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_stateless_random_jpeg_quality, NULL);
    leati_build_input(&build, image);
    leati_build_input(&build, seed);
    leati_build_float(&build, "min_jpeg_quality", min_jpeg_quality);
    leati_build_float(&build, "max_jpeg_quality", max_jpeg_quality);
    return leati_build_end(&build);
}

leat_value leat_op_stateless_random_resized_crop(
    leat_value images, const int64_t *size, int num_size, leat_value seed,
    const leat_op_stateless_random_resized_crop_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_stateless_random_resized_crop, NULL);
    leati_build_input(&build, images);
    leati_build_input(&build, seed);
    leati_build_ints(&build, "size", size, num_size);
    leat_op_stateless_random_resized_crop_options own = {
        LEAT_OP_STATELESS_RANDOM_RESIZED_CROP_DEFAULTS};
    leati_build_options(&build, &own, sizeof own, options,
                        "leat_op_stateless_random_resized_crop_options");
    leati_build_floats(&build, "scale", own.scale, own.num_scale);
    leati_build_floats(&build, "ratio", own.ratio, own.num_ratio);
    leati_build_text(&build, "method", own.method);
    leati_build_bool(&build, "antialias", own.antialias);
    return leati_build_end(&build);
}

leat_value leat_op_stateless_random_saturation(leat_value image, double lower, double upper,
                                               leat_value seed) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_stateless_random_saturation, NULL);
    leati_build_input(&build, image);
    leati_build_input(&build, seed);
    leati_build_float(&build, "lower", lower);
    leati_build_float(&build, "upper", upper);
    return leati_build_end(&build);
}

leat_value leat_op_stateless_sample_distorted_bounding_box(
    leat_value image_size, leat_value bounding_boxes, leat_value seed,
    const leat_op_stateless_sample_distorted_bounding_box_options *options, leat_value *size,
    leat_value *bboxes) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_stateless_sample_distorted_bounding_box, NULL);
    leati_build_input(&build, image_size);
    leati_build_input(&build, bounding_boxes);
    leati_build_input(&build, seed);
    leat_op_stateless_sample_distorted_bounding_box_options own = {
        LEAT_OP_STATELESS_SAMPLE_DISTORTED_BOUNDING_BOX_DEFAULTS};
    leati_build_options(&build, &own, sizeof own, options,
                        "leat_op_stateless_sample_distorted_bounding_box_options");
    leati_build_float(&build, "min_object_covered", own.min_object_covered);
    leati_build_floats(&build, "aspect_ratio_range", own.aspect_ratio_range,
                       own.num_aspect_ratio_range);
    leati_build_floats(&build, "area_range", own.area_range, own.num_area_range);
    leati_build_int(&build, "max_attempts", own.max_attempts);
    leati_build_bool(&build, "use_image_if_no_bounding_boxes", own.use_image_if_no_bounding_boxes);
    leat_value first = leati_build_end(&build);
    leati_build_output(&build, 1, size);
    leati_build_output(&build, 2, bboxes);
    return first;
}

/* clang-format off */
LEATI_BUILDER_2(stateless_random_flip_left_right)
LEATI_BUILDER_2(stateless_random_flip_up_down)
/* clang-format on */
