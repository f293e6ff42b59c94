/* Sockets and messages of the store (coll/store.h).
 *
 * Rank 0 listens on the addresses that its own entry in the cluster has on this host, so that who
 * reaches only others of its addresses does not reach the job. That holds for a name, too, that
 * this host takes for its loopback (as /etc/hosts often has the host's own): what works is a job of
 * this host alone, and the others are told how to reach it by who knows that it lacks some
 * (leati_wire_is_hidden). Connecting is tried again every 100 ms until the deadline, because
 * processes of a job start in any order. */
#include "coll/wire.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/minmax.h"
#include "base/stop.h"
#include "coll/greeting.h"
#include "coll/store.h"
#include "run/hosts.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { AGAIN_MS = 100, BACKLOG = 1024, CHUNK = 4096 };

// ---- messages ----

/* In the clear, whole. */
static leat_status send_parts(int socket, struct iovec *parts, size_t count, leat_error *err) {
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = count};
    while (message.msg_iovlen > 0) {
        /* A peer that is gone is an error here, not a SIGPIPE for the program. */
        ssize_t sent = sendmsg(socket, &message, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return leati_fail(err, LEAT_UNAVAILABLE, "sending: %s",
                              errno == EPIPE ? "the connection was closed" : strerror(errno));
        /* The kernel may take less than all: parts that went are passed, and the next is cut. */
        while (message.msg_iovlen > 0 && (size_t)sent >= message.msg_iov->iov_len) {
            sent -= (ssize_t)message.msg_iov->iov_len;
            message.msg_iov++;
            message.msg_iovlen--;
        }
        if (message.msg_iovlen > 0) {
            message.msg_iov->iov_base = (char *)message.msg_iov->iov_base + sent;
            message.msg_iov->iov_len -= (size_t)sent;
        }
    }
    return LEAT_OK;
}

/* By TLS, which writes without waiting: the connection's other thread may read meanwhile. */
static leat_status send_sealed(const leati_wire_link *link, const char *bytes, size_t size,
                               leat_error *err) {
    int64_t end_ns =
        link->send_ms == 0 ? LEATI_NO_DEADLINE : leati_clock_deadline_ns(link->send_ms);
    while (size > 0) {
        leat_error why = {0};
        ptrdiff_t sent = leati_tls_write(link->tls, bytes, size, &why);
        if (sent < 0)
            return leati_fail(err, why.code, "sending: %s", why.text);
        bytes += sent;
        size -= (size_t)sent;
        if (sent == 0) {
            struct pollfd waiting = {.fd = link->socket, .events = POLLOUT};
            if (leati_now_ns() >= end_ns)
                return leati_fail(err, LEAT_UNAVAILABLE, "sending: nothing was taken in time");
            (void)poll(&waiting, 1, AGAIN_MS);
        }
    }
    return LEAT_OK;
}

/* In pieces, since each write is a record of its own on the network. */
static leat_status seal_parts(const leati_wire_link *link, const struct iovec *parts, size_t count,
                              leat_error *err) {
    char piece[CHUNK];
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t at = 0; at < parts[i].iov_len;) {
            size_t some = LEATI_MIN(parts[i].iov_len - at, sizeof piece - used);
            memcpy(piece + used, (const char *)parts[i].iov_base + at, some);
            used += some;
            at += some;
            if (used == sizeof piece) {
                LEATI_TRY(send_sealed(link, piece, used, err));
                used = 0;
            }
        }
    }
    return send_sealed(link, piece, used, err);
}

leat_status leati_wire_send_by(const leati_wire_link *link, leati_message_kind kind,
                               uint64_t request, const void *a, size_t a_size, const void *b,
                               size_t b_size, leat_error *err) {
    /* Refused by the sender, whose mistake it is; the receiver would end the connection. */
    if (a_size + b_size > LEATI_WIRE_MOST) {
        return leati_refuse(err, VALUE,
                            "a value of %zu bytes for the job's store; expected at most %d",
                            a_size + b_size, LEATI_WIRE_MOST);
    }
    leati_message_head head = {
        .size = (uint32_t)(a_size + b_size), .kind = (uint32_t)kind, .request = request};
    struct iovec parts[3] = {{&head, sizeof head}, {(void *)a, a_size}, {(void *)b, b_size}};
    return link->tls == NULL ? send_parts(link->socket, parts, 3, err)
                             : seal_parts(link, parts, 3, err);
}

leat_status leati_wire_send(int socket, leati_message_kind kind, uint64_t request, const void *a,
                            size_t a_size, const void *b, size_t b_size, leat_error *err) {
    return leati_wire_send_by(&(leati_wire_link){.socket = socket}, kind, request, a, a_size, b,
                              b_size, err);
}

/* Bytes, 0: nothing has come, -1. */
static ptrdiff_t receive_some(const leati_wire_link *link, char *out, leat_error *err) {
    if (link->tls != NULL)
        return leati_tls_read(link->tls, out, CHUNK, err);
    ssize_t got;
    do
        got = recv(link->socket, out, CHUNK, MSG_DONTWAIT);
    while (got < 0 && errno == EINTR);
    if (got > 0)
        return got;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return 0;
    leati_fail(err, LEAT_UNAVAILABLE, "%s",
               got == 0 ? "the connection was closed" : strerror(errno));
    return -1;
}

leat_status leati_wire_receive_by(const leati_wire_link *link, leati_wire_buffer *buffer,
                                  size_t most, leat_error *err) {
    /* Who sends faster than it is served waits in the kernel, not in this process's memory. */
    while (buffer->used < most) {
        if (!leati_grow((void **)&buffer->bytes, &buffer->capacity, buffer->used + CHUNK, 1))
            return leati_no_memory(err);
        ptrdiff_t got = receive_some(link, buffer->bytes + buffer->used, err);
        if (got <= 0)
            return got == 0 ? LEAT_OK : err->code;
        buffer->used += (size_t)got;
        /* Nothing more has come; another call would only say so. */
        if (got < CHUNK && link->tls == NULL)
            return LEAT_OK;
    }
    return LEAT_OK;
}

leat_status leati_wire_receive(int socket, leati_wire_buffer *buffer, size_t most,
                               leat_error *err) {
    return leati_wire_receive_by(&(leati_wire_link){.socket = socket}, buffer, most, err);
}

bool leati_wire_has_more(const leati_wire_link *link) {
    return link->tls != NULL && leati_tls_pending(link->tls);
}

bool leati_wire_next(leati_wire_buffer *buffer, size_t most, leati_message_head *head,
                     char **payload, bool *bad) {
    /* What was handed out before is still at the front, after a head whose kind was cleared. */
    *bad = false;
    while (buffer->used >= sizeof *head) {
        memcpy(head, buffer->bytes, sizeof *head);
        /* Before waiting for that many bytes: what connects may be no process of the job. */
        *bad = head->size > most;
        size_t whole = sizeof *head + head->size;
        if (*bad || buffer->used < whole)
            return false;
        if (head->kind != 0) {
            ((leati_message_head *)(void *)buffer->bytes)->kind = 0;
            *payload = buffer->bytes + sizeof *head;
            return true;
        }
        memmove(buffer->bytes, buffer->bytes + whole, buffer->used - whole);
        buffer->used -= whole;
    }
    return false;
}

void leati_wire_fini(leati_wire_buffer *buffer) {
    leati_free(buffer->bytes);
    *buffer = (leati_wire_buffer){0};
}

leat_status leati_wire_read_failure(const char *payload, size_t size, leat_error *err) {
    int32_t code = LEAT_OK;
    char text[sizeof err->text];
    if (size >= sizeof code)
        memcpy(&code, payload, sizeof code);
    bool known = leati_error_is_code(code);
    size_t length = size > sizeof code ? size - sizeof code : 0;
    snprintf(text, sizeof text, "%.*s", (int)length, length > 0 ? payload + sizeof code : "");
    leati_greeting_clean(text);
    return leati_fail(err, known ? (leat_status)code : LEAT_INTERNAL, "%s",
                      known ? text : "rank 0 sent a failure that says nothing");
}

void leati_wire_describe_heartbeat(const leati_beat *beat, int64_t heard_ns, char *text,
                                   size_t size) {
    static const char *const phases[LEATI_NUM_PHASES] = {"at its start", "reading input",
                                                         "computing", "exchanging values"};
    int phase = beat->phase >= 0 && beat->phase < LEATI_NUM_PHASES ? beat->phase : 0;
    char stage[sizeof beat->stage + 4] = "";
    if (phase == LEATI_PHASE_INPUT && beat->stage[0] != '\0')
        snprintf(stage, sizeof stage, " (%.79s)", beat->stage);
    snprintf(text, size, "%s%s after %llu calls, heard %.1f s ago", phases[phase], stage,
             (unsigned long long)beat->calls, (double)(leati_now_ns() - heard_ns) * 1e-9);
}

// ---- connections ----

/* "host:port" or "[v6]:port" in two texts. */
static leat_status split_address(const char *address, char *host, size_t host_size,
                                 const char **port, leat_error *err) {
    /* The last one, since an IPv6 address has colons of its own. */
    const char *colon = strrchr(address, ':');
    size_t size = colon == NULL ? 0 : (size_t)(colon - address);
    const char *begin = address;
    if (size >= 2 && address[0] == '[' && address[size - 1] == ']') {
        begin++;
        size -= 2;
    }
    char *end = NULL;
    long number = colon == NULL ? -1 : strtol(colon + 1, &end, 10);
    if (size == 0 || size >= host_size || number < 1 || number > 65535 || *end != '\0') {
        return leati_refuse(
            err, VALUE, "the address \"%s\"; expected \"host:port\" with a port from 1 to 65535",
            address);
    }
    memcpy(host, begin, size);
    host[size] = '\0';
    *port = colon + 1;
    return LEAT_OK;
}

static void no_delay(int socket) {
    int one = 1;
    (void)setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

/* One try; -1 with errno. */
static int try_connect(const struct addrinfo *at, int64_t deadline_ns) {
    int connection =
        socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, at->ai_protocol);
    if (connection < 0)
        return -1;
    int problem = connect(connection, at->ai_addr, at->ai_addrlen) == 0 ? 0 : errno;
    if (problem == EINPROGRESS) {
        struct pollfd waiting = {.fd = connection, .events = POLLOUT};
        int64_t left = (deadline_ns - leati_now_ns()) / 1000000;
        /* Five seconds at most: a host that does not answer may have another address that does. */
        int ready = 0;
        left = LEATI_MIN(LEATI_MAX(left, 1), 5000);
        for (int64_t end_ns = leati_now_ns() + left * 1000000; ready == 0 && left > 0;) {
            int64_t slice = leati_stop_may_come() ? LEATI_MIN(left, AGAIN_MS / 4) : left;
            ready = poll(&waiting, 1, (int)slice);
            left = leati_stop_look() ? 0 : (end_ns - leati_now_ns()) / 1000000;
        }
        socklen_t size = sizeof problem;
        problem = ETIMEDOUT;
        if (ready > 0)
            (void)getsockopt(connection, SOL_SOCKET, SO_ERROR, &problem, &size);
    }
    if (problem != 0) {
        close(connection);
        errno = problem;
        return -1;
    }
    /* Sending blocks; receiving asks for MSG_DONTWAIT each time. */
    (void)fcntl(connection, F_SETFL, fcntl(connection, F_GETFL) & ~O_NONBLOCK);
    no_delay(connection);
    return connection;
}

int leati_wire_connect(const char *address, const char *who, int64_t deadline_ns, leat_error *err) {
    char host[256];
    const char *port = NULL;
    if (split_address(address, host, sizeof host, &port, err) != LEAT_OK)
        return -1;
    char why[128] = "";
    int64_t notice_ns = leati_now_ns() + LEATI_WIRE_NOTICE_MS * INT64_C(1000000);
    for (;;) {
        /* Looked up at each try: a name may appear only when its container starts. */
        struct addrinfo *found = NULL;
        int code = leati_hosts_find(host, port, &found);
        snprintf(why, sizeof why, "%s", code != 0 ? gai_strerror(code) : "");
        for (const struct addrinfo *at = found; at != NULL; at = at->ai_next) {
            int connection = try_connect(at, deadline_ns);
            if (connection >= 0) {
                freeaddrinfo(found);
                return connection;
            }
            snprintf(why, sizeof why, "%s", strerror(errno));
        }
        if (found != NULL)
            freeaddrinfo(found);
        if (leati_wire_lacks_descriptors(address, err))
            return -1;
        if (leati_now_ns() + AGAIN_MS * 1000000LL >= deadline_ns) {
            leati_fail(err, LEAT_DEADLINE_EXCEEDED, "%s: %s", address, why);
            return -1;
        }
        if (who != NULL && leati_now_ns() >= notice_ns) {
            /* Once: rank 0 may have failed to listen, which it cannot tell who is not connected. */
            leati_log(LEAT_LOG_WARNING,
                      "%s still waits for rank 0 at %s (%s): is it started, could it listen there?",
                      who, address, why);
            notice_ns = LEATI_NO_DEADLINE;
        }
        (void)poll(NULL, 0, leati_stop_may_come() ? AGAIN_MS / 4 : AGAIN_MS);
        if (leati_stop_check(err) != LEAT_OK)
            return -1;
    }
}

void leati_wire_host_of(const char *address, char *host, size_t size) {
    const char *port = NULL;
    host[0] = '\0';
    if (split_address(address, host, size, &port, &(leat_error){0}) != LEAT_OK)
        host[0] = '\0';
}

void leati_wire_peer_host(int connection, char *host, size_t size) {
    struct sockaddr_storage peer;
    socklen_t peer_size = sizeof peer;
    if (getpeername(connection, (struct sockaddr *)&peer, &peer_size) != 0 ||
        getnameinfo((const struct sockaddr *)&peer, peer_size, host, (socklen_t)size, NULL, 0,
                    NI_NUMERICHOST) != 0)
        snprintf(host, size, "an unknown address");
}

void leati_wire_own_host(int connection, char *host, size_t size) {
    struct sockaddr_storage own;
    socklen_t own_size = sizeof own;
    host[0] = '\0';
    if (getsockname(connection, (struct sockaddr *)&own, &own_size) == 0)
        (void)getnameinfo((const struct sockaddr *)&own, own_size, host, (socklen_t)size, NULL, 0,
                          NI_NUMERICHOST);
}

void leati_wire_host_towards(const char *address, const char *where, char *out, size_t size) {
    char host[300];
    const char *port = NULL;
    struct addrinfo *found = NULL;
    out[0] = '\0';
    if (split_address(address, host, sizeof host, &port, &(leat_error){0}) != LEAT_OK)
        return;
    if (where != NULL && strcmp(where, "all") != 0)
        snprintf(host, sizeof host, "%s", where);
    if (leati_hosts_find(host, port, &found) != 0)
        return;
    for (const struct addrinfo *at = found; at != NULL && out[0] == '\0'; at = at->ai_next) {
        /* To connect it only chooses the way. */
        int way = socket(at->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (way < 0)
            continue;
        int code;
        do
            code = connect(way, at->ai_addr, at->ai_addrlen);
        while (code != 0 && errno == EINTR);
        if (code == 0)
            leati_wire_own_host(way, out, size);
        close(way);
    }
    freeaddrinfo(found);
}

// ---- listening ----

static bool is_loopback(const struct sockaddr *at) {
    if (at->sa_family == AF_INET) {
        const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)at;
        return ntohl(four->sin_addr.s_addr) >> 24 == 127;
    }
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)at;
    return at->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

/* Whoever reads the name knows that it is each host's loopback (RFC 6761, and Debian's names). */
static bool says_loopback(const char *host) {
    static const char suffix[] = ".localhost";
    size_t size = strlen(host), end = sizeof suffix - 1;
    return strcasecmp(host, "localhost") == 0 || strncasecmp(host, "localhost.", 10) == 0 ||
           strcasecmp(host, "ip6-localhost") == 0 || strcasecmp(host, "ip6-loopback") == 0 ||
           (size > end && strcasecmp(host + size - end, suffix) == 0);
}

bool leati_wire_is_hidden(const char *address) {
    char host[256];
    const char *port = NULL;
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};
    struct addrinfo *found = NULL;
    leat_error err = {0};
    if (split_address(address, host, sizeof host, &port, &err) != LEAT_OK || says_loopback(host))
        return false;
    /* A number says itself where it leads. */
    bool hidden = getaddrinfo(host, port, &hints, &found) != 0;
    if (!hidden)
        freeaddrinfo(found);
    if (!hidden || leati_hosts_find(host, port, &found) != 0)
        return false;
    for (const struct addrinfo *at = found; at != NULL; at = at->ai_next)
        hidden = hidden && is_loopback(at->ai_addr);
    freeaddrinfo(found);
    return hidden;
}

int leati_wire_listen_at(const struct sockaddr *at, socklen_t size, bool both) {
    int one = 1, only_six = !both;
    int listening = socket(at->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listening < 0)
        return -1;
    /* A job that starts again at once finds the port in TIME_WAIT. */
    (void)setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (at->sa_family == AF_INET6)
        (void)setsockopt(listening, IPPROTO_IPV6, IPV6_V6ONLY, &only_six, sizeof only_six);
    if (bind(listening, at, size) != 0 || listen(listening, BACKLOG) != 0) {
        int problem = errno;
        close(listening);
        errno = problem;
        return -1;
    }
    return listening;
}

int leati_wire_listen_everywhere(int port) {
    struct sockaddr_in6 six = {
        .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port), .sin6_addr = in6addr_any};
    struct sockaddr_in four = {.sin_family = AF_INET,
                               .sin_port = htons((uint16_t)port),
                               .sin_addr.s_addr = htonl(INADDR_ANY)};
    int listening =
        leati_wire_listen_at((const struct sockaddr *)(const void *)&six, sizeof six, true);
    return listening >= 0 || errno == EADDRINUSE
               ? listening
               : leati_wire_listen_at((const struct sockaddr *)(const void *)&four, sizeof four,
                                      false);
}

/* On each address of the list once; how many, with errno of the last that failed. An address where
 * somebody listens ends it: who connects might reach either. */
static int listen_at_all(const struct addrinfo *found, int sockets[LEATI_WIRE_LISTENING]) {
    int count = 0;
    for (const struct addrinfo *at = found; at != NULL && count < LEATI_WIRE_LISTENING;
         at = at->ai_next) {
        bool again = false;
        for (const struct addrinfo *before = found; before != at; before = before->ai_next) {
            again = again || (before->ai_addrlen == at->ai_addrlen &&
                              memcmp(before->ai_addr, at->ai_addr, at->ai_addrlen) == 0);
        }
        int listening = again ? -1 : leati_wire_listen_at(at->ai_addr, at->ai_addrlen, false);
        if (listening >= 0) {
            sockets[count++] = listening;
        } else if (!again && errno == EADDRINUSE) {
            while (count > 0)
                close(sockets[--count]);
            errno = EADDRINUSE;
            return 0;
        }
    }
    return count;
}

bool leati_wire_lacks_descriptors(const char *what, leat_error *err) {
    int number = errno, fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    bool lacks = fd < 0 && (errno == EMFILE || errno == ENFILE);
    if (fd >= 0)
        close(fd);
    if (lacks)
        leati_fail(err, LEAT_RESOURCE_EXHAUSTED, "%s: %s; raise the limit (ulimit -n)", what,
                   strerror(errno));
    errno = number;
    return lacks;
}

/* The system gives the lowest one, so the free ones are found soonest from above. */
bool leati_wire_has_descriptors(int wanted) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return true;
    int number = errno;
    for (rlim_t fd = LEATI_MIN(limit.rlim_cur, (rlim_t)INT_MAX); fd > 0 && wanted > 0; fd--)
        wanted -= fcntl((int)fd - 1, F_GETFD) < 0;
    errno = number;
    return wanted <= 0;
}

/* The addresses of a host of which the name may appear only when its container starts. */
static struct addrinfo *find_addresses(const char *host, const char *port, int64_t deadline_ns,
                                       leat_error *err) {
    struct addrinfo *found = NULL;
    for (;;) {
        int code = leati_hosts_find(host, port, &found);
        if (code == 0)
            return found;
        if (leati_stop_check(err) != LEAT_OK)
            return NULL;
        /* Names are in files. */
        if (leati_wire_lacks_descriptors("rank 0 looking up its own address", err))
            return NULL;
        if (leati_now_ns() + AGAIN_MS * 1000000LL >= deadline_ns) {
            leati_fail(
                err, LEAT_UNAVAILABLE,
                "rank 0 listening as \"%s\": %s; set LEAT_LISTEN to an address of this host, or to "
                "\"all\"",
                host, gai_strerror(code));
            return NULL;
        }
        (void)poll(NULL, 0, AGAIN_MS);
    }
}

static void fail_listening(const char *address, const char *host, const char *port,
                           leat_error *err) {
    if (errno == EADDRNOTAVAIL) {
        leati_fail(
            err, LEAT_FAILED_PRECONDITION,
            "rank 0 listening at port %s of \"%s\": \"%s\" is no address of this host, perhaps one "
            "that a router or a container's host translates; set LEAT_LISTEN to an address "
            "of this host, or to \"all\"",
            port, address, host);
        return;
    }
    leati_fail(err, errno == EADDRINUSE ? LEAT_FAILED_PRECONDITION : LEAT_UNAVAILABLE,
               "rank 0 listening at port %s of \"%s\": %s%s", port, address, strerror(errno),
               errno == EADDRINUSE ? "; is another job running with this address?" : "");
}

int leati_wire_listen(const char *address, const char *where, int64_t deadline_ns,
                      int sockets[LEATI_WIRE_LISTENING], leat_error *err) {
    char host[256];
    const char *port = NULL;
    if (split_address(address, host, sizeof host, &port, err) != LEAT_OK)
        return 0;
    bool everywhere = where != NULL && strcmp(where, "all") == 0;
    struct addrinfo *found = NULL;
    if (where != NULL)
        snprintf(host, sizeof host, "%s", where);
    if (!everywhere) {
        found = find_addresses(host, port, deadline_ns, err);
        if (found == NULL)
            return 0;
    }
    int count = 0;
    if (!everywhere)
        count = listen_at_all(found, sockets);
    else if ((sockets[0] = leati_wire_listen_everywhere(atoi(port))) >= 0)
        count = 1;
    if (count == 0 && !leati_wire_lacks_descriptors("rank 0 listening", err))
        fail_listening(address, host, port, err);
    if (found != NULL)
        freeaddrinfo(found);
    return count;
}

int leati_wire_listen_anywhere(const char *host, char *address, size_t size, leat_error *err) {
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};
    struct addrinfo *found = NULL;
    struct sockaddr_storage own;
    socklen_t own_size = sizeof own;
    char port[8] = "";
    if (getaddrinfo(host, "0", &hints, &found) != 0) {
        leati_fail(err, LEAT_UNAVAILABLE, "\"%s\" is no address of this host to listen at", host);
        return -1;
    }
    int listening = leati_wire_listen_at(found->ai_addr, found->ai_addrlen, false);
    freeaddrinfo(found);
    if (listening < 0 || getsockname(listening, (struct sockaddr *)&own, &own_size) != 0 ||
        getnameinfo((const struct sockaddr *)&own, own_size, NULL, 0, port, sizeof port,
                    NI_NUMERICSERV) != 0) {
        if (!leati_wire_lacks_descriptors("listening for others", err))
            leati_fail(err, LEAT_UNAVAILABLE, "listening at %s: %s", host, strerror(errno));
        if (listening >= 0)
            close(listening);
        return -1;
    }
    snprintf(address, size, strchr(host, ':') == NULL ? "%s:%s" : "[%s]:%s", host, port);
    return listening;
}
