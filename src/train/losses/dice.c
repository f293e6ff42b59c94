/* Dice: one minus twice what label and prediction share over what both hold (keras.losses.Dice).
 * Failures are the graph's. No state, no locks. */
#include "graph/support/support.h"
#include "train/support/overlap.h"

struct dice_args {
    struct leati_loss_args shared;
    leati_ints axis;
};

static const leati_row dice_rows[] = {LEATI_AXES_ROW(struct dice_args), LEATI_LOSS_ROWS, {0}};

static leat_value dice_call(const void *arguments, leat_value labels, leat_value predictions,
                            leat_value *mask) {
    const struct dice_args *args = arguments;
    (void)mask;
    if (!leati_loss_align(&labels, &predictions))
        return leati_loss_failed_value(predictions);
    leat_value shared = leati_overlap_sum_over(leat_op_multiply(labels, predictions), &args->axis);
    leat_value both = leat_op_add(leati_overlap_sum_over(labels, &args->axis),
                                  leati_overlap_sum_over(predictions, &args->axis));
    both = leat_op_add(both, leati_loss_number_like(both, 1e-7));
    leat_value share = leat_op_divide(leati_support_times(shared, 2), both);
    return leat_op_subtract(leati_loss_number_like(share, 1), share);
}

const leati_loss_kind leati_loss_dice = {
    .kind =
        {
            .name = "Dice",
            .doc = "How little regions of labels and predictions overlap (keras.losses.Dice).",
            .rows = dice_rows,
            .signature = "reduction name=\"dice\" axis=null dtype",
            .args_size = sizeof(struct dice_args),
            .check = leati_loss_check,
        },
    .call = dice_call,
};
