/* Training on a dataset in three ways that people write it: mapped and batched; shuffled after
 * batching; so many steps.
 *
 *     fit_dataset [plain|shuffled|steps [FOLDER [EPOCHS]]]
 *
 * plain     pictures are loaded as they are needed; what each operator holds is shown
 * shuffled  shuffled after batching, a common mistake: leat says so, once
 * steps     epochs of 20 steps over more data than there is room for; they go on in the stream
 *
 * The pictures of each sub-folder of FOLDER are a class. */
#include "pictures.h"
#include <sys/resource.h>

#define BATCH 32
#define STEPS 20
#define LIMIT_MB 1500

struct program {
    struct pictures pictures;
    const char *way;
    int64_t epochs, steps; /* steps: of an epoch; 0: as many as there are */
    leat_strategy *strategy;
    leat_model *model;
    leat_optimizer *optimizer;
    leat_metric *accuracy;
    int64_t rows;
};

static int train_step(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)capacity;
    struct program *program = context;
    leat_value images = leat_graph_argument(graph, 0), labels = leat_graph_argument(graph, 1);
    leat_value predictions = leat_model_call(program->model, images, true);
    leat_value losses = leat_loss_sparse_categorical_crossentropy(labels, predictions, false);
    int count;
    leat_variable *const *variables = leat_model_trainable_variables(program->model, &count);
    outputs[0] = leat_loss_average(losses, BATCH);
    leat_optimizer_minimize(program->optimizer, outputs[0], variables, count);
    leat_metric_update(program->accuracy, (leat_value[]){labels, predictions}, 2);
    return 1;
}

static leat_status make_state(struct program *program, leat_error *err) {
    leat_status status = leat_strategy_enter(program->strategy, err);
    if (status != LEAT_OK)
        return status;
    program->model = pictures_model(&program->pictures, err);
    leat_optimizer_adam_options adam = {LEAT_OPTIMIZER_ADAM_DEFAULTS};
    adam.learning_rate = 0.001;
    program->optimizer = leat_optimizer_adam(&adam, err);
    program->accuracy = leat_metric_sparse_categorical_accuracy("accuracy", err);
    leat_strategy_exit(program->strategy);
    return program->model != NULL && program->optimizer != NULL && program->accuracy != NULL
               ? LEAT_OK
               : err->code;
}

static leat_distributed_dataset *make_dataset(struct program *program, leat_error *err) {
    struct pictures *pictures = &program->pictures;
    leat_dataset *dataset = pictures_dataset(pictures, 0, 1, false, err);
    program->rows = pictures->count;
    if (strcmp(program->way, "steps") == 0) { /* more than fits into the limit */
        int64_t bytes =
            pictures->count * pictures->size * pictures->size * 3 * (int64_t)sizeof(float);
        int64_t copies = ((int64_t)LIMIT_MB << 20) / bytes + 1;
        program->rows *= copies;
        dataset = leat_dataset_repeat(dataset, copies, err);
    }
    dataset = leat_dataset_batch(pictures_loaded(pictures, dataset, err), BATCH, NULL, err);
    if (strcmp(program->way, "shuffled") == 0)
        dataset = leat_dataset_shuffle(dataset, 100, NULL, err);
    dataset = leat_dataset_prefetch(dataset, LEAT_AUTOTUNE, err);
    return leat_strategy_distribute_dataset(program->strategy, dataset, NULL, err);
}

/* One step; adds its loss to *total. OUT_OF_RANGE at the end of the data. */
static leat_status take_step(struct program *program, leat_distributed_iterator *iterator,
                             leat_step *step, double *total, leat_error *err) {
    leat_per_replica batch = {0}, losses = {0};
    leat_element sum = {0};
    leat_status status = leat_distributed_iterator_next(iterator, &batch, err);
    if (status == LEAT_OK)
        status = leat_strategy_run(program->strategy, step, &batch, &losses, err);
    if (status == LEAT_OK)
        status = leat_strategy_reduce(program->strategy, LEAT_REDUCE_SUM, &losses, LEAT_NO_AXIS,
                                      &sum, err);
    if (status == LEAT_OK)
        *total += (double)*(const float *)sum.tensors[0].data;
    leat_element_fini(&sum);
    leat_per_replica_fini(&losses);
    leat_per_replica_fini(&batch);
    return status;
}

/* An epoch: so many steps, or all that `iterator` still has. */
static leat_status run_epoch(struct program *program, leat_distributed_iterator *iterator,
                             leat_step *step, int64_t epoch, int64_t *all_steps, leat_error *err) {
    double total = 0, accuracy = 0;
    int64_t steps = 0;
    leat_status status = LEAT_OK;
    while (status == LEAT_OK && (program->steps == 0 || steps < program->steps)) {
        status = take_step(program, iterator, step, &total, err);
        steps += status == LEAT_OK;
    }
    if (status == LEAT_OK || status == LEAT_OUT_OF_RANGE)
        status = leat_metric_result(program->accuracy, &accuracy, err);
    if (status == LEAT_OK)
        status = leat_metric_reset(program->accuracy, err);
    if (status != LEAT_OK)
        return status;
    *all_steps += steps;
    printf("epoch %d, %d steps: loss %.4f, accuracy %.4f\n", (int)epoch, (int)steps,
           total / (double)steps, accuracy);
    return LEAT_OK;
}

/* Epochs of steps share one iterator, so that each goes on where the last one ended. */
static leat_status train(struct program *program, leat_distributed_dataset *dataset,
                         leat_step *step, int64_t *all_steps, leat_error *err) {
    leat_distributed_iterator *iterator = NULL;
    leat_status status = LEAT_OK;
    for (int64_t epoch = 1; status == LEAT_OK && epoch <= program->epochs; epoch++) {
        if (iterator == NULL || program->steps == 0) {
            leat_distributed_iterator_free(iterator);
            iterator = leat_distributed_iterator_new(dataset, err);
        }
        status = iterator != NULL ? run_epoch(program, iterator, step, epoch, all_steps, err)
                                  : err->code;
    }
    if (status == LEAT_OK && strcmp(program->way, "plain") == 0) {
        char *text = leat_distributed_iterator_explain(iterator, err);
        printf("%s", text != NULL ? text : "");
        leat_text_free(text);
    }
    leat_distributed_iterator_free(iterator);
    return status;
}

static leat_status run(struct program *program, const char *folder, leat_error *err) {
    leat_seed_set(1);
    leat_status status = pictures_find(&program->pictures, folder, err);
    if (status != LEAT_OK)
        return status;
    program->strategy = leat_strategy_mirrored(NULL, err);
    status = program->strategy != NULL ? make_state(program, err) : err->code;
    leat_distributed_dataset *dataset = status == LEAT_OK ? make_dataset(program, err) : NULL;
    leat_step *step = dataset != NULL ? leat_step_new(train_step, program, err) : NULL;
    int64_t steps = 0;
    status = step != NULL ? train(program, dataset, step, &steps, err) : err->code;
    leat_step_free(step);
    leat_distributed_dataset_free(dataset);
    struct rusage usage;
    if (status == LEAT_OK && program->steps > 0 && getrusage(RUSAGE_SELF, &usage) == 0)
        printf("%d steps over %d pictures, peak below the limit: %s\n", (int)steps,
               (int)program->rows, usage.ru_maxrss / 1024 < LIMIT_MB ? "yes" : "no");
    return status;
}

int main(int argc, char **argv) {
    struct program program = {.pictures = {.size = 64}, .way = argc > 1 ? argv[1] : "plain"};
    program.epochs = argc > 3 ? strtoll(argv[3], NULL, 10) : 2;
    program.steps = strcmp(program.way, "steps") == 0 ? STEPS : 0;
    leat_error err = {0};
    leat_status status = run(&program, argc > 2 ? argv[2] : "data/digits/sample", &err);
    if (status != LEAT_OK)
        fprintf(stderr, "%s: %s\n", leat_status_name(err.code), err.text);
    leat_metric_free(program.accuracy);
    leat_optimizer_free(program.optimizer);
    leat_model_free(program.model);
    leat_strategy_unref(program.strategy);
    pictures_fini(&program.pictures);
    return status != LEAT_OK;
}
