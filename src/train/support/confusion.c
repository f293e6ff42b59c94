/* What metrics share that count hits and misses.
 *
 * Happy path: labels and predictions become vectors, each prediction is compared with each
 * threshold, and four products with the weights are summed. Failures are the
 * graph's. No state, no locks. */
#include "train/support/confusion.h"
#include "graph/support/support.h"
#include "train/frame/layer.h"
#include "train/frame/loss.h"
#include <math.h>

static const char *const names[LEATI_NUM_COUNTS] = {"true_positives", "false_positives",
                                                    "true_negatives", "false_negatives"};
const leati_count leati_all_counts[LEATI_NUM_COUNTS] = {
    LEATI_TRUE_POSITIVES, LEATI_FALSE_POSITIVES, LEATI_TRUE_NEGATIVES, LEATI_FALSE_NEGATIVES};

void leati_confusion_count_states(const leati_count *wanted, int count, int64_t thresholds,
                                  int64_t labels, leati_weights *out) {
    leat_shape shape = labels == 0 ? LEAT_SHAPE(thresholds) : LEAT_SHAPE(thresholds, labels);
    out->count = count;
    for (int i = 0; i < count; i++)
        out->list[i] = (leati_weight){
            .name = names[wanted[i]], .shape = shape, .initializer = "zeros", .fixed = true};
}

static leat_value flat(leat_value x) {
    return leat_op_reshape(x, (const int64_t[]){-1}, 1);
}

/* The k largest predictions of each row as they are, of equal ones the first, the others far below
 * every threshold. */
static leat_value largest(leat_value predictions, int64_t k) {
    /* The dimension of the k places, in front of the one-hot vectors'. */
    const int64_t before = -2;
    leat_shape shape = leat_value_shape(predictions);
    int64_t begin[LEAT_MAX_RANK] = {0}, size[LEAT_MAX_RANK];
    if (shape.rank < 1 || shape.dims[shape.rank - 1] < 0)
        return leati_support_build_error(predictions.graph, LEAT_REASON_SHAPE,
                                         "the number of classes is unknown; top_k needs it");
    for (int32_t d = 0; d < shape.rank; d++)
        /* All of every dimension but the last, of which the first k places in falling order are
         * taken. */
        size[d] = d == shape.rank - 1 ? k : -1;
    leat_value places = leat_op_slice(leat_op_argsort(predictions, -1, "DESCENDING", false), begin,
                                      shape.rank, size, shape.rank);
    leat_value chosen = leat_op_one_hot(
        places, shape.dims[shape.rank - 1],
        &(leat_op_one_hot_options){LEAT_OP_ONE_HOT_DEFAULTS, .dtype = LEAT_FLOAT32});
    leat_value kept = leat_op_reduce_sum(chosen, &before, 1, false);
    /* -1e10 is below -1e9, with which top_k compares where no thresholds are given. */
    return leat_op_select(leat_op_greater(kept, leati_loss_number_like(kept, 0)), predictions,
                          leati_loss_number_like(predictions, -1e10));
}

/* Place `index` of the last dimension. */
static leat_value column(leat_value x, int64_t index) {
    return leat_op_gather(x, leati_support_number(x.graph, LEAT_INT64, (double)index), -1, 0);
}

/* Do thresholds go from 0 to 1 in equal steps? */
static bool is_even(const leati_floats *thresholds) {
    int32_t last = thresholds->count - 1;
    /* Two thresholds, or one, are compared as they are: Keras finds no steps there. */
    bool even = last >= 2;
    for (int32_t i = 0; even && i <= last; i++) {
        double place = (double)i / last;
        /* numpy.allclose, by which Keras decides it; AUC's ends, -1e-7 and 1 + 1e-7, count. */
        even = fabs(thresholds->values[i] - place) <= 1.01e-7 + 1e-5 * place;
    }
    return even;
}

/* Thresholds and predictions to be compared with them. Where thresholds are even Keras finds the
 * step that a prediction lies in, which is another rounding. */
static leat_value levels_of(leat_value *predictions, const leati_floats *thresholds) {
    if (!is_even(thresholds))
        return leati_layer_numbers_value(*predictions, thresholds);
    double steps[LEATI_MOST_THRESHOLDS];
    for (int32_t i = 0; i < thresholds->count; i++)
        /* AUC's first threshold lies below 0, which even a prediction of 0 exceeds. */
        steps[i] = thresholds->values[i] < 0 ? -1 : i;
    leat_value inside = leat_op_maximum(*predictions, leati_loss_number_like(*predictions, 0));
    inside = leat_op_minimum(inside, leati_loss_number_like(*predictions, 1));
    /* Predictions in steps: then threshold number i is passed above i. */
    *predictions = leati_support_times(inside, thresholds->count - 1);
    return leati_layer_numbers_value(*predictions, &(leati_floats){steps, thresholds->count});
}

/* The weight of each prediction. */
static leat_value shares_of(const leati_pass *pass, leat_value *predictions,
                            const leati_taken *taken) {
    leat_value weights = leat_op_ones_like(*predictions);
    if (pass->sample_weight != NULL) {
        leat_value given = leati_metric_as_state(pass, *pass->sample_weight);
        /* Before ranks are made equal, for [batch, 1] weights go with [batch] predictions. */
        leati_loss_same_rank(predictions, &given);
        while (leat_value_shape(given).rank < leat_value_shape(*predictions).rank &&
               leat_value_shape(given).rank > 0)
            /* Dimensions of size 1 behind: a weight of a row weighs all its values. */
            given = leat_op_expand_dims(given, -1);
        weights = leat_op_broadcast_like(given, *predictions);
    }
    if (taken->label_weights != NULL)
        weights =
            leat_op_multiply(weights, leati_layer_numbers_value(weights, taken->label_weights));
    return weights;
}

/* Values behind a dimension for thresholds: in one line, or in rows of labels. */
static leat_value laid_out(leat_value x, const leati_taken *taken) {
    return leat_op_expand_dims(taken->by_label ? x : flat(x), 0);
}

/* Only one place of the last dimension. */
static bool take_class(leat_value *labels, leat_value *predictions, int64_t class_id) {
    int32_t rank = leat_value_shape(*predictions).rank;
    if (rank == 0 || rank == 1) {
        (void)leati_support_build_error(
            predictions->graph, LEAT_REASON_SHAPE,
            "When class_id is provided, y_pred must be a 2D array with shape "
            "(num_samples, num_classes)");
        return false;
    }
    /* Both: labels have a value for each class too. */
    *labels = column(*labels, class_id);
    *predictions = column(*predictions, class_id);
    return true;
}

void leati_confusion_count_update(const leati_pass *pass, const leati_count *wanted, int count,
                                  const leati_floats *thresholds, const leati_taken *taken) {
    leat_value labels = leati_metric_as_state(pass, pass->inputs[0]);
    leat_value predictions = leati_metric_as_state(pass, pass->inputs[1]);
    if (!leati_loss_align(&labels, &predictions))
        return;
    /* Before top_k, whose -1e10 would else become a probability of 0. */
    if (taken->from_logits)
        predictions = leat_op_sigmoid(predictions);
    if (taken->top_k > 0)
        predictions = largest(predictions, taken->top_k);
    if (taken->class_id >= 0 && !take_class(&labels, &predictions, taken->class_id))
        return;
    /* Before `levels`: weights may take a dimension of size 1 from the predictions. */
    leat_value shares = laid_out(shares_of(pass, &predictions, taken), taken);
    /* [thresholds, 1] against [1, values]: every threshold meets every value. */
    leat_value levels = leat_op_expand_dims(levels_of(&predictions, thresholds), 1);
    if (taken->by_label)
        levels = leat_op_expand_dims(levels, 2);
    leat_value none = leati_loss_number_like(predictions, 0);
    leat_value above = leat_op_greater(laid_out(predictions, taken), levels);
    leat_value positive = laid_out(leat_op_not_equal(labels, none), taken);
    for (int i = 0; i < count; i++) {
        bool is_hit = wanted[i] == LEATI_TRUE_POSITIVES || wanted[i] == LEATI_FALSE_POSITIVES;
        bool is_true = wanted[i] == LEATI_TRUE_POSITIVES || wanted[i] == LEATI_FALSE_NEGATIVES;
        leat_value found = leat_op_logical_and(is_hit ? above : leat_op_logical_not(above),
                                               is_true ? positive : leat_op_logical_not(positive));
        leat_value sum =
            leat_op_reduce_sum(leat_op_multiply(leati_metric_as_state(pass, found), shares),
                               (const int64_t[]){1}, 1, false);
        pass->updates[i] = leat_op_add(pass->weights[i], sum);
    }
}

void leati_confusion_spread_thresholds(int64_t count, double *out) {
    for (int64_t i = 0; i < count; i++)
        /* Keras' only threshold is 0.5; the formula would divide by 0. */
        out[i] = count == 1 ? 0.5 : (double)i / (double)(count - 1);
}

leat_value leati_confusion_share_of(leat_value a, leat_value b) {
    return leat_op_divide_no_nan(a, leat_op_add(a, b));
}
