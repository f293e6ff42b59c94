/* ResNet-50 on photographs in folders, with augmentation: the network is put together of layers by
 * their Keras names, whose weights are the program's own variables.
 *
 *     resnet50_photos [FOLDER [PICTURES [BATCH [EPOCHS [DEVICES [SIZE]]]]]]
 *
 * The pictures of each sub-folder of FOLDER are a class; PICTURES is how many of all are taken at
 * most, BATCH how many a device takes in a step. The network is made for SIZE 224; the default is
 * smaller, so that the program ends in seconds. */
#include "pictures.h"

#define MAX_LAYERS 128
#define MAX_WEIGHTS 4
#define LEAST_CLASSES 10

/* A layer with weights. */
struct layer {
    leat_part *part;
    leat_variable *weights[MAX_WEIGHTS];
    int count;
};

struct program {
    struct pictures pictures;
    int64_t most, batch, epochs, devices;
    leat_strategy *strategy;
    struct layer layers[MAX_LAYERS];
    int num_layers, at; /* how many were made, and the next one of a call */
    leat_variable *trainable[MAX_LAYERS * 2];
    int num_trainable;
    int64_t parameters;
    leat_part *glorot;
    leat_optimizer *optimizer;
    leat_metric *accuracy;
    leat_error error; /* of making a layer */
};

/* ---- layers ---- */

/* A weight of this shape: drawn by Glorot's rule, or full of one number. */
static leat_variable *make_weight(struct program *program, leat_shape shape, double fill,
                                  bool drawn, bool trainable) {
    leat_tensor start = {0};
    leat_status status = drawn ? leat_part_initialize(program->glorot, program->num_trainable,
                                                      shape, &start, &program->error)
                               : leat_tensor_new(LEAT_FLOAT32, shape, &start, &program->error);
    if (status != LEAT_OK)
        return NULL;
    int64_t count = leat_tensor_count(&start);
    for (int64_t i = 0; !drawn && i < count; i++)
        ((float *)start.data)[i] = (float)fill;
    leat_variable_options options = {LEAT_VARIABLE_DEFAULTS, .name = "weight"};
    options.trainable = trainable;
    leat_variable *weight = leat_variable_new(&start, &options, &program->error);
    leat_tensor_unref(&start);
    if (weight != NULL && trainable)
        program->trainable[program->num_trainable++] = weight;
    program->parameters += count;
    return weight;
}

/* The next layer: made in the first call, found again in later ones. NULL where making it fails. */
static struct layer *next_layer(struct program *program, const char *name, const char *config) {
    struct layer *layer = &program->layers[program->at++];
    if (program->at > program->num_layers) {
        layer->part = leat_part_new("layer", name, config, &program->error);
        program->num_layers = program->at;
    }
    return layer->part != NULL && program->error.code == LEAT_OK ? layer : NULL;
}

static leat_value call_layer(leat_graph *graph, struct layer *layer, leat_value x, bool training) {
    leat_value weights[MAX_WEIGHTS], updates[MAX_WEIGHTS];
    for (int i = 0; i < layer->count; i++)
        weights[i] = leat_graph_read(graph, layer->weights[i]);
    leat_value y = leat_part_call(layer->part, &x, 1, weights, layer->count, training, updates);
    for (int i = 0; i < layer->count; i++)
        if (updates[i].id >= 0)
            leat_graph_assign(graph, layer->weights[i], updates[i]);
    return y;
}

static const leat_value failed = {.id = -1};

/* Conv2D or Dense: a kernel that is drawn, and a bias of zeros. */
static leat_value with_kernel(struct program *program, leat_graph *graph, leat_value x,
                              const char *name, const char *config, leat_shape kernel) {
    struct layer *layer = next_layer(program, name, config);
    if (layer == NULL)
        return failed;
    if (layer->count == 0) {
        leat_shape bias = LEAT_SHAPE(kernel.dims[kernel.rank - 1]);
        layer->weights[layer->count++] = make_weight(program, kernel, 0, true, true);
        layer->weights[layer->count++] = make_weight(program, bias, 0, false, true);
    }
    return program->error.code == LEAT_OK ? call_layer(graph, layer, x, true) : failed;
}

static leat_value convolution(struct program *program, leat_graph *graph, leat_value x,
                              int64_t filters, int64_t side, int64_t stride, const char *padding) {
    char config[160];
    snprintf(config, sizeof config,
             "{\"filters\": %d, \"kernel_size\": %d, \"strides\": %d, \"padding\": \"%s\"}",
             (int)filters, (int)side, (int)stride, padding);
    leat_shape shape = leat_value_shape(x);
    int64_t channels = shape.rank == 4 ? shape.dims[3] : 1;
    return with_kernel(program, graph, x, "Conv2D", config,
                       LEAT_SHAPE(side, side, channels, filters));
}

static leat_value normalization(struct program *program, leat_graph *graph, leat_value x) {
    struct layer *layer = next_layer(program, "BatchNormalization", "{\"epsilon\": 1.001e-5}");
    if (layer == NULL)
        return failed;
    leat_shape shape = leat_value_shape(x);
    leat_shape channels = LEAT_SHAPE(shape.rank == 4 ? shape.dims[3] : 1);
    while (layer->count < MAX_WEIGHTS) { /* gamma, beta, moving mean and moving variance */
        int i = layer->count++;
        layer->weights[i] = make_weight(program, channels, i == 0 || i == 3, false, i < 2);
    }
    return program->error.code == LEAT_OK ? call_layer(graph, layer, x, true) : failed;
}

static leat_value without_weights(struct program *program, leat_graph *graph, leat_value x,
                                  const char *name, const char *config) {
    struct layer *layer = next_layer(program, name, config);
    return layer != NULL ? call_layer(graph, layer, x, true) : failed;
}

/* ---- the network ---- */

/* Three convolutions beside a shortcut, which is a convolution in the first block of a stage. */
static leat_value block(struct program *program, leat_graph *graph, leat_value x, int64_t filters,
                        int64_t stride, bool first) {
    leat_value shortcut = x;
    if (first) {
        shortcut = convolution(program, graph, x, 4 * filters, 1, stride, "valid");
        shortcut = normalization(program, graph, shortcut);
    }
    x = convolution(program, graph, x, filters, 1, stride, "valid");
    x = leat_op_relu(normalization(program, graph, x));
    x = convolution(program, graph, x, filters, 3, 1, "same");
    x = leat_op_relu(normalization(program, graph, x));
    x = convolution(program, graph, x, 4 * filters, 1, 1, "valid");
    x = normalization(program, graph, x);
    return leat_op_relu(leat_op_add(shortcut, x));
}

/* The probabilities of the classes. */
static leat_value network(struct program *program, leat_graph *graph, leat_value x) {
    static const int blocks[4] = {3, 4, 6, 3};
    char config[80];
    program->at = 0;
    x = without_weights(program, graph, x, "ZeroPadding2D", "{\"padding\": 3}");
    x = convolution(program, graph, x, 64, 7, 2, "valid");
    x = leat_op_relu(normalization(program, graph, x));
    x = without_weights(program, graph, x, "ZeroPadding2D", "{\"padding\": 1}");
    x = without_weights(program, graph, x, "MaxPooling2D", "{\"pool_size\": 3, \"strides\": 2}");
    for (int stage = 0; stage < 4; stage++)
        for (int i = 0; i < blocks[stage]; i++)
            x = block(program, graph, x, (int64_t)64 << stage, i == 0 && stage > 0 ? 2 : 1, i == 0);
    x = without_weights(program, graph, x, "GlobalAveragePooling2D", NULL);
    int64_t classes =
        program->pictures.classes > LEAST_CLASSES ? program->pictures.classes : LEAST_CLASSES;
    snprintf(config, sizeof config, "{\"units\": %d, \"activation\": \"softmax\"}", (int)classes);
    return with_kernel(program, graph, x, "Dense", config, LEAT_SHAPE(2048, classes));
}

static int trace_network(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)capacity;
    outputs[0] = network(context, graph, leat_graph_argument(graph, 0));
    return 1;
}

/* Makes the weights, by tracing the network once in the strategy's scope. */
static leat_status make_state(struct program *program, leat_error *err) {
    leat_status status = leat_strategy_enter(program->strategy, err);
    if (status != LEAT_OK)
        return status;
    leat_shape shape = LEAT_SHAPE(-1, program->pictures.size, program->pictures.size, 3);
    leat_spec *spec = leat_spec_tensor(LEAT_FLOAT32, shape, err);
    program->glorot = leat_part_new("initializer", "GlorotUniform", NULL, err);
    leat_function *traced =
        program->glorot != NULL ? LEAT_TRACE(trace_network, program, spec, err) : NULL;
    leat_optimizer_adam_options adam = {LEAT_OPTIMIZER_ADAM_DEFAULTS};
    adam.learning_rate = 0.001;
    program->optimizer = leat_optimizer_adam(&adam, err);
    program->accuracy = leat_metric_sparse_categorical_accuracy("accuracy", err);
    leat_strategy_exit(program->strategy);
    status = traced != NULL && program->optimizer != NULL && program->accuracy != NULL ? LEAT_OK
                                                                                       : err->code;
    leat_function_unref(traced);
    leat_spec_unref(spec);
    if (program->error.code != LEAT_OK)
        *err = program->error;
    return program->error.code != LEAT_OK ? program->error.code : status;
}

/* ---- training ---- */

static int train_step(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)capacity;
    struct program *program = context;
    leat_value labels = leat_graph_argument(graph, 1);
    leat_value predictions = network(program, graph, leat_graph_argument(graph, 0));
    leat_value losses = leat_loss_sparse_categorical_crossentropy(labels, predictions, false);
    outputs[0] = leat_loss_average(losses, program->batch * program->devices);
    leat_optimizer_minimize(program->optimizer, outputs[0], program->trainable,
                            program->num_trainable);
    leat_metric_update(program->accuracy, (leat_value[]){labels, predictions}, 2);
    return 1;
}

/* map behind loading: the picture a little brighter or darker, with other contrasts, mirrored. */
static int augment(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    (void)capacity;
    leat_value picture = leat_op_random_brightness(leat_graph_argument(graph, 0), 0.2, NULL);
    picture = leat_op_random_contrast(picture, 0.8, 1.2, NULL);
    outputs[0] = leat_op_random_flip_left_right(picture, NULL);
    outputs[1] = leat_graph_argument(graph, 1);
    return 2;
}

static leat_distributed_dataset *make_dataset(struct program *program, leat_error *err) {
    struct pictures *pictures = &program->pictures;
    int64_t every = pictures->count / program->most > 0 ? pictures->count / program->most : 1;
    leat_dataset *dataset = pictures_dataset(pictures, 0, every, false, err);
    dataset = pictures_loaded(pictures, leat_dataset_take(dataset, program->most, err), err);
    if (dataset == NULL)
        return NULL;
    leat_function *function = LEAT_TRACE(augment, NULL, leat_dataset_spec(dataset), err);
    dataset = leat_dataset_map(dataset, function, NULL, err);
    dataset = leat_dataset_shuffle(
        dataset, 1000,
        &(leat_dataset_shuffle_options){LEAT_DATASET_SHUFFLE_DEFAULTS, .seed = LEAT_SEED(1)}, err);
    dataset = leat_dataset_batch(dataset, program->batch * program->devices, NULL, err);
    dataset = leat_dataset_prefetch(dataset, LEAT_AUTOTUNE, err);
    return leat_strategy_distribute_dataset(program->strategy, dataset, NULL, err);
}

static leat_status run_epoch(struct program *program, leat_distributed_dataset *dataset,
                             leat_step *step, int64_t epoch, leat_error *err) {
    leat_distributed_iterator *iterator = leat_distributed_iterator_new(dataset, err);
    leat_per_replica batch = {0}, losses = {0};
    leat_element sum = {0};
    double total = 0, accuracy = 0;
    int64_t steps = 0;
    leat_status status = iterator != NULL ? LEAT_OK : err->code;
    while (status == LEAT_OK &&
           (status = leat_distributed_iterator_next(iterator, &batch, err)) == LEAT_OK) {
        status = leat_strategy_run(program->strategy, step, &batch, &losses, err);
        if (status == LEAT_OK)
            status = leat_strategy_reduce(program->strategy, LEAT_REDUCE_SUM, &losses, LEAT_NO_AXIS,
                                          &sum, err);
        total += status == LEAT_OK ? (double)*(const float *)sum.tensors[0].data : 0;
        steps++;
    }
    leat_element_fini(&sum);
    leat_per_replica_fini(&losses);
    leat_per_replica_fini(&batch);
    leat_distributed_iterator_free(iterator);
    if (status == LEAT_OUT_OF_RANGE)
        status = leat_metric_result(program->accuracy, &accuracy, err);
    if (status == LEAT_OK)
        status = leat_metric_reset(program->accuracy, err);
    if (status == LEAT_OK)
        printf("epoch %d, %d steps: loss %.4f, accuracy %.4f\n", (int)epoch, (int)steps,
               total / (double)steps, accuracy);
    return status;
}

static leat_status run(struct program *program, const char *folder, leat_error *err) {
    leat_seed_set(1);
    leat_status status = leat_device_set_logical_cpus((int)program->devices, err);
    if (status == LEAT_OK)
        status = pictures_find(&program->pictures, folder, err);
    if (status != LEAT_OK)
        return status;
    program->strategy = leat_strategy_mirrored(NULL, err);
    status = program->strategy != NULL ? make_state(program, err) : err->code;
    if (status != LEAT_OK)
        return status;
    printf("%d parameters\n", (int)program->parameters);
    leat_distributed_dataset *dataset = make_dataset(program, err);
    leat_step *step = dataset != NULL ? leat_step_new(train_step, program, err) : NULL;
    status = step != NULL ? LEAT_OK : err->code;
    for (int64_t epoch = 1; status == LEAT_OK && epoch <= program->epochs; epoch++)
        status = run_epoch(program, dataset, step, epoch, err);
    leat_step_free(step);
    leat_distributed_dataset_free(dataset);
    return status;
}

static int64_t number(int argc, char **argv, int place, int64_t otherwise) {
    return argc > place ? strtoll(argv[place], NULL, 10) : otherwise;
}

int main(int argc, char **argv) {
    static struct program program;
    program.most = number(argc, argv, 2, 8);
    program.batch = number(argc, argv, 3, 4);
    program.epochs = number(argc, argv, 4, 3);
    program.devices = number(argc, argv, 5, 1);
    program.pictures.size = number(argc, argv, 6, 64);
    leat_error err = {0};
    leat_status status = run(&program, argc > 1 ? argv[1] : "data/digits/sample", &err);
    if (status != LEAT_OK)
        fprintf(stderr, "%s: %s\n", leat_status_name(err.code), err.text);
    leat_metric_free(program.accuracy);
    leat_optimizer_free(program.optimizer);
    for (int i = 0; i < program.num_layers; i++) {
        leat_part_free(program.layers[i].part);
        for (int k = 0; k < program.layers[i].count; k++)
            leat_variable_unref(program.layers[i].weights[k]);
    }
    leat_part_free(program.glorot);
    leat_strategy_unref(program.strategy);
    pictures_fini(&program.pictures);
    return status != LEAT_OK;
}
