/* ExponentialDecay: the rate times decay_rate every decay_steps. InverseTimeDecay: the rate over
 * 1 + decay_rate * step / decay_steps. Both in between or at once
 * (keras.optimizers.schedules.ExponentialDecay and InverseTimeDecay). Failures: decay_steps that
 * are not positive. No locks. */
#include "graph/support/support.h"
#include "train/frame/loss.h"
#include "train/frame/schedule.h"

struct rate_decay_args {
    struct leati_schedule_args shared;
    double decay_rate;
    bool staircase;
};

/* The spans of decay_steps that are over. */
static leat_value spans_of(const struct rate_decay_args *args, leat_value step) {
    leat_value part = leat_op_divide(step, leati_loss_number_like(step, args->shared.decay_steps));
    /* Steps in between then have the rate of the last full span. */
    return args->staircase ? leat_op_floor(part) : part;
}

static leat_value exponential_decay_rate(const void *arguments, leat_value step) {
    const struct rate_decay_args *args = arguments;
    return leati_support_times(leati_schedule_number_power(args->decay_rate, spans_of(args, step)),
                               args->shared.initial_learning_rate);
}

static leat_value inverse_time_decay_rate(const void *arguments, leat_value step) {
    const struct rate_decay_args *args = arguments;
    leat_value part = spans_of(args, step);
    leat_value divisor =
        leat_op_add(leati_support_times(part, args->decay_rate), leati_loss_number_like(part, 1));
    return leat_op_divide(leati_loss_number_like(part, args->shared.initial_learning_rate),
                          divisor);
}

/* The descriptor of one schedule. */
#define RATE_DECAY(ID, CLASS, DOC, STEPS_DOC, RATE_DOC)                                            \
    static const leati_row ID##_rows[] = {                                                         \
        LEATI_SCHEDULE_START,                                                                      \
        LEATI_SCHEDULE_STEPS(STEPS_DOC),                                                           \
        LEATI_SCHEDULE_ROW(rate_decay_args, decay_rate, FLOAT, .flags = LEATI_REQUIRED,            \
                           .doc = RATE_DOC),                                                       \
        LEATI_SCHEDULE_ROW(rate_decay_args, staircase, BOOL,                                       \
                           .doc = "Whether the rate changes only every decay_steps."),             \
        LEATI_SCHEDULE_NAME(CLASS),                                                                \
        {0},                                                                                       \
    };                                                                                             \
    const leati_schedule_kind leati_schedule_##ID = {                                              \
        .kind =                                                                                    \
            {                                                                                      \
                .name = CLASS,                                                                     \
                .doc = DOC " (keras.optimizers.schedules." CLASS ").",                             \
                .rows = ID##_rows,                                                                 \
                .args_size = sizeof(struct rate_decay_args),                                       \
                .check = leati_schedule_check,                                                     \
            },                                                                                     \
        .rate = ID##_rate,                                                                         \
    };
RATE_DECAY(exponential_decay, "ExponentialDecay",
           "A rate that shrinks by the same part in equal times",
           "Steps after which the rate is decay_rate times what it was.",
           "What the rate is multiplied by.")
RATE_DECAY(inverse_time_decay, "InverseTimeDecay",
           "A rate divided by a number that grows with the steps",
           "Steps after which decay_rate is added to the divisor.", "What is added to the divisor.")
