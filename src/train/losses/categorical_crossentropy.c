/* CategoricalCrossentropy: minus the sum of label * log(probability) of a row of classes
 * (keras.losses.CategoricalCrossentropy).
 *
 * As Keras on TensorFlow: the logits behind a softmax are used in its place; other probabilities
 * are scaled to the sum 1 and clipped to [1e-7, 1 - 1e-7]. The gradient of logits is that of
 * TensorFlow's operation, probability - label, whatever the labels sum to. Failures are the
 * graph's. No state, no locks. */
#include "base/error.h"
#include "graph/ops/support.h"
#include "train/plain_loss.h"

struct categorical_args {
    struct leati_loss_args shared;
    bool from_logits;
    double label_smoothing;
    int64_t axis;
};

static const leati_row categorical_rows[] = {
    {.name = "from_logits",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct categorical_args, from_logits),
     .doc = "Whether predictions are logits, not probabilities."},
    {.name = "label_smoothing",
     .type = LEATI_ROW_FLOAT,
     .offset = offsetof(struct categorical_args, label_smoothing),
     .doc = "Part of the labels that is spread over all classes, from 0 to 1."},
    {.name = "axis",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct categorical_args, axis),
     .default_number = -1,
     .minimum = -1,
     .maximum = -1,
     .doc = "The dimension of the classes: the last one."},
    LEATI_LOSS_ROWS,
    {0},
};

static leat_status categorical_check(const void *arguments, leat_error *err) {
    const struct categorical_args *args = arguments;
    if (!(args->label_smoothing >= 0 && args->label_smoothing <= 1))
        return leati_fail(err, LEAT_INVALID_ARGUMENT, "label_smoothing is %g; expected 0 to 1",
                          args->label_smoothing);
    return leati_loss_check(arguments, err);
}

static const int64_t last[1] = {-1};

static leat_value minus_sum(leat_value labels, leat_value logarithms) {
    return leat_negate(leat_reduce_sum(leat_multiply(labels, logarithms), last, 1, false));
}

/* The value of the loss; the rest is 0 but for its gradient, which turns probability * sum(label) -
 * label into probability - label. */
static leat_value of_logits(leat_value labels, leat_value logits) {
    leat_value loss = minus_sum(labels, leat_log_softmax(logits));
    leat_value one = leati_number_like(logits, 1);
    leat_value missing = leat_subtract(one, leat_reduce_sum(labels, last, 1, true));
    leat_value slope = leat_stop_gradient(leat_multiply(leat_softmax(logits), missing));
    leat_value rest = leat_multiply(slope, leat_subtract(logits, leat_stop_gradient(logits)));
    return leat_add(loss, leat_reduce_sum(rest, last, 1, false));
}

static leat_value of_probabilities(leat_value labels, leat_value probabilities) {
    leat_value sum = leat_reduce_sum(probabilities, last, 1, true);
    leat_value scaled = leat_divide(probabilities, sum);
    return minus_sum(labels, leat_log(leati_clip_probability(scaled)));
}

static leat_value categorical_call(const void *arguments, leat_value labels, leat_value predictions,
                                   leat_value *mask) {
    const struct categorical_args *args = arguments;
    (void)mask;
    leat_value logits = leati_logits_behind(predictions);
    if (logits.id < 0 && args->from_logits)
        logits = predictions;
    if (!leati_loss_align(&labels, &predictions))
        return leati_failed_value(predictions);
    if (args->label_smoothing > 0) {
        leat_shape shape = leat_value_shape(predictions);
        if (shape.rank < 1 || shape.dims[shape.rank - 1] < 1)
            return leati_build_error(predictions.graph, LEAT_INVALID_ARGUMENT,
                                     "the number of classes is unknown");
        double spread = args->label_smoothing / (double)shape.dims[shape.rank - 1];
        labels = leat_add(leati_times(labels, 1 - args->label_smoothing),
                          leati_number_like(labels, spread));
    }
    return logits.id >= 0 ? of_logits(labels, logits) : of_probabilities(labels, predictions);
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
