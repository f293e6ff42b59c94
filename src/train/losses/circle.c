/* Circle: of a batch of embeddings of length 1, how much nearer those of another label are than
 * those of the same (keras.losses.Circle).
 *
 * The distances of all pairs are weighted by how far they are from where they should be; a row's
 * loss is the softplus of the sum of the two logarithms of sums of exponentials, over those of its
 * label and over the others. Rows whose loss is 0, as of labels that nobody shares, do not count in
 * a mean; their gradient is 0. Failures are the graph's. No state, no locks. */
#include "graph/support/support.h"
#include "train/frame/loss.h"
#include <math.h>

struct circle_args {
    struct leati_loss_args shared;
    double gamma, margin;
    bool remove_diagonal;
};

static const leati_row circle_rows[] = {
    {.name = "gamma",
     .type = LEATI_ROW_FLOAT,
     .offset = offsetof(struct circle_args, gamma),
     .default_number = 80,
     .doc = "What distances are scaled by."},
    {.name = "margin",
     .type = LEATI_ROW_FLOAT,
     .offset = offsetof(struct circle_args, margin),
     .default_number = 0.4,
     .doc = "How near those of one label, and how far others, should be."},
    {.name = "remove_diagonal",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct circle_args, remove_diagonal),
     .default_number = 1,
     .doc = "Whether a row is left out among those of its own label."},
    LEATI_LOSS_ROWS,
    {0},
};

/* log(sum(exp(x))) of each row over the chosen places; -inf where there is none. */
static leat_value log_of_chosen(leat_value x, leat_value chosen) {
    const int64_t last = -1;
    leat_value least = leati_loss_number_like(x, -INFINITY), zero = leati_loss_number_like(x, 0);
    /* The largest is taken out, lest exp overflow; it has no gradient, since it cancels. */
    leat_value most = leat_op_reduce_max(leat_op_select(chosen, x, least), &last, 1, true);
    /* A row without chosen places has -inf here, and x - -inf would be infinite. */
    most = leat_op_stop_gradient(leat_op_select(leat_op_is_finite(most), most, zero));
    /* Selected before exp, because places not chosen may overflow and spoil the gradient. */
    leat_value inside = leat_op_select(chosen, leat_op_subtract(x, most), zero);
    leat_value sum =
        leat_op_reduce_sum(leat_op_select(chosen, leat_op_exp(inside), zero), &last, 1, false);
    leat_value any = leat_op_greater(sum, zero);
    /* log(0) is not computed: its gradient would be NaN even where it is not selected. */
    leat_value logarithm = leat_op_log(leat_op_select(any, sum, leat_op_ones_like(sum)));
    return leat_op_select(any, leat_op_add(logarithm, leat_op_squeeze(most, &last, 1)), least);
}

static leat_value times_positive(leat_value x, leat_value weight, double factor) {
    return leati_support_times(
        leat_op_multiply(leat_op_maximum(weight, leati_loss_number_like(x, 0)), x), factor);
}

static leat_value circle_call(const void *arguments, leat_value labels, leat_value predictions,
                              leat_value *mask) {
    const struct circle_args *args = arguments;
    /* The column against the row: pair (i, j) says whether rows i and j have one label. */
    const int64_t swapped[2] = {1, 0};
    if (leati_support_value_failed(labels) || leati_support_value_failed(predictions))
        return leati_loss_failed_value(predictions);
    leat_value column =
        leat_op_reshape(leat_op_cast(labels, LEAT_INT64), (const int64_t[]){-1, 1}, 2);
    /* Labels may be floats here; numbers of classes are compared as integers. */
    leat_value same = leat_op_equal(column, leat_op_transpose(column, swapped, 2));
    leat_value others = leat_op_logical_not(same);
    if (args->remove_diagonal) {
        leat_value count = leat_op_size(column, LEAT_INT64);
        leat_value zero = leati_support_number(column.graph, LEAT_INT64, 0);
        leat_value one = leati_support_number(column.graph, LEAT_INT64, 1);
        leat_value places = leat_op_range(zero, count, one, LEAT_INVALID);
        same = leat_op_logical_and(same, leat_op_not_equal(leat_op_expand_dims(places, 0),
                                                           leat_op_expand_dims(places, 1)));
    }
    leat_value product = leat_op_matmul(predictions, predictions, false, true);
    leat_value one = leati_loss_number_like(product, 1);
    /* Cosine distance; rounding may make it a little negative. */
    leat_value distance =
        leat_op_maximum(leat_op_subtract(one, product), leati_loss_number_like(product, 0));
    leat_value margin = leati_loss_number_like(product, args->margin);
    /* Weighted by how far it is above -margin: alpha_p of Sun et al., "Circle Loss". */
    leat_value near = times_positive(leat_op_subtract(margin, distance),
                                     leat_op_add(margin, distance), -args->gamma);
    /* Likewise by alpha_n: how far it is below 1 + margin. */
    leat_value far =
        times_positive(leat_op_subtract(leat_op_subtract(one, margin), distance),
                       leat_op_subtract(leat_op_add(one, margin), distance), args->gamma);
    leat_value sum = leat_op_add(log_of_chosen(near, same), log_of_chosen(far, others));
    /* -inf of either side: no pair of one label, or of another. Then there is no loss. */
    leat_value none = leati_loss_number_like(sum, 0), exists = leat_op_is_finite(sum);
    leat_value loss =
        leat_op_select(exists, leat_op_softplus(leat_op_select(exists, sum, none)), none);
    *mask = leat_op_greater(loss, none);
    return loss;
}

const leati_loss_kind leati_loss_circle = {
    .kind =
        {
            .name = "Circle",
            .doc = "Draws embeddings of one label together and pushes others apart "
                   "(keras.losses.Circle).",
            .rows = circle_rows,
            .signature = "gamma margin remove_diagonal reduction name=\"circle\" dtype",
            .args_size = sizeof(struct circle_args),
            .check = leati_loss_check,
        },
    .labels = LEATI_CLASS_LABELS,
    .call = circle_call,
};
