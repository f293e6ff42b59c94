/* GlorotNormal, GlorotUniform, HeNormal, HeUniform, LecunNormal, LecunUniform, VarianceScaling:
 * numbers whose variance is a scale over what comes into, or goes out of, one value of the weight
 * (keras.initializers.VarianceScaling and its like). GlorotUniform is the default of kernels.
 * Failures: VarianceScaling's arguments out of their ranges. No state, no locks. */
#include "base/error.h"
#include "base/minmax.h"
#include "train/frame/initializer.h"
#include <math.h>
#include <string.h>

/* What a scale is divided by, and the numbers that are drawn. */
typedef enum scaled_fan { FAN_IN = 0, FAN_OUT, FAN_AVERAGE } scaled_fan;
typedef enum scaled_filling {
    FILL_TRUNCATED = 0, /* of normal numbers those within two deviations */
    FILL_NORMAL,
    FILL_UNIFORM
} scaled_filling;

struct seed_args {
    leati_seed_argument seed;
};

static const leati_row seed_rows[] = {LEATI_INITIALIZER_SEED(seed_args), {0}};

/* Numbers of variance scale / max(1, fan). */
static void fill_scaled(int64_t seed, double scale, scaled_fan fan, scaled_filling distribution,
                        const leat_shape *shape, float *values, int64_t count) {
    double fan_in, fan_out;
    leati_initializer_fans(shape, &fan_in, &fan_out);
    double size = fan == FAN_IN ? fan_in : fan_out;
    if (fan == FAN_AVERAGE)
        size = (fan_in + fan_out) / 2;
    /* At least 1: a dimension of size 0 makes a fan of 0. */
    scale /= LEATI_MAX(1, size);
    /* The deviation that is left of a normal distribution cut at two of its deviations. */
    const double left = 0.87962566103423978;
    /* A uniform number of [-l, l) has variance l^2 / 3. */
    if (distribution == FILL_UNIFORM)
        leati_initializer_fill_uniform(seed, sqrt(3 * scale), values, count);
    else if (distribution == FILL_NORMAL)
        leati_initializer_fill_normal(seed, 0, sqrt(scale), values, count);
    else
        leati_initializer_fill_truncated(seed, 0, sqrt(scale) / left, values, count);
}

struct variance_scaling_args {
    double scale;
    char *mode, *distribution;
    leati_seed_argument seed;
};

static const leati_row variance_scaling_rows[] = {
    {.name = "scale",
     .type = LEATI_ROW_FLOAT,
     .offset = offsetof(struct variance_scaling_args, scale),
     .default_number = 1,
     .doc = "The variance times the fan."},
    {.name = "mode",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct variance_scaling_args, mode),
     .default_text = "fan_in",
     .doc = "\"fan_in\", \"fan_out\" or \"fan_avg\"."},
    {.name = "distribution",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct variance_scaling_args, distribution),
     .default_text = "truncated_normal",
     .doc = "\"truncated_normal\", \"untruncated_normal\" or \"uniform\"."},
    LEATI_INITIALIZER_SEED(variance_scaling_args),
    {0},
};

static const char *const modes[] = {
    [FAN_IN] = "fan_in", [FAN_OUT] = "fan_out", [FAN_AVERAGE] = "fan_avg"};
static const char *const distributions[] = {[FILL_TRUNCATED] = "truncated_normal",
                                            [FILL_NORMAL] = "untruncated_normal",
                                            [FILL_UNIFORM] = "uniform"};

/* The place of a name among three; 3: it is none. */
static size_t find(const char *const names[3], const char *name) {
    size_t at = 0;
    while (at < 3 && (name == NULL || strcmp(names[at], name) != 0))
        at++;
    return at;
}

static leat_status variance_scaling_check(const void *arguments, leat_error *err) {
    const struct variance_scaling_args *args = arguments;
    if (!(args->scale > 0))
        return leati_refuse(
            err, VALUE, "Argument `scale` must be positive float. Received: scale=%g", args->scale);
    if (find(modes, args->mode) == 3)
        return leati_refuse(err, VALUE,
                            "Invalid `mode` argument: \"%.60s\". Please use one of \"fan_in\", "
                            "\"fan_out\", \"fan_avg\"",
                            args->mode == NULL ? "" : args->mode);
    if (find(distributions, args->distribution) == 3)
        return leati_refuse(err, VALUE,
                            "Invalid `distribution` argument: \"%.60s\". Please use one of "
                            "\"truncated_normal\", \"untruncated_normal\", \"uniform\"",
                            args->distribution == NULL ? "" : args->distribution);
    return LEAT_OK;
}

static void variance_scaling_fill(const void *arguments, int64_t seed, const leat_shape *shape,
                                  float *values, int64_t count) {
    const struct variance_scaling_args *args = arguments;
    /* The check let only names of the tables pass: both places are below 3. */
    size_t mode = find(modes, args->mode), kind = find(distributions, args->distribution);
    fill_scaled(seed, args->scale, (scaled_fan)mode, (scaled_filling)kind, shape, values, count);
}

const leati_initializer_kind leati_initializer_variance_scaling = {
    .kind =
        {
            .name = "VarianceScaling",
            .doc = "Numbers whose variance is scale / fan (keras.initializers.VarianceScaling).",
            .rows = variance_scaling_rows,
            .signature = "scale mode distribution seed input_axes output_axes",
            .config = "seed",
            .args_size = sizeof(struct variance_scaling_args),
            .check = variance_scaling_check,
        },
    .identifier = "variance_scaling",
    .random = true,
    .fill = variance_scaling_fill,
};

/* The descriptor of an initialiser of one scale. */
#define SCALED(ID, CLASS, DOC, SCALE, FAN, FILLING)                                                \
    static void ID##_fill(const void *args, int64_t seed, const leat_shape *shape, float *values,  \
                          int64_t count) {                                                         \
        (void)args;                                                                                \
        fill_scaled(seed, SCALE, FAN, FILLING, shape, values, count);                              \
    }                                                                                              \
    const leati_initializer_kind leati_initializer_##ID = {                                        \
        .kind =                                                                                    \
            {                                                                                      \
                .name = CLASS,                                                                     \
                .doc = DOC " (keras.initializers." CLASS ").",                                     \
                .rows = seed_rows,                                                                 \
                .signature = "seed input_axes output_axes",                                        \
                .args_size = sizeof(struct seed_args),                                             \
            },                                                                                     \
        .identifier = #ID,                                                                         \
        .random = true,                                                                            \
        .fill = ID##_fill,                                                                         \
    };
SCALED(glorot_normal, "GlorotNormal",
       "Truncated normal numbers whose deviation keeps the variance from layer to layer", 1,
       FAN_AVERAGE, FILL_TRUNCATED)
SCALED(glorot_uniform, "GlorotUniform",
       "Uniform numbers whose range keeps the variance from layer to layer", 1, FAN_AVERAGE,
       FILL_UNIFORM)
SCALED(he_normal, "HeNormal", "Truncated normal numbers for layers with relu", 2, FAN_IN,
       FILL_TRUNCATED)
SCALED(he_uniform, "HeUniform", "Uniform numbers for layers with relu", 2, FAN_IN, FILL_UNIFORM)
SCALED(lecun_normal, "LecunNormal", "Truncated normal numbers of variance 1 / fan_in", 1, FAN_IN,
       FILL_TRUNCATED)
SCALED(lecun_uniform, "LecunUniform", "Uniform numbers of variance 1 / fan_in", 1, FAN_IN,
       FILL_UNIFORM)
