/* Variable: a leat_variable; graph.c reads and assigns it inside of graphs.
 *
 * Made, read and assigned without the GIL. */
#include "native.h"

typedef struct native_variable {
    PyObject_HEAD leat_variable *variable;
} native_variable;

static PyTypeObject *variable_type;

leat_variable *native_variable_of(PyObject *object) {
    if (!PyObject_TypeCheck(object, variable_type)) {
        PyErr_SetString(PyExc_TypeError, "expected a native variable");
        return NULL;
    }
    return ((native_variable *)object)->variable;
}

/* Variable(tensor, name=None, trainable=True, sync_on_read=False, aggregation=0, like=None,
 * shape=...): `like` is a variable beside whose copies its own lie, whatever scope is open;
 * `shape`, what every value has to fit, None: anything; without it that of the tensor. */
static PyObject *variable_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static const char *const names[] = {"initial",     "name", "trainable", "sync_on_read",
                                        "aggregation", "like", "shape",     NULL};
    PyObject *initial = NULL, *like = Py_None, *dims = NULL;
    leat_shape shape;
    const char *name = NULL;
    int trainable = 1, sync_on_read = 0, aggregation = 0;
    leat_error err = {0};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O&ppiOO", (char **)(uintptr_t)names, &initial,
                                     native_name_or_none, &name, &trainable, &sync_on_read,
                                     &aggregation, &like, &dims) ||
        (dims != NULL && native_read_shape(dims, &shape) != 0))
        return NULL;
    const leat_tensor *tensor = native_tensor_of(initial);
    if (tensor == NULL)
        return NULL;
    leat_variable_options options = {LEAT_VARIABLE_DEFAULTS, .name = name,
                                     .sync_on_read = sync_on_read != 0,
                                     .aggregation = (leat_aggregation)aggregation};
    options.trainable = trainable != 0;
    leat_variable *beside = like == Py_None ? NULL : native_variable_of(like);
    if (beside == NULL && like != Py_None)
        return NULL;
    leat_variable *variable = NULL;
    Py_BEGIN_ALLOW_THREADS; /* several workers exchange its value */
    if (beside != NULL)
        variable = leat_variable_like(beside, name, tensor, &err);
    else
        variable = dims == NULL ? leat_variable_new(tensor, &options, &err)
                                : leat_variable_new_of_shape(tensor, &shape, &options, &err);
    Py_END_ALLOW_THREADS;
    if (variable == NULL)
        return native_raise(&err);
    native_variable *self = (native_variable *)PyType_GenericAlloc(type, 0);
    if (self == NULL) {
        leat_variable_unref(variable);
        return NULL;
    }
    self->variable = variable;
    return (PyObject *)self;
}

static void variable_dealloc(PyObject *object) {
    leat_variable_unref(((native_variable *)object)->variable);
    native_free(object);
}

static PyObject *variable_read(PyObject *self, PyObject *unused) {
    (void)unused;
    leat_variable *variable = native_variable_of(self);
    leat_tensor value = {0};
    leat_error err = {0};
    leat_status status = LEAT_OK;
    Py_BEGIN_ALLOW_THREADS;
    status = leat_variable_read(variable, &value, &err);
    Py_END_ALLOW_THREADS;
    return status != LEAT_OK ? native_raise(&err) : native_tensor_new(&value);
}

static PyObject *variable_assign(PyObject *self, PyObject *value) {
    leat_variable *variable = native_variable_of(self);
    const leat_tensor *tensor = native_tensor_of(value);
    leat_error err = {0};
    leat_status status = LEAT_OK;
    if (tensor == NULL)
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = leat_variable_assign(variable, tensor, &err);
    Py_END_ALLOW_THREADS;
    if (status != LEAT_OK)
        return native_raise(&err);
    Py_RETURN_NONE;
}

/* assign_copy(replica, tensor) */
static PyObject *variable_assign_copy(PyObject *self, PyObject *args) {
    leat_variable *variable = native_variable_of(self);
    PyObject *value = NULL;
    int copy = 0;
    leat_error err = {0};
    if (!PyArg_ParseTuple(args, "iO", &copy, &value))
        return NULL;
    const leat_tensor *tensor = native_tensor_of(value);
    if (tensor == NULL)
        return NULL;
    if (leat_variable_assign_copy(variable, copy, tensor, &err) != LEAT_OK)
        return native_raise(&err);
    Py_RETURN_NONE;
}

static PyObject *variable_read_copy(PyObject *self, PyObject *number) {
    leat_variable *variable = native_variable_of(self);
    long copy = PyLong_AsLong(number);
    leat_tensor value = {0};
    leat_error err = {0};
    leat_status status = LEAT_OK;
    if (copy == -1 && PyErr_Occurred() != NULL)
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = leat_variable_read_copy(variable, (int)copy, &value, &err);
    Py_END_ALLOW_THREADS;
    return status != LEAT_OK ? native_raise(&err) : native_tensor_new(&value);
}

static PyObject *variable_num_copies(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyLong_FromLong(leat_variable_num_copies(native_variable_of(self)));
}

static PyMethodDef variable_methods[] = {
    {"read", variable_read, METH_NOARGS, "The value as a new tensor."},
    {"read_copy", variable_read_copy, METH_O, "read_copy(replica): the value there."},
    {"assign_copy", variable_assign_copy, METH_VARARGS,
     "assign_copy(replica, tensor): sets the value there."},
    {"num_copies", variable_num_copies, METH_NOARGS, "How many replicas have a copy."},
    {"assign", variable_assign, METH_O, "assign(tensor): sets the value on all replicas."},
    {0},
};

static PyType_Slot variable_slots[] = {
    {Py_tp_doc, "Variable(initial, name, trainable, sync_on_read, aggregation, like)"},
    {Py_tp_new, (void *)variable_new},
    {Py_tp_dealloc, (void *)variable_dealloc},
    {Py_tp_methods, variable_methods},
    {0},
};

static PyType_Spec variable_spec = {
    .name = "leat._native.Variable",
    .basicsize = sizeof(native_variable),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = variable_slots,
};

int native_add_variable(PyObject *module) {
    return native_add_type(module, &variable_spec, &variable_type);
}
