/* Losses that compare predictions with labels place by place and take the mean of a row:
 * MeanAbsoluteError, MeanAbsolutePercentageError, MeanSquaredError, MeanSquaredLogarithmicError,
 * Poisson, LogCosh, Huber, Hinge, SquaredHinge; of a row, KLDivergence takes the sum and
 * CategoricalHinge the difference between its best wrong and its right class
 * (keras.losses.MeanAbsoluteError and its like). Failures are the graph's. No state, no locks. */
#include "graph/support/support.h"
#include "train/frame/loss.h"

static const int64_t last[1] = {-1};

static leat_value mean_absolute_error(leat_value labels, leat_value predictions) {
    return leati_loss_mean_of_last(leat_op_abs(leat_op_subtract(predictions, labels)));
}

/* Labels are at least 1e-7. */
static leat_value mean_absolute_percentage_error(leat_value labels, leat_value predictions) {
    leat_value divisor = leat_op_maximum(leat_op_abs(labels), leati_loss_number_like(labels, 1e-7));
    leat_value part = leat_op_abs(leat_op_divide(leat_op_subtract(labels, predictions), divisor));
    return leati_support_times(leati_loss_mean_of_last(part), 100);
}

static leat_value mean_squared_error(leat_value labels, leat_value predictions) {
    return leati_loss_mean_of_last(leat_op_square(leat_op_subtract(predictions, labels)));
}

/* The difference of log(x + 1), x at least 1e-7. */
static leat_value mean_squared_logarithmic_error(leat_value labels, leat_value predictions) {
    leat_value least = leati_loss_number_like(predictions, 1e-7),
               one = leati_loss_number_like(predictions, 1);
    leat_value a = leat_op_log(leat_op_add(leat_op_maximum(predictions, least), one));
    leat_value b = leat_op_log(leat_op_add(leat_op_maximum(labels, least), one));
    return leati_loss_mean_of_last(leat_op_square(leat_op_subtract(a, b)));
}

/* prediction - label * log(prediction + 1e-7). */
static leat_value poisson(leat_value labels, leat_value predictions) {
    leat_value safe = leat_op_add(predictions, leati_loss_number_like(predictions, 1e-7));
    leat_value part = leat_op_multiply(labels, leat_op_log(safe));
    return leati_loss_mean_of_last(leat_op_subtract(predictions, part));
}

/* log(cosh(prediction - label)). */
static leat_value log_cosh(leat_value labels, leat_value predictions) {
    leat_value x = leat_op_subtract(predictions, labels);
    /* x + softplus(-2x) - log 2 equals log(cosh(x)) without an exp that overflows. */
    leat_value soft = leat_op_softplus(leati_support_times(x, -2));
    /* The constant is log 2. */
    leat_value part =
        leat_op_subtract(leat_op_add(x, soft), leati_loss_number_like(x, 0.69314718055994531));
    return leati_loss_mean_of_last(part);
}

/* label * log(label / prediction), both between 1e-7 and 1. */
static leat_value kl_divergence(leat_value labels, leat_value predictions) {
    leat_value low = leati_loss_number_like(predictions, 1e-7),
               high = leati_loss_number_like(predictions, 1);
    labels = leat_op_minimum(leat_op_maximum(labels, low), high);
    predictions = leat_op_minimum(leat_op_maximum(predictions, low), high);
    leat_value ratio = leat_op_log(leat_op_divide(labels, predictions));
    return leat_op_reduce_sum(leat_op_multiply(labels, ratio), last, 1, false);
}

/* max(1 - label * prediction, 0), labels 0 and 1 standing for -1 and 1. */
static leat_value distances(leat_value labels, leat_value predictions) {
    leat_value one = leati_loss_number_like(predictions, 1);
    leat_value signs = leati_loss_signed_labels(labels);
    leat_value distance = leat_op_subtract(one, leat_op_multiply(signs, predictions));
    return leat_op_maximum(distance, leati_loss_number_like(predictions, 0));
}

static leat_value hinge(leat_value labels, leat_value predictions) {
    return leati_loss_mean_of_last(distances(labels, predictions));
}

static leat_value squared_hinge(leat_value labels, leat_value predictions) {
    return leati_loss_mean_of_last(leat_op_square(distances(labels, predictions)));
}

static leat_value categorical_hinge(leat_value labels, leat_value predictions) {
    leat_value one = leati_loss_number_like(predictions, 1);
    leat_value right = leat_op_reduce_sum(leat_op_multiply(labels, predictions), last, 1, false);
    /* The right class becomes 0 here, so a best wrong class below 0 counts as 0, as in Keras. */
    leat_value others = leat_op_multiply(leat_op_subtract(one, labels), predictions);
    leat_value wrong = leat_op_reduce_max(others, last, 1, false);
    leat_value over = leat_op_add(leat_op_subtract(wrong, right), one);
    return leat_op_maximum(over, leati_loss_number_like(over, 0));
}

struct huber_args {
    struct leati_loss_args shared;
    double delta;
};

static const leati_row huber_rows[] = {
    {.name = "delta",
     .type = LEATI_ROW_FLOAT,
     .offset = offsetof(struct huber_args, delta),
     .default_number = 1,
     .doc = "The difference from which on the loss grows in proportion to it."},
    LEATI_LOSS_ROWS,
    {0},
};

/* Half the squared difference up to `delta`, beyond it a straight line. */
static leat_value huber_call(const void *arguments, leat_value labels, leat_value predictions,
                             leat_value *mask) {
    const struct huber_args *args = arguments;
    (void)mask;
    if (!leati_loss_align(&labels, &predictions))
        return leati_loss_failed_value(predictions);
    leat_value error = leat_op_subtract(predictions, labels), size = leat_op_abs(error);
    leat_value delta = leati_loss_number_like(error, args->delta);
    leat_value square = leati_support_times(leat_op_square(error), 0.5);
    leat_value line =
        leat_op_subtract(leati_support_times(size, args->delta),
                         leati_loss_number_like(error, 0.5 * args->delta * args->delta));
    /* Both are computed; at `delta` they meet with one slope. */
    return leati_loss_mean_of_last(leat_op_select(leat_op_less_equal(size, delta), square, line));
}

const leati_loss_kind leati_loss_huber = {
    .kind =
        {
            .name = "Huber",
            .doc = "Squared small and absolute large differences (keras.losses.Huber).",
            .rows = huber_rows,
            .signature = "delta reduction name=\"huber_loss\" dtype",
            .config = "delta?",
            .args_size = sizeof(struct huber_args),
            .check = leati_loss_check,
        },
    .call = huber_call,
};

static const leati_row plain_rows[] = {LEATI_LOSS_ROWS, {0}};

/* The descriptor of a loss whose values are ID(labels, predictions). */
#define POINTWISE(ID, CLASS, DOC)                                                                  \
    static leat_value ID##_call(const void *args, leat_value labels, leat_value predictions,       \
                                leat_value *mask) {                                                \
        (void)args;                                                                                \
        (void)mask;                                                                                \
        return leati_loss_align(&labels, &predictions) ? ID(labels, predictions)                   \
                                                       : leati_loss_failed_value(predictions);     \
    }                                                                                              \
    const leati_loss_kind leati_loss_##ID = {                                                      \
        .kind =                                                                                    \
            {                                                                                      \
                .name = CLASS,                                                                     \
                .doc = DOC " (keras.losses." CLASS ").",                                           \
                .rows = plain_rows,                                                                \
                .signature = "reduction name=\"" #ID "\" dtype",                                   \
                .args_size = sizeof(struct leati_loss_args),                                       \
                .check = leati_loss_check,                                                         \
            },                                                                                     \
        .call = ID##_call,                                                                         \
    };
POINTWISE(mean_absolute_error, "MeanAbsoluteError", "The mean absolute difference")
POINTWISE(mean_absolute_percentage_error, "MeanAbsolutePercentageError",
          "The mean absolute difference in percent of the label")
POINTWISE(mean_squared_error, "MeanSquaredError", "The mean squared difference")
POINTWISE(mean_squared_logarithmic_error, "MeanSquaredLogarithmicError",
          "The mean squared difference of logarithms")
POINTWISE(poisson, "Poisson", "The mean of prediction - label * log(prediction)")
POINTWISE(log_cosh, "LogCosh", "The mean logarithm of the hyperbolic cosine of the difference")
POINTWISE(kl_divergence, "KLDivergence", "The divergence of distributions")
POINTWISE(hinge, "Hinge", "The mean of max(1 - label * prediction, 0)")
POINTWISE(squared_hinge, "SquaredHinge", "The mean of max(1 - label * prediction, 0) squared")
POINTWISE(categorical_hinge, "CategoricalHinge",
          "How far the best wrong class comes near the right one")
