/* Every dataset operator and every rewrite has its line among the benchmarks: a plan to measure, or
 * the reason why there is none. */
#include "support/cmocka.h"

#include "data/plan/op.h"
#include <string.h>

#define X(name, elements, plan) #name,
#define Y(name, reason) #name,
static const char *const measured_operators[] = {
#include "../bench/operators.def"
};
static const char *const measured_rewrites[] = {
#include "../bench/rewrites.def"
};
#undef X
#undef Y

static const char *const rewrites[] = {
#define X(name) #name,
#include "data/rewrites.def"
#undef X
};

static int check_measured(const char *name, const char *table, const char *const *list,
                          size_t count) {
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += strcmp(list[i], name) == 0;
    if (found != 1)
        print_error("%s has %zu lines in bench/%s; expected one, with a plan to measure or a "
                    "reason\n",
                    name, found, table);
    return found != 1;
}

static void test_benchmarks(void **state) {
    (void)state;
    size_t count = 0;
    int wrong = 0;
    const leati_dataset_op *const *ops = leati_plan_ops(&count);
    for (size_t i = 0; i < count; i++)
        wrong += check_measured(ops[i]->name, "operators.def", measured_operators,
                                sizeof measured_operators / sizeof *measured_operators);
    for (size_t i = 0; i < sizeof rewrites / sizeof *rewrites; i++)
        wrong += check_measured(rewrites[i], "rewrites.def", measured_rewrites,
                                sizeof measured_rewrites / sizeof *measured_rewrites);
    assert_int_equal(wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_benchmarks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
