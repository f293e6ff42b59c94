/* Dice: one minus twice what label and prediction share over what both hold. Tversky: one minus
 * what they share over that and the weighted rests (keras.losses.Dice and Tversky). Failures are
 * the graph's. No state, no locks. */
#include "graph/support/support.h"
#include "train/frame/loss.h"

struct overlap_args {
    struct leati_loss_args shared;
    double alpha, beta; /* of Tversky */
    leati_ints axis;
};

#define AXES_ROW                                                                                   \
    {                                                                                              \
        .name = "axis", .type = LEATI_ROW_INTS, .offset = offsetof(struct overlap_args, axis),     \
        .doc = "The dimensions of a region; none: all, and one loss of the whole batch."           \
    }

static const leati_row dice_rows[] = {AXES_ROW, LEATI_LOSS_ROWS, {0}};

static const leati_row tversky_rows[] = {
    {.name = "alpha",
     .type = LEATI_ROW_FLOAT,
     .offset = offsetof(struct overlap_args, alpha),
     .default_number = 0.5,
     .doc = "Weight of what labels have and predictions lack."},
    {.name = "beta",
     .type = LEATI_ROW_FLOAT,
     .offset = offsetof(struct overlap_args, beta),
     .default_number = 0.5,
     .doc = "Weight of what predictions have and labels lack."},
    AXES_ROW,
    LEATI_LOSS_ROWS,
    {0},
};

/* The sum over these dimensions, or over all where there are none. */
static leat_value sum_over(leat_value value, const leati_ints *axes) {
    return leat_op_reduce_sum(value, axes->count > 0 ? axes->values : NULL, axes->count, false);
}

static leat_value dice_call(const void *arguments, leat_value labels, leat_value predictions,
                            leat_value *mask) {
    const struct overlap_args *args = arguments;
    (void)mask;
    if (!leati_loss_align(&labels, &predictions))
        return leati_loss_failed_value(predictions);
    leat_value shared = sum_over(leat_op_multiply(labels, predictions), &args->axis);
    leat_value both =
        leat_op_add(sum_over(labels, &args->axis), sum_over(predictions, &args->axis));
    /* Empty labels and predictions give 0 / 1e-7 = 0, so the loss is 1, as in Keras. */
    both = leat_op_add(both, leati_loss_number_like(both, 1e-7));
    leat_value share = leat_op_divide(leati_support_times(shared, 2), both);
    return leat_op_subtract(leati_loss_number_like(share, 1), share);
}

static leat_value without(leat_value x, leat_value y) {
    return leat_op_multiply(x, leat_op_subtract(leati_loss_number_like(y, 1), y));
}

static leat_value tversky_call(const void *arguments, leat_value labels, leat_value predictions,
                               leat_value *mask) {
    const struct overlap_args *args = arguments;
    (void)mask;
    if (!leati_loss_align(&labels, &predictions))
        return leati_loss_failed_value(predictions);
    leat_value shared = sum_over(leat_op_multiply(labels, predictions), &args->axis);
    leat_value missed = sum_over(without(labels, predictions), &args->axis);
    leat_value added = sum_over(without(predictions, labels), &args->axis);
    leat_value all = leat_op_add(shared, leat_op_add(leati_support_times(missed, args->alpha),
                                                     leati_support_times(added, args->beta)));
    leat_value share = leat_op_divide(shared, leat_op_add(all, leati_loss_number_like(all, 1e-7)));
    return leat_op_subtract(leati_loss_number_like(share, 1), share);
}

const leati_loss_kind leati_loss_dice = {
    .kind =
        {
            .name = "Dice",
            .doc = "How little regions of labels and predictions overlap (keras.losses.Dice).",
            .rows = dice_rows,
            .signature = "reduction name=\"dice\" axis=null dtype",
            .args_size = sizeof(struct overlap_args),
            .check = leati_loss_check,
        },
    .call = dice_call,
};

const leati_loss_kind leati_loss_tversky = {
    .kind =
        {
            .name = "Tversky",
            .doc = "How little regions overlap, with weights for what is missed and what is too "
                   "much (keras.losses.Tversky).",
            .rows = tversky_rows,
            .signature = "alpha beta reduction name=\"tversky\" axis=null dtype",
            .args_size = sizeof(struct overlap_args),
            .check = leati_loss_check,
        },
    .call = tversky_call,
};
