/* F scores: the harmonic mean of precision and recall, in which recall weighs beta times as much.
 *
 * Counts are kept for each class, or for all together where the average is "micro"; how many
 * classes there are is known with the first update. Failures: INVALID_ARGUMENT for arguments out of
 * their ranges and values that are not of shape [batch, classes]; the graph's. No state, no locks.
 */
#include "train/support/f_score.h"
#include "base/error.h"
#include "graph/support/support.h"
#include "train/frame/loss.h"
#include <string.h>

enum { HITS, FALSE_ALARMS, MISSES, SUPPORT, NUM_STATES };

static bool averages(const struct leati_f_score_args *args, const char *name) {
    return args->average != NULL && strcmp(args->average, name) == 0;
}

leat_status leati_f_score_check(const void *arguments, leat_error *err) {
    const struct leati_f_score_args *args = arguments;
    if (args->average != NULL && !averages(args, "micro") && !averages(args, "macro") &&
        !averages(args, "weighted"))
        return leati_refuse(err, VALUE,
                            "Invalid `average` argument value. Expected one of: {None, 'micro', "
                            "'macro', 'weighted'}. Received: average=%.40s",
                            args->average);
    if (args->threshold.count > 1 ||
        (args->threshold.count == 1 &&
         !(args->threshold.values[0] > 0 && args->threshold.values[0] <= 1)))
        return leati_refuse(err, VALUE,
                            "Invalid `threshold` argument value. It should verify 0 < threshold <= "
                            "1. Received: threshold=%#.2g%s",
                            args->threshold.values[0],
                            args->threshold.count > 1 ? " and more; it is one number" : "");
    return LEAT_OK;
}

leat_status leati_f_score_states(const void *arguments, const leat_shape *inputs,
                                 leati_weights *out, leat_error *err) {
    static const char *const names[NUM_STATES] = {"true_positives", "false_positives",
                                                  "false_negatives", "intermediate_weights"};
    const struct leati_f_score_args *args = arguments;
    leat_shape shape = LEAT_SCALAR;
    if (inputs == NULL)
        return LEAT_OK;
    if (inputs[0].rank != 2 || inputs[1].rank != 2 || inputs[1].dims[1] < 1)
        return leati_refuse(
            err, SHAPE,
            "expects 2D inputs with shape (batch_size, output_dim), with output_dim "
            "fully defined. Labels have %d dimensions, predictions %d",
            (int)inputs[0].rank, (int)inputs[1].rank);
    if (!averages(args, "micro"))
        shape = LEAT_SHAPE(inputs[1].dims[1]);
    for (out->count = 0; out->count < NUM_STATES; out->count++)
        out->list[out->count] = (leati_weight){
            .name = names[out->count], .shape = shape, .initializer = "zeros", .fixed = true};
    return LEAT_OK;
}

/* Predictions as 0 and 1. */
static leat_value bits_of(const leati_pass *pass) {
    const struct leati_f_score_args *args = pass->args;
    leat_value predictions = leati_metric_as_state(pass, pass->inputs[1]);
    const int64_t last = -1;
    leat_value bits;
    if (args->threshold.count > 0) {
        bits = leat_op_greater(predictions,
                               leati_loss_number_like(predictions, args->threshold.values[0]));
    } else {
        leat_value most = leat_op_reduce_max(predictions, &last, 1, true);
        leat_value exists =
            leat_op_greater(leat_op_abs(predictions), leati_loss_number_like(predictions, 1e-9));
        bits = leat_op_logical_and(leat_op_greater_equal(predictions, most), exists);
    }
    return leati_metric_as_state(pass, bits);
}

void leati_f_score_update(const leati_pass *pass) {
    const struct leati_f_score_args *args = pass->args;
    const int64_t rows[1] = {0};
    leat_value labels = leati_metric_as_state(pass, pass->inputs[0]);
    leat_value bits = bits_of(pass);
    leat_value not_label = leat_op_subtract(leat_op_ones_like(labels), labels);
    leat_value not_bit = leat_op_subtract(leat_op_ones_like(bits), bits);
    leat_value values[NUM_STATES] = {leat_op_multiply(bits, labels),
                                     leat_op_multiply(bits, not_label),
                                     leat_op_multiply(not_bit, labels), labels};
    for (int i = 0; i < NUM_STATES; i++) {
        if (pass->sample_weight != NULL)
            values[i] = leat_op_multiply(
                values[i],
                leat_op_expand_dims(leati_metric_as_state(pass, *pass->sample_weight), 1));
        leat_value sum = averages(args, "micro") ? leat_op_reduce_sum(values[i], NULL, 0, false)
                                                 : leat_op_reduce_sum(values[i], rows, 1, false);
        pass->updates[i] = leat_op_add(pass->weights[i], sum);
    }
}

/* a / (b + 1e-7). */
static leat_value ratio(leat_value a, leat_value b) {
    return leat_op_divide(a, leat_op_add(b, leati_loss_number_like(b, 1e-7)));
}

leat_value leati_f_score_result(const void *arguments, const leat_value *states) {
    const struct leati_f_score_args *args = arguments;
    double square = args->beta > 0 ? args->beta * args->beta : 1;
    leat_value hits = states[HITS];
    leat_value precision = ratio(hits, leat_op_add(hits, states[FALSE_ALARMS]));
    leat_value recall = ratio(hits, leat_op_add(hits, states[MISSES]));
    leat_value mean = ratio(leat_op_multiply(precision, recall),
                            leat_op_add(leati_support_times(precision, square), recall));
    leat_value score = leati_support_times(mean, 1 + square);
    if (args->average == NULL)
        return score;
    if (!averages(args, "weighted"))
        return leat_op_reduce_mean(score, NULL, 0, false);
    leat_value weights =
        ratio(states[SUPPORT], leat_op_reduce_sum(states[SUPPORT], NULL, 0, false));
    return leat_op_reduce_sum(leat_op_multiply(score, weights), NULL, 0, false);
}
