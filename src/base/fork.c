/* The table of locks around fork; see fork.h. From when the library is loaded, as whoever forks
 * need not have called it. The names are weak: a test of a lower room has no parts of higher ones.
 */
#include "base/fork.h"

#define X(name) extern const leati_fork_part leati_fork_##name __attribute__((weak));
#include "base/forks.def"
#undef X

static const leati_fork_part *const parts[] = {
#define X(name) &leati_fork_##name,
#include "base/forks.def"
#undef X
};

const int leati_fork_num_parts = sizeof parts / sizeof parts[0];

static void before_fork(void) {
    for (int i = 0; i < leati_fork_num_parts; i++)
        if (parts[i] != NULL)
            parts[i]->before();
}

static void after_fork(bool child) {
    for (int i = leati_fork_num_parts - 1; i >= 0; i--)
        if (parts[i] != NULL)
            parts[i]->after(child);
}

static void after_fork_in_parent(void) {
    after_fork(false);
}

static void after_fork_in_child(void) {
    after_fork(true);
}

__attribute__((constructor)) static void watch_forks(void) {
    (void)pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}
