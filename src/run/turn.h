/* Whose turn it is: one thread at a time goes through a user's code, and may come back into it from
 * inside. The lock is free while the code runs, so it may use the library. */
#ifndef LEATI_RUN_TURN_H
#define LEATI_RUN_TURN_H

#include <pthread.h>

typedef struct leati_turn {
    pthread_mutex_t lock; /* guards busy and caller */
    pthread_cond_t idle;
    int busy; /* calls in progress, nested ones of `caller` included */
    pthread_t caller;
} leati_turn;

void leati_turn_init(leati_turn *turn);
void leati_turn_fini(leati_turn *turn);
/* Waits until no other thread is inside. */
void leati_turn_enter(leati_turn *turn);
void leati_turn_leave(leati_turn *turn);

#endif
