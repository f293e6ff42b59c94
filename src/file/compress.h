/* Compressed streams: zlib and gzip, read by ISA-L and written by zlib. */
#ifndef LEATI_FILE_COMPRESS_H
#define LEATI_FILE_COMPRESS_H

#include <leat/file.h>

/* A decompressor. One thread at a time. */
typedef struct leati_inflate leati_inflate;

/* For ZLIB or GZIP. Owned; NULL without memory. */
leati_inflate *leati_inflate_new(leat_compression compression, leat_error *err);
void leati_inflate_free(leati_inflate *inflate);
/* Back to the state after `new`. */
void leati_inflate_reset(leati_inflate *inflate);

typedef enum leati_inflate_state {
    LEATI_INFLATE_MORE = 0, /* wants input, or room for output */
    LEATI_INFLATE_BETWEEN /* before the first byte of a stream (after the last, or at the start) */
} leati_inflate_state;

/* Moves *in forward over what was read and *out over what was written; returns when either is used
 * up. Members of a gzip file may follow one another. DATA_LOSS with a text without a file name on
 * bytes that are no such stream or have a wrong checksum; what was written before is good. */
LEAT_WARN_UNUSED leat_status leati_inflate_run(leati_inflate *inflate, const uint8_t **in,
                                               size_t *in_size, uint8_t **out, size_t *out_size,
                                               leat_error *err);
leati_inflate_state leati_inflate_where(const leati_inflate *inflate);

/* A compressor. One thread at a time. */
typedef struct leati_deflate leati_deflate;

/* Takes the compressed bytes (borrowed for the call). */
typedef leat_status (*leati_deflate_sink)(void *context, const void *data, size_t size,
                                          leat_error *err);

/* For ZLIB or GZIP at `level` 1 to 9 (0: 6); bytes go to `sink`. Owned; NULL on failure. */
leati_deflate *leati_deflate_new(leat_compression compression, int level, leati_deflate_sink sink,
                                 void *context, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_deflate_write(leati_deflate *deflate, const void *data,
                                                 size_t size, leat_error *err);
/* Writes the end of the stream; then only `free` is allowed. */
LEAT_WARN_UNUSED leat_status leati_deflate_finish(leati_deflate *deflate, leat_error *err);
void leati_deflate_free(leati_deflate *deflate); /* NULL is allowed */

#endif
