/* Distributed iterators: arguments, counted rows, explaining several feeds, and states with every
 * byte changed in turn, as they are and under a checksum that fits: each is refused, or the
 * iterator goes on. */
#include "support/cmocka.h"

#include "base/hash.h"
#include "support/refused.h"
#include <leat/data_ops.h>
#include <leat/dist.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STATE_VERSION = 2,
    VERSION_AT = 5, /* behind the magic, which is its length and four bytes */
    CHECKSUM_SEED = 1,
    CHECKSUM = 8
};

static int two_devices(void **state) {
    (void)state;
    return leat_device_set_logical_cpus(2, NULL) == LEAT_OK ? 0 : -1;
}

static leat_strategy *two_replicas(void) {
    leat_error err = {0};
    leat_strategy *strategy = leat_strategy_mirrored(NULL, &err);
    if (strategy == NULL)
        fail_msg("%s", err.text);
    assert_int_equal(leat_strategy_num_replicas(strategy), 2);
    return strategy;
}

/* Seven numbers in batches of four: two steps, the second of 2 and 1 rows. */
static leat_distributed_dataset *batches(leat_strategy *strategy,
                                         const leat_strategy_distribute_options *options) {
    leat_error err = {0};
    leat_distributed_dataset *dataset = leat_strategy_distribute_dataset(
        strategy, leat_dataset_batch(leat_dataset_range(0, 7, 1, NULL, &err), 4, NULL, &err),
        options, &err);
    if (dataset == NULL)
        fail_msg("%s", err.text);
    return dataset;
}

static leat_dataset *of_replica(void *context, const leat_input_context *input, leat_error *err) {
    (void)context;
    return leat_dataset_range(10 * input->input_pipeline_id, 10 * input->input_pipeline_id + 3, 1,
                              NULL, err);
}

static leat_distributed_dataset *two_feeds(leat_strategy *strategy) {
    const leat_strategy_distribute_options each = {LEAT_STRATEGY_DISTRIBUTE_DEFAULTS,
                                                   .replication = LEAT_INPUT_PER_REPLICA};
    leat_error err = {0};
    leat_distributed_dataset *dataset = leat_strategy_distribute_datasets_from_function(
        strategy, of_replica, NULL, NULL, &each, &err);
    if (dataset == NULL)
        fail_msg("%s", err.text);
    return dataset;
}

static leat_distributed_iterator *iterate(leat_distributed_dataset *dataset) {
    leat_error err = {0};
    leat_distributed_iterator *iterator = leat_distributed_iterator_new(dataset, &err);
    if (iterator == NULL)
        fail_msg("%s", err.text);
    return iterator;
}

static void expect(leat_status found, leat_status code, const leat_error *err, leat_reason reason,
                   const char *keyword) {
    assert_int_equal(found, code);
    assert_refused(err, code, reason, keyword);
}

static void test_arguments(void **state) {
    (void)state;
    leat_error err = {0};
    char *data = NULL;
    size_t size = 0;
    leat_per_replica out = {0};
    leat_strategy *strategy = two_replicas();
    leat_distributed_dataset *dataset = batches(strategy, NULL);
    leat_distributed_iterator *it = iterate(dataset);
    assert_null(leat_distributed_iterator_new(NULL, &err));
    expect(err.code, LEAT_INVALID_ARGUMENT, &err, LEAT_REASON_VALUE, "dataset");
    assert_null(leat_distributed_iterator_explain(NULL, &err));
    expect(err.code, LEAT_INVALID_ARGUMENT, &err, LEAT_REASON_VALUE, "iterator");
    expect(leat_distributed_iterator_next(NULL, &out, &err), LEAT_INVALID_ARGUMENT, &err,
           LEAT_REASON_VALUE, "iterator");
    expect(leat_distributed_iterator_next(it, NULL, &err), LEAT_INVALID_ARGUMENT, &err,
           LEAT_REASON_VALUE, "out");
    expect(leat_distributed_iterator_save(NULL, NULL, &data, &size, NULL, &err),
           LEAT_INVALID_ARGUMENT, &err, LEAT_REASON_VALUE, "leat_distributed_iterator_save");
    expect(leat_distributed_iterator_save(it, NULL, NULL, &size, NULL, &err), LEAT_INVALID_ARGUMENT,
           &err, LEAT_REASON_VALUE, "leat_distributed_iterator_save");
    expect(leat_distributed_iterator_save(it, NULL, &data, NULL, NULL, &err), LEAT_INVALID_ARGUMENT,
           &err, LEAT_REASON_VALUE, "leat_distributed_iterator_save");
    assert_int_equal(leat_distributed_iterator_save(it, NULL, &data, &size, NULL, &err), LEAT_OK);
    expect(leat_distributed_iterator_restore(NULL, data, size, &err), LEAT_INVALID_ARGUMENT, &err,
           LEAT_REASON_VALUE, "leat_distributed_iterator_restore");
    expect(leat_distributed_iterator_restore(it, NULL, size, &err), LEAT_INVALID_ARGUMENT, &err,
           LEAT_REASON_VALUE, "leat_distributed_iterator_restore");
    assert_int_equal(leat_distributed_iterator_restore(it, data, size, &err), LEAT_OK);
    expect(leat_distributed_iterator_restore(it, data, size, &err), LEAT_FAILED_PRECONDITION, &err,
           LEAT_REASON_NONE, "leat_distributed_iterator_restore");
    leat_distributed_iterator_free(it);
    it = iterate(dataset);
    assert_int_equal(leat_distributed_iterator_next(it, &out, &err), LEAT_OK);
    expect(leat_distributed_iterator_restore(it, data, size, &err), LEAT_FAILED_PRECONDITION, &err,
           LEAT_REASON_NONE, "leat_distributed_iterator_restore");
    leat_per_replica_fini(&out);
    leat_text_free(data);
    leat_distributed_iterator_free(it);
    leat_distributed_dataset_free(dataset);
    leat_strategy_unref(strategy);
}

static void test_counted_rows(void **state) {
    (void)state;
    leat_error err = {0};
    leat_per_replica out = {0};
    int64_t rows[2] = {-1, -1}, total = -1;
    leat_strategy *strategy = two_replicas();
    for (int counted = 0; counted < 2; counted++) {
        const leat_strategy_distribute_options options = {LEAT_STRATEGY_DISTRIBUTE_DEFAULTS,
                                                          .count_rows = counted == 1};
        leat_distributed_dataset *dataset = batches(strategy, &options);
        leat_distributed_iterator *it = iterate(dataset);
        expect(leat_distributed_iterator_rows(NULL, rows, &total, &err), LEAT_INVALID_ARGUMENT,
               &err, LEAT_REASON_VALUE, "iterator");
        expect(leat_distributed_iterator_rows(it, rows, NULL, &err), LEAT_INVALID_ARGUMENT, &err,
               LEAT_REASON_VALUE, "total");
        expect(leat_distributed_iterator_rows(it, rows, &total, &err), LEAT_FAILED_PRECONDITION,
               &err, LEAT_REASON_NONE, counted ? "leat_distributed_iterator_rows" : "count_rows");
        for (int step = 0; step < 2; step++) {
            assert_int_equal(leat_distributed_iterator_next(it, &out, &err), LEAT_OK);
            if (!counted) {
                expect(leat_distributed_iterator_rows(it, rows, &total, &err),
                       LEAT_FAILED_PRECONDITION, &err, LEAT_REASON_NONE, "count_rows");
                continue;
            }
            assert_int_equal(leat_distributed_iterator_rows(it, NULL, &total, &err), LEAT_OK);
            assert_int_equal(total, step == 0 ? 4 : 3);
            assert_int_equal(leat_distributed_iterator_rows(it, rows, &total, &err), LEAT_OK);
            assert_int_equal(rows[0], 2);
            assert_int_equal(rows[1], step == 0 ? 2 : 1);
        }
        leat_per_replica_fini(&out);
        leat_distributed_iterator_free(it);
        leat_distributed_dataset_free(dataset);
    }
    leat_strategy_unref(strategy);
}

static void test_explained(void **state) {
    (void)state;
    leat_error err = {0};
    leat_strategy *strategy = two_replicas();
    leat_distributed_dataset *dataset = two_feeds(strategy);
    leat_distributed_iterator *it = iterate(dataset);
    char *text = leat_distributed_iterator_explain(it, &err);
    assert_non_null(text);
    const char *second = strstr(text, "replica 1:\n");
    assert_memory_equal(text, "replica 0:\n", 11);
    assert_non_null(second);
    assert_non_null(strstr(second, "range"));
    assert_true(strstr(text, "range") < second);
    leat_text_free(text);
    leat_distributed_iterator_free(it);
    leat_distributed_dataset_free(dataset);
    leat_strategy_unref(strategy);
}

/* Restores and goes to the end. The rows that came; -1: the state was refused. */
static int rows_of(leat_distributed_dataset *dataset, const char *data, size_t size) {
    leat_error err = {0};
    leat_per_replica out = {0};
    int rows = -1;
    leat_distributed_iterator *it = iterate(dataset);
    leat_status status = leat_distributed_iterator_restore(it, data, size, &err);
    if (status != LEAT_OK) {
        assert_true(status == LEAT_DATA_LOSS || status == LEAT_FAILED_PRECONDITION);
        assert_true(err.text[0] != '\0');
    }
    for (rows = status == LEAT_OK ? 0 : -1; status == LEAT_OK && rows < 100;) {
        status = leat_distributed_iterator_next(it, &out, &err);
        for (int r = 0; status == LEAT_OK && r < out.num_replicas; r++)
            rows += (int)leat_tensor_count(&out.elements[r].tensors[0]);
    }
    leat_per_replica_fini(&out);
    leat_distributed_iterator_free(it);
    return rows;
}

static void put_checksum(char *data, size_t size) {
    uint64_t checksum = leati_hash(data, size - CHECKSUM, CHECKSUM_SEED);
    for (int b = 0; b < 8; b++)
        data[size - CHECKSUM + (size_t)b] = (char)(checksum >> (8 * b));
}

/* `left` rows come after the state of the dataset after one step. */
static void check_changes(leat_distributed_dataset *dataset, int left) {
    leat_error err = {0};
    leat_per_replica out = {0};
    char *data = NULL, *copy;
    size_t size = 0;
    int refused = 0;
    leat_distributed_iterator *it = iterate(dataset);
    assert_int_equal(leat_distributed_iterator_next(it, &out, &err), LEAT_OK);
    assert_int_equal(leat_distributed_iterator_save(it, NULL, &data, &size, NULL, &err), LEAT_OK);
    leat_per_replica_fini(&out);
    leat_distributed_iterator_free(it);
    copy = malloc(size);
    assert_non_null(copy);
    memcpy(copy, data, size);
    put_checksum(copy, size);
    assert_memory_equal(copy, data, size);
    assert_int_equal(rows_of(dataset, data, size), left);
    for (size_t i = 0; i < size; i++) {
        copy[i] ^= 0x20;
        assert_int_equal(rows_of(dataset, copy, size), -1);
        memcpy(copy, data, size);
        assert_int_equal(rows_of(dataset, data, i), -1);
    }
    static const char changes[] = {1, 2, 0x40, 0x7f, (char)0x80};
    for (size_t i = 0; i + CHECKSUM < size; i++)
        for (size_t c = 0; c < sizeof changes; c++) {
            copy[i] ^= changes[c];
            put_checksum(copy, size);
            refused += rows_of(dataset, copy, size) < 0;
            memcpy(copy, data, size);
        }
    assert_true(refused > (int)size); /* most of them */
    free(copy);
    leat_text_free(data);
}

static void test_damaged_states(void **state) {
    (void)state;
    leat_strategy *strategy = two_replicas();
    leat_distributed_dataset *dataset = batches(strategy, NULL);
    check_changes(dataset, 3);
    leat_distributed_dataset_free(dataset);
    dataset = two_feeds(strategy);
    check_changes(dataset, 4);
    leat_distributed_dataset_free(dataset);
    leat_strategy_unref(strategy);
}

/* A state of a newer library, or of the version that had numbers where names are now, is told from
 * a damaged one. */
static void test_other_versions(void **state) {
    (void)state;
    leat_error err = {0};
    char *data = NULL, number[16];
    size_t size = 0;
    leat_strategy *strategy = two_replicas();
    leat_distributed_dataset *dataset = batches(strategy, NULL);
    leat_distributed_iterator *it = iterate(dataset);
    assert_int_equal(leat_distributed_iterator_save(it, NULL, &data, &size, NULL, &err), LEAT_OK);
    for (int version = STATE_VERSION - 1; version <= STATE_VERSION + 1; version += 2) {
        data[VERSION_AT] = (char)version;
        put_checksum(data, size);
        assert_int_equal(leat_distributed_iterator_restore(it, data, size, &err),
                         LEAT_FAILED_PRECONDITION);
        snprintf(number, sizeof number, "%d", version);
        assert_refused(&err, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, number);
    }
    leat_text_free(data);
    leat_distributed_iterator_free(it);
    leat_distributed_dataset_free(dataset);
    leat_strategy_unref(strategy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arguments), cmocka_unit_test(test_counted_rows),
        cmocka_unit_test(test_explained), cmocka_unit_test(test_damaged_states),
        cmocka_unit_test(test_other_versions)};
    return cmocka_run_group_tests(tests, two_devices, NULL);
}
