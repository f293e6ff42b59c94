/* Streams over compressed files: every position, cuts at every byte, damage, and memory that runs
 * out on the way. A codec that was left out of the build is passed over. */
#include "support/cmocka.h"

#include "file/compress.h"
#include "file/stream.h"
#include "support/refused.h"
#include "support/scratch.h"
#include "support/torture.h"

enum { PLAIN_SIZE = 3000 };

static uint8_t plain[PLAIN_SIZE];

struct bytes {
    uint8_t data[2 * PLAIN_SIZE];
    size_t size;
};

static leat_status append(void *context, const void *data, size_t size, leat_error *err) {
    (void)err;
    struct bytes *to = context;
    assert_true(size <= sizeof to->data - to->size);
    memcpy(to->data + to->size, data, size);
    to->size += size;
    return LEAT_OK;
}

/* PLAIN_SIZE bytes, packed in pieces of a third. */
static void pack(leat_compression c, struct bytes *out) {
    leat_error err = {0};
    out->size = 0;
    for (size_t i = 0; i < PLAIN_SIZE; i++)
        plain[i] =
            i % 100 < 30 ? (uint8_t)(i * 2654435761u >> 22) : (uint8_t)("leat reads "[i % 11]);
    leati_packer *packer = leati_compress_packer_new(c, LEAT_UNSET, append, out, &err);
    assert_non_null(packer);
    for (size_t at = 0; at < PLAIN_SIZE; at += PLAIN_SIZE / 3)
        assert_int_equal(leati_compress_packer_write(packer, plain + at, PLAIN_SIZE / 3, &err),
                         LEAT_OK);
    assert_int_equal(leati_compress_packer_finish(packer, &err), LEAT_OK);
    leati_compress_packer_free(packer);
}

static bool usable(leat_compression c) {
    return leati_compress_codec_of(c) != NULL && leati_compress_codec_of(c)->package == NULL;
}

#define FOR_CODECS(c)                                                                              \
    for (leat_compression c = LEAT_COMPRESSION_ZLIB; leati_compress_codec_of(c); c++)              \
        if (usable(c))

/* Reads to the end or to a failure, up to `room` bytes at a time. */
static leat_status read_by(leati_stream *stream, size_t room, struct bytes *out, leat_error *err) {
    leat_status status = LEAT_OK;
    size_t got = 1;
    out->size = 0;
    while (status == LEAT_OK && got > 0) {
        size_t left = sizeof out->data - out->size;
        status =
            leati_stream_read(stream, out->data + out->size, room < left ? room : left, &got, err);
        out->size += got;
    }
    return status;
}

static leat_status read_all(leati_stream *stream, struct bytes *out, leat_error *err) {
    return read_by(stream, 700, out, err);
}

static void seeks(void **state) {
    (void)state;
    static struct bytes packed;
    FOR_CODECS(c) {
        leat_error err = {0};
        leati_stream stream = {0};
        pack(c, &packed);
        const char *path = scratch_write("packed", packed.data, packed.size);
        assert_int_equal(leati_stream_open(&stream, path, c, &err), LEAT_OK);
        for (int64_t at = 0; at <= PLAIN_SIZE; at += 217) {
            uint8_t byte;
            size_t got;
            int64_t where = at % 2 ? at : PLAIN_SIZE - at;
            assert_int_equal(leati_stream_seek(&stream, where, &err), LEAT_OK);
            assert_int_equal(leati_stream_read(&stream, &byte, 1, &got, &err), LEAT_OK);
            assert_int_equal(got, where < PLAIN_SIZE);
            if (got)
                assert_int_equal(byte, plain[where]);
        }
        assert_int_equal(leati_stream_seek(&stream, PLAIN_SIZE + 1, &err), LEAT_OUT_OF_RANGE);
        leati_stream_close(&stream);
    }
}

static void cuts(void **state) {
    (void)state;
    static struct bytes packed, out;
    FOR_CODECS(c) {
        pack(c, &packed);
        for (size_t size = 0; size <= packed.size; size += size < 30 ? 1 : 13) {
            leat_error err = {0};
            leati_stream stream = {0};
            const char *path = scratch_write("packed", packed.data, size);
            assert_int_equal(leati_stream_open(&stream, path, c, &err), LEAT_OK);
            assert_int_equal(read_all(&stream, &out, &err), LEAT_OK);
            assert_memory_equal(out.data, plain, out.size);
            assert_int_equal(stream.cut, size > 0 && size < packed.size);
            leati_stream_close(&stream);
        }
    }
}

static void damage(void **state) {
    (void)state;
    static struct bytes packed, out;
    FOR_CODECS(c) {
        leat_error err = {0};
        leati_stream stream = {0};
        pack(c, &packed);
        packed.data[packed.size / 2] ^= 0x55;
        const char *path = scratch_write("packed", packed.data, packed.size);
        assert_int_equal(leati_stream_open(&stream, path, c, &err), LEAT_OK);
        leat_status status = read_all(&stream, &out, &err);
        if (c == LEAT_COMPRESSION_SNAPPY && status == LEAT_OK) /* it has no checksum */
            assert_int_equal(out.size, PLAIN_SIZE);
        else
            assert_int_equal(status, LEAT_DATA_LOSS);
        assert_true(!status || (strcmp(err.file, path) == 0 && err.byte >= 0));
        leati_stream_close(&stream);
        path = scratch_write("packed", "no such stream at all", 21);
        assert_int_equal(leati_stream_open(&stream, path, c, &err), LEAT_OK);
        assert_int_equal(read_all(&stream, &out, &err), LEAT_DATA_LOSS);
        assert_int_equal(out.size, 0);
        assert_refused(&err, LEAT_DATA_LOSS, LEAT_REASON_NONE, path);
        assert_true(err.byte >= 0);
        leati_stream_close(&stream);
    }
}

/* How much is good before the damage does not depend on the size of the reads. */
static void damage_is_at_one_place(void **state) {
    (void)state;
    static struct bytes packed, whole, pieces;
    FOR_CODECS(c) {
        pack(c, &packed);
        for (size_t at = 0; at < packed.size; at += at + 40 < packed.size ? 13 : 1) {
            leat_error err = {0};
            leati_stream stream = {0};
            packed.data[at] ^= 0x55;
            const char *path = scratch_write("packed", packed.data, packed.size);
            packed.data[at] ^= 0x55;
            assert_int_equal(leati_stream_open(&stream, path, c, &err), LEAT_OK);
            leat_status status = read_by(&stream, sizeof whole.data, &whole, &err);
            assert_int_equal(leati_stream_seek(&stream, 0, &err), LEAT_OK);
            assert_int_equal(read_by(&stream, 100, &pieces, &err), status);
            assert_int_equal(pieces.size, whole.size);
            assert_memory_equal(pieces.data, whole.data, whole.size);
            leati_stream_close(&stream);
        }
    }
}

struct source {
    const char *path;
    leat_compression compression;
};

/* Without memory the same read comes again, and no byte is lost. */
static leat_status read_again(void *context, leat_error *err) {
    const struct source *from = context;
    static struct bytes out;
    leati_stream stream = {0};
    size_t got = 1;
    leat_status failed = leati_stream_open(&stream, from->path, from->compression, err);
    if (failed != LEAT_OK)
        return failed;
    out.size = 0;
    for (int tries = 0; got > 0 && tries < 100; tries++) {
        leat_error again = {0};
        if (leati_stream_read(&stream, out.data + out.size, 1100, &got, &again) != LEAT_OK) {
            assert_int_equal(again.code, LEAT_RESOURCE_EXHAUSTED);
            *err = again;
            failed = again.code;
            got = 1;
        } else {
            out.size += got;
        }
    }
    leati_stream_close(&stream);
    assert_int_equal(out.size, PLAIN_SIZE);
    assert_memory_equal(out.data, plain, PLAIN_SIZE);
    return failed;
}

static void every_allocation_fails_once(void **state) {
    (void)state;
    static struct bytes packed;
    FOR_CODECS(c) {
        pack(c, &packed);
        struct source source = {scratch_write("packed", packed.data, packed.size), c};
        torture_begin();
        torture_run(read_again, &source);
        torture_end();
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(seeks),
        TEST(cuts),
        TEST(damage),
        TEST(damage_is_at_one_place),
        TEST(every_allocation_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
