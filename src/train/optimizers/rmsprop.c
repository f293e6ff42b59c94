/* RMSprop: steps divided by the root of the running mean squared gradient, with momentum and less
 * the squared mean gradient if asked (keras.optimizers.RMSprop). Failures: arguments out of their
 * ranges. No state, no locks. */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/frame/loss.h"
#include "train/frame/optimizer.h"

struct rmsprop_args {
    struct leati_optimizer_args shared;
    double rho, momentum, epsilon;
    bool centered;
};

static const leati_row rmsprop_rows[] = {
    LEATI_OPTIMIZER_ROW(learning_rate, FLOAT, .default_number = 0.001, .doc = "Size of a step."),
    LEATI_OPTIMIZER_OWN_ROW(rmsprop_args, rho, FLOAT, .default_number = 0.9,
                            .doc = "Part of the means that a step keeps."),
    LEATI_OPTIMIZER_OWN_ROW(rmsprop_args, momentum, FLOAT,
                            .doc = "Part of the last change that a step adds; 0: none."),
    LEATI_OPTIMIZER_OWN_ROW(rmsprop_args, epsilon, FLOAT, .default_number = 1e-7,
                            .doc = "Added to what divides."),
    LEATI_OPTIMIZER_OWN_ROW(
        rmsprop_args, centered, BOOL,
        .doc = "Whether the variance of gradients divides, not their mean square."),
    LEATI_OPTIMIZER_ROWS,
    {0},
};

static leat_status rmsprop_check(const void *arguments, leat_error *err) {
    const struct rmsprop_args *args = arguments;
    if (!(args->rho >= 0 && args->rho <= 1 && args->momentum >= 0 && args->momentum <= 1))
        return leati_refuse(err, VALUE, "rho %g, momentum %g; expected 0 to 1", args->rho,
                            args->momentum);
    return leati_optimizer_check(arguments, err);
}

static const char *const *rmsprop_slots(const void *arguments) {
    const struct rmsprop_args *args = arguments;
    static const char *const names[4][4] = {{"velocity", NULL},
                                            {"velocity", "momentum", NULL},
                                            {"velocity", "average_gradient", NULL},
                                            {"velocity", "momentum", "average_gradient", NULL}};
    /* One of four lists: momentum counts 1, centered 2. */
    return names[(args->momentum > 0) + 2 * args->centered];
}

static void rmsprop_update(const leati_update *update) {
    const struct rmsprop_args *args = update->args;
    leat_value g = update->gradient;
    leat_value divisor =
        leati_optimizer_slot_mean(update, 0, leati_optimizer_square(update), args->rho);
    if (args->centered) {
        /* The average gradient stands behind the momentum, if there is one. */
        leat_value mean =
            leati_optimizer_slot_mean(update, args->momentum > 0 ? 2 : 1, g, args->rho);
        /* E(g^2) - E(g)^2, the variance. */
        divisor = leat_op_subtract(divisor, leat_op_square(mean));
    }
    divisor = leat_op_sqrt(leat_op_add(divisor, leati_loss_number_like(g, args->epsilon)));
    leat_value change = leat_op_divide(leat_op_multiply(update->learning_rate, g), divisor);
    if (args->momentum > 0) {
        leat_value last = leat_graph_read(update->graph, update->slots[1]);
        /* The slot keeps changes with their rates: a new rate does not scale old ones. */
        change = leat_op_add(leati_support_times(last, args->momentum), change);
        leat_graph_assign(update->graph, update->slots[1], change);
    }
    leati_optimizer_step_back(update, change);
}

const leati_optimizer_kind leati_optimizer_rmsprop = {
    .kind =
        {
            .name = "RMSprop",
            .doc = "Steps divided by the root of the running mean squared gradient "
                   "(keras.optimizers.RMSprop).",
            .rows = rmsprop_rows,
            .signature = "learning_rate rho momentum epsilon centered " LEATI_OPTIMIZER_SIGNATURE,
            .args_size = sizeof(struct rmsprop_args),
            .check = rmsprop_check,
        },
    .slots = rmsprop_slots,
    .update = rmsprop_update,
};
