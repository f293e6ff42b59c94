/* Lion: steps of one size along the sign of the mean gradient
 * (keras.optimizers.Lion). Failures: arguments out of their ranges. No state, no locks. */
#include <math.h>

#include "base/error.h"
#include "graph/support/support.h"
#include "train/frame/loss.h"
#include "train/frame/optimizer.h"

struct lion_args {
    struct leati_optimizer_args shared;
    double beta_1, beta_2;
};

static const leati_row lion_rows[] = {
    LEATI_OPTIMIZER_ROW(learning_rate, FLOAT, .default_number = 0.001, .doc = "Size of a step."),
    LEATI_OPTIMIZER_OWN_ROW(lion_args, beta_1, FLOAT, .default_number = 0.9,
                            .doc = "Part of the mean in the direction of a step."),
    LEATI_OPTIMIZER_OWN_ROW(lion_args, beta_2, FLOAT, .default_number = 0.99,
                            .doc = "Part of the mean gradient that a step keeps."),
    LEATI_OPTIMIZER_ROWS,
    {0},
};

static leat_status lion_check(const void *arguments, leat_error *err) {
    const struct lion_args *args = arguments;
    /* 0 is refused though the sentence allows it: both are Keras'. */
    if (!(args->beta_1 > 0 && args->beta_1 <= 1))
        return leati_refuse(
            err, VALUE,
            "Argument `beta_1` must be in the [0, 1] range. Otherwise, the optimizer "
            "degenerates to SignSGD. Received: beta_1=%g%s.",
            args->beta_1, args->beta_1 == floor(args->beta_1) ? ".0" : "");
    if (!(args->beta_2 >= 0 && args->beta_2 <= 1))
        return leati_refuse(err, VALUE, "beta_2 is %g; expected 0 to 1", args->beta_2);
    return leati_optimizer_check(arguments, err);
}

static const char *const *lion_slots(const void *args) {
    static const char *const names[] = {"momentum", NULL};
    (void)args;
    return names;
}

static void lion_update(const leati_update *update) {
    const struct lion_args *args = update->args;
    leat_value g = update->gradient;
    leat_value m = leat_graph_read(update->graph, update->slots[0]);
    /* The direction mixes by beta_1, the slot below keeps by beta_2: that is Lion's point. */
    leat_value mixed =
        leat_op_add(leati_support_times(m, args->beta_1), leati_support_times(g, 1 - args->beta_1));
    leati_optimizer_step_back(update, leat_op_multiply(update->learning_rate, leat_op_sign(mixed)));
    /* After the step, which reads the momentum of the steps before. */
    (void)leati_optimizer_slot_mean(update, 0, g, leati_optimizer_rounded(update, args->beta_2));
}

const leati_optimizer_kind leati_optimizer_lion = {
    .kind =
        {
            .name = "Lion",
            .doc = "Steps of one size along the sign of the mean gradient (keras.optimizers.Lion).",
            .rows = lion_rows,
            .signature = "learning_rate beta_1 beta_2 " LEATI_OPTIMIZER_SIGNATURE,
            .args_size = sizeof(struct lion_args),
            .check = lion_check,
        },
    .slots = lion_slots,
    .update = lion_update,
};
