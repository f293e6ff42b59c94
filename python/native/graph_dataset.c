/* Datasets in graphs that are built: operators as nodes, and loops over their elements. */
#include "native.h"

/* reduce_dataset(dataset, body, variables, captures, can stop, is shared, shape invariants as JSON
 * or None): the variables after the last element as a list. */
PyObject *native_graph_reduce_dataset(PyObject *self, PyObject *args) {
    PyObject *dataset = NULL, *body = NULL, *variables = NULL, *captures = NULL, *json = NULL;
    Py_ssize_t num_variables = 0, num_captures = 0;
    int can_stop = 0, is_shared = 0, made = -1;
    leat_value over;
    leat_spec *shapes = NULL;
    leat_graph *graph = native_open_graph(self);
    if (graph == NULL ||
        !PyArg_ParseTuple(args, "OO!OOppO", &dataset, native_function_type, &body, &variables,
                          &captures, &can_stop, &is_shared, &json) ||
        native_value_in(self, dataset, &over) != 0 || native_graph_hold(self, body) != 0 ||
        native_spec(json, &shapes) != 0)
        return NULL;
    leat_graph_dataset_reduce_options options = {LEAT_GRAPH_DATASET_REDUCE_DEFAULTS,
                                                 .can_stop = can_stop, .is_shared = is_shared,
                                                 .shape_invariants = shapes};
    leat_value outputs[LEAT_MAX_OUTPUTS];
    leat_value *values = native_values_in(self, variables, &num_variables);
    leat_value *around = values == NULL ? NULL : native_values_in(self, captures, &num_captures);
    if (around != NULL) {
        made = leat_graph_dataset_reduce(over, native_function_of(body), values, (int)num_variables,
                                         around, (int)num_captures, &options, outputs);
    }
    bool failed = around == NULL;
    PyMem_Free(values);
    PyMem_Free(around);
    leat_spec_unref(shapes);
    if (failed)
        return NULL;
    return made < 0 ? native_raise_graph(graph) : native_symbolic_list(self, outputs, made);
}

/* What native_graph_dataset takes apart: at most so many arguments of either kind. */
#define MOST_ARGUMENTS 16

typedef struct dataset_call {
    leat_dataset_call call;
    leat_value *inputs;
    leat_bound_argument bound[MOST_ARGUMENTS];
    leat_function_argument functions[MOST_ARGUMENTS];
} dataset_call;

static void dataset_call_fini(dataset_call *c) {
    PyMem_Free(c->inputs);
    for (int i = 0; i < c->call.num_bound; i++) {
        PyMem_Free((void *)(uintptr_t)c->bound[i].values);
        leat_spec_unref((leat_spec *)(uintptr_t)c->bound[i].structure);
    }
    for (int i = 0; i < c->call.num_functions; i++)
        PyMem_Free((void *)(uintptr_t)c->functions[i].captures);
}

/* One (name, structure as JSON or None, tensors). */
static int read_bound(PyObject *self, PyObject *item, leat_bound_argument *out) {
    PyObject *json = NULL, *tensors = NULL;
    Py_ssize_t count = 0;
    leat_spec *structure = NULL;
    if (!PyArg_ParseTuple(item, "sOO", &out->name, &json, &tensors) ||
        native_spec(json, &structure) != 0)
        return -1;
    out->structure = structure;
    out->values = native_values_in(self, tensors, &count);
    out->num_values = (int)count;
    return out->values == NULL ? -1 : 0;
}

/* One (name, function, captured tensors). */
static int read_function(PyObject *self, PyObject *item, leat_function_argument *out) {
    PyObject *function = NULL, *captures = NULL;
    Py_ssize_t count = 0;
    if (!PyArg_ParseTuple(item, "sO!O", &out->name, native_function_type, &function, &captures) ||
        native_graph_hold(self, function) != 0)
        return -1;
    out->function = native_function_of(function);
    out->captures = native_values_in(self, captures, &count);
    out->num_captures = (int)count;
    return out->captures == NULL ? -1 : 0;
}

static int read_dataset_call(PyObject *self, PyObject *inputs, PyObject *bound, PyObject *functions,
                             dataset_call *c) {
    Py_ssize_t num_inputs = 0;
    if (PyList_Size(bound) > MOST_ARGUMENTS || PyList_Size(functions) > MOST_ARGUMENTS) {
        PyErr_SetString(PyExc_ValueError, "a dataset operator has at most 16 such arguments");
        return -1;
    }
    c->inputs = native_values_in(self, inputs, &num_inputs);
    c->call.inputs = c->inputs;
    c->call.num_inputs = (int)num_inputs;
    c->call.bound = c->bound;
    c->call.functions = c->functions;
    int status = c->inputs == NULL ? -1 : 0;
    for (Py_ssize_t i = 0; status == 0 && i < PyList_Size(bound); i++)
        status = read_bound(self, PyList_GetItem(bound, i), &c->bound[c->call.num_bound++]);
    for (Py_ssize_t i = 0; status == 0 && i < PyList_Size(functions); i++) {
        status = read_function(self, PyList_GetItem(functions, i),
                               &c->functions[c->call.num_functions++]);
    }
    return status;
}

/* dataset(operator, arguments as JSON, dataset values, [(name, structure, tensors)],
 * [(name, function, captures)]): a dataset value. */
PyObject *native_graph_dataset(PyObject *self, PyObject *args) {
    PyObject *inputs = NULL, *bound = NULL, *functions = NULL, *result = NULL;
    dataset_call c = {0};
    leat_graph *graph = native_open_graph(self);
    if (graph == NULL || !PyArg_ParseTuple(args, "szOO!O!", &c.call.op, &c.call.args, &inputs,
                                           &PyList_Type, &bound, &PyList_Type, &functions))
        return NULL;
    if (read_dataset_call(self, inputs, bound, functions, &c) == 0) {
        leat_value made = leat_graph_dataset_call(graph, &c.call);
        result = made.id < 0 ? native_raise_graph(graph) : native_tensor_symbolic(self, made.id);
    }
    dataset_call_fini(&c);
    return result;
}
