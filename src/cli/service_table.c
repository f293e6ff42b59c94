/* Tables of a service's state: see service_table.h.
 *
 * Rates are differences of two states by the dispatcher's own clock. Failures: memory, which the
 * text remembers. No locks. */
#include "cli/service_table.h"

#include "base/alloc.h"
#include "cli/table.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- cells ---- */

/* The text, which is freed, as a cell. */
static void take_joined(leati_text *joined, char *out) {
    leati_table_clean(joined->size > 0 && !joined->failed ? joined->data : "", out);
    leati_text_fini(joined);
}

static void list_cell(const leati_table_row *row, const char *member, char *out) {
    const json_t *list = json_object_get(row->now, member);
    leati_text joined = {0};
    for (size_t i = 0; i < json_array_size(list); i++) {
        char text[LEATI_TABLE_CELL] = "";
        leati_table_text(json_array_get(list, i), text);
        leati_text_addf(&joined, "%s%s", i > 0 ? "," : "", text);
    }
    take_joined(&joined, out);
}

/* {"shm": 2, "grpc": 1} as `2 shm, 1 grpc`. */
static void transfers_cell(const leati_table_row *row, const char *member, char *out) {
    leati_text joined = {0};
    const char *transfer = NULL;
    json_t *streams = NULL;
    json_object_foreach(json_object_get(row->now, member), transfer, streams) {
        leati_text_addf(&joined, "%s%" JSON_INTEGER_FORMAT " %s", joined.size > 0 ? ", " : "",
                        json_integer_value(streams), transfer);
    }
    take_joined(&joined, out);
}

static void mib_rate_cell(const leati_table_row *row, const char *member, char *out) {
    double rate = leati_table_rate(row, member);
    if (!isnan(rate))
        (void)snprintf(out, LEATI_TABLE_CELL, "%.1f", rate / (1 << 20));
}

static void heard_cell(const leati_table_row *row, const char *member, char *out) {
    const json_t *value = json_object_get(row->now, member);
    if (json_is_number(value))
        (void)snprintf(out, LEATI_TABLE_CELL, "%.1f s ago", json_number_value(value) / 1e3);
}

/* ---- tables ---- */

static const leati_table_column worker_columns[] = {
    {"WORKER", false, "address", leati_table_text_cell},
    {"STATE", false, "state", leati_table_text_cell},
    {"TASKS", true, "tasks", leati_table_count_cell},
    {"ELEMENTS", true, "elements", leati_table_count_cell},
    {"EL/S", true, "elements", leati_table_rate_cell},
    {"MIB/S", true, "bytes", mib_rate_cell},
    {"BUSY", true, "busy", leati_table_share_cell},
    {"FULL", true, "full", leati_table_share_cell},
    {"SLOWEST", false, "slowest", leati_table_slowest_cell},
    {"HEARD", true, "heard_ms", heard_cell},
    {"TAGS", false, "tags", list_cell},
    {"WHY", false, "why", leati_table_text_cell},
    {0},
};

static const leati_table_column job_columns[] = {
    {"JOB", true, "id", leati_table_id_cell},
    {"NAME", false, "name", leati_table_text_cell},
    {"POLICY", false, "policy", leati_table_text_cell},
    {"VISITATION", false, "visitation", leati_table_text_cell},
    {"EPOCH", true, "epoch", leati_table_count_cell},
    {"STATE", false, "state", leati_table_text_cell},
    {"CLIENTS", true, "clients", leati_table_count_cell},
    {"ELEMENTS", true, "elements", leati_table_count_cell},
    {"EL/S", true, "elements", leati_table_rate_cell},
    {"SPLITS", true, "splits_given", leati_table_count_cell},
    {"WORKERS WANTED", true, "optimal_workers", leati_table_count_cell},
    {0},
};

static const leati_table_column client_columns[] = {
    {"CLIENT", true, "id", leati_table_id_cell},
    {"JOB", true, "job", leati_table_id_cell},
    {"FROM", false, "address", leati_table_text_cell},
    {"ELEMENTS", true, "elements", leati_table_count_cell},
    {"EL/S", true, "elements", leati_table_rate_cell},
    {"STALL", true, "stall", leati_table_share_cell},
    {"BUFFERED", true, "buffered", leati_table_count_cell},
    {"STREAMS", false, "transfers", transfers_cell},
    {"NO WAY TO", false, "unreached", list_cell},
    {"HEARD", true, "heard_ms", heard_cell},
    {0},
};

static const leati_table_column snapshot_columns[] = {
    {"SNAPSHOT", false, "path", leati_table_text_cell},
    {"STATE", false, "state", leati_table_text_cell},
    {"STREAMS", true, "streams", leati_table_count_cell},
    {"ELEMENTS", true, "elements", leati_table_count_cell},
    {0},
};

static const struct {
    const char *list, *key; /* the member that tells its rows apart */
    const leati_table_column *columns;
} tables[] = {
    {"workers", "uid", worker_columns},
    {"jobs", "id", job_columns},
    {"clients", "id", client_columns},
    {"snapshots", "path", snapshot_columns},
};

static const json_t *find_row(const json_t *list, const char *key, const json_t *value) {
    for (size_t i = 0; value != NULL && i < json_array_size(list); i++)
        if (json_equal(json_object_get(json_array_get(list, i), key), value))
            return json_array_get(list, i);
    return NULL;
}

static void write_list(size_t t, const json_t *state, const json_t *before, double seconds,
                       leati_text *out) {
    const json_t *list = json_object_get(state, tables[t].list),
                 *earlier = json_object_get(before, tables[t].list);
    size_t count = json_array_size(list);
    leati_table_row *rows = count > 0 ? leati_alloc_zero(count, sizeof *rows) : NULL;
    if (count > 0 && rows == NULL)
        out->failed = true;
    for (size_t r = 0; rows != NULL && r < count; r++) {
        rows[r] = (leati_table_row){.now = json_array_get(list, r), .seconds = seconds};
        rows[r].before =
            find_row(earlier, tables[t].key, json_object_get(rows[r].now, tables[t].key));
    }
    if (rows != NULL) {
        leati_text_add(out, "\n", 1);
        leati_table_write(tables[t].columns, rows, count, out);
    }
    leati_free(rows);
}

static void write_head(const json_t *state, leati_text *out) {
    leati_table_cell version = "", service = "";
    leati_table_text(json_object_get(state, "version"), version);
    leati_table_text(json_object_get(state, "service"), service);
    double up_s = leati_table_number(state, "uptime_ms") / 1e3;
    leati_text_addf(out, "data service %s (leat %s), up %.0f s, start %.0f of its database\n",
                    service, version, up_s, leati_table_number(state, "incarnation"));
}

void leati_service_table_write(const json_t *state, const json_t *before, leati_text *out) {
    double seconds =
        before != NULL
            ? (leati_table_number(state, "now_ms") - leati_table_number(before, "now_ms")) / 1e3
            : 0;
    write_head(state, out);
    if (json_array_size(json_object_get(state, "workers")) == 0)
        leati_text_addf(out, "\nno workers\n");
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
        write_list(t, state, before, seconds, out);
}

// ---- questions ----

int64_t leati_service_table_ready(const json_t *state) {
    const json_t *list = json_object_get(state, "workers");
    int64_t ready = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *said = json_string_value(json_object_get(json_array_get(list, i), "state"));
        ready += said != NULL && strcmp(said, "ready") == 0;
    }
    return ready;
}

const char *leati_service_table_worker(const json_t *state, const char *worker, const char **why) {
    const json_t *list = json_object_get(state, "workers");
    const char *found = NULL;
    *why = "";
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *object = json_array_get(list, i);
        const char *address = json_string_value(json_object_get(object, "address")),
                   *uid = json_string_value(json_object_get(object, "uid")),
                   *said = json_string_value(json_object_get(object, "why"));
        if ((address == NULL || strcmp(address, worker) != 0) &&
            (uid == NULL || strcmp(uid, worker) != 0))
            continue;
        /* The last one: earlier ones at the same address are those that were there before it. */
        found = json_string_value(json_object_get(object, "state"));
        *why = said != NULL ? said : "";
    }
    return found;
}
