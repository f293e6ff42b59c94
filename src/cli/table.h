/* Tables of text made of JSON: what `leat service status` and `leat watch` print again and again.
 *
 * A table is a list of columns; each says how its cell is made of a row's object. Names and texts
 * come from other processes: signs that steer a terminal are shown as '?'. */
#ifndef LEATI_CLI_TABLE_H
#define LEATI_CLI_TABLE_H

#include "base/text.h"
#include <jansson.h>

enum { LEATI_TABLE_CELL = 44 }; /* bytes of a cell */
typedef char leati_table_cell[LEATI_TABLE_CELL];

/* What a row's cells are made of. */
typedef struct leati_table_row {
    const json_t *now, *before; /* before: NULL where the earlier state has no such row */
    double seconds;             /* between the two; 0: not known */
    bool from_start;            /* without a `before`: since the row's counters were 0 */
} leati_table_row;

typedef struct leati_table_column {
    const char *head; /* NULL ends the columns, of which there are LEATI_TABLE_COLUMNS at most */
    bool right;
    const char *member;
    /* Writes the cell, of LEATI_TABLE_CELL bytes; "" becomes a dash. */
    void (*cell)(const leati_table_row *row, const char *member, char *out);
} leati_table_column;

enum { LEATI_TABLE_COLUMNS = 12 };

/* Appends a line of heads and one for each row, each column as wide as its widest cell; a column
 * that no row fills is left out. Nothing for no rows. A lack of memory shows in `out`. */
void leati_table_write(const leati_table_column *columns, const leati_table_row *rows, size_t count,
                       leati_text *out);

/* ---- cells ---- */

/* The text as far as it fits and as a terminal may have it. */
void leati_table_clean(const char *text, char *out);
/* A text in either of its forms (core/json.h); "" for another value. */
void leati_table_text(const json_t *value, char *out);

void leati_table_text_cell(const leati_table_row *row, const char *member, char *out);
/* With commas. */
void leati_table_count_cell(const leati_table_row *row, const char *member, char *out);
/* A number that is a name. */
void leati_table_id_cell(const leati_table_row *row, const char *member, char *out);
void leati_table_share_cell(const leati_table_row *row, const char *member, char *out);
/* How much the member grew each second, or what the state itself says as <member>_per_s; NaN: not
 * known, and where it fell, as it is of another run then. */
double leati_table_rate(const leati_table_row *row, const char *member);
void leati_table_rate_cell(const leati_table_row *row, const char *member, char *out);
/* {"operator", "share"} as `map 80%`. */
void leati_table_slowest_cell(const leati_table_row *row, const char *member, char *out);

/* A member that is a number; else 0. */
double leati_table_number(const json_t *object, const char *member);

#endif
