/* Indexed record files: the number of records, skipping, random access, and indexes that do not fit
 * their files. Record i of all files together is the number i as text. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "data/source/record_index.h"
#include "support/dataset.h"
#include "support/refused.h"
#include "support/scratch.h"
#include <inttypes.h>
#include <leat/file.h>

/* ---- files ---- */

enum { FILES = 4 };

static const int64_t sizes[FILES] = {100, 0, 1030, 7};
static char names[FILES][1100];

static const char *write_records(const char *name, int64_t first, int64_t count, bool index) {
    const char *path = scratch_path(name);
    leat_tfrecord_writer *writer = leat_tfrecord_writer_open(path, NULL, NULL);
    assert_non_null(writer);
    for (int64_t i = first; i < first + count; i++) {
        char text[32];
        int size = snprintf(text, sizeof text, "%" PRId64, i);
        assert_int_equal(leat_tfrecord_writer_write(writer, text, (size_t)size, NULL), LEAT_OK);
    }
    assert_int_equal(leat_tfrecord_writer_close(writer, NULL), LEAT_OK);
    if (index)
        assert_int_equal(leat_index_write(path, NULL, NULL), LEAT_OK);
    return path;
}

static int write_files(void **state) {
    int64_t first = 0;
    if (scratch_setup(state) != 0)
        return -1;
    for (int i = 0; i < FILES; i++) {
        char name[32];
        snprintf(name, sizeof name, "%d.tfrecord", i);
        snprintf(names[i], sizeof names[i], "%s", write_records(name, first, sizes[i], true));
        first += sizes[i];
    }
    return 0;
}

static leat_dataset *open_files(leat_index_use use, leat_error *err) {
    const char *paths[FILES];
    for (int i = 0; i < FILES; i++)
        paths[i] = names[i];
    leat_dataset_tf_record_options options = {LEAT_DATASET_TF_RECORD_DEFAULTS, .index = use};
    return leat_dataset_tf_record(paths, FILES, &options, err);
}

static leat_dataset *open_one(const char *path, leat_index_use use, leat_error *err) {
    leat_dataset_tf_record_options options = {LEAT_DATASET_TF_RECORD_DEFAULTS, .index = use};
    return leat_dataset_tf_record(&path, 1, &options, err);
}

/* Changes a byte of a file. */
static void damage(const char *path, long at) {
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    int byte = fgetc(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    assert_int_equal(fputc(byte ^ 1, file), byte ^ 1);
    assert_int_equal(fclose(file), 0);
}

/* ---- elements ---- */

static int64_t number_of(const leat_element *element) {
    const leat_string *text = element->tensors[0].data;
    char copy[32] = "";
    assert_true(text->size < sizeof copy);
    memcpy(copy, text->data, text->size);
    return strtoll(copy, NULL, 10);
}

static void expect_at(leat_accessor *accessor, int64_t index) {
    leat_element element = {0};
    leat_error err = {0};
    if (leat_accessor_get(accessor, index, &element, &err) != LEAT_OK)
        fail_msg("record %lld: %s", (long long)index, err.text);
    assert_int_equal(number_of(&element), index);
    leat_element_fini(&element);
}

static void expect_error_at(leat_accessor *accessor, int64_t index, leat_status code,
                            leat_reason reason, const char *keyword) {
    leat_element element = {0};
    leat_error err = {0};
    assert_int_equal(leat_accessor_get(accessor, index, &element, &err), code);
    assert_refused(&err, code, reason, keyword);
}

static void expect_failure(leat_dataset *dataset, const leat_error *err, leat_status code,
                           leat_reason reason, const char *keyword) {
    assert_null(dataset);
    assert_refused(err, code, reason, keyword);
}

/* ---- tests ---- */

static void cardinality(void **state) {
    (void)state;
    leat_error err = {0};
    const int64_t expected[] = {LEAT_UNKNOWN_CARDINALITY, 1137, 1137};
    for (int use = 0; use <= LEAT_INDEX_REQUIRED; use++) {
        leat_dataset *dataset = open_files((leat_index_use)use, &err);
        assert_int_equal(leat_dataset_cardinality(dataset), expected[use]);
        leat_dataset_unref(dataset);
    }
}

static void every_record(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset *dataset = open_files(LEAT_INDEX_REQUIRED, &err);
    leat_accessor *accessor = leat_accessor_open(dataset, &err);
    assert_non_null(accessor);
    for (int64_t i = 0; i < 1137; i++)
        expect_at(accessor, i * 500 % 1137); /* 500 and 1137 have no common divisor */
    for (int64_t i = 0; i < 1137; i++)
        expect_at(accessor, i);
    expect_error_at(accessor, 1137, LEAT_OUT_OF_RANGE, LEAT_REASON_NONE, "1137");
    expect_error_at(accessor, -1, LEAT_OUT_OF_RANGE, LEAT_REASON_NONE, "-1");
    leat_accessor_close(accessor);
    leat_dataset_unref(dataset);
}

/* More files than stay open. */
static void many_files(void **state) {
    (void)state;
    enum { MANY = 70 };
    static char many[MANY][1100];
    const char *paths[MANY];
    leat_error err = {0};
    for (int i = 0; i < MANY; i++) {
        char name[32];
        snprintf(name, sizeof name, "many-%d", i);
        snprintf(many[i], sizeof many[i], "%s", write_records(name, 2 * i, 2, true));
        paths[i] = many[i];
    }
    leat_dataset_tf_record_options options = {LEAT_DATASET_TF_RECORD_DEFAULTS,
                                              .index = LEAT_INDEX_REQUIRED};
    leat_dataset *dataset = leat_dataset_tf_record(paths, MANY, &options, &err);
    leat_accessor *accessor = leat_accessor_open(dataset, &err);
    for (int64_t i = 0; i < 6 * MANY; i++)
        expect_at(accessor, i * 13 % (2 * MANY));
    leat_accessor_close(accessor);
    leat_dataset_unref(dataset);
}

struct part {
    leat_index_use use;
    int64_t skip, shards, shard;
};

/* Three records behind `skip` of one part of the files. */
static leat_dataset *make_part(void *context, leat_error *err) {
    const struct part *part = context;
    leat_dataset *dataset = open_files(part->use, err);
    dataset =
        part->shards > 0 ? leat_dataset_shard(dataset, part->shards, part->shard, err) : dataset;
    return leat_dataset_take(leat_dataset_skip(dataset, part->skip, err), 3, err);
}

/* In every way to run it: saved and restored, in other sizes, on other threads. */
static void ranges(void **state) {
    (void)state;
    const int64_t skips[] = {0,   1,    63,   64,   99,   100,  101, 611,
                             612, 1129, 1130, 1135, 1136, 1137, 5000};
    for (size_t i = 0; i < sizeof skips / sizeof skips[0]; i++) {
        struct part part = {.use = LEAT_INDEX_REQUIRED, .skip = skips[i]};
        char expected[200] = "";
        for (int64_t k = skips[i]; k < skips[i] + 3 && k < 1137; k++) {
            size_t used = strlen(expected);
            snprintf(expected + used, sizeof expected - used, "%s\"%" PRId64 "\"",
                     used > 0 ? " " : "", k);
        }
        dataset_check(make_part, &part, expected);
    }
}

/* Shards that pass over more records at once than are worth an index, and fewer. */
static void shards(void **state) {
    (void)state;
    for (int64_t count = 2; count <= 300; count += 149) {
        for (int64_t skip = 0; skip <= 2; skip += 2) {
            struct part part = {LEAT_INDEX_REQUIRED, skip, count, count / 2};
            char expected[200] = "";
            for (int64_t k = skip; k < skip + 3 && k * count + count / 2 < 1137; k++) {
                size_t used = strlen(expected);
                snprintf(expected + used, sizeof expected - used, "%s\"%" PRId64 "\"",
                         used > 0 ? " " : "", k * count + count / 2);
            }
            dataset_check(make_part, &part, expected);
        }
    }
}

/* What a range passes over is not read: a header that is damaged there does no harm. */
static void nothing_else_is_read(void **state) {
    (void)state;
    leat_error err = {0};
    leat_element element = {0};
    damage(names[2], 8000);
    for (int use = 0; use <= LEAT_INDEX_REQUIRED; use += 2) {
        struct part part = {.use = (leat_index_use)use, .skip = 1000};
        leat_dataset *dataset = make_part(&part, &err);
        leat_iterator *iterator = leat_iterator_new(dataset, NULL, &err);
        leat_status status = leat_iterator_next(iterator, &element, &err);
        assert_int_equal(status, use == LEAT_INDEX_NONE ? LEAT_DATA_LOSS : LEAT_OK);
        if (status == LEAT_OK)
            assert_int_equal(number_of(&element), 1000);
        leat_element_fini(&element);
        leat_iterator_free(iterator);
        leat_dataset_unref(dataset);
    }
}

/* The same order as that of the numbers themselves. */
static leat_dataset *shuffled(bool records, leat_error *err) {
    leat_dataset_shuffle_options options = {LEAT_DATASET_SHUFFLE_DEFAULTS, .seed = LEAT_SEED(3)};
    return leat_dataset_global_shuffle(records ? open_files(LEAT_INDEX_AUTO, err)
                                               : leat_dataset_range(0, 1137, 1, NULL, err),
                                       &options, err);
}

static void global_shuffle(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset *both[2] = {shuffled(false, &err), shuffled(true, &err)};
    leat_iterator *iterators[2];
    for (int k = 0; k < 2; k++) {
        iterators[k] = leat_iterator_new(both[k], NULL, &err);
        assert_non_null(iterators[k]);
    }
    for (int64_t i = 0; i < 1137; i++) {
        leat_element elements[2] = {{0}};
        for (int k = 0; k < 2; k++)
            assert_int_equal(leat_iterator_next(iterators[k], &elements[k], &err), LEAT_OK);
        assert_int_equal(number_of(&elements[1]), *(const int64_t *)elements[0].tensors[0].data);
        leat_element_fini(&elements[0]);
        leat_element_fini(&elements[1]);
    }
    for (int k = 0; k < 2; k++) {
        leat_iterator_free(iterators[k]);
        leat_dataset_unref(both[k]);
    }
}

static void without_index(void **state) {
    (void)state;
    leat_error err = {0};
    const char *path = write_records("plain", 0, 3, false);
    expect_failure(open_one(path, LEAT_INDEX_REQUIRED, &err), &err, LEAT_NOT_FOUND,
                   LEAT_REASON_NONE, "plain");
    leat_dataset *dataset = open_one(path, LEAT_INDEX_AUTO, &err);
    assert_int_equal(leat_dataset_cardinality(dataset), LEAT_UNKNOWN_CARDINALITY);
    leat_accessor *accessor = leat_accessor_open(dataset, &err);
    expect_error_at(accessor, 0, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "index");
    leat_accessor_close(accessor);
    expect_failure(leat_dataset_global_shuffle(dataset, NULL, &err), &err, LEAT_FAILED_PRECONDITION,
                   LEAT_REASON_NONE, "index");
}

static void refused(void **state) {
    (void)state;
    leat_error err = {0};
    const char *path = names[0];
    leat_dataset_tf_record_options options = {
        LEAT_DATASET_TF_RECORD_DEFAULTS, .index = LEAT_INDEX_REQUIRED, .compression_type = "GZIP"};
    expect_failure(leat_dataset_tf_record(&path, 1, &options, &err), &err, LEAT_INVALID_ARGUMENT,
                   LEAT_REASON_VALUE, "index");
    options = (leat_dataset_tf_record_options){
        LEAT_DATASET_TF_RECORD_DEFAULTS, .index = LEAT_INDEX_REQUIRED, .num_parallel_reads = 2};
    const char *two[] = {names[0], names[2]};
    expect_failure(leat_dataset_tf_record(two, 2, &options, &err), &err, LEAT_INVALID_ARGUMENT,
                   LEAT_REASON_VALUE, "index");
    leat_dataset *dataset = leat_dataset_tf_record(two, 1, &options, &err);
    assert_int_equal(leat_dataset_cardinality(dataset), 100); /* one file takes no turns */
    leat_dataset_unref(dataset);
    options.index = (leat_index_use)7;
    expect_failure(leat_dataset_tf_record(&path, 1, &options, &err), &err, LEAT_INVALID_ARGUMENT,
                   LEAT_REASON_VALUE, "index");
}

/* A file or an index that was changed: before the dataset is made, and after. */
static void stale(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset *dataset = open_files(LEAT_INDEX_REQUIRED, &err);
    leat_accessor *accessor = leat_accessor_open(dataset, &err);
    write_records("3.tfrecord", 0, 8, false);
    expect_error_at(accessor, 1131, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "3.tfrecord");
    expect_at(accessor, 5);
    expect_failure(open_files(LEAT_INDEX_AUTO, &err), &err, LEAT_FAILED_PRECONDITION,
                   LEAT_REASON_NONE, "3.tfrecord");
    write_records("3.tfrecord", 0, 8, true);
    expect_error_at(accessor, 1131, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "7");
    damage(scratch_path("0.tfrecord.leat-index"), 100);
    leat_accessor_close(accessor);
    accessor = leat_accessor_open(dataset, &err);
    expect_error_at(accessor, 5, LEAT_DATA_LOSS, LEAT_REASON_NONE, "0.tfrecord.leat-index");
    leat_accessor_close(accessor);
    leat_dataset_unref(dataset);
}

/* A file whose ends stayed as they were, but not what is between them. */
static void changed_inside(void **state) {
    (void)state;
    static char data[9000];
    const size_t before[] = {5000, 100, 200, 5000}, after[] = {5000, 316, 5000};
    leat_error err = {0};
    const char *path = scratch_path("inside");
    for (int round = 0; round < 2; round++) {
        const size_t *records = round == 0 ? before : after;
        leat_tfrecord_writer *writer = leat_tfrecord_writer_open(path, NULL, &err);
        for (int i = 0; i < 4 - round; i++)
            assert_int_equal(leat_tfrecord_writer_write(writer, data, records[i], &err), LEAT_OK);
        assert_int_equal(leat_tfrecord_writer_close(writer, &err), LEAT_OK);
        if (round == 0)
            assert_int_equal(leat_index_write(path, NULL, &err), LEAT_OK);
    }
    leat_dataset *dataset = open_one(path, LEAT_INDEX_REQUIRED, &err);
    leat_accessor *accessor = leat_accessor_open(dataset, &err);
    expect_error_at(accessor, 1, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "inside");
    expect_error_at(accessor, 2, LEAT_DATA_LOSS, LEAT_REASON_NONE, "inside");
    leat_accessor_close(accessor);
    leat_dataset_unref(dataset);
}

static void damaged_record(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset *dataset = open_files(LEAT_INDEX_REQUIRED, &err);
    leat_accessor *accessor = leat_accessor_open(dataset, &err);
    damage(names[2], 500 * 19 + 12); /* the data of the file's record 500 begin there */
    expect_at(accessor, 599);
    expect_error_at(accessor, 600, LEAT_DATA_LOSS, LEAT_REASON_NONE, "2.tfrecord");
    expect_at(accessor, 601);
    leat_accessor_close(accessor);
    leat_dataset_unref(dataset);
}

static leat_status use_all(void *context, leat_error *err) {
    (void)context;
    leat_element element = {0};
    leat_dataset *dataset = leat_dataset_skip(open_files(LEAT_INDEX_AUTO, err), 300, err);
    leat_accessor *accessor = dataset == NULL ? NULL : leat_accessor_open(dataset, err);
    leat_iterator *iterator = accessor == NULL ? NULL : leat_iterator_new(dataset, NULL, err);
    leat_status status = iterator == NULL ? torture_code(err) : LEAT_OK;
    if (status == LEAT_OK) {
        status = leat_accessor_get(accessor, 800, &element, err);
        leat_element_fini(&element);
    }
    if (status == LEAT_OK) {
        status = leat_iterator_next(iterator, &element, err);
        leat_element_fini(&element);
    }
    leat_iterator_free(iterator);
    leat_accessor_close(accessor);
    leat_dataset_unref(dataset);
    return status;
}

static void failing_allocations(void **state) {
    (void)state;
    torture_begin();
    torture_run_tolerant(use_all, NULL);
    torture_end();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, write_files, scratch_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(cardinality),
        TEST(every_record),
        TEST(many_files),
        TEST(ranges),
        TEST(shards),
        TEST(nothing_else_is_read),
        TEST(global_shuffle),
        TEST(without_index),
        TEST(refused),
        TEST(stale),
        TEST(changed_inside),
        TEST(damaged_record),
        TEST(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
