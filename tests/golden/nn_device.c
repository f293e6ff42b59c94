/* The graphs of the part nn: eager, or with --device functions of their inputs that run as steps of
 * one device, under whose strategy the case's variables are made. What a case compares is noted
 * while the graph is built, and compared when it has run. */
#include "nn.h"
#include <stdlib.h>

enum { MOST_INPUTS = 8, MOST_COMPARED = 32 };

typedef struct compared {
    char what[64];
    json_t *expected; /* owned */
    double relative;
} compared;

/* One graph at a time. */
static struct device_graph {
    leat_strategy *strategy; /* NULL: graphs are eager */
    leat_graph *graph;
    leat_tensor inputs[MOST_INPUTS];
    int num_inputs;
    leat_value values[MOST_COMPARED];
    compared list[MOST_COMPARED];
    int count;
} device;

void golden_device_begin(golden_run *run) {
    leat_error err = {0};
    if (run->device == NULL)
        return;
    /* Two replicas train, and the number is fixed by the first strategy. */
    if (leat_device_set_logical_cpus(2, &err) == LEAT_OK)
        device.strategy = leat_strategy_one_device(run->device, &err);
    if (device.strategy == NULL || leat_strategy_enter(device.strategy, &err) != LEAT_OK)
        golden_broken(run, "device %s: %s", run->device, err.text);
}

void golden_device_end(const golden_run *run) {
    if (run->device == NULL || device.strategy == NULL)
        return;
    leat_strategy_exit(device.strategy);
    leat_strategy_unref(device.strategy);
    device.strategy = NULL;
}

leat_graph *golden_graph_eager(golden_case *c, const json_t *const *inputs, int count,
                               leat_value *values) {
    leat_error err = {0};
    leat_graph *graph = leat_graph_new_eager(&err);
    for (int i = 0; graph != NULL && i < count; i++)
        values[i] = golden_eager(c, graph, inputs[i]);
    return graph;
}

leat_graph *golden_graph_open(golden_case *c, const json_t *const *inputs, int count,
                              leat_value *values) {
    leat_spec *specs[MOST_INPUTS] = {NULL};
    leat_error err = {0};
    if (device.strategy == NULL)
        return golden_graph_eager(c, inputs, count, values);
    device.num_inputs = device.count = 0;
    for (int i = 0; i < count; i++) {
        leat_tensor *tensor = &device.inputs[i];
        if (count > MOST_INPUTS || golden_array(NN_FOLDER, inputs[i], tensor, &err) != LEAT_OK) {
            golden_fail(c, "input %d: %s", i, err.text);
            return NULL;
        }
        device.num_inputs++;
        specs[i] = leat_spec_tensor(tensor->dtype, leat_tensor_shape(tensor), &err);
    }
    leat_spec *spec = leat_spec_tuple(specs, count, &err);
    device.graph = leat_graph_new(spec, &err);
    leat_spec_unref(spec);
    for (int i = 0; device.graph != NULL && i < count; i++)
        values[i] = leat_graph_argument(device.graph, i);
    return device.graph;
}

bool golden_graph_compare(golden_case *c, const char *what, const json_t *expected,
                          leat_value found, double relative) {
    if (device.graph == NULL || found.graph != device.graph)
        return false;
    if (device.count == MOST_COMPARED) {
        golden_fail(c, "more than %d values", MOST_COMPARED);
        return true;
    }
    compared *noted = &device.list[device.count];
    *noted =
        (compared){.expected = json_incref((json_t *)(uintptr_t)expected), .relative = relative};
    snprintf(noted->what, sizeof noted->what, "%s", what);
    device.values[device.count++] = found;
    return true;
}

static void run_graph(golden_case *c, leat_function *function) {
    leat_error err = {0};
    leat_element arguments = {0};
    leat_per_replica out = {0};
    leat_step *step = leat_step_new(NULL, NULL, &err);
    arguments.spec = leat_spec_ref((leat_spec *)(uintptr_t)leat_function_input(function));
    arguments.tensors = device.inputs;
    arguments.num_tensors = device.num_inputs;
    leat_per_replica args = {.elements = &arguments, .num_replicas = 1};
    if (step == NULL ||
        leat_strategy_run_functions(device.strategy, step, &function, &args, &out, &err) != LEAT_OK)
        golden_refused(c, "a step", &err);
    for (int i = 0; i < device.count && !golden_stopped(c); i++)
        golden_tensor_close(c, device.list[i].what, device.list[i].expected,
                            &out.elements[0].tensors[i], device.list[i].relative);
    leat_spec_unref((leat_spec *)(uintptr_t)arguments.spec);
    leat_per_replica_fini(&out);
    leat_step_free(step);
}

bool golden_graph_close(golden_case *c, leat_graph *graph) {
    leat_error err = {0};
    leat_function *function = NULL;
    if (device.graph == NULL) {
        function = graph == NULL ? NULL : leat_graph_finish(graph, NULL, 0, NULL, &err);
    } else if (graph != NULL) {
        function = leat_graph_finish(graph, device.values, device.count, NULL, &err);
        if (function != NULL)
            run_graph(c, function);
    }
    if (graph != NULL && function == NULL)
        golden_refused(c, "the graph", &err);
    leat_function_unref(function);
    for (int i = 0; i < device.num_inputs; i++)
        leat_tensor_unref(&device.inputs[i]);
    for (int i = 0; i < device.count; i++)
        json_decref(device.list[i].expected);
    device.graph = NULL;
    device.num_inputs = device.count = 0;
    return !golden_stopped(c);
}

const char *golden_device_name(const golden_case *c, int replica, char out[32]) {
    const char *name = c->run->device != NULL ? c->run->device : "CPU:0";
    const char *colon = strchr(name, ':');
    int size = colon == NULL ? (int)strlen(name) : (int)(colon - name);
    snprintf(out, 32, "%.*s:%d", size, name, replica);
    return out;
}
