/* A recorded case of a tensor operation as a step of a device. Header only, for one source file;
 * include it after "ops_case.h". */
#ifndef CONFORM_OPS_STEPS_H
#define CONFORM_OPS_STEPS_H

#include "exec/device.h"
#include <leat/ops.h>
#include <stdio.h>

#define STEPS_FOLDER LEATI_SOURCE_DIR "/tests/conform/ops"

static const leati_call_context steps_context = {.num_replicas = 1};

/* A device's tensor of a host's, and the other way round, in place. */
static void move_tensor(leati_device *device, leat_tensor *tensor, bool up) {
    leat_error err = {0};
    leat_shape shape = leat_tensor_shape(tensor);
    size_t bytes = leat_tensor_bytes(tensor);
    leat_tensor moved = {0};
    leat_status status = LEAT_OK;
    if (up) {
        moved = leat_tensor_view(tensor->dtype, shape, NULL);
        status = device->ops->alloc(device, tensor->dtype, &shape, &moved.owner, &err);
        if (status == LEAT_OK)
            status = device->ops->upload(device, tensor->data, moved.owner, bytes, &err);
        if (status == LEAT_OK)
            moved.data = moved.owner->data;
    } else {
        status = leat_tensor_new(tensor->dtype, shape, &moved, &err);
        if (status == LEAT_OK)
            status = device->ops->download(device, tensor->owner, moved.data, bytes, &err);
        leat_tensor_unref(tensor);
    }
    if (status != LEAT_OK)
        fail_msg("%s: %s", device->name, err.text);
    *tensor = moved;
}

/* Compiles and runs the function; false where a step does not do it. */
static bool run_step(leati_device *device, const op_case *c, const char *how,
                     const leat_function *function, leat_tensor *outputs) {
    leat_error err = {0};
    leati_executable *step = NULL;
    leat_tensor inputs[MAX_VALUES];
    leat_status status = device->ops->compile(device, function, &steps_context, &step, &err);
    if (status == LEAT_UNIMPLEMENTED)
        return false;
    if (status != LEAT_OK)
        fail_msg("%s %s, %s: %s", c->op, c->name, how, err.text);
    for (int i = 0; i < c->num_inputs; i++) {
        inputs[i] = c->inputs[i];
        if (!device->host_memory)
            move_tensor(device, &inputs[i], true);
    }
    leati_run_args args = {.inputs = inputs,
                           .num_inputs = c->num_inputs,
                           .outputs = outputs,
                           .num_outputs = function->num_outputs,
                           .context = &steps_context};
    if (device->ops->run(step, &args, &err) != LEAT_OK)
        fail_msg("%s %s, %s: %s", c->op, c->name, how, err.text);
    for (int i = 0; !device->host_memory && i < function->num_outputs; i++)
        move_tensor(device, &outputs[i], false);
    for (int i = 0; !device->host_memory && i < c->num_inputs; i++)
        leat_tensor_unref(&inputs[i]);
    device->ops->release(step);
    device->ops->leave(device);
    return true;
}

static double at_least(double tolerance, double least) {
    return tolerance > least ? tolerance : least;
}

/* Forward against what is recorded, to the case's tolerance or `least`; false where a step does not
 * do it. */
static bool check_forward(leati_device *device, const op_case *c, const char *how, double least) {
    leat_error err = {0};
    leat_tensor outputs[MAX_VALUES];
    leat_function *function = case_build(c, SHAPES_STATIC, 0, &err);
    if (function == NULL)
        fail_msg("%s %s: %s", c->op, c->name, err.text);
    bool taken = run_step(device, c, how, function, outputs);
    for (int i = 0; taken && i < c->num_outputs; i++)
        expect_tensor(c, how, i, &c->outputs[i], &outputs[i], at_least(c->tolerance, least));
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

/* Backward against the interpreter. */
static void check_backward(leati_device *device, const op_case *c, const char *how, double least) {
    leat_error err = {0};
    leat_tensor expected[MAX_VALUES], found[MAX_VALUES];
    leat_function *function = build_gradients(c, &err);
    if (function == NULL) {
        if (err.code != LEAT_OK && err.code != LEAT_UNIMPLEMENTED)
            fail_msg("%s %s, %s: %s", c->op, c->name, how, err.text);
        return;
    }
    if (leati_interpret(function, c->inputs, &steps_context, expected, &err) != LEAT_OK)
        fail_msg("%s %s, %s: %s", c->op, c->name, how, err.text);
    if (run_step(device, c, how, function, found)) {
        for (int i = 0; i < function->num_outputs; i++)
            expect_tensor(c, how, i, &expected[i], &found[i], at_least(c->tolerance, least));
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
                leati_interpret(function, c->inputs, &steps_context, outputs, &err) == LEAT_OK;
    if (good)
        unref_all(outputs, function->num_outputs);
    leat_function_unref(function);
    return good;
}

/* Gives every case of an operation to `check`; true if one of them ran. */
static bool check_op(const char *op, bool (*check)(const op_case *c)) {
    char path[512];
    (void)snprintf(path, sizeof path, STEPS_FOLDER "/%s.json", op);
    json_error_t error;
    json_t *file = json_load_file(path, 0, &error);
    if (file == NULL)
        fail_msg("%s: %s", path, error.text);
    const json_t *lines = json_object_get(file, "cases");
    bool any = false;
    for (size_t i = 0; i < json_array_size(lines); i++) {
        op_case c;
        case_read(&c, op, json_array_get(lines, i));
        bool ran = check(&c);
        any = any || ran;
        case_fini(&c);
    }
    json_decref(file);
    return any;
}

#endif
