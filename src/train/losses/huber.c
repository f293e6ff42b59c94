/* Huber: half the squared difference up to `delta`, beyond it a straight line; the mean of a row
 * (keras.losses.Huber). Failures are the graph's. No state, no locks. */
#include "graph/support/support.h"
#include "train/support/plain_loss.h"

struct huber_args {
    struct leati_loss_args shared;
    double delta;
};

static const leati_row huber_rows[] = {
    {.name = "delta",
     .type = LEATI_ROW_FLOAT,
     .offset = offsetof(struct huber_args, delta),
     .default_number = 1,
     .doc = "The difference from which on the loss grows in proportion to it."},
    LEATI_LOSS_ROWS,
    {0},
};

static leat_value huber_call(const void *arguments, leat_value labels, leat_value predictions,
                             leat_value *mask) {
    const struct huber_args *args = arguments;
    (void)mask;
    if (!leati_loss_align(&labels, &predictions))
        return leati_loss_failed_value(predictions);
    leat_value error = leat_op_subtract(predictions, labels), size = leat_op_abs(error);
    leat_value delta = leati_loss_number_like(error, args->delta);
    leat_value square = leati_support_times(leat_op_square(error), 0.5);
    leat_value line =
        leat_op_subtract(leati_support_times(size, args->delta),
                         leati_loss_number_like(error, 0.5 * args->delta * args->delta));
    return leati_loss_mean_of_last(leat_op_select(leat_op_less_equal(size, delta), square, line));
}

const leati_loss_kind leati_loss_huber = {
    .kind =
        {
            .name = "Huber",
            .doc = "Squared small and absolute large differences (keras.losses.Huber).",
            .rows = huber_rows,
            .signature = "delta reduction name=\"huber_loss\" dtype",
            .args_size = sizeof(struct huber_args),
            .check = leati_loss_check,
        },
    .call = huber_call,
};
