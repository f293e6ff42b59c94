/* Files by path, also those of other machines: what leat.gfile makes files of Python of.
 *
 * A reader may be read by any thread; a writer belongs to one at a time, by the lock of the object
 * of Python around it. A writer that is dropped unclosed is given up. */
#include "native.h"
#include <string.h>

/* ---- readers ---- */

typedef struct native_reader {
    PyObject_HEAD leat_file_reader *reader;
} native_reader;

static PyTypeObject *reader_type;

static PyObject *reader_open(PyObject *class, PyObject *path) {
    (void)class;
    PyObject *bytes = NULL;
    leat_error err = {0};
    leat_file_reader *reader = NULL;
    if (!native_path(path, &bytes))
        return NULL;
    const char *chars = native_chars(bytes);
    Py_BEGIN_ALLOW_THREADS;
    reader = leat_file_reader_open(chars, &err);
    Py_END_ALLOW_THREADS;
    Py_DECREF(bytes);
    if (reader == NULL)
        return native_raise(&err);
    native_reader *self = (native_reader *)PyType_GenericAlloc(reader_type, 0);
    if (self == NULL) {
        leat_file_reader_free(reader);
        return NULL;
    }
    self->reader = reader;
    return (PyObject *)self;
}

static PyObject *reader_size(PyObject *object, PyObject *unused) {
    (void)unused;
    return PyLong_FromLongLong(leat_file_reader_size(((native_reader *)object)->reader));
}

/* read_into(offset, buffer) -> bytes read. */
static PyObject *reader_read_into(PyObject *object, PyObject *args) {
    leat_file_reader *reader = ((native_reader *)object)->reader;
    long long offset = 0;
    Py_buffer buffer;
    leat_error err = {0};
    leat_status status = LEAT_OK;
    size_t got = 0;
    if (!PyArg_ParseTuple(args, "Lw*", &offset, &buffer))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = leat_file_reader_read(reader, offset, buffer.buf, (size_t)buffer.len, &got, &err);
    Py_END_ALLOW_THREADS;
    PyBuffer_Release(&buffer);
    return status == LEAT_OK ? PyLong_FromSize_t(got) : native_raise(&err);
}

static void reader_dealloc(PyObject *object) {
    leat_file_reader *reader = ((native_reader *)object)->reader;
    Py_BEGIN_ALLOW_THREADS;
    leat_file_reader_free(reader);
    Py_END_ALLOW_THREADS;
    native_free(object);
}

static PyMethodDef reader_methods[] = {
    {"open", reader_open, METH_O | METH_STATIC, "open(path) -> FileReader."},
    {"size", reader_size, METH_NOARGS, "Bytes; -1: not known."},
    {"read_into", reader_read_into, METH_VARARGS, "read_into(offset, buffer) -> bytes read."},
    {0},
};

static PyType_Slot reader_slots[] = {
    {Py_tp_doc, "A file open for reading."},
    {Py_tp_dealloc, (void *)reader_dealloc},
    {Py_tp_methods, reader_methods},
    {0},
};

static PyType_Spec reader_spec = {
    .name = "leat._native.FileReader",
    .basicsize = sizeof(native_reader),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = reader_slots,
};

/* ---- writers ---- */

typedef struct native_file_writer {
    PyObject_HEAD leat_file_writer *writer; /* NULL after close or discard, and during a call */
} native_file_writer;

static PyTypeObject *writer_type;

static PyObject *writer_open(PyObject *class, PyObject *path) {
    (void)class;
    PyObject *bytes = NULL;
    leat_error err = {0};
    leat_file_writer *writer = NULL;
    if (!native_path(path, &bytes))
        return NULL;
    const char *chars = native_chars(bytes);
    Py_BEGIN_ALLOW_THREADS;
    writer = leat_file_writer_open(chars, &err);
    Py_END_ALLOW_THREADS;
    Py_DECREF(bytes);
    if (writer == NULL)
        return native_raise(&err);
    native_file_writer *self = (native_file_writer *)PyType_GenericAlloc(writer_type, 0);
    if (self == NULL) {
        leat_file_writer_discard(writer);
        return NULL;
    }
    self->writer = writer;
    return (PyObject *)self;
}

/* Takes the writer out of the object, so that no other thread's call finds it; NULL with an
 * exception. */
static leat_file_writer *take_writer(PyObject *object) {
    native_file_writer *self = (native_file_writer *)object;
    leat_file_writer *writer = self->writer;
    self->writer = NULL;
    if (writer == NULL)
        PyErr_SetString(PyExc_ValueError, "the file is closed, or another thread writes to it");
    return writer;
}

static PyObject *writer_write(PyObject *object, PyObject *data) {
    Py_buffer buffer;
    leat_error err = {0};
    leat_status status = LEAT_OK;
    if (PyObject_GetBuffer(data, &buffer, PyBUF_SIMPLE) != 0)
        return NULL;
    leat_file_writer *writer = take_writer(object);
    if (writer == NULL) {
        PyBuffer_Release(&buffer);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS;
    status = leat_file_writer_write(writer, buffer.buf, (size_t)buffer.len, &err);
    Py_END_ALLOW_THREADS;
    ((native_file_writer *)object)->writer = writer;
    PyBuffer_Release(&buffer);
    if (status != LEAT_OK)
        return native_raise(&err);
    Py_RETURN_NONE;
}

static PyObject *writer_close(PyObject *object, PyObject *unused) {
    (void)unused;
    leat_error err = {0};
    leat_status status = LEAT_OK;
    leat_file_writer *writer = take_writer(object);
    if (writer == NULL)
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = leat_file_writer_close(writer, &err);
    Py_END_ALLOW_THREADS;
    if (status != LEAT_OK)
        return native_raise(&err);
    Py_RETURN_NONE;
}

static void give_up(native_file_writer *self) {
    leat_file_writer *writer = self->writer;
    self->writer = NULL;
    Py_BEGIN_ALLOW_THREADS;
    leat_file_writer_discard(writer);
    Py_END_ALLOW_THREADS;
}

static PyObject *writer_discard(PyObject *object, PyObject *unused) {
    (void)unused;
    give_up((native_file_writer *)object);
    Py_RETURN_NONE;
}

static void writer_dealloc(PyObject *object) {
    give_up((native_file_writer *)object);
    native_free(object);
}

static PyMethodDef writer_methods[] = {
    {"open", writer_open, METH_O | METH_STATIC, "open(path) -> FileWriter."},
    {"write", writer_write, METH_O, "write(buffer)."},
    {"close", writer_close, METH_NOARGS, "Puts the file in its place."},
    {"discard", writer_discard, METH_NOARGS, "Gives the file up."},
    {0},
};

static PyType_Slot writer_slots[] = {
    {Py_tp_doc, "A file that is being written."},
    {Py_tp_dealloc, (void *)writer_dealloc},
    {Py_tp_methods, writer_methods},
    {0},
};

static PyType_Spec writer_spec = {
    .name = "leat._native.FileWriter",
    .basicsize = sizeof(native_file_writer),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = writer_slots,
};

/* ---- paths ---- */

/* path_stat(path) -> (is it a folder, bytes, seconds since 1970) */
static PyObject *path_stat(PyObject *module, PyObject *path) {
    (void)module;
    PyObject *bytes = NULL;
    leat_error err = {0};
    leat_path_info info = {0};
    leat_status status = LEAT_OK;
    if (!native_path(path, &bytes))
        return NULL;
    const char *chars = native_chars(bytes);
    Py_BEGIN_ALLOW_THREADS;
    status = leat_path_stat(chars, &info, &err);
    Py_END_ALLOW_THREADS;
    Py_DECREF(bytes);
    if (status != LEAT_OK)
        return native_raise(&err);
    return Py_BuildValue("NLL", PyBool_FromLong(info.is_folder), (long long)info.size,
                         (long long)info.changed);
}

static leat_status add_name(void *context, const char *name, leat_error *err) {
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *text = PyUnicode_DecodeFSDefault(name);
    bool failed = text == NULL || PyList_Append(context, text) != 0;
    leat_status status = failed ? native_catch(err) : LEAT_OK;
    Py_XDECREF(text);
    PyGILState_Release(state);
    return status;
}

static PyObject *names_of(PyObject *path,
                          leat_status (*call)(const char *path, leat_path_function function,
                                              void *context, leat_error *err)) {
    PyObject *bytes = NULL;
    leat_error err = {0};
    leat_status status = LEAT_OK;
    PyObject *names = PyList_New(0);
    if (names == NULL || !native_path(path, &bytes)) {
        Py_XDECREF(names);
        return NULL;
    }
    const char *chars = native_chars(bytes);
    Py_BEGIN_ALLOW_THREADS;
    status = call(chars, add_name, names, &err);
    Py_END_ALLOW_THREADS;
    Py_DECREF(bytes);
    if (status == LEAT_OK)
        return names;
    Py_DECREF(names);
    return native_raise(&err);
}

static PyObject *path_list(PyObject *module, PyObject *path) {
    (void)module;
    return names_of(path, leat_path_list);
}

static PyObject *path_glob(PyObject *module, PyObject *pattern) {
    (void)module;
    return names_of(pattern, leat_path_glob);
}

static PyObject *call_with_path(PyObject *path,
                                leat_status (*call)(const char *path, leat_error *err)) {
    PyObject *bytes = NULL;
    leat_error err = {0};
    leat_status status = LEAT_OK;
    if (!native_path(path, &bytes))
        return NULL;
    const char *chars = native_chars(bytes);
    Py_BEGIN_ALLOW_THREADS;
    status = call(chars, &err);
    Py_END_ALLOW_THREADS;
    Py_DECREF(bytes);
    if (status != LEAT_OK)
        return native_raise(&err);
    Py_RETURN_NONE;
}

static PyObject *path_remove(PyObject *module, PyObject *path) {
    (void)module;
    return call_with_path(path, leat_path_remove);
}

static PyObject *path_make_folders(PyObject *module, PyObject *path) {
    (void)module;
    return call_with_path(path, leat_path_make_folders);
}

static PyMethodDef functions[] = {
    {"path_stat", path_stat, METH_O, "path_stat(path) -> (is_folder, size, changed)."},
    {"path_list", path_list, METH_O, "path_list(path) -> names in a folder."},
    {"path_glob", path_glob, METH_O, "path_glob(pattern) -> paths that match, sorted."},
    {"path_remove", path_remove, METH_O, "Removes a file."},
    {"path_make_folders", path_make_folders, METH_O, "Makes a folder and those above it."},
    {0},
};

int native_add_files(PyObject *module) {
    return PyModule_AddFunctions(module, functions) != 0 ||
                   native_add_type(module, &reader_spec, &reader_type) != 0 ||
                   native_add_type(module, &writer_spec, &writer_type) != 0 ||
                   native_add_filesystem(module) != 0
               ? -1
               : 0;
}
