/* What the losses of labels 0 and 1, or of one label among many, share: label smoothing, the
 * logarithms, the way from numbers of classes to rows. Failures are the graph's. No state, no
 * locks. */
#include "train/support/crossentropy.h"
#include "base/error.h"
#include "graph/support/support.h"

leat_status leati_crossentropy_smoothing_check(double smoothing, leat_error *err) {
    if (smoothing >= 0 && smoothing <= 1)
        return LEAT_OK;
    return leati_refuse(err, VALUE, "label_smoothing is %g; expected 0 to 1", smoothing);
}

leat_value leati_crossentropy_smooth_bits(leat_value labels, double smoothing) {
    if (!(smoothing > 0))
        return labels;
    return leat_op_add(leati_support_times(labels, 1 - smoothing),
                       leati_loss_number_like(labels, 0.5 * smoothing));
}

leat_value leati_crossentropy_smooth_classes(leat_value labels, double smoothing) {
    leat_shape shape = leat_value_shape(labels);
    if (!(smoothing > 0) || leati_support_value_failed(labels))
        return labels;
    if (shape.rank < 1 || shape.dims[shape.rank - 1] < 1)
        return leati_support_build_error(labels.graph, LEAT_REASON_SHAPE,
                                         "the number of classes is unknown");
    double spread = smoothing / (double)shape.dims[shape.rank - 1];
    return leat_op_add(leati_support_times(labels, 1 - smoothing),
                       leati_loss_number_like(labels, spread));
}

/* max(x, 0) - x * label + log(1 + exp(-|x|)), where the branch at 0 decides the gradient. */
leat_value leati_crossentropy_bits_of_logits(leat_value labels, leat_value x) {
    leat_value zero = leat_op_zeros_like(x), positive = leat_op_greater_equal(x, zero);
    leat_value high = leat_op_select(positive, x, zero);
    leat_value negative = leat_op_select(positive, leat_op_negate(x), x);
    leat_value line = leat_op_subtract(high, leat_op_multiply(x, labels));
    return leat_op_add(line, leat_op_log1p(leat_op_exp(negative)));
}

leat_value leati_crossentropy_bits_of_probabilities(leat_value labels, leat_value probabilities) {
    leat_value p = leati_loss_clip_probability(probabilities), one = leati_loss_number_like(p, 1);
    leat_value is_one = leat_op_multiply(labels, leat_op_log(p));
    leat_value is_zero =
        leat_op_multiply(leat_op_subtract(one, labels), leat_op_log(leat_op_subtract(one, p)));
    return leat_op_negate(leat_op_add(is_one, is_zero));
}

leat_value leati_crossentropy_mean_along(leat_value value, int64_t axis) {
    return leat_value_shape(value).rank == 0 ? value : leat_op_reduce_mean(value, &axis, 1, false);
}

leat_value leati_crossentropy_scaled_probability(leat_value probabilities, int64_t axis) {
    leat_value sum = leat_op_reduce_sum(probabilities, &axis, 1, true);
    return leati_loss_clip_probability(leat_op_divide(probabilities, sum));
}

leat_value leati_crossentropy_class_numbers(leat_value labels, leat_value predictions) {
    leat_shape shape = leat_value_shape(labels);
    leat_dtype dtype = leat_value_dtype(labels);
    if (shape.rank > 0 && shape.rank == leat_value_shape(predictions).rank &&
        shape.dims[shape.rank - 1] == 1)
        labels = leat_op_squeeze(labels, (const int64_t[]){-1}, 1);
    return dtype == LEAT_INT32 || dtype == LEAT_INT64 ? labels : leat_op_cast(labels, LEAT_INT64);
}
