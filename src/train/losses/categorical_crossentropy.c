/* CategoricalCrossentropy: minus the sum of label * log(probability) of a row of classes
 * (keras.losses.CategoricalCrossentropy).
 *
 * As Keras on TensorFlow: the logits behind a softmax are used in its place; other probabilities
 * are scaled to the sum 1 and clipped to [1e-7, 1 - 1e-7]. The gradient of logits is that of
 * TensorFlow's operation, probability - label, whatever the labels sum to. Failures are the
 * graph's. No state, no locks. */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/support/crossentropy.h"

struct categorical_args {
    struct leati_loss_args shared;
    bool from_logits;
    double label_smoothing;
    int64_t axis;
};

static const leati_row categorical_rows[] = {
    LEATI_FROM_LOGITS_ROW(struct categorical_args),
    LEATI_SMOOTHING_ROW(struct categorical_args,
                        "Part of the labels that is spread over all classes, 0 to 1."),
    LEATI_AXIS_ROW(struct categorical_args, "The dimension of the classes."),
    LEATI_LOSS_ROWS,
    {0},
};

static leat_status categorical_check(const void *arguments, leat_error *err) {
    const struct categorical_args *args = arguments;
    LEATI_TRY(leati_crossentropy_smoothing_check(args->label_smoothing, err));
    return leati_loss_check(arguments, err);
}

static const int64_t last[1] = {-1};

static leat_value minus_sum(leat_value labels, leat_value logarithms) {
    return leat_op_negate(leat_op_reduce_sum(leat_op_multiply(labels, logarithms), last, 1, false));
}

/* The value of the loss; the rest is 0 but for its gradient, which turns probability * sum(label) -
 * label into probability - label. */
static leat_value of_logits(leat_value labels, leat_value logits) {
    leat_value loss = minus_sum(labels, leat_op_log_softmax(logits));
    leat_value one = leati_loss_number_like(logits, 1);
    leat_value missing = leat_op_subtract(one, leat_op_reduce_sum(labels, last, 1, true));
    leat_value slope = leat_op_stop_gradient(leat_op_multiply(leat_op_softmax(logits), missing));
    leat_value rest =
        leat_op_multiply(slope, leat_op_subtract(logits, leat_op_stop_gradient(logits)));
    return leat_op_add(loss, leat_op_reduce_sum(rest, last, 1, false));
}

/* Dimension `axis` last, the others in their order; as it is where it cannot be moved. */
static leat_value to_last(leat_value x, int64_t axis) {
    leat_shape shape = leat_value_shape(x);
    int64_t order[LEAT_MAX_RANK], place = axis < 0 ? axis + shape.rank : axis;
    if (leati_support_value_failed(x) || place < 0 || place >= shape.rank - 1)
        return x;
    for (int32_t d = 0; d < shape.rank; d++)
        order[d] = d < place ? d : d == shape.rank - 1 ? place : d + 1;
    return leat_op_transpose(x, order, shape.rank);
}

static leat_value categorical_call(const void *arguments, leat_value labels, leat_value predictions,
                                   leat_value *mask) {
    const struct categorical_args *args = arguments;
    (void)mask;
    if (!leati_loss_align(&labels, &predictions))
        return leati_loss_failed_value(predictions);
    int32_t rank = leat_value_shape(predictions).rank;
    bool is_last = args->axis == -1 || args->axis == rank - 1;
    leat_value logits =
        is_last ? leati_loss_logits_behind(predictions) : leati_loss_failed_value(predictions);
    labels = to_last(leati_crossentropy_smooth_classes(labels, args->label_smoothing), args->axis);
    if (logits.id < 0 && args->from_logits)
        logits = to_last(predictions, args->axis);
    if (logits.id >= 0)
        return of_logits(labels, logits);
    predictions = to_last(predictions, args->axis);
    return minus_sum(labels, leat_op_log(leati_crossentropy_scaled_probability(predictions, -1)));
}

const leati_loss_kind leati_loss_categorical_crossentropy = {
    .kind =
        {
            .name = "CategoricalCrossentropy",
            .doc = "Minus the sum of label * log(probability) over the classes "
                   "(keras.losses.CategoricalCrossentropy).",
            .rows = categorical_rows,
            .signature = "from_logits label_smoothing axis reduction "
                         "name=\"categorical_crossentropy\" dtype",
            .args_size = sizeof(struct categorical_args),
            .check = categorical_check,
        },
    .call = categorical_call,
};
