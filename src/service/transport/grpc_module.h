/* The border between leat and the module libleat_grpc.so (grpc.cc), which is linked with gRPC and
 * loaded where "grpc" is first asked for (base/module.h). Each side gives the other a table of
 * functions, so that neither needs symbols of the other. Valid C and C++.
 *
 * A pipe is one gRPC call seen from one end: records of bytes both ways, one send at a time. A
 * unary call is a pipe at the server and a `call` at the client. The host's functions run on gRPC's
 * threads, may call the module's, and may not wait; the module's never call the host's from inside,
 * but for `release`. */
#ifndef LEATI_SERVICE_TRANSPORT_GRPC_MODULE_H
#define LEATI_SERVICE_TRANSPORT_GRPC_MODULE_H

#include "base/module.h"

typedef struct leati_grpc_bytes {
    const void *data;
    size_t size;
} leati_grpc_bytes;

/* Bytes that stay where they are until host->release(owner). */
typedef struct leati_grpc_piece {
    const void *data;
    size_t size;
    void *owner;
} leati_grpc_piece;

/* How a call ended: gRPC's code, its text, and the bytes of a failure of leat's (size 0: none). */
typedef struct leati_grpc_end {
    int code;
    const char *text;
    leati_grpc_bytes details;
} leati_grpc_end;

typedef struct leati_grpc_pipe leati_grpc_pipe;
typedef struct leati_grpc_server leati_grpc_server;
typedef struct leati_grpc_connection leati_grpc_connection;
typedef struct leati_grpc_call leati_grpc_call;

/* What a server is told of a call before anything of it is read. */
typedef struct leati_grpc_incoming {
    const char *method; /* behind "/leat.Service/"; "" for other paths */
    const char *peer;   /* as gRPC writes it: ipv4:10.0.0.7:4711 */
    const char *token;  /* NULL: none was sent */
    bool streams;       /* false: one request, one answer */
} leati_grpc_incoming;

typedef struct leati_grpc_host {
    void (*release)(void *owner);
    /* A call came in: the host's context for its pipe, a reference to which is given; NULL: it is
     * refused with *code and `text`. */
    void *(*incoming)(void *server, leati_grpc_pipe *pipe, const leati_grpc_incoming *call,
                      int *code, char *text, size_t room);
    /* What the host asked for by pipe_read; the bytes are valid during the call. `slices` is NULL
     * where nothing comes any more. */
    void (*received)(void *context, const leati_grpc_bytes *slices, size_t num_slices);
    /* What pipe_send was given is on its way; false: it never will be. */
    void (*sent)(void *context, bool ok);
    /* At a server: the client has gone. To be followed by pipe_finish. */
    void (*cancelled)(void *context);
    /* The last word of a pipe; the end is empty at a server. */
    void (*ended)(void *context, const leati_grpc_end *end);
    /* The last word of a call. */
    void (*answered)(void *context, const leati_grpc_end *end, const leati_grpc_bytes *slices,
                     size_t num_slices);
} leati_grpc_host;

/* PEM texts, or NULL; `secure` is true where TLS is spoken. */
typedef struct leati_grpc_security {
    bool secure;
    const char *cert, *key, *ca;
} leati_grpc_security;

/* A channel argument: a text where that is not NULL. */
typedef struct leati_grpc_argument {
    const char *name, *text;
    int number;
} leati_grpc_argument;

typedef struct leati_grpc_module {
    leati_module_head head;
    /* Once, before all others: takes the host's table, which must stay. */
    void (*enter)(const leati_grpc_host *host);
    /* A server of the connections that it is handed; NULL where gRPC does not take the keys. */
    leati_grpc_server *(*serve)(const leati_grpc_security *security,
                                const leati_grpc_argument *arguments, size_t num_arguments,
                                void *context);
    /* A connection, which is the server's now. Not during server_close or after it. */
    void (*server_take)(leati_grpc_server *server, int connection);
    /* Ends what is under way, at the latest after `ms`, waits until the host has heard the last
     * word of all pipes, and frees. */
    void (*server_close)(leati_grpc_server *server, int64_t ms);
    leati_grpc_connection *(*connect)(const char *target, const char *token,
                                      const leati_grpc_security *security,
                                      const leati_grpc_argument *arguments, size_t num_arguments);
    void (*connection_free)(leati_grpc_connection *connection);
    /* `ms` -1: no deadline. The handle is owned (call_free), also after `answered`. NULL: without
     * memory. */
    leati_grpc_call *(*call)(leati_grpc_connection *connection, const char *method,
                             leati_grpc_piece request, int64_t ms, void *context);
    void (*call_cancel)(leati_grpc_call *call);
    void (*call_free)(leati_grpc_call *call);
    /* Owned (pipe_free), also after `ended`. A read is under way at once. */
    leati_grpc_pipe *(*open)(leati_grpc_connection *connection, const char *method, void *context);
    /* Asks for one `received`. False: the pipe is over, and `ended` comes or came. */
    bool (*pipe_read)(leati_grpc_pipe *pipe);
    /* Takes the pieces over; not before `sent` of the last. False: the pipe is over, and they are
     * released. */
    bool (*pipe_send)(leati_grpc_pipe *pipe, const leati_grpc_piece *pieces, size_t num_pieces);
    /* At a server, once, with no send under way. */
    void (*pipe_finish)(leati_grpc_pipe *pipe, const leati_grpc_end *end);
    /* Sends the answer of a unary call and finishes. */
    void (*pipe_answer)(leati_grpc_pipe *pipe, leati_grpc_piece answer);
    /* Ends it as soon as can be, both ways. */
    void (*pipe_cancel)(leati_grpc_pipe *pipe);
    void (*pipe_free)(leati_grpc_pipe *pipe);
} leati_grpc_module;

#endif
