/* Training with a validation set on several devices: each picture of the validation counts exactly
 * once, also where its last batch leaves a device without pictures.
 *
 *     distributed_validation [FOLDER [EPOCHS [DEVICES [BATCH_PER_DEVICE]]]]
 *
 * The pictures of each sub-folder of FOLDER are a class; every fifth is for validation. */
#include "pictures.h"

#define VALIDATION_EVERY 5

struct program {
    struct pictures pictures;
    int64_t epochs, devices, batch; /* batch: of one device */
    leat_strategy *strategy;
    leat_model *model;
    leat_optimizer *optimizer;
    leat_metric *accuracy, *val_accuracy;
    leat_distributed_dataset *train, *validation;
};

/* A step of training of one device: its rows' losses over the global batch. */
static int train_step(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)capacity;
    struct program *program = context;
    leat_value images = leat_graph_argument(graph, 0), labels = leat_graph_argument(graph, 1);
    leat_value predictions = leat_model_call(program->model, images, true);
    leat_value losses = leat_loss_sparse_categorical_crossentropy(labels, predictions, false);
    int count;
    leat_variable *const *variables = leat_model_trainable_variables(program->model, &count);
    outputs[0] = leat_loss_average(losses, program->batch * program->devices);
    leat_optimizer_minimize(program->optimizer, outputs[0], variables, count);
    leat_metric_update(program->accuracy, (leat_value[]){labels, predictions}, 2);
    return 1;
}

/* A step of validation, without training; a device without rows counts nothing. */
static int validation_step(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)capacity;
    struct program *program = context;
    leat_value images = leat_graph_argument(graph, 0), labels = leat_graph_argument(graph, 1);
    leat_value predictions = leat_model_call(program->model, images, false);
    leat_metric_update(program->val_accuracy, (leat_value[]){labels, predictions}, 2);
    outputs[0] =
        leat_op_reduce_sum(leat_op_ones_like(leat_op_cast(labels, LEAT_FLOAT32)), NULL, 0, false);
    return 1;
}

static leat_status make_state(struct program *program, leat_error *err) {
    leat_status status = leat_strategy_enter(program->strategy, err);
    if (status != LEAT_OK)
        return status;
    program->model = pictures_model(&program->pictures, err);
    leat_optimizer_adam_options adam = {LEAT_OPTIMIZER_ADAM_DEFAULTS};
    adam.learning_rate = 0.01;
    program->optimizer = leat_optimizer_adam(&adam, err);
    program->accuracy = leat_metric_sparse_categorical_accuracy("accuracy", err);
    program->val_accuracy = leat_metric_sparse_categorical_accuracy("val_accuracy", err);
    leat_strategy_exit(program->strategy);
    return program->model != NULL && program->optimizer != NULL && program->accuracy != NULL &&
                   program->val_accuracy != NULL
               ? LEAT_OK
               : err->code;
}

static leat_status make_datasets(struct program *program, leat_error *err) {
    struct pictures *pictures = &program->pictures;
    int64_t batch = program->batch * program->devices;
    leat_dataset *train =
        pictures_loaded(pictures, pictures_dataset(pictures, 0, VALIDATION_EVERY, true, err), err);
    train = leat_dataset_shuffle(
        train, 1000,
        &(leat_dataset_shuffle_options){LEAT_DATASET_SHUFFLE_DEFAULTS, .seed = LEAT_SEED(1)}, err);
    train = leat_dataset_prefetch(leat_dataset_batch(train, batch, NULL, err), LEAT_AUTOTUNE, err);
    program->train = leat_strategy_distribute_dataset(program->strategy, train, NULL, err);
    leat_dataset *validation =
        pictures_loaded(pictures, pictures_dataset(pictures, 0, VALIDATION_EVERY, false, err), err);
    validation =
        leat_dataset_prefetch(leat_dataset_batch(validation, batch, NULL, err), LEAT_AUTOTUNE, err);
    program->validation =
        leat_strategy_distribute_dataset(program->strategy, validation, NULL, err);
    return program->train != NULL && program->validation != NULL ? LEAT_OK : err->code;
}

/* Runs a step for every batch; *total is the sum of what it gives, over all devices. */
static leat_status run_epoch(struct program *program, leat_distributed_dataset *dataset,
                             leat_step *step, double *total, int64_t *steps, leat_error *err) {
    leat_distributed_iterator *iterator = leat_distributed_iterator_new(dataset, err);
    leat_per_replica batch = {0}, found = {0};
    leat_element sum = {0};
    leat_status status = iterator != NULL ? LEAT_OK : err->code;
    *total = 0;
    *steps = 0;
    while (status == LEAT_OK) {
        status = leat_distributed_iterator_next(iterator, &batch, err);
        if (status == LEAT_OK)
            status = leat_strategy_run(program->strategy, step, &batch, &found, err);
        if (status == LEAT_OK)
            status = leat_strategy_reduce(program->strategy, LEAT_REDUCE_SUM, &found, LEAT_NO_AXIS,
                                          &sum, err);
        if (status == LEAT_OK) {
            *total += (double)*(const float *)sum.tensors[0].data;
            ++*steps;
        }
    }
    leat_element_fini(&sum);
    leat_per_replica_fini(&found);
    leat_per_replica_fini(&batch);
    leat_distributed_iterator_free(iterator);
    return status == LEAT_OUT_OF_RANGE ? LEAT_OK : status; /* the end is no failure */
}

static leat_status take_result(leat_metric *metric, double *out, leat_error *err) {
    leat_status status = leat_metric_result(metric, out, err);
    return status == LEAT_OK ? leat_metric_reset(metric, err) : status;
}

static leat_status train(struct program *program, leat_step *step, leat_step *validate,
                         leat_error *err) {
    for (int64_t epoch = 1; epoch <= program->epochs; epoch++) {
        double loss = 0, counted = 0, accuracy = 0, val_accuracy = 0;
        int64_t steps = 0, val_steps = 0;
        leat_status status = run_epoch(program, program->train, step, &loss, &steps, err);
        if (status == LEAT_OK)
            status = run_epoch(program, program->validation, validate, &counted, &val_steps, err);
        if (status == LEAT_OK)
            status = take_result(program->accuracy, &accuracy, err);
        if (status == LEAT_OK)
            status = take_result(program->val_accuracy, &val_accuracy, err);
        if (status != LEAT_OK)
            return status;
        printf("epoch %d: loss %.4f, accuracy %.4f, validation %.4f of %d pictures\n", (int)epoch,
               loss / (double)steps, accuracy, val_accuracy, (int)counted);
    }
    return LEAT_OK;
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
    if (status == LEAT_OK)
        status = make_datasets(program, err);
    leat_step *step = status == LEAT_OK ? leat_step_new(train_step, program, err) : NULL;
    leat_step *validate = step != NULL ? leat_step_new(validation_step, program, err) : NULL;
    status = validate != NULL ? train(program, step, validate, err) : err->code;
    leat_step_free(step);
    leat_step_free(validate);
    return status;
}

int main(int argc, char **argv) {
    struct program program = {.pictures = {.size = 32},
                              .epochs = argc > 2 ? strtoll(argv[2], NULL, 10) : 3,
                              .devices = argc > 3 ? strtoll(argv[3], NULL, 10) : 2,
                              .batch = argc > 4 ? strtoll(argv[4], NULL, 10) : 7};
    leat_error err = {0};
    leat_status status = run(&program, argc > 1 ? argv[1] : "data/digits/sample", &err);
    if (status != LEAT_OK)
        fprintf(stderr, "%s: %s\n", leat_status_name(err.code), err.text);
    leat_distributed_dataset_free(program.train);
    leat_distributed_dataset_free(program.validation);
    leat_metric_free(program.accuracy);
    leat_metric_free(program.val_accuracy);
    leat_optimizer_free(program.optimizer);
    leat_model_free(program.model);
    leat_strategy_unref(program.strategy);
    pictures_fini(&program.pictures);
    return status != LEAT_OK;
}
