/* Ones: all 1 (keras.initializers.Ones). No failures.
 * No state, no locks. */
#include "train/frame/initializer.h"

static const leati_row ones_rows[] = {
    {0},
};

static void ones_fill(const void *arguments, int64_t seed, const leat_shape *shape, float *values,
                      int64_t count) {
    (void)arguments;
    (void)seed;
    (void)shape;
    for (int64_t i = 0; i < count; i++)
        values[i] = 1;
}

const leati_initializer_kind leati_initializer_ones = {
    .kind =
        {
            .name = "Ones",
            .doc = "All 1 (keras.initializers.Ones).",
            .rows = ones_rows,
            .signature = "",
        },
    .identifier = "ones",
    .random = false,
    .fill = ones_fill,
};
