/* Hosts that are names, for the protocol "tcp"; see bulk.h.
 *
 * Happy path: an address that is written in numbers is taken as it is; else a thread asks the
 * system, and the stream's waits for it, for its own end, and for a deadline. Failures: UNAVAILABLE
 * for a name that nobody knows, or not in time. The system may take long where no server of names
 * answers: then the thread is left to itself, and what it finds goes with the last of both. No
 * locks. */
#include "service/transport/bulk.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "run/thread.h"
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct lookup {
    atomic_int references; /* the stream's thread, and the one that asks */
    leati_thread thread;
    char *host, service[16];
    int done; /* an event descriptor */
    int failed;
    struct addrinfo *found; /* of who asks, until `done` says that it is there */
} lookup;

static void unref(lookup *l) {
    if (atomic_fetch_sub(&l->references, 1) != 1)
        return;
    if (l->found != NULL)
        freeaddrinfo(l->found);
    if (l->done >= 0)
        close(l->done);
    leati_free(l->host);
    leati_free(l);
}

static int look_up(const char *host, const char *service, int flags, struct addrinfo **out) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV | flags};
    return getaddrinfo(host, service, &hints, out);
}

static void lookup_main(void *context) {
    const uint64_t one = 1;
    lookup *l = context;
    l->failed = look_up(l->host, l->service, 0, &l->found);
    (void)!write(l->done, &one, sizeof one);
    unref(l);
}

/* With a thread that asks; NULL: there is none. */
static lookup *begin(const char *host, const char *service, leat_error *err) {
    lookup *l = leati_alloc_zero(1, sizeof *l);
    if (l == NULL) {
        (void)leati_no_memory(err);
        return NULL;
    }
    atomic_init(&l->references, 2);
    (void)snprintf(l->service, sizeof l->service, "%s", service);
    l->host = leati_strdup(host);
    l->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    leat_status status = l->host == NULL ? leati_no_memory(err) : LEAT_OK;
    if (status == LEAT_OK && l->done < 0)
        status =
            leati_fail(err, LEAT_UNAVAILABLE, "no descriptor to wait for the host %.200s", host);
    if (status == LEAT_OK)
        status = leati_thread_start(&l->thread, "leat-names", lookup_main, l, err);
    if (status == LEAT_OK)
        return l;
    atomic_store(&l->references, 1);
    unref(l);
    return NULL;
}

/* Until it is done; false: `wake` or the deadline came first. */
static bool wait_for(const lookup *l, int wake) {
    struct pollfd what[] = {{.fd = l->done, .events = POLLIN}, {.fd = wake, .events = POLLIN}};
    int64_t deadline_ns = leati_bulk_greeted_by();
    int ready = -1;
    for (int64_t left = 1; ready < 0 && left > 0;) {
        left = (deadline_ns - leati_now_ns()) / 1000000;
        ready = poll(what, 2, left > 0 ? (int)left : 0);
    }
    return ready > 0 && what[0].revents != 0;
}

struct addrinfo *leati_bulk_find_host(const char *host, int port, int wake, leat_error *err) {
    struct addrinfo *found = NULL;
    char service[16];
    (void)snprintf(service, sizeof service, "%d", port);
    if (look_up(host, service, AI_NUMERICHOST, &found) == 0)
        return found;
    lookup *l = begin(host, service, err);
    if (l == NULL)
        return NULL;
    pthread_t handle = l->thread.handle;
    if (wait_for(l, wake)) {
        pthread_join(handle, NULL);
        found = l->found;
        l->found = NULL;
        if (found == NULL)
            (void)leati_fail(err, LEAT_UNAVAILABLE, "cannot find the host %.200s: %s", host,
                             gai_strerror(l->failed));
    } else {
        pthread_detach(handle);
        (void)leati_fail(err, LEAT_UNAVAILABLE, "the host %.200s was not found in time", host);
    }
    unref(l);
    return found;
}
