/* SGD: variable -= learning_rate * gradient; with momentum, along a velocity, with Nesterov's rule
 * looking ahead along it (keras.optimizers.SGD). Failures: a momentum outside [0, 1]. No state, no
 * locks. */
#include "base/error.h"
#include "base/options.h"
#include "graph/support/support.h"
#include "train/frame/optimizer.h"

struct sgd_args {
    struct leati_optimizer_args shared;
    double momentum;
    bool nesterov;
};

static const leati_row sgd_rows[] = {
    LEATI_OPTIMIZER_ROW(learning_rate, FLOAT, .default_number = 0.01, .doc = "Size of a step."),
    LEATI_OPTIMIZER_OWN_ROW(sgd_args, momentum, FLOAT,
                            .doc = "Part of the velocity that a step keeps; 0: no velocity."),
    LEATI_OPTIMIZER_OWN_ROW(sgd_args, nesterov, BOOL,
                            .doc = "Whether steps look ahead along the velocity."),
    LEATI_OPTIMIZER_ROWS,
    {0},
};

static leat_status sgd_check(const void *arguments, leat_error *err) {
    const struct sgd_args *args = arguments;
    if (!(args->momentum >= 0 && args->momentum <= 1))
        return leati_refuse(err, VALUE,
                            "`momentum` must be a float between [0, 1]. Received: momentum=%g",
                            args->momentum);
    return leati_optimizer_check(arguments, err);
}

static const char *const *sgd_slots(const void *args) {
    static const char *const names[] = {"momentum", NULL};
    /* An optimizer without momentum keeps nothing: the list from its end on is empty. */
    return ((const struct sgd_args *)args)->momentum != 0 ? names : names + 1;
}

/* The same from elementary operations, each of which rounds: no kernel takes halves. */
static void step_halves(const leati_update *update) {
    const struct sgd_args *args = update->args;
    leat_value step = leat_op_multiply(update->gradient, update->learning_rate);
    if (args->momentum != 0) {
        leat_value old = leat_graph_read(update->graph, update->slots[0]);
        leat_value kept = leat_op_subtract(leati_support_times(old, args->momentum), step);
        leat_graph_assign(update->graph, update->slots[0], kept);
        step = args->nesterov ? leat_op_subtract(step, leati_support_times(kept, args->momentum))
                              : leat_op_negate(kept);
    }
    leati_optimizer_step_back(update, step);
}

static void sgd_update(const leati_update *update) {
    const struct sgd_args *args = update->args;
    leat_dtype dtype = leat_variable_dtype(update->variable);
    if (dtype == LEAT_FLOAT16 || dtype == LEAT_BFLOAT16)
        step_halves(update);
    else if (args->momentum != 0)
        /* Keras' velocity has the rate in it, unlike TensorFlow's ApplyMomentum. */
        leat_op_apply_keras_momentum(update->variable, update->slots[0], update->gradient,
                                     update->learning_rate, args->momentum, args->nesterov);
    else
        leat_op_apply_gradient_descent(update->variable, update->gradient, update->learning_rate);
}

leat_optimizer *leat_optimizer_sgd(const leat_optimizer_sgd_options *options, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_optimizer_sgd_options o = {LEAT_OPTIMIZER_SGD_DEFAULTS};
    struct leati_optimizer_args shared;
    if (LEATI_OPTIONS(leat_optimizer_sgd_options, &o, options, err) != LEAT_OK ||
        leati_optimizer_read_shared(o.learning_rate, o.common, &shared, err) != LEAT_OK)
        return NULL;
    const struct sgd_args args = {.shared = shared, .momentum = o.momentum, .nesterov = o.nesterov};
    return leati_optimizer_new(&leati_optimizer_sgd, &args, err);
}

const leati_optimizer_kind leati_optimizer_sgd = {
    .kind =
        {
            .name = "SGD",
            .doc = "Gradient descent, with momentum if asked (keras.optimizers.SGD).",
            .rows = sgd_rows,
            .signature = "learning_rate momentum nesterov " LEATI_OPTIMIZER_SIGNATURE,
            .args_size = sizeof(struct sgd_args),
            .check = sgd_check,
        },
    .slots = sgd_slots,
    .update = sgd_update,
};
