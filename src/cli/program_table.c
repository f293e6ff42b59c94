/* Tables of a program's pipelines: see program_table.h.
 *
 * An operator has its counters from the state before by its place and name, a pipeline by its
 * number. Failures: memory, which the text remembers. No locks. */
#include "cli/program_table.h"

#include "base/alloc.h"
#include "base/text.h"
#include "cli/say.h"
#include "cli/table.h"
#include <math.h>
#include <stdio.h>

/* ---- cells ---- */

enum { MOST_DEPTH = 12 }; /* that is shown as such */

static void operator_cell(const leati_table_row *row, const char *member, char *out) {
    leati_table_cell name = "";
    char text[LEATI_TABLE_CELL + 2 * MOST_DEPTH];
    int depth = (int)fmin(MOST_DEPTH, fmax(0, leati_table_number(row->now, "depth")));
    leati_table_text(json_object_get(row->now, member), name);
    (void)snprintf(text, sizeof text, "%*s%s", 2 * depth, "", name);
    leati_table_clean(text, out);
}

/* Of the time of so many threads, what the milliseconds of the member are; NaN: not known. */
static double share_of(const leati_table_row *row, const char *member, double threads) {
    double share = leati_table_rate(row, member) / 1e3 / threads;
    return share > 1 ? 1 : share;
}

static void put_share(double share, char *out) {
    if (!isnan(share))
        (void)snprintf(out, LEATI_TABLE_CELL, "%.0f%%", 100 * share);
}

static void time_cell(const leati_table_row *row, const char *member, char *out) {
    put_share(share_of(row, member, 1), out);
}

static void busy_cell(const leati_table_row *row, const char *member, char *out) {
    put_share(share_of(row, member, fmax(1, leati_table_number(row->now, "threads"))), out);
}

static void buffer_cell(const leati_table_row *row, const char *member, char *out) {
    double held = leati_table_number(row->now, member),
           limit = leati_table_number(row->now, "buffer_limit");
    if (limit > 0)
        (void)snprintf(out, LEATI_TABLE_CELL, "%.0f/%.0f", held, limit);
    else if (held > 0)
        (void)snprintf(out, LEATI_TABLE_CELL, "%.0f", held);
}

static void bytes_cell(const leati_table_row *row, const char *member, char *out) {
    double bytes = leati_table_number(row->now, member);
    if (bytes > 0)
        leati_text_of_bytes(out, bytes);
}

static void failed_cell(const leati_table_row *row, const char *member, char *out) {
    if (leati_table_number(row->now, member) > 0)
        leati_table_count_cell(row, member, out);
}

static const leati_table_column operator_columns[] = {
    {"OPERATOR", false, "name", operator_cell},
    {"ELEMENTS", true, "elements", leati_table_count_cell},
    {"EL/S", true, "elements", leati_table_rate_cell},
    {"BUSY", true, "busy_ms", busy_cell},
    {"WAITS", true, "waiting_ms", time_cell},
    {"FULL", true, "full_ms", time_cell},
    {"THREADS", true, "threads", leati_table_count_cell},
    {"BUFFER", true, "buffered", buffer_cell},
    {"HOLDS", true, "bytes", bytes_cell},
    {"ERRORS", true, "errors", failed_cell},
    {0},
};

/* ---- pipelines ---- */

static const json_t *find_pipeline(const json_t *state, const json_t *id) {
    const json_t *list = json_object_get(state, "pipelines");
    for (size_t i = 0; id != NULL && i < json_array_size(list); i++)
        if (json_equal(json_object_get(json_array_get(list, i), "id"), id))
            return json_array_get(list, i);
    return NULL;
}

/* One line about all of it. */
static void write_sum(const leati_table_row *pipeline, leati_text *out) {
    leati_table_cell name = "", elements = "", rate = "", slowest = "", held = "";
    leati_table_text(json_object_get(pipeline->now, "name"), name);
    leati_table_count_cell(pipeline, "elements", elements);
    leati_table_rate_cell(pipeline, "elements", rate);
    leati_table_slowest_cell(pipeline, "slowest", slowest);
    leati_text_of_bytes(held, leati_table_number(pipeline->now, "memory"));
    leati_text_addf(out, "\n%s: %s elements", name[0] != '\0' ? name : "pipeline", elements);
    if (rate[0] != '\0')
        leati_text_addf(out, ", %s each second", rate);
    double waits = share_of(pipeline, "waiting_ms", 1);
    if (!isnan(waits))
        leati_text_addf(out, "; its consumer waits %.0f%% of the time", 100 * waits);
    leati_text_addf(out, "; %s held", held);
    if (slowest[0] != '\0')
        leati_text_addf(out, "; slowest: %s", slowest);
    leati_text_add(out, "\n", 1);
}

/* The same operator in the state before. */
static const json_t *find_operator(const json_t *pipeline, size_t i, const json_t *now) {
    const json_t *found = json_array_get(json_object_get(pipeline, "operators"), i);
    return json_equal(json_object_get(found, "name"), json_object_get(now, "name")) ? found : NULL;
}

static void write_pipeline(const leati_table_row *pipeline, leati_text *out) {
    const json_t *list = json_object_get(pipeline->now, "operators");
    size_t count = json_array_size(list);
    leati_table_row *rows = count > 0 ? leati_alloc_zero(count, sizeof *rows) : NULL;
    if (count > 0 && rows == NULL)
        out->failed = true;
    for (size_t i = 0; rows != NULL && i < count; i++) {
        rows[i] = *pipeline;
        rows[i].now = json_array_get(list, i);
        rows[i].before = find_operator(pipeline->before, i, rows[i].now);
    }
    write_sum(pipeline, out);
    if (rows != NULL)
        leati_table_write(operator_columns, rows, count, out);
    leati_free(rows);
}

void leati_program_table_write(const char *url, const json_t *state, const json_t *before,
                               leati_text *out) {
    const json_t *list = json_object_get(state, "pipelines");
    leati_table_cell version = "";
    double now_ms = leati_table_number(state, "now_ms");
    leati_table_text(json_object_get(state, "version"), version);
    leati_text_addf(out, "process %.0f (leat %s), its page is %s\n",
                    leati_table_number(state, "pid"), version, url);
    if (json_array_size(list) == 0)
        leati_text_addf(out, "\nno iterator is running\n");
    for (size_t i = 0; i < json_array_size(list); i++) {
        leati_table_row pipeline = {.now = json_array_get(list, i)};
        pipeline.before = find_pipeline(before, json_object_get(pipeline.now, "id"));
        pipeline.from_start = pipeline.before == NULL;
        double since = pipeline.from_start ? leati_table_number(pipeline.now, "started_ms")
                                           : leati_table_number(before, "now_ms");
        pipeline.seconds = (now_ms - since) / 1e3;
        write_pipeline(&pipeline, out);
    }
}
