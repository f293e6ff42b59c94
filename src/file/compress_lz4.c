/* The codec lz4: LZ4 frames, by liblz4.
 *
 * Happy path: frames are read one behind the other, skippable ones without effect; what is written
 * has a checksum. Failures: damage is DATA_LOSS with the library's word. Without liblz4, or with
 * one that does not take an allocator, the codec is left out. No locks: one owner. */
#include "file/compress.h"

#ifdef LEATI_HAVE_LZ4

#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#define LZ4F_STATIC_LINKING_ONLY /* for the constructors that take an allocator, and error codes   \
                                  */
#include <lz4frame.h>

static const LZ4F_CustomMem memory = {leati_compress_alloc, NULL, leati_compress_free, NULL};

static leat_status no_memory(const char *what, leat_error *err) {
    return leati_fail(err, LEAT_RESOURCE_EXHAUSTED, "out of memory while %s LZ4 data", what);
}

/* ---- reading ---- */

/* The library says nothing of what it wrote in a call that failed. So a call gets no input that
 * could fail behind output: not the next block's header with a block, no checksum with bytes that
 * are stored as they are, nothing at all while output waits. */
enum { WORD = 4, SMALLEST_HEADER = 7 };

typedef struct lz4_unpacker {
    leati_unpacker base;
    LZ4F_dctx *context;
    size_t hint;    /* bytes that the library asks for next; 0: a frame begins */
    bool checksums; /* the frame's blocks have one each */
    bool waiting;   /* the last call filled its room, so more output may wait */
} lz4_unpacker;

static bool looks(const uint8_t *first, size_t size) {
    return size >= 4 && first[0] == 0x04 && first[1] == 0x22 && first[2] == 0x4d &&
           first[3] == 0x18;
}

static leat_status unpacker_open(leati_unpacker *unpacker, leat_error *err) {
    lz4_unpacker *self = (lz4_unpacker *)unpacker;
    self->context = LZ4F_createDecompressionContext_advanced(memory, LZ4F_VERSION);
    return self->context != NULL ? LEAT_OK : no_memory("reading", err);
}

static void unpacker_close(leati_unpacker *unpacker) {
    LZ4F_freeDecompressionContext(((lz4_unpacker *)unpacker)->context);
}

static void reset(leati_unpacker *unpacker) {
    lz4_unpacker *self = (lz4_unpacker *)unpacker;
    LZ4F_resetDecompressionContext(self->context);
    self->hint = 0;
    self->checksums = self->waiting = false;
}

/* How much input the next call may have. A block is asked for with its checksum and the header of
 * the one behind it. */
static size_t most_input(const lz4_unpacker *self) {
    size_t behind = self->checksums ? 2 * WORD : WORD;
    if (self->waiting)
        return 0;
    if (self->hint == 0)
        return SMALLEST_HEADER;
    if (self->hint > behind)
        return self->hint - behind;
    return self->hint > WORD ? self->hint - WORD : self->hint;
}

/* Looks whether the blocks of the frame have checksums, once its header was read. */
static void note_frame(lz4_unpacker *self) {
    LZ4F_frameInfo_t info = {0};
    size_t none = 0;
    self->checksums = !LZ4F_isError(LZ4F_getFrameInfo(self->context, &info, NULL, &none)) &&
                      info.blockChecksumFlag == LZ4F_blockChecksumEnabled;
}

static leat_status bad_stream(const leati_unpacker *unpacker, size_t code, leat_error *err) {
    switch (LZ4F_getErrorCode(code)) {
    case LZ4F_ERROR_allocation_failed: return no_memory("reading", err);
    case LZ4F_ERROR_frameType_unknown: return leati_compress_no_header(unpacker, err);
    default:
        return leati_fail(err, LEAT_DATA_LOSS, "damaged LZ4 data (%s)", LZ4F_getErrorName(code));
    }
}

static leat_status run(leati_unpacker *unpacker, const uint8_t **in, size_t *in_size, uint8_t **out,
                       size_t *out_size, leat_error *err) {
    lz4_unpacker *self = (lz4_unpacker *)unpacker;
    for (;;) {
        if (self->base.between && *in_size == 0)
            return LEAT_OK;
        self->base.between = false;
        size_t most = most_input(self), read = LEATI_MIN(*in_size, most);
        size_t given = read, written = *out_size;
        size_t left = LZ4F_decompress(self->context, *out, &written, *in, &read, NULL);
        if (LZ4F_isError(left))
            return bad_stream(unpacker, left, err);
        *in += read;
        *in_size -= read;
        *out += written;
        *out_size -= written;
        self->base.between = left == 0;
        self->hint = left;
        self->waiting = *out_size == 0 && left != 0;
        if (written == 0 && left != 0)
            note_frame(self);
        if (*out_size == 0 || (*in_size == 0 && written == 0))
            return LEAT_OK;
        if (given > 0 && read == 0 && written == 0)
            return leati_fail(err, LEAT_DATA_LOSS, "damaged LZ4 data (it does not go on)");
    }
}

/* ---- writing ---- */

enum { PIECE = 64 << 10 };

typedef struct lz4_packer {
    leati_packer base;
    LZ4F_cctx *context;
    LZ4F_preferences_t preferences;
    uint8_t *output;
    size_t capacity; /* what a piece, the header or the end may need */
    size_t header;   /* bytes of the header in `output` that have not gone out yet */
} lz4_packer;

/* Hands on what the library wrote, or its error. */
static leat_status put(lz4_packer *self, size_t size, leat_error *err) {
    if (!LZ4F_isError(size))
        return size ? self->base.sink(self->base.context, self->output, size, err) : LEAT_OK;
    if (LZ4F_getErrorCode(size) == LZ4F_ERROR_allocation_failed)
        return no_memory("writing", err);
    return leati_fail(err, LEAT_INTERNAL, "liblz4 failed while writing: %s",
                      LZ4F_getErrorName(size));
}

static leat_status packer_open(leati_packer *packer, int level, leat_error *err) {
    lz4_packer *self = (lz4_packer *)packer;
    self->preferences.compressionLevel = level;
    self->preferences.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
    self->capacity = LZ4F_HEADER_SIZE_MAX + LZ4F_compressBound(PIECE, &self->preferences);
    self->context = LZ4F_createCompressionContext_advanced(memory, LZ4F_VERSION);
    self->output = leati_alloc(self->capacity, 1);
    if (self->context == NULL || self->output == NULL)
        return no_memory("writing", err);
    self->header =
        LZ4F_compressBegin(self->context, self->output, self->capacity, &self->preferences);
    return LZ4F_isError(self->header) ? put(self, self->header, err) : LEAT_OK;
}

static leat_status put_header(lz4_packer *self, leat_error *err) {
    size_t size = self->header;
    self->header = 0;
    return put(self, size, err);
}

static void packer_close(leati_packer *packer) {
    lz4_packer *self = (lz4_packer *)packer;
    LZ4F_freeCompressionContext(self->context);
    leati_free(self->output);
}

static leat_status pack(leati_packer *packer, const void *data, size_t size, leat_error *err) {
    lz4_packer *self = (lz4_packer *)packer;
    leat_status status = put_header(self, err);
    for (size_t done = 0; done < size && status == LEAT_OK;) {
        size_t part = LEATI_MIN(size - done, PIECE);
        status = put(self,
                     LZ4F_compressUpdate(self->context, self->output, self->capacity,
                                         (const uint8_t *)data + done, part, NULL),
                     err);
        done += part;
    }
    return status;
}

static leat_status finish(leati_packer *packer, leat_error *err) {
    lz4_packer *self = (lz4_packer *)packer;
    leat_status status = put_header(self, err);
    return status != LEAT_OK
               ? status
               : put(self, LZ4F_compressEnd(self->context, self->output, self->capacity, NULL),
                     err);
}

#endif

const leati_compress_codec leati_codec_lz4 = {
    .compression = LEAT_COMPRESSION_LZ4,
    .name = "LZ4",
    .max_level = 12,
    .default_level = 1,
#ifdef LEATI_HAVE_LZ4
    .unpacker_size = sizeof(lz4_unpacker),
    .packer_size = sizeof(lz4_packer),
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
    .package = "liblz4-dev",
#endif
};
