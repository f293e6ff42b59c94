/* A window over the bytes of a stream; see chunks.h.
 *
 * Happy path: the chunk's free end is filled by one read. Where it is full, an unshared chunk is
 * compacted in place, a shared one is left to its holders and the window's bytes are copied to a
 * new one, which is twice as large where the window fills half of it. Failures: those of the
 * stream, RESOURCE_EXHAUSTED; the window is then as before. No locks: one owner. */
#include "file/chunks.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include <string.h>

leat_status leati_chunks_open(leati_chunks *chunks, const char *path, leat_compression compression,
                              int64_t position, size_t chunk_size, leati_pools *pools,
                              leat_error *err) {
    *chunks = (leati_chunks){.pools = pools, .chunk_size = chunk_size, .position = position};
    leat_error local = {0};
    leat_status status = leati_stream_open(&chunks->stream, path, compression, err);
    if (status != LEAT_OK || position == 0)
        return status;
    status = leati_stream_seek(&chunks->stream, position, &local);
    /* A saved position beyond the end means another file, not a wrong argument. */
    if (status == LEAT_OUT_OF_RANGE) {
        status = leati_fail_in_file(&local, LEAT_DATA_LOSS, path, -1, false,
                                    "the file is shorter than byte %lld, where reading stood; "
                                    "restore with the same files",
                                    (long long)position);
    }
    if (status != LEAT_OK) {
        leati_chunks_close(chunks);
        *err = local;
    }
    return status;
}

void leati_chunks_close(leati_chunks *chunks) {
    leat_buffer_unref(chunks->chunk);
    leati_stream_close(&chunks->stream);
    *chunks = (leati_chunks){0};
}

/* Makes a free byte at the chunk's end. */
static leat_status make_room(leati_chunks *chunks, leat_error *err) {
    size_t window = chunks->end - chunks->begin;
    size_t have = chunks->chunk == NULL ? 0 : leat_buffer_size(chunks->chunk);
    if (chunks->end < have)
        return LEAT_OK;
    /* Only if half of the chunk gets free: otherwise many moves would make room for short reads. */
    if (have > 0 && !chunks->shared && window <= have / 2) {
        memmove(chunks->data, chunks->data + chunks->begin, window);
    } else {
        size_t size = chunks->chunk_size;
        /* The doubling below cannot overflow. */
        if (window > SIZE_MAX / 4)
            return leati_no_memory(err);
        size = LEATI_MAX(window * 2, size);
        leat_buffer *larger = leati_pools_take(chunks->pools, size, err);
        if (larger == NULL)
            return LEAT_RESOURCE_EXHAUSTED;
        /* There is no chunk to copy from at first. */
        if (window > 0)
            memcpy(leat_buffer_data(larger), chunks->data + chunks->begin, window);
        leat_buffer_unref(chunks->chunk);
        chunks->chunk = larger;
        chunks->data = leat_buffer_data(larger);
        chunks->shared = false;
    }
    /* The chunk begins at the window's first byte now, from which origins are counted. */
    leati_buffer_set_path(chunks->chunk, chunks->stream.path, chunks->position);
    chunks->begin = 0;
    chunks->end = window;
    return LEAT_OK;
}

leat_status leati_chunks_more(leati_chunks *chunks, leat_error *err) {
    size_t got = 0;
    leat_status status = make_room(chunks, err);
    if (status == LEAT_OK) {
        status = leati_stream_read(&chunks->stream, chunks->data + chunks->end,
                                   leat_buffer_size(chunks->chunk) - chunks->end, &got, err);
    }
    if (status == LEAT_OK) {
        chunks->end += got;
        /* Only at the end does a read with room give nothing. */
        chunks->ended = got == 0;
    }
    return status;
}

leat_status leati_chunks_need(leati_chunks *chunks, size_t size, leat_error *err) {
    leat_status status = LEAT_OK;
    while (status == LEAT_OK && chunks->end - chunks->begin < size && !chunks->ended)
        status = leati_chunks_more(chunks, err);
    return status;
}

leat_status leati_chunks_whole(const leati_chunks *chunks, leat_error *err) {
    if (!chunks->stream.cut)
        return LEAT_OK;
    return leati_fail_in_file(err, LEAT_DATA_LOSS, chunks->stream.file->path, chunks->position,
                              true,
                              "the file ends inside its compressed "
                              "stream; get the whole file, or leave it out");
}

void leati_chunks_take(leati_chunks *chunks, size_t n) {
    chunks->begin += n;
    chunks->position += (int64_t)n;
}

leat_status leati_chunks_share(leati_chunks *chunks, leat_buffer *owner, leat_error *err) {
    leat_status status = leati_buffer_hold(owner, chunks->chunk, err);
    /* Once shared a chunk stays so: an earlier holder may still be there. */
    chunks->shared = chunks->shared || status == LEAT_OK;
    return status;
}

leat_buffer *leati_chunks_ref(leati_chunks *chunks) {
    chunks->shared = true;
    return leat_buffer_ref(chunks->chunk);
}
