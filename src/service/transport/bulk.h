/* The protocols "shm" and "tcp": streams whose bytes go past gRPC. Each stream has a socket of its
 * own, and a thread at each end that reads.
 *
 * "shm" is between processes of one host: a Unix socket without a file, found by a random name, and
 * shared memory (core/shared_memory.h) for what is large. Both sides ask the kernel who the other
 * one is and speak with processes of their own user alone. "tcp" sends from the sender's memory
 * into the receiver's, in the clear.
 *
 * An address ends in a secret, which the worker draws and the dispatcher tells those who may read;
 * a client shows it first, with the token. Calls are for other protocols. */
#ifndef LEATI_SERVICE_TRANSPORT_BULK_H
#define LEATI_SERVICE_TRANSPORT_BULK_H

#include "run/driver.h"
#include "service/transport/bulk_link.h"
#include "service/transport/ends.h"

enum {
    LEATI_BULK_SECRET = 33,     /* bytes of a name or secret in hexadecimal, with its end */
    LEATI_BULK_GREET_MS = 10000 /* for a connection to say what it is */
};

typedef struct leati_bulk_side leati_bulk_side;

/* Fields without a comment are set before the thread starts, or the gate's. */
typedef struct leati_bulk_stream {
    leati_transport_stream base;
    struct leati_bulk_stream *next; /* the side's lock */
    leati_bulk_side *side;          /* borrowed: it joins the thread */
    leati_driver *driver;
    leati_gate *gate;
    int wake;   /* an event descriptor, which ends the thread's waits */
    int socket; /* accepted or connected, until the link has it */
    leati_bulk_link
        *link; /* NULL: not connected yet; the thread sets it, and the last drop frees */
    leati_transport_events events; /* the thread's */
    void *context;
    bool opened;             /* the thread's: there are events */
    leati_bulk_greeting ask; /* of a client; owned texts */
    char peer[64];
    bool over;           /* nothing is written any more */
    bool closing;        /* this side has ended it */
    bool end_wanted;     /* it is to tell the other side so */
    bool told;           /* `closed` was called */
    bool cut;            /* the thread is to end */
    bool finished;       /* it has */
    int file;            /* the thread's: a descriptor that came; -1: none */
    int64_t deadline_ns; /* the thread's: for what it reads */
    leat_error why;
} leati_bulk_stream;

/* A server, or a channel: whoever has streams. */
struct leati_bulk_side {
    bool serves, shares;
    leati_transport_handler handler; /* of a server */
    char secret[LEATI_BULK_SECRET];
    char *token; /* NULL: none; owned */
    pthread_mutex_t lock;
    leati_bulk_stream *streams; /* lock; each with a reference */
    int num_streams;            /* lock */
    int num_strangers;          /* lock: of these, that have not greeted */
    bool closing;               /* lock */
    int forks;
    /* Of a channel: connects, by the deadline; -1 with `err`. `wake` ends the wait. */
    int (*connect)(const leati_bulk_side *side, int wake, leat_error *err);
};

/* A new stream of the side, with a thread of its own and two references, one of them the side's.
 * `socket` (given, also on failure; -1: the thread connects). NULL: UNAVAILABLE where the side is
 * closing, RESOURCE_EXHAUSTED. */
leati_bulk_stream *leati_bulk_stream_new(leati_bulk_side *side, int socket,
                                         const leati_transport_events *events, void *context,
                                         const leati_bulk_greeting *ask, leat_error *err);
/* Joins the threads that have ended; `all`: ends all streams with `why` first. */
void leati_bulk_streams_reap(leati_bulk_side *side, bool all, const leat_error *why);

#endif
