/* leat watch: a pipeline on a web page while it runs.
 *
 * Happy path: the pipeline runs to its end, to --limit or to Ctrl-C without printing elements; the
 * line of the log that names the page comes from the option `watch` of its dataset. A number prints
 * where the pages of that process are. Failure modes:
 * those of `leat run`; elements that fail are counted and the first one is shown. No locks. */
#include "base/error.h"
#include "cli/command.h"
#include "cli/pipeline.h"
#include "cli/say.h"
#include "data/run/seen.h"
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Names the pages of a program that runs. */
static leati_exit watch_program(const leati_pipeline_options *given, const char *number) {
    leat_error err = {0};
    leati_text urls = {0};
    long pid = strlen(number) < 10 ? strtol(number, NULL, 10) : 0;
    if (pid <= 0) {
        leati_say_error("%s is no number of a process, expected 1 to 999999999", number);
        return LEATI_EXIT_FAILURE;
    }
    if (given->limit || given->threads || given->port || given->no_rewrites) {
        leati_say_error("%s is a process, whose pipeline no option changes; leave them out, or "
                        "write ./%s for a plan of this name",
                        number, number);
        return LEATI_EXIT_USAGE;
    }
    leat_status status = leati_seen_read((int)pid, &urls, &err);
    if (status == LEAT_OK && urls.failed)
        status = leati_no_memory(&err);
    if (status != LEAT_OK)
        leati_say_failure(&err);
    else
        printf("%.*s", (int)urls.size, urls.data);
    leati_text_fini(&urls);
    return status == LEAT_OK ? LEATI_EXIT_OK : LEATI_EXIT_FAILURE;
}

static leati_exit run_watch(void *options, char **arguments, int count) {
    (void)count;
    struct watch_options *o = options;
    if (arguments[0][strspn(arguments[0], "0123456789")] == '\0' && arguments[0][0] != '\0')
        return watch_program(&o->pipeline, arguments[0]);
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
    .summary = "show a pipeline, or a running program, on a web page",
    .arguments = "PIPELINE.json|PID",
    .description =
        "Runs a pipeline without printing its elements, and meanwhile serves a web page of this\n"
        "machine's own that shows what each operator does; a line names its address. One without\n"
        "an end runs until Ctrl-C. LEAT_WATCH_TOKEN in the environment is what the page asks for.\n"
        "Programs show theirs by the option `watch` of a dataset, or, as they are, by LEAT_WATCH=1 "
        "or\n"
        "LEAT_WATCH=PORT in their environment: with the number of such a process, PID, this "
        "prints\n"
        "the addresses of its pages, and takes no option. A plan whose name is a number is ./NAME.",
    .min_arguments = 1,
    .max_arguments = 1,
    .options = watch_rows,
    .size = sizeof(struct watch_options),
    .run = run_watch,
};
