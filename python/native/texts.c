/* Python's texts as bytes of C: paths, names, and values of strings.
 *
 * A path that is no UTF-8 is text with surrogates in Python (os.fsdecode), which stand for its
 * bytes and become them here again: C knows bytes alone. A surrogate that stands for no byte is
 * refused, with the text as ASCII escapes; no UnicodeEncodeError leaves this file. */
#include "native.h"
#include <string.h>

/* Raises InvalidArgumentError in the place of the UnicodeEncodeError that is set; another exception
 * stays. Returns 0. */
static int refuse(PyObject *text, const char *what, const char *advice) {
    if (PyErr_ExceptionMatches(PyExc_UnicodeEncodeError) == 0)
        return 0;
    PyErr_Clear();
    PyObject *escaped = PyObject_ASCII(text);
    PyObject *bytes = escaped == NULL ? NULL : PyUnicode_AsASCIIString(escaped);
    Py_XDECREF(escaped);
    if (bytes == NULL)
        return 0;
    native_refuse(what, PyBytes_AsString(bytes), advice);
    Py_DECREF(bytes);
    return 0;
}

int native_path(PyObject *object, void *out) {
    PyObject **bytes = out;
    if (object == NULL) {
        Py_CLEAR(*bytes);
        return 1;
    }
    int found = PyUnicode_FSConverter(object, bytes);
    return found != 0
               ? found
               : refuse(object, "is no path",
                        "give bytes, or text whose surrogates os.fsdecode has made of bytes");
}

int native_path_or_none(PyObject *object, void *out) {
    if (object != Py_None)
        return native_path(object, out);
    *(PyObject **)out = NULL;
    return 1;
}

int native_name(PyObject *object, void *out) {
    Py_ssize_t size = 0;
    const char *text = PyUnicode_AsUTF8AndSize(object, &size);
    if (text == NULL)
        return refuse(object, "is no name", "names are of characters that UTF-8 has");
    if (strlen(text) != (size_t)size) {
        PyErr_SetString(PyExc_ValueError, "embedded null character");
        return 0;
    }
    *(const char **)out = text;
    return 1;
}

int native_name_or_none(PyObject *object, void *out) {
    if (object != Py_None)
        return native_name(object, out);
    *(const char **)out = NULL;
    return 1;
}

const char *native_chars(PyObject *bytes) {
    return bytes == NULL ? NULL : PyBytes_AsString(bytes);
}

PyObject *native_path_bytes(PyObject *module, PyObject *path) {
    (void)module;
    PyObject *bytes = NULL;
    return native_path(path, &bytes) == 0 ? NULL : bytes;
}

PyObject *native_text_bytes(PyObject *module, PyObject *text) {
    (void)module;
    PyObject *bytes = PyUnicode_AsEncodedString(text, "utf-8", "surrogateescape");
    if (bytes == NULL)
        refuse(text, "is no text", "give bytes, or characters that UTF-8 has");
    return bytes;
}
