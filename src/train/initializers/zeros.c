/* Zeros: all 0, the default of biases (keras.initializers.Zeros). No failures, no state, no locks.
 */
#include "train/frame/initializer.h"
#include <string.h>

static const leati_row zeros_rows[] = {{0}};

static void zeros_fill(const void *args, int64_t seed, const leat_shape *shape, float *values,
                       int64_t count) {
    (void)args;
    (void)seed;
    (void)shape;
    memset(values, 0, (size_t)count * sizeof *values);
}

const leati_initializer_kind leati_initializer_zeros = {
    .kind =
        {
            .name = "Zeros",
            .doc = "All 0 (keras.initializers.Zeros).",
            .rows = zeros_rows,
            .signature = "",
        },
    .identifier = "zeros",
    .fill = zeros_fill,
};
