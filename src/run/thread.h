/* Starting threads: named, and deaf to asynchronous signals, so that Ctrl-C and timers stay with
 * the threads of the program that uses the library. */
#ifndef LEATI_RUN_THREAD_H
#define LEATI_RUN_THREAD_H

#include <leat/base.h>
#include <pthread.h>

/* Embedded in whatever owns the thread; must stay valid until `main` is called. */
typedef struct leati_thread {
    char name[16]; /* what debuggers and top show; longer names are cut */
    void (*main)(void *context);
    void *context;
    pthread_t handle;
} leati_thread;

/* Starts main(context) on a thread of its own, to be joined through `handle` (or detached). Fails
 * with RESOURCE_EXHAUSTED when the system refuses. */
LEAT_WARN_UNUSED leat_status leati_thread_start(leati_thread *thread, const char *name,
                                                void (*main)(void *context), void *context,
                                                leat_error *err);

#endif
