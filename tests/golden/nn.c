/* The part nn: layers, losses, optimizers, metrics and initialisers by Keras' names and arguments,
 * each against its recorded numbers; training runs are in nn_training.c. */
#include "nn.h"
#include "train/frame/initializer.h"
#include "train/frame/layer.h"
#include "train/frame/loss.h"
#include "train/frame/metric.h"
#include "train/frame/optimizer.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VARIABLES = 8, MOST_INPUTS = 4 };

/* ---- names ---- */

static void check_value(golden_case *c, const char *argument, const json_t *value) {
    const char *text = json_string_value(value);
    leat_error err = {0};
    if (text == NULL)
        return;
    if (strcmp(argument, "activation") == 0 && leati_activation_check(text, &err) != LEAT_OK)
        golden_missing(c, "activation %s", text);
    if (golden_ends_in(argument, "_initializer") && leati_initializer_find(text, &err) == NULL)
        golden_missing(c, "initializer %s", text);
}

const leati_kind *golden_kind(golden_case *c, const char *sort, const leati_kind *const *kinds,
                              size_t count, const char *name, const json_t *config) {
    const char *argument = NULL;
    json_t *value = NULL;
    size_t at = 0;
    while (at < count && strcmp(kinds[at]->name, name) != 0)
        at++;
    if (at == count) {
        golden_missing(c, "%s %s", sort, name);
        return NULL;
    }
    json_object_foreach((json_t *)config, argument, value) {
        if (leati_rows_find(kinds[at]->rows, argument) == NULL)
            golden_missing(c, "argument %s of %s %s", argument, sort, name);
        check_value(c, argument, value);
    }
    return kinds[at];
}

void golden_refused(golden_case *c, const char *what, const leat_error *err) {
    if (err->code == LEAT_UNIMPLEMENTED)
        golden_missing(c, "%s: %s", what, err->text);
    else
        golden_fail(c, "%s: %s: %s", what, leat_status_name(err->code), err->text);
}

/* ---- values ---- */

leat_value golden_eager(golden_case *c, leat_graph *graph, const json_t *json) {
    leat_tensor tensor = {0};
    leat_error err = {0};
    leat_value value = {.graph = graph, .id = -1};
    if (golden_array(NN_FOLDER, json, &tensor, &err) == LEAT_OK)
        value = leat_graph_tensor(graph, &tensor);
    else
        golden_fail(c, "a recorded array: %s", err.text);
    leat_tensor_unref(&tensor);
    return value;
}

void golden_tensor_close(golden_case *c, const char *what, const json_t *json,
                         const leat_tensor *found, double relative) {
    leat_tensor expected = {0};
    leat_error err = {0};
    if (golden_array(NN_FOLDER, json, &expected, &err) == LEAT_OK)
        golden_close(c, what, &expected, found, relative, 0);
    else
        golden_fail(c, "%s: the recorded array: %s", what, err.text);
    leat_tensor_unref(&expected);
}

void golden_value_close(golden_case *c, const char *what, const json_t *expected, leat_value found,
                        double relative) {
    leat_tensor tensor = {0};
    leat_error err = {0};
    if (golden_graph_compare(c, what, expected, found, relative))
        return;
    if (leat_value_tensor(found, &tensor, &err) == LEAT_OK)
        golden_tensor_close(c, what, expected, &tensor, relative);
    else
        golden_refused(c, what, &err);
    leat_tensor_unref(&tensor);
}

static void variable_close(golden_case *c, const char *what, const json_t *expected,
                           leat_variable *found, double relative) {
    leat_tensor tensor = {0};
    leat_error err = {0};
    if (found == NULL)
        golden_fail(c, "%s: there is no such variable", what);
    else if (leat_variable_read(found, &tensor, &err) == LEAT_OK)
        golden_tensor_close(c, what, expected, &tensor, relative);
    else
        golden_refused(c, what, &err);
    leat_tensor_unref(&tensor);
}

/* ---- layers.json ---- */

static void load_weights(golden_case *c, leat_layer *layer, const json_t *weights) {
    const char *name = NULL;
    json_t *value = NULL;
    leat_error err = {0};
    int count = layer->num_weights;
    if (leati_layer_weight(layer, "seed_generator_state") != NULL)
        count--; /* which Keras does not count as a weight */
    if ((size_t)count != json_object_size(weights))
        golden_fail(c, "%d weights; recorded were %zu", count, json_object_size(weights));
    json_object_foreach((json_t *)weights, name, value) {
        leat_tensor tensor = {0};
        leat_variable *weight = leati_layer_weight(layer, name);
        if (weight == NULL)
            golden_fail(c, "there is no weight %s", name);
        else if (golden_array(NN_FOLDER, value, &tensor, &err) != LEAT_OK ||
                 leat_variable_assign(weight, &tensor, &err) != LEAT_OK)
            golden_fail(c, "weight %s: %s", name, err.text);
        leat_tensor_unref(&tensor);
    }
}

/* What float32 loses in gradients behind a mean that is taken out: the mean in deviations, times
 * twice the rounding unit. Keras' own answers are no better: the exact ones are that far off. */
static double lost_by_rounding(const json_t *json) {
    leat_tensor x = {0};
    leat_error err = {0};
    double sum = 0, squares = 0;
    if (strcmp(golden_text(json, "layer"), "BatchNormalization") != 0 ||
        golden_array(NN_FOLDER, json_array_get(json_object_get(json, "inputs"), 0), &x, &err) !=
            LEAT_OK)
        return 0;
    double n = (double)leat_tensor_count(&x);
    for (int64_t i = 0; i < leat_tensor_count(&x); i++)
        sum += golden_number(&x, i) / n;
    for (int64_t i = 0; i < leat_tensor_count(&x); i++)
        squares += (golden_number(&x, i) - sum) * (golden_number(&x, i) - sum) / n;
    leat_tensor_unref(&x);
    return fabs(sum) / sqrt(squares) * 1.2e-7;
}

static void check_gradients(golden_case *c, const json_t *json, leat_layer *layer,
                            const leat_value *inputs, int num_inputs, leat_value loss) {
    double tolerance = 1e-5 + lost_by_rounding(json);
    leat_value gradient = {0}, gradients[LEATI_MAX_WEIGHTS];
    const char *name = NULL;
    json_t *value = NULL;
    for (int i = 0; i < num_inputs; i++) {
        const json_t *recorded = json_array_get(json_object_get(json, "input_grads"), (size_t)i);
        if (recorded == NULL || json_is_null(recorded))
            continue;
        leat_value_gradients(loss, &inputs[i], 1, &gradient);
        golden_value_close(c, "gradient of an input", recorded, gradient, tolerance);
    }
    if (layer->num_weights > 0)
        leat_variable_gradients(loss, layer->weights, layer->num_weights, gradients);
    json_object_foreach(json_object_get(json, "weight_grads"), name, value) {
        for (int i = 0; i < layer->num_weights; i++)
            if (layer->weights[i] == leati_layer_weight(layer, name))
                golden_value_close(c, name, value, gradients[i], tolerance);
    }
}

static void check_layer(golden_case *c, const json_t *json, leat_layer *layer) {
    leat_error err = {0};
    leat_tensor first = {0};
    const json_t *recorded = json_object_get(json, "inputs"), *arrays[MOST_INPUTS + 1];
    const char *name = NULL;
    json_t *value = NULL;
    int count = (int)json_array_size(recorded);
    leat_value inputs[MOST_INPUTS + 1];
    for (int i = 0; i < count; i++)
        arrays[i] = json_array_get(recorded, (size_t)i);
    arrays[count] = json_object_get(json, "upstream");
    if (golden_array(NN_FOLDER, arrays[0], &first, &err) != LEAT_OK)
        golden_fail(c, "a recorded array: %s", err.text);
    leat_shape shape = leat_tensor_shape(&first);
    leat_tensor_unref(&first);
    if (!golden_stopped(c) && leati_layer_build(layer, &shape, NULL, &err) != LEAT_OK)
        golden_refused(c, "build", &err);
    if (!golden_stopped(c))
        load_weights(c, layer, json_object_get(json, "weights"));
    leat_graph *graph = golden_stopped(c) ? NULL : golden_graph_open(c, arrays, count + 1, inputs);
    if (graph == NULL)
        return;
    leat_value y =
        leati_layer_call(layer, inputs, count, golden_bool(json, "training", false), NULL);
    /* A device has the exact answer; that of TensorFlow, and the host's, takes the mean out last.
     */
    double tolerance = 1e-5 + (c->run->device != NULL ? lost_by_rounding(json) : 0);
    golden_value_close(c, "output", json_object_get(json, "output"), y, tolerance);
    leat_value floats = leat_op_cast(y, LEAT_FLOAT32);
    leat_value loss = leat_op_reduce_sum(leat_op_multiply(floats, inputs[count]), NULL, 0, false);
    check_gradients(c, json, layer, inputs, count, loss);
    if (!golden_graph_close(c, graph))
        return;
    json_object_foreach((json_t *)json_object_get(json, "state_after"), name, value)
        variable_close(c, name, value, leati_layer_weight(layer, name), 1e-5);
}

static void layer_case(golden_case *c, const json_t *json) {
    const json_t *config = json_object_get(json, "config");
    const char *name = golden_text(json, "layer");
    leat_error err = {0};
    size_t count = 0;
    const leati_kind *const *kinds = leati_kinds_layer(&count);
    golden_kind(c, "layer", kinds, count, name, config);
    if (json_array_size(json_object_get(json, "inputs")) > MOST_INPUTS)
        golden_fail(c, "more than %d inputs", MOST_INPUTS);
    if (golden_stopped(c))
        return;
    leat_layer *layer = leati_layer_from_json(name, config, &err);
    if (layer == NULL)
        golden_refused(c, name, &err);
    else
        check_layer(c, json, layer);
    leat_layer_free(layer);
}

/* ---- losses.json, loss_behind_softmax.json ---- */

static void loss_case(golden_case *c, const json_t *json) {
    const json_t *config = json_object_get(json, "config");
    const json_t *weights = json_object_get(json, "sample_weight");
    leat_error err = {0};
    size_t count = 0;
    const leati_kind *const *kinds = leati_kinds_loss(&count);
    golden_kind(c, "loss", kinds, count, golden_text(json, "loss"), config);
    if (golden_stopped(c))
        return;
    leati_loss *loss = leati_loss_from_json(golden_text(json, "loss"), config, &err);
    bool weighted = weights != NULL && !json_is_null(weights);
    const json_t *arrays[3] = {json_object_get(json, "y_true"), json_object_get(json, "y_pred"),
                               weights};
    leat_value values[3] = {{0}}, gradient = {0};
    if (loss == NULL)
        golden_refused(c, "the loss", &err);
    /* In a step losses of no rows have a mean, 0: a replica without rows takes part. */
    const json_t *shape = json_object_get(arrays[1], "shape");
    bool empty = json_array_size(shape) > 0 && json_integer_value(json_array_get(shape, 0)) == 0;
    leat_graph *(*open)(golden_case *, const json_t *const *, int, leat_value *) =
        empty ? golden_graph_eager : golden_graph_open;
    leat_graph *graph = loss == NULL ? NULL : open(c, arrays, weighted ? 3 : 2, values);
    if (graph != NULL) {
        leat_value value =
            leati_loss_call(loss, values[0], values[1], weighted ? &values[2] : NULL);
        golden_value_close(c, "loss", json_object_get(json, "value"), value, 1e-5);
        leat_value_gradients(value, &values[1], 1, &gradient);
        golden_value_close(c, "gradient", json_object_get(json, "grad"), gradient, 1e-5);
        (void)golden_graph_close(c, graph);
    }
    leati_loss_free(loss);
}

/* The mean over rows of the loss of probabilities that a softmax gave. */
static void softmax_case(golden_case *c, const json_t *json) {
    size_t count = 0;
    const leati_kind *const *kinds = leati_kinds_loss(&count);
    const json_t *list = json_object_get(json, "labels");
    golden_kind(c, "loss", kinds, count, "SparseCategoricalCrossentropy", NULL);
    json_t *literal = json_pack("{s:s,s:[I],s:O}", "dtype", "int32", "shape",
                                (json_int_t)json_array_size(list), "data", list);
    const json_t *arrays[2] = {json_object_get(json, "logits"), literal};
    leat_value values[2], gradient = {0};
    leat_graph *graph = golden_stopped(c) ? NULL : golden_graph_open(c, arrays, 2, values);
    if (graph == NULL) {
        json_decref(literal);
        return;
    }
    leat_value logits = values[0], labels = values[1];
    leat_value rows =
        leat_loss_sparse_categorical_crossentropy(labels, leat_op_softmax(logits), false);
    leat_value loss = leat_op_reduce_mean(rows, NULL, 0, false);
    json_t *expected = json_pack("{s:s,s:[],s:[O]}", "dtype", "float32", "shape", "data",
                                 json_object_get(json, "loss"));
    golden_value_close(c, "loss", expected, loss, 1e-5);
    leat_value_gradients(loss, &logits, 1, &gradient);
    const json_t *recorded = json_object_get(json, "grad");
    if (recorded == NULL) { /* that of a bias added to the logits: summed over rows */
        gradient = leat_op_reduce_sum(gradient, (const int64_t[]){0}, 1, false);
        recorded = json_object_get(json, "bias_gradient");
    }
    golden_value_close(c, "gradient", recorded, gradient, 1e-5);
    (void)golden_graph_close(c, graph);
    json_decref(expected);
    json_decref(literal);
}

/* ---- schedules.json ---- */

/* The schedule of a class name and a JSON object of arguments. */
static leat_part *schedule_of(const char *name, const json_t *config, leat_error *err) {
    char *text = json_dumps(config, 0);
    leat_part *part = leat_part_new("schedule", name, text, err);
    free(text);
    return part;
}

static void schedule_case(golden_case *c, const json_t *json) {
    const json_t *steps = json_object_get(json, "steps");
    leat_value rates[64];
    leat_error err = {0};
    int count = (int)json_array_size(steps);
    leat_part *part =
        schedule_of(golden_text(json, "schedule"), json_object_get(json, "config"), &err);
    leat_graph *graph = part == NULL || count > 64 ? NULL : leat_graph_new_eager(&err);
    if (graph == NULL) {
        golden_refused(c, golden_text(json, "schedule"), &err);
        leat_part_free(part);
        return;
    }
    for (int i = 0; i < count; i++) {
        int64_t number = json_integer_value(json_array_get(steps, (size_t)i));
        leat_tensor step = leat_tensor_view(LEAT_INT64, LEAT_SCALAR, &number);
        leat_value value = leat_graph_tensor(graph, &step);
        rates[i] = leat_part_call(part, &value, 1, NULL, 0, false, NULL);
    }
    golden_value_close(c, "rates", json_object_get(json, "values"), leat_op_stack(rates, count, 0),
                       1e-5);
    leat_graph_free(graph);
    leat_part_free(part);
}

/* ---- optimizers.json ---- */

/* An optimizer whose rate may be a schedule: {"schedule": its class name, its arguments}. */
static leat_optimizer *optimizer_of(const char *name, const json_t *config, leat_error *err) {
    const json_t *rate = json_object_get(config, "learning_rate");
    if (!json_is_object(rate))
        return leati_optimizer_from_json(name, config, err);
    json_t *others = json_copy((json_t *)(uintptr_t)config), *own = json_copy((json_t *)rate);
    json_object_del(others, "learning_rate");
    json_object_del(own, "schedule");
    leat_part *part = schedule_of(golden_text(rate, "schedule"), own, err);
    leat_optimizer *optimizer = part == NULL ? NULL : leati_optimizer_from_json(name, others, err);
    if (optimizer == NULL)
        leat_part_free(part);
    else if (leat_optimizer_set_schedule(optimizer, part, err) != LEAT_OK) {
        leat_optimizer_free(optimizer);
        optimizer = NULL;
    }
    json_decref(others);
    json_decref(own);
    return optimizer;
}

static void take_step(golden_case *c, leat_optimizer *optimizer, leat_variable *const *variables,
                      int count, const json_t *gradients) {
    leat_value values[MOST_VARIABLES];
    const json_t *arrays[MOST_VARIABLES];
    for (int i = 0; i < count; i++)
        arrays[i] = json_array_get(gradients, (size_t)i);
    leat_graph *graph = golden_graph_open(c, arrays, count, values);
    if (graph == NULL)
        return;
    leat_optimizer_apply(optimizer, values, variables, count);
    (void)golden_graph_close(c, graph);
}

static void check_optimizer(golden_case *c, const json_t *json, leat_optimizer *optimizer) {
    const json_t *initial = json_object_get(json, "variables");
    const json_t *gradients = json_object_get(json, "grads");
    const json_t *after = json_object_get(json, "after_each_step");
    leat_variable *variables[MOST_VARIABLES] = {NULL};
    leat_error err = {0};
    int count = (int)json_array_size(initial);
    for (int i = 0; i < count && i < MOST_VARIABLES; i++) {
        leat_tensor tensor = {0};
        char name[16];
        snprintf(name, sizeof name, "v%d", i);
        if (golden_array(NN_FOLDER, json_array_get(initial, (size_t)i), &tensor, &err) == LEAT_OK)
            variables[i] = leat_variable_new(
                &tensor, &(leat_variable_options){LEAT_VARIABLE_DEFAULTS, .name = name}, &err);
        if (variables[i] == NULL)
            golden_fail(c, "variable %d: %s", i, err.text);
        leat_tensor_unref(&tensor);
    }
    for (size_t s = 0; s < json_array_size(gradients) && !golden_stopped(c); s++) {
        take_step(c, optimizer, variables, count, json_array_get(gradients, s));
        for (int i = 0; i < count && !golden_stopped(c); i++) {
            char what[60];
            snprintf(what, sizeof what, "variable %d after step %zu", i, s + 1);
            variable_close(c, what, json_array_get(json_array_get(after, s), (size_t)i),
                           variables[i], 1e-5);
        }
    }
    int slots = 0;
    (void)leat_optimizer_variables(optimizer, &slots);
    if (!golden_stopped(c) && (size_t)slots != json_array_size(json_object_get(json, "slots")))
        golden_fail(c, "%d variables of its own; recorded were %zu", slots,
                    json_array_size(json_object_get(json, "slots")));
    for (int i = 0; i < count && i < MOST_VARIABLES; i++)
        leat_variable_unref(variables[i]);
}

static void optimizer_case(golden_case *c, const json_t *json) {
    const json_t *config = json_object_get(json, "config");
    const char *name = golden_text(json, "optimizer");
    leat_error err = {0};
    size_t count = 0;
    const leati_kind *const *kinds = leati_kinds_optimizer(&count);
    golden_kind(c, "optimizer", kinds, count, name, config);
    if (json_array_size(json_object_get(json, "variables")) > MOST_VARIABLES)
        golden_fail(c, "more than %d variables", MOST_VARIABLES);
    if (golden_stopped(c))
        return;
    leat_optimizer *optimizer = optimizer_of(name, config, &err);
    if (optimizer == NULL)
        golden_refused(c, name, &err);
    else
        check_optimizer(c, json, optimizer);
    leat_optimizer_free(optimizer);
}

/* ---- metrics.json ---- */

/* One number or a list of them; null where there is no result before the first update. */
static void check_result(golden_case *c, const char *what, const json_t *expected,
                         leat_metric *metric) {
    leat_tensor found = {0};
    leat_error err = {0};
    if (json_is_null(expected))
        return;
    leat_status status = leat_metric_result_tensor(metric, &found, &err);
    int64_t count = json_is_array(expected) ? (int64_t)json_array_size(expected) : 1;
    if (status != LEAT_OK)
        golden_refused(c, what, &err);
    else if (leat_tensor_count(&found) != count)
        golden_fail(c, "%s: expected %lld numbers, found %lld", what, (long long)count,
                    (long long)leat_tensor_count(&found));
    for (int64_t i = 0; i < count && !golden_stopped(c); i++) {
        double number = json_number_value(
            json_is_array(expected) ? json_array_get(expected, (size_t)i) : expected);
        double value = golden_number(&found, i);
        if (!(fabs(value - number) <= 2e-6 * fabs(number) + 1e-7))
            golden_fail(c, "%s: expected %.9g, found %.9g", what, number, value);
    }
    leat_tensor_unref(&found);
}

static void check_metric(golden_case *c, const json_t *json, leat_metric *metric) {
    const json_t *updates = json_object_get(json, "updates");
    const json_t *state = json_object_get(json, "state");
    leat_error err = {0};
    check_result(c, "before", json_object_get(json, "before"), metric);
    for (size_t u = 0; u < json_array_size(updates) && !golden_stopped(c); u++) {
        const json_t *arguments = json_array_get(updates, u);
        const json_t *arrays[4];
        leat_value values[4];
        char what[40];
        int count = (int)json_array_size(arguments);
        for (int i = 0; i < count && i < 4; i++)
            arrays[i] = json_array_get(arguments, (size_t)i);
        leat_graph *graph = count > 4 ? NULL : golden_graph_open(c, arrays, count, values);
        if (graph == NULL)
            break;
        leat_metric_update(metric, values, count);
        (void)golden_graph_close(c, graph);
        snprintf(what, sizeof what, "after update %zu", u + 1);
        check_result(c, what, json_array_get(json_object_get(json, "results"), u), metric);
    }
    if (json_object_get(state, "total") != NULL)
        variable_close(c, "total", json_object_get(state, "total"), metric->states[0], 1e-6);
    if (json_object_get(state, "count") != NULL)
        variable_close(c, "count", json_object_get(state, "count"), metric->states[1], 1e-6);
    if (leat_metric_reset(metric, &err) != LEAT_OK)
        golden_refused(c, "reset", &err);
    check_result(c, "after reset", json_object_get(json, "after_reset"), metric);
}

static void metric_case(golden_case *c, const json_t *json) {
    const json_t *config = json_object_get(json, "config");
    const char *name = golden_text(json, "metric");
    leat_error err = {0};
    size_t count = 0;
    const leati_kind *const *kinds = leati_kinds_metric(&count);
    golden_kind(c, "metric", kinds, count, name, config);
    if (golden_stopped(c))
        return;
    leat_metric *metric = leati_metric_from_json(name, config, &err);
    if (metric == NULL)
        golden_refused(c, name, &err);
    else
        check_metric(c, json, metric);
    leat_metric_free(metric);
}

/* ---- what is not there yet, and the table of files ---- */

static void resnet_case(golden_case *c, const json_t *json) {
    (void)json;
    golden_missing(c, "layer BatchNormalization");
}

static const struct file {
    const char *name;
    void (*run)(golden_case *c, const json_t *json); /* NULL: data of other files */
    bool of_host; /* what is drawn, and what makes strategies of its own */
} files[] = {
    {"cnn_weights.index.json", NULL, false},
    {"dropout.json", golden_dropout_case, true},
    {"further_layers.json", layer_case, false},
    {"initializers.json", golden_initializer_case, true},
    {"layers.json", layer_case, false},
    {"loss_behind_softmax.json", softmax_case, false},
    {"losses.json", loss_case, false},
    {"metrics.json", metric_case, false},
    {"more_initializers.json", golden_initializer_case, true},
    {"more_layers.json", layer_case, false},
    {"more_losses.json", loss_case, false},
    {"more_metrics.json", metric_case, false},
    {"more_optimizers.json", optimizer_case, false},
    {"optimizers.json", optimizer_case, false},
    {"picture_layers.json", layer_case, false},
    {"resnet.json", resnet_case, false},
    {"resnet50_facts.json", resnet_case, false},
    {"resnet_weights.index.json", NULL, false},
    {"schedules.json", schedule_case, true},
    {"training.json", golden_training_case, true},
};

static void run_file(golden_run *run, const void *line) {
    const struct file *file = line;
    char path[512], name[200];
    if (file->run == NULL)
        return;
    snprintf(path, sizeof path, NN_FOLDER "/%s", file->name);
    json_t *cases = golden_read_cases(run, path);
    if (!file->of_host)
        golden_device_begin(run);
    for (size_t i = 0; i < json_array_size(cases); i++) {
        static const char *const keys[] = {"layer",       "loss",       "optimizer", "metric",
                                           "initializer", "default_of", "run"};
        const json_t *json = json_array_get(cases, i);
        const char *what = "";
        golden_case c;
        for (size_t k = 0; k < sizeof keys / sizeof keys[0] && what[0] == '\0'; k++)
            what = golden_text(json, keys[k]);
        snprintf(name, sizeof name, "case_%zu_%s", i, what);
        if (!golden_begin(&c, run, path, name))
            continue;
        file->run(&c, json);
        golden_end(&c);
    }
    golden_device_end(run);
    json_decref(cases);
}

void golden_nn(golden_run *run) {
    golden_run_files(run, NN_FOLDER, files, sizeof files / sizeof files[0], sizeof files[0],
                     run_file);
}
