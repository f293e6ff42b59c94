/* What metrics share that count hits and misses.
 *
 * Happy path: labels and predictions become vectors, each prediction is compared with each
 * threshold, and four products with the weights are summed. Failures: INVALID_ARGUMENT for
 * thresholds outside of 0 to 1, and what the operations report. No state, no locks. */
#include "train/confusion.h"
#include "base/error.h"
#include "graph/ops/support.h"
#include "train/layer.h"
#include "train/loss.h"
#include <leat/ops_arrays.h>

static const char *const names[LEATI_NUM_COUNTS] = {"true_positives", "true_negatives",
                                                    "false_positives", "false_negatives"};

void leati_count_states(const leati_count *wanted, int count, int64_t thresholds,
                        leati_weights *out) {
    out->count = count;
    for (int i = 0; i < count; i++)
        out->list[i] = (leati_weight){.name = names[wanted[i]],
                                      .shape = LEAT_SHAPE(thresholds),
                                      .initializer = "zeros",
                                      .fixed = true};
}

static leat_value flat(leat_value x) {
    return leat_reshape(x, (const int64_t[]){-1}, 1);
}

/* The k largest predictions of each row as they are, the others far below every threshold. */
static leat_value largest(leat_value predictions, int64_t k) {
    const int64_t last[1] = {-1};
    leat_value sorted = leat_sort(predictions, -1, true);
    int32_t rank = leat_value_shape(predictions).rank;
    int64_t begin[LEAT_MAX_RANK] = {0}, size[LEAT_MAX_RANK];
    for (int32_t d = 0; d < rank; d++)
        size[d] = d == rank - 1 ? k : -1;
    leat_value kept = leat_reduce_min(leat_slice(sorted, begin, size, rank), last, 1, true);
    leat_value below = leat_less(predictions, kept);
    return leat_select(below, leati_number_like(predictions, -1e10), predictions);
}

/* Place `index` of the last dimension. */
static leat_value column(leat_value x, int64_t index) {
    return leat_gather(x, leati_number(x.graph, LEAT_INT64, (double)index), -1);
}

void leati_count_update(const leati_pass *pass, const leati_count *wanted, int count,
                        const leati_floats *thresholds, const leati_taken *taken) {
    leat_value labels = leati_as_state(pass, pass->inputs[0]);
    leat_value predictions = leati_as_state(pass, pass->inputs[1]);
    if (!leati_loss_align(&labels, &predictions))
        return;
    if (taken->from_logits)
        predictions = leat_sigmoid(predictions);
    if (taken->top_k > 0)
        predictions = largest(predictions, taken->top_k);
    if (taken->class_id >= 0) {
        labels = column(labels, taken->class_id);
        predictions = column(predictions, taken->class_id);
    }
    leat_value weights = leat_ones_like(predictions);
    if (pass->sample_weight != NULL) {
        leat_value given = leati_as_state(pass, *pass->sample_weight);
        leati_same_rank(&predictions, &given);
        while (leat_value_shape(given).rank < leat_value_shape(predictions).rank &&
               leat_value_shape(given).rank > 0)
            given = leat_expand_dims(given, -1);
        weights = leat_broadcast_like(given, predictions);
    }
    leat_value levels = leat_expand_dims(leati_numbers_value(predictions, thresholds), 1);
    leat_value none = leati_number_like(predictions, 0);
    leat_value above = leat_greater(leat_expand_dims(flat(predictions), 0), levels);
    leat_value positive = leat_expand_dims(leat_greater(flat(labels), none), 0);
    leat_value shares = leat_expand_dims(flat(weights), 0);
    for (int i = 0; i < count; i++) {
        bool is_hit = wanted[i] == LEATI_TRUE_POSITIVES || wanted[i] == LEATI_FALSE_POSITIVES;
        bool is_true = wanted[i] == LEATI_TRUE_POSITIVES || wanted[i] == LEATI_FALSE_NEGATIVES;
        leat_value found = leat_logical_and(is_hit ? above : leat_logical_not(above),
                                            is_true ? positive : leat_logical_not(positive));
        leat_value sum = leat_reduce_sum(leat_multiply(leati_as_state(pass, found), shares),
                                         (const int64_t[]){1}, 1, false);
        pass->updates[i] = leat_add(pass->weights[i], sum);
    }
}

/* ---- one ratio or count at some thresholds ---- */

const leati_row leati_ratio_rows[] = {
    LEATI_THRESHOLDS_ROW,
    {.name = "top_k",
     .type = LEATI_ROW_INT,
     .flags = LEATI_NONE,
     .offset = offsetof(struct leati_threshold_args, top_k),
     .maximum = INT32_MAX,
     .doc = "How many of a row's largest predictions may be positive; none: all."},
    {.name = "class_id",
     .type = LEATI_ROW_INT,
     .flags = LEATI_NONE,
     .offset = offsetof(struct leati_threshold_args, class_id),
     .default_number = -1,
     .minimum = -1,
     .maximum = INT32_MAX,
     .doc = "The only class that counts; none: all."},
    LEATI_METRIC_ROWS,
    {0},
};

const leati_row leati_count_rows[] = {
    LEATI_THRESHOLDS_ROW,
    LEATI_METRIC_ROWS,
    {0},
};

leat_status leati_threshold_check(const void *arguments, leat_error *err) {
    const struct leati_threshold_args *args = arguments;
    for (int32_t i = 0; i < args->thresholds.count; i++)
        if (!(args->thresholds.values[i] >= 0 && args->thresholds.values[i] <= 1))
            return leati_fail(err, LEAT_INVALID_ARGUMENT,
                              "threshold %g; expected values between 0 and 1",
                              args->thresholds.values[i]);
    return LEAT_OK;
}

leati_floats leati_thresholds_of(const struct leati_threshold_args *args, double *standard) {
    return args->thresholds.count > 0 ? args->thresholds : (leati_floats){standard, 1};
}

leat_value leati_one_or_all(leat_value values) {
    return leat_value_shape(values).dims[0] == 1 ? leat_squeeze(values, NULL, 0) : values;
}

static int64_t size_of(const void *arguments) {
    const struct leati_threshold_args *args = arguments;
    return args->thresholds.count > 0 ? args->thresholds.count : 1;
}

void leati_single_count_states(const void *args, leati_count wanted, leati_weights *out) {
    leati_count_states(&wanted, 1, size_of(args), out);
    out->list[0].name = "accumulator";
}

void leati_single_count_update(const leati_pass *pass, leati_count wanted) {
    double standard = 0.5;
    const leati_floats thresholds = leati_thresholds_of(pass->args, &standard);
    leati_count_update(pass, &wanted, 1, &thresholds, &(leati_taken){.class_id = -1});
}

void leati_ratio_states(const void *args, leati_count other, leati_weights *out) {
    const leati_count wanted[2] = {LEATI_TRUE_POSITIVES, other};
    leati_count_states(wanted, 2, size_of(args), out);
}

void leati_ratio_update(const leati_pass *pass, leati_count other) {
    const struct leati_threshold_args *args = pass->args;
    const leati_count wanted[2] = {LEATI_TRUE_POSITIVES, other};
    double standard = args->top_k > 0 ? -1e9 : 0.5; /* of the largest all are positive */
    const leati_floats thresholds = leati_thresholds_of(args, &standard);
    leati_count_update(pass, wanted, 2, &thresholds,
                       &(leati_taken){.top_k = args->top_k, .class_id = args->class_id});
}

leat_value leati_share_of(leat_value a, leat_value b) {
    return leat_divide_no_nan(a, leat_add(a, b));
}

leat_value leati_ratio_result(const void *args, const leat_value *states) {
    (void)args;
    return leati_one_or_all(leati_share_of(states[0], states[1]));
}

/* ---- evenly spread thresholds ---- */

void leati_spread_thresholds(int64_t count, double *out) {
    for (int64_t i = 0; i < count; i++)
        out[i] = (double)i / (double)(count - 1);
    if (count == 1)
        out[0] = 0.5;
    else {
        out[0] = -1e-7;
        out[count - 1] = 1 + 1e-7;
    }
}

static const leati_count all_counts[LEATI_NUM_COUNTS] = {
    LEATI_TRUE_POSITIVES, LEATI_TRUE_NEGATIVES, LEATI_FALSE_POSITIVES, LEATI_FALSE_NEGATIVES};

leat_status leati_spread_check(const void *arguments, leat_error *err) {
    const struct leati_spread_args *args = arguments;
    if (args->value >= 0 && args->value <= 1)
        return LEAT_OK;
    return leati_fail(err, LEAT_INVALID_ARGUMENT, "the value to reach is %g; expected 0 to 1",
                      args->value);
}

void leati_spread_states(const void *arguments, leati_weights *out) {
    const struct leati_spread_args *args = arguments;
    leati_count_states(all_counts, LEATI_NUM_COUNTS, args->num_thresholds, out);
}

void leati_spread_update(const leati_pass *pass) {
    const struct leati_spread_args *args = pass->args;
    double values[LEATI_MOST_THRESHOLDS];
    leati_spread_thresholds(args->num_thresholds, values);
    const leati_floats thresholds = {values, (int32_t)args->num_thresholds};
    leati_count_update(pass, all_counts, LEATI_NUM_COUNTS, &thresholds,
                       &(leati_taken){.class_id = args->class_id});
}

leat_value leati_largest_where(const void *arguments, leat_value held, leat_value wanted) {
    const struct leati_spread_args *args = arguments;
    leat_value fits = leat_greater_equal(held, leati_number_like(held, args->value));
    leat_value found = leat_select(fits, wanted, leati_number_like(wanted, 0));
    return leat_reduce_max(found, NULL, 0, false);
}
