/* CosineDecay: half a cosine from the rate to alpha times it, with a straight rise before it if
 * there is a warmup_target. CosineDecayRestarts: half cosines one after the other, each t_mul times
 * as long and m_mul times as high as the one before (keras.optimizers.schedules.CosineDecay and
 * CosineDecayRestarts). Failures: steps or t_mul that are not positive. No locks. */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/frame/loss.h"
#include "train/frame/schedule.h"
#include <math.h>

struct cosine_args {
    struct leati_schedule_args shared;
    double alpha, warmup_steps;
    leati_floats warmup_target; /* none, or one number */
};

static const leati_row cosine_rows[] = {
    LEATI_SCHEDULE_START,
    LEATI_SCHEDULE_STEPS("Steps of the half cosine, after those of the rise."),
    LEATI_SCHEDULE_ROW(cosine_args, alpha, FLOAT, .doc = "Part of the rate that is left."),
    LEATI_SCHEDULE_NAME("CosineDecay"),
    LEATI_SCHEDULE_ROW(cosine_args, warmup_target, FLOATS,
                       .doc = "The rate to which it rises first; none: no rise."),
    LEATI_SCHEDULE_ROW(cosine_args, warmup_steps, FLOAT, .doc = "Steps of the rise."),
    {0},
};

struct restarts_args {
    struct leati_schedule_args shared;
    double first_decay_steps, t_mul, m_mul, alpha;
};

static const leati_row restarts_rows[] = {
    LEATI_SCHEDULE_START,
    LEATI_SCHEDULE_ROW(restarts_args, first_decay_steps, FLOAT, .flags = LEATI_REQUIRED,
                       .doc = "Steps of the first half cosine."),
    LEATI_SCHEDULE_ROW(restarts_args, t_mul, FLOAT, .default_number = 2,
                       .doc = "How many times as long as the one before each is."),
    LEATI_SCHEDULE_ROW(restarts_args, m_mul, FLOAT, .default_number = 1,
                       .doc = "How many times as high as the one before each is."),
    LEATI_SCHEDULE_ROW(restarts_args, alpha, FLOAT, .doc = "Part of the rate that is left."),
    LEATI_SCHEDULE_NAME("SGDRDecay"),
    {0},
};

/* (1 + cos(pi * part)) / 2. */
static leat_value half_cosine(leat_value part) {
    const double pi = 3.14159265358979323846;
    leat_value wave = leat_op_cos(leati_support_times(part, pi));
    return leati_support_times(leat_op_add(wave, leati_loss_number_like(wave, 1)), 0.5);
}

/* What is left of 1 between it and alpha. */
static leat_value not_below(leat_value part, double alpha) {
    return leat_op_add(leati_support_times(part, 1 - alpha), leati_loss_number_like(part, alpha));
}

static leat_value fall(const struct cosine_args *args, leat_value step, double rate) {
    leat_value span = leati_loss_number_like(step, args->shared.decay_steps);
    /* Beyond the last step the cosine would rise again. */
    leat_value part = leat_op_divide(leat_op_minimum(step, span), span);
    return leati_support_times(not_below(half_cosine(part), args->alpha), rate);
}

static leat_value cosine_rate(const void *arguments, leat_value step) {
    const struct cosine_args *args = arguments;
    double start = args->shared.initial_learning_rate;
    if (args->warmup_target.count == 0)
        return fall(args, step, start);
    double target = args->warmup_target.values[0];
    leat_value warm = leati_loss_number_like(step, args->warmup_steps);
    leat_value rise = leati_support_times(leat_op_divide(step, warm), target - start);
    rise = leat_op_add(rise, leati_loss_number_like(rise, start));
    /* Both are computed; the fall before the rise's end is not used, whatever it gives. */
    return leat_op_select(leat_op_less(step, warm), rise,
                          fall(args, leat_op_subtract(step, warm), target));
}

static leat_status restarts_check(const void *arguments, leat_error *err) {
    const struct restarts_args *args = arguments;
    if (args->first_decay_steps > 0 && args->t_mul > 0)
        return LEAT_OK;
    return leati_refuse(err, VALUE,
                        "Arguments `first_decay_steps` and `t_mul` must be > 0. Received: "
                        "first_decay_steps=%g, t_mul=%g",
                        args->first_decay_steps, args->t_mul);
}

/* The number of the half cosine, and in `part` what of it is over. */
static leat_value number_of(const struct restarts_args *args, leat_value *part) {
    leat_value one = leati_loss_number_like(*part, 1), number;
    /* Cosines of one length: the formula below would divide by log(1) = 0. */
    if (args->t_mul == 1) {
        number = leat_op_floor(*part);
        *part = leat_op_subtract(*part, number);
        return number;
    }
    /* After n cosines (1 - t^n) / (1 - t) first lengths are over; solved for n, 1 - part (1 - t) is
     * t^n. */
    leat_value inner = leat_op_subtract(one, leati_support_times(*part, 1 - args->t_mul));
    number = leat_op_floor(
        leat_op_divide(leat_op_log(inner), leati_loss_number_like(inner, log(args->t_mul))));
    leat_value power = leati_schedule_number_power(args->t_mul, number);
    /* What the cosines before this one took, in lengths of the first. */
    leat_value before = leat_op_divide(leat_op_subtract(one, power),
                                       leati_loss_number_like(power, 1 - args->t_mul));
    /* This cosine is t^n times as long as the first. */
    *part = leat_op_divide(leat_op_subtract(*part, before), power);
    return number;
}

static leat_value restarts_rate(const void *arguments, leat_value step) {
    const struct restarts_args *args = arguments;
    leat_value part = leat_op_divide(step, leati_loss_number_like(step, args->first_decay_steps));
    leat_value number = number_of(args, &part);
    leat_value height = leati_schedule_number_power(args->m_mul, number);
    leat_value wave = leat_op_multiply(height, half_cosine(part));
    return leati_support_times(not_below(wave, args->alpha), args->shared.initial_learning_rate);
}

const leati_schedule_kind leati_schedule_cosine_decay = {
    .kind =
        {
            .name = "CosineDecay",
            .doc = "A rate that falls along half a cosine, after a rise if wanted "
                   "(keras.optimizers.schedules.CosineDecay).",
            .rows = cosine_rows,
            .signature = "initial_learning_rate decay_steps alpha name warmup_target=null "
                         "warmup_steps=0",
            .args_size = sizeof(struct cosine_args),
            .check = leati_schedule_check,
        },
    .rate = cosine_rate,
};

const leati_schedule_kind leati_schedule_cosine_decay_restarts = {
    .kind =
        {
            .name = "CosineDecayRestarts",
            .doc = "Half cosines one after the other "
                   "(keras.optimizers.schedules.CosineDecayRestarts).",
            .rows = restarts_rows,
            .args_size = sizeof(struct restarts_args),
            .check = restarts_check,
        },
    .rate = restarts_rate,
};
