/* DistributedDataset: a dataset split among a strategy's replicas, and its iterators. */
#include "native.h"

typedef struct native_distributed {
    PyObject_HEAD leat_distributed_dataset *dataset;
    PyObject *held; /* what its source has, or its dataset function (held.c); NULL: nothing */
} native_distributed;

static PyTypeObject *distributed_type;

/* A dataset function: calls function(pipelines, pipeline, replicas) -> native dataset. What that
 * has is kept by the callback. */
static leat_dataset *call_dataset_function(void *context, const leat_input_context *input,
                                           leat_error *err) {
    leat_dataset *made = NULL;
    if (!native_is_running()) {
        (void)leat_error_set(err, LEAT_CANCELLED, "Python is ending");
        return NULL;
    }
    PyGILState_STATE gil = native_enter_python();
    PyObject *function = native_callback_callable(context, err);
    if (function == NULL) {
        native_leave_python(gil);
        return NULL;
    }
    PyObject *result = PyObject_CallFunction(function, "iii", input->num_input_pipelines,
                                             input->input_pipeline_id, input->num_replicas_in_sync);
    Py_DECREF(function);
    made = result == NULL ? NULL : leat_dataset_ref(native_dataset_of(result));
    if (made != NULL && native_callback_keep_held(context, native_dataset_held(result)) != 0) {
        leat_dataset_unref(made);
        made = NULL;
    }
    if (made == NULL)
        (void)native_catch(err);
    Py_XDECREF(result);
    native_leave_python(gil);
    return made;
}

/* open(strategy, source, policy, options, buffer_size): `source` is a dataset of global batches
 * that `policy`, one of leat_auto_shard_policy, splits, or a dataset function; for this `policy`
 * is -1, or -2 where it is called for each replica. */
static PyObject *distributed_open(PyObject *class, PyObject *args) {
    (void)class;
    PyObject *strategy = NULL, *source = NULL, *options = NULL;
    leat_strategy_distribute_options how = {LEAT_STRATEGY_DISTRIBUTE_DEFAULTS};
    leat_iterator_options iterator = {LEAT_ITERATOR_DEFAULTS};
    leat_distributed_dataset *made = NULL;
    leat_error err = {0};
    int policy = 0;
    if (!PyArg_ParseTuple(args, "OOiOi", &strategy, &source, &policy, &options,
                          &how.per_replica_buffer_size) ||
        native_strategy_of(strategy) == NULL ||
        (policy >= 0 && native_dataset_of(source) == NULL) ||
        native_read_options(options, &iterator) != 0)
        return NULL;
    leat_strategy *over = native_strategy_of(strategy);
    PyObject *held = NULL;
    leat_dataset *given = policy < 0 ? NULL : leat_dataset_ref(native_dataset_of(source));
    native_callback *function = policy < 0 ? native_callback_new(source, NULL) : NULL;
    if (policy < 0 && (function == NULL || (held = native_held_new(function)) == NULL)) {
        if (function != NULL)
            native_callback_release(function);
        return NULL;
    }
    if (policy >= 0)
        held = Py_XNewRef(native_dataset_held(source));
    how.auto_shard_policy = (leat_auto_shard_policy)(policy < 0 ? 0 : policy);
    how.replication = policy == -2 ? LEAT_INPUT_PER_REPLICA : LEAT_INPUT_PER_WORKER;
    Py_BEGIN_ALLOW_THREADS; /* several workers compare what they distribute */
    made = policy < 0
               ? leat_strategy_distribute_datasets_from_function(
                     over, call_dataset_function, function, native_callback_release, &how, &err)
               : leat_strategy_distribute_dataset(over, given, &how, &err);
    Py_END_ALLOW_THREADS;
    native_distributed *self =
        made == NULL ? NULL : (native_distributed *)PyType_GenericAlloc(distributed_type, 0);
    if (self == NULL) {
        leat_distributed_dataset_free(made);
        Py_XDECREF(held);
        return made == NULL ? native_raise(&err) : NULL;
    }
    self->dataset = made;
    self->held = held;
    return (PyObject *)self;
}

static int distributed_traverse(PyObject *object, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((native_distributed *)object)->held);
    return 0;
}

static void distributed_dealloc(PyObject *object) {
    PyObject_GC_UnTrack(object);
    leat_distributed_dataset_free(((native_distributed *)object)->dataset);
    Py_CLEAR(((native_distributed *)object)->held);
    native_free(object);
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
               : native_iterator_distributed(iterator, leat_distributed_dataset_spec(dataset),
                                             ((native_distributed *)self)->held);
}

static PyMethodDef distributed_methods[] = {
    {"open", distributed_open, METH_VARARGS | METH_STATIC,
     "open(strategy, dataset or function, policy or -1 or -2, options, buffer size) -> "
     "DistributedDataset."},
    {"spec", distributed_spec, METH_NOARGS, "JSON of the spec of one replica's values."},
    {"cardinality", distributed_cardinality, METH_NOARGS, "That of the dataset it is made of."},
    {"describe", distributed_describe, METH_NOARGS, "What was decided and why, one line."},
    {"iterate", distributed_iterate, METH_NOARGS, "An Iterator with step()."},
    {0},
};

static PyType_Slot distributed_slots[] = {
    {Py_tp_doc, "A dataset split among replicas."},
    {Py_tp_dealloc, (void *)distributed_dealloc},
    {Py_tp_traverse, (void *)distributed_traverse},
    {Py_tp_methods, distributed_methods},
    {0},
};

static PyType_Spec distributed_spec_type = {
    .name = "leat._native.DistributedDataset",
    .basicsize = sizeof(native_distributed),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = distributed_slots,
};

int native_add_distributed(PyObject *module) {
    return native_add_type(module, &distributed_spec_type, &distributed_type);
}
