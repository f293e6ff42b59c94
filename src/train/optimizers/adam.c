/* Adam: steps along the mean gradient over the root of the mean squared gradient, epsilon outside
 * the bias correction (keras.optimizers.Adam).
 *
 * One operation per variable; with amsgrad, where the largest second moment so far divides, the
 * same formula from elementary operations. Failures: betas outside [0, 1). No state, no locks. */
#include "train/support/adam.h"
#include "base/error.h"
#include "graph/support/support.h"

static const leati_row adam_rows[] = {LEATI_ADAM_ROWS, LEATI_OPTIMIZER_ROWS, {0}};

leat_status leati_adam_check(const void *arguments, leat_error *err) {
    const struct adam_args *args = arguments;
    if (!(args->beta_1 >= 0 && args->beta_1 < 1 && args->beta_2 >= 0 && args->beta_2 < 1))
        return leati_refuse(err, VALUE,
                            "beta_1 is %g and beta_2 %g; expected numbers from 0 and below 1",
                            args->beta_1, args->beta_2);
    return leati_optimizer_check(arguments, err);
}

const char *const *leati_adam_slots(const void *args) {
    static const char *const names[] = {"momentum", "velocity", NULL};
    static const char *const ams_names[] = {"momentum", "velocity", "velocity_hat", NULL};
    return ((const struct adam_args *)args)->amsgrad ? ams_names : names;
}

static leat_value one_minus(leat_value value) {
    return leat_op_subtract(leati_support_number(value.graph, leat_value_dtype(value), 1), value);
}

static void amsgrad_update(const leati_update *update) {
    const struct adam_args *args = update->args;
    leat_graph *graph = update->graph;
    leat_dtype dtype = leat_variable_dtype(update->variable);
    leat_value power_1 = leati_optimizer_power_of_step(update, args->beta_1);
    leat_value power_2 = leati_optimizer_power_of_step(update, args->beta_2);
    leat_value root = leat_op_sqrt(one_minus(power_2));
    leat_value alpha =
        leat_op_divide(leat_op_multiply(update->learning_rate, root), one_minus(power_1));
    leat_value m = leati_optimizer_slot_toward(update, 0, update->gradient, args->beta_1);
    leat_value v =
        leati_optimizer_slot_toward(update, 1, leat_op_square(update->gradient), args->beta_2);
    leat_value largest = leat_op_maximum(leat_graph_read(graph, update->slots[2]), v);
    leat_graph_assign(graph, update->slots[2], largest);
    leat_value divisor =
        leat_op_add(leat_op_sqrt(largest), leati_support_number(graph, dtype, args->epsilon));
    leat_value change = leat_op_divide(leat_op_multiply(m, alpha), divisor);
    leat_graph_assign(graph, update->variable,
                      leat_op_subtract(leat_graph_read(graph, update->variable), change));
}

void leati_adam_update(const leati_update *update) {
    const struct adam_args *args = update->args;
    if (args->amsgrad)
        amsgrad_update(update);
    else
        leat_op_apply_adam(update->variable, update->slots[0], update->slots[1], update->gradient,
                           update->learning_rate, update->step, args->beta_1, args->beta_2,
                           args->epsilon);
}

leat_optimizer *leat_optimizer_adam(const leat_optimizer_adam_options *options, leat_error *err) {
    static const leat_optimizer_adam_options none;
    if (options == NULL)
        options = &none;
    const struct adam_args args = {
        .shared = leati_optimizer_shared(options->learning_rate, 0.001, &options->common),
        .beta_1 = options->beta_1 == 0 ? 0.9 : options->beta_1,
        .beta_2 = options->beta_2 == 0 ? 0.999 : options->beta_2,
        .epsilon = options->epsilon == 0 ? 1e-7 : options->epsilon,
        .amsgrad = options->amsgrad};
    return leati_optimizer_new(&leati_optimizer_adam, &args, err);
}

const leati_optimizer_kind leati_optimizer_adam = {
    .kind =
        {
            .name = "Adam",
            .doc = "Steps scaled by running moments of the gradients (keras.optimizers.Adam).",
            .rows = adam_rows,
            .signature = "learning_rate beta_1 beta_2 epsilon amsgrad " LEATI_OPTIMIZER_SIGNATURE,
            .args_size = sizeof(struct adam_args),
            .check = leati_adam_check,
        },
    .slots = leati_adam_slots,
    .update = leati_adam_update,
};
