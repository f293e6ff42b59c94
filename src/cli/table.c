/* Tables of text: see table.h.
 *
 * All cells are written first, so that a column is as wide as its widest cell; numbers stand to the
 * right. Rates are differences of two states by the clock of whoever wrote them. Failures: memory,
 * which the text remembers. No locks. */
#include "cli/table.h"

#include "base/alloc.h"
#include "cli/say.h"
#include "core/json.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- cells ---- */

double leati_table_number(const json_t *object, const char *member) {
    return json_number_value(json_object_get(object, member));
}

void leati_table_clean(const char *text, char *out) {
    size_t size = 0;
    for (; *text != '\0' && size < LEATI_TABLE_CELL - 1; text++) {
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

void leati_table_text(const json_t *value, char *out) {
    char *bytes = NULL;
    size_t size = 0;
    leat_error err = {0};
    out[0] = '\0';
    if ((json_is_string(value) || json_is_object(value)) &&
        leati_json_to_string(value, &bytes, &size, &err) == LEAT_OK)
        leati_table_clean(bytes, out);
    leati_free(bytes);
}

void leati_table_text_cell(const leati_table_row *row, const char *member, char *out) {
    leati_table_text(json_object_get(row->now, member), out);
}

void leati_table_count_cell(const leati_table_row *row, const char *member, char *out) {
    const json_t *value = json_object_get(row->now, member);
    char text[32] = "";
    if (json_is_number(value))
        leati_say_count((int64_t)json_number_value(value), text);
    (void)snprintf(out, LEATI_TABLE_CELL, "%s", text);
}

void leati_table_id_cell(const leati_table_row *row, const char *member, char *out) {
    const json_t *value = json_object_get(row->now, member);
    if (json_is_integer(value))
        (void)snprintf(out, LEATI_TABLE_CELL, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else
        leati_table_text_cell(row, member, out);
}

void leati_table_share_cell(const leati_table_row *row, const char *member, char *out) {
    const json_t *value = json_object_get(row->now, member);
    if (json_is_number(value))
        (void)snprintf(out, LEATI_TABLE_CELL, "%.0f%%", 100 * json_number_value(value));
}

double leati_table_rate(const leati_table_row *row, const char *member) {
    char name[LEATI_TABLE_CELL];
    (void)snprintf(name, sizeof name, "%s_per_s", member);
    const json_t *said = json_object_get(row->now, name);
    if (json_is_number(said))
        return json_number_value(said);
    const json_t *now = json_object_get(row->now, member),
                 *before = json_object_get(row->before, member);
    bool known = json_is_number(before) || (row->before == NULL && row->from_start);
    if (!json_is_number(now) || !known || row->seconds <= 0)
        return NAN;
    double grown = json_number_value(now) - json_number_value(before);
    /* A counter that fell is another run's. */
    return grown < 0 ? NAN : grown / row->seconds;
}

void leati_table_rate_cell(const leati_table_row *row, const char *member, char *out) {
    double rate = leati_table_rate(row, member);
    char text[32] = "";
    if (!isnan(rate) && rate < 10)
        (void)snprintf(text, sizeof text, "%.1f", rate);
    else if (!isnan(rate) && rate < 1e15)
        leati_say_count((int64_t)rate, text);
    (void)snprintf(out, LEATI_TABLE_CELL, "%s", text);
}

void leati_table_slowest_cell(const leati_table_row *row, const char *member, char *out) {
    const json_t *slowest = json_object_get(row->now, member);
    char text[LEATI_TABLE_CELL + 8] = "", name[LEATI_TABLE_CELL] = "";
    leati_table_text(json_object_get(slowest, "operator"), name);
    if (name[0] != '\0')
        (void)snprintf(text, sizeof text, "%.34s %.0f%%", name,
                       100 * json_number_value(json_object_get(slowest, "share")));
    leati_table_clean(text, out);
}

/* ---- lines ---- */

/* How many places a cell takes on a screen. */
static size_t width_of(const char *text) {
    size_t width = 0;
    for (; *text != '\0'; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
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

static void add_table(const leati_table_column *columns, const leati_table_cell *cells, size_t rows,
                      leati_text *out) {
    size_t widths[LEATI_TABLE_COLUMNS] = {0}, count = 0, last = 0;
    for (; columns[count].head != NULL; count++)
        for (size_t r = 0; r < rows; r++) {
            size_t width = width_of(cells[r * LEATI_TABLE_COLUMNS + count]);
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
            const char *text = cells[r * LEATI_TABLE_COLUMNS + c];
            if (widths[c] > 0)
                add_cell(out, text[0] != '\0' ? text : "-", columns[c].right, widths[c], c == last);
        }
}

void leati_table_write(const leati_table_column *columns, const leati_table_row *rows, size_t count,
                       leati_text *out) {
    leati_table_cell *cells =
        count > 0 ? leati_alloc_zero(count * LEATI_TABLE_COLUMNS, LEATI_TABLE_CELL) : NULL;
    if (count > 0 && cells == NULL)
        out->failed = true;
    for (size_t r = 0; cells != NULL && r < count; r++)
        for (size_t c = 0; columns[c].head != NULL; c++)
            columns[c].cell(&rows[r], columns[c].member, cells[r * LEATI_TABLE_COLUMNS + c]);
    if (cells != NULL)
        add_table(columns, cells, count, out);
    leati_free(cells);
}
