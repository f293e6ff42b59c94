/* Tables of a service's state: see service_table.h.
 *
 * A table is a list of columns; each says how its cell is made of a row's object. All cells are
 * written first, so that a column is as wide as its widest cell; numbers stand to the right. Rates
 * are differences of two states by the dispatcher's own clock. Failures: memory, which the text
 * remembers. No locks. */
#include "cli/service_table.h"

#include "base/alloc.h"
#include "cli/say.h"
#include "core/json.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_COLUMNS = 12, CELL = 44 };

/* What a row's cells are made of. */
struct row {
    const json_t *now, *before; /* before: NULL where the earlier state has no such row */
    double seconds;             /* between the two; 0: not known */
};

struct column {
    const char *head;
    bool right;
    const char *member;
    /* Writes the cell, of CELL bytes; "" becomes a dash. */
    void (*cell)(const struct row *row, const char *member, char *out);
};

// ---- cells ----

/* The text as far as it fits and as a terminal may have it. */
static void copy_clean(const char *text, char *out) {
    size_t size = 0;
    for (; *text != '\0' && size < CELL - 1; text++) {
        unsigned char byte = (unsigned char)*text, next = (unsigned char)text[1];
        /* Below space, DEL, and U+0080 to U+009F, which some terminals obey as well. */
        bool control = byte < 0x20 || byte == 0x7f || (byte == 0xc2 && next >= 0x80 && next < 0xa0);
        out[size++] = control ? '?' : (char)byte;
        text += control && byte == 0xc2;
    }
    /* Not in the middle of a character. */
    while (*text != '\0' && size > 0 && ((unsigned char)*text & 0xc0) == 0x80) {
        text--;
        size--;
    }
    out[size] = '\0';
}

/* A text in either of its forms (core/json.h), as far as it fits. */
static void copy_text(const json_t *value, char *out) {
    char *bytes = NULL;
    size_t size = 0;
    leat_error err = {0};
    out[0] = '\0';
    if ((json_is_string(value) || json_is_object(value)) &&
        leati_json_to_string(value, &bytes, &size, &err) == LEAT_OK)
        copy_clean(bytes, out);
    leati_free(bytes);
}

static void text_cell(const struct row *row, const char *member, char *out) {
    copy_text(json_object_get(row->now, member), out);
}

static void count_cell(const struct row *row, const char *member, char *out) {
    const json_t *value = json_object_get(row->now, member);
    char text[32] = "";
    if (json_is_number(value))
        leati_say_count((int64_t)json_number_value(value), text);
    (void)snprintf(out, CELL, "%s", text);
}

/* A number that is a name. */
static void id_cell(const struct row *row, const char *member, char *out) {
    const json_t *value = json_object_get(row->now, member);
    if (json_is_integer(value))
        (void)snprintf(out, CELL, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else
        text_cell(row, member, out);
}

static void list_cell(const struct row *row, const char *member, char *out) {
    const json_t *list = json_object_get(row->now, member);
    leati_text joined = {0};
    for (size_t i = 0; i < json_array_size(list); i++) {
        char text[CELL] = "";
        copy_text(json_array_get(list, i), text);
        leati_text_addf(&joined, "%s%s", i > 0 ? "," : "", text);
    }
    copy_clean(joined.size > 0 && !joined.failed ? joined.data : "", out);
    leati_text_fini(&joined);
}

static void share_cell(const struct row *row, const char *member, char *out) {
    const json_t *value = json_object_get(row->now, member);
    if (json_is_number(value))
        (void)snprintf(out, CELL, "%.0f%%", 100 * json_number_value(value));
}

/* How much the member grew each second, or what the state itself says; NaN: not known. */
static double rate_of(const struct row *row, const char *member) {
    char name[CELL];
    (void)snprintf(name, sizeof name, "%s_per_s", member);
    const json_t *said = json_object_get(row->now, name);
    if (json_is_number(said))
        return json_number_value(said);
    const json_t *now = json_object_get(row->now, member),
                 *before = json_object_get(row->before, member);
    if (!json_is_number(now) || !json_is_number(before) || row->seconds <= 0)
        return NAN;
    double grown = json_number_value(now) - json_number_value(before);
    /* A counter that fell is another run's. */
    return grown < 0 ? NAN : grown / row->seconds;
}

static void rate_cell(const struct row *row, const char *member, char *out) {
    double rate = rate_of(row, member);
    char text[32] = "";
    if (!isnan(rate) && rate < 10)
        (void)snprintf(text, sizeof text, "%.1f", rate);
    else if (!isnan(rate) && rate < 1e15)
        leati_say_count((int64_t)rate, text);
    (void)snprintf(out, CELL, "%s", text);
}

static void mib_rate_cell(const struct row *row, const char *member, char *out) {
    double rate = rate_of(row, member);
    if (!isnan(rate))
        (void)snprintf(out, CELL, "%.1f", rate / (1 << 20));
}

static void slowest_cell(const struct row *row, const char *member, char *out) {
    const json_t *slowest = json_object_get(row->now, member);
    char text[CELL + 8] = "", name[CELL] = "";
    copy_text(json_object_get(slowest, "operator"), name);
    if (name[0] != '\0')
        (void)snprintf(text, sizeof text, "%.34s %.0f%%", name,
                       100 * json_number_value(json_object_get(slowest, "share")));
    copy_clean(text, out);
}

static void heard_cell(const struct row *row, const char *member, char *out) {
    const json_t *value = json_object_get(row->now, member);
    if (json_is_number(value))
        (void)snprintf(out, CELL, "%.1f s ago", json_number_value(value) / 1e3);
}

// ---- tables ----

static const struct column worker_columns[] = {
    {"WORKER", false, "address", text_cell},
    {"STATE", false, "state", text_cell},
    {"TASKS", true, "tasks", count_cell},
    {"ELEMENTS", true, "elements", count_cell},
    {"EL/S", true, "elements", rate_cell},
    {"MIB/S", true, "bytes", mib_rate_cell},
    {"BUSY", true, "busy", share_cell},
    {"FULL", true, "full", share_cell},
    {"SLOWEST", false, "slowest", slowest_cell},
    {"HEARD", true, "heard_ms", heard_cell},
    {"TAGS", false, "tags", list_cell},
    {"WHY", false, "why", text_cell},
    {0},
};

static const struct column job_columns[] = {
    {"JOB", true, "id", id_cell},
    {"NAME", false, "name", text_cell},
    {"POLICY", false, "policy", text_cell},
    {"VISITATION", false, "visitation", text_cell},
    {"EPOCH", true, "epoch", count_cell},
    {"STATE", false, "state", text_cell},
    {"CLIENTS", true, "clients", count_cell},
    {"ELEMENTS", true, "elements", count_cell},
    {"EL/S", true, "elements", rate_cell},
    {"SPLITS", true, "splits_given", count_cell},
    {"WORKERS WANTED", true, "optimal_workers", count_cell},
    {0},
};

static const struct column client_columns[] = {
    {"CLIENT", true, "id", id_cell},
    {"JOB", true, "job", id_cell},
    {"FROM", false, "address", text_cell},
    {"ELEMENTS", true, "elements", count_cell},
    {"EL/S", true, "elements", rate_cell},
    {"STALL", true, "stall", share_cell},
    {"BUFFERED", true, "buffered", count_cell},
    {"HEARD", true, "heard_ms", heard_cell},
    {0},
};

static const struct column snapshot_columns[] = {
    {"SNAPSHOT", false, "path", text_cell},
    {"STATE", false, "state", text_cell},
    {"STREAMS", true, "streams", count_cell},
    {"ELEMENTS", true, "elements", count_cell},
    {0},
};

static const struct {
    const char *list, *key; /* the member that tells its rows apart */
    const struct column *columns;
} tables[] = {
    {"workers", "uid", worker_columns},
    {"jobs", "id", job_columns},
    {"clients", "id", client_columns},
    {"snapshots", "path", snapshot_columns},
};

/* How many places a cell takes on a screen. */
static size_t width_of(const char *text) {
    size_t width = 0;
    for (; *text != '\0'; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

static const json_t *find_row(const json_t *list, const char *key, const json_t *value) {
    for (size_t i = 0; value != NULL && i < json_array_size(list); i++)
        if (json_equal(json_object_get(json_array_get(list, i), key), value))
            return json_array_get(list, i);
    return NULL;
}

/* One cell of a line, with what fills its column; the last column of a line is not filled. */
static void add_cell(leati_text *out, const char *text, bool right, size_t width, bool last) {
    int fill = (int)(width - width_of(text));
    if (right)
        leati_text_addf(out, "%*s%s", fill, "", text);
    else
        leati_text_addf(out, "%s%*s", text, last ? 0 : fill, "");
    leati_text_add(out, last ? "\n" : "  ", last ? 1 : 2);
}

typedef char cell[CELL];

static void add_table(const struct column *columns, const cell *cells, size_t rows,
                      leati_text *out) {
    size_t widths[MOST_COLUMNS] = {0}, count = 0, last = 0;
    for (; columns[count].head != NULL; count++)
        for (size_t r = 0; r < rows; r++) {
            size_t width = width_of(cells[r * MOST_COLUMNS + count]);
            widths[count] = width > widths[count] ? width : widths[count];
        }
    /* A column that nobody fills is left out. */
    for (size_t c = 0; c < count; c++)
        if (widths[c] > 0) {
            last = c;
            widths[c] =
                width_of(columns[c].head) > widths[c] ? width_of(columns[c].head) : widths[c];
        }
    for (size_t c = 0; c <= last; c++)
        if (widths[c] > 0)
            add_cell(out, columns[c].head, columns[c].right, widths[c], c == last);
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c <= last; c++) {
            const char *text = cells[r * MOST_COLUMNS + c];
            if (widths[c] > 0)
                add_cell(out, text[0] != '\0' ? text : "-", columns[c].right, widths[c], c == last);
        }
}

static void write_list(size_t t, const json_t *state, const json_t *before, double seconds,
                       leati_text *out) {
    const json_t *list = json_object_get(state, tables[t].list);
    size_t rows = json_array_size(list);
    cell *cells = rows > 0 ? leati_alloc_zero(rows * MOST_COLUMNS, CELL) : NULL;
    if (rows > 0 && cells == NULL)
        out->failed = true;
    for (size_t r = 0; cells != NULL && r < rows; r++) {
        struct row row = {.now = json_array_get(list, r), .seconds = seconds};
        row.before = find_row(json_object_get(before, tables[t].list), tables[t].key,
                              json_object_get(row.now, tables[t].key));
        for (size_t c = 0; tables[t].columns[c].head != NULL; c++)
            tables[t].columns[c].cell(&row, tables[t].columns[c].member,
                                      cells[r * MOST_COLUMNS + c]);
    }
    if (cells != NULL) {
        leati_text_add(out, "\n", 1);
        add_table(tables[t].columns, cells, rows, out);
    }
    leati_free(cells);
}

static double number_of(const json_t *object, const char *member) {
    return json_number_value(json_object_get(object, member));
}

static void write_head(const json_t *state, leati_text *out) {
    struct row row = {.now = state};
    cell version = "", service = "";
    text_cell(&row, "version", version);
    text_cell(&row, "service", service);
    double up_s = number_of(state, "uptime_ms") / 1e3;
    leati_text_addf(out, "data service %s (leat %s), up %.0f s, start %.0f of its database\n",
                    service, version, up_s, number_of(state, "incarnation"));
}

void leati_service_table_write(const json_t *state, const json_t *before, leati_text *out) {
    double seconds =
        before != NULL ? (number_of(state, "now_ms") - number_of(before, "now_ms")) / 1e3 : 0;
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
