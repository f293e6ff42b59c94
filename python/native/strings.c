/* Tensors of strings out of memory of others and into it, without an object of Python's for each.
 *
 * strings_at makes views of bytes that lie somewhere already (an Arrow buffer, a mapped file);
 * strings_joined puts the bytes of all strings in a row, as Arrow's layout has them. */
#include "native.h"
#include <string.h>

enum { STOP_EVERY = 1 << 16 };

static void release_owner(void *context) {
    Py_DECREF((PyObject *)context);
}

static void views_deleter(void *context, void *data, size_t size) {
    (void)size;
    free(data);
    native_release_later(release_owner, context);
}

/* The strings that two arrays of int64 tell of; PyExc_MemoryError where there is no room. */
static leat_string *views_at(const Py_buffer *addresses, const Py_buffer *sizes) {
    Py_ssize_t count = addresses->len / (Py_ssize_t)sizeof(int64_t);
    leat_string *strings = malloc(((size_t)count + 1) * sizeof *strings);
    if (strings == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        int64_t address = ((const int64_t *)addresses->buf)[i];
        int64_t size = ((const int64_t *)sizes->buf)[i];
        strings[i] = size <= 0 ? (leat_string){.data = ""}
                               : (leat_string){.data = (const char *)(uintptr_t)address,
                                               .size = (size_t)size};
    }
    return strings;
}

PyObject *native_strings_at(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *owner = NULL, *dims = NULL;
    Py_buffer addresses, sizes;
    leat_shape shape = {0};
    leat_error err = {0};
    if (!PyArg_ParseTuple(args, "y*y*OO", &addresses, &sizes, &owner, &dims))
        return NULL;
    leat_tensor tensor = {0};
    leat_string *strings = NULL;
    if (native_read_shape(dims, &shape) == 0) {
        tensor = leat_tensor_view(LEAT_STRING, shape, NULL);
        if (addresses.len == sizes.len &&
            leat_tensor_count(&tensor) == addresses.len / (Py_ssize_t)sizeof(int64_t))
            strings = views_at(&addresses, &sizes);
        else
            PyErr_SetString(PyExc_ValueError, "addresses and sizes do not fill the shape");
    }
    PyBuffer_Release(&addresses);
    PyBuffer_Release(&sizes);
    if (strings == NULL)
        return NULL;
    Py_INCREF(owner); /* the deleter lets it go, also where adopting fails */
    tensor.data = strings;
    tensor.owner = leat_buffer_adopt(strings, (size_t)leat_tensor_count(&tensor) * sizeof *strings,
                                     views_deleter, owner, &err);
    return tensor.owner == NULL ? native_raise(&err) : native_tensor_new(&tensor);
}

PyObject *native_strings_joined(PyObject *module, PyObject *object) {
    (void)module;
    const leat_tensor *tensor = native_tensor_of(object);
    if (tensor == NULL)
        return NULL;
    if (tensor->dtype != LEAT_STRING)
        return PyErr_Format(PyExc_TypeError, "a tensor of %s; expected strings",
                            leat_dtype_name(tensor->dtype));
    const leat_string *strings = tensor->data;
    int64_t count = leat_tensor_count(tensor), total = 0;
    PyObject *offsets =
        PyBytes_FromStringAndSize(NULL, (Py_ssize_t)((size_t)(count + 1) * sizeof(int64_t)));
    if (offsets == NULL)
        return NULL;
    int64_t *places = (int64_t *)(void *)PyBytes_AsString(offsets);
    for (int64_t i = 0; i < count; i++) {
        places[i] = total;
        total += (int64_t)strings[i].size;
    }
    places[count] = total;
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)total);
    char *to = bytes == NULL ? NULL : PyBytes_AsString(bytes);
    for (int64_t i = 0; to != NULL && i < count; i++) {
        if (strings[i].size > 0)
            memcpy(to + places[i], strings[i].data, strings[i].size);
        if (i % STOP_EVERY == STOP_EVERY - 1 && PyErr_CheckSignals() != 0)
            to = NULL;
    }
    if (to == NULL) {
        Py_DECREF(offsets);
        Py_XDECREF(bytes);
        return NULL;
    }
    return Py_BuildValue("(NN)", offsets, bytes);
}
