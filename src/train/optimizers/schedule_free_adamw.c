/* ScheduleFreeAdamW: Adam without a schedule of rates. One sequence takes the steps, a second one
 * is its mean, and the variable lies between both (keras.optimizers.ScheduleFreeAdamW).
 *
 * The slot "momentum" is the sequence that takes the steps; the mean follows from it and the
 * variable. As Keras on TensorFlow computes it, the mean is taken off the sequence after its step,
 * not before. Failures: arguments out of their ranges. No state, no locks. */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/frame/loss.h"
#include "train/frame/optimizer.h"

enum { STEPS, VELOCITY };

struct schedule_free_args {
    struct leati_optimizer_args shared;
    double beta_1, beta_2, epsilon;
    int64_t warmup_steps;
};

static const leati_row schedule_free_rows[] = {
    LEATI_OPTIMIZER_ROW(learning_rate, FLOAT, .default_number = 0.0025, .doc = "Size of a step."),
    LEATI_OPTIMIZER_OWN_ROW(schedule_free_args, beta_1, FLOAT, .default_number = 0.9,
                            .doc = "How near the variable is to the mean, from 0 to 1."),
    LEATI_OPTIMIZER_OWN_ROW(schedule_free_args, beta_2, FLOAT, .default_number = 0.999,
                            .doc = "Part of the mean squared gradient that a step keeps."),
    LEATI_OPTIMIZER_OWN_ROW(schedule_free_args, epsilon, FLOAT, .default_number = 1e-8,
                            .doc = "Added to the root of the mean squared gradient."),
    LEATI_OPTIMIZER_OWN_ROW(schedule_free_args, warmup_steps, INT, .minimum = 0,
                            .maximum = INT32_MAX, .doc = "Steps in which the rate rises from 0."),
    LEATI_OPTIMIZER_ROWS,
    {0},
};

static leat_status schedule_free_check(const void *arguments, leat_error *err) {
    const struct schedule_free_args *args = arguments;
    /* It divides below, so 0 is refused; beta_2 = 1 would divide by 1 - 1. */
    if (!(args->beta_1 > 0 && args->beta_1 <= 1 && args->beta_2 >= 0 && args->beta_2 < 1))
        return leati_refuse(
            err, VALUE,
            "beta_1 is %g and beta_2 %g; expected numbers above 0 up to 1, and from 0 "
            "and below 1",
            args->beta_1, args->beta_2);
    return leati_optimizer_check(arguments, err);
}

static leat_status schedule_free_slots(const void *args, const leat_variable *variable,
                                       leati_weights *out, leat_error *err) {
    const leati_weight like = {.shape = leat_variable_shape(variable),
                               .dtype = leat_variable_dtype(variable),
                               .initializer = "zeros",
                               .fixed = true};
    (void)args;
    (void)err;
    for (int i = 0; i < 2; i++) {
        leati_weight *slot = &out->list[out->count++];
        *slot = like;
        slot->name = i == STEPS ? "momentum" : "velocity";
        /* The sequence starts where the variable starts; zeros would pull it away. */
        slot->copies = i == STEPS;
    }
    return LEAT_OK;
}

/* (1 - part) * x + part * y. */
static leat_value between(leat_value x, leat_value y, leat_value part) {
    leat_value rest = leat_op_subtract(leati_loss_number_like(part, 1), part);
    return leat_op_add(leat_op_multiply(rest, x), leat_op_multiply(part, y));
}

static void schedule_free_update(const leati_update *update) {
    const struct schedule_free_args *args = update->args;
    leat_value g = update->gradient, one = leati_loss_number_like(g, 1),
               rate = update->learning_rate;
    leat_value step = leat_op_cast(update->step, leat_value_dtype(g));
    if (args->warmup_steps > 0) {
        leat_value part =
            leat_op_divide(step, leati_loss_number_like(g, (double)args->warmup_steps));
        /* The rate rises in a line and stays from warmup_steps on. */
        rate = leat_op_multiply(rate, leat_op_minimum(part, one));
    }
    leat_value before = leat_graph_read(update->graph, update->slots[STEPS]);
    leat_value v =
        leati_optimizer_slot_toward(update, VELOCITY, leati_optimizer_square(update), args->beta_2);
    leat_value second = leat_op_divide(
        v, leat_op_subtract(one, leati_optimizer_power_of_step(update, args->beta_2)));
    leat_value divisor =
        leat_op_add(leat_op_sqrt(second), leati_loss_number_like(g, args->epsilon));
    leat_value after = leat_op_subtract(before, leat_op_divide(leat_op_multiply(rate, g), divisor));
    leat_graph_assign(update->graph, update->slots[STEPS], after);
    leat_value now = leat_graph_read(update->graph, update->variable);
    /* The variable is near * mean + (1 - near) * sequence; solved for the mean here. */
    leat_value near = leati_loss_number_like(g, args->beta_1);
    leat_value rest = leat_op_multiply(leat_op_subtract(one, near), after);
    leat_value mean = leat_op_divide(leat_op_subtract(now, rest), near);
    /* The running mean of all steps: the newest weighs 1 / step. */
    mean = between(mean, after, leat_op_divide(one, step));
    leat_graph_assign_copy(update->graph, update->variable, between(after, mean, near));
}

const leati_optimizer_kind leati_optimizer_schedule_free_adamw = {
    .kind =
        {
            .name = "ScheduleFreeAdamW",
            .doc = "Adam whose variables lie between its steps and their mean, without a schedule "
                   "(keras.optimizers.ScheduleFreeAdamW).",
            .rows = schedule_free_rows,
            .signature =
                "learning_rate beta_1 beta_2 epsilon warmup_steps " LEATI_OPTIMIZER_SIGNATURE,
            .args_size = sizeof(struct schedule_free_args),
            .check = schedule_free_check,
        },
    .slots_of = schedule_free_slots,
    .update = schedule_free_update,
};
