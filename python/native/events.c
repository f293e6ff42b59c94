/* EventWriter: a leat_event_writer. */
#include "native.h"

static PyTypeObject *events_type;

static leat_status end_events(void *writer, leat_error *err) {
    return leat_event_writer_close(writer, err);
}

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
    return native_writing_new(events_type, writer, end_events, end_events);
}

/* write(tag, step, metadata, tensor, buckets): a tensor, or with buckets >= 0 its histogram. */
static PyObject *events_write(PyObject *object, PyObject *args) {
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
    leat_event_writer *writer = native_writing_usable(object);
    const leat_tensor *tensor = writer == NULL ? NULL : native_tensor_of(value);
    if (tensor == NULL)
        return NULL;
    leat_error err = {0};
    leat_status status = LEAT_OK;
    NATIVE_WRITING(
        object, status = buckets < 0 ? leat_event_tensor(writer, tag, step, tensor, &metadata, &err)
                                     : leat_event_histogram(writer, tag, step, tensor, buckets,
                                                            &metadata, &err));
    if (status != LEAT_OK)
        return native_raise(&err);
    Py_RETURN_NONE;
}

/* message(step, bytes, is_graph): a serialised Summary or GraphDef. */
static PyObject *events_message(PyObject *object, PyObject *args) {
    long long step = 0;
    const char *data = NULL;
    Py_ssize_t size = 0;
    int is_graph = 0;
    if (!PyArg_ParseTuple(args, "Ly#p", &step, &data, &size, &is_graph))
        return NULL;
    leat_event_writer *writer = native_writing_usable(object);
    if (writer == NULL)
        return NULL;
    leat_error err = {0};
    leat_status status = LEAT_OK;
    leat_string message = {data, (size_t)size};
    NATIVE_WRITING(object, status = is_graph ? leat_event_graph(writer, message, &err)
                                             : leat_event_summary(writer, step, message, &err));
    if (status != LEAT_OK)
        return native_raise(&err);
    Py_RETURN_NONE;
}

static PyObject *events_flush(PyObject *object, PyObject *unused) {
    (void)unused;
    leat_event_writer *writer = native_writing_usable(object);
    if (writer == NULL)
        return NULL;
    leat_error err = {0};
    leat_status status = LEAT_OK;
    NATIVE_WRITING(object, status = leat_event_writer_flush(writer, &err));
    if (status != LEAT_OK)
        return native_raise(&err);
    Py_RETURN_NONE;
}

static PyObject *events_path(PyObject *object, void *unused) {
    (void)unused;
    leat_event_writer *writer = native_writing_usable(object);
    return writer == NULL ? NULL : PyUnicode_DecodeFSDefault(leat_event_writer_path(writer));
}

static PyMethodDef events_methods[] = {
    {"open", events_open, METH_VARARGS | METH_STATIC,
     "open(folder, suffix, max_queue, flush_millis) -> EventWriter."},
    {"write", events_write, METH_VARARGS,
     "write(tag, step, metadata, tensor, buckets): a value, or its histogram."},
    {"message", events_message, METH_VARARGS, "message(step, bytes, is_graph)."},
    {"flush", events_flush, METH_NOARGS, "Hands what waits to the file system."},
    {"close", native_writing_close, METH_NOARGS, "Ends the file."},
    {0},
};

static PyGetSetDef events_getters[] = {
    {"path", events_path, NULL, "The file.", NULL},
    {0},
};

static PyType_Slot events_slots[] = {
    {Py_tp_doc, "An event file that is being written."},
    {Py_tp_dealloc, (void *)native_writing_dealloc},
    {Py_tp_methods, events_methods},
    {Py_tp_getset, events_getters},
    {0},
};

static PyType_Spec spec = {
    .name = "leat._native.EventWriter",
    .basicsize = sizeof(native_writing),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = events_slots,
};

int native_add_events(PyObject *module) {
    return native_add_type(module, &spec, &events_type);
}
