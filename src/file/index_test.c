/* Sidecar indexes: their bytes against ones put together here, stale and damaged ones, what is
 * refused, and failing allocations. */
#include "support/cmocka.h"

#include "file/crc.h"
#include "file/index.h"
#include "file/wire.h"
#include "support/refused.h"
#include "support/scratch.h"
#include "support/torture.h"

#define TARS LEATI_SOURCE_DIR "/tests/golden/data/files/tar/"

enum { BLOCK = 512, BLOCK_BYTES = (BLOCK + 1) * 8 + 4, HEAD = 16, TAIL = 44 };

/* Record i has `first` + i % 5 bytes. */
static int64_t size_of(int64_t i, int64_t first) {
    return first + i % 5;
}

static const char *write_records(int64_t count, int64_t first) {
    static char data[8192];
    const char *path = scratch_path("a.tfrecord");
    leat_tfrecord_writer *writer = leat_tfrecord_writer_open(path, NULL, NULL);
    assert_non_null(writer);
    for (int64_t i = 0; i < count; i++)
        assert_int_equal(leat_tfrecord_writer_write(writer, data, (size_t)size_of(i, first), NULL),
                         LEAT_OK);
    assert_int_equal(leat_tfrecord_writer_close(writer, NULL), LEAT_OK);
    return path;
}

static const char *sidecar(void) {
    return scratch_path("a.tfrecord.leat-index");
}

static void open_fails(const char *path, leat_status code, leat_reason reason,
                       const char *keyword) {
    leati_index *index = NULL;
    leat_error err = {0};
    assert_int_equal(leati_index_open(path, LEATI_INDEX_TFRECORD, &index, &err), code);
    assert_null(index);
    assert_refused(&err, code, reason, keyword);
}

/* In blocks of 512: none, part of one, one, one and a bit; small and large records. */
static void finds_every_record(void **state) {
    (void)state;
    const int64_t counts[] = {0, 1, 511, 512, 513, 1030};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        for (int64_t first = 0; first <= 5000; first += 5000) {
            leat_error err = {0};
            int64_t records = -1, at = 0, begin = 0, end = 0;
            const char *path = write_records(counts[c], first);
            assert_int_equal(leat_index_write(path, &records, &err), LEAT_OK);
            assert_int_equal(records, counts[c]);
            leati_index *index = NULL;
            assert_int_equal(leati_index_open(path, LEATI_INDEX_TFRECORD, &index, &err), LEAT_OK);
            assert_int_equal(leati_index_count(index), counts[c]);
            for (int64_t i = 0; i < counts[c]; i++) {
                assert_int_equal(leati_index_find(index, i, &begin, &end, &err), LEAT_OK);
                assert_int_equal(begin, at);
                at += 16 + size_of(i, first);
                assert_int_equal(end, at);
            }
            if (counts[c] > 512) { /* back to another block */
                assert_int_equal(leati_index_find(index, 1, &begin, &end, &err), LEAT_OK);
                assert_int_equal(begin, 16 + first);
            }
            assert_int_equal(leati_index_find(index, -1, &begin, &end, &err), LEAT_OUT_OF_RANGE);
            assert_int_equal(leati_index_find(index, counts[c], &begin, &end, &err),
                             LEAT_OUT_OF_RANGE);
            leati_index_close(index);
        }
    }
}

/* The format, so that indexes of one version stay readable. */
static void bytes_of_the_file(void **state) {
    (void)state;
    const char *path = write_records(2, 3);
    assert_int_equal(leat_index_write(path, NULL, NULL), LEAT_OK);
    size_t size = 0, data_size = 0;
    uint8_t *found = scratch_read(sidecar(), &size), *data = scratch_read(path, &data_size);
    assert_int_equal(data_size, 39);
    uint8_t expected[HEAD + 28 + TAIL] = "leat-index\r\n\1";
    uint8_t *block = expected + HEAD, *tail = block + 28;
    leati_wire_store64(block + 8, 19);
    leati_wire_store64(block + 16, 39);
    leati_wire_store32(block + 24, leati_crc_mask(leati_crc_crc32c(block, 24)));
    memcpy(tail, "tfrecord", 8);
    leati_wire_store64(tail + 16, 39);
    leati_wire_store64(tail + 24, 2);
    leati_wire_store32(tail + 32, leati_crc_crc32c(data, data_size));
    leati_wire_store32(tail + 36, leati_crc_crc32c(data, data_size));
    uint8_t frame[HEAD + TAIL - 4];
    memcpy(frame, expected, HEAD);
    memcpy(frame + HEAD, tail, TAIL - 4);
    leati_wire_store32(tail + 40, leati_crc_mask(leati_crc_crc32c(frame, sizeof frame)));
    assert_int_equal(size, sizeof expected);
    assert_memory_equal(found, expected, size);
    free(found);
    free(data);
}

static void stale(void **state) {
    (void)state;
    const char *path = write_records(600, 30);
    assert_int_equal(leat_index_write(path, NULL, NULL), LEAT_OK);
    size_t size = 0;
    uint8_t *data = scratch_read(path, &size);
    const size_t places[] = {0, 4095, size - 4096, size - 1};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        data[places[i]] ^= 1;
        scratch_write("a.tfrecord", data, size);
        open_fails(path, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "a.tfrecord");
        data[places[i]] ^= 1;
    }
    scratch_write("a.tfrecord", data, size - 1);
    open_fails(path, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "a.tfrecord");
    scratch_write("a.tfrecord", data, size);
    leati_index *index = NULL;
    assert_int_equal(leati_index_open(path, LEATI_INDEX_TFRECORD, &index, &(leat_error){0}),
                     LEAT_OK);
    leati_index_close(index);
    free(data);
}

/* Every byte of an index may be changed, or missing: never is another answer given. */
static void damaged(void **state) {
    (void)state;
    enum { COUNT = 514 };
    const char *path = write_records(COUNT, 0);
    assert_int_equal(leat_index_write(path, NULL, NULL), LEAT_OK);
    size_t size = 0;
    uint8_t *data = scratch_read(sidecar(), &size);
    for (size_t at = 0; at<size; at += at> 64 && at < 4000 ? 97 : 1) {
        leati_index *index = NULL;
        leat_error err = {0};
        int64_t begin = 0, end = 0;
        data[at] ^= 0x10;
        scratch_write("a.tfrecord.leat-index", data, size);
        data[at] ^= 0x10;
        leat_status status =
            leati_index_open(scratch_path("a.tfrecord"), LEATI_INDEX_TFRECORD, &index, &err);
        if (status == LEAT_OK) /* then it is one of two blocks */
            status =
                leati_index_find(index, at < HEAD + BLOCK_BYTES ? 0 : BLOCK, &begin, &end, &err);
        leati_index_close(index);
        bool version = at >= 12 && at < HEAD;
        assert_int_equal(status, version ? LEAT_UNIMPLEMENTED : LEAT_DATA_LOSS);
        assert_refused(&err, status, LEAT_REASON_NONE, "a.tfrecord.leat-index");
    }
    for (size_t cut = 0; cut < size; cut += 31) {
        scratch_write("a.tfrecord.leat-index", data, cut);
        open_fails(scratch_path("a.tfrecord"), LEAT_DATA_LOSS, LEAT_REASON_NONE,
                   "a.tfrecord.leat-index");
    }
    free(data);
}

static void swapped_blocks(void **state) {
    (void)state;
    const char *path = write_records(1024, 0);
    assert_int_equal(leat_index_write(path, NULL, NULL), LEAT_OK);
    size_t size = 0;
    uint8_t *data = scratch_read(sidecar(), &size), block[BLOCK_BYTES];
    memcpy(block, data + HEAD, BLOCK_BYTES);
    memcpy(data + HEAD, data + HEAD + BLOCK_BYTES, BLOCK_BYTES);
    memcpy(data + HEAD + BLOCK_BYTES, block, BLOCK_BYTES);
    scratch_write("a.tfrecord.leat-index", data, size);
    free(data);
    leati_index *index = NULL;
    int64_t begin = 0, end = 0;
    assert_int_equal(leati_index_open(path, LEATI_INDEX_TFRECORD, &index, &(leat_error){0}),
                     LEAT_OK);
    assert_int_equal(leati_index_find(index, 3, &begin, &end, &(leat_error){0}), LEAT_DATA_LOSS);
    leati_index_close(index);
}

static void refused(void **state) {
    (void)state;
    leat_error err = {0};
    leati_index *index = NULL;
    assert_int_equal(leat_index_write(NULL, NULL, &err), LEAT_INVALID_ARGUMENT);
    assert_int_equal(leat_index_write(scratch_path("none"), NULL, &err), LEAT_NOT_FOUND);
    assert_int_equal(leat_index_write("/dev/null", NULL, &err), LEAT_INVALID_ARGUMENT);
    const char *path = write_records(3, 9);
    open_fails(path, LEAT_NOT_FOUND, LEAT_REASON_NONE, "a.tfrecord");
    assert_int_equal(leat_index_write(path, NULL, &err), LEAT_OK);
    assert_int_equal(leati_index_open(path, "other", &index, &err), LEAT_FAILED_PRECONDITION);
    assert_refused(&err, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "tfrecord");
    leat_tfrecord_writer_options options = {LEAT_TFRECORD_WRITER_DEFAULTS,
                                            .compression = LEAT_COMPRESSION_GZIP};
    path = scratch_path("b.tfrecord.gz");
    leat_tfrecord_writer *writer = leat_tfrecord_writer_open(path, &options, &err);
    assert_int_equal(leat_tfrecord_writer_write(writer, "a", 1, &err), LEAT_OK);
    assert_int_equal(leat_tfrecord_writer_close(writer, &err), LEAT_OK);
    assert_int_equal(leat_index_write(path, NULL, &err), LEAT_UNIMPLEMENTED);
    assert_refused(&err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "GZIP");
    assert_int_equal(scratch_count(), 3);
}

/* A file that ends inside a record, or has bytes left over, gets no index. */
static void truncated(void **state) {
    (void)state;
    const char *path = write_records(3, 9);
    size_t size = 0;
    uint8_t *data = scratch_read(path, &size);
    for (size_t cut = 1; cut < 26; cut++) {
        leat_error err = {0};
        scratch_write("a.tfrecord", data, size - cut);
        assert_int_equal(leat_index_write(scratch_path("a.tfrecord"), NULL, &err), LEAT_DATA_LOSS);
        assert_refused(&err, LEAT_DATA_LOSS, LEAT_REASON_NONE, "a.tfrecord");
        assert_true(err.byte >= 0);
    }
    free(data);
    assert_int_equal(scratch_count(), 1);
}

/* Samples of tar shards, at the bytes where Python's tarfile has the headers of their first
 * members.
 */
static void samples(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int64_t count, begins[4], end;
    } cases[] = {
        {"first.tar", 3, {0, 2048, 4096}, 7680},
        {"second.tar", 2, {3584, 6144}, 8192},
        {"long_gnu.tar", 2, {0, 4096}, 6144},
        {"long_pax.tar", 2, {0, 4096}, 6144},
        {"prefixed.tar", 1, {0}, 2048},
        {"empty.tar", 0, {0}, 0},
        {"lacking.tar", 4, {0, 2048, 3072, 5120}, 6144},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        char from[512];
        size_t size = 0;
        int64_t records = 0, begin = 0, end = 0;
        leati_index *index = NULL;
        snprintf(from, sizeof from, "%s%s", TARS, cases[c].name);
        uint8_t *data = scratch_read(from, &size);
        const char *path = scratch_write(cases[c].name, data, size);
        free(data);
        assert_int_equal(leat_index_write(path, &records, NULL), LEAT_OK);
        assert_int_equal(records, cases[c].count);
        assert_int_equal(leati_index_open(path, LEATI_INDEX_TFRECORD, &index, &(leat_error){0}),
                         LEAT_FAILED_PRECONDITION);
        assert_int_equal(leati_index_open(path, LEATI_INDEX_TAR, &index, &(leat_error){0}),
                         LEAT_OK);
        for (int64_t i = 0; i < records; i++) {
            assert_int_equal(leati_index_find(index, i, &begin, &end, &(leat_error){0}), LEAT_OK);
            assert_int_equal(begin, cases[c].begins[i]);
            assert_int_equal(end, i + 1 < records ? cases[c].begins[i + 1] : cases[c].end);
        }
        leati_index_close(index);
    }
}

static void bad_archives(void **state) {
    (void)state;
    const char *const bad[] = {"damaged.tar", "cut_data.tar", "cut_header.tar", "no_end.tar",
                               "no_tar.tar"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char from[512];
        size_t size = 0;
        snprintf(from, sizeof from, "%s%s", TARS, bad[i]);
        uint8_t *data = scratch_read(from, &size);
        assert_int_equal(leat_index_write(scratch_write(bad[i], data, size), NULL, NULL),
                         LEAT_DATA_LOSS);
        free(data);
        assert_int_equal(scratch_count(), i + 1);
    }
}

static leat_status build_samples(void *context, leat_error *err) {
    return leat_index_write(context, NULL, err);
}

static leat_status build_and_read(void *context, leat_error *err) {
    leati_index *index = NULL;
    int64_t begin = 0, end = 0;
    leat_status status = leat_index_write(context, NULL, err);
    if (status == LEAT_OK)
        status = leati_index_open(context, LEATI_INDEX_TFRECORD, &index, err);
    if (status == LEAT_OK)
        status = leati_index_find(index, 600, &begin, &end, err);
    leati_index_close(index);
    return status;
}

static void failing_allocations(void **state) {
    (void)state;
    const char *path = write_records(700, 1);
    torture_begin();
    torture_run(build_and_read, (void *)(uintptr_t)path);
    size_t size = 0;
    uint8_t *data = scratch_read(TARS "long_pax.tar", &size);
    path = scratch_write("long_pax.tar", data, size);
    free(data);
    torture_run(build_samples, (void *)(uintptr_t)path);
    torture_end();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(finds_every_record),
        TEST(bytes_of_the_file),
        TEST(stale),
        TEST(damaged),
        TEST(swapped_blocks),
        TEST(refused),
        TEST(truncated),
        TEST(samples),
        TEST(bad_archives),
        TEST(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
