/* The codec snappy, by libsnappy, in two framings.
 *
 * TensorFlow's, which is also what is written: blocks of a length (4 bytes, big-endian) and so many
 * compressed bytes. The framing format of .sz files, which starts with "\xff\6\0\0sNaPpY": chunks
 * of a kind (1 byte), a length (3 bytes, little-endian) and data with a checksum. The first four
 * bytes tell them apart.
 *
 * Happy path: a block that lies whole in the input and fits into the output is decompressed from
 * one to the other, else it goes through buffers that grow as bytes arrive. Failures: a block that
 * says it is larger than 256 MiB or than it can be, damaged bytes, a wrong checksum and a chunk of
 * an unknown kind are DATA_LOSS. Without libsnappy the codec is left out. No locks: one owner. */
#include "file/compress.h"

#ifdef LEATI_HAVE_SNAPPY

#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include "file/crc.h"
#include "file/wire.h"
#include <snappy-c.h>

enum {
    MOST_BLOCK = 256 << 20,
    MOST_RATIO = 22,       /* a copy of 64 bytes takes at least 3 */
    MOST_CHUNK = 64 << 10, /* of the framing format, before compression */
    /* TensorFlow's reader has buffers of 256 KiB for a block, compressed or not. */
    WRITTEN_BLOCK = 128 << 10,
    HEADER = 4,
};

/* ---- reading ---- */

typedef enum framing { UNKNOWN = 0, BLOCKS, CHUNKS } framing;

typedef struct snappy_unpacker {
    leati_unpacker base;
    framing framing;
    uint8_t header[HEADER];
    size_t header_have;
    size_t need;   /* bytes of the body, once the header is whole */
    uint8_t *body; /* collects what does not lie whole in the input */
    size_t body_have;
    size_t body_room;
    bool passing;   /* over the body of a chunk that has no data */
    uint8_t *plain; /* decompressed: [plain_at, plain_size) is still to go out */
    size_t plain_at;
    size_t plain_size;
    size_t plain_room;
} snappy_unpacker;

/* A block's length, then the length before compression, then a literal: all plausible. */
static bool looks(const uint8_t *first, size_t size) {
    static const uint8_t magic[] = {0xff, 6, 0, 0, 's', 'N'};
    if (size >= sizeof magic && memcmp(first, magic, sizeof magic) == 0)
        return true;
    if (size < 10)
        return false;
    size_t packed =
        (size_t)first[0] << 24 | (size_t)first[1] << 16 | (size_t)first[2] << 8 | first[3];
    leati_wire wire = {first + HEADER, first + 10};
    uint64_t plain;
    return packed > 2 && packed <= MOST_BLOCK && leati_wire_varint(&wire, &plain) && plain > 0 &&
           plain <= packed * MOST_RATIO && packed <= snappy_max_compressed_length((size_t)plain) &&
           wire.at < wire.end && (*wire.at & 3) == 0;
}

static void unpacker_close(leati_unpacker *unpacker) {
    snappy_unpacker *self = (snappy_unpacker *)unpacker;
    leati_free(self->body);
    leati_free(self->plain);
}

static void reset(leati_unpacker *unpacker) {
    snappy_unpacker *self = (snappy_unpacker *)unpacker;
    self->framing = UNKNOWN;
    self->header_have = self->body_have = self->plain_at = self->plain_size = 0;
}

static leat_status damaged(const char *what, leat_error *err) {
    return leati_fail(err, LEAT_DATA_LOSS, "damaged SNAPPY data (%s)", what);
}

/* Reads a whole header: how long is the body? */
static leat_status read_header(snappy_unpacker *self, leat_error *err) {
    const uint8_t *h = self->header;
    if (self->framing == UNKNOWN)
        self->framing = leati_wire_load32(h) == 0x000006ff ? CHUNKS : BLOCKS;
    self->passing = false;
    if (self->framing == BLOCKS) {
        self->need = (size_t)h[0] << 24 | (size_t)h[1] << 16 | (size_t)h[2] << 8 | h[3];
        if (self->need == 0 || self->need > MOST_BLOCK)
            return leati_fail(err, LEAT_DATA_LOSS,
                              "not SNAPPY data, or damaged: a block of %zu bytes; expected 1 to %d",
                              self->need, MOST_BLOCK);
        return LEAT_OK;
    }
    self->need = leati_wire_load32(h) >> 8;
    self->passing = h[0] >= 0x80;
    return h[0] > 1 && h[0] < 0x80 ? damaged("a chunk of an unknown kind", err) : LEAT_OK;
}

static leat_status grow(uint8_t **bytes, size_t *room, size_t size, leat_error *err) {
    return leati_grow((void **)bytes, room, size, 1) ? LEAT_OK : leati_no_memory(err);
}

/* Decompresses a block or chunk into `to`. */
static leat_status decompress(const snappy_unpacker *self, const uint8_t *body, size_t size,
                              uint8_t *to, size_t plain, leat_error *err) {
    size_t got = plain;
    if (self->framing == BLOCKS || self->header[0] == 0) {
        size_t skip = self->framing == BLOCKS ? 0 : 4;
        if (snappy_uncompress((const char *)body + skip, size - skip, (char *)to, &got) !=
                SNAPPY_OK ||
            got != plain)
            return damaged("a block that does not decompress", err);
    } else if (plain > 0) {
        memcpy(to, body + 4, plain);
    }
    if (self->framing == CHUNKS &&
        leati_wire_load32(body) != leati_crc_mask(leati_crc_crc32c(to, plain)))
        return damaged("a wrong checksum", err);
    return LEAT_OK;
}

/* The number of bytes in a whole body before compression. */
static leat_status plain_size_of(const snappy_unpacker *self, const uint8_t *body, size_t size,
                                 size_t *plain, leat_error *err) {
    size_t skip = self->framing == CHUNKS ? 4 : 0;
    *plain = 0;
    if (size < skip)
        return damaged("a chunk without a checksum", err);
    if (self->framing == CHUNKS && self->header[0] == 1)
        *plain = size - skip;
    else if (snappy_uncompressed_length((const char *)body + skip, size - skip, plain) != SNAPPY_OK)
        return damaged("a block without its length", err);
    size_t most = self->framing == CHUNKS ? MOST_CHUNK : MOST_BLOCK;
    if (*plain > most || *plain / MOST_RATIO > size)
        return damaged("a block that is larger than it can be", err);
    return LEAT_OK;
}

/* A body is whole: its bytes go to the output, or to the buffer if they do not fit. */
static leat_status take_body(snappy_unpacker *self, const uint8_t *body, uint8_t **out,
                             size_t *out_size, leat_error *err) {
    size_t plain = 0;
    leat_status status = plain_size_of(self, body, self->need, &plain, err);
    bool fits = plain <= *out_size;
    if (status == LEAT_OK && !fits)
        status = grow(&self->plain, &self->plain_room, plain, err);
    if (status == LEAT_OK)
        status = decompress(self, body, self->need, fits ? *out : self->plain, plain, err);
    if (status != LEAT_OK)
        return status;
    if (fits) {
        *out += plain;
        *out_size -= plain;
    } else {
        self->plain_at = 0;
        self->plain_size = plain;
    }
    self->header_have = self->body_have = 0;
    return LEAT_OK;
}

/* Hands out what is decompressed. */
static void drain(snappy_unpacker *self, uint8_t **out, size_t *out_size) {
    size_t left = self->plain_size - self->plain_at, part = LEATI_MIN(left, *out_size);
    if (part == 0)
        return;
    memcpy(*out, self->plain + self->plain_at, part);
    self->plain_at += part;
    *out += part;
    *out_size -= part;
}

/* Takes bytes of the header or body being collected. False: the input is used up. */
static bool collect(uint8_t *to, size_t *have, size_t need, const uint8_t **in, size_t *in_size) {
    size_t part = LEATI_MIN(need - *have, *in_size);
    if (part > 0 && to != NULL)
        memcpy(to + *have, *in, part);
    *have += part;
    *in += part;
    *in_size -= part;
    return *have == need;
}

/* Goes on with a body. *whole: it was used. */
static leat_status run_body(snappy_unpacker *self, const uint8_t **in, size_t *in_size,
                            uint8_t **out, size_t *out_size, bool *whole, leat_error *err) {
    *whole = false;
    if (self->passing) {
        *whole = collect(NULL, &self->body_have, self->need, in, in_size);
        if (*whole)
            self->header_have = self->body_have = 0;
        return LEAT_OK;
    }
    const uint8_t *body = *in;
    bool direct = self->body_have == 0 && *in_size >= self->need;
    if (!direct) {
        size_t missing = self->need - self->body_have;
        size_t have = self->body_have + LEATI_MIN(missing, *in_size);
        leat_status status = grow(&self->body, &self->body_room, have, err);
        if (status != LEAT_OK || !collect(self->body, &self->body_have, self->need, in, in_size))
            return status;
        body = self->body;
    }
    leat_status status = take_body(self, body, out, out_size, err);
    *whole = status == LEAT_OK;
    if (direct && status == LEAT_OK) {
        *in += self->need;
        *in_size -= self->need;
    }
    return status;
}

static leat_status run(leati_unpacker *unpacker, const uint8_t **in, size_t *in_size, uint8_t **out,
                       size_t *out_size, leat_error *err) {
    snappy_unpacker *self = (snappy_unpacker *)unpacker;
    for (bool whole = true; whole;) {
        drain(self, out, out_size);
        self->base.between = self->header_have == 0 && self->plain_at == self->plain_size;
        if (*out_size == 0 || self->plain_at < self->plain_size)
            return LEAT_OK;
        if (self->header_have < HEADER) {
            self->base.between = self->base.between && *in_size == 0;
            if (!collect(self->header, &self->header_have, HEADER, in, in_size))
                return LEAT_OK;
            leat_status status = read_header(self, err);
            if (status != LEAT_OK)
                return status;
        }
        LEATI_TRY(run_body(self, in, in_size, out, out_size, &whole, err));
    }
    return LEAT_OK;
}

/* ---- writing ---- */

typedef struct snappy_packer {
    leati_packer base;
    size_t have;
    uint8_t *output; /* a header and a compressed block */
    uint8_t plain[WRITTEN_BLOCK];
} snappy_packer;

static leat_status packer_open(leati_packer *packer, int level, leat_error *err) {
    (void)level;
    size_t size = HEADER + snappy_max_compressed_length(WRITTEN_BLOCK);
    ((snappy_packer *)packer)->output = leati_alloc(size, 1);
    return ((snappy_packer *)packer)->output != NULL ? LEAT_OK : leati_no_memory(err);
}

static void packer_close(leati_packer *packer) {
    leati_free(((snappy_packer *)packer)->output);
}

/* Writes a block of at most WRITTEN_BLOCK bytes. */
static leat_status put_block(snappy_packer *self, const void *data, size_t size, leat_error *err) {
    size_t packed = snappy_max_compressed_length(WRITTEN_BLOCK);
    if (snappy_compress(data, size, (char *)self->output + HEADER, &packed) != SNAPPY_OK)
        return leati_fail(err, LEAT_INTERNAL, "libsnappy failed while writing %zu bytes", size);
    for (int i = 0; i < HEADER; i++)
        self->output[i] = (uint8_t)(packed >> (24 - 8 * i));
    return self->base.sink(self->base.context, self->output, HEADER + packed, err);
}

static leat_status finish(leati_packer *packer, leat_error *err) {
    snappy_packer *self = (snappy_packer *)packer;
    size_t size = self->have;
    self->have = 0;
    return size > 0 ? put_block(self, self->plain, size, err) : LEAT_OK;
}

/* Small writes are collected; a whole block of the caller's bytes is compressed where it lies. */
static leat_status pack(leati_packer *packer, const void *data, size_t size, leat_error *err) {
    snappy_packer *self = (snappy_packer *)packer;
    const uint8_t *from = data;
    leat_status status = LEAT_OK;
    while (size > 0 && status == LEAT_OK) {
        size_t room = WRITTEN_BLOCK - self->have, part = LEATI_MIN(size, room);
        if (part == WRITTEN_BLOCK) {
            status = put_block(self, from, part, err);
        } else {
            memcpy(self->plain + self->have, from, part);
            self->have += part;
            if (self->have == WRITTEN_BLOCK)
                status = finish(packer, err);
        }
        from += part;
        size -= part;
    }
    return status;
}

#endif

const leati_compress_codec leati_codec_snappy = {
    .compression = LEAT_COMPRESSION_SNAPPY,
    .name = "SNAPPY",
    .max_level = 1,
    .default_level = 1,
#ifdef LEATI_HAVE_SNAPPY
    .unpacker_size = sizeof(snappy_unpacker),
    .packer_size = sizeof(snappy_packer),
    .looks = looks,
    .unpacker_close = unpacker_close,
    .reset = reset,
    .run = run,
    .packer_open = packer_open,
    .packer_close = packer_close,
    .write = pack,
    .finish = finish,
#else
    .package = "libsnappy-dev",
#endif
};
