/* Part: a leat_part, that is a layer, loss, metric, optimizer or initializer without variables.
 *
 * Its calls add operations to a graph; weights and states are tensors of that graph, and what
 * becomes of them is handed back (None: it stays). */
#include "native.h"

typedef struct native_part {
    PyObject_HEAD leat_part *part;
} native_part;

static PyTypeObject *part_type;

static leat_part *part_of(PyObject *self) {
    return ((native_part *)self)->part;
}

PyObject *native_train_tables(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    leat_error err = {0};
    return native_text(leat_parts_json(&err), &err);
}

/* Part(sort, name or None, configuration as JSON or None) */
static PyObject *part_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static const char *const names[] = {"sort", "name", "config", NULL};
    const char *sort = NULL, *name = NULL, *config = NULL;
    leat_error err = {0};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "sO&|z", (char **)(uintptr_t)names, &sort,
                                     native_name_or_none, &name, &config))
        return NULL;
    leat_part *part = leat_part_new(sort, name, config, &err);
    if (part == NULL)
        return native_raise(&err);
    native_part *self = (native_part *)PyType_GenericAlloc(type, 0);
    if (self == NULL) {
        leat_part_free(part);
        return NULL;
    }
    self->part = part;
    return (PyObject *)self;
}

static void part_dealloc(PyObject *object) {
    leat_part_free(part_of(object));
    native_free(object);
}

/* states(shapes of the inputs): JSON of what has to be kept. */
static PyObject *part_states(PyObject *self, PyObject *shapes) {
    leat_shape inputs[LEAT_MAX_OUTPUTS];
    leat_error err = {0};
    Py_ssize_t count = PySequence_Size(shapes);
    if (count < 0 || count > LEAT_MAX_OUTPUTS)
        return count < 0 ? NULL : PyErr_Format(PyExc_ValueError, "%zd inputs are too many", count);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *dims = PySequence_GetItem(shapes, i);
        int status = dims == NULL ? -1 : native_read_shape(dims, &inputs[i]);
        Py_XDECREF(dims);
        if (status != 0)
            return NULL;
    }
    return native_text(leat_part_states_json(part_of(self), inputs, (int)count, &err), &err);
}

/* slots(variable): JSON of what an optimizer keeps for it. */
static PyObject *part_slots_of(PyObject *self, PyObject *variable) {
    leat_error err = {0};
    leat_variable *native = native_variable_of(variable);
    return native == NULL ? NULL
                          : native_text(leat_part_slots_json(part_of(self), native, &err), &err);
}

/* Tensors for values, None for failed ones. */
static PyObject *updates_list(PyObject *graph, const leat_value *values, Py_ssize_t count) {
    PyObject *list = PyList_New(count);
    for (Py_ssize_t i = 0; list != NULL && i < count; i++) {
        PyObject *item =
            values[i].id < 0 ? Py_NewRef(Py_None) : native_tensor_symbolic(graph, values[i].id);
        if (item == NULL || PyList_SetItem(list, i, item) != 0)
            Py_CLEAR(list);
    }
    return list;
}

/* A call's two lists of tensors as values of the graph. */
typedef struct value_lists {
    leat_graph *graph;
    leat_value *inputs, *states, *updates;
    Py_ssize_t num_inputs, num_states;
} value_lists;

static void value_lists_fini(value_lists *lists) {
    PyMem_Free(lists->inputs);
    PyMem_Free(lists->states);
    PyMem_Free(lists->updates);
}

static int read_lists(PyObject *graph, PyObject *inputs, PyObject *states, value_lists *out) {
    *out = (value_lists){.graph = native_open_graph(graph)};
    if (out->graph == NULL)
        return -1;
    out->inputs = native_values_in(graph, inputs, &out->num_inputs);
    out->states = out->inputs == NULL ? NULL : native_values_in(graph, states, &out->num_states);
    if (out->states != NULL)
        out->updates = PyMem_Calloc((size_t)out->num_states + 1, sizeof(*out->updates));
    if (out->updates != NULL)
        return 0;
    value_lists_fini(out);
    return PyErr_Occurred() == NULL ? (PyErr_NoMemory(), -1) : -1;
}

/* call(graph, inputs, weights, training): (output, [updates]) */
static PyObject *part_call(PyObject *self, PyObject *args) {
    PyObject *graph = NULL, *inputs = NULL, *weights = NULL;
    int training = 0;
    value_lists lists;
    if (!PyArg_ParseTuple(args, "OOOp", &graph, &inputs, &weights, &training) ||
        read_lists(graph, inputs, weights, &lists) != 0)
        return NULL;
    leat_value output;
    Py_BEGIN_ALLOW_THREADS;
    output = leat_part_call(part_of(self), lists.inputs, (int)lists.num_inputs, lists.states,
                            (int)lists.num_states, training != 0, lists.updates);
    Py_END_ALLOW_THREADS;
    PyObject *result = NULL;
    if (output.id < 0) {
        native_raise_graph(lists.graph);
    } else {
        result = Py_BuildValue("NN", native_tensor_symbolic(graph, output.id),
                               updates_list(graph, lists.updates, lists.num_states));
    }
    value_lists_fini(&lists);
    return result;
}

/* update(graph, values, states): [new states] */
static PyObject *part_update(PyObject *self, PyObject *args) {
    PyObject *graph = NULL, *values = NULL, *states = NULL;
    leat_error err = {0};
    value_lists lists;
    if (!PyArg_ParseTuple(args, "OOO", &graph, &values, &states) ||
        read_lists(graph, values, states, &lists) != 0)
        return NULL;
    leat_status status = LEAT_OK;
    Py_BEGIN_ALLOW_THREADS;
    leat_part_update(part_of(self), lists.inputs, (int)lists.num_inputs, lists.states,
                     (int)lists.num_states, lists.updates);
    status = leat_graph_take_error(lists.graph, &err);
    Py_END_ALLOW_THREADS;
    PyObject *result = status != LEAT_OK ? native_raise(&err)
                                         : updates_list(graph, lists.updates, lists.num_states);
    value_lists_fini(&lists);
    return result;
}

/* result(graph, states): a tensor */
static PyObject *part_result(PyObject *self, PyObject *args) {
    PyObject *graph = NULL, *states = NULL;
    Py_ssize_t count = 0;
    if (!PyArg_ParseTuple(args, "OO", &graph, &states) || native_open_graph(graph) == NULL)
        return NULL;
    leat_value *values = native_values_in(graph, states, &count);
    if (values == NULL)
        return NULL;
    leat_value value;
    Py_BEGIN_ALLOW_THREADS;
    value = leat_part_result(part_of(self), values, (int)count);
    Py_END_ALLOW_THREADS;
    PyMem_Free(values);
    return value.id < 0 ? native_raise_graph(native_graph_of(graph))
                        : native_tensor_symbolic(graph, value.id);
}

/* Variables of a sequence (PyMem_Free); borrowed from it. */
static leat_variable **variables_of(PyObject *sequence, Py_ssize_t *count) {
    *count = PySequence_Size(sequence);
    leat_variable **list = *count < 0 ? NULL : PyMem_Calloc((size_t)*count + 1, sizeof(*list));
    if (list == NULL)
        return *count < 0 ? NULL : (leat_variable **)PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < *count; i++) {
        PyObject *item = PySequence_GetItem(sequence, i);
        list[i] = item == NULL ? NULL : native_variable_of(item);
        Py_XDECREF(item);
        if (list[i] == NULL) {
            PyMem_Free(list);
            return NULL;
        }
    }
    return list;
}

/* Truth values of a sequence (PyMem_Free); `given` None: NULL. -1 with an exception. */
static int flags_of(PyObject *given, Py_ssize_t wanted, bool **out) {
    *out = NULL;
    if (given == Py_None)
        return 0;
    if (PySequence_Size(given) != wanted) {
        PyErr_Format(PyExc_ValueError, "expected %zd truth values", wanted);
        return -1;
    }
    *out = PyMem_Calloc((size_t)wanted + 1, sizeof(**out));
    for (Py_ssize_t i = 0; *out != NULL && i < wanted; i++) {
        PyObject *item = PySequence_GetItem(given, i);
        int truth = item == NULL ? -1 : PyObject_IsTrue(item);
        Py_XDECREF(item);
        if (truth < 0)
            return -1;
        (*out)[i] = truth != 0;
    }
    return *out == NULL ? (PyErr_NoMemory(), -1) : 0;
}

/* A function of Python that adds updates to a graph. */
typedef struct updater {
    PyObject *graph, *function;
} updater;

/* The update of leat_own_updates; the exception stays set. */
static leat_status call_updater(void *data, int index, leat_value gradient,
                                leat_value learning_rate, leat_error *err) {
    const updater *self = data;
    PyObject *tensor = native_tensor_symbolic(self->graph, gradient.id);
    PyObject *rate = tensor == NULL ? NULL : native_tensor_symbolic(self->graph, learning_rate.id);
    PyObject *result =
        rate == NULL ? NULL : PyObject_CallFunction(self->function, "iOO", index, tensor, rate);
    Py_XDECREF(tensor);
    Py_XDECREF(rate);
    if (result == NULL)
        return err->code = LEAT_ABORTED;
    Py_DECREF(result);
    return LEAT_OK;
}

/* apply(graph, gradients, variables and those without gradients, slots, iterations, learning rate,
 * which do not decay, alone, update, others) */
static PyObject *part_apply(PyObject *self, PyObject *args) {
    PyObject *graph = NULL, *gradients = NULL, *variables = NULL, *slots = NULL, *rate = NULL;
    PyObject *iterations = NULL, *keeps = Py_None, *update = Py_None, *others = NULL;
    bool *flags = NULL;
    Py_ssize_t num_gradients = 0, num_variables = 0, num_slots = 0, num_others = 0;
    int alone = 0;
    leat_application application = {0};
    leat_error err = {0};
    if (!PyArg_ParseTuple(args, "OOOOOOOpOO", &graph, &gradients, &variables, &slots, &iterations,
                          &rate, &keeps, &alone, &update, &others) ||
        native_open_graph(graph) == NULL)
        return NULL;
    updater updates = {.graph = graph, .function = update};
    leat_value *values = native_values_in(graph, gradients, &num_gradients);
    leat_variable **all = values == NULL ? NULL : variables_of(variables, &num_variables);
    leat_variable **own = all == NULL ? NULL : variables_of(slots, &num_slots);
    leat_variable **beside = own == NULL ? NULL : variables_of(others, &num_others);
    application.iterations = beside == NULL ? NULL : native_variable_of(iterations);
    int status = application.iterations == NULL
                     ? -1
                     : native_value_in(graph, rate, &application.learning_rate);
    if (status == 0 &&
        (update == Py_None ? num_gradients != num_variables : num_gradients > num_variables)) {
        PyErr_SetString(PyExc_ValueError, "as many gradients as variables are needed");
        status = -1;
    }
    if (status == 0)
        status = flags_of(keeps, num_gradients, &flags);
    if (status == 0) {
        application.keeps = flags;
        application.alone = alone != 0;
        application.gradients = values;
        application.variables = all;
        application.count = (int)num_gradients;
        application.slots = own;
        application.num_slots = (int)num_slots;
        const leat_own_updates own_updates = {.update = call_updater,
                                              .data = &updates,
                                              .others = beside,
                                              .num_others = (int)num_others,
                                              .num_idle = (int)(num_variables - num_gradients)};
        leat_part_apply_own(part_of(self), &application, update == Py_None ? NULL : &own_updates);
        if (leat_graph_take_error(native_graph_of(graph), &err) != LEAT_OK) {
            if (PyErr_Occurred() == NULL)
                native_raise(&err);
            status = -1;
        }
    }
    PyMem_Free(values);
    PyMem_Free(all);
    PyMem_Free(own);
    PyMem_Free(beside);
    PyMem_Free(flags);
    return status == 0 ? Py_NewRef(Py_None) : NULL;
}

/* initialize(seed, shape): a float32 tensor */
static PyObject *part_initialize(PyObject *self, PyObject *args) {
    long long seed = 0;
    PyObject *dims = NULL;
    leat_shape shape;
    leat_tensor tensor = {0};
    leat_error err = {0};
    if (!PyArg_ParseTuple(args, "LO", &seed, &dims) || native_read_shape(dims, &shape) != 0)
        return NULL;
    leat_status status = LEAT_OK;
    Py_BEGIN_ALLOW_THREADS;
    status = leat_part_initialize(part_of(self), seed, shape, &tensor, &err);
    Py_END_ALLOW_THREADS;
    return status != LEAT_OK ? native_raise(&err) : native_tensor_new(&tensor);
}

static PyMethodDef part_methods[] = {
    {"states", part_states, METH_O, "states(shapes): JSON of the weights, states or slots."},
    {"slots", part_slots_of, METH_O, "slots(variable): JSON of what an optimizer keeps for it."},
    {"call", part_call, METH_VARARGS,
     "call(graph, inputs, weights, training) -> (output, updates)."},
    {"update", part_update, METH_VARARGS, "update(graph, values, states) -> new states."},
    {"result", part_result, METH_VARARGS, "result(graph, states) -> tensor."},
    {"apply", part_apply, METH_VARARGS,
     "apply(graph, gradients, variables, slots, iterations, learning_rate, keeps, alone, update, "
     "others)."},
    {"initialize", part_initialize, METH_VARARGS, "initialize(seed, shape) -> tensor."},
    {0},
};

static PyType_Slot part_slots[] = {
    {Py_tp_doc, "Part(sort, name, config): a line of the tables of training."},
    {Py_tp_new, (void *)part_new},
    {Py_tp_dealloc, (void *)part_dealloc},
    {Py_tp_methods, part_methods},
    {0},
};

static PyType_Spec part_spec = {
    .name = "leat._native.Part",
    .basicsize = sizeof(native_part),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = part_slots,
};

int native_add_train(PyObject *module) {
    return native_add_type(module, &part_spec, &part_type);
}
