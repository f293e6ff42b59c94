/* Strategy, Step and DistributedDataset: tf.distribute's objects over the library's.
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
} native_step;

typedef struct native_distributed {
    PyObject_HEAD leat_distributed_dataset *dataset;
} native_distributed;

static PyTypeObject *strategy_type, *step_type, *distributed_type;

static void free_object(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

/* Borrowed; NULL with an exception. */
static leat_strategy *strategy_of(PyObject *object) {
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
        if (item == NULL || PyList_SetItem(list, r, item) != 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

/* The spec of tensors as they are, a tuple. Owned; NULL with `err`. */
static leat_spec *spec_of(const leat_tensor *tensors, int count, leat_error *err) {
    leat_spec **children = PyMem_Calloc((size_t)count + 1, sizeof(leat_spec *));
    if (children == NULL) {
        return NULL;
    }
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
    if (tensors == NULL) {
        return -1;
    }
    leat_spec *spec = spec_of(tensors, (int)count, &err);
    bool failed = spec == NULL || leat_element_set(out, spec, tensors, &err) != LEAT_OK;
    leat_spec_unref(spec);
    PyMem_Free(tensors);
    if (failed) {
        native_raise(&err);
    }
    return failed ? -1 : 0;
}

/* Values per replica of a sequence of sequences of tensors; `out` is {0}. On failure it is to be
 * given to drop_per_replica all the same. */
static int read_per_replica(PyObject *sequences, int replicas, leat_per_replica *out) {
    if (PySequence_Size(sequences) != replicas) {
        if (!PyErr_Occurred()) {
            PyErr_Format(PyExc_ValueError, "expected values for %d replicas", replicas);
        }
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
        if (status != 0) {
            return -1;
        }
    }
    return 0;
}

static void drop_per_replica(leat_per_replica *value) {
    for (int r = 0; r < value->num_replicas; r++) {
        leat_element_fini(&value->elements[r]);
    }
    PyMem_Free(value->elements);
}

/* ---- strategies ---- */

/* mirrored(devices, timeout_ms): a list of names such as "CPU:0", None for all devices. */
static PyObject *strategy_mirrored(PyObject *class, PyObject *args) {
    (void)class;
    PyObject *devices = Py_None;
    long long timeout = 0;
    leat_error err = {0};
    if (!PyArg_ParseTuple(args, "O|L", &devices, &timeout)) {
        return NULL;
    }
    Py_ssize_t count = devices == Py_None ? 0 : PyList_Size(devices);
    const char **names = count < 0 ? NULL : PyMem_Calloc((size_t)count + 1, sizeof(*names));
    for (Py_ssize_t i = 0; names != NULL && i < count; i++) {
        names[i] = PyUnicode_AsUTF8AndSize(PyList_GetItem(devices, i), NULL);
        if (names[i] == NULL) {
            PyMem_Free(names);
            return NULL;
        }
    }
    if (names == NULL) {
        return count < 0 ? NULL : PyErr_NoMemory();
    }
    leat_mirrored_options options = {.devices = devices == Py_None ? NULL : names,
                                     .num_devices = (int)count,
                                     .timeout_ms = timeout};
    leat_strategy *strategy = leat_mirrored_strategy(&options, &err);
    PyMem_Free(names);
    native_strategy *self =
        strategy == NULL ? NULL : (native_strategy *)PyType_GenericAlloc(strategy_type, 0);
    if (self == NULL) {
        leat_strategy_unref(strategy);
        return strategy == NULL ? native_raise(&err) : NULL;
    }
    self->strategy = strategy;
    self->process = getpid();
    return (PyObject *)self;
}

static void strategy_dealloc(PyObject *object) {
    native_strategy *self = (native_strategy *)object;
    if (self->process == getpid()) {
        Py_BEGIN_ALLOW_THREADS;
        leat_strategy_unref(self->strategy);
        Py_END_ALLOW_THREADS;
    }
    free_object(object);
}

static PyObject *strategy_num_replicas(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyLong_FromLong(leat_strategy_num_replicas(((native_strategy *)self)->strategy));
}

static PyObject *strategy_enter(PyObject *self, PyObject *unused) {
    (void)unused;
    leat_strategy *strategy = strategy_of(self);
    leat_error err = {0};
    if (strategy == NULL) {
        return NULL;
    }
    if (leat_strategy_enter(strategy, &err) != LEAT_OK) {
        return native_raise(&err);
    }
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

/* The native functions of a sequence, one per replica (PyMem_Free). */
static leat_function **functions_of(PyObject *sequence, int replicas) {
    if (PySequence_Size(sequence) != replicas) {
        PyErr_Format(PyExc_ValueError, "expected functions for %d replicas", replicas);
        return NULL;
    }
    leat_function **functions = PyMem_Calloc((size_t)replicas, sizeof(leat_function *));
    for (int r = 0; functions != NULL && r < replicas; r++) {
        PyObject *item = PySequence_GetItem(sequence, r);
        functions[r] = item == NULL ? NULL : native_function_of(item);
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
    leat_strategy *strategy = strategy_of(self);
    PyObject *step = NULL, *functions = NULL, *arguments = NULL, *result = NULL;
    leat_per_replica given = {0}, out = {0};
    leat_error err = {0};
    leat_status status = LEAT_OK;
    if (strategy == NULL ||
        !PyArg_ParseTuple(args, "O!OO", step_type, &step, &functions, &arguments)) {
        return NULL;
    }
    int replicas = leat_strategy_num_local_replicas(strategy);
    leat_function **each = functions_of(functions, replicas);
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
    if (status == LEAT_OK) {
        result = native_per_replica_list(&out);
    } else if (PyErr_CheckSignals() == 0) {
        native_raise(&err);
    }
    leat_per_replica_fini(&out);
    drop_per_replica(&given);
    PyMem_Free(each);
    return result;
}

/* reduce(mean, values, axis): one tensor per replica; axis None: over replicas alone. */
static PyObject *strategy_reduce(PyObject *self, PyObject *args) {
    leat_strategy *strategy = strategy_of(self);
    PyObject *values = NULL, *axis = NULL, *result = NULL;
    leat_per_replica given = {0};
    leat_element out = {0};
    leat_error err = {0};
    leat_status status = LEAT_OK;
    int mean = 0;
    if (strategy == NULL || !PyArg_ParseTuple(args, "pOO", &mean, &values, &axis)) {
        return NULL;
    }
    long along = axis == Py_None ? LEAT_NO_AXIS : PyLong_AsLong(axis);
    if ((along == -1 && PyErr_Occurred()) ||
        read_per_replica(values, leat_strategy_num_local_replicas(strategy), &given) != 0) {
        drop_per_replica(&given);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS;
    status = leat_strategy_reduce(strategy, mean ? LEAT_REDUCE_MEAN : LEAT_REDUCE_SUM, &given,
                                  (int)along, &out, &err);
    Py_END_ALLOW_THREADS;
    result = status == LEAT_OK ? native_element_list(&out) : native_raise(&err);
    leat_element_fini(&out);
    drop_per_replica(&given);
    return result;
}

static PyMethodDef strategy_methods[] = {
    {"mirrored", strategy_mirrored, METH_VARARGS | METH_STATIC,
     "mirrored(devices, timeout_ms=0) -> Strategy."},
    {"num_replicas", strategy_num_replicas, METH_NOARGS, "How many replicas there are."},
    {"enter", strategy_enter, METH_NOARGS, "Variables of this thread get a copy per replica."},
    {"exit", strategy_exit, METH_NOARGS, "Ends that."},
    {"run", strategy_run, METH_VARARGS, "run(step, functions, tensors by replica) -> the same."},
    {"reduce", strategy_reduce, METH_VARARGS, "reduce(mean, tensors by replica, axis)."},
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
    if (!PyArg_ParseTuple(args, "")) {
        return NULL;
    }
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

static void step_dealloc(PyObject *object) {
    native_step *self = (native_step *)object;
    if (self->process == getpid()) { /* a step holds its strategy, whose threads end with it */
        Py_BEGIN_ALLOW_THREADS;
        leat_step_free(self->step);
        Py_END_ALLOW_THREADS;
    }
    free_object(object);
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
    {Py_tp_methods, step_methods},
    {0},
};

static PyType_Spec step_spec = {
    .name = "leat._native.Step",
    .basicsize = sizeof(native_step),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = step_slots,
};

/* ---- distributed datasets ---- */

/* open(strategy, dataset, policy, options): `policy` is one of leat_auto_shard_policy, or -1 where
 * the dataset yields what replicas are to receive. */
static PyObject *distributed_open(PyObject *class, PyObject *args) {
    (void)class;
    PyObject *strategy = NULL, *dataset = NULL, *options = NULL;
    leat_distribute_options how = {0};
    leat_distributed_dataset *made = NULL;
    leat_error err = {0};
    int policy = 0;
    if (!PyArg_ParseTuple(args, "OOiO", &strategy, &dataset, &policy, &options) ||
        strategy_of(strategy) == NULL || native_dataset_of(dataset) == NULL ||
        native_read_options(options, &how.iterator) != 0) {
        return NULL;
    }
    leat_strategy *over = strategy_of(strategy);
    leat_dataset *given = leat_dataset_ref(native_dataset_of(dataset));
    if (policy < 0) {
        made = leat_distribute_replica_batches(over, given, &how, &err);
    } else {
        how.auto_shard_policy = (leat_auto_shard_policy)policy;
        made = leat_distribute_dataset(over, given, &how, &err);
    }
    native_distributed *self =
        made == NULL ? NULL : (native_distributed *)PyType_GenericAlloc(distributed_type, 0);
    if (self == NULL) {
        leat_distributed_dataset_free(made);
        return made == NULL ? native_raise(&err) : NULL;
    }
    self->dataset = made;
    return (PyObject *)self;
}

static void distributed_dealloc(PyObject *object) {
    leat_distributed_dataset_free(((native_distributed *)object)->dataset);
    free_object(object);
}

static PyObject *distributed_spec(PyObject *self, PyObject *unused) {
    (void)unused;
    return native_spec_json(leat_distributed_dataset_spec(((native_distributed *)self)->dataset));
}

static PyObject *distributed_cardinality(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyLong_FromLongLong(
        leat_distributed_dataset_cardinality(((native_distributed *)self)->dataset));
}

static PyObject *distributed_describe(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyUnicode_FromString(
        leat_distributed_dataset_describe(((native_distributed *)self)->dataset));
}

static PyObject *distributed_iterate(PyObject *self, PyObject *unused) {
    (void)unused;
    leat_distributed_dataset *dataset = ((native_distributed *)self)->dataset;
    leat_distributed_iterator *iterator = NULL;
    leat_error err = {0};
    Py_BEGIN_ALLOW_THREADS;
    iterator = leat_distributed_iterator_new(dataset, &err);
    Py_END_ALLOW_THREADS;
    return iterator == NULL
               ? native_raise(&err)
               : native_iterator_distributed(iterator, leat_distributed_dataset_spec(dataset));
}

static PyMethodDef distributed_methods[] = {
    {"open", distributed_open, METH_VARARGS | METH_STATIC,
     "open(strategy, dataset, policy or -1, options) -> DistributedDataset."},
    {"spec", distributed_spec, METH_NOARGS, "JSON of the spec of one replica's values."},
    {"cardinality", distributed_cardinality, METH_NOARGS, "That of the dataset it is made of."},
    {"describe", distributed_describe, METH_NOARGS, "What was decided and why, one line."},
    {"iterate", distributed_iterate, METH_NOARGS, "An Iterator with step()."},
    {0},
};

static PyType_Slot distributed_slots[] = {
    {Py_tp_doc, "A dataset split among replicas."},
    {Py_tp_dealloc, (void *)distributed_dealloc},
    {Py_tp_methods, distributed_methods},
    {0},
};

static PyType_Spec distributed_spec_type = {
    .name = "leat._native.DistributedDataset",
    .basicsize = sizeof(native_distributed),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = distributed_slots,
};

int native_add_strategy(PyObject *module) {
    return native_add_type(module, &strategy_spec, &strategy_type) != 0 ||
                   native_add_type(module, &step_spec, &step_type) != 0 ||
                   native_add_type(module, &distributed_spec_type, &distributed_type) != 0
               ? -1
               : 0;
}
