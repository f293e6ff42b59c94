/* leat watch: a pipeline on a web page while it runs, or what a program that runs shows of its own.
 *
 * Happy path: the pipeline runs to its end, to --limit or to Ctrl-C without printing elements; the
 * line of the log that names the page comes from the option `watch` of its dataset. A number is a
 * process, of which a table is printed again and again (cli/program.h). Failure modes: those of
 * `leat run`; elements that fail are counted and the first one is shown; options of the one thing
 * for the other. No locks. */
#include "cli/command.h"
#include "cli/pipeline.h"
#include "cli/program.h"
#include "cli/say.h"
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct watch_options {
    leati_pipeline_options pipeline;
    leati_program_options program;
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
    {.name = "json",
     .type = LEATI_OPTION_FLAG,
     .offset = offsetof(struct watch_options, program.json),
     .doc = "Of a PID: print what its pages say as JSON."},
    {.name = "interval",
     .type = LEATI_OPTION_FLOAT,
     .offset = offsetof(struct watch_options, program.interval),
     .value = "SECONDS",
     .minimum = 0.01,
     .maximum = 1e6,
     .doc = "Of a PID: between two times; 1."},
    {.name = "count",
     .type = LEATI_OPTION_INT,
     .offset = offsetof(struct watch_options, program.count),
     .value = "N",
     .minimum = 1,
     .maximum = 1e6,
     .doc = "Of a PID: how many times; without it until it ends."},
    {0},
};

static leati_exit watch_program(const struct watch_options *o, const char *number) {
    const leati_pipeline_options *plan = &o->pipeline;
    long pid = strlen(number) < 10 ? strtol(number, NULL, 10) : 0;
    if (pid <= 0) {
        leati_say_error("%s is no number of a process, expected 1 to 999999999", number);
        return LEATI_EXIT_FAILURE;
    }
    if (plan->limit || plan->threads || plan->port || plan->no_rewrites || plan->seed.given) {
        leati_say_error("%s is a process, whose pipeline no option changes; leave out all but "
                        "--json, --interval and --count, or write ./%s for a plan of this name",
                        number, number);
        return LEATI_EXIT_USAGE;
    }
    return leati_program_watch((int)pid, &o->program);
}

static leati_exit run_watch(void *options, char **arguments, int count) {
    (void)count;
    struct watch_options *o = options;
    if (arguments[0][strspn(arguments[0], "0123456789")] == '\0' && arguments[0][0] != '\0')
        return watch_program(o, arguments[0]);
    if (o->program.json || o->program.interval > 0 || o->program.count) {
        leati_say_error("--json, --interval and --count are for the number of a process, not for a "
                        "pipeline, which is shown on its page");
        return LEATI_EXIT_USAGE;
    }
    leati_pipeline_counts counts;
    leat_error err = {0};
    o->pipeline.watched = true;
    leat_status status = leati_pipeline_count(arguments[0], &o->pipeline, NULL, &counts, &err);
    if (status == LEAT_OK)
        printf("%" PRId64 " elements\n", counts.elements);
    return leati_pipeline_counted(status, &counts, &err);
}

const leati_command leati_command_watch = {
    .name = "watch",
    .summary = "show a pipeline on a web page, or what a running program does",
    .arguments = "PIPELINE.json|PID",
    .description =
        "Runs a pipeline without printing its elements, and meanwhile serves a web page of this\n"
        "machine's own that shows what each operator does; a line names its address. One without\n"
        "an end runs until Ctrl-C. LEAT_WATCH_TOKEN in the environment is what the page asks for.\n"
        "Programs show theirs by the option `watch` of a dataset, or, as they are, by LEAT_WATCH=1 "
        "or\n"
        "LEAT_WATCH=PORT in their environment. With the number of such a process, PID, this prints "
        "the\n"
        "addresses of its pages and a table of each of its pipelines, and again each second until "
        "it\n"
        "ends: how much each operator gave, and of the time since the table before (in the first "
        "one,\n"
        "since the pipeline began) the shares in which it computed (BUSY), waited for its input "
        "(WAITS)\n"
        "and for room (FULL). A plan whose name is a number is ./NAME.",
    .min_arguments = 1,
    .max_arguments = 1,
    .options = watch_rows,
    .size = sizeof(struct watch_options),
    .run = run_watch,
};
