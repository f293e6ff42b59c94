/* HeNormal: truncated normal numbers for layers with relu (keras.initializers.HeNormal). No
 * failures. No state, no locks. */
#include "train/frame/initializer.h"

struct he_normal_args {
    leati_seed_argument seed;
};

static const leati_row he_normal_rows[] = {
    {.name = "seed",
     .type = LEATI_ROW_SEED,
     .offset = offsetof(struct he_normal_args, seed),
     .doc = "A number that fixes the values; none: drawn when the layer is made."},
    {0},
};

static void he_normal_fill(const void *arguments, int64_t seed, const leat_shape *shape,
                           float *values, int64_t count) {
    (void)arguments;
    leati_initializer_fill_scaled(seed, 2, LEATI_FAN_IN, LEATI_FILL_TRUNCATED, shape, values,
                                  count);
}

const leati_initializer_kind leati_initializer_he_normal = {
    .kind =
        {
            .name = "HeNormal",
            .doc = "Truncated normal numbers for layers with relu (keras.initializers.HeNormal).",
            .rows = he_normal_rows,
            .signature = "seed input_axes output_axes",
            .args_size = sizeof(struct he_normal_args),
        },
    .identifier = "he_normal",
    .random = true,
    .fill = he_normal_fill,
};
