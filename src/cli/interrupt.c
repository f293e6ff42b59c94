/* Ctrl-C.
 *
 * A thread takes SIGINT with sigwait, so that no work runs in a signal handler and no other call of
 * the program is interrupted. It gives standard output a moment to become free, so that no line is
 * cut in its middle, writes it out and ends the process without waiting for the threads that
 * compute; the second Ctrl-C does not wait for standard output either. Locks: stdout's, with a
 * limit. */
#include "cli/interrupt.h"

#include "cli/command.h"
#include "cli/say.h"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static void *wait_for_signal(void *context) {
    (void)context;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    int number = 0;
    while (sigwait(&set, &number) != 0) {
    }
    /* Half a second: a thread that holds stdout may itself be waiting for a reader that is gone. */
    for (int tries = 0; tries < 100; tries++) {
        if (ftrylockfile(stdout) == 0) {
            if (leati_say_is_terminal())
                (void)fputc_unlocked('\n', stdout);
            (void)fflush_unlocked(stdout);
            break;
        }
        /* Pressed again: at once, whatever is lost of the output. */
        if (sigtimedwait(&set, NULL, &(struct timespec){.tv_nsec = 5000000}) == SIGINT)
            break;
    }
    /* Not exit, whose handlers would wait for threads that compute. */
    _exit(LEATI_EXIT_INTERRUPTED);
}

void leati_interrupt_watch(void) {
    sigset_t set, old;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    pthread_t thread;
    /* Blocked here, before other threads are started, which inherit it: so the signal is this
     * thread's. */
    if (pthread_sigmask(SIG_BLOCK, &set, &old) != 0)
        return;
    if (pthread_create(&thread, NULL, wait_for_signal, NULL) == 0)
        (void)pthread_detach(thread);
    else
        (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
}
