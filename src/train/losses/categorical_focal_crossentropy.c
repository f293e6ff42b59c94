/* CategoricalFocalCrossentropy: the cross-entropy of classes, less of it the more probable a class
 * already is (keras.losses.CategoricalFocalCrossentropy).
 *
 * Probabilities are scaled to the sum 1 and clipped to [1e-7, 1 - 1e-7], those of logits too.
 * Failures: arguments out of their ranges, and the graph's. No state, no locks. */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/frame/layer.h"
#include "train/support/crossentropy.h"

struct categorical_focal_args {
    struct leati_loss_args shared;
    leati_floats alpha; /* none: 0.25 */
    double gamma, label_smoothing;
    bool from_logits;
    int64_t axis;
};

static const leati_row categorical_focal_rows[] = {
    {.name = "alpha",
     .type = LEATI_ROW_FLOATS,
     .offset = offsetof(struct categorical_focal_args, alpha),
     .doc = "Weight of all classes, or of each; 0.25 by default."},
    {.name = "gamma",
     .type = LEATI_ROW_FLOAT,
     .offset = offsetof(struct categorical_focal_args, gamma),
     .default_number = 2,
     .doc = "Power of what a prediction is wrong by; 0: plain cross-entropy."},
    LEATI_FROM_LOGITS_ROW(struct categorical_focal_args),
    LEATI_SMOOTHING_ROW(struct categorical_focal_args,
                        "Part of the labels that is spread over all classes, 0 to 1."),
    LEATI_AXIS_ROW(struct categorical_focal_args, "The dimension of the classes."),
    LEATI_LOSS_ROWS,
    {0},
};

static leat_status categorical_focal_check(const void *arguments, leat_error *err) {
    const struct categorical_focal_args *args = arguments;
    LEATI_TRY(leati_crossentropy_smoothing_check(args->label_smoothing, err));
    return leati_loss_check(arguments, err);
}

/* The softmax along any dimension. */
static leat_value softmax_along(leat_value x, int64_t axis) {
    leat_value most = leat_op_stop_gradient(leat_op_reduce_max(x, &axis, 1, true));
    leat_value power = leat_op_exp(leat_op_subtract(x, most));
    return leat_op_divide(power, leat_op_reduce_sum(power, &axis, 1, true));
}

static leat_value categorical_focal_call(const void *arguments, leat_value labels,
                                         leat_value predictions, leat_value *mask) {
    const struct categorical_focal_args *args = arguments;
    (void)mask;
    if (!leati_loss_align(&labels, &predictions))
        return leati_loss_failed_value(predictions);
    labels = leati_crossentropy_smooth_classes(labels, args->label_smoothing);
    if (args->from_logits)
        predictions = softmax_along(predictions, args->axis);
    leat_value p = leati_crossentropy_scaled_probability(predictions, args->axis);
    leat_value entropy = leat_op_negate(leat_op_multiply(labels, leat_op_log(p)));
    leat_value wrong = leat_op_subtract(leati_loss_number_like(p, 1), p);
    leat_value factor = leat_op_pow(wrong, leati_loss_number_like(p, args->gamma));
    leat_value weight = leati_loss_number_like(p, 0.25);
    if (args->alpha.count == 1)
        weight = leati_loss_number_like(p, args->alpha.values[0]);
    else if (args->alpha.count > 1)
        weight = leati_layer_numbers_value(p, &args->alpha);
    leat_value loss = leat_op_multiply(leat_op_multiply(factor, weight), entropy);
    return leat_op_reduce_sum(loss, &args->axis, 1, false);
}

const leati_loss_kind leati_loss_categorical_focal_crossentropy = {
    .kind =
        {
            .name = "CategoricalFocalCrossentropy",
            .doc = "Cross-entropy of classes that looks most at what is predicted worst "
                   "(keras.losses.CategoricalFocalCrossentropy).",
            .rows = categorical_focal_rows,
            .signature = "alpha=0.25 gamma from_logits label_smoothing axis reduction "
                         "name=\"categorical_focal_crossentropy\" dtype",
            .args_size = sizeof(struct categorical_focal_args),
            .check = categorical_focal_check,
        },
    .call = categorical_focal_call,
};
