/* Operations called by themselves on the fast kernels of steps: the plain kernels' values, on
 * several threads at once, in a forked child, and again with other shapes and attributes. */
#include "support/cmocka.h"

#include "base/fork.h"
#include "core/tensor.h"
#include "exec/device.h"
#include "support/graph.h"
#include <leat/leat.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A convolution of pictures of this size, or the maxima of its squares; owned. */
static leat_tensor compute(const char *operation, const char *attributes, int64_t size) {
    leat_tensor pictures = test_numbers(LEAT_SHAPE(4, size, size, 16), 1);
    leat_tensor filter = test_numbers(LEAT_SHAPE(3, 3, 16, 24), 2), result = {0};
    leat_error err = {0};
    leat_graph *graph = leat_graph_new_eager(&err);
    leat_value inputs[2] = {leat_graph_tensor(graph, &pictures), leat_graph_tensor(graph, &filter)};
    leat_value output;
    int num = strcmp(operation, "conv2d") == 0 ? 2 : 1;
    if (leat_graph_call(graph, operation, attributes, inputs, num, &output, 1) < 1 ||
        leat_value_tensor(output, &result, &err) != LEAT_OK) {
        (void)leat_graph_take_error(graph, &err);
        fail_msg("%s: %s", operation, err.text);
    }
    leat_graph_free(graph);
    leat_tensor_unref(&pictures);
    leat_tensor_unref(&filter);
    return result;
}

static void compare(const leat_tensor *a, const leat_tensor *b) {
    assert_int_equal(leat_tensor_count(a), leat_tensor_count(b));
    assert_int_equal(a->rank, b->rank);
    assert_memory_equal(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims);
    for (int64_t i = 0; i < leat_tensor_count(a); i++)
        assert_true(fabsf(((const float *)a->data)[i] - ((const float *)b->data)[i]) < 1e-4F);
}

static void check(const char *operation, const char *attributes, int64_t size) {
    leat_tensor fast = compute(operation, attributes, size);
    leati_device_cpu_use_plain_kernels(true);
    leat_tensor plain = compute(operation, attributes, size);
    leati_device_cpu_use_plain_kernels(false);
    compare(&fast, &plain);
    leat_tensor_unref(&fast);
    leat_tensor_unref(&plain);
}

#define SAME "{\"padding\": \"SAME\"}"
#define POOL "{\"ksize\": [2, 2], \"strides\": [2, 2], \"padding\": \"VALID\"}"

static void test_values(void **state) {
    (void)state;
    for (int again = 0; again < 2; again++) {
        check("conv2d", SAME, 40);
        check("conv2d", "{\"padding\": \"VALID\", \"strides\": [2, 2]}", 40);
        check("conv2d", SAME, 41);
        check("conv2d", SAME, 3); /* too little for a step */
        check("max_pool2d", POOL, 80);
    }
}

/* More kinds of calls than are kept. */
static void test_many(void **state) {
    (void)state;
    for (int64_t size = 20; size < 80; size++) {
        leat_tensor result = compute("conv2d", SAME, size);
        assert_int_equal(leat_tensor_shape(&result).dims[1], size);
        leat_tensor_unref(&result);
    }
}

static void *call_often(void *wanted) {
    for (int i = 0; i < 20; i++) {
        leat_tensor result = compute("conv2d", SAME, 40);
        compare(&result, wanted);
        leat_tensor_unref(&result);
    }
    return NULL;
}

static void test_threads(void **state) {
    (void)state;
    leat_tensor wanted = compute("conv2d", SAME, 40);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, call_often, &wanted), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    leat_tensor_unref(&wanted);
}

/* libgomp's threads are not in the child: it must not wait for them. */
static void test_child(void **state) {
    (void)state;
    leat_tensor wanted = compute("conv2d", SAME, 40);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        leat_tensor result = compute("conv2d", SAME, 40);
        compare(&result, &wanted);
        leat_tensor other = compute("exp", NULL, 200);
        _exit(other.rank == 4 ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    leat_tensor_unref(&wanted);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_child),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
