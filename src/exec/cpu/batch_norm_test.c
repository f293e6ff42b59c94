/* batch_norm and its gradient by the fast kernels, with what they fuse, against the reference
 * interpreter: shapes of one and of many chunks, one thread and two, every set of inner loops. */
#include "support/cmocka.h"

#include "core/tensor.h"
#include "exec/cpu/batch_norm.h"
#include "graph/interpret.h"
#include "graph/ops/nn/batch_norm.h"
#include "support/torture.h"
#include <math.h>

enum { RESULTS = 12 };

static float uniform(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return (float)((*seed >> 8) % 20001) / 10000.0f - 1.0f;
}

static leat_tensor numbers(leat_shape shape, uint32_t *seed, float offset) {
    leat_tensor tensor;
    assert_int_equal(leat_tensor_new(LEAT_FLOAT32, shape, &tensor, NULL), LEAT_OK);
    for (int64_t i = 0; i < leat_tensor_count(&tensor); i++)
        ((float *)tensor.data)[i] = uniform(seed) + offset;
    return tensor;
}

/* Two blocks of a residual network without convolutions: each way of fusing is in it. Arguments: x,
 * y, gamma, beta. */
static int trace_blocks(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_value sources[4], all[3], first[3], second[3], third[3];
    (void)context;
    for (int i = 0; i < 4; i++)
        sources[i] = leat_graph_argument(graph, i);
    leat_value x = sources[0], y = sources[1], gamma = sources[2], beta = sources[3];
    leati_batch_norm(x, gamma, beta, 0.001, all);
    leat_value a = leat_op_relu(all[0]); /* a ReLU behind */
    leati_batch_norm(leat_op_multiply(a, y), gamma, beta, 0.01, first);
    leat_value b = leat_op_relu(leat_op_add(y, first[0])); /* an add and a ReLU behind */
    leati_batch_norm(leat_op_multiply(b, y), gamma, beta, 0.1, second);
    leati_batch_norm(leat_op_square(b), gamma, beta, 0.1, third);
    leat_value c = leat_op_add(second[0], third[0]); /* an add, which only one of them can take */
    leat_value d = leat_op_add(c, b);
    leat_value loss = leat_op_reduce_sum(leat_op_multiply(d, leat_op_square(y)), NULL, 0, false);
    loss = leat_op_add(loss, leat_op_reduce_sum(leat_op_square(second[2]), NULL, 0, false));
    outputs[0] = loss;
    leat_value_gradients(loss, sources, 4, outputs + 1);
    outputs[5] = all[1];
    outputs[6] = all[2];
    outputs[7] = first[1];
    outputs[8] = first[2];
    outputs[9] = third[2];
    outputs[10] = a;
    outputs[11] = d;
    return RESULTS;
}

static leat_function *blocks(leat_shape shape, leat_error *err) {
    leat_shape vector = LEAT_SHAPE(shape.dims[shape.rank - 1]);
    leat_spec *children[4] = {
        leat_spec_tensor(LEAT_FLOAT32, shape, err), leat_spec_tensor(LEAT_FLOAT32, shape, err),
        leat_spec_tensor(LEAT_FLOAT32, vector, err), leat_spec_tensor(LEAT_FLOAT32, vector, err)};
    leat_spec *spec = leat_spec_tuple(children, 4, err);
    leat_function *function = LEAT_TRACE(trace_blocks, NULL, spec, err);
    leat_spec_unref(spec);
    return function;
}

/* Runs the function on a device of so many threads. */
static void run_step(leat_function *function, const leat_tensor *inputs, int threads,
                     leat_tensor *outputs, char *text, size_t size) {
    leat_error err = {0};
    leati_executable *step = NULL;
    leati_call_context context = {.num_replicas = 1};
    leati_run_args args = {inputs, 4, outputs, RESULTS, &context, false};
    leati_device *device = leati_device_cpu_new(0, threads, -1, &err);
    assert_non_null(device);
    if (device->ops->compile(device, function, &context, &step, &err) != LEAT_OK ||
        device->ops->run(step, &args, &err) != LEAT_OK)
        fail_msg("%s", err.text);
    device->ops->explain(step, text, size);
    device->ops->release(step);
    device->ops->leave(device);
    device->ops->close(device);
}

static void assert_close(const leat_tensor *found, const leat_tensor *expected, int result) {
    double most = 1e-30;
    for (int64_t i = 0; i < leat_tensor_count(expected); i++)
        most = fmax(most, fabs(leati_tensor_float_at(expected, i)));
    for (int64_t i = 0; i < leat_tensor_count(expected); i++) {
        double a = leati_tensor_float_at(found, i), b = leati_tensor_float_at(expected, i);
        if (!(fabs(a - b) <= 1e-5 * most))
            fail_msg("result %d, value %d is %.9g, expected %.9g", result, (int)i, a, b);
    }
}

static void check_shape(leat_shape shape) {
    leat_error err = {0};
    uint32_t seed = 5;
    leat_shape vector = LEAT_SHAPE(shape.dims[shape.rank - 1]);
    leat_tensor inputs[4] = {numbers(shape, &seed, 0.25f), numbers(shape, &seed, 0),
                             numbers(vector, &seed, 1.5f), numbers(vector, &seed, 0)};
    leat_tensor found[RESULTS], again[RESULTS], expected[RESULTS];
    leat_function *function = blocks(shape, &err);
    if (function == NULL)
        fail_msg("%s", err.text);
    char text[8192];
    assert_int_equal(leati_interpret(function, inputs, NULL, expected, &err), LEAT_OK);
    run_step(function, inputs, 1, found, text, sizeof text);
    run_step(function, inputs, 2, again, text, sizeof text);
    static const char *const slow[] = {"batch_norm plain", "batch_norm_grad plain", "relu plain",
                                       "relu_grad plain"};
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++)
        if (strstr(text, slow[i]) != NULL)
            fail_msg("%s in\n%s", slow[i], text);
    for (int i = 0; i < RESULTS; i++) {
        assert_close(&found[i], &expected[i], i);
        assert_memory_equal(found[i].data, again[i].data, leat_tensor_bytes(&found[i]));
        leat_tensor_unref(&found[i]);
        leat_tensor_unref(&again[i]);
        leat_tensor_unref(&expected[i]);
    }
    for (int i = 0; i < 4; i++)
        leat_tensor_unref(&inputs[i]);
    leat_function_unref(function);
}

static void test_one_chunk(void **state) {
    (void)state;
    check_shape(LEAT_SHAPE(4, 5, 6, 7));
    check_shape(LEAT_SHAPE(33, 16));
    check_shape(LEAT_SHAPE(40, 1));
}

static void test_chunks(void **state) {
    (void)state;
    check_shape(LEAT_SHAPE(3, 61, 53, 24));
    check_shape(LEAT_SHAPE(70, 2048));
}

/* Values far from 0 keep their variance: its sum is taken around a mean. */
static void test_far_from_zero(void **state) {
    (void)state;
    leat_error err = {0};
    leat_shape shape = LEAT_SHAPE(9000, 16);
    uint32_t seed = 9;
    leat_tensor inputs[4] = {numbers(shape, &seed, 1000), numbers(shape, &seed, 0),
                             numbers(LEAT_SHAPE(16), &seed, 1), numbers(LEAT_SHAPE(16), &seed, 0)};
    leat_tensor found[RESULTS], expected[RESULTS];
    leat_function *function = blocks(shape, &err);
    char text[8192];
    assert_int_equal(leati_interpret(function, inputs, NULL, expected, &err), LEAT_OK);
    run_step(function, inputs, 2, found, text, sizeof text);
    assert_close(&found[5], &expected[5], 5); /* the mean, and then the variance */
    assert_close(&found[6], &expected[6], 6);
    for (int i = 0; i < RESULTS; i++) {
        leat_tensor_unref(&found[i]);
        leat_tensor_unref(&expected[i]);
    }
    for (int i = 0; i < 4; i++)
        leat_tensor_unref(&inputs[i]);
    leat_function_unref(function);
}

/* Every set of loops gives the bits of plain C. */
static void test_loops(void **state) {
    (void)state;
    enum { N = 5, C = 37 };
    const leati_norm_loops *best = leati_batch_norm_loops_at(0), *last = best;
    for (int i = 0; leati_batch_norm_loops_at(i) != NULL; i++)
        last = leati_batch_norm_loops_at(i);
    assert_string_equal(last->name, "plain");
    uint32_t seed = 3;
    float in[5][N * C], vectors[5][C], out[2][4][N * C];
    for (int i = 0; i < 5; i++) {
        for (int k = 0; k < N * C; k++)
            in[i][k] = uniform(&seed);
        for (int k = 0; k < C; k++)
            vectors[i][k] = uniform(&seed);
    }
    for (int set = 0; leati_batch_norm_loops_at(set) != NULL; set++)
        for (int kind = 0; kind < 12; kind++) {
            memset(out, 0, sizeof out);
            for (int k = 0; k < 2; k++) {
                const leati_norm_loops *loops = k ? last : leati_batch_norm_loops_at(set);
                leati_norm_rows rows = {.rows = N,
                                        .channels = C,
                                        .x = in[0],
                                        .mean = vectors[0],
                                        .factor = vectors[1],
                                        .offset = vectors[2],
                                        .more = kind % 2 ? in[1] : NULL,
                                        .y = out[k][0],
                                        .relu = kind / 2 % 2,
                                        .gradient = in[2],
                                        .features = kind / 4 == 1 ? in[3] : NULL,
                                        .again = kind / 4 == 2,
                                        .kept = kind / 2 % 2 ? out[k][1] : NULL,
                                        .least = vectors[3],
                                        .slope = vectors[4]};
                loops->forward(&rows);
                rows.y = out[k][2];
                loops->backward(&rows);
                loops->gradient_sums(&rows, out[k][3], out[k][3] + C);
                loops->sums(&rows, out[k][3] + 2 * C);
                loops->squares(&rows, out[k][3] + 3 * C);
            }
            assert_memory_equal(out[0], out[1], sizeof out[0]);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_one_chunk, torture_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(test_chunks, torture_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(test_far_from_zero, torture_setup, torture_teardown),
        cmocka_unit_test(test_loops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
