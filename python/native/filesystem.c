/* File systems of Python: objects whose methods are the calls of leat_filesystem.
 *
 * register_filesystem(scheme, object) has the library call, under the GIL and from any thread,
 *   open(path) -> (file, bytes)      file.read(offset, memoryview) -> int, file.close()
 *   stat(path) -> (is_folder, bytes, seconds), list(path) -> [(name, is_folder)]
 *   create(path) -> sink             sink.write(memoryview), sink.put(), sink.discard()
 *   remove(path), make_folders(path)
 * A memoryview is released when its call returns. What is raised arrives where the path was used.
 * set_filesystem_finder(callable) is asked, with a path whose scheme is not known, whether it has
 * registered that; what it raises says why a scheme cannot be had. Objects live as long as the
 * process. */
#include "native.h"

static leat_status ending(leat_error *err) {
    return leat_error_set(err, LEAT_CANCELLED, "Python is ending");
}

/* object.name(path): a new reference, or NULL with an exception. */
static PyObject *call_path(void *object, const char *name, const char *path) {
    PyObject *text = PyUnicode_DecodeFSDefault(path);
    PyObject *found = text == NULL ? NULL : PyObject_CallMethod(object, name, "O", text);
    Py_XDECREF(text);
    return found;
}

/* object.name() where failures go nowhere. */
static void call_last(void *object, const char *name) {
    if (!native_is_running())
        return;
    PyGILState_STATE gil = native_enter_python();
    native_call_aside(object, name);
    Py_DECREF((PyObject *)object);
    native_leave_python(gil);
}

/* object.name(path) for its effect. */
static leat_status do_path(void *context, const char *name, const char *path, leat_error *err) {
    leat_status status = LEAT_OK;
    if (!native_is_running())
        return ending(err);
    PyGILState_STATE gil = native_enter_python();
    PyObject *result = call_path(context, name, path);
    status = result == NULL ? native_catch(err) : LEAT_OK;
    Py_XDECREF(result);
    native_leave_python(gil);
    return status;
}

static leat_status fs_open(void *context, const char *path, void **file, int64_t *bytes,
                           leat_error *err) {
    leat_status status = LEAT_OK;
    if (!native_is_running())
        return ending(err);
    PyGILState_STATE gil = native_enter_python();
    PyObject *pair = call_path(context, "open", path), *object = NULL;
    long long size = -1;
    if (pair == NULL || !PyArg_ParseTuple(pair, "OL", &object, &size))
        status = native_catch(err);
    else
        *file = Py_NewRef(object);
    *bytes = size;
    Py_XDECREF(pair);
    native_leave_python(gil);
    return status;
}

/* object.name([offset,] view of the memory), which is gone behind it. */
static PyObject *with_memory(void *object, const char *name, int64_t offset, void *data,
                             size_t size, int access) {
    PyObject *view = PyMemoryView_FromMemory(data, (Py_ssize_t)size, access);
    if (view == NULL)
        return NULL;
    PyObject *result = access == PyBUF_WRITE
                           ? PyObject_CallMethod(object, name, "LO", (long long)offset, view)
                           : PyObject_CallMethod(object, name, "O", view);
    native_call_aside(view, "release");
    Py_DECREF(view);
    return result;
}

static leat_status fs_read(void *context, void *file, int64_t offset, void *data, size_t size,
                           size_t *got, leat_error *err) {
    leat_status status = LEAT_OK;
    (void)context;
    if (!native_is_running())
        return ending(err);
    PyGILState_STATE gil = native_enter_python();
    PyObject *result = with_memory(file, "read", offset, data, size, PyBUF_WRITE);
    Py_ssize_t count = result == NULL ? -1 : PyLong_AsSsize_t(result);
    if (count < 0 && PyErr_Occurred() == NULL)
        PyErr_SetString(PyExc_ValueError, "a file's read returned a negative number");
    if (count < 0)
        status = native_catch(err);
    else
        *got = (size_t)count;
    Py_XDECREF(result);
    native_leave_python(gil);
    return status;
}

static void fs_close(void *context, void *file) {
    (void)context;
    call_last(file, "close");
}

static leat_status fs_stat(void *context, const char *path, leat_path_info *out, leat_error *err) {
    leat_status status = LEAT_OK;
    if (!native_is_running())
        return ending(err);
    PyGILState_STATE gil = native_enter_python();
    PyObject *found = call_path(context, "stat", path);
    int is_folder = 0;
    long long size = -1, changed = -1;
    if (found == NULL || !PyArg_ParseTuple(found, "pLL", &is_folder, &size, &changed))
        status = native_catch(err);
    else
        *out = (leat_path_info){is_folder != 0, size, changed};
    Py_XDECREF(found);
    native_leave_python(gil);
    return status;
}

/* Gives one pair (name, is_folder). An exception is set where it is none. */
static leat_status give_entry(PyObject *pair, leat_filesystem_entry entry, void *to,
                              leat_error *err) {
    PyObject *text = NULL, *bytes = NULL;
    int is_folder = 0;
    if (pair == NULL || !PyArg_ParseTuple(pair, "Op", &text, &is_folder) ||
        !native_path(text, &bytes))
        return native_catch(err);
    leat_status status = entry(to, native_chars(bytes), is_folder != 0, err);
    Py_DECREF(bytes);
    return status;
}

static leat_status fs_list(void *context, const char *path, leat_filesystem_entry entry, void *to,
                           leat_error *err) {
    leat_status status = LEAT_OK;
    if (!native_is_running())
        return ending(err);
    PyGILState_STATE gil = native_enter_python();
    PyObject *found = call_path(context, "list", path);
    Py_ssize_t count = found == NULL ? -1 : PySequence_Size(found);
    if (count < 0)
        status = native_catch(err);
    for (Py_ssize_t i = 0; i < count && status == LEAT_OK; i++) {
        PyObject *pair = PySequence_GetItem(found, i);
        status = give_entry(pair, entry, to, err);
        Py_XDECREF(pair);
    }
    Py_XDECREF(found);
    native_leave_python(gil);
    return status;
}

static leat_status fs_create(void *context, const char *path, void **sink, leat_error *err) {
    leat_status status = LEAT_OK;
    if (!native_is_running())
        return ending(err);
    PyGILState_STATE gil = native_enter_python();
    *sink = call_path(context, "create", path);
    if (*sink == NULL)
        status = native_catch(err);
    native_leave_python(gil);
    return status;
}

static leat_status fs_write(void *context, void *sink, const void *data, size_t size,
                            leat_error *err) {
    leat_status status = LEAT_OK;
    (void)context;
    if (!native_is_running())
        return ending(err);
    PyGILState_STATE gil = native_enter_python();
    PyObject *result = with_memory(sink, "write", 0, (void *)(uintptr_t)data, size, PyBUF_READ);
    if (result == NULL)
        status = native_catch(err);
    Py_XDECREF(result);
    native_leave_python(gil);
    return status;
}

static leat_status fs_put(void *context, void *sink, leat_error *err) {
    leat_status status = LEAT_OK;
    (void)context;
    if (!native_is_running())
        return ending(err);
    PyGILState_STATE gil = native_enter_python();
    PyObject *result = PyObject_CallMethod(sink, "put", NULL);
    if (result == NULL)
        status = native_catch(err);
    Py_XDECREF(result);
    native_leave_python(gil);
    return status;
}

static void fs_discard(void *context, void *sink) {
    (void)context;
    call_last(sink, "discard");
}

static leat_status fs_remove(void *context, const char *path, leat_error *err) {
    return do_path(context, "remove", path, err);
}

static leat_status fs_make_folders(void *context, const char *path, leat_error *err) {
    return do_path(context, "make_folders", path, err);
}

static PyObject *register_filesystem(PyObject *module, PyObject *args) {
    (void)module;
    static const leat_filesystem calls = {
        LEAT_FILESYSTEM_DEFAULTS, .open = fs_open,     .read = fs_read,
        .close = fs_close,        .stat = fs_stat,     .list = fs_list,
        .create = fs_create,      .write = fs_write,   .put = fs_put,
        .discard = fs_discard,    .remove = fs_remove, .make_folders = fs_make_folders};
    const char *scheme = NULL;
    PyObject *object = NULL;
    leat_error err = {0};
    if (!PyArg_ParseTuple(args, "O&O", native_name, &scheme, &object))
        return NULL;
    if (leat_filesystem_register(scheme, &calls, Py_NewRef(object), &err) == LEAT_OK)
        Py_RETURN_NONE;
    Py_DECREF(object);
    return native_raise(&err);
}

/* ---- schemes that are not known ---- */

static leat_status find(void *context, const char *path, leat_error *err) {
    leat_status status = LEAT_OK;
    if (!native_is_running())
        return ending(err);
    PyGILState_STATE gil = native_enter_python();
    PyObject *text = PyUnicode_DecodeFSDefault(path);
    PyObject *result = text == NULL ? NULL : PyObject_CallFunctionObjArgs(context, text, NULL);
    Py_XDECREF(text);
    int found = result == NULL ? -1 : PyObject_IsTrue(result);
    status = found < 0 ? native_catch(err) : found > 0 ? LEAT_OK : LEAT_NOT_FOUND;
    Py_XDECREF(result);
    native_leave_python(gil);
    return status;
}

static PyObject *set_filesystem_finder(PyObject *module, PyObject *finder) {
    (void)module;
    leat_filesystem_find(find, Py_NewRef(finder));
    Py_RETURN_NONE;
}

static PyObject *path_is_remote(PyObject *module, PyObject *path) {
    (void)module;
    PyObject *bytes = NULL;
    leat_error err = {0};
    leat_status status = LEAT_OK;
    bool is_remote = false;
    if (!native_path(path, &bytes))
        return NULL;
    const char *chars = native_chars(bytes);
    Py_BEGIN_ALLOW_THREADS;
    status = leat_path_is_remote(chars, &is_remote, &err);
    Py_END_ALLOW_THREADS;
    Py_DECREF(bytes);
    return status != LEAT_OK ? native_raise(&err) : PyBool_FromLong(is_remote);
}

static PyMethodDef functions[] = {
    {"register_filesystem", register_filesystem, METH_VARARGS,
     "register_filesystem(scheme, object): its methods are the calls of leat_filesystem."},
    {"set_filesystem_finder", set_filesystem_finder, METH_O,
     "set_filesystem_finder(callable): is asked for a path whose scheme is not known."},
    {"path_is_remote", path_is_remote, METH_O,
     "path_is_remote(path) -> has it another file system than this machine's?"},
    {0},
};

int native_add_filesystem(PyObject *module) {
    return PyModule_AddFunctions(module, functions) != 0 ? -1 : 0;
}
