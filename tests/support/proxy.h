/* A network in user space: what connects through it can be held, slowed down, cut and half-closed.
 * After cmocka.h.
 *
 * proxy_open makes the listening socket, so that processes can be forked with its address;
 * proxy_run starts the thread that forwards; proxy_set changes what it does, from any thread;
 * proxy_close ends it. With `relay` the proxy looks for addresses of gloo in what passes, and puts
 * addresses of its own in their places, so that all connections of the process behind it come
 * through: what that process publishes becomes 127.0.0.2, where nobody listens, and what it reads
 * becomes 0.0.0.0 with a port of the proxy. gloo connects from the larger address to the smaller
 * one. */
#ifndef LEATI_TESTS_PROXY_H
#define LEATI_TESTS_PROXY_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

typedef enum proxy_mode {
    PROXY_PASS = 0,
    PROXY_SLOW, /* 64 KiB a millisecond in each direction at most */
    PROXY_HOLD, /* nothing passes, nothing breaks */
    PROXY_HALF, /* nothing passes from the process behind the proxy, whose peers see an end */
    PROXY_CUT   /* every connection is reset, and later ones too */
} proxy_mode;

enum { PROXY_MOST = 64, PROXY_CHUNK = 1 << 16 };

/* One connection: `inner` leads to the process behind the proxy, `outer` to its peer. */
typedef struct proxy_link {
    int inner, outer; /* -1: closed */
    bool halved;
} proxy_link;

typedef struct proxy {
    bool relay;
    int num_listening, num_links;
    int listening[PROXY_MOST];
    uint16_t target[PROXY_MOST]; /* ports of 127.0.0.1 */
    proxy_link links[PROXY_MOST];
    int wake[2];
    atomic_int mode;
    atomic_bool stop;
    pthread_t thread;
} proxy;

/* A listening port for connections to `target`; returns it. */
static inline uint16_t proxy_listen(proxy *p, uint16_t target) {
    for (int i = 0; i < p->num_listening; i++) {
        struct sockaddr_in known = {0};
        socklen_t length = sizeof known;
        if (p->target[i] == target &&
            getsockname(p->listening[i], (struct sockaddr *)&known, &length) == 0)
            return ntohs(known.sin_port);
    }
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof at;
    int listening = socket(AF_INET, SOCK_STREAM, 0);
    if (p->num_listening == PROXY_MOST || bind(listening, (struct sockaddr *)&at, sizeof at) != 0 ||
        getsockname(listening, (struct sockaddr *)&at, &length) != 0 ||
        listen(listening, PROXY_MOST) != 0) {
        perror("proxy");
        exit(1);
    }
    p->target[p->num_listening] = target;
    p->listening[p->num_listening++] = listening;
    return ntohs(at.sin_port);
}

/* `address` is where the process behind the proxy connects instead of to `target`, "host:port".
 * False, and nothing is open: the proxy was given the very port of the target, which was free. */
static inline bool proxy_open(proxy *p, const char *target, bool relay, char *address,
                              size_t size) {
    *p = (proxy){.relay = relay};
    uint16_t port = (uint16_t)atoi(strrchr(target, ':') + 1), mine = proxy_listen(p, port);
    if (mine == port || pipe(p->wake) != 0) {
        close(p->listening[0]);
        return false;
    }
    snprintf(address, size, "127.0.0.1:%d", mine);
    return true;
}

/* Connects to a target, which may need a moment to listen; -1: it does not. */
static inline int proxy_connect(uint16_t port) {
    struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    for (int tries = 0; tries < 1000; tries++) {
        int outer = socket(AF_INET, SOCK_STREAM, 0), one = 1;
        if (connect(outer, (struct sockaddr *)&at, sizeof at) == 0) {
            setsockopt(outer, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
            return outer;
        }
        close(outer);
        (void)poll(NULL, 0, 10);
    }
    return -1;
}

static inline void proxy_accept(proxy *p, int index) {
    int one = 1, inner = accept(p->listening[index], NULL, NULL);
    bool open = inner >= 0 && p->num_links < PROXY_MOST && atomic_load(&p->mode) != PROXY_CUT;
    int outer = open ? proxy_connect(p->target[index]) : -1;
    if (outer < 0) {
        if (inner >= 0)
            close(inner);
        return;
    }
    setsockopt(inner, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    p->links[p->num_links++] = (proxy_link){.inner = inner, .outer = outer};
}

/* An address of gloo is a struct sockaddr_in somewhere in a message; its size does not change. */
static inline void proxy_relay(proxy *p, unsigned char *bytes, size_t size, bool outgoing) {
    const unsigned char family[2] = {AF_INET & 0xff, AF_INET >> 8}, host[4] = {127, 0, 0, 1};
    for (size_t i = 0; i + 8 <= size; i++) {
        if (memcmp(bytes + i, family, 2) != 0 || memcmp(bytes + i + 4, host, 4) != 0)
            continue;
        if (outgoing) {
            bytes[i + 7] = 2;
            continue;
        }
        uint16_t port = proxy_listen(p, (uint16_t)(bytes[i + 2] << 8 | bytes[i + 3]));
        bytes[i + 2] = (unsigned char)(port >> 8);
        bytes[i + 3] = (unsigned char)port;
        memset(bytes + i + 4, 0, 4);
    }
}

static inline void proxy_end(proxy_link *link, bool reset) {
    struct linger hard = {.l_onoff = 1, .l_linger = 0};
    int *sockets[2] = {&link->inner, &link->outer};
    for (int i = 0; i < 2; i++) {
        if (*sockets[i] >= 0 && reset)
            setsockopt(*sockets[i], SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
        if (*sockets[i] >= 0)
            close(*sockets[i]);
        *sockets[i] = -1;
    }
}

/* Moves what has come from one side to the other. */
static inline void proxy_forward(proxy *p, proxy_link *link, bool outgoing) {
    static _Thread_local unsigned char bytes[PROXY_CHUNK];
    int from = outgoing ? link->inner : link->outer, to = outgoing ? link->outer : link->inner;
    ssize_t got = recv(from, bytes, sizeof bytes, 0);
    if (got <= 0) {
        proxy_end(link, got < 0);
        return;
    }
    if (p->relay)
        proxy_relay(p, bytes, (size_t)got, outgoing);
    for (ssize_t at = 0; at < got;) {
        ssize_t sent = send(to, bytes + at, (size_t)(got - at), MSG_NOSIGNAL);
        if (sent < 0) {
            proxy_end(link, true);
            return;
        }
        at += sent;
    }
}

/* What to wait for; links that the mode ends are ended. */
static inline int proxy_watch(proxy *p, proxy_mode mode, struct pollfd *polled) {
    bool passes = mode == PROXY_PASS || mode == PROXY_SLOW;
    int count = 0;
    polled[count++] = (struct pollfd){.fd = p->wake[0], .events = POLLIN};
    for (int i = 0; i < p->num_listening; i++)
        polled[count++] = (struct pollfd){.fd = p->listening[i], .events = POLLIN};
    for (int i = 0; i < p->num_links; i++) {
        proxy_link *link = &p->links[i];
        if (mode == PROXY_CUT)
            proxy_end(link, true);
        if (mode == PROXY_HALF && !link->halved && link->outer >= 0)
            link->halved = shutdown(link->outer, SHUT_WR) == 0;
        polled[count++] = (struct pollfd){.fd = passes ? link->inner : -1, .events = POLLIN};
        polled[count++] = (struct pollfd){.fd = passes || mode == PROXY_HALF ? link->outer : -1,
                                          .events = POLLIN};
    }
    return count;
}

static inline void *proxy_main(void *context) {
    proxy *p = context;
    while (!atomic_load(&p->stop)) {
        proxy_mode mode = (proxy_mode)atomic_load(&p->mode);
        struct pollfd polled[1 + PROXY_MOST * 3];
        int links = p->num_links, listening = p->num_listening;
        int count = proxy_watch(p, mode, polled);
        if (poll(polled, (nfds_t)count, -1) < 0)
            continue;
        char one;
        if (polled[0].revents != 0 && read(p->wake[0], &one, 1) == 1)
            continue; /* the mode has changed */
        for (int i = 0; i < links; i++) {
            for (int side = 0; side < 2; side++)
                if (polled[1 + listening + 2 * i + side].revents != 0 && p->links[i].inner >= 0)
                    proxy_forward(p, &p->links[i], side == 0);
        }
        for (int i = 0; i < listening; i++)
            if (polled[1 + i].revents != 0)
                proxy_accept(p, i);
        if (mode == PROXY_SLOW)
            (void)poll(NULL, 0, 1);
    }
    return NULL;
}

static inline void proxy_run(proxy *p) {
    if (pthread_create(&p->thread, NULL, proxy_main, p) != 0)
        exit(1);
}

static inline void proxy_set(proxy *p, proxy_mode mode) {
    atomic_store(&p->mode, mode);
    (void)!write(p->wake[1], "", 1);
}

static inline void proxy_close(proxy *p) {
    atomic_store(&p->stop, true);
    (void)!write(p->wake[1], "", 1);
    pthread_join(p->thread, NULL);
    for (int i = 0; i < p->num_links; i++)
        proxy_end(&p->links[i], true);
    for (int i = 0; i < p->num_listening; i++)
        close(p->listening[i]);
    close(p->wake[0]);
    close(p->wake[1]);
}

#endif
