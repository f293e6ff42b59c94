/* Deflate, which zlib and gzip wrap differently: what their two descriptors share. */
#ifndef LEATI_FILE_DEFLATE_H
#define LEATI_FILE_DEFLATE_H

#include "file/compress.h"
#include <isa-l/igzip_lib.h>
#include <zlib.h>

typedef struct leati_inflate {
    leati_unpacker base;
    bool done;  /* a zlib stream has ended */
    int failed; /* ISA-L's code, once it has failed; what it wrote before goes out first */
    struct inflate_state state;
} leati_inflate;

typedef struct leati_deflate {
    leati_packer base;
    z_stream stream;
    uint8_t output[32u << 10];
} leati_deflate;

/* The slots of a leati_compress_codec; its `compression` says which wrapper it is. */
void leati_deflate_inflate_reset(leati_unpacker *unpacker);
leat_status leati_deflate_inflate_run(leati_unpacker *unpacker, const uint8_t **in, size_t *in_size,
                                      uint8_t **out, size_t *out_size, leat_error *err);
leat_status leati_deflate_open(leati_packer *packer, int level, leat_error *err);
void leati_deflate_close(leati_packer *packer);
leat_status leati_deflate_write(leati_packer *packer, const void *data, size_t size,
                                leat_error *err);
leat_status leati_deflate_finish(leati_packer *packer, leat_error *err);

#endif
