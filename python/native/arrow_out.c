/* arrow_stream: batches of Python as a stream of Arrow's C data interface.
 *
 * The schema is a tree of tuples, and so is each batch: buffers are objects with Python's buffer
 * protocol, which the array that is handed out keeps until whoever has it releases it. Releases may
 * come from any thread, also after the interpreter's end, and are put off to a thread that has the
 * GIL (native_release_later). What fails while a batch is made is told by the stream's last error,
 * with the exception's class and text. */
#include "arrow.h"
#include "native.h"
#include <errno.h>
#include <string.h>

/* ---- schemas ---- */

static void release_schema(arrow_schema *self) {
    for (int64_t i = 0; i < self->n_children && self->children != NULL; i++) {
        if (self->children[i] != NULL && self->children[i]->release != NULL)
            self->children[i]->release(self->children[i]);
        free(self->children[i]);
    }
    if (self->dictionary != NULL && self->dictionary->release != NULL)
        self->dictionary->release(self->dictionary);
    free(self->dictionary);
    free((void *)self->children);
    free((void *)(uintptr_t)self->format);
    free((void *)(uintptr_t)self->name);
    free((void *)(uintptr_t)self->metadata);
    self->release = NULL;
}

/* Bytes as memory of C with a zero behind them; NULL of None. */
static int copy_bytes(PyObject *bytes, const char **out) {
    char *data = NULL;
    Py_ssize_t size = 0;
    *out = NULL;
    if (bytes == Py_None)
        return 0;
    if (PyBytes_AsStringAndSize(bytes, &data, &size) != 0)
        return -1;
    char *copy = malloc((size_t)size + 1);
    if (copy == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    memcpy(copy, data, (size_t)size + 1);
    *out = copy;
    return 0;
}

static int make_schema(PyObject *tree, arrow_schema *out);

/* Children and dictionary of a tree; what was made stays in `out`, for its release. */
static int make_schemas(PyObject *children, PyObject *dictionary, arrow_schema *out) {
    Py_ssize_t count = PyList_Size(children);
    out->children = count < 0 ? NULL : calloc((size_t)count + 1, sizeof(*out->children));
    if (out->children == NULL) {
        if (count >= 0)
            PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        out->children[i] = calloc(1, sizeof(arrow_schema));
        out->n_children = i + 1;
        if (out->children[i] == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        if (make_schema(PyList_GetItem(children, i), out->children[i]) != 0)
            return -1;
    }
    if (dictionary == Py_None)
        return 0;
    out->dictionary = calloc(1, sizeof(arrow_schema));
    if (out->dictionary == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    return make_schema(dictionary, out->dictionary);
}

/* (format, name, flags, children, dictionary, metadata). On failure nothing is left in `out`. */
static int make_schema(PyObject *tree, arrow_schema *out) {
    PyObject *format = NULL, *name = NULL, *children = NULL, *dictionary = NULL, *metadata = NULL;
    long long flags = 0;
    memset(out, 0, sizeof *out);
    if (!PyArg_ParseTuple(tree, "OOLO!OO", &format, &name, &flags, &PyList_Type, &children,
                          &dictionary, &metadata))
        return -1;
    out->flags = flags;
    out->release = release_schema;
    if (copy_bytes(format, &out->format) == 0 && copy_bytes(name, &out->name) == 0 &&
        copy_bytes(metadata, &out->metadata) == 0 && make_schemas(children, dictionary, out) == 0)
        return 0;
    release_schema(out);
    return -1;
}

/* ---- arrays ---- */

/* What an array of ours keeps. */
typedef struct kept_buffers {
    Py_ssize_t count;
    Py_buffer views[];
} kept_buffers;

static void release_views(void *context) {
    kept_buffers *kept = context;
    for (Py_ssize_t i = 0; i < kept->count; i++)
        if (kept->views[i].obj != NULL)
            PyBuffer_Release(&kept->views[i]);
    free(kept);
}

static void release_array(arrow_array *self) {
    for (int64_t i = 0; i < self->n_children && self->children != NULL; i++) {
        if (self->children[i] != NULL && self->children[i]->release != NULL)
            self->children[i]->release(self->children[i]);
        free(self->children[i]);
    }
    if (self->dictionary != NULL && self->dictionary->release != NULL)
        self->dictionary->release(self->dictionary);
    free(self->dictionary);
    free((void *)self->children);
    free((void *)self->buffers);
    if (self->private_data != NULL)
        native_release_later(release_views, self->private_data);
    self->release = NULL;
}

static int make_buffers(PyObject *buffers, arrow_array *out) {
    Py_ssize_t count = PyList_Size(buffers);
    kept_buffers *kept =
        count < 0 ? NULL : calloc(1, sizeof *kept + (size_t)count * sizeof(Py_buffer));
    out->private_data = kept;
    out->buffers = count < 0 ? NULL : calloc((size_t)count + 1, sizeof(void *));
    if (kept == NULL || out->buffers == NULL) {
        if (count >= 0)
            PyErr_NoMemory();
        return -1;
    }
    kept->count = count;
    out->n_buffers = count;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PyList_GetItem(buffers, i);
        if (item == Py_None)
            continue;
        if (PyObject_GetBuffer(item, &kept->views[i], PyBUF_C_CONTIGUOUS) != 0) {
            kept->views[i].obj = NULL;
            return -1;
        }
        out->buffers[i] = kept->views[i].buf;
    }
    return 0;
}

static int make_array(PyObject *tree, arrow_array *out);

static int make_arrays(PyObject *children, PyObject *dictionary, arrow_array *out) {
    Py_ssize_t count = PyList_Size(children);
    out->children = count < 0 ? NULL : calloc((size_t)count + 1, sizeof(*out->children));
    if (out->children == NULL) {
        if (count >= 0)
            PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        out->children[i] = calloc(1, sizeof(arrow_array));
        out->n_children = i + 1;
        if (out->children[i] == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        if (make_array(PyList_GetItem(children, i), out->children[i]) != 0)
            return -1;
    }
    if (dictionary == Py_None)
        return 0;
    out->dictionary = calloc(1, sizeof(arrow_array));
    if (out->dictionary == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    return make_array(dictionary, out->dictionary);
}

/* (length, nulls, buffers, children, dictionary). On failure nothing is left in `out`. */
static int make_array(PyObject *tree, arrow_array *out) {
    PyObject *buffers = NULL, *children = NULL, *dictionary = NULL;
    long long length = 0, nulls = 0;
    memset(out, 0, sizeof *out);
    if (!PyArg_ParseTuple(tree, "LLO!O!O", &length, &nulls, &PyList_Type, &buffers, &PyList_Type,
                          &children, &dictionary))
        return -1;
    out->length = length;
    out->null_count = nulls;
    out->release = release_array;
    if (make_buffers(buffers, out) == 0 && make_arrays(children, dictionary, out) == 0)
        return 0;
    release_array(out);
    return -1;
}

/* ---- the stream ---- */

/* What a stream of ours keeps; `error` is the text of its last failure. */
typedef struct kept_stream {
    PyObject *schema, *next;
    char *error;
} kept_stream;

/* The exception that is set becomes the stream's last error. */
static int note_error(kept_stream *kept) {
    PyObject *type = NULL, *value = NULL, *traceback = NULL;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    PyObject *name = type == NULL ? NULL : PyType_GetName((PyTypeObject *)type);
    PyObject *text = name == NULL ? NULL : PyUnicode_FromFormat("%U: %S", name, value);
    const char *utf8 = text == NULL ? NULL : PyUnicode_AsUTF8AndSize(text, NULL);
    size_t size = utf8 == NULL ? 0 : strlen(utf8);
    free(kept->error);
    kept->error = calloc(1, size + 1); /* without memory the consumer has the code alone */
    if (kept->error != NULL && size > 0)
        memcpy(kept->error, utf8, size);
    PyErr_Clear();
    Py_XDECREF(text);
    Py_XDECREF(name);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return EIO;
}

static int stream_schema(arrow_stream *self, arrow_schema *out) {
    kept_stream *kept = self->private_data;
    if (!native_is_running())
        return EIO;
    PyGILState_STATE state = native_enter_python();
    int code = make_schema(kept->schema, out) == 0 ? 0 : note_error(kept);
    native_leave_python(state);
    return code;
}

static int stream_next(arrow_stream *self, arrow_array *out) {
    kept_stream *kept = self->private_data;
    int code = 0;
    memset(out, 0, sizeof *out);
    if (!native_is_running())
        return EIO;
    PyGILState_STATE state = native_enter_python();
    PyObject *tree = PyObject_CallNoArgs(kept->next);
    if (tree == NULL || (tree != Py_None && make_array(tree, out) != 0))
        code = note_error(kept);
    Py_XDECREF(tree);
    native_leave_python(state);
    return code;
}

static const char *stream_error(arrow_stream *self) {
    return ((kept_stream *)self->private_data)->error;
}

static void release_kept(void *context) {
    kept_stream *kept = context;
    Py_DECREF(kept->schema);
    Py_DECREF(kept->next);
    free(kept->error);
    free(kept);
}

static void release_stream(arrow_stream *self) {
    native_release_later(release_kept, self->private_data);
    self->release = NULL;
}

static void drop_capsule(PyObject *capsule) {
    arrow_stream *stream = PyCapsule_GetPointer(capsule, ARROW_STREAM);
    if (stream != NULL && stream->release != NULL)
        stream->release(stream);
    free(stream);
}

PyObject *native_arrow_stream(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *schema = NULL, *next = NULL;
    if (!PyArg_ParseTuple(args, "O!O", &PyTuple_Type, &schema, &next))
        return NULL;
    arrow_schema trial; /* what is wrong with it is said here */
    if (make_schema(schema, &trial) != 0)
        return NULL;
    release_schema(&trial);
    arrow_stream *stream = calloc(1, sizeof *stream);
    kept_stream *kept = calloc(1, sizeof *kept);
    PyObject *capsule =
        stream == NULL || kept == NULL ? NULL : PyCapsule_New(stream, ARROW_STREAM, drop_capsule);
    if (capsule == NULL) {
        free(stream);
        free(kept);
        return PyErr_Occurred() != NULL ? NULL : PyErr_NoMemory();
    }
    *kept = (kept_stream){.schema = Py_NewRef(schema), .next = Py_NewRef(next)};
    *stream = (arrow_stream){.get_schema = stream_schema,
                             .get_next = stream_next,
                             .get_last_error = stream_error,
                             .release = release_stream,
                             .private_data = kept};
    return capsule;
}
