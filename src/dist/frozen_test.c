/* States of distributed iterators that earlier versions wrote (tests/frozen, docs/VERSIONING.md).
 * LEAT_WRITE_FROZEN=FILE writes what this version writes; do it once for each release. */
#include "support/cmocka.h"

#include <dirent.h>
#include <leat/leat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FROZEN LEATI_SOURCE_DIR "/tests/frozen"

enum { MOST = 1 << 20 };

/* Seven numbers in batches of four over two replicas: two steps, the second of 2 rows and 1. */
static leat_distributed_iterator *iterate(leat_strategy *strategy,
                                          leat_distributed_dataset **dataset) {
    leat_error err = {0};
    *dataset = leat_strategy_distribute_dataset(
        strategy, leat_dataset_batch(leat_dataset_range(0, 7, 1, NULL, &err), 4, NULL, &err), NULL,
        &err);
    leat_distributed_iterator *iterator =
        *dataset != NULL ? leat_distributed_iterator_new(*dataset, &err) : NULL;
    if (iterator == NULL)
        fail_msg("%s", leat_error_message(&err));
    return iterator;
}

static void write_state(leat_distributed_iterator *iterator, const char *path) {
    char *data = NULL;
    size_t size = 0;
    leat_error err = {0};
    assert_int_equal(leat_distributed_iterator_save(iterator, NULL, &data, &size, NULL, &err),
                     LEAT_OK);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    leat_text_free(data);
}

static void expect_second_step(leat_distributed_iterator *iterator) {
    leat_error err = {0};
    leat_per_replica step = {0};
    static const int64_t rows[2][2] = {{4, 5}, {6, 0}};
    if (leat_distributed_iterator_next(iterator, &step, &err) != LEAT_OK)
        fail_msg("%s", leat_error_message(&err));
    for (int r = 0; r < 2; r++) {
        const leat_tensor *tensor = &step.elements[r].tensors[0];
        assert_int_equal(tensor->dims[0], r == 0 ? 2 : 1);
        for (int64_t i = 0; i < tensor->dims[0]; i++)
            assert_int_equal(((const int64_t *)tensor->data)[i], rows[r][i]);
    }
    leat_per_replica_fini(&step);
    assert_int_equal(leat_distributed_iterator_next(iterator, &step, &err), LEAT_OUT_OF_RANGE);
    assert_int_equal(err.reason, LEAT_REASON_END);
    leat_per_replica_fini(&step);
}

static void read_state(leat_strategy *strategy, const char *version) {
    char path[1024];
    snprintf(path, sizeof path, FROZEN "/%s/distributed.state", version);
    FILE *file = fopen(path, "rb");
    char *data = malloc(MOST);
    assert_non_null(file);
    assert_non_null(data);
    size_t size = fread(data, 1, MOST, file);
    fclose(file);
    leat_error err = {0};
    leat_distributed_dataset *dataset;
    leat_distributed_iterator *iterator = iterate(strategy, &dataset);
    if (leat_distributed_iterator_restore(iterator, data, size, &err) != LEAT_OK)
        fail_msg("%s: %s", path, leat_error_message(&err));
    expect_second_step(iterator);
    leat_distributed_iterator_free(iterator);
    leat_distributed_dataset_free(dataset);
    free(data);
}

static void test_states_of_earlier_versions(void **state) {
    (void)state;
    leat_error err = {0};
    assert_int_equal(leat_device_set_logical_cpus(2, &err), LEAT_OK);
    leat_strategy *strategy = leat_strategy_mirrored(NULL, &err);
    assert_non_null(strategy);
    const char *path = getenv("LEAT_WRITE_FROZEN");
    if (path != NULL) {
        leat_per_replica step = {0};
        leat_distributed_dataset *dataset;
        leat_distributed_iterator *iterator = iterate(strategy, &dataset);
        assert_int_equal(leat_distributed_iterator_next(iterator, &step, &err), LEAT_OK);
        leat_per_replica_fini(&step);
        write_state(iterator, path);
        leat_distributed_iterator_free(iterator);
        leat_distributed_dataset_free(dataset);
    }
    int versions = 0;
    DIR *folder = opendir(FROZEN);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] != '.') {
            read_state(strategy, entry->d_name);
            versions++;
        }
    }
    closedir(folder);
    leat_strategy_unref(strategy);
    assert_true(versions >= 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_states_of_earlier_versions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
