/* leat watch: a pipeline on a web page while it runs.
 *
 * Happy path: the pipeline runs to its end, to --limit or to Ctrl-C without printing elements; the
 * line of the log that names the page comes from the option `watch` of its dataset. Failure modes:
 * those of `leat run`; elements that fail are counted and the first one is shown. No locks. */
#include "cli/command.h"
#include "cli/pipeline.h"
#include "cli/say.h"
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

struct watch_options {
    leati_pipeline_options pipeline;
};

static const leati_option watch_rows[] = {
    {.name = "port",
     .letter = 'p',
     .type = LEATI_OPTION_INT,
     .offset = offsetof(struct watch_options, pipeline.port),
     .value = "N",
     .minimum = 0,
     .maximum = 65535,
     .doc = "The page's port; without it, or 0, any that is free."},
    LEATI_PIPELINE_OPTIONS(struct watch_options, pipeline),
    {0},
};

/* A source that cannot be opened may fail at every call. */
#define MAX_ERRORS 1000

struct counting {
    int64_t elements, errors;
};

static leat_status count_element(void *context, const leat_element *element, leat_error *err) {
    (void)element;
    (void)err;
    ((struct counting *)context)->elements++;
    return LEAT_OK;
}

static bool count_error(void *context, const leat_error *error) {
    struct counting *counting = context;
    if (counting->errors++ == 0)
        leati_say_error("element %" PRId64 ": %s", counting->elements, error->text);
    return counting->errors < MAX_ERRORS;
}

static leati_exit run_watch(void *options, char **arguments, int count) {
    (void)count;
    struct watch_options *o = options;
    struct counting counting = {0};
    leati_pipeline_visitor visitor = {&counting, count_element, count_error};
    leat_error err = {0};
    o->pipeline.watched = true;
    leat_status status = leati_pipeline_run(arguments[0], &o->pipeline, &visitor, NULL, &err);
    if (status != LEAT_OK)
        leati_say_failure(&err);
    else
        printf("%" PRId64 " elements\n", counting.elements);
    if (counting.errors > 1)
        leati_say_error("%" PRId64 " elements failed; the first is shown above", counting.errors);
    return status != LEAT_OK || counting.errors ? LEATI_EXIT_FAILURE : LEATI_EXIT_OK;
}

const leati_command leati_command_watch = {
    .name = "watch",
    .summary = "run a pipeline and show it on a web page",
    .arguments = "PIPELINE.json",
    .description =
        "Runs a pipeline without printing its elements, and meanwhile serves a web page of this\n"
        "machine's own that shows what each operator does; a line names its address. One without\n"
        "an end runs until Ctrl-C. LEAT_WATCH_TOKEN in the environment is what the page asks for.\n"
        "Programs show theirs by the option `watch` of a dataset, or, as they are, by LEAT_WATCH=1 "
        "or\n"
        "LEAT_WATCH=PORT in their environment.",
    .min_arguments = 1,
    .max_arguments = 1,
    .options = watch_rows,
    .size = sizeof(struct watch_options),
    .run = run_watch,
};
