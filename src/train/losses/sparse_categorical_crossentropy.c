/* SparseCategoricalCrossentropy: -log of the probability of each row's label
 * (keras.losses.SparseCategoricalCrossentropy).
 *
 * As Keras on TensorFlow: the logits behind a softmax are used in its place, so that extreme ones
 * keep their loss and gradient; other probabilities are clipped to [1e-7, 1 - 1e-7], and their
 * logarithms are taken for logits. Failures: a label outside the classes fails the run, naming
 * label and row; shapes that do not fit fail the graph. No state, no locks. */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/support/crossentropy.h"

struct sparse_args {
    struct leati_loss_args shared;
    bool from_logits;
    leati_ints ignore_class;
    int64_t axis;
};

static const leati_row sparse_rows[] = {
    LEATI_FROM_LOGITS_ROW(struct sparse_args),
    {.name = "ignore_class",
     .type = LEATI_ROW_INTS,
     .offset = offsetof(struct sparse_args, ignore_class),
     .doc = "A class whose rows do not count; null: none."},
    {.name = "axis",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct sparse_args, axis),
     .default_number = -1,
     .minimum = -1,
     .maximum = -1,
     .doc = "The dimension of the classes: the last one."},
    LEATI_LOSS_ROWS,
    {0},
};

static leat_status sparse_check(const void *arguments, leat_error *err) {
    const struct sparse_args *args = arguments;
    if (args->ignore_class.count > 1)
        return leati_refuse(err, VALUE, "ignore_class has %d numbers; expected one",
                            (int)args->ignore_class.count);
    return leati_loss_check(arguments, err);
}

static leat_value crossentropy(leat_value labels, leat_value predictions, bool from_logits) {
    leat_value logits = leati_loss_logits_behind(predictions);
    if (logits.id < 0)
        logits = from_logits ? predictions : leat_op_log(leati_loss_clip_probability(predictions));
    return leat_op_sparse_softmax_cross_entropy_with_logits(labels, logits);
}

leat_value leat_loss_sparse_categorical_crossentropy(leat_value labels, leat_value predictions,
                                                     bool from_logits) {
    leat_value failed = {.graph = predictions.graph, .id = -1};
    if (leati_support_value_failed(labels) || leati_support_value_failed(predictions))
        return failed;
    return crossentropy(leati_crossentropy_class_numbers(labels, predictions), predictions,
                        from_logits);
}

static leat_value sparse_call(const void *arguments, leat_value labels, leat_value predictions,
                              leat_value *mask) {
    const struct sparse_args *args = arguments;
    leat_graph *graph = predictions.graph;
    leat_value failed = {.graph = graph, .id = -1};
    if (leati_support_value_failed(labels) || leati_support_value_failed(predictions))
        return failed;
    labels = leati_crossentropy_class_numbers(labels, predictions);
    if (args->ignore_class.count == 0)
        return crossentropy(labels, predictions, args->from_logits);
    leat_dtype dtype = leat_value_dtype(labels);
    leat_value ignored = leati_support_number(graph, dtype, (double)args->ignore_class.values[0]);
    leat_value kept = leat_op_not_equal(labels, ignored);
    labels = leat_op_multiply(labels, leat_op_cast(kept, dtype));
    leat_dtype floating = leat_value_dtype(predictions);
    leat_value by_row = leat_op_expand_dims(leat_op_cast(kept, floating), -1);
    leat_value losses =
        crossentropy(labels, leat_op_multiply(predictions, by_row), args->from_logits);
    *mask = kept;
    return leat_op_select(kept, losses, leat_op_zeros_like(losses));
}

const leati_loss_kind leati_loss_sparse_categorical_crossentropy = {
    .kind =
        {
            .name = "SparseCategoricalCrossentropy",
            .doc = "The negative logarithm of the probability of each row's label "
                   "(keras.losses.SparseCategoricalCrossentropy).",
            .rows = sparse_rows,
            .signature = "from_logits ignore_class reduction axis "
                         "name=\"sparse_categorical_crossentropy\" dtype",
            .args_size = sizeof(struct sparse_args),
            .check = sparse_check,
        },
    .labels = LEATI_CLASS_LABELS,
    .call = sparse_call,
};
