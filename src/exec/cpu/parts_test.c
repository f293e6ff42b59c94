/* Long products and convolutions are computed in parts: the same bits as at once, or where sums are
 * cut the same numbers but for rounding, and a run that is stopped between two of them ends with
 * CANCELLED. */
#include "support/cmocka.h"

#include "base/stop.h"
#include "core/tensor.h"
#include "exec/cpu/cpu.h"
#include "support/asking.h"
#include "support/graph.h"
#include <leat/leat.h>
#include <leat/ops.h>
#include <math.h>
#include <string.h>

enum { AT_ONCE = 1000000000, FINELY = 20000 }; /* nanoseconds above which a task is cut */

typedef struct trial {
    const char *name;
    leat_shape shapes[3];
    int num_shapes;
    leat_value (*call)(const leat_value *arguments);
    bool rounds; /* in parts it adds in another order */
} trial;

static leat_value product(const leat_value *a) {
    return leat_op_relu(leat_op_bias_add(leat_op_matmul(a[0], a[1], false, false), a[2]));
}

static leat_value product_by_turned(const leat_value *a) {
    return leat_op_matmul(a[0], a[1], false, true);
}

static leat_value convolution(const leat_value *a) {
    return leat_op_conv2d(a[0], a[1], NULL, 0, NULL, NULL, 0);
}

static leat_value by_input(const leat_value *a) {
    return leat_op_conv2d_backprop_input(a[0], a[1], a[2], NULL, 0, NULL, NULL, 0);
}

static leat_value by_filter(const leat_value *a) {
    return leat_op_conv2d_backprop_filter(a[0], a[1], a[2], NULL, 0, NULL, NULL, 0);
}

/* With padding, and with windows that lie apart, have gaps, or both. */
static const int64_t twos[2] = {2, 2};
#define WINDOWS(NAME, STRIDES, NUM_STRIDES, DILATIONS, NUM_DILATIONS)                              \
    static leat_value NAME(const leat_value *a) {                                                  \
        return leat_op_conv2d(a[0], a[1], STRIDES, NUM_STRIDES, "SAME", DILATIONS, NUM_DILATIONS); \
    }                                                                                              \
    static leat_value NAME##_by_input(const leat_value *a) {                                       \
        return leat_op_conv2d_backprop_input(a[0], a[1], a[2], STRIDES, NUM_STRIDES, "SAME",       \
                                             DILATIONS, NUM_DILATIONS);                            \
    }                                                                                              \
    static leat_value NAME##_by_filter(const leat_value *a) {                                      \
        return leat_op_conv2d_backprop_filter(a[0], a[1], a[2], STRIDES, NUM_STRIDES, "SAME",      \
                                              DILATIONS, NUM_DILATIONS);                           \
    }
WINDOWS(padded, NULL, 0, NULL, 0)
WINDOWS(strided, twos, 2, NULL, 0)
WINDOWS(dilated, NULL, 0, twos, 2)

static leat_value turned_product(const leat_value *a) {
    return leat_op_matmul(a[0], a[1], true, false);
}

static leat_value both_turned(const leat_value *a) {
    return leat_op_matmul(a[0], a[1], true, true);
}

static leat_value plain_product(const leat_value *a) {
    return leat_op_matmul(a[0], a[1], false, false);
}

#define M(...) LEAT_SHAPE(__VA_ARGS__)
static const trial trials[] = {
    {"product", {M(2048, 64), M(64, 128), M(128)}, 3, product, false},
    {"product", {M(3999, 300), M(300, 257), M(257)}, 3, product, false},
    {"product", {M(5000, 1000), M(1000, 130), M(130)}, 3, product, false},
    {"product", {M(3000, 17), M(17, 1000), M(1000)}, 3, product, false},
    {"turned", {M(2100, 300), M(200, 300)}, 2, product_by_turned, false},
    {"turned", {M(2560, 1025), M(512, 1025)}, 2, product_by_turned, false},
    {"convolution", {M(8, 28, 28, 16), M(3, 3, 16, 64)}, 2, convolution, false},
    {"convolution", {M(7, 40, 31, 3), M(5, 5, 3, 32)}, 2, convolution, false},
    {"convolution", {M(130, 14, 14, 64), M(1, 1, 64, 96)}, 2, convolution, false},
    {"convolution", {M(6, 30, 30, 100), M(3, 3, 100, 40)}, 2, convolution, false},
    {"by input", {M(8, 28, 28, 16), M(3, 3, 16, 64), M(8, 26, 26, 64)}, 3, by_input, false},
    {"by input", {M(130, 14, 14, 64), M(1, 1, 64, 96), M(130, 14, 14, 96)}, 3, by_input, false},
    {"by input", {M(5, 30, 30, 100), M(3, 3, 100, 40), M(5, 28, 28, 40)}, 3, by_input, false},
    {"by filter", {M(8, 28, 28, 16), M(3, 3, 16, 64), M(8, 26, 26, 64)}, 3, by_filter, true},
    {"by filter", {M(130, 14, 14, 64), M(1, 1, 64, 96), M(130, 14, 14, 96)}, 3, by_filter, true},
    {"by filter", {M(7, 30, 30, 3), M(5, 5, 3, 40), M(7, 26, 26, 40)}, 3, by_filter, true},
    {"padded", {M(1, 99, 31, 8), M(3, 3, 8, 40)}, 2, padded, false},
    {"padded", {M(2, 300, 17, 16), M(7, 5, 16, 24)}, 2, padded, false},
    {"strided", {M(1, 200, 30, 8), M(3, 3, 8, 40)}, 2, strided, false},
    {"one row", {M(1, 1, 9000, 16), M(1, 5, 16, 40)}, 2, padded, false},
    {"one row", {M(2, 1, 9001, 16), M(1, 3, 16, 40)}, 2, dilated, false},
    {"one row", {M(1, 1, 9000, 16), M(1, 5, 16, 40), M(1, 1, 9000, 40)}, 3, padded_by_input, false},
    {"one row", {M(1, 1, 9000, 16), M(1, 5, 16, 40), M(1, 1, 9000, 40)}, 3, padded_by_filter, true},
    {"strided", {M(3, 301, 31, 8), M(2, 5, 8, 40)}, 2, strided, false},
    {"dilated", {M(1, 150, 30, 8), M(3, 3, 8, 40)}, 2, dilated, false},
    {"grouped", {M(1, 150, 30, 32), M(3, 3, 8, 32)}, 2, padded, false},
    {"valid", {M(1, 157, 30, 32), M(6, 3, 32, 32)}, 2, convolution, false},
    {"padded", {M(1, 99, 31, 8), M(3, 3, 8, 40), M(1, 99, 31, 40)}, 3, padded_by_input, false},
    {"padded", {M(2, 300, 17, 16), M(7, 5, 16, 24), M(2, 300, 17, 24)}, 3, padded_by_input, false},
    {"strided", {M(1, 200, 30, 8), M(3, 3, 8, 40), M(1, 100, 15, 40)}, 3, strided_by_input, false},
    {"strided", {M(3, 301, 31, 8), M(2, 5, 8, 40), M(3, 151, 16, 40)}, 3, strided_by_input, false},
    {"dilated", {M(1, 150, 30, 8), M(3, 3, 8, 40), M(1, 150, 30, 40)}, 3, dilated_by_input, false},
    {"valid", {M(1, 157, 30, 32), M(6, 3, 32, 32), M(1, 152, 28, 32)}, 3, by_input, false},
    {"padded", {M(1, 99, 31, 8), M(3, 3, 8, 40), M(1, 99, 31, 40)}, 3, padded_by_filter, true},
    {"padded", {M(2, 300, 17, 16), M(7, 5, 16, 24), M(2, 300, 17, 24)}, 3, padded_by_filter, true},
    {"strided", {M(1, 200, 30, 8), M(3, 3, 8, 40), M(1, 100, 15, 40)}, 3, strided_by_filter, true},
    {"strided", {M(3, 301, 31, 8), M(2, 5, 8, 40), M(3, 151, 16, 40)}, 3, strided_by_filter, true},
    {"dilated", {M(1, 150, 30, 8), M(3, 3, 8, 40), M(1, 150, 30, 40)}, 3, dilated_by_filter, true},
    {"long sums", {M(4099, 200), M(4099, 130)}, 2, turned_product, true},
    {"long sums", {M(5000, 65), M(30, 5000)}, 2, both_turned, true},
    {"long sums", {M(100, 5000), M(5000, 64)}, 2, plain_product, true},
    {"long sums", {M(100, 3001), M(300, 3001)}, 2, product_by_turned, true},
    {"turned", {M(300, 4099), M(300, 130)}, 2, turned_product, true},
    {"narrow", {M(5003, 300), M(300, 10)}, 2, plain_product, true},
};

static int trace(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    const trial *t = context;
    leat_value arguments[3];
    (void)capacity;
    for (int i = 0; i < t->num_shapes; i++)
        arguments[i] = leat_graph_argument(graph, i);
    outputs[0] = t->call(arguments);
    return 1;
}

/* A step that computes the trial, cut above so many nanoseconds. */
typedef struct machine {
    leati_device *device;
    leat_function *function;
    leati_executable *step;
} machine;

static machine compile(const trial *t, double cut_above, int threads) {
    leat_error err = {0};
    leat_spec *children[3];
    leati_call_context context = {.num_replicas = 1};
    machine m = {.device = leati_device_cpu_new(0, threads, -1, &err)};
    for (int i = 0; i < t->num_shapes; i++)
        children[i] = leat_spec_tensor(LEAT_FLOAT32, t->shapes[i], &err);
    leat_spec *spec = leat_spec_tuple(children, t->num_shapes, &err);
    trial copy = *t;
    m.function = LEAT_TRACE(trace, &copy, spec, &err);
    leat_spec_unref(spec);
    leati_cpu_cut_above(cut_above);
    if (m.function == NULL || m.device == NULL ||
        m.device->ops->compile(m.device, m.function, &context, &m.step, &err) != LEAT_OK)
        fail_msg("%s: %s", t->name, err.text);
    leati_cpu_cut_above(0);
    return m;
}

static void release(machine *m) {
    m->device->ops->release(m->step);
    m->device->ops->leave(m->device);
    m->device->ops->close(m->device);
    leat_function_unref(m->function);
}

/* Runs and counts the asks; {0} where it does not come to its end. */
static leat_tensor run(machine *m, const trial *t, asking *a, leat_status *status) {
    leat_error err = {0};
    leat_tensor inputs[3], output = {0};
    leati_call_context context = {.num_replicas = 1};
    for (int i = 0; i < t->num_shapes; i++)
        inputs[i] = test_numbers(t->shapes[i], (uint32_t)i + 1);
    leati_run_args args = {.inputs = inputs,
                           .num_inputs = t->num_shapes,
                           .outputs = &output,
                           .num_outputs = 1,
                           .context = &context};
    leat_interrupt_set(ask, a);
    leati_stop_ask_always(true);
    *status = m->device->ops->run(m->step, &args, &err);
    leat_interrupt_set(NULL, NULL);
    leati_stop_ask_always(false);
    for (int i = 0; i < t->num_shapes; i++)
        leat_tensor_unref(&inputs[i]);
    return output;
}

/* Sums of up to 100,000 products of numbers in [-1, 1). */
static void expect_near(const trial *t, const leat_tensor *a, const leat_tensor *b) {
    const float *expected = a->data, *found = b->data;
    for (int64_t i = 0; i < leat_tensor_count(a); i++)
        if (!(fabsf(expected[i] - found[i]) <= 1e-3f))
            fail_msg("%s %d: value %lld is %g in parts, %g at once", t->name, (int)(t - trials),
                     (long long)i, (double)found[i], (double)expected[i]);
}

static void check(const trial *t, int threads) {
    leat_status status;
    asking whole_asks = {0}, part_asks = {0};
    machine whole = compile(t, AT_ONCE, threads), cut = compile(t, FINELY, threads);
    leat_tensor a = run(&whole, t, &whole_asks, &status);
    assert_int_equal(status, LEAT_OK);
    leat_tensor b = run(&cut, t, &part_asks, &status);
    assert_int_equal(status, LEAT_OK);
    if (t->rounds)
        expect_near(t, &a, &b);
    else if (memcmp(a.data, b.data, (size_t)leat_tensor_count(&a) * sizeof(float)) != 0)
        fail_msg("%s %d by %d threads: other bits in parts", t->name, (int)(t - trials), threads);
    leat_tensor again = b;
    if (part_asks.asks <= whole_asks.asks)
        fail_msg("%s %d by %d threads: no look between parts", t->name, (int)(t - trials), threads);
    asking first = {.last = 1};
    b = run(&cut, t, &first, &status);
    assert_int_equal(status, LEAT_CANCELLED);
    if (first.asks > 1)
        fail_msg("%s %d goes on when it is stopped", t->name, (int)(t - trials));
    /* It is as good as before. */
    part_asks = (asking){0};
    b = run(&cut, t, &part_asks, &status);
    assert_int_equal(status, LEAT_OK);
    assert_memory_equal(again.data, b.data, (size_t)leat_tensor_count(&a) * sizeof(float));
    leat_tensor_unref(&again);
    leat_tensor_unref(&a);
    leat_tensor_unref(&b);
    release(&whole);
    release(&cut);
}

static void test_parts(void **state) {
    (void)state;
    if (leati_cpu_plain_only())
        skip();
#ifndef LEATI_HAVE_DNNL
    skip();
#endif
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++)
        for (int threads = 1; threads <= 2; threads++)
            check(&trials[i], threads);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_parts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
