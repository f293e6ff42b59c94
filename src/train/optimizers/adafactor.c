/* Adafactor: steps divided by the root of mean squared gradients, of which for matrices only the
 * means of rows and columns are kept, and scaled by the size of the variable
 * (keras.optimizers.Adafactor).
 *
 * The last two dimensions are factored. Vectors and scalars keep the whole mean, and two numbers in
 * place of the factors that are not used, as Keras does. Keras' relative_step changes nothing,
 * there or here: the rate is never above 1 / sqrt(step). Failures: arguments out of their ranges.
 * No state, no locks. */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/frame/loss.h"
#include "train/frame/optimizer.h"

enum { ROWS, COLUMNS, VELOCITY };

struct adafactor_args {
    struct leati_optimizer_args shared;
    double beta_2_decay, epsilon_1, epsilon_2, clip_threshold;
    bool relative_step;
};

#define ADAFACTOR_ROW(MEMBER, STANDARD, DOC)                                                       \
    {                                                                                              \
        .name = #MEMBER, .type = LEATI_ROW_FLOAT,                                                  \
        .offset = offsetof(struct adafactor_args, MEMBER), .default_number = STANDARD, .doc = DOC  \
    }

static const leati_row adafactor_rows[] = {
    LEATI_OPTIMIZER_ROW(learning_rate, FLOAT, .default_number = 0.001,
                        .doc = "Largest size of a step, in parts of the variable's."),
    ADAFACTOR_ROW(beta_2_decay, -0.8,
                  "Power of the step by which a step counts in the mean squared gradient."),
    ADAFACTOR_ROW(epsilon_1, 1e-30, "Added to squared gradients."),
    ADAFACTOR_ROW(epsilon_2, 1e-3, "Smallest size that a variable is taken to have."),
    ADAFACTOR_ROW(clip_threshold, 1, "Largest root mean square of an update."),
    {.name = "relative_step",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct adafactor_args, relative_step),
     .default_number = 1,
     .doc = "As in Keras, where it changes nothing."},
    LEATI_OPTIMIZER_ROWS,
    {0},
};

static leat_status adafactor_check(const void *arguments, leat_error *err) {
    const struct adafactor_args *args = arguments;
    /* It divides below. */
    if (!(args->clip_threshold > 0))
        return leati_refuse(err, VALUE, "clip_threshold is %g; expected a positive number",
                            args->clip_threshold);
    return leati_optimizer_check(arguments, err);
}

static leat_status adafactor_slots(const void *args, const leat_variable *variable,
                                   leati_weights *out, leat_error *err) {
    leat_shape shape = leat_variable_shape(variable), rows = LEAT_SCALAR, columns = LEAT_SCALAR;
    leat_dtype dtype = leat_variable_dtype(variable);
    (void)args;
    (void)err;
    if (shape.rank >= 2) {
        /* Both leave one of the last two dimensions out: rows the last one, columns the one before
         * it. */
        rows = columns = shape;
        rows.rank = columns.rank = shape.rank - 1;
        columns.dims[shape.rank - 2] = shape.dims[shape.rank - 1];
    }
    const leati_weight slots[] = {
        /* Keras makes int32 scalars in place of the factors that vectors do not use. */
        {.name = "row", .shape = rows, .dtype = shape.rank >= 2 ? dtype : LEAT_INT32},
        {.name = "column", .shape = columns, .dtype = shape.rank >= 2 ? dtype : LEAT_INT32},
        {.name = "velocity", .shape = shape, .dtype = dtype},
    };
    for (int i = 0; i < 3; i++) {
        /* Behind what leati_optimizer_slots has put there already. */
        leati_weight *slot = &out->list[out->count++];
        *slot = slots[i];
        slot->initializer = "zeros";
        slot->fixed = true;
    }
    return LEAT_OK;
}

static leat_value root_of_mean(leat_value square) {
    return leat_op_sqrt(leat_op_reduce_mean(square, NULL, 0, false));
}

/* slot = keep * slot + (1 - keep) * value. */
static leat_value keep_mean(const leati_update *update, int slot, leat_value keep,
                            leat_value value) {
    leat_value rest = leat_op_subtract(leati_loss_number_like(keep, 1), keep);
    leat_value old = leat_graph_read(update->graph, update->slots[slot]);
    leat_value mean = leat_op_add(leat_op_multiply(keep, old), leat_op_multiply(rest, value));
    leat_graph_assign(update->graph, update->slots[slot], mean);
    return mean;
}

/* The mean squared gradient that rows and columns stand for. */
static leat_value factored(const leati_update *update, leat_value keep, leat_value square) {
    const int64_t last = -1, before = -2;
    leat_value row = keep_mean(update, ROWS, keep, leat_op_reduce_mean(square, &last, 1, false));
    leat_value column =
        keep_mean(update, COLUMNS, keep, leat_op_reduce_mean(square, &before, 1, false));
    /* Over their own mean, so that the product has the mean of the squares once. */
    leat_value scaled = leat_op_divide(row, leat_op_reduce_mean(row, &last, 1, true));
    /* The matrix of rank 1 that has these means of rows and columns. */
    leat_value product =
        leat_op_multiply(leat_op_expand_dims(scaled, -1), leat_op_expand_dims(column, -2));
    /* Keras keeps the product too, although the next step does not read it. */
    leat_graph_assign(update->graph, update->slots[VELOCITY], product);
    return product;
}

static void adafactor_update(const leati_update *update) {
    const struct adafactor_args *args = update->args;
    leat_value g = update->gradient, one = leati_loss_number_like(g, 1);
    leat_value step = leat_op_cast(update->step, leat_value_dtype(g));
    /* relative_step's rule, which Keras applies whether it is set or not. */
    leat_value rate =
        leat_op_minimum(update->learning_rate, leat_op_divide(one, leat_op_sqrt(step)));
    /* Steps are in proportion to the variable, at least to epsilon_2, so that zeros move. */
    leat_value own = root_of_mean(leat_op_square(leat_graph_read(update->graph, update->variable)));
    rate = leat_op_multiply(leat_op_maximum(leati_loss_number_like(g, args->epsilon_2), own), rate);
    /* Epsilon on every square keeps the means above 0, which divide and stand under roots. */
    leat_value square =
        leat_op_add(leati_optimizer_square(update), leati_loss_number_like(g, args->epsilon_1));
    /* 1 - step^beta_2_decay is 0 at step 1: the first mean is this step's square alone. */
    leat_value keep =
        leat_op_subtract(one, leat_op_pow(step, leati_loss_number_like(g, args->beta_2_decay)));
    leat_value mean = leat_variable_shape(update->variable).rank >= 2
                          ? factored(update, keep, square)
                          : keep_mean(update, VELOCITY, keep, square);
    leat_value change = leat_op_divide(g, leat_op_sqrt(mean));
    /* Clipped only if larger than 1, that is if the root mean square is above the threshold. */
    leat_value changes = update->slices.id < 0
                             ? leat_op_square(change)
                             : leat_op_divide(leati_optimizer_square(update), mean);
    leat_value size =
        leat_op_divide(root_of_mean(changes), leati_loss_number_like(g, args->clip_threshold));
    change = leat_op_divide(change, leat_op_maximum(one, size));
    leati_optimizer_step_back(update, leat_op_multiply(rate, change));
}

const leati_optimizer_kind leati_optimizer_adafactor = {
    .kind =
        {
            .name = "Adafactor",
            .doc = "Steps by mean squared gradients of rows and columns "
                   "(keras.optimizers.Adafactor).",
            .rows = adafactor_rows,
            .signature = "learning_rate beta_2_decay epsilon_1 epsilon_2 clip_threshold "
                         "relative_step " LEATI_OPTIMIZER_SIGNATURE,
            .args_size = sizeof(struct adafactor_args),
            .check = adafactor_check,
        },
    .slots_of = adafactor_slots,
    .update = adafactor_update,
};
