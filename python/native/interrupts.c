/* Signals while the main thread is in a call of leat.
 *
 * Python's own handler only notes a signal, and a main thread that computes or waits in C never
 * looks. So leat asks here every 20 ms (leat_interrupt_set): handlers of Python run, as they do
 * between two of its instructions, and where one raises, as that of Ctrl-C does, the call ends. The
 * exception is kept until then: native_raise sets it, whatever the call itself says, or, where the
 * call was just done, Python does at its next instruction. Locks: the GIL. */
#include "native.h"

static PyObject *kept; /* the GIL; NULL: nothing */

/* A pending call of Python's: from its main thread, between two instructions. */
static int raise_kept(void *unused) {
    (void)unused;
    return native_raise_kept() ? -1 : 0;
}

bool native_raise_kept(void) {
    PyObject *exception = kept;
    kept = NULL;
    if (exception == NULL)
        return false;
    PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    Py_DECREF(exception);
    return true;
}

/* Keeps the exception that is set. */
static void keep_exception(void) {
    PyObject *type = NULL, *value = NULL, *traceback = NULL;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (value != NULL && traceback != NULL)
        PyException_SetTraceback(value, traceback);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    kept = value;
    (void)Py_AddPendingCall(raise_kept, NULL);
}

static bool interrupted(void *unused) {
    (void)unused;
    if (!native_is_running())
        return false;
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *type = NULL, *value = NULL, *traceback = NULL;
    PyErr_Fetch(&type, &value, &traceback); /* the call may have been made on the way out of one */
    if (kept == NULL && PyErr_CheckSignals() != 0)
        keep_exception();
    PyErr_Restore(type, value, traceback);
    bool stop = kept != NULL;
    PyGILState_Release(state);
    return stop;
}

/* Of the main thread, which runs handlers: it is asked from now on. */
static int watch_thread(void *unused) {
    (void)unused;
    leat_interrupt_set(interrupted, NULL);
    return 0;
}

PyObject *native_watch_interrupts(PyObject *module, PyObject *here) {
    (void)module;
    int main_thread = PyObject_IsTrue(here);
    if (main_thread < 0)
        return NULL;
    if (main_thread)
        (void)watch_thread(NULL);
    else
        (void)Py_AddPendingCall(watch_thread, NULL);
    Py_RETURN_NONE;
}
