/* Tversky: one minus what label and prediction share over that and the weighted rests
 * (keras.losses.Tversky). Failures are the graph's. No state, no locks. */
#include "graph/support/support.h"
#include "train/support/overlap.h"

struct tversky_args {
    struct leati_loss_args shared;
    double alpha, beta;
    leati_ints axis;
};

static const leati_row tversky_rows[] = {
    {.name = "alpha",
     .type = LEATI_ROW_FLOAT,
     .offset = offsetof(struct tversky_args, alpha),
     .default_number = 0.5,
     .doc = "Weight of what labels have and predictions lack."},
    {.name = "beta",
     .type = LEATI_ROW_FLOAT,
     .offset = offsetof(struct tversky_args, beta),
     .default_number = 0.5,
     .doc = "Weight of what predictions have and labels lack."},
    LEATI_AXES_ROW(struct tversky_args),
    LEATI_LOSS_ROWS,
    {0},
};

static leat_value without(leat_value x, leat_value y) {
    return leat_op_multiply(x, leat_op_subtract(leati_loss_number_like(y, 1), y));
}

static leat_value tversky_call(const void *arguments, leat_value labels, leat_value predictions,
                               leat_value *mask) {
    const struct tversky_args *args = arguments;
    (void)mask;
    if (!leati_loss_align(&labels, &predictions))
        return leati_loss_failed_value(predictions);
    leat_value shared = leati_overlap_sum_over(leat_op_multiply(labels, predictions), &args->axis);
    leat_value missed = leati_overlap_sum_over(without(labels, predictions), &args->axis);
    leat_value added = leati_overlap_sum_over(without(predictions, labels), &args->axis);
    leat_value all = leat_op_add(shared, leat_op_add(leati_support_times(missed, args->alpha),
                                                     leati_support_times(added, args->beta)));
    leat_value share = leat_op_divide(shared, leat_op_add(all, leati_loss_number_like(all, 1e-7)));
    return leat_op_subtract(leati_loss_number_like(share, 1), share);
}

const leati_loss_kind leati_loss_tversky = {
    .kind =
        {
            .name = "Tversky",
            .doc = "How little regions overlap, with weights for what is missed and what is too "
                   "much (keras.losses.Tversky).",
            .rows = tversky_rows,
            .signature = "alpha beta reduction name=\"tversky\" axis=null dtype",
            .args_size = sizeof(struct tversky_args),
            .check = leati_loss_check,
        },
    .call = tversky_call,
};
