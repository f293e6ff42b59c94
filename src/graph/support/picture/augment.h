/* What the random distortions of pictures share: the stateless forms, whose numbers a seed decides,
 * and the stateful ones draw the same numbers from different streams. */
#ifndef LEATI_GRAPH_SUPPORT_PICTURE_AUGMENT_H
#define LEATI_GRAPH_SUPPORT_PICTURE_AUGMENT_H

#include "graph/support/random/random.h"
#include <leat/image.h>

/* The arguments of all of them; each operation has rows for some. */
struct leati_augment_args {
    struct leati_random_args random; /* low, high: the range of what is drawn */
    leati_ints size;                 /* of a crop */
    leati_floats scale, ratio;       /* of a resized crop */
    char *method;
    bool antialias;
};

typedef struct leati_augment {
    /* INVALID_ARGUMENT for numbers that make no sense; may be NULL. */
    leat_status (*check)(const struct leati_augment_args *args, leat_error *err);
    /* Adds the output. */
    leat_status (*infer)(leati_infer_call *call, leat_error *err);
    /* Computes row `row` of output 0 with numbers of the stream. */
    leat_status (*apply)(leati_kernel_call *call, int64_t row, leati_philox philox,
                         leat_error *err);
    /* Of crops of single pictures: the part that apply would take; see leati_tensor_op.window. */
    leat_status (*window)(const leati_kernel_call *call, leati_philox philox, leati_window *out,
                          leat_error *err);
    /* How many numbers a row draws, and whether TensorFlow draws them as integers; NULL: one. */
    int64_t (*numbers)(const leati_operand *in);
    bool integers;
} leati_augment;

extern const leati_augment leati_augment_brightness, leati_augment_contrast,
    leati_augment_saturation, leati_augment_hue, leati_augment_quality,
    leati_augment_flip_left_right, leati_augment_flip_up_down, leati_augment_crop,
    leati_augment_resized_crop;

/* One for each of several pictures. */
int64_t leati_augment_pictures(const leati_operand *in);

/* The slots of a stateless form; the seed, two integers, is the last input. */
LEAT_WARN_UNUSED leat_status leati_augment_infer(leati_infer_call *call,
                                                 const leati_augment *augment, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_augment_kernel(leati_kernel_call *call,
                                                  const leati_augment *augment, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_augment_window(const leati_kernel_call *call,
                                                  const leati_augment *augment, leati_window *out,
                                                  leat_error *err);

/* Rows of the range of what is drawn, and of the largest change. */
#define LEATI_AUGMENT_ROW(NAME, TYPE, FIELD, DOC)                                                  \
    {                                                                                              \
        .name = NAME, .type = LEATI_ROW_##TYPE, .flags = LEATI_REQUIRED | LEATI_TENSOR,            \
        .offset = offsetof(struct leati_augment_args, FIELD), .doc = DOC                           \
    }

/* Gradients of stateless forms: as it is; mirrored by the same numbers; put where the crop was. */
LEAT_WARN_UNUSED leat_status leati_augment_gradient_same(leati_gradient_call *call,
                                                         leat_error *err);
LEAT_WARN_UNUSED leat_status leati_augment_gradient_flip(leati_gradient_call *call,
                                                         const leati_tensor_op *op,
                                                         leat_error *err);
LEAT_WARN_UNUSED leat_status leati_augment_gradient_crop(leati_gradient_call *call,
                                                         leat_error *err);

/* The descriptor of a stateless form and its slots; ROWS is the array of its rows. Last come the
 * gradient and further slots, which are named. */
#define LEATI_STATELESS_OP(NAME, AUGMENT, DOC, INPUTS, SIGNATURE, ROWS, FLAGS, ...)                \
    LEATI_STATELESS_OP_OF(NAME, AUGMENT, DOC " (tf.image." #NAME ").", INPUTS, SIGNATURE, ROWS,    \
                          FLAGS, __VA_ARGS__)
#define LEATI_STATELESS_OP_OF(NAME, AUGMENT, DOC, INPUTS, SIGNATURE, ROWS, FLAGS, ...)             \
    static leat_status NAME##_infer(leati_infer_call *call, leat_error *err) {                     \
        return leati_augment_infer(call, &AUGMENT, err);                                           \
    }                                                                                              \
    static leat_status NAME##_kernel(leati_kernel_call *call, leat_error *err) {                   \
        return leati_augment_kernel(call, &AUGMENT, err);                                          \
    }                                                                                              \
    const leati_tensor_op leati_tensor_op_##NAME = {                                               \
        .name = #NAME,                                                                             \
        .version = 1,                                                                              \
        .doc = DOC,                                                                                \
        .names = "image." #NAME,                                                                   \
        .inputs = INPUTS " seed",                                                                  \
        .signature = INPUTS SIGNATURE,                                                             \
        .types = "T Tseed",                                                                        \
        .outputs = "output",                                                                       \
        .halves = LEATI_HALVES_OWN,                                                                \
        .checks = LEATI_CHECKS_IN_PYTHON,                                                          \
        .rows = ROWS,                                                                              \
        .args_size = sizeof(struct leati_augment_args),                                            \
        .min_inputs = 2,                                                                           \
        .max_inputs = 2,                                                                           \
        .flags = FLAGS,                                                                            \
        .infer = NAME##_infer,                                                                     \
        .kernel = NAME##_kernel,                                                                   \
        .gradient = __VA_ARGS__,                                                                   \
    }

/* The slots of a stateful form, and its builder: `seed` may be NULL. */
LEAT_WARN_UNUSED leat_status leati_augment_image_window(const leati_kernel_call *call,
                                                        const leati_augment *augment,
                                                        leati_window *out, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_augment_image_infer(leati_infer_call *call,
                                                       const leati_augment *augment,
                                                       leat_error *err);
LEAT_WARN_UNUSED leat_status leati_augment_image_kernel(leati_kernel_call *call,
                                                        const leati_augment *augment,
                                                        leat_error *err);
leat_value leati_augment_build(const leati_tensor_op *op, struct leati_augment_args *args,
                               leat_value image, const int64_t *seed);

/* The descriptor of a stateful form and its slots, as above. */
#define LEATI_RANDOM_IMAGE_OP(NAME, AUGMENT, DOC, INPUTS, SIGNATURE, FLAGS, ...)                   \
    LEATI_RANDOM_IMAGE_OP_OF(NAME, AUGMENT, DOC " (tf.image." #NAME ").", INPUTS,                  \
                             SIGNATURE " seed", FLAGS, __VA_ARGS__)
#define LEATI_RANDOM_IMAGE_OP_OF(NAME, AUGMENT, DOC, INPUTS, SIGNATURE, FLAGS, ...)                \
    static leat_status NAME##_infer(leati_infer_call *call, leat_error *err) {                     \
        return leati_augment_image_infer(call, &AUGMENT, err);                                     \
    }                                                                                              \
    static leat_status NAME##_kernel(leati_kernel_call *call, leat_error *err) {                   \
        return leati_augment_image_kernel(call, &AUGMENT, err);                                    \
    }                                                                                              \
    const leati_tensor_op leati_tensor_op_##NAME = {                                               \
        .name = #NAME,                                                                             \
        .version = 1,                                                                              \
        .doc = DOC,                                                                                \
        .names = "image." #NAME,                                                                   \
        .inputs = INPUTS,                                                                          \
        .signature = INPUTS SIGNATURE,                                                             \
        .types = "T",                                                                              \
        .outputs = "output",                                                                       \
        .halves = LEATI_HALVES_OWN,                                                                \
        .checks = LEATI_CHECKS_IN_PYTHON,                                                          \
        .rows = rows,                                                                              \
        .args_size = sizeof(struct leati_augment_args),                                            \
        .min_inputs = 1,                                                                           \
        .max_inputs = 1,                                                                           \
        .flags = LEATI_RANDOM | (FLAGS),                                                           \
        .infer = NAME##_infer,                                                                     \
        .complete = leati_random_complete,                                                         \
        .kernel = NAME##_kernel,                                                                   \
        .gradient = __VA_ARGS__,                                                                   \
    }

/* ---- resized crops ---- */

#define LEATI_RESIZED_CROP_ROWS                                                                    \
    LEATI_AUGMENT_ROW("size", INTS, size, "Height and width of the result, in pixels."),           \
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

/* A node of either form: with a seed of values, or an own one that may be NULL. */
leat_value leati_augment_resized_crop_build(const leati_tensor_op *op, leat_value images,
                                            int64_t height, int64_t width, const leat_value *seeds,
                                            const int64_t *seed,
                                            const leat_op_random_resized_crop_options *options);

#endif
