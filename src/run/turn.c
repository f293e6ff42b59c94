/* Turns: see turn.h. A waiting thread waits for the user's code alone. */
#include "run/turn.h"

void leati_turn_init(leati_turn *turn) {
    *turn = (leati_turn){.busy = 0};
    pthread_mutex_init(&turn->lock, NULL);
    pthread_cond_init(&turn->idle, NULL);
}

void leati_turn_fini(leati_turn *turn) {
    pthread_mutex_destroy(&turn->lock);
    pthread_cond_destroy(&turn->idle);
}

void leati_turn_enter(leati_turn *turn) {
    pthread_mutex_lock(&turn->lock);
    while (turn->busy > 0 && !pthread_equal(turn->caller, pthread_self()))
        pthread_cond_wait(&turn->idle, &turn->lock);
    turn->busy++;
    turn->caller = pthread_self();
    pthread_mutex_unlock(&turn->lock);
}

void leati_turn_leave(leati_turn *turn) {
    pthread_mutex_lock(&turn->lock);
    if (--turn->busy == 0)
        pthread_cond_signal(&turn->idle);
    pthread_mutex_unlock(&turn->lock);
}
