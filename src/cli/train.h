/* leat train in four parts: the corpus (train_files.c, train_data.c), the model with its two steps
 * (train_model.c), the loop (train_loop.c) and what is shown of it (train_report.c). */
#ifndef LEATI_CLI_TRAIN_H
#define LEATI_CLI_TRAIN_H

#include "file/fs.h"
#include <leat/leat.h>

#define LEATI_MOST_REPLICAS 64

typedef struct leati_train_options {
    int64_t replicas; /* 0: two CPUs, or all devices of another kind */
    int64_t batch, epochs, classes, image_size;
    double learning_rate;
    leat_seed seed;
    const char *image_key, *label_key;
    const char *device;   /* the kind of the devices, in small letters; NULL: cpu */
    const char *strategy; /* NULL: by whether this process is one of several */
    const char *out;      /* file of the weights; NULL: none */
    bool resume;          /* go on from it where it is there */
} leati_train_options;

/* Which files there are. {0} is empty. */
typedef struct leati_corpus_files {
    leati_paths train, test; /* record files; test may be empty: then rows are split */
    leati_paths classes;     /* class folders: their names in order */
    leati_paths pictures;    /* their files, class by class */
    int64_t *labels;         /* one per picture */
    size_t label_capacity;
} leati_corpus_files;

/* Looks at `count` paths: record files, or one folder with record files or with class folders.
 * NOT_FOUND or INVALID_ARGUMENT with what was expected. On failure `out` is empty. */
LEAT_WARN_UNUSED leat_status leati_train_corpus_find(char *const *paths, int count,
                                                     leati_corpus_files *out, leat_error *err);
void leati_train_corpus_files_fini(leati_corpus_files *files);

/* Elements that shuffling chooses from. */
#define LEATI_SHUFFLE_BUFFER 10000

/* Two datasets of (image: float32 [height, width, channels] from 0 to 1, label: int64), both
 * cached. */
typedef struct leati_corpus {
    leat_dataset *train, *test;
    leat_shape image;
    int64_t classes;
    const leati_paths *names; /* of the classes; borrowed; empty: they are numbers */
    char text[160];           /* what it is, for the first line of the report */
} leati_corpus;

LEAT_WARN_UNUSED leat_status leati_train_corpus_open(const leati_corpus_files *files,
                                                     const leati_train_options *options,
                                                     leati_corpus *out, leat_error *err);
void leati_train_corpus_fini(leati_corpus *corpus);

/* Batches of (float32 [rows, height, width, channels] from 0 to 1, numbers) of picture files,
 * decoded and resized as for training. Owned; NULL with the error set. */
leat_dataset *leati_train_pictures_open(const leati_paths *pictures, leat_shape image,
                                        int64_t batch, leat_error *err);

/* The network, its optimizer and metrics, and the two steps over them. */
typedef struct leati_trainer {
    leat_strategy *strategy;
    leat_model *model;
    leat_optimizer *optimizer;
    leat_metric *train_accuracy, *test_accuracy;
    leat_step *train_step,
        *test_step; /* (images, labels) -> this replica's part of the mean loss */
    int64_t global_batch;
    int64_t epochs; /* done before, as a file says that was loaded */
} leati_trainer;

/* Creates all of it under a strategy with options->replicas devices of this process: mirrored, or
 * multi_worker_mirrored in a job of several processes. On failure `out` is empty. */
LEAT_WARN_UNUSED leat_status leati_train_trainer_new(const leati_train_options *options,
                                                     const leati_corpus *corpus, leati_trainer *out,
                                                     leat_error *err);
void leati_train_trainer_fini(leati_trainer *trainer);

/* Is this the process that prints? */
bool leati_train_trainer_speaks(const leati_trainer *trainer);

/* What `leat train --out` writes (train_save.c): a safetensors file of weights and optimizer, with
 * notes on pictures and classes. */
typedef struct leati_safetensors leati_safetensors;
LEAT_WARN_UNUSED leat_status leati_train_trainer_save(const leati_train_options *options,
                                                      const leati_corpus *corpus,
                                                      const leati_trainer *trainer, int64_t epochs,
                                                      leat_error *err);
/* Goes on from options->out. INVALID_ARGUMENT where the file is of other pictures or classes. */
LEAT_WARN_UNUSED leat_status leati_train_trainer_resume(const leati_train_options *options,
                                                        const leati_corpus *corpus,
                                                        leati_trainer *trainer, leat_error *err);
/* Reads the file `path`: pictures and classes into `corpus` (without datasets; its names are in
 * *names, which the caller frees), values into *file (owned). */
LEAT_WARN_UNUSED leat_status leati_train_weights_open(const char *path, leati_corpus *corpus,
                                                      leati_paths *names, leati_safetensors **file,
                                                      leat_error *err);
/* The weights of the file into the model. */
LEAT_WARN_UNUSED leat_status leati_train_weights_load(const leati_safetensors *file,
                                                      const char *path,
                                                      const leati_trainer *trainer,
                                                      leat_error *err);

/* Where the time of one phase went, in nanoseconds. */
typedef struct leati_train_phase {
    int64_t input;   /* waiting for the next batch */
    int64_t compile; /* the first step of each size: tracing, compiling, running */
    int64_t step;    /* the other steps */
    int64_t rest;    /* reductions and metrics */
    int64_t steps, rows;
    int64_t sizes[4]; /* rows of batches seen; a full one, and what an epoch leaves over */
    int compiled;     /* how many of them */
} leati_train_phase;

/* Epochs done so far, for the progress line and the final table. */
typedef struct leati_report {
    const leati_train_options *options;
    bool terminal, silent;
    int64_t start_ns, shown_ns;
    int64_t earlier_epochs;        /* done by the run that this one resumes */
    int64_t epoch, step;           /* both from 1 while training; epochs of earlier runs count */
    int64_t steps_per_epoch;       /* 0: not known yet */
    leati_train_phase train, test; /* of all epochs */
    leati_train_phase first;       /* of the first epoch's training */
    double test_accuracy;
} leati_report;

/* What one epoch ended with. */
typedef struct leati_epoch {
    double loss, accuracy, test_loss, test_accuracy;
    double seconds;
    int64_t rows;
} leati_epoch;

/* Looks where standard output goes. Of several processes none draws a progress line, since all of
 * them would have to say how far they are, and only the first one prints. */
void leati_train_report_begin(leati_report *report, const leat_strategy *strategy);
/* Redraws the progress line on a terminal, a few times a second; nothing elsewhere. `accuracy` is
 * asked for only when a line is drawn. */
void leati_train_report_progress(leati_report *report, double loss, leat_metric *accuracy);
/* The line of an epoch. */
void leati_train_report_epoch(leati_report *report, const leati_epoch *epoch);
/* The last lines: test accuracy and the table. `pipeline` and `step` are the texts of the library's
 * explain calls. */
void leati_train_report_end(const leati_report *report, const char *pipeline, const char *step,
                            const leat_step_times *times);

/* Trains and prints. */
LEAT_WARN_UNUSED leat_status leati_train_loop(const leati_train_options *options,
                                              leati_corpus *corpus, leati_trainer *trainer,
                                              leat_error *err);

#endif
