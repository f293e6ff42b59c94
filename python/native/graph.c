/* Graph: a leat_graph that is built, traced or eager.
 *
 * Values are plain numbers of their graph; leat.Tensor joins number and graph. A failed call takes
 * the error out of the graph, so that an eager graph goes on. */
#include "native.h"
#include <string.h>

typedef struct native_graph {
    PyObject_HEAD leat_graph *graph; /* NULL once finished */
    bool eager;
    PyObject *held; /* what was put into it has (held.c); NULL: nothing */
} native_graph;

static PyTypeObject *graph_type;

leat_graph *native_graph_of(PyObject *graph) {
    return ((native_graph *)graph)->graph;
}

PyObject *native_graph_held(PyObject *graph) {
    return ((native_graph *)graph)->held;
}

int native_graph_hold(PyObject *graph, PyObject *function) {
    return native_hold(&((native_graph *)graph)->held, native_function_held(function));
}

bool native_graph_is_eager(PyObject *graph) {
    return ((native_graph *)graph)->eager;
}

leat_graph *native_open_graph(PyObject *self) {
    leat_graph *graph = native_graph_of(self);
    if (graph == NULL) {
        PyErr_SetString(PyExc_TypeError,
                        "a tensor is used outside of the function that it was traced in; return it "
                        "from there");
    }
    return graph;
}

PyObject *native_raise_graph(leat_graph *graph) {
    leat_error err = {0};
    leat_graph_take_error(graph, &err);
    return native_raise(&err);
}

/* ---- building ---- */

static PyObject *graph_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static const char *const names[] = {"spec", "eager", NULL};
    PyObject *json = Py_None;
    int eager = 0;
    leat_spec *spec = NULL;
    leat_error err = {0};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|Op", (char **)(uintptr_t)names, &json,
                                     &eager) ||
        native_spec(json, &spec) != 0)
        return NULL;
    leat_graph *graph = eager ? leat_graph_new_eager(&err) : leat_graph_new(spec, &err);
    leat_spec_unref(spec);
    if (graph == NULL)
        return native_raise(&err);
    native_graph *self = (native_graph *)PyType_GenericAlloc(type, 0);
    if (self == NULL) {
        leat_graph_free(graph);
        return NULL;
    }
    self->graph = graph;
    self->eager = eager != 0;
    return (PyObject *)self;
}

static int graph_traverse(PyObject *object, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((native_graph *)object)->held);
    return 0;
}

static void graph_dealloc(PyObject *object) {
    PyObject_GC_UnTrack(object);
    leat_graph_free(((native_graph *)object)->graph);
    Py_CLEAR(((native_graph *)object)->held);
    native_free(object);
}

static PyObject *graph_arguments(PyObject *self, PyObject *unused) {
    (void)unused;
    leat_graph *graph = native_open_graph(self);
    int count = graph == NULL ? 0 : leat_graph_num_arguments(graph);
    PyObject *list = graph == NULL ? NULL : PyList_New(count);
    for (int i = 0; list != NULL && i < count; i++) {
        PyObject *item = native_tensor_symbolic(self, leat_graph_argument(graph, i).id);
        if (item == NULL || PyList_SetItem(list, i, item) != 0)
            Py_CLEAR(list);
    }
    return list;
}

/* add_argument(spec as JSON): a further argument. */
static PyObject *graph_add_argument(PyObject *self, PyObject *json) {
    leat_graph *graph = native_open_graph(self);
    leat_spec *spec = NULL;
    if (graph == NULL || native_spec(json, &spec) != 0)
        return NULL;
    leat_value value = leat_graph_add_argument(graph, spec);
    leat_error err = {0};
    if (value.id < 0 && leat_graph_take_error(graph, &err) != LEAT_OK)
        return native_raise(&err);
    return native_tensor_symbolic(self, value.id);
}

int native_value_in(PyObject *self, PyObject *item, leat_value *out) {
    leat_graph *graph = native_graph_of(self);
    if (native_is_tensor(item) && ((native_tensor *)item)->graph == self) {
        *out = (leat_value){.graph = graph, .id = ((native_tensor *)item)->id};
        return 0;
    }
    const leat_tensor *tensor = native_tensor_of(item);
    if (tensor == NULL ||
        native_hold(&((native_graph *)self)->held, ((native_tensor *)item)->held) != 0)
        return -1;
    *out = tensor->dtype == LEAT_OBJECT && tensor->rank == 0 && !native_graph_is_eager(self)
               ? leat_graph_dataset(graph, *(leat_dataset **)tensor->data)
               : leat_graph_tensor(graph, tensor);
    if (out->id < 0) {
        native_raise_graph(graph);
        return -1;
    }
    return 0;
}

leat_value *native_values_in(PyObject *self, PyObject *sequence, Py_ssize_t *count) {
    *count = PySequence_Size(sequence);
    leat_value *values = *count < 0 ? NULL : PyMem_Calloc((size_t)*count + 1, sizeof(*values));
    if (values == NULL)
        return *count < 0 ? NULL : (leat_value *)PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < *count; i++) {
        PyObject *item = PySequence_GetItem(sequence, i);
        int status = item == NULL ? -1 : native_value_in(self, item, &values[i]);
        Py_XDECREF(item);
        if (status != 0) {
            PyMem_Free(values);
            return NULL;
        }
    }
    return values;
}

PyObject *native_symbolic_list(PyObject *self, const leat_value *values, int count) {
    PyObject *list = PyList_New(count);
    for (int i = 0; list != NULL && i < count; i++) {
        PyObject *item = native_tensor_symbolic(self, values[i].id);
        if (item == NULL || PyList_SetItem(list, i, item) != 0)
            Py_CLEAR(list);
    }
    return list;
}

/* call(operation, attributes as JSON text or None, tensors): the outputs as a list. */
static PyObject *graph_call(PyObject *self, PyObject *args) {
    const char *operation = NULL, *attributes = NULL;
    PyObject *inputs = NULL;
    Py_ssize_t count = 0;
    leat_graph *graph = native_open_graph(self);
    if (graph == NULL || !PyArg_ParseTuple(args, "szO", &operation, &attributes, &inputs))
        return NULL;
    leat_value *values = native_values_in(self, inputs, &count);
    if (values == NULL)
        return NULL;
    leat_value outputs[LEAT_MAX_OUTPUTS];
    int made = 0;
    if (native_graph_is_eager(self)) {
        Py_BEGIN_ALLOW_THREADS;
        made = leat_graph_call(graph, operation, attributes, values, (int)count, outputs,
                               LEAT_MAX_OUTPUTS);
        Py_END_ALLOW_THREADS;
    } else {
        made = leat_graph_call(graph, operation, attributes, values, (int)count, outputs,
                               LEAT_MAX_OUTPUTS);
    }
    PyMem_Free(values);
    return made < 0 ? native_raise_graph(graph) : native_symbolic_list(self, outputs, made);
}

/* eager(operation, attributes, tensors): computes at once, and remembers nothing. */
static PyObject *graph_eager(PyObject *class, PyObject *args) {
    (void)class;
    const char *operation = NULL, *attributes = NULL;
    PyObject *inputs = NULL;
    Py_ssize_t count = 0;
    leat_error err = {0};
    leat_value outputs[LEAT_MAX_OUTPUTS];
    leat_tensor results[LEAT_MAX_OUTPUTS]; /* large: no more of it is cleared than is used */
    if (!PyArg_ParseTuple(args, "szO", &operation, &attributes, &inputs))
        return NULL;
    leat_tensor *tensors = native_tensors(inputs, &count);
    leat_value *values = tensors == NULL ? NULL : PyMem_Calloc((size_t)count + 1, sizeof(*values));
    if (values == NULL) {
        PyMem_Free(tensors);
        return tensors == NULL ? NULL : PyErr_NoMemory();
    }
    leat_status status = LEAT_OK;
    int made = -1;
    Py_BEGIN_ALLOW_THREADS;
    leat_graph *graph = leat_graph_new_eager(&err);
    for (Py_ssize_t i = 0; graph != NULL && i < count; i++)
        values[i] = leat_graph_tensor(graph, &tensors[i]);
    if (graph != NULL) {
        made = leat_graph_call(graph, operation, attributes, values, (int)count, outputs,
                               LEAT_MAX_OUTPUTS);
        status = made < 0 ? leat_graph_take_error(graph, &err) : LEAT_OK;
    }
    memset(results, 0, made > 0 ? (size_t)made * sizeof(*results) : 0);
    for (int i = 0; i < made && status == LEAT_OK; i++)
        status = leat_value_tensor(outputs[i], &results[i], &err);
    leat_graph_free(graph);
    Py_END_ALLOW_THREADS;
    PyMem_Free(tensors);
    PyMem_Free(values);
    if (made < 0 || status != LEAT_OK) {
        for (int i = 0; i < made; i++)
            leat_tensor_unref(&results[i]);
        return native_raise(&err);
    }
    return native_pass_held(native_tensor_list(results, made), NULL, inputs);
}

/* call_functions(operation, attributes, functions, tensors): the outputs as a list; an attribute
 * {"function": k} is functions[k], of two at most. */
static PyObject *graph_call_functions(PyObject *self, PyObject *args) {
    const char *operation = NULL, *attributes = NULL;
    PyObject *given = NULL, *first = NULL, *second = NULL, *inputs = NULL;
    Py_ssize_t count = 0;
    leat_graph *graph = native_open_graph(self);
    if (graph == NULL ||
        !PyArg_ParseTuple(args, "ssO!O", &operation, &attributes, &PyTuple_Type, &given, &inputs) ||
        !PyArg_ParseTuple(given, "O!|O!", native_function_type, &first, native_function_type,
                          &second) ||
        native_graph_hold(self, first) != 0 ||
        (second != NULL && native_graph_hold(self, second) != 0))
        return NULL;
    leat_value *values = native_values_in(self, inputs, &count);
    if (values == NULL)
        return NULL;
    leat_value outputs[LEAT_MAX_OUTPUTS];
    leat_function *functions[2] = {native_function_of(first),
                                   second == NULL ? NULL : native_function_of(second)};
    int made = 0;
    Py_BEGIN_ALLOW_THREADS;
    made = leat_graph_call_functions(graph, operation, attributes, functions, 1 + (second != NULL),
                                     values, (int)count, outputs, LEAT_MAX_OUTPUTS);
    Py_END_ALLOW_THREADS;
    PyMem_Free(values);
    return made < 0 ? native_raise_graph(graph) : native_symbolic_list(self, outputs, made);
}

/* inline(function, tensors): its outputs as a list. */
static PyObject *graph_inline(PyObject *self, PyObject *args) {
    PyObject *function = NULL, *inputs = NULL;
    Py_ssize_t count = 0;
    leat_graph *graph = native_open_graph(self);
    if (graph == NULL || !PyArg_ParseTuple(args, "O!O", native_function_type, &function, &inputs) ||
        native_graph_hold(self, function) != 0)
        return NULL;
    leat_value *values = native_values_in(self, inputs, &count);
    if (values == NULL)
        return NULL;
    leat_value outputs[LEAT_MAX_OUTPUTS];
    int made = leat_graph_inline(graph, native_function_of(function), values, (int)count, outputs,
                                 LEAT_MAX_OUTPUTS);
    PyMem_Free(values);
    return made < 0 ? native_raise_graph(graph) : native_symbolic_list(self, outputs, made);
}

/* while_loop(cond, body, variables, invariants, maximum or None, shape invariants as JSON or None):
 * the variables after the last iteration as a list. */
static PyObject *graph_while(PyObject *self, PyObject *args) {
    PyObject *cond = NULL, *body = NULL, *variables = NULL, *invariants = NULL, *json = NULL;
    PyObject *maximum = NULL;
    Py_ssize_t num_variables = 0, num_invariants = 0;
    leat_spec *shapes = NULL;
    leat_graph *graph = native_open_graph(self);
    if (graph == NULL ||
        !PyArg_ParseTuple(args, "O!O!OOOO", native_function_type, &cond, native_function_type,
                          &body, &variables, &invariants, &maximum, &json) ||
        native_graph_hold(self, cond) != 0 || native_graph_hold(self, body) != 0)
        return NULL;
    leat_op_while_options options = {LEAT_OP_WHILE_DEFAULTS};
    if (maximum != Py_None) {
        options.maximum_iterations = PyLong_AsLongLong(maximum);
        if (options.maximum_iterations == -1 && PyErr_Occurred() != NULL)
            return NULL;
    }
    if (native_spec(json, &shapes) != 0)
        return NULL;
    options.shape_invariants = shapes;
    leat_value outputs[LEAT_MAX_OUTPUTS];
    leat_value *values = native_values_in(self, variables, &num_variables);
    leat_value *fixed = values == NULL ? NULL : native_values_in(self, invariants, &num_invariants);
    bool called = fixed != NULL;
    int made = -1;
    if (called) {
        leat_function *test = native_function_of(cond), *step = native_function_of(body);
        Py_BEGIN_ALLOW_THREADS;
        made = leat_op_while(test, step, values, (int)num_variables, fixed, (int)num_invariants,
                             &options, outputs);
        Py_END_ALLOW_THREADS;
    }
    PyMem_Free(values);
    PyMem_Free(fixed);
    leat_spec_unref(shapes);
    if (!called)
        return NULL;
    return made < 0 ? native_raise_graph(graph) : native_symbolic_list(self, outputs, made);
}

/* read(variable): its value, as of here in the order of the graph. */
static PyObject *graph_read(PyObject *self, PyObject *object) {
    leat_graph *graph = native_open_graph(self);
    leat_variable *variable = graph == NULL ? NULL : native_variable_of(object);
    if (variable == NULL)
        return NULL;
    leat_value value = leat_graph_read(graph, variable);
    return value.id < 0 ? native_raise_graph(graph) : native_tensor_symbolic(self, value.id);
}

/* assign(variable, tensor, add, combine): sets or adds to a variable when the graph runs; without
 * `combine` it sets the copy of the replica that runs it. */
static PyObject *graph_assign(PyObject *self, PyObject *args) {
    PyObject *object = NULL, *tensor = NULL;
    int add = 0, combine = 1;
    leat_value value;
    leat_error err = {0};
    leat_graph *graph = native_open_graph(self);
    if (graph == NULL || !PyArg_ParseTuple(args, "OOpp", &object, &tensor, &add, &combine))
        return NULL;
    leat_variable *variable = native_variable_of(object);
    if (variable == NULL || native_value_in(self, tensor, &value) != 0)
        return NULL;
    if (!combine)
        leat_graph_assign_copy(graph, variable, value);
    else if (add)
        leat_graph_assign_add(graph, variable, value);
    else
        leat_graph_assign(graph, variable, value);
    if (leat_graph_take_error(graph, &err) != LEAT_OK)
        return native_raise(&err);
    Py_RETURN_NONE;
}

/* constant(tensor): the tensor as a value of this graph. */
static PyObject *graph_constant(PyObject *self, PyObject *tensor) {
    leat_value value;
    if (native_open_graph(self) == NULL || native_value_in(self, tensor, &value) != 0)
        return NULL;
    return native_tensor_symbolic(self, value.id);
}

/* element_spec(tensor): JSON of the elements of a dataset value; None for others. */
static PyObject *graph_element_spec(PyObject *self, PyObject *tensor) {
    leat_value value;
    if (native_open_graph(self) == NULL || native_value_in(self, tensor, &value) != 0)
        return NULL;
    const leat_spec *spec = leat_value_element(value);
    return spec == NULL ? Py_NewRef(Py_None) : native_spec_json(spec);
}

/* The values that a sequence of numbers names; NULL with an error set. Owned. */
static leat_value *numbered_values(leat_graph *graph, PyObject *sequence, Py_ssize_t *count) {
    *count = PySequence_Size(sequence);
    leat_value *values = *count < 0 ? NULL : PyMem_Calloc((size_t)*count + 1, sizeof(*values));
    if (values == NULL)
        return *count < 0 ? NULL : (leat_value *)PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < *count; i++) {
        PyObject *item = PySequence_GetItem(sequence, i);
        long id = item == NULL ? -1 : PyLong_AsLong(item);
        Py_XDECREF(item);
        values[i] = (leat_value){.graph = graph, .id = id < 0 || id > INT32_MAX ? -1 : (int32_t)id};
    }
    if (PyErr_Occurred()) {
        PyMem_Free(values);
        return NULL;
    }
    return values;
}

/* gradients(target, sources, upstream or None, numbers of the values through which none flows): a
 * list of tensors, zeros where nothing flows. */
static PyObject *graph_gradients(PyObject *self, PyObject *args) {
    PyObject *target = NULL, *sources = NULL, *upstream = NULL, *stops = NULL;
    Py_ssize_t count = 0, num_stops = 0;
    leat_value of, from;
    leat_graph *graph = native_open_graph(self);
    if (graph == NULL || !PyArg_ParseTuple(args, "OOOO", &target, &sources, &upstream, &stops) ||
        native_value_in(self, target, &of) != 0 ||
        (upstream != Py_None && native_value_in(self, upstream, &from) != 0))
        return NULL;
    leat_value *values = native_values_in(self, sources, &count);
    leat_value *ends = values == NULL ? NULL : numbered_values(graph, stops, &num_stops);
    leat_value *out = ends == NULL ? NULL : PyMem_Calloc((size_t)count + 1, sizeof(*out));
    PyObject *list = NULL;
    if (out != NULL) {
        leat_value_gradients_until(of, upstream == Py_None ? NULL : &from, values, (int)count, ends,
                                   (int)num_stops, out);
        bool failed = false;
        for (Py_ssize_t i = 0; i < count; i++)
            failed = failed || out[i].id < 0;
        list = failed ? native_raise_graph(graph) : native_symbolic_list(self, out, (int)count);
    }
    PyMem_Free(values);
    PyMem_Free(ends);
    PyMem_Free(out);
    return list;
}

/* slices(gradient): the slices of a table's rows in it, and their rows, as [slices, rows, ...]. */
static PyObject *graph_slices(PyObject *self, PyObject *gradient) {
    leat_value of, pair[2];
    if (native_open_graph(self) == NULL || native_value_in(self, gradient, &of) != 0)
        return NULL;
    PyObject *list = PyList_New(0);
    for (int i = 0; list != NULL && leat_value_slices(of, i, &pair[0], &pair[1]); i++) {
        PyObject *found = native_symbolic_list(self, pair, 2);
        if (found == NULL || PyList_SetSlice(list, 2 * i, 2 * i, found) != 0)
            Py_CLEAR(list);
        Py_XDECREF(found);
    }
    return list;
}

/* finish(outputs, structure as JSON or None): the function; the graph is used up. */
static PyObject *graph_finish(PyObject *self, PyObject *args) {
    PyObject *outputs = NULL, *json = NULL;
    leat_spec *structure = NULL;
    Py_ssize_t count = 0;
    leat_error err = {0};
    leat_graph *graph = native_open_graph(self);
    if (graph == NULL || !PyArg_ParseTuple(args, "OO", &outputs, &json) ||
        native_spec(json, &structure) != 0)
        return NULL;
    leat_value *values = native_values_in(self, outputs, &count);
    if (values == NULL) {
        leat_spec_unref(structure);
        return NULL;
    }
    ((native_graph *)self)->graph = NULL;
    leat_function *function = leat_graph_finish(graph, values, (int)count, structure, &err);
    leat_spec_unref(structure);
    PyMem_Free(values);
    return native_function_new(function, native_graph_held(self), &err);
}

static PyMethodDef graph_methods[] = {
    {"arguments", graph_arguments, METH_NOARGS, "The arguments as tensors."},
    {"add_argument", graph_add_argument, METH_O, "add_argument(spec) -> tensor."},
    {"call", graph_call, METH_VARARGS, "call(operation, attributes, tensors) -> list."},
    {"eager", graph_eager, METH_VARARGS | METH_STATIC,
     "eager(operation, attributes, tensors) -> list, computed at once."},
    {"call_functions", graph_call_functions, METH_VARARGS,
     "call_functions(operation, attributes, functions, tensors) -> list."},
    {"inline", graph_inline, METH_VARARGS, "inline(function, tensors) -> list."},
    {"while_loop", graph_while, METH_VARARGS,
     "while_loop(condition, body, variables, invariants, maximum, shapes) -> list."},
    {"read", graph_read, METH_O, "read(variable) -> tensor."},
    {"assign", graph_assign, METH_VARARGS, "assign(variable, tensor, add, combine)."},
    {"constant", graph_constant, METH_O, "constant(tensor) -> tensor of this graph."},
    {"element_spec", graph_element_spec, METH_O, "JSON of a dataset value's elements."},
    {"gradients", graph_gradients, METH_VARARGS,
     "gradients(target, sources, upstream or None, stops) -> list."},
    {"slices", graph_slices, METH_O, "slices(gradient) -> [slices, rows, ...] of a table's."},
    {"reduce_dataset", native_graph_reduce_dataset, METH_VARARGS,
     "reduce_dataset(dataset, body, variables, captures, can_stop, is_shared, shapes) -> list."},
    {"dataset", native_graph_dataset, METH_VARARGS,
     "dataset(operator, arguments, inputs, bound, functions) -> tensor."},
    {"finish", graph_finish, METH_VARARGS, "finish(outputs, structure) -> Function."},
    {0},
};

static PyType_Slot graph_slots[] = {
    {Py_tp_doc, "Graph(spec=None, eager=False): a graph that is built."},
    {Py_tp_new, (void *)graph_new},
    {Py_tp_dealloc, (void *)graph_dealloc},
    {Py_tp_traverse, (void *)graph_traverse},
    {Py_tp_methods, graph_methods},
    {0},
};

static PyType_Spec graph_spec = {
    .name = "leat._native.Graph",
    .basicsize = sizeof(native_graph),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    .slots = graph_slots,
};

int native_add_graph(PyObject *module) {
    return native_add_type(module, &graph_spec, &graph_type);
}
