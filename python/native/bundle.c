/* BundleReader and BundleWriter: leat_bundle and leat_bundle_writer, checkpoints in TensorFlow's
 * format.
 *
 * Either belongs to one thread at a time: a call that meets another one in progress raises
 * ValueError. The files of tensors are written by Python, which decides when which file appears. */
#include "native.h"
#include <string.h>

typedef struct native_bundle {
    PyObject_HEAD leat_bundle *bundle;
    bool busy; /* a call is running without the GIL */
} native_bundle;

typedef struct native_bundle_writer {
    PyObject_HEAD leat_bundle_writer *writer;
    bool busy;
} native_bundle_writer;

static PyTypeObject *bundle_type, *writer_type;

/* Marks an object as used; -1 with ValueError where it is. */
static int take(bool *busy) {
    if (*busy) {
        PyErr_SetString(PyExc_ValueError, "another thread is in a call of this checkpoint; put a "
                                          "lock around it");
        return -1;
    }
    *busy = true;
    return 0;
}

/* ---- reading ---- */

/* open(prefix) */
static PyObject *bundle_open(PyObject *class, PyObject *args) {
    (void)class;
    PyObject *prefix = NULL;
    leat_error err = {0};
    leat_bundle *bundle = NULL;
    if (!PyArg_ParseTuple(args, "O&", native_path, &prefix))
        return NULL;
    const char *path = native_chars(prefix);
    Py_BEGIN_ALLOW_THREADS;
    bundle = leat_bundle_open(path, &err);
    Py_END_ALLOW_THREADS;
    Py_DECREF(prefix);
    if (bundle == NULL)
        return native_raise(&err);
    native_bundle *self = (native_bundle *)PyType_GenericAlloc(bundle_type, 0);
    if (self == NULL) {
        leat_bundle_free(bundle);
        return NULL;
    }
    self->bundle = bundle;
    return (PyObject *)self;
}

/* (name, dtype's number, shape, is_sliced, file's number, its end there) of one tensor. */
static PyObject *describe(const leat_bundle_entry *entry) {
    PyObject *shape = native_shape(&entry->shape);
    /* Names come out of a file, which may hold anything. */
    PyObject *name =
        PyUnicode_DecodeUTF8(entry->name, (Py_ssize_t)strlen(entry->name), "surrogateescape");
    if (shape != NULL && name != NULL)
        return Py_BuildValue("(NiNOiL)", name, entry->dtype_number, shape,
                             entry->is_sliced ? Py_True : Py_False, entry->shard,
                             (long long)(entry->offset + entry->bytes));
    Py_XDECREF(shape);
    Py_XDECREF(name);
    return NULL;
}

static PyObject *bundle_entries(PyObject *object, PyObject *unused) {
    (void)unused;
    native_bundle *self = (native_bundle *)object;
    leat_error err = {0};
    leat_bundle_entry entry;
    int64_t count = leat_bundle_count(self->bundle);
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (int64_t i = 0; list != NULL && i < count; i++) {
        PyObject *item = leat_bundle_get(self->bundle, i, &entry, &err) == LEAT_OK
                             ? describe(&entry)
                             : native_raise(&err);
        if (item == NULL || PyList_SetItem(list, (Py_ssize_t)i, item) != 0) {
            Py_DECREF(list);
            return NULL;
        }
    }
    return list;
}

static PyObject *bundle_num_shards(PyObject *object, PyObject *unused) {
    (void)unused;
    return PyLong_FromLong(leat_bundle_num_shards(((native_bundle *)object)->bundle));
}

static PyObject *bundle_read(PyObject *object, PyObject *number) {
    native_bundle *self = (native_bundle *)object;
    leat_error err = {0};
    leat_tensor tensor = {0};
    leat_status status = LEAT_OK;
    long long index = PyLong_AsLongLong(number);
    if ((index == -1 && PyErr_Occurred() != NULL) || take(&self->busy) != 0)
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = leat_bundle_read(self->bundle, index, &tensor, &err);
    Py_END_ALLOW_THREADS;
    self->busy = false;
    return status == LEAT_OK ? native_tensor_new(&tensor) : native_raise(&err);
}

static void bundle_dealloc(PyObject *object) {
    leat_bundle_free(((native_bundle *)object)->bundle);
    native_free(object);
}

static PyMethodDef bundle_methods[] = {
    {"open", bundle_open, METH_VARARGS | METH_STATIC, "open(prefix) -> BundleReader."},
    {"entries", bundle_entries, METH_NOARGS,
     "[(name, number of the dtype, shape, lies in parts, number of the file, its end there)]."},
    {"num_shards", bundle_num_shards, METH_NOARGS, "How many files the index speaks of."},
    {"read", bundle_read, METH_O, "read(number of the entry) -> tensor."},
    {0},
};

static PyType_Slot bundle_slots[] = {
    {Py_tp_doc, "A checkpoint that is being read."},
    {Py_tp_dealloc, (void *)bundle_dealloc},
    {Py_tp_methods, bundle_methods},
    {0},
};

static PyType_Spec bundle_spec = {
    .name = "leat._native.BundleReader",
    .basicsize = sizeof(native_bundle),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = bundle_slots,
};

/* ---- writing ---- */

/* open(shard, num_shards) */
static PyObject *writer_open(PyObject *class, PyObject *args) {
    (void)class;
    int shard = 0, num_shards = 0;
    leat_error err = {0};
    if (!PyArg_ParseTuple(args, "ii", &shard, &num_shards))
        return NULL;
    leat_bundle_writer *writer = leat_bundle_writer_new(shard, num_shards, &err);
    if (writer == NULL)
        return native_raise(&err);
    native_bundle_writer *self = (native_bundle_writer *)PyType_GenericAlloc(writer_type, 0);
    if (self == NULL) {
        leat_bundle_writer_free(writer);
        return NULL;
    }
    self->writer = writer;
    return (PyObject *)self;
}

/* The buffer (given) as bytes. */
static PyObject *bytes_of(leat_buffer *buffer) {
    PyObject *bytes =
        PyBytes_FromStringAndSize(leat_buffer_data(buffer), (Py_ssize_t)leat_buffer_size(buffer));
    leat_buffer_unref(buffer);
    return bytes;
}

/* add(name, tensor) */
static PyObject *writer_add(PyObject *object, PyObject *args) {
    native_bundle_writer *self = (native_bundle_writer *)object;
    const char *name = NULL;
    PyObject *given = NULL;
    leat_error err = {0};
    leat_buffer *bytes = NULL;
    leat_status status = LEAT_OK;
    if (!PyArg_ParseTuple(args, "O&O", native_name, &name, &given))
        return NULL;
    const leat_tensor *tensor = native_tensor_of(given);
    if (tensor == NULL || take(&self->busy) != 0)
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = leat_bundle_writer_add(self->writer, name, tensor, &bytes, &err);
    Py_END_ALLOW_THREADS;
    self->busy = false;
    if (status != LEAT_OK)
        return native_raise(&err);
    return bytes != NULL ? bytes_of(bytes) : Py_NewRef(Py_None);
}

static PyObject *writer_index(PyObject *object, PyObject *unused) {
    (void)unused;
    native_bundle_writer *self = (native_bundle_writer *)object;
    leat_error err = {0};
    if (take(&self->busy) != 0)
        return NULL;
    leat_buffer *index = leat_bundle_writer_index(self->writer, &err);
    self->busy = false;
    return index != NULL ? bytes_of(index) : native_raise(&err);
}

static void writer_dealloc(PyObject *object) {
    leat_bundle_writer_free(((native_bundle_writer *)object)->writer);
    native_free(object);
}

static PyMethodDef writer_methods[] = {
    {"open", writer_open, METH_VARARGS | METH_STATIC, "open(shard, num_shards) -> BundleWriter."},
    {"add", writer_add, METH_VARARGS,
     "add(name, tensor): the bytes that are to be written; None: the tensor's own."},
    {"index", writer_index, METH_NOARGS, "The bytes of the index."},
    {0},
};

static PyType_Slot writer_slots[] = {
    {Py_tp_doc, "The index of a checkpoint that is being made."},
    {Py_tp_dealloc, (void *)writer_dealloc},
    {Py_tp_methods, writer_methods},
    {0},
};

static PyType_Spec writer_spec = {
    .name = "leat._native.BundleWriter",
    .basicsize = sizeof(native_bundle_writer),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = writer_slots,
};

int native_add_bundle(PyObject *module) {
    return native_add_type(module, &bundle_spec, &bundle_type) != 0 ||
                   native_add_type(module, &writer_spec, &writer_type) != 0
               ? -1
               : 0;
}
