/* ExponentialDecay: the rate times decay_rate every decay_steps, in between or at once
 * (keras.optimizers.schedules.ExponentialDecay). Failures: decay_steps that are not positive. No
 * locks. */
#include "graph/support/support.h"
#include "train/frame/loss.h"
#include "train/frame/schedule.h"

struct exponential_args {
    struct leati_schedule_args shared;
    double decay_rate;
    bool staircase;
};

static const leati_row exponential_rows[] = {
    LEATI_SCHEDULE_START,
    LEATI_SCHEDULE_STEPS("Steps after which the rate is decay_rate times what it was."),
    LEATI_SCHEDULE_ROW(exponential_args, decay_rate, FLOAT, .flags = LEATI_REQUIRED,
                       .doc = "What the rate is multiplied by."),
    LEATI_SCHEDULE_ROW(exponential_args, staircase, BOOL,
                       .doc = "Whether the rate changes only every decay_steps."),
    LEATI_SCHEDULE_NAME("ExponentialDecay"),
    {0},
};

static leat_value exponential_rate(const void *arguments, leat_value step) {
    const struct exponential_args *args = arguments;
    leat_value part = leat_op_divide(step, leati_loss_number_like(step, args->shared.decay_steps));
    if (args->staircase)
        part = leat_op_floor(part);
    return leati_support_times(leati_schedule_number_power(args->decay_rate, part),
                               args->shared.initial_learning_rate);
}

const leati_schedule_kind leati_schedule_exponential_decay = {
    .kind =
        {
            .name = "ExponentialDecay",
            .doc = "A rate that shrinks by the same part in equal times "
                   "(keras.optimizers.schedules.ExponentialDecay).",
            .rows = exponential_rows,
            .args_size = sizeof(struct exponential_args),
            .check = leati_schedule_check,
        },
    .rate = exponential_rate,
};
