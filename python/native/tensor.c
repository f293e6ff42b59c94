/* TensorBase: a leat_tensor, a value of a graph, or both; the base of leat.Tensor.
 *
 * Values go out through the buffer protocol without a copy (read only unless the tensor is given
 * away, which keeps them alive) and come in by adopting somebody's buffer. Strings go out as bytes
 * objects. What is adopted is released under the GIL, but whoever drops the last reference may be a
 * thread without it and under a lock: releases are put on a list that the main thread works off
 * (native_release_later). */
#include "native.h"
#include <pthread.h>
#include <string.h>

static PyTypeObject *base_type;
PyTypeObject *native_tensor_class; /* what C makes: a subclass that Python sets, or the base */

/* ---- releases ---- */

typedef struct release {
    struct release *next;
    void (*function)(void *context);
    void *context;
} release;

pthread_mutex_t native_release_lock = PTHREAD_MUTEX_INITIALIZER;
static release *releases;

static int work_off(void *unused) {
    (void)unused;
    pthread_mutex_lock(&native_release_lock);
    release *list = releases;
    releases = NULL;
    pthread_mutex_unlock(&native_release_lock);
    while (list != NULL) {
        release *next = list->next;
        list->function(list->context);
        free(list);
        list = next;
    }
    return 0;
}

void native_release_later(void (*function)(void *context), void *context) {
    if (!native_is_running())
        return; /* the interpreter is going: so is its memory */
    release *node = malloc(sizeof(*node));
    if (node == NULL)
        return;
    *node = (release){.function = function, .context = context};
    pthread_mutex_lock(&native_release_lock);
    node->next = releases;
    releases = node;
    pthread_mutex_unlock(&native_release_lock);
    Py_AddPendingCall(work_off, NULL); /* where its queue is full, a later one works all off */
}

/* ---- making ---- */

static native_tensor *tensor_alloc(void) {
    return (native_tensor *)PyType_GenericAlloc(native_tensor_class, 0);
}

PyObject *native_tensor_new(leat_tensor *tensor) {
    native_tensor *self = tensor_alloc();
    if (self == NULL) {
        leat_tensor_unref(tensor);
        return NULL;
    }
    self->tensor = *tensor;
    self->has_values = true;
    return (PyObject *)self;
}

PyObject *native_tensor_symbolic(PyObject *graph, int32_t id) {
    native_tensor *self = tensor_alloc();
    if (self == NULL)
        return NULL;
    self->graph = Py_NewRef(graph);
    self->id = id;
    leat_value value = {.graph = native_graph_of(graph), .id = id};
    leat_error err = {0};
    if (native_graph_is_eager(graph)) {
        if (leat_value_tensor(value, &self->tensor, &err) != LEAT_OK) {
            Py_DECREF(self);
            return native_raise(&err);
        }
        self->has_values = true;
        if (self->tensor.dtype == LEAT_OBJECT)
            self->held = Py_XNewRef(native_graph_held(graph));
    }
    return (PyObject *)self;
}

bool native_is_tensor(PyObject *object) {
    return PyObject_TypeCheck(object, base_type);
}

const leat_tensor *native_tensor_of(PyObject *object) {
    const native_tensor *self = (const native_tensor *)object;
    if (!native_is_tensor(object) || !self->has_values) {
        PyErr_SetString(
            PyExc_TypeError,
            native_is_tensor(object)
                ? "this tensor has no value yet: it stands for one inside of a function "
                  "that is being traced"
                : "expected a tensor");
        return NULL;
    }
    return &self->tensor;
}

leat_tensor *native_tensors(PyObject *sequence, Py_ssize_t *count) {
    *count = PySequence_Size(sequence);
    leat_tensor *tensors = *count < 0 ? NULL : PyMem_Calloc((size_t)*count + 1, sizeof(*tensors));
    if (tensors == NULL)
        return *count < 0 ? NULL : (leat_tensor *)PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < *count; i++) {
        PyObject *item = PySequence_GetItem(sequence, i);
        const leat_tensor *tensor = item == NULL ? NULL : native_tensor_of(item);
        Py_XDECREF(item); /* the sequence keeps it */
        if (tensor == NULL) {
            PyMem_Free(tensors);
            return NULL;
        }
        tensors[i] = *tensor;
    }
    return tensors;
}

PyObject *native_tensor_list(leat_tensor *tensors, Py_ssize_t count) {
    PyObject *list = PyList_New(count);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = list == NULL ? NULL : native_tensor_new(&tensors[i]);
        if (list == NULL)
            leat_tensor_unref(&tensors[i]);
        else if (item == NULL || PyList_SetItem(list, i, item) != 0)
            Py_CLEAR(list);
    }
    return list;
}

/* ---- values in ---- */

static void release_buffer(void *context) {
    PyBuffer_Release(context);
    free(context);
}

static void buffer_deleter(void *context, void *data, size_t size) {
    (void)data;
    (void)size;
    native_release_later(release_buffer, context);
}

/* from_buffer(object, dtype number, shape): the object's contiguous memory as a tensor. */
static PyObject *from_buffer(PyObject *class, PyObject *args) {
    (void)class;
    PyObject *object = NULL, *dims = NULL;
    int dtype = 0;
    leat_tensor tensor = {0};
    leat_error err = {0};
    if (!PyArg_ParseTuple(args, "OiO!", &object, &dtype, &PyTuple_Type, &dims))
        return NULL;
    Py_buffer *buffer = calloc(1, sizeof(*buffer));
    if (buffer == NULL)
        return PyErr_NoMemory();
    if (PyObject_GetBuffer(object, buffer, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
        free(buffer);
        return NULL;
    }
    tensor.dtype = (leat_dtype)dtype;
    tensor.rank = (int32_t)PyTuple_Size(dims);
    if (tensor.rank > LEAT_MAX_RANK) {
        PyErr_Format(PyExc_ValueError, "an array of %d dimensions; a tensor has at most %d",
                     (int)tensor.rank, LEAT_MAX_RANK);
        release_buffer(buffer);
        return NULL;
    }
    for (int32_t d = 0; d < tensor.rank; d++)
        tensor.dims[d] = PyLong_AsLongLong(PyTuple_GetItem(dims, d));
    if (PyErr_Occurred() != NULL || (Py_ssize_t)leat_tensor_bytes(&tensor) != buffer->len) {
        if (PyErr_Occurred() == NULL) {
            PyErr_Format(PyExc_ValueError, "a buffer of %zd bytes; dtype and shape need %zu",
                         buffer->len, leat_tensor_bytes(&tensor));
        }
        release_buffer(buffer);
        return NULL;
    }
    tensor.data = buffer->buf;
    tensor.owner =
        leat_buffer_adopt(buffer->buf, (size_t)buffer->len, buffer_deleter, buffer, &err);
    return tensor.owner == NULL ? native_raise(&err) : native_tensor_new(&tensor);
}

/* The shape of a view with dimensions; ValueError where it has too many, or items of another size
 * than the dtype's. */
static int read_view(const Py_buffer *view, leat_dtype dtype, leat_shape *out) {
    if (view->ndim > LEAT_MAX_RANK || (size_t)view->itemsize != leat_dtype_size(dtype)) {
        PyErr_Format(PyExc_ValueError,
                     "an array of %d dimensions and %zd bytes an item; expected %d at most, and "
                     "%zu bytes",
                     view->ndim, view->itemsize, LEAT_MAX_RANK, leat_dtype_size(dtype));
        return -1;
    }
    out->rank = view->ndim;
    for (int d = 0; d < view->ndim; d++)
        out->dims[d] = view->shape[d];
    return 0;
}

/* copied(object, dtype number): a copy of an object's contiguous memory in its shape. */
static PyObject *copied(PyObject *class, PyObject *args) {
    (void)class;
    PyObject *object = NULL;
    int dtype = 0;
    Py_buffer view;
    leat_shape shape = {0};
    leat_tensor tensor = {0};
    leat_error err = {0};
    if (!PyArg_ParseTuple(args, "Oi", &object, &dtype) ||
        PyObject_GetBuffer(object, &view, PyBUF_C_CONTIGUOUS) != 0)
        return NULL;
    leat_status status = LEAT_OK;
    int good = read_view(&view, (leat_dtype)dtype, &shape);
    if (good == 0)
        status = leat_tensor_copy_of((leat_dtype)dtype, shape, view.buf, &tensor, &err);
    PyBuffer_Release(&view);
    return good != 0 ? NULL : status != LEAT_OK ? native_raise(&err) : native_tensor_new(&tensor);
}

/* scalar(value, dtype number): a Python or numpy number as a scalar. */
static PyObject *from_scalar(PyObject *class, PyObject *args) {
    (void)class;
    PyObject *value = NULL;
    int dtype = 0;
    if (!PyArg_ParseTuple(args, "Oi", &value, &dtype))
        return NULL;
    leat_tensor tensor = {0};
    double real = 0;
    long long whole = 0;
    switch (dtype) {
    case LEAT_FLOAT32:
    case LEAT_FLOAT64: real = PyFloat_AsDouble(value); break;
    case LEAT_BOOL: whole = PyObject_IsTrue(value); break;
    case LEAT_INT32:
    case LEAT_INT64: whole = PyLong_AsLongLong(value); break;
    default: PyErr_SetString(PyExc_TypeError, "no scalar of this dtype is made here");
    }
    if (PyErr_Occurred() != NULL)
        return NULL;
    if (dtype == LEAT_INT32 && (whole < INT32_MIN || whole > INT32_MAX)) {
        PyErr_SetString(PyExc_OverflowError, "the value does not fit into int32");
        return NULL;
    }
    switch (dtype) {
    case LEAT_FLOAT32: tensor = leat_scalar_float32((float)real); break;
    case LEAT_FLOAT64: tensor = leat_scalar_float64(real); break;
    case LEAT_BOOL: tensor = leat_scalar_bool(whole != 0); break;
    case LEAT_INT32: tensor = leat_scalar_int32((int32_t)whole); break;
    default: tensor = leat_scalar_int64(whole); break;
    }
    return tensor.dtype == LEAT_INVALID ? PyErr_NoMemory() : native_tensor_new(&tensor);
}

static int fill_strings(PyObject *list, leat_string *strings, Py_ssize_t count) {
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PyList_GetItem(list, i);
        char *data = NULL;
        Py_ssize_t size = 0;
        if (item == NULL || PyBytes_AsStringAndSize(item, &data, &size) != 0)
            return -1;
        strings[i] = (leat_string){.data = data, .size = (size_t)size};
    }
    return 0;
}

/* from_strings(list of bytes, shape): copies. */
static PyObject *from_strings(PyObject *class, PyObject *args) {
    (void)class;
    PyObject *list = NULL, *dims = NULL;
    leat_shape shape = {0};
    leat_tensor tensor = {0};
    leat_error err = {0};
    if (!PyArg_ParseTuple(args, "O!O!", &PyList_Type, &list, &PyTuple_Type, &dims))
        return NULL;
    Py_ssize_t count = PyList_Size(list);
    shape.rank = (int32_t)PyTuple_Size(dims);
    for (int32_t d = 0; d < shape.rank && d < LEAT_MAX_RANK; d++)
        shape.dims[d] = PyLong_AsLongLong(PyTuple_GetItem(dims, d));
    leat_string *strings = PyMem_Calloc((size_t)count + 1, sizeof(*strings));
    if (strings == NULL)
        return PyErr_NoMemory();
    leat_tensor view = leat_tensor_view(LEAT_STRING, shape, strings);
    if (PyErr_Occurred() != NULL || fill_strings(list, strings, count) != 0) {
        PyMem_Free(strings);
        return NULL;
    }
    if (shape.rank > LEAT_MAX_RANK || leat_tensor_count(&view) != count) {
        PyMem_Free(strings);
        return PyErr_Format(PyExc_ValueError, "%zd strings do not fill the shape", count);
    }
    leat_status status = leat_tensor_copy_of(LEAT_STRING, shape, strings, &tensor, &err);
    PyMem_Free(strings);
    return status != LEAT_OK ? native_raise(&err) : native_tensor_new(&tensor);
}

/* ---- values out ---- */

static const char *format_of(leat_dtype dtype) {
    switch (dtype) {
    case LEAT_BOOL: return "?";
    case LEAT_INT8: return "b";
    case LEAT_INT16: return "h";
    case LEAT_INT32: return "i";
    case LEAT_INT64: return sizeof(long) == 8 ? "l" : "q"; /* the name that numpy calls int64 */
    case LEAT_UINT8: return "B";
    case LEAT_UINT16: return "H";
    case LEAT_UINT32: return "I";
    case LEAT_UINT64: return sizeof(long) == 8 ? "L" : "Q";
    case LEAT_FLOAT16: return "e";
    case LEAT_BFLOAT16: return "H"; /* its bits: struct has no name for it */
    case LEAT_FLOAT32: return "f";
    case LEAT_FLOAT64: return "d";
    case LEAT_COMPLEX64: return "Zf";
    case LEAT_COMPLEX128: return "Zd";
    default: return NULL;
    }
}

static int get_buffer(PyObject *object, Py_buffer *view, int flags) {
    const leat_tensor *tensor = native_tensor_of(object);
    view->obj = NULL; /* until it is made */
    const char *format = tensor == NULL ? NULL : format_of(tensor->dtype);
    /* No format says bfloat16; numpy, refused, asks __array__ for it. Plain bytes are there. */
    bool unsayable =
        tensor != NULL && tensor->dtype == LEAT_BFLOAT16 && (flags & PyBUF_FORMAT) != 0;
    bool readonly = !((const native_tensor *)object)->is_given;
    if (tensor == NULL || format == NULL || unsayable ||
        (readonly && (flags & PyBUF_WRITABLE) != 0)) {
        PyErr_Format(PyExc_BufferError, "%s",
                     tensor == NULL   ? "the tensor has no value yet"
                     : format == NULL ? "strings have no buffer; use numpy()"
                     : unsayable      ? "bfloat16 has no buffer format; use numpy()"
                                      : "tensors are read only; copy with numpy().copy()");
        return -1;
    }
    Py_ssize_t *dims = PyMem_Malloc(2 * LEAT_MAX_RANK * sizeof(*dims));
    if (dims == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    size_t size = leat_dtype_size(tensor->dtype);
    Py_ssize_t stride = (Py_ssize_t)size;
    for (int32_t d = tensor->rank - 1; d >= 0; d--) {
        dims[d] = (Py_ssize_t)tensor->dims[d];
        dims[LEAT_MAX_RANK + d] = stride;
        stride *= dims[d];
    }
    *view = (Py_buffer){
        .buf = tensor->data,
        .obj = Py_NewRef(object),
        .len = (Py_ssize_t)leat_tensor_bytes(tensor),
        .itemsize = (Py_ssize_t)size,
        .readonly = readonly,
        .ndim = tensor->rank,
        .format = (char *)(uintptr_t)format,
        .shape = dims,
        .strides = dims + LEAT_MAX_RANK,
        .internal = dims,
    };
    return 0;
}

static void release_view(PyObject *object, Py_buffer *view) {
    (void)object;
    PyMem_Free(view->internal);
}

/* Value `index` as a Python object. */
static PyObject *value_of(const leat_tensor *tensor, int64_t index) {
    const char *at = (const char *)tensor->data + (size_t)index * leat_dtype_size(tensor->dtype);
    switch (tensor->dtype) {
    case LEAT_BOOL: return PyBool_FromLong(*(const bool *)at);
    case LEAT_INT8: return PyLong_FromLong(*(const int8_t *)at);
    case LEAT_INT16: return PyLong_FromLong(*(const int16_t *)(const void *)at);
    case LEAT_INT32: return PyLong_FromLong(*(const int32_t *)(const void *)at);
    case LEAT_INT64: return PyLong_FromLongLong(*(const int64_t *)(const void *)at);
    case LEAT_UINT8: return PyLong_FromLong(*(const uint8_t *)at);
    case LEAT_UINT16: return PyLong_FromLong(*(const uint16_t *)(const void *)at);
    case LEAT_UINT32: return PyLong_FromUnsignedLong(*(const uint32_t *)(const void *)at);
    case LEAT_UINT64: return PyLong_FromUnsignedLongLong(*(const uint64_t *)(const void *)at);
    case LEAT_FLOAT32: return PyFloat_FromDouble(*(const float *)(const void *)at);
    case LEAT_FLOAT64: return PyFloat_FromDouble(*(const double *)(const void *)at);
    case LEAT_COMPLEX64:
        return PyComplex_FromDoubles(((const float *)at)[0], ((const float *)at)[1]);
    case LEAT_COMPLEX128:
        return PyComplex_FromDoubles(((const double *)at)[0], ((const double *)at)[1]);
    case LEAT_STRING: {
        const leat_string *string = (const void *)at;
        return PyBytes_FromStringAndSize(string->data, (Py_ssize_t)string->size);
    }
    default:
        PyErr_Format(PyExc_TypeError, "%s has no Python value; use numpy()",
                     leat_dtype_name(tensor->dtype));
        return NULL;
    }
}

static PyObject *tensor_values(PyObject *self, PyObject *unused) {
    (void)unused;
    const leat_tensor *tensor = native_tensor_of(self);
    int64_t count = tensor == NULL ? 0 : leat_tensor_count(tensor);
    PyObject *list = tensor == NULL ? NULL : PyList_New((Py_ssize_t)count);
    for (int64_t i = 0; list != NULL && i < count; i++) {
        PyObject *value = value_of(tensor, i);
        if (value == NULL || PyList_SetItem(list, (Py_ssize_t)i, value) != 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *tensor_item(PyObject *self, PyObject *unused) {
    (void)unused;
    const leat_tensor *tensor = native_tensor_of(self);
    if (tensor != NULL && leat_tensor_count(tensor) != 1) {
        return PyErr_Format(PyExc_ValueError, "a tensor of %lld values is no scalar",
                            (long long)leat_tensor_count(tensor));
    }
    return tensor == NULL ? NULL : value_of(tensor, 0);
}

static PyObject *tensor_row(PyObject *self, PyObject *index) {
    const leat_tensor *tensor = native_tensor_of(self);
    long long i = PyLong_AsLongLong(index);
    leat_tensor row = {0};
    leat_error err = {0};
    if (tensor == NULL || (i == -1 && PyErr_Occurred() != NULL))
        return NULL;
    if (leat_tensor_row(tensor, i, &row, &err) != LEAT_OK)
        return native_raise(&err);
    PyObject *made = native_tensor_new(&row);
    if (made != NULL)
        ((native_tensor *)made)->held = Py_XNewRef(((native_tensor *)self)->held);
    return made;
}

/* The dataset that a scalar of dtype object holds. */
static PyObject *tensor_dataset(PyObject *self, PyObject *unused) {
    (void)unused;
    const leat_tensor *tensor = native_tensor_of(self);
    if (tensor == NULL)
        return NULL;
    if (tensor->dtype != LEAT_OBJECT || tensor->rank != 0) {
        PyErr_SetString(PyExc_TypeError, "this tensor holds no dataset");
        return NULL;
    }
    leat_dataset *dataset = *(leat_dataset *const *)tensor->data;
    return native_dataset_new(leat_dataset_ref(dataset), ((native_tensor *)self)->held, NULL);
}

/* ---- the type ---- */

static PyObject *get_dtype(PyObject *object, void *unused) {
    (void)unused;
    const native_tensor *self = (const native_tensor *)object;
    if (self->has_values)
        return PyLong_FromLong(self->tensor.dtype);
    leat_value value = {.graph = native_graph_of(self->graph), .id = self->id};
    return PyLong_FromLong(leat_value_dtype(value));
}

static PyObject *get_shape(PyObject *object, void *unused) {
    (void)unused;
    const native_tensor *self = (const native_tensor *)object;
    leat_shape shape = {0};
    if (self->has_values) {
        shape = leat_tensor_shape(&self->tensor);
    } else {
        leat_value value = {.graph = native_graph_of(self->graph), .id = self->id};
        shape = leat_value_shape(value);
    }
    return native_shape(&shape);
}

static PyObject *get_has_values(PyObject *object, void *unused) {
    (void)unused;
    return PyBool_FromLong(((const native_tensor *)object)->has_values);
}

static PyObject *get_graph(PyObject *object, void *unused) {
    (void)unused;
    PyObject *graph = ((const native_tensor *)object)->graph;
    return Py_NewRef(graph != NULL ? graph : Py_None);
}

static PyObject *get_id(PyObject *object, void *unused) {
    (void)unused;
    return PyLong_FromLong(((const native_tensor *)object)->id);
}

static void tensor_dealloc(PyObject *object) {
    native_tensor *self = (native_tensor *)object;
    if (self->weakrefs != NULL)
        PyObject_ClearWeakRefs(object);
    leat_tensor_unref(&self->tensor);
    Py_CLEAR(self->graph);
    Py_CLEAR(self->origin);
    Py_CLEAR(self->held);
    native_free(object);
}

static PyObject *set_class(PyObject *class, PyObject *subclass) {
    (void)class;
    if (!PyType_Check(subclass) || !PyType_IsSubtype((PyTypeObject *)subclass, base_type)) {
        PyErr_SetString(PyExc_TypeError, "expected a subclass of TensorBase");
        return NULL;
    }
    native_tensor_class = (PyTypeObject *)Py_NewRef(subclass);
    Py_RETURN_NONE;
}

/* _become(tensor): is from now on that value of its graph. */
static PyObject *tensor_become(PyObject *object, PyObject *other) {
    native_tensor *self = (native_tensor *)object;
    if (!native_is_tensor(other) || self->has_values ||
        ((native_tensor *)other)->graph != self->graph) {
        PyErr_SetString(PyExc_TypeError, "expected a value of the same graph");
        return NULL;
    }
    self->id = ((native_tensor *)other)->id;
    Py_RETURN_NONE;
}

/* The same memory as numbers of 16 bits, for what numpy has no type of its own for. */
static PyObject *tensor_bits(PyObject *self, PyObject *unused) {
    (void)unused;
    const leat_tensor *tensor = native_tensor_of(self);
    if (tensor == NULL)
        return NULL;
    leat_tensor bits = leat_tensor_ref(tensor);
    bits.dtype = LEAT_UINT16;
    return native_tensor_new(&bits);
}

static PyMethodDef tensor_methods[] = {
    {"from_buffer", from_buffer, METH_VARARGS | METH_STATIC,
     "from_buffer(object, dtype, shape): adopts contiguous memory."},
    {"copied", copied, METH_VARARGS | METH_STATIC,
     "copied(object, dtype): a copy of contiguous memory in its shape."},
    {"from_strings", from_strings, METH_VARARGS | METH_STATIC,
     "from_strings(list of bytes, shape): copies."},
    {"scalar", from_scalar, METH_VARARGS | METH_STATIC,
     "scalar(value, dtype): a number as a scalar tensor."},
    {"set_class", set_class, METH_O | METH_STATIC, "The class of the tensors that C makes."},
    {"_values", tensor_values, METH_NOARGS, "All values in row-major order as Python objects."},
    {"_item", tensor_item, METH_NOARGS, "The one value as a Python object."},
    {"_bits", tensor_bits, METH_NOARGS, "A tensor of 16-bit numbers as uint16, a view."},
    {"_row", tensor_row, METH_O, "Row i along axis 0, a view."},
    {"_become", tensor_become, METH_O, "Is from now on that value of its graph."},
    {"_dataset", tensor_dataset, METH_NOARGS, "The dataset that this scalar object is."},
    {0},
};

static PyGetSetDef tensor_getset[] = {
    {"_dtype", get_dtype, NULL, "Number of the dtype.", NULL},
    {"_shape", get_shape, NULL, "Dimensions (None: unknown), or None.", NULL},
    {"_has_values", get_has_values, NULL, "Are the values known now?", NULL},
    {"_graph", get_graph, NULL, "The graph that it is a value of, or None.", NULL},
    {"_id", get_id, NULL, "Its number in the graph.", NULL},
    {0},
};

static PyMemberDef tensor_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(native_tensor, weakrefs), READONLY, NULL},
    {"_origin", T_OBJECT, offsetof(native_tensor, origin), 0,
     "The variable and the part of it, or None."},
    {0},
};

static PyType_Slot tensor_slots[] = {
    {Py_tp_doc, "A tensor of leat, without operators."},
    {Py_tp_dealloc, (void *)tensor_dealloc},
    {Py_tp_methods, tensor_methods},
    {Py_tp_getset, tensor_getset},
    {Py_tp_members, tensor_members},
    {Py_bf_getbuffer, (void *)get_buffer},
    {Py_bf_releasebuffer, (void *)release_view},
    {0},
};

static PyType_Spec tensor_spec = {
    .name = "leat._native.TensorBase",
    .basicsize = sizeof(native_tensor),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = tensor_slots,
};

int native_add_tensor(PyObject *module) {
    int status = native_add_type(module, &tensor_spec, &base_type);
    native_tensor_class = base_type;
    return status;
}
