/* Callback and Held: what C holds of Python, where Python's collector sees it.
 *
 * A callable that C calls lives in a Callback, whose one reference C owns at first. Every object
 * of Python whose C object reaches callbacks (a dataset's, a function's, an iterator's) has a Held,
 * and each Held owns one reference to each of its callbacks. While any Held has a callback, C's
 * reference is none: all references are Held's, the collector visits them once each, its counts add
 * up, and a cycle through a callable is seen to be one. When the last Held lets go and C has not
 * released the callback, the reference passes to C again, so no callable ends before C is done
 * with it, whoever else has the C object: a thread that goes on, a plan that holds the function.
 *
 * What a Held has is known as objects are made: a dataset has what its inputs, functions and values
 * have, an iterator what its dataset has, a graph what was put into it. Tensors that hold datasets
 * have one too, but are not visited: they keep alive. So does a call: its callable and its run are
 * owned by the caller meanwhile, which the collector takes for a reference from outside.
 *
 * The runs of a generator belong to its callback: their frames are seen as well. So do the
 * callbacks of datasets that a callback returns, which C alone has from then on, until C has
 * released them: a cycle that goes through such a dataset alone ends with the callback above it.
 * What is given to a callback as an argument has no Held, so a dataset that arrives that way keeps
 * alive what C has and shows the collector nothing.
 *
 * Only a Callback is cleared, because every cycle of this kind goes through one; C finds it empty
 * then and is told CANCELLED. All of it happens under the GIL; no other lock. */
#include "native.h"

struct native_callback {
    PyObject_HEAD PyObject *callable; /* NULL: the collector took it */
    leat_spec *output;                /* of the result; NULL: not asked for */
    PyObject *kept;                   /* a list: open runs, Held of results; NULL: none yet */
    Py_ssize_t most_kept;             /* when what is over goes */
    Py_ssize_t owners;                /* how many Held have it */
    bool released;                    /* C is done with it */
    bool is_of_c;                     /* the reference of C is one */
};

typedef struct native_held {
    PyObject_HEAD Py_ssize_t count;
    native_callback **callbacks;
} native_held;

static PyTypeObject *callback_type, *held_type;

enum { FEW_KEPT = 8 };

/* ---- callbacks ---- */

native_callback *native_callback_new(PyObject *callable, leat_spec *output) {
    native_callback *self = (native_callback *)PyType_GenericAlloc(callback_type, 0);
    if (self == NULL)
        return NULL;
    self->callable = Py_NewRef(callable);
    self->output = leat_spec_ref(output);
    self->is_of_c = true;
    return self;
}

PyObject *native_callback_callable(native_callback *callback, leat_error *err) {
    if (callback->callable == NULL)
        (void)leat_error_set(err, LEAT_CANCELLED, "the Python function was collected");
    return Py_XNewRef(callback->callable);
}

const leat_spec *native_callback_output(const native_callback *callback) {
    return callback->output;
}

/* Has C released all of the callbacks? */
static bool is_over(PyObject *object) {
    const native_held *held = (const native_held *)object;
    if (!PyObject_TypeCheck(object, held_type))
        return false;
    for (Py_ssize_t i = 0; i < held->count; i++)
        if (!held->callbacks[i]->released)
            return false;
    return true;
}

int native_callback_keep_held(native_callback *callback, PyObject *held) {
    PyObject *old = held == NULL ? NULL : callback->kept;
    Py_ssize_t count = old == NULL ? 0 : PyList_Size(old);
    /* At twice as many as stayed, so that this costs little for each. */
    if (old != NULL && count > callback->most_kept) {
        PyObject *stay = PyList_New(0);
        for (Py_ssize_t i = 0; stay != NULL && i < count; i++) {
            PyObject *item = PyList_GetItem(old, i);
            if (!is_over(item) && PyList_Append(stay, item) != 0)
                Py_CLEAR(stay);
        }
        if (stay == NULL)
            return -1;
        callback->most_kept = 2 * PyList_Size(stay) + FEW_KEPT;
        callback->kept = stay;
        Py_DECREF(old);
    }
    return held == NULL ? 0 : native_callback_keep(callback, held);
}

int native_callback_keep_results(native_callback *callback, const leat_tensor *tensors,
                                 Py_ssize_t count, PyObject *sequence) {
    PyObject *held = NULL;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (tensors[i].dtype != LEAT_OBJECT)
            continue;
        int status = native_hold_tensors(&held, sequence);
        if (status == 0)
            status = native_callback_keep_held(callback, held);
        Py_XDECREF(held);
        return status;
    }
    return 0;
}

int native_callback_keep(native_callback *callback, PyObject *object) {
    if (callback->kept == NULL)
        callback->kept = PyList_New(0);
    return callback->kept == NULL ? -1 : PyList_Append(callback->kept, object);
}

void native_callback_forget(native_callback *callback, const PyObject *object) {
    Py_ssize_t count = callback->kept == NULL ? 0 : PyList_Size(callback->kept);
    for (Py_ssize_t i = count - 1; i >= 0; i--) {
        if (PyList_GetItem(callback->kept, i) != object)
            continue;
        if (PySequence_DelItem(callback->kept, i) != 0)
            PyErr_Clear();
        return;
    }
}

static void drop_callback(void *context) {
    native_callback *callback = context;
    callback->released = true;
    if (callback->is_of_c) {
        callback->is_of_c = false;
        Py_DECREF((PyObject *)callback);
    }
}

void native_callback_release(void *context) {
    native_release_later(drop_callback, context);
}

static int callback_traverse(PyObject *object, visitproc visit, void *arg) {
    native_callback *self = (native_callback *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->callable);
    Py_VISIT(self->kept);
    return 0;
}

static int callback_clear(PyObject *object) {
    native_callback *self = (native_callback *)object;
    Py_CLEAR(self->callable);
    Py_CLEAR(self->kept);
    return 0;
}

static void callback_dealloc(PyObject *object) {
    PyObject_GC_UnTrack(object);
    callback_clear(object);
    leat_spec_unref(((native_callback *)object)->output);
    native_free(object);
}

/* ---- what an object has ---- */

static void adopt(native_held *held, native_callback *callback) {
    held->callbacks[held->count++] = callback;
    callback->owners++;
    if (callback->is_of_c)
        callback->is_of_c = false; /* C's reference is this one now */
    else
        Py_INCREF((PyObject *)callback);
}

static void give_up(native_callback *callback) {
    if (--callback->owners == 0 && !callback->released)
        callback->is_of_c = true;
    else
        Py_DECREF((PyObject *)callback);
}

static native_held *held_of_size(Py_ssize_t most) {
    native_held *held = (native_held *)PyType_GenericAlloc(held_type, 0);
    if (held == NULL)
        return NULL;
    held->callbacks = PyMem_Calloc((size_t)most, sizeof(native_callback *));
    if (held->callbacks == NULL) {
        Py_DECREF((PyObject *)held);
        return (native_held *)PyErr_NoMemory();
    }
    return held;
}

PyObject *native_held_new(native_callback *callback) {
    native_held *held = held_of_size(1);
    if (held != NULL)
        adopt(held, callback);
    return (PyObject *)held;
}

static bool has(const native_held *held, const native_callback *callback) {
    for (Py_ssize_t i = 0; i < held->count; i++)
        if (held->callbacks[i] == callback)
            return true;
    return false;
}

int native_hold(PyObject **held, PyObject *more) {
    native_held *old = (native_held *)*held, *other = (native_held *)more;
    Py_ssize_t missing = 0;
    if (old == other || other == NULL)
        return 0;
    if (old == NULL) {
        *held = Py_NewRef(more);
        return 0;
    }
    for (Py_ssize_t i = 0; i < other->count; i++)
        missing += !has(old, other->callbacks[i]);
    if (missing == 0)
        return 0;
    /* Others may have the old one: it stays as it is. */
    native_held *both = held_of_size(old->count + missing);
    if (both == NULL)
        return -1;
    for (Py_ssize_t i = 0; i < old->count; i++)
        adopt(both, old->callbacks[i]);
    for (Py_ssize_t i = 0; i < other->count; i++)
        if (!has(old, other->callbacks[i]))
            adopt(both, other->callbacks[i]);
    *held = (PyObject *)both;
    Py_DECREF((PyObject *)old);
    return 0;
}

int native_hold_tensors(PyObject **held, PyObject *sequence) {
    Py_ssize_t count = PySequence_Size(sequence);
    int status = count < 0 ? -1 : 0;
    for (Py_ssize_t i = 0; status == 0 && i < count; i++) {
        PyObject *item = PySequence_GetItem(sequence, i);
        status = item == NULL ? -1 : 0;
        if (status == 0 && native_is_tensor(item))
            status = native_hold(held, ((native_tensor *)item)->held);
        Py_XDECREF(item);
    }
    return status;
}

PyObject *native_pass_held(PyObject *list, PyObject *held, PyObject *inputs) {
    bool has_inputs = inputs == NULL;
    PyObject *all = Py_XNewRef(held);
    for (Py_ssize_t i = 0; list != NULL && i < PyList_Size(list); i++) {
        native_tensor *tensor = (native_tensor *)PyList_GetItem(list, i);
        if (tensor->tensor.dtype != LEAT_OBJECT)
            continue;
        /* Mostly there is no dataset among the outputs, and nobody asks for the inputs'. */
        if (!has_inputs && native_hold_tensors(&all, inputs) != 0)
            Py_CLEAR(list);
        has_inputs = true;
        if (list != NULL && tensor->held == NULL)
            tensor->held = Py_XNewRef(all);
    }
    Py_XDECREF(all);
    return list;
}

static int held_traverse(PyObject *object, visitproc visit, void *arg) {
    native_held *self = (native_held *)object;
    Py_VISIT(Py_TYPE(object));
    for (Py_ssize_t i = 0; i < self->count; i++)
        Py_VISIT((PyObject *)self->callbacks[i]);
    return 0;
}

static void held_dealloc(PyObject *object) {
    native_held *self = (native_held *)object;
    PyObject_GC_UnTrack(object);
    while (self->count > 0)
        give_up(self->callbacks[--self->count]);
    PyMem_Free(self->callbacks);
    native_free(object);
}

/* ---- the types ---- */

static PyType_Slot callback_slots[] = {
    {Py_tp_doc, "A callable that the library calls."},
    {Py_tp_dealloc, (void *)callback_dealloc},
    {Py_tp_traverse, (void *)callback_traverse},
    {Py_tp_clear, (void *)callback_clear},
    {0},
};

static PyType_Spec callback_spec = {
    .name = "leat._native.Callback",
    .basicsize = sizeof(native_callback),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = callback_slots,
};

static PyType_Slot held_slots[] = {
    {Py_tp_doc, "The callbacks that an object of the library reaches."},
    {Py_tp_dealloc, (void *)held_dealloc},
    {Py_tp_traverse, (void *)held_traverse},
    {0},
};

static PyType_Spec held_spec = {
    .name = "leat._native.Held",
    .basicsize = sizeof(native_held),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = held_slots,
};

int native_add_held(PyObject *module) {
    return native_add_type(module, &callback_spec, &callback_type) != 0 ||
                   native_add_type(module, &held_spec, &held_type) != 0
               ? -1
               : 0;
}
