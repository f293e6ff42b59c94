/* FBetaScore, F1Score: the harmonic mean of precision and recall, in which recall weighs beta times
 * as much, or as much (keras.metrics.FBetaScore and F1Score).
 *
 * Counts are kept for each class, or for all together where the average is "micro"; how many
 * classes there are is known with the first update. Failures: INVALID_ARGUMENT for arguments out of
 * their ranges and values that are not of shape [batch, classes]; the graph's. No state, no locks.
 */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/frame/loss.h"
#include "train/frame/metric.h"
#include <string.h>

enum { HITS, FALSE_ALARMS, MISSES, SUPPORT, NUM_STATES };

struct f_score_args {
    struct leati_metric_args shared;
    char *average;          /* NULL: a score for each class */
    double beta;            /* 0: 1 */
    leati_floats threshold; /* none: the largest of a row */
};

#define AVERAGE_ROW                                                                                \
    {                                                                                              \
        .name = "average", .type = LEATI_ROW_STRING, .flags = LEATI_NONE,                          \
        .offset = offsetof(struct f_score_args, average),                                          \
        .doc = "\"micro\", \"macro\", \"weighted\", or none: a score for each class."              \
    }
#define THRESHOLD_ROW                                                                              \
    {                                                                                              \
        .name = "threshold", .type = LEATI_ROW_FLOATS,                                             \
        .offset = offsetof(struct f_score_args, threshold),                                        \
        .doc = "What predictions of 1 exceed; none: the largest of a row is 1."                    \
    }

static const leati_row f1_score_rows[] = {
    AVERAGE_ROW,
    THRESHOLD_ROW,
    LEATI_METRIC_ROWS,
    {0},
};

static const leati_row fbeta_score_rows[] = {
    AVERAGE_ROW,
    {.name = "beta",
     .type = LEATI_ROW_FLOAT,
     .offset = offsetof(struct f_score_args, beta),
     .default_number = 1,
     .doc = "How much more than precision recall weighs."},
    THRESHOLD_ROW,
    LEATI_METRIC_ROWS,
    {0},
};

static bool averages(const struct f_score_args *args, const char *name) {
    return args->average != NULL && strcmp(args->average, name) == 0;
}

static leat_status f_score_check(const void *arguments, leat_error *err) {
    const struct f_score_args *args = arguments;
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

static leat_status fbeta_score_check(const void *arguments, leat_error *err) {
    const struct f_score_args *args = arguments;
    LEATI_TRY(f_score_check(arguments, err));
    if (args->beta > 0)
        return LEAT_OK;
    return leati_refuse(err, VALUE,
                        "Invalid `beta` argument value. It should be > 0. Received: beta=%#.2g",
                        args->beta);
}

static leat_status f_score_states(const void *arguments, const leat_shape *inputs,
                                  leati_weights *out, leat_error *err) {
    static const char *const names[NUM_STATES] = {"true_positives", "false_positives",
                                                  "false_negatives", "intermediate_weights"};
    const struct f_score_args *args = arguments;
    leat_shape shape = LEAT_SCALAR;
    /* How many classes there are is not known yet, so there are no states. */
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
    const struct f_score_args *args = pass->args;
    leat_value predictions = leati_metric_as_state(pass, pass->inputs[1]);
    const int64_t last = -1;
    leat_value bits;
    if (args->threshold.count > 0) {
        bits = leat_op_greater(predictions,
                               leati_loss_number_like(predictions, args->threshold.values[0]));
    } else {
        leat_value most = leat_op_reduce_max(predictions, &last, 1, true);
        /* A row of zeros has no largest: without this all of its classes would be predicted. */
        leat_value exists =
            leat_op_greater(leat_op_abs(predictions), leati_loss_number_like(predictions, 1e-9));
        /* Equal largest ones all count, as in Keras. */
        bits = leat_op_logical_and(leat_op_greater_equal(predictions, most), exists);
    }
    return leati_metric_as_state(pass, bits);
}

static void f_score_update(const leati_pass *pass) {
    const struct f_score_args *args = pass->args;
    const int64_t rows[1] = {0};
    leat_value labels = leati_metric_as_state(pass, pass->inputs[0]);
    leat_value bits = bits_of(pass);
    leat_value not_label = leat_op_subtract(leat_op_ones_like(labels), labels);
    leat_value not_bit = leat_op_subtract(leat_op_ones_like(bits), bits);
    leat_value values[NUM_STATES] = {leat_op_multiply(bits, labels),
                                     leat_op_multiply(bits, not_label),
                                     leat_op_multiply(not_bit, labels), labels};
    for (int i = 0; i < NUM_STATES; i++) {
        /* Weights are one per row, [batch] against [batch, classes]. */
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

static leat_value f_score_result(const void *arguments, const leat_value *states) {
    const struct f_score_args *args = arguments;
    /* F1Score has no row beta, so its member is 0. */
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
        /* "macro"; of "micro" there is one score, which is its own mean. */
        return leat_op_reduce_mean(score, NULL, 0, false);
    /* By how often each class is among the labels. */
    leat_value weights =
        ratio(states[SUPPORT], leat_op_reduce_sum(states[SUPPORT], NULL, 0, false));
    return leat_op_reduce_sum(leat_op_multiply(score, weights), NULL, 0, false);
}

/* The descriptor of one metric. */
#define F_SCORE(ID, CLASS, DOC, SIGNATURE, CHECK)                                                  \
    const leati_metric_kind leati_metric_##ID = {                                                  \
        .kind =                                                                                    \
            {                                                                                      \
                .name = CLASS,                                                                     \
                .doc = DOC " (keras.metrics." CLASS ").",                                          \
                .rows = ID##_rows,                                                                 \
                .signature = SIGNATURE,                                                            \
                .args_size = sizeof(struct f_score_args),                                          \
                .check = CHECK,                                                                    \
            },                                                                                     \
        .prefix = #ID,                                                                             \
        .num_values = 2,                                                                           \
        .takes = "labels and predictions",                                                         \
        .states_of = f_score_states,                                                               \
        .update = f_score_update,                                                                  \
        .result = f_score_result,                                                                  \
    };
F_SCORE(f1_score, "F1Score", "The harmonic mean of precision and recall",
        "average=null threshold=null name=\"f1_score\" dtype", f_score_check)
F_SCORE(fbeta_score, "FBetaScore", "The weighted harmonic mean of precision and recall",
        "average=null beta threshold=null name=\"fbeta_score\" dtype", fbeta_score_check)
