/* TruncatedNormal: numbers of a normal distribution, none beyond two deviations
 * (keras.initializers.TruncatedNormal). No failures. No state, no locks. */
#include "train/frame/initializer.h"

struct truncated_normal_args {
    double mean, stddev;
    leati_seed_argument seed;
};

static const leati_row truncated_normal_rows[] = {
    {.name = "mean",
     .type = LEATI_ROW_FLOAT,
     .offset = offsetof(struct truncated_normal_args, mean),
     .doc = "The mean."},
    {.name = "stddev",
     .type = LEATI_ROW_FLOAT,
     .offset = offsetof(struct truncated_normal_args, stddev),
     .default_number = 0.05,
     .doc = "The standard deviation before the ends are cut off."},
    {.name = "seed",
     .type = LEATI_ROW_SEED,
     .offset = offsetof(struct truncated_normal_args, seed),
     .doc = "A number that fixes the values; none: drawn when the layer is made."},
    {0},
};

static void truncated_normal_fill(const void *arguments, int64_t seed, const leat_shape *shape,
                                  float *values, int64_t count) {
    const struct truncated_normal_args *args = arguments;
    (void)shape;
    leati_initializer_fill_truncated(seed, args->mean, args->stddev, values, count);
}

const leati_initializer_kind leati_initializer_truncated_normal = {
    .kind =
        {
            .name = "TruncatedNormal",
            .doc = "Numbers of a normal distribution, none beyond two deviations "
                   "(keras.initializers.TruncatedNormal).",
            .rows = truncated_normal_rows,
            .signature = "mean stddev seed",
            .args_size = sizeof(struct truncated_normal_args),
        },
    .identifier = "truncated_normal",
    .random = true,
    .fill = truncated_normal_fill,
};
