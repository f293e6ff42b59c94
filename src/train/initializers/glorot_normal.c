/* GlorotNormal: truncated normal numbers whose deviation keeps the variance from layer to layer
 * (keras.initializers.GlorotNormal). No failures. No state, no locks. */
#include "train/frame/initializer.h"

struct glorot_normal_args {
    leati_seed_argument seed;
};

static const leati_row glorot_normal_rows[] = {
    {.name = "seed",
     .type = LEATI_ROW_SEED,
     .offset = offsetof(struct glorot_normal_args, seed),
     .doc = "A number that fixes the values; none: drawn when the layer is made."},
    {0},
};

static void glorot_normal_fill(const void *arguments, int64_t seed, const leat_shape *shape,
                               float *values, int64_t count) {
    (void)arguments;
    leati_initializer_fill_scaled(seed, 1, LEATI_FAN_AVERAGE, LEATI_FILL_TRUNCATED, shape, values,
                                  count);
}

const leati_initializer_kind leati_initializer_glorot_normal = {
    .kind =
        {
            .name = "GlorotNormal",
            .doc = "Truncated normal numbers whose deviation keeps the variance from layer to "
                   "layer (keras.initializers.GlorotNormal).",
            .rows = glorot_normal_rows,
            .signature = "seed input_axes output_axes",
            .args_size = sizeof(struct glorot_normal_args),
        },
    .identifier = "glorot_normal",
    .random = true,
    .fill = glorot_normal_fill,
};
