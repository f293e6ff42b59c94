/* A small network with metrics, as people first write it: paths and labels in memory, a map that
 * loads a picture (here a random one), shuffle, batch of 64 per replica, prefetch; a training step
 * with its own loss and accuracy, run on every replica; one line per epoch.
 *
 *     small_cnn [IMAGE_SIZE [PICTURES [EPOCHS [BATCH_PER_REPLICA]]]]
 *
 * The sizes that the program is about are 224 pixels and 64 pictures per replica; the defaults are
 * smaller, so that it ends in seconds. */
#include <leat/leat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLASSES 10
#define REPLICAS 2

struct program {
    int64_t image_size, pictures, epochs, batch; /* batch: of one replica */
    leat_strategy *strategy;
    leat_model *model;
    leat_optimizer *optimizer;
    leat_metric *accuracy;
};

/* map: (path, label) -> (picture, label). A real program would call leat_op_read_file,
 * leat_op_decode_jpeg and leat_op_resize on the path. */
static int load_image(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)capacity;
    const struct program *program = context;
    leat_shape shape = LEAT_SHAPE(program->image_size, program->image_size, 3);
    outputs[0] = leat_op_random_normal(graph, shape, NULL);
    outputs[1] = leat_graph_argument(graph, 1);
    return 2;
}

/* The training step of one replica. The loss is the sum over the rows divided by the global batch,
 * so that summing over replicas gives the mean. */
static int train_step(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)capacity;
    struct program *program = context;
    leat_value images = leat_graph_argument(graph, 0);
    leat_value labels = leat_graph_argument(graph, 1);
    leat_value predictions = leat_model_call(program->model, images, true);
    leat_value losses = leat_loss_sparse_categorical_crossentropy(labels, predictions, false);
    leat_value loss = leat_loss_average(losses, program->batch * REPLICAS);
    int count;
    leat_variable *const *variables = leat_model_trainable_variables(program->model, &count);
    leat_optimizer_minimize(program->optimizer, loss, variables, count);
    leat_metric_update(program->accuracy, (leat_value[]){labels, predictions}, 2);
    outputs[0] = loss;
    return 1;
}

static leat_model *make_model(leat_error *err) {
    leat_layer_conv2d_options relu = {LEAT_LAYER_CONV2D_DEFAULTS, .activation = LEAT_RELU};
    leat_layer_dense_options softmax = {LEAT_LAYER_DENSE_DEFAULTS, .activation = LEAT_SOFTMAX};
    leat_layer *layers[] = {
        leat_layer_conv2d(32, 3, 3, &relu, err), leat_layer_max_pooling2d(NULL, err),
        leat_layer_conv2d(64, 3, 3, &relu, err), leat_layer_max_pooling2d(NULL, err),
        leat_layer_flatten(NULL, err),           leat_layer_dense(CLASSES, &softmax, err),
    };
    return leat_model_sequential(layers, (int)(sizeof layers / sizeof layers[0]), err);
}

/* Model, optimizer and metric belong to the strategy's scope: their variables are mirrored. */
static leat_status make_state(struct program *program, leat_error *err) {
    leat_status status = leat_strategy_enter(program->strategy, err);
    if (status != LEAT_OK)
        return status;
    leat_shape input = LEAT_SHAPE(program->image_size, program->image_size, 3);
    program->model = make_model(err);
    status = program->model != NULL ? leat_model_build(program->model, input, err) : err->code;
    if (status == LEAT_OK) {
        leat_optimizer_adam_options adam = {LEAT_OPTIMIZER_ADAM_DEFAULTS};
        adam.learning_rate = 0.001;
        program->optimizer = leat_optimizer_adam(&adam, err);
        program->accuracy = leat_metric_sparse_categorical_accuracy("accuracy", err);
        if (program->optimizer == NULL || program->accuracy == NULL)
            status = err->code;
    }
    leat_strategy_exit(program->strategy);
    return status;
}

/* (path, label) pairs in memory. */
static leat_dataset *paths_and_labels(int64_t count, leat_error *err) {
    leat_tensor tensors[2] = {{0}, {0}};
    leat_element element = {0};
    leat_dataset *dataset = NULL;
    leat_spec *spec =
        leat_spec_tuple((leat_spec *[]){leat_spec_tensor(LEAT_STRING, LEAT_SHAPE(count), err),
                                        leat_spec_tensor(LEAT_INT64, LEAT_SHAPE(count), err)},
                        2, err);
    leat_string *paths = malloc((size_t)count * sizeof *paths);
    leat_status status = spec != NULL && paths != NULL ? LEAT_OK : LEAT_RESOURCE_EXHAUSTED;
    for (int64_t i = 0; status == LEAT_OK && i < count; i++)
        paths[i] = (leat_string){"picture.jpg", strlen("picture.jpg")};
    if (status == LEAT_OK)
        status = leat_tensor_copy_of(LEAT_STRING, LEAT_SHAPE(count), paths, &tensors[0], err);
    if (status == LEAT_OK)
        status = leat_tensor_new(LEAT_INT64, LEAT_SHAPE(count), &tensors[1], err);
    for (int64_t i = 0; status == LEAT_OK && i < count; i++)
        ((int64_t *)tensors[1].data)[i] = i % CLASSES;
    if (status == LEAT_OK)
        status = leat_element_set(&element, spec, tensors, err);
    if (status == LEAT_OK)
        dataset = leat_dataset_from_tensor_slices(&element, err);
    leat_element_fini(&element);
    leat_tensor_unref(&tensors[0]);
    leat_tensor_unref(&tensors[1]);
    leat_spec_unref(spec);
    free(paths);
    return dataset;
}

static leat_distributed_dataset *make_dataset(struct program *program, leat_error *err) {
    leat_dataset *ds = paths_and_labels(program->pictures, err);
    leat_function *load = LEAT_TRACE(load_image, program, leat_dataset_spec(ds), err);
    leat_dataset_map_options parallel = {LEAT_DATASET_MAP_DEFAULTS};
    parallel.num_parallel_calls = LEAT_AUTOTUNE;
    ds = leat_dataset_map(ds, load, &parallel, err);
    ds = leat_dataset_shuffle(
        ds, 1000,
        &(leat_dataset_shuffle_options){LEAT_DATASET_SHUFFLE_DEFAULTS, .seed = LEAT_SEED(1)}, err);
    ds = leat_dataset_batch(ds, program->batch * leat_strategy_num_replicas(program->strategy),
                            NULL, err);
    ds = leat_dataset_prefetch(ds, LEAT_AUTOTUNE, err);
    return leat_strategy_distribute_dataset(program->strategy, ds, NULL, err);
}

/* One step on every replica; adds the loss of the global batch to *total. */
static leat_status distributed_step(struct program *program, leat_step *step,
                                    const leat_per_replica *batch, double *total, leat_error *err) {
    leat_per_replica losses = {0};
    leat_element sum = {0};
    leat_status status = leat_strategy_run(program->strategy, step, batch, &losses, err);
    if (status == LEAT_OK)
        status = leat_strategy_reduce(program->strategy, LEAT_REDUCE_SUM, &losses, LEAT_NO_AXIS,
                                      &sum, err);
    if (status == LEAT_OK)
        *total += (double)*(const float *)sum.tensors[0].data;
    leat_element_fini(&sum);
    leat_per_replica_fini(&losses);
    return status;
}

static leat_status run_epoch(struct program *program, leat_distributed_dataset *dataset,
                             leat_step *step, double *total, leat_error *err) {
    leat_distributed_iterator *iterator = leat_distributed_iterator_new(dataset, err);
    if (iterator == NULL)
        return err->code;
    leat_per_replica batch = {0};
    leat_status status;
    while ((status = leat_distributed_iterator_next(iterator, &batch, err)) == LEAT_OK) {
        status = distributed_step(program, step, &batch, total, err);
        if (status != LEAT_OK)
            break;
    }
    leat_per_replica_fini(&batch);
    leat_distributed_iterator_free(iterator);
    return status == LEAT_OUT_OF_RANGE ? LEAT_OK : status; /* the end is no failure */
}

static leat_status train(struct program *program, leat_distributed_dataset *dataset,
                         leat_step *step, leat_error *err) {
    int64_t steps = leat_distributed_dataset_cardinality(dataset); /* len(dataset) */
    for (int64_t epoch = 1; epoch <= program->epochs; epoch++) {
        double total = 0, accuracy = 0;
        leat_status status = run_epoch(program, dataset, step, &total, err);
        if (status == LEAT_OK)
            status = leat_metric_result(program->accuracy, &accuracy, err);
        if (status == LEAT_OK)
            status = leat_metric_reset(program->accuracy, err);
        if (status != LEAT_OK)
            return status;
        printf("epoch %d, %d steps: loss %.4f, accuracy %.4f\n", (int)epoch, (int)steps,
               total / (double)steps, accuracy);
    }
    return LEAT_OK;
}

static leat_status run(struct program *program, leat_error *err) {
    leat_seed_set(1);
    leat_status status = leat_device_set_logical_cpus(REPLICAS, err);
    if (status != LEAT_OK)
        return status;
    program->strategy = leat_strategy_mirrored(NULL, err);
    if (program->strategy == NULL)
        return err->code;
    status = make_state(program, err);
    if (status != LEAT_OK)
        return status;
    leat_distributed_dataset *dataset = make_dataset(program, err);
    leat_step *step = dataset != NULL ? leat_step_new(train_step, program, err) : NULL;
    status = step != NULL ? train(program, dataset, step, err) : err->code;
    leat_step_free(step);
    leat_distributed_dataset_free(dataset);
    return status;
}

int main(int argc, char **argv) {
    struct program program = {.image_size = argc > 1 ? strtoll(argv[1], NULL, 10) : 24,
                              .pictures = argc > 2 ? strtoll(argv[2], NULL, 10) : 96,
                              .epochs = argc > 3 ? strtoll(argv[3], NULL, 10) : 2,
                              .batch = argc > 4 ? strtoll(argv[4], NULL, 10) : 16};
    leat_error err = {0};
    leat_status status = run(&program, &err);
    if (status != LEAT_OK)
        fprintf(stderr, "%s: %s\n", leat_status_name(err.code), err.text);
    leat_metric_free(program.accuracy);
    leat_optimizer_free(program.optimizer);
    leat_model_free(program.model);
    leat_strategy_unref(program.strategy);
    return status != LEAT_OK;
}
