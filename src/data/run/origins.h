/* Which file and byte each row of a block came from, for the errors of functions that see no longer
 * the strings that were read (data/run/place.h finds it by those).
 *
 * A block's hidden column `origins` has an int64 per row: the number of a path in the iterator's
 * table, and the byte; 0 is unknown. The column's owner holds the table. It is made where a
 * function turns strings of a file into something else, by readers whose rows are no strings, and
 * only below another operator with a function; views, selections and appended blocks carry it on.
 * What is made of several elements is named after the first of them. */
#ifndef LEATI_DATA_RUN_ORIGINS_H
#define LEATI_DATA_RUN_ORIGINS_H

#include "data/run/state.h"

/* A table without paths. Owned; NULL on failure. */
leat_buffer *leati_origins_new(leat_error *err);
/* The path's number in the table, as it stands in a row with byte 0; 0 if there is no room for it.
 * `path` is the text's buffer, as in leati_buffer_set_path, of one table at most. Thread-safe. */
int64_t leati_origins_number(leat_buffer *table, leat_buffer *path);
/* What stands in a row for a byte of the path with this number. */
static inline int64_t leati_origin_at(int64_t number, int64_t byte) {
    return number == 0 || byte < 0 || byte >> 44 != 0 ? 0 : number | byte;
}

/* Does an operator above call functions, so that rows of this one should have origins? */
bool leati_origins_wanted(const leati_node_state *node);
/* `out`'s rows get the origins of rows [begin, begin + out->n) of `in`, of which `function` made
 * them: those of the column, or of the strings; for a function that reads files, the file that it
 * was told to read, from byte 0 on. Without memory they stay unknown. */
void leati_origins_derive(leati_node_state *node, const leat_function *function,
                          const leati_block *in, int64_t begin, leati_block *out);
/* A column of n unknown origins, to be filled: out->origins. NULL without memory. */
int64_t *leati_origins_begin(leati_node_state *node, int64_t n, leati_block *out);
/* `origins` (overwritten) gives each of any number of rows the origin of row `row` of `from`: for
 * elements made of that one, or of several of which it is the first. Freed with
 * leati_column_fini. */
void leati_origins_share(const leati_block *from, int64_t row, leati_column *origins);
/* The row's origin, or 0. */
static inline int64_t leati_origin_of(const leati_block *block, int64_t row) {
    return block->origins.data == NULL ? 0
                                       : *(const int64_t *)leati_column_row(&block->origins, row);
}
/* Its path (borrowed from the block's table) and byte; false: unknown. */
bool leati_origin_read(const leati_block *block, int64_t row, const char **path, int64_t *byte);

#endif
