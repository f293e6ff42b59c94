/* BinaryCrossentropy: minus the logarithm of the probability of each label 0 or 1, the mean of a
 * row (keras.losses.BinaryCrossentropy).
 *
 * As Keras on TensorFlow: the logits behind a sigmoid are used in its place; other probabilities
 * are clipped to [1e-7, 1 - 1e-7]. Failures are the graph's. No state, no locks. */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/support/crossentropy.h"

struct binary_args {
    struct leati_loss_args shared;
    bool from_logits;
    double label_smoothing;
    int64_t axis;
};

static const leati_row binary_rows[] = {
    LEATI_FROM_LOGITS_ROW(struct binary_args),
    LEATI_SMOOTHING_ROW(struct binary_args, "Part of the labels that becomes one half, 0 to 1."),
    LEATI_AXIS_ROW(struct binary_args, "The dimension over which the mean is taken."),
    LEATI_LOSS_ROWS,
    {0},
};

static leat_status binary_check(const void *arguments, leat_error *err) {
    const struct binary_args *args = arguments;
    LEATI_TRY(leati_crossentropy_smoothing_check(args->label_smoothing, err));
    return leati_loss_check(arguments, err);
}

static leat_value binary_call(const void *arguments, leat_value labels, leat_value predictions,
                              leat_value *mask) {
    const struct binary_args *args = arguments;
    (void)mask;
    leat_value logits = leati_loss_input_of(predictions, &leati_tensor_op_sigmoid);
    bool behind = logits.id >= 0 || args->from_logits;
    if (logits.id < 0)
        logits = predictions;
    leat_value used = behind ? logits : predictions;
    if (!leati_loss_align(&labels, &used))
        return leati_loss_failed_value(predictions);
    labels = leati_crossentropy_smooth_bits(labels, args->label_smoothing);
    return leati_crossentropy_mean_along(
        behind ? leati_crossentropy_bits_of_logits(labels, used)
               : leati_crossentropy_bits_of_probabilities(labels, used),
        args->axis);
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
