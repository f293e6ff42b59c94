/* RecordWriter: a leat_tfrecord_writer; and what the process's devices are asked for.
 *
 * A writer belongs to one thread at a time: a call that meets another one in progress raises
 * ValueError. The file is finished by close; a writer that is dropped unclosed is closed too, as in
 * TensorFlow, and what fails then is reported as unraisable. */
#include "native.h"

typedef struct native_writer {
    PyObject_HEAD leat_tfrecord_writer *writer; /* NULL after close or discard */
    bool busy;                                  /* a call is running without the GIL */
} native_writer;

static PyTypeObject *writer_type;

/* open(path, compression, level, in_place) */
static PyObject *writer_open(PyObject *class, PyObject *args) {
    (void)class;
    const char *path = NULL, *compression = NULL;
    int level = 0, in_place = 0;
    leat_tfrecord_writer_options options = {LEAT_TFRECORD_WRITER_DEFAULTS};
    leat_error err = {0};
    leat_tfrecord_writer *writer = NULL;
    if (!PyArg_ParseTuple(args, "ssip", &path, &compression, &level, &in_place))
        return NULL;
    if (leat_compression_from_name(compression, &options.compression, &err) != LEAT_OK)
        return native_raise(&err);
    options.level = level == 0 ? LEAT_UNSET : level;
    options.in_place = in_place != 0;
    Py_BEGIN_ALLOW_THREADS;
    writer = leat_tfrecord_writer_open(path, &options, &err);
    Py_END_ALLOW_THREADS;
    if (writer == NULL)
        return native_raise(&err);
    native_writer *self = (native_writer *)PyType_GenericAlloc(writer_type, 0);
    if (self == NULL) {
        leat_tfrecord_writer_discard(writer);
        return NULL;
    }
    self->writer = writer;
    return (PyObject *)self;
}

static leat_tfrecord_writer *usable(native_writer *self) {
    if (self->writer == NULL) {
        PyErr_SetString(PyExc_ValueError, "the writer is closed; open a new one");
        return NULL;
    }
    if (self->busy) {
        PyErr_SetString(PyExc_ValueError,
                        "another thread is in a call of this writer; put a lock around it");
        return NULL;
    }
    return self->writer;
}

static PyObject *writer_write(PyObject *object, PyObject *record) {
    native_writer *self = (native_writer *)object;
    leat_tfrecord_writer *writer = usable(self);
    leat_error err = {0};
    leat_status status = LEAT_OK;
    char *data = NULL;
    Py_ssize_t size = 0;
    if (writer == NULL || PyBytes_AsStringAndSize(record, &data, &size) != 0)
        return NULL;
    self->busy = true;
    Py_BEGIN_ALLOW_THREADS;
    status = leat_tfrecord_writer_write(writer, data, (size_t)size, &err);
    Py_END_ALLOW_THREADS;
    self->busy = false;
    if (status != LEAT_OK)
        return native_raise(&err);
    Py_RETURN_NONE;
}

static PyObject *finish(native_writer *self) {
    leat_tfrecord_writer *writer = self->writer;
    leat_error err = {0};
    leat_status status = LEAT_OK;
    self->writer = NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = leat_tfrecord_writer_close(writer, &err);
    Py_END_ALLOW_THREADS;
    if (status != LEAT_OK)
        return native_raise(&err);
    Py_RETURN_NONE;
}

/* close(): nothing where it is closed. */
static PyObject *writer_close(PyObject *object, PyObject *unused) {
    (void)unused;
    native_writer *self = (native_writer *)object;
    if (self->writer == NULL)
        Py_RETURN_NONE;
    return usable(self) == NULL ? NULL : finish(self);
}

static PyObject *writer_discard(PyObject *object, PyObject *unused) {
    (void)unused;
    native_writer *self = (native_writer *)object;
    if (self->writer == NULL)
        Py_RETURN_NONE;
    if (usable(self) == NULL)
        return NULL;
    leat_tfrecord_writer_discard(self->writer);
    self->writer = NULL;
    Py_RETURN_NONE;
}

static void writer_dealloc(PyObject *object) {
    native_writer *self = (native_writer *)object;
    PyTypeObject *type = Py_TYPE(object);
    PyObject *kind = NULL, *value = NULL, *traceback = NULL;
    PyErr_Fetch(&kind, &value, &traceback);
    PyObject *result = self->writer == NULL ? Py_NewRef(Py_None) : finish(self);
    if (result == NULL)
        PyErr_WriteUnraisable((PyObject *)type);
    Py_XDECREF(result);
    PyErr_Restore(kind, value, traceback);
    native_free(object);
}

static PyMethodDef writer_methods[] = {
    {"open", writer_open, METH_VARARGS | METH_STATIC,
     "open(path, compression, level, in_place) -> RecordWriter."},
    {"write", writer_write, METH_O, "write(bytes): one record."},
    {"close", writer_close, METH_NOARGS, "Finishes the file."},
    {"discard", writer_discard, METH_NOARGS, "Gives the file up."},
    {0},
};

static PyType_Slot writer_slots[] = {
    {Py_tp_doc, "A TFRecord file that is being written."},
    {Py_tp_dealloc, (void *)writer_dealloc},
    {Py_tp_methods, writer_methods},
    {0},
};

static PyType_Spec spec = {
    .name = "leat._native.RecordWriter",
    .basicsize = sizeof(native_writer),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = writer_slots,
};

/* ---- devices ---- */

static PyObject *num_logical_devices(PyObject *module, PyObject *kind) {
    (void)module;
    const char *text = PyUnicode_AsUTF8AndSize(kind, NULL);
    return text == NULL ? NULL : PyLong_FromLong(leat_device_num_logical(text));
}

static PyObject *set_logical_cpus(PyObject *module, PyObject *count) {
    (void)module;
    leat_error err = {0};
    long number = PyLong_AsLong(count);
    if (number == -1 && PyErr_Occurred() != NULL)
        return NULL;
    int whole = number > INT32_MAX ? INT32_MAX : number < 0 ? -1 : (int)number;
    if (leat_device_set_logical_cpus(whole, &err) != LEAT_OK)
        return native_raise(&err);
    Py_RETURN_NONE;
}

static PyObject *set_decode_limits(PyObject *module, PyObject *args) {
    (void)module;
    leat_error err = {0};
    long long pixels = 0, bytes = 0;
    if (!PyArg_ParseTuple(args, "LL", &pixels, &bytes))
        return NULL;
    if (leat_limits_set_decoding(pixels, bytes, &err) != LEAT_OK)
        return native_raise(&err);
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"num_logical_devices", num_logical_devices, METH_O, "How many devices of a kind there are."},
    {"set_logical_cpus", set_logical_cpus, METH_O, "Splits the cores into logical devices."},
    {"set_decode_limits", set_decode_limits, METH_VARARGS, "How far data may unfold."},
    {0},
};

int native_add_records(PyObject *module) {
    return PyModule_AddFunctions(module, functions) != 0 ||
                   native_add_type(module, &spec, &writer_type) != 0
               ? -1
               : 0;
}
