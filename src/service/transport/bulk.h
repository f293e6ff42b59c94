/* The protocols "shm" and "tcp": streams whose bytes go past gRPC. Each stream has a socket of its
 * own, and a thread at each end that reads.
 *
 * "shm" is between processes of one host: a Unix socket without a file, found by a random name, and
 * shared memory (core/shared_memory.h) for what is large. Both sides ask the kernel who the other
 * one is and speak with processes of their own user alone. "tcp" sends from the sender's memory
 * into the receiver's, in the clear, or by TLS 1.3 (coll/tls.h) where a server has a certificate
 * and clients an authority to believe; its address says which of both.
 *
 * An address ends in a secret, which the worker draws and the dispatcher tells those who may read;
 * a client shows it first, with the token. Calls are for other protocols. */
#ifndef LEATI_SERVICE_TRANSPORT_BULK_H
#define LEATI_SERVICE_TRANSPORT_BULK_H

#include "run/driver.h"
#include "service/transport/bulk_link.h"
#include "service/transport/ends.h"

struct addrinfo;

enum {
    LEATI_BULK_SECRET = 33 /* bytes of a name or secret in hexadecimal, with its end */
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
    bool ready;              /* others may write: connected, and the beginning is through */
    bool opened;             /* the thread's: there are events */
    bool broke;              /* the thread's: it ends for what is no answer of the other side */
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
    leati_tls_context *tls;          /* NULL: in the clear; owned */
    const char *host;                /* of a channel: that it connects to; of its owner */
    leati_transport_handler handler; /* of a server */
    char secret[LEATI_BULK_SECRET];
    char *token; /* NULL: none; owned */
    pthread_mutex_t lock;
    leati_bulk_stream *streams; /* lock; each with a reference */
    int num_streams;            /* lock */
    int num_strangers;          /* lock: of these, that have not greeted */
    int num_let_in;             /* lock: strangers no more, for who charges them */
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
/* Connects or is connected, up to where messages may go; on the stream's thread. After a failure
 * that is the client's, or of the way, *err is no answer of a handler. */
LEAT_WARN_UNUSED leat_status leati_bulk_begin_client(leati_bulk_stream *s, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_bulk_begin_server(leati_bulk_stream *s, leat_error *err);
/* All of the bytes, by the stream's `deadline_ns`; on its thread. UNAVAILABLE. */
LEAT_WARN_UNUSED leat_status leati_bulk_stream_read(void *stream, void *out, size_t size,
                                                    leat_error *err);
/* The addresses of a host, for freeaddrinfo. NULL: UNAVAILABLE for a name that nobody knows, or not
 * in time, or `wake` was written to first; it does not wait for the system. */
struct addrinfo *leati_bulk_find_host(const char *host, int port, int wake, leat_error *err);
/* By when a connection that is there now has said what it is, or answered that. */
int64_t leati_bulk_greeted_by(void);
/* Is nothing to be written or waited for any more? */
bool leati_bulk_stream_is_over(leati_bulk_stream *s);
/* Joins the threads that have ended; `all`: ends all streams with `why` first. */
void leati_bulk_streams_reap(leati_bulk_side *side, bool all, const leat_error *why);

#endif
