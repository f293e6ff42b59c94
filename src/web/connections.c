/* Who is connected, for how long, and what a fork does to them: see parts.h.
 *
 * libmicrohttpd has a deadline for silence alone, by which a client that sends a byte now and then
 * stays for ever; so each connection has one for its whole request, and one for each event that is
 * sent to it. A connection that is cut is shut down, and libmicrohttpd finds it closed.
 *
 * A child of fork has neither thread nor any use for the sockets, and would keep them open beyond
 * the parent's end: it closes them. The lists' lock is held across the fork, and else only while a
 * list changes. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fork.h"
#include "web/parts.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static leati_web *servers; /* under the lock */

void leati_web_lock(void) {
    pthread_mutex_lock(&lock);
}

void leati_web_unlock(void) {
    pthread_mutex_unlock(&lock);
}

void leati_web_connection_notify(void *context, struct MHD_Connection *connection, void **record,
                                 enum MHD_ConnectionNotificationCode code) {
    leati_web *web = context;
    leati_web_connection *c = *record;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        c = leati_alloc_zero(1, sizeof *c);
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        if (c == NULL) {
            /* Nobody could end it in time, so it ends now. */
            shutdown(info->connect_fd, SHUT_RDWR);
            return;
        }
        *c = (leati_web_connection){
            .web = web,
            .connection = connection,
            .descriptor = info->connect_fd,
            .deadline_ns = web->now_ns + LEATI_WEB_REQUEST_MS * INT64_C(1000000),
        };
        leati_web_lock();
        c->next = web->connections;
        if (c->next != NULL)
            c->next->previous = c;
        web->connections = c;
        web->num_connections++;
        leati_web_unlock();
        *record = c;
    } else if (c != NULL) {
        leati_web_lock();
        *(c->previous != NULL ? &c->previous->next : &web->connections) = c->next;
        if (c->next != NULL)
            c->next->previous = c->previous;
        web->num_connections--;
        leati_web_unlock();
        web->num_streams -= c->streams;
        leati_web_event_drop(c->event);
        leati_free(c);
        *record = NULL;
    }
}

leati_web_connection *leati_web_connection_of(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info != NULL ? info->socket_context : NULL;
}

void leati_web_connections_check(leati_web *web) {
    for (leati_web_connection *c = web->connections; c != NULL; c = c->next)
        if (c->deadline_ns <= web->now_ns)
            shutdown(c->descriptor, SHUT_RDWR);
}

leat_status leati_web_adopt(leati_web *web, int descriptor, leat_error *err) {
    const struct sockaddr_in nowhere = {.sin_family = AF_INET,
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (web->num_connections >= LEATI_WEB_MOST_CONNECTIONS) {
        close(descriptor);
        return leati_fail(err, LEAT_RESOURCE_EXHAUSTED, "the web page has %d connections already",
                          web->num_connections);
    }
    /* Events are small and wait for nothing. */
    int yes = 1;
    (void)setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    /* Closes the socket where it fails. */
    if (MHD_add_connection(web->daemon, descriptor, (const struct sockaddr *)&nowhere,
                           sizeof nowhere) != MHD_YES) {
        return leati_fail(err, LEAT_RESOURCE_EXHAUSTED,
                          "libmicrohttpd takes no further connection");
    }
    return LEAT_OK;
}

void leati_web_accept(leati_web *web) {
    while (web->num_connections < LEATI_WEB_MOST_CONNECTIONS) {
        int descriptor = accept4(web->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (descriptor < 0 && (errno == EINTR || errno == ECONNABORTED))
            continue;
        if (descriptor < 0 || leati_web_adopt(web, descriptor, &(leat_error){0}) != LEAT_OK)
            return;
    }
}

/* ---- all servers, for forks ---- */

void leati_web_enlist(leati_web *web) {
    leati_web_lock();
    web->next = servers;
    if (servers != NULL)
        servers->previous = web;
    servers = web;
    leati_web_unlock();
}

void leati_web_delist(leati_web *web) {
    leati_web_lock();
    *(web->previous != NULL ? &web->previous->next : &servers) = web->next;
    if (web->next != NULL)
        web->next->previous = web->previous;
    leati_web_unlock();
}

static void leave_to_parent(leati_web *web) {
    for (leati_web_connection *c = web->connections; c != NULL; c = c->next)
        close(c->descriptor);
    if (web->listener >= 0)
        close(web->listener);
    if (web->wake >= 0)
        close(web->wake);
    web->forked = true;
}

static void after_fork(bool child) {
    for (leati_web *web = child ? servers : NULL; web != NULL; web = web->next)
        if (!web->forked)
            leave_to_parent(web);
    leati_web_unlock();
}

LEATI_FORK_PART(pages, leati_web_lock, after_fork);
