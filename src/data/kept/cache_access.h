/* Random access to a memory cache. */
#ifndef LEATI_DATA_KEPT_CACHE_ACCESS_H
#define LEATI_DATA_KEPT_CACHE_ACCESS_H

#include "data/access/access.h"
#include "data/kept/cache_store.h"

typedef struct leati_cache_access {
    leati_cache_rows *rows; /* of a complete iteration; NULL: there was none yet */
    leati_cache_cursor cursor;
} leati_cache_access;

/* The slots at and access_close: a row that an iteration has kept, or else of the rows that random
 * access reads for itself. */
LEAT_WARN_UNUSED leat_status leati_cache_access_at(leati_access *access, const int64_t *indices,
                                                   int64_t n, leati_block *out, leat_error *err);
void leati_cache_access_close(leati_access *access);

#endif
