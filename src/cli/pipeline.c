/* Reading and running a pipeline.
 *
 * Happy path: text, plan, iterator, elements until the end or the limit, table. Failure modes: each
 * step's own, with the file's name before those of reading. A plan without an end and without a
 * limit is refused, because it would only end by Ctrl-C. No locks. */
#include "cli/pipeline.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include "cli/print.h"
#include "cli/progress.h"
#include "cli/say.h"
#include <inttypes.h>
#include <leat/data_ops.h>
#include <string.h>

#define MAX_PLAN ((size_t)256 << 20)

static leat_status read_plan(const char *path, bool remote, leat_dataset **out, leat_error *err) {
    char *text = leati_print_read_text(path, MAX_PLAN, err);
    if (text == NULL)
        return err->code;
    *out = remote ? leat_dataset_from_trusted_json(text, err) : leat_dataset_from_json(text, err);
    leati_free(text);
    return *out != NULL ? LEAT_OK
                        : leati_prefix(err, "%s", strcmp(path, "-") == 0 ? "standard input" : path);
}

/* Calls next until the end, the limit, or somebody wants no more. There are `total` elements; 0:
 * nobody knows. */
static leat_status visit(leat_iterator *iterator, int64_t limit, int64_t total,
                         const leati_pipeline_visitor *visitor, leat_error *err) {
    leat_element element = {0};
    leat_status status = LEAT_OK;
    leati_progress progress;
    leati_progress_start(&progress, "elements", total);
    for (int64_t i = 0; status == LEAT_OK && (limit == 0 || i < limit); i++) {
        leat_error failure = {0};
        leat_status next = leat_iterator_next(iterator, &element, &failure);
        /* The end. Each failure is the visitor's to count or to stop at; the iterator goes on
         * behind it. */
        if (next == LEAT_OUT_OF_RANGE)
            break;
        if (next == LEAT_OK)
            status = visitor->element(visitor->context, &element, err);
        else if (!visitor->error(visitor->context, &failure))
            break;
        if (visitor->counts)
            leati_progress_at(&progress, i + 1);
    }
    leati_progress_hide();
    leat_element_fini(&element);
    return status;
}

static leat_status report(const leat_iterator *iterator, const leati_pipeline_reports *reports,
                          leat_error *err) {
    if (reports->table != NULL) {
        *reports->table = leat_iterator_explain(iterator, err);
        if (*reports->table == NULL)
            return err->code;
    }
    if (reports->metrics != NULL) {
        *reports->metrics = leat_iterator_metrics(iterator, err);
        if (*reports->metrics == NULL)
            return err->code;
    }
    return LEAT_OK;
}

leat_status leati_pipeline_run(const char *path, const leati_pipeline_options *options,
                               const leati_pipeline_visitor *visitor,
                               const leati_pipeline_reports *reports, leat_error *err) {
    leat_dataset *dataset = NULL;
    /* Before the plan is read: operators without a seed of their own draw theirs then. */
    if (options->seed.given)
        leat_seed_set(options->seed.value);
    leat_status status = read_plan(path, options->remote, &dataset, err);
    if (status != LEAT_OK)
        return status;
    if (options->limit == 0 && !options->watched &&
        leat_dataset_cardinality(dataset) == LEAT_INFINITE_CARDINALITY) {
        leat_dataset_unref(dataset);
        return leati_refuse(err, VALUE,
                            "the pipeline has no end; say how many elements with --limit N");
    }
    if (options->watched) {
        leat_dataset_options shown = {LEAT_DATASET_DEFAULTS};
        shown.watch = options->port;
        dataset = leat_dataset_with_options(dataset, &shown, err);
        if (dataset == NULL)
            return err->code;
    }
    int64_t total = leat_dataset_cardinality(dataset);
    if (options->limit > 0 && (total < 0 || total > options->limit))
        total = total == LEAT_UNKNOWN_CARDINALITY ? 0 : options->limit;
    leat_iterator_options how = {LEAT_ITERATOR_DEFAULTS, .num_threads = (int)options->threads};
    how.rewrites = !options->no_rewrites;
    leat_iterator *iterator = leat_iterator_new(dataset, &how, err);
    leat_dataset_unref(dataset);
    if (iterator == NULL)
        return err->code;
    status = visit(iterator, options->limit, LEATI_MAX(total, 0), visitor, err);
    if (status == LEAT_OK && reports != NULL)
        status = report(iterator, reports, err);
    leat_iterator_free(iterator);
    return status;
}

/* ---- only counted ---- */

#define MAX_ERRORS 1000

static leat_status count_element(void *context, const leat_element *element, leat_error *err) {
    (void)element;
    (void)err;
    ((leati_pipeline_counts *)context)->elements++;
    return LEAT_OK;
}

static bool count_error(void *context, const leat_error *error) {
    leati_pipeline_counts *counts = context;
    /* One is shown, with all of its text; of the others only the number. */
    if (counts->errors++ == 0)
        leati_say_error("element %" PRId64 ": %s", counts->elements, error->text);
    return counts->errors < MAX_ERRORS;
}

leat_status leati_pipeline_count(const char *path, const leati_pipeline_options *options,
                                 const leati_pipeline_reports *reports,
                                 leati_pipeline_counts *counts, leat_error *err) {
    leati_pipeline_visitor visitor = {counts, count_element, count_error, !options->watched};
    *counts = (leati_pipeline_counts){0};
    return leati_pipeline_run(path, options, &visitor, reports, err);
}

leati_exit leati_pipeline_counted(leat_status status, const leati_pipeline_counts *counts,
                                  const leat_error *err) {
    if (status != LEAT_OK)
        leati_say_failure(err);
    if (counts->errors > 1)
        leati_say_error("%" PRId64 " elements failed; the first is shown above", counts->errors);
    return status != LEAT_OK || counts->errors > 0 ? LEATI_EXIT_FAILURE : LEATI_EXIT_OK;
}
