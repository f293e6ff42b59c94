/* training.json: the small CNN, trained on the recorded digits by a custom loop through the public
 * calls: distributed dataset, step, strategy.run, reduce. The first losses agree to 1e-4 relative,
 * the accuracy after the last epoch to half a point. */
#include "nn.h"
#include "train/frame/layer.h"
#include "train/frame/loss.h"
#include "train/frame/optimizer.h"
#include <leat/train.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct trainer {
    leat_strategy *strategy;
    leat_model *model;
    leat_optimizer *optimizer;
    leat_metric *accuracy;
    leati_loss *loss; /* of one-hot labels; NULL: labels are numbers */
    bool weighted;    /* by class */
    leat_distributed_dataset *dataset;
    leat_step *step, *evaluation;
    int64_t global_batch;
};

/* ---- steps ---- */

/* The loss of each row of one-hot labels, times the weight of its class if that is asked. */
static leat_value onehot_losses(const struct trainer *t, leat_value labels, leat_value logits) {
    static const float of_class[10] = {1, 0.5f, 2, 1, 1.5f, 0.25f, 1, 3, 1, 0.75f};
    leat_value vectors = leat_op_one_hot(
        labels, 10, &(leat_op_one_hot_options){LEAT_OP_ONE_HOT_DEFAULTS, .dtype = LEAT_FLOAT32});
    leat_value rows = leati_loss_call(t->loss, vectors, logits, NULL);
    if (!t->weighted)
        return rows;
    leat_tensor weights = leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(10), of_class);
    leat_value all = leat_op_multiply(vectors, leat_graph_tensor(labels.graph, &weights));
    return leat_op_multiply(rows, leat_op_reduce_sum(all, (const int64_t[]){1}, 1, false));
}

static int trace_step(void *context, leat_graph *graph, leat_value *out, int capacity) {
    struct trainer *t = context;
    int count = 0;
    leat_variable *const *variables = leat_model_trainable_variables(t->model, &count);
    leat_value logits = leat_model_call(t->model, leat_graph_argument(graph, 0), true);
    leat_value labels = leat_graph_argument(graph, 1);
    leat_value rows = t->loss != NULL
                          ? onehot_losses(t, labels, logits)
                          : leat_loss_sparse_categorical_crossentropy(labels, logits, true);
    out[0] = leat_loss_average(rows, t->global_batch);
    leat_optimizer_minimize(t->optimizer, out[0], variables, count);
    return 1;
}

static int trace_evaluation(void *context, leat_graph *graph, leat_value *out, int capacity) {
    struct trainer *t = context;
    leat_value values[2] = {leat_graph_argument(graph, 1), {0}};
    values[1] = leat_model_call(t->model, leat_graph_argument(graph, 0), false);
    leat_metric_update(t->accuracy, values, 2);
    out[0] = leat_op_reduce_sum(values[1], NULL, 0, false);
    return 1;
}

/* ---- making ---- */

/* Pictures divided by 16 in float32 and int64 labels, in batches. */
static leat_dataset *make_dataset(int64_t global_batch, leat_error *err) {
    leat_tensor pictures = {0}, labels = {0}, both[2] = {{0}, {0}};
    leat_element rows = {0};
    leat_dataset *dataset = NULL;
    leat_status status = golden_npy(NN_FOLDER, "digits_x.npy", &pictures, err);
    if (status == LEAT_OK)
        status = golden_npy(NN_FOLDER, "digits_y.npy", &labels, err);
    if (status == LEAT_OK)
        status = leat_tensor_new(LEAT_FLOAT32, leat_tensor_shape(&pictures), &both[0], err);
    if (status == LEAT_OK)
        status = leat_tensor_new(LEAT_INT64, leat_tensor_shape(&labels), &both[1], err);
    if (status == LEAT_OK) {
        for (int64_t i = 0; i < leat_tensor_count(&pictures); i++)
            ((float *)both[0].data)[i] = (float)golden_number(&pictures, i) / 16;
        for (int64_t i = 0; i < leat_tensor_count(&labels); i++)
            ((int64_t *)both[1].data)[i] = (int64_t)golden_number(&labels, i);
        leat_spec *children[2] = {
            leat_spec_tensor(both[0].dtype, leat_tensor_shape(&both[0]), err),
            leat_spec_tensor(both[1].dtype, leat_tensor_shape(&both[1]), err)};
        leat_spec *spec = leat_spec_tuple(children, 2, err);
        if (spec != NULL && leat_element_set(&rows, spec, both, err) == LEAT_OK)
            dataset = leat_dataset_batch(leat_dataset_from_tensor_slices(&rows, err), global_batch,
                                         NULL, err);
        leat_spec_unref(spec);
    }
    leat_element_fini(&rows);
    leat_tensor_unref(&pictures);
    leat_tensor_unref(&labels);
    leat_tensor_unref(&both[0]);
    leat_tensor_unref(&both[1]);
    return dataset;
}

static leat_model *make_model(leat_error *err) {
    const leat_layer_conv2d_options conv = {LEAT_LAYER_CONV2D_DEFAULTS, .name = "conv",
                                            .activation = LEAT_RELU};
    const leat_layer_dense_options hidden = {LEAT_LAYER_DENSE_DEFAULTS, .name = "hidden",
                                             .activation = LEAT_RELU};
    leat_layer *layers[] = {leat_layer_conv2d(32, 3, 3, &conv, err),
                            leat_layer_max_pooling2d(NULL, err), leat_layer_flatten(NULL, err),
                            leat_layer_dense(64, &hidden, err), leat_layer_dense(10, NULL, err)};
    leat_model *model = leat_model_sequential(layers, 5, err);
    if (model != NULL && leat_model_build(model, LEAT_SHAPE(8, 8, 1), err) == LEAT_OK)
        return model;
    leat_model_free(model);
    return NULL;
}

/* The recorded initial weights, in the order of the model's variables. */
static void load_weights(golden_case *c, leat_model *model) {
    int count = 0;
    leat_variable *const *variables = leat_model_trainable_variables(model, &count);
    leat_tensor all = {0};
    leat_error err = {0};
    int64_t at = 0;
    if (golden_npy(NN_FOLDER, "cnn_weights.npy", &all, &err) != LEAT_OK) {
        golden_fail(c, "%s", err.text);
        return;
    }
    for (int i = 0; i < count && !c->failed; i++) {
        leat_shape shape = leat_variable_shape(variables[i]);
        int64_t size = 1;
        for (int32_t d = 0; d < shape.rank; d++)
            size *= shape.dims[d];
        leat_tensor part = leat_tensor_view(LEAT_FLOAT32, shape, (const float *)all.data + at);
        at += size;
        if (at > leat_tensor_count(&all) ||
            leat_variable_assign(variables[i], &part, &err) != LEAT_OK)
            golden_fail(c, "weight %d: %s", i, err.text);
    }
    leat_tensor_unref(&all);
}

static bool make(golden_case *c, const json_t *json, int replicas, struct trainer *t) {
    char texts[2][32];
    const char *const names[] = {golden_device_name(c, 0, texts[0]),
                                 golden_device_name(c, 1, texts[1])};
    const json_t *optimizer = json_object_get(json, "optimizer");
    leat_error err = {0};
    t->global_batch = golden_int(json, "global_batch", 64);
    if (leat_device_num_logical("CPU") < 2)
        (void)(leat_device_set_logical_cpus(2, &err) == LEAT_OK);
    t->strategy = leat_strategy_mirrored(
        &(leat_strategy_mirrored_options){LEAT_STRATEGY_MIRRORED_DEFAULTS, .devices = names,
                                          .num_devices = replicas},
        &err);
    if (t->strategy != NULL && leat_strategy_enter(t->strategy, &err) == LEAT_OK) {
        t->model = make_model(&err);
        t->optimizer = leati_optimizer_from_json(json_string_value(json_array_get(optimizer, 0)),
                                                 json_array_get(optimizer, 1), &err);
        t->accuracy = leat_metric_sparse_categorical_accuracy(NULL, &err);
        leat_strategy_exit(t->strategy);
    }
    t->step = leat_step_new(trace_step, t, &err);
    t->evaluation = leat_step_new(trace_evaluation, t, &err);
    if (t->model != NULL)
        t->dataset = leat_strategy_distribute_dataset(
            t->strategy, make_dataset(t->global_batch, &err), NULL, &err);
    if (t->dataset == NULL || t->optimizer == NULL || t->accuracy == NULL || t->step == NULL ||
        t->evaluation == NULL) {
        golden_refused(c, "making the trainer", &err);
        return false;
    }
    load_weights(c, t->model);
    return !c->failed;
}

static void fini(struct trainer *t) {
    leati_loss_free(t->loss);
    leat_step_free(t->step);
    leat_step_free(t->evaluation);
    leat_metric_free(t->accuracy);
    leat_optimizer_free(t->optimizer);
    leat_model_free(t->model);
    leat_distributed_dataset_free(t->dataset);
    leat_strategy_unref(t->strategy);
}

/* ---- running ---- */

/* One pass over the data; losses of the first steps are compared. False after golden_fail. */
static bool run_epoch(golden_case *c, struct trainer *t, leat_step *step, const json_t *losses,
                      size_t *steps) {
    leat_per_replica batch = {0}, out = {0};
    leat_element loss = {0};
    leat_error err = {0};
    leat_distributed_iterator *iterator = leat_distributed_iterator_new(t->dataset, &err);
    leat_status status = iterator == NULL ? err.code : LEAT_OK;
    while (status == LEAT_OK && !c->failed) {
        status = leat_distributed_iterator_next(iterator, &batch, &err);
        if (status == LEAT_OK)
            status = leat_strategy_run(t->strategy, step, &batch, &out, &err);
        if (status == LEAT_OK)
            status =
                leat_strategy_reduce(t->strategy, LEAT_REDUCE_SUM, &out, LEAT_NO_AXIS, &loss, &err);
        if (status != LEAT_OK || losses == NULL)
            continue;
        const json_t *recorded = json_array_get(losses, (*steps)++);
        double expected = json_number_value(recorded), found = golden_number(&loss.tensors[0], 0);
        if (recorded != NULL && !(fabs(found - expected) <= 1e-4 * fabs(expected)))
            golden_fail(c, "loss of step %zu: expected %.9g, found %.9g", *steps, expected, found);
    }
    leat_element_fini(&loss);
    leat_per_replica_fini(&out);
    leat_per_replica_fini(&batch);
    leat_distributed_iterator_free(iterator);
    if (status != LEAT_OK && status != LEAT_OUT_OF_RANGE)
        golden_refused(c, "a step", &err);
    return !c->failed;
}

static void check_accuracy(golden_case *c, const json_t *json, struct trainer *t) {
    const json_t *list = json_object_get(json, "accuracy_after_each_epoch");
    size_t last = json_array_size(list);
    double found = 0, expected = json_number_value(json_array_get(list, last - 1));
    leat_error err = {0};
    if (!run_epoch(c, t, t->evaluation, NULL, &last))
        return;
    if (leat_metric_result(t->accuracy, &found, &err) != LEAT_OK)
        golden_refused(c, "accuracy", &err);
    else if (!(fabs(found - expected) <= 0.005))
        golden_fail(c, "accuracy: expected %.4f, found %.4f", expected, found);
}

static void check_names(golden_case *c, const json_t *json, const char *loss) {
    static const char *const layers[] = {"Conv2D", "MaxPooling2D", "Flatten", "Dense"};
    const json_t *optimizer = json_object_get(json, "optimizer");
    size_t count = 0;
    const leati_kind *const *kinds = leati_kinds_layer(&count);
    for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++)
        golden_kind(c, "layer", kinds, count, layers[i], NULL);
    kinds = leati_kinds_loss(&count);
    golden_kind(c, "loss", kinds, count, loss, NULL);
    kinds = leati_kinds_optimizer(&count);
    golden_kind(c, "optimizer", kinds, count, json_string_value(json_array_get(optimizer, 0)),
                json_array_get(optimizer, 1));
}

void golden_training_case(golden_case *c, const json_t *json) {
    const char *run = golden_text(json, "run"), *strategy = golden_text(json, "strategy");
    bool sparse = strcmp(golden_text(json, "loss"), "sparse") == 0;
    int replicas = strcmp(strategy, "one replica") == 0 ? 1 : 2;
    if (strcmp(run, "fit") == 0)
        golden_missing(c, "Model.fit");
    else if (strcmp(run, "custom loop") != 0)
        golden_fail(c, "run %s is of an unknown kind", run);
    if (strncmp(strategy, "MultiWorker", 11) == 0)
        golden_missing(c, "strategy multi_worker_mirrored");
    check_names(c, json, sparse ? "SparseCategoricalCrossentropy" : "CategoricalCrossentropy");
    if (c->failed || c->missing[0] != '\0')
        return;
    struct trainer t = {.weighted = strcmp(golden_text(json, "loss"), "onehot_weighted") == 0};
    if (!sparse) {
        leat_error err = {0};
        json_t *config = json_pack("{s:b,s:s}", "from_logits", 1, "reduction", "none");
        t.loss = leati_loss_from_json("CategoricalCrossentropy", config, &err);
        json_decref(config);
        if (t.loss == NULL)
            golden_refused(c, "the loss", &err);
    }
    size_t steps = 0;
    bool good = make(c, json, replicas, &t);
    for (int64_t e = 0; good && e < golden_int(json, "epochs", 1); e++)
        good = run_epoch(c, &t, t.step, json_object_get(json, "losses"), &steps);
    if (good)
        check_accuracy(c, json, &t);
    fini(&t);
}
