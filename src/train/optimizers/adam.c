/* Adam, AdamW, Lamb, Nadam: steps along the mean gradient over the root of the mean squared
 * gradient; AdamW takes a part of each variable away by default, Lamb's steps have the size of the
 * variable they change, Nadam's momentum looks a step ahead (keras.optimizers.Adam and its like).
 *
 * Adam's step is leati_optimizer_step_adam, epsilon outside the bias correction. The momentum
 * of Nadam's step i is beta_1 (1 - 0.96^i / 2); the product of those of all steps so far is what
 * the variables share. Failures: betas outside [0, 1). No state, no locks. */
#include "base/error.h"
#include "base/options.h"
#include "graph/support/support.h"
#include "train/frame/loss.h"
#include "train/frame/optimizer.h"

struct adam_args {
    struct leati_optimizer_args shared;
    double beta_1, beta_2, epsilon;
    bool amsgrad;
};

#define MOMENT_ROWS                                                                                \
    LEATI_OPTIMIZER_ROW(learning_rate, FLOAT, .default_number = 0.001, .doc = "Size of a step."),  \
        LEATI_OPTIMIZER_OWN_ROW(adam_args, beta_1, FLOAT, .default_number = 0.9,                   \
                                .doc = "Part of the mean gradient that a step keeps."),            \
        LEATI_OPTIMIZER_OWN_ROW(adam_args, beta_2, FLOAT, .default_number = 0.999,                 \
                                .doc = "Part of the mean squared gradient that a step keeps."),    \
        LEATI_OPTIMIZER_OWN_ROW(adam_args, epsilon, FLOAT, .default_number = 1e-7,                 \
                                .doc = "Added to the root of the mean squared gradient.")
#define AMSGRAD_ROW                                                                                \
    LEATI_OPTIMIZER_OWN_ROW(adam_args, amsgrad, BOOL,                                              \
                            .doc = "Whether the largest mean squared gradient so far divides.")

static const leati_row adam_rows[] = {MOMENT_ROWS, AMSGRAD_ROW, LEATI_OPTIMIZER_ROWS, {0}};
static const leati_row adamw_rows[] = {
    MOMENT_ROWS, AMSGRAD_ROW, LEATI_OPTIMIZER_ROWS_WITH(0.004), {0}};
static const leati_row moment_rows[] = {MOMENT_ROWS, LEATI_OPTIMIZER_ROWS, {0}};

static leat_status adam_check(const void *arguments, leat_error *err) {
    const struct adam_args *args = arguments;
    /* 1 would make the correction 1 - beta^step a division by 0. */
    if (!(args->beta_1 >= 0 && args->beta_1 < 1 && args->beta_2 >= 0 && args->beta_2 < 1))
        return leati_refuse(err, VALUE,
                            "beta_1 is %g and beta_2 %g; expected numbers from 0 and below 1",
                            args->beta_1, args->beta_2);
    return leati_optimizer_check(arguments, err);
}

static const char *const *adam_slots(const void *args) {
    static const char *const names[] = {"momentum", "velocity", NULL};
    static const char *const ams_names[] = {"momentum", "velocity", "velocity_hat", NULL};
    return ((const struct adam_args *)args)->amsgrad ? ams_names : names;
}

static void adam_update(const leati_update *update) {
    const struct adam_args *args = update->args;
    const leati_optimizer_moments moments = {args->beta_1, args->beta_2, args->epsilon,
                                             args->amsgrad};
    leati_optimizer_step_adam(update, update->learning_rate, &moments);
}

leat_optimizer *leat_optimizer_adam(const leat_optimizer_adam_options *options, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_optimizer_adam_options o = {LEAT_OPTIMIZER_ADAM_DEFAULTS};
    struct leati_optimizer_args shared;
    if (LEATI_OPTIONS(leat_optimizer_adam_options, &o, options, err) != LEAT_OK ||
        leati_optimizer_read_shared(o.learning_rate, o.common, &shared, err) != LEAT_OK)
        return NULL;
    const struct adam_args args = {.shared = shared,
                                   .beta_1 = o.beta_1,
                                   .beta_2 = o.beta_2,
                                   .epsilon = o.epsilon,
                                   .amsgrad = o.amsgrad};
    return leati_optimizer_new(&leati_optimizer_adam, &args, err);
}

static leat_value norm(leat_value x) {
    return leat_op_sqrt(leat_op_reduce_sum(leat_op_square(x), NULL, 0, false));
}

/* You et al., "Large Batch Optimization for Deep Learning". */
static void lamb_update(const leati_update *update) {
    const struct adam_args *args = update->args;
    leat_value g = update->gradient, one = leati_loss_number_like(g, 1);
    leat_value m = leati_optimizer_slot_toward(update, 0, g, args->beta_1);
    leat_value v =
        leati_optimizer_slot_toward(update, 1, leati_optimizer_square(update), args->beta_2);
    /* Bias corrections of the moments; the slots keep what is not corrected. */
    m = leat_op_divide(m,
                       leat_op_subtract(one, leati_optimizer_power_of_step(update, args->beta_1)));
    v = leat_op_divide(v,
                       leat_op_subtract(one, leati_optimizer_power_of_step(update, args->beta_2)));
    leat_value divisor = leat_op_add(leat_op_sqrt(v), leati_loss_number_like(g, args->epsilon));
    leat_value change = leat_op_divide(m, divisor), none = leati_loss_number_like(g, 0);
    leat_value own = norm(leat_graph_read(update->graph, update->variable)), step = norm(change);
    /* A variable or a change that is all 0 has no size to take: the step is Adam's then. */
    leat_value both = leat_op_logical_and(leat_op_greater(own, none), leat_op_greater(step, none));
    /* Divided without NaN, because both branches of a select are computed. */
    leat_value ratio = leat_op_select(both, leat_op_divide_no_nan(own, step), one);
    leati_optimizer_step_back(
        update, leat_op_multiply(leat_op_multiply(ratio, update->learning_rate), change));
}

/* 1 - 0.96^(step + ahead) / 2. */
static leat_value factor_of(const leati_update *update, int ahead) {
    leati_update then = *update;
    /* Step t + 1 is needed at step t: Nesterov's look ahead takes the next step's momentum. */
    then.step = leat_op_add(update->step, leati_support_number(update->graph, LEAT_INT64, ahead));
    leat_value power = leati_optimizer_power_of_step(&then, 0.96);
    return leat_op_subtract(leati_loss_number_like(power, 1), leati_support_times(power, 0.5));
}

/* The product takes this step's momentum in. It has the dtype of the first variable. */
static void nadam_begin(const leati_update *update) {
    const struct adam_args *args = update->args;
    leat_value product = leat_graph_read(update->graph, update->common);
    leat_graph_assign(
        update->graph, update->common,
        leat_op_multiply(leati_support_times(product, args->beta_1), factor_of(update, 0)));
}

/* Dozat, "Incorporating Nesterov Momentum into Adam". */
static void nadam_update(const leati_update *update) {
    const struct adam_args *args = update->args;
    leat_value g = update->gradient, one = leati_loss_number_like(g, 1);
    leat_value now = leati_support_times(factor_of(update, 0), args->beta_1);
    leat_value next = leati_support_times(factor_of(update, 1), args->beta_1);
    /* Moved on by nadam_begin already, so it has this step's momentum in it. */
    leat_value product = leat_graph_read(update->graph, update->common);
    /* The variables share one scalar, of the first one's dtype; another's must be cast. */
    if (leat_value_dtype(product) != leat_value_dtype(g))
        product = leat_op_cast(product, leat_value_dtype(g));
    leat_value m =
        leati_optimizer_slot_toward(update, 0, g, leati_optimizer_rounded(update, args->beta_1));
    leat_value v = leati_optimizer_slot_toward(update, 1, leati_optimizer_square(update),
                                               leati_optimizer_rounded(update, args->beta_2));
    /* The mean gradient under the next step's momentum, corrected by the product as it will then
     * be. */
    leat_value ahead = leat_op_divide(leat_op_multiply(next, m),
                                      leat_op_subtract(one, leat_op_multiply(product, next)));
    /* The gradient's own part under this step's. */
    leat_value own = leat_op_divide(leat_op_multiply(leat_op_subtract(one, now), g),
                                    leat_op_subtract(one, product));
    leat_value second = leat_op_divide(
        v, leat_op_subtract(one, leati_optimizer_power_of_step(update, args->beta_2)));
    leat_value divisor =
        leat_op_add(leat_op_sqrt(second), leati_loss_number_like(g, args->epsilon));
    leat_value change = leat_op_multiply(leat_op_add(ahead, own), update->learning_rate);
    leati_optimizer_step_back(update, leat_op_divide(change, divisor));
}

/* The descriptor of one optimizer; SIGNATURE is what stands before the shared arguments. */
#define ADAM(ID, CLASS, DOC, ROWS, SIGNATURE, BEGIN, UPDATE)                                       \
    const leati_optimizer_kind leati_optimizer_##ID = {                                            \
        .kind =                                                                                    \
            {                                                                                      \
                .name = CLASS,                                                                     \
                .doc = DOC " (keras.optimizers." CLASS ").",                                       \
                .rows = ROWS,                                                                      \
                .signature = "learning_rate " SIGNATURE,                                           \
                .args_size = sizeof(struct adam_args),                                             \
                .check = adam_check,                                                               \
            },                                                                                     \
        .slots = adam_slots,                                                                       \
        .begin = BEGIN,                                                                            \
        .update = UPDATE,                                                                          \
    };
ADAM(adam, "Adam", "Steps scaled by running moments of the gradients", adam_rows,
     "beta_1 beta_2 epsilon amsgrad " LEATI_OPTIMIZER_SIGNATURE, NULL, adam_update)
ADAM(adamw, "AdamW", "Adam that takes a part of each variable away", adamw_rows,
     "weight_decay beta_1 beta_2 epsilon amsgrad " LEATI_OPTIMIZER_SIGNATURE_REST, NULL,
     adam_update)
ADAM(lamb, "Lamb", "Adam whose steps have the size of the variable they change", moment_rows,
     "beta_1 beta_2 epsilon " LEATI_OPTIMIZER_SIGNATURE, NULL, lamb_update)
ADAM(nadam, "Nadam", "Adam whose momentum looks a step ahead", moment_rows,
     "beta_1 beta_2 epsilon " LEATI_OPTIMIZER_SIGNATURE, nadam_begin, nadam_update)
