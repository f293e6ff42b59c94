/* What the random distortions of pictures share: the stateless forms, whose numbers a seed decides,
 * and the stateful ones draw the same numbers from different streams. */
#ifndef LEATI_GRAPH_SUPPORT_PICTURE_AUGMENT_H
#define LEATI_GRAPH_SUPPORT_PICTURE_AUGMENT_H

#include "graph/support/random/random.h"
#include <leat/ops.h>

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

/* Gradients of stateless forms: as it is; mirrored by the same numbers; put where the crop was. */
LEAT_WARN_UNUSED leat_status leati_augment_gradient_same(leati_gradient_call *call,
                                                         leat_error *err);
LEAT_WARN_UNUSED leat_status leati_augment_gradient_flip(leati_gradient_call *call,
                                                         const leati_tensor_op *op,
                                                         leat_error *err);
LEAT_WARN_UNUSED leat_status leati_augment_gradient_crop(leati_gradient_call *call,
                                                         leat_error *err);

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

/* ---- resized crops ---- */

#endif
