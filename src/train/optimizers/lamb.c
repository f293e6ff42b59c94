/* Lamb: Adam whose steps have the size of the variable they change (keras.optimizers.Lamb).
 * Failures: arguments out of their ranges. No state, no locks. */
#include "graph/support/support.h"
#include "train/frame/loss.h"
#include "train/support/adam.h"

static const leati_row lamb_rows[] = {LEATI_MOMENT_ROWS, LEATI_OPTIMIZER_ROWS, {0}};

static leat_value norm(leat_value x) {
    return leat_op_sqrt(leat_op_reduce_sum(leat_op_square(x), NULL, 0, false));
}

static void lamb_update(const leati_update *update) {
    const struct adam_args *args = update->args;
    leat_value g = update->gradient, one = leati_loss_number_like(g, 1);
    leat_value m = leati_optimizer_slot_toward(update, 0, g, args->beta_1);
    leat_value v = leati_optimizer_slot_toward(update, 1, leat_op_square(g), args->beta_2);
    m = leat_op_divide(m,
                       leat_op_subtract(one, leati_optimizer_power_of_step(update, args->beta_1)));
    v = leat_op_divide(v,
                       leat_op_subtract(one, leati_optimizer_power_of_step(update, args->beta_2)));
    leat_value divisor = leat_op_add(leat_op_sqrt(v), leati_loss_number_like(g, args->epsilon));
    leat_value change = leat_op_divide(m, divisor), none = leati_loss_number_like(g, 0);
    leat_value own = norm(leat_graph_read(update->graph, update->variable)), step = norm(change);
    leat_value both = leat_op_logical_and(leat_op_greater(own, none), leat_op_greater(step, none));
    leat_value ratio = leat_op_select(both, leat_op_divide_no_nan(own, step), one);
    leati_optimizer_step_back(
        update, leat_op_multiply(leat_op_multiply(ratio, update->learning_rate), change));
}

const leati_optimizer_kind leati_optimizer_lamb = {
    .kind =
        {
            .name = "Lamb",
            .doc = "Adam whose steps have the size of the variable they change "
                   "(keras.optimizers.Lamb).",
            .rows = lamb_rows,
            .signature = "learning_rate beta_1 beta_2 epsilon " LEATI_OPTIMIZER_SIGNATURE,
            .args_size = sizeof(struct adam_args),
            .check = leati_adam_check,
        },
    .slots = leati_adam_slots,
    .update = lamb_update,
};
