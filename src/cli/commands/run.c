/* leat run: the elements of a pipeline that is written as JSON.
 *
 * Happy path: the plan is read, iterated, and each element printed or only counted. Failure modes:
 * a plan that cannot be read; an element that fails, which ends the run unless --keep-going; each
 * is a message with exit status 1. No locks. */
#include "cli/command.h"
#include "cli/pipeline.h"
#include "cli/print.h"
#include "cli/say.h"
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

struct run_options {
    leati_pipeline_options pipeline;
    bool count;
    bool keep_going;
};

static const leati_option run_rows[] = {
    {.name = "count",
     .letter = 'c',
     .type = LEATI_OPTION_FLAG,
     .offset = offsetof(struct run_options, count),
     .doc = "Print only how many elements there are."},
    {.name = "keep-going",
     .letter = 'k',
     .type = LEATI_OPTION_FLAG,
     .offset = offsetof(struct run_options, keep_going),
     .doc = "Go on after an element that failed."},
    LEATI_PIPELINE_OPTIONS(struct run_options, pipeline),
    {0},
};

struct printing {
    const struct run_options *options;
    int64_t elements, errors;
};

static leat_status take_element(void *context, const leat_element *element, leat_error *err) {
    struct printing *printing = context;
    printing->elements++;
    return printing->options->count ? LEAT_OK : leati_print_element(element, err);
}

static bool take_error(void *context, const leat_error *error) {
    struct printing *printing = context;
    /* Elements are numbered with those that failed among them. */
    leati_say_error("element %" PRId64 ": %s", printing->elements + printing->errors, error->text);
    printing->errors++;
    return printing->options->keep_going;
}

static leati_exit run_pipeline(void *options, char **arguments, int count) {
    (void)count;
    const struct run_options *o = options;
    struct printing printing = {.options = o};
    leati_pipeline_visitor visitor = {&printing, take_element, take_error, o->count};
    leat_error err = {0};
    leat_status status = leati_pipeline_run(arguments[0], &o->pipeline, &visitor, NULL, &err);
    if (status != LEAT_OK)
        leati_say_failure(&err);
    if (o->count && status == LEAT_OK)
        printf("%" PRId64 "\n", printing.elements);
    return status != LEAT_OK || printing.errors ? LEATI_EXIT_FAILURE : LEATI_EXIT_OK;
}

const leati_command leati_command_run = {
    .name = "run",
    .summary = "print or count the elements of a pipeline",
    .arguments = "PIPELINE.json",
    .description =
        "Reads a pipeline as leat_dataset_to_json writes it and prints its elements, one after\n"
        "another. '-' reads it from standard input. A pipeline without an end needs --limit.",
    .min_arguments = 1,
    .max_arguments = 1,
    .options = run_rows,
    .size = sizeof(struct run_options),
    .run = run_pipeline,
};
