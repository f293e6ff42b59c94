/* RandomNormal, RandomUniform, TruncatedNormal: numbers of one distribution, whatever the weight's
 * shape (keras.initializers.RandomNormal and its like). No failures. No state, no locks. */
#include "train/frame/initializer.h"

struct random_args {
    double first, second; /* mean and deviation, or the bounds */
    leati_seed_argument seed;
};

#define NUMBER_ROW(NAME, MEMBER, STANDARD, DOC)                                                    \
    {                                                                                              \
        .name = NAME, .type = LEATI_ROW_FLOAT, .offset = offsetof(struct random_args, MEMBER),     \
        .default_number = STANDARD, .doc = DOC                                                     \
    }

static const leati_row random_normal_rows[] = {
    NUMBER_ROW("mean", first, 0, "The mean."),
    NUMBER_ROW("stddev", second, 0.05, "The standard deviation."),
    LEATI_INITIALIZER_SEED(random_args),
    {0},
};

static const leati_row truncated_normal_rows[] = {
    NUMBER_ROW("mean", first, 0, "The mean."),
    NUMBER_ROW("stddev", second, 0.05, "The standard deviation before the ends are cut off."),
    LEATI_INITIALIZER_SEED(random_args),
    {0},
};

static const leati_row random_uniform_rows[] = {
    NUMBER_ROW("minval", first, -0.05, "The least value."),
    NUMBER_ROW("maxval", second, 0.05, "The bound that is not reached."),
    LEATI_INITIALIZER_SEED(random_args),
    {0},
};

/* The descriptor of one initialiser, which draws its numbers by FILL. */
#define RANDOM(ID, CLASS, DOC, SIGNATURE, FILL)                                                    \
    static void ID##_fill(const void *arguments, int64_t seed, const leat_shape *shape,            \
                          float *values, int64_t count) {                                          \
        const struct random_args *args = arguments;                                                \
        (void)shape;                                                                               \
        FILL(seed, args->first, args->second, values, count);                                      \
    }                                                                                              \
    const leati_initializer_kind leati_initializer_##ID = {                                        \
        .kind =                                                                                    \
            {                                                                                      \
                .name = CLASS,                                                                     \
                .doc = DOC " (keras.initializers." CLASS ").",                                     \
                .rows = ID##_rows,                                                                 \
                .signature = SIGNATURE,                                                            \
                .config = "seed",                                                                  \
                .args_size = sizeof(struct random_args),                                           \
            },                                                                                     \
        .identifier = #ID,                                                                         \
        .random = true,                                                                            \
        .fill = ID##_fill,                                                                         \
    };
RANDOM(random_normal, "RandomNormal", "Numbers of a normal distribution", "mean stddev seed",
       leati_initializer_fill_normal)
RANDOM(random_uniform, "RandomUniform", "Uniform numbers between two", "minval maxval seed",
       leati_initializer_fill_range)
RANDOM(truncated_normal, "TruncatedNormal",
       "Numbers of a normal distribution, none beyond two deviations", "mean stddev seed",
       leati_initializer_fill_truncated)
