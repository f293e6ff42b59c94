/* Adadelta: gradients times the root of the running mean squared step over that of the running mean
 * squared gradient (keras.optimizers.Adadelta). Failures: arguments out of their ranges. No state,
 * no locks. */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/frame/loss.h"
#include "train/frame/optimizer.h"

struct adadelta_args {
    struct leati_optimizer_args shared;
    double rho, epsilon;
};

static const leati_row adadelta_rows[] = {
    LEATI_OPTIMIZER_ROW(learning_rate, FLOAT, .default_number = 0.001, .doc = "Size of a step."),
    LEATI_OPTIMIZER_OWN_ROW(adadelta_args, rho, FLOAT, .default_number = 0.95,
                            .doc = "Part of the means that a step keeps."),
    LEATI_OPTIMIZER_OWN_ROW(adadelta_args, epsilon, FLOAT, .default_number = 1e-7,
                            .doc = "Added to what divides."),
    LEATI_OPTIMIZER_ROWS,
    {0},
};

static leat_status adadelta_check(const void *arguments, leat_error *err) {
    const struct adadelta_args *args = arguments;
    if (!(args->rho >= 0 && args->rho <= 1))
        return leati_refuse(err, VALUE, "rho %g; expected 0 to 1", args->rho);
    return leati_optimizer_check(arguments, err);
}

static const char *const *adadelta_slots(const void *args) {
    static const char *const names[] = {"accumulated_grad", "accumulated_delta_var", NULL};
    (void)args;
    return names;
}

static leat_value root(leat_value x, double epsilon) {
    /* Epsilon goes under the root, unlike Adam's: the first step, of mean 0, is not 0. */
    return leat_op_sqrt(leat_op_add(x, leati_loss_number_like(x, epsilon)));
}

static void adadelta_update(const leati_update *update) {
    const struct adadelta_args *args = update->args;
    leat_value g = update->gradient;
    /* The mean of the steps before this one: it must be read before its slot is assigned below. */
    leat_value before = leat_graph_read(update->graph, update->slots[1]);
    leat_value mean =
        leati_optimizer_slot_mean(update, 0, leati_optimizer_square(update), args->rho);
    leat_value above = root(before, args->epsilon), below = root(mean, args->epsilon);
    leat_value change = leat_op_divide(leat_op_multiply(above, g), below);
    /* All slices of a row change it by the same factor. */
    leat_value square = update->slices.id < 0
                            ? leat_op_square(change)
                            : leat_op_multiply(leat_op_square(leat_op_divide(above, below)),
                                               leati_optimizer_square(update));
    /* Without the learning rate, as Zeiler's paper has it: the mean is of the plain change. */
    (void)leati_optimizer_slot_mean(update, 1, square, args->rho);
    leati_optimizer_step_back(update, leat_op_multiply(update->learning_rate, change));
}

const leati_optimizer_kind leati_optimizer_adadelta = {
    .kind =
        {
            .name = "Adadelta",
            .doc = "Steps in proportion to the last steps over the last gradients "
                   "(keras.optimizers.Adadelta).",
            .rows = adadelta_rows,
            .signature = "learning_rate rho epsilon " LEATI_OPTIMIZER_SIGNATURE,
            .args_size = sizeof(struct adadelta_args),
            .check = adadelta_check,
        },
    .slots = adadelta_slots,
    .update = adadelta_update,
};
