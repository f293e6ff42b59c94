/* A window over the bytes of a stream; see chunks.h.
 *
 * Happy path: the chunk's free end is filled by one read. Where it is full, an unshared chunk is
 * compacted in place, a shared one is left to its holders and the window's bytes are copied to a
 * new one, which is twice as large where the window fills half of it; beyond 8 MiB the chunk itself
 * is made longer instead, so that a long line or member is not copied over and over. Failures:
 * those of the stream, RESOURCE_EXHAUSTED, and a window that would get too long; it is then as
 * before. No locks: one owner. */
#include "file/chunks.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/minmax.h"
#include <string.h>

/* A chunk of more bytes is one record's own: it grows in place, and no pool keeps it. */
enum { LARGE = 8 << 20 };

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

leat_status leati_chunks_open_lines(leati_chunks *chunks, const char *path,
                                    leat_compression compression, int64_t position,
                                    size_t chunk_size, leati_pools *pools, leat_error *err) {
    leat_status status =
        leati_chunks_open(chunks, path, compression, position, chunk_size, pools, err);
    chunks->most = leati_limits_max_line();
    return status;
}

bool leati_chunks_fits(const leati_chunks *chunks, size_t size, leat_error *err) {
    if (size <= chunks->most)
        return true;
    (void)leati_refuse(err, VALUE,
                       "a line has more than %llu bytes, the most that are allowed; is it a text "
                       "file? Then " LEATI_RAISE_LINES,
                       (unsigned long long)chunks->most);
    const char *path = chunks->stream.file->path;
    leati_error_at_file(err, path, strlen(path), chunks->position, chunks->stream.unpacker != NULL);
    return false;
}

/* The bytes of the next chunk, for a window that shall get `need` bytes long (0: nobody knows). */
static size_t next_size(const leati_chunks *chunks, size_t window, size_t need) {
    size_t size = window * 2;
    /* At least a quarter more, for whoever asks for byte after byte. */
    if (need > window)
        size = LEATI_MIN(size, LEATI_MAX(need, window + window / 4));
    /* One byte more shows that a line is too long. */
    if (chunks->most > 0 && chunks->most < size)
        size = (size_t)chunks->most + 1;
    return LEATI_MAX(size, chunks->chunk_size);
}

/* Replaces the chunk by one of `size` bytes that begins with the window. */
static leat_status replace_chunk(leati_chunks *chunks, size_t size, size_t window,
                                 leat_error *err) {
    leat_buffer *larger = size > LARGE && size > chunks->chunk_size
                              ? leati_buffer_growable(size, err)
                              : leati_pools_take(chunks->pools, size, err);
    if (larger == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    /* There is no chunk to copy from at first. */
    if (window > 0)
        memcpy(leat_buffer_data(larger), chunks->data + chunks->begin, window);
    leat_buffer_unref(chunks->chunk);
    chunks->chunk = larger;
    chunks->shared = false;
    return LEAT_OK;
}

/* Makes a free byte at the chunk's end. */
static leat_status make_room(leati_chunks *chunks, size_t need, leat_error *err) {
    size_t window = chunks->end - chunks->begin;
    size_t have = chunks->chunk == NULL ? 0 : leat_buffer_size(chunks->chunk);
    if (chunks->end < have)
        return LEAT_OK;
    if (chunks->most > 0 && !leati_chunks_fits(chunks, window, err))
        return err->code;
    /* The doubling below cannot overflow. */
    if (window > SIZE_MAX / 4)
        return leati_no_memory(err);
    size_t size = next_size(chunks, window, need);
    bool whole = have > 0 && !chunks->shared;
    /* Only if half of the chunk gets free: otherwise many moves would make room for short reads. */
    bool room = whole && window <= have / 2;
    bool grows = whole && !room && chunks->chunk->growable && size > have;
    if ((room || grows) && chunks->begin > 0)
        memmove(chunks->data, chunks->data + chunks->begin, window);
    leat_status status = LEAT_OK;
    if (grows)
        status = leati_buffer_grow(&chunks->chunk, size, err);
    else if (!room)
        status = replace_chunk(chunks, size, window, err);
    if (status == LEAT_OK || grows) {
        /* The chunk begins at the window's first byte now, from which origins are counted. */
        leati_buffer_set_path(chunks->chunk, chunks->stream.path, chunks->position);
        chunks->data = leat_buffer_data(chunks->chunk);
        chunks->begin = 0;
        chunks->end = window;
    }
    return status;
}

/* Makes the window longer, on the way to `need` bytes where that is known. */
static leat_status read_more(leati_chunks *chunks, size_t need, leat_error *err) {
    size_t got = 0;
    leat_status status = make_room(chunks, need, err);
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

leat_status leati_chunks_more(leati_chunks *chunks, leat_error *err) {
    return read_more(chunks, 0, err);
}

leat_status leati_chunks_need(leati_chunks *chunks, size_t size, leat_error *err) {
    leat_status status = LEAT_OK;
    while (status == LEAT_OK && chunks->end - chunks->begin < size && !chunks->ended)
        status = read_more(chunks, size, err);
    return status;
}

leat_status leati_chunks_whole(const leati_chunks *chunks, leat_error *err) {
    if (chunks->stream.shrank)
        return leati_fail_in_file(err, LEAT_DATA_LOSS, chunks->stream.file->path, chunks->position,
                                  chunks->stream.unpacker != NULL, LEATI_SHRANK);
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
