/* What the writers of files have in common.
 *
 * A writer belongs to one thread at a time: a call that meets another one in progress raises
 * ValueError. One that is dropped unclosed is closed, as in TensorFlow; what fails then is reported
 * as unraisable. */
#include "native.h"

PyObject *native_writing_new(PyTypeObject *type, void *writer, native_writing_end close,
                             native_writing_end discard) {
    native_writing *self = (native_writing *)PyType_GenericAlloc(type, 0);
    if (self == NULL) {
        (void)discard(writer, &(leat_error){0});
        return NULL;
    }
    self->writer = writer;
    self->close = close;
    return (PyObject *)self;
}

void *native_writing_usable(PyObject *object) {
    native_writing *self = (native_writing *)object;
    if (self->writer == NULL) {
        PyErr_SetString(PyExc_ValueError, "the writer is closed; open a new one");
        return NULL;
    }
    if (self->is_busy) {
        PyErr_SetString(PyExc_ValueError,
                        "another thread is in a call of this writer; put a lock around it");
        return NULL;
    }
    return self->writer;
}

PyObject *native_writing_end_by(PyObject *object, native_writing_end end) {
    native_writing *self = (native_writing *)object;
    void *writer = self->writer;
    leat_error err = {0};
    leat_status status = LEAT_OK;
    if (writer == NULL)
        Py_RETURN_NONE;
    if (native_writing_usable(object) == NULL)
        return NULL;
    self->writer = NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = end(writer, &err);
    Py_END_ALLOW_THREADS;
    if (status != LEAT_OK)
        return native_raise(&err);
    Py_RETURN_NONE;
}

PyObject *native_writing_close(PyObject *object, PyObject *unused) {
    (void)unused;
    return native_writing_end_by(object, ((native_writing *)object)->close);
}

void native_writing_dealloc(PyObject *object) {
    PyObject *kind = NULL, *value = NULL, *traceback = NULL;
    PyErr_Fetch(&kind, &value, &traceback);
    PyObject *result = native_writing_close(object, NULL);
    if (result == NULL)
        PyErr_WriteUnraisable((PyObject *)Py_TYPE(object));
    Py_XDECREF(result);
    PyErr_Restore(kind, value, traceback);
    native_free(object);
}
