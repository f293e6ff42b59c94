/* Compression: every codec's reading against its writing in pieces of any size, and against bytes
 * of other programs; damage and cuts. A codec that was left out of the build is passed over. */
#include "support/cmocka.h"

#include "base/error.h"
#include "file/compress.h"
#include "support/refused.h"
#include "support/torture.h"
#include <zlib.h>

#define PLAIN_SIZE 50000

typedef struct bytes {
    uint8_t data[2 * PLAIN_SIZE + 100];
    size_t size;
} bytes;

static uint8_t plain[PLAIN_SIZE];

/* Text with repeats near and far, and a part that does not compress. */
static void make_plain(void) {
    uint32_t random = 12345;
    for (size_t i = 0; i < PLAIN_SIZE; i++) {
        random = random * 1664525u + 1013904223u;
        plain[i] = i % 10000 < 3000 ? (uint8_t)(random >> 24) : (uint8_t)("leat reads "[i % 11]);
    }
}

static leat_status append(void *context, const void *data, size_t size, leat_error *err) {
    (void)err;
    bytes *to = context;
    assert_true(size <= sizeof to->data - to->size);
    memcpy(to->data + to->size, data, size);
    to->size += size;
    return LEAT_OK;
}

/* The next codec of the build, from none on; none after the last. */
static leat_compression next_codec(leat_compression c) {
    const leati_compress_codec *codec;
    do {
        codec = leati_compress_codec_of((leat_compression)++c);
    } while (codec != NULL && codec->package != NULL);
    return codec != NULL ? c : LEAT_COMPRESSION_NONE;
}

#define FOR_CODECS(c)                                                                              \
    for (leat_compression c = next_codec(LEAT_COMPRESSION_NONE); c; c = next_codec(c))

static void pack(leat_compression compression, int64_t level, size_t step, bytes *out) {
    leat_error err = {0};
    leati_packer *packer = leati_compress_packer_new(compression, level, append, out, &err);
    assert_non_null(packer);
    for (size_t at = 0; at < PLAIN_SIZE; at += step) {
        size_t part = PLAIN_SIZE - at < step ? PLAIN_SIZE - at : step;
        assert_int_equal(leati_compress_packer_write(packer, plain + at, part, &err), LEAT_OK);
    }
    assert_int_equal(leati_compress_packer_finish(packer, &err), LEAT_OK);
    leati_compress_packer_free(packer);
}

/* Feeds `in_step` bytes at a time into room of `out_step`; returns the last status. */
static leat_status unpack(leati_unpacker *unpacker, const bytes *in, size_t in_step,
                          size_t out_step, bytes *out, leat_error *err) {
    leat_status status = LEAT_OK;
    out->size = 0;
    for (size_t at = 0; at <= in->size && status == LEAT_OK;) {
        size_t give = in->size - at < in_step ? in->size - at : in_step;
        const uint8_t *from = in->data + at;
        size_t left = give, before = out->size;
        uint8_t *to = out->data + out->size;
        size_t room = sizeof out->data - out->size;
        if (room > out_step)
            room = out_step;
        assert_true(room > 0);
        status = leati_compress_unpacker_run(unpacker, &from, &left, &to, &room, err);
        out->size = (size_t)(to - out->data);
        at += give - left;
        if (give == left && out->size == before)
            break;
    }
    return status;
}

static void reads_what_was_written(void **state) {
    (void)state;
    static bytes packed, out;
    static const size_t steps[] = {1, 7, 4096, 1 << 20};
    FOR_CODECS(c) {
        int most = leati_compress_codec_of(c)->max_level;
        for (int level = 0; level <= most; level += 1 + most / 4) {
            packed.size = 0;
            pack(c, level == 0 ? LEAT_UNSET : level, 1 + (size_t)level * 1000, &packed);
            leati_unpacker *unpacker = leati_compress_unpacker_new(c, &(leat_error){0});
            for (int s = 0; s < 16; s++) {
                leat_error err = {0};
                leati_compress_unpacker_reset(unpacker);
                assert_int_equal(unpack(unpacker, &packed, steps[s / 4], steps[s % 4], &out, &err),
                                 LEAT_OK);
                assert_int_equal(out.size, PLAIN_SIZE);
                assert_memory_equal(out.data, plain, PLAIN_SIZE);
                assert_true(unpacker->between);
            }
            leati_compress_unpacker_free(unpacker);
        }
    }
}

static void zlib_reads_what_was_written(void **state) {
    (void)state;
    static bytes packed;
    static uint8_t out[PLAIN_SIZE];
    for (int c = LEAT_COMPRESSION_ZLIB; c <= LEAT_COMPRESSION_GZIP; c++) {
        packed.size = 0;
        pack((leat_compression)c, LEAT_UNSET, PLAIN_SIZE, &packed);
        z_stream stream = {.next_in = packed.data,
                           .avail_in = (uInt)packed.size,
                           .next_out = out,
                           .avail_out = sizeof out};
        assert_int_equal(inflateInit2(&stream, 15 + (c == LEAT_COMPRESSION_GZIP ? 16 : 0)), Z_OK);
        assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
        assert_memory_equal(out, plain, PLAIN_SIZE);
        inflateEnd(&stream);
    }
}

/* Files may be put one behind the other, as the codecs' own tools allow; after a zlib stream
 * nothing may come. */
static void streams_follow_one_another(void **state) {
    (void)state;
    static bytes packed, out;
    FOR_CODECS(c) {
        packed.size = 0;
        pack(c, 1, PLAIN_SIZE, &packed);
        size_t one = packed.size;
        memcpy(packed.data + one, packed.data, one);
        packed.size = 2 * one;
        for (size_t step = 1; step < 20; step++) {
            leat_error err = {0};
            leati_unpacker *unpacker = leati_compress_unpacker_new(c, &(leat_error){0});
            leat_status status = unpack(unpacker, &packed, step, 1 << 20, &out, &err);
            assert_memory_equal(out.data, plain, PLAIN_SIZE);
            if (c != LEAT_COMPRESSION_ZLIB) {
                assert_int_equal(status, LEAT_OK);
                assert_int_equal(out.size, 2 * PLAIN_SIZE);
                assert_memory_equal(out.data + PLAIN_SIZE, plain, PLAIN_SIZE);
            } else {
                assert_int_equal(status, LEAT_DATA_LOSS);
                assert_int_equal(out.size, PLAIN_SIZE);
                assert_refused(&err, LEAT_DATA_LOSS, LEAT_REASON_NONE, "ZLIB");
            }
            leati_compress_unpacker_free(unpacker);
        }
    }
}

/* Whatever bit is turned, the answer is never plain bytes other than those that went in: apart from
 * bits of the gzip header that mean nothing (time, system, flags of the writer), and from SNAPPY,
 * whose blocks have no checksum. */
static void damage_is_found(void **state) {
    (void)state;
    static bytes packed, broken, out;
    FOR_CODECS(c) {
        packed.size = 0;
        pack(c, 1, PLAIN_SIZE, &packed);
        leati_unpacker *unpacker = leati_compress_unpacker_new(c, &(leat_error){0});
        for (size_t at = 0; at < packed.size; at += at < 40 ? 1 : 97) {
            leat_error err = {0};
            broken = packed;
            broken.data[at] ^= (uint8_t)(1 << at % 8);
            leati_compress_unpacker_reset(unpacker);
            leat_status status = unpack(unpacker, &broken, 1 << 20, 1 << 20, &out, &err);
            bool whole = status == LEAT_OK && unpacker->between;
            if (whole && c != LEAT_COMPRESSION_SNAPPY) {
                assert_int_equal(out.size, PLAIN_SIZE);
                assert_memory_equal(out.data, plain, PLAIN_SIZE);
                assert_true(c > LEAT_COMPRESSION_GZIP ||
                            (c == LEAT_COMPRESSION_GZIP && at >= 3 && at < 10));
            } else if (status != LEAT_OK) {
                assert_int_equal(status, LEAT_DATA_LOSS);
                assert_true(strlen(err.text) > 10);
            }
        }
        leati_compress_unpacker_free(unpacker);
    }
}

static void cuts_are_noticed(void **state) {
    (void)state;
    static bytes packed, out;
    FOR_CODECS(c) {
        packed.size = 0;
        pack(c, 1, PLAIN_SIZE, &packed);
        leati_unpacker *unpacker = leati_compress_unpacker_new(c, &(leat_error){0});
        size_t whole = packed.size;
        for (size_t size = 1; size < whole; size += size < 30 || size + 20 > whole ? 1 : 211) {
            packed.size = size;
            leati_compress_unpacker_reset(unpacker);
            leat_error err = {0};
            assert_int_equal(unpack(unpacker, &packed, 1 << 20, 1 << 20, &out, &err), LEAT_OK);
            assert_false(unpacker->between);
            assert_memory_equal(out.data, plain, out.size);
        }
        leati_compress_unpacker_free(unpacker);
    }
}

/* `size` bytes of another program: they unpack to `expected` in pieces of any size, and are known
 * by their first bytes. */
static void expect_unpacked(leat_compression c, const uint8_t *data, size_t size,
                            const char *expected, size_t expected_size) {
    static bytes packed, out;
    if (leati_compress_codec_of(c)->package != NULL)
        skip();
    memcpy(packed.data, data, packed.size = size);
    assert_int_equal(leati_compress_codec_guess(data, size), c);
    for (size_t step = 1; step <= size; step++) {
        leat_error err = {0};
        leati_unpacker *unpacker = leati_compress_unpacker_new(c, &err);
        assert_int_equal(unpack(unpacker, &packed, step, 1 + step % 5 * 100, &out, &err), LEAT_OK);
        assert_true(unpacker->between);
        leati_compress_unpacker_free(unpacker);
        assert_int_equal(out.size, expected_size);
        assert_memory_equal(out.data, expected, expected_size);
    }
}

#define TEXT                                                                                       \
    "leat reads leat reads leat reads leat reads leat reads leat reads "                           \
    "leat reads leat reads leat reads leat reads leat reads leat reads "

/* What the tool zstd 1.5.4 writes for TEXT. */
static void reads_zstd(void **state) {
    (void)state;
    static const uint8_t data[] = {0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x58, 0x95, 0x00, 0x00, 0x58, 0x6c,
                                   0x65, 0x61, 0x74, 0x20, 0x72, 0x65, 0x61, 0x64, 0x73, 0x20, 0x01,
                                   0x00, 0xd6, 0x69, 0xf1, 0x02, 0x33, 0x9b, 0x21, 0xd0};
    expect_unpacked(LEAT_COMPRESSION_ZSTD, data, sizeof data, TEXT, sizeof TEXT - 1);
}

/* What the tool lz4 1.9.4 writes for TEXT. */
static void reads_lz4(void **state) {
    (void)state;
    static const uint8_t data[] = {0x04, 0x22, 0x4d, 0x18, 0x64, 0x40, 0xa7, 0x15, 0x00, 0x00,
                                   0x00, 0xbf, 0x6c, 0x65, 0x61, 0x74, 0x20, 0x72, 0x65, 0x61,
                                   0x64, 0x73, 0x20, 0x0b, 0x00, 0x61, 0x50, 0x65, 0x61, 0x64,
                                   0x73, 0x20, 0x00, 0x00, 0x00, 0x00, 0x23, 0x42, 0x30, 0x3a};
    expect_unpacked(LEAT_COMPRESSION_LZ4, data, sizeof data, TEXT, sizeof TEXT - 1);
}

/* What TensorFlow 2.21's record writer makes of "first " twenty times and, after a flush,
 * "second". */
static const uint8_t tensorflow_blocks[] = {
    0x00, 0x00, 0x00, 0x1d, 0x88, 0x01, 0x04, 0x78, 0x00, 0x09, 0x01, 0x24, 0xa2, 0xa5, 0x21,
    0xc5, 0x66, 0x69, 0x72, 0x73, 0x74, 0x20, 0xfe, 0x06, 0x00, 0xc6, 0x06, 0x00, 0x0c, 0xbb,
    0xc8, 0xbf, 0x4d, 0x00, 0x00, 0x00, 0x15, 0x16, 0x04, 0x06, 0x00, 0x09, 0x01, 0x34, 0x73,
    0x69, 0xd5, 0x37, 0x73, 0x65, 0x63, 0x6f, 0x6e, 0x64, 0xd3, 0xe0, 0xd3, 0xca};

static void reads_snappy_blocks(void **state) {
    (void)state;
    char expected[158] = {0x78};
    memcpy(expected + 8, "\xa2\xa5\x21\xc5", 4);
    for (int i = 0; i < 20; i++)
        memcpy(expected + 12 + 6 * i, "first ", 6);
    memcpy(expected + 132, "\xbb\xc8\xbf\x4d", 4);
    memcpy(expected + 136, "\6\0\0\0\0\0\0\0\x73\x69\xd5\x37second\xd3\xe0\xd3\xca", 22);
    expect_unpacked(LEAT_COMPRESSION_SNAPPY, tensorflow_blocks, sizeof tensorflow_blocks, expected,
                    sizeof expected);
}

/* Put together by hand after the framing format's text: TEXT in one literal and three copies, a
 * chunk of padding, "plain" as it is. */
static const uint8_t snappy_chunks[] = {
    0xff, 0x06, 0x00, 0x00, 0x73, 0x4e, 0x61, 0x50, 0x70, 0x59, 0x00, 0x18, 0x00, 0x00, 0xca,
    0xb8, 0x95, 0x67, 0x84, 0x01, 0x28, 0x6c, 0x65, 0x61, 0x74, 0x20, 0x72, 0x65, 0x61, 0x64,
    0x73, 0x20, 0xfe, 0x0b, 0x00, 0xe2, 0x0b, 0x00, 0xfe, 0x05, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x01, 0x09, 0x00, 0x00, 0x48, 0x9a, 0x35, 0x77, 0x70, 0x6c, 0x61, 0x69, 0x6e};

static void reads_snappy_chunks(void **state) {
    (void)state;
    expect_unpacked(LEAT_COMPRESSION_SNAPPY, snappy_chunks, sizeof snappy_chunks, TEXT "plain",
                    sizeof TEXT + 4);
}

/* One byte changed: DATA_LOSS, with this in its text. */
static void expect_damage(const uint8_t *data, size_t size, size_t at, uint8_t value,
                          leat_reason reason, const char *keyword) {
    static bytes packed, out;
    leat_error err = {0};
    memcpy(packed.data, data, packed.size = size);
    packed.data[at] = value;
    leati_unpacker *unpacker = leati_compress_unpacker_new(LEAT_COMPRESSION_SNAPPY, &err);
    assert_int_equal(unpack(unpacker, &packed, 1 << 20, 1 << 20, &out, &err), LEAT_DATA_LOSS);
    assert_refused(&err, LEAT_DATA_LOSS, reason, keyword);
    leati_compress_unpacker_free(unpacker);
}

static void snappy_damage(void **state) {
    (void)state;
    if (leati_compress_codec_of(LEAT_COMPRESSION_SNAPPY)->package != NULL)
        skip();
    const uint8_t *blocks = tensorflow_blocks, *chunks = snappy_chunks;
    size_t size = sizeof tensorflow_blocks;
    expect_damage(blocks, size, 3, 0, LEAT_REASON_NONE, "0");
    expect_damage(blocks, size, 0, 0x10, LEAT_REASON_NONE, "268435485");
    expect_damage(blocks, size, 5, 0x7f, LEAT_REASON_NONE, "larger");
    expect_damage(blocks, size, 23, 0xff, LEAT_REASON_NONE, "decompress");
    size = sizeof snappy_chunks;
    expect_damage(chunks, size, 10, 2, LEAT_REASON_NONE, "kind");
    expect_damage(chunks, size, 14, 0, LEAT_REASON_NONE, "checksum");
    expect_damage(chunks, size, 55, 'P', LEAT_REASON_NONE, "checksum");
    expect_damage(chunks, size, 48, 3, LEAT_REASON_NONE, "checksum");
}

/* 100,000 times "a", put together by hand: a block may be that large, a chunk may not. */
static void snappy_sizes(void **state) {
    (void)state;
    if (leati_compress_codec_of(LEAT_COMPRESSION_SNAPPY)->package != NULL)
        skip();
    enum { SIZE = 100000, MAGIC = 10, HEAD = MAGIC + 4 };
    static uint8_t packed[8192];
    static char expected[SIZE];
    uint8_t *body = packed + HEAD + 4, *at = body;
    memset(expected, 'a', SIZE);
    memcpy(at, "\xa0\x8d\x06\0a", 5); /* the size; a literal of one byte */
    at += 5;
    for (int left = SIZE - 1; left > 0; left -= 64) {
        int n = left < 64 ? left : 64;
        memcpy(at, (uint8_t[]){(uint8_t)((n - 1) << 2 | 2), 1, 0}, 3); /* copies from 1 before */
        at += 3;
    }
    size_t size = (size_t)(at - body);
    memcpy(body - 4, (uint8_t[]){0, 0, (uint8_t)(size >> 8), (uint8_t)size}, 4);
    expect_unpacked(LEAT_COMPRESSION_SNAPPY, body - 4, size + 4, expected, SIZE);
    memcpy(packed, snappy_chunks, MAGIC);
    size += 4; /* the checksum, never looked at */
    memcpy(packed + MAGIC, (uint8_t[]){0, (uint8_t)size, (uint8_t)(size >> 8), 0}, 4);
    expect_damage(packed, HEAD + size, MAGIC, 0, LEAT_REASON_NONE, "larger");
}

static void arguments(void **state) {
    (void)state;
    leat_error err = {0};
    assert_null(leati_compress_packer_new(LEAT_COMPRESSION_GZIP, 10, append, NULL, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "10");
    assert_null(leati_compress_packer_new(LEAT_COMPRESSION_GZIP, 0, append, NULL, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "0");
    assert_null(leati_compress_unpacker_new((leat_compression)77, &err));
    assert_int_equal(err.code, LEAT_INVALID_ARGUMENT);
    leat_compression compression = LEAT_COMPRESSION_GZIP;
    assert_int_equal(leat_compression_from_name(NULL, &compression, &err), LEAT_OK);
    assert_int_equal(compression, LEAT_COMPRESSION_NONE);
    static const char *const names[] = {"", "ZLIB", "GZIP", "ZSTD", "LZ4", "SNAPPY"};
    for (int i = LEAT_COMPRESSION_NONE; i <= LEAT_COMPRESSION_SNAPPY; i++) {
        assert_string_equal(leat_compression_name((leat_compression)i), names[i]);
        const leati_compress_codec *codec = leati_compress_codec_of((leat_compression)i);
        leat_status status = leat_compression_from_name(names[i], &compression, &err);
        if (codec != NULL && codec->package != NULL) {
            assert_int_equal(status, LEAT_UNIMPLEMENTED);
            assert_refused(&err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, codec->package);
            assert_null(leati_compress_unpacker_new((leat_compression)i, &(leat_error){0}));
        } else {
            assert_int_equal(status, LEAT_OK);
            assert_int_equal(compression, i);
        }
    }
    assert_int_equal(leat_compression_from_name("gzip", &compression, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "\"gzip\"");
}

struct both {
    leat_compression compression;
    bytes packed, out;
};

static leat_status both(void *context, leat_error *err) {
    struct both *b = context;
    b->packed.size = 0;
    leati_packer *packer =
        leati_compress_packer_new(b->compression, LEAT_UNSET, append, &b->packed, err);
    if (packer == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leat_status status = leati_compress_packer_write(packer, plain, PLAIN_SIZE, err);
    if (status == LEAT_OK)
        status = leati_compress_packer_finish(packer, err);
    leati_compress_packer_free(packer);
    if (status != LEAT_OK)
        return status;
    leati_unpacker *unpacker = leati_compress_unpacker_new(b->compression, err);
    if (unpacker == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    status = unpack(unpacker, &b->packed, 1000, 1000, &b->out, err);
    leati_compress_unpacker_free(unpacker);
    return status;
}

static void every_allocation_fails_once(void **state) {
    (void)state;
    static struct both context;
    FOR_CODECS(c) {
        context.compression = c;
        torture_begin();
        torture_run(both, &context);
        torture_end();
    }
}

struct breaking {
    int at, calls; /* which call fails */
};

static leat_status append_until(void *context, const void *data, size_t size, leat_error *err) {
    struct breaking *to = context;
    assert_true(data != NULL && size > 0);
    return ++to->calls == to->at ? leati_fail(err, LEAT_ABORTED, "the %dth call", to->at) : LEAT_OK;
}

/* What the sink says is what the writer says, whichever call it is, for bytes that get no smaller:
 * after many small writes, and after one of several blocks. */
static void failing_sinks(void **state) {
    (void)state;
    enum { SIZE = 600000 };
    uint8_t *noise = malloc(SIZE);
    assert_non_null(noise);
    uint64_t random = 7;
    for (size_t i = 0; i < SIZE; i++) {
        random = random * UINT64_C(6364136223846793005) + 1;
        noise[i] = (uint8_t)(random >> 56);
    }
    FOR_CODECS(c) {
        for (int k = 0; k < 2; k++) {
            struct breaking sink = {.at = 1};
            for (bool failed = true; failed; sink.at++) {
                leat_error err = {0};
                leati_packer *packer =
                    leati_compress_packer_new(c, LEAT_UNSET, append_until, &sink, &err);
                leat_status status = LEAT_OK;
                size_t step = k == 0 ? SIZE : 10007;
                sink.calls = 0;
                for (size_t at = 0; at < SIZE && status == LEAT_OK; at += step)
                    status = leati_compress_packer_write(packer, noise + at,
                                                         SIZE - at < step ? SIZE - at : step, &err);
                if (status == LEAT_OK)
                    status = leati_compress_packer_finish(packer, &err);
                leati_compress_packer_free(packer);
                failed = sink.calls >= sink.at;
                assert_int_equal(status, failed ? LEAT_ABORTED : LEAT_OK);
                assert_int_equal(err.code, status);
                assert_int_equal(sink.calls > sink.at, 0);
            }
            assert_true(sink.at > 3);
        }
    }
    free(noise);
}

/* Four bytes say that a file is packed by zstd; no two of them do. */
static void test_guess(void **state) {
    (void)state;
    const uint8_t whole[] = {0x28, 0xb5, 0x2f, 0xfd};
    for (int changed = 0; changed < 4; changed++) {
        uint8_t first[4];
        memcpy(first, whole, sizeof first);
        first[changed] ^= 1;
        assert_int_equal(leati_compress_codec_guess(first, sizeof first), LEAT_COMPRESSION_NONE);
    }
    assert_int_equal(leati_compress_codec_guess(whole, 3), LEAT_COMPRESSION_NONE);
    if (leati_compress_codec_of(LEAT_COMPRESSION_ZSTD)->package == NULL)
        assert_int_equal(leati_compress_codec_guess(whole, sizeof whole), LEAT_COMPRESSION_ZSTD);
}

int main(void) {
    make_plain();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_guess),
        cmocka_unit_test(reads_what_was_written),
        cmocka_unit_test(zlib_reads_what_was_written),
        cmocka_unit_test(streams_follow_one_another),
        cmocka_unit_test(damage_is_found),
        cmocka_unit_test(cuts_are_noticed),
        cmocka_unit_test(reads_zstd),
        cmocka_unit_test(reads_lz4),
        cmocka_unit_test(reads_snappy_blocks),
        cmocka_unit_test(reads_snappy_chunks),
        cmocka_unit_test(snappy_damage),
        cmocka_unit_test(snappy_sizes),
        cmocka_unit_test(arguments),
        cmocka_unit_test(failing_sinks),
        cmocka_unit_test(every_allocation_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
