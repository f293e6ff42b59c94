/* What losses share: weighting and reducing as Keras' loss objects do, and the average over a
 * global batch.
 *
 * A custom loop divides the sum of its rows' losses by the global batch (leat_loss_average), so
 * that the gradients of all replicas sum to the gradient of the mean. Failures are the graph's. No
 * state, no locks. */
#include "train/frame/loss.h"
#include "base/alloc.h"
#include "base/error.h"
#include "graph/support/support.h"
#include <string.h>

struct leati_loss {
    const leati_loss_kind *kind;
    void *args; /* owned */
};

leat_status leati_loss_check(const void *args, leat_error *err) {
    static const char *const known[] = {"sum_over_batch_size", "mean", "mean_with_sample_weight",
                                        "sum", "none"};
    const char *reduction = ((const struct leati_loss_args *)args)->reduction;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        /* NULL is Keras' None, which means the same as "none". */
        if (reduction == NULL || strcmp(reduction, known[i]) == 0)
            return LEAT_OK;
    return leati_refuse(err, VALUE,
                        "reduction \"%.60s\"; expected sum_over_batch_size, mean, "
                        "mean_with_sample_weight, sum, none or null",
                        reduction);
}

leati_loss *leati_loss_from_json(const char *name, const json_t *config, leat_error *err) {
    size_t count;
    const leati_kind *const *kinds = leati_kinds_loss(&count);
    const leati_kind *kind = leati_kind_find(kinds, count, "loss", name, err);
    void *args;
    if (kind == NULL || leati_kind_args_read(kind, config, &args, err) != LEAT_OK)
        return NULL;
    leati_loss *loss = leati_alloc_zero(1, sizeof *loss);
    if (loss == NULL) {
        leati_kind_args_free(kind, args);
        leati_no_memory(err);
        return NULL;
    }
    *loss = (leati_loss){.kind = (const leati_loss_kind *)(const void *)kind, .args = args};
    return loss;
}

void leati_loss_free(leati_loss *loss) {
    if (loss == NULL)
        return;
    leati_kind_args_free(&loss->kind->kind, loss->args);
    leati_free(loss);
}

void leati_loss_same_rank(leat_value *values, leat_value *weights) {
    leat_shape a = leat_value_shape(*values), b = leat_value_shape(*weights);
    const int64_t last[1] = {-1};
    /* Ranks that are not known (-1) must not meet a rank of 0 here. */
    if (b.rank >= 0 && a.rank == b.rank + 1 && a.dims[a.rank - 1] == 1)
        *values = leat_op_squeeze(*values, last, 1);
    else if (a.rank >= 0 && b.rank == a.rank + 1 && b.dims[b.rank - 1] == 1)
        *weights = leat_op_squeeze(*weights, last, 1);
}

/* As leati_loss_same_rank, but a vector gets the last dimension of size 1 that the other has. */
static void match_ranks(leat_value *values, leat_value *weights) {
    leat_shape a = leat_value_shape(*values), b = leat_value_shape(*weights);
    if (a.rank == 1 && b.rank == 2 && b.dims[1] == 1)
        /* As Keras' squeeze_or_expand_to_same_rank: (n) with (n, 1) would broadcast to (n, n). */
        *values = leat_op_expand_dims(*values, -1);
    else if (b.rank == 1 && a.rank == 2 && a.dims[1] == 1)
        *weights = leat_op_expand_dims(*weights, -1);
    else
        leati_loss_same_rank(values, weights);
}

leat_value leati_loss_divide_no_nan(leat_value a, leat_value b) {
    leat_value zero = leati_support_number(b.graph, leat_value_dtype(b), 0);
    leat_value one = leati_support_number(b.graph, leat_value_dtype(b), 1);
    leat_value empty = leat_op_equal(b, zero);
    /* Divided by 1 where b is 0, so that the branch that is not taken has no infinite gradient. */
    leat_value quotient = leat_op_divide(a, leat_op_select(empty, one, b));
    return leat_op_select(empty, zero, quotient);
}

leat_value leati_loss_input_of(leat_value value, const leati_tensor_op *op) {
    leat_value none = {.graph = value.graph, .id = -1};
    if (leati_support_value_failed(value))
        return none;
    const leati_body *body = &value.graph->body;
    /* Negative: an argument, which no operation made. */
    int32_t node = body->values[value.id].node;
    if (node < 0 || body->nodes[node].op != op)
        return none;
    return (leat_value){.graph = value.graph, .id = body->nodes[node].inputs[0]};
}

leat_value leati_loss_logits_behind(leat_value value) {
    return leati_loss_input_of(value, &leati_tensor_op_softmax);
}

/* ---- for the files of losses ---- */

bool leati_loss_align(leat_value *labels, leat_value *predictions) {
    if (leati_support_value_failed(*labels) || leati_support_value_failed(*predictions))
        return false;
    /* Labels may be integers; the loss is computed in the predictions' dtype. */
    *labels = leat_op_cast(*labels, leat_value_dtype(*predictions));
    match_ranks(labels, predictions);
    return !leati_support_value_failed(*labels) && !leati_support_value_failed(*predictions);
}

leat_value leati_loss_failed_value(leat_value like) {
    return (leat_value){.graph = like.graph, .id = -1};
}

leat_value leati_loss_mean_of_last(leat_value value) {
    const int64_t last[1] = {-1};
    return leat_value_shape(value).rank == 0 ? value : leat_op_reduce_mean(value, last, 1, false);
}

leat_value leati_loss_number_like(leat_value like, double number) {
    return leati_support_number(like.graph, leat_value_dtype(like), number);
}

leat_value leati_loss_signed_labels(leat_value labels) {
    leat_value one = leati_loss_number_like(labels, 1);
    leat_value is_zero = leat_op_equal(labels, leati_loss_number_like(labels, 0));
    leat_value is_bit = leat_op_logical_or(is_zero, leat_op_equal(labels, one));
    /* Over the whole batch at once: one label that is neither 0 nor 1 leaves all as they are, as in
     * Keras. */
    leat_value all = leat_op_reduce_all(is_bit, NULL, 0, false);
    leat_value moved = leat_op_subtract(leati_support_times(labels, 2), one);
    return leat_op_select(all, moved, labels);
}

leat_value leati_loss_clip_probability(leat_value probabilities) {
    const double epsilon = 1e-7;
    leat_value low = leati_loss_number_like(probabilities, epsilon);
    leat_value high = leati_loss_number_like(probabilities, 1 - epsilon);
    return leat_op_maximum(leat_op_minimum(probabilities, high), low);
}

static bool is(const char *reduction, const char *name) {
    return strcmp(reduction, name) == 0;
}

/* Rows that a mask leaves out weigh nothing; where the mean is over all rows, the others weigh more
 * by as much. */
static leat_value weights_of_mask(leat_value mask, leat_dtype dtype, const char *reduction) {
    leat_value valid = leat_op_cast(mask, dtype);
    if (!is(reduction, "mean") && !is(reduction, "sum_over_batch_size"))
        return valid;
    /* How many rows there are over how many count: the mean divides by all of them later. */
    leat_value total = leat_op_cast(leat_op_size(valid, LEAT_INT64), dtype);
    leat_value kept = leat_op_reduce_sum(valid, NULL, 0, false);
    return leat_op_multiply(valid, leati_loss_divide_no_nan(total, kept));
}

/* Eagerly Keras leaves the losses of no rows as they are. In a traced function their mean is 0, as
 * for Keras where the number of rows is unknown: a replica without rows takes part. */
static bool is_nothing(leat_value values) {
    leat_shape shape = leat_value_shape(values);
    /* Eager graphs have a hook. The comparison is with a vector because losses have one value per
     * row. */
    return values.graph->hook != NULL && shape.rank == 1 && shape.dims[0] == 0;
}

leat_value leati_loss_call(const leati_loss *loss, leat_value labels, leat_value predictions,
                           const leat_value *sample_weight) {
    return leati_loss_pass(loss->kind, loss->args, labels, predictions, sample_weight, NULL);
}

/* The weights of the losses `values`, of the dtype of the values; failed where there are none.
 * `left` is the mask of the loss itself (failed: none), `given` that of the predictions. */
static leat_value weights_of(leat_value values, const leat_value *sample_weight, leat_value left,
                             const leat_value *given, const char *reduction) {
    leat_dtype dtype = leat_value_dtype(values);
    leat_value weights = leati_loss_failed_value(values), mask = left;
    if (given != NULL)
        /* Rows count only if neither mask leaves them out. */
        mask = left.id >= 0 ? leat_op_logical_and(*given, left) : *given;
    if (sample_weight != NULL)
        weights = leat_op_cast(*sample_weight, dtype);
    if (mask.id < 0)
        return weights;
    leat_value by_mask = weights_of_mask(mask, dtype, reduction);
    if (sample_weight == NULL)
        return by_mask;
    /* The mask may lack the last dimension of size 1 that the weights have. */
    leati_loss_same_rank(&by_mask, &weights);
    return leat_op_multiply(weights, by_mask);
}

leat_value leati_loss_pass(const leati_loss_kind *kind, const void *arguments, leat_value labels,
                           leat_value predictions, const leat_value *sample_weight,
                           const leat_value *given) {
    const struct leati_loss_args *args = arguments;
    /* From here on no reduction and the reduction "none" are the same. */
    const char *reduction = args->reduction == NULL ? "none" : args->reduction;
    leat_value mask = leati_loss_failed_value(predictions);
    leat_value values = kind->call(arguments, labels, predictions, &mask);
    if (leati_support_value_failed(values))
        return values;
    leat_value weights = weights_of(values, sample_weight, mask, given, reduction);
    bool weighted = sample_weight != NULL || given != NULL || mask.id >= 0;
    if (weighted) {
        /* One weight per row meets one loss per row, whichever has the dimension of size 1. */
        match_ranks(&values, &weights);
        values = leat_op_multiply(values, weights);
    }
    if (is(reduction, "none") || leat_value_shape(values).rank == 0 || is_nothing(values))
        return values;
    leat_value sum = leat_op_reduce_sum(values, NULL, 0, false);
    if (is(reduction, "sum"))
        return sum;
    /* Counted in the run, since the number of rows may not be known when the graph is made. */
    leat_value count = leat_op_cast(leat_op_size(values, LEAT_INT64), leat_value_dtype(values));
    /* Where the weights sum to 0 the loss is 0, by divide_no_nan. */
    if (weighted && is(reduction, "mean_with_sample_weight"))
        count = leat_op_reduce_sum(weights, NULL, 0, false);
    return leati_loss_divide_no_nan(sum, count);
}

leat_value leat_loss_average(leat_value losses, int64_t global_batch_size) {
    leat_value failed = {.graph = losses.graph, .id = -1};
    if (leati_support_value_failed(losses))
        return failed;
    if (global_batch_size < 0)
        return leati_support_build_error(losses.graph, LEAT_REASON_VALUE,
                                         "leat_loss_average: the global batch size is negative");
    leat_dtype dtype = leat_value_dtype(losses);
    leat_value sum = leat_op_reduce_sum(losses, NULL, 0, false);
    /* A global batch without rows gives 0, where the division would give NaN. */
    if (global_batch_size == 0)
        return leat_op_zeros_like(sum);
    return leat_op_divide(sum,
                          leati_support_number(losses.graph, dtype, (double)global_batch_size));
}
