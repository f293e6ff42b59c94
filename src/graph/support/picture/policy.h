/* RandAugment's policy, which its two forms share: a few of eleven distortions, drawn for each
 * call, by strengths that are drawn for each picture.
 *
 * Numbers are those of tf.keras.layers.RandAugment: draw k of a call uses the seed [a, b + k]. */
#ifndef LEATI_GRAPH_SUPPORT_PICTURE_POLICY_H
#define LEATI_GRAPH_SUPPORT_PICTURE_POLICY_H

#include "graph/support/picture/frames.h"
#include "graph/support/picture/mix.h"

struct leati_policy_args {
    struct leati_random_args random; /* the stateful form's seeds */
    leati_floats value_range, factor;
    int64_t num_ops;
    char *interpolation;
    bool masks;
};

struct leati_aug_mix_args {
    struct leati_policy_args policy;
    int64_t num_chains, chain_depth;
    double alpha;
    bool all_ops;
};
/* How often a call of stateless_aug_mix draws. */
int leati_policy_aug_mix_draws(const struct leati_aug_mix_args *args);

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
         .maximum = 64,                                                                            \
         .doc = "How many distortions follow each other."},                                        \
        {.name = "factor",                                                                         \
         .type = LEATI_ROW_FLOATS,                                                                 \
         .flags = LEATI_NONE,                                                                      \
         .offset = offsetof(struct leati_policy_args, factor),                                     \
         .doc =                                                                                    \
             "The range, in [0, 1], of strengths; one number is its end; without it 0 to 0.5."},   \
        LEATI_POLICY_LAST_ROWS
#define LEATI_POLICY_LAST_ROWS                                                                     \
    {.name = "interpolation",                                                                      \
     .type = LEATI_ROW_STRING,                                                                     \
     .offset = offsetof(struct leati_policy_args, interpolation),                                  \
     .default_text = "bilinear",                                                                   \
     .doc = "How pixels are read that lie between others: bilinear or nearest."},                  \
    {                                                                                              \
        .name = "masks", .type = LEATI_ROW_BOOL,                                                   \
        .offset = offsetof(struct leati_policy_args, masks),                                       \
        .doc = "The pictures are masks of classes: pixels are moved as those of pictures by the "  \
               "same seed, but neither blended nor coloured."                                      \
    }

/* INVALID_ARGUMENT for arguments that make no sense; `factor` and `range` are what they stand for,
 * where none is given 0 to `standard` and 0 to 255. */
LEAT_WARN_UNUSED leat_status leati_policy_check(const struct leati_policy_args *args,
                                                double standard, double factor[2], double range[2],
                                                leat_error *err);
LEAT_WARN_UNUSED leat_status leati_policy_infer(leati_infer_call *call, leat_error *err);
/* `op` as for leati_mix_kernel. */
LEAT_WARN_UNUSED leat_status leati_policy_kernel(leati_kernel_call *call, const leati_tensor_op *op,
                                                 leat_error *err);

/* ---- between policy.c, distortions.c and stateless_aug_mix.c ---- */

/* Pictures that are being distorted, float32, and as much scratch. */
typedef struct leati_canvas {
    int64_t count, height, width, channels;
    float *pixels, *scratch;
    float low, high; /* the range of values */
    bool nearest;
    bool masks; /* only shear, translation and rotation do something */
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
void leati_policy_distort(leati_canvas *canvas, leati_distortion which,
                          const leati_strength *strengths);

/* The draws of one call. */
typedef struct leati_drawing {
    int64_t seed[2];
    int64_t next;   /* how many there were */
    int64_t count;  /* of pictures: numbers of a draw */
    float *numbers; /* room for two draws */
} leati_drawing;

leati_philox leati_policy_drawing_next(leati_drawing *drawing);
/* Draws how strong a distortion is for each picture, by factors between two bounds. */
void leati_policy_draw_strengths(leati_drawing *drawing, leati_distortion which,
                                 const double factor[2], leati_strength *out);

/* What the kernels of policies work with: pictures that become float32 in the output, or in memory
 * of the arena. */
typedef struct leati_policy_work {
    leati_canvas canvas;
    leati_drawing drawing;
    leati_strength *strengths; /* LEATI_DISTORTIONS for each picture */
} leati_policy_work;
LEAT_WARN_UNUSED leat_status leati_policy_begin(leati_kernel_call *call,
                                                const struct leati_policy_args *args,
                                                const double range[2], leati_policy_work *out,
                                                leat_error *err);

#endif
