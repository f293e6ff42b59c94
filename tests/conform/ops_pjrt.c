/* Every case of the operations in exec/pjrt/emit.def, tests/conform/ops/<name>.json, as a step of
 * XLA_CPU:0: forward against what is recorded, and backward, where the case asks for gradients,
 * against the reference interpreter.
 *
 * An operation of the table whose cases, those of this part, all are refused fails. Without a
 * plug-in (the package xla-cpu-pjrt, LEAT_PJRT_PLUGIN) the suite is skipped, and says so. */
#include "support/cmocka.h"

#include "conform.h"
#include "ops_case.h"
#include "ops_steps.h"

static leati_device *device;

static size_t dealt;

static bool check_case(const op_case *c) {
    if (!is_for_steps(c))
        return false;
    if (!conform_mine(&dealt))
        return true;
    bool taken = check_forward(device, c, "on XLA's CPU", 1e-5);
    /* XLA makes 0 of 0 times infinity where it sees where the 0 comes from. */
    if (taken && c->gradient && strcmp(c->name, "nan") != 0)
        check_backward(device, c, "backward on XLA's CPU", 3e-5);
    return taken;
}

static void test_cases(void **state) {
    (void)state;
    const char *only = getenv("LEAT_CONFORM_ONLY");
    leat_error err = {0};
    device = leati_device_pjrt_new("XLA_CPU", 0, &err);
    if (device == NULL && err.code == LEAT_NOT_FOUND) {
        printf("skipped: %s\n", err.text);
        skip();
    }
    if (device == NULL)
        fail_msg("%s", err.text);
    least_difference = 1e-6;
    static const char *const ops[] = {
#define X(op, emitter, text) #op,
#include "exec/pjrt/emit.def"
#undef X
    };
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        /* Those with state have tests of their own. */
        if ((only != NULL && strcmp(only, ops[i]) != 0) ||
            (leati_graph_op_find(ops[i])->flags & LEATI_STATEFUL))
            continue;
        if (!check_op(ops[i], check_case))
            fail_msg("%s: no case of it ran", ops[i]);
    }
    device->ops->close(device);
}

int conform_ops_pjrt(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};
    return cmocka_run_group_tests_name("ops_pjrt", tests, NULL, NULL);
}
