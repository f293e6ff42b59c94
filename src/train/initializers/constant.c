/* Constant: all one number (keras.initializers.Constant). No failures.
 * No state, no locks. */
#include "train/frame/initializer.h"

struct constant_args {
    double value;
};

static const leati_row constant_rows[] = {
    {.name = "value",
     .type = LEATI_ROW_FLOAT,
     .offset = offsetof(struct constant_args, value),
     .doc = "The number."},
    {0},
};

static void constant_fill(const void *arguments, int64_t seed, const leat_shape *shape,
                          float *values, int64_t count) {
    const struct constant_args *args = arguments;
    (void)seed;
    (void)shape;
    for (int64_t i = 0; i < count; i++)
        values[i] = (float)args->value;
}

const leati_initializer_kind leati_initializer_constant = {
    .kind =
        {
            .name = "Constant",
            .doc = "All one number (keras.initializers.Constant).",
            .rows = constant_rows,
            .signature = "value",
            .args_size = sizeof(struct constant_args),
        },
    .identifier = "constant",
    .random = false,
    .fill = constant_fill,
};
