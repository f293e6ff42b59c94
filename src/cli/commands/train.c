/* leat train: a small convolutional network on pictures, on several replicas, in one process or in
 * several.
 *
 * Happy path: find the files, make the datasets, the model and the steps, and run the loop. Failure
 * modes: one message with exit status 1; Ctrl-C ends at once with 130, and the file of --out is
 * that of the last whole epoch. No locks. */
#include "cli/train.h"

#include "cli/command.h"
#include "cli/say.h"
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

static const leati_option train_rows[] = {
    {.name = "replicas",
     .letter = 'r',
     .type = LEATI_OPTION_INT,
     .offset = offsetof(leati_train_options, replicas),
     .value = "N",
     .minimum = 1,
     .maximum = LEATI_MOST_REPLICAS,
     .doc = "Devices of a process to train on (2; of GPUs and TPUs all)."},
    {.name = "device",
     .letter = 'd',
     .type = LEATI_OPTION_TEXT,
     .offset = offsetof(leati_train_options, device),
     .value = "KIND",
     .doc = "cpu, gpu, tpu or xla_cpu: what the devices are (cpu)."},
    {.name = "batch",
     .letter = 'b',
     .type = LEATI_OPTION_INT,
     .offset = offsetof(leati_train_options, batch),
     .value = "N",
     .minimum = 1,
     .maximum = 1e6,
     .doc = "Pictures in a global batch, all replicas together (32)."},
    {.name = "epochs",
     .letter = 'e',
     .type = LEATI_OPTION_INT,
     .offset = offsetof(leati_train_options, epochs),
     .value = "N",
     .minimum = 1,
     .maximum = 1e6,
     .doc = "Times to go through the training part (30)."},
    {.name = "learning-rate",
     .letter = 'l',
     .type = LEATI_OPTION_FLOAT,
     .offset = offsetof(leati_train_options, learning_rate),
     .value = "X",
     .minimum = 1e-12,
     .maximum = 100,
     .doc = "Of Adam (0.001)."},
    {.name = "image-size",
     .letter = 'i',
     .type = LEATI_OPTION_INT,
     .offset = offsetof(leati_train_options, image_size),
     .value = "N",
     .minimum = 3,
     .maximum = 4096,
     .doc = "Resize pictures to N x N (as the first one is)."},
    {.name = "classes",
     .type = LEATI_OPTION_INT,
     .offset = offsetof(leati_train_options, classes),
     .value = "N",
     .minimum = 2,
     .maximum = 1e6,
     .doc = "Outputs of the model (10, or the class folders)."},
    {.name = "seed",
     .letter = 's',
     .type = LEATI_OPTION_SEED,
     .offset = offsetof(leati_train_options, seed),
     .value = "N",
     .doc = "Of weights, order and split (1)."},
    {.name = "out",
     .letter = 'o',
     .type = LEATI_OPTION_TEXT,
     .offset = offsetof(leati_train_options, out),
     .value = "FILE",
     .doc = "Write weights and optimizer there after every epoch (.safetensors)."},
    {.name = "resume",
     .type = LEATI_OPTION_FLAG,
     .offset = offsetof(leati_train_options, resume),
     .doc = "Go on from --out's FILE, if it is there."},
    {.name = "image-key",
     .type = LEATI_OPTION_TEXT,
     .offset = offsetof(leati_train_options, image_key),
     .value = "NAME",
     .doc = "Feature with the JPEG or PNG (image/encoded)."},
    {.name = "label-key",
     .type = LEATI_OPTION_TEXT,
     .offset = offsetof(leati_train_options, label_key),
     .value = "NAME",
     .doc = "Feature with the class as int64 (label)."},
    {.name = "strategy",
     .type = LEATI_OPTION_TEXT,
     .offset = offsetof(leati_train_options, strategy),
     .value = "NAME",
     .doc = "mirrored, or multi_worker_mirrored (that, in a job)."},
    {0},
};

static void train_defaults(void *options) {
    *(leati_train_options *)options = (leati_train_options){.batch = 32,
                                                            .epochs = 30,
                                                            .learning_rate = 1e-3,
                                                            .seed = LEAT_SEED(1),
                                                            .image_key = "image/encoded",
                                                            .label_key = "label"};
}

static void print_plan(const leati_train_options *options, const leati_corpus *corpus,
                       const leati_trainer *trainer) {
    if (!leati_train_trainer_speaks(trainer))
        return;
    int workers = leat_strategy_num_workers(trainer->strategy);
    char processes[48] = "";
    if (workers > 1)
        (void)snprintf(processes, sizeof processes, " in %d processes", workers);
    const int64_t *image = corpus->image.dims;
    printf("%s; pictures %" PRId64 "x%" PRId64 "x%" PRId64 ", %" PRId64 " classes, %d replicas%s, "
           "global batch %" PRId64 ", seed %" PRId64 "\n",
           corpus->text, image[0], image[1], image[2], corpus->classes,
           leat_strategy_num_replicas(trainer->strategy), processes, options->batch,
           options->seed.value);
    /* Before the first epoch, which may take long. */
    (void)fflush(stdout);
}

static leat_status train_on(const leati_train_options *options, leati_corpus *corpus,
                            leat_error *err) {
    leati_trainer trainer;
    leat_status status = leati_train_trainer_new(options, corpus, &trainer, err);
    if (status != LEAT_OK)
        return status;
    print_plan(options, corpus, &trainer);
    if (options->resume)
        status = leati_train_trainer_resume(options, corpus, &trainer, err);
    if (status == LEAT_OK)
        status = leati_train_loop(options, corpus, &trainer, err);
    /* The other processes of the job would take it for an end that they have not come to yet. */
    if (status != LEAT_OK)
        leat_strategy_abort(trainer.strategy, leat_error_message(err));
    leati_train_trainer_fini(&trainer);
    return status;
}

static leat_status train(const leati_train_options *options, char **arguments, int count,
                         leat_error *err) {
    leati_corpus_files files;
    leat_status status = leati_train_corpus_find(arguments, count, &files, err);
    if (status != LEAT_OK)
        return status;
    leati_corpus corpus;
    status = leati_train_corpus_open(&files, options, &corpus, err);
    if (status == LEAT_OK) {
        status = train_on(options, &corpus, err);
        leati_train_corpus_fini(&corpus);
    }
    leati_train_corpus_files_fini(&files);
    return status;
}

static leati_exit run_train(void *options, char **arguments, int count) {
    leat_error err = {0};
    const leati_train_options *given = options;
    if (given->resume && given->out == NULL) {
        leati_say_error("train: --resume goes on from the file of --out, which is not given");
        return LEATI_EXIT_USAGE;
    }
    if (train(options, arguments, count, &err) == LEAT_OK)
        return LEATI_EXIT_OK;
    leati_say_failure(&err);
    return LEATI_EXIT_FAILURE;
}

const leati_command leati_command_train = {
    .name = "train",
    .summary = "train a small network on record files or picture folders",
    .arguments = "DATA...",
    .description =
        "Trains Conv2D 32 3x3 relu, MaxPooling2D, Flatten, Dense 64 relu, Dense with Adam, on\n"
        "several replicas, tests after every epoch, and ends with the test accuracy and a table\n"
        "that says where the time went.\n\n"
        "DATA is a folder with TFRecord files, or such files by name: those with \"-test\" in\n"
        "their name are the test part, those with \"-train\" (or all others) are trained on. Or "
        "it\n"
        "is a folder of class folders with JPEG or PNG pictures: the classes are the folders in\n"
        "alphabetical order. Without a test part a fifth of the records, or of each class, chosen\n"
        "by the seed, is kept for the test. Pictures of records must be of one size unless\n"
        "--image-size is given; those of folders are resized to the first one's, at most 128\n"
        "pixels wide and high. The same seed gives the same training, also where it was broken "
        "off\n"
        "and resumed.\n\n"
        "As several processes of one job (leat launch -n 2 -- leat train ...) all train together:\n"
        "each has as many replicas, reads all the data and takes its part of every batch; the\n"
        "first one prints, and writes the file of --out. The losses are those of one process with\n"
        "the same batch.",
    .min_arguments = 1,
    .max_arguments = -1,
    .options = train_rows,
    .size = sizeof(leati_train_options),
    .defaults = train_defaults,
    .run = run_train,
};
