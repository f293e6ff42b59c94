/* Compression: ISA-L's reading against zlib's writing and the other way round, in pieces of any
 * size; damage and cuts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../tests/support/torture.h"
#include "file/compress.h"
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

static void pack(leat_compression compression, int level, size_t step, bytes *out) {
    leat_error err = {0};
    leati_deflate *deflate = leati_deflate_new(compression, level, append, out, &err);
    assert_non_null(deflate);
    for (size_t at = 0; at < PLAIN_SIZE; at += step) {
        size_t part = PLAIN_SIZE - at < step ? PLAIN_SIZE - at : step;
        assert_int_equal(leati_deflate_write(deflate, plain + at, part, &err), LEAT_OK);
    }
    assert_int_equal(leati_deflate_finish(deflate, &err), LEAT_OK);
    leati_deflate_free(deflate);
}

/* Feeds `in_step` bytes at a time into room of `out_step`; returns the last status. */
static leat_status unpack(leati_inflate *inflate, const bytes *in, size_t in_step, size_t out_step,
                          bytes *out, leat_error *err) {
    leat_status status = LEAT_OK;
    out->size = 0;
    for (size_t at = 0; at <= in->size && !status;) {
        size_t give = in->size - at < in_step ? in->size - at : in_step;
        const uint8_t *from = in->data + at;
        size_t left = give, before = out->size;
        uint8_t *to = out->data + out->size;
        size_t room = sizeof out->data - out->size;
        if (room > out_step)
            room = out_step;
        assert_true(room > 0);
        status = leati_inflate_run(inflate, &from, &left, &to, &room, err);
        out->size = (size_t)(to - out->data);
        at += give - left;
        if (give == left && out->size == before)
            break;
    }
    return status;
}

static void reads_what_zlib_wrote(void **state) {
    (void)state;
    static bytes packed, out;
    static const size_t steps[] = {1, 7, 4096, 1 << 20};
    for (int c = LEAT_COMPRESSION_ZLIB; c <= LEAT_COMPRESSION_GZIP; c++) {
        for (int level = 0; level <= 9; level += 3) {
            packed.size = 0;
            pack((leat_compression)c, level, 1 + (size_t)level * 1000, &packed);
            leati_inflate *inflate = leati_inflate_new((leat_compression)c, NULL);
            for (int s = 0; s < 16; s++) {
                leat_error err = {0};
                leati_inflate_reset(inflate);
                assert_int_equal(unpack(inflate, &packed, steps[s / 4], steps[s % 4], &out, &err),
                                 LEAT_OK);
                assert_int_equal(out.size, PLAIN_SIZE);
                assert_memory_equal(out.data, plain, PLAIN_SIZE);
                assert_int_equal(leati_inflate_where(inflate), LEATI_INFLATE_BETWEEN);
            }
            leati_inflate_free(inflate);
        }
    }
}

static void zlib_reads_what_was_written(void **state) {
    (void)state;
    static bytes packed;
    static uint8_t out[PLAIN_SIZE];
    for (int c = LEAT_COMPRESSION_ZLIB; c <= LEAT_COMPRESSION_GZIP; c++) {
        packed.size = 0;
        pack((leat_compression)c, 0, PLAIN_SIZE, &packed);
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

/* gzip files may be put one behind the other; after a zlib stream nothing may come. */
static void streams_follow_one_another(void **state) {
    (void)state;
    static bytes packed, out;
    for (int c = LEAT_COMPRESSION_ZLIB; c <= LEAT_COMPRESSION_GZIP; c++) {
        packed.size = 0;
        pack((leat_compression)c, 1, PLAIN_SIZE, &packed);
        size_t one = packed.size;
        memcpy(packed.data + one, packed.data, one);
        packed.size = 2 * one;
        for (size_t step = 1; step < 20; step++) {
            leat_error err = {0};
            leati_inflate *inflate = leati_inflate_new((leat_compression)c, NULL);
            leat_status status = unpack(inflate, &packed, step, 1 << 20, &out, &err);
            assert_memory_equal(out.data, plain, PLAIN_SIZE);
            if (c == LEAT_COMPRESSION_GZIP) {
                assert_int_equal(status, LEAT_OK);
                assert_int_equal(out.size, 2 * PLAIN_SIZE);
                assert_memory_equal(out.data + PLAIN_SIZE, plain, PLAIN_SIZE);
            } else {
                assert_int_equal(status, LEAT_DATA_LOSS);
                assert_int_equal(out.size, PLAIN_SIZE);
                assert_string_equal(err.text, "bytes follow the end of ZLIB data");
            }
            leati_inflate_free(inflate);
        }
    }
}

/* Whatever bit is turned, the answer is never plain bytes other than those that went in, apart from
 * bits of the gzip header that mean nothing (time, system, flags of the writer). */
static void damage_is_found(void **state) {
    (void)state;
    static bytes packed, broken, out;
    for (int c = LEAT_COMPRESSION_ZLIB; c <= LEAT_COMPRESSION_GZIP; c++) {
        packed.size = 0;
        pack((leat_compression)c, 6, PLAIN_SIZE, &packed);
        leati_inflate *inflate = leati_inflate_new((leat_compression)c, NULL);
        for (size_t at = 0; at < packed.size; at += at < 40 ? 1 : 97) {
            leat_error err = {0};
            broken = packed;
            broken.data[at] ^= (uint8_t)(1 << at % 8);
            leati_inflate_reset(inflate);
            leat_status status = unpack(inflate, &broken, 1 << 20, 1 << 20, &out, &err);
            bool whole = !status && leati_inflate_where(inflate) == LEATI_INFLATE_BETWEEN;
            if (whole) {
                assert_int_equal(out.size, PLAIN_SIZE);
                assert_memory_equal(out.data, plain, PLAIN_SIZE);
                assert_true(c == LEAT_COMPRESSION_GZIP && at >= 3 && at < 10);
            } else if (status) {
                assert_int_equal(status, LEAT_DATA_LOSS);
                assert_true(strlen(err.text) > 10);
            }
        }
        leati_inflate_free(inflate);
    }
}

static void cuts_are_noticed(void **state) {
    (void)state;
    static bytes packed, out;
    packed.size = 0;
    pack(LEAT_COMPRESSION_GZIP, 6, PLAIN_SIZE, &packed);
    leati_inflate *inflate = leati_inflate_new(LEAT_COMPRESSION_GZIP, NULL);
    size_t whole = packed.size;
    for (size_t size = 1; size < whole; size += size < 30 || size + 20 > whole ? 1 : 211) {
        packed.size = size;
        leati_inflate_reset(inflate);
        leat_error err = {0};
        assert_int_equal(unpack(inflate, &packed, 1 << 20, 1 << 20, &out, &err), LEAT_OK);
        assert_int_equal(leati_inflate_where(inflate), LEATI_INFLATE_MORE);
        assert_memory_equal(out.data, plain, out.size);
    }
    leati_inflate_free(inflate);
}

static void arguments(void **state) {
    (void)state;
    leat_error err = {0};
    assert_null(leati_deflate_new(LEAT_COMPRESSION_GZIP, 10, append, NULL, &err));
    assert_int_equal(err.code, LEAT_INVALID_ARGUMENT);
    leat_compression compression = LEAT_COMPRESSION_GZIP;
    assert_int_equal(leat_compression_from_name(NULL, &compression, &err), LEAT_OK);
    assert_int_equal(compression, LEAT_COMPRESSION_NONE);
    for (int i = LEAT_COMPRESSION_NONE; i <= LEAT_COMPRESSION_GZIP; i++) {
        const char *name = leat_compression_name((leat_compression)i);
        assert_int_equal(leat_compression_from_name(name, &compression, &err), LEAT_OK);
        assert_int_equal(compression, i);
    }
    assert_int_equal(leat_compression_from_name("SNAPPY", &compression, &err), LEAT_UNIMPLEMENTED);
    assert_int_equal(leat_compression_from_name("gzip", &compression, &err), LEAT_INVALID_ARGUMENT);
    assert_string_equal(err.text,
                        "compression_type is \"gzip\"; expected \"\", \"ZLIB\" or \"GZIP\"");
}

static leat_status both(void *context, leat_error *err) {
    bytes *out = context;
    out->size = 0;
    leati_inflate *inflate = leati_inflate_new(LEAT_COMPRESSION_ZLIB, err);
    if (!inflate)
        return LEAT_RESOURCE_EXHAUSTED;
    leati_inflate_free(inflate);
    leati_deflate *deflate = leati_deflate_new(LEAT_COMPRESSION_ZLIB, 0, append, out, err);
    if (!deflate)
        return LEAT_RESOURCE_EXHAUSTED;
    leat_status status = leati_deflate_finish(deflate, err);
    leati_deflate_free(deflate);
    return status;
}

static void every_allocation_fails_once(void **state) {
    (void)state;
    static bytes out;
    torture_begin();
    torture_run(both, &out);
    torture_end();
}

int main(void) {
    make_plain();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_zlib_wrote),
        cmocka_unit_test(zlib_reads_what_was_written),
        cmocka_unit_test(streams_follow_one_another),
        cmocka_unit_test(damage_is_found),
        cmocka_unit_test(cuts_are_noticed),
        cmocka_unit_test(arguments),
        cmocka_unit_test(every_allocation_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
