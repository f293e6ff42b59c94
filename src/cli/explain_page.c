/* A page about a pipeline that ran.
 *
 * The figures are those of the metrics, whose lines come operator by operator, parents before their
 * inputs: a line of LINES becomes a number of its operator's row. Sources are drawn on the left and
 * the consumer on the right; a second input has a line of its own. Colours say who computed: the
 * share of the time, for each thread that may work. Python's drawing is the same
 * (python/leat/data/views.py). Failure modes: no memory; a file that cannot be written. No locks.
 */
#include "cli/explain_page.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include "base/text.h"
#include "cli/say.h"
#include <leat/file.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 168, /* of a box, in pixels */
    HEIGHT = 78,
    GAP_X = 34,
    GAP_Y = 14,
    ROWS = 500, /* that are drawn; the table has all */
    NAME_BYTES = 22
};

enum figure { ELEMENTS, BUSY, WAITING, BUFFERED, LIMIT, PARALLELISM, FIGURES };

static const char *const lines[FIGURES] = {
    [ELEMENTS] = "elements_total",
    [BUSY] = "busy_seconds_total",
    [WAITING] = "waiting_seconds_total",
    [BUFFERED] = "buffered_elements",
    [LIMIT] = "buffer_limit",
    [PARALLELISM] = "parallelism",
};

struct row {
    leat_string place, name; /* borrowed from the metrics; a quote in the name is \" */
    double values[FIGURES];
    int column, line;
};

struct drawing {
    struct row *rows;
    int count, lines, columns;
    double seconds;
};

/* ---- reading ---- */

/* The text of a label; empty where there is none. */
static leat_string label_of(const char *line, const char *name) {
    const char *at = strstr(line, name);
    if (at == NULL)
        return (leat_string){line, 0};
    at += strlen(name);
    const char *end = at;
    while (*end != '\0' && *end != '"' && *end != '\n')
        end += *end == '\\' && end[1] != '\0' ? 2 : 1;
    return (leat_string){at, (size_t)(end - at)};
}

static bool is_same(leat_string a, leat_string b) {
    return a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
}

static struct row *find(const struct drawing *d, leat_string place) {
    for (int i = 0; i < d->count; i++)
        if (is_same(d->rows[i].place, place))
            return &d->rows[i];
    return NULL;
}

/* One line "leat_operator_NAME{...} VALUE". */
static void read_operator(struct drawing *d, const char *line, size_t size) {
    const char *value = line + size;
    while (value > line && value[-1] != ' ')
        value--;
    leat_string place = label_of(line, "place=\"");
    for (int i = 0; i < FIGURES; i++) {
        size_t length = strlen(lines[i]);
        if (strncmp(line, lines[i], length) != 0 || line[length] != '{')
            continue;
        struct row *row = find(d, place);
        if (row == NULL && d->count < ROWS) {
            row = &d->rows[d->count++];
            *row = (struct row){.place = place, .name = label_of(line, "operator=\"")};
        }
        if (row != NULL)
            row->values[i] = strtod(value, NULL);
    }
}

static void read_metrics(struct drawing *d, const char *metrics) {
    static const char operator[] = "leat_operator_", seconds[] = "leat_pipeline_seconds{";
    for (const char *line = metrics; *line != '\0';) {
        size_t size = strcspn(line, "\n");
        if (strncmp(line, operator, sizeof operator- 1) == 0)
            read_operator(d, line + sizeof operator- 1, size - (sizeof operator- 1));
        else if (strncmp(line, seconds, sizeof seconds - 1) == 0)
            d->seconds = strtod(strchr(line, ' ') != NULL ? strchr(line, ' ') : line, NULL);
        line += size + (line[size] == '\n');
    }
}

/* ---- drawing ---- */

static int depth_of(leat_string place) {
    int dots = 0;
    for (size_t i = 0; i < place.size; i++)
        dots += place.data[i] == '.';
    return dots;
}

/* The operator that a place's elements go to; NULL for the last. */
static const struct row *parent_of(const struct drawing *d, leat_string place) {
    while (place.size > 0 && place.data[place.size - 1] != '.')
        place.size--;
    return place.size > 0 ? find(d, (leat_string){place.data, place.size - 1}) : NULL;
}

static void lay_out(struct drawing *d) {
    int deepest = 0;
    for (int i = 0; i < d->count; i++)
        deepest = LEATI_MAX(deepest, depth_of(d->rows[i].place));
    d->columns = deepest + 1;
    d->lines = 1;
    for (int i = 0; i < d->count; i++) {
        struct row *row = &d->rows[i];
        const struct row *parent = parent_of(d, row->place);
        bool is_first = row->place.size < 2 || row->place.data[row->place.size - 1] == '0';
        is_first = is_first && (row->place.size < 2 || row->place.data[row->place.size - 2] == '.');
        row->column = deepest - depth_of(row->place);
        row->line = parent == NULL ? 0 : is_first ? parent->line : d->lines++;
    }
}

/* A label's text without what escapes its quotes. */
static void add_name(leati_text *text, leat_string name) {
    int shown = 0;
    for (size_t i = 0; i < name.size && shown < NAME_BYTES; i++, shown++) {
        i += name.data[i] == '\\' && i + 1 < name.size;
        leati_text_add_markup(text, name.data + i, 1);
    }
}

static void add_box(leati_text *text, const struct drawing *d, const struct row *row) {
    const double *v = row->values;
    const struct row *parent = parent_of(d, row->place);
    int x = 2 + row->column * (WIDTH + GAP_X), y = 2 + row->line * (HEIGHT + GAP_Y);
    int to_x = 2 + (row->column + 1) * (WIDTH + GAP_X);
    int to_y = 2 + (parent != NULL ? parent->line : row->line) * (HEIGHT + GAP_Y) + HEIGHT / 2;
    double threads = LEATI_MAX(v[PARALLELISM], 1.0);
    int heat = (int)(100 * LEATI_MIN(v[BUSY] / (d->seconds * threads), 1.0));
    char said[2][32];
    leati_text_addf(text, "<path d=\"M%d,%d L%d,%d\" stroke=\"#667\"/>", x + WIDTH, y + HEIGHT / 2,
                    to_x, to_y);
    leati_text_addf(text,
                    "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\" stroke=\"#667\" "
                    "fill=\"hsl(%d,90%%,%d%%)\"/><text x=\"%d\" y=\"%d\" font-weight=\"bold\" "
                    "font-size=\"13\">",
                    x, y, WIDTH, HEIGHT, 60 - heat * 6 / 10, 96 - heat / 4, x + 8, y + 18);
    add_name(text, row->name);
    leati_text_addf(text,
                    "</text><text x=\"%d\" y=\"%d\">%s elements, %s/s</text>"
                    "<text x=\"%d\" y=\"%d\">busy %.0f%%, waits %.0f%%</text>",
                    x + 8, y + 36, leati_say_count((int64_t)v[ELEMENTS], said[0]),
                    leati_say_count((int64_t)(v[ELEMENTS] / d->seconds), said[1]), x + 8, y + 51,
                    100 * v[BUSY] / d->seconds, 100 * v[WAITING] / d->seconds);
    if (v[LIMIT] > 0 || v[PARALLELISM] > 0)
        leati_text_addf(text, "<text x=\"%d\" y=\"%d\">buffer %.0f/%.0f, %.0f at a time</text>",
                        x + 8, y + 66, v[BUFFERED], v[LIMIT], threads);
    leati_text_addf(text, "\n");
}

static void add_drawing(leati_text *text, const struct drawing *d) {
    leati_text_addf(text,
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                    "font-family=\"sans-serif\" font-size=\"11\" role=\"img\">\n",
                    d->columns * (WIDTH + GAP_X) + 40, d->lines * (HEIGHT + GAP_Y) + 4);
    for (int i = 0; i < d->count; i++)
        add_box(text, d, &d->rows[i]);
    leati_text_addf(text, "<text x=\"%d\" y=\"%d\">next</text></svg>\n",
                    4 + d->columns * (WIDTH + GAP_X), 6 + HEIGHT / 2);
}

/* Its lines, each with its markup escaped. */
static void add_table(leati_text *text, const char *table) {
    leati_text_addf(text, "<pre>");
    while (*table != '\0') {
        size_t size = strcspn(table, "\n");
        leati_text_add_markup(text, table, size);
        leati_text_addf(text, "\n");
        table += size + (table[size] == '\n');
    }
    leati_text_addf(text, "</pre>\n");
}

leat_status leati_explain_page_write(const char *path, const char *table, const char *metrics,
                                     leat_error *err) {
    static const char head[] =
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>leat explain</title>"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'\"></head><body>\n";
    static const char tail[] = "</body></html>\n";
    struct drawing d = {.rows = leati_alloc_zero(ROWS, sizeof(struct row)), .seconds = 1e-9};
    leati_text text = {0};
    if (d.rows == NULL)
        return leati_no_memory(err);
    read_metrics(&d, metrics);
    lay_out(&d);
    add_drawing(&text, &d);
    add_table(&text, table);
    leati_free(d.rows);
    const leat_file_piece pieces[] = {
        {head, sizeof head - 1}, {text.data, text.size}, {tail, sizeof tail - 1}};
    const leat_file_content content = {path, pieces, 3};
    leat_status status =
        text.failed ? leati_no_memory(err) : leat_files_replace(&content, 1, NULL, 0, err);
    leati_text_fini(&text);
    return status;
}
