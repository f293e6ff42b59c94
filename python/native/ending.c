/* Freeing iterators whose callbacks may be in Python code that does not end.
 *
 * Freeing waits for the threads of an iterator, and one of them may be in a callback that waits for
 * a socket or a queue. While any callback runs, a thread of its own frees the iterator, and whoever
 * asked waits for that thread for a second; then it goes on without it, so that Ctrl-C and the end
 * of the interpreter do not hang. Without memory or threads the caller waits itself. Locks: each
 * ending has its own, a leaf. */
#include "native.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

enum { PATIENCE_S = 1 };

static atomic_int callbacks; /* that are in Python code, or wait for the GIL */

typedef struct ending {
    leat_iterator *iterator;
    leat_distributed_iterator *distributed;
    PyObject *held; /* what the iterator's object has (held.c); NULL: nothing */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool finished, left; /* lock: the iterator is freed; nobody waits any more */
} ending;

PyGILState_STATE native_enter_python(void) {
    atomic_fetch_add(&callbacks, 1);
    return PyGILState_Ensure();
}

void native_leave_python(PyGILState_STATE state) {
    PyGILState_Release(state);
    atomic_fetch_sub(&callbacks, 1);
}

static void free_now(leat_iterator *iterator, leat_distributed_iterator *distributed) {
    leat_distributed_iterator_free(distributed);
    leat_iterator_free(iterator);
}

static void drop_held(void *held) {
    Py_DECREF((PyObject *)held);
}

/* The object that it held is somebody else's to drop. */
static void drop(ending *e) {
    pthread_mutex_destroy(&e->lock);
    pthread_cond_destroy(&e->changed);
    free(e);
}

static void *free_aside(void *context) {
    ending *e = context;
    free_now(e->iterator, e->distributed);
    pthread_mutex_lock(&e->lock);
    e->finished = true;
    bool left = e->left;
    pthread_cond_signal(&e->changed);
    pthread_mutex_unlock(&e->lock);
    if (left) {
        if (e->held != NULL)
            native_release_later(drop_held, e->held);
        drop(e);
    }
    return NULL;
}

static ending *ending_new(leat_iterator *iterator, leat_distributed_iterator *distributed,
                          PyObject *held) {
    ending *e = calloc(1, sizeof(*e));
    pthread_condattr_t monotonic;
    if (e == NULL)
        return NULL;
    e->iterator = iterator;
    e->distributed = distributed;
    e->held = Py_XNewRef(held);
    pthread_mutex_init(&e->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&e->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return e;
}

/* Starts the thread, which takes no signals; false: there is none. */
static bool start(ending *e) {
    pthread_t thread;
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    bool started = pthread_create(&thread, NULL, free_aside, e) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (started)
        pthread_detach(thread);
    return started;
}

/* Waits for the thread for a while, and then leaves the ending to it; true where it has finished.
 */
static bool wait_for(ending *e) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += PATIENCE_S;
    pthread_mutex_lock(&e->lock);
    while (!e->finished && pthread_cond_timedwait(&e->changed, &e->lock, &until) == 0) {
    }
    bool finished = e->finished;
    e->left = !finished;
    pthread_mutex_unlock(&e->lock);
    return finished;
}

void native_free_iterator(leat_iterator *iterator, leat_distributed_iterator *distributed,
                          PyObject *held) {
    ending *e = atomic_load(&callbacks) > 0 ? ending_new(iterator, distributed, held) : NULL;
    bool started = e != NULL && start(e), finished = !started;
    Py_BEGIN_ALLOW_THREADS;
    if (started)
        finished = wait_for(e);
    else
        free_now(iterator, distributed);
    Py_END_ALLOW_THREADS;
    if (e == NULL || !finished)
        return;
    Py_XDECREF(e->held);
    drop(e);
}
