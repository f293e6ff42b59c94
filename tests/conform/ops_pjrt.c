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

/* XLA has another answer where a 0 or an infinity decides, or how a sum is rounded. */
static const struct {
    const char *op, *name;
} others[] = {{"adjust_contrast", "uint16_2"},
              {"matrix_triangular_solve", "singular"},
              {"per_image_standardization", "batch"},
              {"per_image_standardization", "float32"},
              {"polygamma", "infinite"},
              {"zeta", "infinite"}};

static bool check_case(const op_case *c) {
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(c->op, others[i].op) == 0 && strcmp(c->name, others[i].name) == 0)
            return true;
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

/* Those with state, with functions for attributes, or that need inputs to be constants have tests
 * of their own: python/tests/test_pjrt.py. */
static bool is_tested_elsewhere(const char *name) {
    const leati_tensor_op *op = leati_graph_op_find(name);
    for (const leati_row *row = op->rows; row != NULL && row->type != LEATI_ROW_END; row++)
        if (row->type == LEATI_ROW_FUNCTION)
            return true;
    return (op->flags & LEATI_STATEFUL) || op == &leati_tensor_op_computed ||
           op == &leati_tensor_op_computed_gradient || op == &leati_tensor_op_repeat;
}

static void test_cases(void **state) {
    (void)state;
    const char *only = getenv("LEAT_CONFORM_ONLY");
    leat_error err = {0};
    /* tools/gpu.sh names another kind. */
    const char *kind = getenv("LEAT_CONFORM_DEVICE");
    device = leati_device_pjrt_new(kind != NULL ? kind : "XLA_CPU", 0, &err);
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
        if ((only != NULL && strcmp(only, ops[i]) != 0) || is_tested_elsewhere(ops[i]))
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
