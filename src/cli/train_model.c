/* The network of `leat train`, and its two steps.
 *
 * Happy path: under the scope of a mirrored strategy a small convolutional network, Adam and two
 * accuracies are made; the training step adds the replicas' gradients of (sum of row losses /
 * global batch), so that the result is the mean over the batch whatever the number of replicas.
 * Failure modes: those of the library; what was made so far is released. No locks. */
#include "cli/train.h"

#include "base/error.h"

/* The images and labels of this replica, and the loss of each row. */
static leat_value row_losses(leati_trainer *trainer, leat_graph *graph, leat_metric *accuracy,
                             bool training) {
    leat_value images = leat_graph_argument(graph, 0), labels = leat_graph_argument(graph, 1);
    leat_value logits = leat_model_call(trainer->model, images, training);
    leat_value losses = leat_sparse_categorical_crossentropy(labels, logits, true);
    leat_metric_update(accuracy, (leat_value[]){labels, logits}, 2);
    return losses;
}

static int trace_train(void *context, leat_graph *graph, leat_value *outputs) {
    leati_trainer *trainer = context;
    leat_value losses = row_losses(trainer, graph, trainer->train_accuracy, true);
    leat_value loss = leat_average_loss(losses, trainer->global_batch);
    int count;
    leat_variable *const *variables = leat_model_trainable_variables(trainer->model, &count);
    leat_value gradients[LEAT_MAX_OUTPUTS];
    leat_variable_gradients(loss, variables, count, gradients);
    leat_optimizer_apply(trainer->optimizer, gradients, variables, count);
    outputs[0] = loss;
    return 1;
}

static int trace_test(void *context, leat_graph *graph, leat_value *outputs) {
    leati_trainer *trainer = context;
    leat_value losses = row_losses(trainer, graph, trainer->test_accuracy, false);
    outputs[0] = leat_average_loss(losses, trainer->global_batch);
    return 1;
}

static leat_model *make_model(int64_t classes, leat_error *err) {
    leat_conv2d_layer_options relu = {.activation = LEAT_RELU};
    leat_layer *layers[] = {
        leat_conv2d_layer(32, 3, 3, &relu, err),
        leat_max_pooling2d_layer(NULL, err),
        leat_flatten_layer(NULL, err),
        leat_dense_layer(64, &(leat_dense_layer_options){.activation = LEAT_RELU}, err),
        leat_dense_layer(classes, NULL, err),
    };
    return leat_sequential(layers, (int)(sizeof layers / sizeof layers[0]), err);
}

/* Everything that has variables: one copy per replica under the scope. */
static leat_status make_state(const leati_train_options *options, const leati_corpus *corpus,
                              leati_trainer *out, leat_error *err) {
    out->model = make_model(corpus->classes, err);
    if (!out->model)
        return err->code;
    leat_status status = leat_model_build(out->model, corpus->image, err);
    if (status)
        return status;
    leat_adam_options adam = {.learning_rate = options->learning_rate};
    out->optimizer = leat_adam(&adam, err);
    if (out->optimizer)
        out->train_accuracy = leat_sparse_categorical_accuracy("accuracy", err);
    if (out->train_accuracy)
        out->test_accuracy = leat_sparse_categorical_accuracy("test_accuracy", err);
    return out->test_accuracy ? LEAT_OK : err->code;
}

static leat_status make_all(const leati_train_options *options, const leati_corpus *corpus,
                            leati_trainer *out, leat_error *err) {
    leat_status status = leat_set_logical_cpu_devices((int)options->replicas, err);
    if (status)
        return status;
    leat_set_seed(options->seed.value);
    out->strategy = leat_mirrored_strategy(NULL, err);
    if (!out->strategy)
        return err->code;
    status = leat_strategy_enter(out->strategy, err);
    if (status)
        return status;
    status = make_state(options, corpus, out, err);
    leat_strategy_exit(out->strategy);
    if (status)
        return status;
    out->train_step = leat_step_new(trace_train, out, err);
    if (out->train_step)
        out->test_step = leat_step_new(trace_test, out, err);
    return out->test_step ? LEAT_OK : err->code;
}

leat_status leati_trainer_new(const leati_train_options *options, const leati_corpus *corpus,
                              leati_trainer *out, leat_error *err) {
    *out = (leati_trainer){.global_batch = options->batch};
    leat_status status = make_all(options, corpus, out, err);
    if (status)
        leati_trainer_fini(out);
    return status;
}

void leati_trainer_fini(leati_trainer *trainer) {
    leat_step_free(trainer->train_step);
    leat_step_free(trainer->test_step);
    leat_metric_free(trainer->train_accuracy);
    leat_metric_free(trainer->test_accuracy);
    leat_optimizer_free(trainer->optimizer);
    leat_model_free(trainer->model);
    leat_strategy_unref(trainer->strategy);
    *trainer = (leati_trainer){0};
}
