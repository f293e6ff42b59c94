/* Every case of every tensor operation, tests/conform/ops/<name>.json, as a step of a CPU device:
 * by the fast kernels and by plain ones, forward against what is recorded, and backward, where the
 * case asks for gradients, against the reference interpreter.
 *
 * What a step refuses (text, datasets, shapes that the run decides) is left out, and so are cases
 * that fail. At least half of the operations have to take part. */
#include "support/cmocka.h"

#include "conform.h"
#include "ops_case.h"

#include "exec/device.h"
#include <leat/ops.h>
#include <stdio.h>

#define FOLDER LEATI_SOURCE_DIR "/tests/conform/ops"

static const char *const ops[] = {
#define X(family, file, name) #name,
#include "graph/ops.def"
#undef X
};
enum { NUM_OPS = sizeof ops / sizeof *ops, THREADS = 2 };

static const leati_call_context context = {.num_replicas = 1};

/* Compiles and runs the function; false where a step does not do it. */
static bool run_step(const op_case *c, const char *how, const leat_function *function,
                     leat_tensor *outputs) {
    leat_error err = {0};
    leati_executable *step = NULL;
    leati_device *device = leati_device_cpu_new(0, THREADS, -1, &err);
    assert_non_null(device);
    leat_status status = device->ops->compile(device, function, &context, &step, &err);
    bool taken = status == LEAT_OK;
    if (!taken && status != LEAT_UNIMPLEMENTED)
        fail_msg("%s %s, %s: %s", c->op, c->name, how, err.text);
    leati_run_args args = {.inputs = c->inputs,
                           .num_inputs = c->num_inputs,
                           .outputs = outputs,
                           .num_outputs = function->num_outputs,
                           .context = &context};
    if (taken && device->ops->run(step, &args, &err) != LEAT_OK)
        fail_msg("%s %s, %s: %s", c->op, c->name, how, err.text);
    if (taken)
        device->ops->release(step);
    device->ops->leave(device);
    device->ops->close(device);
    return taken;
}

/* oneDNN sums in an order of its own. */
static double tolerance_of(const op_case *c, bool plain, double least) {
    return plain ? c->tolerance : c->tolerance > least ? c->tolerance : least;
}

static bool check_forward(const op_case *c, bool plain) {
    const char *how = plain ? "by plain kernels" : "by fast kernels";
    leat_error err = {0};
    leat_tensor outputs[MAX_VALUES];
    leat_function *function = case_build(c, SHAPES_STATIC, 0, &err);
    if (function == NULL)
        fail_msg("%s %s: %s", c->op, c->name, err.text);
    bool taken = run_step(c, how, function, outputs);
    for (int i = 0; taken && i < c->num_outputs; i++)
        expect_tensor(c, how, i, &c->outputs[i], &outputs[i], tolerance_of(c, plain, 2e-6));
    if (taken)
        unref_all(outputs, function->num_outputs);
    leat_function_unref(function);
    return taken;
}

/* The gradients of half the sum of squares of the outputs that have some, for the inputs that do.
 * Owned; NULL with err. */
static leat_function *build_gradients(const op_case *c, leat_error *err) {
    leat_spec *spec = case_spec(c, SHAPES_STATIC, err);
    leat_graph *graph = leat_graph_new(spec, err);
    leat_spec_unref(spec);
    if (graph == NULL)
        return NULL;
    leat_value inputs[MAX_VALUES], outputs[LEAT_MAX_OUTPUTS], sources[MAX_VALUES];
    leat_value gradients[MAX_VALUES], total = {.id = -1};
    int num_sources = 0;
    for (int i = 0; i < c->num_inputs; i++) {
        inputs[i] = leat_graph_argument(graph, i);
        if (c->inputs[i].dtype == LEAT_FLOAT32)
            sources[num_sources++] = inputs[i];
    }
    int count = leat_graph_call(graph, c->op, c->attributes, inputs, c->num_inputs, outputs,
                                LEAT_MAX_OUTPUTS);
    count = c->gradient_outputs > 0 && c->gradient_outputs < count ? c->gradient_outputs : count;
    for (int i = 0; i < count; i++) {
        if (leat_value_dtype(outputs[i]) != LEAT_FLOAT32)
            continue;
        leat_value part = leat_op_reduce_sum(leat_op_square(outputs[i]), NULL, 0, false);
        total = total.id < 0 ? part : leat_op_add(total, part);
    }
    if (total.id < 0 || num_sources == 0) {
        leat_function_unref(leat_graph_finish(graph, NULL, 0, NULL, NULL));
        return NULL;
    }
    leat_value_gradients(total, sources, num_sources, gradients);
    return leat_graph_finish(graph, gradients, num_sources, NULL, err);
}

static void check_backward(const op_case *c, bool plain) {
    const char *how = plain ? "backward by plain kernels" : "backward by fast kernels";
    leat_error err = {0};
    leat_tensor expected[MAX_VALUES], found[MAX_VALUES];
    leat_function *function = build_gradients(c, &err);
    if (function == NULL) {
        if (err.code != LEAT_OK && err.code != LEAT_UNIMPLEMENTED)
            fail_msg("%s %s, %s: %s", c->op, c->name, how, err.text);
        return;
    }
    if (leati_interpret(function, c->inputs, &context, expected, &err) != LEAT_OK)
        fail_msg("%s %s, %s: %s", c->op, c->name, how, err.text);
    if (run_step(c, how, function, found)) {
        for (int i = 0; i < function->num_outputs; i++)
            expect_tensor(c, how, i, &expected[i], &found[i], tolerance_of(c, plain, 1e-5));
        unref_all(found, function->num_outputs);
    }
    unref_all(expected, function->num_outputs);
    leat_function_unref(function);
}

/* Is there nothing that only a run tells? */
static bool is_for_steps(const op_case *c) {
    leat_error err = {0};
    leat_tensor outputs[MAX_VALUES];
    leat_function *function = c->code == NULL ? case_build(c, SHAPES_STATIC, 0, &err) : NULL;
    bool good = function != NULL &&
                leati_interpret(function, c->inputs, &context, outputs, &err) == LEAT_OK;
    if (good)
        unref_all(outputs, function->num_outputs);
    leat_function_unref(function);
    return good;
}

static bool check_op(const char *op) {
    char path[512];
    (void)snprintf(path, sizeof path, FOLDER "/%s.json", op);
    json_error_t error;
    json_t *file = json_load_file(path, 0, &error);
    if (file == NULL)
        fail_msg("%s: %s", path, error.text);
    const json_t *lines = json_object_get(file, "cases");
    bool any = false;
    for (size_t i = 0; i < json_array_size(lines); i++) {
        op_case c;
        case_read(&c, op, json_array_get(lines, i));
        for (int plain = 0; plain < 2 && is_for_steps(&c); plain++) {
            leati_device_cpu_use_plain_kernels(plain != 0);
            bool taken = check_forward(&c, plain != 0);
            if (taken && c.gradient)
                check_backward(&c, plain != 0);
            any = any || taken;
        }
        case_fini(&c);
    }
    leati_device_cpu_use_plain_kernels(false);
    json_decref(file);
    return any;
}

static void test_cases(void **state) {
    (void)state;
    int taken = 0;
    for (int i = 0; i < NUM_OPS; i++)
        taken += check_op(ops[i]);
    printf("%d of %d operations ran as steps\n", taken, NUM_OPS);
    assert_true(2 * taken > NUM_OPS);
}

int conform_ops_devices(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};
    return cmocka_run_group_tests_name("ops_devices", tests, NULL, NULL);
}
