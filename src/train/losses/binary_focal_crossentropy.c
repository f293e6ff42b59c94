/* BinaryFocalCrossentropy: the cross-entropy of labels 0 and 1, less of it the better a prediction
 * already is (keras.losses.BinaryFocalCrossentropy).
 *
 * As Keras on TensorFlow: the logits behind a sigmoid give the cross-entropy, the probabilities the
 * factor. Failures: arguments out of their ranges, and the graph's. No state, no locks. */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/support/crossentropy.h"

struct binary_focal_args {
    struct leati_loss_args shared;
    bool apply_class_balancing, from_logits;
    double alpha, gamma, label_smoothing;
    int64_t axis;
};

static const leati_row binary_focal_rows[] = {
    {.name = "apply_class_balancing",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct binary_focal_args, apply_class_balancing),
     .doc = "Whether the labels 1 weigh alpha and the labels 0 the rest of 1."},
    {.name = "alpha",
     .type = LEATI_ROW_FLOAT,
     .offset = offsetof(struct binary_focal_args, alpha),
     .default_number = 0.25,
     .doc = "Weight of the labels 1."},
    {.name = "gamma",
     .type = LEATI_ROW_FLOAT,
     .offset = offsetof(struct binary_focal_args, gamma),
     .default_number = 2,
     .doc = "Power of what a prediction is wrong by; 0: plain cross-entropy."},
    LEATI_FROM_LOGITS_ROW(struct binary_focal_args),
    LEATI_SMOOTHING_ROW(struct binary_focal_args,
                        "Part of the labels that becomes one half, 0 to 1."),
    LEATI_AXIS_ROW(struct binary_focal_args, "The dimension over which the mean is taken."),
    LEATI_LOSS_ROWS,
    {0},
};

static leat_status binary_focal_check(const void *arguments, leat_error *err) {
    const struct binary_focal_args *args = arguments;
    LEATI_TRY(leati_crossentropy_smoothing_check(args->label_smoothing, err));
    return leati_loss_check(arguments, err);
}

/* a * x + (1 - a) * y. */
static leat_value between(leat_value a, leat_value x, leat_value y) {
    leat_value rest = leat_op_subtract(leati_loss_number_like(a, 1), a);
    return leat_op_add(leat_op_multiply(a, x), leat_op_multiply(rest, y));
}

static leat_value binary_focal_call(const void *arguments, leat_value labels,
                                    leat_value predictions, leat_value *mask) {
    const struct binary_focal_args *args = arguments;
    (void)mask;
    if (!leati_loss_align(&labels, &predictions))
        return leati_loss_failed_value(predictions);
    leat_value logits = leati_loss_input_of(predictions, &leati_tensor_op_sigmoid);
    if (logits.id < 0 && args->from_logits)
        logits = predictions;
    if (args->from_logits)
        predictions = leat_op_sigmoid(predictions);
    labels = leati_crossentropy_smooth_bits(labels, args->label_smoothing);
    leat_value entropy = logits.id >= 0
                             ? leati_crossentropy_bits_of_logits(labels, logits)
                             : leati_crossentropy_bits_of_probabilities(labels, predictions);
    leat_value one = leati_loss_number_like(predictions, 1);
    leat_value right = between(labels, predictions, leat_op_subtract(one, predictions));
    leat_value factor =
        leat_op_pow(leat_op_subtract(one, right), leati_loss_number_like(predictions, args->gamma));
    leat_value loss = leat_op_multiply(factor, entropy);
    if (args->apply_class_balancing)
        loss = leat_op_multiply(between(labels, leati_loss_number_like(labels, args->alpha),
                                        leati_loss_number_like(labels, 1 - args->alpha)),
                                loss);
    return leati_crossentropy_mean_along(loss, args->axis);
}

const leati_loss_kind leati_loss_binary_focal_crossentropy = {
    .kind =
        {
            .name = "BinaryFocalCrossentropy",
            .doc = "Cross-entropy of labels 0 and 1 that looks most at what is predicted worst "
                   "(keras.losses.BinaryFocalCrossentropy).",
            .rows = binary_focal_rows,
            .signature = "apply_class_balancing alpha gamma from_logits label_smoothing axis "
                         "reduction name=\"binary_focal_crossentropy\" dtype",
            .args_size = sizeof(struct binary_focal_args),
            .check = binary_focal_check,
        },
    .call = binary_focal_call,
};
