/* What a memory cache keeps: rows in chunks of some megabytes, filled by one writer and then read
 * by any number of readers. */
#ifndef LEATI_DATA_KEPT_CACHE_ROWS_H
#define LEATI_DATA_KEPT_CACHE_ROWS_H

#include "base/bytes.h"
#include "core/block.h"

/* Reference-counted; immutable once shared. */
typedef struct leati_cache_rows {
    atomic_long refs;
    leati_block *chunks;
    size_t count, capacity;
    int64_t rows, bytes;
    size_t chunk_bytes; /* of the last chunk */
    /* The state of the cached input before its first row, from which the rows come again; empty
     * where the input cannot be replayed. */
    leati_writer origin;
    leati_block piece; /* scratch of add */
} leati_cache_rows;

/* Owned. */
leati_cache_rows *leati_cache_rows_new(leat_error *err);
/* The same rows. Thread-safe. */
leati_cache_rows *leati_cache_rows_ref(leati_cache_rows *rows);
void leati_cache_rows_unref(leati_cache_rows *rows);

/* Appends rows [begin, begin + n) of `block`, copied where they pin more memory than their own. On
 * failure nothing was appended. */
LEAT_WARN_UNUSED leat_status leati_cache_rows_add(leati_cache_rows *rows, const leati_block *block,
                                                  int64_t begin, int64_t n, leat_error *err);

/* Where a reader found its last rows; {0} at first. */
typedef struct leati_cache_cursor {
    size_t chunk;
    int64_t first; /* number of the chunk's first row */
} leati_cache_cursor;

/* `out` becomes a view of up to `want` rows from row `at` on, at least one (at < rows->rows). */
LEAT_WARN_UNUSED leat_status leati_cache_rows_view(const leati_cache_rows *rows,
                                                   leati_cache_cursor *cursor, int64_t at,
                                                   int64_t want, leati_block *out, leat_error *err);

/* All rows as bytes, and back (appended). */
LEAT_WARN_UNUSED leat_status leati_cache_rows_save(const leati_cache_rows *rows, leati_writer *out,
                                                   leat_error *err);
LEAT_WARN_UNUSED leat_status leati_cache_rows_load(leati_cache_rows *rows, const leat_spec *spec,
                                                   leati_reader *in, leat_error *err);

#endif
