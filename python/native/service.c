/* Server: a dispatcher or a worker of a data service, and what is asked of a service from outside.
 *
 * Whatever may wait runs without the GIL: starting (a worker waits for its dispatcher), joining,
 * stopping (a worker that runs Python functions needs the GIL to end), registering. Ctrl-C ends
 * these waits as it ends those of iterators (interrupts.c). leat.data.service stops servers that
 * are still there when the interpreter ends. Locks: none but the library's. */
#include "native.h"
#include <leat/service.h>
#include <unistd.h>

typedef struct native_server {
    PyObject_HEAD leat_dispatcher *dispatcher; /* one of the two */
    leat_worker *worker;
    pid_t process; /* after a fork a child has no threads of it */
} native_server;

static PyTypeObject *server_type;

/* ---- making ---- */

/* `server` or `worker` is given; both NULL raises `err`. */
static PyObject *server_object(leat_dispatcher *dispatcher, leat_worker *worker,
                               const leat_error *err) {
    if (dispatcher == NULL && worker == NULL)
        return native_raise(err);
    native_server *self = (native_server *)PyType_GenericAlloc(server_type, 0);
    if (self == NULL) {
        leat_dispatcher_free(dispatcher);
        leat_worker_free(worker);
        return NULL;
    }
    self->dispatcher = dispatcher;
    self->worker = worker;
    self->process = getpid();
    return (PyObject *)self;
}

/* Texts of a list (PyMem_Free), borrowed from it. -1 with an exception. */
static int read_texts(PyObject *list, const char ***out, size_t *count) {
    Py_ssize_t size = PyList_Size(list);
    *out = NULL;
    *count = 0;
    if (size < 0)
        return -1;
    *out = PyMem_Calloc((size_t)size + 1, sizeof(**out));
    if (*out == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < size; i++) {
        if (native_name(PyList_GetItem(list, i), &(*out)[i]) == 0) {
            PyMem_Free(*out);
            return -1;
        }
    }
    *count = (size_t)size;
    return 0;
}

/* dispatcher(port, protocol, work_dir, fault_tolerant_mode, worker_addresses,
 * job_gc_check_interval_ms, job_gc_timeout_ms, worker_timeout_ms, client_timeout_ms,
 * worker_max_concurrent_snapshots, gc_dynamic_sharding_jobs, colocated). */
static PyObject *server_dispatcher(PyObject *class, PyObject *args) {
    (void)class;
    leat_dispatcher_options options = {LEAT_DISPATCHER_DEFAULTS};
    const char **addresses = NULL;
    PyObject *list = NULL;
    int fault_tolerant = 0, gc_dynamic = 0, colocated = 0;
    long long check = 0, gc = 0, worker = 0, client = 0, snapshots = 0;
    leat_error err = {0};
    if (!PyArg_ParseTuple(args, "iO&O&pOLLLLLpp", &options.port, native_name_or_none,
                          &options.protocol, native_name_or_none, &options.work_dir,
                          &fault_tolerant, &list, &check, &gc, &worker, &client, &snapshots,
                          &gc_dynamic, &colocated) ||
        read_texts(list, &addresses, &options.num_worker_addresses) != 0)
        return NULL;
    options.fault_tolerant_mode = fault_tolerant != 0;
    options.worker_addresses = addresses;
    options.job_gc_check_interval_ms = check;
    options.job_gc_timeout_ms = gc;
    options.worker_timeout_ms = worker;
    options.client_timeout_ms = client;
    options.worker_max_concurrent_snapshots = snapshots;
    options.gc_dynamic_sharding_jobs = gc_dynamic != 0;
    options.colocated = colocated != 0;
    leat_dispatcher *dispatcher = leat_dispatcher_new(&options, &err);
    PyMem_Free(addresses);
    return server_object(dispatcher, NULL, &err);
}

/* worker(dispatcher_address, worker_address, port, protocol, heartbeat_interval_ms,
 * dispatcher_timeout_ms, data_transfer_protocol, worker_tags, cross_trainer_cache_size_bytes,
 * shutdown_quiet_period_ms, snapshot_max_chunk_size_bytes, memory_budget_bytes). */
static PyObject *server_worker(PyObject *class, PyObject *args) {
    (void)class;
    leat_worker_options options = {LEAT_WORKER_DEFAULTS};
    const char **tags = NULL;
    PyObject *list = NULL;
    long long heartbeat = 0, timeout = 0, cache = 0, quiet = 0, chunk = 0, memory = 0;
    leat_error err = {0};
    if (!PyArg_ParseTuple(args, "O&O&iO&LLO&OLLLL", native_name_or_none,
                          &options.dispatcher_address, native_name_or_none, &options.worker_address,
                          &options.port, native_name_or_none, &options.protocol, &heartbeat,
                          &timeout, native_name_or_none, &options.data_transfer_protocol, &list,
                          &cache, &quiet, &chunk, &memory) ||
        read_texts(list, &tags, &options.num_worker_tags) != 0)
        return NULL;
    options.worker_tags = tags;
    options.heartbeat_interval_ms = heartbeat;
    options.dispatcher_timeout_ms = timeout;
    options.cross_trainer_cache_size_bytes = cache;
    options.shutdown_quiet_period_ms = quiet;
    options.snapshot_max_chunk_size_bytes = chunk;
    options.memory_budget_bytes = memory;
    leat_worker *worker = leat_worker_new(&options, &err);
    PyMem_Free(tags);
    return server_object(NULL, worker, &err);
}

/* ---- life ---- */

static native_server *usable(PyObject *object) {
    native_server *self = (native_server *)object;
    if (self->process == getpid())
        return self;
    PyErr_SetString(PyExc_RuntimeError,
                    "this server belongs to the parent process, whose threads a fork does not "
                    "copy; start servers after the fork, or start processes with spawn");
    return NULL;
}

static PyObject *done(leat_status status, const leat_error *err) {
    if (status != LEAT_OK)
        return native_raise(err);
    Py_RETURN_NONE;
}

/* One function of both kinds of servers. */
static PyObject *ask_server(PyObject *object,
                            leat_status (*dispatcher)(leat_dispatcher *, leat_error *),
                            leat_status (*worker)(leat_worker *, leat_error *)) {
    native_server *self = usable(object);
    leat_error err = {0};
    leat_status status;
    if (self == NULL)
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status =
        self->dispatcher != NULL ? dispatcher(self->dispatcher, &err) : worker(self->worker, &err);
    Py_END_ALLOW_THREADS;
    return done(status, &err);
}

static PyObject *server_start(PyObject *object, PyObject *unused) {
    (void)unused;
    return ask_server(object, leat_dispatcher_start, leat_worker_start);
}

static PyObject *server_join(PyObject *object, PyObject *unused) {
    (void)unused;
    return ask_server(object, leat_dispatcher_join, leat_worker_join);
}

static PyObject *server_drain(PyObject *object, PyObject *timeout) {
    native_server *self = usable(object);
    long long timeout_ms = PyLong_AsLongLong(timeout);
    leat_error err = {0};
    leat_status status;
    if (self == NULL || (timeout_ms == -1 && PyErr_Occurred() != NULL))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = leat_worker_drain(self->worker, timeout_ms, &err);
    Py_END_ALLOW_THREADS;
    return done(status, &err);
}

static PyObject *server_stop(PyObject *object, PyObject *unused) {
    (void)unused;
    native_server *self = usable(object);
    if (self == NULL)
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    if (self->dispatcher != NULL)
        leat_dispatcher_stop(self->dispatcher);
    else
        leat_worker_stop(self->worker);
    Py_END_ALLOW_THREADS;
    Py_RETURN_NONE;
}

static void server_dealloc(PyObject *object) {
    native_server *self = (native_server *)object;
    if (self->process == getpid()) {
        Py_BEGIN_ALLOW_THREADS;
        leat_dispatcher_free(self->dispatcher);
        leat_worker_free(self->worker);
        Py_END_ALLOW_THREADS;
    }
    native_free(object);
}

/* "grpc://localhost:5000" of a dispatcher, "localhost:5001" of a worker; None before its start. */
static PyObject *server_target(PyObject *object, void *unused) {
    (void)unused;
    native_server *self = usable(object);
    if (self == NULL)
        return NULL;
    const char *text = self->dispatcher != NULL ? leat_dispatcher_target(self->dispatcher)
                                                : leat_worker_address(self->worker);
    if (text == NULL)
        Py_RETURN_NONE;
    return PyUnicode_FromString(text);
}

static PyObject *server_num_tasks(PyObject *object, void *unused) {
    (void)unused;
    native_server *self = usable(object);
    return self == NULL ? NULL : PyLong_FromLongLong(leat_worker_num_tasks(self->worker));
}

static PyMethodDef server_methods[] = {
    {"dispatcher", server_dispatcher, METH_VARARGS | METH_CLASS, "A dispatcher, not started."},
    {"worker", server_worker, METH_VARARGS | METH_CLASS, "A worker, not started."},
    {"start", server_start, METH_NOARGS, "Serves; a worker waits for its dispatcher."},
    {"join", server_join, METH_NOARGS, "Waits until it is stopped."},
    {"drain", server_drain, METH_O, "drain(timeout_ms): gives what it has, and stops."},
    {"stop", server_stop, METH_NOARGS, "Ends serving."},
    {0},
};

static PyGetSetDef server_getset[] = {
    {.name = "target", .get = server_target, .doc = "Where it is reached."},
    {.name = "num_tasks", .get = server_num_tasks, .doc = "How many tasks a worker has."},
    {0},
};

static PyType_Slot server_slots[] = {
    {Py_tp_doc, "A dispatcher or a worker of a data service (leat_dispatcher, leat_worker)."},
    {Py_tp_dealloc, server_dealloc},
    {Py_tp_methods, server_methods},
    {Py_tp_getset, server_getset},
    {0},
};

static PyType_Spec server_spec = {
    .name = "leat._native.Server",
    .basicsize = sizeof(native_server),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = server_slots,
};

int native_add_server(PyObject *module) {
    if (native_add_type(module, &server_spec, &server_type) != 0)
        return -1;
    return native_add_calls(module);
}

/* ---- asking a service ---- */

PyObject *native_service_register(PyObject *module, PyObject *args) {
    (void)module;
    const char *service = NULL, *compression = NULL, *id = NULL;
    PyObject *object = NULL;
    leat_error err = {0};
    if (!PyArg_ParseTuple(args, "O&OO&O&", native_name, &service, &object, native_name_or_none,
                          &compression, native_name_or_none, &id))
        return NULL;
    leat_dataset *dataset = native_dataset_of(object);
    if (dataset == NULL)
        return NULL;
    char *result;
    Py_BEGIN_ALLOW_THREADS;
    result = leat_service_register(service, dataset, compression, id, NULL, &err);
    Py_END_ALLOW_THREADS;
    return native_text(result, &err);
}

PyObject *native_service_dataset(PyObject *module, PyObject *args) {
    (void)module;
    const char *service = NULL, *id = NULL;
    leat_error err = {0};
    if (!PyArg_ParseTuple(args, "O&O&", native_name, &service, native_name, &id))
        return NULL;
    leat_dataset *dataset;
    Py_BEGIN_ALLOW_THREADS;
    dataset = leat_service_from_dataset_id(service, id, NULL, NULL, &err);
    Py_END_ALLOW_THREADS;
    return native_dataset_new(dataset, NULL, &err);
}

PyObject *native_service_save(PyObject *module, PyObject *args) {
    (void)module;
    const char *service = NULL, *compression = NULL;
    PyObject *object = NULL, *path = NULL;
    leat_error err = {0};
    leat_status status = LEAT_OK;
    if (!PyArg_ParseTuple(args, "O&OO&O&", native_name, &service, &object, native_path, &path,
                          native_name_or_none, &compression))
        return NULL;
    leat_dataset *dataset = native_dataset_of(object);
    const char *chars = native_chars(path);
    if (dataset != NULL) {
        Py_BEGIN_ALLOW_THREADS;
        status = leat_service_save(service, dataset, chars, compression, NULL, &err);
        Py_END_ALLOW_THREADS;
    }
    Py_DECREF(path);
    return dataset == NULL ? NULL : done(status, &err);
}

PyObject *native_service_status(PyObject *module, PyObject *args) {
    (void)module;
    const char *service = NULL;
    long long timeout_ms = 0;
    leat_error err = {0};
    if (!PyArg_ParseTuple(args, "O&L", native_name, &service, &timeout_ms))
        return NULL;
    char *text;
    Py_BEGIN_ALLOW_THREADS;
    text = leat_service_status(service, timeout_ms, NULL, &err);
    Py_END_ALLOW_THREADS;
    return native_text(text, &err);
}

PyObject *native_service_drain(PyObject *module, PyObject *args) {
    (void)module;
    const char *service = NULL, *worker = NULL;
    long long timeout_ms = 0;
    leat_error err = {0};
    leat_status status;
    if (!PyArg_ParseTuple(args, "O&O&L", native_name, &service, native_name_or_none, &worker,
                          &timeout_ms))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = leat_service_drain(service, worker, timeout_ms, NULL, &err);
    Py_END_ALLOW_THREADS;
    return done(status, &err);
}
