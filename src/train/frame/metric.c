/* What metrics share: a total and a count, updated inside steps and read outside.
 *
 * Each replica adds to its own copy without talking to the others; reading sums the copies, so a
 * mean is exact however unevenly the rows are spread. The variables are made with the metric: under
 * a strategy's scope, if it is to be updated by that strategy's replicas. Failures are the graph's,
 * or the variables'. A metric belongs to one thread, and is not read while a step runs; no locks.
 */
#include "train/frame/metric.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "core/json.h"
#include "graph/support/support.h"
#include "train/frame/loss.h"
#include <math.h>
#include <string.h>

leat_status leati_metric_states(const leati_metric_kind *kind, const void *args,
                                const leat_shape *inputs, leati_weights *out, leat_error *err) {
    static const char *const names[] = {"total", "count"};
    *out = (leati_weights){.count = 0};
    if (kind->states_of != NULL)
        return kind->states_of(args, inputs, out, err);
    if (kind->states != NULL) {
        kind->states(args, out);
        return LEAT_OK;
    }
    for (out->count = 0; out->count < 2; out->count++)
        out->list[out->count] =
            (leati_weight){.name = names[out->count], .initializer = "zeros", .fixed = true};
    return LEAT_OK;
}

static leat_status make_state(leat_metric *metric, const leati_weight *state, leat_error *err) {
    const char *name = ((struct leati_metric_args *)metric->args)->name;
    /* A metric's states are float32 unless the kind says otherwise, as in Keras. */
    leat_dtype dtype = state->dtype == LEAT_INVALID ? LEAT_FLOAT32 : state->dtype;
    leati_text path = {0};
    leat_error own = {0};
    leat_tensor zeros = {0};
    leati_text_addf(&path, "%s/%s", name == NULL ? metric->kind->prefix : name, state->name);
    leat_status status =
        path.failed ? leati_no_memory(err) : leat_tensor_new(dtype, state->shape, &zeros, err);
    if (status == LEAT_OK) {
        /* Every replica has a copy that it alone writes; a read sums them. Such variables are not
         * trainable. */
        const leat_variable_options options = {LEAT_VARIABLE_DEFAULTS, .name = path.data,
                                               .sync_on_read = true,
                                               .aggregation = LEAT_AGGREGATION_SUM};
        memset(zeros.data, 0, leat_tensor_bytes(&zeros));
        leat_variable *variable = leat_variable_new(&zeros, &options, &own);
        if (variable == NULL)
            status = leati_error_pass(err, &own);
        else
            metric->states[metric->num_states++] = variable;
    }
    leat_tensor_unref(&zeros);
    leati_text_fini(&path);
    return status;
}

/* Makes the states that the metric lacks for values of these shapes (NULL: not known yet). */
static leat_status make_states(leat_metric *metric, const leat_shape *inputs, leat_error *err) {
    leati_weights states;
    leat_status status = leati_metric_states(metric->kind, metric->args, inputs, &states, err);
    /* States that exist stay: only those that wait for shapes, the last ones, are made. */
    while (status == LEAT_OK && metric->num_states < states.count)
        status = make_state(metric, &states.list[metric->num_states], err);
    return status;
}

static leat_metric *metric_of_args(const leati_metric_kind *kind, void *args, leat_error *err) {
    leat_metric *metric = leati_alloc_zero(1, sizeof *metric);
    if (metric == NULL) {
        leati_kind_args_free(&kind->kind, args);
        leati_no_memory(err);
        return NULL;
    }
    *metric = (leat_metric){.kind = kind, .args = args};
    if (make_states(metric, NULL, err) == LEAT_OK)
        return metric;
    leat_metric_free(metric);
    return NULL;
}

leat_metric *leati_metric_new(const leati_metric_kind *kind, const void *args, leat_error *err) {
    void *copy;
    if (leati_kind_args_copy(&kind->kind, args, &copy, err) != LEAT_OK)
        return NULL;
    return metric_of_args(kind, copy, err);
}

leat_metric *leat_metric_named(const char *name, const char *config, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    json_t *json = config == NULL ? NULL : leati_json_parse(config, strlen(config), err);
    if (config != NULL && json == NULL)
        return NULL;
    leat_metric *metric = leati_metric_from_json(name, json, err);
    json_decref(json);
    return metric;
}

leat_metric *leati_metric_from_json(const char *name, const json_t *config, leat_error *err) {
    size_t count;
    const leati_kind *const *kinds = leati_kinds_metric(&count);
    const leati_kind *kind = leati_kind_find(kinds, count, "metric", name, err);
    void *args;
    if (kind == NULL || leati_kind_args_read(kind, config, &args, err) != LEAT_OK)
        return NULL;
    return metric_of_args((const leati_metric_kind *)(const void *)kind, args, err);
}

void leat_metric_free(leat_metric *metric) {
    if (metric == NULL)
        return;
    for (int i = 0; i < metric->num_states; i++)
        leat_variable_unref(metric->states[i]);
    leati_kind_args_free(&metric->kind->kind, metric->args);
    leati_free(metric);
}

/* ---- updates ---- */

leat_value leati_metric_mean_from(leat_value value, int32_t first) {
    int64_t axes[LEAT_MAX_RANK];
    int32_t rank = leat_value_shape(value).rank;
    for (int32_t d = first; d < rank; d++)
        axes[d - first] = d;
    return rank > first ? leat_op_reduce_mean(value, axes, rank - first, false) : value;
}

leat_value leati_metric_in_top_k(leat_value labels, leat_value predictions, int64_t k) {
    leat_shape shape = leat_value_shape(predictions);
    const int64_t last[1] = {-1};
    if (leati_support_value_failed(predictions) || leati_support_value_failed(labels))
        return leati_loss_failed_value(predictions);
    if (shape.rank < 1 || shape.dims[shape.rank - 1] < 1)
        return leati_support_build_error(predictions.graph, LEAT_REASON_SHAPE,
                                         "the number of classes is unknown");
    /* A label outside the classes has no place that is true, so its own prediction is -inf. */
    leat_value places =
        leat_op_one_hot(labels, shape.dims[shape.rank - 1],
                        &(leat_op_one_hot_options){LEAT_OP_ONE_HOT_DEFAULTS, .dtype = LEAT_BOOL});
    leat_value least = leati_loss_number_like(predictions, -INFINITY);
    leat_value own = leat_op_reduce_max(leat_op_select(places, predictions, least), last, 1, true);
    /* Only larger predictions rank before it: equal ones do not push the label out of the k. */
    leat_value above = leat_op_cast(leat_op_greater(predictions, own), LEAT_INT64);
    leat_value rank = leat_op_reduce_sum(above, last, 1, false);
    leat_value among = leat_op_less(rank, leati_support_number(rank.graph, LEAT_INT64, (double)k));
    /* A label outside the classes is not found, and none where any prediction is infinite or NaN.
     */
    leat_value all = leat_op_reduce_all(leat_op_is_finite(predictions), last, 1, false);
    leat_value finite = leat_op_is_finite(leat_op_squeeze(own, last, 1));
    return leat_op_logical_and(among, leat_op_logical_and(finite, all));
}

leat_value leati_metric_as_state(const leati_pass *pass, leat_value value) {
    leat_dtype dtype = leat_value_dtype(pass->weights[0]);
    return leat_value_dtype(value) == dtype ? value : leat_op_cast(value, dtype);
}

/* Keras' rule: values times weights, then one value per row; the count is the sum of the weights,
 * or without them the number of rows. */
static void add_mean(const leati_pass *pass, leat_value values) {
    const leat_value *sample_weight = pass->sample_weight;
    /* What a scalar counts for; the rows of other values are counted below. */
    leat_value count = leati_loss_number_like(pass->weights[1], 1);
    values = leati_metric_as_state(pass, values);
    if (sample_weight != NULL) {
        leat_value weights = leati_metric_as_state(pass, *sample_weight);
        leati_loss_same_rank(&values, &weights);
        /* Values may have dimensions behind those of the weights: their mean is weighted. */
        values = leati_metric_mean_from(values, leat_value_shape(weights).rank);
        /* Weights of size 1 weigh every value, and each of these counts in the sum. */
        weights = leat_op_broadcast_like(weights, values);
        values = leat_op_multiply(values, weights);
        /* The sum of the rows' mean weights, not of the weights, because values become one per row
         * too. */
        count = leat_op_reduce_sum(leati_metric_mean_from(weights, 1), NULL, 0, false);
    }
    values = leati_metric_mean_from(values, 1);
    if (sample_weight == NULL && leat_value_shape(values).rank > 0)
        count = leati_metric_as_state(pass, leat_op_size(values, LEAT_INT64));
    pass->updates[0] = leat_op_add(pass->weights[0], leat_op_reduce_sum(values, NULL, 0, false));
    pass->updates[1] = leat_op_add(pass->weights[1], count);
}

/* Checks the values of an update: `count` of them, of known ranks. */
static leat_status check_update(const leati_metric_kind *kind, const leati_pass *pass,
                                leat_error *err) {
    /* Sample weights, if there are any, stand before the inputs. */
    for (int i = -1; i < pass->num_inputs; i++) {
        const leat_value *value = i < 0 ? pass->sample_weight : &pass->inputs[i];
        if (value != NULL &&
            (leati_support_value_failed(*value) || leat_value_shape(*value).rank < 0))
            return leati_refuse(err, SHAPE,
                                "%s: value %d has failed or is of unknown rank; use "
                                "leat_op_ensure_shape",
                                kind->kind.name, i < 0 ? kind->num_values : i);
    }
    return LEAT_OK;
}

void leati_metric_pass(const leati_metric_kind *kind, const leati_pass *pass) {
    leat_graph *graph = pass->inputs[0].graph;
    leat_error err = {0};
    if (check_update(kind, pass, &err) != LEAT_OK) {
        leati_graph_error(graph, &err);
        return;
    }
    if (kind->update != NULL)
        kind->update(pass);
    else
        add_mean(pass, kind->values(pass->args, pass->inputs));
    if (graph->error.code != LEAT_OK)
        leati_prefix(&graph->error, "metric %s", kind->kind.name);
}

leat_value leati_metric_result_of(const leati_metric_kind *kind, const void *args,
                                  const leat_value *states) {
    /* Before the first update the count is 0 and the mean 0, as in Keras. */
    return kind->result != NULL ? kind->result(args, states)
                                : leati_loss_divide_no_nan(states[0], states[1]);
}

/* Makes the states that depend on the shapes of an update's values, with the first one. */
static leat_status make_states_of(leat_metric *metric, const leat_value *values, leat_error *err) {
    /* Scalars stand for values that the metric does not take. */
    leat_shape shapes[2] = {LEAT_SCALAR, LEAT_SCALAR};
    for (int i = 0; i < metric->kind->num_values && i < 2; i++)
        shapes[i] = leat_value_shape(values[i]);
    return make_states(metric, shapes, err);
}

void leat_metric_update(leat_metric *metric, const leat_value *values, int count) {
    leat_graph *graph = values == NULL || count < 1 ? NULL : values[0].graph;
    if (graph == NULL || graph->error.code != LEAT_OK)
        return;
    if (metric == NULL) {
        leati_support_build_error(graph, LEAT_REASON_VALUE,
                                  "leat_metric_update: the metric is NULL");
        return;
    }
    int wanted = metric->kind->num_values;
    leat_error err = {0};
    if (count != wanted && count != wanted + 1) {
        leati_refuse(&err, STRUCTURE,
                     "%s takes %s, and sample weights if there are any; %d values were given",
                     metric->kind->kind.name, metric->kind->takes, count);
        leati_graph_error(graph, &err);
        return;
    }
    /* Variables are made while the step is traced: their shapes are known only here. */
    if (metric->kind->states_of != NULL && make_states_of(metric, values, &err) != LEAT_OK) {
        leati_prefix(&err, "metric %s", metric->kind->kind.name);
        leati_graph_error(graph, &err);
        return;
    }
    leat_value states[LEATI_MAX_WEIGHTS], updates[LEATI_MAX_WEIGHTS];
    for (int i = 0; i < metric->num_states; i++) {
        states[i] = leat_graph_read(graph, metric->states[i]);
        updates[i] = (leat_value){.graph = graph, .id = -1};
    }
    const leati_pass pass = {.args = metric->args,
                             .inputs = values,
                             .num_inputs = wanted,
                             .sample_weight = count > wanted ? &values[wanted] : NULL,
                             .weights = states,
                             .updates = updates};
    leati_metric_pass(metric->kind, &pass);
    for (int i = 0; i < metric->num_states; i++)
        if (updates[i].id >= 0)
            leat_graph_assign(graph, metric->states[i], updates[i]);
}

/* ---- results ---- */

/* The result, computed in an eager graph of its own. */
static leat_status compute_result(const leat_metric *metric, leat_graph *graph, leat_tensor *out,
                                  leat_error *err) {
    leat_value states[LEATI_MAX_WEIGHTS];
    leati_weights wanted;
    /* Any shapes do, since only the number of states is wanted; 2 dimensions are what states_of
     * takes. */
    const leat_shape any[2] = {LEAT_SHAPE(1, 1), LEAT_SHAPE(1, 1)};
    LEATI_TRY(leati_metric_states(metric->kind, metric->args, any, &wanted, err));
    if (metric->num_states < wanted.count)
        return leati_fail(err, LEAT_FAILED_PRECONDITION,
                          "metric %s has no result before its first update",
                          metric->kind->kind.name);
    for (int i = 0; i < metric->num_states; i++) {
        leat_tensor state;
        LEATI_TRY(leat_variable_read(metric->states[i], &state, err));
        states[i] = leat_graph_tensor(graph, &state);
        /* The graph keeps a reference of its own. */
        leat_tensor_unref(&state);
    }
    leat_value result = leati_metric_result_of(metric->kind, metric->args, states);
    return leat_value_tensor(result, out, err);
}

leat_status leat_metric_result_tensor(leat_metric *metric, leat_tensor *out, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (metric == NULL || out == NULL)
        return leati_refuse(err, VALUE, "the metric or its result is NULL");
    leat_graph *graph = leat_graph_new_eager(err);
    if (graph == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leat_status status = compute_result(metric, graph, out, err);
    leat_graph_free(graph);
    return status;
}

leat_status leat_metric_result(leat_metric *metric, double *out, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_tensor tensor = {0};
    if (out == NULL)
        return leati_refuse(err, VALUE, "the metric or its result is NULL");
    leat_status status = leat_metric_result_tensor(metric, &tensor, err);
    if (status == LEAT_OK && (tensor.dtype != LEAT_FLOAT32 || leat_tensor_count(&tensor) != 1))
        status = leati_refuse(err, VALUE,
                              "the result of %s is not one number; use leat_metric_result_tensor",
                              metric->kind->kind.name);
    if (status == LEAT_OK)
        *out = *(const float *)tensor.data;
    leat_tensor_unref(&tensor);
    return status;
}

leat_status leat_metric_reset(leat_metric *metric, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (metric == NULL)
        return leati_refuse(err, VALUE, "the metric is NULL");
    leat_status status = LEAT_OK;
    for (int i = 0; i < metric->num_states && status == LEAT_OK; i++) {
        leat_tensor zeros;
        const leat_variable *state = metric->states[i];
        status =
            leat_tensor_new(leat_variable_dtype(state), leat_variable_shape(state), &zeros, err);
        if (status != LEAT_OK)
            break;
        memset(zeros.data, 0, leat_tensor_bytes(&zeros));
        status = leat_variable_assign(metric->states[i], &zeros, err);
        leat_tensor_unref(&zeros);
    }
    return status;
}
