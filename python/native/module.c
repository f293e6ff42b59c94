/* The module leat._native: its functions, its types, and small conversions that the others share.
 */
#include "native.h"
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

PyObject *native_text(char *text, const leat_error *err) {
    if (text == NULL)
        return native_raise(err);
    PyObject *result = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    leat_text_free(text);
    return result;
}

int native_spec(PyObject *json, leat_spec **spec) {
    *spec = NULL;
    if (json == Py_None)
        return 0;
    leat_error err = {0};
    const char *text = PyUnicode_AsUTF8AndSize(json, NULL);
    if (text == NULL)
        return -1;
    *spec = leat_spec_from_json(text, &err);
    if (*spec == NULL) {
        native_raise(&err);
        return -1;
    }
    return 0;
}

PyObject *native_spec_json(const leat_spec *spec) {
    leat_error err = {0};
    return native_text(leat_spec_to_json(spec, &err), &err);
}

PyObject *native_shape(const leat_shape *shape) {
    if (shape->rank < 0)
        Py_RETURN_NONE;
    PyObject *dims = PyTuple_New(shape->rank);
    for (int32_t d = 0; dims != NULL && d < shape->rank; d++) {
        PyObject *dim =
            shape->dims[d] < 0 ? Py_NewRef(Py_None) : PyLong_FromLongLong(shape->dims[d]);
        if (dim == NULL || PyTuple_SetItem(dims, d, dim) != 0) {
            Py_DECREF(dims);
            return NULL;
        }
    }
    return dims;
}

int native_read_shape(PyObject *dims, leat_shape *out) {
    *out = (leat_shape){.rank = LEAT_UNKNOWN_RANK};
    Py_ssize_t rank = dims == Py_None ? 0 : PySequence_Size(dims);
    if (dims == Py_None || rank < 0)
        return rank < 0 ? -1 : 0;
    if (rank > LEAT_MAX_RANK) {
        PyErr_Format(PyExc_ValueError, "a shape of rank %zd; expected %d at most", rank,
                     LEAT_MAX_RANK);
        return -1;
    }
    out->rank = (int32_t)rank;
    for (Py_ssize_t d = 0; d < rank; d++) {
        PyObject *dim = PySequence_GetItem(dims, d);
        if (dim != NULL)
            out->dims[d] = dim == Py_None ? LEAT_UNKNOWN_DIM : PyLong_AsLongLong(dim);
        Py_XDECREF(dim);
        if (PyErr_Occurred() != NULL)
            return -1;
    }
    return 0;
}

int native_add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **type) {
    *type = (PyTypeObject *)PyType_FromSpec(spec);
    return *type == NULL ? -1 : PyModule_AddType(module, *type);
}

/* Whether a global seed is in force; under the GIL. */
static bool seed_is_set;

static PyObject *set_seed(PyObject *module, PyObject *seed) {
    (void)module;
    if (seed == Py_None) {
        leat_seed_clear();
        seed_is_set = false;
        Py_RETURN_NONE;
    }
    long long value = PyLong_AsLongLong(seed);
    if (value == -1 && PyErr_Occurred() != NULL)
        return NULL;
    leat_seed_set(value);
    seed_is_set = true;
    Py_RETURN_NONE;
}

static PyObject *has_seed(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    return PyBool_FromLong(seed_is_set);
}

static PyObject *set_memory_limit(PyObject *module, PyObject *bytes) {
    (void)module;
    leat_error err = {0};
    long long value = PyLong_AsLongLong(bytes);
    if (value == -1 && PyErr_Occurred() != NULL)
        return NULL;
    if (leat_limits_set_memory(value, &err) != LEAT_OK)
        return native_raise(&err);
    Py_RETURN_NONE;
}

static PyObject *version(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    return PyUnicode_FromString(leat_version());
}

static PyObject *operation(PyObject *module, PyObject *name) {
    (void)module;
    leat_error err = {0};
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    return text == NULL ? NULL : native_text(leat_operation_json(text, &err), &err);
}

static PyObject *operation_names(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    leat_error err = {0};
    return native_text(leat_operation_names(&err), &err);
}

static PyObject *dataset_operators(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    leat_error err = {0};
    return native_text(leat_dataset_operators_json(&err), &err);
}

static PyObject *status_name(PyObject *module, PyObject *code) {
    (void)module;
    long number = PyLong_AsLong(code);
    if (number == -1 && PyErr_Occurred() != NULL)
        return NULL;
    return PyUnicode_FromString(leat_status_name((leat_status)number));
}

static PyObject *dtype_names(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    PyObject *names = PyList_New(LEAT_NUM_DTYPES);
    for (int dtype = 0; names != NULL && dtype < LEAT_NUM_DTYPES; dtype++) {
        PyObject *name = PyUnicode_FromString(leat_dtype_name((leat_dtype)dtype));
        if (name == NULL || PyList_SetItem(names, dtype, name) != 0) {
            Py_DECREF(names);
            return NULL;
        }
    }
    return names;
}

/* trace(on): whether spans are recorded from now on. */
static PyObject *trace(PyObject *module, PyObject *on) {
    (void)module;
    int wanted = PyObject_IsTrue(on);
    if (wanted < 0)
        return NULL;
    if (wanted)
        leat_trace_start();
    else
        leat_trace_stop();
    Py_RETURN_NONE;
}

static PyObject *trace_write(PyObject *module, PyObject *path) {
    (void)module;
    PyObject *name = NULL;
    leat_error err = {0};
    leat_status status = LEAT_OK;
    if (!native_path(path, (void *)&name))
        return NULL;
    const char *chars = native_chars(name);
    Py_BEGIN_ALLOW_THREADS;
    status = leat_trace_write(chars, &err);
    Py_END_ALLOW_THREADS;
    Py_DECREF(name);
    if (status != LEAT_OK)
        return native_raise(&err);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"trace", trace, METH_O, "trace(on): records what threads do, or does so no longer."},
    {"trace_write", trace_write, METH_O, "trace_write(path): what was recorded, for Perfetto."},
    {"set_error_classes", native_set_error_classes, METH_O, "Exception classes by status code."},
    {"find_cluster", native_find_cluster, METH_NOARGS, "The cluster of the environment."},
    {"cluster_place", native_cluster_place, METH_VARARGS,
     "A process's place in a cluster of JSON text."},
    {"has_seed", has_seed, METH_NOARGS, "Is there a global seed?"},
    {"set_seed", set_seed, METH_O, "The global seed (leat_seed_set); None: none."},
    {"set_memory_limit", set_memory_limit, METH_O, "Bytes for all iterators; 0: none."},
    {"version", version, METH_NOARGS, "The library's version."},
    {"operation", operation, METH_O, "One line of the table of tensor operations as JSON."},
    {"operation_names", operation_names, METH_NOARGS, "Names and paths of all, one a line."},
    {"dataset_operators", dataset_operators, METH_NOARGS, "The table of operators as JSON."},
    {"train_tables", native_train_tables, METH_NOARGS, "Layers, losses, ... as JSON."},
    {"service_register", native_service_register, METH_VARARGS, "Makes a dataset known."},
    {"service_dataset", native_service_dataset, METH_VARARGS, "A registered dataset."},
    {"service_save", native_service_save, METH_VARARGS, "Has workers write a dataset."},
    {"service_status", native_service_status, METH_VARARGS, "What a dispatcher knows, as JSON."},
    {"service_drain", native_service_drain, METH_VARARGS, "Has workers drain."},
    {"status_name", status_name, METH_O, "The name of a status code."},
    {"path_bytes", native_path_bytes, METH_O, "path_bytes(path) -> bytes of a path of any kind."},
    {"text_bytes", native_text_bytes, METH_O, "text_bytes(text) -> bytes of a string tensor."},
    {"dtype_names", dtype_names, METH_NOARGS, "Names of the dtypes by number."},
    {"give", native_give, METH_O, "give(tensor): itself, whose buffer may be written."},
    {"to_dlpack", native_to_dlpack, METH_VARARGS, "to_dlpack(tensor, versioned) -> capsule."},
    {"from_dlpack", native_from_dlpack, METH_O, "from_dlpack(capsule) -> tensor."},
    {"strings_at", native_strings_at, METH_VARARGS,
     "strings_at(addresses, sizes, owner, shape): views of strings that the owner keeps."},
    {"strings_joined", native_strings_joined, METH_O, "strings_joined(tensor) -> offsets, bytes."},
    {"arrow_stream", native_arrow_stream, METH_VARARGS,
     "arrow_stream(schema, next) -> capsule of an Arrow stream."},
    {"watch_interrupts", native_watch_interrupts, METH_O,
     "watch_interrupts(here): the main thread's calls hear signals."},
    {"tool", native_tool, METH_VARARGS,
     "tool(arguments, path) -> exit status of the command line tool."},
    {"shutdown", native_shutdown, METH_NOARGS, "Ends every live iterator."},
    {0},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "leat._native",
    .m_doc = "The C library behind leat; use the package leat.",
    .m_size = -1,
    .m_methods = methods,
};

/* As much stack as the deepest calls of leat and the interpreter take beyond what is used now. */
enum { STACK_BYTES = 768 << 10, PAGE_BYTES = 4096 };

/* The main thread's stack grows as it is used, and where there is no memory for that the kernel
 * ends the process without a word (setrlimit, a full cgroup). It grows here. */
__attribute__((noinline)) static void reserve_stack(void) {
    struct rlimit limit;
    if (gettid() != getpid() || getrlimit(RLIMIT_STACK, &limit) != 0 ||
        limit.rlim_cur < (rlim_t)8 * STACK_BYTES)
        return;
    volatile char room[STACK_BYTES];
    for (size_t i = sizeof room; i >= PAGE_BYTES; i -= PAGE_BYTES)
        room[i - PAGE_BYTES] = 0;
}

PyMODINIT_FUNC PyInit__native(void);

PyMODINIT_FUNC PyInit__native(void) {
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
        PyErr_SetString(PyExc_ImportError,
                        "leat runs in the main interpreter only; import it there, or use a process "
                        "in place of the subinterpreter");
        return NULL;
    }
    reserve_stack();
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL || native_add_held(module) != 0 || native_add_tensor(module) != 0 ||
        native_add_graph(module) != 0 || native_add_operation(module) != 0 ||
        native_add_function(module) != 0 || native_add_variable(module) != 0 ||
        native_add_dataset(module) != 0 || native_add_iterator(module) != 0 ||
        native_add_strategy(module) != 0 || native_add_distributed(module) != 0 ||
        native_add_records(module) != 0 || native_add_files(module) != 0 ||
        native_add_bundle(module) != 0 || native_add_events(module) != 0 ||
        native_add_train(module) != 0 || native_add_server(module) != 0 ||
        native_add_arrow(module) != 0) {
        Py_XDECREF(module);
        return NULL;
    }
    return module;
}
