/* Metrics against values recorded from Keras (tests/golden/data/nn/metrics.json), and over copies
 * on two replicas. */
#include "support/cmocka.h"

#include "support/refused.h"
#include "support/replicas.h"
#include "support/torture.h"
#include "support/train.h"
#include "train/frame/metric.h"

static bool in_table(const char *name) {
    size_t count;
    const leati_kind *const *kinds = leati_kinds_metric(&count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(kinds[i]->name, name) == 0)
            return true;
    return false;
}

static double result_of(leat_metric *metric) {
    double result = -1;
    train_ok(leat_metric_result(metric, &result, &train_error));
    return result;
}

static void check_state(leat_variable *variable, const json_t *recorded) {
    leat_tensor found, expected = train_tensor(recorded);
    train_ok(leat_variable_read(variable, &found, &train_error));
    train_close("state", &expected, &found, 1e-6);
    leat_tensor_unref(&found);
    leat_tensor_unref(&expected);
}

static void run_case(const json_t *c) {
    leat_error err = {0};
    leat_metric *metric =
        leati_metric_from_json(arrays_text(c, "metric"), json_object_get(c, "config"), &err);
    if (metric == NULL)
        fail_msg("%s", err.text);
    assert_true(result_of(metric) == json_number_value(json_object_get(c, "before")));
    leat_graph *graph = leat_graph_new_eager(&err);
    size_t index, k;
    json_t *update, *value;
    json_array_foreach(json_object_get(c, "updates"), index, update) {
        leat_value values[4];
        json_array_foreach(update, k, value) values[k] = train_eager_value(graph, value);
        leat_metric_update(metric, values, (int)json_array_size(update));
        double expected = json_number_value(json_array_get(json_object_get(c, "results"), index));
        assert_true(fabs(result_of(metric) - expected) <= 1e-6 * fabs(expected));
    }
    const json_t *state = json_object_get(c, "state");
    if (json_object_get(state, "total") != NULL)
        check_state(metric->states[0], json_object_get(state, "total"));
    if (json_object_get(state, "count") != NULL)
        check_state(metric->states[1], json_object_get(state, "count"));
    train_ok(leat_metric_reset(metric, &train_error));
    assert_true(result_of(metric) == json_number_value(json_object_get(c, "after_reset")));
    leat_graph_free(graph);
    leat_metric_free(metric);
}

static void metrics_are_keras(void **state) {
    (void)state;
    json_t *root, *c;
    json_t *cases = train_cases("metrics.json", &root);
    size_t index;
    int ran = 0;
    json_array_foreach(cases, index, c) {
        if (!in_table(arrays_text(c, "metric")))
            continue;
        print_message("case %d: %s\n", (int)index, arrays_text(c, "metric"));
        run_case(c);
        ran++;
    }
    json_decref(root);
    assert_int_equal(ran, 23); /* all but two losses as metrics */
}

static leat_value eager_rows(leat_graph *graph, leat_shape shape, const float *values) {
    leat_tensor tensor = leat_tensor_view(LEAT_FLOAT32, shape, values);
    return leat_graph_tensor(graph, &tensor);
}

/* The examples of Keras' documentation, and labels that are a column where predictions are a row.
 */
static void documented_examples(void **state) {
    (void)state;
    static const float labels[] = {1, 2, 3, 4}, found[] = {0, 2, 3, 4}, two_of[] = {1, 1, 0, 0};
    static const float zeros[] = {0, 1, 0, 0}, ones[] = {1, 1, 0, 0}, first[] = {1, 0};
    const struct {
        const char *name;
        leat_shape shape, labels_shape, weights_shape;
        const float *labels, *predictions, *weights;
        double plain, weighted;
    } cases[] = {
        {"Accuracy", LEAT_SHAPE(4, 1), LEAT_SHAPE(4, 1), LEAT_SHAPE(4), labels, found, two_of, 0.75,
         0.5},
        {"Accuracy", LEAT_SHAPE(4, 1), LEAT_SHAPE(4), LEAT_SHAPE(4), labels, found, two_of, 0.75,
         0.5},
        {"RootMeanSquaredError", LEAT_SHAPE(2, 2), LEAT_SHAPE(2, 2), LEAT_SHAPE(2), zeros, ones,
         first, 0.5, 0.70710677},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int weighted = 0; weighted < 2; weighted++) {
            leat_error err = {0};
            leat_metric *metric = leati_metric_from_json(cases[i].name, NULL, &err);
            if (metric == NULL)
                fail_msg("%s", err.text);
            leat_graph *graph = leat_graph_new_eager(&err);
            leat_value values[3] = {eager_rows(graph, cases[i].labels_shape, cases[i].labels),
                                    eager_rows(graph, cases[i].shape, cases[i].predictions),
                                    eager_rows(graph, cases[i].weights_shape, cases[i].weights)};
            leat_metric_update(metric, values, 2 + weighted);
            train_ok(leat_graph_take_error(graph, &train_error));
            assert_true(fabs(result_of(metric) - (weighted ? cases[i].weighted : cases[i].plain)) <
                        1e-6);
            leat_graph_free(graph);
            leat_metric_free(metric);
        }
    }
}

static int update_mean(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)outputs;
    leat_value values = leat_graph_argument(graph, 0);
    leat_metric_update(context, &values, 1);
    return 0;
}

/* Three rows on one replica and one on the other: the mean of the four, as the copies are summed.
 */
static void copies_are_summed(void **state) {
    (void)state;
    leat_error err = {0};
    const float rows[2][3] = {{1, 2, 3}, {10, 0, 0}};
    const leati_variable_creator *outer = replicas_enter(2);
    leat_metric *metric = leat_metric_mean("loss", &err);
    replicas_exit(outer);
    assert_int_equal(metric->states[0]->num_copies, 2);
    for (int round = 0; round < 2; round++) {
        leat_tensor inputs[2] = {leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(3), rows[0]),
                                 leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(1), rows[1])};
        leat_tensor *arguments[2] = {&inputs[0], &inputs[1]};
        replicas_run(2, update_mean, metric, arguments, 1, NULL);
        assert_true(result_of(metric) == 4);
        train_ok(leat_metric_reset(metric, &train_error));
        assert_true(result_of(metric) == 0);
    }
    leat_metric_free(metric);
}

static void wrong_values_are_named(void **state) {
    (void)state;
    leat_error err = {0};
    double result;
    leat_metric *metric = leat_metric_sparse_categorical_accuracy(NULL, &err);
    leat_graph *graph = leat_graph_new(NULL, &err);
    leat_value one =
        leat_graph_tensor(graph, &(leat_tensor){.dtype = LEAT_FLOAT32, .data = &(float){1}});
    leat_metric_update(metric, &one, 1);
    assert_null(leat_graph_finish(graph, NULL, 0, NULL, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_STRUCTURE, "SparseCategoricalAccuracy");
    assert_int_equal(leat_metric_result(NULL, &result, &err), LEAT_INVALID_ARGUMENT);
    assert_int_equal(leat_metric_reset(NULL, &err), LEAT_INVALID_ARGUMENT);
    leat_metric_free(metric);
}

static leat_status make(void *context, leat_error *err) {
    leat_metric *metric = leat_metric_mean(context, err);
    if (metric == NULL)
        return torture_code(err);
    leat_metric_free(metric);
    return LEAT_OK;
}

static void survives_failed_allocations(void **state) {
    (void)state;
    char name[] = "loss";
    torture_begin();
    torture_run(make, name);
    torture_end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metrics_are_keras),           cmocka_unit_test(documented_examples),
        cmocka_unit_test(copies_are_summed),           cmocka_unit_test(wrong_values_are_named),
        cmocka_unit_test(survives_failed_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
