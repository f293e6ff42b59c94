/* CTC: minus the logarithm of the probability that a sequence of classes, with blanks between and
 * repetitions of each, is what a sequence of predictions says (keras.losses.CTC).
 *
 * Labels [batch, length] are numbers of classes, padded with 0, which stands for the blank;
 * predictions [batch, steps, classes] are logits. States are the labels with a blank before,
 * between and behind them; the probabilities of all ways to a state are summed step by step, as
 * logarithms. So the graph grows with the number of steps, which must be known. A sequence that
 * does not fit into the steps has the loss infinity and no gradient. Failures: other shapes, and
 * the graph's. No state, no locks. */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/frame/loss.h"
#include <math.h>

static const leati_row ctc_rows[] = {LEATI_LOSS_ROWS, {0}};

#define NEVER -1e30 /* the logarithm of a probability of 0, finite so that differences are */

/* Labels with blanks before, between and behind them: [batch, 2 length + 1]. */
static leat_value with_blanks(leat_value labels, int64_t length) {
    /* Each label with a blank in front, flattened in that order. */
    leat_value pairs = leat_op_stack((leat_value[]){leat_op_zeros_like(labels), labels}, 2, -1);
    leat_value flat = leat_op_reshape(pairs, (const int64_t[]){-1, 2 * length}, 2);
    leat_value blank = leat_op_zeros_like(
        leat_op_slice(flat, (const int64_t[]){0, 0}, 2, (const int64_t[]){-1, 1}, 2));
    return leat_op_concat((leat_value[]){flat, blank}, 2, 1);
}

/* Columns moved `by` places up; `filler` comes in below. */
static leat_value moved(leat_value x, int64_t by, double filler) {
    int64_t size = leat_value_shape(x).dims[1];
    if (by >= size)
        return leat_op_add(leat_op_zeros_like(x), leati_loss_number_like(x, filler));
    leat_value kept =
        leat_op_slice(x, (const int64_t[]){0, 0}, 2, (const int64_t[]){-1, size - by}, 2);
    leat_value first = leat_op_slice(x, (const int64_t[]){0, 0}, 2, (const int64_t[]){-1, by}, 2);
    leat_value below = leat_op_add(leat_op_zeros_like(first), leati_loss_number_like(x, filler));
    return leat_op_concat((leat_value[]){below, kept}, 2, 1);
}

/* The logarithm of the sum of the exponentials. */
static leat_value log_sum(const leat_value *values, int count) {
    leat_value most = values[0], sum = {.id = -1};
    for (int i = 1; i < count; i++)
        most = leat_op_maximum(most, values[i]);
    /* Constant for gradients: it is taken off and added again. */
    most = leat_op_stop_gradient(most);
    for (int i = 0; i < count; i++) {
        leat_value part = leat_op_exp(leat_op_subtract(values[i], most));
        sum = i == 0 ? part : leat_op_add(sum, part);
    }
    return leat_op_add(leat_op_log(sum), most);
}

/* Step t of the logarithms [batch, steps, states]. */
static leat_value step_of(leat_value logarithms, int64_t t) {
    leat_value one =
        leat_op_slice(logarithms, (const int64_t[]){0, t, 0}, 3, (const int64_t[]){-1, 1, -1}, 3);
    return leat_op_squeeze(one, (const int64_t[]){1}, 1);
}

/* The logarithms of the probabilities of all ways to each state after the last step. */
static leat_value all_ways(leat_value states, leat_value logarithms, int64_t steps) {
    leat_value never = leati_loss_number_like(logarithms, NEVER);
    leat_value place = leat_op_range(
        leati_support_number(states.graph, LEAT_INT64, 0),
        leati_support_number(states.graph, LEAT_INT64, (double)leat_value_shape(states).dims[1]),
        leati_support_number(states.graph, LEAT_INT64, 1), LEAT_INVALID);
    /* Ways begin with the blank or with the first label. */
    leat_value first = leat_op_less(place, leati_support_number(states.graph, LEAT_INT64, 2));
    leat_value begin = step_of(logarithms, 0);
    leat_value ways = leat_op_select(leat_op_broadcast_like(first, begin), begin, never);
    /* A label may follow another one directly; equal ones need the blank between them, else they
     * merge. */
    leat_value skips =
        leat_op_not_equal(states, moved(states, 2, 0)); /* never from blank to blank */
    for (int64_t t = 1; t < steps; t++) {
        leat_value skipped = leat_op_select(skips, moved(ways, 2, NEVER), never);
        /* Stay, step on by one, or pass over the blank. */
        const leat_value from[3] = {ways, moved(ways, 1, NEVER), skipped};
        /* Bounded below: sums of NEVER over many steps would reach -inf, and -inf - -inf is NaN. */
        ways = leat_op_maximum(leat_op_add(log_sum(from, 3), step_of(logarithms, t)), never);
    }
    return ways;
}

/* Ways end in the last label or in the blank behind it. */
static leat_value of_ends(leat_value labels, leat_value ways) {
    const int64_t last = 1;
    leat_graph *graph = ways.graph;
    leat_value is_label = leat_op_not_equal(labels, leati_support_number(graph, LEAT_INT64, 0));
    /* Padding is 0, and so is the blank, which no label can be. */
    leat_value length = leat_op_reduce_sum(leat_op_cast(is_label, LEAT_INT64), &last, 1, true);
    /* State 2 length is the last blank, the one before it the last label. */
    leat_value end = leat_op_add(length, length), one = leati_support_number(graph, LEAT_INT64, 1);
    leat_value place = leat_op_range(
        leati_support_number(graph, LEAT_INT64, 0),
        leati_support_number(graph, LEAT_INT64, (double)leat_value_shape(ways).dims[1]), one,
        LEAT_INVALID);
    leat_value ends = leat_op_logical_or(leat_op_equal(place, end),
                                         leat_op_equal(place, leat_op_subtract(end, one)));
    leat_value kept = leat_op_select(ends, ways, leati_loss_number_like(ways, NEVER));
    leat_value most = leat_op_stop_gradient(leat_op_reduce_max(kept, &last, 1, true));
    leat_value sum = leat_op_reduce_sum(leat_op_exp(leat_op_subtract(kept, most)), &last, 1, false);
    leat_value loss =
        leat_op_negate(leat_op_add(leat_op_log(sum), leat_op_squeeze(most, &last, 1)));
    /* A way that is possible is far above NEVER; a tenth of it tells them apart. */
    leat_value fits = leat_op_less(loss, leati_loss_number_like(loss, -0.1 * NEVER));
    return leat_op_select(fits, loss, leati_loss_number_like(loss, INFINITY));
}

static leat_value ctc_call(const void *args, leat_value labels, leat_value predictions,
                           leat_value *mask) {
    leat_shape a = leat_value_shape(labels), b = leat_value_shape(predictions);
    (void)args;
    (void)mask;
    if (leati_support_value_failed(labels) || leati_support_value_failed(predictions))
        return leati_loss_failed_value(predictions);
    if (a.rank != 2 || b.rank != 3 || a.dims[1] < 1 || b.dims[1] < 1 || b.dims[2] < 1)
        return leati_support_build_error(
            predictions.graph, LEAT_REASON_SHAPE,
            "CTC takes labels [batch, length] and logits [batch, steps, "
            "classes] with known length, steps and classes");
    labels = leat_op_cast(labels, LEAT_INT64);
    leat_value states = with_blanks(labels, a.dims[1]);
    leat_value chosen =
        leat_op_one_hot(states, b.dims[2],
                        &(leat_op_one_hot_options){LEAT_OP_ONE_HOT_DEFAULTS,
                                                   .dtype = leat_value_dtype(predictions)});
    /* Each state's logarithm is picked from the classes by a product with its one-hot row. */
    leat_value logarithms = leat_op_matmul(leat_op_log_softmax(predictions), chosen, false, true);
    return of_ends(labels, all_ways(states, logarithms, b.dims[1]));
}

const leati_loss_kind leati_loss_ctc = {
    .kind =
        {
            .name = "CTC",
            .doc = "How improbable a sequence of labels is under a longer one of predictions "
                   "(keras.losses.CTC).",
            .rows = ctc_rows,
            .signature = "reduction name=\"ctc\" dtype",
            .args_size = sizeof(struct leati_loss_args),
            .check = leati_loss_check,
        },
    .labels = LEATI_SEQUENCE_LABELS,
    .call = ctc_call,
};
