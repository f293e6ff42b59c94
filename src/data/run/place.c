/* Where an element came from: see place.h.
 *
 * A mark is MARK, the function's place, MARK, the origin, MARK; each may be empty. Nothing is kept
 * for it while elements flow: the memory that a file's bytes lie in knows its file (core/buffer.h),
 * and strings still point there. No locks. */
#include "data/run/place.h"
#include "base/error.h"
#include "data/run/origins.h"
#include "file/crc.h"
#include "file/tfrecord.h"
#include "file/wire.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MARK = '\1', ORIGIN_TEXT = 320, MOST_PATH = 250 };

bool leati_is_record(const leat_buffer *source, const leat_string *string) {
    const uint8_t *data = (const uint8_t *)string->data;
    if (data < (const uint8_t *)source->data + LEATI_RECORD_HEADER) {
        return false;
    }
    const uint8_t *header = data - LEATI_RECORD_HEADER;
    return leati_load64(header) == string->size &&
           leati_load32(header + 8) == leati_crc_mask(leati_crc32c(header, 8));
}

/* The file that the row's first string of that kind points into. */
static bool find_file(const leati_column *column, int64_t row, char *text, size_t size) {
    const leat_string *string = leati_column_row(column, row);
    const leat_buffer *owner = column->owner;
    leat_shape shape = leati_column_row_shape(column, row);
    if (column->form == LEATI_TENSORS) {
        owner = column->tensors[row].owner;
    }
    if (leati_shape_count(&shape) < 1 || string->data == NULL) {
        return false;
    }
    const leat_buffer *found = leati_buffer_with_path(owner, string->data);
    if (found == NULL) {
        return false;
    }
    int64_t byte = found->path_at + (string->data - (const char *)found->data);
    byte -= leati_is_record(found, string) ? LEATI_RECORD_HEADER : 0;
    snprintf(text, size, " of %.250s at byte %lld", (const char *)found->path->data,
             (long long)byte);
    return true;
}

static bool reads_files(const leat_function *function) {
    bool found = false;
    for (size_t i = 0; function != NULL && i < function->body.num_nodes && !found; i++) {
        found = strcmp(function->body.nodes[i].op->name, "read_file") == 0;
    }
    return found;
}

/* Can the row's value be a path? */
static bool is_path(const leati_column *column, int64_t row) {
    leat_shape shape = leati_column_row_shape(column, row);
    const leat_string *string = leati_column_row(column, row);
    return column->dtype == LEAT_STRING && leati_shape_count(&shape) == 1 && string->size > 0 &&
           string->size <= MOST_PATH && memchr(string->data, MARK, string->size) == NULL &&
           memchr(string->data, 0, string->size) == NULL;
}

int leati_path_component(const leat_function *function, const leati_block *block, int64_t row) {
    int found = -1;
    for (int c = 0; c < block->num_columns && found < 0 && reads_files(function); c++) {
        found = is_path(&block->columns[c], row) ? c : -1;
    }
    return found;
}

void leati_mark_origin(const leat_function *function, const leati_block *block, int64_t row,
                       leat_error *err) {
    char origin[ORIGIN_TEXT] = "", text[LEAT_ERROR_TEXT];
    const char *place = function != NULL ? function->place : "";
    bool found = false;
    if (err == NULL || err->text[0] == MARK) {
        return;
    }
    const char *path = NULL;
    int64_t byte = 0;
    if (leati_origin_read(block, row, &path, &byte)) {
        found = true;
        snprintf(origin, sizeof(origin), " of %.250s at byte %lld", path, (long long)byte);
    }
    for (int c = 0; c < block->num_columns && !found; c++) {
        if (block->columns[c].dtype == LEAT_STRING) {
            found = find_file(&block->columns[c], row, origin, sizeof(origin));
        }
    }
    int named = found ? -1 : leati_path_component(function, block, row);
    if (named >= 0) {
        const leat_string *name = leati_column_row(&block->columns[named], row);
        snprintf(origin, sizeof(origin), " of %.*s", (int)name->size, name->data);
        found = true;
    }
    if (found || place[0] != '\0') {
        memcpy(text, err->text, sizeof(text));
        leati_fail(err, err->code, "%c%s%c%s%c%s", MARK, place, MARK, origin, MARK, text);
    }
}

/* The parts of a marked text: function's place, origin, and what follows, cut apart in `text`. */
static void split(char *text, const char **place, const char **origin, const char **rest) {
    char *second = text[0] == MARK ? strchr(text + 1, MARK) : NULL;
    char *third = second != NULL ? strchr(second + 1, MARK) : NULL;
    *place = *origin = "";
    *rest = text;
    if (third != NULL) {
        *second = *third = '\0';
        *place = text + 1;
        *origin = second + 1;
        *rest = third + 1;
    }
}

void leati_wrap_error(leat_error *err, leat_status code, const char *before) {
    char text[LEAT_ERROR_TEXT];
    const char *place = NULL, *origin = NULL, *rest = NULL;
    memcpy(text, err->text, sizeof(text));
    split(text, &place, &origin, &rest);
    if (rest == text) {
        leati_fail(err, code, "%s: %s", before, rest);
    } else {
        leati_fail(err, code, "%c%s%c%s%c%s: %s", MARK, place, MARK, origin, MARK, before, rest);
    }
}

void leati_place_error(const char *name, int64_t element, leat_error *err) {
    char text[LEAT_ERROR_TEXT];
    const char *place = NULL, *origin = NULL, *rest = NULL;
    bool at_end = err->at_end;
    memcpy(text, err->text, sizeof(text));
    split(text, &place, &origin, &rest);
    leati_fail(err, err->code,
               place[0] != '\0' ? "%s (%s): element %lld%s: %s" : "%s%s: element %lld%s: %s", name,
               place, (long long)element, origin, rest);
    err->at_end = at_end;
}

/* The digits at `at` as a number that `after` follows: where they end, or NULL. */
static const char *read_number(const char *at, const char *after, int64_t *out) {
    char *end = NULL;
    if (*at < '0' || *at > '9') {
        return NULL;
    }
    *out = strtoll(at, &end, 10);
    return strncmp(end, after, strlen(after)) == 0 ? end : NULL;
}

/* "FILE at byte N" or "FILE", and what ends it; moves *at to that. */
static void read_file_part(const char **at, leati_place *out) {
    static const char at_byte[] = " at byte ";
    const char *colon = strstr(*at, ": "), *end = NULL;
    for (const char *found = strstr(*at, at_byte); found != NULL && end == NULL;
         found = strstr(found + 1, at_byte)) {
        int64_t byte = 0;
        end = read_number(found + sizeof(at_byte) - 1, ": ", &byte);
        if (end == NULL) {
            end = read_number(found + sizeof(at_byte) - 1, " (", &byte); /* decompressed */
        }
        if (end != NULL) {
            *out = (leati_place){.op = out->op,
                                 .op_size = out->op_size,
                                 .element = out->element,
                                 .file = *at,
                                 .file_size = (size_t)(found - *at),
                                 .byte = byte};
            colon = strstr(end, ": ");
        }
    }
    if (end == NULL && colon != NULL) {
        out->file = *at;
        out->file_size = (size_t)(colon - *at);
    }
    *at = colon;
}

void leati_read_place(const char *text, leati_place *out) {
    static const char element[] = ": element ";
    const char *found = strstr(text, element), *at = NULL;
    *out = (leati_place){.op = "", .element = -1, .byte = -1, .file = "", .reason = text};
    if (found == NULL ||
        (at = read_number(found + sizeof(element) - 1, "", &out->element)) == NULL) {
        return;
    }
    out->op = text;
    out->op_size = (size_t)(found - text);
    if (strncmp(at, " of ", 4) == 0) {
        at += 4;
        read_file_part(&at, out);
    }
    out->reason = at != NULL && strncmp(at, ": ", 2) == 0 ? at + 2 : text;
    /* A reader's own error begins with file and byte. */
    if (out->file_size == 0 && at != NULL) {
        leati_place own = *out;
        const char *rest = out->reason;
        read_file_part(&rest, &own);
        if (own.byte >= 0 && rest != NULL && memchr(own.file, ':', own.file_size) == NULL) {
            const char *reason = rest + 2;
            *out = own;
            out->reason = reason;
        }
    }
}
