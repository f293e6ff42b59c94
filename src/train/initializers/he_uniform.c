/* HeUniform: uniform numbers for layers with relu (keras.initializers.HeUniform). No failures.
 * No state, no locks. */
#include "train/frame/initializer.h"

struct he_uniform_args {
    leati_seed_argument seed;
};

static const leati_row he_uniform_rows[] = {
    {.name = "seed",
     .type = LEATI_ROW_SEED,
     .offset = offsetof(struct he_uniform_args, seed),
     .doc = "A number that fixes the values; none: drawn when the layer is made."},
    {0},
};

static void he_uniform_fill(const void *arguments, int64_t seed, const leat_shape *shape,
                            float *values, int64_t count) {
    (void)arguments;
    leati_initializer_fill_scaled(seed, 2, LEATI_FAN_IN, LEATI_FILL_UNIFORM, shape, values, count);
}

const leati_initializer_kind leati_initializer_he_uniform = {
    .kind =
        {
            .name = "HeUniform",
            .doc = "Uniform numbers for layers with relu (keras.initializers.HeUniform).",
            .rows = he_uniform_rows,
            .signature = "seed input_axes output_axes",
            .args_size = sizeof(struct he_uniform_args),
        },
    .identifier = "he_uniform",
    .random = true,
    .fill = he_uniform_fill,
};
