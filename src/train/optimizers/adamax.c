/* Adamax: steps along the mean gradient over the decaying maximum of gradients
 * (keras.optimizers.Adamax). Failures: arguments out of their ranges. No state, no locks. */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/frame/loss.h"
#include "train/frame/optimizer.h"

struct adamax_args {
    struct leati_optimizer_args shared;
    double beta_1, beta_2, epsilon;
};

static const leati_row adamax_rows[] = {
    LEATI_OPTIMIZER_ROW(learning_rate, FLOAT, .default_number = 0.001, .doc = "Size of a step."),
    LEATI_OPTIMIZER_OWN_ROW(adamax_args, beta_1, FLOAT, .default_number = 0.9,
                            .doc = "Part of the mean gradient that a step keeps."),
    LEATI_OPTIMIZER_OWN_ROW(adamax_args, beta_2, FLOAT, .default_number = 0.999,
                            .doc = "Part of the largest gradient that a step keeps."),
    LEATI_OPTIMIZER_OWN_ROW(adamax_args, epsilon, FLOAT, .default_number = 1e-7,
                            .doc = "Added to what divides."),
    LEATI_OPTIMIZER_ROWS,
    {0},
};

static leat_status adamax_check(const void *arguments, leat_error *err) {
    const struct adamax_args *args = arguments;
    if (!(args->beta_1 >= 0 && args->beta_1 <= 1 && args->beta_2 >= 0 && args->beta_2 <= 1))
        return leati_refuse(err, VALUE, "beta_1 %g, beta_2 %g; expected 0 to 1", args->beta_1,
                            args->beta_2);
    return leati_optimizer_check(arguments, err);
}

static const char *const *adamax_slots(const void *args) {
    static const char *const names[] = {"momentum", "norm", NULL};
    (void)args;
    return names;
}

static void adamax_update(const leati_update *update) {
    const struct adamax_args *args = update->args;
    leat_value g = update->gradient, one = leati_loss_number_like(g, 1);
    /* Only the first moment is corrected: a maximum has no bias towards its start. */
    leat_value power = leati_optimizer_power_of_step(update, args->beta_1);
    leat_value m = leati_optimizer_slot_toward(update, 0, g, args->beta_1);
    leat_value norm = leat_graph_read(update->graph, update->slots[1]);
    /* The infinity norm with decay (Kingma and Ba, section 7.1). */
    norm =
        leat_op_maximum(leati_support_times(norm, args->beta_2), leati_optimizer_magnitude(update));
    leat_graph_assign(update->graph, update->slots[1], norm);
    leat_value divisor = leat_op_multiply(
        leat_op_subtract(one, power), leat_op_add(norm, leati_loss_number_like(g, args->epsilon)));
    leati_optimizer_step_back(update,
                              leat_op_divide(leat_op_multiply(update->learning_rate, m), divisor));
}

const leati_optimizer_kind leati_optimizer_adamax = {
    .kind =
        {
            .name = "Adamax",
            .doc = "Steps along the mean gradient over the largest gradient "
                   "(keras.optimizers.Adamax).",
            .rows = adamax_rows,
            .signature = "learning_rate beta_1 beta_2 epsilon " LEATI_OPTIMIZER_SIGNATURE,
            .args_size = sizeof(struct adamax_args),
            .check = adamax_check,
        },
    .slots = adamax_slots,
    .update = adamax_update,
};
