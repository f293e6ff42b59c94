/* What is drawn: initializers' weights and dropout. */
#include "nn.h"
#include "train/frame/initializer.h"
#include "train/frame/layer.h"
#include <math.h>
#include <string.h>

/* ---- initializers.json ---- */

/* Weights drawn from other bits: mean, deviation, extremes and kurtosis agree as far as samples of
 * this size do. */
static void check_moments(golden_case *c, const json_t *json, const leat_tensor *found) {
    double n = (double)leat_tensor_count(found), mean = 0, moments[2] = {0, 0};
    double least = INFINITY, most = -INFINITY;
    for (int64_t i = 0; i < leat_tensor_count(found); i++) {
        double x = golden_number(found, i);
        mean += x / n;
        least = x < least ? x : least;
        most = x > most ? x : most;
    }
    for (int64_t i = 0; i < leat_tensor_count(found); i++) {
        double d = (golden_number(found, i) - mean) * (golden_number(found, i) - mean);
        moments[0] += d / n;
        moments[1] += d * d / n;
    }
    double std = json_number_value(json_object_get(json, "std"));
    const double numbers[5] = {mean, sqrt(moments[0]), least, most,
                               moments[0] > 1e-18 ? moments[1] / (moments[0] * moments[0]) : 0};
    const double allowed[5] = {6 * std / sqrt(n), 0.01 * std, 0.15 * std, 0.15 * std, 0.05};
    static const char *const names[5] = {"mean", "std", "min", "max", "kurtosis"};
    for (int i = 0; i < 5; i++) {
        double expected = json_number_value(json_object_get(json, names[i]));
        double room = i == 4 && expected > 2.9                                    ? 0.1
                      : (i == 2 || i == 3) && expected * expected > 9 * std * std ? 1.5 * std
                                                                                  : allowed[i];
        if (!(fabs(numbers[i] - expected) <= room + 1e-9))
            golden_fail(c, "%s: expected %.6g, found %.6g", names[i], expected, numbers[i]);
    }
}

static void default_case(golden_case *c, const json_t *json) {
    const char *argument = NULL;
    json_t *value = NULL;
    leat_error err = {0};
    size_t count = 0;
    const leati_kind *const *kinds = leati_kinds_layer(&count);
    const leati_kind *kind =
        golden_kind(c, "layer", kinds, count, golden_text(json, "default_of"), NULL);
    json_object_foreach((json_t *)json, argument, value) {
        if (kind == NULL || !golden_ends_in(argument, "_initializer"))
            continue;
        const leati_row *row = leati_rows_find(kind->rows, argument);
        const leati_initializer_kind *found =
            row == NULL ? NULL : leati_initializer_find(row->default_text, &err);
        if (row == NULL)
            golden_missing(c, "argument %s of layer %s", argument, kind->name);
        else if (found == NULL || strcmp(found->kind.name, json_string_value(value)) != 0)
            golden_fail(c, "%s: expected %s, found %s", argument, json_string_value(value),
                        row->default_text);
    }
}

void golden_initializer_case(golden_case *c, const json_t *json) {
    if (json_object_get(json, "default_of") != NULL) {
        default_case(c, json);
        return;
    }
    leat_error err = {0};
    leat_shape shape = LEAT_SCALAR;
    leat_tensor found = {0};
    void *args = NULL;
    size_t count = 0;
    const leati_kind *const *kinds = leati_kinds_initializer(&count);
    const json_t *config = json_object_get(json, "config");
    const json_t *given = json_object_get(config, "seed");
    int64_t seed = given != NULL ? json_integer_value(given) : 7;
    const leati_kind *kind =
        golden_kind(c, "initializer", kinds, count, golden_text(json, "initializer"), config);
    if (golden_stopped(c))
        return;
    leat_status status = leati_json_to_shape(json_object_get(json, "shape"), &shape, &err);
    if (status == LEAT_OK)
        status = leati_kind_args_read(kind, config, &args, &err);
    if (status == LEAT_OK)
        status = leati_initializer_run(leati_initializer_find(kind->name, &err), args, seed, &shape,
                                       &found, &err);
    if (status == LEAT_OK && json_object_get(json, "value") != NULL)
        golden_tensor_close(c, "value", json_object_get(json, "value"), &found, 1e-5);
    else if (status == LEAT_OK && json_object_get(json, "std") != NULL)
        check_moments(c, json, &found);
    else if (status != LEAT_OK)
        golden_refused(c, kind->name, &err);
    leati_kind_args_free(kind, args);
    leat_tensor_unref(&found);
}

/* ---- dropout.json ---- */

/* The part of ones that a call keeps, and the value of those; -1 where they differ. */
static double kept_of(leat_layer *layer, leat_tensor *out, double *value) {
    leat_error err = {0};
    leat_graph *graph = leat_graph_new_eager(&err);
    double kept = 0;
    *value = 0;
    if (graph == NULL)
        return -1;
    leat_value ones = leat_op_ones(graph, LEAT_SHAPE(400, 500), LEAT_FLOAT32);
    leat_value output = leati_layer_call(layer, &ones, 1, true, NULL);
    if (leat_value_tensor(output, out, &err) == LEAT_OK)
        for (int64_t i = 0; i < leat_tensor_count(out); i++) {
            double x = golden_number(out, i);
            kept += x != 0;
            *value = x == 0 ? *value : *value == 0 || *value == x ? x : -1;
        }
    leat_graph_free(graph);
    return kept / 200000;
}

void golden_dropout_case(golden_case *c, const json_t *json) {
    double rate = json_number_value(json_object_get(json, "rate")), values[2];
    double wanted = json_number_value(json_array_get(json_object_get(json, "kept_value"), 0));
    json_t *config = json_pack("{s:f,s:i}", "rate", rate, "seed", 3);
    leat_error err = {0};
    leat_tensor outputs[2] = {{0}, {0}};
    leat_layer *layer = leati_layer_from_json("Dropout", config, &err);
    json_decref(config);
    if (layer == NULL) {
        golden_refused(c, "Dropout", &err);
        return;
    }
    for (int i = 0; i < 2; i++) {
        double kept = kept_of(layer, &outputs[i], &values[i]);
        if (!(fabs(kept - (1 - rate)) < 0.005))
            golden_fail(c, "call %d keeps %.6g of the values", i, kept);
        if (!(fabs(values[i] - wanted) <= 1e-6 * wanted))
            golden_fail(c, "call %d: expected %.9g, found %.9g", i, wanted, values[i]);
    }
    size_t size = leat_tensor_bytes(&outputs[0]);
    bool differ = size > 0 && memcmp(outputs[0].data, outputs[1].data, size) != 0;
    if (differ != json_is_true(json_object_get(json, "two_calls_differ")))
        golden_fail(c, "two calls %s", differ ? "differ" : "are equal");
    leat_tensor_unref(&outputs[0]);
    leat_tensor_unref(&outputs[1]);
    leat_layer_free(layer);
}
