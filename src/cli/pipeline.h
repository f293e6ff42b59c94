/* Running a pipeline that is written as JSON: what `leat run` and `leat explain` share. */
#ifndef LEATI_CLI_PIPELINE_H
#define LEATI_CLI_PIPELINE_H

#include "cli/command.h"

typedef struct leati_pipeline_options {
    int64_t limit;   /* elements and errors; 0: no limit */
    int64_t threads; /* 0: the shared pool */
    leat_seed seed;  /* the global seed */
    bool no_rewrites;
    bool remote;  /* it may open files of other machines */
    bool watched; /* a web page shows it, at `port` */
    int64_t port;
} leati_pipeline_options;

/* Their rows, for the table of a command whose options contain them as member `m` of struct `s`. */
#define LEATI_PIPELINE_OPTIONS(s, m)                                                               \
    {.name = "limit",                                                                              \
     .letter = 'n',                                                                                \
     .type = LEATI_OPTION_INT,                                                                     \
     .offset = offsetof(s, m.limit),                                                               \
     .value = "N",                                                                                 \
     .minimum = 1,                                                                                 \
     .maximum = 1e15,                                                                              \
     .doc = "Stop after N elements."},                                                             \
        {.name = "seed",                                                                           \
         .type = LEATI_OPTION_SEED,                                                                \
         .offset = offsetof(s, m.seed),                                                            \
         .value = "N",                                                                             \
         .doc = "The global seed, as tf.random.set_seed(N)."},                                     \
        {.name = "threads",                                                                        \
         .type = LEATI_OPTION_INT,                                                                 \
         .offset = offsetof(s, m.threads),                                                         \
         .value = "N",                                                                             \
         .minimum = 1,                                                                             \
         .maximum = 1024,                                                                          \
         .doc = "A pool of N threads; without it all cores."},                                     \
        {.name = "remote",                                                                         \
         .type = LEATI_OPTION_FLAG,                                                                \
         .offset = offsetof(s, m.remote),                                                          \
         .doc = "The plan is yours: it may open http://, s3:// and other files."},                 \
    {                                                                                              \
        .name = "no-rewrites", .type = LEATI_OPTION_FLAG, .offset = offsetof(s, m.no_rewrites),    \
        .doc = "Run the plan as written, without fusions."                                         \
    }

/* Receives what comes out. */
typedef struct leati_pipeline_visitor {
    void *context;
    /* Any code but LEAT_OK ends the run with it. */
    leat_status (*element)(void *context, const leat_element *element, leat_error *err);
    /* An element that failed; true to go on. */
    bool (*error)(void *context, const leat_error *error);
    bool counts; /* nothing is printed for elements, so the run shows its progress */
} leati_pipeline_visitor;

/* What is said about a run at its end, if the pointers are not NULL: the texts of
 * leat_iterator_explain and leat_iterator_metrics (leat_text_free). */
typedef struct leati_pipeline_reports {
    char **table, **metrics;
} leati_pipeline_reports;

/* Reads and runs the pipeline in file `path` ("-": standard input). `reports` may be NULL. */
LEAT_WARN_UNUSED leat_status leati_pipeline_run(const char *path,
                                                const leati_pipeline_options *options,
                                                const leati_pipeline_visitor *visitor,
                                                const leati_pipeline_reports *reports,
                                                leat_error *err);

/* What leati_pipeline_count found. */
typedef struct leati_pipeline_counts {
    int64_t elements, errors;
} leati_pipeline_counts;

/* Runs the pipeline and only counts its elements, for `leat explain` and `leat watch`. The first
 * one that fails is said; a thousand end the run, as a source that cannot be opened may fail at
 * every call. */
LEAT_WARN_UNUSED leat_status leati_pipeline_count(const char *path,
                                                  const leati_pipeline_options *options,
                                                  const leati_pipeline_reports *reports,
                                                  leati_pipeline_counts *counts, leat_error *err);
/* Says what failed, and is the status of the command: OK where nothing did. */
leati_exit leati_pipeline_counted(leat_status status, const leati_pipeline_counts *counts,
                                  const leat_error *err);

#endif
