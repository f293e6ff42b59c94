/* RandomNormal: numbers of a normal distribution (keras.initializers.RandomNormal). No failures.
 * No state, no locks. */
#include "train/frame/initializer.h"

struct random_normal_args {
    double mean, stddev;
    leati_seed_argument seed;
};

static const leati_row random_normal_rows[] = {
    {.name = "mean",
     .type = LEATI_ROW_FLOAT,
     .offset = offsetof(struct random_normal_args, mean),
     .doc = "The mean."},
    {.name = "stddev",
     .type = LEATI_ROW_FLOAT,
     .offset = offsetof(struct random_normal_args, stddev),
     .default_number = 0.05,
     .doc = "The standard deviation."},
    {.name = "seed",
     .type = LEATI_ROW_SEED,
     .offset = offsetof(struct random_normal_args, seed),
     .doc = "A number that fixes the values; none: drawn when the layer is made."},
    {0},
};

static void random_normal_fill(const void *arguments, int64_t seed, const leat_shape *shape,
                               float *values, int64_t count) {
    const struct random_normal_args *args = arguments;
    (void)shape;
    leati_initializer_fill_normal(seed, args->mean, args->stddev, values, count);
}

const leati_initializer_kind leati_initializer_random_normal = {
    .kind =
        {
            .name = "RandomNormal",
            .doc = "Numbers of a normal distribution (keras.initializers.RandomNormal).",
            .rows = random_normal_rows,
            .signature = "mean stddev seed",
            .args_size = sizeof(struct random_normal_args),
        },
    .identifier = "random_normal",
    .random = true,
    .fill = random_normal_fill,
};
