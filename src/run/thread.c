/* Starting threads. The new thread inherits a mask that blocks every signal but those that report
 * its own faults; the caller's mask is put back afterwards. No locks. */
#define _GNU_SOURCE
#include "run/thread.h"

#include "base/error.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static void *begin(void *argument) {
    leati_thread *thread = argument;
    pthread_setname_np(pthread_self(), thread->name);
    thread->main(thread->context);
    return NULL;
}

static void block_signals(sigset_t *before) {
    const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGPROF};
    sigset_t blocked;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        sigdelset(&blocked, own[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, before);
}

leat_status leati_thread_start(leati_thread *thread, const char *name, void (*main)(void *context),
                               void *context, leat_error *err) {
    snprintf(thread->name, sizeof thread->name, "%s", name);
    thread->main = main;
    thread->context = context;
    char reason[64];
    sigset_t before;
    /* Before the thread begins: it inherits the mask, so no signal finds it without one. */
    block_signals(&before);
    int error = pthread_create(&thread->handle, NULL, begin, thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0)
        return LEAT_OK;
    return leati_fail(err, LEAT_RESOURCE_EXHAUSTED,
                      "cannot start thread \"%s\": %s; use less parallelism or raise the limits on "
                      "threads and memory",
                      name, strerror_r(error, reason, sizeof reason));
}
