/* leat explain: where the time of a pipeline goes.
 *
 * Happy path: the pipeline runs to its end, or to --limit, without printing elements;
 * then the table of its operators is printed. Failure modes: those of `leat run`; elements that
 * fail are counted and the first one is shown. No locks. */
#include "base/clock.h"
#include "cli/command.h"
#include "cli/pipeline.h"
#include "cli/say.h"
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

struct explain_options {
    leati_pipeline_options pipeline;
};

static const leati_option explain_rows[] = {
    LEATI_PIPELINE_OPTIONS(struct explain_options, pipeline),
    {0},
};

/* A source that cannot be opened may fail at every call: then there is nothing to explain. */
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

static leati_exit run_explain(void *options, char **arguments, int count) {
    (void)count;
    const struct explain_options *o = options;
    struct counting counting = {0};
    leati_pipeline_visitor visitor = {&counting, count_element, count_error};
    char *table = NULL;
    leat_error err = {0};
    int64_t start = leati_now_ns();
    leat_status status = leati_pipeline_run(arguments[0], &o->pipeline, &visitor, &table, &err);
    double seconds = (double)(leati_now_ns() - start) * 1e-9;
    if (status) {
        leati_say_failure(&err);
    } else {
        printf("%" PRId64 " elements in %.3f s\n%s", counting.elements, seconds, table);
    }
    leat_text_free(table);
    if (counting.errors > 1)
        leati_say_error("%" PRId64 " elements failed; the first is shown above", counting.errors);
    return status || counting.errors ? LEATI_EXIT_FAILURE : LEATI_EXIT_OK;
}

const leati_command leati_command_explain = {
    .name = "explain",
    .summary = "run a pipeline and show where the time went",
    .arguments = "PIPELINE.json",
    .description =
        "Runs a pipeline without printing its elements and then prints one line per operator:\n"
        "elements per second, busy and waiting time, depth, bytes; which of them bounds the\n"
        "pipeline, and what autotune decided and why. '-' reads it from standard input.",
    .min_arguments = 1,
    .max_arguments = 1,
    .options = explain_rows,
    .size = sizeof(struct explain_options),
    .run = run_explain,
};
