/* Parts: the tables as JSON, calls without variables against values recorded from Keras, wrong use,
 * failed allocations. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "base/alloc.h"
#include "support/json.h"
#include "support/refused.h"
#include "support/train.h"
#include "train/frame/kind.h"
#include <leat/train.h>

static json_t *tables_of(void) {
    leat_error err = {0};
    char *text = leat_parts_json(&err);
    assert_non_null(text);
    json_t *root = json_loads(text, 0, NULL);
    assert_non_null(root);
    leat_text_free(text);
    return root;
}

static const json_t *line(const json_t *root, const char *table, const char *name) {
    size_t index;
    json_t *entry;
    json_array_foreach(json_object_get(root, table), index, entry) {
        if (strcmp(arrays_text(entry, "name"), name) == 0)
            return entry;
    }
    return NULL;
}

static void tables_are_json(void **state) {
    (void)state;
    json_t *root = tables_of();
    const json_t *conv = line(root, "layers", "Conv2D"), *adam = line(root, "optimizers", "Adam");
    assert_non_null(line(root, "losses", "SparseCategoricalCrossentropy"));
    assert_string_equal(arrays_text(line(root, "metrics", "Mean"), "prefix"), "mean");
    assert_string_equal(arrays_text(line(root, "initializers", "GlorotUniform"), "identifier"),
                        "glorot_uniform");
    assert_string_equal(arrays_text(conv, "prefix"), "conv2d");
    assert_int_equal(json_integer_value(json_object_get(conv, "rank")), 4);
    const json_t *first = json_array_get(json_object_get(conv, "arguments"), 0);
    assert_string_equal(arrays_text(first, "name"), "filters");
    assert_true(json_is_true(json_object_get(first, "required")));
    assert_non_null(adam);
    json_decref(root);
}

static json_t *states_of(const leat_part *part, const leat_shape *shapes, int count) {
    leat_error err = {0};
    char *text = leat_part_states_json(part, shapes, count, &err);
    if (text == NULL)
        fail_msg("%s", err.text);
    json_t *list = json_loads(text, 0, NULL);
    leat_text_free(text);
    return list;
}

/* Weights of a layer as values, in the order in which the part lists them. */
static int weights_of(const leat_part *part, leat_graph *graph, const leat_shape *input,
                      const json_t *recorded, leat_value *out) {
    json_t *list = states_of(part, input, 1);
    int count = (int)json_array_size(list);
    for (int i = 0; i < count; i++) {
        const char *name = arrays_text(json_array_get(list, (size_t)i), "name");
        out[i] = train_eager_value(graph, json_object_get(recorded, name));
    }
    json_decref(list);
    return count;
}

static void run_layer(const json_t *c) {
    leat_error err = {0};
    char *config = json_dumps(json_object_get(c, "config"), 0);
    leat_part *part = leat_part_new("layer", arrays_text(c, "layer"), config, &err);
    assert_non_null(part);
    leat_graph *graph = leat_graph_new_eager(&err);
    leat_value x = train_eager_value(graph, json_array_get(json_object_get(c, "inputs"), 0));
    leat_shape shape = leat_value_shape(x);
    leat_value weights[8], updates[8];
    int count = weights_of(part, graph, &shape, json_object_get(c, "weights"), weights);
    leat_value y = leat_part_call(part, &x, 1, weights, count, true, updates);
    leat_tensor expected = train_tensor(json_object_get(c, "output"));
    train_value_close("output", &expected, y, 1e-5);
    for (int i = 0; i < count; i++)
        assert_true(updates[i].id < 0);
    leat_tensor_unref(&expected);
    leat_graph_free(graph);
    leat_part_free(part);
    free(config);
}

static void layers_take_weights(void **state) {
    (void)state;
    json_t *root, *c;
    json_t *cases = train_cases("layers.json", &root);
    size_t index;
    int ran = 0;
    json_array_foreach(cases, index, c) {
        if (strcmp(arrays_text(c, "layer"), "Dense") == 0 && ran++ < 3)
            run_layer(c);
    }
    json_decref(root);
    assert_true(ran >= 3);
}

static void metrics_take_states(void **state) {
    (void)state;
    leat_error err = {0};
    const float values[] = {1, 2, 6}, zero = 0;
    leat_part *part = leat_part_new("metric", "Mean", NULL, &err);
    json_t *states = states_of(part, NULL, 0);
    assert_int_equal(json_array_size(states), 2);
    assert_string_equal(arrays_text(json_array_get(states, 0), "name"), "total");
    json_decref(states);
    leat_graph *graph = leat_graph_new_eager(&err);
    leat_tensor start = leat_tensor_view(LEAT_FLOAT32, LEAT_SCALAR, &zero);
    leat_tensor rows = leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(3), values);
    leat_value kept[2] = {leat_graph_tensor(graph, &start), leat_graph_tensor(graph, &start)};
    leat_value given = leat_graph_tensor(graph, &rows), updates[2];
    leat_part_update(part, &given, 1, kept, 2, updates);
    leat_tensor result;
    train_ok(leat_value_tensor(leat_part_result(part, updates, 2), &result, &train_error));
    assert_true(*(const float *)result.data == 3);
    leat_tensor_unref(&result);
    leat_graph_free(graph);
    leat_part_free(part);
}

/* The first steps of a recorded run. */
static void run_optimizer(const json_t *c) {
    leat_error err = {0};
    char *config = json_dumps(json_object_get(c, "config"), 0);
    leat_part *part = leat_part_new("optimizer", arrays_text(c, "optimizer"), config, &err);
    assert_non_null(part);
    json_t *slots = states_of(part, NULL, 0);
    leat_variable *variables[2], *own[8], *iterations;
    int per = (int)json_array_size(slots), count = 0;
    const int64_t none = 0;
    leat_tensor start = leat_tensor_view(LEAT_INT64, LEAT_SCALAR, &none);
    iterations = leat_variable_new(&start, NULL, &err);
    for (size_t i = 0; i < 2; i++) {
        leat_tensor initial = train_tensor(json_array_get(json_object_get(c, "variables"), i));
        variables[i] = leat_variable_new(&initial, NULL, &err);
        memset(initial.data, 0, leat_tensor_bytes(&initial));
        for (int k = 0; k < per; k++)
            own[count++] = leat_variable_like(variables[i], "slot", &initial, &err);
        leat_tensor_unref(&initial);
    }
    const float rate =
        (float)json_number_value(json_object_get(json_object_get(c, "config"), "learning_rate"));
    leat_tensor size = leat_tensor_view(LEAT_FLOAT32, LEAT_SCALAR, &rate);
    for (size_t s = 0; s < 2; s++) {
        leat_graph *graph = leat_graph_new_eager(&err);
        const json_t *recorded = json_array_get(json_object_get(c, "grads"), s);
        leat_value gradients[2];
        for (size_t i = 0; i < 2; i++)
            gradients[i] = train_eager_value(graph, json_array_get(recorded, i));
        const leat_application application = {.gradients = gradients,
                                              .variables = variables,
                                              .count = 2,
                                              .slots = own,
                                              .num_slots = count,
                                              .iterations = iterations,
                                              .learning_rate = leat_graph_tensor(graph, &size)};
        leat_part_apply(part, &application);
        train_ok(leat_graph_take_error(graph, &train_error));
        leat_graph_free(graph);
        for (size_t i = 0; i < 2; i++) {
            leat_tensor found, expected = train_tensor(json_array_get(
                                   json_array_get(json_object_get(c, "after_each_step"), s), i));
            train_ok(leat_variable_read(variables[i], &found, &train_error));
            train_close("variable", &expected, &found, 1e-5);
            leat_tensor_unref(&found);
            leat_tensor_unref(&expected);
        }
    }
    for (int i = 0; i < count; i++)
        leat_variable_unref(own[i]);
    leat_variable_unref(variables[0]);
    leat_variable_unref(variables[1]);
    leat_variable_unref(iterations);
    json_decref(slots);
    leat_part_free(part);
    free(config);
}

static void optimizers_take_slots(void **state) {
    (void)state;
    json_t *root, *c;
    json_t *cases = train_cases("optimizers.json", &root);
    size_t index;
    int ran = 0;
    json_array_foreach(cases, index, c) {
        const json_t *rate = json_object_get(json_object_get(c, "config"), "learning_rate");
        bool known = strcmp(arrays_text(c, "optimizer"), "Adam") == 0 ||
                     strcmp(arrays_text(c, "optimizer"), "SGD") == 0;
        if (known && json_is_number(rate) && ++ran > 0)
            run_optimizer(c);
    }
    json_decref(root);
    assert_true(ran >= 4);
}

/* ---- an optimizer of one's own ---- */

struct own_optimizer {
    leat_graph *graph;
    leat_variable *variable, *beside;
    bool fails;
};

/* variable -= rate * gradient; counts in `beside`. */
static leat_status own_update(void *data, int index, leat_value gradient, leat_value learning_rate,
                              leat_error *err) {
    const struct own_optimizer *own = data;
    assert_int_equal(index, 0);
    if (own->fails) {
        *err = (leat_error){.code = LEAT_DATA_LOSS};
        snprintf(err->text, sizeof err->text, "no update today");
        return LEAT_DATA_LOSS;
    }
    leat_value now = leat_graph_read(own->graph, own->variable);
    leat_graph_assign(own->graph, own->variable,
                      leat_op_subtract(now, leat_op_multiply(learning_rate, gradient)));
    leat_graph_assign_add(own->graph, own->beside, learning_rate);
    return LEAT_OK;
}

static leat_variable *float_variable(float value) {
    leat_tensor tensor = leat_tensor_view(LEAT_FLOAT32, LEAT_SCALAR, &value);
    return leat_variable_new(&tensor, NULL, &train_error);
}

static void expect_floats(leat_variable *const *variables, int count, const float *expected) {
    for (int i = 0; i < count; i++) {
        leat_tensor found;
        train_ok(leat_variable_read(variables[i], &found, &train_error));
        assert_true(*(const float *)found.data == expected[i]);
        leat_tensor_unref(&found);
    }
}

/* One step with the gradient 2 and the rate 1 of a variable beside an idle one. */
static leat_status own_step(const leat_part *part, leat_variable *const all[8], bool updates,
                            bool fails) {
    const float two = 2, one = 1;
    leat_error err = {0};
    leat_graph *graph = leat_graph_new_eager(&err);
    leat_tensor tensors[2] = {leat_tensor_view(LEAT_FLOAT32, LEAT_SCALAR, &two),
                              leat_tensor_view(LEAT_FLOAT32, LEAT_SCALAR, &one)};
    leat_value gradient = leat_graph_tensor(graph, &tensors[0]);
    struct own_optimizer own = {graph, all[0], all[6], fails};
    const leat_application application = {.gradients = &gradient,
                                          .variables = all,
                                          .count = 1,
                                          .slots = all + 2,
                                          .num_slots = 4,
                                          .iterations = all[7],
                                          .learning_rate = leat_graph_tensor(graph, &tensors[1])};
    leat_part_apply_own(part, &application,
                        &(leat_own_updates){.update = updates ? own_update : NULL,
                                            .data = &own,
                                            .others = all + 6,
                                            .num_others = 1,
                                            .num_idle = 1});
    leat_status status = leat_graph_take_error(graph, &train_error);
    leat_graph_free(graph);
    return status;
}

/* Decay, accumulation and averages are the frame's; what it calls is given the mean gradient. */
static void updates_of_ones_own(void **state) {
    (void)state;
    leat_part *part = leat_part_new("optimizer", NULL,
                                    "{\"weight_decay\": 0.5, \"use_ema\": true, \"ema_momentum\": "
                                    "0.5, \"gradient_accumulation_steps\": 2}",
                                    &train_error);
    assert_non_null(part);
    /* A variable, an idle one, an average and a sum of each, one beside, the steps. */
    leat_variable *all[8];
    for (int i = 0; i < 7; i++)
        all[i] = float_variable(i == 0 ? 8.0F : i == 1 ? 4.0F : 0.0F);
    leat_tensor none = leat_tensor_view(LEAT_INT64, LEAT_SCALAR, &(int64_t){0});
    all[7] = leat_variable_new(&none, NULL, &train_error);
    train_ok(own_step(part, all, true, false));
    expect_floats(all, 7, (const float[]){8, 4, 8, 2, 4, 0, 0});
    train_ok(own_step(part, all, true, false));
    expect_floats(all, 7, (const float[]){2, 4, 2, 0, 4, 0, 1});
    leat_tensor six = leat_tensor_view(LEAT_FLOAT32, LEAT_SCALAR, &(float){6});
    train_ok(leat_variable_assign(all[1], &six, &train_error));
    train_ok(own_step(part, all, true, false));
    expect_floats(all, 7, (const float[]){2, 6, 2, 2, 5, 0, 1});
    assert_int_equal(own_step(part, all, true, true), LEAT_DATA_LOSS);
    assert_non_null(strstr(train_error.text, "no update today"));
    leat_part *sgd = leat_part_new("optimizer", "SGD", NULL, &train_error);
    assert_int_equal(own_step(part, all, false, false), LEAT_INVALID_ARGUMENT);
    assert_int_equal(own_step(sgd, all, true, false), LEAT_INVALID_ARGUMENT);
    leat_part_free(sgd);
    leat_part_free(part);
    for (int i = 0; i < 8; i++)
        leat_variable_unref(all[i]);
}

/* Names of the slots of a variable of this name and shape, one behind the other. */
static void expect_slots(const char *optimizer, const char *config, const char *name,
                         leat_shape shape, const char *expected) {
    leat_error err = {0};
    char found[512] = "";
    leat_tensor zeros;
    train_ok(leat_tensor_new(LEAT_FLOAT32, shape, &zeros, &train_error));
    memset(zeros.data, 0, leat_tensor_bytes(&zeros));
    leat_variable *variable = leat_variable_new(
        &zeros, &(leat_variable_options){LEAT_VARIABLE_DEFAULTS, .name = name}, &err);
    leat_part *part = leat_part_new("optimizer", optimizer, config, &err);
    assert_non_null(part);
    char *text = leat_part_slots_json(part, variable, &err);
    if (text == NULL) {
        assert_int_equal(err.code, LEAT_INVALID_ARGUMENT);
        snprintf(found, sizeof found, "%s", err.text);
    } else {
        json_t *list = json_loads(text, 0, NULL), *slot;
        size_t index;
        json_array_foreach(list, index, slot) {
            size_t size = strlen(found);
            snprintf(found + size, sizeof found - size, "%s%d ", arrays_text(slot, "name"),
                     (int)json_array_size(json_object_get(slot, "shape")));
        }
        json_decref(list);
    }
    if (strstr(found, expected) == NULL)
        fail_msg("expected %s, found %s", expected, found);
    leat_text_free(text);
    leat_part_free(part);
    leat_variable_unref(variable);
    leat_tensor_unref(&zeros);
}

static void slots_depend_on_the_variable(void **state) {
    (void)state;
    leat_error err = {0};
    expect_slots("Adam", "{\"use_ema\": true}", "w", LEAT_SHAPE(2, 3),
                 "average2 momentum2 velocity2 ");
    expect_slots("Adafactor", NULL, "w", LEAT_SHAPE(4, 2, 3), "row2 column2 velocity3 ");
    expect_slots("Adafactor", NULL, "b", LEAT_SHAPE(3), "row0 column0 velocity1 ");
    expect_slots("Muon", NULL, "dense/kernel", LEAT_SHAPE(2, 3), "momentum2 ");
    expect_slots("Muon", NULL, "dense/bias", LEAT_SHAPE(3), "momentum1 velocity1 ");
    expect_slots("Muon", NULL, "Embedding/w", LEAT_SHAPE(2, 3), "momentum2 velocity2 ");
    expect_slots("Muon", "{\"exclude_layers\": [\"a\", \"den.e/\"]}", "dense/kernel",
                 LEAT_SHAPE(2, 3), "momentum2 velocity2 ");
    expect_slots("Muon", "{\"exclude_layers\": [\"(\"]}", "dense/kernel", LEAT_SHAPE(2, 3),
                 "exclude_layers");
    leat_part *part = leat_part_new("optimizer", "Muon", NULL, &err);
    assert_null(leat_part_states_json(part, NULL, 0, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "leat_part_slots_json");
    assert_null(leat_part_slots_json(part, NULL, &err));
    leat_part_free(part);
}

static double number_of(leat_value value) {
    leat_tensor tensor = {0};
    train_ok(leat_value_tensor(value, &tensor, &train_error));
    double number = leati_tensor_float_at(&tensor, 0);
    leat_tensor_unref(&tensor);
    return number;
}

/* Rows that a mask leaves out do not count, nor does their number. */
static void losses_take_masks(void **state) {
    (void)state;
    leat_error err = {0};
    const float labels[2] = {0, 0}, predictions[2] = {1, 3}, weights[2] = {2, 5};
    const bool mask[2] = {true, false};
    leat_part *loss = leat_part_new("loss", "MeanSquaredError", NULL, &err);
    leat_graph *graph = leat_graph_new_eager(&err);
    const leat_tensor tensors[4] = {
        leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(2, 1), labels),
        leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(2, 1), predictions),
        leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(2), weights),
        leat_tensor_view(LEAT_BOOL, LEAT_SHAPE(2), mask),
    };
    leat_value values[4];
    for (int i = 0; i < 4; i++)
        values[i] = leat_graph_tensor(graph, &tensors[i]);
    assert_true(number_of(leat_part_call(loss, values, 2, NULL, 0, false, NULL)) == 5);
    assert_true(number_of(leat_part_call(loss, values, 3, NULL, 0, false, NULL)) == 23.5);
    assert_true(number_of(leat_part_call(loss, values, 4, NULL, 0, false, NULL)) == 2);
    values[2] = values[3];
    assert_true(number_of(leat_part_call(loss, values, 3, NULL, 0, false, NULL)) == 1);
    assert_true(leat_part_call(loss, values, 1, NULL, 0, false, NULL).id < 0);
    assert_int_equal(leat_graph_take_error(graph, &err), LEAT_INVALID_ARGUMENT);
    leat_graph_free(graph);
    leat_part_free(loss);
}

/* A metric that is a mean gives what the mean is taken of; states of others follow the shapes. */
static void metrics_give_values(void **state) {
    (void)state;
    leat_error err = {0};
    const float labels[2] = {1, 0}, predictions[2] = {0.9F, 0.8F};
    leat_part *accuracy = leat_part_new("metric", "BinaryAccuracy", NULL, &err);
    leat_part *score = leat_part_new("metric", "FBetaScore", "{\"beta\": 2.0}", &err);
    leat_graph *graph = leat_graph_new_eager(&err);
    const leat_tensor tensors[2] = {
        leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(2, 1), labels),
        leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(2, 1), predictions),
    };
    leat_value values[2] = {leat_graph_tensor(graph, &tensors[0]),
                            leat_graph_tensor(graph, &tensors[1])};
    leat_value found = leat_part_call(accuracy, values, 2, NULL, 0, false, NULL);
    assert_true(number_of(leat_op_reduce_sum(found, NULL, 0, false)) == 1);
    json_t *list = states_of(score, NULL, 0);
    assert_int_equal(json_array_size(list), 0);
    json_decref(list);
    list = states_of(score, (leat_shape[]){LEAT_SHAPE(7, 3), LEAT_SHAPE(7, 3)}, 2);
    assert_int_equal(json_array_size(list), 4);
    const json_t *shape = json_object_get(json_array_get(list, 3), "shape");
    assert_int_equal(json_integer_value(json_array_get(shape, 0)), 3);
    assert_string_equal(arrays_text(json_array_get(list, 3), "dtype"), "float32");
    json_decref(list);
    leat_graph_free(graph);
    leat_part_free(accuracy);
    leat_part_free(score);
}

static void initializers_fill(void **state) {
    (void)state;
    leat_error err = {0};
    leat_part *part = leat_part_new("initializer", "GlorotUniform", "{}", &err);
    leat_tensor one, two;
    train_ok(leat_part_initialize(part, 7, LEAT_SHAPE(3, 4), &one, &train_error));
    train_ok(leat_part_initialize(part, 7, LEAT_SHAPE(3, 4), &two, &train_error));
    assert_int_equal(one.dtype, LEAT_FLOAT32);
    assert_memory_equal(one.data, two.data, 48);
    leat_tensor_unref(&one);
    leat_tensor_unref(&two);
    leat_part_free(part);
}

static void wants_error(leat_graph *graph, leat_status code, leat_reason reason,
                        const char *keyword) {
    leat_error err = {0};
    assert_int_equal(leat_graph_take_error(graph, &err), code);
    assert_refused(&err, code, reason, keyword);
}

static void wrong_use_is_refused(void **state) {
    (void)state;
    leat_error err = {0};
    const float one = 1;
    assert_null(leat_part_new("lair", "Dense", NULL, &err));
    assert_int_equal(err.code, LEAT_NOT_FOUND);
    assert_null(leat_part_new("layer", "Densely", NULL, &err));
    assert_refused(&err, LEAT_NOT_FOUND, LEAT_REASON_NONE, "\"Densely\"");
    assert_null(leat_part_new("layer", "Dense", "{", &err));
    assert_int_equal(err.code, LEAT_INVALID_ARGUMENT);
    assert_null(leat_part_new("layer", "Dense", "{}", &err));
    leat_part *dense = leat_part_new("layer", "Dense", "{\"units\": 3}", &err);
    leat_part *mean = leat_part_new("metric", "Mean", NULL, &err);
    leat_shape flat = LEAT_SHAPE(2);
    assert_null(leat_part_states_json(dense, &flat, 1, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "\"dense\"");
    leat_graph *graph = leat_graph_new_eager(&err);
    leat_tensor cell = leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(1, 1), &one);
    leat_value x = leat_graph_tensor(graph, &cell), updates[2];
    assert_true(leat_part_call(dense, &x, 1, NULL, 0, false, NULL).id < 0);
    wants_error(graph, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "0");
    leat_part *adam = leat_part_new("optimizer", "Adam", NULL, &err);
    assert_true(leat_part_call(adam, &x, 1, NULL, 0, false, NULL).id < 0);
    wants_error(graph, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "layer");
    leat_part_free(adam);
    leat_part *score = leat_part_new("metric", "F1Score", NULL, &err);
    assert_true(leat_part_call(score, (leat_value[]){x, x}, 2, NULL, 0, false, NULL).id < 0);
    wants_error(graph, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "F1Score");
    assert_null(leat_part_states_json(score, &flat, 1, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "1");
    leat_part_free(score);
    leat_part_update(mean, &x, 1, NULL, 0, updates);
    wants_error(graph, LEAT_INVALID_ARGUMENT, LEAT_REASON_STRUCTURE, "0");
    assert_true(leat_part_result(dense, &x, 1).id < 0);
    wants_error(graph, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "metric");
    assert_true(leat_part_result(mean, &x, 1).id < 0);
    wants_error(graph, LEAT_INVALID_ARGUMENT, LEAT_REASON_STRUCTURE, "1");
    /* Without a value there is no graph; what comes of a failed one fails in its graph. */
    const leat_value failed = {.graph = graph, .id = -1};
    assert_null(leat_part_result(mean, NULL, 0).graph);
    assert_null(leat_part_call(dense, NULL, 0, NULL, 0, false, NULL).graph);
    assert_ptr_equal(leat_part_result(mean, &failed, 1).graph, graph);
    assert_ptr_equal(leat_part_call(dense, &failed, 1, NULL, 0, false, NULL).graph, graph);
    leat_graph_free(graph);
    leat_part_free(dense);
    leat_part_free(mean);
}

static leat_status make(void *context, leat_error *err) {
    (void)context;
    char *text = leat_parts_json(err);
    if (text == NULL)
        return torture_code(err);
    leat_text_free(text);
    leat_part *part = leat_part_new("layer", "Dense", "{\"units\": 3}", err);
    text =
        part == NULL ? NULL : leat_part_states_json(part, (leat_shape[]){LEAT_SHAPE(1, 2)}, 1, err);
    leat_status status = text == NULL ? torture_code(err) : LEAT_OK;
    leat_text_free(text);
    leat_part_free(part);
    return status;
}

static void survives_failed_allocations(void **state) {
    (void)state;
    torture_begin();
    torture_run(make, NULL);
    torture_end();
}

static leat_status read_lists(void *context, leat_error *err) {
    size_t count, i = 0;
    const leati_kind *const *kinds = leati_kinds_layer(&count);
    while (strcmp(kinds[i]->name, "Conv2D") != 0)
        i++;
    void *args = NULL;
    leat_status status = leati_kind_args_read(kinds[i], context, &args, err);
    if (status == LEAT_OK)
        leati_kind_args_free(kinds[i], args);
    return status;
}

/* Also those of JSON values: lists become plain ones. */
static void survives_failed_values(void **state) {
    (void)state;
    torture_begin();
    torture_json(true);
    json_t *config =
        json_pack("{s:i, s:[i,i], s:[i,i]}", "filters", 2, "kernel_size", 3, 3, "strides", 1, 1);
    torture_run(read_lists, config);
    json_decref(config);
    torture_json(false);
    torture_end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_json),
        cmocka_unit_test(layers_take_weights),
        cmocka_unit_test(metrics_take_states),
        cmocka_unit_test(optimizers_take_slots),
        cmocka_unit_test(updates_of_ones_own),
        cmocka_unit_test(slots_depend_on_the_variable),
        cmocka_unit_test(losses_take_masks),
        cmocka_unit_test(metrics_give_values),
        cmocka_unit_test(initializers_fill),
        cmocka_unit_test(wrong_use_is_refused),
        cmocka_unit_test(survives_failed_allocations),
        cmocka_unit_test(survives_failed_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
