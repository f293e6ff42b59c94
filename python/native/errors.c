/* Errors of leat as exceptions, and exceptions of callbacks as errors of leat.
 *
 * An exception on its way through C is kept in a small table under a number that its error carries
 * as payload; native_raise takes it out again, so that it arrives unchanged, with its traceback.
 * The table forgets the oldest when it is full; such an error arrives as the class of its code. */
#include "native.h"
#include <stdio.h>
#include <string.h>

enum { NUM_CODES = 17, MOST_KEPT = 256 };

static PyObject *classes[NUM_CODES];
static struct kept {
    uint64_t number;
    PyObject *exception;
} kept[MOST_KEPT];
static uint64_t last_number;
/* The KeyboardInterrupt that ended a callback of the present call, or NULL: the iterator was
 * cancelled by the same Ctrl-C, and may say only that. */
static PyObject *interrupt;

PyObject *native_set_error_classes(PyObject *module, PyObject *list) {
    (void)module;
    for (int code = 0; code < NUM_CODES; code++) {
        PyObject *class = PySequence_GetItem(list, code);
        if (class == NULL)
            return NULL;
        Py_XDECREF(classes[code]);
        classes[code] = class;
    }
    Py_RETURN_NONE;
}

/* Keeps an exception (given) and returns its number, never 0. */
static uint64_t keep(PyObject *exception) {
    struct kept *place = &kept[++last_number % MOST_KEPT];
    Py_XDECREF(place->exception);
    *place = (struct kept){.number = last_number, .exception = exception};
    return last_number;
}

/* Bytes of names that are no UTF-8 are there as escapes. */
static PyObject *text_of(const char *text) {
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "backslashreplace");
}

/* Takes the exception that the error carries out of the table; NULL: none. The text is its note. */
static PyObject *take_kept(const leat_error *err) {
    struct kept *place = &kept[err->payload % MOST_KEPT];
    if (err->payload == 0 || place->number != err->payload || place->exception == NULL)
        return NULL;
    PyObject *exception = place->exception;
    place->exception = NULL;
    char words[LEAT_ERROR_TEXT + sizeof("leat: ")];
    snprintf(words, sizeof(words), "leat: %s", err->text);
    PyObject *note = text_of(words);
    PyObject *added = note == NULL ? NULL : PyObject_CallMethod(exception, "add_note", "O", note);
    if (added == NULL)
        PyErr_Clear(); /* an exception without notes still arrives */
    Py_XDECREF(added);
    Py_XDECREF(note);
    return exception;
}

void native_forget_interrupt(void) {
    Py_CLEAR(interrupt);
}

/* Sets an attribute to `value` (given; NULL: an exception is set). */
static int give(PyObject *exception, const char *name, PyObject *value) {
    int set = value == NULL ? -1 : PyObject_SetAttrString(exception, name, value);
    Py_XDECREF(value);
    return set;
}

/* What is known of the place becomes attributes of an exception of leat.errors, whose class has
 * None for the rest. */
static int give_place(PyObject *exception, const leat_error *err) {
    int set = give(exception, "reason", text_of(leat_reason_name(err->reason)));
    if (set == 0 && err->op[0] != '\0') {
        set = give(exception, "op", text_of(err->op));
        if (set == 0 && err->element >= 0)
            set = give(exception, "element", PyLong_FromLongLong(err->element));
    }
    if (set == 0 && err->file[0] != '\0') {
        set = give(exception, "file",
                   PyUnicode_DecodeFSDefault(err->file)); /* as Python's own functions give paths */
        if (set == 0 && err->byte >= 0)
            set = give(exception, "byte", PyLong_FromLongLong(err->byte));
    }
    return set;
}

PyObject *native_raise(const leat_error *err) {
    PyObject *own = take_kept(err);
    if (native_raise_kept()) {
        Py_XDECREF(own);
        native_forget_interrupt();
        return NULL;
    }
    if (own == NULL && err->code == LEAT_CANCELLED)
        own = Py_XNewRef(interrupt);
    native_forget_interrupt();
    int code = (int)err->code;
    PyObject *class = code > 0 && code < NUM_CODES ? classes[code] : NULL;
    if (own == NULL) {
        PyObject *text = text_of(err->text);
        PyObject *kind = class != NULL ? class : PyExc_RuntimeError;
        own = text == NULL ? NULL : PyObject_CallFunctionObjArgs(kind, text, NULL);
        Py_XDECREF(text);
        if (own != NULL && class != NULL && give_place(own, err) != 0)
            Py_CLEAR(own);
    }
    if (own != NULL) {
        PyErr_SetObject((PyObject *)Py_TYPE(own), own);
        Py_DECREF(own);
    }
    return NULL;
}

void native_refuse(const char *what, const char *text, const char *advice) {
    leat_error err = {0};
    leat_error_set(&err, LEAT_INVALID_ARGUMENT, "%.400s %s; %s", text, what, advice);
    native_raise(&err);
}

/* "ValueError: text" of an exception, cut to the array. */
static void describe(PyObject *exception, char *text, size_t size) {
    PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(exception), "__name__");
    PyObject *words = PyObject_Str(exception);
    const char *name_text = name == NULL ? NULL : PyUnicode_AsUTF8AndSize(name, NULL);
    const char *words_text = words == NULL ? NULL : PyUnicode_AsUTF8AndSize(words, NULL);
    snprintf(text, size, "%s: %s", name_text != NULL ? name_text : "exception",
             words_text != NULL ? words_text : "");
    PyErr_Clear();
    Py_XDECREF(name);
    Py_XDECREF(words);
}

/* The code under which an exception of a class travels: its own where it is one of leat's. */
static leat_status code_of(PyObject *exception) {
    for (int code = 1; code < NUM_CODES; code++)
        if (classes[code] != NULL && PyErr_GivenExceptionMatches(exception, classes[code]))
            return (leat_status)code;
    if (PyErr_GivenExceptionMatches(exception, PyExc_StopIteration))
        return LEAT_OUT_OF_RANGE;
    return PyErr_GivenExceptionMatches(exception, PyExc_ValueError) ||
                   PyErr_GivenExceptionMatches(exception, PyExc_TypeError)
               ? LEAT_INVALID_ARGUMENT
               : LEAT_UNKNOWN;
}

leat_status native_catch(leat_error *err) {
    PyObject *type = NULL, *value = NULL, *traceback = NULL;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (value == NULL) {
        leat_error_set(err, LEAT_UNKNOWN, "a Python callback failed without an exception");
    } else {
        if (traceback != NULL)
            PyException_SetTraceback(value, traceback);
        if (PyErr_GivenExceptionMatches(value, PyExc_KeyboardInterrupt)) {
            native_forget_interrupt();
            interrupt = Py_NewRef(value);
        }
        char text[LEAT_ERROR_TEXT] = "";
        describe(value, text, sizeof(text));
        leat_error_set(err, code_of(value), "%s", text);
        err->payload = keep(Py_NewRef(value));
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return err->code;
}

void native_call_aside(PyObject *object, const char *name) {
    PyObject *kind = NULL, *value = NULL, *traceback = NULL;
    PyErr_Fetch(&kind, &value, &traceback);
    PyObject *result = PyObject_CallMethod(object, name, NULL);
    if (result == NULL)
        PyErr_WriteUnraisable(object);
    Py_XDECREF(result);
    PyErr_Restore(kind, value, traceback);
}
