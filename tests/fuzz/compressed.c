/* Compressed streams: the same bytes and the same failure whatever the size of a read, after a seek
 * too; what is packed here is unpacked to the same bytes. */
#include "compressed.h"
#include "base/bytes.h"
#include "file/compress.h"
#include "file/stream.h"
#include "fuzz.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 20 };

typedef struct unpacked {
    uint8_t *data; /* of MOST_BYTES */
    size_t size;
    leat_status code;
    bool cut;
} unpacked;

static void unpack(const char *path, leat_compression compression, size_t from, size_t step,
                   unpacked *out) {
    leati_stream stream = {0};
    leat_error err = {0};
    size_t got = 1;
    out->size = 0;
    out->code = leati_stream_open(&stream, path, compression, &err);
    if (out->code == LEAT_OK && from > 0)
        out->code = leati_stream_seek(&stream, (int64_t)from, &err);
    while (out->code == LEAT_OK && got > 0 && out->size < MOST_BYTES - step) {
        size_t want = 1 + (out->size * 7 + step) % step;
        out->code = leati_stream_read(&stream, out->data + out->size, want, &got, &err);
        out->size += out->code == LEAT_OK ? got : 0;
    }
    out->cut = stream.cut;
    fuzz_check_error("unpacking", out->code, &err);
    leati_stream_close(&stream);
}

static void compare(const char *what, const unpacked *a, size_t from, const unpacked *b) {
    if (a->size - from != b->size || memcmp(a->data + from, b->data, b->size) != 0)
        fuzz_broken("%s: %zu bytes, then %zu or others", what, a->size - from, b->size);
    if (a->code != b->code || a->cut != b->cut)
        fuzz_broken("%s: %s and cut %d, then %s and %d", what, leat_status_name(a->code), a->cut,
                    leat_status_name(b->code), b->cut);
}

static leat_status append(void *context, const void *data, size_t size, leat_error *err) {
    (void)err;
    leati_put_raw(context, data, size);
    return LEAT_OK;
}

/* The bytes packed; at one of the levels up to 9. False without memory. */
static bool pack(const leati_compress_codec *codec, size_t level, const uint8_t *data, size_t size,
                 leati_writer *packed) {
    leat_error err = {0};
    size_t levels = codec->max_level < 9 ? (size_t)codec->max_level : 9;
    leati_packer *packer = leati_compress_packer_new(
        codec->compression, levels == 0 ? LEAT_UNSET : 1 + (int64_t)(level % levels), append,
        packed, &err);
    leat_status status =
        packer == NULL ? err.code : leati_compress_packer_write(packer, data, size, &err);
    if (status == LEAT_OK)
        status = leati_compress_packer_finish(packer, &err);
    leati_compress_packer_free(packer);
    if (status == LEAT_RESOURCE_EXHAUSTED)
        return false;
    if (status != LEAT_OK || packed->failed)
        fuzz_broken("packing: %s", err.text);
    return true;
}

static void check_pack(const leati_compress_codec *codec, const uint8_t *data, size_t size,
                       unpacked *out) {
    leati_writer packed = {0};
    if (!pack(codec, size, data, size, &packed)) {
        leati_writer_fini(&packed);
        return;
    }
    unpack(fuzz_file(packed.data, packed.size), codec->compression, 0, 4096, out);
    leati_writer_fini(&packed);
    if (out->code != LEAT_OK || out->cut || out->size != size || memcmp(out->data, data, size) != 0)
        fuzz_broken("%zu bytes came back as %zu", size, out->size);
}

void fuzz_compressed_seeds(leat_compression compression) {
    const leati_compress_codec *codec = leati_compress_codec_of(compression);
    uint8_t text[300];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (uint8_t)(i < 100 ? 'a' : i * 37 % 251);
    for (size_t size = 0; codec->run != NULL && size <= sizeof text; size += 75) {
        leati_writer packed = {0};
        if (pack(codec, size / 75, text, size, &packed))
            fuzz_seed(packed.data, packed.size);
        leati_writer_fini(&packed);
    }
}

void fuzz_compressed(leat_compression compression, const uint8_t *data, size_t size) {
    static unpacked whole, other;
    const leati_compress_codec *codec = leati_compress_codec_of(compression);
    if (codec->run == NULL)
        return; /* left out of this build */
    if (whole.data == NULL) {
        whole.data = malloc(MOST_BYTES);
        other.data = malloc(MOST_BYTES);
    }
    if (whole.data == NULL || other.data == NULL)
        fuzz_broken("no memory");
    const char *path = fuzz_file(data, size);
    unpack(path, compression, 0, 65536, &whole);
    if (whole.size < MOST_BYTES / 16) {
        unpack(path, compression, 0, 13, &other);
        compare("in short reads", &whole, 0, &other);
        if (whole.code == LEAT_OK && whole.size > 0) {
            unpack(path, compression, whole.size / 2, 4096, &other);
            compare("after a seek", &whole, whole.size / 2, &other);
        }
    }
    check_pack(codec, data, size, &other);
}
