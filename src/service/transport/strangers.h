/* Connections to a server that have not yet made a call that may be made: how long they are heard,
 * and what they pay. The listener's thread calls all but leati_strangers_know. */
#ifndef LEATI_SERVICE_TRANSPORT_STRANGERS_H
#define LEATI_SERVICE_TRANSPORT_STRANGERS_H

#include "coll/store_door.h"
#include <poll.h>
#include <pthread.h>

enum {
    LEATI_STRANGERS_WAITING = 256, /* that have not begun to speak the protocol */
    LEATI_STRANGERS_SPEAKING = 16  /* that gRPC has */
};

/* One that is waited for: its first words are not there yet. */
typedef struct leati_stranger {
    int connection; /* owned */
    int wanted;     /* bytes that its first words have */
    int64_t since_ns;
} leati_stranger;

/* One that gRPC has, under the lock. */
typedef struct leati_speaker {
    int connection; /* a second descriptor of it, owned; -1: nobody */
    char peer[80];  /* as leati_strangers_know has it */
    int64_t since_ns;
    int64_t paid_ns; /* what it was charged for */
    int64_t bytes, segments;
} leati_speaker;

typedef struct leati_strangers {
    bool secure; /* TLS is spoken */
    int wake;    /* an event: somebody is known; -1 before it is opened */
    leati_stranger waiting[LEATI_STRANGERS_WAITING]; /* the oldest first */
    int num_waiting;
    pthread_mutex_t lock;
    leati_speaker speaking[LEATI_STRANGERS_SPEAKING]; /* the lock's, as what follows */
    int64_t refund_ns;                                /* of who is known, to be given back */
} leati_strangers;

LEAT_WARN_UNUSED leat_status leati_strangers_open(leati_strangers *s, bool secure, leat_error *err);
/* Closes all that wait; gRPC keeps the others. Also of one that was not opened: {.wake = -1}. */
void leati_strangers_close(leati_strangers *s);
/* A connection (given) that was taken. */
void leati_strangers_add(leati_strangers *s, int connection, int64_t now);
/* Closes the connection of whoever has waited longest: false, nobody waits. */
bool leati_strangers_drop_oldest(leati_strangers *s);
/* Writes whom to poll, at most LEATI_STRANGERS_WAITING + 1; how many. `hears`: strangers are heard
 * now. */
int leati_strangers_poll(leati_strangers *s, struct pollfd *polled, bool hears);
/* After that was polled: gives `take` whoever has begun to speak the protocol, charges the door for
 * what they cost, and closes whoever takes too long. */
void leati_strangers_tend(leati_strangers *s, const struct pollfd *polled, int num_polled,
                          leati_store_door *door, int64_t now,
                          void (*take)(void *context, int connection), void *context);
/* Are there any? */
bool leati_strangers_any(leati_strangers *s);
/* Any thread: who is at this end, as gRPC writes it, has made a call that it may. */
void leati_strangers_know(leati_strangers *s, const char *peer);

#endif
