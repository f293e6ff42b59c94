/* Models, networks, metrics, optimizers and parts given nothing, too much, what has failed, and
 * what belongs to others: code and text, and that the rest stays usable. */
#include "support/cmocka.h"

#include "support/refused.h"
#include "support/torture.h"
#include "support/train.h"
#include <leat/train.h>

static leat_error error;

/* The error has this code, reason and keyword; then there is none. */
static void says(leat_status code, leat_reason reason, const char *keyword) {
    assert_refused(&error, code, reason, keyword);
    error = (leat_error){0};
}

/* The same of a graph, which can be used again. */
static void graph_says(leat_graph *graph, leat_status code, leat_reason reason,
                       const char *keyword) {
    error = (leat_error){0};
    (void)leat_graph_take_error(graph, &error);
    says(code, reason, keyword);
}

static leat_layer *dense(void) {
    leat_layer *layer = leat_layer_named("Dense", "{\"units\": 2}", &error);
    assert_non_null(layer);
    return layer;
}

static leat_value ones(leat_graph *graph, leat_shape shape) {
    return leat_op_ones(graph, shape, LEAT_FLOAT32);
}

/* The network (given) keeps the first failure, which its model reports. */
static void network_says(leat_network *network, leat_symbol output, leat_status code,
                         leat_reason reason, const char *keyword) {
    assert_true(output.id < 0);
    assert_null(leat_network_model(network, &output, 1, &error));
    says(code, reason, keyword);
}

static void networks_keep_their_first_failure(void **state) {
    (void)state;
    leat_network *network = leat_network_new(&error), *other;
    assert_true(leat_network_input(NULL, LEAT_SHAPE(2)).id < 0);
    assert_true(leat_network_call(dense(), NULL, 1).id < 0);
    assert_true(leat_network_call(dense(), &(leat_symbol){.network = network}, 0).id < 0);
    assert_null(leat_network_model(NULL, NULL, 0, &error));
    says(LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "network");

    leat_symbol x = leat_network_input(network, (leat_shape){.rank = LEAT_UNKNOWN_RANK});
    assert_true(leat_network_input(network, LEAT_SHAPE(2)).id < 0);
    network_says(network, x, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "rank");

    network = leat_network_new(&error);
    x = leat_network_input(network, (leat_shape){.rank = LEAT_MAX_RANK});
    network_says(network, x, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "8");

    network = leat_network_new(&error);
    x = leat_network_input(network, LEAT_SHAPE(2));
    assert_int_equal(x.id, 0);
    leat_symbol failed = leat_network_call(NULL, &x, 1);
    assert_ptr_equal(failed.network, network);
    assert_true(leat_network_call(dense(), &failed, 1).id < 0);
    network_says(network, failed, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "layer");

    network = leat_network_new(&error);
    x = leat_network_input(network, LEAT_SHAPE(2));
    leat_symbol many[9] = {x, x, x, x, x, x, x, x, x};
    leat_symbol y = leat_network_call(leat_layer_named("Add", NULL, &error), many, 8);
    assert_true(y.id == 1);
    y = leat_network_call(leat_layer_named("Add", NULL, &error), many, 9);
    network_says(network, y, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "8");

    network = leat_network_new(&error);
    other = leat_network_new(&error);
    x = leat_network_input(network, LEAT_SHAPE(2));
    leat_symbol pair[2] = {x, leat_network_input(other, LEAT_SHAPE(2))};
    y = leat_network_call(leat_layer_named("Add", NULL, &error), pair, 2);
    network_says(network, y, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "network");
    leat_network_free(other);
    leat_network_free(NULL);
}

static void outputs_of_networks_are_checked(void **state) {
    (void)state;
    leat_network *network = leat_network_new(&error);
    assert_null(leat_network_model(network, NULL, 0, &error));
    says(LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "0");
    network = leat_network_new(&error);
    leat_symbol x = leat_network_input(network, LEAT_SHAPE(2));
    assert_null(leat_network_model(network, &x, 0, &error));
    says(LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "0");
    network = leat_network_new(&error);
    x = leat_network_input(network, LEAT_SHAPE(2));
    leat_symbol nine[9] = {x, x, x, x, x, x, x, x, x};
    assert_null(leat_network_model(network, nine, 9, &error));
    says(LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "9");
    network = leat_network_new(&error);
    x = leat_network_input(network, LEAT_SHAPE(2));
    leat_symbol two[2] = {x, {.network = NULL, .id = 0}};
    assert_null(leat_network_model(network, two, 2, &error));
    says(LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "1");
    network = leat_network_new(&error);
    for (int i = 0; i < 9; i++)
        x = leat_network_input(network, LEAT_SHAPE(2));
    assert_null(leat_network_model(network, &x, 1, &error));
    says(LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "9");
    /* What layers refuse comes with their names. */
    network = leat_network_new(&error);
    x = leat_network_input(network, LEAT_SHAPE(2));
    x = leat_network_call(leat_layer_named("Flatten", "{\"name\": \"flat\"}", &error), &x, 1);
    x = leat_network_call(
        leat_layer_named("Conv1D", "{\"filters\": 1, \"kernel_size\": 1}", &error), &x, 1);
    assert_null(leat_network_model(network, &x, 1, &error));
    says(LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "\"flat\"");
}

static void models_of_networks_are_called_with_their_inputs(void **state) {
    (void)state;
    leat_network *network = leat_network_new(&error);
    leat_symbol in[2] = {leat_network_input(network, LEAT_SHAPE(2)),
                         leat_network_input(network, LEAT_SHAPE(2))};
    leat_symbol sum = leat_network_call(leat_layer_named("Add", NULL, &error), in, 2);
    leat_layer *own = dense();
    leat_symbol y = leat_network_call(own, &sum, 1);
    leat_model *model = leat_network_model(network, &y, 1, &error);
    assert_non_null(model);
    /* A layer belongs to one model. */
    leat_network *other = leat_network_new(&error);
    leat_symbol z = leat_network_input(other, LEAT_SHAPE(2));
    leat_layer *built = dense();
    leat_model *alone = leat_model_sequential(&built, 1, &error);
    train_ok(leat_model_build(alone, LEAT_SHAPE(2), &train_error));
    leat_graph *graph = leat_graph_new_eager(&error);
    leat_value given[2] = {ones(graph, LEAT_SHAPE(3, 2)), ones(graph, LEAT_SHAPE(3, 2))}, out[2];
    leat_model_call_all(model, given, 2, false, out, 1);
    assert_int_equal(leat_value_shape(out[0]).dims[0], 3);
    leat_model_call_all(model, given, 1, false, out, 1);
    assert_true(out[0].id < 0 && out[0].graph == graph);
    graph_says(graph, LEAT_INVALID_ARGUMENT, LEAT_REASON_STRUCTURE, "leat_model_call_all");
    leat_model_call_all(model, given, 2, false, out, 2);
    assert_true(out[1].id < 0);
    graph_says(graph, LEAT_INVALID_ARGUMENT, LEAT_REASON_STRUCTURE, "leat_model_call_all");
    leat_model_call_all(NULL, given, 2, false, out, 1);
    graph_says(graph, LEAT_INVALID_ARGUMENT, LEAT_REASON_STRUCTURE, "leat_model_call_all");
    leat_model_call_all(alone, given, 1, false, out, 1);
    graph_says(graph, LEAT_INVALID_ARGUMENT, LEAT_REASON_STRUCTURE, "leat_model_call_all");
    leat_model_call_all(model, NULL, 2, false, out, 1);
    assert_null(out[0].graph);
    given[1].id = -1;
    leat_model_call_all(model, given, 2, false, out, 1);
    assert_true(out[0].id < 0);
    assert_int_equal(leat_graph_take_error(graph, &error), LEAT_OK);
    /* A network of one input is called as any model. */
    leat_symbol once = leat_network_call(dense(), &z, 1);
    leat_model *one = leat_network_model(other, &once, 1, &error);
    leat_value single = leat_model_call(one, ones(graph, LEAT_SHAPE(4, 2)), false);
    assert_int_equal(leat_value_shape(single).dims[0], 4);
    leat_graph_free(graph);
    leat_model_free(one);
    leat_model_free(alone);
    leat_model_free(model);
}

static void models_are_given_layers_and_inputs(void **state) {
    (void)state;
    leat_layer *layers[2] = {dense(), NULL};
    assert_null(leat_model_sequential(layers, 2, &error));
    says(LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "1");
    assert_null(leat_model_sequential(NULL, 2, &error));
    says(LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "2");
    layers[0] = dense();
    leat_model *model = leat_model_sequential(layers, 1, &error);
    assert_int_equal(leat_model_build(NULL, LEAT_SHAPE(2), &error), LEAT_INVALID_ARGUMENT);
    says(LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "model");
    (void)(leat_model_build(model, (leat_shape){.rank = LEAT_UNKNOWN_RANK}, &error) == LEAT_OK);
    says(LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "leat_model_build");
    leat_graph *graph = leat_graph_new_eager(&error);
    assert_true(leat_model_call(model, ones(graph, LEAT_SCALAR), false).id < 0);
    graph_says(graph, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "leat_model_call");
    assert_true(leat_model_call(NULL, ones(graph, LEAT_SHAPE(1, 2)), false).id < 0);
    graph_says(graph, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "leat_model_call");
    assert_true(leat_model_call(model, ones(graph, LEAT_SHAPE(1)), false).id < 0);
    graph_says(graph, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "\"dense\"");
    assert_null(leat_model_call(model, (leat_value){.graph = NULL}, false).graph);
    int count = 5;
    assert_null(leat_model_trainable_variables(NULL, &count));
    assert_int_equal(count, 0);
    assert_int_equal(
        leat_value_shape(leat_model_call(model, ones(graph, LEAT_SHAPE(3, 2)), false)).dims[1], 2);
    leat_graph_free(graph);
    leat_model_free(model);
    leat_model_free(NULL);
}

static void metrics_are_given_values(void **state) {
    (void)state;
    leat_tensor tensor;
    double number = 0;
    leat_metric *mean = leat_metric_mean("loss", &error);
    leat_metric *score = leat_metric_named("F1Score", NULL, &error);
    leat_graph *graph = leat_graph_new_eager(&error);
    leat_value x = ones(graph, LEAT_SHAPE(3)), both[3] = {x, x, x};
    leat_metric_update(NULL, &x, 1);
    graph_says(graph, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "leat_metric_update");
    leat_metric_update(mean, NULL, 1);
    leat_metric_update(mean, &x, 0);
    leat_metric_update(mean, both, 3);
    graph_says(graph, LEAT_INVALID_ARGUMENT, LEAT_REASON_STRUCTURE, "Mean");
    leat_metric_update(score, both, 2);
    graph_says(graph, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "F1Score");
    assert_int_equal(leat_metric_result_tensor(NULL, &tensor, &error), LEAT_INVALID_ARGUMENT);
    says(LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "metric");
    assert_int_equal(leat_metric_result_tensor(mean, NULL, &error), LEAT_INVALID_ARGUMENT);
    says(LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "metric");
    assert_int_equal(leat_metric_result(mean, NULL, &error), LEAT_INVALID_ARGUMENT);
    says(LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "metric");
    assert_int_equal(leat_metric_result(score, &number, &error), LEAT_FAILED_PRECONDITION);
    says(LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "F1Score");
    both[0] = both[1] = ones(graph, LEAT_SHAPE(3, 2));
    leat_metric_update(score, both, 2);
    assert_int_equal(leat_metric_result(score, &number, &error), LEAT_INVALID_ARGUMENT);
    says(LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "F1Score");
    both[1] = ones(graph, LEAT_SHAPE(4, 3));
    leat_metric *squares = leat_metric_named("RootMeanSquaredError", NULL, &error);
    leat_metric_update(squares, both, 2);
    graph_says(graph, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "RootMeanSquaredError");
    leat_metric_free(squares);
    assert_null(leat_metric_named("Meen", NULL, &error));
    says(LEAT_NOT_FOUND, LEAT_REASON_NONE, "\"Meen\"");
    assert_null(leat_metric_named(NULL, NULL, &error));
    says(LEAT_NOT_FOUND, LEAT_REASON_NONE, "\"\"");
    leat_graph_free(graph);
    leat_metric_free(mean);
    leat_metric_free(score);
    leat_metric_free(NULL);
}

static leat_variable *variable_of(leat_shape shape) {
    leat_tensor tensor;
    train_ok(leat_tensor_new(LEAT_FLOAT32, shape, &tensor, &train_error));
    memset(tensor.data, 0, leat_tensor_bytes(&tensor));
    leat_variable *variable = leat_variable_new(&tensor, NULL, &error);
    leat_tensor_unref(&tensor);
    return variable;
}

static void optimizers_are_given_variables(void **state) {
    (void)state;
    leat_variable *variables[2] = {variable_of(LEAT_SHAPE(2)), NULL};
    leat_optimizer *sgd = leat_optimizer_named("SGD", NULL, &error);
    leat_graph *graph = leat_graph_new_eager(&error);
    leat_value gradients[2] = {ones(graph, LEAT_SHAPE(2)), ones(graph, LEAT_SHAPE(2))};
    leat_optimizer_apply(sgd, gradients, variables, 2);
    graph_says(graph, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "1");
    leat_optimizer_apply(NULL, gradients, variables, 1);
    graph_says(graph, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "optimizer");
    leat_optimizer_minimize(sgd, gradients[0], NULL, 1);
    graph_says(graph, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "leat_optimizer_minimize");
    leat_optimizer_minimize(sgd, gradients[0], variables, 0);
    graph_says(graph, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "leat_optimizer_minimize");
    leat_optimizer_apply(sgd, gradients, variables, 0);
    leat_optimizer_apply(sgd, NULL, variables, 1);
    assert_int_equal(leat_graph_take_error(graph, &error), LEAT_OK);
    assert_int_equal(leat_optimizer_build(NULL, variables, 1, &error), LEAT_INVALID_ARGUMENT);
    says(LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "optimizer");
    assert_int_equal(leat_optimizer_set_learning_rate(NULL, 1, &error), LEAT_INVALID_ARGUMENT);
    says(LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "NULL");
    assert_int_equal(leat_optimizer_set_schedule(sgd, NULL, &error), LEAT_INVALID_ARGUMENT);
    says(LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "schedule");
    leat_graph_free(graph);
    leat_optimizer_free(sgd);
    leat_optimizer_free(NULL);
    leat_variable_unref(variables[0]);
}

static void parts_are_given_values(void **state) {
    (void)state;
    leat_shape shape = LEAT_SHAPE(2, 3);
    leat_value updates[8], none = {.graph = NULL, .id = -1};
    leat_part *mean = leat_part_new("metric", "Mean", NULL, &error);
    leat_part *add = leat_part_new("layer", "Add", NULL, &error);
    leat_part *plain = leat_part_new("layer", "Dense", "{\"units\": 2}", &error);
    leat_graph *graph = leat_graph_new_eager(&error);
    leat_value x = ones(graph, shape), kept[2] = {ones(graph, LEAT_SCALAR), x};
    /* Nothing to find a graph in. */
    leat_part_update(mean, NULL, 0, NULL, 0, updates);
    leat_part_update(mean, &none, 1, kept, 2, updates);
    assert_true(leat_part_result(mean, &none, 1).id < 0);
    assert_true(leat_part_call(add, &none, 1, NULL, 0, false, NULL).id < 0);
    leat_value bad[2] = {x, {.graph = graph, .id = -1}};
    leat_part_update(mean, bad, 2, kept, 2, updates);
    leat_part_update(mean, &x, 1, bad, 2, updates);
    assert_true(leat_part_call(add, bad, 2, NULL, 0, false, NULL).id < 0);
    assert_true(leat_part_call(plain, &x, 1, bad, 2, false, updates).id < 0);
    assert_int_equal(leat_graph_take_error(graph, &error), LEAT_OK);
    /* No part, and one of another sort. */
    leat_part_update(NULL, &x, 1, kept, 2, updates);
    graph_says(graph, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "metric");
    leat_part_update(add, &x, 1, kept, 2, updates);
    graph_says(graph, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "metric");
    assert_true(leat_part_call(NULL, &x, 1, NULL, 0, false, NULL).id < 0);
    graph_says(graph, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "layer");
    assert_null(leat_part_states_json(NULL, &shape, 1, &error));
    says(LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "part");
    assert_null(leat_part_slots_json(NULL, NULL, &error));
    says(LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "optimizer");
    leat_tensor tensor;
    assert_int_equal(leat_part_initialize(add, 1, shape, &tensor, &error), LEAT_INVALID_ARGUMENT);
    says(LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "initializer");
    leat_part *orthogonal = leat_part_new("initializer", "Orthogonal", NULL, &error);
    assert_int_equal(leat_part_initialize(orthogonal, 1, LEAT_SHAPE(3), &tensor, &error),
                     LEAT_INVALID_ARGUMENT);
    says(LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "Orthogonal");
    leat_part_free(orthogonal);
    /* Losses, schedules and initializers keep nothing. */
    leat_part *loss = leat_part_new("loss", "Hinge", NULL, &error);
    char *text = leat_part_states_json(loss, &shape, 1, &error);
    assert_string_equal(text, "[]");
    leat_text_free(text);
    leat_part_free(loss);
    leat_graph_free(graph);
    leat_part_free(mean);
    leat_part_free(add);
    leat_part_free(plain);
}

static void parts_take_many_values(void **state) {
    (void)state;
    leat_part *add = leat_part_new("layer", "Add", NULL, &error);
    leat_graph *graph = leat_graph_new_eager(&error);
    leat_value x = ones(graph, LEAT_SHAPE(2, 3));
    /* A layer takes many inputs, but not any number. */
    enum { TOO_MANY = LEAT_MAX_OUTPUTS + 1 };
    static leat_value many[TOO_MANY];
    for (int i = 0; i < TOO_MANY; i++)
        many[i] = x;
    assert_true(leat_part_call(add, many, TOO_MANY, NULL, 0, false, NULL).id < 0);
    graph_says(graph, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "1024");
    leat_value sum = leat_part_call(add, many, LEAT_MAX_OUTPUTS, NULL, 0, false, NULL);
    leat_tensor found;
    train_ok(leat_value_tensor(sum, &found, &train_error));
    assert_true(*(const float *)found.data == LEAT_MAX_OUTPUTS);
    leat_tensor_unref(&found);
    assert_null(leat_variable_like(NULL, "slot", NULL, &error));
    says(LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "variable");
    assert_null(leat_part_new(NULL, "Dense", NULL, &error));
    says(LEAT_NOT_FOUND, LEAT_REASON_NONE, "sort");
    leat_graph_free(graph);
    leat_part_free(add);
    leat_part_free(NULL);
}

static void applications_are_whole(void **state) {
    (void)state;
    leat_variable *w = variable_of(LEAT_SHAPE(2)), *slot = variable_of(LEAT_SHAPE(2));
    leat_variable *slots[3] = {slot, slot, slot}, *none[3] = {slot, NULL, slot};
    leat_variable *lost = NULL;
    leat_tensor zero = leat_tensor_view(LEAT_INT64, LEAT_SCALAR, &(int64_t){0});
    leat_variable *steps = leat_variable_new(&zero, NULL, &error);
    leat_part *adam = leat_part_new("optimizer", "Adam", NULL, &error);
    leat_part *nadam = leat_part_new("optimizer", "Nadam", NULL, &error);
    leat_part *hinge = leat_part_new("loss", "Hinge", NULL, &error);
    leat_graph *graph = leat_graph_new_eager(&error);
    leat_value gradient = ones(graph, LEAT_SHAPE(2)), rate = ones(graph, LEAT_SCALAR);
    const leat_application good = {.gradients = &gradient,
                                   .variables = &w,
                                   .count = 1,
                                   .slots = slots,
                                   .num_slots = 2,
                                   .iterations = steps,
                                   .learning_rate = rate};
    leat_application bad = good;
    leat_part_apply(adam, NULL);
    bad.learning_rate.id = -1;
    leat_part_apply(adam, &bad);
    assert_int_equal(leat_graph_take_error(graph, &error), LEAT_OK);
    leat_part_apply(hinge, &good);
    graph_says(graph, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "loss");
    bad = good;
    bad.variables = &lost;
    leat_part_apply(adam, &bad);
    graph_says(graph, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "0");
    bad = good;
    bad.slots = none;
    leat_part_apply(adam, &bad);
    graph_says(graph, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "2");
    bad = good;
    bad.iterations = NULL;
    leat_part_apply(adam, &bad);
    graph_says(graph, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "3");
    bad = good;
    bad.num_slots = 3;
    leat_part_apply(adam, &bad);
    graph_says(graph, LEAT_INVALID_ARGUMENT, LEAT_REASON_STRUCTURE, "3");
    leat_part_apply(nadam, &good);
    graph_says(graph, LEAT_INVALID_ARGUMENT, LEAT_REASON_STRUCTURE, "2");
    leat_graph_free(graph);
    leat_part_free(adam);
    leat_part_free(nadam);
    leat_part_free(hinge);
    leat_variable_unref(w);
    leat_variable_unref(slot);
    leat_variable_unref(steps);
}

static leat_status nine_weights(void *data, leat_shape input, leat_weight_list *out,
                                leat_error *err) {
    (void)data;
    (void)input;
    for (int i = 0; i < 9; i++) {
        leat_status status = leat_weight_list_add(out, "w", LEAT_SHAPE(1), "zeros", true, err);
        if (status != LEAT_OK)
            return status;
    }
    return LEAT_OK;
}

static leat_value same(void *data, const leat_value *inputs, int num_inputs,
                       const leat_value *weights, bool training, leat_value *updates) {
    (void)data;
    (void)num_inputs;
    (void)weights;
    (void)training;
    (void)updates;
    return inputs[0];
}

static void layers_of_ones_own_have_eight_weights(void **state) {
    (void)state;
    leat_layer *layer = leat_layer_custom(
        &(leat_layer_description){.name = "own", .weights = nine_weights, .call = same}, &error);
    leat_model *model = leat_model_sequential(&layer, 1, &error);
    (void)(leat_model_build(model, LEAT_SHAPE(2), &error) == LEAT_OK);
    says(LEAT_RESOURCE_EXHAUSTED, LEAT_REASON_NONE, "\"w\"");
    leat_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(networks_keep_their_first_failure, torture_setup,
                                        torture_teardown),
        cmocka_unit_test_setup_teardown(outputs_of_networks_are_checked, torture_setup,
                                        torture_teardown),
        cmocka_unit_test_setup_teardown(models_of_networks_are_called_with_their_inputs,
                                        torture_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(models_are_given_layers_and_inputs, torture_setup,
                                        torture_teardown),
        cmocka_unit_test_setup_teardown(metrics_are_given_values, torture_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(optimizers_are_given_variables, torture_setup,
                                        torture_teardown),
        cmocka_unit_test_setup_teardown(parts_are_given_values, torture_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(parts_take_many_values, torture_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(applications_are_whole, torture_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(layers_of_ones_own_have_eight_weights, torture_setup,
                                        torture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
