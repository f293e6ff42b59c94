/* What metrics share: a total and a count, updated inside steps and read outside.
 *
 * Each replica adds to its own copy without talking to the others; reading sums the copies, so a
 * mean is exact however unevenly the rows are spread. The variables are made with the metric: under
 * a strategy's scope, if it is to be updated by that strategy's replicas. Failures are the graph's,
 * or the variables'. A metric belongs to one thread, and is not read while a step runs; no locks.
 */
#include "train/metric.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "graph/ops/support.h"
#include "train/loss.h"
#include <string.h>

static leat_status make_sum(const char *metric, const char *name, leat_variable **out,
                            leat_error *err) {
    const float zero = 0;
    leati_text path = {0};
    leat_error own = {0};
    leati_text_addf(&path, "%s/%s", metric, name);
    if (path.failed)
        return leati_no_memory(err, strlen(metric) + strlen(name) + 2);
    const leat_variable_options options = {.name = path.data,
                                           .not_trainable = true,
                                           .sync_on_read = true,
                                           .aggregation = LEAT_AGGREGATION_SUM};
    leat_tensor initial = leat_tensor_view(LEAT_FLOAT32, LEAT_SCALAR, &zero);
    *out = leat_variable_new(&initial, &options, &own);
    leati_text_fini(&path);
    return *out == NULL ? leati_fail(err, own.code, "%s", own.text) : LEAT_OK;
}

static leat_metric *metric_of_args(const leati_metric_kind *kind, void *args, leat_error *err) {
    const char *name = ((struct leati_metric_args *)args)->name;
    leat_metric *metric = leati_alloc_zero(1, sizeof *metric);
    if (metric == NULL) {
        leati_kind_args_free(&kind->kind, args);
        leati_no_memory(err, sizeof *metric);
        return NULL;
    }
    *metric = (leat_metric){.kind = kind, .args = args};
    name = name == NULL ? kind->prefix : name;
    if (make_sum(name, "total", &metric->total, err) == LEAT_OK &&
        make_sum(name, "count", &metric->count, err) == LEAT_OK)
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

leat_metric *leati_metric_from_json(const char *name, const json_t *config, leat_error *err) {
    size_t count;
    const leati_kind *const *kinds = leati_metric_kinds(&count);
    const leati_kind *kind = leati_kind_find(kinds, count, "metric", name, err);
    void *args;
    if (kind == NULL || leati_kind_args_read(kind, config, &args, err) != LEAT_OK)
        return NULL;
    return metric_of_args((const leati_metric_kind *)(const void *)kind, args, err);
}

void leat_metric_free(leat_metric *metric) {
    if (metric == NULL)
        return;
    leat_variable_unref(metric->total);
    leat_variable_unref(metric->count);
    leati_kind_args_free(&metric->kind->kind, metric->args);
    leati_free(metric);
}

/* ---- updates ---- */

/* The mean over all dimensions from `first` on. */
static leat_value mean_from(leat_value value, int32_t first) {
    int64_t axes[LEAT_MAX_RANK];
    int32_t rank = leat_value_shape(value).rank;
    for (int32_t d = first; d < rank; d++)
        axes[d - first] = d;
    return rank > first ? leat_reduce_mean(value, axes, rank - first, false) : value;
}

/* Keras' rule: values times weights, then one value per row; the count is the sum of the weights,
 * or without them the number of rows. */
static void add_mean(leat_metric *metric, leat_value values, const leat_value *sample_weight) {
    leat_graph *graph = values.graph;
    leat_value count = leati_number(graph, LEAT_FLOAT32, 1);
    values = leat_cast(values, LEAT_FLOAT32);
    if (sample_weight != NULL) {
        leat_value weights = leat_cast(*sample_weight, LEAT_FLOAT32);
        leati_same_rank(&values, &weights);
        values = mean_from(values, leat_value_shape(weights).rank);
        weights = leat_broadcast_like(weights, values);
        values = leat_multiply(values, weights);
        count = leat_reduce_sum(mean_from(weights, 1), NULL, 0, false);
    }
    values = mean_from(values, 1);
    if (sample_weight == NULL && leat_value_shape(values).rank > 0)
        count = leat_cast(leat_size_of(values, LEAT_INT64), LEAT_FLOAT32);
    leat_graph_assign_add(graph, metric->total, leat_reduce_sum(values, NULL, 0, false));
    leat_graph_assign_add(graph, metric->count, count);
}

void leat_metric_update(leat_metric *metric, const leat_value *values, int count) {
    leat_graph *graph = values == NULL || count < 1 ? NULL : values[0].graph;
    if (graph == NULL || graph->error.code != LEAT_OK)
        return;
    if (metric == NULL) {
        leat_graph_fail(graph, LEAT_INVALID_ARGUMENT, "leat_metric_update: the metric is NULL");
        return;
    }
    int wanted = metric->kind->num_values;
    leat_error err = {0};
    if (count != wanted && count != wanted + 1) {
        leati_fail(&err, LEAT_INVALID_ARGUMENT,
                   "%s takes %s, and sample weights if there are any; %d values were given",
                   metric->kind->kind.name, metric->kind->takes, count);
        leati_graph_error(graph, &err);
        return;
    }
    for (int i = 0; i < count; i++)
        if (leati_value_failed(values[i]) || leat_value_shape(values[i]).rank < 0) {
            leati_fail(&err, LEAT_INVALID_ARGUMENT,
                       "%s: value %d has failed or is of unknown rank; use leat_ensure_shape",
                       metric->kind->kind.name, i);
            leati_graph_error(graph, &err);
            return;
        }
    leat_value measured = metric->kind->values(metric->args, values);
    add_mean(metric, measured, count > wanted ? &values[wanted] : NULL);
    if (graph->error.code != LEAT_OK)
        leati_prefix(&graph->error, "metric %s", metric->kind->kind.name);
}

/* ---- results ---- */

static leat_status read_sum(leat_variable *variable, float *out, leat_error *err) {
    leat_tensor tensor;
    leat_status status = leat_variable_read(variable, &tensor, err);
    if (status != LEAT_OK)
        return status;
    *out = *(const float *)tensor.data;
    leat_tensor_unref(&tensor);
    return LEAT_OK;
}

leat_status leat_metric_result(leat_metric *metric, double *out, leat_error *err) {
    float total = 0, count = 0;
    if (metric == NULL || out == NULL)
        return leati_fail(err, LEAT_INVALID_ARGUMENT, "the metric or its result is NULL");
    leat_status status = read_sum(metric->total, &total, err);
    if (status == LEAT_OK)
        status = read_sum(metric->count, &count, err);
    if (status != LEAT_OK)
        return status;
    *out = count == 0 ? 0 : (double)(total / count);
    return LEAT_OK;
}

leat_status leat_metric_reset(leat_metric *metric, leat_error *err) {
    const float zero = 0;
    leat_tensor value = leat_tensor_view(LEAT_FLOAT32, LEAT_SCALAR, &zero);
    if (metric == NULL)
        return leati_fail(err, LEAT_INVALID_ARGUMENT, "the metric is NULL");
    leat_status status = leat_variable_assign(metric->total, &value, err);
    return status == LEAT_OK ? leat_variable_assign(metric->count, &value, err) : status;
}
