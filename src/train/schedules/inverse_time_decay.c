/* InverseTimeDecay: the rate over 1 + decay_rate * step / decay_steps
 * (keras.optimizers.schedules.InverseTimeDecay). Failures: decay_steps that are not positive. No
 * locks. */
#include "graph/support/support.h"
#include "train/frame/loss.h"
#include "train/frame/schedule.h"

struct inverse_time_args {
    struct leati_schedule_args shared;
    double decay_rate;
    bool staircase;
};

static const leati_row inverse_time_rows[] = {
    LEATI_SCHEDULE_START,
    LEATI_SCHEDULE_STEPS("Steps after which decay_rate is added to the divisor."),
    LEATI_SCHEDULE_ROW(inverse_time_args, decay_rate, FLOAT, .flags = LEATI_REQUIRED,
                       .doc = "What is added to the divisor."),
    LEATI_SCHEDULE_ROW(inverse_time_args, staircase, BOOL,
                       .doc = "Whether the rate changes only every decay_steps."),
    LEATI_SCHEDULE_NAME("InverseTimeDecay"),
    {0},
};

static leat_value inverse_time_rate(const void *arguments, leat_value step) {
    const struct inverse_time_args *args = arguments;
    leat_value part = leat_op_divide(step, leati_loss_number_like(step, args->shared.decay_steps));
    if (args->staircase)
        part = leat_op_floor(part);
    leat_value divisor =
        leat_op_add(leati_support_times(part, args->decay_rate), leati_loss_number_like(part, 1));
    return leat_op_divide(leati_loss_number_like(part, args->shared.initial_learning_rate),
                          divisor);
}

const leati_schedule_kind leati_schedule_inverse_time_decay = {
    .kind =
        {
            .name = "InverseTimeDecay",
            .doc = "A rate divided by a number that grows with the steps "
                   "(keras.optimizers.schedules.InverseTimeDecay).",
            .rows = inverse_time_rows,
            .args_size = sizeof(struct inverse_time_args),
            .check = leati_schedule_check,
        },
    .rate = inverse_time_rate,
};
