/* PolynomialDecay: from the rate to end_learning_rate along a power of what is left of decay_steps;
 * with cycle again and again, over spans as many times as long
 * (keras.optimizers.schedules.PolynomialDecay). Failures: decay_steps that are not positive. No
 * locks. */
#include "graph/support/support.h"
#include "train/frame/loss.h"
#include "train/frame/schedule.h"

struct polynomial_args {
    struct leati_schedule_args shared;
    double end_learning_rate, power;
    bool cycle;
};

static const leati_row polynomial_rows[] = {
    LEATI_SCHEDULE_START,
    LEATI_SCHEDULE_STEPS("Steps to the end."),
    LEATI_SCHEDULE_ROW(polynomial_args, end_learning_rate, FLOAT, .default_number = 0.0001,
                       .doc = "The rate at the end."),
    LEATI_SCHEDULE_ROW(polynomial_args, power, FLOAT, .default_number = 1,
                       .doc = "Power of what is left; 1: a line."),
    LEATI_SCHEDULE_ROW(polynomial_args, cycle, BOOL,
                       .doc = "Whether it starts anew at the end, over a longer span."),
    LEATI_SCHEDULE_NAME("PolynomialDecay"),
    {0},
};

static leat_value polynomial_rate(const void *arguments, leat_value step) {
    const struct polynomial_args *args = arguments;
    leat_value span = leati_loss_number_like(step, args->shared.decay_steps);
    leat_value one = leati_loss_number_like(step, 1);
    /* At step 0 no span is over, yet the first one counts: hence at least 1. */
    if (args->cycle)
        span =
            leat_op_multiply(span, leat_op_maximum(leat_op_ceil(leat_op_divide(step, span)), one));
    else
        /* The rate stays at its end. */
        step = leat_op_minimum(step, span);
    /* A negative number under a broken power is NaN; the span above keeps it from 0 up. */
    leat_value left = leat_op_subtract(one, leat_op_divide(step, span));
    left = leat_op_pow(left, leati_loss_number_like(left, args->power));
    double height = args->shared.initial_learning_rate - args->end_learning_rate;
    return leat_op_add(leati_support_times(left, height),
                       leati_loss_number_like(left, args->end_learning_rate));
}

const leati_schedule_kind leati_schedule_polynomial_decay = {
    .kind =
        {
            .name = "PolynomialDecay",
            .doc = "A rate that falls to another one along a power "
                   "(keras.optimizers.schedules.PolynomialDecay).",
            .rows = polynomial_rows,
            .args_size = sizeof(struct polynomial_args),
            .check = leati_schedule_check,
        },
    .rate = polynomial_rate,
};
