/* All tables of the library in one form, for `leat ops`. */
#ifndef LEATI_CLI_TABLES_H
#define LEATI_CLI_TABLES_H

#include "core/row.h"
#include <jansson.h>

/* One line of a table. */
typedef struct leati_entry {
    const char *name;
    const char *doc;
    const leati_row *rows; /* arguments; NULL: none by table */
    char inputs[32];       /* how many inputs, as text; "": it has none by nature */
} leati_entry;

typedef struct leati_table {
    const char *key;      /* of the JSON object */
    const char *title;    /* of the list */
    const char *singular; /* what one entry is */
    size_t count;
    leati_entry (*entry)(size_t index);
    json_t *(*describe)(void); /* the JSON of all entries, owned; NULL: made of the entries */
} leati_table;

/* Every table, in the order of printing. Static after the first call, which comes from one
 * thread. */
const leati_table *leati_tables(size_t *count);

/* Writes ", default VALUE" to `text` and returns it; "" where there is no default worth telling. */
const char *leati_table_row_default_text(const leati_row *row, char *text, size_t size);

/* {"version", key: [{"name", "doc", "arguments": [...]}]}, arguments as leati_json_describe_rows
 * has them; dataset operators and tensor operations as their rooms describe them, for bindings.
 * Owned; NULL without memory. */
json_t *leati_tables_json(void);

#endif
