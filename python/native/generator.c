/* Generators: from_generator over a Python callable.
 *
 * start(tensors) gives an iterator of lists of tensors, or where a value does not fit of tuples
 * (JSON of its spec, tensors); each run holds one. What it raises arrives
 * at the consumer; StopIteration is the end; close ends it early. All under the GIL, from any
 * thread. */
#include "native.h"

typedef struct python_generator {
    PyObject *start;
    leat_spec *output;
} python_generator;

static leat_status generator_open(void *context, const leat_element *args, void **run,
                                  leat_error *err) {
    const python_generator *generator = context;
    leat_status status = LEAT_OK;
    if (!native_is_running())
        return leat_error_set(err, LEAT_CANCELLED, "Python is ending");
    PyGILState_STATE gil = native_enter_python();
    PyObject *tensors = native_element_list(args);
    PyObject *values =
        tensors == NULL ? NULL : PyObject_CallFunctionObjArgs(generator->start, tensors, NULL);
    Py_XDECREF(tensors);
    if (values == NULL)
        status = native_catch(err);
    *run = values;
    native_leave_python(gil);
    return status;
}

static leat_status generator_next(void *context, void *run, leat_element *out, leat_error *err) {
    const python_generator *generator = context;
    leat_status status = LEAT_OK;
    if (!native_is_running())
        return leat_error_set(err, LEAT_CANCELLED, "Python is ending");
    PyGILState_STATE gil = native_enter_python();
    PyObject *value = PyIter_Next(run);
    Py_ssize_t count = 0;
    bool fits = value != NULL && !PyTuple_Check(value);
    leat_tensor *tensors = fits ? native_tensors(value, &count) : NULL;
    if (value == NULL && PyErr_Occurred() == NULL)
        status = LEAT_OUT_OF_RANGE;
    else if (value != NULL && !fits && native_read_element(value, out) == 0)
        status = LEAT_OK; /* the operator says what does not fit */
    else if (tensors == NULL)
        status = native_catch(err);
    else
        status = leat_element_set(out, generator->output, tensors, err);
    PyMem_Free(tensors);
    Py_XDECREF(value);
    native_leave_python(gil);
    return status;
}

static void generator_close(void *context, void *run) {
    (void)context;
    if (!native_is_running() || run == NULL)
        return;
    /* An exception that leaves a loop frees the loop's iterator while it is set on this thread. */
    PyGILState_STATE gil = native_enter_python();
    PyObject *kind = NULL, *value = NULL, *traceback = NULL;
    PyErr_Fetch(&kind, &value, &traceback);
    PyObject *result = PyObject_CallMethod(run, "close", NULL);
    if (result == NULL)
        PyErr_WriteUnraisable(run);
    Py_XDECREF(result);
    Py_DECREF((PyObject *)run);
    PyErr_Restore(kind, value, traceback);
    native_leave_python(gil);
}

static void drop_generator(void *context) {
    python_generator *generator = context;
    Py_XDECREF(generator->start);
    leat_spec_unref(generator->output);
    free(generator);
}

static void release_generator(void *context) {
    native_release_later(drop_generator, context);
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
    python_generator *generator = calloc(1, sizeof(*generator));
    if (generator == NULL) {
        leat_spec_unref(output);
        return PyErr_NoMemory();
    }
    if (native_read_element(given, &arguments) == 0) {
        *generator = (python_generator){.start = Py_NewRef(start), .output = leat_spec_ref(output)};
        leat_dataset_from_generator_options options = {
            LEAT_DATASET_FROM_GENERATOR_DEFAULTS, .args = &arguments, .release = release_generator};
        leat_dataset *dataset = leat_dataset_from_generator(&calls, generator, &options, output,
                                                            &err); /* output is given */
        result = native_dataset_new(dataset, &err);
    } else {
        free(generator);
        leat_spec_unref(output);
    }
    leat_element_fini(&arguments);
    return result;
}
