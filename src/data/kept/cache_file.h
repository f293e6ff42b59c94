/* A cache in files: PREFIX.data holds blocks of rows, PREFIX.index says that they are complete, and
 * PREFIX_0.lockfile keeps a second writer away (reference: tf.data's file cache, whose bytes are
 * others). */
#ifndef LEATI_DATA_KEPT_CACHE_FILE_H
#define LEATI_DATA_KEPT_CACHE_FILE_H

#include "core/block.h"

/* True if the cache is complete: PREFIX.index is there; the lock file of a writer that died behind
 * it is removed. Failures other than its absence are reported. */
LEAT_WARN_UNUSED leat_status leati_cache_file_complete(const char *prefix, bool *out,
                                                       leat_error *err);

/* A writer. One thread at a time. */
typedef struct leati_cache_writer leati_cache_writer;

/* Takes the lock: ALREADY_EXISTS, naming the lock file, where somebody else writes, or has died
 * writing on a file system that knows no locks. Owned: finish or discard it. */
LEAT_WARN_UNUSED leat_status leati_cache_writer_open(const char *prefix, leati_cache_writer **out,
                                                     leat_error *err);
/* Appends rows [begin, begin + n) of `block`. After a failure only discard makes sense. */
LEAT_WARN_UNUSED leat_status leati_cache_writer_add(leati_cache_writer *writer,
                                                    const leati_block *block, int64_t begin,
                                                    int64_t n, leat_error *err);
/* Makes the cache complete and drops the lock. `writer` is given, also on failure. */
LEAT_WARN_UNUSED leat_status leati_cache_writer_finish(leati_cache_writer *writer, leat_error *err);
/* Removes what was written, and the lock. `writer` is given; NULL is allowed. */
void leati_cache_writer_discard(leati_cache_writer *writer);

/* A reader of a complete cache. One thread at a time. */
typedef struct leati_cache_reader leati_cache_reader;

/* Owned. DATA_LOSS for a damaged index. */
LEAT_WARN_UNUSED leat_status leati_cache_reader_open(const char *prefix, leati_cache_reader **out,
                                                     leat_error *err);
void leati_cache_reader_close(leati_cache_reader *reader); /* NULL is allowed */
/* Goes to row `row` (0 to the number of rows); reading headers of blocks is all it costs. */
LEAT_WARN_UNUSED leat_status leati_cache_reader_seek(leati_cache_reader *reader, int64_t row,
                                                     leat_error *err);
/* `out` becomes up to `want` rows of `spec`; out->n is 0 at the end. INVALID_ARGUMENT where the
 * file holds elements of another spec, DATA_LOSS where it is damaged. */
LEAT_WARN_UNUSED leat_status leati_cache_reader_read(leati_cache_reader *reader,
                                                     const leat_spec *spec, int64_t want,
                                                     leati_block *out, leat_error *err);

#endif
