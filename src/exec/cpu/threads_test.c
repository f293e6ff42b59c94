/* Small tasks of a step stay on one thread, large ones get the device's. */
#include "support/cmocka.h"

#include "exec/cpu/cpu.h"
#include "support/torture.h"
#include <leat/ops.h>
#include <string.h>

enum { THREADS = 4 };

/* An operation on arguments of these shapes. */
struct trial {
    leat_shape shapes[3];
    int num_shapes;
    leat_value (*call)(const leat_value *arguments);
    const char *op;
    int expected;
};

static leat_value product(const leat_value *a) {
    return leat_op_matmul(a[0], a[1], false, false);
}

static leat_value convolution(const leat_value *a) {
    return leat_op_conv2d(a[0], a[1], NULL, 0, NULL, NULL, 0);
}

static leat_value by_filter(const leat_value *a) {
    return leat_op_conv2d_backprop_filter(a[0], a[1], a[2], NULL, 0, NULL, NULL, 0);
}

static leat_value by_input(const leat_value *a) {
    return leat_op_conv2d_backprop_input(a[0], a[1], a[2], NULL, 0, NULL, NULL, 0);
}

static leat_value sum(const leat_value *a) {
    return leat_op_add(a[0], a[1]);
}

static int trace(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    const struct trial *trial = context;
    leat_value arguments[3];
    for (int i = 0; i < trial->num_shapes; i++)
        arguments[i] = leat_graph_argument(graph, i);
    outputs[0] = trial->call(arguments);
    return 1;
}

static int threads_of(struct trial *trial, int of_device) {
    leat_error err = {0};
    leat_spec *children[3];
    for (int i = 0; i < trial->num_shapes; i++)
        children[i] = leat_spec_tensor(LEAT_FLOAT32, trial->shapes[i], &err);
    leat_spec *spec = leat_spec_tuple(children, trial->num_shapes, &err);
    leat_function *function = LEAT_TRACE(trace, trial, spec, &err);
    leat_spec_unref(spec);
    leati_call_context context = {.num_replicas = 1};
    leati_executable *executable = NULL;
    leati_device *device = leati_device_cpu_new(0, of_device, -1, &err);
    if (function == NULL || device == NULL ||
        device->ops->compile(device, function, &context, &executable, &err) != LEAT_OK)
        fail_msg("%s: %s", trial->op, err.text);
    const leati_cpu_step *step = (const leati_cpu_step *)(const void *)executable;
    int threads = 0;
    for (int32_t t = 0; t < step->num_tasks; t++)
        if (strcmp(step->tasks[t].node->source->op->name, trial->op) == 0)
            threads = step->tasks[t].threads;
    device->ops->release(executable);
    device->ops->leave(device);
    device->ops->close(device);
    leat_function_unref(function);
    return threads;
}

/* Products and bytes of each: 25 products or 8 bytes take a nanosecond. The first has 1.2 M
 * products and 0.17 MB: 68 us; the second 6.6 M and 0.5 MB: 320 us. */
static struct trial trials[] = {
    {{LEAT_SHAPE(64, 288), LEAT_SHAPE(288, 64)}, 2, product, "matmul", 1}, /* 1.2 M: 47 us */
    {{LEAT_SHAPE(256, 256), LEAT_SHAPE(256, 100)}, 2, product, "matmul", 3},
    {{LEAT_SHAPE(1024, 512), LEAT_SHAPE(512, 512)}, 2, product, "matmul", THREADS},
    {{LEAT_SHAPE(64, 8, 8, 1), LEAT_SHAPE(3, 3, 1, 32)}, 2, convolution, "conv2d", 1},
    {{LEAT_SHAPE(8, 28, 28, 16), LEAT_SHAPE(3, 3, 16, 64)}, 2, convolution, "conv2d", THREADS},
    {{LEAT_SHAPE(64, 8, 8, 1), LEAT_SHAPE(3, 3, 1, 32), LEAT_SHAPE(64, 6, 6, 32)},
     3,
     by_filter,
     "conv2d_backprop_filter",
     1},
    {{LEAT_SHAPE(8, 28, 28, 16), LEAT_SHAPE(3, 3, 16, 64), LEAT_SHAPE(8, 26, 26, 64)},
     3,
     by_filter,
     "conv2d_backprop_filter",
     THREADS},
    {{LEAT_SHAPE(8, 28, 28, 16), LEAT_SHAPE(3, 3, 16, 64), LEAT_SHAPE(8, 26, 26, 64)},
     3,
     by_input,
     "conv2d_backprop_input",
     THREADS},
    {{LEAT_SHAPE(1000), LEAT_SHAPE(1000)}, 2, sum, "add", 1},
    {{LEAT_SHAPE(200000), LEAT_SHAPE(200000)}, 2, sum, "add", 3}, /* 2.4 MB: 300 us */
};

static void test_threads(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        int found = threads_of(&trials[i], THREADS);
        if (found != trials[i].expected)
            fail_msg("%s of trial %d: %d threads, expected %d", trials[i].op, (int)i, found,
                     trials[i].expected);
        assert_int_equal(threads_of(&trials[i], 1), 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_threads, torture_setup, torture_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
