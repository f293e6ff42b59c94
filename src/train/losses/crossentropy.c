/* BinaryCrossentropy, CategoricalCrossentropy, SparseCategoricalCrossentropy: minus the logarithm
 * of the probability of labels 0 and 1, of one label among many as a distribution, or as its
 * number; BinaryFocalCrossentropy, CategoricalFocalCrossentropy: less of it the better a prediction
 * already is; CategoricalGeneralizedCrossEntropy: (1 - p^q) / q, between cross-entropy (q towards
 * 0) and absolute difference (q towards 1) (keras.losses.BinaryCrossentropy and its like).
 *
 * As Keras on TensorFlow: the logits behind a sigmoid or softmax are used in its place, so that
 * extreme ones keep their loss and gradient; other probabilities are clipped to [1e-7, 1 - 1e-7],
 * those of distributions scaled to the sum 1 first. The gradient of CategoricalCrossentropy's
 * logits is that of TensorFlow's operation, probability - label, whatever the labels sum to.
 * Failures: arguments out of their ranges; a number of a label outside the classes fails the run,
 * naming label and row, but for CategoricalGeneralizedCrossEntropy, where its p is 0; the graph's.
 * No state, no locks. */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/frame/layer.h"
#include "train/frame/loss.h"

/* Each loss has those members that its rows name. */
struct crossentropy_args {
    struct leati_loss_args shared;
    bool from_logits, apply_class_balancing;
    double alpha, gamma, label_smoothing, q;
    leati_floats alphas; /* none: 0.25 */
    leati_ints ignore_class;
    int64_t axis;
};

#define ROW(MEMBER, TYPE, ...)                                                                     \
    {                                                                                              \
        .name = #MEMBER, .type = LEATI_ROW_##TYPE,                                                 \
        .offset = offsetof(struct crossentropy_args, MEMBER), __VA_ARGS__                          \
    }
#define FROM_LOGITS_ROW                                                                            \
    ROW(from_logits, BOOL, .doc = "Whether predictions are logits, not probabilities.")
#define GAMMA_ROW                                                                                  \
    ROW(gamma, FLOAT, .default_number = 2,                                                         \
        .doc = "Power of what a prediction is wrong by; 0: plain cross-entropy.")
/* The rest of the rows of losses whose labels are 0 and 1, and of those of distributions. */
#define BITS_ROWS                                                                                  \
    FROM_LOGITS_ROW,                                                                               \
        ROW(label_smoothing, FLOAT, .doc = "Part of the labels that becomes one half, 0 to 1."),   \
        AXIS_ROW("The dimension over which the mean is taken."), LEATI_LOSS_ROWS
#define CLASSES_ROWS                                                                               \
    FROM_LOGITS_ROW,                                                                               \
        ROW(label_smoothing, FLOAT,                                                                \
            .doc = "Part of the labels that is spread over all classes, 0 to 1."),                 \
        AXIS_ROW("The dimension of the classes."), LEATI_LOSS_ROWS
#define AXIS_ROW(DOC)                                                                              \
    ROW(axis, INT, .default_number = -1, .minimum = -LEAT_MAX_RANK, .maximum = LEAT_MAX_RANK - 1,  \
        .doc = DOC)

static const leati_row binary_rows[] = {BITS_ROWS, {0}};
static const leati_row categorical_rows[] = {CLASSES_ROWS, {0}};

static const leati_row binary_focal_rows[] = {
    ROW(apply_class_balancing, BOOL,
        .doc = "Whether the labels 1 weigh alpha and the labels 0 the rest of 1."),
    ROW(alpha, FLOAT, .default_number = 0.25, .doc = "Weight of the labels 1."),
    GAMMA_ROW,
    BITS_ROWS,
    {0},
};

static const leati_row categorical_focal_rows[] = {
    {.name = "alpha",
     .type = LEATI_ROW_FLOATS,
     .offset = offsetof(struct crossentropy_args, alphas),
     .doc = "Weight of all classes, or of each; 0.25 by default."},
    GAMMA_ROW,
    CLASSES_ROWS,
    {0},
};

static const leati_row generalized_rows[] = {
    ROW(q, FLOAT, .default_number = 0.5, .doc = "Between 0 and 1: how little wrong labels count."),
    LEATI_LOSS_ROWS,
    {0},
};

static const leati_row sparse_rows[] = {
    FROM_LOGITS_ROW,
    ROW(ignore_class, INTS, .doc = "A class whose rows do not count; null: none."),
    ROW(axis, INT, .default_number = -1, .minimum = -1, .maximum = LEAT_MAX_RANK - 1,
        .doc = "The dimension of the classes: the last one, by its number or -1."),
    LEATI_LOSS_ROWS,
    {0},
};

static const int64_t last[1] = {-1};

static leat_status smoothing_check(const void *arguments, leat_error *err) {
    const struct crossentropy_args *args = arguments;
    if (!(args->label_smoothing >= 0 && args->label_smoothing <= 1))
        return leati_refuse(err, VALUE, "label_smoothing is %g; expected 0 to 1",
                            args->label_smoothing);
    return leati_loss_check(arguments, err);
}

/* Labels 0 and 1 moved towards one half. */
static leat_value smooth_bits(leat_value labels, double smoothing) {
    if (!(smoothing > 0))
        return labels;
    return leat_op_add(leati_support_times(labels, 1 - smoothing),
                       leati_loss_number_like(labels, 0.5 * smoothing));
}

/* Labels of classes along the last dimension moved towards an equal share of each. */
static leat_value smooth_classes(leat_value labels, double smoothing) {
    leat_shape shape = leat_value_shape(labels);
    if (!(smoothing > 0) || leati_support_value_failed(labels))
        return labels;
    if (shape.rank < 1 || shape.dims[shape.rank - 1] < 1)
        return leati_support_build_error(labels.graph, LEAT_REASON_SHAPE,
                                         "the number of classes is unknown");
    /* The share of one class: their number must be known while the graph is built. */
    double spread = smoothing / (double)shape.dims[shape.rank - 1];
    return leat_op_add(leati_support_times(labels, 1 - smoothing),
                       leati_loss_number_like(labels, spread));
}

/* max(x, 0) - x * label + log(1 + exp(-|x|)), where the branch at 0 decides the gradient. */
static leat_value bits_of_logits(leat_value labels, leat_value x) {
    /* max(x, 0) has slope 1 at 0 this way, and -|x| slope -1, as TensorFlow's gradient has. */
    leat_value zero = leat_op_zeros_like(x), positive = leat_op_greater_equal(x, zero);
    leat_value high = leat_op_select(positive, x, zero);
    leat_value negative = leat_op_select(positive, leat_op_negate(x), x);
    leat_value line = leat_op_subtract(high, leat_op_multiply(x, labels));
    return leat_op_add(line, leat_op_log1p(leat_op_exp(negative)));
}

/* Minus the logarithm of the probability of labels 0 and 1, place by place. */
static leat_value bits_of_probabilities(leat_value labels, leat_value probabilities) {
    leat_value p = leati_loss_clip_probability(probabilities), one = leati_loss_number_like(p, 1);
    leat_value is_one = leat_op_multiply(labels, leat_op_log(p));
    leat_value is_zero =
        leat_op_multiply(leat_op_subtract(one, labels), leat_op_log(leat_op_subtract(one, p)));
    return leat_op_negate(leat_op_add(is_one, is_zero));
}

/* The mean along `axis`; scalars as they are. */
static leat_value mean_along(leat_value value, int64_t axis) {
    return leat_value_shape(value).rank == 0 ? value : leat_op_reduce_mean(value, &axis, 1, false);
}

/* Probabilities scaled to the sum 1 along `axis`, then clipped to [1e-7, 1 - 1e-7]. */
static leat_value scaled_probability(leat_value probabilities, int64_t axis) {
    leat_value sum = leat_op_reduce_sum(probabilities, &axis, 1, true);
    return leati_loss_clip_probability(leat_op_divide(probabilities, sum));
}

/* Numbers of classes, one per row: int64, without a last dimension of 1 that predictions have
 * classes in. */
static leat_value class_numbers(leat_value labels, leat_value predictions) {
    leat_shape shape = leat_value_shape(labels);
    leat_dtype dtype = leat_value_dtype(labels);
    if (shape.rank > 0 && shape.rank == leat_value_shape(predictions).rank &&
        shape.dims[shape.rank - 1] == 1)
        labels = leat_op_squeeze(labels, (const int64_t[]){-1}, 1);
    return dtype == LEAT_INT32 || dtype == LEAT_INT64 ? labels : leat_op_cast(labels, LEAT_INT64);
}

/* ---- labels 0 and 1 ---- */

static leat_value binary_call(const void *arguments, leat_value labels, leat_value predictions,
                              leat_value *mask) {
    const struct crossentropy_args *args = arguments;
    (void)mask;
    /* Whatever from_logits says: of what a sigmoid made Keras takes the logits. */
    leat_value logits = leati_loss_input_of(predictions, &leati_tensor_op_sigmoid);
    bool behind = logits.id >= 0 || args->from_logits;
    if (logits.id < 0)
        logits = predictions;
    leat_value used = behind ? logits : predictions;
    if (!leati_loss_align(&labels, &used))
        return leati_loss_failed_value(predictions);
    labels = smooth_bits(labels, args->label_smoothing);
    return mean_along(behind ? bits_of_logits(labels, used) : bits_of_probabilities(labels, used),
                      args->axis);
}

/* a * x + (1 - a) * y. */
static leat_value between(leat_value a, leat_value x, leat_value y) {
    leat_value rest = leat_op_subtract(leati_loss_number_like(a, 1), a);
    return leat_op_add(leat_op_multiply(a, x), leat_op_multiply(rest, y));
}

static leat_value binary_focal_call(const void *arguments, leat_value labels,
                                    leat_value predictions, leat_value *mask) {
    const struct crossentropy_args *args = arguments;
    (void)mask;
    if (!leati_loss_align(&labels, &predictions))
        return leati_loss_failed_value(predictions);
    /* Found before the sigmoid below is added, which would hide the model's own. */
    leat_value logits = leati_loss_input_of(predictions, &leati_tensor_op_sigmoid);
    if (logits.id < 0 && args->from_logits)
        logits = predictions;
    if (args->from_logits)
        predictions = leat_op_sigmoid(predictions);
    labels = smooth_bits(labels, args->label_smoothing);
    leat_value entropy = logits.id >= 0 ? bits_of_logits(labels, logits)
                                        : bits_of_probabilities(labels, predictions);
    leat_value one = leati_loss_number_like(predictions, 1);
    /* The probability that is given to the label that holds. */
    leat_value right = between(labels, predictions, leat_op_subtract(one, predictions));
    leat_value factor =
        leat_op_pow(leat_op_subtract(one, right), leati_loss_number_like(predictions, args->gamma));
    leat_value loss = leat_op_multiply(factor, entropy);
    if (args->apply_class_balancing)
        loss = leat_op_multiply(between(labels, leati_loss_number_like(labels, args->alpha),
                                        leati_loss_number_like(labels, 1 - args->alpha)),
                                loss);
    return mean_along(loss, args->axis);
}

/* ---- distributions ---- */

static leat_value minus_sum(leat_value labels, leat_value logarithms) {
    return leat_op_negate(leat_op_reduce_sum(leat_op_multiply(labels, logarithms), last, 1, false));
}

/* The value of the loss; the rest is 0 but for its gradient, which turns probability * sum(label) -
 * label into probability - label. */
static leat_value of_logits(leat_value labels, leat_value logits) {
    leat_value loss = minus_sum(labels, leat_op_log_softmax(logits));
    leat_value one = leati_loss_number_like(logits, 1);
    /* Labels that sum to 1 have none missing, and the correction is 0 throughout. */
    leat_value missing = leat_op_subtract(one, leat_op_reduce_sum(labels, last, 1, true));
    leat_value slope = leat_op_stop_gradient(leat_op_multiply(leat_op_softmax(logits), missing));
    /* logits - stop(logits) is 0, with slope 1: the product adds a gradient and no value. */
    leat_value rest =
        leat_op_multiply(slope, leat_op_subtract(logits, leat_op_stop_gradient(logits)));
    return leat_op_add(loss, leat_op_reduce_sum(rest, last, 1, false));
}

/* The axis of the classes must be there; a refusal is in the graph. */
static bool has_axis(leat_value predictions, int64_t axis) {
    int32_t place;
    leat_error err = {0};
    if (leati_support_normal_axis(axis, leat_value_shape(predictions).rank, &place, &err) ==
        LEAT_OK)
        return true;
    leati_graph_error(predictions.graph, &err);
    return false;
}

/* Dimension `axis` last, the others in their order; as it is where it cannot be moved. */
static leat_value to_last(leat_value x, int64_t axis) {
    leat_shape shape = leat_value_shape(x);
    int64_t order[LEAT_MAX_RANK], place = axis < 0 ? axis + shape.rank : axis;
    if (leati_support_value_failed(x) || place < 0 || place >= shape.rank - 1)
        return x;
    for (int32_t d = 0; d < shape.rank; d++)
        /* Behind `place` all move up by one, and it comes last. */
        order[d] = d < place ? d : d == shape.rank - 1 ? place : d + 1;
    return leat_op_transpose(x, order, shape.rank);
}

static leat_value categorical_call(const void *arguments, leat_value labels, leat_value predictions,
                                   leat_value *mask) {
    const struct crossentropy_args *args = arguments;
    (void)mask;
    if (!leati_loss_align(&labels, &predictions) || !has_axis(predictions, args->axis))
        return leati_loss_failed_value(predictions);
    int32_t rank = leat_value_shape(predictions).rank;
    /* Only then does the softmax behind the predictions run along the classes. */
    bool is_last = args->axis == -1 || args->axis == rank - 1;
    leat_value logits =
        is_last ? leati_loss_logits_behind(predictions) : leati_loss_failed_value(predictions);
    labels = to_last(smooth_classes(labels, args->label_smoothing), args->axis);
    if (logits.id < 0 && args->from_logits)
        logits = to_last(predictions, args->axis);
    if (logits.id >= 0)
        return of_logits(labels, logits);
    predictions = to_last(predictions, args->axis);
    return minus_sum(labels, leat_op_log(scaled_probability(predictions, -1)));
}

/* The softmax along any dimension. */
static leat_value softmax_along(leat_value x, int64_t axis) {
    /* Taken out against overflow; it cancels, so no gradient goes through it. */
    leat_value most = leat_op_stop_gradient(leat_op_reduce_max(x, &axis, 1, true));
    leat_value power = leat_op_exp(leat_op_subtract(x, most));
    return leat_op_divide(power, leat_op_reduce_sum(power, &axis, 1, true));
}

static leat_value categorical_focal_call(const void *arguments, leat_value labels,
                                         leat_value predictions, leat_value *mask) {
    const struct crossentropy_args *args = arguments;
    (void)mask;
    if (!leati_loss_align(&labels, &predictions) || !has_axis(predictions, args->axis))
        return leati_loss_failed_value(predictions);
    labels = smooth_classes(labels, args->label_smoothing);
    if (args->from_logits)
        predictions = softmax_along(predictions, args->axis);
    leat_value p = scaled_probability(predictions, args->axis);
    leat_value entropy = leat_op_negate(leat_op_multiply(labels, leat_op_log(p)));
    leat_value wrong = leat_op_subtract(leati_loss_number_like(p, 1), p);
    leat_value factor = leat_op_pow(wrong, leati_loss_number_like(p, args->gamma));
    /* Keras' default of alpha. */
    leat_value weight = leati_loss_number_like(p, 0.25);
    if (args->alphas.count == 1)
        weight = leati_loss_number_like(p, args->alphas.values[0]);
    else if (args->alphas.count > 1)
        weight = leati_layer_numbers_value(p, &args->alphas);
    leat_value loss = leat_op_multiply(leat_op_multiply(factor, weight), entropy);
    return leat_op_reduce_sum(loss, &args->axis, 1, false);
}

/* ---- numbers of classes ---- */

static leat_status generalized_check(const void *arguments, leat_error *err) {
    const struct crossentropy_args *args = arguments;
    if (!(args->q > 0 && args->q < 1))
        return leati_refuse(err, VALUE, "q must be in the interval (0, 1); it is %g", args->q);
    return leati_loss_check(arguments, err);
}

static leat_value generalized_call(const void *arguments, leat_value labels, leat_value predictions,
                                   leat_value *mask) {
    const struct crossentropy_args *args = arguments;
    (void)mask;
    if (leati_support_value_failed(labels) || leati_support_value_failed(predictions))
        return leati_loss_failed_value(predictions);
    leat_shape shape = leat_value_shape(predictions);
    if (shape.rank < 1 || shape.dims[shape.rank - 1] < 1)
        return leati_support_build_error(predictions.graph, LEAT_REASON_SHAPE,
                                         "the number of classes is unknown");
    labels = class_numbers(labels, predictions);
    leat_value chosen =
        leat_op_one_hot(labels, shape.dims[shape.rank - 1],
                        &(leat_op_one_hot_options){LEAT_OP_ONE_HOT_DEFAULTS,
                                                   .dtype = leat_value_dtype(predictions)});
    /* A number outside the classes chooses none, so its probability is 0. */
    leat_value p = leat_op_reduce_sum(leat_op_multiply(predictions, chosen), last, 1, false);
    leat_value power = leat_op_pow(p, leati_loss_number_like(p, args->q));
    return leat_op_divide(leat_op_subtract(leati_loss_number_like(p, 1), power),
                          leati_loss_number_like(p, args->q));
}

static leat_status sparse_check(const void *arguments, leat_error *err) {
    const struct crossentropy_args *args = arguments;
    if (args->ignore_class.count > 1)
        return leati_refuse(err, VALUE, "ignore_class has %d numbers; expected one",
                            (int)args->ignore_class.count);
    return leati_loss_check(arguments, err);
}

static leat_value crossentropy(leat_value labels, leat_value predictions, bool from_logits) {
    leat_value logits = leati_loss_logits_behind(predictions);
    if (logits.id < 0)
        /* Logarithms of probabilities are logits: their softmax gives the probabilities back. */
        logits = from_logits ? predictions : leat_op_log(leati_loss_clip_probability(predictions));
    return leat_op_sparse_softmax_cross_entropy_with_logits(labels, logits);
}

leat_value leat_loss_sparse_categorical_crossentropy(leat_value labels, leat_value predictions,
                                                     bool from_logits) {
    leat_value failed = {.graph = predictions.graph, .id = -1};
    if (leati_support_value_failed(labels) || leati_support_value_failed(predictions))
        return failed;
    return crossentropy(class_numbers(labels, predictions), predictions, from_logits);
}

static leat_value sparse_call(const void *arguments, leat_value labels, leat_value predictions,
                              leat_value *mask) {
    const struct crossentropy_args *args = arguments;
    leat_graph *graph = predictions.graph;
    leat_value failed = {.graph = graph, .id = -1};
    if (leati_support_value_failed(labels) || leati_support_value_failed(predictions))
        return failed;
    if (args->axis != -1 && args->axis != leat_value_shape(predictions).rank - 1) {
        leat_error err = {0};
        leati_refuse(&err, VALUE, "axis is %lld; expected -1 or the last dimension's number",
                     (long long)args->axis);
        return leati_graph_error(graph, &err);
    }
    labels = class_numbers(labels, predictions);
    if (args->ignore_class.count == 0)
        return crossentropy(labels, predictions, args->from_logits);
    leat_dtype dtype = leat_value_dtype(labels);
    leat_value ignored = leati_support_number(graph, dtype, (double)args->ignore_class.values[0]);
    leat_value kept = leat_op_not_equal(labels, ignored);
    /* Rows to be ignored get label 0 in place of one that may be outside the classes. */
    labels = leat_op_multiply(labels, leat_op_cast(kept, dtype));
    leat_dtype floating = leat_value_dtype(predictions);
    /* Their predictions become 0, and so does the gradient of these. */
    leat_value by_row = leat_op_expand_dims(leat_op_cast(kept, floating), -1);
    leat_value losses =
        crossentropy(labels, leat_op_multiply(predictions, by_row), args->from_logits);
    *mask = kept;
    /* The mask alone would not do: a loss of NaN times weight 0 is NaN. */
    return leat_op_select(kept, losses, leat_op_zeros_like(losses));
}

/* The descriptor of one loss; SIGNATURE is what stands before `reduction`, REST what stands between
 * it and the name; CONFIG: kind.h. */
#define CROSSENTROPY(ID, CLASS, DOC, FORM, CHECK, SIGNATURE, REST, CONFIG, LABELS)                 \
    const leati_loss_kind leati_loss_##ID = {                                                      \
        .kind =                                                                                    \
            {                                                                                      \
                .name = CLASS,                                                                     \
                .doc = DOC " (keras.losses." CLASS ").",                                           \
                .rows = FORM##_rows,                                                               \
                .signature = SIGNATURE " reduction" REST " name=\"" #ID "\" dtype",                \
                .config = CONFIG,                                                                  \
                .args_size = sizeof(struct crossentropy_args),                                     \
                .check = CHECK,                                                                    \
            },                                                                                     \
        .call = FORM##_call,                                                                       \
        .labels = LABELS,                                                                          \
    };
CROSSENTROPY(binary_crossentropy, "BinaryCrossentropy",
             "Minus the logarithm of the probability of labels 0 and 1", binary, smoothing_check,
             "from_logits label_smoothing axis", "", NULL, LEATI_LIKE_PREDICTIONS)
CROSSENTROPY(binary_focal_crossentropy, "BinaryFocalCrossentropy",
             "Cross-entropy of labels 0 and 1 that looks most at what is predicted worst",
             binary_focal, smoothing_check,
             "apply_class_balancing alpha gamma from_logits label_smoothing axis", "",
             "from_logits label_smoothing axis", LEATI_LIKE_PREDICTIONS)
CROSSENTROPY(categorical_crossentropy, "CategoricalCrossentropy",
             "Minus the sum of label * log(probability) over the classes", categorical,
             smoothing_check, "from_logits label_smoothing axis", "", NULL, LEATI_LIKE_PREDICTIONS)
CROSSENTROPY(categorical_focal_crossentropy, "CategoricalFocalCrossentropy",
             "Cross-entropy of classes that looks most at what is predicted worst",
             categorical_focal, smoothing_check,
             "alpha=0.25 gamma from_logits label_smoothing axis", "",
             "from_logits label_smoothing axis", LEATI_LIKE_PREDICTIONS)
CROSSENTROPY(categorical_generalized_cross_entropy, "CategoricalGeneralizedCrossEntropy",
             "A cross-entropy that wrong labels disturb less", generalized, generalized_check, "q",
             "", NULL, LEATI_CLASS_LABELS)
CROSSENTROPY(sparse_categorical_crossentropy, "SparseCategoricalCrossentropy",
             "The negative logarithm of the probability of each row's label", sparse, sparse_check,
             "from_logits ignore_class", " axis", "axis?", LEATI_CLASS_LABELS)
