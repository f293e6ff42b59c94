/* Iterator: a leat_iterator. Whatever may wait runs without the GIL.
 *
 * Ctrl-C: Python's own handler only notes the signal, and a main thread that waits in C never
 * looks. So while the main thread is in a call, a handler of ours stands in front: it calls
 * Python's and writes to a pipe; a thread that reads the pipe cancels what the main thread is in
 * (an iterator, or a strategy's run); the call returns CANCELLED, and Python raises
 * KeyboardInterrupt.
 *
 * Live iterators are in a list, so that the end of the interpreter (native_shutdown) cancels and
 * frees them while callbacks can still take the GIL. An iterator may read for the replicas of a
 * strategy: then it belongs to a leat_distributed_iterator. After a fork a child has no threads: an
 * iterator of the parent says so. Locks: `guard` for the list and what the main thread is in; a
 * leaf but for the cancelling. */
#include "native.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

typedef struct native_iterator {
    PyObject_HEAD leat_iterator *iterator;  /* one of the two */
    leat_distributed_iterator *distributed; /* of a strategy */
    bool open;                              /* not after native_shutdown or close */
    int num_components;
    pid_t process;
    bool busy;      /* a call is running without the GIL */
    PyObject *held; /* what its dataset has (held.c); NULL: nothing */
    struct native_iterator *previous, *next;
} native_iterator;

static PyTypeObject *iterator_type;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static native_iterator live = {.previous = &live, .next = &live};
static atomic_bool running = true;

bool native_is_running(void) {
    return atomic_load(&running);
}

/* ---- Ctrl-C ---- */

static int signal_pipe[2] = {-1, -1};
static struct sigaction python_action;
static pthread_t main_thread;
static void (*cancel_in_main)(void *object); /* guarded, as is the object */
static void *in_main;
static atomic_uint calls_of_main; /* a signal ends the call during which it came, not a later one */

static void on_signal(int number, siginfo_t *info, void *context) {
    int saved = errno;
    unsigned call = atomic_load(&calls_of_main);
    ssize_t written = write(signal_pipe[1], &call, sizeof call);
    (void)written; /* a full pipe wakes the reader as well */
    errno = saved;
    if ((python_action.sa_flags & SA_SIGINFO) != 0)
        python_action.sa_sigaction(number, info, context);
    else if (python_action.sa_handler != SIG_DFL && python_action.sa_handler != SIG_IGN)
        python_action.sa_handler(number);
}

static void *cancel_on_signal(void *unused) {
    (void)unused;
    unsigned call = 0;
    while (read(signal_pipe[0], &call, sizeof call) == sizeof call) {
        pthread_mutex_lock(&guard);
        if (in_main != NULL && call == atomic_load(&calls_of_main))
            cancel_in_main(in_main);
        pthread_mutex_unlock(&guard);
    }
    return NULL;
}

/* Puts the handler in front of Python's, where Python has one; again where a program has changed
 * it since. Without the thread Ctrl-C works between elements only. */
static void watch_signals(void) {
    struct sigaction now;
    bool there = sigaction(SIGINT, NULL, &now) == 0 && now.sa_sigaction != on_signal;
    /* The handler that was there before a fork has lost its thread. */
    if (!there && (signal_pipe[0] >= 0 || now.sa_sigaction != on_signal))
        return;
    bool plain = (now.sa_flags & SA_SIGINFO) == 0;
    if (plain && (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN))
        return;
    if (signal_pipe[0] < 0) {
        pthread_t thread;
        sigset_t all, old;
        if (pipe2(signal_pipe, O_CLOEXEC) != 0)
            return;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &old);
        int failed = pthread_create(&thread, NULL, cancel_on_signal, NULL);
        pthread_sigmask(SIG_SETMASK, &old, NULL);
        if (failed != 0)
            return;
        pthread_detach(thread);
    }
    if (!there)
        return;
    python_action = now;
    struct sigaction ours = now;
    ours.sa_sigaction = on_signal;
    ours.sa_flags |= SA_SIGINFO;
    sigaction(SIGINT, &ours, NULL);
}

void native_wait_begin(void (*cancel)(void *object), void *object) {
    if (pthread_equal(pthread_self(), main_thread)) {
        watch_signals();
        native_forget_interrupt();
        pthread_mutex_lock(&guard);
        atomic_fetch_add(&calls_of_main, 1);
        cancel_in_main = cancel;
        in_main = object;
        pthread_mutex_unlock(&guard);
    }
}

void native_wait_end(void) {
    if (pthread_equal(pthread_self(), main_thread)) {
        pthread_mutex_lock(&guard);
        in_main = NULL;
        pthread_mutex_unlock(&guard);
    }
}

static void cancel_iterator(void *object) {
    native_iterator *self = object;
    if (self->distributed != NULL)
        leat_distributed_iterator_cancel(self->distributed);
    else
        leat_iterator_cancel(self->iterator);
}

static void enter(native_iterator *self) {
    self->busy = true;
    native_wait_begin(cancel_iterator, self);
}

static void leave(native_iterator *self) {
    self->busy = false;
    native_wait_end();
}

/* ---- making and ending ---- */

int native_read_options(PyObject *options, leat_iterator_options *out) {
    long long threads = 0, memory = 0, deadline = 0;
    int no_rewrites = 0, no_autotune = 0;
    if (!PyTuple_Check(options)) {
        PyErr_SetString(PyExc_TypeError, "expected a tuple of options");
        return -1;
    }
    if (!PyArg_ParseTuple(options, "LLLpp", &threads, &memory, &deadline, &no_rewrites,
                          &no_autotune))
        return -1;
    *out = (leat_iterator_options){LEAT_ITERATOR_DEFAULTS, .num_threads = (int)threads};
    out->memory_limit = memory == 0 ? LEAT_UNLIMITED : memory;
    out->deadline_ms = deadline == 0 ? LEAT_UNLIMITED : deadline;
    out->rewrites = no_rewrites == 0;
    out->autotune = no_autotune == 0;
    return 0;
}

/* The Python object of an iterator or a distributed one (given). */
static PyObject *new_iterator(leat_iterator *iterator, leat_distributed_iterator *distributed,
                              const leat_spec *spec, PyObject *held) {
    native_iterator *self = (native_iterator *)PyType_GenericAlloc(iterator_type, 0);
    if (self == NULL) {
        if (distributed != NULL)
            leat_distributed_iterator_free(distributed);
        else
            leat_iterator_free(iterator);
        return NULL;
    }
    self->iterator = iterator;
    self->distributed = distributed;
    self->open = true;
    self->num_components = leat_spec_num_components(spec);
    self->process = getpid();
    self->held = Py_XNewRef(held);
    pthread_mutex_lock(&guard);
    self->next = &live;
    self->previous = live.previous;
    self->previous->next = self;
    live.previous = self;
    pthread_mutex_unlock(&guard);
    return (PyObject *)self;
}

PyObject *native_iterator_distributed(leat_distributed_iterator *distributed, const leat_spec *spec,
                                      PyObject *held) {
    return new_iterator(NULL, distributed, spec, held);
}

static PyObject *iterator_open(PyObject *class, PyObject *args) {
    (void)class;
    PyObject *dataset = NULL, *options = NULL;
    leat_iterator_options how = {LEAT_ITERATOR_DEFAULTS};
    leat_error err = {0};
    leat_iterator *iterator = NULL;
    if (!PyArg_ParseTuple(args, "OO", &dataset, &options) || native_dataset_of(dataset) == NULL ||
        native_read_options(options, &how) != 0)
        return NULL;
    leat_dataset *plan = native_dataset_of(dataset);
    Py_BEGIN_ALLOW_THREADS;
    iterator = leat_iterator_new(plan, &how, &err);
    Py_END_ALLOW_THREADS;
    return iterator == NULL ? native_raise(&err)
                            : new_iterator(iterator, NULL, leat_dataset_spec(plan),
                                           native_dataset_held(dataset));
}

/* Takes the iterator out of the list; true if it is to be freed, false if it is gone. */
static bool take_out(native_iterator *self) {
    pthread_mutex_lock(&guard);
    bool was_open = self->open;
    if (was_open) {
        self->previous->next = self->next;
        self->next->previous = self->previous;
    }
    self->open = false;
    pthread_mutex_unlock(&guard);
    return was_open;
}

static void end(native_iterator *self) {
    if (!take_out(self) || self->process != getpid())
        return; /* a child has none of the threads that freeing would wait for */
    native_free_iterator(self->iterator, self->distributed, self->held);
}

static int iterator_traverse(PyObject *object, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((native_iterator *)object)->held);
    return 0;
}

/* In a cycle that the collector takes apart: the runs of generators end while what they belong to
 * is still whole. */
static void iterator_finalize(PyObject *object) {
    PyObject *kind = NULL, *value = NULL, *traceback = NULL;
    PyErr_Fetch(&kind, &value, &traceback);
    end((native_iterator *)object);
    PyErr_Restore(kind, value, traceback);
}

static void iterator_dealloc(PyObject *object) {
    PyObject_GC_UnTrack(object);
    end((native_iterator *)object);
    Py_CLEAR(((native_iterator *)object)->held);
    native_free(object);
}

PyObject *native_shutdown(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    for (;;) {
        pthread_mutex_lock(&guard);
        native_iterator *self = live.next;
        bool found = self != &live;
        if (found && self->busy)
            cancel_iterator(self);
        pthread_mutex_unlock(&guard);
        if (!found)
            break;
        if (self->busy) { /* another thread is in a call: it was cancelled and will leave */
            take_out(self);
            continue;
        }
        end(self);
    }
    atomic_store(&running, false);
    Py_RETURN_NONE;
}

/* The iterator for a call, or NULL with an exception. */
static native_iterator *usable(PyObject *object) {
    native_iterator *self = (native_iterator *)object;
    if (!self->open) {
        PyErr_SetString(PyExc_ValueError, "the iterator is closed; make a new one with iter()");
        return NULL;
    }
    if (self->process != getpid()) {
        PyErr_SetString(PyExc_RuntimeError,
                        "this iterator belongs to the parent process, whose threads a fork does "
                        "not copy; make iterators after the fork, or start processes with spawn");
        return NULL;
    }
    if (self->busy) {
        PyErr_SetString(PyExc_ValueError,
                        "another thread is in a call of this iterator; give each thread one of its "
                        "own, or put a lock around it");
        return NULL;
    }
    return self;
}

/* The same for what a strategy's iterators do not have. */
static leat_iterator *plain(PyObject *object) {
    native_iterator *self = usable(object);
    if (self != NULL && self->iterator == NULL)
        PyErr_SetString(PyExc_TypeError, "iterators of strategies give steps");
    return self == NULL ? NULL : self->iterator;
}

/* ---- elements ---- */

/* Raises for a status; a pending KeyboardInterrupt comes first. Returns NULL. */
static PyObject *failure(leat_status status, const leat_error *err) {
    return status == LEAT_CANCELLED && PyErr_CheckSignals() != 0 ? NULL : native_raise(err);
}

/* The same, but the end of the sequence is None. */
static PyObject *outcome(leat_status status, const leat_error *err) {
    if (err->reason == LEAT_REASON_END)
        Py_RETURN_NONE;
    return failure(status, err);
}

/* next(): the element's tensors as a list; None at the end. */
static PyObject *iterator_next(PyObject *object, PyObject *unused) {
    (void)unused;
    native_iterator *self = (native_iterator *)object;
    leat_iterator *iterator = plain(object);
    leat_element element = {0};
    leat_error err = {0};
    leat_status status = LEAT_OK;
    if (iterator == NULL)
        return NULL;
    enter(self);
    Py_BEGIN_ALLOW_THREADS;
    status = leat_iterator_next(iterator, &element, &err);
    Py_END_ALLOW_THREADS;
    leave(self);
    if (status != LEAT_OK) {
        leat_element_fini(&element);
        return outcome(status, &err);
    }
    PyObject *list = native_pass_held(native_tensor_list(element.tensors, element.num_tensors),
                                      self->held, NULL);
    element.num_tensors = 0; /* the references have moved */
    leat_element_fini(&element);
    return list;
}

/* step(filled): the tensors of each replica as a list of lists; None at the end. */
static PyObject *iterator_step(PyObject *object, PyObject *filled) {
    native_iterator *self = (native_iterator *)object;
    int fill = PyObject_IsTrue(filled);
    leat_per_replica value = {0};
    leat_error err = {0};
    leat_status status = LEAT_OK;
    if (usable(object) == NULL || fill < 0)
        return NULL;
    if (self->distributed == NULL) {
        PyErr_SetString(PyExc_TypeError, "step() is for iterators of strategies");
        return NULL;
    }
    enter(self);
    Py_BEGIN_ALLOW_THREADS;
    status = fill ? leat_distributed_iterator_next_filled(self->distributed, &value, &err)
                  : leat_distributed_iterator_next(self->distributed, &value, &err);
    Py_END_ALLOW_THREADS;
    leave(self);
    PyObject *result = status == LEAT_OK ? native_per_replica_list(&value) : outcome(status, &err);
    leat_per_replica_fini(&value);
    return result;
}

/* rows(most): (n, list of stacked tensors); None at the end. */
static PyObject *iterator_rows(PyObject *object, PyObject *number) {
    native_iterator *self = (native_iterator *)object;
    leat_iterator *iterator = plain(object);
    long long most = PyLong_AsLongLong(number);
    leat_error err = {0};
    leat_status status = LEAT_OK;
    int64_t n = 0;
    if (iterator == NULL || (most == -1 && PyErr_Occurred() != NULL))
        return NULL;
    leat_tensor *tensors = PyMem_Calloc((size_t)self->num_components + 1, sizeof(*tensors));
    if (tensors == NULL)
        return PyErr_NoMemory();
    enter(self);
    Py_BEGIN_ALLOW_THREADS;
    status = leat_iterator_next_rows(iterator, most, tensors, &n, &err);
    Py_END_ALLOW_THREADS;
    leave(self);
    PyObject *result = NULL;
    if (status != LEAT_OK) {
        result = outcome(status, &err);
    } else {
        PyObject *list =
            native_pass_held(native_tensor_list(tensors, self->num_components), self->held, NULL);
        result = list == NULL ? NULL : Py_BuildValue("(LN)", (long long)n, list);
    }
    PyMem_Free(tensors);
    return result;
}

/* ---- the rest ---- */

static PyObject *iterator_save(PyObject *object, PyObject *args) {
    native_iterator *self = usable(object);
    leat_iterator_save_options options = {LEAT_ITERATOR_SAVE_DEFAULTS};
    leat_iterator_save_report report = {0};
    leat_error err = {0};
    leat_status status = LEAT_OK;
    int mode = 0;
    long long limit = 0;
    char *data = NULL;
    size_t size = 0;
    if (self == NULL || !PyArg_ParseTuple(args, "iL", &mode, &limit))
        return NULL;
    options.mode = (leat_iterator_save_mode)mode;
    options.replay_limit = limit == 0 ? LEAT_UNLIMITED : limit;
    enter(self);
    Py_BEGIN_ALLOW_THREADS;
    status = self->distributed != NULL
                 ? leat_distributed_iterator_save(self->distributed, &options, &data, &size,
                                                  &report, &err)
                 : leat_iterator_save_with(self->iterator, &options, &data, &size, &report, &err);
    Py_END_ALLOW_THREADS;
    leave(self);
    if (status != LEAT_OK)
        return failure(status, &err);
    PyObject *result =
        Py_BuildValue("y#LL", data, (Py_ssize_t)size, (long long)report.replay_elements,
                      (long long)report.data_elements);
    leat_text_free(data);
    return result;
}

static PyObject *iterator_restore(PyObject *object, PyObject *state) {
    native_iterator *self = usable(object);
    leat_error err = {0};
    leat_status status = LEAT_OK;
    char *data = NULL;
    Py_ssize_t size = 0;
    if (self == NULL || PyBytes_AsStringAndSize(state, &data, &size) != 0)
        return NULL;
    enter(self);
    Py_BEGIN_ALLOW_THREADS;
    status = self->distributed != NULL
                 ? leat_distributed_iterator_restore(self->distributed, data, (size_t)size, &err)
                 : leat_iterator_restore(self->iterator, data, (size_t)size, &err);
    Py_END_ALLOW_THREADS;
    leave(self);
    if (status != LEAT_OK)
        return failure(status, &err);
    Py_RETURN_NONE;
}

static PyObject *iterator_explain(PyObject *object, PyObject *unused) {
    (void)unused;
    native_iterator *self = usable(object);
    leat_error err = {0};
    if (self == NULL)
        return NULL;
    return native_text(self->distributed != NULL
                           ? leat_distributed_iterator_explain(self->distributed, &err)
                           : leat_iterator_explain(self->iterator, &err),
                       &err);
}

static PyObject *iterator_metrics(PyObject *object, PyObject *unused) {
    (void)unused;
    native_iterator *self = usable(object);
    leat_error err = {0};
    if (self == NULL)
        return NULL;
    leat_iterator *iterator = self->distributed != NULL
                                  ? leat_distributed_iterator_base(self->distributed)
                                  : self->iterator;
    if (iterator == NULL) /* it reads several since it was restored */
        return PyUnicode_FromString("");
    return native_text(leat_iterator_metrics(iterator, &err), &err);
}

static PyObject *iterator_cancel(PyObject *object, PyObject *unused) {
    (void)unused;
    pthread_mutex_lock(&guard);
    if (((native_iterator *)object)->open)
        cancel_iterator(object);
    pthread_mutex_unlock(&guard);
    Py_RETURN_NONE;
}

static PyObject *iterator_close(PyObject *object, PyObject *unused) {
    (void)unused;
    native_iterator *self = (native_iterator *)object;
    if (self->open && usable(object) == NULL)
        return NULL;
    end(self);
    Py_RETURN_NONE;
}

static PyMethodDef iterator_methods[] = {
    {"open", iterator_open, METH_VARARGS | METH_STATIC,
     "open(dataset, (threads, memory, deadline_ms, no_rewrites, no_autotune)) -> Iterator."},
    {"next", iterator_next, METH_NOARGS, "The next element's tensors; None at the end."},
    {"rows", iterator_rows, METH_O, "rows(most) -> (n, stacked tensors); None at the end."},
    {"step", iterator_step, METH_O, "step(filled) -> tensors by replica; None at the end."},
    {"save", iterator_save, METH_VARARGS, "save(mode, limit) -> (bytes, replayed, held)."},
    {"restore", iterator_restore, METH_O, "restore(bytes), before any element."},
    {"explain", iterator_explain, METH_NOARGS, "What each operator does, as text."},
    {"metrics", iterator_metrics, METH_NOARGS, "The same for Prometheus."},
    {"cancel", iterator_cancel, METH_NOARGS, "Ends a call that waits; from any thread."},
    {"close", iterator_close, METH_NOARGS, "Ends the iteration and its threads."},
    {0},
};

static PyType_Slot iterator_slots[] = {
    {Py_tp_doc, "One run through a dataset."},   {Py_tp_dealloc, (void *)iterator_dealloc},
    {Py_tp_traverse, (void *)iterator_traverse}, {Py_tp_finalize, (void *)iterator_finalize},
    {Py_tp_methods, iterator_methods},           {0},
};

static PyType_Spec spec = {
    .name = "leat._native.Iterator",
    .basicsize = sizeof(native_iterator),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = iterator_slots,
};

static void before_fork(void) {
    pthread_mutex_lock(&guard);
    pthread_mutex_lock(&native_release_lock);
}

static void after_fork_in_parent(void) {
    pthread_mutex_unlock(&native_release_lock);
    pthread_mutex_unlock(&guard);
}

/* The thread that forked is the child's main one; the one that reads the pipe is gone. */
static void after_fork_in_child(void) {
    for (int i = 0; i < 2; i++) {
        if (signal_pipe[i] >= 0)
            close(signal_pipe[i]);
        signal_pipe[i] = -1;
    }
    in_main = NULL;
    main_thread = pthread_self();
    after_fork_in_parent();
}

int native_add_iterator(PyObject *module) {
    main_thread = pthread_self();
    (void)pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    return native_add_type(module, &spec, &iterator_type);
}
