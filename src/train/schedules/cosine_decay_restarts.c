/* CosineDecayRestarts: half cosines one after the other, each t_mul times as long and m_mul times
 * as high as the one before (keras.optimizers.schedules.CosineDecayRestarts). Failures:
 * first_decay_steps that are not positive. No locks. */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/frame/loss.h"
#include "train/frame/schedule.h"
#include <math.h>

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
    if (args->t_mul == 1) {
        number = leat_op_floor(*part);
        *part = leat_op_subtract(*part, number);
        return number;
    }
    leat_value inner = leat_op_subtract(one, leati_support_times(*part, 1 - args->t_mul));
    number = leat_op_floor(
        leat_op_divide(leat_op_log(inner), leati_loss_number_like(inner, log(args->t_mul))));
    leat_value power = leati_schedule_number_power(args->t_mul, number);
    leat_value before = leat_op_divide(leat_op_subtract(one, power),
                                       leati_loss_number_like(power, 1 - args->t_mul));
    *part = leat_op_divide(leat_op_subtract(*part, before), power);
    return number;
}

static leat_value restarts_rate(const void *arguments, leat_value step) {
    const struct restarts_args *args = arguments;
    leat_value part = leat_op_divide(step, leati_loss_number_like(step, args->first_decay_steps));
    leat_value number = number_of(args, &part);
    leat_value height = leati_schedule_number_power(args->m_mul, number);
    leat_value wave = leat_op_multiply(height, leati_schedule_half_cosine(part));
    return leati_support_times(leati_schedule_not_below(wave, args->alpha),
                               args->shared.initial_learning_rate);
}

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
