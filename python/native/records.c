/* RecordWriter: a leat_tfrecord_writer; files that are replaced; and what the process's devices are
 * asked for. */
#include "native.h"
#include <errno.h>
#include <string.h>

static PyTypeObject *writer_type;

static leat_status close_writer(void *writer, leat_error *err) {
    return leat_tfrecord_writer_close(writer, err);
}

static leat_status discard_writer(void *writer, leat_error *err) {
    (void)err;
    leat_tfrecord_writer_discard(writer);
    return LEAT_OK;
}

/* open(compression, path, level, in_place) */
static PyObject *writer_open(PyObject *class, PyObject *args) {
    (void)class;
    PyObject *path = NULL;
    const char *compression = NULL;
    int level = 0, in_place = 0;
    leat_tfrecord_writer_options options = {LEAT_TFRECORD_WRITER_DEFAULTS};
    leat_error err = {0};
    leat_tfrecord_writer *writer = NULL;
    if (!PyArg_ParseTuple(args, "sO&ip", &compression, native_path, &path, &level, &in_place))
        return NULL;
    options.level = level == 0 ? LEAT_UNSET : level;
    options.in_place = in_place != 0;
    const char *chars = native_chars(path);
    Py_BEGIN_ALLOW_THREADS;
    if (leat_compression_from_name(compression, &options.compression, &err) == LEAT_OK)
        writer = leat_tfrecord_writer_open(chars, &options, &err);
    Py_END_ALLOW_THREADS;
    Py_DECREF(path);
    if (writer == NULL)
        return native_raise(&err);
    return native_writing_new(writer_type, writer, close_writer, discard_writer);
}

static PyObject *writer_write(PyObject *object, PyObject *record) {
    leat_tfrecord_writer *writer = native_writing_usable(object);
    leat_error err = {0};
    leat_status status = LEAT_OK;
    char *data = NULL;
    Py_ssize_t size = 0;
    if (writer == NULL || PyBytes_AsStringAndSize(record, &data, &size) != 0)
        return NULL;
    NATIVE_WRITING(object, status = leat_tfrecord_writer_write(writer, data, (size_t)size, &err));
    if (status != LEAT_OK)
        return native_raise(&err);
    Py_RETURN_NONE;
}

static PyObject *writer_discard(PyObject *object, PyObject *unused) {
    (void)unused;
    return native_writing_end_by(object, discard_writer);
}

static PyMethodDef writer_methods[] = {
    {"open", writer_open, METH_VARARGS | METH_STATIC,
     "open(compression, path, level, in_place) -> RecordWriter."},
    {"write", writer_write, METH_O, "write(bytes): one record."},
    {"close", native_writing_close, METH_NOARGS, "Finishes the file."},
    {"discard", writer_discard, METH_NOARGS, "Gives the file up."},
    {0},
};

static PyType_Slot writer_slots[] = {
    {Py_tp_doc, "A TFRecord file that is being written."},
    {Py_tp_dealloc, (void *)native_writing_dealloc},
    {Py_tp_methods, writer_methods},
    {0},
};

static PyType_Spec spec = {
    .name = "leat._native.RecordWriter",
    .basicsize = sizeof(native_writing),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = writer_slots,
};

/* ---- files that are replaced ---- */

/* What a call borrows from Python: an array of each kind for all files together. */
typedef struct replaced {
    PyObject *files;    /* a list of (path in bytes, list of buffers) */
    PyObject *outdated; /* a list of paths in bytes */
    leat_file_content *contents;
    leat_file_piece *pieces;
    Py_buffer *buffers; /* the first num_buffers are held */
    Py_ssize_t num_buffers;
    const char **paths;
} replaced;

/* Counts the pieces of all files; -1 with an exception. */
static Py_ssize_t count_pieces(PyObject *files) {
    Py_ssize_t total = 0;
    for (Py_ssize_t i = 0; i < PyList_Size(files); i++) {
        PyObject *path = NULL, *pieces = NULL;
        if (!PyArg_ParseTuple(PyList_GetItem(files, i), "SO!", &path, &PyList_Type, &pieces))
            return -1;
        total += PyList_Size(pieces);
    }
    return total;
}

/* A path's bytes (borrowed); NULL with an exception, ValueError for one with a zero in it. */
static const char *path_of(PyObject *path) {
    char *text = NULL;
    return PyBytes_AsStringAndSize(path, &text, NULL) == 0 ? text : NULL;
}

static int borrow_file(replaced *all, Py_ssize_t number) {
    PyObject *pair = PyList_GetItem(all->files, number);
    PyObject *list = PyTuple_GetItem(pair, 1);
    Py_ssize_t count = PyList_Size(list);
    all->contents[number] = (leat_file_content){.path = path_of(PyTuple_GetItem(pair, 0)),
                                                .pieces = all->pieces + all->num_buffers,
                                                .num_pieces = (size_t)count};
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_buffer *buffer = &all->buffers[all->num_buffers];
        if (PyObject_GetBuffer(PyList_GetItem(list, i), buffer, PyBUF_SIMPLE) != 0)
            return -1;
        all->pieces[all->num_buffers++] = (leat_file_piece){buffer->buf, (size_t)buffer->len};
    }
    return all->contents[number].path != NULL ? 0 : -1;
}

static int borrow_all(replaced *all) {
    Py_ssize_t count = PyList_Size(all->files), pieces = count_pieces(all->files);
    Py_ssize_t num_outdated = PyList_Size(all->outdated);
    if (pieces < 0)
        return -1;
    /* One more each: no array is NULL because it is empty. */
    all->contents = PyMem_Calloc((size_t)count + 1, sizeof *all->contents);
    all->pieces = PyMem_Calloc((size_t)pieces + 1, sizeof *all->pieces);
    all->buffers = PyMem_Calloc((size_t)pieces + 1, sizeof *all->buffers);
    all->paths = PyMem_Calloc((size_t)num_outdated + 1, sizeof *all->paths);
    if (all->contents == NULL || all->pieces == NULL || all->buffers == NULL ||
        all->paths == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++)
        if (borrow_file(all, i) != 0)
            return -1;
    for (Py_ssize_t i = 0; i < num_outdated; i++)
        if ((all->paths[i] = path_of(PyList_GetItem(all->outdated, i))) == NULL)
            return -1;
    return 0;
}

static void give_back(replaced *all) {
    for (Py_ssize_t i = 0; i < all->num_buffers; i++)
        PyBuffer_Release(&all->buffers[i]);
    PyMem_Free(all->contents);
    PyMem_Free(all->pieces);
    PyMem_Free(all->buffers);
    PyMem_Free(all->paths);
}

/* OSError, of the subclass of the system's number, where it was the system that failed. */
static void raise_system(int number, const leat_error *err) {
    PyObject *path = PyUnicode_DecodeFSDefault(err->file);
    PyObject *text = path == NULL
                         ? NULL
                         : PyUnicode_FromFormat("%s: %U could not be written; what was there "
                                                "before is unchanged",
                                                strerror(number), path);
    PyObject *error =
        text == NULL ? NULL : PyObject_CallFunction(PyExc_OSError, "iO", number, text);
    if (error != NULL)
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_XDECREF(error);
    Py_XDECREF(text);
    Py_XDECREF(path);
}

/* None, or the exception of a failure. */
static PyObject *done_or_system(leat_status status, int number, const leat_error *err) {
    if (status == LEAT_OK)
        Py_RETURN_NONE;
    if (number == 0 || status == LEAT_CANCELLED)
        return native_raise(err);
    raise_system(number, err);
    return NULL;
}

/* replace_files(files, outdated) */
static PyObject *replace_files(PyObject *module, PyObject *args) {
    (void)module;
    replaced all = {0};
    leat_error err = {0};
    leat_status status = LEAT_OK;
    int number = 0;
    if (!PyArg_ParseTuple(args, "O!O!", &PyList_Type, &all.files, &PyList_Type, &all.outdated))
        return NULL;
    if (borrow_all(&all) != 0) {
        give_back(&all);
        return NULL;
    }
    Py_ssize_t count = PyList_Size(all.files), num_outdated = PyList_Size(all.outdated);
    Py_BEGIN_ALLOW_THREADS;
    status = leat_files_replace(all.contents, (int)count, all.paths, (int)num_outdated, &err);
    number = errno;
    Py_END_ALLOW_THREADS;
    give_back(&all);
    return done_or_system(status, number, &err);
}

/* replace_folder(written, path) */
static PyObject *replace_folder(PyObject *module, PyObject *args) {
    (void)module;
    const char *written = NULL, *path = NULL;
    leat_error err = {0};
    leat_status status = LEAT_OK;
    int number = 0;
    if (!PyArg_ParseTuple(args, "yy", &written, &path))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = leat_folder_replace(written, path, &err);
    number = errno;
    Py_END_ALLOW_THREADS;
    return done_or_system(status, number, &err);
}

/* ---- devices ---- */

static PyObject *num_logical_devices(PyObject *module, PyObject *kind) {
    (void)module;
    const char *text = PyUnicode_AsUTF8AndSize(kind, NULL);
    return text == NULL ? NULL : PyLong_FromLong(leat_device_num_logical(text));
}

static PyObject *search_devices(PyObject *module, PyObject *folder) {
    (void)module;
    leat_error err = {0};
    const char *text = PyUnicode_AsUTF8AndSize(folder, NULL);
    if (text == NULL)
        return NULL;
    if (leat_device_search(text, &err) != LEAT_OK)
        return native_raise(&err);
    Py_RETURN_NONE;
}

static PyObject *describe_devices(PyObject *module, PyObject *kind) {
    (void)module;
    leat_error err = {0};
    leat_device_description found = {0};
    leat_status status = LEAT_OK;
    const char *text = PyUnicode_AsUTF8AndSize(kind, NULL);
    if (text == NULL)
        return NULL;
    /* Loading a plug-in takes a while. */
    Py_BEGIN_ALLOW_THREADS;
    status = leat_device_describe(text, &found, &err);
    Py_END_ALLOW_THREADS;
    if (status != LEAT_OK)
        return native_raise(&err);
    return Py_BuildValue("(isss)", found.num_devices, found.platform, found.version, found.path);
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

static PyObject *set_read_limits(PyObject *module, PyObject *args) {
    (void)module;
    leat_error err = {0};
    long long line = 0, record = 0;
    if (!PyArg_ParseTuple(args, "LL", &line, &record))
        return NULL;
    if (leat_limits_set_reading(line, record, &err) != LEAT_OK)
        return native_raise(&err);
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"replace_files", replace_files, METH_VARARGS,
     "replace_files([(path, [buffer, ...]), ...], [outdated path, ...]): leat_files_replace."},
    {"replace_folder", replace_folder, METH_VARARGS,
     "replace_folder(written, path): leat_folder_replace."},
    {"num_logical_devices", num_logical_devices, METH_O, "How many devices of a kind there are."},
    {"search_devices", search_devices, METH_O, "search_devices(folder): leat_device_search."},
    {"describe_devices", describe_devices, METH_O,
     "describe_devices(kind) -> (count, platform, version, path): leat_device_describe."},
    {"set_logical_cpus", set_logical_cpus, METH_O, "Splits the cores into logical devices."},
    {"set_decode_limits", set_decode_limits, METH_VARARGS, "How far data may unfold."},
    {"set_read_limits", set_read_limits, METH_VARARGS, "How long lines and records may become."},
    {0},
};

int native_add_records(PyObject *module) {
    return PyModule_AddFunctions(module, functions) != 0 ||
                   native_add_type(module, &spec, &writer_type) != 0
               ? -1
               : 0;
}
