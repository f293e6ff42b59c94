/* Windows over files, plain and compressed: the bytes at every step of random ones, what holders of
 * chunks keep, when the stream has ended, and what fails. */
#include "support/cmocka.h"

#include "file/chunks.h"
#include "support/refused.h"
#include "support/scratch.h"
#include "support/torture.h"
#include <unistd.h>
#include <zlib.h>

enum { SIZE = 5000, HOLDERS = 4 };

static uint8_t plain[SIZE], packed[2 * SIZE];

/* The path of a file with the first `cut` bytes of the (packed) text. */
static const char *make_file(leat_compression compression, size_t cut) {
    uLongf size = sizeof packed;
    for (size_t i = 0; i < SIZE; i++)
        plain[i] = (uint8_t)(i * 2654435761u >> 23);
    if (compression == LEAT_COMPRESSION_NONE)
        return scratch_write("file", plain, cut < SIZE ? cut : SIZE);
    assert_int_equal(compress(packed, &size, plain, SIZE), Z_OK);
    return scratch_write("file", packed, cut < size ? cut : size);
}

typedef struct holder {
    leat_buffer *chunk;
    const uint8_t *at; /* in the chunk */
    size_t size;
    int64_t position;
} holder;

static void check_holder(holder *h) {
    assert_memory_equal(h->at, plain + h->position, h->size);
    leat_buffer_unref(h->chunk);
    *h = (holder){0};
}

static void random_steps(leat_compression compression, size_t chunk_size, int64_t position,
                         bool holds) {
    leat_error err = {0};
    leati_chunks chunks;
    leati_pools pools = {0};
    holder holders[HOLDERS] = {{0}};
    uint32_t random = (uint32_t)chunk_size;
    assert_int_equal(leati_chunks_open(&chunks, make_file(compression, SIZE * 2), compression,
                                       position, chunk_size, &pools, &err),
                     LEAT_OK);
    for (int step = 0; chunks.position < SIZE; step++) {
        random = random * 1664525 + 1013904223;
        size_t wanted = 1 + (random >> 20) % (3 * chunk_size), left = SIZE - (size_t)position;
        assert_int_equal(leati_chunks_need(&chunks, wanted, &err), LEAT_OK);
        size_t window = chunks.end - chunks.begin;
        assert_int_equal(chunks.position, position);
        assert_true(window >= wanted || (chunks.ended && window == left));
        assert_memory_equal(chunks.data + chunks.begin, plain + position, window);
        assert_true(chunks.data == (uint8_t *)leat_buffer_data(chunks.chunk));
        if (holds && random >> 31) {
            holder *h = &holders[step % HOLDERS];
            if (h->chunk != NULL)
                check_holder(h);
            *h = (holder){leati_chunks_ref(&chunks), chunks.data + chunks.begin, window, position};
        }
        size_t taken = wanted < window ? wanted : window;
        leati_chunks_take(&chunks, taken);
        position += (int64_t)taken;
    }
    for (int i = 0; i < HOLDERS; i++)
        if (holders[i].chunk != NULL)
            check_holder(&holders[i]);
    assert_int_equal(leati_chunks_need(&chunks, 1, &err), LEAT_OK);
    assert_true(chunks.ended);
    assert_int_equal(chunks.begin, chunks.end);
    assert_int_equal(leati_chunks_whole(&chunks, &err), LEAT_OK);
    leati_chunks_close(&chunks);
    assert_null(chunks.chunk);
    leati_pools_close(&pools);
}

static void windows(void **state) {
    (void)state;
    static const size_t sizes[] = {1, 16, 100, 4096, 6000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int k = 0; k < 4; k++)
            random_steps(k % 2 ? LEAT_COMPRESSION_ZLIB : LEAT_COMPRESSION_NONE, sizes[i],
                         k % 2 ? 777 : 0, k / 2);
    }
}

/* A chunk that nobody holds is used again, one that somebody holds is not. */
static void chunks_are_reused(void **state) {
    (void)state;
    for (int shared = 0; shared < 3; shared++) {
        leat_error err = {0};
        leati_chunks chunks;
        leati_pools pools = {0};
        assert_int_equal(leati_chunks_open(&chunks, make_file(LEAT_COMPRESSION_NONE, SIZE),
                                           LEAT_COMPRESSION_NONE, 0, 64, &pools, &err),
                         LEAT_OK);
        assert_int_equal(leati_chunks_more(&chunks, &err), LEAT_OK);
        size_t window = chunks.end;
        assert_true(window >= 64 && window <= 80);
        leat_buffer *first = chunks.chunk, *owner = leat_buffer_new(1, NULL);
        if (shared == 1)
            assert_true(leati_chunks_ref(&chunks) == first);
        if (shared == 2)
            assert_int_equal(leati_chunks_share(&chunks, owner, &err), LEAT_OK);
        leati_chunks_take(&chunks, window - 3);
        assert_int_equal(leati_chunks_more(&chunks, &err), LEAT_OK);
        assert_int_equal(chunks.chunk == first, !shared);
        assert_int_equal(chunks.begin, 0);
        assert_memory_equal(chunks.data, plain + window - 3, chunks.end);
        if (shared)
            assert_memory_equal(leat_buffer_data(first), plain, window);
        if (shared == 1)
            leat_buffer_unref(first);
        leat_buffer_unref(owner);
        leati_chunks_close(&chunks);
        leati_pools_close(&pools);
    }
}

static void expect(leat_status status, const leat_error *err, leat_status code, leat_reason reason,
                   const char *keyword) {
    assert_int_equal(status, code);
    assert_refused(err, code, reason, keyword);
}

static void failures(void **state) {
    (void)state;
    leat_error err = {0};
    leati_chunks chunks;
    leati_pools pools = {0};
    leat_compression zlib = LEAT_COMPRESSION_ZLIB;
    expect(leati_chunks_open(&chunks, scratch_path("none"), zlib, 0, 64, &pools, &err), &err,
           LEAT_NOT_FOUND, LEAT_REASON_NONE, "none");
    for (int k = 0; k < 2; k++) {
        leat_compression compression = k ? zlib : LEAT_COMPRESSION_NONE;
        const char *path = make_file(compression, 2 * SIZE);
        expect(leati_chunks_open(&chunks, path, compression, SIZE + 1, 64, &pools, &err), &err,
               LEAT_DATA_LOSS, LEAT_REASON_NONE, "5001");
        assert_int_equal(
            leati_chunks_open(&chunks, path, compression, SIZE + 1, 64, &pools, &(leat_error){0}),
            LEAT_DATA_LOSS);
        assert_int_equal(leati_chunks_open(&chunks, path, compression, SIZE, 64, &pools, &err),
                         LEAT_OK);
        assert_int_equal(leati_chunks_more(&chunks, &err), LEAT_OK);
        assert_true(chunks.ended);
        leati_chunks_close(&chunks);
    }
    /* Cut in the middle of the stream: what is there comes, then the end is none. */
    assert_int_equal(leati_chunks_open(&chunks, make_file(zlib, 800), zlib, 0, 64, &pools, &err),
                     LEAT_OK);
    assert_int_equal(leati_chunks_need(&chunks, SIZE, &err), LEAT_OK);
    assert_true(chunks.ended && chunks.end > 100 && chunks.end < SIZE);
    leati_chunks_take(&chunks, 100);
    expect(leati_chunks_whole(&chunks, &err), &err, LEAT_DATA_LOSS, LEAT_REASON_NONE, "file");
    leati_chunks_close(&chunks);
    /* A file that others cut off ends in no other way. */
    const char *shorter = scratch_write("shorter", plain, SIZE);
    assert_int_equal(
        leati_chunks_open(&chunks, shorter, LEAT_COMPRESSION_NONE, 0, 64, &pools, &err), LEAT_OK);
    assert_int_equal(leati_chunks_need(&chunks, 64, &err), LEAT_OK);
    assert_int_equal(truncate(shorter, 100), 0);
    assert_int_equal(leati_chunks_need(&chunks, SIZE, &err), LEAT_OK);
    assert_true(chunks.ended && chunks.end < SIZE);
    expect(leati_chunks_whole(&chunks, &err), &err, LEAT_DATA_LOSS, LEAT_REASON_NONE, "shorter");
    leati_chunks_close(&chunks);
    /* Damage at the front: every call says so. */
    const char *path = scratch_write("bad", "no ZLIB data at all", 19);
    assert_int_equal(leati_chunks_open(&chunks, path, zlib, 0, 64, &pools, &err), LEAT_OK);
    expect(leati_chunks_more(&chunks, &err), &err, LEAT_DATA_LOSS, LEAT_REASON_NONE, "bad");
    expect(leati_chunks_need(&chunks, 1, &err), &err, LEAT_DATA_LOSS, LEAT_REASON_NONE, "bad");
    assert_false(chunks.ended);
    leati_chunks_close(&chunks);
    leati_pools_close(&pools);
}

static leat_status read_with_failures(void *context, leat_error *err) {
    (void)context;
    leati_chunks chunks;
    leati_pools pools = {0};
    leat_status status = leati_chunks_open(&chunks, scratch_path("file"), LEAT_COMPRESSION_ZLIB,
                                           900, 64, &pools, err);
    if (status != LEAT_OK)
        return status;
    status = leati_chunks_need(&chunks, 300, err);
    if (status == LEAT_OK) {
        assert_memory_equal(chunks.data + chunks.begin, plain + 900, 300);
        leati_chunks_take(&chunks, 200);
        status = leati_chunks_need(&chunks, 1000, err);
    }
    /* Whatever failed, the window shows what it showed, and the next try goes on. */
    if (chunks.end > chunks.begin)
        assert_memory_equal(chunks.data + chunks.begin, plain + chunks.position,
                            chunks.end - chunks.begin);
    leati_chunks_close(&chunks);
    leati_pools_close(&pools);
    return status;
}

static void every_allocation_fails_once(void **state) {
    (void)state;
    make_file(LEAT_COMPRESSION_ZLIB, 2 * SIZE);
    torture_begin();
    torture_run(read_with_failures, NULL);
    torture_end();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(windows),
        TEST(chunks_are_reused),
        TEST(failures),
        TEST(every_allocation_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
