/* A thread that is asked whether what it does is to end. */
#ifndef LEATI_TESTS_ASKING_H
#define LEATI_TESTS_ASKING_H

#include <leat/leat.h>

/* For leat_interrupt_set: true from the ask `last` on; 0: never. */
typedef struct asking {
    int64_t asks, last;
} asking;

static inline bool ask(void *context) {
    asking *a = context;
    a->asks++;
    return a->last > 0 && a->asks >= a->last;
}

#endif
