/* RandAugment's policy, which its two forms share: a few of eleven distortions, drawn for each
 * call, by strengths that are drawn for each picture.
 *
 * Numbers are those of tf.keras.layers.RandAugment: draw k of a call uses the seed [a, b + k]. */
#ifndef LEATI_GRAPH_OPS_POLICY_H
#define LEATI_GRAPH_OPS_POLICY_H

#include "graph/ops/frames.h"
#include "graph/ops/mix.h"

struct leati_policy_args {
    struct leati_random_args random; /* the stateful form's seeds */
    leati_floats value_range, factor;
    int64_t num_ops;
    char *interpolation;
};

#define LEATI_POLICY_ROWS                                                                          \
    {.name = "value_range",                                                                        \
     .type = LEATI_ROW_FLOATS,                                                                     \
     .flags = LEATI_NONE,                                                                          \
     .offset = offsetof(struct leati_policy_args, value_range),                                    \
     .doc = "The lowest and the highest value of pictures; without it 0 and 255."},                \
        {.name = "num_ops",                                                                        \
         .type = LEATI_ROW_INT,                                                                    \
         .offset = offsetof(struct leati_policy_args, num_ops),                                    \
         .default_number = 2,                                                                      \
         .minimum = 1,                                                                             \
         .maximum = 64,                                                                            \
         .doc = "How many distortions follow each other."},                                        \
        {.name = "factor",                                                                         \
         .type = LEATI_ROW_FLOATS,                                                                 \
         .flags = LEATI_NONE,                                                                      \
         .offset = offsetof(struct leati_policy_args, factor),                                     \
         .doc =                                                                                    \
             "The range, in [0, 1], of strengths; one number is its end; without it 0 to 0.5."},   \
    {                                                                                              \
        .name = "interpolation", .type = LEATI_ROW_STRING,                                         \
        .offset = offsetof(struct leati_policy_args, interpolation), .default_text = "bilinear",   \
        .doc = "How pixels are read that lie between others: bilinear or nearest."                 \
    }

LEAT_WARN_UNUSED leat_status leati_policy_infer(leati_infer_call *call, leat_error *err);
/* `op` as for leati_mix_kernel. */
LEAT_WARN_UNUSED leat_status leati_policy_kernel(leati_kernel_call *call, const leati_tensor_op *op,
                                                 leat_error *err);
leat_value leati_policy_build(const leati_tensor_op *op, leat_value images,
                              const leat_rand_augment_options *options, const leat_value *seed,
                              const int64_t *number);

/* ---- between policy.c and distortions.c ---- */

/* Pictures that are being distorted, float32, and as much scratch. */
typedef struct leati_canvas {
    int64_t count, height, width, channels;
    float *pixels, *scratch;
    float low, high; /* the range of values */
    bool nearest;
} leati_canvas;

typedef enum leati_distortion {
    LEATI_SHEAR,
    LEATI_TRANSLATION,
    LEATI_ROTATION,
    LEATI_BRIGHTNESS,
    LEATI_DEGENERATION,
    LEATI_CONTRAST,
    LEATI_SHARPNESS,
    LEATI_POSTERIZATION,
    LEATI_SOLARIZATION,
    LEATI_AUTO_CONTRAST,
    LEATI_EQUALIZATION,
    LEATI_DISTORTIONS
} leati_distortion;

/* How strong: the meaning is each distortion's. */
typedef struct leati_strength {
    float a, b;
} leati_strength;

/* Distorts all pictures, picture i by strengths[i]. Shear: x and y; translation: x and y, parts of
 * the size; rotation: degrees; brightness: a part of the range; degeneration and sharpness: in [0,
 * 1]; contrast: what differences are multiplied by; posterization: bits to drop; solarization:
 * what is added and where values turn, of 255. */
void leati_distort(leati_canvas *canvas, leati_distortion which, const leati_strength *strengths);

#endif
