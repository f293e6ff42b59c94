/* Classes of different frequency, learned on one or several workers: the loss of a rare class
 * weighs more. Alone this is one worker; as processes of one job each trains on its share of every
 * batch:
 *
 *     leat launch -n 3 -- imbalanced_workers
 *
 * All workers print the same losses, and one worker alone prints them too: a global batch has 32
 * rows, however many replicas share it. */
#include <leat/leat.h>
#include <stdio.h>

#define ROWS 320
#define FEATURES 4
#define CLASSES 3
#define BATCH 32
#define REPETITIONS "100"

static const float class_weights[CLASSES] = {0.5f, 1.3f, 6.7f};

struct program {
    leat_strategy *strategy;
    leat_model *model;
    leat_optimizer *optimizer;
};

// ---- data ----

/* Numbers from -1 to 1, the same in every process. */
static float next_number(uint32_t *state) {
    *state = *state * 1664525 + 1013904223;
    return (float)(*state >> 8) / (float)(1 << 23) - 1;
}

/* Of 20 rows 14 belong to the first class, 5 to the second and 1 to the third; each class has a
 * centre of its own. Owned; NULL on failure. */
static leat_dataset *make_rows(leat_error *err) {
    float features[ROWS][FEATURES];
    int64_t labels[ROWS];
    uint32_t state = 7;
    for (int row = 0; row < ROWS; row++) {
        labels[row] = row % 20 < 14 ? 0 : row % 20 < 19 ? 1 : 2;
        for (int i = 0; i < FEATURES; i++)
            features[row][i] = (i == labels[row] ? 2.0f : 0.0f) + 2 * next_number(&state);
    }
    leat_spec *spec = leat_spec_tuple(
        (leat_spec *[]){leat_spec_tensor(LEAT_FLOAT32, LEAT_SHAPE(ROWS, FEATURES), err),
                        leat_spec_tensor(LEAT_INT64, LEAT_SHAPE(ROWS), err)},
        2, err);
    leat_tensor tensors[2] = {{0}, {0}};
    leat_element element = {0};
    leat_dataset *dataset = NULL;
    if (spec != NULL &&
        leat_tensor_copy_of(LEAT_FLOAT32, LEAT_SHAPE(ROWS, FEATURES), features, &tensors[0], err) ==
            LEAT_OK &&
        leat_tensor_copy_of(LEAT_INT64, LEAT_SHAPE(ROWS), labels, &tensors[1], err) == LEAT_OK &&
        leat_element_set(&element, spec, tensors, err) == LEAT_OK)
        dataset = leat_dataset_from_tensor_slices(&element, err);
    leat_tensor_unref(&tensors[0]);
    leat_tensor_unref(&tensors[1]);
    leat_element_fini(&element);
    leat_spec_unref(spec);
    return dataset;
}

/* What is done once for each row, in front of the cache. */
static int scale(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    (void)capacity;
    leat_tensor half = leat_scalar_float32(0.5f);
    outputs[0] = leat_op_multiply(leat_graph_argument(graph, 0), leat_graph_tensor(graph, &half));
    outputs[1] = leat_graph_argument(graph, 1);
    leat_tensor_unref(&half);
    return 2;
}

/* The labels of a batch as the loss takes them. */
static int one_hot(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    (void)capacity;
    outputs[0] = leat_graph_argument(graph, 0);
    outputs[1] = leat_op_one_hot(
        leat_graph_argument(graph, 1), CLASSES,
        &(leat_op_one_hot_options){LEAT_OP_ONE_HOT_DEFAULTS, .dtype = LEAT_FLOAT32});
    return 2;
}

/* A batch -> a dataset of that batch, again and again. */
static int repeat_batch(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    (void)capacity;
    const char *names[2] = {"tensors", "tensors"};
    leat_value batch[2] = {leat_graph_argument(graph, 0), leat_graph_argument(graph, 1)};
    leat_value one = leat_graph_dataset_op(graph, "from_tensors", NULL, NULL, 0, names, batch, 2);
    outputs[0] = leat_graph_dataset_op(graph, "repeat", "{\"count\": " REPETITIONS "}", &one, 1,
                                       NULL, NULL, 0);
    return 1;
}

/* `dataset` (given) with a traced function over its elements. */
static leat_dataset *map(leat_dataset *dataset, leat_tracer tracer, leat_error *err) {
    leat_function *function = LEAT_TRACE(tracer, NULL, leat_dataset_spec(dataset), err);
    leat_dataset_map_options parallel = {LEAT_DATASET_MAP_DEFAULTS};
    parallel.num_parallel_calls = LEAT_AUTOTUNE;
    return leat_dataset_map(dataset, function, &parallel, err);
}

static leat_dataset *make_dataset(leat_error *err) {
    leat_dataset *ds = leat_dataset_cache(map(make_rows(err), scale, err), err);
    ds = leat_dataset_shuffle(
        ds, ROWS,
        &(leat_dataset_shuffle_options){LEAT_DATASET_SHUFFLE_DEFAULTS, .seed = LEAT_SEED(5)}, err);
    ds = map(leat_dataset_batch(
                 ds, BATCH,
                 &(leat_dataset_batch_options){LEAT_DATASET_BATCH_DEFAULTS, .drop_remainder = true},
                 err),
             one_hot, err);
    leat_function *repeat = LEAT_TRACE(repeat_batch, NULL, leat_dataset_spec(ds), err);
    ds = leat_dataset_parallel_interleave(ds, repeat, 10, NULL, err);
    return leat_dataset_prefetch(ds, LEAT_AUTOTUNE, err);
}

// ---- training ----

/* The step of one replica: the weighted losses of its rows, divided by the global batch. */
static int train_step(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)capacity;
    struct program *program = context;
    const int64_t last = -1;
    float batch = BATCH;
    leat_tensor by_class = leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(CLASSES), class_weights);
    leat_tensor size = leat_tensor_view(LEAT_FLOAT32, LEAT_SCALAR, &batch);
    leat_value labels = leat_graph_argument(graph, 1);
    leat_value logits = leat_model_call(program->model, leat_graph_argument(graph, 0), true);
    leat_value weights = leat_op_reduce_sum(
        leat_op_multiply(labels, leat_graph_tensor(graph, &by_class)), &last, 1, false);
    leat_value losses = leat_op_negate(
        leat_op_reduce_sum(leat_op_multiply(labels, leat_op_log_softmax(logits)), &last, 1, false));
    leat_value loss =
        leat_op_divide(leat_op_reduce_sum(leat_op_multiply(losses, weights), NULL, 0, false),
                       leat_graph_tensor(graph, &size));
    int count;
    leat_variable *const *variables = leat_model_trainable_variables(program->model, &count);
    leat_optimizer_minimize(program->optimizer, loss, variables, count);
    outputs[0] = loss;
    return 1;
}

/* Model and optimizer belong to the strategy's scope: every replica has a copy of the variables,
 * and all workers begin with the first one's values. */
static leat_status make_state(struct program *program, leat_error *err) {
    leat_status status = leat_strategy_enter(program->strategy, err);
    if (status != LEAT_OK)
        return status;
    leat_layer *layers[] = {leat_layer_dense(8,
                                             &(leat_layer_dense_options){LEAT_LAYER_DENSE_DEFAULTS,
                                                                         .activation = LEAT_RELU},
                                             err),
                            leat_layer_dense(CLASSES, NULL, err)};
    program->model = leat_model_sequential(layers, 2, err);
    status = program->model == NULL ? err->code
                                    : leat_model_build(program->model, LEAT_SHAPE(FEATURES), err);
    if (status == LEAT_OK) {
        leat_optimizer_adam_options adam = {LEAT_OPTIMIZER_ADAM_DEFAULTS};
        adam.learning_rate = 0.003;
        program->optimizer = leat_optimizer_adam(&adam, err);
        status = program->optimizer == NULL ? err->code : LEAT_OK;
    }
    leat_strategy_exit(program->strategy);
    return status;
}

/* One step on every replica; *loss is that of the global batch. */
static leat_status take_step(struct program *program, leat_step *step,
                             const leat_per_replica *batch, float *loss, leat_error *err) {
    leat_per_replica losses = {0};
    leat_element sum = {0};
    leat_status status = leat_strategy_run(program->strategy, step, batch, &losses, err);
    if (status == LEAT_OK)
        status = leat_strategy_reduce(program->strategy, LEAT_REDUCE_SUM, &losses, LEAT_NO_AXIS,
                                      &sum, err);
    if (status == LEAT_OK)
        *loss = *(const float *)sum.tensors[0].data;
    leat_element_fini(&sum);
    leat_per_replica_fini(&losses);
    return status;
}

static leat_status train(struct program *program, leat_distributed_dataset *dataset,
                         leat_error *err) {
    leat_distributed_iterator *iterator = leat_distributed_iterator_new(dataset, err);
    leat_step *step = leat_step_new(train_step, program, err);
    leat_per_replica batch = {0};
    leat_status status = iterator == NULL || step == NULL ? err->code : LEAT_OK;
    float loss = 0;
    int steps = 0;
    while (status == LEAT_OK &&
           (status = leat_distributed_iterator_next(iterator, &batch, err)) == LEAT_OK) {
        status = take_step(program, step, &batch, &loss, err);
        if (status == LEAT_OK && (++steps == 1 || steps % 100 == 0))
            printf("step %d: loss %.5f\n", steps, (double)loss);
    }
    leat_per_replica_fini(&batch);
    leat_step_free(step);
    leat_distributed_iterator_free(iterator);
    return status == LEAT_OUT_OF_RANGE ? LEAT_OK : status; /* the end is no failure */
}

static leat_status run(struct program *program, leat_error *err) {
    leat_seed_set(3);
    program->strategy = leat_strategy_multi_worker_mirrored(NULL, err);
    if (program->strategy == NULL)
        return err->code;
    printf("%d replicas\n", leat_strategy_num_replicas(program->strategy));
    leat_distributed_dataset *dataset =
        leat_strategy_distribute_dataset(program->strategy, make_dataset(err), NULL, err);
    leat_status status = dataset == NULL ? err->code : make_state(program, err);
    if (status == LEAT_OK)
        status = train(program, dataset, err);
    leat_distributed_dataset_free(dataset);
    leat_optimizer_free(program->optimizer);
    leat_model_free(program->model);
    leat_strategy_unref(program->strategy);
    return status;
}

int main(void) {
    struct program program = {0};
    leat_error err = {0};
    if (run(&program, &err) == LEAT_OK)
        return 0;
    fprintf(stderr, "%s: %s\n", leat_status_name(err.code), err.text);
    return 1;
}
