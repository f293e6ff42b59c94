/* Every case of every tensor operation, tests/conform/ops/<name>.json, as a step of a CPU device:
 * by the fast kernels and by plain ones, forward against what is recorded, and backward, where the
 * case asks for gradients, against the reference interpreter.
 *
 * What a step refuses (text, datasets, shapes that the run decides) is left out, and so are cases
 * that fail. At least half of the operations have to take part. */
#include "support/cmocka.h"

#include "conform.h"
#include "ops_case.h"

#include "ops_steps.h"

static const char *const ops[] = {
#define X(family, file, name) #name,
#include "graph/ops.def"
#undef X
};
enum { NUM_OPS = sizeof ops / sizeof *ops, THREADS = 2 };

static bool check_case(const op_case *c) {
    bool any = false;
    leat_error err = {0};
    for (int plain = 0; plain < 2 && is_for_steps(c); plain++) {
        leati_device_cpu_use_plain_kernels(plain != 0);
        leati_device *device = leati_device_cpu_new(0, THREADS, -1, &err);
        assert_non_null(device);
        /* oneDNN sums in an order of its own. */
        const char *how = plain ? "by plain kernels" : "by fast kernels";
        bool taken = check_forward(device, c, how, plain ? 0 : 2e-6);
        if (taken && c->gradient)
            check_backward(device, c, how, plain ? 0 : 1e-5);
        any = any || taken;
        device->ops->close(device);
    }
    leati_device_cpu_use_plain_kernels(false);
    return any;
}

static void test_cases(void **state) {
    (void)state;
    int taken = 0;
    for (int i = 0; i < NUM_OPS; i++)
        taken += check_op(ops[i], check_case);
    printf("%d of %d operations ran as steps\n", taken, NUM_OPS);
    assert_true(2 * taken > NUM_OPS);
}

int conform_ops_devices(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};
    return cmocka_run_group_tests_name("ops_devices", tests, NULL, NULL);
}
