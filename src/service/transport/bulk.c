/* Servers and channels of the protocols "shm" and "tcp"; see bulk.h. Streams are in bulk_stream.c.
 *
 * A server has a thread that accepts; it knows a Unix socket's other side by the kernel's word for
 * its user, and everybody by what is shown first. Failures: who is refused hears why on its stream;
 * connections beyond MOST_STREAMS, and beyond MOST_STRANGERS before they greet, are closed. Locks:
 * a side's, for its list of streams. */
#include "service/transport/bulk.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/random.h"
#include "base/sha256.h"
#include "coll/store_door.h"
#include "core/shared_memory.h"
#include "run/machine.h"
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    MOST_STREAMS = 1024,
    MOST_STRANGERS = 64, /* of them, that have not said who they are */
    BACKLOG = 128,
    CONNECT_MS = 3000,
    PAUSE_MS = 50, /* where no descriptor is left to accept with, or strangers have cost much */
    PLAIN_NS = 300 * 1000,   /* of the processor that a stranger costs, */
    SECURE_NS = 3000 * 1000, /* and with TLS */
    LONGEST_HOST = 256,
    MEMORY_SHARE = 4 /* of the machine's memory a fourth may be shared */
};

/* Of what must be the same for two processes to meet by a Unix socket. */
enum { HERE = 17 };

typedef struct bulk_server {
    leati_bulk_side side;
    char name[LEATI_BULK_SECRET]; /* of a Unix socket */
    int listening, port;
    leati_driver *acceptor;
} bulk_server;

typedef struct bulk_channel {
    leati_bulk_side side;
    char host[LONGEST_HOST]; /* or the name of a Unix socket */
    int port;
} bulk_channel;

/* ---- sides ---- */

static bool draw(char out[LEATI_BULK_SECRET]) {
    uint8_t bytes[(LEATI_BULK_SECRET - 1) / 2];
    if (!leati_random_secret(bytes, sizeof bytes))
        return false;
    for (size_t i = 0; i < sizeof bytes; i++)
        (void)snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

/* TLS between a worker and its clients, by the files that gRPC has, too. */
static const leati_tls_purpose purpose = {
    .protocol = "leat-service",
    .certificate = "tls_cert",
    .key = "tls_key",
    .authority = "tls_ca",
    .all = "tls_cert and tls_key for the servers of a service and tls_ca for its clients"};

static leat_status set_tls(leati_bulk_side *side, const leati_transport_security *security,
                           leat_error *err) {
    const leati_tls_files files = {.purpose = &purpose,
                                   .certificate = security->tls_cert,
                                   .key = security->tls_key,
                                   .authority = security->tls_ca};
    LEATI_TRY(leati_transport_check_security(security, side->serves, err));
    if (!leati_transport_is_secure(security, side->serves))
        return LEAT_OK;
    side->tls = leati_tls_context_new(&files, err);
    return side->tls != NULL ? LEAT_OK : err->code;
}

static leat_status init_side(leati_bulk_side *side, bool serves, bool shares,
                             const leati_transport_security *security, leat_error *err) {
    side->serves = serves;
    side->shares = shares;
    side->forks = leati_transport_forks();
    pthread_mutex_init(&side->lock, NULL);
    side->token = leati_strdup(security->token);
    if (security->token != NULL && side->token == NULL)
        return leati_no_memory(err);
    return shares ? LEAT_OK : set_tls(side, security, err);
}

static void fini_side(leati_bulk_side *side) {
    if (side->token != NULL)
        explicit_bzero(side->token, strlen(side->token));
    leati_free(side->token);
    leati_tls_context_free(side->tls);
    explicit_bzero(side->secret, sizeof side->secret);
    pthread_mutex_destroy(&side->lock);
}

static void end_streams(leati_bulk_side *side, const leat_error *why) {
    pthread_mutex_lock(&side->lock);
    side->closing = true;
    pthread_mutex_unlock(&side->lock);
    leati_bulk_streams_reap(side, true, why);
}

static leat_status no_socket(int error, const char *what, leat_error *err) {
    char reason[100];
    return leati_fail(err, LEAT_UNAVAILABLE, "%s: %s", what,
                      strerror_r(error, reason, sizeof reason));
}

/* ---- Unix sockets ---- */

static void add_file(leati_sha256 *hash, const char *path) {
    char text[100];
    FILE *file = fopen(path, "rbe");
    size_t size = file != NULL ? fread(text, 1, sizeof text, file) : 0;
    if (file != NULL)
        fclose(file);
    leati_sha256_add(hash, text, size);
}

/* Where this process is: the start of the machine, the network's namespace, and the user. Equal
 * texts mean that it is worth trying; the kernel's word for the other side decides. */
static void find_here(char out[HERE]) {
    char network[100] = "";
    uint8_t sum[LEATI_SHA256_BYTES];
    uid_t user = geteuid();
    leati_sha256 hash;
    leati_sha256_begin(&hash);
    add_file(&hash, "/proc/sys/kernel/random/boot_id");
    ssize_t size = readlink("/proc/self/ns/net", network, sizeof network);
    leati_sha256_add(&hash, network, size > 0 ? (size_t)size : 0);
    leati_sha256_add(&hash, &user, sizeof user);
    leati_sha256_end(&hash, sum);
    for (size_t i = 0; i < (HERE - 1) / 2; i++)
        (void)snprintf(out + 2 * i, 3, "%02x", sum[i]);
}

/* A name in the system's own table, of which no file remains. */
static socklen_t unix_address(const char *name, struct sockaddr_un *out) {
    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    int n = snprintf(out->sun_path + 1, sizeof out->sun_path - 1, "leat-%s", name);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

/* Does the other side belong to this process's user? */
static bool is_own_user(int socket) {
    struct ucred who;
    socklen_t size = sizeof who;
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && who.uid == geteuid();
}

static leat_status listen_unix(bulk_server *server, leat_error *err) {
    struct sockaddr_un address;
    if (!draw(server->name))
        return leati_fail(err, LEAT_UNAVAILABLE, "the system gives no random bytes");
    server->listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (server->listening < 0 ||
        bind(server->listening, (struct sockaddr *)&address,
             unix_address(server->name, &address)) != 0 ||
        listen(server->listening, BACKLOG) != 0)
        return no_socket(errno, "cannot listen on a Unix socket", err);
    return LEAT_OK;
}

static int connect_unix(const leati_bulk_side *side, int wake, leat_error *err) {
    const bulk_channel *channel = (const bulk_channel *)side;
    struct sockaddr_un address;
    (void)wake; /* it does not wait */
    socklen_t size = unix_address(channel->host, &address);
    int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (made < 0 || connect(made, (struct sockaddr *)&address, size) != 0)
        (void)no_socket(errno, "no worker of this host's network is there under its name", err);
    else if (!is_own_user(made))
        (void)leati_fail(err, LEAT_UNAVAILABLE, "the worker's socket is another user's");
    else
        return made;
    if (made >= 0)
        close(made);
    return -1;
}

/* ---- TCP ---- */

static void tune_tcp(int socket) {
    int on = 1, silence = leati_transport_tuned().silence_ms;
    int idle = silence / 2000 > 0 ? silence / 2000 : 1;
    (void)setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    (void)setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    (void)setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &idle, sizeof idle);
    (void)setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &silence, sizeof silence);
}

static struct addrinfo *look_up(const char *host, int port, leat_error *err) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_NUMERICSERV | AI_PASSIVE};
    struct addrinfo *found = NULL;
    char service[16];
    (void)snprintf(service, sizeof service, "%d", port);
    int failed = getaddrinfo(host, service, &hints, &found);
    if (failed != 0) {
        (void)leati_fail(err, LEAT_UNAVAILABLE, "cannot find the host %.200s: %s", host,
                         gai_strerror(failed));
        return NULL;
    }
    return found;
}

static leat_status listen_tcp(bulk_server *server, const leati_transport_listen_options *options,
                              leat_error *err) {
    const char *host = options->host != NULL ? options->host : "127.0.0.1";
    bool all = strcmp(host, "all") == 0;
    int on = 1, off = 0;
    struct sockaddr_storage bound;
    socklen_t size = sizeof bound;
    char service[16];
    struct addrinfo *found = look_up(all ? "::" : host, options->port, err);
    if (found == NULL)
        return err->code;
    int made = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    leat_status status = LEAT_OK;
    if (made < 0 || setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        (all && setsockopt(made, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) != 0) ||
        bind(made, found->ai_addr, found->ai_addrlen) != 0 || listen(made, BACKLOG) != 0 ||
        getsockname(made, (struct sockaddr *)&bound, &size) != 0 ||
        getnameinfo((struct sockaddr *)&bound, size, NULL, 0, service, sizeof service,
                    NI_NUMERICSERV) != 0)
        status = no_socket(errno, "cannot listen for elements", err);
    else
        server->port = atoi(service);
    freeaddrinfo(found);
    server->listening = made;
    return status;
}

/* Waits until it is connected, or `wake` or the deadline comes: 0, or the system's reason. */
static int finish_connect(int made, int wake, int64_t deadline_ns) {
    struct pollfd what[] = {{.fd = made, .events = POLLOUT}, {.fd = wake, .events = POLLIN}};
    int error = 0, ready = -1;
    socklen_t size = sizeof error;
    for (int64_t left = 1; ready < 0 && left > 0;) {
        left = (deadline_ns - leati_now_ns()) / 1000000;
        ready = poll(what, 2, left > 0 ? (int)left : 0);
    }
    if (ready <= 0 || what[0].revents == 0)
        return ETIMEDOUT;
    return getsockopt(made, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

/* To one of the addresses: the socket, or -1 and the system's reason. */
static int connect_one(const struct addrinfo *at, int wake, int64_t deadline_ns, int *error) {
    int made = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    *error = made < 0 || connect(made, at->ai_addr, at->ai_addrlen) != 0 ? errno : 0;
    if (*error == EINPROGRESS)
        *error = finish_connect(made, wake, deadline_ns);
    if (*error == 0)
        return made;
    if (made >= 0)
        close(made);
    return -1;
}

static int connect_tcp(const leati_bulk_side *side, int wake, leat_error *err) {
    const bulk_channel *channel = (const bulk_channel *)side;
    struct addrinfo *found = leati_bulk_find_host(channel->host, channel->port, wake, err);
    int made = -1, error = 0, left = 0;
    int64_t deadline_ns = leati_clock_deadline_ns(CONNECT_MS);
    for (const struct addrinfo *at = found; at != NULL; at = at->ai_next)
        left++;
    /* An address that does not answer leaves time for the others. */
    for (const struct addrinfo *at = found; at != NULL && made < 0; at = at->ai_next) {
        int64_t now = leati_now_ns();
        made = connect_one(at, wake, now + (deadline_ns - now) / left--, &error);
    }
    if (found == NULL)
        return -1;
    freeaddrinfo(found);
    if (made >= 0) {
        tune_tcp(made);
    } else {
        char reason[100];
        (void)leati_fail(err, LEAT_UNAVAILABLE,
                         "nobody is reached at %.200s, port %d (%s); is a firewall between?",
                         channel->host, channel->port, strerror_r(error, reason, sizeof reason));
    }
    return made;
}

/* ---- servers ---- */

static void begin_stream(bulk_server *server, int accepted) {
    leat_error err = {0};
    leati_bulk_streams_reap(&server->side, false, NULL);
    pthread_mutex_lock(&server->side.lock);
    bool full =
        server->side.num_streams >= MOST_STREAMS || server->side.num_strangers >= MOST_STRANGERS;
    pthread_mutex_unlock(&server->side.lock);
    if (full || (server->side.shares && !is_own_user(accepted))) {
        close(accepted);
        return;
    }
    leati_bulk_stream *s = leati_bulk_stream_new(&server->side, accepted, NULL, NULL, NULL, &err);
    if (s != NULL)
        leati_transport_stream_unref(&s->base);
}

/* Charges for who comes by `tcp`, and gives back what was for who was let in since; waits for what
 * strangers owe, unless the server closes. */
static void charge(bulk_server *server, leati_store_door *door) {
    const int64_t cost_ns = server->side.tls != NULL ? SECURE_NS : PLAIN_NS;
    struct pollfd closing = {.fd = server->listening};
    if (server->side.shares)
        return;
    leati_store_door_charge(door, cost_ns, leati_now_ns());
    do {
        pthread_mutex_lock(&server->side.lock);
        int let_in = server->side.num_let_in;
        server->side.num_let_in = 0;
        pthread_mutex_unlock(&server->side.lock);
        leati_store_door_charge(door, -cost_ns * let_in, leati_now_ns());
    } while (leati_store_door_owes(door, leati_now_ns()) > 0 && poll(&closing, 1, PAUSE_MS) == 0);
}

static void accept_all(void *context) {
    bulk_server *server = context;
    leati_store_door door = {.most = MOST_STRANGERS, .spare = -1};
    for (;;) {
        int accepted = accept4(server->listening, NULL, NULL, SOCK_CLOEXEC);
        if (accepted >= 0) {
            if (!server->side.shares)
                tune_tcp(accepted);
            begin_stream(server, accepted);
            charge(server, &door);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            (void)poll(NULL, 0, PAUSE_MS);
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return;
        }
    }
}

static void free_server(bulk_server *server) {
    if (server->listening >= 0)
        close(server->listening);
    fini_side(&server->side);
    leati_free(server);
}

static leati_transport_server *listen_bulk(bool shares,
                                           const leati_transport_listen_options *options,
                                           const leati_transport_handler *handler, int *port,
                                           leat_error *err) {
    bulk_server *server = leati_alloc_zero(1, sizeof *server);
    if (server == NULL) {
        (void)leati_no_memory(err);
        return NULL;
    }
    server->listening = -1;
    server->side.handler = *handler;
    leat_status status = init_side(&server->side, true, shares, &options->security, err);
    if (status == LEAT_OK && !draw(server->side.secret))
        status = leati_fail(err, LEAT_UNAVAILABLE, "the system gives no random bytes");
    if (status == LEAT_OK)
        status = shares ? listen_unix(server, err) : listen_tcp(server, options, err);
    bool uses = false;
    if (status == LEAT_OK && shares) {
        status = leati_shared_memory_use((size_t)(leati_machine_memory() / MEMORY_SHARE), err);
        uses = status == LEAT_OK;
    }
    if (status == LEAT_OK)
        server->acceptor = leati_driver_start("leat-accept", accept_all, server, err);
    if (server->acceptor == NULL) {
        if (uses)
            leati_shared_memory_leave();
        free_server(server);
        return NULL;
    }
    *port = server->port;
    return (leati_transport_server *)server;
}

static leati_transport_server *listen_shm(const leati_transport_listen_options *options,
                                          const leati_transport_handler *handler, int *port,
                                          leat_error *err) {
    return listen_bulk(true, options, handler, port, err);
}

static leati_transport_server *listen_by_tcp(const leati_transport_listen_options *options,
                                             const leati_transport_handler *handler, int *port,
                                             leat_error *err) {
    return listen_bulk(false, options, handler, port, err);
}

static void close_bulk(leati_transport_server *base, int64_t deadline_ns) {
    bulk_server *server = (bulk_server *)base;
    leat_error why = {0};
    (void)deadline_ns; /* nothing waits for an answer */
    if (server->side.forks != leati_transport_forks())
        return;
    leati_fail(&why, LEAT_UNAVAILABLE, "the server has closed");
    (void)shutdown(server->listening, SHUT_RDWR);
    leati_driver_join(server->acceptor);
    end_streams(&server->side, &why);
    if (server->side.shares)
        leati_shared_memory_leave();
    free_server(server);
}

static void address_shm(const leati_transport_server *base, const char *host, char *out,
                        size_t room) {
    const bulk_server *server = (const bulk_server *)base;
    char here[HERE];
    (void)host;
    find_here(here);
    (void)snprintf(out, room, "%s.%s/%s", here, server->name, server->side.secret);
}

static bool reaches_shm(const char *address) {
    char here[HERE];
    find_here(here);
    return strncmp(address, here, HERE - 1) == 0 && address[HERE - 1] == '.';
}

/* Behind host and port of a server with TLS. */
static const char by_tls[] = "/tls";

static void address_tcp(const leati_transport_server *base, const char *host, char *out,
                        size_t room) {
    const bulk_server *server = (const bulk_server *)base;
    (void)snprintf(out, room, strchr(host, ':') != NULL ? "[%s]:%d%s/%s" : "%s:%d%s/%s", host,
                   server->port, server->side.tls != NULL ? by_tls : "", server->side.secret);
}

/* ---- channels ---- */

/* Cuts the address at its slash. */
static leat_status split(const char *address, char *place, size_t room,
                         char secret[LEATI_BULK_SECRET], leat_error *err) {
    const char *slash = strrchr(address, '/');
    size_t size = slash != NULL ? (size_t)(slash - address) : 0;
    if (size == 0 || size >= room || strlen(slash + 1) != LEATI_BULK_SECRET - 1)
        return leati_refuse(err, VALUE,
                            "expected an address and a secret behind a slash, as a worker tells "
                            "its dispatcher; found %zu bytes",
                            strlen(address));
    memcpy(place, address, size);
    place[size] = '\0';
    memcpy(secret, slash + 1, LEATI_BULK_SECRET);
    return LEAT_OK;
}

/* Host and port, and whether both sides do the same: what is to be encrypted never goes in the
 * clear. */
static leat_status set_place(bulk_channel *channel, char *place, leat_error *err) {
    size_t size = strlen(place), more = strlen(by_tls);
    bool secure = size > more && strcmp(place + size - more, by_tls) == 0;
    if (secure)
        place[size - more] = '\0';
    LEATI_TRY(leati_transport_parse_address(place, channel->host, sizeof channel->host,
                                            &channel->port, err));
    channel->side.host = channel->host;
    if (secure == (channel->side.tls != NULL))
        return LEAT_OK;
    return leati_fail(err, LEAT_FAILED_PRECONDITION,
                      secure
                          ? "the worker at %.200s encrypts what it sends, and this client has no "
                            "tls_ca; set it to the certificate of who signed the worker's"
                          : "the worker at %.200s sends in the clear, and this client has a "
                            "tls_ca; start the worker with tls_cert and tls_key",
                      place);
}

static leati_transport_channel *connect_bulk(bool shares, const char *address,
                                             const leati_transport_security *security,
                                             leat_error *err) {
    static const leati_transport_security none = {0};
    char place[LONGEST_HOST + 16] = "", secret[LEATI_BULK_SECRET];
    if (split(address, place, sizeof place, secret, err) != LEAT_OK)
        return NULL;
    const char *name = place + HERE;
    if (shares && (strlen(place) != HERE + LEATI_BULK_SECRET - 1 || name[-1] != '.')) {
        leati_refuse(err, VALUE, "expected an address of shm, as a worker tells its dispatcher");
        return NULL;
    }
    bulk_channel *channel = leati_alloc_zero(1, sizeof *channel);
    if (channel == NULL) {
        (void)leati_no_memory(err);
        return NULL;
    }
    leat_status status =
        init_side(&channel->side, false, shares, security != NULL ? security : &none, err);
    memcpy(channel->side.secret, secret, sizeof secret);
    channel->side.connect = shares ? connect_unix : connect_tcp;
    if (status == LEAT_OK && shares)
        memcpy(channel->host, name, LEATI_BULK_SECRET);
    else if (status == LEAT_OK)
        status = set_place(channel, place, err);
    if (status == LEAT_OK)
        return (leati_transport_channel *)channel;
    fini_side(&channel->side);
    leati_free(channel);
    return NULL;
}

static leati_transport_channel *
connect_by_shm(const char *address, const leati_transport_security *security, leat_error *err) {
    return connect_bulk(true, address, security, err);
}

static leati_transport_channel *
connect_by_tcp(const char *address, const leati_transport_security *security, leat_error *err) {
    return connect_bulk(false, address, security, err);
}

static void disconnect_bulk(leati_transport_channel *base) {
    bulk_channel *channel = (bulk_channel *)base;
    leat_error why = {0};
    if (channel->side.forks != leati_transport_forks())
        return;
    leati_fail(&why, LEAT_CANCELLED, "the channel was disconnected");
    end_streams(&channel->side, &why);
    fini_side(&channel->side);
    leati_free(channel);
}

static leat_status refuse_call(leati_transport_channel *channel, const char *method,
                               const void *request, size_t size, int64_t deadline_ns,
                               leat_cancel *cancel, leat_buffer **answer, leat_error *err) {
    (void)channel, (void)request, (void)size, (void)deadline_ns, (void)cancel, (void)answer;
    return leati_fail(err, LEAT_UNIMPLEMENTED,
                      "\"%.60s\" is a call, and shm and tcp carry streams alone; ask by grpc",
                      method);
}

static leati_transport_stream *open_bulk(leati_transport_channel *base, const char *method,
                                         const void *request, size_t size,
                                         const leati_transport_events *events, void *context,
                                         leat_error *err) {
    bulk_channel *channel = (bulk_channel *)base;
    if (leati_transport_check_forks(channel->side.forks, "the channel", err) != LEAT_OK)
        return NULL;
    const leati_bulk_greeting ask = {.method = {(char *)(uintptr_t)method, strlen(method)},
                                     .request = {(char *)(uintptr_t)request, size}};
    leati_bulk_streams_reap(&channel->side, false, NULL);
    leati_bulk_stream *s = leati_bulk_stream_new(&channel->side, -1, events, context, &ask, err);
    return s != NULL ? &s->base : NULL;
}

const leati_transport leati_transport_shm = {.name = "shm",
                                             .tells = true,
                                             .listen = listen_shm,
                                             .close = close_bulk,
                                             .address = address_shm,
                                             .reaches = reaches_shm,
                                             .connect = connect_by_shm,
                                             .disconnect = disconnect_bulk,
                                             .call = refuse_call,
                                             .open = open_bulk};

const leati_transport leati_transport_tcp = {.name = "tcp",
                                             .tells = true,
                                             .listen = listen_by_tcp,
                                             .close = close_bulk,
                                             .address = address_tcp,
                                             .connect = connect_by_tcp,
                                             .disconnect = disconnect_bulk,
                                             .call = refuse_call,
                                             .open = open_bulk};
