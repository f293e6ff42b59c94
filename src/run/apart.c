/* Work on a thread that can be left; see apart.h.
 *
 * Happy path: the caller sleeps until the work has ended, and looks every 20 ms whether to stop.
 * Who comes last, the work or the caller that leaves, lets the record go. At exit OpenBLAS and
 * others unmap what a job that was left still works on, so the process ends before they do. No
 * failures. Locks: one per job, a leaf. */
#include "run/apart.h"

#include "base/alloc.h"
#include "base/arithmetic.h"
#include "base/clock.h"
#include "base/fork.h"
#include "base/stop.h"
#include "run/thread.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

typedef struct apart {
    void (*run)(void *job);
    void (*drop)(void *job);
    void *job;
    unsigned int mode; /* of the caller's arithmetic */
    leati_thread thread;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool done;        /* lock */
    atomic_bool left; /* written with the lock; the work is to end at its next look */
} apart;

static atomic_int num_left;

int leati_apart_num_left(void) {
    return atomic_load(&num_left);
}

static void before_fork(void) {
}

/* A child has none of its parent's threads. */
static void after_fork(bool child) {
    if (child)
        atomic_store(&num_left, 0);
}
LEATI_FORK_PART(apart, before_fork, after_fork);

static void end_at_once(int status, void *context) {
    (void)context;
    if (atomic_load(&num_left) == 0)
        return;
    (void)fflush(NULL);
    _exit(status);
}

static void register_end(void) {
    (void)on_exit(end_at_once, NULL);
}

static void free_apart(apart *a) {
    pthread_mutex_destroy(&a->lock);
    pthread_cond_destroy(&a->ended);
    leati_free(a);
}

static void run_apart(void *context) {
    apart *a = context;
    (void)leati_arithmetic_enter(a->mode);
    leati_stop_scope before = leati_stop_enter(&a->left, NULL, NULL);
    a->run(a->job);
    leati_stop_leave(before);
    pthread_mutex_lock(&a->lock);
    a->done = true;
    bool left = atomic_load(&a->left);
    if (!left)
        pthread_cond_signal(&a->ended);
    pthread_mutex_unlock(&a->lock);
    if (left) {
        a->drop(a->job);
        free_apart(a);
        atomic_fetch_sub(&num_left, 1);
    }
}

static apart *apart_new(void (*run)(void *job), void (*drop)(void *job), void *job) {
    apart *a = leati_alloc_zero(1, sizeof *a);
    pthread_condattr_t attributes;
    if (a == NULL || pthread_condattr_init(&attributes) != 0) {
        leati_free(a);
        return NULL;
    }
    *a = (apart){.run = run, .drop = drop, .job = job, .mode = leati_arithmetic_mode()};
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->ended, &attributes);
    pthread_condattr_destroy(&attributes);
    return a;
}

/* With the lock held: at most a slice of time. */
static void wait_a_while(apart *a) {
    int64_t until = leati_now_ns() + LEATI_STOP_SLICE_NS;
    struct timespec at = {.tv_sec = until / 1000000000, .tv_nsec = until % 1000000000};
    (void)pthread_cond_timedwait(&a->ended, &a->lock, &at);
}

/* True: the work has ended; false: it is left. */
static bool await_end(apart *a) {
    bool stops = false;
    pthread_mutex_lock(&a->lock);
    while (!a->done && !stops) {
        wait_a_while(a);
        /* Without the lock: whoever is asked may take its time. */
        pthread_mutex_unlock(&a->lock);
        stops = leati_stop_look();
        pthread_mutex_lock(&a->lock);
    }
    bool done = a->done;
    pthread_t thread = a->thread.handle;
    atomic_store(&a->left, !done);
    if (!done)
        atomic_fetch_add(&num_left, 1);
    pthread_mutex_unlock(&a->lock);
    if (!done)
        pthread_detach(thread); /* the record may be gone */
    return done;
}

bool leati_apart_run(void (*run)(void *job), void (*drop)(void *job), void *job) {
    static pthread_once_t ends = PTHREAD_ONCE_INIT;
    apart *a = leati_stop_may_come() ? apart_new(run, drop, job) : NULL;
    if (a == NULL ||
        leati_thread_start(&a->thread, "leat apart", run_apart, a, &(leat_error){0}) != LEAT_OK) {
        if (a != NULL)
            free_apart(a);
        run(job);
        return true;
    }
    if (!await_end(a)) {
        pthread_once(&ends, register_end);
        return false;
    }
    pthread_join(a->thread.handle, NULL);
    free_apart(a);
    return true;
}
