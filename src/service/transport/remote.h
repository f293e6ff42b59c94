/* The inside of the transport between processes, over gRPC as grpc_module.h shows it: servers and
 * channels (remote.c), their calls (remote_call.c) and streams (remote_stream.c). */
#ifndef LEATI_SERVICE_TRANSPORT_REMOTE_H
#define LEATI_SERVICE_TRANSPORT_REMOTE_H

#include "run/thread.h"
#include "service/transport/ends.h"
#include "service/transport/executor.h"
#include "service/transport/grpc_module.h"
#include "service/transport/listener.h"

/* What gRPC's threads tell the context of a pipe, which begins with this pointer. */
typedef struct leati_remote_hearing {
    void (*received)(void *context, const leati_grpc_bytes *slices, size_t num_slices);
    void (*sent)(void *context, bool ok);
    void (*cancelled)(void *context);
    void (*ended)(void *context, const leati_grpc_end *end);
} leati_remote_hearing;

/* Something under way, in the list of its side. */
typedef struct leati_remote_link {
    struct leati_remote_link *next, *previous;
    int pass; /* of leati_remote_side_next that was here */
} leati_remote_link;

enum { LEATI_REMOTE_CALLS = 0, LEATI_REMOTE_STREAMS = 1, LEATI_REMOTE_NUM_LISTS = 2 };

/* A server, or a channel. */
typedef struct leati_remote_side {
    atomic_int references;
    leati_gate *gate;                                 /* its lock guards the rest */
    bool closing;                                     /* nothing joins any more */
    int num_running;                                  /* whose last word was not heard */
    int num_frames;                                   /* that gRPC has not released */
    leati_remote_link *lists[LEATI_REMOTE_NUM_LISTS]; /* calls that wait, streams that are open */
    void (*free)(struct leati_remote_side *side);
} leati_remote_side;

/* False: the side is closing. Joining takes a reference to the side. */
bool leati_remote_side_join(leati_remote_side *side, int list, leati_remote_link *link);
/* Out of the list, at most once; still running. */
void leati_remote_side_leave(leati_remote_side *side, int list, leati_remote_link *link);
/* Something more is under way, whether or not the side is closing. Takes a reference. */
void leati_remote_side_run(leati_remote_side *side);
/* The last word was heard. Drops the reference. */
void leati_remote_side_stop(leati_remote_side *side);
/* A frame was given to gRPC, which releases it sooner or later. */
void leati_remote_side_sends(leati_remote_side *side);
void leati_remote_side_released(void *side);
/* One of the list that pass `pass` (1, 2, ...) has not met, handed to `ref` with the lock held;
 * NULL: none. */
leati_remote_link *leati_remote_side_next(leati_remote_side *side, int list, int pass,
                                          void (*ref)(leati_remote_link *link));
void leati_remote_side_unref(leati_remote_side *side);

typedef struct leati_remote_server {
    leati_remote_side side; /* first */
    leati_executor *executor;
    leati_transport_handler handler;
    leati_listener *listener;
    leati_grpc_server *grpc;
    char *token;
    int forks;
} leati_remote_server;

typedef struct leati_remote_channel {
    leati_remote_side side; /* first */
    leati_executor *executor;
    leati_grpc_connection *connections[LEATI_TRANSPORT_MOST_CONNECTIONS]; /* the gate's lock */
    int num_connections;
    unsigned next_connection; /* the gate's lock */
    char *address, *token;
    char *target; /* gRPC's; of a host that is a name the gate's lock, and NULL until it is known */
    char *cert, *key, *ca; /* PEM texts */
    bool secure;
    leati_transport_tuning tuning;
    int forks;
    /* Of a host that is a name (remote_names.c). */
    char *host; /* NULL: it is an address */
    int port;
    leati_thread lookup_thread;
    /* The gate's lock. */
    bool looking, doubted;           /* the name is looked up; it may lead elsewhere now */
    bool has_looked;                 /* there is a thread, to be joined or detached */
    int64_t looked_ns;               /* when it was last */
    leat_error lookup;               /* what that said */
    leati_grpc_connection **retired; /* to addresses that it had */
    size_t num_retired, retired_capacity;
} leati_remote_channel;

/* The module, once leati_transport_find_grpc has found it. */
extern const leati_grpc_module *leati_remote_module;

/* Connection `which` of the channel, opened now where it was not; waits for the host's addresses
 * where it is a name. NULL: UNAVAILABLE where that is not found in time, without memory. */
leati_grpc_connection *leati_remote_connection(leati_remote_channel *channel, int which,
                                               int64_t deadline_ns, leat_cancel *cancel,
                                               leat_error *err);
/* Waits until `target` is known; UNAVAILABLE. */
LEAT_WARN_UNUSED leat_status leati_remote_names_find(leati_remote_channel *channel,
                                                     int64_t deadline_ns, leat_cancel *cancel,
                                                     leat_error *err);
/* The channel ends. */
void leati_remote_names_end(leati_remote_channel *channel);
/* A call ended so: if that may be because the host is elsewhere now, its name is looked up again
 * before the next one. */
void leati_remote_names_doubt(leati_remote_channel *channel, const leati_grpc_end *end);

/* What a gRPC call ended with, as a failure at `address` ("" at a server); code LEAT_OK: none. */
void leati_remote_error(const leati_grpc_end *end, const char *address, leat_error *out);
/* A failure as what ends a gRPC call; `bytes` holds the details, to be freed after use. */
leati_grpc_end leati_remote_end(const leat_error *why, leati_writer *bytes);
/* The numeric address in gRPC's words for a peer. */
void leati_remote_peer(const char *peer, char *out, size_t room);
/* gRPC's target of a numeric address; `out` has room for both. */
void leati_remote_target(const char *host, int port, char *out, size_t room);

/* A call or stream that came in: the context of its pipe, or NULL and why. */
void *leati_remote_call_incoming(leati_remote_server *server, leati_grpc_pipe *pipe,
                                 const leati_grpc_incoming *incoming, leat_error *err);
void *leati_remote_stream_incoming(leati_remote_server *server, leati_grpc_pipe *pipe,
                                   const leati_grpc_incoming *incoming, leat_error *err);
void leati_remote_call_answered(void *context, const leati_grpc_end *end,
                                const leati_grpc_bytes *slices, size_t num_slices);

leat_status leati_remote_call(leati_remote_channel *channel, const char *method,
                              const void *request, size_t size, int64_t deadline_ns,
                              leat_cancel *cancel, leat_buffer **answer, leat_error *err);
leati_transport_stream *leati_remote_stream_open(leati_remote_channel *channel, const char *method,
                                                 const void *request, size_t size,
                                                 const leati_transport_events *events,
                                                 void *context, leat_error *err);
/* Fails what waits or is open at a side that is closing; at once. */
void leati_remote_calls_fail(leati_remote_side *side, bool at_server, const leat_error *why);
void leati_remote_streams_end(leati_remote_side *side, const leat_error *why);
/* Cuts what has ended and whose last word does not come. */
void leati_remote_streams_cut(leati_remote_side *side);

#endif
