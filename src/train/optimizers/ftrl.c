/* Ftrl: "follow the regularized leader", which makes small weights zero (keras.optimizers.Ftrl).
 * Failures: arguments out of their ranges. No state, no locks. */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/frame/loss.h"
#include "train/frame/optimizer.h"

struct ftrl_args {
    struct leati_optimizer_args shared;
    double learning_rate_power, initial_accumulator_value;
    double l1_regularization_strength, l2_regularization_strength;
    double l2_shrinkage_regularization_strength, beta;
};

#define FTRL_ROW(MEMBER, ...)                                                                      \
    {                                                                                              \
        .name = #MEMBER, .type = LEATI_ROW_FLOAT, .offset = offsetof(struct ftrl_args, MEMBER),    \
        __VA_ARGS__                                                                                \
    }

static const leati_row ftrl_rows[] = {
    LEATI_OPTIMIZER_ROW(learning_rate, FLOAT, .default_number = 0.001, .doc = "Size of a step."),
    FTRL_ROW(learning_rate_power, .default_number = -0.5,
             .doc = "How the rate falls with the squared gradients so far; 0 or less."),
    FTRL_ROW(initial_accumulator_value, .default_number = 0.1,
             .doc = "What the sum of squared gradients starts with."),
    FTRL_ROW(l1_regularization_strength, .doc = "Penalty of magnitudes."),
    FTRL_ROW(l2_regularization_strength, .doc = "Penalty of squares."),
    FTRL_ROW(l2_shrinkage_regularization_strength,
             .doc = "Penalty of squares that counts as a part of the gradient."),
    FTRL_ROW(beta, .doc = "Added to the penalty of squares, by twice the rate."),
    LEATI_OPTIMIZER_ROWS,
    {0},
};

static leat_status ftrl_check(const void *arguments, leat_error *err) {
    const struct ftrl_args *args = arguments;
    const struct {
        const char *name;
        double value;
    } wanted[] = {
        {"initial_accumulator_value", args->initial_accumulator_value},
        {"l1_regularization_strength", args->l1_regularization_strength},
        {"l2_regularization_strength", args->l2_regularization_strength},
        {"l2_shrinkage_regularization_strength", args->l2_shrinkage_regularization_strength},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (!(wanted[i].value >= 0))
            return leati_refuse(err, VALUE, "`%s` needs to be positive or zero. Received: %s=%g.",
                                wanted[i].name, wanted[i].name, wanted[i].value);
    if (!(args->learning_rate_power <= 0))
        return leati_refuse(err, VALUE,
                            "`learning_rate_power` needs to be negative or zero. Received: "
                            "learning_rate_power=%g.",
                            args->learning_rate_power);
    return leati_optimizer_check(arguments, err);
}

static const char *const *ftrl_slots(const void *args) {
    static const char *const names[] = {"accumulator", "linear", NULL};
    (void)args;
    return names;
}

static double ftrl_start(const void *args, int slot) {
    return slot == 0 ? ((const struct ftrl_args *)args)->initial_accumulator_value : 0;
}

/* McMahan et al., "Ad Click Prediction", with TensorFlow's names of the terms. */
static void ftrl_update(const leati_update *update) {
    const struct ftrl_args *args = update->args;
    leat_value g = update->gradient, rate = update->learning_rate;
    leat_value w = leat_graph_read(update->graph, update->variable);
    leat_value sum = leat_graph_read(update->graph, update->slots[0]);
    leat_value linear = leat_graph_read(update->graph, update->slots[1]);
    /* The exponent of the rows is 0 or less, so this one is 0 or more. */
    leat_value power = leati_loss_number_like(g, -args->learning_rate_power);
    /* Shrinkage enters `linear` alone; the sum below takes the gradient without it. */
    leat_value shrunk =
        leat_op_add(g, leati_support_times(w, 2 * args->l2_shrinkage_regularization_strength));
    leat_value next = leat_op_add(sum, leati_optimizer_square(update));
    leat_value raised = leat_op_pow(next, power);
    /* By how much the inverse rate grows: it keeps `linear` right as rates fall. */
    leat_value rise = leat_op_divide(leat_op_subtract(raised, leat_op_pow(sum, power)), rate);
    linear = leat_op_add(linear, leat_op_subtract(shrunk, leat_op_multiply(rise, w)));
    /* beta / (2 rate) on top of l2 acts as beta on the root of the sum. */
    leat_value l2 = leat_op_add(
        leat_op_divide(leati_loss_number_like(g, args->beta), leati_support_times(rate, 2)),
        leati_loss_number_like(g, args->l2_regularization_strength));
    leat_value quadratic = leat_op_add(leat_op_divide(raised, rate), leati_support_times(l2, 2));
    double l1 = args->l1_regularization_strength;
    /* Where |linear| is at most l1 this cancels below and the weight is exactly 0, not -0, which a
     * bound of -0 would give. */
    leat_value clipped = leat_op_clip_by_value(linear, leati_loss_number_like(g, 0 - l1),
                                               leati_loss_number_like(g, l1));
    leat_graph_assign(update->graph, update->slots[0], next);
    leat_graph_assign(update->graph, update->slots[1], linear);
    /* Not a step from the old value: the variable is solved for anew from the sums. */
    leat_graph_assign(update->graph, update->variable,
                      leat_op_divide(leat_op_subtract(clipped, linear), quadratic));
}

const leati_optimizer_kind leati_optimizer_ftrl = {
    .kind =
        {
            .name = "Ftrl",
            .doc = "Steps that make small weights zero (keras.optimizers.Ftrl).",
            .rows = ftrl_rows,
            .signature = "learning_rate learning_rate_power initial_accumulator_value "
                         "l1_regularization_strength l2_regularization_strength "
                         "l2_shrinkage_regularization_strength beta " LEATI_OPTIMIZER_SIGNATURE,
            .args_size = sizeof(struct ftrl_args),
            .check = ftrl_check,
        },
    .slots = ftrl_slots,
    .slot_start = ftrl_start,
    .update = ftrl_update,
};
