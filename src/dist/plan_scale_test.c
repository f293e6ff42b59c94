/* The planner at the scale of large clusters: random shapes against what must hold for all of them,
 * and jobs with faults on a virtual clock. plan_scale_long_test sweeps further. */
#include "support/cmocka.h"

#include "support/plan_scale.h"

static void test_sizes(void **state) {
    (void)state;
    scale_sizes(1, 40);
}

static void test_files(void **state) {
    (void)state;
    scale_files(1, 6);
}

static void test_data(void **state) {
    (void)state;
    scale_data(1, 4);
}

static void test_jobs(void **state) {
    (void)state;
    scale_jobs(1, 12, 24);
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
