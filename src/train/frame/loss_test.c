/* Losses against values recorded from Keras (tests/golden/data/nn/losses.json and
 * loss_behind_softmax.json). */
#include "support/cmocka.h"

#include "support/refused.h"
#include "support/train.h"
#include "train/frame/layer.h"
#include "train/frame/loss.h"

static bool in_table(const char *name) {
    size_t count;
    const leati_kind *const *kinds = leati_kinds_loss(&count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(kinds[i]->name, name) == 0)
            return true;
    return false;
}

static void run_case(const json_t *c) {
    leat_error err = {0};
    leati_loss *loss =
        leati_loss_from_json(arrays_text(c, "loss"), json_object_get(c, "config"), &err);
    if (loss == NULL)
        fail_msg("%s", err.text);
    leat_graph *graph = leat_graph_new_eager(&err);
    const json_t *weights = json_object_get(c, "sample_weight");
    leat_value labels = train_eager_value(graph, json_object_get(c, "y_true")), weight, gradient;
    leat_value predictions = train_eager_value(graph, json_object_get(c, "y_pred"));
    if (!json_is_null(weights))
        weight = train_eager_value(graph, weights);
    leat_value value =
        leati_loss_call(loss, labels, predictions, json_is_null(weights) ? NULL : &weight);
    leat_tensor expected = train_tensor(json_object_get(c, "value"));
    train_value_close("loss", &expected, value, 2e-6);
    leat_tensor_unref(&expected);
    leat_value_gradients(value, &predictions, 1, &gradient);
    expected = train_tensor(json_object_get(c, "grad"));
    train_value_close("gradient", &expected, gradient, 2e-6);
    leat_tensor_unref(&expected);
    leat_graph_free(graph);
    leati_loss_free(loss);
}

static void losses_are_keras(void **state) {
    (void)state;
    json_t *root, *c;
    json_t *cases = train_cases("losses.json", &root);
    size_t index;
    int ran = 0;
    json_array_foreach(cases, index, c) {
        if (!in_table(arrays_text(c, "loss")))
            continue;
        print_message("case %d: %s\n", (int)index, arrays_text(c, "loss"));
        run_case(c);
        ran++;
    }
    json_decref(root);
    assert_int_equal(ran, 132); /* all that are recorded */
}

/* Labels of the recorded cases are bare lists. */
static leat_value label_values(leat_graph *graph, const json_t *list) {
    int32_t labels[8];
    leat_tensor tensor = {0};
    for (size_t i = 0; i < json_array_size(list) && i < 8; i++)
        labels[i] = (int32_t)json_integer_value(json_array_get(list, i));
    train_ok(leat_tensor_copy_of(LEAT_INT32, LEAT_SHAPE((int64_t)json_array_size(list)), labels,
                                 &tensor, &train_error));
    leat_value value = leat_graph_tensor(graph, &tensor);
    leat_tensor_unref(&tensor);
    return value;
}

/* The mean over rows of the loss of probabilities that a softmax gave. */
static void softmax_is_looked_behind(void **state) {
    (void)state;
    json_t *root, *c;
    json_t *cases = train_cases("loss_behind_softmax.json", &root);
    size_t index;
    json_array_foreach(cases, index, c) {
        leat_error err = {0};
        leat_graph *graph = leat_graph_new_eager(&err);
        leat_value logits = train_eager_value(graph, json_object_get(c, "logits")), gradient;
        leat_value labels = label_values(graph, json_object_get(c, "labels"));
        leat_value rows =
            leat_loss_sparse_categorical_crossentropy(labels, leat_op_softmax(logits), false);
        leat_value loss = leat_op_reduce_mean(rows, NULL, 0, false);
        leat_tensor found, expected;
        train_ok(leat_value_tensor(loss, &found, &train_error));
        assert_true(fabs((double)*(const float *)found.data - arrays_int(c, "loss", 0)) < 1e-4);
        leat_value_gradients(loss, &logits, 1, &gradient);
        const json_t *recorded = json_object_get(c, "grad");
        if (recorded == NULL) { /* of a bias added to the logits: summed over rows */
            gradient = leat_op_reduce_sum(gradient, (const int64_t[]){0}, 1, false);
            recorded = json_object_get(c, "bias_gradient");
        }
        expected = train_tensor(recorded);
        train_value_close("gradient", &expected, gradient, 1e-6);
        leat_tensor_unref(&expected);
        leat_tensor_unref(&found);
        leat_graph_free(graph);
    }
    json_decref(root);
}

/* What Keras' loss gives without the logits: -log(1e-7). */
static void other_probabilities_are_clipped(void **state) {
    (void)state;
    leat_error err = {0};
    const float probabilities[2] = {1, 0};
    const int64_t label = 1;
    leat_graph *graph = leat_graph_new_eager(&err);
    leat_tensor rows = leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(1, 2), probabilities);
    leat_tensor one = leat_tensor_view(LEAT_INT64, LEAT_SHAPE(1), &label);
    leat_value loss = leat_loss_sparse_categorical_crossentropy(
        leat_graph_tensor(graph, &one), leat_graph_tensor(graph, &rows), false);
    leat_tensor found;
    train_ok(leat_value_tensor(loss, &found, &train_error));
    assert_true(fabs((double)*(const float *)found.data - 16.118095) < 1e-4);
    leat_tensor_unref(&found);
    leat_graph_free(graph);
}

static void labels_outside_are_named(void **state) {
    (void)state;
    leat_error err = {0};
    const float logits[4] = {1, 2, 3, 4};
    const uint8_t labels[2] = {1, 12};
    leat_graph *graph = leat_graph_new_eager(&err);
    leat_tensor rows = leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(2, 2), logits);
    leat_tensor given = leat_tensor_view(LEAT_UINT8, LEAT_SHAPE(2), labels), found;
    leat_value loss = leat_loss_sparse_categorical_crossentropy(
        leat_graph_tensor(graph, &given), leat_graph_tensor(graph, &rows), true);
    assert_int_equal(leat_value_tensor(loss, &found, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "12");
    leat_graph_free(graph);
}

static float average_of(const float *losses, int64_t count, int64_t batch) {
    leat_error err = {0};
    leat_graph *graph = leat_graph_new_eager(&err);
    leat_tensor tensor = leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(count), losses), found;
    train_ok(leat_value_tensor(leat_loss_average(leat_graph_tensor(graph, &tensor), batch), &found,
                               &train_error));
    float value = *(const float *)found.data;
    leat_tensor_unref(&found);
    leat_graph_free(graph);
    return value;
}

/* tf.nn.compute_average_loss: rows over the global batch, 0 for none of either. */
static void averages_are_over_the_global_batch(void **state) {
    (void)state;
    const float losses[3] = {1, 2, 6};
    assert_true(average_of(losses, 3, 4) == 2.25f);
    assert_true(average_of(losses, 0, 4) == 0);
    assert_true(average_of(losses, 3, 0) == 0);
    leat_error err = {0};
    leat_tensor found, tensor = leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(3), losses);
    leat_graph *graph = leat_graph_new_eager(&err);
    leat_value bad = leat_loss_average(leat_graph_tensor(graph, &tensor), -1);
    assert_int_equal(leat_value_tensor(bad, &found, &err), LEAT_INVALID_ARGUMENT);
    leat_graph_free(graph);
}

/* Squared errors 1, 4, 9 and 25 with weights, a mask, both, a mask that leaves nothing, and weights
 * of zero: what Keras 3.15 gives for each reduction. */
static void weights_and_masks_are_reduced(void **state) {
    (void)state;
    enum { NONE = 0, WEIGHTS = 1, MASK = 2, NOTHING = 4, ZEROS = 8, WAYS = 6 };
    static const int ways[WAYS] = {NONE, WEIGHTS, MASK, WEIGHTS | MASK, NOTHING, ZEROS};
    static const struct {
        const char *reduction;
        double values[WAYS][4];
    } cases[] = {
        {"sum_over_batch_size", {{9.75}, {12.875}, {11.666667}, {10.500001}, {0}, {0}}},
        {"mean", {{9.75}, {12.875}, {11.666667}, {10.500001}, {0}, {0}}},
        {"mean_with_sample_weight", {{9.75}, {6.05882359}, {11.666667}, {9}, {0}, {0}}},
        {"sum", {{39}, {51.5}, {35}, {31.5}, {0}, {0}}},
        {"none", {{1, 4, 9, 25}, {2, 20, 4.5, 25}, {1, 0, 9, 25}, {2, 0, 4.5, 25}, {0}, {0}}},
    };
    const float labels[4] = {0}, predictions[4] = {1, 2, 3, 5}, weights[4] = {2, 5, 0.5F, 1};
    const bool mask[4] = {true, false, true, true}, nothing[4] = {false};
    leat_error err = {0};
    leat_graph *graph = leat_graph_new_eager(&err);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0] * WAYS; i++) {
        int way = ways[i % WAYS], count = 2;
        char config[60];
        snprintf(config, sizeof config, "{\"reduction\": \"%s\"}", cases[i / WAYS].reduction);
        leat_part *loss = leat_part_new("loss", "MeanSquaredError", config, &err);
        leat_tensor tensors[4] = {leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(4, 1), labels),
                                  leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(4, 1), predictions)};
        if (way & (WEIGHTS | ZEROS))
            tensors[count++] =
                leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(4), way == ZEROS ? labels : weights);
        if (way & (MASK | NOTHING))
            tensors[count++] =
                leat_tensor_view(LEAT_BOOL, LEAT_SHAPE(4), way == NOTHING ? nothing : mask);
        leat_value values[4];
        for (int k = 0; k < count; k++)
            values[k] = leat_graph_tensor(graph, &tensors[k]);
        leat_tensor found;
        train_ok(leat_value_tensor(leat_part_call(loss, values, count, NULL, 0, false, NULL),
                                   &found, &train_error));
        assert_int_equal(leat_tensor_count(&found), i / WAYS == 4 ? 4 : 1);
        for (int64_t k = 0; k < leat_tensor_count(&found); k++)
            assert_true(fabs((double)((const float *)found.data)[k] -
                             cases[i / WAYS].values[i % WAYS][k]) < 1e-5);
        leat_tensor_unref(&found);
        leat_part_free(loss);
    }
    leat_graph_free(graph);
}

static void wrong_arguments_are_named(void **state) {
    (void)state;
    leat_error err = {0};
    json_t *config = json_pack("{s:s}", "reduction", "median");
    assert_null(leati_loss_from_json("SparseCategoricalCrossentropy", config, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "\"median\"");
    json_decref(config);
    assert_null(leati_loss_from_json("Hinges", NULL, &err));
    assert_int_equal(err.code, LEAT_NOT_FOUND);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(losses_are_keras),
        cmocka_unit_test(softmax_is_looked_behind),
        cmocka_unit_test(other_probabilities_are_clipped),
        cmocka_unit_test(labels_outside_are_named),
        cmocka_unit_test(averages_are_over_the_global_batch),
        cmocka_unit_test(weights_and_masks_are_reduced),
        cmocka_unit_test(wrong_arguments_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
