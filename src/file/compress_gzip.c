/* The codec gzip: deflate with a header of ten bytes and more, and a CRC-32 checksum. Streams may
 * follow one another. See deflate.h. */
#include "file/deflate.h"

static bool looks(const uint8_t *first, size_t size) {
    /* The two bytes of RFC 1952 (ID1, ID2). */
    return size > 2 && first[0] == 0x1f && first[1] == 0x8b;
}

const leati_compress_codec leati_codec_gzip = {
    .compression = LEAT_COMPRESSION_GZIP,
    .name = "GZIP",
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
