/* The codec zlib: deflate with a header of two bytes and an Adler-32 checksum. Nothing may follow
 * its one stream. See deflate.h. */
#include "file/deflate.h"

/* The first byte names deflate, and both are a multiple of 31. */
static bool looks(const uint8_t *first, size_t size) {
    return size > 2 && (first[0] & 15) == 8 && (first[0] * 256 + first[1]) % 31 == 0;
}

const leati_compress_codec leati_codec_zlib = {
    .compression = LEAT_COMPRESSION_ZLIB,
    .name = "ZLIB",
    .max_level = 9,
    .default_level = 6,
    .unpacker_size = sizeof(leati_inflate),
    .packer_size = sizeof(leati_deflate),
    .looks = looks,
    .reset = leati_deflate_inflate_reset,
    .run = leati_deflate_inflate_run,
    .packer_open = leati_deflate_open,
    .packer_close = leati_deflate_close,
    .write = leati_deflate_write,
    .finish = leati_deflate_finish,
};
