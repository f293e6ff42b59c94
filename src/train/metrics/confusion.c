/* TruePositives, FalsePositives, TrueNegatives, FalseNegatives: how often predictions above, or
 * below, a threshold were right or wrong. Precision, Recall: the part of true positives of what was
 * predicted, or of what was there. PrecisionAtRecall, RecallAtPrecision, SensitivityAtSpecificity,
 * SpecificityAtSensitivity: the largest of one ratio at thresholds that reach another
 * (keras.metrics.TruePositives and its like). Failures: thresholds and ratios outside of 0 to 1,
 * and the graph's. No state, no locks. */
#include "train/support/confusion.h"
#include "base/error.h"
#include "base/text.h"
#include "graph/support/support.h"
#include "train/frame/loss.h"
#include <inttypes.h>

/* The arguments of metrics of one ratio or count at each of some thresholds. */
struct threshold_args {
    struct leati_metric_args shared;
    leati_floats thresholds; /* none: 0.5 */
    int64_t top_k, class_id;
};

#define THRESHOLDS_ROW                                                                             \
    {                                                                                              \
        .name = "thresholds", .type = LEATI_ROW_FLOATS,                                            \
        .offset = offsetof(struct threshold_args, thresholds),                                     \
        .doc = "What predictions are compared with, between 0 and 1; 0.5 by default."              \
    }

static const leati_row ratio_rows[] = {
    THRESHOLDS_ROW,
    {.name = "top_k",
     .type = LEATI_ROW_INT,
     .flags = LEATI_NONE,
     .offset = offsetof(struct threshold_args, top_k),
     .maximum = INT32_MAX,
     .doc = "How many of a row's largest predictions may be positive; none: all."},
    {.name = "class_id",
     .type = LEATI_ROW_INT,
     .flags = LEATI_NONE,
     .offset = offsetof(struct threshold_args, class_id),
     .default_number = -1,
     .minimum = -1,
     .maximum = INT32_MAX,
     .doc = "The only class that counts; none: all."},
    LEATI_METRIC_ROWS,
    {0},
};

static const leati_row count_rows[] = {
    THRESHOLDS_ROW,
    LEATI_METRIC_ROWS,
    {0},
};

static leat_status threshold_check(const void *arguments, leat_error *err) {
    const struct threshold_args *args = arguments;
    leati_text wrong = {0};
    for (int32_t i = 0; i < args->thresholds.count; i++)
        if (!(args->thresholds.values[i] >= 0 && args->thresholds.values[i] <= 1))
            leati_text_addf(&wrong, "%s%g", wrong.size > 0 ? ", " : "", args->thresholds.values[i]);
    leat_status status = LEAT_OK;
    if (wrong.failed)
        status = leati_no_memory(err);
    else if (wrong.size > 0)
        status = leati_refuse(err, VALUE, "Threshold values must be in [0, 1]. Received: [%.200s]",
                              wrong.data);
    leati_text_fini(&wrong);
    return status;
}

static leati_floats thresholds_of(const struct threshold_args *args, double *standard) {
    return args->thresholds.count > 0 ? args->thresholds : (leati_floats){standard, 1};
}

static leat_value one_or_all(leat_value values) {
    /* One threshold gives one number, not a vector of one. */
    return leat_value_shape(values).dims[0] == 1 ? leat_op_squeeze(values, NULL, 0) : values;
}

static int64_t size_of(const void *arguments) {
    const struct threshold_args *args = arguments;
    return args->thresholds.count > 0 ? args->thresholds.count : 1;
}

static void single_states(const void *args, leati_count wanted, leati_weights *out) {
    leati_confusion_count_states(&wanted, 1, size_of(args), 0, out);
    /* Keras' name of a lone count, whatever it counts. */
    out->list[0].name = "accumulator";
}

static void single_update(const leati_pass *pass, leati_count wanted) {
    double standard = 0.5;
    const leati_floats thresholds = thresholds_of(pass->args, &standard);
    leati_confusion_count_update(pass, &wanted, 1, &thresholds, &(leati_taken){.class_id = -1});
}

static leat_value single_result(const void *args, const leat_value *states) {
    (void)args;
    return one_or_all(states[0]);
}

static void ratio_states(const void *args, leati_count other, leati_weights *out) {
    const leati_count wanted[2] = {LEATI_TRUE_POSITIVES, other};
    leati_confusion_count_states(wanted, 2, size_of(args), 0, out);
}

static void ratio_update(const leati_pass *pass, leati_count other) {
    const struct threshold_args *args = pass->args;
    /* In the order of the states: what is divided, then what is added below it. */
    const leati_count wanted[2] = {LEATI_TRUE_POSITIVES, other};
    double standard = args->top_k > 0 ? -1e9 : 0.5; /* of the largest all are positive */
    const leati_floats thresholds = thresholds_of(args, &standard);
    leati_confusion_count_update(pass, wanted, 2, &thresholds,
                                 &(leati_taken){.top_k = args->top_k, .class_id = args->class_id});
}

static leat_value ratio_result(const void *args, const leat_value *states) {
    (void)args;
    return one_or_all(leati_confusion_share_of(states[0], states[1]));
}

/* The arguments of metrics over evenly spread thresholds. */
struct spread_args {
    struct leati_metric_args shared;
    int64_t num_thresholds, class_id;
    double value;
};

#define SPREAD_ROWS(NAME, DOC)                                                                     \
    {.name = NAME,                                                                                 \
     .type = LEATI_ROW_FLOAT,                                                                      \
     .flags = LEATI_REQUIRED,                                                                      \
     .offset = offsetof(struct spread_args, value),                                                \
     .doc = DOC},                                                                                  \
        {.name = "num_thresholds",                                                                 \
         .type = LEATI_ROW_INT,                                                                    \
         .offset = offsetof(struct spread_args, num_thresholds),                                   \
         .default_number = 200,                                                                    \
         .minimum = INT32_MIN,                                                                     \
         .maximum = LEATI_MOST_THRESHOLDS,                                                         \
         .doc = "How many thresholds are tried."},                                                 \
        {.name = "class_id",                                                                       \
         .type = LEATI_ROW_INT,                                                                    \
         .flags = LEATI_NONE,                                                                      \
         .offset = offsetof(struct spread_args, class_id),                                         \
         .default_number = -1,                                                                     \
         .minimum = -1,                                                                            \
         .maximum = INT32_MAX,                                                                     \
         .doc = "The only class that counts; none: all."},                                         \
        LEATI_METRIC_ROWS

static leat_status spread_check(const void *arguments, const char *name, leat_error *err) {
    const struct spread_args *args = arguments;
    if (args->num_thresholds <= 0)
        return leati_refuse(err, VALUE,
                            "Argument `num_thresholds` must be an integer > 0. Received: "
                            "num_thresholds=%" PRId64,
                            args->num_thresholds);
    if (args->value >= 0 && args->value <= 1)
        return LEAT_OK;
    return leati_refuse(err, VALUE, "Argument `%s` must be in the range [0, 1]. Received: %s=%g",
                        name, name, args->value);
}

static void spread_states(const void *arguments, leati_weights *out) {
    const struct spread_args *args = arguments;
    leati_confusion_count_states(leati_all_counts, LEATI_NUM_COUNTS, args->num_thresholds, 0, out);
}

static void spread_update(const leati_pass *pass) {
    const struct spread_args *args = pass->args;
    double values[LEATI_MOST_THRESHOLDS];
    leati_confusion_spread_thresholds(args->num_thresholds, values);
    const leati_floats thresholds = {values, (int32_t)args->num_thresholds};
    leati_confusion_count_update(pass, leati_all_counts, LEATI_NUM_COUNTS, &thresholds,
                                 &(leati_taken){.class_id = args->class_id});
}

static leat_value largest_where(const void *arguments, leat_value held, leat_value wanted) {
    const struct spread_args *args = arguments;
    leat_value fits = leat_op_greater_equal(held, leati_loss_number_like(held, args->value));
    /* Thresholds that do not reach it offer 0, so that is the result if none does. */
    leat_value found = leat_op_select(fits, wanted, leati_loss_number_like(wanted, 0));
    return leat_op_reduce_max(found, NULL, 0, false);
}

/* What a metric of two labels and predictions has besides its slots. */
#define SHARED(ID, CLASS, DOC, ROWS, SIGNATURE, ARGS, CHECK)                                       \
    .kind =                                                                                        \
        {                                                                                          \
            .name = CLASS,                                                                         \
            .doc = DOC " (keras.metrics." CLASS ").",                                              \
            .rows = ROWS,                                                                          \
            .signature = SIGNATURE,                                                                \
            .args_size = sizeof(struct ARGS),                                                      \
            .config = "thresholds top_k class_id num_thresholds",                                  \
            .check = CHECK,                                                                        \
    },                                                                                             \
    .prefix = #ID, .num_values = 2, .takes = "labels and predictions"

/* The descriptor of one count. */
#define COUNT(ID, CLASS, DOC, WANTED)                                                              \
    static void ID##_states(const void *args, leati_weights *out) {                                \
        single_states(args, WANTED, out);                                                          \
    }                                                                                              \
    static void ID##_update(const leati_pass *pass) {                                              \
        single_update(pass, WANTED);                                                               \
    }                                                                                              \
    const leati_metric_kind leati_metric_##ID = {                                                  \
        SHARED(ID, CLASS, DOC, count_rows, "thresholds=null name=null dtype", threshold_args,      \
               threshold_check),                                                                   \
        .states = ID##_states,                                                                     \
        .update = ID##_update,                                                                     \
        .result = single_result,                                                                   \
    };
COUNT(true_positives, "TruePositives", "How many positive labels were predicted",
      LEATI_TRUE_POSITIVES)
COUNT(false_positives, "FalsePositives", "How many positives were predicted wrongly",
      LEATI_FALSE_POSITIVES)
COUNT(true_negatives, "TrueNegatives", "How many negative labels were predicted",
      LEATI_TRUE_NEGATIVES)
COUNT(false_negatives, "FalseNegatives", "How many negatives were predicted wrongly",
      LEATI_FALSE_NEGATIVES)

/* The descriptor of the ratio of true positives to them and another count. */
#define RATIO(ID, CLASS, DOC, OTHER)                                                               \
    static void ID##_states(const void *args, leati_weights *out) {                                \
        ratio_states(args, OTHER, out);                                                            \
    }                                                                                              \
    static void ID##_update(const leati_pass *pass) {                                              \
        ratio_update(pass, OTHER);                                                                 \
    }                                                                                              \
    const leati_metric_kind leati_metric_##ID = {                                                  \
        SHARED(ID, CLASS, DOC, ratio_rows,                                                         \
               "thresholds=null top_k=null class_id=null name=null dtype", threshold_args,         \
               threshold_check),                                                                   \
        .states = ID##_states,                                                                     \
        .update = ID##_update,                                                                     \
        .result = ratio_result,                                                                    \
    };
RATIO(precision, "Precision", "The part of the predicted positives that are positive",
      LEATI_FALSE_POSITIVES)
RATIO(recall, "Recall", "The part of the positive labels that were predicted",
      LEATI_FALSE_NEGATIVES)

/* The descriptor of the largest WANTED at thresholds where HELD is reached; each is a part of
 * counts A and B that A is. */
#define LARGEST(ID, CLASS, DOC, HELD, HELD_A, HELD_B, WANTED_A, WANTED_B)                          \
    static const leati_row ID##_rows[] = {                                                         \
        SPREAD_ROWS(HELD, "The " HELD " to reach, between 0 and 1."),                              \
        {0},                                                                                       \
    };                                                                                             \
    static leat_status ID##_check(const void *args, leat_error *err) {                             \
        return spread_check(args, HELD, err);                                                      \
    }                                                                                              \
    static leat_value ID##_result(const void *args, const leat_value *states) {                    \
        leat_value held = leati_confusion_share_of(states[HELD_A], states[HELD_B]);                \
        return largest_where(args, held,                                                           \
                             leati_confusion_share_of(states[WANTED_A], states[WANTED_B]));        \
    }                                                                                              \
    const leati_metric_kind leati_metric_##ID = {                                                  \
        SHARED(ID, CLASS, DOC, ID##_rows, HELD " num_thresholds class_id=null name=null dtype",    \
               spread_args, ID##_check),                                                           \
        .states = spread_states,                                                                   \
        .update = spread_update,                                                                   \
        .result = ID##_result,                                                                     \
    };
LARGEST(precision_at_recall, "PrecisionAtRecall",
        "The largest precision at thresholds that reach a recall", "recall", LEATI_TRUE_POSITIVES,
        LEATI_FALSE_NEGATIVES, LEATI_TRUE_POSITIVES, LEATI_FALSE_POSITIVES)
LARGEST(recall_at_precision, "RecallAtPrecision",
        "The largest recall at thresholds that reach a precision", "precision",
        LEATI_TRUE_POSITIVES, LEATI_FALSE_POSITIVES, LEATI_TRUE_POSITIVES, LEATI_FALSE_NEGATIVES)
LARGEST(sensitivity_at_specificity, "SensitivityAtSpecificity",
        "The largest sensitivity at thresholds that reach a specificity", "specificity",
        LEATI_TRUE_NEGATIVES, LEATI_FALSE_POSITIVES, LEATI_TRUE_POSITIVES, LEATI_FALSE_NEGATIVES)
LARGEST(specificity_at_sensitivity, "SpecificityAtSensitivity",
        "The largest specificity at thresholds that reach a sensitivity", "sensitivity",
        LEATI_TRUE_POSITIVES, LEATI_FALSE_NEGATIVES, LEATI_TRUE_NEGATIVES, LEATI_FALSE_POSITIVES)
