/* Adagrad: steps divided by the root of the sum of squared gradients
 * (keras.optimizers.Adagrad). Failures: arguments out of their ranges. No state, no locks. */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/frame/loss.h"
#include "train/frame/optimizer.h"

struct adagrad_args {
    struct leati_optimizer_args shared;
    double initial_accumulator_value, epsilon;
};

static const leati_row adagrad_rows[] = {
    LEATI_OPTIMIZER_ROW(learning_rate, FLOAT, .default_number = 0.001, .doc = "Size of a step."),
    LEATI_OPTIMIZER_OWN_ROW(adagrad_args, initial_accumulator_value, FLOAT, .default_number = 0.1,
                            .doc = "What the sums start with."),
    LEATI_OPTIMIZER_OWN_ROW(adagrad_args, epsilon, FLOAT, .default_number = 1e-7,
                            .doc = "Added to what divides."),
    LEATI_OPTIMIZER_ROWS,
    {0},
};

static leat_status adagrad_check(const void *arguments, leat_error *err) {
    const struct adagrad_args *args = arguments;
    if (!(args->initial_accumulator_value >= 0))
        return leati_refuse(err, VALUE,
                            "initial_accumulator_value is %g; expected no negative number",
                            args->initial_accumulator_value);
    return leati_optimizer_check(arguments, err);
}

static const char *const *adagrad_slots(const void *args) {
    static const char *const names[] = {"accumulator", NULL};
    (void)args;
    return names;
}

static double adagrad_start(const void *args, int slot) {
    (void)slot;
    return ((const struct adagrad_args *)args)->initial_accumulator_value;
}

static void adagrad_update(const leati_update *update) {
    const struct adagrad_args *args = update->args;
    leat_value g = update->gradient;
    /* It only grows, so steps shrink for good; that is what tells it from RMSprop. */
    leat_value sum = leat_op_add(leat_graph_read(update->graph, update->slots[0]),
                                 leati_optimizer_square(update));
    leat_graph_assign(update->graph, update->slots[0], sum);
    /* Epsilon goes under the root, as Keras adds it. */
    leat_value divisor = leat_op_sqrt(leat_op_add(sum, leati_loss_number_like(g, args->epsilon)));
    leati_optimizer_step_back(update,
                              leat_op_divide(leat_op_multiply(update->learning_rate, g), divisor));
}

const leati_optimizer_kind leati_optimizer_adagrad = {
    .kind =
        {
            .name = "Adagrad",
            .doc = "Steps divided by the root of the sum of squared gradients "
                   "(keras.optimizers.Adagrad).",
            .rows = adagrad_rows,
            .signature =
                "learning_rate initial_accumulator_value epsilon " LEATI_OPTIMIZER_SIGNATURE,
            .args_size = sizeof(struct adagrad_args),
            .check = adagrad_check,
        },
    .slots = adagrad_slots,
    .slot_start = adagrad_start,
    .update = adagrad_update,
};
