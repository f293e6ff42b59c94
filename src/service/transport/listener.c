/* A listener: the sockets, and a thread that polls them and those who come. Where no descriptor is
 * free whoever has said nothing for longest makes room; where that is nobody, one newcomer is
 * refused in a tenth of a second, and the others wait in the system's queue until some are free.
 * What the thread does is paid for as what strangers cost. It ends when the sockets are shut
 * down. */
#include "service/transport/listener.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "coll/store_door.h"
#include "run/thread.h"
#include "service/transport/strangers.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>

enum {
    MOST_TAKEN = 1000, /* connections in a tenth of a second */
    RESERVE = 16,      /* descriptors for files, databases and gRPC itself */
    FIRST_NEED = 8,    /* descriptors with which gRPC begins; it aborts with fewer than four */
    AGAIN_MS = 100
};

struct leati_listener {
    leati_store_door door;     /* the thread's, once there is one */
    leati_strangers strangers; /* likewise */
    int port;
    void (*take)(void *context, int connection);
    void *context;
    leati_thread thread;
    bool started;
    atomic_bool stops;
};

leat_status leati_listener_check_descriptors(const char *what, leat_error *err) {
    return leati_wire_has_descriptors(FIRST_NEED)
               ? LEAT_OK
               : leati_fail(err, LEAT_RESOURCE_EXHAUSTED,
                            "%s needs %d file descriptors, and this process may open fewer; close "
                            "files, or raise the limit (ulimit -n)",
                            what, FIRST_NEED);
}

/* ---- listening ---- */

static leat_status fail_listening(const char *host, int port, int error, leat_error *err) {
    char reason[100];
    bool taken = error == EADDRINUSE || error == EACCES;
    if (error == EMFILE || error == ENFILE)
        return leati_fail(err, LEAT_RESOURCE_EXHAUSTED,
                          "cannot listen on %s, port %d: no file descriptor is free; raise the "
                          "limit (ulimit -n)",
                          host, port);
    return leati_fail(err, taken ? LEAT_FAILED_PRECONDITION : LEAT_INVALID_ARGUMENT,
                      "cannot listen on %s, port %d: %s%s", host, port,
                      strerror_r(error, reason, sizeof reason),
                      taken ? "; port 0 takes any free one" : "");
}

static int port_of(int listening) {
    struct sockaddr_storage at = {0};
    socklen_t size = sizeof at;
    if (getsockname(listening, (struct sockaddr *)&at, &size) != 0)
        return 0;
    return ntohs(at.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)(void *)&at)->sin6_port
                                          : ((struct sockaddr_in *)(void *)&at)->sin_port);
}

static void set_port(struct sockaddr *at, int port) {
    if (at->sa_family == AF_INET6)
        ((struct sockaddr_in6 *)(void *)at)->sin6_port = htons((uint16_t)port);
    else
        ((struct sockaddr_in *)(void *)at)->sin_port = htons((uint16_t)port);
}

static bool is_before(const struct addrinfo *found, const struct addrinfo *at) {
    while (found != at && (found->ai_addrlen != at->ai_addrlen ||
                           memcmp(found->ai_addr, at->ai_addr, at->ai_addrlen) != 0))
        found = found->ai_next;
    return found != at;
}

/* All addresses of a name get the first one's port. One of them is enough, but none may be another
 * program's: who connects might reach either. 0, or errno of what failed. */
static int listen_at_all(leati_store_door *door, struct addrinfo *found, int port) {
    int error = 0;
    for (struct addrinfo *at = found; at != NULL && door->count < LEATI_WIRE_LISTENING;
         at = at->ai_next) {
        set_port(at->ai_addr, port);
        if (is_before(found, at))
            continue;
        int listening = leati_wire_listen_at(at->ai_addr, at->ai_addrlen, false);
        if (listening >= 0) {
            door->sockets[door->count++] = listening;
            port = port_of(listening);
            set_port(at->ai_addr, port);
        } else if (errno == EADDRINUSE || door->count == 0) {
            error = errno;
        }
    }
    return door->count == 0 || error == EADDRINUSE ? error : 0;
}

static leat_status open_sockets(leati_store_door *door, const char *host, int port,
                                leat_error *err) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *found = NULL;
    if (strcmp(host, "all") == 0) {
        door->sockets[0] = leati_wire_listen_everywhere(port);
        door->count = door->sockets[0] >= 0;
        return door->count > 0 ? LEAT_OK : fail_listening(host, port, errno, err);
    }
    int failed = getaddrinfo(host, NULL, &hints, &found);
    if (failed != 0 && leati_wire_lacks_descriptors("listening", err))
        return LEAT_RESOURCE_EXHAUSTED;
    if (failed != 0)
        return leati_fail(err, LEAT_INVALID_ARGUMENT, "cannot listen on %s, port %d: %s", host,
                          port, gai_strerror(failed));
    int error = listen_at_all(door, found, port);
    freeaddrinfo(found);
    return error == 0 ? LEAT_OK : fail_listening(host, port, error, err);
}

leati_listener *leati_listener_open(const char *host, int port, leat_error *err) {
    leati_listener *listener = leati_alloc_zero(1, sizeof *listener);
    if (listener == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    listener->door = (leati_store_door){.most = MOST_TAKEN, .reserve = RESERVE, .spare = -1};
    listener->strangers.wake = -1;
    atomic_init(&listener->stops, false);
    if (open_sockets(&listener->door, host, port, err) == LEAT_OK &&
        leati_store_door_guard(&listener->door, "listening", err) == LEAT_OK) {
        listener->port = port_of(listener->door.sockets[0]);
        return listener;
    }
    leati_listener_close(listener);
    return NULL;
}

int leati_listener_port(const leati_listener *listener) {
    return listener->port;
}

/* ---- the thread ---- */

/* Takes who waits. Says once that descriptors are lacking. */
static void take_all(leati_listener *listener, bool *told, int64_t now) {
    const int one = 1;
    for (;;) {
        int connection = leati_store_door_accept(&listener->door, now);
        if (connection == LEATI_STORE_DOOR_FULL) {
            /* Several, as looking for free descriptors takes longer than to close them. */
            bool dropped = false;
            for (int i = 0; i < RESERVE && leati_strangers_drop_oldest(&listener->strangers); i++)
                dropped = true;
            if (dropped)
                continue;
            if (!*told)
                LEATI_TELL(SERVICE, WARNING,
                           "connections to port %d are refused: fewer than %d file descriptors are "
                           "free; raise the limit (ulimit -n)",
                           listener->port, RESERVE);
            *told = true;
            leati_store_door_refuse(&listener->door, now, NULL, NULL);
        }
        if (connection < 0)
            return;
        (void)fcntl(connection, F_SETFL, O_NONBLOCK);
        (void)setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        leati_strangers_add(&listener->strangers, connection, now);
    }
}

/* Without events a socket that is shut down still ends the waiting. */
static void serve(void *context) {
    leati_listener *listener = context;
    leati_store_door *door = &listener->door;
    leati_strangers *strangers = &listener->strangers;
    struct pollfd polled[LEATI_WIRE_LISTENING + LEATI_STRANGERS_WAITING + 1];
    bool told = false;
    while (!atomic_load(&listener->stops)) {
        int64_t now = leati_now_ns();
        bool takes = leati_store_door_takes(door, now);
        for (int i = 0; i < door->count; i++)
            polled[i] =
                (struct pollfd){.fd = door->sockets[i], .events = (short)(takes ? POLLIN : 0)};
        int count = leati_strangers_poll(strangers, polled + door->count,
                                         leati_store_door_owes(door, now) == 0);
        bool waits = !takes || leati_strangers_any(strangers);
        (void)poll(polled, (nfds_t)(door->count + count), waits ? AGAIN_MS : -1);
        if (atomic_load(&listener->stops))
            return;
        int64_t begin = leati_clock_thread_ns();
        now = leati_now_ns();
        leati_strangers_tend(strangers, polled + door->count, count, door, now, listener->take,
                             listener->context);
        if (takes)
            take_all(listener, &told, now);
        leati_store_door_charge(door, leati_clock_thread_ns() - begin, now);
    }
}

leat_status leati_listener_start(leati_listener *listener, bool secure,
                                 void (*take)(void *context, int connection), void *context,
                                 leat_error *err) {
    listener->take = take;
    listener->context = context;
    LEATI_TRY(leati_strangers_open(&listener->strangers, secure, err));
    LEATI_TRY(leati_thread_start(&listener->thread, "leat-listener", serve, listener, err));
    listener->started = true;
    return LEAT_OK;
}

void leati_listener_stop(leati_listener *listener) {
    atomic_store(&listener->stops, true);
    for (int i = 0; i < listener->door.count; i++)
        (void)shutdown(listener->door.sockets[i], SHUT_RDWR);
    if (listener->started)
        pthread_join(listener->thread.handle, NULL);
    listener->started = false;
    leati_store_door_close(&listener->door);
}

void leati_listener_close(leati_listener *listener) {
    if (listener == NULL)
        return;
    leati_listener_stop(listener);
    leati_strangers_close(&listener->strangers);
    leati_free(listener);
}

void leati_listener_know(leati_listener *listener, const char *peer) {
    leati_strangers_know(&listener->strangers, peer);
}
