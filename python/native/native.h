/* The extension module leat._native: leat's objects as Python objects, and nothing else.
 *
 * Names, signatures, structures and conversions live in python/leat. Everything here is a thin
 * call: arguments in, a C call without the GIL where it may take long, a result or an exception
 * out. One interpreter per process: the module's types and tables are static. Functions return a
 * new reference or NULL (an int function: 0 or -1) with an exception set, unless they say
 * otherwise. All of them need the GIL. */
#ifndef LEAT_PYTHON_NATIVE_H
#define LEAT_PYTHON_NATIVE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <leat/leat.h>
#include <pthread.h>
#include <stdlib.h>
#include <structmember.h>

/* ---- errors.c ---- */

/* Raises the class that set_error_classes named for the code; the text is the error's. Where the
 * error came out of a Python callback, its own exception is raised again. Returns NULL. */
PyObject *native_raise(const leat_error *err);
/* The exception that is set becomes an error of leat (cleared); its object is kept for
 * native_raise. */
leat_status native_catch(leat_error *err);
/* A KeyboardInterrupt that native_catch saw is no longer what a cancelled call is about. */
void native_forget_interrupt(void);
PyObject *native_set_error_classes(PyObject *module, PyObject *classes);
/* Raises InvalidArgumentError, which says of a text (ASCII) what is wrong with it, and what helps.
 */
void native_refuse(const char *what, const char *text, const char *advice);

/* object.name() beside whatever is raised on this thread; what fails in it is reported as
 * unraisable. */
void native_call_aside(PyObject *object, const char *name);

/* ---- writing.c ---- */

typedef leat_status (*native_writing_end)(void *writer, leat_error *err);

/* A writer of C's, what it is in a call with, and what it is closed by. */
typedef struct native_writing {
    PyObject_HEAD void *writer; /* NULL once it is closed or discarded */
    native_writing_end close;
    bool is_busy; /* a call is running without the GIL */
} native_writing;

/* Takes the writer over, and discards it on failure. */
PyObject *native_writing_new(PyTypeObject *type, void *writer, native_writing_end close,
                             native_writing_end discard);
/* The writer (borrowed); NULL with ValueError where it is closed or another thread uses it. */
void *native_writing_usable(PyObject *object);
/* Ends the writer, by `end` or (a method) as it is closed; nothing where it has ended. */
PyObject *native_writing_end_by(PyObject *object, native_writing_end end);
PyObject *native_writing_close(PyObject *object, PyObject *unused);
void native_writing_dealloc(PyObject *object);
/* The statements without the GIL, in which no other call may use the writer. */
#define NATIVE_WRITING(object, statements)                                                         \
    ((native_writing *)(object))->is_busy = true;                                                  \
    Py_BEGIN_ALLOW_THREADS;                                                                        \
    statements;                                                                                    \
    Py_END_ALLOW_THREADS;                                                                          \
    ((native_writing *)(object))->is_busy = false

/* ---- texts.c ---- */

/* For "O&", into a PyObject * that is NULL before: the bytes of a path of text, bytes or
 * os.PathLike. The caller owns them. */
int native_path(PyObject *object, void *out);
/* The same; of None, NULL. */
int native_path_or_none(PyObject *object, void *out);
/* For "O&", into a const char *: a name in UTF-8, borrowed from the text. */
int native_name(PyObject *object, void *out);
/* The same; of None, NULL. */
int native_name_or_none(PyObject *object, void *out);
/* What bytes hold, borrowed; NULL of NULL. */
const char *native_chars(PyObject *bytes);
/* path_bytes(path): what native_path makes of it. */
PyObject *native_path_bytes(PyObject *module, PyObject *path);
/* text_bytes(text): UTF-8, in which surrogates that os.fsdecode made are the bytes they stand for.
 */
PyObject *native_text_bytes(PyObject *module, PyObject *text);

/* ---- interrupts.c ---- */

/* Raises what a handler of a signal raised while a call of leat was under way; false: nothing. */
bool native_raise_kept(void);
/* watch_interrupts(here): the main thread is asked for signals; it is this one where `here` is
 * true. */
PyObject *native_watch_interrupts(PyObject *module, PyObject *here);

/* ---- held.c ---- */

/* A callable that C calls, as C's context. */
typedef struct native_callback native_callback;

/* C owns it until native_callback_release; `output` (borrowed) may be NULL. */
native_callback *native_callback_new(PyObject *callable, leat_spec *output);
/* What C releases a callback with: from any thread, without the GIL. */
void native_callback_release(void *context);
/* The callable, a new reference, for a call; NULL with `err` (not an exception) where Python's
 * collector has taken it. */
PyObject *native_callback_callable(native_callback *callback, leat_error *err);
/* Borrowed; may be NULL. */
const leat_spec *native_callback_output(const native_callback *callback);
/* Keeps an object as long as the callback, or until it is forgotten. */
int native_callback_keep(native_callback *callback, PyObject *object);
/* Keeps what a dataset has that the callback gave to C (NULL: nothing), as long as C needs it. */
int native_callback_keep_held(native_callback *callback, PyObject *held);
/* The same for the tensors that the callback returned: those of `sequence`, as an array too. */
int native_callback_keep_results(native_callback *callback, const leat_tensor *tensors,
                                 Py_ssize_t count, PyObject *sequence);
/* Lets one reference of native_callback_keep go; an object that is not kept passes through. */
void native_callback_forget(native_callback *callback, const PyObject *object);

/* What an object of Python has that reaches one callback. */
PyObject *native_held_new(native_callback *callback);
/* Adds what another object has (NULL: nothing) to `*held` (NULL: nothing yet), which is replaced.
 */
int native_hold(PyObject **held, PyObject *more);
/* Tensors of dtype object in a list that was made by something that has `held`, of `inputs` (a
 * sequence of tensors; NULL: none), have the same. Gives the list back; NULL where it is NULL or
 * memory is short. */
PyObject *native_pass_held(PyObject *list, PyObject *held, PyObject *inputs);
/* Adds what the tensors of a sequence have. */
int native_hold_tensors(PyObject **held, PyObject *sequence);
int native_add_held(PyObject *module);

/* ---- tensor.c ---- */

/* Of what waits to be released under the GIL; a leaf. Held around fork (iterator.c). */
extern pthread_mutex_t native_release_lock;

/* A tensor: its values (`has_values`), its place in a graph (`graph` not NULL), or both. */
typedef struct native_tensor {
    PyObject_HEAD leat_tensor tensor;
    bool has_values;
    bool is_given;   /* its memory goes to whoever asks for its buffer, who may write it */
    PyObject *graph; /* a native graph */
    int32_t id;
    PyObject *weakrefs;
    PyObject *origin; /* what Python says of where it is from; NULL: nothing */
    PyObject *held;   /* of dtype object: what its datasets have (held.c); NULL: nothing */
} native_tensor;

/* Takes over the reference in `tensor`, also on failure. */
PyObject *native_tensor_new(leat_tensor *tensor);
/* Value `id` of a graph; an eager one has its values too. */
PyObject *native_tensor_symbolic(PyObject *graph, int32_t id);
/* The values behind a tensor with values (borrowed); NULL with TypeError. */
const leat_tensor *native_tensor_of(PyObject *object);
bool native_is_tensor(PyObject *object);
/* The class of the tensors that C makes. */
extern PyTypeObject *native_tensor_class;
/* Tensors of a sequence as an array (PyMem_Free; the tensors are borrowed from it). */
leat_tensor *native_tensors(PyObject *sequence, Py_ssize_t *count);
/* A list of tensors; takes over the references, also on failure. */
PyObject *native_tensor_list(leat_tensor *tensors, Py_ssize_t count);
/* The end of a dealloc: the object's memory, and its reference to its type. */
static inline void native_free(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}
/* Runs a function under the GIL later, from whichever thread and whatever it holds. */
void native_release_later(void (*function)(void *context), void *context);
int native_add_tensor(PyObject *module);

/* ---- graph.c ---- */

leat_graph *native_graph_of(PyObject *graph);
/* What was put into it has (borrowed, may be NULL). */
PyObject *native_graph_held(PyObject *graph);
/* The graph has from now on what a function has. */
int native_graph_hold(PyObject *graph, PyObject *function);
/* Methods of Graph (graph_dataset.c). */
PyObject *native_graph_reduce_dataset(PyObject *graph, PyObject *args);
PyObject *native_graph_dataset(PyObject *graph, PyObject *args);
/* Does it compute as it is built? */
bool native_graph_is_eager(PyObject *graph);
/* The graph, or NULL with an exception where it was finished. */
leat_graph *native_open_graph(PyObject *self);
/* Raises the error of a graph, which it takes out. Returns NULL. */
PyObject *native_raise_graph(leat_graph *graph);
/* A value of a graph for a tensor: its own, or a constant of its values. */
int native_value_in(PyObject *graph, PyObject *tensor, leat_value *out);
/* The same for a sequence (PyMem_Free). */
leat_value *native_values_in(PyObject *graph, PyObject *sequence, Py_ssize_t *count);
/* Tensors for values of a graph. */
PyObject *native_symbolic_list(PyObject *graph, const leat_value *values, int count);
int native_add_graph(PyObject *module);

/* ---- operation.c ---- */

int native_add_operation(PyObject *module);

/* ---- function.c ---- */

extern PyTypeObject *native_function_type;
/* Takes over a reference (NULL: raises `err`). `held` is borrowed and may be NULL. */
PyObject *native_function_new(leat_function *function, PyObject *held, const leat_error *err);
/* What a function has (borrowed, may be NULL). */
PyObject *native_function_held(PyObject *function);
leat_function *native_function_of(PyObject *object);
int native_add_function(PyObject *module);

/* ---- variable.c, dlpack.c ---- */

/* Borrowed; NULL with TypeError. */
leat_variable *native_variable_of(PyObject *object);
int native_add_variable(PyObject *module);
/* to_dlpack(tensor, versioned): a capsule. from_dlpack(capsule): a tensor over its memory. */
PyObject *native_to_dlpack(PyObject *module, PyObject *args);
PyObject *native_from_dlpack(PyObject *module, PyObject *capsule);
/* give(tensor): itself, which nobody else has; whoever asks for its buffer may write it. */
PyObject *native_give(PyObject *module, PyObject *tensor);

/* ---- strings.c ---- */

/* strings_at(addresses, sizes, owner, shape): a tensor of strings that lie at these places (arrays
 * of int64) as long as the owner lives, which the tensor keeps. */
PyObject *native_strings_at(PyObject *module, PyObject *args);
/* strings_joined(tensor): (offsets of all and the end as int64, the bytes of all in a row). */
PyObject *native_strings_joined(PyObject *module, PyObject *tensor);

/* ---- arrow_in.c, arrow_out.c ---- */

int native_add_arrow(PyObject *module);
/* arrow_stream(schema, next): a capsule of a stream whose batches next() gives; None ends it. */
PyObject *native_arrow_stream(PyObject *module, PyObject *args);

/* ---- dataset.c, generator.c, iterator.c ---- */

/* The tensors of an element (borrowed) as a list. */
PyObject *native_element_list(const leat_element *element);
/* An element of (JSON of the spec, tensors); `out` is {0} and holds references. What its tensors
 * have is added to `held` (NULL: nobody asks). */
int native_read_element(PyObject *pair, leat_element *out, PyObject **held);
PyObject *native_dataset_generator(PyObject *class, PyObject *args);

/* Takes over a reference (NULL: raises `err`). `held` is borrowed and may be NULL. */
PyObject *native_dataset_new(leat_dataset *dataset, PyObject *held, const leat_error *err);
/* What a dataset has (borrowed, may be NULL). */
PyObject *native_dataset_held(PyObject *dataset);
leat_dataset *native_dataset_of(PyObject *object);
int native_add_dataset(PyObject *module);
int native_add_iterator(PyObject *module);
/* Cancels and frees the live iterators, for the end of the interpreter. */
PyObject *native_shutdown(PyObject *module, PyObject *unused);
/* tool.c. */
PyObject *native_tool(PyObject *module, PyObject *arguments);
/* False after native_shutdown: threads must not ask for the GIL any more. */
bool native_is_running(void);
/* Takes and releases the GIL around a call of Python code by the library. */
PyGILState_STATE native_enter_python(void);
void native_leave_python(PyGILState_STATE state);
/* Frees an iterator or a distributed one, without the GIL; the other is NULL. Where a callback
 * stays in Python for more than a second, a thread of its own waits for it; it keeps `held`
 * (borrowed; may be NULL) meanwhile. (ending.c) */
void native_free_iterator(leat_iterator *iterator, leat_distributed_iterator *distributed,
                          PyObject *held);

/* (threads, memory, deadline_ms, no_rewrites, no_autotune) as options. */
int native_read_options(PyObject *options, leat_iterator_options *out);
/* An iterator (given) over the values of replicas; `spec` is that of one replica's, `held`
 * (borrowed, may be NULL) what their dataset has. */
PyObject *native_iterator_distributed(leat_distributed_iterator *distributed, const leat_spec *spec,
                                      PyObject *held);
/* Around a call that may wait: what Ctrl-C ends while the main thread is in it. */
void native_wait_begin(void (*cancel)(void *object), void *object);
void native_wait_end(void);

/* ---- strategy.c ---- */

/* The tensors of each replica: a list of lists. */
PyObject *native_per_replica_list(const leat_per_replica *value);
/* Borrowed; NULL with an exception. */
leat_strategy *native_strategy_of(PyObject *object);
int native_add_strategy(PyObject *module);

/* ---- distributed.c ---- */

int native_add_distributed(PyObject *module);

/* ---- cluster.c ---- */

/* find_cluster() -> (resolver, JSON of the cluster, task type, task id) of the environment. */
PyObject *native_find_cluster(PyObject *module, PyObject *unused);
/* cluster_place(TF_CONFIG's text, what): 0: is it the chief? 1: its number among the workers; 2:
 * how many there are. */
PyObject *native_cluster_place(PyObject *module, PyObject *args);

/* ---- service.c ---- */

int native_add_server(PyObject *module);
/* service_register(service, dataset, compression or None, dataset id or None) -> id. */
PyObject *native_service_register(PyObject *module, PyObject *args);
/* service_dataset(service, dataset id) -> a dataset that reads it under OFF. */
PyObject *native_service_dataset(PyObject *module, PyObject *args);
/* service_save(service, dataset, path, compression or None). */
PyObject *native_service_save(PyObject *module, PyObject *args);
/* service_status(service, timeout_ms) -> JSON text. */
PyObject *native_service_status(PyObject *module, PyObject *args);
/* service_drain(service, worker or None, timeout_ms). */
PyObject *native_service_drain(PyObject *module, PyObject *args);

/* ---- calls.c ---- */

int native_add_calls(PyObject *module);

/* ---- records.c ---- */

int native_add_records(PyObject *module);

/* ---- files.c ---- */

int native_add_files(PyObject *module);

/* ---- filesystem.c ---- */

int native_add_filesystem(PyObject *module);

/* ---- bundle.c ---- */

int native_add_bundle(PyObject *module);

/* ---- events.c ---- */

int native_add_events(PyObject *module);

/* ---- train.c ---- */

int native_add_train(PyObject *module);
/* The tables of layers, losses, ... as JSON text. */
PyObject *native_train_tables(PyObject *module, PyObject *unused);

/* ---- helpers of module.c ---- */

/* Text that leat returned as owned; NULL raises `err`. */
PyObject *native_text(char *text, const leat_error *err);
/* A spec of JSON text (a str; None: NULL without an exception). Owned. */
int native_spec(PyObject *json, leat_spec **spec);
PyObject *native_spec_json(const leat_spec *spec);
PyObject *native_shape(const leat_shape *shape);
/* A shape of a sequence of numbers and Nones; None: of unknown rank. */
int native_read_shape(PyObject *dims, leat_shape *out);
int native_add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **type);

#endif
