/* Nadam: Adam whose momentum looks a step ahead (keras.optimizers.Nadam).
 *
 * The momentum of step i is beta_1 (1 - 0.96^i / 2); the product of those of all steps so far is
 * what the variables share. Failures: arguments out of their ranges. No state, no locks. */
#include "graph/support/support.h"
#include "train/frame/layer.h"
#include "train/frame/loss.h"
#include "train/support/adam.h"

static const leati_row nadam_rows[] = {LEATI_MOMENT_ROWS, LEATI_OPTIMIZER_ROWS, {0}};

/* 1 - 0.96^(step + ahead) / 2. */
static leat_value factor_of(const leati_update *update, int ahead) {
    leati_update then = *update;
    then.step = leat_op_add(update->step, leati_support_number(update->graph, LEAT_INT64, ahead));
    leat_value power = leati_optimizer_power_of_step(&then, 0.96);
    return leat_op_subtract(leati_loss_number_like(power, 1), leati_support_times(power, 0.5));
}

/* A number as the variable's dtype has it: Keras takes the rest to 1 of that. */
static double rounded(const leati_update *update, double number) {
    return leat_variable_dtype(update->variable) == LEAT_FLOAT32 ? (double)(float)number : number;
}

/* The product takes this step's momentum in. It has the dtype of the first variable. */
static void nadam_begin(const leati_update *update) {
    const struct adam_args *args = update->args;
    leat_value product = leat_graph_read(update->graph, update->common);
    leat_graph_assign(
        update->graph, update->common,
        leat_op_multiply(leati_support_times(product, args->beta_1), factor_of(update, 0)));
}

static void nadam_update(const leati_update *update) {
    const struct adam_args *args = update->args;
    leat_value g = update->gradient, one = leati_loss_number_like(g, 1);
    leat_value now = leati_support_times(factor_of(update, 0), args->beta_1);
    leat_value next = leati_support_times(factor_of(update, 1), args->beta_1);
    leat_value product = leat_graph_read(update->graph, update->common);
    if (leat_value_dtype(product) != leat_value_dtype(g))
        product = leat_op_cast(product, leat_value_dtype(g));
    leat_value m = leati_optimizer_slot_toward(update, 0, g, rounded(update, args->beta_1));
    leat_value v =
        leati_optimizer_slot_toward(update, 1, leat_op_square(g), rounded(update, args->beta_2));
    leat_value ahead = leat_op_divide(leat_op_multiply(next, m),
                                      leat_op_subtract(one, leat_op_multiply(product, next)));
    leat_value own = leat_op_divide(leat_op_multiply(leat_op_subtract(one, now), g),
                                    leat_op_subtract(one, product));
    leat_value second = leat_op_divide(
        v, leat_op_subtract(one, leati_optimizer_power_of_step(update, args->beta_2)));
    leat_value divisor =
        leat_op_add(leat_op_sqrt(second), leati_loss_number_like(g, args->epsilon));
    leat_value change = leat_op_multiply(leat_op_add(ahead, own), update->learning_rate);
    leati_optimizer_step_back(update, leat_op_divide(change, divisor));
}

const leati_optimizer_kind leati_optimizer_nadam = {
    .kind =
        {
            .name = "Nadam",
            .doc = "Adam whose momentum looks a step ahead (keras.optimizers.Nadam).",
            .rows = nadam_rows,
            .signature = "learning_rate beta_1 beta_2 epsilon " LEATI_OPTIMIZER_SIGNATURE,
            .args_size = sizeof(struct adam_args),
            .check = leati_adam_check,
        },
    .slots = leati_adam_slots,
    .begin = nadam_begin,
    .update = nadam_update,
};
