/* CallServer, Call and CallChannel: bytes that processes of a job ask each other
 * (leat_call_server).
 *
 * Whatever may wait runs without the GIL. A Call that is dropped unanswered fails. After a fork a
 * child has no threads of them: there they are left alone. Locks: none but the library's. */
#include "native.h"
#include <leat/service.h>
#include <unistd.h>

typedef struct native_call_server {
    PyObject_HEAD leat_call_server *server;
    pid_t process;
} native_call_server;

typedef struct native_call {
    PyObject_HEAD leat_call *call; /* NULL: answered */
    pid_t process;
} native_call;

typedef struct native_channel {
    PyObject_HEAD leat_call_channel *channel;
    pid_t process;
} native_channel;

static PyTypeObject *server_type, *call_type, *channel_type;

/* ---- calls that came ---- */

static leat_call *open_call(PyObject *self) {
    leat_call *call = ((native_call *)self)->call;
    if (call == NULL)
        PyErr_SetString(PyExc_ValueError, "the call has been answered");
    return call;
}

static PyObject *call_method(PyObject *self, void *unused) {
    (void)unused;
    leat_call *call = open_call(self);
    return call == NULL ? NULL : PyUnicode_FromString(leat_call_method(call));
}

static PyObject *call_request(PyObject *self, void *unused) {
    (void)unused;
    leat_call *call = open_call(self);
    if (call == NULL)
        return NULL;
    const leat_buffer *bytes = leat_call_request(call);
    return PyBytes_FromStringAndSize(leat_buffer_data(bytes), (Py_ssize_t)leat_buffer_size(bytes));
}

static PyObject *call_is_abandoned(PyObject *self, void *unused) {
    (void)unused;
    leat_call *call = open_call(self);
    return call == NULL ? NULL : PyBool_FromLong(leat_call_is_abandoned(call));
}

static PyObject *call_answer(PyObject *self, PyObject *bytes) {
    char *data = NULL;
    Py_ssize_t size = 0;
    leat_call *call = open_call(self);
    if (call == NULL || PyBytes_AsStringAndSize(bytes, &data, &size) != 0)
        return NULL;
    ((native_call *)self)->call = NULL;
    bool heard;
    Py_BEGIN_ALLOW_THREADS;
    heard = leat_call_answer(call, data, (size_t)size);
    Py_END_ALLOW_THREADS;
    return PyBool_FromLong(heard);
}

static PyObject *call_fail(PyObject *self, PyObject *args) {
    int code = 0;
    const char *text = NULL;
    leat_call *call = open_call(self);
    if (call == NULL || !PyArg_ParseTuple(args, "is", &code, &text))
        return NULL;
    ((native_call *)self)->call = NULL;
    leat_call_fail(call, (leat_status)code, text);
    Py_RETURN_NONE;
}

static void call_dealloc(PyObject *object) {
    native_call *self = (native_call *)object;
    if (self->call != NULL && self->process == getpid())
        leat_call_fail(self->call, LEAT_INTERNAL, "the call was not answered");
    native_free(object);
}

/* ---- serving ---- */

static native_call_server *usable_server(PyObject *object) {
    native_call_server *self = (native_call_server *)object;
    if (self->process == getpid())
        return self;
    PyErr_SetString(PyExc_RuntimeError, "this server belongs to the parent process, whose threads "
                                        "a fork does not copy; start servers after the fork");
    return NULL;
}

/* CallServer(host or None, port) */
static PyObject *server_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    (void)kwargs;
    const char *host = NULL;
    int port = 0;
    leat_error err = {0};
    if (!PyArg_ParseTuple(args, "O&i", native_name_or_none, &host, &port))
        return NULL;
    leat_call_server *server;
    Py_BEGIN_ALLOW_THREADS;
    server = leat_call_server_new(host, port, &err);
    Py_END_ALLOW_THREADS;
    if (server == NULL)
        return native_raise(&err);
    native_call_server *self = (native_call_server *)PyType_GenericAlloc(type, 0);
    if (self == NULL) {
        leat_call_server_free(server);
        return NULL;
    }
    self->server = server;
    self->process = getpid();
    return (PyObject *)self;
}

/* next(timeout_ms): a Call; None when there was none, or the server has been stopped. */
static PyObject *server_next(PyObject *object, PyObject *timeout) {
    native_call_server *self = usable_server(object);
    long long timeout_ms = PyLong_AsLongLong(timeout);
    leat_call *call = NULL;
    leat_error err = {0};
    leat_status status;
    if (self == NULL || (timeout_ms == -1 && PyErr_Occurred() != NULL))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = leat_call_server_next(self->server, timeout_ms, &call, &err);
    Py_END_ALLOW_THREADS;
    if (status == LEAT_CANCELLED || status == LEAT_DEADLINE_EXCEEDED)
        Py_RETURN_NONE;
    if (status != LEAT_OK)
        return native_raise(&err);
    native_call *made = (native_call *)PyType_GenericAlloc(call_type, 0);
    if (made == NULL) {
        leat_call_fail(call, LEAT_RESOURCE_EXHAUSTED, "no memory");
        return NULL;
    }
    made->call = call;
    made->process = self->process;
    return (PyObject *)made;
}

static PyObject *server_stop(PyObject *object, PyObject *unused) {
    (void)unused;
    native_call_server *self = usable_server(object);
    if (self == NULL)
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    leat_call_server_stop(self->server);
    Py_END_ALLOW_THREADS;
    Py_RETURN_NONE;
}

static PyObject *server_port(PyObject *object, void *unused) {
    (void)unused;
    return PyLong_FromLong(leat_call_server_port(((native_call_server *)object)->server));
}

static void server_dealloc(PyObject *object) {
    native_call_server *self = (native_call_server *)object;
    if (self->process == getpid()) {
        Py_BEGIN_ALLOW_THREADS;
        leat_call_server_free(self->server);
        Py_END_ALLOW_THREADS;
    }
    native_free(object);
}

/* ---- calling ---- */

static PyObject *channel_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    (void)kwargs;
    const char *address = NULL;
    leat_error err = {0};
    if (!PyArg_ParseTuple(args, "O&", native_name, &address))
        return NULL;
    leat_call_channel *channel = leat_call_channel_new(address, &err);
    if (channel == NULL)
        return native_raise(&err);
    native_channel *self = (native_channel *)PyType_GenericAlloc(type, 0);
    if (self == NULL) {
        leat_call_channel_free(channel);
        return NULL;
    }
    self->channel = channel;
    self->process = getpid();
    return (PyObject *)self;
}

static void cancel_call(void *cancel) {
    leat_cancel_fire(cancel);
}

/* call(method, bytes, timeout_ms): the answer's bytes. */
static PyObject *channel_call(PyObject *object, PyObject *args) {
    native_channel *self = (native_channel *)object;
    const char *method = NULL, *data = NULL;
    Py_ssize_t size = 0;
    long long timeout_ms = 0;
    leat_error err = {0};
    if (!PyArg_ParseTuple(args, "sy#L", &method, &data, &size, &timeout_ms))
        return NULL;
    leat_cancel *cancel = leat_cancel_new(&err);
    leat_buffer *answer = NULL;
    leat_status status = LEAT_RESOURCE_EXHAUSTED;
    if (cancel != NULL) {
        native_wait_begin(cancel_call, cancel);
        Py_BEGIN_ALLOW_THREADS;
        status = leat_call_channel_call(self->channel, method, data, (size_t)size, timeout_ms,
                                        cancel, &answer, &err);
        Py_END_ALLOW_THREADS;
        native_wait_end();
        leat_cancel_free(cancel);
    }
    if (status == LEAT_CANCELLED && PyErr_CheckSignals() != 0)
        return NULL;
    if (status != LEAT_OK)
        return native_raise(&err);
    PyObject *bytes =
        PyBytes_FromStringAndSize(leat_buffer_data(answer), (Py_ssize_t)leat_buffer_size(answer));
    leat_buffer_unref(answer);
    return bytes;
}

static void channel_dealloc(PyObject *object) {
    native_channel *self = (native_channel *)object;
    if (self->process == getpid()) {
        Py_BEGIN_ALLOW_THREADS;
        leat_call_channel_free(self->channel);
        Py_END_ALLOW_THREADS;
    }
    native_free(object);
}

/* ---- types ---- */

static PyMethodDef server_methods[] = {
    {"next", server_next, METH_O, "next(timeout_ms): a Call, or None."},
    {"stop", server_stop, METH_NOARGS, "Refuses calls from now on."},
    {0},
};

static PyGetSetDef server_getset[] = {
    {.name = "port", .get = server_port, .doc = "Where it serves."},
    {0},
};

static PyType_Slot server_slots[] = {
    {Py_tp_doc, "CallServer(host, port): serves calls (leat_call_server)."},
    {Py_tp_new, (void *)server_new},
    {Py_tp_dealloc, (void *)server_dealloc},
    {Py_tp_methods, server_methods},
    {Py_tp_getset, server_getset},
    {0},
};

static PyType_Spec server_spec = {
    .name = "leat._native.CallServer",
    .basicsize = sizeof(native_call_server),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = server_slots,
};

static PyMethodDef call_methods[] = {
    {"answer", call_answer, METH_O, "answer(bytes): does anybody hear it?"},
    {"fail", call_fail, METH_VARARGS, "fail(code, text)."},
    {0},
};

static PyGetSetDef call_getset[] = {
    {.name = "method", .get = call_method, .doc = "What is asked for."},
    {.name = "request", .get = call_request, .doc = "The bytes that came with it."},
    {.name = "is_abandoned", .get = call_is_abandoned, .doc = "Does nobody wait any more?"},
    {0},
};

static PyType_Slot call_slots[] = {
    {Py_tp_doc, "A call that waits for its answer (leat_call)."},
    {Py_tp_dealloc, (void *)call_dealloc},
    {Py_tp_methods, call_methods},
    {Py_tp_getset, call_getset},
    {0},
};

static PyType_Spec call_spec = {
    .name = "leat._native.Call",
    .basicsize = sizeof(native_call),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = call_slots,
};

static PyMethodDef channel_methods[] = {
    {"call", channel_call, METH_VARARGS, "call(method, bytes, timeout_ms) -> bytes."},
    {0},
};

static PyType_Slot channel_slots[] = {
    {Py_tp_doc, "CallChannel(address): asks a server (leat_call_channel)."},
    {Py_tp_new, (void *)channel_new},
    {Py_tp_dealloc, (void *)channel_dealloc},
    {Py_tp_methods, channel_methods},
    {0},
};

static PyType_Spec channel_spec = {
    .name = "leat._native.CallChannel",
    .basicsize = sizeof(native_channel),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = channel_slots,
};

int native_add_calls(PyObject *module) {
    if (native_add_type(module, &server_spec, &server_type) != 0 ||
        native_add_type(module, &call_spec, &call_type) != 0)
        return -1;
    return native_add_type(module, &channel_spec, &channel_type);
}
