/* Compressed streams behind one vtable. A codec is a file compress_<name>.c that ends in its
 * descriptor, a line in compress.def, and its number in leat_compression. */
#ifndef LEATI_FILE_COMPRESS_H
#define LEATI_FILE_COMPRESS_H

#include <leat/file.h>

typedef struct leati_compress_codec leati_compress_codec;

/* A decompressor; a codec's struct starts with it. One thread at a time. */
typedef struct leati_unpacker {
    const leati_compress_codec *codec;
    bool between; /* stands before the first byte of a stream: the input may end here */
} leati_unpacker;

/* Takes the compressed bytes (borrowed for the call). */
typedef leat_status (*leati_pack_sink)(void *context, const void *data, size_t size,
                                       leat_error *err);

/* A compressor; a codec's struct starts with it. One thread at a time. */
typedef struct leati_packer {
    const leati_compress_codec *codec;
    leati_pack_sink sink;
    void *context;
} leati_packer;

struct leati_compress_codec {
    leat_compression compression;
    const char *name; /* as in compression_type */
    /* The Debian package whose lack left the codec out of this build; then it has no functions. */
    const char *package;
    int max_level; /* 0: it has no levels */
    int default_level;
    size_t unpacker_size, packer_size; /* of its structs, zeroed before `open` */

    /* Do these first bytes of a file look like a stream? A guess. */
    bool (*looks)(const uint8_t *first, size_t size);

    leat_status (*unpacker_open)(leati_unpacker *unpacker, leat_error *err); /* may be NULL */
    void (*unpacker_close)(leati_unpacker *unpacker); /* may be NULL; also after a failed open */
    void (*reset)(leati_unpacker *unpacker);
    leat_status (*run)(leati_unpacker *unpacker, const uint8_t **in, size_t *in_size, uint8_t **out,
                       size_t *out_size, leat_error *err);

    leat_status (*packer_open)(leati_packer *packer, int level, leat_error *err);
    void (*packer_close)(leati_packer *packer); /* as unpacker_close */
    leat_status (*write)(leati_packer *packer, const void *data, size_t size, leat_error *err);
    leat_status (*finish)(leati_packer *packer, leat_error *err);
};

/* The codec of a compression; NULL for none and for a number that is no compression. */
const leati_compress_codec *leati_compress_codec_of(leat_compression compression);

/* What a file that starts with these bytes seems to be packed with: the first codec of the table
 * that they look like, else none. */
leat_compression leati_compress_codec_guess(const uint8_t *first, size_t size);

/* A decompressor. INVALID_ARGUMENT for what has no codec, UNIMPLEMENTED for one that was left out.
 * Owned; NULL on failure. */
leati_unpacker *leati_compress_unpacker_new(leat_compression compression, leat_error *err);
void leati_compress_unpacker_free(leati_unpacker *unpacker); /* NULL is allowed */
/* Back to the state after `new`. */
void leati_compress_unpacker_reset(leati_unpacker *unpacker);

/* Moves *in forward over what was read and *out over what was written; returns when either is used
 * up (and, without input, when nothing is left to write). Streams may follow one another where the
 * codec's own tools allow it: all but zlib. DATA_LOSS with a text without a file name on bytes that
 * are no such stream or have a wrong checksum; what was written before is good.
 * RESOURCE_EXHAUSTED: the stream must be read again from its start. */
LEAT_WARN_UNUSED leat_status leati_compress_unpacker_run(leati_unpacker *unpacker,
                                                         const uint8_t **in, size_t *in_size,
                                                         uint8_t **out, size_t *out_size,
                                                         leat_error *err);

/* A compressor at `level`, 1 to the codec's max_level (LEAT_UNSET: its default); bytes go to
 * `sink`. Owned; NULL on failure. */
leati_packer *leati_compress_packer_new(leat_compression compression, int64_t level,
                                        leati_pack_sink sink, void *context, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_compress_packer_write(leati_packer *packer, const void *data,
                                                         size_t size, leat_error *err);
/* Writes the end of the stream; then only `free` is allowed. */
LEAT_WARN_UNUSED leat_status leati_compress_packer_finish(leati_packer *packer, leat_error *err);
void leati_compress_packer_free(leati_packer *packer); /* NULL is allowed */

/* For codecs: DATA_LOSS for bytes that do not start a stream. */
leat_status leati_compress_no_header(const leati_unpacker *unpacker, leat_error *err);

/* The library's allocator in the form of zlib, zstd and lz4. */
void *leati_compress_alloc(void *context, size_t size);
void leati_compress_free(void *context, void *memory);

#endif
