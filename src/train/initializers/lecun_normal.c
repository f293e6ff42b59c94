/* LecunNormal: truncated normal numbers of variance 1 / fan_in (keras.initializers.LecunNormal). No
 * failures. No state, no locks. */
#include "train/frame/initializer.h"

struct lecun_normal_args {
    leati_seed_argument seed;
};

static const leati_row lecun_normal_rows[] = {
    {.name = "seed",
     .type = LEATI_ROW_SEED,
     .offset = offsetof(struct lecun_normal_args, seed),
     .doc = "A number that fixes the values; none: drawn when the layer is made."},
    {0},
};

static void lecun_normal_fill(const void *arguments, int64_t seed, const leat_shape *shape,
                              float *values, int64_t count) {
    (void)arguments;
    leati_initializer_fill_scaled(seed, 1, LEATI_FAN_IN, LEATI_FILL_TRUNCATED, shape, values,
                                  count);
}

const leati_initializer_kind leati_initializer_lecun_normal = {
    .kind =
        {
            .name = "LecunNormal",
            .doc =
                "Truncated normal numbers of variance 1 / fan_in (keras.initializers.LecunNormal).",
            .rows = lecun_normal_rows,
            .signature = "seed input_axes output_axes",
            .args_size = sizeof(struct lecun_normal_args),
        },
    .identifier = "lecun_normal",
    .random = true,
    .fill = lecun_normal_fill,
};
