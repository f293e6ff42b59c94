/* The sweep of plan_scale_test: more shapes, more faults, and clusters of up to 1,000 workers that
 * read files. */
#include "support/cmocka.h"

#include "support/plan_scale.h"

static void test_sizes(void **state) {
    (void)state;
    scale_sizes(1000, 300);
}

static void test_files(void **state) {
    (void)state;
    scale_files(1000, 60);
}

static void test_data(void **state) {
    (void)state;
    scale_data(1000, 40);
}

static void test_jobs(void **state) {
    (void)state;
    scale_jobs(1000, 150, 60);
    scale_jobs(5000, 4, 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_data),
        cmocka_unit_test(test_jobs),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
