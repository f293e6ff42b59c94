/* The bytes of a file in order, decompressed on the way if need be. */
#ifndef LEATI_FILE_STREAM_H
#define LEATI_FILE_STREAM_H

#include "core/buffer.h"
#include "file/fs.h"
#include <leat/file.h>

struct leati_unpacker;

/* What is said of `shrank`. */
#define LEATI_SHRANK "the file got shorter while it was read: read it again"

/* An open stream, embedded in its reader; fields are for reading only. One thread at a time. */
typedef struct leati_stream {
    leati_file *file;
    leat_buffer *path;               /* owns the text; for leati_buffer_set_path */
    struct leati_unpacker *unpacker; /* NULL: not compressed */
    leat_compression compression;
    int64_t position; /* of the next byte, in the decompressed bytes */
    int64_t file_at;  /* of the next byte to read from the file */
    uint8_t *input;   /* compressed bytes read and not yet used: [input_begin, input_end) */
    size_t input_begin;
    size_t input_end;
    bool cut;     /* the file ended inside a compressed stream: read has come to that end */
    bool shrank;  /* the file ended before the size that it had when it was opened: likewise */
    bool restart; /* memory ran out inside the codec: decompress again up to `position` */
    leat_error failure; /* of decompression, given again by every later read */
} leati_stream;

/* Opens `path`; {0} before. On failure nothing is left open. */
LEAT_WARN_UNUSED leat_status leati_stream_open(leati_stream *stream, const char *path,
                                               leat_compression compression, leat_error *err);
void leati_stream_close(leati_stream *stream); /* {0} is allowed */

/* Reads up to `size` bytes. *got is 0 only at the end (or for size 0) and may be less than `size`
 * anywhere. A compressed file that ends inside its stream ends like any other, with `cut` set.
 * DATA_LOSS, naming the file, on damaged compressed bytes, after all bytes before them were given
 * out. */
LEAT_WARN_UNUSED leat_status leati_stream_read(leati_stream *stream, void *data, size_t size,
                                               size_t *got, leat_error *err);

/* Moves to `position`. A plain file takes any position up to its end, which costs nothing; a
 * compressed one decompresses all bytes before it. OUT_OF_RANGE beyond the end. */
LEAT_WARN_UNUSED leat_status leati_stream_seek(leati_stream *stream, int64_t position,
                                               leat_error *err);

/* Bytes of the decompressed stream from `position` to the end, or -1 where unknown. */
int64_t leati_stream_left(const leati_stream *stream);

#endif
