/* How messages travel between the processes of a data service: calls with one answer, and streams
 * of messages both ways. One vtable for each protocol: "grpc" (transport/grpc.cc, between
 * processes) and "local" (transport/local.c, within one). What is sent is bytes to a transport;
 * what they mean is said in wire/messages.h and wire/frame.h.
 *
 * Handlers and events are called from threads of the transport, never with a lock of the transport
 * held, and must not wait for long: who has to wait keeps the call or stream and answers later,
 * from any thread. Every wait of this interface ends by its deadline, its `leat_cancel`, or the end
 * of the connection.
 *
 * Errors that the other side answered come back with its code, reason and text; UNAVAILABLE says
 * that the other side was not reached or is gone, PERMISSION_DENIED and UNAUTHENTICATED that it
 * refused who asks (token, certificate). */
#ifndef LEATI_SERVICE_TRANSPORT_TRANSPORT_H
#define LEATI_SERVICE_TRANSPORT_TRANSPORT_H

#include "run/cancel.h"
#include <leat/core.h>

/* Who may talk to whom; texts are borrowed for the call that takes the struct. */
typedef struct leati_rpc_security {
    const char *token;              /* asked of clients, sent to servers; NULL: none */
    const char *tls_cert, *tls_key; /* PEM files of this side; NULL: none */
    const char
        *tls_ca; /* PEM file: others must be signed by it (servers: mutual TLS); NULL: none */
} leati_rpc_security;

/* A part of a message. `owner` keeps `data` alive until it is sent; NULL: it is copied. */
typedef struct leati_rpc_part {
    const void *data;
    size_t size;
    leat_buffer *owner; /* a reference is taken */
} leati_rpc_part;

/* ---- the serving side ---- */

/* One call that waits for its answer, or one stream. Freed by the transport after its answer or its
 * `closed` event. */
typedef struct leati_rpc_call leati_rpc_call;
typedef struct leati_rpc_stream leati_rpc_stream;

/* What an end of a stream hears, one event at a time, in order; `closed` is the last one, comes
 * exactly once, and lets go of `context`. */
typedef struct leati_rpc_events {
    /* A message: one block of memory aligned to 64 bytes. Given. */
    void (*message)(void *context, leat_buffer *message);
    /* `why`->code is LEAT_OK where the other side ended the stream without a failure. */
    void (*closed)(void *context, const leat_error *why);
} leati_rpc_events;

typedef struct leati_rpc_handler {
    void *context; /* borrowed until the server is closed */
    /* A call of `method`, to be answered by leati_rpc_call_answer or leati_rpc_call_fail, now or
     * later. `request` is borrowed for the call of the handler. `peer` is the numeric address that
     * it comes from ("10.0.0.7"; "" within a process). */
    void (*call)(void *context, leati_rpc_call *call, const char *method, const char *peer,
                 const void *request, size_t size);
    /* Somebody opened a stream of `method` with this first message: sets the events of the serving
     * end and their context and returns LEAT_OK, or refuses. Streams are written from any thread.
     */
    leat_status (*open)(void *context, leati_rpc_stream *stream, const char *method,
                        const char *peer, const void *request, size_t size,
                        leati_rpc_events *events, void **events_context, leat_error *err);
} leati_rpc_handler;

/* Ends the call with bytes (copied), or with a failure; exactly one of them, once. False: nobody
 * waits for the answer any more (the caller has gone, or its deadline is over). */
bool leati_rpc_call_answer(leati_rpc_call *call, const void *bytes, size_t size);
bool leati_rpc_call_fail(leati_rpc_call *call, const leat_error *why);
/* Is nobody waiting for the answer any more? For who keeps a call for long. */
bool leati_rpc_call_abandoned(const leati_rpc_call *call);

typedef struct leati_rpc_server leati_rpc_server;
typedef struct leati_rpc_listen_options {
    /* Where: a numeric address or a name of this host; NULL: the loopback; "all": every interface.
     */
    const char *host;
    int port; /* 0: any free one */
    leati_rpc_security security;
} leati_rpc_listen_options;

/* ---- both ends of a stream ---- */

/* Sends a message of `num_parts` parts, in order, and waits while the other side (the connection)
 * takes no more. One writer at a time. CANCELLED, UNAVAILABLE once the stream has ended. */
LEAT_WARN_UNUSED leat_status leati_rpc_stream_write(leati_rpc_stream *stream,
                                                    const leati_rpc_part *parts, int num_parts,
                                                    leat_cancel *cancel, leat_error *err);
/* Ends the stream: `why` NULL or with LEAT_OK after what was written; else at once, and the other
 * side's `closed` gets it. `closed` of this side follows. Any thread, any number of times. */
void leati_rpc_stream_close(leati_rpc_stream *stream, const leat_error *why);
/* A stream is kept by whoever holds a reference; closing and dropping are two things. */
leati_rpc_stream *leati_rpc_stream_ref(leati_rpc_stream *stream);
void leati_rpc_stream_unref(leati_rpc_stream *stream);

/* ---- the calling side ---- */

/* To one address, connected when first used, and again after it broke. Any thread. */
typedef struct leati_rpc_channel leati_rpc_channel;

/* Opens servers and channels of one protocol. */
typedef struct leati_rpc_transport {
    const char *name; /* of the protocol, in addresses "grpc://host:port" */
    /* Owned; NULL: FAILED_PRECONDITION where the port is taken, INVALID_ARGUMENT for addresses and
     * files that cannot be used. `handler` is copied. *port is the bound port. */
    leati_rpc_server *(*listen)(const leati_rpc_listen_options *options,
                                const leati_rpc_handler *handler, int *port, leat_error *err);
    /* Refuses new calls, ends streams with UNAVAILABLE, gives calls that wait until `deadline_ns`
     * and returns when no handler or event runs any more. Frees the server. */
    void (*close)(leati_rpc_server *server, int64_t deadline_ns);
    /* "host:port". Owned. */
    leati_rpc_channel *(*connect)(const char *address, const leati_rpc_security *security,
                                  leat_error *err);
    /* Ends streams and calls of the channel and frees it. */
    void (*disconnect)(leati_rpc_channel *channel);
    /* Asks and waits for the answer (`answer`: a buffer, owned). */
    leat_status (*call)(leati_rpc_channel *channel, const char *method, const void *request,
                        size_t size, int64_t deadline_ns, leat_cancel *cancel, leat_buffer **answer,
                        leat_error *err);
    /* Opens a stream; owned (leati_rpc_stream_unref). Failures to connect come as `closed`. */
    leati_rpc_stream *(*open)(leati_rpc_channel *channel, const char *method, const void *request,
                              size_t size, const leati_rpc_events *events, void *context,
                              leat_error *err);
} leati_rpc_transport;

/* By the protocol's name; borrowed. "grpc" is loaded when first asked for. NULL: NOT_FOUND for a
 * name that nobody has, UNIMPLEMENTED where leat was built or installed without it. */
const leati_rpc_transport *leati_rpc_find(const char *name, leat_error *err);

/* Bytes of messages that this process has copied in user memory since its start, sent and received:
 * for benchmarks and tests. */
int64_t leati_rpc_bytes_copied(void);

#endif
