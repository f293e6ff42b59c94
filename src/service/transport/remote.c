/* Servers and channels between processes, over gRPC (grpc_module.h).
 *
 * A channel has up to sixteen connections, opened when first used: calls take the first, streams
 * each in turn. gRPC connects again by itself. Who does not answer for `silence_ms` is gone (HTTP/2
 * pings). A server without a token and TLS is open to whoever reaches it, so it listens on the
 * loopback unless it is told otherwise. */
#include "service/transport/remote.h"
#include "service/transport/outbox.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum {
    LONGEST_HOST = 256,
    LONGEST_PEM = 1 << 20,
    HIGHEST_PORT = 65535,
    MOST_STREAMS = 1024,    /* that a connection may have open */
    MOST_METADATA = 16384,  /* bytes of a call's heads */
    HANDSHAKE_MS = 10000,   /* for a connection to say what it is */
    WINDOW_BYTES = 8 << 20, /* that may be under way to a stream */
    FRAME_BYTES = 1 << 20,  /* HTTP/2's */
    READ_BYTES = 1 << 20,   /* from a socket at once */
    LINGER_MS = 1000        /* for streams that have ended to say so to the other side */
};

const leati_grpc_module *leati_remote_module;

/* ---- arguments of gRPC ---- */

enum { MOST_ARGUMENTS = 24 };

static size_t common_arguments(const leati_transport_tuning *tuning, leati_grpc_argument *out) {
    const leati_grpc_argument arguments[] = {
        {"grpc.max_receive_message_length", NULL, INT32_MAX},
        {"grpc.max_send_message_length", NULL, INT32_MAX},
        {"grpc.max_metadata_size", NULL, MOST_METADATA},
        {"grpc.keepalive_time_ms", NULL, tuning->silence_ms / 2},
        {"grpc.keepalive_timeout_ms", NULL, tuning->silence_ms / 2},
        {"grpc.keepalive_permit_without_calls", NULL, 1},
        {"grpc.http2.max_pings_without_data", NULL, 0},
        {"grpc.http2.min_ping_interval_without_data_ms", NULL, 50},
        {"grpc.http2.max_ping_strikes", NULL, 0},
        {"grpc.http2.lookahead_bytes", NULL, WINDOW_BYTES},
        {"grpc.http2.max_frame_size", NULL, FRAME_BYTES},
        {"grpc.experimental.tcp_read_chunk_size", NULL, READ_BYTES},
        {"grpc.experimental.tcp_max_read_chunk_size", NULL, READ_BYTES},
        {"grpc.per_message_compression", NULL, 0},
    };
    memcpy(out, arguments, sizeof arguments);
    return sizeof arguments / sizeof arguments[0];
}

static size_t server_arguments(const leati_transport_tuning *tuning, leati_grpc_argument *out) {
    const leati_grpc_argument more[] = {
        {"grpc.max_concurrent_streams", NULL, MOST_STREAMS},
        {"grpc.server_handshake_timeout_ms", NULL, HANDSHAKE_MS},
    };
    size_t n = common_arguments(tuning, out);
    memcpy(out + n, more, sizeof more);
    return n + sizeof more / sizeof more[0];
}

static size_t channel_arguments(const leati_remote_channel *channel, leati_grpc_argument *out) {
    const leati_grpc_argument named[] = {
        {"grpc.default_authority", channel->address, 0},
        {"grpc.ssl_target_name_override", channel->host, 0},
    };
    const leati_grpc_argument more[] = {
        {"grpc.use_local_subchannel_pool", NULL, 1},
        {"grpc.enable_http_proxy", NULL, 0},
        {"grpc.enable_retries", NULL, 0},
        {"grpc.service_config_disable_resolution", NULL, 1},
        {"grpc.initial_reconnect_backoff_ms", NULL, 100},
        {"grpc.min_reconnect_backoff_ms", NULL, HANDSHAKE_MS},
        {"grpc.max_reconnect_backoff_ms", NULL, 2000},
    };
    size_t n = common_arguments(&channel->tuning, out);
    memcpy(out + n, more, sizeof more);
    n += sizeof more / sizeof more[0];
    if (channel->host == NULL)
        return n;
    memcpy(out + n, named, sizeof named);
    return n + sizeof named / sizeof named[0];
}

/* ---- files of keys and certificates ---- */

static leat_status refuse_pem(const char *path, const char *what, leat_error *err) {
    leat_status status =
        leati_refuse(err, VALUE, "cannot read a PEM file of keys or certificates: %s", what);
    leati_error_at_file(err, path, strlen(path), -1, false);
    return status;
}

/* The text of a PEM file, owned; *out stays NULL without a path. */
static leat_status read_pem(const char *path, char **out, leat_error *err) {
    char reason[100];
    if (path == NULL)
        return LEAT_OK;
    FILE *file = fopen(path, "rbe");
    if (file == NULL)
        return refuse_pem(path, strerror_r(errno, reason, sizeof reason), err);
    char *text = leati_alloc(LONGEST_PEM + 1, 1);
    size_t size = text != NULL ? fread(text, 1, LONGEST_PEM + 1, file) : 0;
    fclose(file);
    if (text == NULL)
        return leati_no_memory(err);
    if (size > 0 && size <= LONGEST_PEM) {
        text[size] = '\0';
        if (strstr(text, "-----BEGIN ") != NULL) {
            *out = text;
            return LEAT_OK;
        }
    }
    leati_free(text);
    return refuse_pem(path, "found no block that begins with -----BEGIN", err);
}

static leat_status read_pems(const leati_transport_security *security, char *pems[3], bool serves,
                             leat_error *err) {
    LEATI_TRY(leati_transport_check_security(security, serves, err));
    LEATI_TRY(read_pem(security->tls_cert, &pems[0], err));
    LEATI_TRY(read_pem(security->tls_key, &pems[1], err));
    return read_pem(security->tls_ca, &pems[2], err);
}

static void free_pems(char *pems[3]) {
    for (int i = 0; i < 3; i++)
        leati_free(pems[i]);
}

/* ---- what gRPC's threads tell ---- */

static void release(void *owner) {
    leati_outbox_frame_release(owner);
}

static void *incoming(void *context, leati_grpc_pipe *pipe, const leati_grpc_incoming *call,
                      int *code, char *text, size_t room) {
    leati_remote_server *server = context;
    leat_error err = {0};
    void *taken = NULL;
    leat_status status = leati_transport_check_token(server->token, call->token, &err);
    if (status == LEAT_OK)
        leati_listener_know(server->listener, call->peer);
    if (status == LEAT_OK && call->method[0] == '\0')
        status = leati_fail(&err, LEAT_UNIMPLEMENTED, "no such method");
    if (status == LEAT_OK)
        taken = call->streams ? leati_remote_stream_incoming(server, pipe, call, &err)
                              : leati_remote_call_incoming(server, pipe, call, &err);
    if (taken == NULL) {
        *code = (int)err.code;
        snprintf(text, room, "%s", err.text);
    }
    return taken;
}

static void received(void *context, const leati_grpc_bytes *slices, size_t num_slices) {
    (*(const leati_remote_hearing **)context)->received(context, slices, num_slices);
}

static void sent(void *context, bool ok) {
    (*(const leati_remote_hearing **)context)->sent(context, ok);
}

static void cancelled(void *context) {
    (*(const leati_remote_hearing **)context)->cancelled(context);
}

static void ended(void *context, const leati_grpc_end *end) {
    (*(const leati_remote_hearing **)context)->ended(context, end);
}

static const leati_grpc_host host_table = {.release = release,
                                           .incoming = incoming,
                                           .received = received,
                                           .sent = sent,
                                           .cancelled = cancelled,
                                           .ended = ended,
                                           .answered = leati_remote_call_answered};

/* ---- servers ---- */

static void free_server(leati_remote_side *side) {
    leati_remote_server *server = (leati_remote_server *)side;
    leati_free(server->token);
    leati_free(server);
}

static bool init_side(leati_remote_side *side, const char *name,
                      void (*free_side)(leati_remote_side *), leat_error *err) {
    atomic_init(&side->references, 1);
    side->free = free_side;
    side->gate = leati_queue_gate_new(name, NULL, err);
    return side->gate != NULL;
}

static void take(void *context, int connection) {
    leati_remote_module->server_take(context, connection);
}

static leat_status start_grpc(leati_remote_server *server, const leati_transport_security *security,
                              leat_error *err) {
    char *pems[3] = {NULL};
    leati_grpc_argument arguments[MOST_ARGUMENTS];
    const leati_transport_tuning tuning = leati_transport_tuned();
    LEATI_TRY(leati_listener_check_descriptors("a server of the service", err));
    leat_status status = read_pems(security, pems, true, err);
    if (status == LEAT_OK) {
        const leati_grpc_security given = {leati_transport_is_secure(security, true), pems[0],
                                           pems[1], pems[2]};
        server->grpc = leati_remote_module->serve(&given, arguments,
                                                  server_arguments(&tuning, arguments), server);
        if (server->grpc == NULL && given.secure)
            status = leati_refuse(err, VALUE,
                                  "cannot serve with the certificate %.200s and the key %.200s: "
                                  "gRPC does not take them; do they belong together?",
                                  security->tls_cert, security->tls_key);
        else if (server->grpc == NULL)
            status = leati_fail(err, LEAT_INTERNAL, "gRPC cannot make a server");
    }
    free_pems(pems);
    return status;
}

static leat_status start_server(leati_remote_server *server, const char *host, int port,
                                const leati_transport_security *security, leat_error *err) {
    server->token = leati_strdup(security->token);
    if (security->token != NULL && server->token == NULL)
        return leati_no_memory(err);
    server->listener = leati_listener_open(host, port, err);
    if (server->listener == NULL)
        return err->code;
    LEATI_TRY(start_grpc(server, security, err));
    leat_status status = leati_listener_start(
        server->listener, leati_transport_is_secure(security, true), take, server->grpc, err);
    if (status != LEAT_OK)
        leati_remote_module->server_close(server->grpc, 0);
    return status;
}

static leati_transport_server *listen_remote(const leati_transport_listen_options *options,
                                             const leati_transport_handler *handler, int *port,
                                             leat_error *err) {
    const char *host = options->host != NULL ? options->host : "127.0.0.1";
    const leati_transport_security *security = &options->security;
    if (options->port < 0 || options->port > HIGHEST_PORT || strlen(host) >= LONGEST_HOST) {
        leati_refuse(err, VALUE, "expected a port of 0 (any) to %d; found %d", HIGHEST_PORT,
                     options->port);
        return NULL;
    }
    leati_executor *executor = leati_executor_use(err);
    if (executor == NULL)
        return NULL;
    leati_remote_server *server = leati_alloc_zero(1, sizeof *server);
    if (server == NULL || !init_side(&server->side, "a server of the service", free_server, err)) {
        leati_free(server);
        leati_executor_leave(executor);
        leati_no_memory(err);
        return NULL;
    }
    server->executor = executor;
    server->handler = *handler;
    server->forks = leati_transport_forks();
    if (start_server(server, host, options->port, security, err) == LEAT_OK) {
        *port = leati_listener_port(server->listener);
        LEATI_TELL(SERVICE, INFO, "listening on %s, port %d: %s, %s", host, *port,
                   security->token != NULL ? "with a token" : "without a token",
                   security->tls_ca != NULL     ? "mutual TLS"
                   : security->tls_cert != NULL ? "TLS"
                                                : "without TLS");
        return (leati_transport_server *)server;
    }
    leati_listener_close(server->listener);
    leati_remote_side_unref(&server->side);
    leati_executor_leave(executor);
    return NULL;
}

typedef enum waited { WAITED_CALLS, WAITED_ALL, WAITED_FRAMES } waited;

static bool has(const leati_remote_side *side, waited what) {
    switch (what) {
    case WAITED_CALLS: return side->lists[LEATI_REMOTE_CALLS] != NULL;
    case WAITED_ALL: return side->num_running > 0;
    default: return side->num_frames > 0;
    }
}

/* Waits until nothing of the kind is under way. */
static leat_status wait_for(leati_remote_side *side, waited what, int64_t deadline_ns) {
    leat_status status = LEAT_OK;
    leati_queue_gate_lock(side->gate);
    while (status == LEAT_OK && has(side, what))
        status =
            leati_queue_gate_wait(side->gate, LEATI_WAIT_PEER, deadline_ns, NULL, &(leat_error){0});
    leati_queue_gate_unlock(side->gate);
    return status;
}

static void begin_closing(leati_remote_side *side) {
    leati_queue_gate_lock(side->gate);
    side->closing = true;
    leati_queue_gate_unlock(side->gate);
}

static void close_remote(leati_transport_server *base, int64_t deadline_ns) {
    leati_remote_server *server = (leati_remote_server *)base;
    /* A child of a fork leaves what the parent's threads were at as it is. */
    if (server->forks != leati_transport_forks())
        return;
    leat_error why = {0};
    leati_fail(&why, LEAT_UNAVAILABLE, "the server has closed");
    leati_listener_stop(server->listener);
    begin_closing(&server->side);
    leati_remote_streams_end(&server->side, &why);
    if (wait_for(&server->side, WAITED_CALLS, deadline_ns) != LEAT_OK)
        leati_remote_calls_fail(&server->side, true, &why);
    /* A stream whose last frame does not get through holds gRPC up, but not for longer. */
    leati_remote_module->server_close(server->grpc, LINGER_MS);
    while (wait_for(&server->side, WAITED_ALL, LEATI_NO_DEADLINE) != LEAT_OK) {
    }
    leati_listener_close(server->listener);
    (void)wait_for(&server->side, WAITED_FRAMES, leati_clock_deadline_ns(LINGER_MS));
    leati_executor *executor = server->executor;
    leati_remote_side_unref(&server->side);
    leati_executor_leave(executor);
}

/* ---- channels ---- */

/* gRPC lets go of what it was given to send when the connection has ended. */
static void free_connections(leati_remote_channel *channel) {
    for (int i = 0; i < channel->num_connections; i++) {
        if (channel->connections[i] != NULL)
            leati_remote_module->connection_free(channel->connections[i]);
        channel->connections[i] = NULL;
    }
    for (size_t i = 0; i < channel->num_retired; i++)
        leati_remote_module->connection_free(channel->retired[i]);
    channel->num_retired = 0;
}

static void free_channel(leati_remote_side *side) {
    leati_remote_channel *channel = (leati_remote_channel *)side;
    char *pems[3] = {channel->cert, channel->key, channel->ca};
    free_pems(pems);
    leati_free(channel->address);
    leati_free(channel->target);
    leati_free(channel->host);
    leati_free(channel->token);
    leati_free(channel->retired);
    leati_free(channel);
}

leati_grpc_connection *leati_remote_connection(leati_remote_channel *channel, int which,
                                               int64_t deadline_ns, leat_cancel *cancel,
                                               leat_error *err) {
    leati_grpc_argument arguments[MOST_ARGUMENTS];
    if (leati_remote_names_find(channel, deadline_ns, cancel, err) != LEAT_OK)
        return NULL;
    leati_queue_gate_lock(channel->side.gate);
    if (channel->connections[which] == NULL) {
        const leati_grpc_security security = {channel->secure, channel->cert, channel->key,
                                              channel->ca};
        channel->connections[which] =
            leati_remote_module->connect(channel->target, channel->token, &security, arguments,
                                         channel_arguments(channel, arguments));
    }
    leati_grpc_connection *connection = channel->connections[which];
    leati_queue_gate_unlock(channel->side.gate);
    if (connection == NULL)
        leati_no_memory(err);
    return connection;
}

/* Is it looked up (a name), or what it is? */
static bool is_name(const char *host) {
    return strchr(host, ':') == NULL && host[strspn(host, "0123456789.")] != '\0';
}

static leat_status set_target(leati_remote_channel *channel, const char *host, int port,
                              leat_error *err) {
    char target[LONGEST_HOST + 32];
    channel->port = port;
    if (is_name(host)) {
        channel->host = leati_strdup(host);
        return channel->host != NULL ? LEAT_OK : leati_no_memory(err);
    }
    leati_remote_target(host, port, target, sizeof target);
    channel->target = leati_strdup(target);
    return channel->target != NULL ? LEAT_OK : leati_no_memory(err);
}

static leat_status fill_channel(leati_remote_channel *channel, const char *address,
                                const leati_transport_security *security, leat_error *err) {
    char host[LONGEST_HOST];
    char *pems[3] = {NULL};
    int port;
    LEATI_TRY(leati_transport_parse_address(address, host, sizeof host, &port, err));
    LEATI_TRY(leati_listener_check_descriptors("a channel of the service", err));
    leat_status status = read_pems(security, pems, false, err);
    channel->cert = pems[0];
    channel->key = pems[1];
    channel->ca = pems[2];
    LEATI_TRY(status);
    LEATI_TRY(set_target(channel, host, port, err));
    channel->secure = leati_transport_is_secure(security, false);
    channel->tuning = leati_transport_tuned();
    channel->num_connections = channel->tuning.connections;
    channel->forks = leati_transport_forks();
    channel->address = leati_strdup(address);
    channel->token = leati_strdup(security->token);
    return channel->address == NULL || (security->token != NULL && channel->token == NULL)
               ? leati_no_memory(err)
               : LEAT_OK;
}

static leati_transport_channel *
connect_remote(const char *address, const leati_transport_security *security, leat_error *err) {
    static const leati_transport_security none = {0};
    leati_executor *executor = leati_executor_use(err);
    if (executor == NULL)
        return NULL;
    leati_remote_channel *channel = leati_alloc_zero(1, sizeof *channel);
    if (channel == NULL ||
        !init_side(&channel->side, "a channel of the service", free_channel, err)) {
        leati_free(channel);
        leati_no_memory(err);
    } else if (fill_channel(channel, address, security != NULL ? security : &none, err) ==
               LEAT_OK) {
        channel->executor = executor;
        return (leati_transport_channel *)channel;
    } else {
        leati_remote_side_unref(&channel->side);
    }
    leati_executor_leave(executor);
    return NULL;
}

static void disconnect_remote(leati_transport_channel *base) {
    leati_remote_channel *channel = (leati_remote_channel *)base;
    if (channel->forks != leati_transport_forks())
        return;
    leat_error why = {0};
    leati_fail(&why, LEAT_CANCELLED, "the channel to grpc://%.200s was disconnected",
               channel->address);
    begin_closing(&channel->side);
    leati_remote_names_end(channel);
    leati_remote_streams_end(&channel->side, &why);
    leati_remote_calls_fail(&channel->side, false, &why);
    if (wait_for(&channel->side, WAITED_ALL, leati_clock_deadline_ns(LINGER_MS)) != LEAT_OK)
        leati_remote_streams_cut(&channel->side);
    /* gRPC that got no threads, as in little memory, ends nothing; its channel stays as it is. */
    if (wait_for(&channel->side, WAITED_ALL,
                 leati_clock_deadline_ns(channel->tuning.silence_ms / 2)) != LEAT_OK) {
        leati_log(LEAT_LOG_WARNING,
                  "gRPC does not end what was asked of grpc://%s; has it threads? Raise the limits "
                  "on memory and threads (ulimit -v, -u)",
                  channel->address);
        return;
    }
    free_connections(channel);
    (void)wait_for(&channel->side, WAITED_FRAMES, leati_clock_deadline_ns(LINGER_MS));
    leati_executor *executor = channel->executor;
    leati_remote_side_unref(&channel->side);
    leati_executor_leave(executor);
}

static leat_status call_remote(leati_transport_channel *base, const char *method,
                               const void *request, size_t size, int64_t deadline_ns,
                               leat_cancel *cancel, leat_buffer **answer, leat_error *err) {
    leati_remote_channel *channel = (leati_remote_channel *)base;
    LEATI_TRY(leati_transport_check_forks(channel->forks, "the channel", err));
    return leati_remote_call(channel, method, request, size, deadline_ns, cancel, answer, err);
}

static leati_transport_stream *open_remote(leati_transport_channel *base, const char *method,
                                           const void *request, size_t size,
                                           const leati_transport_events *events, void *context,
                                           leat_error *err) {
    leati_remote_channel *channel = (leati_remote_channel *)base;
    if (leati_transport_check_forks(channel->forks, "the channel", err) != LEAT_OK)
        return NULL;
    return leati_remote_stream_open(channel, method, request, size, events, context, err);
}

static const leati_transport transport_remote = {
    .name = "grpc",
    .listen = listen_remote,
    .close = close_remote,
    .connect = connect_remote,
    .disconnect = disconnect_remote,
    .call = call_remote,
    .open = open_remote,
};

/* ---- the module ---- */

static pthread_mutex_t load_lock = PTHREAD_MUTEX_INITIALIZER;
static int loaded_forks; /* load_lock */

LEATI_FORK_LOCK(grpc, &load_lock);

#ifdef LEATI_HAVE_GRPC
static leat_status load(const leati_grpc_host *host, leat_error *err) {
    static leati_module module = {
        .file = "libleat_grpc.so", .library = "libgrpc++", .size = sizeof *leati_remote_module};
    LEATI_TRY(leati_listener_check_descriptors("gRPC", err));
    LEATI_TRY(leati_module_load(&module, err));
    leati_remote_module = module.table;
    leati_remote_module->enter(host);
    loaded_forks = leati_transport_forks();
    return LEAT_OK;
}
#else
static leat_status load(const leati_grpc_host *host, leat_error *err) {
    (void)host;
    return leati_fail(err, LEAT_UNIMPLEMENTED,
                      "leat was built without gRPC, so services stay within a process; install "
                      "libgrpc++-dev and build again");
}
#endif

/* gRPC's threads stay with the parent, and what they share with it would be waited for here for
 * ever: a child of a process that has loaded it does without. */
const leati_transport *leati_transport_find_grpc(leat_error *err) {
    pthread_mutex_lock(&load_lock);
    leat_status status = LEAT_OK;
    if (leati_remote_module == NULL)
        status = load(&host_table, err);
    else if (loaded_forks != leati_transport_forks())
        status = leati_fail(err, LEAT_FAILED_PRECONDITION,
                            "gRPC was in use in the process that this one was forked from, and "
                            "does not go on in a child; start processes by exec (multiprocessing's "
                            "\"spawn\"), or fork before the service is used");
    pthread_mutex_unlock(&load_lock);
    return status == LEAT_OK ? &transport_remote : NULL;
}
