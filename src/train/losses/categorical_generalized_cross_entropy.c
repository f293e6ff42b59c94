/* CategoricalGeneralizedCrossEntropy: (1 - p^q) / q of the probability p of each row's label,
 * between cross-entropy (q towards 0) and absolute difference (q towards 1)
 * (keras.losses.CategoricalGeneralizedCrossEntropy). Rows of labels out of range have p = 0.
 * Failures: q outside of (0, 1), and the graph's. No state, no locks. */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/support/crossentropy.h"

struct generalized_args {
    struct leati_loss_args shared;
    double q;
};

static const leati_row generalized_rows[] = {
    {.name = "q",
     .type = LEATI_ROW_FLOAT,
     .offset = offsetof(struct generalized_args, q),
     .default_number = 0.5,
     .doc = "Between 0 and 1: how little wrong labels count."},
    LEATI_LOSS_ROWS,
    {0},
};

static leat_status generalized_check(const void *arguments, leat_error *err) {
    const struct generalized_args *args = arguments;
    if (!(args->q > 0 && args->q < 1))
        return leati_refuse(err, VALUE, "q must be in the interval (0, 1); it is %g", args->q);
    return leati_loss_check(arguments, err);
}

static leat_value generalized_call(const void *arguments, leat_value labels, leat_value predictions,
                                   leat_value *mask) {
    const struct generalized_args *args = arguments;
    (void)mask;
    if (leati_support_value_failed(labels) || leati_support_value_failed(predictions))
        return leati_loss_failed_value(predictions);
    leat_shape shape = leat_value_shape(predictions);
    if (shape.rank < 1 || shape.dims[shape.rank - 1] < 1)
        return leati_support_build_error(predictions.graph, LEAT_REASON_SHAPE,
                                         "the number of classes is unknown");
    labels = leati_crossentropy_class_numbers(labels, predictions);
    leat_value chosen =
        leat_op_one_hot(labels, shape.dims[shape.rank - 1], leat_value_dtype(predictions));
    const int64_t last = -1;
    leat_value p = leat_op_reduce_sum(leat_op_multiply(predictions, chosen), &last, 1, false);
    leat_value power = leat_op_pow(p, leati_loss_number_like(p, args->q));
    return leat_op_divide(leat_op_subtract(leati_loss_number_like(p, 1), power),
                          leati_loss_number_like(p, args->q));
}

const leati_loss_kind leati_loss_categorical_generalized_cross_entropy = {
    .kind =
        {
            .name = "CategoricalGeneralizedCrossEntropy",
            .doc = "A cross-entropy that wrong labels disturb less "
                   "(keras.losses.CategoricalGeneralizedCrossEntropy).",
            .rows = generalized_rows,
            .signature = "q reduction name=\"categorical_generalized_cross_entropy\" dtype",
            .args_size = sizeof(struct generalized_args),
            .check = generalized_check,
        },
    .labels = LEATI_CLASS_LABELS,
    .call = generalized_call,
};
