/* Generators: from_generator over a Python callable.
 *
 * start(tensors) gives an iterator of lists of tensors, or where a value does not fit of tuples
 * (JSON of its spec, tensors); each run holds one, which the
 * callback keeps, so that Python's collector sees it (held.c). What it raises arrives at the
 * consumer; StopIteration is the end; close ends it early. All under the GIL, from any thread. */
#include "native.h"

static leat_status generator_open(void *context, const leat_element *args, void **run,
                                  leat_error *err) {
    native_callback *generator = context;
    leat_status status = LEAT_OK;
    if (!native_is_running())
        return leat_error_set(err, LEAT_CANCELLED, "Python is ending");
    PyGILState_STATE gil = native_enter_python();
    PyObject *start = native_callback_callable(generator, err), *values = NULL;
    PyObject *tensors = start == NULL ? NULL : native_element_list(args);
    if (tensors != NULL)
        values = PyObject_CallFunctionObjArgs(start, tensors, NULL);
    Py_XDECREF(tensors);
    if (start == NULL)
        status = err->code;
    else if (values == NULL || native_callback_keep(generator, values) != 0)
        status = native_catch(err);
    *run = status == LEAT_OK ? values : NULL;
    Py_XDECREF(values);
    Py_XDECREF(start);
    native_leave_python(gil);
    return status;
}

static leat_status generator_next(void *context, void *run, leat_element *out, leat_error *err) {
    native_callback *generator = context;
    leat_status status = LEAT_OK;
    if (!native_is_running())
        return leat_error_set(err, LEAT_CANCELLED, "Python is ending");
    PyGILState_STATE gil = native_enter_python();
    PyObject *value = PyIter_Next(Py_NewRef(run));
    Py_ssize_t count = 0;
    bool fits = value != NULL && !PyTuple_Check(value);
    leat_tensor *tensors = fits ? native_tensors(value, &count) : NULL;
    if (value == NULL && PyErr_Occurred() == NULL)
        status = LEAT_OUT_OF_RANGE;
    else if (value != NULL && !fits && native_read_element(value, out, NULL) == 0)
        status = LEAT_OK; /* the operator says what does not fit */
    else if (tensors == NULL || native_callback_keep_results(generator, tensors, count, value) != 0)
        status = native_catch(err);
    else
        status = leat_element_set(out, native_callback_output(generator), tensors, err);
    PyMem_Free(tensors);
    Py_DECREF((PyObject *)run);
    Py_XDECREF(value);
    native_leave_python(gil);
    return status;
}

static void generator_close(void *context, void *run) {
    if (!native_is_running() || run == NULL)
        return;
    /* An exception that leaves a loop frees the loop's iterator while it is set on this thread. */
    PyGILState_STATE gil = native_enter_python();
    PyObject *values = Py_NewRef((PyObject *)run);
    native_callback_forget(context, values);
    native_call_aside(values, "close");
    Py_DECREF(values);
    native_leave_python(gil);
}

PyObject *native_dataset_generator(PyObject *class, PyObject *args) {
    (void)class;
    static const leat_generator calls = {
        .open = generator_open, .next = generator_next, .close = generator_close};
    PyObject *start = NULL, *json = NULL, *given = NULL, *result = NULL;
    leat_spec *output = NULL;
    leat_element arguments = {0};
    leat_error err = {0};
    if (!PyArg_ParseTuple(args, "OOO!", &start, &json, &PyTuple_Type, &given) ||
        native_spec(json, &output) != 0)
        return NULL;
    native_callback *generator = native_callback_new(start, output);
    PyObject *held = generator == NULL ? NULL : native_held_new(generator);
    if (held != NULL && native_read_element(given, &arguments, &held) == 0) {
        leat_dataset_from_generator_options options = {LEAT_DATASET_FROM_GENERATOR_DEFAULTS,
                                                       .args = &arguments,
                                                       .release = native_callback_release};
        leat_dataset *dataset = leat_dataset_from_generator(&calls, generator, &options, output,
                                                            &err); /* output is given */
        result = native_dataset_new(dataset, held, &err);
    } else {
        if (generator != NULL)
            native_callback_release(generator);
        leat_spec_unref(output);
    }
    Py_XDECREF(held);
    leat_element_fini(&arguments);
    return result;
}
