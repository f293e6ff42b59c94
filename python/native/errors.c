/* Errors of leat as exceptions, and exceptions of callbacks as errors of leat.
 *
 * An exception on its way through C is kept in a small table under a number that its error text
 * ends with; native_raise takes it out again, so that it arrives unchanged, with its traceback. The
 * table forgets the oldest when it is full; such an error arrives as the class of its code. */
#include "native.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NUM_CODES = 17, MOST_KEPT = 256 };

static PyObject *classes[NUM_CODES];
static struct kept {
    long number;
    PyObject *exception;
} kept[MOST_KEPT];
static long last_number;
/* The KeyboardInterrupt that ended a callback of the present call, or NULL: the iterator was
 * cancelled by the same Ctrl-C, and may say only that. */
static PyObject *interrupt;

/* Behind it the process and the number of the exception: texts travel between the processes of a
 * job, each of which has exceptions of its own. */
static const char mark[] = " [python exception ";

PyObject *native_set_error_classes(PyObject *module, PyObject *list) {
    (void)module;
    for (int code = 0; code < NUM_CODES; code++) {
        PyObject *class = PySequence_GetItem(list, code);
        if (class == NULL) {
            return NULL;
        }
        Py_XDECREF(classes[code]);
        classes[code] = class;
    }
    Py_RETURN_NONE;
}

/* Keeps an exception (given) and returns its number. */
static long keep(PyObject *exception) {
    struct kept *place = &kept[++last_number % MOST_KEPT];
    Py_XDECREF(place->exception);
    *place = (struct kept){.number = last_number, .exception = exception};
    return last_number;
}

/* Takes the exception that the text's mark names out of the table; NULL: none. The text without
 * the mark is its note. */
static PyObject *take_kept(const char *text) {
    const char *at = strstr(text, mark);
    if (at == NULL) {
        return NULL;
    }
    char *end = NULL;
    long process = strtol(at + sizeof(mark) - 1, &end, 10);
    long number = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
    struct kept *place = &kept[number > 0 ? number % MOST_KEPT : 0];
    if (number < 1 || process != (long)getpid() || place->number != number ||
        place->exception == NULL) {
        return NULL;
    }
    PyObject *exception = place->exception;
    place->exception = NULL;
    char words[LEAT_ERROR_TEXT + sizeof("leat: ")];
    snprintf(words, sizeof(words), "leat: %.*s", (int)(at - text), text);
    PyObject *note = PyUnicode_DecodeUTF8(words, (Py_ssize_t)strlen(words), "replace");
    PyObject *added = note == NULL ? NULL : PyObject_CallMethod(exception, "add_note", "O", note);
    if (added == NULL) {
        PyErr_Clear(); /* an exception without notes still arrives */
    }
    Py_XDECREF(added);
    Py_XDECREF(note);
    return exception;
}

void native_forget_interrupt(void) {
    Py_CLEAR(interrupt);
}

/* The text, without the mark of an exception that is not here. */
static PyObject *text_of(const char *text) {
    const char *at = strstr(text, mark), *end = at == NULL ? NULL : strchr(at, ']');
    if (end == NULL) {
        return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    }
    char words[LEAT_ERROR_TEXT];
    snprintf(words, sizeof(words), "%.*s%s", (int)(at - text), text, end + 1);
    return PyUnicode_DecodeUTF8(words, (Py_ssize_t)strlen(words), "replace");
}

PyObject *native_raise(const leat_error *err) {
    PyObject *own = take_kept(err->text);
    if (own == NULL && err->code == LEAT_CANCELLED) {
        own = Py_XNewRef(interrupt);
    }
    native_forget_interrupt();
    if (own != NULL) {
        PyErr_SetObject((PyObject *)Py_TYPE(own), own);
        Py_DECREF(own);
        return NULL;
    }
    int code = (int)err->code;
    PyObject *class = code > 0 && code < NUM_CODES ? classes[code] : NULL;
    PyObject *text = text_of(err->text);
    if (text != NULL) {
        PyErr_SetObject(class != NULL ? class : PyExc_RuntimeError, text);
        Py_DECREF(text);
    }
    return NULL;
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
    for (int code = 1; code < NUM_CODES; code++) {
        if (classes[code] != NULL && PyErr_GivenExceptionMatches(exception, classes[code])) {
            return (leat_status)code;
        }
    }
    if (PyErr_GivenExceptionMatches(exception, PyExc_StopIteration)) {
        return LEAT_OUT_OF_RANGE;
    }
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
        err->code = LEAT_UNKNOWN;
        snprintf(err->text, sizeof(err->text), "a Python callback failed without an exception");
    } else {
        if (traceback != NULL) {
            PyException_SetTraceback(value, traceback);
        }
        if (PyErr_GivenExceptionMatches(value, PyExc_KeyboardInterrupt)) {
            native_forget_interrupt();
            interrupt = Py_NewRef(value);
        }
        char text[LEAT_ERROR_TEXT / 2] = "";
        describe(value, text, sizeof(text));
        err->code = code_of(value);
        snprintf(err->text, sizeof(err->text), "%s%s%ld.%ld]", text, mark, (long)getpid(),
                 keep(Py_NewRef(value)));
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return err->code;
}
