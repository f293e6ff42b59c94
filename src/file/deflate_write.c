/* Compression by zlib, which writes the same bytes everywhere and is fast enough for a writer.
 *
 * Happy path: bytes go through a fixed output buffer to the sink. Memory comes from the library's
 * allocator. Failures: of the sink, passed unchanged; of an allocation when it is made. No locks:
 * one owner. */
#include "base/alloc.h"
#include "base/error.h"
#include "file/deflate.h"

static voidpf take_memory(voidpf context, uInt count, uInt size) {
    (void)context;
    /* Zeroed, since zlib reads parts of its window before it has written them. */
    return leati_alloc_zero(count, size);
}

static void give_memory(voidpf context, voidpf memory) {
    (void)context;
    leati_free(memory);
}

leat_status leati_deflate_open(leati_packer *packer, int level, leat_error *err) {
    leati_deflate *self = (leati_deflate *)packer;
    self->stream.zalloc = take_memory;
    self->stream.zfree = give_memory;
    /* The largest window; 16 more asks for gzip's header and checksum. */
    int window = 15 + (packer->codec->compression == LEAT_COMPRESSION_GZIP ? 16 : 0);
    if (deflateInit2(&self->stream, level, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return leati_no_memory(err);
    return LEAT_OK;
}

/* Runs zlib until it takes no more input (and, at the end, has no more output). */
static leat_status run(leati_deflate *self, int flush, leat_error *err) {
    for (;;) {
        self->stream.next_out = self->output;
        self->stream.avail_out = sizeof self->output;
        int code = deflate(&self->stream, flush);
        size_t size = sizeof self->output - self->stream.avail_out;
        leat_status status =
            size ? self->base.sink(self->base.context, self->output, size, err) : LEAT_OK;
        if (status != LEAT_OK || code == Z_STREAM_END)
            return status;
        /* No progress was possible: all input is taken and all output written. */
        if (code != Z_OK && code != Z_BUF_ERROR)
            return leati_fail(err, LEAT_INTERNAL, "zlib failed with %d while compressing", code);
        if (flush == Z_NO_FLUSH && self->stream.avail_out > 0)
            return LEAT_OK;
    }
}

leat_status leati_deflate_write(leati_packer *packer, const void *data, size_t size,
                                leat_error *err) {
    leati_deflate *self = (leati_deflate *)packer;
    leat_status status = LEAT_OK;
    for (size_t done = 0; done < size && status == LEAT_OK;) {
        /* zlib counts in an unsigned int. */
        uInt part = size - done < (1u << 30) ? (uInt)(size - done) : 1u << 30;
        self->stream.next_in = (Bytef *)(uintptr_t)data + done; /* zlib's field lacks const */
        self->stream.avail_in = part;
        status = run(self, Z_NO_FLUSH, err);
        done += part;
    }
    return status;
}

leat_status leati_deflate_finish(leati_packer *packer, leat_error *err) {
    leati_deflate *self = (leati_deflate *)packer;
    self->stream.next_in = NULL;
    self->stream.avail_in = 0;
    return run(self, Z_FINISH, err);
}

void leati_deflate_close(leati_packer *packer) {
    deflateEnd(&((leati_deflate *)packer)->stream);
}
