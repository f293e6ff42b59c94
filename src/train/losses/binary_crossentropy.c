/* BinaryCrossentropy: minus the logarithm of the probability of each label 0 or 1, the mean of a
 * row (keras.losses.BinaryCrossentropy).
 *
 * As Keras on TensorFlow: the logits behind a sigmoid are used in its place; other probabilities
 * are clipped to [1e-7, 1 - 1e-7]. Failures are the graph's. No state, no locks. */
#include "base/error.h"
#include "graph/ops/support.h"
#include "train/plain_loss.h"

struct binary_args {
    struct leati_loss_args shared;
    bool from_logits;
    double label_smoothing;
    int64_t axis;
};

static const leati_row binary_rows[] = {
    {.name = "from_logits",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct binary_args, from_logits),
     .doc = "Whether predictions are logits, not probabilities."},
    {.name = "label_smoothing",
     .type = LEATI_ROW_FLOAT,
     .offset = offsetof(struct binary_args, label_smoothing),
     .doc = "Part of the labels that becomes one half, from 0 to 1."},
    {.name = "axis",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct binary_args, axis),
     .default_number = -1,
     .minimum = -1,
     .maximum = -1,
     .doc = "The dimension over which the mean is taken: the last one."},
    LEATI_LOSS_ROWS,
    {0},
};

static leat_status binary_check(const void *arguments, leat_error *err) {
    const struct binary_args *args = arguments;
    if (!(args->label_smoothing >= 0 && args->label_smoothing <= 1))
        return leati_fail(err, LEAT_INVALID_ARGUMENT, "label_smoothing is %g; expected 0 to 1",
                          args->label_smoothing);
    return leati_loss_check(arguments, err);
}

/* max(x, 0) - x * label + log(1 + exp(-|x|)), where the branch at 0 decides the gradient. */
static leat_value of_logits(leat_value labels, leat_value x) {
    leat_value zero = leat_zeros_like(x), positive = leat_greater_equal(x, zero);
    leat_value high = leat_select(positive, x, zero);
    leat_value negative = leat_select(positive, leat_negate(x), x);
    leat_value line = leat_subtract(high, leat_multiply(x, labels));
    return leat_add(line, leat_log1p(leat_exp(negative)));
}

static leat_value of_probabilities(leat_value labels, leat_value probabilities) {
    leat_value p = leati_clip_probability(probabilities), one = leati_number_like(p, 1);
    leat_value is_one = leat_multiply(labels, leat_log(p));
    leat_value is_zero = leat_multiply(leat_subtract(one, labels), leat_log(leat_subtract(one, p)));
    return leat_negate(leat_add(is_one, is_zero));
}

static leat_value binary_call(const void *arguments, leat_value labels, leat_value predictions,
                              leat_value *mask) {
    const struct binary_args *args = arguments;
    (void)mask;
    leat_value logits = leati_input_of(predictions, &leati_tensor_op_sigmoid);
    bool behind = logits.id >= 0 || args->from_logits;
    if (logits.id < 0)
        logits = predictions;
    leat_value used = behind ? logits : predictions;
    if (!leati_loss_align(&labels, &used))
        return leati_failed_value(predictions);
    if (args->label_smoothing > 0)
        labels = leat_add(leati_times(labels, 1 - args->label_smoothing),
                          leati_number_like(labels, 0.5 * args->label_smoothing));
    return leati_mean_of_last(behind ? of_logits(labels, used) : of_probabilities(labels, used));
}

const leati_loss_kind leati_loss_binary_crossentropy = {
    .kind =
        {
            .name = "BinaryCrossentropy",
            .doc = "Minus the logarithm of the probability of labels 0 and 1 "
                   "(keras.losses.BinaryCrossentropy).",
            .rows = binary_rows,
            .signature = "from_logits label_smoothing axis reduction "
                         "name=\"binary_crossentropy\" dtype",
            .args_size = sizeof(struct binary_args),
            .check = binary_check,
        },
    .call = binary_call,
};
