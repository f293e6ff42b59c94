/* The same as data/kept/saved_counts_test's damage, at every byte of every file, for all kinds and
 * compressions. */
#include "support/cmocka.h"

#include "support/scratch.h"

#include "support/damaged.h"

static void test_all(void **state) {
    static const char *const save[] = {NULL, "GZIP", "ZLIB", "SNAPPY"};
    static const char *const snapshot[] = {"", "GZIP", "SNAPPY", "AUTO"};
    (void)state;
    for (size_t i = 0; i < sizeof save / sizeof *save; i++) {
        for (int64_t shards = 1; shards <= 3; shards += 2) {
            damaged_check(&(damaged_case){DAMAGED_SAVE, save[i], 11, shards}, 0, i);
            damaged_check(&(damaged_case){DAMAGED_SNAPSHOT, snapshot[i], 11, shards}, 0, i);
        }
    }
    damaged_check(&(damaged_case){DAMAGED_CACHE, NULL, 11, 1}, 0, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};
    return cmocka_run_group_tests_name("saved, all", tests, scratch_setup, scratch_teardown);
}
