/* The inside of the local transport, shared by its servers and calls (local.c) and its streams
 * (local_stream.c). */
#ifndef LEATI_SERVICE_TRANSPORT_LOCAL_H
#define LEATI_SERVICE_TRANSPORT_LOCAL_H

#include "service/transport/ends.h"
#include "service/transport/executor.h"

typedef struct leati_local_call leati_local_call;
typedef struct leati_local_pair leati_local_pair;

/* What a server or a channel has under way. Each lives as long as something refers to it. */
typedef struct leati_local_side {
    atomic_int references;
    leati_gate *gate;
    bool closing;            /* gate's lock: nothing joins any more */
    int num_running;         /* gate's lock: calls and ends of streams that are not over */
    leati_local_call *calls; /* gate's lock: those that wait for their answers, a list */
    leati_local_pair *pairs; /* gate's lock: streams that are open, a list */
} leati_local_side;

enum { LEATI_LOCAL_CHANNEL = 0, LEATI_LOCAL_SERVER = 1 };

struct leati_transport_server {
    leati_local_side side;
    leati_executor *executor;
    leati_transport_handler handler;
    char *token; /* NULL: none is asked for */
    int port;
    int forks;
    leati_transport_server *next; /* in the registry */
};

struct leati_transport_channel {
    leati_local_side side;
    leati_executor *executor;
    char *token;
    char *address;
    int port;
    int forks;
};

/* The server behind the channel's address, which takes its token; UNAVAILABLE, UNAUTHENTICATED. A
 * reference is owned. */
leati_transport_server *leati_local_server_find(const leati_transport_channel *channel,
                                                leat_error *err);
void leati_local_server_unref(leati_transport_server *server);
void leati_local_channel_unref(leati_transport_channel *channel);

/* Opens a stream to `server` (given; NULL: to none, the stream ends with `why`). */
leati_transport_stream *
leati_local_stream_open(leati_transport_channel *channel, leati_transport_server *server,
                        const leat_error *why, const char *method, const void *request, size_t size,
                        const leati_transport_events *events, void *context, leat_error *err);
/* Ends all streams of a side that is closing, and returns at once. */
void leati_local_streams_end(leati_local_side *side, int which, const leat_error *why);

#endif
