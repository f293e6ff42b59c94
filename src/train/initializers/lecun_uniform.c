/* LecunUniform: uniform numbers of variance 1 / fan_in (keras.initializers.LecunUniform). No
 * failures. No state, no locks. */
#include "train/frame/initializer.h"

struct lecun_uniform_args {
    leati_seed_argument seed;
};

static const leati_row lecun_uniform_rows[] = {
    {.name = "seed",
     .type = LEATI_ROW_SEED,
     .offset = offsetof(struct lecun_uniform_args, seed),
     .doc = "A number that fixes the values; none: drawn when the layer is made."},
    {0},
};

static void lecun_uniform_fill(const void *arguments, int64_t seed, const leat_shape *shape,
                               float *values, int64_t count) {
    (void)arguments;
    leati_initializer_fill_scaled(seed, 1, LEATI_FAN_IN, LEATI_FILL_UNIFORM, shape, values, count);
}

const leati_initializer_kind leati_initializer_lecun_uniform = {
    .kind =
        {
            .name = "LecunUniform",
            .doc = "Uniform numbers of variance 1 / fan_in (keras.initializers.LecunUniform).",
            .rows = lecun_uniform_rows,
            .signature = "seed input_axes output_axes",
            .args_size = sizeof(struct lecun_uniform_args),
        },
    .identifier = "lecun_uniform",
    .random = true,
    .fill = lecun_uniform_fill,
};
