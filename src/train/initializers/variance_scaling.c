/* VarianceScaling: numbers whose variance is scale / fan (keras.initializers.VarianceScaling).
 * Failures: see the check. No state, no locks. */
#include "base/error.h"
#include "train/frame/initializer.h"
#include <string.h>

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
    {.name = "seed",
     .type = LEATI_ROW_SEED,
     .offset = offsetof(struct variance_scaling_args, seed),
     .doc = "A number that fixes the values; none: drawn when the layer is made."},
    {0},
};

static const char *const modes[] = {
    [LEATI_FAN_IN] = "fan_in", [LEATI_FAN_OUT] = "fan_out", [LEATI_FAN_AVERAGE] = "fan_avg"};
static const char *const distributions[] = {[LEATI_FILL_TRUNCATED] = "truncated_normal",
                                            [LEATI_FILL_NORMAL] = "untruncated_normal",
                                            [LEATI_FILL_UNIFORM] = "uniform"};

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
    size_t mode = find(modes, args->mode), kind = find(distributions, args->distribution);
    leati_initializer_fill_scaled(seed, args->scale, (leati_fan)mode, (leati_filling)kind, shape,
                                  values, count);
}

const leati_initializer_kind leati_initializer_variance_scaling = {
    .kind =
        {
            .name = "VarianceScaling",
            .doc = "Numbers whose variance is scale / fan (keras.initializers.VarianceScaling).",
            .rows = variance_scaling_rows,
            .signature = "scale mode distribution seed input_axes output_axes",
            .args_size = sizeof(struct variance_scaling_args),
            .check = variance_scaling_check,
        },
    .identifier = "variance_scaling",
    .random = true,
    .fill = variance_scaling_fill,
};
