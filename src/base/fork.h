/* Locks of the whole process around fork. A child has the memory of its parent and one thread: a
 * lock that another thread held would be held for ever. So whoever has such a lock says in a part
 * how it is taken before a fork and given back behind it; base/forks.def names the parts in the one
 * order in which their locks nest, and fork.c takes them all. */
#ifndef LEATI_BASE_FORK_H
#define LEATI_BASE_FORK_H

#include <pthread.h>
#include <stdbool.h>

/* Both run on the thread that forks; `after` in both processes. */
typedef struct leati_fork_part {
    void (*before)(void);
    void (*after)(bool child);
    const int *table; /* &leati_fork_num_parts, so that a program with parts has the table, too */
} leati_fork_part;

extern const int leati_fork_num_parts;

/* The part `name` of forks.def. */
#define LEATI_FORK_PART(NAME, BEFORE, AFTER)                                                       \
    extern const leati_fork_part leati_fork_##NAME;                                                \
    const leati_fork_part leati_fork_##NAME = {                                                    \
        .before = (BEFORE), .after = (AFTER), .table = &leati_fork_num_parts}

/* That of a file with one lock, behind which a child finds nothing of other threads'. Whoever holds
 * it calls nobody's code, which could wait for the thread that forks. */
#define LEATI_FORK_LOCK(NAME, LOCK)                                                                \
    static void lock_before_fork(void) {                                                           \
        pthread_mutex_lock(LOCK);                                                                  \
    }                                                                                              \
    static void unlock_after_fork(bool child) {                                                    \
        (void)child;                                                                               \
        pthread_mutex_unlock(LOCK);                                                                \
    }                                                                                              \
    LEATI_FORK_PART(NAME, lock_before_fork, unlock_after_fork)

#endif
