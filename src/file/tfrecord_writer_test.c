/* The writer: its bytes against TensorFlow's recorded file, its compressed files against the
 * reader, and what it does when it fails. */
#include "support/cmocka.h"

#include "file/tfrecord.h"
#include "support/refused.h"
#include "support/scratch.h"
#include "support/torture.h"

#define PLAIN LEATI_SOURCE_DIR "/tests/golden/data/files/tfrecord/plain.tfrecord"

/* Writes the four records of the recorded file. */
static leat_status write_records(const char *path, const leat_tfrecord_writer_options *options,
                                 leat_error *err) {
    char long_text[100];
    memset(long_text, 'x', sizeof long_text);
    const leat_string records[] = {
        {"first", 5}, {NULL, 0}, {"third\0record", 12}, {long_text, sizeof long_text}};
    leat_tfrecord_writer *writer = leat_tfrecord_writer_open(path, options, err);
    if (writer == NULL)
        return torture_code(err);
    for (int i = 0; i < 4; i++) {
        leat_status status =
            leat_tfrecord_writer_write(writer, records[i].data, records[i].size, err);
        if (status != LEAT_OK) {
            leat_tfrecord_writer_discard(writer);
            return status;
        }
    }
    return leat_tfrecord_writer_close(writer, err);
}

static void same_bytes_as_tensorflow(void **state) {
    (void)state;
    size_t size = 0, expected_size = 0;
    uint8_t *expected = scratch_read(PLAIN, &expected_size);
    for (int in_place = 0; in_place < 2; in_place++) {
        leat_tfrecord_writer_options options = {LEAT_TFRECORD_WRITER_DEFAULTS,
                                                .in_place = in_place != 0};
        const char *path = scratch_path("out.tfrecord");
        leat_error err = {0};
        assert_int_equal(write_records(path, &options, &err), LEAT_OK);
        uint8_t *data = scratch_read(path, &size);
        assert_int_equal(size, expected_size);
        assert_memory_equal(data, expected, size);
        free(data);
    }
    free(expected);
}

/* The codecs that have a library may be missing. */
static bool has_codec(int c) {
    leat_compression out;
    const char *name = leat_compression_name((leat_compression)c);
    return leat_compression_from_name(name, &out, NULL) == LEAT_OK;
}

static void compressed_files_read_back(void **state) {
    (void)state;
    for (int c = LEAT_COMPRESSION_ZLIB; c <= LEAT_COMPRESSION_SNAPPY; c++) {
        for (int level = 0; has_codec(c) && level <= 1; level++) {
            leat_tfrecord_writer_options options = {LEAT_TFRECORD_WRITER_DEFAULTS,
                                                    .compression = (leat_compression)c,
                                                    .level = level == 0 ? LEAT_UNSET : level};
            const char *path = scratch_path("out.tfrecord");
            leat_error err = {0};
            assert_int_equal(write_records(path, &options, &err), LEAT_OK);
            leat_compression guess = LEAT_COMPRESSION_NONE;
            assert_int_equal(leat_compression_guess(path, &guess, &err), LEAT_OK);
            assert_int_equal(guess, c);
            leat_record_summary summary;
            assert_int_equal(leat_records_inspect(path, guess, NULL, NULL, &summary, &err),
                             LEAT_OK);
            assert_int_equal(summary.records, 4);
            assert_int_equal(summary.data_bytes, 117);
            assert_int_equal(summary.max_size, 100);
        }
    }
}

static void nothing_before_close(void **state) {
    (void)state;
    const char *path = scratch_path("out.tfrecord");
    leat_tfrecord_writer *writer = leat_tfrecord_writer_open(path, NULL, NULL);
    assert_int_equal(leat_tfrecord_writer_write(writer, "a", 1, NULL), LEAT_OK);
    assert_int_equal(access(path, F_OK), -1);
    leat_tfrecord_writer_discard(writer);
    assert_int_equal(scratch_count(), 0);
    leat_tfrecord_writer_discard(NULL);
    assert_int_equal(leat_tfrecord_writer_close(NULL, NULL), LEAT_OK);
}

static void failures(void **state) {
    (void)state;
    leat_error err = {0};
    assert_null(leat_tfrecord_writer_open(NULL, NULL, &err));
    assert_int_equal(err.code, LEAT_INVALID_ARGUMENT);
    assert_null(leat_tfrecord_writer_open(scratch_path("no/out"), NULL, &err));
    assert_int_equal(err.code, LEAT_NOT_FOUND);
    leat_tfrecord_writer_options options = {LEAT_TFRECORD_WRITER_DEFAULTS,
                                            .compression = (leat_compression)9};
    assert_null(leat_tfrecord_writer_open(scratch_path("out"), &options, &err));
    assert_int_equal(err.code, LEAT_INVALID_ARGUMENT);
    options = (leat_tfrecord_writer_options){LEAT_TFRECORD_WRITER_DEFAULTS,
                                             .compression = LEAT_COMPRESSION_GZIP, .level = 12};
    assert_null(leat_tfrecord_writer_open(scratch_path("out"), &options, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "12");
    assert_int_equal(scratch_count(), 0);
    leat_tfrecord_writer *writer = leat_tfrecord_writer_open(scratch_path("out"), NULL, &err);
    assert_int_equal(leat_tfrecord_writer_write(writer, NULL, 3, &err), LEAT_INVALID_ARGUMENT);
    assert_int_equal(leat_tfrecord_writer_write(NULL, "a", 1, &err), LEAT_INVALID_ARGUMENT);
    assert_int_equal(leat_tfrecord_writer_close(writer, &err), LEAT_OK);
}

static void full_disk(void **state) {
    (void)state;
    if (access("/dev/full", W_OK) != 0)
        skip();
    static char data[100000];
    for (int c = LEAT_COMPRESSION_NONE; c <= LEAT_COMPRESSION_SNAPPY; c++) {
        leat_tfrecord_writer_options options = {LEAT_TFRECORD_WRITER_DEFAULTS,
                                                .compression = (leat_compression)c};
        leat_error err = {0};
        if (!has_codec(c))
            continue;
        leat_tfrecord_writer *writer = leat_tfrecord_writer_open("/dev/full", &options, &err);
        /* What a codec keeps back fails when it is closed. */
        leat_status status = leat_tfrecord_writer_write(writer, data, sizeof data, &err);
        if (c == LEAT_COMPRESSION_NONE)
            assert_int_equal(status, LEAT_RESOURCE_EXHAUSTED);
        assert_int_equal(leat_tfrecord_writer_close(writer, &err), LEAT_RESOURCE_EXHAUSTED);
        assert_refused(&err, LEAT_RESOURCE_EXHAUSTED, LEAT_REASON_NONE, "/dev/full");
    }
}

static leat_status write_all(void *context, leat_error *err) {
    leat_status status = write_records(scratch_path("out"), context, err);
    assert_int_equal(scratch_count(), status ? 0 : 1);
    scratch_remove(scratch_path("out"));
    return status;
}

static void every_allocation_fails_once(void **state) {
    (void)state;
    for (int c = LEAT_COMPRESSION_NONE; c <= LEAT_COMPRESSION_SNAPPY; c++) {
        leat_tfrecord_writer_options options = {LEAT_TFRECORD_WRITER_DEFAULTS,
                                                .compression = (leat_compression)c};
        torture_begin();
        if (has_codec(c))
            torture_run(write_all, &options);
        torture_end();
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(same_bytes_as_tensorflow),
        TEST(compressed_files_read_back),
        TEST(nothing_before_close),
        TEST(failures),
        TEST(full_disk),
        TEST(every_allocation_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
