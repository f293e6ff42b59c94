/* Feeds libspng a PNG chunk by chunk.
 *
 * Text, profiles, times and private chunks are left out: they do not change pixels, libpng only
 * warns where they are damaged, and a compressed profile can be made to unpack to gigabytes. What
 * is given is the signature, the critical chunks and tRNS; libspng checks their order and
 * checksums. A chunk type that is not four letters, or data that end inside a chunk, fail here. No
 * locks. */
#include "image/png_source.h"
#include "base/minmax.h"

#include <string.h>

#define SIGNATURE 8
#define FRAME 12 /* length, type and checksum around the content of a chunk */
#define IEND_SUM UINT32_C(0xAE426082)

leati_png_source leati_png_source_new(const uint8_t *data, size_t size) {
    return (leati_png_source){.data = data, .size = size, .left = SIGNATURE};
}

static uint32_t read_u32(const uint8_t *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static bool is_letter(uint8_t byte) {
    return (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z');
}

/* Moves on to the next chunk that libspng is to see. */
static int next_chunk(leati_png_source *source) {
    for (;;) {
        /* Length and type at least; the checksum may be missing still. */
        if (source->size - source->at < FRAME - 4)
            return SPNG_IO_EOF;
        const uint8_t *chunk = source->data + source->at, *type = chunk + 4;
        size_t length = read_u32(chunk);
        for (int i = 0; i < 4; i++)
            if (!is_letter(type[i]))
                return SPNG_ECHUNK_TYPE;
        /* A capital first letter, which bit 5 tells. */
        bool critical = (type[0] & 0x20) == 0;
        if (critical || memcmp(type, "tRNS", 4) == 0) {
            source->left = length + FRAME;
            source->last = memcmp(type, "IEND", 4) == 0;
            source->filled = length > 0;
            return 0;
        }
        if (length > INT32_MAX)
            return SPNG_ECHUNK_STDLEN;
        if (source->size - source->at < length + FRAME)
            return SPNG_IO_EOF;
        source->at += length + FRAME;
    }
}

int leati_png_source_read(spng_ctx *png, void *user, void *out, size_t length) {
    (void)png;
    leati_png_source *source = user;
    while (length > 0) {
        if (source->left == 0) {
            int code = next_chunk(source);
            if (code != 0)
                /* libspng takes no other codes of a reader. */
                return code == SPNG_IO_EOF ? SPNG_IO_EOF : SPNG_IO_ERROR;
        }
        size_t count = LEATI_MIN(length, source->left);
        if (source->size - source->at < count)
            return SPNG_IO_EOF;
        memcpy(out, source->data + source->at, count);
        out = (uint8_t *)out + count;
        length -= count;
        source->at += count;
        source->left -= count;
    }
    return 0;
}

int leati_png_source_check_end(const leati_png_source *source) {
    if (!source->last || source->size - source->at < source->left)
        return SPNG_IO_EOF;
    /* A last chunk with content has another sum; libpng warns of it and goes on. */
    const uint8_t *end = source->data + source->at + source->left;
    return source->filled || read_u32(end - 4) == IEND_SUM ? 0 : SPNG_ECHUNK_CRC;
}
