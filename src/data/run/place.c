/* Where a failing row came from: see place.h.
 *
 * Nothing is kept for it while elements flow: the memory that a file's bytes lie in knows its file
 * (core/buffer.h), and strings still point there. No locks. */
#include "data/run/place.h"
#include "base/error.h"
#include "data/run/origins.h"
#include "file/crc.h"
#include "file/tfrecord.h"
#include "file/wire.h"
#include <string.h>

enum { MOST_PATH = 250 };

bool leati_place_is_record(const leat_buffer *source, const leat_string *string) {
    const uint8_t *data = (const uint8_t *)string->data;
    if (data < (const uint8_t *)source->data + LEATI_RECORD_HEADER)
        return false;
    const uint8_t *header = data - LEATI_RECORD_HEADER;
    return leati_wire_load64(header) == string->size &&
           leati_wire_load32(header + 8) == leati_crc_mask(leati_crc_crc32c(header, 8));
}

/* The file that the row's first string of that column points into. */
static void add_file(const leati_column *column, int64_t row, leat_error *err) {
    const leat_string *string = leati_column_row(column, row);
    const leat_buffer *owner = column->owner;
    leat_shape shape = leati_column_row_shape(column, row);
    if (column->form == LEATI_TENSORS)
        owner = column->tensors[row].owner;
    if (leati_shape_count(&shape) < 1 || string->data == NULL)
        return;
    const leat_buffer *found = leati_buffer_with_path(owner, string->data);
    if (found == NULL)
        return;
    const char *path = (const char *)found->path->data;
    int64_t byte = found->path_at + (string->data - (const char *)found->data);
    /* Of a whole record the place is that of its header, where a reader of records begins. */
    byte -= leati_place_is_record(found, string) ? LEATI_RECORD_HEADER : 0;
    leati_error_at_file(err, path, strlen(path), byte, false);
}

static bool reads_files(const leat_function *function) {
    bool found = false;
    for (size_t i = 0; function != NULL && i < function->body.num_nodes && !found; i++)
        found = function->body.nodes[i].op->trait == LEATI_TRAIT_READS_PATH;
    return found;
}

/* Can the row's value be a path? */
static bool is_path(const leati_column *column, int64_t row) {
    leat_shape shape = leati_column_row_shape(column, row);
    const leat_string *string = leati_column_row(column, row);
    return column->dtype == LEAT_STRING && leati_shape_count(&shape) == 1 && string->size > 0 &&
           string->size <= MOST_PATH && memchr(string->data, 0, string->size) == NULL;
}

int leati_place_path_component(const leat_function *function, const leati_block *block,
                               int64_t row) {
    int found = -1;
    for (int c = 0; c < block->num_columns && found < 0 && reads_files(function); c++)
        found = is_path(&block->columns[c], row) ? c : -1;
    return found;
}

void leati_place_row(const leat_function *function, const leati_block *block, int64_t row,
                     leat_error *err) {
    const char *path = NULL;
    int64_t byte = 0;
    /* A place within a dataset of the function's own is part of the message from here on. */
    leati_error_settle(err);
    if (function != NULL)
        leati_error_at_function(err, function->place);
    if (leati_origin_read(block, row, &path, &byte))
        leati_error_at_file(err, path, strlen(path), byte, false);
    for (int c = 0; c < block->num_columns; c++)
        if (block->columns[c].dtype == LEAT_STRING)
            add_file(&block->columns[c], row, err);
    int named = leati_place_path_component(function, block, row);
    if (named >= 0) {
        const leat_string *name = leati_column_row(&block->columns[named], row);
        leati_error_at_file(err, name->data, name->size, -1, false);
    }
}
