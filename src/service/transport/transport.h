/* How messages travel between the processes of a data service: calls with one answer, and streams
 * of messages both ways. One vtable for each protocol: "grpc" (transport/grpc.cc, between
 * processes), "local" (transport/local.c, within one), and for streams alone "shm" and "tcp"
 * (transport/bulk.h: shared memory between processes of one host, and a socket). What is sent is
 * bytes to a transport; what they mean is said in wire/messages.h and wire/frame.h.
 *
 * Handlers and events are called from threads of the transport, never with a lock of the transport
 * held, and must not wait for long: who has to wait keeps the call or stream and answers later,
 * from any thread. They neither close servers nor disconnect channels. Every wait of this interface
 * ends by its deadline, its `leat_cancel`, or the end of the connection.
 *
 * Errors that the other side answered come back with its code, reason and text; UNAVAILABLE says
 * that the other side was not reached or is gone, PERMISSION_DENIED and UNAUTHENTICATED that it
 * refused who asks (token, certificate). */
#ifndef LEATI_SERVICE_TRANSPORT_TRANSPORT_H
#define LEATI_SERVICE_TRANSPORT_TRANSPORT_H

#include <leat/core.h>

typedef struct leat_cancel leat_cancel; /* run/cancel.h */

/* Who may talk to whom; texts are borrowed for the call that takes the struct. */
typedef struct leati_transport_security {
    const char *token;              /* asked of clients, sent to servers; NULL: none */
    const char *tls_cert, *tls_key; /* PEM files of this side; NULL: none */
    const char
        *tls_ca; /* PEM file: others must be signed by it (servers: mutual TLS); NULL: none */
} leati_transport_security;

/* A part of a message. `owner` keeps `data` alive until it is sent; NULL: it is copied. */
typedef struct leati_transport_part {
    const void *data;
    size_t size;
    leat_buffer *owner; /* a reference is taken */
} leati_transport_part;

/* ---- the serving side ---- */

/* One call that waits for its answer, or one stream. Freed by the transport after its answer or its
 * `closed` event. */
typedef struct leati_transport_call leati_transport_call;
typedef struct leati_transport_stream leati_transport_stream;

/* A part of a message that lies by itself, from byte `at` of the message on. */
typedef struct leati_transport_piece {
    size_t at;
    leat_buffer *bytes; /* nobody may write there */
} leati_transport_piece;

/* What an end of a stream hears, one event at a time, in order; `closed` is the last one, comes
 * exactly once, and lets go of `context`. */
typedef struct leati_transport_events {
    /* A message: one block of memory aligned to 64 bytes. Given. */
    void (*message)(void *context, leat_buffer *message);
    /* `why`->code is LEAT_OK where the other side ended the stream without a failure. */
    void (*closed)(void *context, const leat_error *why);
    /* NULL, or instead of `message` where parts of it are memory that the sender shares: `pieces`,
     * in order, and `rest`, the bytes between them, one behind the other. All are given but for the
     * array. The sender is to leave pieces as they are and is not trusted to: sizes and places are
     * read from `rest` alone. Without this slot the transport makes one block of them. */
    void (*pieces)(void *context, leat_buffer *rest, const leati_transport_piece *pieces,
                   int num_pieces);
    /* NULL, or before `closed` where the failure that it will tell is no answer of the other side:
     * this protocol does not reach it, or does not bring what it sends. Another one may. */
    void (*broke)(void *context);
} leati_transport_events;

typedef struct leati_transport_handler {
    void *context; /* borrowed until the server is closed */
    /* A call of `method`, to be answered by leati_transport_call_answer or
     * leati_transport_call_fail, now or later. `request` is borrowed for the call of the handler.
     * `peer` is the numeric address that it comes from ("10.0.0.7"; "" within a process). */
    void (*call)(void *context, leati_transport_call *call, const char *method, const char *peer,
                 const void *request, size_t size);
    /* Somebody opened a stream of `method` with this first message: sets the events of the serving
     * end and their context and returns LEAT_OK, or refuses. Streams are written from any thread.
     */
    leat_status (*open)(void *context, leati_transport_stream *stream, const char *method,
                        const char *peer, const void *request, size_t size,
                        leati_transport_events *events, void **events_context, leat_error *err);
} leati_transport_handler;

/* Ends the call with bytes (copied), or with a failure; exactly one of them, once. False: nobody
 * waits for the answer any more (the caller has gone, or its deadline is over). */
bool leati_transport_call_answer(leati_transport_call *call, const void *bytes, size_t size);
bool leati_transport_call_fail(leati_transport_call *call, const leat_error *why);
/* Is nobody waiting for the answer any more? For who keeps a call for long. */
bool leati_transport_call_abandoned(const leati_transport_call *call);

typedef struct leati_transport_server leati_transport_server;
typedef struct leati_transport_listen_options {
    /* Where: a numeric address or a name of this host; NULL: the loopback; "all": every interface.
     */
    const char *host;
    int port; /* 0: any free one */
    leati_transport_security security;
} leati_transport_listen_options;

/* ---- both ends of a stream ---- */

/* Sends a message of `num_parts` parts, in order, and waits while the other side (the connection)
 * takes no more. One writer at a time. CANCELLED, UNAVAILABLE once the stream has ended. */
LEAT_WARN_UNUSED leat_status leati_transport_stream_write(leati_transport_stream *stream,
                                                          const leati_transport_part *parts,
                                                          int num_parts, leat_cancel *cancel,
                                                          leat_error *err);
/* Ends the stream, both ways: `why` NULL or with LEAT_OK after what this side wrote; else at once,
 * and the other side's `closed` gets it. `closed` of this side follows with the same `why`, unless
 * the stream had ended before, and no message comes any more but one that is being handed over.
 * Any thread, any number of times. */
void leati_transport_stream_close(leati_transport_stream *stream, const leat_error *why);
/* A stream is kept by whoever holds a reference; closing and dropping are two things. */
leati_transport_stream *leati_transport_stream_ref(leati_transport_stream *stream);
void leati_transport_stream_unref(leati_transport_stream *stream);

/* ---- the calling side ---- */

/* To one address, connected when first used, and again after it broke. Any thread. */
typedef struct leati_transport_channel leati_transport_channel;

/* Opens servers and channels of one protocol. */
typedef struct leati_transport {
    const char *name; /* of the protocol, in addresses "grpc://host:port" */
    bool tells;       /* its streams say what is no answer of the other side (events.broke) */
    /* Owned; NULL: FAILED_PRECONDITION where the port is taken, INVALID_ARGUMENT for addresses and
     * files that cannot be used. `handler` is copied. *port is the bound port. */
    leati_transport_server *(*listen)(const leati_transport_listen_options *options,
                                      const leati_transport_handler *handler, int *port,
                                      leat_error *err);
    /* Refuses new calls, ends streams with UNAVAILABLE, gives calls that wait until `deadline_ns`
     * and returns when no handler or event runs any more. Frees the server. */
    void (*close)(leati_transport_server *server, int64_t deadline_ns);
    /* NULL where a server's address is "host:port"; else writes what clients connect to, who know
     * the server's host as `host`. */
    void (*address)(const leati_transport_server *server, const char *host, char *out, size_t room);
    /* NULL: whatever `address` names may be reached. False: certainly not from this process. */
    bool (*reaches)(const char *address);
    /* "host:port", or what `address` wrote. Owned. */
    leati_transport_channel *(*connect)(const char *address,
                                        const leati_transport_security *security, leat_error *err);
    /* Ends streams and calls of the channel and frees it. */
    void (*disconnect)(leati_transport_channel *channel);
    /* Asks and waits for the answer (`answer`: a buffer, owned). */
    leat_status (*call)(leati_transport_channel *channel, const char *method, const void *request,
                        size_t size, int64_t deadline_ns, leat_cancel *cancel, leat_buffer **answer,
                        leat_error *err);
    /* Opens a stream; owned (leati_transport_stream_unref). Failures to connect come as `closed`;
     * NULL with UNAVAILABLE is a host that was not found.
     */
    leati_transport_stream *(*open)(leati_transport_channel *channel, const char *method,
                                    const void *request, size_t size,
                                    const leati_transport_events *events, void *context,
                                    leat_error *err);
} leati_transport;

/* The names of all protocols: "grpc, local, shm, tcp". */
#define LEATI_TRANSPORT_NAMES "grpc, local, shm, tcp"
/* By the protocol's name; borrowed. "grpc" is loaded when first asked for. NULL: NOT_FOUND for a
 * name that nobody has, UNIMPLEMENTED where leat was built or installed without it. */
const leati_transport *leati_transport_find(const char *name, leat_error *err);

/* May "protocol address" be reached from here, by a protocol that there is? */
bool leati_transport_reaches(const char *transfer);

/* How connections between processes are made; for what is opened later, in the whole process. */
typedef struct leati_transport_tuning {
    int connections; /* of a channel, over which its streams are dealt out: 1 to 16 */
    int silence_ms;  /* who does not answer for so long is gone */
    int chunk_bytes; /* of a large message that go before others have their turn */
} leati_transport_tuning;
#define LEATI_TRANSPORT_TUNING_DEFAULTS                                                            \
    .connections = 4, .silence_ms = 20000, .chunk_bytes = 1 << 20
/* INVALID_ARGUMENT for what is out of range. */
LEAT_WARN_UNUSED leat_status leati_transport_tune(const leati_transport_tuning *tuning,
                                                  leat_error *err);
leati_transport_tuning leati_transport_tuned(void);

/* Bytes of messages that this process has copied in user memory since its start, sent and received:
 * for benchmarks and tests. */
int64_t leati_transport_bytes_copied(void);

#endif
