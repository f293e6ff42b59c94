/* The device vtable on a device with separate memory: a step with variables gives what the host
 * gives, and memory of the wrong side is refused. */
#include "support/cmocka.h"

#include "dist/strategy.h"
#include "graph/variable.h"
#include "support/fake_device.h"
#include "support/refused.h"
#include "support/torture.h"
#include <leat/ops.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static const leati_call_context alone = {.num_replicas = 1};

/* ---- variables on a device ---- */

static leat_status place_alloc(void *device, leat_dtype dtype, const leat_shape *shape,
                               leat_buffer **out, leat_error *err) {
    return ((leati_device *)device)->ops->alloc(device, dtype, shape, out, err);
}

static leat_status place_upload(void *device, const void *from, leat_buffer *to, size_t size,
                                leat_error *err) {
    return ((leati_device *)device)->ops->upload(device, from, to, size, err);
}

static leat_status place_download(void *device, const leat_buffer *from, void *to, size_t size,
                                  leat_error *err) {
    return ((leati_device *)device)->ops->download(device, from, to, size, err);
}

/* One copy, on the device that is the context. */
static leat_status place(void *context, leat_variable *variable, const leat_tensor *initial,
                         leat_error *err) {
    variable->copies = leati_alloc_zero(1, sizeof *variable->copies);
    variable->places = leati_alloc_zero(1, sizeof *variable->places);
    if (variable->copies == NULL || variable->places == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    variable->num_copies = 1;
    variable->places[0] = (leati_variable_place){.device = context,
                                                 .alloc = place_alloc,
                                                 .upload = place_upload,
                                                 .download = place_download};
    size_t size = leat_tensor_bytes(initial);
    leat_status status =
        place_alloc(context, variable->dtype, &variable->shape, &variable->copies[0], err);
    return status != LEAT_OK ? status
                             : place_upload(context, initial->data, variable->copies[0], size, err);
}

static leat_variable *variable_on(leati_device *device, float number) {
    leati_variable_creator creator = {.place = place, .context = device};
    leat_tensor tensor = leat_scalar_float32(number);
    const leati_variable_creator *before =
        leati_variable_set_creator(device != NULL ? &creator : NULL);
    leat_variable *variable = leat_variable_new(&tensor, NULL, NULL);
    leati_variable_set_creator(before);
    leat_tensor_unref(&tensor);
    return variable;
}

static float value_of(leat_variable *variable) {
    leat_tensor tensor;
    assert_int_equal(leat_variable_read(variable, &tensor, NULL), LEAT_OK);
    float value = *(float *)tensor.data;
    leat_tensor_unref(&tensor);
    return value;
}

/* ---- a step ---- */

static int trace_step(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_variable *variable = context;
    leat_value x = leat_graph_argument(graph, 0);
    leat_graph_assign_add(graph, variable, leat_op_reduce_sum(x, NULL, 0, false));
    outputs[0] = leat_op_multiply(x, leat_graph_read(graph, variable));
    return 1;
}

static leat_function *step_function(leat_variable *variable) {
    leat_error err = {0};
    leat_spec *spec = leat_spec_tensor(LEAT_FLOAT32, LEAT_SHAPE(2), &err);
    leat_function *function = LEAT_TRACE(trace_step, variable, spec, &err);
    leat_spec_unref(spec);
    return function;
}

static void test_step(void **state) {
    (void)state;
    leat_error err = {0};
    leati_device *device = fake_device_new(0, &err);
    leat_variable *variable = variable_on(device, 10);
    leat_function *function = step_function(variable);
    leati_executable *step = NULL;
    assert_int_equal(device->ops->compile(device, function, &alone, &step, &err), LEAT_OK);
    leat_tensor input = leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(2), NULL), output;
    const float numbers[2] = {1, 2};
    float found[2];
    assert_int_equal(device->ops->alloc(device, LEAT_FLOAT32, &LEAT_SHAPE(2), &input.owner, &err),
                     LEAT_OK);
    assert_int_equal(device->ops->upload(device, numbers, input.owner, sizeof numbers, &err),
                     LEAT_OK);
    input.data = input.owner->data;
    leati_run_args args = {&input, 1, &output, 1, &alone, false};
    for (int i = 1; i <= 2; i++) {
        assert_int_equal(device->ops->run(step, &args, &err), LEAT_OK);
        assert_int_equal(device->ops->download(device, output.owner, found, sizeof found, &err),
                         LEAT_OK);
        assert_true(found[1] == 2 * (10 + 3 * (float)i));
        leat_tensor_unref(&output);
    }
    assert_true(value_of(variable) == 16);
    /* Host memory is refused, as an input and as a variable's copy. */
    leat_tensor host = leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(2), numbers);
    args.inputs = &host;
    assert_int_equal(device->ops->run(step, &args, &err), LEAT_INTERNAL);
    assert_refused(&err, LEAT_INTERNAL, LEAT_REASON_NONE, "GPU:0");
    device->ops->release(step);
    leat_function_unref(function);
    leat_variable_unref(variable);
    leat_tensor_unref(&input);
    assert_int_equal(fake_device_bytes(device), 0);
    device->ops->close(device);
}

static void test_variable_of_the_host(void **state) {
    (void)state;
    leat_error err = {0};
    leati_device *device = fake_device_new(1, &err), *cpu = leati_device_cpu_new(0, 1, -1, &err);
    leat_variable *here = variable_on(NULL, 1), *there = variable_on(device, 1);
    leat_function *with_here = step_function(here), *with_there = step_function(there);
    leati_executable *step = NULL;
    leat_tensor input = leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(2), NULL), output;
    assert_int_equal(device->ops->alloc(device, LEAT_FLOAT32, &LEAT_SHAPE(2), &input.owner, &err),
                     LEAT_OK);
    input.data = input.owner->data;
    leati_run_args args = {&input, 1, &output, 1, &alone, false};
    assert_int_equal(device->ops->compile(device, with_here, &alone, &step, &err), LEAT_OK);
    assert_int_equal(device->ops->run(step, &args, &err), LEAT_INTERNAL);
    assert_refused(&err, LEAT_INTERNAL, LEAT_REASON_NONE, "GPU:1");
    device->ops->release(step);
    /* And the other way round: the CPU touches no device memory. */
    assert_int_equal(cpu->ops->compile(cpu, with_there, &alone, &step, &err), LEAT_OK);
    assert_int_equal(cpu->ops->run(step, &args, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "0");
    const float numbers[2] = {1, 2};
    leat_tensor host = leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(2), numbers);
    args.inputs = &host;
    assert_int_equal(cpu->ops->run(step, &args, &err), LEAT_FAILED_PRECONDITION);
    cpu->ops->release(step);
    leat_tensor_unref(&input);
    leat_function_unref(with_here);
    leat_function_unref(with_there);
    leat_variable_unref(here);
    leat_variable_unref(there);
    cpu->ops->close(cpu);
    device->ops->close(device);
}

/* ---- a strategy over such devices ---- */

extern const leati_strategy_kind leati_strategy_mirrored;

/* x + 3 x of three vectors, and what was added to the variable. */
static int trace_replica(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_value x[3];
    for (int i = 0; i < 3; i++)
        x[i] = leat_graph_argument(graph, i);
    for (int i = 0; i < 3; i++)
        outputs[i] = leat_op_add(x[i], leat_op_add(x[i], leat_op_add(x[i], x[i])));
    leat_graph_assign_add(graph, context, leat_op_reduce_sum(x[1], NULL, 0, false));
    outputs[3] = leat_graph_read(graph, context);
    return 4;
}

static leat_status arguments(leat_element *out, float first, leat_error *err) {
    const float numbers[3][2] = {{first, first + 1}, {first + 2, first + 3}, {first + 4, first}};
    leat_spec *parts[3], *spec;
    leat_tensor views[3];
    for (int i = 0; i < 3; i++) {
        parts[i] = leat_spec_tensor(LEAT_FLOAT32, LEAT_SHAPE(2), err);
        views[i] = leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(2), numbers[i]);
    }
    spec = leat_spec_tuple(parts, 3, err);
    leat_tensor copies[3] = {{0}};
    leat_status status = spec == NULL ? torture_code(err) : LEAT_OK;
    for (int i = 0; i < 3 && status == LEAT_OK; i++)
        status = leat_tensor_copy_of(LEAT_FLOAT32, LEAT_SHAPE(2), views[i].data, &copies[i], err);
    if (status == LEAT_OK)
        status = leat_element_set(out, spec, copies, err);
    for (int i = 0; i < 3; i++)
        leat_tensor_unref(&copies[i]);
    leat_spec_unref(spec);
    return status;
}

/* Arguments go to the devices and results come back; nothing of theirs stays. */
static leat_status use_strategy(void *context, leat_error *err) {
    leati_device *devices[2] = {fake_device_new(0, err), NULL};
    leat_element elements[2] = {{0}, {0}};
    leat_per_replica args = {.elements = elements, .num_replicas = 2}, out = {0};
    const leati_strategy_parts parts = {.kind = &leati_strategy_mirrored,
                                        .devices = devices,
                                        .num_devices = 2,
                                        .timeout_ms = 60000};
    (void)context;
    devices[1] = devices[0] == NULL ? NULL : fake_device_new(1, err);
    if (devices[1] == NULL) {
        if (devices[0] != NULL)
            devices[0]->ops->close(devices[0]);
        return torture_code(err);
    }
    leat_strategy *strategy = leati_strategy_new(&parts, err);
    if (strategy == NULL)
        return torture_code(err);
    leat_tensor five = leat_tensor_view(LEAT_FLOAT32, LEAT_SCALAR, &(float){5});
    leat_variable *variable = NULL;
    if (leat_strategy_enter(strategy, err) == LEAT_OK)
        variable = leat_variable_new(&five, NULL, err);
    leat_strategy_exit(strategy);
    leat_step *step = variable == NULL ? NULL : leat_step_new(trace_replica, variable, err);
    leat_status status = step == NULL ? torture_code(err) : LEAT_OK;
    for (int r = 0; r < 2 && status == LEAT_OK; r++)
        status = arguments(&elements[r], 10 * (float)r, err);
    for (int i = 0; i < 3 && status == LEAT_OK; i++) {
        int64_t before = fake_device_transfers(devices[1]);
        status = leat_strategy_run(strategy, step, &args, &out, err);
        for (int r = 0; r < 2 && status == LEAT_OK; r++) {
            const leat_tensor *tensors = out.elements[r].tensors;
            assert_true(*(const float *)tensors[3].data == 5 + (float)((i + 1) * (20 * r + 5)));
            for (int t = 0; t < 3; t++)
                assert_true(*(const float *)tensors[t].data == 4 * (10 * (float)r + 2 * (float)t));
            assert_true(((const float *)tensors[1].data)[1] == 4 * (10 * (float)r + 3));
        }
        assert_true(status != LEAT_OK || fake_device_transfers(devices[1]) >= before + 3 + 4);
    }
    leat_per_replica_fini(&out);
    for (int r = 0; r < 2; r++)
        leat_element_fini(&elements[r]);
    leat_step_free(step);
    leat_variable_unref(variable);
    for (int r = 0; r < 2; r++)
        assert_int_equal(fake_device_bytes(devices[r]), 0);
    leat_strategy_unref(strategy);
    return status;
}

static void test_strategy(void **state) {
    (void)state;
    torture_run_tolerant(use_strategy, NULL);
}

/* Reading the device's addresses ends the process: shown in a child. */
static void test_untouchable(void **state) {
    (void)state;
    leati_device *device = fake_device_new(2, NULL);
    leat_buffer *buffer = NULL;
    assert_int_equal(
        device->ops->alloc(device, LEAT_FLOAT32, &LEAT_SHAPE(16), &buffer, &(leat_error){0}),
        LEAT_OK);
    pid_t child = fork();
    if (child == 0) {
        (void)signal(SIGSEGV, SIG_DFL);
        volatile char touched = *(volatile char *)buffer->data;
        _exit(touched != 0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    leat_buffer_unref(buffer);
    device->ops->close(device);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, torture_setup, torture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_step), TEST(test_variable_of_the_host),
                                       TEST(test_untouchable), TEST(test_strategy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
