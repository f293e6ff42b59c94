/* tar_dataset with indexes: samples by number, shuffled, and shards that were changed. What is in
 * an element is tested by the conformance cases. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "support/dataset.h"
#include "support/refused.h"
#include "support/scratch.h"
#include <leat/file.h>

enum { BLOCK = 512 };

/* ---- shards ---- */

/* Appends a member of `size` bytes of value `fill` to the archive. */
static void add_member(FILE *file, const char *name, size_t size, int fill) {
    char header[BLOCK] = {0};
    unsigned sum = 0;
    snprintf(header, 100, "%s", name);
    snprintf(header + 100, 8, "0000644");
    snprintf(header + 124, 12, "%011zo", size);
    memcpy(header + 257, "ustar\00000", 8);
    header[156] = '0';
    memset(header + 148, ' ', 8);
    for (int i = 0; i < BLOCK; i++)
        sum += (unsigned char)header[i];
    snprintf(header + 148, 8, "%06o", sum);
    assert_int_equal(fwrite(header, BLOCK, 1, file), 1);
    for (size_t i = 0; i < (size + BLOCK - 1) / BLOCK * BLOCK; i++)
        assert_int_not_equal(fputc(i < size ? fill : 0, file), EOF);
}

static void finish_shard(FILE *file) {
    static const char end[2 * BLOCK];
    assert_int_equal(fwrite(end, sizeof end, 1, file), 1);
    assert_int_equal(fclose(file), 0);
}

static const size_t sizes[] = {5000, 100, 200, 5000, 0, 3, 512};

/* A shard of `count` of the samples: number i has a member i.bin of sizes[i] bytes. */
static const char *write_shard(const char *name, int first, int count) {
    const char *path = scratch_path(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    for (int i = 0; i < count; i++) {
        char member[32];
        snprintf(member, sizeof member, "%d.bin", first + i);
        add_member(file, member, sizes[first + i], 'a' + first + i);
    }
    finish_shard(file);
    assert_int_equal(leat_index_write(path, NULL, NULL), LEAT_OK);
    return path;
}

static char names[3][1100];

static int write_shards(void **state) {
    if (scratch_setup(state) != 0)
        return -1;
    snprintf(names[0], sizeof names[0], "%s", write_shard("0.tar", 0, 4));
    snprintf(names[1], sizeof names[1], "%s", write_shard("none.tar", 0, 0));
    snprintf(names[2], sizeof names[2], "%s", write_shard("1.tar", 4, 3));
    return 0;
}

static leat_dataset *open_shards(leat_index_use use, leat_error *err) {
    const char *paths[] = {names[0], names[1], names[2]}, *field = "bin";
    leat_dataset_tar_options options = {LEAT_DATASET_TAR_DEFAULTS, .index = use};
    return leat_dataset_tar(paths, 3, &field, 1, &options, err);
}

/* The element's components are "__key__" and "bin". */
static int64_t number_of(const leat_element *element) {
    const leat_string *key = element->tensors[0].data, *data = element->tensors[1].data;
    int64_t number = key->data[0] - '0';
    assert_int_equal(key->size, 1);
    assert_int_equal(data->size, sizes[number]);
    for (size_t i = 0; i < data->size; i++)
        assert_int_equal(data->data[i], 'a' + number);
    return number;
}

static void expect_error_at(leat_accessor *accessor, int64_t index, leat_status code,
                            leat_reason reason, const char *keyword) {
    leat_element element = {0};
    leat_error err = {0};
    assert_int_equal(leat_accessor_get(accessor, index, &element, &err), code);
    assert_refused(&err, code, reason, keyword);
}

/* ---- tests ---- */

static void test_every_sample(void **state) {
    (void)state;
    leat_error err = {0};
    leat_element element = {0};
    leat_dataset *dataset = open_shards(LEAT_INDEX_AUTO, &err);
    assert_int_equal(leat_dataset_cardinality(dataset), 7);
    leat_accessor *accessor = leat_accessor_open(dataset, &err);
    for (int64_t i = 0; i < 14; i++) {
        assert_int_equal(leat_accessor_get(accessor, i * 3 % 7, &element, &err), LEAT_OK);
        assert_int_equal(number_of(&element), i * 3 % 7);
        leat_element_fini(&element);
    }
    expect_error_at(accessor, 7, LEAT_OUT_OF_RANGE, LEAT_REASON_NONE, "7");
    leat_accessor_close(accessor);
    leat_dataset_unref(dataset);
}

static void test_shuffled(void **state) {
    (void)state;
    leat_error err = {0};
    leat_element element = {0};
    leat_dataset_shuffle_options options = {LEAT_DATASET_SHUFFLE_DEFAULTS, .seed = LEAT_SEED(3)};
    leat_dataset *dataset =
        leat_dataset_global_shuffle(open_shards(LEAT_INDEX_REQUIRED, &err), &options, &err);
    leat_iterator *iterator = leat_iterator_new(dataset, NULL, &err);
    int seen = 0;
    for (int i = 0; i < 7; i++) {
        assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OK);
        seen |= 1 << number_of(&element);
        leat_element_fini(&element);
    }
    assert_int_equal(seen, 127);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
}

static void test_without_index(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset *dataset = open_shards(LEAT_INDEX_NONE, &err);
    assert_int_equal(leat_dataset_cardinality(dataset), LEAT_UNKNOWN_CARDINALITY);
    leat_accessor *accessor = leat_accessor_open(dataset, &err);
    expect_error_at(accessor, 0, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "index");
    leat_accessor_close(accessor);
    assert_null(leat_dataset_global_shuffle(dataset, NULL, &err));
    assert_int_equal(err.code, LEAT_FAILED_PRECONDITION);
    err = (leat_error){0};
    assert_null(open_shards((leat_index_use)7, &err));
    assert_int_equal(err.code, LEAT_INVALID_ARGUMENT);
}

/* With an index skipping passes samples that lack the field, few of them or many. */
static void test_skipped_unseen(void **state) {
    (void)state;
    leat_error err = {0};
    leat_element element = {0};
    FILE *file = fopen(names[0], "wb");
    assert_non_null(file);
    for (int i = 0; i < 40; i++) {
        char name[32];
        snprintf(name, sizeof name, "x%d.%s", i, i % 2 == 0 ? "txt" : "bin");
        add_member(file, name, 1, 'x');
    }
    finish_shard(file);
    assert_int_equal(leat_index_write(names[0], NULL, NULL), LEAT_OK);
    for (int use = 0; use <= LEAT_INDEX_REQUIRED; use += 2) {
        for (int64_t skip = 1; skip < 40; skip += 6) {
            leat_dataset *dataset =
                leat_dataset_skip(open_shards((leat_index_use)use, &err), skip, &err);
            leat_iterator *iterator = leat_iterator_new(dataset, NULL, &err);
            leat_status status = leat_iterator_next(iterator, &element, &err);
            assert_int_equal(status, use == LEAT_INDEX_NONE ? LEAT_INVALID_ARGUMENT : LEAT_OK);
            if (status == LEAT_OK) {
                const leat_string *key = element.tensors[0].data;
                char expected[32];
                int size = snprintf(expected, sizeof expected, "x%d", (int)skip);
                assert_int_equal(key->size, size);
                assert_memory_equal(key->data, expected, (size_t)size);
            }
            leat_element_fini(&element);
            leat_iterator_free(iterator);
            leat_dataset_unref(dataset);
        }
    }
}

/* A shard whose ends and size stayed as they were, but not what is between them. */
static void test_changed_inside(void **state) {
    (void)state;
    leat_error err = {0};
    FILE *file = fopen(names[0], "wb");
    assert_non_null(file);
    add_member(file, "0.bin", 5000, 'a');
    add_member(file, "1.bin", 1400, 'b'); /* in the place of two samples */
    add_member(file, "3.bin", 5000, 'd');
    finish_shard(file);
    leat_dataset *dataset = open_shards(LEAT_INDEX_REQUIRED, &err);
    leat_accessor *accessor = leat_accessor_open(dataset, &err);
    expect_error_at(accessor, 1, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "0.tar");
    expect_error_at(accessor, 2, LEAT_DATA_LOSS, LEAT_REASON_NONE, "0.tar");
    leat_accessor_close(accessor);
    leat_dataset_unref(dataset);
}

static leat_status use_all(void *context, leat_error *err) {
    (void)context;
    leat_element element = {0};
    leat_dataset *dataset = open_shards(LEAT_INDEX_AUTO, err);
    leat_accessor *accessor = dataset == NULL ? NULL : leat_accessor_open(dataset, err);
    leat_status status = accessor == NULL ? torture_code(err) : LEAT_OK;
    for (int64_t i = 0; i < 7 && status == LEAT_OK; i += 3) {
        status = leat_accessor_get(accessor, i, &element, err);
        leat_element_fini(&element);
    }
    leat_accessor_close(accessor);
    leat_dataset_unref(dataset);
    return status;
}

static void test_failing_allocations(void **state) {
    (void)state;
    torture_begin();
    torture_run_tolerant(use_all, NULL);
    torture_end();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, write_shards, scratch_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_every_sample),   TEST(test_shuffled),       TEST(test_without_index),
        TEST(test_changed_inside), TEST(test_skipped_unseen), TEST(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
