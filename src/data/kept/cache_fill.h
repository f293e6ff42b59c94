/* What random access to a memory cache has read: rows of its input from the first on, as far as
 * somebody asked, by an iterator of its own (reference: TensorFlow's random access cache, which is
 * apart from the one that iterations fill). */
#ifndef LEATI_DATA_KEPT_CACHE_FILL_H
#define LEATI_DATA_KEPT_CACHE_FILL_H

#include "data/kept/cache_rows.h"
#include "data/plan/dataset.h"

/* Belongs to a node of a plan; thread-safe. */
typedef struct leati_cache_fill leati_cache_fill;
leati_cache_fill *leati_cache_fill_new(leat_error *err);
void leati_cache_fill_free(leati_cache_fill *fill);

/* `out` becomes row `index` (at least 0), a view; `input` is read up to it. An error of the input
 * ends this call alone and has no row: the next call reads on behind it. OUT_OF_RANGE where the
 * input has ended before. *bytes is what is kept by now. */
LEAT_WARN_UNUSED leat_status leati_cache_fill_row(leati_cache_fill *fill, leat_dataset *input,
                                                  leati_cache_cursor *cursor, int64_t index,
                                                  leati_block *out, int64_t *bytes,
                                                  leat_error *err);

#endif
