/* EventWriter: a leat_event_writer.
 *
 * A writer belongs to one thread at a time: a call that meets another one in progress raises
 * ValueError. One that is dropped unclosed is closed; what fails then is reported as unraisable. */
#include "native.h"

typedef struct native_events {
    PyObject_HEAD leat_event_writer *writer; /* NULL after close */
    bool busy;                               /* a call is running without the GIL */
} native_events;

static PyTypeObject *events_type;

/* open(folder, suffix, max_queue, flush_millis): None and -1 are the defaults */
static PyObject *events_open(PyObject *class, PyObject *args) {
    (void)class;
    PyObject *folder = NULL, *suffix = NULL;
    long long max_queue = 0, flush_millis = 0;
    leat_event_options options = {LEAT_EVENT_DEFAULTS};
    leat_error err = {0};
    leat_event_writer *writer = NULL;
    if (!PyArg_ParseTuple(args, "O&O&LL", native_path, &folder, native_path_or_none, &suffix,
                          &max_queue, &flush_millis))
        return NULL;
    if (suffix != NULL)
        options.suffix = native_chars(suffix);
    if (max_queue >= 0)
        options.max_queue = max_queue;
    if (flush_millis >= 0)
        options.flush_millis = flush_millis;
    const char *path = native_chars(folder);
    Py_BEGIN_ALLOW_THREADS;
    writer = leat_event_writer_open(path, &options, &err);
    Py_END_ALLOW_THREADS;
    Py_DECREF(folder);
    Py_XDECREF(suffix);
    if (writer == NULL)
        return native_raise(&err);
    native_events *self = (native_events *)PyType_GenericAlloc(events_type, 0);
    if (self == NULL) {
        (void)(leat_event_writer_close(writer, NULL) == LEAT_OK);
        return NULL;
    }
    self->writer = writer;
    return (PyObject *)self;
}

static leat_event_writer *usable(native_events *self) {
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

/* write(tag, step, metadata, tensor, buckets): a tensor, or with buckets >= 0 its histogram. */
static PyObject *events_write(PyObject *object, PyObject *args) {
    native_events *self = (native_events *)object;
    const char *tag = NULL;
    long long step = 0;
    leat_event_metadata metadata = {0};
    Py_ssize_t size = 0;
    PyObject *value = NULL;
    int buckets = -1;
    if (!PyArg_ParseTuple(args, "O&Ly#Oi", native_name, &tag, &step, &metadata.metadata.data, &size,
                          &value, &buckets))
        return NULL;
    metadata.metadata.size = (size_t)size;
    leat_event_writer *writer = usable(self);
    const leat_tensor *tensor = writer == NULL ? NULL : native_tensor_of(value);
    if (tensor == NULL)
        return NULL;
    leat_error err = {0};
    leat_status status = LEAT_OK;
    self->busy = true;
    Py_BEGIN_ALLOW_THREADS;
    status = buckets < 0
                 ? leat_event_tensor(writer, tag, step, tensor, &metadata, &err)
                 : leat_event_histogram(writer, tag, step, tensor, buckets, &metadata, &err);
    Py_END_ALLOW_THREADS;
    self->busy = false;
    if (status != LEAT_OK)
        return native_raise(&err);
    Py_RETURN_NONE;
}

/* message(step, bytes, is_graph): a serialised Summary or GraphDef. */
static PyObject *events_message(PyObject *object, PyObject *args) {
    native_events *self = (native_events *)object;
    long long step = 0;
    const char *data = NULL;
    Py_ssize_t size = 0;
    int is_graph = 0;
    if (!PyArg_ParseTuple(args, "Ly#p", &step, &data, &size, &is_graph))
        return NULL;
    leat_event_writer *writer = usable(self);
    if (writer == NULL)
        return NULL;
    leat_error err = {0};
    leat_status status = LEAT_OK;
    leat_string message = {data, (size_t)size};
    self->busy = true;
    Py_BEGIN_ALLOW_THREADS;
    status = is_graph ? leat_event_graph(writer, message, &err)
                      : leat_event_summary(writer, step, message, &err);
    Py_END_ALLOW_THREADS;
    self->busy = false;
    if (status != LEAT_OK)
        return native_raise(&err);
    Py_RETURN_NONE;
}

static PyObject *events_flush(PyObject *object, PyObject *unused) {
    (void)unused;
    native_events *self = (native_events *)object;
    leat_event_writer *writer = usable(self);
    if (writer == NULL)
        return NULL;
    leat_error err = {0};
    leat_status status = LEAT_OK;
    self->busy = true;
    Py_BEGIN_ALLOW_THREADS;
    status = leat_event_writer_flush(writer, &err);
    Py_END_ALLOW_THREADS;
    self->busy = false;
    if (status != LEAT_OK)
        return native_raise(&err);
    Py_RETURN_NONE;
}

static PyObject *finish(native_events *self) {
    leat_event_writer *writer = self->writer;
    leat_error err = {0};
    leat_status status = LEAT_OK;
    self->writer = NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = leat_event_writer_close(writer, &err);
    Py_END_ALLOW_THREADS;
    if (status != LEAT_OK)
        return native_raise(&err);
    Py_RETURN_NONE;
}

/* close(): nothing where it is closed. */
static PyObject *events_close(PyObject *object, PyObject *unused) {
    (void)unused;
    native_events *self = (native_events *)object;
    if (self->writer == NULL)
        Py_RETURN_NONE;
    return usable(self) == NULL ? NULL : finish(self);
}

static PyObject *events_path(PyObject *object, void *unused) {
    (void)unused;
    leat_event_writer *writer = usable((native_events *)object);
    return writer == NULL ? NULL : PyUnicode_DecodeFSDefault(leat_event_writer_path(writer));
}

static void events_dealloc(PyObject *object) {
    native_events *self = (native_events *)object;
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

static PyMethodDef events_methods[] = {
    {"open", events_open, METH_VARARGS | METH_STATIC,
     "open(folder, suffix, max_queue, flush_millis) -> EventWriter."},
    {"write", events_write, METH_VARARGS,
     "write(tag, step, metadata, tensor, buckets): a value, or its histogram."},
    {"message", events_message, METH_VARARGS, "message(step, bytes, is_graph)."},
    {"flush", events_flush, METH_NOARGS, "Hands what waits to the file system."},
    {"close", events_close, METH_NOARGS, "Ends the file."},
    {0},
};

static PyGetSetDef events_getters[] = {
    {"path", events_path, NULL, "The file.", NULL},
    {0},
};

static PyType_Slot events_slots[] = {
    {Py_tp_doc, "An event file that is being written."},
    {Py_tp_dealloc, (void *)events_dealloc},
    {Py_tp_methods, events_methods},
    {Py_tp_getset, events_getters},
    {0},
};

static PyType_Spec spec = {
    .name = "leat._native.EventWriter",
    .basicsize = sizeof(native_events),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = events_slots,
};

int native_add_events(PyObject *module) {
    return native_add_type(module, &spec, &events_type);
}
