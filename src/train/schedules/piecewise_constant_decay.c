/* PiecewiseConstantDecay: values[i] for steps up to boundaries[i], the last value behind them all
 * (keras.optimizers.schedules.PiecewiseConstantDecay). Failures: another number of values than
 * boundaries and one. No locks. */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/frame/loss.h"
#include "train/frame/schedule.h"

struct piecewise_args {
    struct leati_schedule_args shared;
    leati_floats boundaries, values;
};

static const leati_row piecewise_rows[] = {
    LEATI_SCHEDULE_ROW(piecewise_args, boundaries, FLOATS, .flags = LEATI_REQUIRED,
                       .doc = "The last step of each value but the last one, rising."),
    LEATI_SCHEDULE_ROW(piecewise_args, values, FLOATS, .flags = LEATI_REQUIRED,
                       .doc = "The rates, one more than boundaries."),
    LEATI_SCHEDULE_NAME("PiecewiseConstant"),
    {0},
};

static leat_status piecewise_check(const void *arguments, leat_error *err) {
    const struct piecewise_args *args = arguments;
    if (args->boundaries.count == args->values.count - 1)
        return LEAT_OK;
    return leati_refuse(err, VALUE,
                        "The length of boundaries should be 1 less than the length of values. "
                        "Received: boundaries of length %d, and values of length %d.",
                        (int)args->boundaries.count, (int)args->values.count);
}

static leat_value piecewise_rate(const void *arguments, leat_value step) {
    const struct piecewise_args *args = arguments;
    /* Every boundary has a value in front; the one behind them all is the start of the chain. */
    int32_t last = args->boundaries.count;
    leat_value rate = leati_loss_number_like(step, args->values.values[last]);
    /* From the last to the first, so that the first boundary not yet passed decides. */
    for (int32_t i = last - 1; i >= 0; i--) {
        /* A step on the boundary still has the value before it. */
        leat_value before =
            leat_op_less_equal(step, leati_loss_number_like(step, args->boundaries.values[i]));
        rate = leat_op_select(before, leati_loss_number_like(step, args->values.values[i]), rate);
    }
    return rate;
}

const leati_schedule_kind leati_schedule_piecewise_constant_decay = {
    .kind =
        {
            .name = "PiecewiseConstantDecay",
            .doc = "One rate after the other (keras.optimizers.schedules.PiecewiseConstantDecay).",
            .rows = piecewise_rows,
            .args_size = sizeof(struct piecewise_args),
            .check = piecewise_check,
        },
    .rate = piecewise_rate,
};
