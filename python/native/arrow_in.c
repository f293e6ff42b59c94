/* ArrowReader and ArrowBatch: what other packages hand over by Arrow's C data interface.
 *
 * A reader takes over the stream of a capsule (or one array with its schema) and gives batches,
 * which it asks for without the GIL. What a batch looks like is told to Python as it is: lengths
 * and the addresses of its buffers; python/leat/data/formats makes tensors of them. A batch owns
 * its memory until it and everything that was made of it by `memory` is gone; it is released under
 * the GIL (native_release_later), because its makers may be Python. A reader belongs to one thread
 * at a time: a call that meets another raises ValueError. */
#include "arrow.h"
#include "native.h"
#include <string.h>

enum { MOST_DEPTH = 64 };

typedef struct arrow_reader {
    PyObject_HEAD arrow_stream stream;
    arrow_schema schema;
    arrow_array array; /* the only batch, where the reader was made of an array */
    bool busy;
} arrow_reader;

typedef struct arrow_batch {
    PyObject_HEAD arrow_array array;
} arrow_batch;

typedef struct arrow_memory {
    PyObject_HEAD PyObject *owner;
    void *data;
    Py_ssize_t size;
} arrow_memory;

static PyTypeObject *reader_type, *batch_type, *memory_type;

/* ---- memory of a batch ---- */

static int memory_buffer(PyObject *object, Py_buffer *view, int flags) {
    arrow_memory *self = (arrow_memory *)object;
    return PyBuffer_FillInfo(view, object, self->data, self->size, 1, flags);
}

static void memory_dealloc(PyObject *object) {
    Py_XDECREF(((arrow_memory *)object)->owner);
    native_free(object);
}

/* memory(address, size): bytes of the batch, as an object with a buffer that keeps the batch. */
static PyObject *batch_memory(PyObject *object, PyObject *args) {
    unsigned long long address = 0;
    Py_ssize_t size = 0;
    if (!PyArg_ParseTuple(args, "Kn", &address, &size))
        return NULL;
    if (size < 0 || (address == 0 && size > 0))
        return PyErr_Format(PyExc_ValueError, "%zd bytes at no address", size);
    arrow_memory *self = (arrow_memory *)PyType_GenericAlloc(memory_type, 0);
    if (self == NULL)
        return NULL;
    self->owner = Py_NewRef(object);
    self->data = (void *)(uintptr_t)address;
    self->size = size;
    return (PyObject *)self;
}

static void release_batch(void *context) {
    arrow_array *array = context;
    if (array->release != NULL)
        array->release(array);
    free(array);
}

static void batch_dealloc(PyObject *object) {
    arrow_batch *self = (arrow_batch *)object;
    arrow_array *array = self->array.release != NULL ? malloc(sizeof *array) : NULL;
    if (array != NULL) {
        *array = self->array;
        native_release_later(release_batch, array);
    }
    native_free(object);
}

/* ---- what arrays and schemas look like ---- */

static PyObject *describe_array(const arrow_array *array, int depth);
static PyObject *describe_schema(const arrow_schema *schema, int depth);

static bool too_deep(int depth) {
    if (depth > MOST_DEPTH)
        PyErr_Format(PyExc_ValueError, "Arrow types nested more than %d deep", MOST_DEPTH);
    return depth > MOST_DEPTH;
}

static PyObject *addresses(const arrow_array *array) {
    PyObject *list = PyList_New((Py_ssize_t)array->n_buffers);
    for (int64_t i = 0; list != NULL && i < array->n_buffers; i++) {
        PyObject *item = PyLong_FromUnsignedLongLong((uintptr_t)array->buffers[i]);
        if (item == NULL || PyList_SetItem(list, (Py_ssize_t)i, item) != 0)
            Py_CLEAR(list);
    }
    return list;
}

/* (length, count of nulls or -1, offset, addresses of buffers, children, dictionary or None) */
static PyObject *describe_array(const arrow_array *array, int depth) {
    if (too_deep(depth))
        return NULL;
    PyObject *buffers = addresses(array);
    PyObject *children = buffers == NULL ? NULL : PyList_New((Py_ssize_t)array->n_children);
    PyObject *dictionary = NULL;
    for (int64_t i = 0; children != NULL && i < array->n_children; i++) {
        PyObject *item = describe_array(array->children[i], depth + 1);
        if (item == NULL || PyList_SetItem(children, (Py_ssize_t)i, item) != 0)
            Py_CLEAR(children);
    }
    if (children != NULL)
        dictionary = array->dictionary == NULL ? Py_NewRef(Py_None)
                                               : describe_array(array->dictionary, depth + 1);
    if (dictionary != NULL)
        return Py_BuildValue("(LLLNNN)", (long long)array->length, (long long)array->null_count,
                             (long long)array->offset, buffers, children, dictionary);
    Py_XDECREF(buffers);
    Py_XDECREF(children);
    return NULL;
}

/* How many bytes a schema's metadata have: a count of pairs, and of each its sizes and bytes. */
static Py_ssize_t metadata_size(const char *metadata) {
    int32_t pairs = 0, size = 0;
    const char *at = metadata;
    memcpy(&pairs, at, sizeof pairs);
    at += sizeof pairs;
    for (int64_t i = 0; i < 2 * (int64_t)pairs; i++) {
        memcpy(&size, at, sizeof size);
        at += (Py_ssize_t)sizeof size + (size > 0 ? size : 0);
    }
    return at - metadata;
}

static PyObject *text_or_none(const char *text, Py_ssize_t size) {
    return text == NULL ? Py_NewRef(Py_None) : PyBytes_FromStringAndSize(text, size);
}

/* (format, name, flags, children, dictionary or None, metadata or None); texts are bytes. */
static PyObject *describe_schema(const arrow_schema *schema, int depth) {
    if (too_deep(depth))
        return NULL;
    PyObject *dictionary = NULL, *metadata = NULL;
    PyObject *children = PyList_New((Py_ssize_t)schema->n_children);
    for (int64_t i = 0; children != NULL && i < schema->n_children; i++) {
        PyObject *item = describe_schema(schema->children[i], depth + 1);
        if (item == NULL || PyList_SetItem(children, (Py_ssize_t)i, item) != 0)
            Py_CLEAR(children);
    }
    if (children != NULL)
        dictionary = schema->dictionary == NULL ? Py_NewRef(Py_None)
                                                : describe_schema(schema->dictionary, depth + 1);
    if (dictionary != NULL)
        metadata = text_or_none(schema->metadata,
                                schema->metadata == NULL ? 0 : metadata_size(schema->metadata));
    if (metadata != NULL)
        return Py_BuildValue("(yyLNNN)", schema->format, schema->name == NULL ? "" : schema->name,
                             (long long)schema->flags, children, dictionary, metadata);
    Py_XDECREF(children);
    Py_XDECREF(dictionary);
    return NULL;
}

/* ---- reading ---- */

/* Takes what a capsule holds; the capsule keeps an empty struct. */
static int take_capsule(PyObject *capsule, const char *name, void *out, size_t size,
                        size_t release_at) {
    void *held = PyCapsule_GetPointer(capsule, name);
    if (held == NULL)
        return -1;
    memcpy(out, held, size);
    if (*(void **)(void *)((char *)out + release_at) == NULL) {
        PyErr_Format(PyExc_ValueError, "the capsule \"%s\" was consumed before", name);
        return -1;
    }
    memset((char *)held + release_at, 0, sizeof(void *));
    return 0;
}

#define TAKE(capsule, name, out)                                                                   \
    take_capsule(capsule, name, out, sizeof *(out),                                                \
                 (size_t)((char *)&(out)->release - (char *)(out)))

/* Raises what a call of the stream failed with. */
static PyObject *fail(arrow_reader *self, int code) {
    const char *text =
        self->stream.get_last_error != NULL ? self->stream.get_last_error(&self->stream) : NULL;
    PyErr_Format(PyExc_OSError, "the Arrow stream failed: %s",
                 text != NULL && text[0] != '\0' ? text : strerror(code));
    return NULL;
}

static arrow_reader *new_reader(void) {
    return (arrow_reader *)PyType_GenericAlloc(reader_type, 0);
}

/* open(capsule): takes over an "arrow_array_stream". */
static PyObject *reader_open(PyObject *class, PyObject *capsule) {
    (void)class;
    arrow_reader *self = new_reader();
    if (self == NULL || TAKE(capsule, ARROW_STREAM, &self->stream) != 0) {
        Py_XDECREF((PyObject *)self);
        return NULL;
    }
    int code = 0;
    Py_BEGIN_ALLOW_THREADS;
    code = self->stream.get_schema(&self->stream, &self->schema);
    Py_END_ALLOW_THREADS;
    if (code != 0) {
        self->schema.release = NULL;
        fail(self, code);
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

/* of_array(schema, array): takes over the capsules of one array. */
static PyObject *reader_of_array(PyObject *class, PyObject *args) {
    (void)class;
    PyObject *schema = NULL, *array = NULL;
    if (!PyArg_ParseTuple(args, "OO", &schema, &array))
        return NULL;
    arrow_reader *self = new_reader();
    if (self == NULL || TAKE(schema, ARROW_SCHEMA, &self->schema) != 0 ||
        TAKE(array, ARROW_ARRAY, &self->array) != 0)
        Py_CLEAR(self);
    return (PyObject *)self;
}

static PyObject *reader_schema(PyObject *object, PyObject *unused) {
    (void)unused;
    return describe_schema(&((arrow_reader *)object)->schema, 0);
}

/* The next array of the stream, without a release where there is none; -1 with an exception. */
static int next_array(arrow_reader *self, arrow_array *out) {
    int code = 0;
    if (self->stream.release == NULL) { /* made of one array */
        *out = self->array;
        self->array.release = NULL;
        return 0;
    }
    if (self->busy) {
        PyErr_SetString(PyExc_ValueError, "another thread reads this Arrow stream");
        return -1;
    }
    self->busy = true;
    Py_BEGIN_ALLOW_THREADS;
    code = self->stream.get_next(&self->stream, out);
    Py_END_ALLOW_THREADS;
    self->busy = false;
    if (code != 0) {
        out->release = NULL;
        fail(self, code);
    }
    return code != 0 ? -1 : 0;
}

/* next(): (batch, what it looks like); None at the end. */
static PyObject *reader_next(PyObject *object, PyObject *unused) {
    (void)unused;
    arrow_batch *batch = (arrow_batch *)PyType_GenericAlloc(batch_type, 0);
    if (batch == NULL || next_array((arrow_reader *)object, &batch->array) != 0) {
        Py_XDECREF((PyObject *)batch);
        return NULL;
    }
    if (batch->array.release == NULL) {
        Py_DECREF((PyObject *)batch);
        Py_RETURN_NONE;
    }
    PyObject *tree = describe_array(&batch->array, 0);
    if (tree == NULL)
        Py_CLEAR(batch);
    return tree == NULL ? NULL : Py_BuildValue("(NN)", batch, tree);
}

static void reader_dealloc(PyObject *object) {
    arrow_reader *self = (arrow_reader *)object;
    if (self->array.release != NULL)
        self->array.release(&self->array);
    if (self->schema.release != NULL)
        self->schema.release(&self->schema);
    if (self->stream.release != NULL)
        self->stream.release(&self->stream);
    native_free(object);
}

/* ---- types ---- */

static PyMethodDef reader_methods[] = {
    {"open", reader_open, METH_O | METH_STATIC, "open(capsule of a stream) -> ArrowReader."},
    {"of_array", reader_of_array, METH_VARARGS | METH_STATIC,
     "of_array(capsule of a schema, capsule of an array) -> ArrowReader of one batch."},
    {"schema", reader_schema, METH_NOARGS,
     "(format, name, flags, children, dictionary, metadata)."},
    {"next", reader_next, METH_NOARGS,
     "(batch, (length, nulls, offset, addresses, children, dictionary)); None at the end."},
    {0},
};

static PyMethodDef batch_methods[] = {
    {"memory", batch_memory, METH_VARARGS, "memory(address, size): bytes that keep the batch."},
    {0},
};

static PyType_Slot reader_slots[] = {
    {Py_tp_doc, "An Arrow stream that is being read."},
    {Py_tp_dealloc, (void *)reader_dealloc},
    {Py_tp_methods, reader_methods},
    {0},
};

static PyType_Slot batch_slots[] = {
    {Py_tp_doc, "The memory of an Arrow array."},
    {Py_tp_dealloc, (void *)batch_dealloc},
    {Py_tp_methods, batch_methods},
    {0},
};

static PyType_Slot memory_slots[] = {
    {Py_tp_doc, "Bytes of an ArrowBatch."},
    {Py_tp_dealloc, (void *)memory_dealloc},
    {Py_bf_getbuffer, (void *)memory_buffer},
    {0},
};

static PyType_Spec reader_spec = {
    .name = "leat._native.ArrowReader",
    .basicsize = sizeof(arrow_reader),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = reader_slots,
};

static PyType_Spec batch_spec = {
    .name = "leat._native.ArrowBatch",
    .basicsize = sizeof(arrow_batch),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = batch_slots,
};

static PyType_Spec memory_spec = {
    .name = "leat._native.ArrowMemory",
    .basicsize = sizeof(arrow_memory),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = memory_slots,
};

int native_add_arrow(PyObject *module) {
    return native_add_type(module, &reader_spec, &reader_type) != 0 ||
                   native_add_type(module, &batch_spec, &batch_type) != 0 ||
                   native_add_type(module, &memory_spec, &memory_type) != 0
               ? -1
               : 0;
}
