/* GlorotUniform: uniform numbers of [-limit, limit), limit = sqrt(6 / (fan_in + fan_out)), the
 * default of kernels (keras.initializers.GlorotUniform). No failures, no state, no locks. */
#include "train/frame/initializer.h"

struct glorot_uniform_args {
    leati_seed_argument seed;
};

static const leati_row glorot_uniform_rows[] = {
    {.name = "seed",
     .type = LEATI_ROW_SEED,
     .offset = offsetof(struct glorot_uniform_args, seed),
     .doc = "A number that fixes the values; none: drawn when the layer is made."},
    {0},
};

static void glorot_uniform_fill(const void *args, int64_t seed, const leat_shape *shape,
                                float *values, int64_t count) {
    (void)args;
    leati_initializer_fill_scaled(seed, 1, LEATI_FAN_AVERAGE, LEATI_FILL_UNIFORM, shape, values,
                                  count);
}

const leati_initializer_kind leati_initializer_glorot_uniform = {
    .kind =
        {
            .name = "GlorotUniform",
            .doc = "Uniform numbers whose range keeps the variance from layer to layer "
                   "(keras.initializers.GlorotUniform).",
            .rows = glorot_uniform_rows,
            .signature = "seed input_axes output_axes",
            .args_size = sizeof(struct glorot_uniform_args),
        },
    .identifier = "glorot_uniform",
    .random = true,
    .fill = glorot_uniform_fill,
};
