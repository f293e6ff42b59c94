/* A window over the bytes of a stream, for readers that cut records out of it: bytes are read into
 * chunks, records are views into them, and a record that a chunk's end cuts is moved to the next
 * chunk. */
#ifndef LEATI_FILE_CHUNKS_H
#define LEATI_FILE_CHUNKS_H

#include "core/pools.h"
#include "file/stream.h"

/* {0} is closed. One thread at a time. */
typedef struct leati_chunks {
    leati_stream stream;
    leati_pools *pools; /* of chunks; borrowed */
    size_t chunk_size;
    uint64_t most; /* bytes of a line; 0: records that are no lines */
    leat_buffer *chunk;
    uint8_t *data; /* of the chunk; what was not shared may be written by the reader */
    size_t begin;  /* the window is data[begin .. end) */
    size_t end;
    int64_t position; /* of data[begin] in the decompressed stream */
    bool shared;      /* somebody else holds the chunk */
    bool ended;       /* the stream has no byte beyond the window */
} leati_chunks;

/* Opens `path` at `position`. On failure nothing is left open; a file shorter than `position` is
 * DATA_LOSS. chunk_size at least 1. */
LEAT_WARN_UNUSED leat_status leati_chunks_open(leati_chunks *chunks, const char *path,
                                               leat_compression compression, int64_t position,
                                               size_t chunk_size, leati_pools *pools,
                                               leat_error *err);
/* The same for a reader of lines, which may not get longer than the process's limit. */
LEAT_WARN_UNUSED leat_status leati_chunks_open_lines(leati_chunks *chunks, const char *path,
                                                     leat_compression compression, int64_t position,
                                                     size_t chunk_size, leati_pools *pools,
                                                     leat_error *err);
void leati_chunks_close(leati_chunks *chunks);

/* Makes the window longer by at least one byte, or sets `ended`. The window's bytes may move.
 * INVALID_ARGUMENT where it has more than `most` already. */
LEAT_WARN_UNUSED leat_status leati_chunks_more(leati_chunks *chunks, leat_error *err);
/* Makes the window at least `size` bytes long, as far as the stream goes: memory is taken as bytes
 * come, at most twice as much, and no more than is asked for beyond the first megabytes. */
LEAT_WARN_UNUSED leat_status leati_chunks_need(leati_chunks *chunks, size_t size, leat_error *err);

/* Once `ended`: DATA_LOSS where that is not the file's end but a compressed stream's cut. */
LEAT_WARN_UNUSED leat_status leati_chunks_whole(const leati_chunks *chunks, leat_error *err);

/* For readers of lines: may the window's line have `size` bytes? False with INVALID_ARGUMENT and
 * the place. */
bool leati_chunks_fits(const leati_chunks *chunks, size_t size, leat_error *err);

/* Moves the window's begin over n of its bytes. */
void leati_chunks_take(leati_chunks *chunks, size_t n);
/* `owner` keeps alive what the window shows. */
LEAT_WARN_UNUSED leat_status leati_chunks_share(leati_chunks *chunks, leat_buffer *owner,
                                                leat_error *err);
/* The chunk in which the window lies, for views of it: its bytes stay as they are. Owned. */
leat_buffer *leati_chunks_ref(leati_chunks *chunks);

#endif
