/* Budgets, and what control groups grant, from files written here. */
#include "support/cmocka.h"

#include "base/error.h"
#include "run/budget.h"
#include "run/driver.h"
#include "run/machine.h"
#include "run/pool.h"
#include "support/refused.h"
#include "support/torture.h"

#include <ftw.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

static void limits_are_kept(void **state) {
    (void)state;
    leati_budget *budget = leati_budget_new(1000, 3, &(leat_error){0});
    assert_int_equal(leati_budget_limit(budget), 1000);
    assert_int_equal(leati_budget_cpus(budget), 3);
    leati_holder cache = {0};
    leati_holder batch = {0};
    leati_budget_holder_close(&batch); /* never opened */
    leati_budget_holder_open(&cache, budget, "cache");
    leati_budget_holder_open(&batch, budget, "batch");
    assert_int_equal(leati_budget_holder_set(&cache, 600, &(leat_error){0}), LEAT_OK);
    assert_int_equal(leati_budget_holder_set(&batch, 400, &(leat_error){0}), LEAT_OK);
    assert_int_equal(leati_budget_used(budget), 1000);
    assert_true(leati_budget_fits(budget, 0));
    assert_false(leati_budget_fits(budget, 1));
    assert_int_equal(leati_budget_holder_set(&batch, 401, &(leat_error){0}),
                     LEAT_RESOURCE_EXHAUSTED);
    assert_int_equal(leati_budget_holder_set(&batch, INT64_MAX, &(leat_error){0}),
                     LEAT_RESOURCE_EXHAUSTED);
    assert_int_equal(leati_budget_used(budget), 1000);
    assert_int_equal(leati_budget_holder_set(&cache, 500, &(leat_error){0}), LEAT_OK);
    assert_int_equal(leati_budget_holder_set(&batch, 500, &(leat_error){0}), LEAT_OK);
    assert_ptr_equal(leati_budget_ref(budget), budget);
    leati_budget_unref(budget);
    leati_budget_holder_close(&cache);
    leati_budget_holder_close(&cache);
    assert_int_equal(leati_budget_used(budget), 500);
    leati_budget_holder_close(&batch);
    assert_int_equal(leati_budget_used(budget), 0);
    leati_budget_unref(budget);
    leati_budget_unref(NULL);
}

/* Two iterators without limits of their own share the process's. */
static void process_limit_is_shared(void **state) {
    (void)state;
    leat_error err = {0};
    leati_budget *train = leati_budget_new(0, 1, &(leat_error){0}),
                 *check = leati_budget_new(0, 1, &(leat_error){0});
    leati_holder shuffle = {0}, cache = {0};
    leati_budget_holder_open(&shuffle, train, "shuffle");
    leati_budget_holder_open(&cache, check, "cache");
    assert_int_equal(leat_limits_set_memory(1 << 20, &err), LEAT_OK);
    assert_int_equal(leati_budget_limit(train), 1 << 20);
    assert_int_equal(leati_budget_holder_set(&shuffle, 700 << 10, &err), LEAT_OK);
    assert_true(leati_budget_fits(check, 324 << 10));
    assert_false(leati_budget_fits(check, 325 << 10));
    assert_int_equal(leati_budget_holder_set(&cache, 100 << 10, &err), LEAT_OK);
    assert_int_equal(leati_budget_holder_set(&cache, 500 << 10, &err), LEAT_RESOURCE_EXHAUSTED);
    assert_refused(&err, LEAT_RESOURCE_EXHAUSTED, LEAT_REASON_NONE, "leat_limits_set_memory");
    assert_int_equal(leati_budget_used(check), 100 << 10); /* unchanged */
    leati_budget_holder_close(&shuffle);
    assert_int_equal(leati_budget_holder_set(&cache, 1 << 20, &err), LEAT_OK);
    /* A smaller limit takes nothing away, and what shrinks still may. */
    assert_int_equal(leat_limits_set_memory(1 << 10, &err), LEAT_OK);
    assert_int_equal(leati_budget_holder_set(&cache, 1 << 19, &err), LEAT_OK);
    assert_int_equal(leati_budget_holder_set(&cache, (1 << 19) + 1, &err), LEAT_RESOURCE_EXHAUSTED);
    leati_budget_holder_close(&cache);
    assert_int_equal(leat_limits_set_memory(-1, &err), LEAT_INVALID_ARGUMENT);
    assert_int_equal(leat_limits_set_memory(0, &err), LEAT_OK);
    assert_int_equal(leati_budget_limit(train), leati_machine_memory() / 2);
    leati_budget_unref(train);
    leati_budget_unref(check);
}

static void refusal_names_the_largest(void **state) {
    (void)state;
    leati_budget *budget = leati_budget_new(100 << 20, 0, &(leat_error){0});
    assert_int_equal(leati_budget_cpus(budget), leati_pool_num_cores());
    const char *names[] = {"map", "shuffle \"rows\"", "batch", "cache", "prefetch \"final\""};
    const int64_t bytes[] = {512, 40 << 20, 3 << 19, 50 << 20, 0};
    leati_holder holders[5];
    leat_error err = {0};
    for (int i = 0; i < 5; i++) {
        leati_budget_holder_open(&holders[i], budget, names[i]);
        assert_int_equal(leati_budget_holder_set(&holders[i], bytes[i], &err), LEAT_OK);
    }
    assert_int_equal(leati_budget_holder_set(&holders[4], 20 << 20, &err), LEAT_RESOURCE_EXHAUSTED);
    assert_refused(&err, LEAT_RESOURCE_EXHAUSTED, LEAT_REASON_NONE, "\"final\"");
    for (int i = 0; i < 5; i++)
        leati_budget_holder_close(&holders[i]);
    leati_holder alone = {0};
    leati_budget_holder_open(&alone, budget, "alone");
    assert_int_equal(leati_budget_holder_set(&alone, 101 << 20, &err), LEAT_RESOURCE_EXHAUSTED);
    assert_refused(&err, LEAT_RESOURCE_EXHAUSTED, LEAT_REASON_NONE, "0");
    leati_budget_holder_close(&alone);
    leati_budget_unref(budget);
}

/* Any order of opening gives the same three names. */
static void largest_are_found_in_any_order(void **state) {
    (void)state;
    const char *names[] = {"a", "b", "c", "d"};
    for (int order = 0; order < 256; order++) {
        int figures[4] = {order & 3, (order >> 2) & 3, (order >> 4) & 3, (order >> 6) & 3};
        int seen = 0;
        for (int i = 0; i < 4; i++)
            seen |= 1 << figures[i];
        if (seen != 15)
            continue; /* not a permutation */
        leati_budget *budget = leati_budget_new(100, 1, &(leat_error){0});
        leati_holder holders[4];
        for (int i = 0; i < 4; i++) {
            leati_budget_holder_open(&holders[i], budget, names[figures[i]]);
            assert_int_equal(leati_budget_holder_set(&holders[i], figures[i] + 1, &(leat_error){0}),
                             LEAT_OK);
        }
        leat_error err = {0};
        assert_int_equal(leati_budget_holder_set(&holders[0], 101, &err), LEAT_RESOURCE_EXHAUSTED);
        assert_refused(&err, LEAT_RESOURCE_EXHAUSTED, LEAT_REASON_NONE, "4");
        for (int i = 0; i < 4; i++)
            leati_budget_holder_close(&holders[i]);
        leati_budget_unref(budget);
    }
}

static void grow_and_shrink(void *context) {
    leati_budget *budget = context;
    leati_holder holder = {0};
    leati_budget_holder_open(&holder, budget, "thread");
    for (int i = 0; i < 1000; i++) {
        leat_status status = leati_budget_holder_set(&holder, i % 37, &(leat_error){0});
        assert_true(status == LEAT_OK || status == LEAT_RESOURCE_EXHAUSTED);
        assert_true(leati_budget_used(budget) <= 50);
    }
    leati_budget_holder_close(&holder);
}

static void threads_share_a_budget(void **state) {
    (void)state;
    leati_budget *budget = leati_budget_new(50, 1, &(leat_error){0});
    leati_driver *drivers[3];
    for (int i = 0; i < 3; i++)
        drivers[i] = leati_driver_start("holder", grow_and_shrink, budget, &(leat_error){0});
    for (int i = 0; i < 3; i++)
        leati_driver_join(drivers[i]);
    assert_int_equal(leati_budget_used(budget), 0);
    leati_budget_unref(budget);
}

static leat_status make_budget(void *context, leat_error *err) {
    (void)context;
    leati_budget *budget = leati_budget_new(0, 0, err);
    if (budget == NULL)
        return torture_code(err);
    assert_true(leati_budget_limit(budget) > 0);
    leati_budget_unref(budget);
    return LEAT_OK;
}

static void budgets_survive_failures(void **state) {
    (void)state;
    torture_run(make_budget, NULL);
}

/* A file tree for one machine. */
static char root[64];

static void put(const char *path, const char *content) {
    char name[512];
    snprintf(name, sizeof name, "%s%s", root, path);
    for (char *slash = strchr(name + strlen(root) + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(name, 0700);
        *slash = '/';
    }
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(content, file);
    fclose(file);
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *place) {
    (void)info;
    (void)kind;
    (void)place;
    return remove(path);
}

static int make_root(void **state) {
    (void)state;
    snprintf(root, sizeof root, "/tmp/leat-machine-XXXXXX");
    return mkdtemp(root) == NULL ? -1 : 0;
}

static int remove_root(void **state) {
    (void)state;
    return nftw(root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void nothing_means_no_limit(void **state) {
    (void)state;
    assert_int_equal(leati_machine_cgroup_cores(root), INT_MAX);
    assert_true(leati_machine_cgroup_memory(root) == INT64_MAX);
    put("/proc/self/cgroup", "0::/\nnonsense\n\n:\n");
    put("/sys/fs/cgroup/cpu.max", "max 100000\n");
    put("/sys/fs/cgroup/memory.max", "max\n");
    assert_int_equal(leati_machine_cgroup_cores(root), INT_MAX);
    assert_true(leati_machine_cgroup_memory(root) == INT64_MAX);
    put("/sys/fs/cgroup/cpu.max", "lots\n");
    put("/sys/fs/cgroup/memory.max", "99999999999999999999999\n");
    assert_int_equal(leati_machine_cgroup_cores(root), INT_MAX);
    assert_true(leati_machine_cgroup_memory(root) == INT64_MAX);
}

static void version_2_takes_the_smallest(void **state) {
    (void)state;
    put("/proc/self/cgroup", "0::/pod/box\n");
    put("/sys/fs/cgroup/pod/box/cpu.max", "350000 100000\n");
    put("/sys/fs/cgroup/pod/box/memory.max", "max\n");
    put("/sys/fs/cgroup/pod/memory.max", "1073741824\n");
    assert_int_equal(leati_machine_cgroup_cores(root), 4);
    assert_true(leati_machine_cgroup_memory(root) == 1073741824);
    put("/sys/fs/cgroup/pod/cpu.max", "200000 100000\n");
    assert_int_equal(leati_machine_cgroup_cores(root), 2);
    put("/sys/fs/cgroup/cpu.max", "1000 100000\n");
    assert_int_equal(leati_machine_cgroup_cores(root), 1);
}

static void version_1_is_read(void **state) {
    (void)state;
    put("/proc/self/cgroup", "5:memory:/box\n4:cpu,cpuacct:/box\n3:cpuset:/\n0::/other\n");
    put("/sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "150000\n");
    put("/sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us", "100000\n");
    put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "123456789\n"); /* /box is not visible */
    assert_int_equal(leati_machine_cgroup_cores(root), 2);
    assert_true(leati_machine_cgroup_memory(root) == 123456789);
}

static void version_1_under_its_own_name(void **state) {
    (void)state;
    put("/proc/self/cgroup", "4:cpuacct,cpu:/\n");
    put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "300000\n");
    put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    assert_int_equal(leati_machine_cgroup_cores(root), 3);
}

static void this_machine_has_memory(void **state) {
    (void)state;
    assert_true(leati_machine_memory() > 1 << 20);
    assert_true(leati_pool_num_cores() >= 1);
    assert_true(leati_pool_num_cores() <= leati_machine_cgroup_cores(""));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, torture_setup, torture_teardown)
#define FILES(function) cmocka_unit_test_setup_teardown(function, make_root, remove_root)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(limits_are_kept),           TEST(process_limit_is_shared),
        TEST(refusal_names_the_largest), TEST(largest_are_found_in_any_order),
        TEST(threads_share_a_budget),    TEST(budgets_survive_failures),
        FILES(nothing_means_no_limit),   FILES(version_2_takes_the_smallest),
        FILES(version_1_is_read),        FILES(version_1_under_its_own_name),
        TEST(this_machine_has_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
