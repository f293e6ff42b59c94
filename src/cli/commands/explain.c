/* leat explain: where the time of a pipeline goes.
 *
 * Happy path: the pipeline runs to its end, or to --limit, without printing elements;
 * then the table of its operators is printed. Failure modes: those of `leat run`; elements that
 * fail are counted and the first one is shown. No locks. */
#include "base/clock.h"
#include "cli/command.h"
#include "cli/explain_page.h"
#include "cli/pipeline.h"
#include "file/atomic.h"
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct explain_options {
    leati_pipeline_options pipeline;
    const char *trace, *metrics, *html; /* files, or NULL */
};

static const leati_option explain_rows[] = {
    LEATI_PIPELINE_OPTIONS(struct explain_options, pipeline),
    {.name = "trace",
     .type = LEATI_OPTION_TEXT,
     .offset = offsetof(struct explain_options, trace),
     .value = "FILE",
     .doc = "Write what each thread did when, as Chrome trace JSON."},
    {.name = "metrics",
     .type = LEATI_OPTION_TEXT,
     .offset = offsetof(struct explain_options, metrics),
     .value = "FILE",
     .doc = "Write the counters in Prometheus' text format."},
    {.name = "html",
     .type = LEATI_OPTION_TEXT,
     .offset = offsetof(struct explain_options, html),
     .value = "FILE",
     .doc = "Write a page with a drawing of the operators and the table."},
    {0},
};

/* The files that were asked for. */
static leat_status write_files(const struct explain_options *o, const char *table,
                               const char *metrics, leat_error *err) {
    leat_status status = LEAT_OK;
    if (o->trace != NULL)
        status = leat_trace_write(o->trace, err);
    if (status == LEAT_OK && o->metrics != NULL)
        status = leati_atomic_write_file(o->metrics, metrics, strlen(metrics), err);
    if (status == LEAT_OK && o->html != NULL)
        status = leati_explain_page_write(o->html, table, metrics, err);
    return status;
}

static leati_exit run_explain(void *options, char **arguments, int count) {
    (void)count;
    const struct explain_options *o = options;
    leati_pipeline_counts counts;
    char *table = NULL, *metrics = NULL;
    leati_pipeline_reports reports = {&table, &metrics};
    leat_error err = {0};
    if (o->trace != NULL)
        leat_trace_start();
    int64_t start = leati_now_ns();
    leat_status status = leati_pipeline_count(arguments[0], &o->pipeline, &reports, &counts, &err);
    double seconds = (double)(leati_now_ns() - start) * 1e-9;
    /* Before anything is printed, which is no part of the pipeline. */
    leat_trace_stop();
    if (status == LEAT_OK) {
        printf("%" PRId64 " elements in %.3f s\n%s", counts.elements, seconds, table);
        /* The table comes first: it is worth having even if a file cannot be written. */
        status = write_files(o, table, metrics, &err);
    }
    leat_text_free(table);
    leat_text_free(metrics);
    return leati_pipeline_counted(status, &counts, &err);
}

const leati_command leati_command_explain = {
    .name = "explain",
    .summary = "run a pipeline and show where the time went",
    .arguments = "PIPELINE.json",
    .description =
        "Runs a pipeline without printing its elements and then prints one line per operator:\n"
        "elements per second, busy and waiting time, depth, bytes; which of them bounds the\n"
        "pipeline, and what autotune decided and why. '-' reads it from standard input.\n"
        "--trace, --metrics and --html write the same for Perfetto, Prometheus and browsers.",
    .min_arguments = 1,
    .max_arguments = 1,
    .options = explain_rows,
    .size = sizeof(struct explain_options),
    .run = run_explain,
};
