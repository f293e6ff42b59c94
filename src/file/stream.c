/* Sequential reading of plain and compressed files.
 *
 * Happy path: a plain file is read straight into the caller's memory; a compressed one in pieces of
 * 64 KiB that are decompressed into it.
 * Failures: those of the file system unchanged; damaged compressed bytes are DATA_LOSS with the
 * file's name and byte. No locks: one owner. */
#include "file/stream.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/stop.h"
#include "file/compress.h"
#include <string.h>

#define INPUT_SIZE (64u << 10)

/* A buffer with the text of `path`. Owned. */
static leat_buffer *path_buffer(const char *path, leat_error *err) {
    size_t size = strlen(path) + 1;
    leat_buffer *buffer = leat_buffer_new(size, err);
    if (buffer != NULL)
        memcpy(leat_buffer_data(buffer), path, size);
    return buffer;
}

leat_status leati_stream_open(leati_stream *stream, const char *path, leat_compression compression,
                              leat_error *err) {
    *stream = (leati_stream){.compression = compression};
    LEATI_TRY(leati_file_open(path, &stream->file, err));
    stream->path = path_buffer(path, err);
    if (stream->path == NULL) {
        leati_stream_close(stream);
        return LEAT_RESOURCE_EXHAUSTED;
    }
    if (compression == LEAT_COMPRESSION_NONE)
        return LEAT_OK;
    stream->unpacker = leati_compress_unpacker_new(compression, err);
    /* Without an unpacker no input buffer is needed; both failures are told below. */
    stream->input = stream->unpacker != NULL ? leati_alloc(INPUT_SIZE, 1) : NULL;
    if (stream->input == NULL) {
        leati_stream_close(stream);
        return leati_no_memory(err);
    }
    LEATI_TELL(FILE, DEBUG, "%s: unpacked by %s", path, leati_compress_codec_of(compression)->name);
    return LEAT_OK;
}

void leati_stream_close(leati_stream *stream) {
    leati_file_close(stream->file);
    leat_buffer_unref(stream->path);
    leati_compress_unpacker_free(stream->unpacker);
    leati_free(stream->input);
    *stream = (leati_stream){0};
}

int64_t leati_stream_left(const leati_stream *stream) {
    if (stream->unpacker != NULL || stream->file->size < 0)
        return -1;
    /* A file that shrank has nothing left, not less than nothing. */
    return stream->file->size > stream->position ? stream->file->size - stream->position : 0;
}

static leat_status read_away(leati_stream *stream, int64_t position, leat_error *err);

/* The file has no byte `at`. Files of the system may say a size that they do not have. */
static void note_end(leati_stream *stream, int64_t at) {
    leati_stat now = {.size = -1};
    if (stream->file->size > at &&
        leati_fs_stat(stream->file->path, &now, &(leat_error){0}) == LEAT_OK)
        stream->shrank = now.size >= 0 && now.size < stream->file->size;
}

/* Reads the next piece of compressed bytes; *end at the end of the file. */
static leat_status fill_input(leati_stream *stream, bool *end, leat_error *err) {
    size_t got = 0;
    leat_status status =
        leati_file_read_at(stream->file, stream->file_at, stream->input, INPUT_SIZE, &got, err);
    if (status != LEAT_OK)
        return status;
    stream->file_at += (int64_t)got;
    stream->input_begin = 0;
    stream->input_end = got;
    *end = got == 0;
    if (got == 0)
        note_end(stream, stream->file_at);
    return LEAT_OK;
}

/* Keeps the failure of the codec: what came out before it is good and goes out first. */
static void keep_failure(leati_stream *stream, leat_error *bad, size_t left) {
    stream->failure = *bad;
    leati_error_at_file(&stream->failure, stream->file->path, strlen(stream->file->path),
                        stream->file_at - (int64_t)left, false);
}

static leat_status read_compressed(leati_stream *stream, uint8_t *data, size_t size, size_t *got,
                                   leat_error *err) {
    uint8_t *out = data;
    size_t room = size;
    bool end = false;
    /* Until the first bytes come out: a header alone gives none. */
    while (room == size && !end && stream->failure.code == LEAT_OK) {
        if (stream->input_begin == stream->input_end) {
            leat_status status = fill_input(stream, &end, err);
            if (status != LEAT_OK)
                return status;
        }
        /* Also at the end of the file, without input: output may still wait in the codec. */
        const uint8_t *in = stream->input + stream->input_begin;
        size_t in_size = stream->input_end - stream->input_begin;
        leat_error bad = {0};
        if (leati_compress_unpacker_run(stream->unpacker, &in, &in_size, &out, &room, &bad) !=
            LEAT_OK)
            keep_failure(stream, &bad, in_size);
        stream->input_begin = stream->input_end - in_size;
    }
    *got = size - room;
    /* A failure behind good bytes waits for the next read. */
    if (room < size)
        return LEAT_OK;
    /* The file ended, and the codec is not between two streams. */
    stream->cut = stream->failure.code == LEAT_OK && !stream->unpacker->between;
    leat_status status = stream->failure.code;
    if (status != LEAT_OK)
        *err = stream->failure;
    /* Memory may be there later: the next read unpacks again from the start. */
    if (status == LEAT_RESOURCE_EXHAUSTED && stream->file->seekable) {
        stream->restart = true;
        stream->failure = (leat_error){0};
    }
    return status;
}

/* Back to the first byte of a compressed file. */
static void rewind_compressed(leati_stream *stream) {
    leati_compress_unpacker_reset(stream->unpacker);
    stream->file_at = stream->position = 0;
    stream->input_begin = stream->input_end = 0;
    stream->cut = stream->shrank = stream->restart = false;
    stream->failure = (leat_error){0};
}

leat_status leati_stream_read(leati_stream *stream, void *data, size_t size, size_t *got,
                              leat_error *err) {
    LEATI_TRY(leati_stop_check(err));
    leat_status status = LEAT_OK;
    *got = 0;
    if (size == 0)
        return LEAT_OK;
    if (stream->restart) {
        int64_t position = stream->position;
        rewind_compressed(stream);
        status = read_away(stream, position, err);
        if (status != LEAT_OK) {
            /* As before the call, so that the next one tries again. */
            stream->position = position;
            stream->restart = true;
            return status;
        }
    }
    if (stream->unpacker != NULL)
        status = read_compressed(stream, data, size, got, err);
    else
        status = leati_file_read_at(stream->file, stream->position, data, size, got, err);
    stream->position += (int64_t)*got;
    if (status == LEAT_OK && *got == 0 && stream->unpacker == NULL)
        note_end(stream, stream->position);
    return status;
}

static leat_status beyond_end(const leati_stream *stream, int64_t position, int64_t end,
                              leat_error *err) {
    return leati_fail_in_file(err, LEAT_OUT_OF_RANGE, stream->file->path, -1, false,
                              "asked to go on at byte %lld, but it ends at byte %lld; was it "
                              "changed since?",
                              (long long)position, (long long)end);
}

/* Goes forward by reading into memory that nobody looks at. */
static leat_status read_away(leati_stream *stream, int64_t position, leat_error *err) {
    uint8_t *scrap = leati_alloc(INPUT_SIZE, 1);
    if (scrap == NULL)
        return leati_no_memory(err);
    leat_status status = LEAT_OK;
    while (status == LEAT_OK && stream->position < position) {
        int64_t left = position - stream->position;
        size_t got = 0;
        status = leati_stream_read(stream, scrap, left < INPUT_SIZE ? (size_t)left : INPUT_SIZE,
                                   &got, err);
        if (status == LEAT_OK && got == 0)
            status = beyond_end(stream, position, stream->position, err);
    }
    leati_free(scrap);
    return status;
}

leat_status leati_stream_seek(leati_stream *stream, int64_t position, leat_error *err) {
    if (position < 0)
        return leati_fail_in_file(err, LEAT_OUT_OF_RANGE, stream->file->path, -1, false,
                                  "asked to go on at byte %lld", (long long)position);
    if (stream->unpacker == NULL && stream->file->seekable) {
        if (stream->file->size >= 0 && position > stream->file->size)
            return beyond_end(stream, position, stream->file->size, err);
        stream->position = position;
        return LEAT_OK;
    }
    if (stream->unpacker != NULL && position < stream->position)
        /* No codec can go back, except to the start. */
        rewind_compressed(stream);
    if (position < stream->position)
        return leati_fail_in_file(err, LEAT_FAILED_PRECONDITION, stream->file->path, -1, false,
                                  "it can only be read from start to end (a pipe?), asked for byte "
                                  "%lld at %lld; copy it to a file first",
                                  (long long)position, (long long)stream->position);
    return read_away(stream, position, err);
}
