/* Function: a finished graph, which may call back into Python: the callback takes the GIL, gets a
 * list of tensors and returns one. */
#include "native.h"
#include <string.h>

typedef struct native_function {
    PyObject_HEAD leat_function *function;
    PyObject *held; /* what it calls, and what its datasets have (held.c); NULL: nothing */
} native_function;

PyTypeObject *native_function_type;

PyObject *native_function_new(leat_function *function, PyObject *held, const leat_error *err) {
    if (function == NULL)
        return native_raise(err);
    native_function *self = (native_function *)PyType_GenericAlloc(native_function_type, 0);
    if (self == NULL) {
        leat_function_unref(function);
        return NULL;
    }
    self->function = function;
    self->held = Py_XNewRef(held);
    return (PyObject *)self;
}

leat_function *native_function_of(PyObject *object) {
    if (!PyObject_TypeCheck(object, native_function_type)) {
        PyErr_SetString(PyExc_TypeError, "expected a native function");
        return NULL;
    }
    return ((native_function *)object)->function;
}

PyObject *native_function_held(PyObject *function) {
    return ((native_function *)function)->held;
}

static int function_traverse(PyObject *object, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((native_function *)object)->held);
    return 0;
}

static void function_dealloc(PyObject *object) {
    native_function *self = (native_function *)object;
    PyObject_GC_UnTrack(object);
    leat_function_unref(self->function);
    Py_CLEAR(self->held);
    native_free(object);
}

/* The spec of a callback's result: the one it promised, or that of what it returned (owned: *made).
 */
static const leat_spec *output_spec(native_callback *callback, const leat_tensor *tensors,
                                    Py_ssize_t count, leat_spec **made, leat_error *err) {
    const leat_spec *spec = native_callback_output(callback);
    if (spec != NULL)
        return spec;
    leat_spec **parts = PyMem_Calloc((size_t)count + 1, sizeof(leat_spec *));
    if (parts == NULL) {
        (void)leat_error_set(err, LEAT_RESOURCE_EXHAUSTED, "no memory");
        return NULL;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        leat_shape shape = {.rank = tensors[i].rank};
        memcpy(shape.dims, tensors[i].dims, sizeof(shape.dims));
        parts[i] = leat_spec_tensor(tensors[i].dtype, shape, err);
    }
    *made = leat_spec_tuple(parts, (int)count, err);
    PyMem_Free((void *)parts);
    return *made;
}

/* Calls `callable` with the element's tensors and sets `out` to what it returns, under the GIL. */
static leat_status call_python(native_callback *callback, PyObject *callable,
                               const leat_element *in, leat_element *out, leat_error *err) {
    leat_spec *made = NULL;
    PyObject *arguments = native_element_list(in), *result = NULL;
    if (arguments != NULL)
        result = PyObject_CallFunctionObjArgs(callable, arguments, NULL);
    Py_XDECREF(arguments);
    Py_ssize_t count = 0;
    leat_tensor *tensors = result == NULL ? NULL : native_tensors(result, &count);
    const leat_spec *spec =
        tensors == NULL ? NULL : output_spec(callback, tensors, count, &made, err);
    leat_status status = LEAT_OK;
    if (tensors == NULL || native_callback_keep_results(callback, tensors, count, result) != 0) {
        status = native_catch(err);
    } else if (spec == NULL) {
        status = err->code;
    } else if (count != leat_spec_num_components(spec)) {
        PyErr_Format(PyExc_ValueError, "the callback returned %zd tensors; expected %d", count,
                     leat_spec_num_components(spec));
        status = native_catch(err);
    } else {
        status = leat_element_set(out, spec, tensors, err);
    }
    leat_spec_unref(made);
    PyMem_Free(tensors);
    Py_XDECREF(result);
    return status;
}

static leat_status python_call(void *context, const leat_element *in, leat_element *out,
                               leat_error *err) {
    native_callback *callback = context;
    leat_error local = {0};
    if (!native_is_running())
        return leat_error_set(err, LEAT_CANCELLED, "Python is ending");
    PyGILState_STATE gil = native_enter_python();
    PyObject *callable = native_callback_callable(callback, &local);
    leat_status status =
        callable == NULL ? local.code : call_python(callback, callable, in, out, &local);
    Py_XDECREF(callable);
    native_leave_python(gil);
    if (status != LEAT_OK)
        *err = local;
    return status;
}

/* python(callable, input, output, pure): a function that calls back. */
static PyObject *function_python(PyObject *class, PyObject *args) {
    (void)class;
    PyObject *callable = NULL, *input_json = NULL, *output_json = NULL;
    int pure = 0;
    leat_spec *input = NULL, *output = NULL;
    leat_error err = {0};
    if (!PyArg_ParseTuple(args, "OOOp", &callable, &input_json, &output_json, &pure) ||
        native_spec(input_json, &input) != 0)
        return NULL;
    if (native_spec(output_json, &output) != 0) {
        leat_spec_unref(input);
        return NULL;
    }
    native_callback *callback = native_callback_new(callable, output);
    if (callback == NULL) {
        leat_spec_unref(input);
        leat_spec_unref(output);
        return NULL;
    }
    PyObject *held = native_held_new(callback), *made = NULL;
    leat_function *function =
        leat_function_from_callback(python_call, callback, native_callback_release, NULL,
                                    pure ? LEAT_PURE : 0, input, output, &err);
    if (held != NULL)
        made = native_function_new(function, held, &err);
    else
        leat_function_unref(function);
    Py_XDECREF(held);
    return made;
}

/* register(name, callable): functions that are read from text call it by that name from now on; it
 * may return tensors of any types. For ever: who calls it is not known. */
static PyObject *function_register(PyObject *class, PyObject *args) {
    (void)class;
    const char *name = NULL;
    PyObject *callable = NULL;
    leat_error err = {0};
    if (!PyArg_ParseTuple(args, "sO", &name, &callable))
        return NULL;
    native_callback *callback = native_callback_new(callable, NULL);
    if (callback == NULL)
        return NULL;
    if (leat_callback_register(name, python_call, callback, 0, &err) == LEAT_OK)
        Py_RETURN_NONE;
    native_callback_release(callback);
    return native_raise(&err);
}

static void cancel_call(void *cancel) {
    leat_cancel_fire(cancel);
}

/* call(tensors): the outputs as a list of tensors. */
static PyObject *function_call(PyObject *self, PyObject *inputs) {
    leat_function *function = native_function_of(self);
    Py_ssize_t count = 0;
    leat_error err = {0};
    leat_tensor *tensors = native_tensors(inputs, &count);
    int made = leat_spec_num_components(leat_function_output(function));
    leat_tensor *outputs =
        tensors == NULL ? NULL : PyMem_Calloc((size_t)made + 1, sizeof(*outputs));
    if (outputs == NULL) {
        PyMem_Free(tensors);
        return tensors == NULL ? NULL : PyErr_NoMemory();
    }
    leat_status status = LEAT_RESOURCE_EXHAUSTED;
    leat_cancel *cancel = leat_cancel_new(&err);
    if (cancel != NULL) {
        native_wait_begin(cancel_call, cancel);
        Py_BEGIN_ALLOW_THREADS;
        status = leat_function_call_cancellable(function, tensors, (int)count, outputs, made,
                                                cancel, &err);
        Py_END_ALLOW_THREADS;
        native_wait_end();
        leat_cancel_free(cancel);
    }
    PyMem_Free(tensors);
    PyObject *list = NULL;
    if (status == LEAT_OK)
        list =
            native_pass_held(native_tensor_list(outputs, made), native_function_held(self), inputs);
    else if (status != LEAT_CANCELLED || PyErr_CheckSignals() == 0)
        list = native_raise(&err);
    PyMem_Free(outputs);
    return list;
}

static PyObject *function_at(PyObject *self, PyObject *args) {
    const char *file = NULL;
    int line = 0;
    if (!PyArg_ParseTuple(args, "si", &file, &line))
        return NULL;
    leat_function_at(native_function_of(self), file, line);
    return Py_NewRef(self);
}

/* from_json(text): the function that to_json wrote. */
static PyObject *function_from_json(PyObject *class, PyObject *text) {
    (void)class;
    leat_error err = {0};
    const char *json = PyUnicode_AsUTF8AndSize(text, NULL);
    return json == NULL ? NULL
                        : native_function_new(leat_function_from_json(json, &err), NULL, &err);
}

static PyObject *function_json(PyObject *self, PyObject *unused) {
    (void)unused;
    leat_error err = {0};
    return native_text(leat_function_to_json(native_function_of(self), &err), &err);
}

static PyObject *function_stablehlo(PyObject *self, PyObject *unused) {
    (void)unused;
    leat_error err = {0};
    return native_text(leat_function_to_stablehlo(native_function_of(self), &err), &err);
}

/* describe(variables): the JSON text with types, and variables by their places in the list. */
static PyObject *function_describe(PyObject *self, PyObject *list) {
    leat_error err = {0};
    Py_ssize_t count = PySequence_Size(list);
    if (count < 0)
        return NULL;
    leat_variable **variables = PyMem_Calloc((size_t)count + 1, sizeof(*variables));
    if (variables == NULL)
        return PyErr_NoMemory();
    PyObject *text = NULL;
    Py_ssize_t known = 0;
    for (; known < count; known++) {
        PyObject *item = PySequence_GetItem(list, known);
        variables[known] = item == NULL ? NULL : native_variable_of(item);
        Py_XDECREF(item); /* the list keeps it */
        if (variables[known] == NULL)
            break;
    }
    if (known == count)
        text = native_text(
            leat_function_describe(native_function_of(self), variables, (int)count, &err), &err);
    PyMem_Free(variables);
    return text;
}

static PyObject *function_graph_def(PyObject *self, PyObject *unused) {
    (void)unused;
    leat_error err = {0};
    leat_buffer *buffer = leat_function_to_graph_def(native_function_of(self), &err);
    if (buffer == NULL)
        return native_raise(&err);
    PyObject *bytes =
        PyBytes_FromStringAndSize(leat_buffer_data(buffer), (Py_ssize_t)leat_buffer_size(buffer));
    leat_buffer_unref(buffer);
    return bytes;
}

static PyObject *function_input(PyObject *self, PyObject *unused) {
    (void)unused;
    return native_spec_json(leat_function_input(native_function_of(self)));
}

static PyObject *function_output(PyObject *self, PyObject *unused) {
    (void)unused;
    return native_spec_json(leat_function_output(native_function_of(self)));
}

static PyMethodDef function_methods[] = {
    {"python", function_python, METH_VARARGS | METH_STATIC,
     "python(callable, input, output, pure): a function that calls back."},
    {"register", function_register, METH_VARARGS | METH_STATIC,
     "register(name, callable): what functions that are read from text call by that name."},
    {"call", function_call, METH_O, "call(tensors) -> list of tensors."},
    {"at", function_at, METH_VARARGS, "at(file, line): where the user wrote it."},
    {"from_json", function_from_json, METH_O | METH_STATIC, "The function that to_json wrote."},
    {"to_stablehlo", function_stablehlo, METH_NOARGS, "The function as a StableHLO module's text."},
    {"to_json", function_json, METH_NOARGS, "The function as JSON text."},
    {"describe", function_describe, METH_O,
     "describe(variables): that text with types, and variables by their places."},
    {"to_graph_def", function_graph_def, METH_NOARGS, "The function as a GraphDef's bytes."},
    {"input", function_input, METH_NOARGS, "JSON of the arguments' spec."},
    {"output", function_output, METH_NOARGS, "JSON of the result's spec."},
    {0},
};

static PyType_Slot function_slots[] = {
    {Py_tp_doc, "A function of leat: a finished graph, or a callback."},
    {Py_tp_dealloc, (void *)function_dealloc},
    {Py_tp_traverse, (void *)function_traverse},
    {Py_tp_methods, function_methods},
    {0},
};

static PyType_Spec function_spec = {
    .name = "leat._native.Function",
    .basicsize = sizeof(native_function),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = function_slots,
};

int native_add_function(PyObject *module) {
    return native_add_type(module, &function_spec, &native_function_type);
}
