/* leat predict: the classes that a trained network sees in pictures.
 *
 * Happy path: the file of `leat train --out` says which pictures and classes it is of; pictures are
 * decoded, resized and scaled as for training, and go through the network in batches. One line
 * each: path, and class and probability of the likeliest, between tabs. Failures: one message with
 * exit status 1. No locks. */
#include "cli/train.h"

#include "base/error.h"
#include "cli/command.h"
#include "cli/say.h"
#include "file/safetensors.h"
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { BATCH = 32 };

struct predict_options {
    int64_t top;
};

static const leati_option predict_rows[] = {
    {.name = "top",
     .letter = 't',
     .type = LEATI_OPTION_INT,
     .offset = offsetof(struct predict_options, top),
     .value = "N",
     .minimum = 1,
     .maximum = 1e6,
     .doc = "Classes of each picture, the likeliest first (1)."},
    {0},
};

static void predict_defaults(void *options) {
    ((struct predict_options *)options)->top = 1;
}

/* What a run needs. */
struct predicting {
    leati_corpus corpus; /* what the network is of */
    leati_paths names, pictures;
    leati_trainer trainer;
    leat_step *step;
    int64_t top;
    size_t done; /* pictures */
};

static int trace_predict(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)capacity;
    struct predicting *p = context;
    leat_value images = leat_graph_argument(graph, 0);
    /* The network ends in logits; people want probabilities. */
    outputs[0] = leat_op_softmax(leat_model_call(p->trainer.model, images, false));
    return 1;
}

/* Of the classes that are less likely than `above` (or as likely and later than `before`), the
 * likeliest. */
static int64_t next_class(const float *row, int64_t classes, int64_t before) {
    int64_t best = -1;
    for (int64_t c = 0; c < classes; c++) {
        /* Equal probabilities go by the number of the class, so that each comes once. */
        bool later = before < 0 || row[c] < row[before] || (row[c] == row[before] && c > before);
        if (later && (best < 0 || row[c] > row[best]))
            best = c;
    }
    return best;
}

static void print_row(struct predicting *p, const float *row) {
    int64_t seen = -1;
    fputs(p->pictures.values[p->done++], stdout);
    for (int64_t i = 0; i < p->top; i++) {
        int64_t found = next_class(row, p->corpus.classes, seen);
        if (found < 0)
            break;
        if ((size_t)found < p->names.count)
            printf("\t%s\t%.4f", p->names.values[found], (double)row[found]);
        else
            printf("\t%" PRId64 "\t%.4f", found, (double)row[found]);
        seen = found;
    }
    puts("");
}

static leat_status predict_batch(struct predicting *p, leat_element *batch, leat_error *err) {
    leat_per_replica given = {.elements = batch, .num_replicas = 1}, out = {0};
    leat_status status = leat_strategy_run(p->trainer.strategy, p->step, &given, &out, err);
    if (status == LEAT_OK) {
        const leat_tensor *rows = &out.elements[0].tensors[0];
        for (int64_t i = 0; i < rows->dims[0]; i++)
            print_row(p, (const float *)rows->data + i * rows->dims[1]);
    }
    leat_per_replica_fini(&out);
    return status;
}

static leat_status predict_all(struct predicting *p, leat_error *err) {
    leat_dataset *dataset = leati_train_pictures_open(&p->pictures, p->corpus.image, BATCH, err);
    leat_iterator *iterator = dataset != NULL ? leat_iterator_new(dataset, NULL, err) : NULL;
    leat_element batch = {0};
    leat_status status = iterator != NULL ? LEAT_OK : err->code;
    leat_dataset_unref(dataset);
    /* One step for all batches: it is compiled for the full size and for the last one's. */
    p->step = leat_step_new(trace_predict, p, err);
    if (status == LEAT_OK && p->step == NULL)
        status = err->code;
    while (status == LEAT_OK) {
        status = leat_iterator_next(iterator, &batch, err);
        if (status == LEAT_OK)
            status = predict_batch(p, &batch, err);
    }
    leat_element_fini(&batch);
    leat_iterator_free(iterator);
    leat_step_free(p->step);
    return status == LEAT_OUT_OF_RANGE ? LEAT_OK : status;
}

/* The network of the file. */
static leat_status open_network(struct predicting *p, const char *path, leat_error *err) {
    /* The trainer is made whole, though only its model is used; its weights are replaced below. */
    const leati_train_options options = {
        .replicas = 1, .batch = BATCH, .learning_rate = 1, .seed = LEAT_SEED(1)};
    leati_safetensors *file = NULL;
    leat_status status = leati_train_weights_open(path, &p->corpus, &p->names, &file, err);
    if (status != LEAT_OK)
        return status;
    status = leati_train_trainer_new(&options, &p->corpus, &p->trainer, err);
    if (status == LEAT_OK) {
        status = leati_train_weights_load(file, path, &p->trainer, err);
        if (status != LEAT_OK)
            leati_train_trainer_fini(&p->trainer);
    }
    leati_safetensors_free(file);
    return status;
}

static leat_status predict(const struct predict_options *options, char **arguments, int count,
                           leat_error *err) {
    struct predicting p = {.top = options->top};
    leat_status status = LEAT_OK;
    for (int i = 1; i < count && status == LEAT_OK; i++)
        status = leati_fs_paths_add(&p.pictures, arguments[i], strlen(arguments[i]), err);
    if (status == LEAT_OK)
        status = open_network(&p, arguments[0], err);
    if (status == LEAT_OK) {
        status = predict_all(&p, err);
        leati_train_trainer_fini(&p.trainer);
    }
    leati_fs_paths_fini(&p.names);
    leati_fs_paths_fini(&p.pictures);
    return status;
}

static leati_exit run_predict(void *options, char **arguments, int count) {
    leat_error err = {0};
    if (predict(options, arguments, count, &err) == LEAT_OK)
        return LEATI_EXIT_OK;
    leati_say_failure(&err);
    return LEATI_EXIT_FAILURE;
}

const leati_command leati_command_predict = {
    .name = "predict",
    .summary = "say what a network that leat train wrote sees in pictures",
    .arguments = "FILE PICTURE...",
    .description =
        "Reads the network that `leat train --out FILE` wrote and prints a line for each picture:\n"
        "its path, the likeliest class and its probability, between tabs; with --top more of "
        "them.\n"
        "Classes are the names of their folders where the network was trained on folders, else\n"
        "numbers. Pictures are JPEG, PNG, GIF or BMP files of any size.",
    .min_arguments = 2,
    .max_arguments = -1,
    .options = predict_rows,
    .size = sizeof(struct predict_options),
    .defaults = predict_defaults,
    .run = run_predict,
};
