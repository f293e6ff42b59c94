/* Looking into record files: sums, the caller's function, guesses, bad files. */
#include "support/cmocka.h"

#include "support/refused.h"
#include "support/scratch.h"
#include <leat/file.h>

#define FILES LEATI_SOURCE_DIR "/tests/golden/data/files/tfrecord/"
#define DIGITS LEATI_SOURCE_DIR "/data/digits/"

static void sums(void **state) {
    (void)state;
    leat_record_summary got;
    leat_error err = {0};
    assert_int_equal(
        leat_records_inspect(FILES "plain.tfrecord", LEAT_COMPRESSION_NONE, NULL, NULL, &got, &err),
        LEAT_OK);
    assert_int_equal(got.records, 4);
    assert_int_equal(got.file_size, 181);
    assert_int_equal(got.data_bytes, 117);
    assert_int_equal(got.min_size, 0);
    assert_int_equal(got.max_size, 100);
    assert_true(got.mean_size == 117.0 / 4);
    assert_int_equal(got.trailing_bytes, 0);
    assert_int_equal(leat_records_inspect(FILES "garbage_after.tfrecord", LEAT_COMPRESSION_NONE,
                                          NULL, NULL, &got, &err),
                     LEAT_OK);
    assert_int_equal(got.records, 2);
    assert_int_equal(got.trailing_bytes, 7);
    assert_int_equal(
        leat_records_inspect(FILES "empty.tfrecord", LEAT_COMPRESSION_NONE, NULL, NULL, &got, &err),
        LEAT_OK);
    assert_int_equal(got.records, 0);
    assert_int_equal(got.file_size, 0);
    assert_true(got.mean_size == 0);
    assert_int_equal(leat_records_inspect(FILES "plain.tfrecord.gz", LEAT_COMPRESSION_GZIP, NULL,
                                          NULL, &got, &err),
                     LEAT_OK);
    assert_int_equal(got.data_bytes, 117);
    assert_int_equal(got.file_size, 85);
}

/* Counts the labels of the digits: the first pass of any look at a data set. */
typedef struct labels {
    int64_t records, next_offset;
    int64_t of[10];
} labels;

static leat_status count_label(void *context, int64_t index, int64_t offset, leat_string record,
                               leat_error *err) {
    labels *counts = context;
    assert_int_equal(index, counts->records);
    assert_int_equal(offset, counts->next_offset);
    counts->records++;
    counts->next_offset += (int64_t)record.size + 16;
    size_t position = 0;
    for (;;) {
        leat_feature feature;
        bool end = false;
        leat_status status = leat_example_next(record, &position, &feature, &end, err);
        if (status != LEAT_OK || end)
            return status;
        int64_t label = -1;
        if (feature.name.size == 5 && memcmp(feature.name.data, "label", 5) == 0) {
            assert_int_equal(leat_feature_read(&feature, &label, 1), 1);
            assert_in_range(label, 0, 9);
            counts->of[label]++;
        }
    }
}

static void labels_of_the_digits(void **state) {
    (void)state;
    /* The table of classes in load_digits: 178 182 177 183 181 182 181 179 174 180 of 1797. */
    static const int64_t classes[] = {178, 182, 177, 183, 181, 182, 181, 179, 174, 180};
    labels counts = {0}, test = {0};
    leat_record_summary got;
    leat_error err = {0};
    assert_int_equal(leat_records_inspect(DIGITS "digits-train.tfrecord", LEAT_COMPRESSION_NONE,
                                          count_label, &counts, &got, &err),
                     LEAT_OK);
    assert_int_equal(got.records, 1437);
    assert_int_equal(leat_records_inspect(DIGITS "digits-test.tfrecord", LEAT_COMPRESSION_NONE,
                                          count_label, &test, &got, &err),
                     LEAT_OK);
    assert_int_equal(got.records, 360);
    for (int i = 0; i < 10; i++)
        assert_int_equal(counts.of[i] + test.of[i], classes[i]);
}

static leat_status stop_at_two(void *context, int64_t index, int64_t offset, leat_string record,
                               leat_error *err) {
    (void)context;
    (void)offset;
    (void)record;
    (void)err;
    return index == 2 ? LEAT_CANCELLED : LEAT_OK;
}

static void function_ends_it(void **state) {
    (void)state;
    leat_record_summary got = {.records = 77};
    assert_int_equal(leat_records_inspect(FILES "plain.tfrecord", LEAT_COMPRESSION_NONE,
                                          stop_at_two, NULL, &got, NULL),
                     LEAT_CANCELLED);
    assert_int_equal(got.records, 77);
}

static void bad_files(void **state) {
    (void)state;
    leat_record_summary got = {0};
    leat_error err = {0};
    assert_int_equal(leat_records_inspect(FILES "bad_data.tfrecord", LEAT_COMPRESSION_NONE, NULL,
                                          NULL, &got, &err),
                     LEAT_DATA_LOSS);
    assert_refused(&err, LEAT_DATA_LOSS, LEAT_REASON_NONE, "bad_data.tfrecord");
    assert_int_equal(err.byte, 37);
    assert_true(refused_names(err.text, "2")); /* records before it */
    /* The file in gzip but for its last bytes, which hold the checksum. */
    size_t size = 0;
    uint8_t *data = scratch_read(FILES "plain.tfrecord.gz", &size);
    assert_int_equal(scratch_setup(state), 0);
    const char *path = scratch_write("cut", data, size - 5);
    assert_int_equal(leat_records_inspect(path, LEAT_COMPRESSION_GZIP, NULL, NULL, &got, &err),
                     LEAT_DATA_LOSS);
    assert_refused(&err, LEAT_DATA_LOSS, LEAT_REASON_NONE, "cut");
    scratch_teardown(state);
    free(data);
    assert_int_equal(
        leat_records_inspect(FILES "nowhere", LEAT_COMPRESSION_NONE, NULL, NULL, &got, &err),
        LEAT_NOT_FOUND);
}

static void guesses(void **state) {
    (void)state;
    static const struct {
        const char *path;
        leat_compression compression;
    } cases[] = {
        {FILES "plain.tfrecord", LEAT_COMPRESSION_NONE},
        {FILES "plain.tfrecord.gz", LEAT_COMPRESSION_GZIP},
        {FILES "plain.tfrecord.z", LEAT_COMPRESSION_ZLIB},
        {FILES "empty.tfrecord", LEAT_COMPRESSION_NONE},
        {FILES "only_garbage.tfrecord", LEAT_COMPRESSION_NONE},
        {DIGITS "digits-test.tfrecord", LEAT_COMPRESSION_NONE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_compression got = LEAT_COMPRESSION_GZIP;
        assert_int_equal(leat_compression_guess(cases[i].path, &got, NULL), LEAT_OK);
        assert_int_equal(got, cases[i].compression);
    }
    leat_error err = {0};
    leat_compression got;
    assert_int_equal(leat_compression_guess(FILES "nowhere", &got, &err), LEAT_NOT_FOUND);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums),
        cmocka_unit_test(labels_of_the_digits),
        cmocka_unit_test(function_ends_it),
        cmocka_unit_test(bad_files),
        cmocka_unit_test(guesses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
