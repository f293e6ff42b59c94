/* TFRecord files: a record is its length (8 bytes), a checksum of the length (4), the data, a
 * checksum of the data (4), all little-endian. Reading by blocks; the writer is public
 * (leat/file.h). */
#ifndef LEATI_FILE_TFRECORD_H
#define LEATI_FILE_TFRECORD_H

#include "core/pools.h"
#include <leat/file.h>

typedef struct leati_tfrecord_options {
    leat_compression compression;
    /* A file that ends inside a record's header, or inside its compressed stream between two
     * records, is DATA_LOSS instead of a clean end. TensorFlow takes it for a clean end. */
    bool strict_tail;
    size_t chunk_size; /* bytes read at once; 0: LEATI_CHUNK_SIZE */
    /* Where chunks come from. Borrowed, must outlive the reader; NULL: new memory for each chunk.
     */
    leati_pools *pools;
} leati_tfrecord_options;

#define LEATI_CHUNK_SIZE (256u << 10) /* stays in a core's cache until it is checked */
#define LEATI_RECORD_HEADER 12
#define LEATI_RECORD_FOOTER 4

typedef enum leati_record_outcome {
    LEATI_RECORD = 0, /* one record or more */
    LEATI_RECORD_END, /* no further record; stays so */
    LEATI_RECORD_ERROR
} leati_record_outcome;

/* A reader. One thread at a time; the records and chunks that it gave out may be read by any. */
typedef struct leati_tfrecord leati_tfrecord;

/* Opens a file; `options` may be NULL. Reads nothing yet. Owned. */
LEAT_WARN_UNUSED leat_status leati_tfrecord_open(const char *path,
                                                 const leati_tfrecord_options *options,
                                                 leati_tfrecord **out, leat_error *err);
void leati_tfrecord_close(leati_tfrecord *reader); /* NULL is allowed */

/* Reads up to `want` records (at least 1), and no further one once `byte_target` (0: none) bytes
 * are reached. records[0 .. *n) become views into chunks, which `owner` is made to hold
 * (leati_buffer_hold); with owner NULL, `want` must be 1 and the view lasts until the next call.
 *
 * RECORD: *n > 0. END and ERROR: *n is 0. Whatever stops a call after its first record is reported
 * by the next call, so a bad record costs no good one before it. After ERROR the position stays at
 * the bad record and further calls give the same error; TensorFlow goes on with the next file.
 * DATA_LOSS names file, byte, and the checksum found and expected. A length beyond the end of the
 * file is refused before memory is taken for it. */
leati_record_outcome leati_tfrecord_read(leati_tfrecord *reader, int64_t want, size_t byte_target,
                                         leat_string *records, leat_buffer *owner, int64_t *n,
                                         leat_error *err);

/* Passes over up to `want` records without looking at their data or its checksum (headers are
 * checked), as TensorFlow's skip and shard do; *n is how many. RECORD: *n == want. */
leati_record_outcome leati_tfrecord_skip(leati_tfrecord *reader, int64_t want, int64_t *n,
                                         leat_error *err);

/* The byte where the next record's header starts, in the decompressed bytes: what a saved state
 * holds. */
int64_t leati_tfrecord_position(const leati_tfrecord *reader);

/* Goes to a position that leati_tfrecord_position gave for the same file. OUT_OF_RANGE beyond its
 * end; a compressed file is decompressed up to there. */
LEAT_WARN_UNUSED leat_status leati_tfrecord_seek(leati_tfrecord *reader, int64_t position,
                                                 leat_error *err);

/* After END: bytes left over, too few for a header (0 to 11). */
int64_t leati_tfrecord_trailing(const leati_tfrecord *reader);

/* After END: did the file end inside its compressed stream? Records may be missing then. */
bool leati_tfrecord_cut(const leati_tfrecord *reader);

/* Size of the file on the disk, or -1. */
int64_t leati_tfrecord_file_size(const leati_tfrecord *reader);

/* From now on a call that writes or closes ends with CANCELLED where its thread shall stop
 * (base/stop.h), and the file is of no more use; else a record that is begun is written whole. */
void leati_tfrecord_writer_heed_stops(leat_tfrecord_writer *writer);

/* Hands the records so far to the file system: whoever reads a file that is written in place sees
 * them, but for what a compressor still holds. Fails as leat_tfrecord_writer_write does. */
LEAT_WARN_UNUSED leat_status leati_tfrecord_writer_flush(leat_tfrecord_writer *writer,
                                                         leat_error *err);

#endif
