/* The CPU device: results, variables in place, replicas, cores, pooling with ties, memory, and what
 * it refuses. */
#include "support/cmocka.h"

#include "coll/threads.h"
#include "core/tensor.h"
#include "exec/device.h"
#include "graph/interpret.h"
#include "support/refused.h"
#include "support/torture.h"
#include <leat/ops.h>
#include <pthread.h>
#include <sched.h>

static const leati_call_context alone = {.num_replicas = 1};

/* ---- helpers ---- */

static leat_function *trace_one(leat_tracer tracer, void *context, leat_dtype dtype,
                                leat_shape shape, leat_error *err) {
    leat_spec *spec = leat_spec_tensor(dtype, shape, err);
    leat_function *function = spec != NULL ? LEAT_TRACE(tracer, context, spec, err) : NULL;
    leat_spec_unref(spec);
    return function;
}

struct machine {
    leati_device *device;
    leati_executable *step;
    leat_function *function;
    leat_error err;
};

static void machine_init(struct machine *m, leat_tracer tracer, void *context, leat_dtype dtype,
                         leat_shape shape, int threads) {
    *m = (struct machine){0};
    m->device = leati_device_cpu_new(0, threads, -1, &m->err);
    m->function = trace_one(tracer, context, dtype, shape, &m->err);
    if (m->function == NULL ||
        m->device->ops->compile(m->device, m->function, &alone, &m->step, &m->err) != LEAT_OK)
        fail_msg("%s", m->err.text);
}

static leat_status run(struct machine *m, const leat_tensor *input, leat_tensor *outputs,
                       int num_outputs) {
    leati_run_args args = {input, 1, outputs, num_outputs, &alone, false};
    return m->device->ops->run(m->step, &args, &m->err);
}

static void machine_fini(struct machine *m) {
    m->device->ops->release(m->step);
    m->device->ops->close(m->device);
    leat_function_unref(m->function);
}

static leat_value constant(leat_graph *graph, float number) {
    leat_tensor tensor = leat_scalar_float32(number);
    leat_value value = leat_graph_tensor(graph, &tensor);
    leat_tensor_unref(&tensor);
    return value;
}

static float float_at(const leat_tensor *tensor, int64_t index) {
    return ((const float *)tensor->data)[index];
}

/* ---- results and variables ---- */

/* Results of every kind: argument, constant, twice the same, a reshaped one, reads around writes.
 */
static int trace_results(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_variable *variable = context;
    leat_value x = leat_graph_argument(graph, 0);
    leat_value before = leat_graph_read(graph, variable);
    leat_value sum = leat_op_add(x, before);
    leat_graph_assign_add(graph, variable, leat_op_reduce_sum(x, NULL, 0, false));
    outputs[0] = x;
    outputs[1] = constant(graph, 5);
    outputs[2] = sum;
    outputs[3] = sum;
    outputs[4] = leat_op_expand_dims(sum, 0);
    outputs[5] = before;
    outputs[6] = leat_graph_read(graph, variable);
    return 7;
}

static void test_results(void **state) {
    (void)state;
    struct machine m;
    leat_tensor ten = leat_scalar_float32(10), outputs[7];
    leat_variable *variable = leat_variable_new(&ten, NULL, NULL);
    leat_tensor_unref(&ten);
    machine_init(&m, trace_results, variable, LEAT_FLOAT32, LEAT_SHAPE(2), 1);
    const float numbers[2] = {1, 2};
    leat_tensor input = leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(2), numbers);
    for (int k = 0; k < 3; k++) {
        float expected = 10 + 3 * (float)k;
        assert_int_equal(run(&m, &input, outputs, 7), LEAT_OK);
        assert_true(float_at(&outputs[0], 1) == 2 && float_at(&outputs[1], 0) == 5);
        for (int i = 2; i < 5; i++)
            assert_true(float_at(&outputs[i], 1) == expected + 2);
        assert_int_equal(outputs[4].rank, 2);
        assert_true(float_at(&outputs[5], 0) == expected);
        assert_true(float_at(&outputs[6], 0) == expected + 3);
        for (int i = 0; i < 7; i++) {
            assert_non_null(outputs[i].owner);
            leat_tensor_unref(&outputs[i]);
        }
    }
    char text[1024];
    size_t length = m.device->ops->explain(m.step, text, sizeof text);
    assert_int_equal(length, strlen(text));
    assert_int_equal(m.device->ops->explain(m.step, NULL, 0), length);
    assert_non_null(strstr(text, "read_variable plain "));    /* written before its last use */
    assert_non_null(strstr(text, "read_variable in place ")); /* never written again */
    machine_fini(&m);
    leat_variable_unref(variable);
}

static int trace_empty(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value x = leat_graph_argument(graph, 0);
    x = leat_op_max_pool2d(x, (int64_t[]){2, 2}, 2, NULL, 0, NULL);
    x = leat_op_reshape(x, (int64_t[]){0, 8}, 2);
    outputs[0] =
        leat_op_reduce_sum(leat_op_relu(leat_op_matmul(x, x, true, false)), NULL, 0, false);
    return 1;
}

static void test_empty_batch(void **state) {
    (void)state;
    struct machine m;
    leat_tensor output, input;
    machine_init(&m, trace_empty, NULL, LEAT_FLOAT32, LEAT_SHAPE(0, 4, 4, 2), 1);
    assert_int_equal(leat_tensor_new(LEAT_FLOAT32, LEAT_SHAPE(0, 4, 4, 2), &input, NULL), LEAT_OK);
    assert_int_equal(run(&m, &input, &output, 1), LEAT_OK);
    assert_true(float_at(&output, 0) == 0);
    leat_tensor_unref(&output);
    leat_tensor_unref(&input);
    machine_fini(&m);
}

/* ---- pooling ---- */

struct pooling {
    int64_t size[2], strides[2]; /* 0: none given */
    const char *padding;
};

static int trace_pool(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    const struct pooling *pooling = context;
    leat_value x = leat_op_relu(leat_graph_argument(graph, 0)),
               argument = leat_graph_argument(graph, 0);
    leat_value y =
        leat_op_max_pool2d(x, pooling->size, 2, pooling->strides[0] > 0 ? pooling->strides : NULL,
                           2, pooling->padding);
    leat_value weighted = leat_op_multiply(y, leat_op_add(y, constant(graph, 3)));
    outputs[0] = y;
    leat_value_gradients(leat_op_reduce_sum(weighted, NULL, 0, false), &argument, 1, &outputs[1]);
    leat_value_gradients(leat_op_reduce_sum(weighted, NULL, 0, false), &x, 1, &outputs[2]);
    return 3;
}

/* Small whole numbers, so that windows have equal values, against the plain kernels. */
static void compare_pooling(struct pooling options, int threads) {
    struct machine m;
    leat_tensor input, found[3], expected[3];
    machine_init(&m, trace_pool, &options, LEAT_FLOAT32, LEAT_SHAPE(2, 7, 6, 5), threads);
    assert_int_equal(leat_tensor_new(LEAT_FLOAT32, LEAT_SHAPE(2, 7, 6, 5), &input, NULL), LEAT_OK);
    uint32_t seed = 1;
    for (int64_t i = 0; i < leat_tensor_count(&input); i++) {
        seed = seed * 1664525u + 1013904223u;
        ((float *)input.data)[i] = (float)(seed >> 8 & 3) - 1;
    }
    assert_int_equal(run(&m, &input, found, 3), LEAT_OK);
    assert_int_equal(leati_interpret(m.function, &input, &alone, expected, &(leat_error){0}),
                     LEAT_OK);
    for (int i = 0; i < 3; i++) {
        for (int64_t k = 0; k < leat_tensor_count(&found[i]); k++)
            if (float_at(&found[i], k) != float_at(&expected[i], k))
                fail_msg("result %d, value %d: %g, expected %g", i, (int)k,
                         (double)float_at(&found[i], k), (double)float_at(&expected[i], k));
        leat_tensor_unref(&found[i]);
        leat_tensor_unref(&expected[i]);
    }
    leat_tensor_unref(&input);
    machine_fini(&m);
}

static void test_pooling(void **state) {
    (void)state;
    const struct pooling cases[] = {{.size = {2, 2}},
                                    {.size = {2, 2}, .padding = "SAME"},
                                    {.size = {3, 2}, .padding = "SAME"},
                                    {.size = {2, 2}, .strides = {3, 3}},
                                    {.size = {3, 3}, .strides = {2, 2}},
                                    {.size = {3, 3}, .strides = {1, 2}, .padding = "SAME"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        compare_pooling(cases[i], 1);
        compare_pooling(cases[i], 3);
    }
}

/* ---- replicas and cores ---- */

static int trace_mean(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value x[2] = {leat_graph_argument(graph, 0),
                       leat_op_square(leat_graph_argument(graph, 0))};
    leat_op_all_reduce(x, 2, LEAT_AGGREGATION_MEAN, outputs);
    return 2;
}

struct replica {
    leat_function *function;
    leati_collective *collective;
    int number;
    float results[2];
    int cores; /* that the thread may use after the run */
    leat_status status;
    leat_error err;
};

static void *run_replica(void *context) {
    struct replica *replica = context;
    leati_device *device = leati_device_cpu_new(replica->number, 1, 0, &replica->err);
    leati_executable *step = NULL;
    leat_tensor outputs[2];
    float number = (float)replica->number + 1;
    leat_tensor input = leat_tensor_view(LEAT_FLOAT32, LEAT_SCALAR, &number);
    leati_call_context where = {
        .replica = replica->number, .num_replicas = 2, .collective = replica->collective};
    leati_run_args args = {&input, 1, outputs, 2, &where, false};
    replica->status = device->ops->compile(device, replica->function, &where, &step, &replica->err);
    if (replica->status == LEAT_OK)
        replica->status = device->ops->run(step, &args, &replica->err);
    for (int i = 0; replica->status == LEAT_OK && i < 2; i++) {
        replica->results[i] = float_at(&outputs[i], 0);
        leat_tensor_unref(&outputs[i]);
    }
    cpu_set_t mask;
    CPU_ZERO(&mask);
    (void)pthread_getaffinity_np(pthread_self(), sizeof mask, &mask);
    replica->cores = CPU_COUNT(&mask);
    device->ops->release(step);
    device->ops->close(device);
    return NULL;
}

static void test_two_replicas(void **state) {
    (void)state;
    leat_error err = {0};
    leat_function *function = trace_one(trace_mean, NULL, LEAT_FLOAT32, LEAT_SCALAR, &err);
    leati_collective *collective = leati_threads_collective_new(2, 60000, &err);
    struct replica replicas[2];
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        replicas[i] = (struct replica){.function = function, .collective = collective, .number = i};
        assert_int_equal(pthread_create(&threads[i], NULL, run_replica, &replicas[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        if (replicas[i].status != LEAT_OK)
            fail_msg("%s", replicas[i].err.text);
        assert_true(replicas[i].results[0] == 1.5f && replicas[i].results[1] == 2.5f);
        assert_int_equal(replicas[i].cores, 1);
    }
    collective->ops->close(collective);
    leat_function_unref(function);
}

static int trace_twice(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value x = leat_graph_argument(graph, 0);
    outputs[0] = leat_op_add(x, x);
    return 1;
}

/* A brief run leaves the calling thread where it is, another one until it leaves the device. */
static void test_brief_run(void **state) {
    (void)state;
    leat_error err = {0};
    cpu_set_t before, now;
    leati_device *device = leati_device_cpu_new(0, 1, 0, &err);
    leat_function *function = trace_one(trace_twice, NULL, LEAT_FLOAT32, LEAT_SCALAR, &err);
    leati_executable *step = NULL;
    assert_int_equal(device->ops->compile(device, function, &alone, &step, &err), LEAT_OK);
    assert_int_equal(pthread_getaffinity_np(pthread_self(), sizeof before, &before), 0);
    float number = 21;
    leat_tensor output, input = leat_tensor_view(LEAT_FLOAT32, LEAT_SCALAR, &number);
    for (int brief = 1; brief >= 0; brief--) {
        leati_run_args args = {&input, 1, &output, 1, &alone, brief != 0};
        assert_int_equal(device->ops->run(step, &args, &err), LEAT_OK);
        assert_true(float_at(&output, 0) == 42);
        leat_tensor_unref(&output);
        assert_int_equal(pthread_getaffinity_np(pthread_self(), sizeof now, &now), 0);
        assert_true(brief ? CPU_EQUAL(&now, &before) : CPU_COUNT(&now) == 1);
        device->ops->leave(device);
        assert_int_equal(pthread_getaffinity_np(pthread_self(), sizeof now, &now), 0);
        assert_true(CPU_EQUAL(&now, &before));
    }
    device->ops->release(step);
    device->ops->close(device);
    leat_function_unref(function);
}

static void test_no_such_core(void **state) {
    (void)state;
    leat_error err = {0};
    assert_null(leati_device_cpu_new(1, 2, CPU_SETSIZE, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "2");
}

/* ---- failures ---- */

static int trace_loss(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value x = leat_graph_argument(graph, 0);
    leat_value labels =
        leat_op_cast(leat_op_slice(x, (int64_t[]){0, 0}, 2, (int64_t[]){-1, 1}, 2), LEAT_INT32);
    outputs[0] =
        leat_op_sparse_softmax_cross_entropy_with_logits(leat_op_squeeze(labels, NULL, 0), x);
    return 1;
}

static void test_failing_step(void **state) {
    (void)state;
    struct machine m;
    machine_init(&m, trace_loss, NULL, LEAT_FLOAT32, LEAT_SHAPE(2, 3), 1);
    const float bad[6] = {0, 1, 2, 7, 1, 2}, good[6] = {0, 1, 2, 2, 1, 2};
    leat_tensor input = leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(2, 3), bad), output;
    assert_int_equal(run(&m, &input, &output, 1), LEAT_INVALID_ARGUMENT);
    assert_refused(&m.err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE,
                   "sparse_softmax_cross_entropy_with_logits");
    assert_refused(&m.err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "7");
    input = leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(2, 3), good);
    assert_int_equal(run(&m, &input, &output, 1), LEAT_OK);
    leat_tensor_unref(&output);
    input = leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(3, 3), good);
    assert_int_equal(run(&m, &input, &output, 1), LEAT_INVALID_ARGUMENT);
    assert_refused(&m.err, LEAT_INVALID_ARGUMENT, LEAT_REASON_DTYPE, "9");
    assert_int_equal(run(&m, &input, &output, 0), LEAT_INVALID_ARGUMENT);
    machine_fini(&m);
}

static int trace_square(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] = leat_op_square(leat_graph_argument(graph, 0));
    return 1;
}

static int trace_upper(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] = leat_op_string_upper(leat_graph_argument(graph, 0), NULL);
    return 1;
}

static void refuse(leat_tracer tracer, leat_dtype dtype, leat_shape shape, leat_reason reason,
                   const char *keyword) {
    leat_error err = {0};
    leati_device *device = leati_device_cpu_new(0, 1, -1, &err);
    leat_function *function = trace_one(tracer, NULL, dtype, shape, &err);
    leati_executable *step = NULL;
    assert_int_equal(device->ops->compile(device, function, &alone, &step, &err),
                     LEAT_UNIMPLEMENTED);
    assert_refused(&err, LEAT_UNIMPLEMENTED, reason, keyword);
    assert_null(step);
    leat_function_unref(function);
    device->ops->close(device);
}

static void test_refusals(void **state) {
    (void)state;
    refuse(trace_square, LEAT_FLOAT32, LEAT_SHAPE(LEAT_UNKNOWN_DIM, 2), LEAT_REASON_NONE, "[?, 2]");
    refuse(trace_upper, LEAT_STRING, LEAT_SCALAR, LEAT_REASON_NONE, "string");
}

/* ---- memory ---- */

static int trace_layers(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_variable *const *variables = context;
    leat_value x = leat_graph_argument(graph, 0), gradients[2];
    x = leat_op_relu(
        leat_op_conv2d(x, leat_graph_read(graph, variables[0]), NULL, 0, NULL, NULL, 0));
    x = leat_op_max_pool2d(x, (int64_t[]){2, 2}, 2, NULL, 0, NULL);
    x = leat_op_reshape(x, (int64_t[]){2, -1}, 2);
    x = leat_op_matmul(x, leat_graph_read(graph, variables[1]), false, false);
    outputs[0] = leat_op_reduce_sum(leat_op_square(x), NULL, 0, false);
    leat_variable_gradients(outputs[0], (leat_variable **)context, 2, gradients);
    for (int i = 0; i < 2; i++)
        leat_op_apply_gradient_descent(variables[i], gradients[i], constant(graph, 0.1f));
    return 1;
}

static void make_variables(leat_variable *variables[2]) {
    const leat_shape shapes[2] = {LEAT_SHAPE(3, 3, 1, 4), LEAT_SHAPE(16, 3)};
    for (int i = 0; i < 2; i++) {
        leat_tensor tensor;
        assert_int_equal(leat_tensor_new(LEAT_FLOAT32, shapes[i], &tensor, NULL), LEAT_OK);
        memset(tensor.data, 0, leat_tensor_bytes(&tensor));
        variables[i] = leat_variable_new(&tensor, NULL, NULL);
        leat_tensor_unref(&tensor);
    }
}

static leat_status compile_and_run(void *context, leat_error *err) {
    static const float picture[2 * 6 * 6];
    leat_tensor input = leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(2, 6, 6, 1), picture), output;
    leati_device *device = leati_device_cpu_new(0, 1, -1, err);
    if (device == NULL)
        return torture_code(err);
    leati_executable *step = NULL;
    leati_run_args args = {&input, 1, &output, 1, &alone, false};
    leat_status status = device->ops->compile(device, context, &alone, &step, err);
    if (status == LEAT_OK)
        status = device->ops->run(step, &args, err);
    if (status == LEAT_OK)
        leat_tensor_unref(&output);
    device->ops->release(step);
    device->ops->close(device);
    return status;
}

static void test_memory(void **state) {
    (void)state;
    leat_variable *variables[2];
    struct machine m;
    make_variables(variables);
    machine_init(&m, trace_layers, variables, LEAT_FLOAT32, LEAT_SHAPE(2, 6, 6, 1), 1);
    static const float picture[2 * 6 * 6];
    leat_tensor input = leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(2, 6, 6, 1), picture), output;
    for (int i = 0; i < 4; i++) {
        if (i == 3)
            torture_fail_at(0);
        assert_int_equal(run(&m, &input, &output, 1), LEAT_OK);
        leat_tensor_unref(&output);
    }
    assert_int_equal(torture_count(), 0); /* the steady state allocates nothing */
    torture_run_tolerant(compile_and_run, m.function);
    machine_fini(&m);
    leat_variable_unref(variables[0]);
    leat_variable_unref(variables[1]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, torture_setup, torture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_results),      TEST(test_empty_batch), TEST(test_pooling),
        TEST(test_two_replicas), TEST(test_brief_run),   TEST(test_no_such_core),
        TEST(test_failing_step), TEST(test_refusals),    TEST(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
