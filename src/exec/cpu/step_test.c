/* A training step of a small CNN on the CPU device, by oneDNN where it is present and by plain
 * kernels, against the reference interpreter: losses and weights over several steps. */
#include "support/cmocka.h"

#include "core/tensor.h"
#include "exec/device.h"
#include "graph/interpret.h"
#include "support/torture.h"
#include <leat/ops.h>
#include <math.h>
#include <stdlib.h>

#define BATCH 12
#define NUM_WEIGHTS 6
#define STEPS 5

static uint32_t next(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static float uniform(uint32_t *seed) {
    return (float)(next(seed) % 20001) / 10000.0f - 1.0f;
}

/* ---- the model ---- */

struct model {
    leat_variable *weights[NUM_WEIGHTS]; /* kernel, bias, of conv, dense, dense */
    leat_variable *m[NUM_WEIGHTS], *v[NUM_WEIGHTS];
    leat_variable *step;
    bool same; /* padding of convolution and pooling, and another shape of picture */
};

static leat_variable *variable(leat_dtype dtype, leat_shape shape, uint32_t *seed, float scale) {
    leat_tensor tensor;
    if (leat_tensor_new(dtype, shape, &tensor, NULL) != LEAT_OK)
        return NULL;
    memset(tensor.data, 0, leat_tensor_bytes(&tensor));
    for (int64_t i = 0; scale > 0 && i < leat_tensor_count(&tensor); i++)
        ((float *)tensor.data)[i] = uniform(seed) * scale;
    leat_variable *made = leat_variable_new(&tensor, NULL, NULL);
    leat_tensor_unref(&tensor);
    return made;
}

static void model_init(struct model *model, bool same) {
    uint32_t seed = 7;
    int64_t flat = same ? 5 * 4 * 16 : 3 * 3 * 16;
    const leat_shape shapes[NUM_WEIGHTS] = {LEAT_SHAPE(3, 3, 2, 16), LEAT_SHAPE(16),
                                            LEAT_SHAPE(flat, 24),    LEAT_SHAPE(24),
                                            LEAT_SHAPE(24, 10),      LEAT_SHAPE(10)};
    model->same = same;
    for (int i = 0; i < NUM_WEIGHTS; i++) {
        model->weights[i] = variable(LEAT_FLOAT32, shapes[i], &seed, 0.3f);
        model->m[i] = variable(LEAT_FLOAT32, shapes[i], &seed, 0);
        model->v[i] = variable(LEAT_FLOAT32, shapes[i], &seed, 0);
    }
    model->step = variable(LEAT_INT64, LEAT_SCALAR, &seed, 0);
}

static void model_fini(struct model *model) {
    for (int i = 0; i < NUM_WEIGHTS; i++) {
        leat_variable_unref(model->weights[i]);
        leat_variable_unref(model->m[i]);
        leat_variable_unref(model->v[i]);
    }
    leat_variable_unref(model->step);
}

static leat_value scalar(leat_graph *graph, leat_tensor tensor) {
    leat_value value = leat_graph_tensor(graph, &tensor);
    leat_tensor_unref(&tensor);
    return value;
}

static leat_value dense(struct model *model, int at, leat_value x) {
    leat_value w = leat_graph_read(x.graph, model->weights[at]);
    return leat_op_bias_add(leat_op_matmul(x, w, false, false),
                            leat_graph_read(x.graph, model->weights[at + 1]));
}

static int trace(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    struct model *model = context;
    const char *padding = model->same ? "SAME" : "VALID";
    leat_value x = leat_graph_argument(graph, 0), labels = leat_graph_argument(graph, 1);
    x = leat_op_conv2d(x, leat_graph_read(graph, model->weights[0]), NULL, 0, padding, NULL, 0);
    x = leat_op_relu(leat_op_bias_add(x, leat_graph_read(graph, model->weights[1])));
    x = leat_op_max_pool2d(x, (int64_t[]){2, 2}, 2, NULL, 0, padding);
    x = leat_op_reshape(x, (int64_t[]){BATCH, -1}, 2);
    x = leat_op_relu(dense(model, 2, x));
    leat_value logits = dense(model, 4, x);
    leat_value losses = leat_op_sparse_softmax_cross_entropy_with_logits(labels, logits);
    leat_value loss = leat_op_reduce_mean(losses, NULL, 0, false);
    leat_value gradients[NUM_WEIGHTS];
    leat_variable_gradients(loss, model->weights, NUM_WEIGHTS, gradients);
    leat_graph_assign_add(graph, model->step, scalar(graph, leat_scalar_int64(1)));
    leat_value step = leat_graph_read(graph, model->step);
    leat_value rate = scalar(graph, leat_scalar_float32(0.01f));
    for (int i = 0; i < NUM_WEIGHTS; i++)
        leat_op_apply_adam(model->weights[i], model->m[i], model->v[i], gradients[i], rate, step,
                           0.9, 0.999, 1e-7);
    outputs[0] = loss;
    outputs[1] = logits;
    outputs[2] = step;
    outputs[3] = leat_graph_argument(graph, 1);
    return 4;
}

static leat_function *train_function(struct model *model, leat_error *err) {
    leat_shape picture = model->same ? LEAT_SHAPE(BATCH, 9, 7, 2) : LEAT_SHAPE(BATCH, 8, 8, 2);
    leat_spec *children[2] = {leat_spec_tensor(LEAT_FLOAT32, picture, err),
                              leat_spec_tensor(LEAT_INT32, LEAT_SHAPE(BATCH), err)};
    leat_spec *spec = leat_spec_tuple(children, 2, err);
    leat_function *function = LEAT_TRACE(trace, model, spec, err);
    leat_spec_unref(spec);
    return function;
}

static void draw_batch(struct model *model, uint32_t *seed, leat_tensor batch[2]) {
    leat_shape picture = model->same ? LEAT_SHAPE(BATCH, 9, 7, 2) : LEAT_SHAPE(BATCH, 8, 8, 2);
    assert_int_equal(leat_tensor_new(LEAT_FLOAT32, picture, &batch[0], NULL), LEAT_OK);
    assert_int_equal(leat_tensor_new(LEAT_INT32, LEAT_SHAPE(BATCH), &batch[1], NULL), LEAT_OK);
    for (int64_t i = 0; i < leat_tensor_count(&batch[0]); i++)
        ((float *)batch[0].data)[i] = uniform(seed);
    for (int64_t i = 0; i < BATCH; i++)
        ((int32_t *)batch[1].data)[i] = (int32_t)(next(seed) % 10);
}

/* ---- comparison ---- */

static void assert_close(const leat_tensor *found, const leat_tensor *expected, double tolerance) {
    assert_int_equal(leat_tensor_count(found), leat_tensor_count(expected));
    for (int64_t i = 0; i < leat_tensor_count(found); i++) {
        double a = leati_tensor_float_at(found, i), b = leati_tensor_float_at(expected, i);
        if (!(fabs(a - b) <= tolerance * (1 + fabs(b))))
            fail_msg("value %d is %g, expected %g", (int)i, a, b);
    }
}

static void assert_same_weights(struct model *found, struct model *expected, double tolerance) {
    for (int i = 0; i < NUM_WEIGHTS; i++) {
        leat_tensor a, b;
        assert_int_equal(leat_variable_read(found->weights[i], &a, NULL), LEAT_OK);
        assert_int_equal(leat_variable_read(expected->weights[i], &b, NULL), LEAT_OK);
        assert_close(&a, &b, tolerance);
        leat_tensor_unref(&a);
        leat_tensor_unref(&b);
    }
}

/* Runs the same steps on the device and by the interpreter, each with its own weights; `text` gets
 * the step's explanation. */
static void compare_steps(bool same, double tolerance, char *text, size_t size) {
    struct model ours, theirs;
    model_init(&ours, same);
    model_init(&theirs, same);
    leat_error err = {0};
    leat_function *function = train_function(&ours, &err), *oracle = train_function(&theirs, &err);
    if (function == NULL || oracle == NULL)
        fail_msg("%s", err.text);
    leati_device *device = leati_device_cpu_new(0, 1, -1, &err);
    leati_executable *step = NULL;
    leati_call_context context = {.num_replicas = 1};
    if (device->ops->compile(device, function, &context, &step, &err) != LEAT_OK)
        fail_msg("%s", err.text);
    uint32_t seed = 3;
    for (int i = 0; i < STEPS; i++) {
        leat_tensor batch[2], found[4], expected[4];
        draw_batch(&ours, &seed, batch);
        leati_run_args args = {batch, 2, found, 4, &context, false};
        if (device->ops->run(step, &args, &err) != LEAT_OK)
            fail_msg("%s", err.text);
        assert_int_equal(leati_interpret(oracle, batch, &context, expected, &err), LEAT_OK);
        for (int k = 0; k < 4; k++) {
            assert_close(&found[k], &expected[k], tolerance);
            leat_tensor_unref(&found[k]);
            leat_tensor_unref(&expected[k]);
        }
        assert_same_weights(&ours, &theirs, tolerance);
        leat_tensor_unref(&batch[0]);
        leat_tensor_unref(&batch[1]);
    }
    device->ops->explain(step, text, size);
    device->ops->release(step);
    device->ops->close(device);
    leat_function_unref(function);
    leat_function_unref(oracle);
    model_fini(&ours);
    model_fini(&theirs);
}

static void test_plain(void **state) {
    (void)state;
    char text[4096];
    leati_device_cpu_use_plain_kernels(true);
    compare_steps(false, 0, text, sizeof text);
    compare_steps(true, 0, text, sizeof text);
    leati_device_cpu_use_plain_kernels(false);
    assert_non_null(strstr(text, "conv2d plain "));
    assert_non_null(strstr(text, "read_variable in place "));
}

static void test_fast(void **state) {
    (void)state;
    char text[4096];
    compare_steps(false, 2e-4, text, sizeof text);
    compare_steps(true, 2e-4, text, sizeof text);
#ifdef LEATI_HAVE_DNNL
    /* Every operation that oneDNN has is computed by it, the bias and ReLU with it. */
    static const char *const slow[] = {
        "conv2d plain", "conv2d_backprop_filter plain", "matmul plain", "max_pool2d plain",
        "bias_add",     "max_pool2d_grad plain",        "relu plain"};
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++)
        if (strstr(text, slow[i]) != NULL)
            fail_msg("%s in\n%s", slow[i], text);
#endif
    static const char *const stages[] = {"forward", "backward", "update"};
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
        char line[32];
        (void)snprintf(line, sizeof line, "stage: %s ", stages[i]);
        const char *at = strstr(text, line);
        assert_true(at && strtoll(at + strlen(line), NULL, 10) > 0);
    }
    assert_non_null(strstr(text, "stage: reduce 0\n"));
    if (getenv("SHOW") != NULL)
        puts(text);
}

/* ---- allocations ---- */

static long allocations;

static void *count_alloc(void *context, size_t size, size_t alignment) {
    (void)context;
    void *memory = NULL;
    allocations++;
    return posix_memalign(&memory, alignment < 16 ? 16 : alignment, size) == 0 ? memory : NULL;
}

static void *count_resize(void *context, void *memory, size_t size) {
    (void)context;
    allocations++;
    return realloc(memory, size);
}

static void count_release(void *context, void *memory) {
    (void)context;
    free(memory);
}

/* Once results have come back, a run of a step asks the allocator for nothing. */
static void test_no_allocations(void **state) {
    (void)state;
    const leat_allocator counting = {
        .alloc = count_alloc, .resize = count_resize, .release = count_release};
    leat_allocator_set(&counting);
    struct model model;
    leat_error err = {0};
    leati_executable *step = NULL;
    leati_call_context context = {.num_replicas = 1};
    uint32_t seed = 3;
    leat_tensor batch[2], found[4];
    model_init(&model, false);
    draw_batch(&model, &seed, batch);
    leat_function *function = train_function(&model, &err);
    leati_device *device = leati_device_cpu_new(0, 2, -1, &err);
    assert_int_equal(device->ops->compile(device, function, &context, &step, &err), LEAT_OK);
    leati_run_args args = {batch, 2, found, 4, &context, false};
    for (int i = 0; i < 8; i++) {
        long before = allocations;
        assert_int_equal(device->ops->run(step, &args, &err), LEAT_OK);
        if (i > 2)
            assert_int_equal(allocations, before);
        for (int k = 0; k < 4; k++)
            leat_tensor_unref(&found[k]);
    }
    leat_tensor_unref(&batch[0]);
    leat_tensor_unref(&batch[1]);
    device->ops->release(step);
    device->ops->leave(device);
    device->ops->close(device);
    leat_function_unref(function);
    model_fini(&model);
    leat_allocator_set(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_plain, torture_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(test_fast, torture_setup, torture_teardown),
        cmocka_unit_test(test_no_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
