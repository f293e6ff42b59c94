/* Dataset: a leat_dataset. Plans come as JSON text whose references are Python objects. */
#include "native.h"

typedef struct native_dataset {
    PyObject_HEAD leat_dataset *dataset;
    PyObject *weakrefs;
    PyObject *held; /* what its plan has (held.c); NULL: nothing */
} native_dataset;

static PyTypeObject *dataset_type;

PyObject *native_dataset_new(leat_dataset *dataset, PyObject *held, const leat_error *err) {
    if (dataset == NULL)
        return native_raise(err);
    native_dataset *self = (native_dataset *)PyType_GenericAlloc(dataset_type, 0);
    if (self == NULL) {
        leat_dataset_unref(dataset);
        return NULL;
    }
    self->dataset = dataset;
    self->held = Py_XNewRef(held);
    return (PyObject *)self;
}

leat_dataset *native_dataset_of(PyObject *object) {
    if (!PyObject_TypeCheck(object, dataset_type)) {
        PyErr_SetString(PyExc_TypeError, "expected a native dataset");
        return NULL;
    }
    return ((native_dataset *)object)->dataset;
}

PyObject *native_dataset_held(PyObject *dataset) {
    return ((native_dataset *)dataset)->held;
}

static int dataset_traverse(PyObject *object, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((native_dataset *)object)->held);
    return 0;
}

static void dataset_dealloc(PyObject *object) {
    native_dataset *self = (native_dataset *)object;
    PyObject_GC_UnTrack(object);
    if (self->weakrefs != NULL)
        PyObject_ClearWeakRefs(object);
    leat_dataset_unref(self->dataset);
    Py_CLEAR(self->held);
    native_free(object);
}

/* ---- building ---- */

/* A plan on its way: what makes its functions, and what all of its parts have. */
typedef struct making {
    PyObject *callable;
    PyObject *held;
} making;

/* callable(number, operator, argument, spec) gives a native function. */
static leat_function *ask_for_function(making *self, int64_t number, const char *op,
                                       const char *argument, const leat_spec *input,
                                       leat_error *err) {
    PyObject *spec = native_spec_json(input), *made = NULL;
    if (spec != NULL)
        made = PyObject_CallFunction(self->callable, "LssO", (long long)number, op, argument, spec);
    Py_XDECREF(spec);
    leat_function *function = made == NULL ? NULL : native_function_of(made);
    if (function != NULL && native_hold(&self->held, native_function_held(made)) != 0)
        function = NULL;
    function = leat_function_ref(function);
    Py_XDECREF(made);
    if (function == NULL)
        native_catch(err);
    return function;
}

/* leat asks for a function, without the GIL. */
static leat_function *make_function(void *context, int64_t number, const char *op,
                                    const char *argument, const leat_spec *input, leat_error *err) {
    PyGILState_STATE state = PyGILState_Ensure();
    leat_function *function = ask_for_function(context, number, op, argument, input, err);
    PyGILState_Release(state);
    return function;
}

int native_read_element(PyObject *pair, leat_element *out, PyObject **held) {
    PyObject *json = NULL, *sequence = NULL;
    leat_spec *spec = NULL;
    leat_error err = {0};
    Py_ssize_t count = 0;
    if (!PyArg_ParseTuple(pair, "OO", &json, &sequence) || native_spec(json, &spec) != 0)
        return -1;
    leat_tensor *tensors = native_tensors(sequence, &count);
    int status = tensors == NULL ? -1 : 0;
    if (status == 0 && leat_spec_num_components(spec) != count) {
        PyErr_SetString(PyExc_ValueError, "structure and tensors differ in number");
        status = -1;
    }
    if (status == 0 && leat_element_set(out, spec, tensors, &err) != LEAT_OK) {
        native_raise(&err);
        status = -1;
    }
    if (status == 0 && held != NULL)
        status = native_hold_tensors(held, sequence);
    PyMem_Free(tensors);
    leat_spec_unref(spec);
    return status;
}

static int read_bindings(PyObject *datasets, PyObject *elements, leat_bindings *out,
                         PyObject **held) {
    out->num_datasets = (int)PyList_Size(datasets);
    leat_dataset **list = PyMem_Calloc((size_t)out->num_datasets + 1, sizeof(*list));
    leat_element *values = PyMem_Calloc((size_t)PyList_Size(elements) + 1, sizeof(*values));
    out->datasets = list;
    out->elements = values;
    if (list == NULL || values == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (int i = 0; i < out->num_datasets; i++) {
        list[i] = native_dataset_of(PyList_GetItem(datasets, i));
        if (list[i] == NULL ||
            native_hold(held, native_dataset_held(PyList_GetItem(datasets, i))) != 0)
            return -1;
    }
    for (Py_ssize_t i = 0; i < PyList_Size(elements); i++) {
        out->num_elements++;
        if (native_read_element(PyList_GetItem(elements, i), &values[i], held) != 0)
            return -1;
    }
    return 0;
}

static void bindings_fini(leat_bindings *bindings) {
    for (int i = 0; i < bindings->num_elements; i++)
        leat_element_fini((leat_element *)(uintptr_t)&bindings->elements[i]);
    PyMem_Free((void *)(uintptr_t)bindings->datasets);
    PyMem_Free((void *)(uintptr_t)bindings->elements);
}

/* build(plan, datasets, elements, function): a dataset of a plan's JSON text. */
static PyObject *dataset_build(PyObject *class, PyObject *args) {
    (void)class;
    const char *plan = NULL;
    PyObject *datasets = NULL, *elements = NULL, *function = NULL, *result = NULL;
    leat_bindings bindings = {0};
    leat_error err = {0};
    if (!PyArg_ParseTuple(args, "sO!O!O", &plan, &PyList_Type, &datasets, &PyList_Type, &elements,
                          &function))
        return NULL;
    making all = {.callable = function};
    bindings.function = make_function;
    bindings.context = &all;
    if (read_bindings(datasets, elements, &bindings, &all.held) == 0) {
        leat_dataset *made = NULL;
        /* An operator may look at files, for which others are not to wait. */
        Py_BEGIN_ALLOW_THREADS;
        made = leat_dataset_build(plan, &bindings, &err);
        Py_END_ALLOW_THREADS;
        result = native_dataset_new(made, all.held, &err);
    }
    bindings_fini(&bindings);
    Py_XDECREF(all.held);
    return result;
}

/* from_json(text, remote) */
static PyObject *dataset_from_json(PyObject *class, PyObject *args) {
    (void)class;
    const char *text = NULL;
    int remote = 0;
    leat_error err = {0};
    leat_dataset *made = NULL;
    if (!PyArg_ParseTuple(args, "sp", &text, &remote))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    made = remote ? leat_dataset_from_trusted_json(text, &err) : leat_dataset_from_json(text, &err);
    Py_END_ALLOW_THREADS;
    return native_dataset_new(made, NULL, &err);
}

/* ---- reading ---- */

static PyObject *dataset_spec(PyObject *self, PyObject *unused) {
    (void)unused;
    return native_spec_json(leat_dataset_spec(native_dataset_of(self)));
}

static PyObject *dataset_cardinality(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyLong_FromLongLong(leat_dataset_cardinality(native_dataset_of(self)));
}

static PyObject *dataset_fingerprint(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyLong_FromUnsignedLongLong(leat_dataset_fingerprint(native_dataset_of(self)));
}

static PyObject *dataset_json(PyObject *self, PyObject *unused) {
    (void)unused;
    leat_error err = {0};
    return native_text(leat_dataset_to_json(native_dataset_of(self), &err), &err);
}

static PyObject *dataset_label(PyObject *self, PyObject *text) {
    const char *label = NULL;
    leat_error err = {0};
    if (native_name(text, &label) == 0)
        return NULL;
    leat_dataset *dataset = leat_dataset_ref(native_dataset_of(self));
    leat_dataset *labelled = leat_dataset_label(dataset, label, &err);
    return native_dataset_new(labelled, native_dataset_held(self), &err);
}

PyObject *native_element_list(const leat_element *element) {
    PyObject *list = PyList_New(element->num_tensors);
    for (int i = 0; list != NULL && i < element->num_tensors; i++) {
        leat_tensor tensor = leat_tensor_ref(&element->tensors[i]);
        PyObject *item = native_tensor_new(&tensor);
        if (item == NULL || PyList_SetItem(list, i, item) != 0)
            Py_CLEAR(list);
    }
    return list;
}

/* The tensors as a list, which have what `held` says; the element ends. */
static PyObject *element_list(leat_element *element, PyObject *held) {
    PyObject *list = native_pass_held(native_element_list(element), held, NULL);
    leat_element_fini(element);
    return list;
}

/* at(index): the tensors of element number `index`. */
static PyObject *dataset_at(PyObject *self, PyObject *number) {
    long long index = PyLong_AsLongLong(number);
    leat_dataset *dataset = native_dataset_of(self);
    leat_element element = {0};
    leat_error err = {0};
    leat_status status = LEAT_OK;
    if (index == -1 && PyErr_Occurred() != NULL)
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = leat_dataset_at(dataset, index, &element, &err);
    Py_END_ALLOW_THREADS;
    return status != LEAT_OK ? native_raise(&err)
                             : element_list(&element, native_dataset_held(self));
}

/* single(): the tensors of the only element. */
static PyObject *dataset_single(PyObject *self, PyObject *unused) {
    (void)unused;
    leat_dataset *dataset = native_dataset_of(self);
    leat_element element = {0};
    leat_error err = {0};
    leat_status status = LEAT_OK;
    Py_BEGIN_ALLOW_THREADS;
    status = leat_dataset_get_single_element(dataset, &element, &err);
    Py_END_ALLOW_THREADS;
    return status != LEAT_OK ? native_raise(&err)
                             : element_list(&element, native_dataset_held(self));
}

/* reduce((spec, tensors), function): the tensors of the last state. */
static PyObject *dataset_reduce(PyObject *self, PyObject *args) {
    PyObject *pair = NULL, *callable = NULL;
    leat_dataset *dataset = native_dataset_of(self);
    leat_element initial = {0}, out = {0};
    leat_error err = {0};
    leat_status status = LEAT_OK;
    if (!PyArg_ParseTuple(args, "O!O", &PyTuple_Type, &pair, &callable) ||
        native_function_of(callable) == NULL)
        return NULL;
    PyObject *held = NULL, *list = NULL;
    if (native_read_element(pair, &initial, &held) != 0 ||
        native_hold(&held, native_dataset_held(self)) != 0 ||
        native_hold(&held, native_function_held(callable)) != 0) {
        leat_element_fini(&initial);
        Py_XDECREF(held);
        return NULL;
    }
    leat_function *function = native_function_of(callable);
    Py_BEGIN_ALLOW_THREADS;
    status = leat_dataset_reduce(dataset, &initial, function, &out, &err);
    Py_END_ALLOW_THREADS;
    leat_element_fini(&initial);
    list = status != LEAT_OK ? native_raise(&err) : element_list(&out, held);
    Py_XDECREF(held);
    return list;
}

/* save(compression, shard function or None, interval, path, checkpoint or None) */
static PyObject *dataset_save(PyObject *self, PyObject *args) {
    PyObject *shard = NULL, *path = NULL, *checkpoint = NULL;
    long long interval = 0;
    leat_dataset *dataset = native_dataset_of(self);
    leat_dataset_save_options options = {LEAT_DATASET_SAVE_DEFAULTS};
    leat_error err = {0};
    leat_status status = LEAT_OK;
    if (!PyArg_ParseTuple(args, "zOLO&O&", &options.compression, &shard, &interval, native_path,
                          &path, native_path_or_none, &checkpoint))
        return NULL;
    const char *chars = native_chars(path);
    options.checkpoint = native_chars(checkpoint);
    if (interval != 0)
        options.checkpoint_interval = interval;
    bool is_plain = shard == Py_None || (options.shard_func = native_function_of(shard)) != NULL;
    if (is_plain) {
        Py_BEGIN_ALLOW_THREADS;
        status = leat_dataset_save(dataset, chars, &options, &err);
        Py_END_ALLOW_THREADS;
    }
    Py_DECREF(path);
    Py_XDECREF(checkpoint);
    if (!is_plain)
        return NULL;
    if (status != LEAT_OK)
        return native_raise(&err);
    Py_RETURN_NONE;
}

/* value(): the dataset as a scalar tensor of dtype object. */
static void drop_dataset(void *context, void *data, size_t size) {
    (void)context;
    (void)size;
    leat_dataset_unref(*(leat_dataset **)data);
    free(data);
}

static PyObject *dataset_value(PyObject *self, PyObject *unused) {
    (void)unused;
    leat_error err = {0};
    leat_dataset **cell = calloc(1, sizeof(*cell));
    if (cell == NULL)
        return PyErr_NoMemory();
    *cell = leat_dataset_ref(native_dataset_of(self));
    leat_tensor tensor = {.dtype = LEAT_OBJECT, .data = cell};
    tensor.owner = leat_buffer_adopt(cell, sizeof(*cell), drop_dataset, NULL, &err);
    PyObject *made = tensor.owner == NULL ? native_raise(&err) : native_tensor_new(&tensor);
    if (made != NULL)
        ((native_tensor *)made)->held = Py_XNewRef(native_dataset_held(self));
    return made;
}

static PyMethodDef dataset_methods[] = {
    {"build", dataset_build, METH_VARARGS | METH_STATIC,
     "build(plan, datasets, elements, function) -> Dataset."},
    {"from_json", dataset_from_json, METH_VARARGS | METH_STATIC,
     "from_json(text, remote) -> Dataset."},
    {"generator", native_dataset_generator, METH_VARARGS | METH_STATIC,
     "generator(start, spec, (args' spec, args)) -> Dataset."},
    {"spec", dataset_spec, METH_NOARGS, "JSON of the elements' spec."},
    {"cardinality", dataset_cardinality, METH_NOARGS, "A count, -1 (infinite) or -2 (unknown)."},
    {"fingerprint", dataset_fingerprint, METH_NOARGS, "64 bits of the plan."},
    {"to_json", dataset_json, METH_NOARGS, "The plan as JSON text."},
    {"label", dataset_label, METH_O, "label(text) -> Dataset."},
    {"at", dataset_at, METH_O, "at(index) -> list of tensors."},
    {"single", dataset_single, METH_NOARGS, "single() -> list of tensors."},
    {"reduce", dataset_reduce, METH_VARARGS, "reduce((spec, tensors), function) -> list."},
    {"save", dataset_save, METH_VARARGS, "save(compression, shard, interval, path, checkpoint)."},
    {"value", dataset_value, METH_NOARGS, "The dataset as a tensor of dtype object."},
    {0},
};

static PyMemberDef dataset_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(native_dataset, weakrefs), READONLY, NULL},
    {0},
};

static PyType_Slot dataset_slots[] = {
    {Py_tp_doc, "A dataset's plan."},           {Py_tp_dealloc, (void *)dataset_dealloc},
    {Py_tp_traverse, (void *)dataset_traverse}, {Py_tp_methods, dataset_methods},
    {Py_tp_members, dataset_members},           {0},
};

static PyType_Spec spec = {
    .name = "leat._native.Dataset",
    .basicsize = sizeof(native_dataset),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = dataset_slots,
};

int native_add_dataset(PyObject *module) {
    return native_add_type(module, &spec, &dataset_type);
}
