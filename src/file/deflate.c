/* Compression by zlib, which writes the same bytes everywhere and is fast enough for a writer.
 *
 * Happy path: bytes go through a fixed output buffer to the sink. Memory comes from the library's
 * allocator. Failures: of the sink, passed unchanged; of an allocation when it is made. No locks:
 * one owner. */
#include "base/alloc.h"
#include "base/error.h"
#include "file/compress.h"
#include <zlib.h>

#define OUTPUT_SIZE (32u << 10)

struct leati_deflate {
    z_stream stream;
    leati_deflate_sink sink;
    void *context;
    uint8_t output[OUTPUT_SIZE];
};

static voidpf take_memory(voidpf context, uInt count, uInt size) {
    (void)context;
    return leati_alloc_zero(count, size);
}

static void give_memory(voidpf context, voidpf memory) {
    (void)context;
    leati_free(memory);
}

leati_deflate *leati_deflate_new(leat_compression compression, int level, leati_deflate_sink sink,
                                 void *context, leat_error *err) {
    if (level < 0 || level > 9) {
        leati_fail(err, LEAT_INVALID_ARGUMENT,
                   "the compression level is %d; expected 1 (fast) to 9 (small), or 0 for 6",
                   level);
        return NULL;
    }
    leati_deflate *self = leati_alloc_zero(1, sizeof *self);
    if (!self) {
        leati_no_memory(err, sizeof *self);
        return NULL;
    }
    self->sink = sink;
    self->context = context;
    self->stream.zalloc = take_memory;
    self->stream.zfree = give_memory;
    int window = 15 + (compression == LEAT_COMPRESSION_GZIP ? 16 : 0);
    if (deflateInit2(&self->stream, level ? level : 6, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
        leati_no_memory(err, 256u << 10);
        leati_free(self);
        return NULL;
    }
    return self;
}

/* Runs zlib until it takes no more input (and, at the end, has no more output). */
static leat_status run(leati_deflate *self, int flush, leat_error *err) {
    for (;;) {
        self->stream.next_out = self->output;
        self->stream.avail_out = OUTPUT_SIZE;
        int code = deflate(&self->stream, flush);
        size_t size = OUTPUT_SIZE - self->stream.avail_out;
        leat_status status = size ? self->sink(self->context, self->output, size, err) : LEAT_OK;
        if (status || code == Z_STREAM_END)
            return status;
        if (code != Z_OK && code != Z_BUF_ERROR)
            return leati_fail(err, LEAT_INTERNAL, "zlib failed with %d while compressing", code);
        if (flush == Z_NO_FLUSH && self->stream.avail_out > 0)
            return LEAT_OK;
    }
}

leat_status leati_deflate_write(leati_deflate *self, const void *data, size_t size,
                                leat_error *err) {
    leat_status status = LEAT_OK;
    for (size_t done = 0; done < size && !status;) {
        uInt part = size - done < (1u << 30) ? (uInt)(size - done) : 1u << 30;
        self->stream.next_in = (Bytef *)(uintptr_t)data + done; /* zlib's field lacks const */
        self->stream.avail_in = part;
        status = run(self, Z_NO_FLUSH, err);
        done += part;
    }
    return status;
}

leat_status leati_deflate_finish(leati_deflate *self, leat_error *err) {
    self->stream.next_in = NULL;
    self->stream.avail_in = 0;
    return run(self, Z_FINISH, err);
}

void leati_deflate_free(leati_deflate *self) {
    if (!self)
        return;
    deflateEnd(&self->stream);
    leati_free(self);
}
