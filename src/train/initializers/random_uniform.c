/* RandomUniform: uniform numbers of [minval, maxval) (keras.initializers.RandomUniform). No
 * failures. No state, no locks. */
#include "train/frame/initializer.h"

struct random_uniform_args {
    double minval, maxval;
    leati_seed_argument seed;
};

static const leati_row random_uniform_rows[] = {
    {.name = "minval",
     .type = LEATI_ROW_FLOAT,
     .offset = offsetof(struct random_uniform_args, minval),
     .default_number = -0.05,
     .doc = "The least value."},
    {.name = "maxval",
     .type = LEATI_ROW_FLOAT,
     .offset = offsetof(struct random_uniform_args, maxval),
     .default_number = 0.05,
     .doc = "The bound that is not reached."},
    {.name = "seed",
     .type = LEATI_ROW_SEED,
     .offset = offsetof(struct random_uniform_args, seed),
     .doc = "A number that fixes the values; none: drawn when the layer is made."},
    {0},
};

static void random_uniform_fill(const void *arguments, int64_t seed, const leat_shape *shape,
                                float *values, int64_t count) {
    const struct random_uniform_args *args = arguments;
    (void)shape;
    leati_initializer_fill_range(seed, args->minval, args->maxval, values, count);
}

const leati_initializer_kind leati_initializer_random_uniform = {
    .kind =
        {
            .name = "RandomUniform",
            .doc = "Uniform numbers between two (keras.initializers.RandomUniform).",
            .rows = random_uniform_rows,
            .signature = "minval maxval seed",
            .args_size = sizeof(struct random_uniform_args),
        },
    .identifier = "random_uniform",
    .random = true,
    .fill = random_uniform_fill,
};
