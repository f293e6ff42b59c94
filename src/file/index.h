/* Sidecar indexes of record files: FILE.leat-index says where each record of FILE starts, so that a
 * record is found by its number without reading those before it. */
#ifndef LEATI_FILE_INDEX_H
#define LEATI_FILE_INDEX_H

#include <leat/file.h>

/* Called with the byte that a record starts at, for each of them while an index is made. */
typedef void leati_index_watch(void *context, int64_t byte);

/* leat_index_write, watched; `watch` may be NULL. */
LEAT_WARN_UNUSED leat_status leati_index_write_watched(const char *path, int64_t *records,
                                                       leati_index_watch *watch, void *context,
                                                       leat_error *err);

#define LEATI_INDEX_ENDING ".leat-index"
/* Files of records whose places may be indexed, as the index names them. */
#define LEATI_INDEX_TFRECORD "tfrecord"
#define LEATI_INDEX_TAR "tar" /* records are samples, file/tar.h */

/* An index open for reading. One thread at a time; different ones over one file at once. Holds one
 * block of numbers (4 KiB), whatever the number of records. */
typedef struct leati_index leati_index;

/* Opens the index of the data file `path`, which must hold records of `kind`, and compares it with
 * that file: its size, and checksums of its first and last bytes. Owned. NOT_FOUND without an index
 * (or without the data file); FAILED_PRECONDITION where the file is another one than was indexed;
 * DATA_LOSS where the index is damaged. Texts say to run `leat index`. */
LEAT_WARN_UNUSED leat_status leati_index_open(const char *path, const char *kind, leati_index **out,
                                              leat_error *err);
void leati_index_close(leati_index *index); /* NULL is allowed */

/* How many records the file has. */
int64_t leati_index_count(const leati_index *index);

/* Record `number`, 0 to count - 1, takes the bytes [*begin, *end) of the file, header and all; a
 * sample's end where the next one begins. As long as *end - *begin is what the file itself says
 * there, the file still is the one that was indexed: whoever reads a record compares. OUT_OF_RANGE
 * for another number; DATA_LOSS where the index is damaged. */
LEAT_WARN_UNUSED leat_status leati_index_find(leati_index *index, int64_t number, int64_t *begin,
                                              int64_t *end, leat_error *err);

/* FAILED_PRECONDITION: the file at `path` is not the one that was indexed. */
leat_status leati_index_stale(const char *path, leat_error *err);

#endif
