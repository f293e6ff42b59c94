/* R2Score: one minus the squared differences of predictions over those of the labels from their
 * mean (keras.metrics.R2Score).
 *
 * Sums are kept for each place of the last dimension; how many there are is known with the first
 * update. Labels that are all equal give 0. With regressors the score is adjusted, as long as there
 * are more rows than they need. Failures: arguments out of their ranges, values that are not of
 * shape [batch, places], and the graph's. No locks. */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/frame/loss.h"
#include "train/frame/metric.h"
#include <inttypes.h>
#include <string.h>

enum { NUM_SAMPLES, SQUARED_SUM, SUM, RESIDUAL, COUNT, NUM_STATES };

struct r2_score_args {
    struct leati_metric_args shared;
    char *class_aggregation; /* NULL: a score for each place */
    int64_t num_regressors;
};

static const leati_row r2_score_rows[] = {
    {.name = "class_aggregation",
     .type = LEATI_ROW_STRING,
     .flags = LEATI_ABSENT,
     .offset = offsetof(struct r2_score_args, class_aggregation),
     .default_text = "uniform_average",
     .doc = "\"uniform_average\", \"variance_weighted_average\" or null: a score for each place."},
    {.name = "num_regressors",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct r2_score_args, num_regressors),
     .minimum = INT32_MIN,
     .maximum = INT32_MAX,
     .doc = "How many inputs the predictions were made of, for the adjusted score; 0: not "
            "adjusted."},
    LEATI_METRIC_ROWS,
    {0},
};

static bool aggregates(const struct r2_score_args *args, const char *name) {
    return args->class_aggregation != NULL && strcmp(args->class_aggregation, name) == 0;
}

static leat_status r2_score_check(const void *arguments, leat_error *err) {
    const struct r2_score_args *args = arguments;
    if (args->class_aggregation != NULL && !aggregates(args, "uniform_average") &&
        !aggregates(args, "variance_weighted_average"))
        return leati_refuse(
            err, VALUE,
            "Invalid value for argument `class_aggregation`. Expected one of (None, "
            "'uniform_average', 'variance_weighted_average'). Received: "
            "class_aggregation=%.40s",
            args->class_aggregation);
    if (args->num_regressors < 0)
        return leati_refuse(err, VALUE,
                            "Invalid value for argument `num_regressors`. Expected a value >= 0. "
                            "Received: num_regressors=%" PRId64,
                            args->num_regressors);
    return LEAT_OK;
}

static leat_status r2_score_states(const void *args, const leat_shape *inputs, leati_weights *out,
                                   leat_error *err) {
    static const char *const names[NUM_STATES] = {"num_samples", "squared_sum", "sum", "residual",
                                                  "count"};
    (void)args;
    /* The number of rows is a scalar, whatever the shapes are, so it is there from the start. */
    out->count = 1;
    out->list[0] =
        (leati_weight){.name = names[NUM_SAMPLES], .initializer = "zeros", .fixed = true};
    if (inputs == NULL)
        return LEAT_OK;
    /* Labels may lack the last dimension only where it has size 1. */
    bool paired = inputs[0].rank == inputs[1].rank || inputs[1].dims[1] == 1;
    if (inputs[1].rank != 2 || inputs[1].dims[1] < 1 || !paired)
        return leati_refuse(
            err, SHAPE,
            "expects 2D inputs with shape (batch_size, output_dim), with output_dim "
            "fully defined. Labels have %d dimensions and predictions %d",
            (int)inputs[0].rank, (int)inputs[1].rank);
    for (; out->count < NUM_STATES; out->count++)
        out->list[out->count] = (leati_weight){.name = names[out->count],
                                               .shape = LEAT_SHAPE(inputs[1].dims[1]),
                                               .initializer = "zeros",
                                               .fixed = true};
    return LEAT_OK;
}

static void r2_score_update(const leati_pass *pass) {
    const int64_t rows[1] = {0};
    leat_value labels = leati_metric_as_state(pass, pass->inputs[0]);
    leat_value predictions = leati_metric_as_state(pass, pass->inputs[1]);
    if (!leati_loss_align(&labels, &predictions))
        return;
    leat_value weights = leati_loss_number_like(labels, 1);
    if (pass->sample_weight != NULL) {
        weights = leati_metric_as_state(pass, *pass->sample_weight);
        if (leat_value_shape(weights).rank == 1)
            /* A weight per row, for all its places. */
            weights = leat_op_expand_dims(weights, 1);
    }
    weights = leat_op_broadcast_like(weights, labels);
    leat_value weighted = leat_op_multiply(labels, weights);
    leat_value square = leat_op_square(leat_op_subtract(labels, predictions));
    leat_value added[NUM_STATES] = {
        [SQUARED_SUM] = leat_op_multiply(labels, weighted),
        [SUM] = weighted,
        [RESIDUAL] = leat_op_multiply(square, weights),
        [COUNT] = weights,
    };
    /* NUM_SAMPLES is no sum over rows; it counts labels and ignores weights. */
    for (int i = 1; i < NUM_STATES; i++)
        pass->updates[i] =
            leat_op_add(pass->weights[i], leat_op_reduce_sum(added[i], rows, 1, false));
    leat_value size = leati_metric_as_state(pass, leat_op_size(labels, LEAT_INT64));
    pass->updates[NUM_SAMPLES] = leat_op_add(pass->weights[NUM_SAMPLES], size);
}

/* 1 - (1 - score)(n - 1)/(n - p - 1); the score itself where n is too small for that. */
static leat_value adjusted(leat_value score, leat_value n, int64_t regressors) {
    leat_value one = leati_loss_number_like(n, 1);
    leat_value left =
        leat_op_subtract(leat_op_subtract(n, leati_loss_number_like(n, (double)regressors)), one);
    /* With so few rows the divisor is 0 or negative. */
    leat_value fits = leat_op_greater(left, leati_loss_number_like(n, 0));
    leat_value part = leat_op_multiply(leat_op_subtract(one, score), leat_op_subtract(n, one));
    part = leat_op_divide(part, leat_op_select(fits, left, one));
    return leat_op_select(fits, leat_op_subtract(one, part), score);
}

static leat_value r2_score_result(const void *arguments, const leat_value *states) {
    const struct r2_score_args *args = arguments;
    leat_value mean = leat_op_divide(states[SUM], states[COUNT]);
    /* The sum of squares less n times the squared mean: one pass over the data is enough. */
    leat_value total = leat_op_subtract(states[SQUARED_SUM], leat_op_multiply(states[SUM], mean));
    leat_value score =
        leat_op_subtract(leati_loss_number_like(total, 1), leat_op_divide(states[RESIDUAL], total));
    /* Labels that are all equal divide by 0; where predictions match them that is NaN. */
    score = leat_op_select(leat_op_is_inf(score), leati_loss_number_like(score, 0), score);
    if (aggregates(args, "uniform_average"))
        score = leat_op_reduce_mean(score, NULL, 0, false);
    else if (aggregates(args, "variance_weighted_average"))
        /* Weights are the labels' variances, by which places without any do not count. */
        score = leat_op_divide(leat_op_reduce_sum(leat_op_multiply(total, score), NULL, 0, false),
                               leat_op_reduce_sum(total, NULL, 0, false));
    return args->num_regressors > 0 ? adjusted(score, states[NUM_SAMPLES], args->num_regressors)
                                    : score;
}

const leati_metric_kind leati_metric_r2_score = {
    .kind =
        {
            .name = "R2Score",
            .doc = "The part of the labels' variance that predictions explain "
                   "(keras.metrics.R2Score).",
            .rows = r2_score_rows,
            .signature = "class_aggregation num_regressors name=\"r2_score\" dtype",
            .args_size = sizeof(struct r2_score_args),
            .check = r2_score_check,
        },
    .prefix = "r2_score",
    .num_values = 2,
    .takes = "labels and predictions",
    .states_of = r2_score_states,
    .update = r2_score_update,
    .result = r2_score_result,
};
