/* CosineDecay: half a cosine from the rate to alpha times it, with a straight rise before it if
 * there is a warmup_target (keras.optimizers.schedules.CosineDecay). Failures: decay_steps that are
 * not positive. No locks. */
#include "graph/support/support.h"
#include "train/frame/loss.h"
#include "train/frame/schedule.h"

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

static leat_value fall(const struct cosine_args *args, leat_value step, double rate) {
    leat_value span = leati_loss_number_like(step, args->shared.decay_steps);
    leat_value part = leat_op_divide(leat_op_minimum(step, span), span);
    return leati_support_times(
        leati_schedule_not_below(leati_schedule_half_cosine(part), args->alpha), rate);
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
    return leat_op_select(leat_op_less(step, warm), rise,
                          fall(args, leat_op_subtract(step, warm), target));
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
