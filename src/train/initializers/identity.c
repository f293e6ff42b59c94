/* Identity: a matrix with `gain` on its diagonal and 0 elsewhere (keras.initializers.Identity). No
 * failures. No state, no locks. */
#include "train/frame/initializer.h"

struct identity_args {
    double gain;
};

static const leati_row identity_rows[] = {
    {.name = "gain",
     .type = LEATI_ROW_FLOAT,
     .offset = offsetof(struct identity_args, gain),
     .default_number = 1,
     .doc = "The number on the diagonal."},
    {0},
};

static void identity_fill(const void *arguments, int64_t seed, const leat_shape *shape,
                          float *values, int64_t count) {
    const struct identity_args *args = arguments;
    (void)seed;
    int64_t columns = shape->rank == 2 ? shape->dims[1] : 1;
    for (int64_t i = 0; i < count; i++)
        values[i] = i / columns == i % columns ? (float)args->gain : 0;
}

const leati_initializer_kind leati_initializer_identity = {
    .kind =
        {
            .name = "Identity",
            .doc = "A matrix with one number on its diagonal (keras.initializers.Identity).",
            .rows = identity_rows,
            .signature = "gain",
            .args_size = sizeof(struct identity_args),
        },
    .identifier = "identity",
    .random = false,
    .fill = identity_fill,
};
