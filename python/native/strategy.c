/* Strategy and Step: tf.distribute's objects over the library's.
 *
 * Runs and reductions work without the GIL; Ctrl-C ends a run at its next exchange between
 * replicas. A strategy is used by one thread at a time, for which leat.distribute has a lock. After
 * a fork a child has none of the replicas' threads: a strategy of the parent says so, and is never
 * freed there. */
#include "native.h"
#include <unistd.h>

typedef struct native_strategy {
    PyObject_HEAD leat_strategy *strategy;
    pid_t process;
} native_strategy;

typedef struct native_step {
    PyObject_HEAD leat_step *step;
    pid_t process;
    PyObject *held; /* what the functions that it ran have (held.c); NULL: nothing */
} native_step;

static PyTypeObject *strategy_type, *step_type;

leat_strategy *native_strategy_of(PyObject *object) {
    if (!PyObject_TypeCheck(object, strategy_type)) {
        PyErr_SetString(PyExc_TypeError, "expected a native strategy");
        return NULL;
    }
    native_strategy *self = (native_strategy *)object;
    if (self->process != getpid()) {
        PyErr_SetString(PyExc_RuntimeError,
                        "this strategy belongs to the parent process, whose threads a fork does "
                        "not copy; make strategies after the fork, or start processes with spawn");
        return NULL;
    }
    return self->strategy;
}

/* ---- values per replica ---- */

PyObject *native_per_replica_list(const leat_per_replica *value) {
    PyObject *list = PyList_New(value->num_replicas);
    for (int r = 0; list != NULL && r < value->num_replicas; r++) {
        PyObject *item = native_element_list(&value->elements[r]);
        if (item == NULL || PyList_SetItem(list, r, item) != 0)
            Py_CLEAR(list);
    }
    return list;
}

/* The spec of tensors as they are, a tuple. Owned; NULL with `err`. */
static leat_spec *spec_of(const leat_tensor *tensors, int count, leat_error *err) {
    leat_spec **children = PyMem_Calloc((size_t)count + 1, sizeof(leat_spec *));
    if (children == NULL)
        return NULL;
    for (int i = 0; i < count; i++) {
        leat_shape shape = leat_tensor_shape(&tensors[i]);
        children[i] = leat_spec_tensor(tensors[i].dtype, shape, err);
    }
    leat_spec *spec = leat_spec_tuple(children, count, err);
    PyMem_Free(children);
    return spec;
}

/* One element of a sequence of tensors; `out` is {0}. */
static int read_tensors(PyObject *sequence, leat_element *out) {
    Py_ssize_t count = 0;
    leat_error err = {0};
    leat_tensor *tensors = native_tensors(sequence, &count);
    if (tensors == NULL)
        return -1;
    leat_spec *spec = spec_of(tensors, (int)count, &err);
    bool failed = spec == NULL || leat_element_set(out, spec, tensors, &err) != LEAT_OK;
    leat_spec_unref(spec);
    PyMem_Free(tensors);
    if (failed)
        native_raise(&err);
    return failed ? -1 : 0;
}

/* Values per replica of a sequence of sequences of tensors; `out` is {0}. On failure it is to be
 * given to drop_per_replica all the same. */
static int read_per_replica(PyObject *sequences, int replicas, leat_per_replica *out) {
    if (PySequence_Size(sequences) != replicas) {
        if (PyErr_Occurred() == NULL)
            PyErr_Format(PyExc_ValueError, "expected values for %d replicas", replicas);
        return -1;
    }
    out->elements = PyMem_Calloc((size_t)replicas, sizeof(leat_element));
    if (out->elements == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    out->num_replicas = replicas;
    for (int r = 0; r < replicas; r++) {
        PyObject *item = PySequence_GetItem(sequences, r);
        int status = item == NULL ? -1 : read_tensors(item, &out->elements[r]);
        Py_XDECREF(item);
        if (status != 0)
            return -1;
    }
    return 0;
}

static void drop_per_replica(leat_per_replica *value) {
    for (int r = 0; r < value->num_replicas; r++)
        leat_element_fini(&value->elements[r]);
    PyMem_Free(value->elements);
}

/* ---- strategies ---- */

/* The names of a list of devices such as "CPU:0" (PyMem_Free; None: NULL without an exception). */
static int read_devices(PyObject *devices, const char ***names, int *count) {
    *names = NULL;
    *count = 0;
    if (devices == Py_None)
        return 0;
    Py_ssize_t size = PyList_Size(devices);
    if (size < 0)
        return -1;
    *names = PyMem_Calloc((size_t)size + 1, sizeof(**names));
    if (*names == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < size; i++) {
        if (native_name(PyList_GetItem(devices, i), &(*names)[i]) == 0) {
            PyMem_Free(*names);
            return -1;
        }
    }
    *count = (int)size;
    return 0;
}

/* `strategy` is given; NULL raises `err`. */
static PyObject *strategy_object(leat_strategy *strategy, const leat_error *err) {
    native_strategy *self =
        strategy == NULL ? NULL : (native_strategy *)PyType_GenericAlloc(strategy_type, 0);
    if (self == NULL) {
        leat_strategy_unref(strategy);
        return strategy == NULL ? native_raise(err) : NULL;
    }
    self->strategy = strategy;
    self->process = getpid();
    return (PyObject *)self;
}

/* mirrored(devices): a list of names such as "CPU:0", None for all devices. */
static PyObject *strategy_mirrored(PyObject *class, PyObject *devices) {
    (void)class;
    leat_strategy_mirrored_options options = {LEAT_STRATEGY_MIRRORED_DEFAULTS};
    const char **names = NULL;
    leat_error err = {0};
    if (read_devices(devices, &names, &options.num_devices) != 0)
        return NULL;
    options.devices = names;
    leat_strategy *strategy = leat_strategy_mirrored(&options, &err);
    PyMem_Free(names);
    return strategy_object(strategy, &err);
}

/* multi_worker(TF_CONFIG's text, devices, communication, timeout_ms, start_timeout_ms,
 * bytes_per_pack, program): waits for all workers. */
static PyObject *strategy_multi_worker(PyObject *class, PyObject *args) {
    (void)class;
    leat_strategy_multi_worker_mirrored_options options = {
        LEAT_STRATEGY_MULTI_WORKER_MIRRORED_DEFAULTS};
    const char *config = NULL, **names = NULL;
    PyObject *devices = Py_None;
    long long timeout = 0, start = 0, pack = 0;
    int communication = 0;
    leat_error err = {0};
    if (!PyArg_ParseTuple(args, "sOiLLLs", &config, &devices, &communication, &timeout, &start,
                          &pack, &options.program) ||
        read_devices(devices, &names, &options.num_devices) != 0)
        return NULL;
    options.devices = names;
    options.communication = (leat_communication)communication;
    if (timeout != 0)
        options.timeout_ms = timeout;
    if (start != 0)
        options.start_timeout_ms = start;
    options.bytes_per_pack = pack;
    leat_cluster *cluster = leat_cluster_new(config, &err);
    leat_strategy *strategy = NULL;
    if (cluster != NULL) {
        options.cluster = cluster;
        Py_BEGIN_ALLOW_THREADS;
        strategy = leat_strategy_multi_worker_mirrored(&options, &err);
        Py_END_ALLOW_THREADS;
    }
    leat_cluster_free(cluster);
    PyMem_Free(names);
    return strategy_object(strategy, &err);
}

static void strategy_dealloc(PyObject *object) {
    native_strategy *self = (native_strategy *)object;
    if (self->process == getpid()) {
        Py_BEGIN_ALLOW_THREADS;
        leat_strategy_unref(self->strategy);
        Py_END_ALLOW_THREADS;
    }
    native_free(object);
}

/* place() -> (replicas of all workers, of this one, the number of its first one, workers, the
 * number of this one, one line that says so). */
static PyObject *strategy_place(PyObject *self, PyObject *unused) {
    (void)unused;
    const leat_strategy *strategy = ((native_strategy *)self)->strategy;
    return Py_BuildValue("(iiiiis)", leat_strategy_num_replicas(strategy),
                         leat_strategy_num_local_replicas(strategy),
                         leat_strategy_first_replica(strategy), leat_strategy_num_workers(strategy),
                         leat_strategy_worker(strategy), leat_strategy_describe(strategy));
}

static PyObject *strategy_enter(PyObject *self, PyObject *unused) {
    (void)unused;
    leat_strategy *strategy = native_strategy_of(self);
    leat_error err = {0};
    if (strategy == NULL)
        return NULL;
    if (leat_strategy_enter(strategy, &err) != LEAT_OK)
        return native_raise(&err);
    Py_RETURN_NONE;
}

static PyObject *strategy_exit(PyObject *self, PyObject *unused) {
    (void)unused;
    leat_strategy_exit(((native_strategy *)self)->strategy);
    Py_RETURN_NONE;
}

static void cancel_run(void *strategy) {
    leat_strategy_cancel(strategy);
}

/* The native functions of a sequence, one per replica (PyMem_Free); what they have is added to
 * `held`. */
static leat_function **functions_of(PyObject *sequence, int replicas, PyObject **held) {
    if (PySequence_Size(sequence) != replicas) {
        PyErr_Format(PyExc_ValueError, "expected functions for %d replicas", replicas);
        return NULL;
    }
    leat_function **functions = PyMem_Calloc((size_t)replicas, sizeof(leat_function *));
    for (int r = 0; functions != NULL && r < replicas; r++) {
        PyObject *item = PySequence_GetItem(sequence, r);
        functions[r] = item == NULL ? NULL : native_function_of(item);
        if (functions[r] != NULL && native_hold(held, native_function_held(item)) != 0)
            functions[r] = NULL;
        Py_XDECREF(item); /* the sequence keeps it */
        if (functions[r] == NULL) {
            PyMem_Free(functions);
            return NULL;
        }
    }
    return functions;
}

/* run(step, functions, arguments): one function and one list of tensors per replica; the results as
 * a list of lists. */
static PyObject *strategy_run(PyObject *self, PyObject *args) {
    leat_strategy *strategy = native_strategy_of(self);
    PyObject *step = NULL, *functions = NULL, *arguments = NULL, *result = NULL;
    leat_per_replica given = {0}, out = {0};
    leat_error err = {0};
    leat_status status = LEAT_OK;
    if (strategy == NULL ||
        !PyArg_ParseTuple(args, "O!OO", step_type, &step, &functions, &arguments))
        return NULL;
    int replicas = leat_strategy_num_local_replicas(strategy);
    leat_function **each = functions_of(functions, replicas, &((native_step *)step)->held);
    if (each == NULL || read_per_replica(arguments, replicas, &given) != 0) {
        drop_per_replica(&given);
        PyMem_Free(each);
        return NULL;
    }
    leat_step *run = ((native_step *)step)->step;
    native_wait_begin(cancel_run, strategy);
    Py_BEGIN_ALLOW_THREADS;
    status = leat_strategy_run_functions(strategy, run, each, &given, &out, &err);
    Py_END_ALLOW_THREADS;
    native_wait_end();
    if (status == LEAT_OK)
        result = native_per_replica_list(&out);
    else if (PyErr_CheckSignals() == 0)
        native_raise(&err);
    leat_per_replica_fini(&out);
    drop_per_replica(&given);
    PyMem_Free(each);
    return result;
}

enum { COMBINE_SUM, COMBINE_MEAN, COMBINE_GATHER };

static leat_status combine(leat_strategy *strategy, int how, const leat_per_replica *value,
                           int axis, leat_element *out, leat_error *err) {
    return how == COMBINE_GATHER
               ? leat_strategy_gather(strategy, value, axis, out, err)
               : leat_strategy_reduce(strategy,
                                      how == COMBINE_MEAN ? LEAT_REDUCE_MEAN : LEAT_REDUCE_SUM,
                                      value, axis, out, err);
}

/* What the values of all replicas, a list of tensors for each here, make together: a list. */
static PyObject *combined(PyObject *self, int how, PyObject *values, PyObject *axis) {
    leat_strategy *strategy = native_strategy_of(self);
    leat_per_replica given = {0};
    leat_element out = {0};
    leat_error err = {0};
    leat_status status = LEAT_OK;
    PyObject *result = NULL;
    if (strategy == NULL)
        return NULL;
    long along = axis == Py_None ? LEAT_NO_AXIS : PyLong_AsLong(axis);
    if ((along == -1 && PyErr_Occurred() != NULL) ||
        read_per_replica(values, leat_strategy_num_local_replicas(strategy), &given) != 0) {
        drop_per_replica(&given);
        return NULL;
    }
    native_wait_begin(cancel_run, strategy);
    Py_BEGIN_ALLOW_THREADS;
    status = combine(strategy, how, &given, (int)along, &out, &err);
    Py_END_ALLOW_THREADS;
    native_wait_end();
    if (status == LEAT_OK)
        result = native_element_list(&out);
    else if (PyErr_CheckSignals() == 0)
        native_raise(&err);
    leat_element_fini(&out);
    drop_per_replica(&given);
    return result;
}

/* reduce(mean, values, axis); axis None: over replicas alone. */
static PyObject *strategy_reduce(PyObject *self, PyObject *args) {
    PyObject *values = NULL, *axis = NULL;
    int mean = 0;
    return PyArg_ParseTuple(args, "pOO", &mean, &values, &axis)
               ? combined(self, mean ? COMBINE_MEAN : COMBINE_SUM, values, axis)
               : NULL;
}

/* gather(values, axis) */
static PyObject *strategy_gather(PyObject *self, PyObject *args) {
    PyObject *values = NULL, *axis = NULL;
    return PyArg_ParseTuple(args, "OO", &values, &axis)
               ? combined(self, COMBINE_GATHER, values, axis)
               : NULL;
}

/* Numbers of a sequence (PyMem_Free). */
static int64_t *read_numbers(PyObject *sequence, Py_ssize_t *count) {
    *count = PySequence_Size(sequence);
    int64_t *numbers = *count < 0 ? NULL : PyMem_Calloc((size_t)*count + 1, sizeof(*numbers));
    for (Py_ssize_t i = 0; numbers != NULL && i < *count; i++) {
        PyObject *item = PySequence_GetItem(sequence, i);
        numbers[i] = item == NULL ? -1 : PyLong_AsLongLong(item);
        Py_XDECREF(item);
        if (PyErr_Occurred() != NULL) {
            PyMem_Free(numbers);
            return NULL;
        }
    }
    return numbers;
}

/* exchange(numbers) -> those of all workers, one after the other. */
static PyObject *strategy_exchange(PyObject *self, PyObject *sequence) {
    leat_strategy *strategy = native_strategy_of(self);
    Py_ssize_t count = 0;
    leat_error err = {0};
    leat_status status = LEAT_OK;
    int64_t *mine = strategy == NULL ? NULL : read_numbers(sequence, &count);
    if (mine == NULL)
        return NULL;
    Py_ssize_t all = count * leat_strategy_num_workers(strategy);
    int64_t *out = PyMem_Calloc((size_t)all + 1, sizeof(*out));
    PyObject *list = out == NULL ? NULL : PyList_New(all);
    if (list != NULL) {
        native_wait_begin(cancel_run, strategy);
        Py_BEGIN_ALLOW_THREADS;
        status = leat_strategy_exchange(strategy, mine, (int)count, out, &err);
        Py_END_ALLOW_THREADS;
        native_wait_end();
    }
    for (Py_ssize_t i = 0; list != NULL && status == LEAT_OK && i < all; i++)
        if (PyList_SetItem(list, i, PyLong_FromLongLong(out[i])) != 0)
            Py_CLEAR(list);
    if (status != LEAT_OK) {
        Py_CLEAR(list);
        if (PyErr_CheckSignals() == 0)
            native_raise(&err);
    }
    PyMem_Free(mine);
    PyMem_Free(out);
    return list;
}

/* agree(what, text): FailedPreconditionError where a worker has another text. */
static PyObject *strategy_agree(PyObject *self, PyObject *args) {
    leat_strategy *strategy = native_strategy_of(self);
    const char *what = NULL, *text = NULL;
    leat_error err = {0};
    leat_status status = LEAT_OK;
    if (strategy == NULL || !PyArg_ParseTuple(args, "ss", &what, &text))
        return NULL;
    native_wait_begin(cancel_run, strategy);
    Py_BEGIN_ALLOW_THREADS;
    status = leat_strategy_agree(strategy, what, text, &err);
    Py_END_ALLOW_THREADS;
    native_wait_end();
    if (status == LEAT_OK)
        Py_RETURN_NONE;
    return PyErr_CheckSignals() == 0 ? native_raise(&err) : NULL;
}

static PyObject *strategy_barrier(PyObject *self, PyObject *unused) {
    (void)unused;
    leat_strategy *strategy = native_strategy_of(self);
    leat_error err = {0};
    leat_status status = LEAT_OK;
    if (strategy == NULL)
        return NULL;
    native_wait_begin(cancel_run, strategy);
    Py_BEGIN_ALLOW_THREADS;
    status = leat_strategy_barrier(strategy, &err);
    Py_END_ALLOW_THREADS;
    native_wait_end();
    if (status == LEAT_OK)
        Py_RETURN_NONE;
    return PyErr_CheckSignals() == 0 ? native_raise(&err) : NULL;
}

static PyObject *strategy_abort(PyObject *self, PyObject *text) {
    leat_strategy *strategy = native_strategy_of(self);
    const char *words = strategy == NULL ? NULL : PyUnicode_AsUTF8AndSize(text, NULL);
    if (words == NULL)
        return NULL;
    leat_strategy_abort(strategy, words);
    Py_RETURN_NONE;
}

static PyMethodDef strategy_methods[] = {
    {"mirrored", strategy_mirrored, METH_O | METH_STATIC, "mirrored(devices) -> Strategy."},
    {"multi_worker", strategy_multi_worker, METH_VARARGS | METH_STATIC,
     "multi_worker(config, devices, communication, timeout_ms, start_timeout_ms, bytes_per_pack, "
     "program) -> Strategy."},
    {"place", strategy_place, METH_NOARGS, "Replicas and workers, all and here."},
    {"enter", strategy_enter, METH_NOARGS, "Variables of this thread get a copy per replica."},
    {"exit", strategy_exit, METH_NOARGS, "Ends that."},
    {"run", strategy_run, METH_VARARGS, "run(step, functions, tensors by replica) -> the same."},
    {"reduce", strategy_reduce, METH_VARARGS, "reduce(mean, tensors by replica, axis)."},
    {"gather", strategy_gather, METH_VARARGS, "gather(tensors by replica, axis)."},
    {"exchange", strategy_exchange, METH_O, "exchange(numbers) -> those of all workers."},
    {"agree", strategy_agree, METH_VARARGS, "agree(what, text): is it the same on all workers?"},
    {"barrier", strategy_barrier, METH_NOARGS, "Returns when every worker is here."},
    {"abort", strategy_abort, METH_O, "abort(text): ends the job for all workers."},
    {0},
};

static PyType_Slot strategy_slots[] = {
    {Py_tp_doc, "Devices and the threads that drive them."},
    {Py_tp_dealloc, (void *)strategy_dealloc},
    {Py_tp_methods, strategy_methods},
    {0},
};

static PyType_Spec strategy_spec = {
    .name = "leat._native.Strategy",
    .basicsize = sizeof(native_strategy),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = strategy_slots,
};

/* ---- steps ---- */

static PyObject *step_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    (void)kwargs;
    leat_error err = {0};
    if (!PyArg_ParseTuple(args, ""))
        return NULL;
    leat_step *step = leat_step_new(NULL, NULL, &err);
    native_step *self = step == NULL ? NULL : (native_step *)PyType_GenericAlloc(type, 0);
    if (self == NULL) {
        leat_step_free(step);
        return step == NULL ? native_raise(&err) : NULL;
    }
    self->step = step;
    self->process = getpid();
    return (PyObject *)self;
}

static int step_traverse(PyObject *object, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((native_step *)object)->held);
    return 0;
}

static void step_dealloc(PyObject *object) {
    native_step *self = (native_step *)object;
    PyObject_GC_UnTrack(object);
    if (self->process == getpid()) { /* a step holds its strategy, whose threads end with it */
        Py_BEGIN_ALLOW_THREADS;
        leat_step_free(self->step);
        Py_END_ALLOW_THREADS;
    }
    Py_CLEAR(self->held);
    native_free(object);
}

static PyObject *step_explain(PyObject *self, PyObject *unused) {
    (void)unused;
    leat_error err = {0};
    return native_text(leat_step_explain(((native_step *)self)->step, &err), &err);
}

static PyMethodDef step_methods[] = {
    {"explain", step_explain, METH_NOARGS, "Where the time of its runs went, as text."},
    {0},
};

static PyType_Slot step_slots[] = {
    {Py_tp_doc, "What a strategy's runs of one function remember."},
    {Py_tp_new, (void *)step_new},
    {Py_tp_dealloc, (void *)step_dealloc},
    {Py_tp_traverse, (void *)step_traverse},
    {Py_tp_methods, step_methods},
    {0},
};

static PyType_Spec step_spec = {
    .name = "leat._native.Step",
    .basicsize = sizeof(native_step),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = step_slots,
};

int native_add_strategy(PyObject *module) {
    return native_add_type(module, &strategy_spec, &strategy_type) != 0 ||
                   native_add_type(module, &step_spec, &step_type) != 0
               ? -1
               : 0;
}
