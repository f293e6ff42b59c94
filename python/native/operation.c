/* Operation: a leat_operation, computed of plain tensors without a graph.
 *
 * Its methods answer None where the general way must be gone: other arguments than plain tensors,
 * and whatever leat_operation_run leaves to a graph, failures included. */
#include "native.h"
#include <string.h>

/* Calls with more tensors or results go the general way. */
enum { MOST_INPUTS = 8, MOST_OUTPUTS = 8 };

/* Bytes of an elementwise operation's inputs up to which it is over before another thread could
 * make use of the GIL. */
#define BRIEF 4096

typedef struct native_operation {
    PyObject_HEAD leat_operation *operation;
} native_operation;

static PyTypeObject *operation_type;

static PyObject *operation_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static const char *const names[] = {"name", "attributes", NULL};
    const char *name = NULL, *attributes = NULL;
    leat_error err = {0};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "sz", (char **)(uintptr_t)names, &name,
                                     &attributes))
        return NULL;
    leat_operation *operation = leat_operation_new(name, attributes, &err);
    if (operation == NULL)
        return native_raise(&err);
    native_operation *self = (native_operation *)PyType_GenericAlloc(type, 0);
    if (self == NULL) {
        leat_operation_free(operation);
        return NULL;
    }
    self->operation = operation;
    return (PyObject *)self;
}

static void operation_dealloc(PyObject *object) {
    leat_operation_free(((native_operation *)object)->operation);
    native_free(object);
}

/* Is it a tensor of the very class that C makes, with values and in no graph? */
static bool is_plain(PyObject *object) {
    const native_tensor *self = (const native_tensor *)object;
    return Py_TYPE(object) == native_tensor_class && self->has_values && self->graph == NULL;
}

/* Computes; how many results there are, -1: the general way. */
static int run(PyObject *self, PyObject *const *arguments, Py_ssize_t count, leat_tensor *results) {
    const leat_operation *operation = ((native_operation *)self)->operation;
    leat_tensor inputs[MOST_INPUTS];
    size_t bytes = 0;
    if (count > MOST_INPUTS)
        return -1;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!is_plain(arguments[i]))
            return -1;
        inputs[i] = ((native_tensor *)arguments[i])->tensor;
        bytes += leat_tensor_bytes(&inputs[i]);
    }
    if (bytes <= BRIEF && leat_operation_is_brief(operation))
        return leat_operation_run(operation, inputs, (int)count, results, MOST_OUTPUTS);
    int made = -1;
    Py_BEGIN_ALLOW_THREADS;
    made = leat_operation_run(operation, inputs, (int)count, results, MOST_OUTPUTS);
    Py_END_ALLOW_THREADS;
    return made;
}

/* value(tensors...): the one result. */
static PyObject *operation_value(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
    leat_tensor results[MOST_OUTPUTS];
    int made = run(self, arguments, count, results);
    if (made == 1)
        return native_tensor_new(&results[0]);
    for (int i = 0; i < made; i++)
        leat_tensor_unref(&results[i]);
    return Py_NewRef(Py_None);
}

/* values(tensors...): the results as a list. */
static PyObject *operation_values(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
    leat_tensor results[MOST_OUTPUTS];
    int made = run(self, arguments, count, results);
    return made < 0 ? Py_NewRef(Py_None) : native_tensor_list(results, made);
}

/* key(tuple): what tells calls with plain tensors of other dtypes or shapes apart, as bytes; None
 * where one is no plain tensor, or a dataset. */
static PyObject *operation_key(PyObject *class, PyObject *arguments) {
    (void)class;
    Py_ssize_t count = PyTuple_Size(arguments), size = 0;
    char key[MOST_INPUTS * (2 + LEAT_MAX_RANK * sizeof(int64_t))];
    if (count < 0)
        return NULL;
    if (count > MOST_INPUTS)
        return Py_NewRef(Py_None);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PyTuple_GetItem(arguments, i);
        const leat_tensor *tensor = &((native_tensor *)item)->tensor;
        if (!is_plain(item) || tensor->dtype == LEAT_OBJECT)
            return Py_NewRef(Py_None);
        size_t bytes = (size_t)tensor->rank * sizeof(int64_t);
        key[size++] = (char)tensor->dtype;
        key[size++] = (char)tensor->rank;
        memcpy(key + size, tensor->dims, bytes);
        size += (Py_ssize_t)bytes;
    }
    return PyBytes_FromStringAndSize(key, size);
}

static PyMethodDef operation_methods[] = {
    {"value", (PyCFunction)(void (*)(void))operation_value, METH_FASTCALL,
     "value(*tensors): the one result; None: the general way must be gone."},
    {"values", (PyCFunction)(void (*)(void))operation_values, METH_FASTCALL,
     "values(*tensors): the results as a list; None: the general way must be gone."},
    {"key", operation_key, METH_O | METH_STATIC,
     "key(tuple): what tells calls with plain tensors apart, as bytes; None: not these."},
    {0},
};

static PyType_Slot operation_slots[] = {
    {Py_tp_doc, "Operation(name, attributes): one whose attributes are read."},
    {Py_tp_new, (void *)operation_new},
    {Py_tp_dealloc, (void *)operation_dealloc},
    {Py_tp_methods, operation_methods},
    {0},
};

static PyType_Spec operation_spec = {
    .name = "leat._native.Operation",
    .basicsize = sizeof(native_operation),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = operation_slots,
};

int native_add_operation(PyObject *module) {
    return native_add_type(module, &operation_spec, &operation_type);
}
