/* The list of waits and its report. One lock guards the list; nothing is called while it is held.
 */
#include "run/stall.h"

#include "base/clock.h"
#include "base/fork.h"

#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static leati_waiter *oldest; /* lock; in order of entry */
static leati_waiter *newest; /* lock */

const char *leati_queue_wait_reason_name(leati_wait_reason reason) {
    static const char *const names[LEATI_NUM_WAIT_REASONS] = {
        [LEATI_WAIT_INPUT] = "input",       [LEATI_WAIT_CONSUMER] = "consumer",
        [LEATI_WAIT_MEMORY] = "memory",     [LEATI_WAIT_IO] = "io",
        [LEATI_WAIT_CALLBACK] = "callback", [LEATI_WAIT_CPU] = "cpu",
        [LEATI_WAIT_PEER] = "peer",
    };
    unsigned index = (unsigned)reason;
    return index < LEATI_NUM_WAIT_REASONS ? names[index] : "unknown";
}

void leati_stall_enter(leati_waiter *waiter, const char *name, leati_wait_reason reason) {
    waiter->name = name;
    waiter->reason = reason;
    waiter->since_ns = leati_now_ns();
    waiter->next = NULL;
    pthread_mutex_lock(&lock);
    waiter->previous = newest;
    if (newest != NULL)
        newest->next = waiter;
    else
        oldest = waiter;
    newest = waiter;
    pthread_mutex_unlock(&lock);
}

void leati_stall_change(leati_waiter *waiter, leati_wait_reason reason) {
    pthread_mutex_lock(&lock);
    waiter->reason = reason;
    pthread_mutex_unlock(&lock);
}

void leati_stall_leave(leati_waiter *waiter) {
    pthread_mutex_lock(&lock);
    if (waiter->previous != NULL)
        waiter->previous->next = waiter->next;
    else
        oldest = waiter->next;
    if (waiter->next != NULL)
        waiter->next->previous = waiter->previous;
    else
        newest = waiter->previous;
    pthread_mutex_unlock(&lock);
}

size_t leati_queue_stall_report(char *text, size_t size) {
    size_t length = 0;
    int64_t now = leati_now_ns();
    if (size > 0)
        text[0] = '\0';
    pthread_mutex_lock(&lock);
    for (const leati_waiter *waiter = oldest; waiter != NULL; waiter = waiter->next) {
        size_t left = length < size ? size - length : 0;
        int added = snprintf(left > 0 ? text + length : NULL, left, "%s: waits for %s, %.3f s\n",
                             waiter->name, leati_queue_wait_reason_name(waiter->reason),
                             (double)(now - waiter->since_ns) / 1e9);
        length += added > 0 ? (size_t)added : 0;
    }
    pthread_mutex_unlock(&lock);
    return length;
}

static void before_fork(void) {
    pthread_mutex_lock(&lock);
}

/* The child has none of the other threads, so its list is empty. */
static void after_fork(bool child) {
    if (child) {
        oldest = NULL;
        newest = NULL;
    }
    pthread_mutex_unlock(&lock);
}

LEATI_FORK_PART(stalls, before_fork, after_fork);
