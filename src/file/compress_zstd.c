/* The codec zstd, by libzstd.
 *
 * Happy path: frames are read one behind the other, skippable ones without effect; what is written
 * has a checksum. Failures: a frame whose window is larger than 128 MiB is refused, so that a
 * damaged header cannot ask for more; other damage is DATA_LOSS with the library's word. Without
 * libzstd the codec is left out. No locks: one owner. */
#include "file/compress.h"

#ifdef LEATI_HAVE_ZSTD

#include "base/error.h"
#include "base/minmax.h"
#define ZSTD_STATIC_LINKING_ONLY /* for the constructors that take an allocator */
#include <zstd.h>
#include <zstd_errors.h>

static const ZSTD_customMem memory = {leati_compress_alloc, leati_compress_free, NULL};

static leat_status failed(const char *what, size_t code, leat_error *err) {
    if (ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation)
        return leati_fail(err, LEAT_RESOURCE_EXHAUSTED, "out of memory while %s ZSTD data", what);
    return leati_fail(err, LEAT_INTERNAL, "libzstd failed while %s: %s", what,
                      ZSTD_getErrorName(code));
}

/* ---- reading ---- */

/* The library says nothing of what it wrote in a call that failed. So a call gets no input that
 * could fail behind output: not the next block's header with a block, nothing at all while output
 * waits.
 */
enum { BLOCK_HEADER = 3, SMALLEST_HEADER = 5 };

typedef struct zstd_unpacker {
    leati_unpacker base;
    ZSTD_DCtx *context;
    size_t hint;  /* bytes that the library asks for next; 0: a frame begins */
    bool waiting; /* the last call filled its room, so more output may wait */
} zstd_unpacker;

static bool looks(const uint8_t *first, size_t size) {
    return size >= 4 && first[0] == 0x28 && first[1] == 0xb5 && first[2] == 0x2f &&
           first[3] == 0xfd;
}

static leat_status unpacker_open(leati_unpacker *unpacker, leat_error *err) {
    zstd_unpacker *self = (zstd_unpacker *)unpacker;
    self->context = ZSTD_createDCtx_advanced(memory);
    return self->context != NULL ? LEAT_OK : leati_no_memory(err);
}

static void unpacker_close(leati_unpacker *unpacker) {
    ZSTD_freeDCtx(((zstd_unpacker *)unpacker)->context);
}

static void reset(leati_unpacker *unpacker) {
    zstd_unpacker *self = (zstd_unpacker *)unpacker;
    ZSTD_DCtx_reset(self->context, ZSTD_reset_session_only);
    self->hint = 0;
    self->waiting = false;
}

/* How much input the next call may have. A block is asked for with the header of the one behind it.
 */
static size_t most_input(const zstd_unpacker *self) {
    if (self->waiting)
        return 0;
    if (self->hint == 0)
        return SMALLEST_HEADER;
    return self->hint > BLOCK_HEADER ? self->hint - BLOCK_HEADER : self->hint;
}

static leat_status bad_stream(const leati_unpacker *unpacker, size_t code, leat_error *err) {
    switch (ZSTD_getErrorCode(code)) {
    case ZSTD_error_memory_allocation: return failed("reading", code, err);
    case ZSTD_error_prefix_unknown: return leati_compress_no_header(unpacker, err);
    case ZSTD_error_frameParameter_windowTooLarge:
        return leati_fail(err, LEAT_DATA_LOSS,
                          "ZSTD data with a window above 128 MiB, or a damaged header; compress "
                          "without --long");
    default:
        return leati_fail(err, LEAT_DATA_LOSS, "damaged ZSTD data (%s)", ZSTD_getErrorName(code));
    }
}

static leat_status run(leati_unpacker *unpacker, const uint8_t **in, size_t *in_size, uint8_t **out,
                       size_t *out_size, leat_error *err) {
    zstd_unpacker *self = (zstd_unpacker *)unpacker;
    for (;;) {
        if (self->base.between && *in_size == 0)
            return LEAT_OK;
        self->base.between = false;
        size_t most = most_input(self);
        ZSTD_inBuffer from = {*in, LEATI_MIN(*in_size, most), 0};
        ZSTD_outBuffer to = {*out, *out_size, 0};
        size_t left = ZSTD_decompressStream(self->context, &to, &from);
        *in += from.pos;
        *in_size -= from.pos;
        *out += to.pos;
        *out_size -= to.pos;
        if (ZSTD_isError(left))
            return bad_stream(unpacker, left, err);
        self->base.between = left == 0;
        self->hint = left;
        self->waiting = *out_size == 0 && left != 0;
        if (*out_size == 0 || (*in_size == 0 && to.pos == 0))
            return LEAT_OK;
    }
}

/* ---- writing ---- */

typedef struct zstd_packer {
    leati_packer base;
    ZSTD_CCtx *context;
    uint8_t output[64u << 10];
} zstd_packer;

static leat_status packer_open(leati_packer *packer, int level, leat_error *err) {
    zstd_packer *self = (zstd_packer *)packer;
    self->context = ZSTD_createCCtx_advanced(memory);
    if (self->context == NULL)
        return leati_no_memory(err);
    size_t code = ZSTD_CCtx_setParameter(self->context, ZSTD_c_compressionLevel, level);
    if (!ZSTD_isError(code))
        code = ZSTD_CCtx_setParameter(self->context, ZSTD_c_checksumFlag, 1);
    return ZSTD_isError(code) ? failed("writing", code, err) : LEAT_OK;
}

static void packer_close(leati_packer *packer) {
    ZSTD_freeCCtx(((zstd_packer *)packer)->context);
}

/* Feeds the bytes until all are taken and, at the end, all is written. */
static leat_status feed(zstd_packer *self, ZSTD_inBuffer from, ZSTD_EndDirective end,
                        leat_error *err) {
    for (;;) {
        ZSTD_outBuffer to = {self->output, sizeof self->output, 0};
        size_t left = ZSTD_compressStream2(self->context, &to, &from, end);
        if (ZSTD_isError(left))
            return failed("writing", left, err);
        leat_status status =
            to.pos ? self->base.sink(self->base.context, self->output, to.pos, err) : LEAT_OK;
        if (status != LEAT_OK || (end == ZSTD_e_end ? left == 0 : from.pos == from.size))
            return status;
    }
}

static leat_status pack(leati_packer *packer, const void *data, size_t size, leat_error *err) {
    return feed((zstd_packer *)packer, (ZSTD_inBuffer){data, size, 0}, ZSTD_e_continue, err);
}

static leat_status finish(leati_packer *packer, leat_error *err) {
    return feed((zstd_packer *)packer, (ZSTD_inBuffer){NULL, 0, 0}, ZSTD_e_end, err);
}

#endif

const leati_compress_codec leati_codec_zstd = {
    .compression = LEAT_COMPRESSION_ZSTD,
    .name = "ZSTD",
    .max_level = 22,
    .default_level = 3,
#ifdef LEATI_HAVE_ZSTD
    .unpacker_size = sizeof(zstd_unpacker),
    .packer_size = sizeof(zstd_packer),
    .looks = looks,
    .unpacker_open = unpacker_open,
    .unpacker_close = unpacker_close,
    .reset = reset,
    .run = run,
    .packer_open = packer_open,
    .packer_close = packer_close,
    .write = pack,
    .finish = finish,
#else
    .package = "libzstd-dev",
#endif
};
