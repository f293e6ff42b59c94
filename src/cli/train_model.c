/* The network of `leat train`, and its two steps.
 *
 * Happy path: under the scope of a strategy, over this process's devices or those of all processes
 * of a job, a small convolutional network, Adam and two accuracies are made; the training step adds
 * the replicas' gradients of (sum of row losses / global batch), so that the result is the mean
 * over the batch whatever the number of replicas.
 * Failure modes: those of the library; what was made so far is released. No locks. */
#include "cli/train.h"

#include "base/error.h"
#include "base/minmax.h"
#include <stdio.h>
#include <string.h>

/* The images and labels of this replica, and the loss of each row. */
static leat_value row_losses(leati_trainer *trainer, leat_graph *graph, leat_metric *accuracy,
                             bool training) {
    leat_value images = leat_graph_argument(graph, 0), labels = leat_graph_argument(graph, 1);
    leat_value logits = leat_model_call(trainer->model, images, training);
    leat_value losses = leat_loss_sparse_categorical_crossentropy(labels, logits, true);
    leat_metric_update(accuracy, (leat_value[]){labels, logits}, 2);
    return losses;
}

static int trace_train(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)capacity;
    leati_trainer *trainer = context;
    leat_value losses = row_losses(trainer, graph, trainer->train_accuracy, true);
    /* Divided by the global batch and not by this replica's rows: replicas' gradients are added. */
    leat_value loss = leat_loss_average(losses, trainer->global_batch);
    int count;
    leat_variable *const *variables = leat_model_trainable_variables(trainer->model, &count);
    leat_value gradients[LEAT_MAX_OUTPUTS];
    leat_variable_gradients(loss, variables, count, gradients);
    leat_optimizer_apply(trainer->optimizer, gradients, variables, count);
    outputs[0] = loss;
    return 1;
}

static int trace_test(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)capacity;
    leati_trainer *trainer = context;
    leat_value losses = row_losses(trainer, graph, trainer->test_accuracy, false);
    /* A last batch is smaller, and the loop multiplies by the same number again. */
    outputs[0] = leat_loss_average(losses, trainer->global_batch);
    return 1;
}

static leat_model *make_model(int64_t classes, leat_error *err) {
    leat_layer_conv2d_options relu = {LEAT_LAYER_CONV2D_DEFAULTS, .activation = LEAT_RELU};
    leat_layer *layers[] = {
        leat_layer_conv2d(32, 3, 3, &relu, err),
        leat_layer_max_pooling2d(NULL, err),
        leat_layer_flatten(NULL, err),
        leat_layer_dense(
            64, &(leat_layer_dense_options){LEAT_LAYER_DENSE_DEFAULTS, .activation = LEAT_RELU},
            err),
        /* Logits: the loss applies softmax itself, which is more exact. */
        leat_layer_dense(classes, NULL, err),
    };
    return leat_model_sequential(layers, (int)(sizeof layers / sizeof layers[0]), err);
}

/* Everything that has variables: one copy per replica under the scope. */
static leat_status make_state(const leati_train_options *options, const leati_corpus *corpus,
                              leati_trainer *out, leat_error *err) {
    out->model = make_model(corpus->classes, err);
    if (out->model == NULL)
        return err->code;
    LEATI_TRY(leat_model_build(out->model, corpus->image, err));
    leat_optimizer_adam_options adam = {LEAT_OPTIMIZER_ADAM_DEFAULTS};
    adam.learning_rate = options->learning_rate;
    out->optimizer = leat_optimizer_adam(&adam, err);
    if (out->optimizer != NULL)
        out->train_accuracy = leat_metric_sparse_categorical_accuracy("accuracy", err);
    if (out->train_accuracy != NULL)
        out->test_accuracy = leat_metric_sparse_categorical_accuracy("test_accuracy", err);
    return out->test_accuracy != NULL ? LEAT_OK : err->code;
}

/* Is this process one of several, by what its launcher says? */
static leat_status is_in_job(bool *out, leat_error *err) {
    leat_cluster *cluster = leat_cluster_find(NULL, err);
    if (cluster == NULL)
        return err->code;
    int64_t workers = 1;
    leat_status status = LEAT_OK;
    /* Without a launcher there is no job to ask about. */
    if (strcmp(leat_cluster_resolver(cluster), "none") != 0)
        status = leat_cluster_num_workers(cluster, &workers, err);
    *out = workers > 1;
    leat_cluster_free(cluster);
    return status;
}

/* The devices of this process: as many of a kind as the options say. */
struct names {
    char texts[LEATI_MOST_REPLICAS][24];
    const char *list[LEATI_MOST_REPLICAS];
    int count;
};

static leat_status find_devices(const leati_train_options *options, struct names *out,
                                leat_error *err) {
    static const char *const given[] = {"cpu", "gpu", "tpu", "xla_cpu"};
    static const char *const kinds[] = {"CPU", "GPU", "TPU", "XLA_CPU"};
    leat_device_description found;
    size_t k = 0;
    while (k < 4 && options->device != NULL && strcmp(given[k], options->device) != 0)
        k++;
    if (k == 4)
        return leati_refuse(err, VALUE, "--device is %s; expected cpu, gpu, tpu or xla_cpu",
                            options->device);
    bool of_host = k == 0 || k == 3;
    int64_t wanted = options->replicas > 0 ? options->replicas : of_host ? 2 : 0;
    /* First of all: the number is fixed by the first strategy. */
    if (of_host)
        LEATI_TRY(leat_device_set_logical_cpus((int)wanted, err));
    LEATI_TRY(leat_device_describe(kinds[k], &found, err));
    out->count = wanted > 0 ? (int)wanted : LEATI_MIN(found.num_devices, LEATI_MOST_REPLICAS);
    for (int i = 0; i < out->count; i++) {
        (void)snprintf(out->texts[i], sizeof out->texts[i], "%s:%d", kinds[k], i);
        out->list[i] = out->texts[i];
    }
    return LEAT_OK;
}

static leat_strategy *make_strategy(const leati_train_options *options, leat_error *err) {
    const char *name = options->strategy;
    bool in_job = name != NULL && strcmp(name, "multi_worker_mirrored") == 0;
    struct names names;
    if (name != NULL && !in_job && strcmp(name, "mirrored") != 0) {
        leati_refuse(err, VALUE, "--strategy is %s; expected mirrored or multi_worker_mirrored",
                     name);
        return NULL;
    }
    if (find_devices(options, &names, err) != LEAT_OK ||
        (name == NULL && is_in_job(&in_job, err) != LEAT_OK))
        return NULL;
    if (!in_job)
        return leat_strategy_mirrored(
            &(leat_strategy_mirrored_options){LEAT_STRATEGY_MIRRORED_DEFAULTS,
                                              .devices = names.list, .num_devices = names.count},
            err);
    return leat_strategy_multi_worker_mirrored(
        &(leat_strategy_multi_worker_mirrored_options){LEAT_STRATEGY_MULTI_WORKER_MIRRORED_DEFAULTS,
                                                       .devices = names.list,
                                                       .num_devices = names.count},
        err);
}

static leat_status make_all(const leati_train_options *options, const leati_corpus *corpus,
                            leati_trainer *out, leat_error *err) {
    /* Before variables are made, whose initial values it decides. */
    leat_seed_set(options->seed.value);
    out->strategy = make_strategy(options, err);
    if (out->strategy == NULL)
        return err->code;
    leat_status status = leat_strategy_enter(out->strategy, err);
    if (status != LEAT_OK)
        return status;
    status = make_state(options, corpus, out, err);
    leat_strategy_exit(out->strategy);
    if (status != LEAT_OK)
        return status;
    out->train_step = leat_step_new(trace_train, out, err);
    if (out->train_step != NULL)
        out->test_step = leat_step_new(trace_test, out, err);
    return out->test_step != NULL ? LEAT_OK : err->code;
}

leat_status leati_train_trainer_new(const leati_train_options *options, const leati_corpus *corpus,
                                    leati_trainer *out, leat_error *err) {
    *out = (leati_trainer){.global_batch = options->batch};
    leat_status status = make_all(options, corpus, out, err);
    if (status != LEAT_OK)
        leati_train_trainer_fini(out);
    return status;
}

bool leati_train_trainer_speaks(const leati_trainer *trainer) {
    return leat_strategy_is_chief(trainer->strategy);
}

void leati_train_trainer_fini(leati_trainer *trainer) {
    leat_step_free(trainer->train_step);
    leat_step_free(trainer->test_step);
    leat_metric_free(trainer->train_accuracy);
    leat_metric_free(trainer->test_accuracy);
    leat_optimizer_free(trainer->optimizer);
    leat_model_free(trainer->model);
    /* Last: variables and steps lie on its devices. */
    leat_strategy_unref(trainer->strategy);
    *trainer = (leati_trainer){0};
}
