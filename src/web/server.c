/* Opening, the thread, and the end: see server.h.
 *
 * Happy path: a socket listens, a thread waits for it, for libmicrohttpd's own epoll descriptor and
 * for the end, and turns the server; everything else happens inside of a turn, on that thread. So
 * nothing but the lists that forks read has a lock. Failure modes: what the options say is wrong;
 * the port is taken; no memory. Locks: the pages' (connections.c), a leaf. */
#include "web/server.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/minmax.h"
#include "web/parts.h"
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST_FILE = 1 << 20, HEAD_BYTES = 32768, BACKLOG = 64 };

leati_module leati_web_http_module = {
    .file = "libleat_http.so", .library = "libmicrohttpd", .size = sizeof(leati_web_http)};

/* ---- the parts of a server ---- */

/* The text of a PEM file. Owned. */
static char *read_file(const char *path, const char *what, leat_error *err) {
    leati_text text = {0};
    char piece[4096];
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        (void)leati_fail(err, LEAT_NOT_FOUND, "the %s of the web page, %s, cannot be read: %s",
                         what, path, strerror(errno));
        return NULL;
    }
    for (size_t size = 1; size > 0 && text.size <= MOST_FILE;) {
        size = fread(piece, 1, sizeof piece, file);
        leati_text_add(&text, piece, size);
    }
    bool bad = ferror(file) != 0 || text.size == 0 || text.size > MOST_FILE;
    (void)fclose(file);
    char *all = bad ? NULL : leati_text_take(&text);
    if (bad)
        (void)leati_refuse(err, VALUE, "the %s of the web page, %s, is no PEM file", what, path);
    else if (all == NULL)
        (void)leati_no_memory(err);
    leati_text_fini(&text);
    return all;
}

static leat_status check_options(const leati_web_options *o, leat_error *err) {
    if (o->port < 0 || o->port > 65535)
        return leati_refuse(err, VALUE, "the port of the web page is %d; expected 0 to 65535",
                            o->port);
    if (o->interval_ms < 0)
        return leati_refuse(err, VALUE, "the interval of the web page is %d ms; expected 0 or more",
                            o->interval_ms);
    if ((o->certificate == NULL) != (o->key == NULL))
        return leati_refuse(err, VALUE, "the web page has a %s and no %s; expected both or neither",
                            o->key == NULL ? "certificate" : "key",
                            o->key == NULL ? "key" : "certificate");
    if (o->certificate != NULL && MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "this libmicrohttpd was built without TLS; leave the certificate out, or "
                          "put a proxy in front");
    return LEAT_OK;
}

static leat_status start_daemon(leati_web *web, const leati_web_options *o, leat_error *err) {
    unsigned int flags = MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME;
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, web->certificate},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, web->key},
        {MHD_OPTION_END, 0, NULL},
    };
    struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
    if (web->certificate != NULL)
        flags |= MHD_USE_TLS;
    web->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, leati_web_answer, web, /* whoever comes is taken by leati_web_adopt */
        MHD_OPTION_CONNECTION_LIMIT, (unsigned int)LEATI_WEB_MOST_CONNECTIONS + 1,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEAD_BYTES, MHD_OPTION_NOTIFY_CONNECTION,
        leati_web_connection_notify, web, MHD_OPTION_NOTIFY_COMPLETED, leati_web_answered, web,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_ARRAY, web->certificate != NULL ? tls : none,
        MHD_OPTION_END);
    if (web->daemon != NULL)
        return LEAT_OK;
    if (web->certificate != NULL)
        return leati_refuse(err, VALUE,
                            "libmicrohttpd takes no certificate and key of %s and %s; expected a "
                            "PEM chain and its key without a password",
                            o->certificate, o->key);
    return leati_fail(err, LEAT_RESOURCE_EXHAUSTED,
                      "libmicrohttpd cannot start: no memory or "
                      "descriptors are left");
}

static bool is_loopback(const struct sockaddr_storage *address) {
    if (address->ss_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 == 127;
    return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)address)->sin6_addr);
}

leati_web *leati_web_new(const leati_web_options *options, leat_error *err) {
    const leati_web_options *o = options;
    if (leati_module_load(&leati_web_http_module, err) != LEAT_OK ||
        check_options(o, err) != LEAT_OK)
        return NULL;
    leati_web *web = leati_alloc_zero(1, sizeof *web);
    if (web == NULL) {
        (void)leati_no_memory(err);
        return NULL;
    }
    web->listener = web->wake = -1;
    web->source = o->source;
    web->interval_ms = o->interval_ms > 0 ? o->interval_ms : LEATI_WEB_INTERVAL_MS;
    leati_web_enlist(web);
    if (leati_web_access_init(&web->access, o->token, o->host, o->names, true, err) != LEAT_OK)
        goto fail;
    leati_web_access_port(&web->access, o->port);
    if (o->certificate != NULL) {
        web->certificate = read_file(o->certificate, "certificate", err);
        web->key = web->certificate != NULL ? read_file(o->key, "key", err) : NULL;
        if (web->key == NULL)
            goto fail;
    }
    if (start_daemon(web, o, err) == LEAT_OK)
        return web;
fail:
    leati_web_free(web);
    return NULL;
}

void leati_web_free(leati_web *web) {
    if (web == NULL)
        return;
    atomic_store(&web->stopping, true);
    /* A child of fork has closed the sockets, and libmicrohttpd's epoll is the parent's. */
    if (!web->forked) {
        if (web->daemon != NULL) {
            leati_web_streams_end(web);
            (void)MHD_run(web->daemon);
            MHD_stop_daemon(web->daemon);
        }
        /* A child that has just been forked may have it still. */
        if (web->listener >= 0) {
            (void)shutdown(web->listener, SHUT_RDWR);
            close(web->listener);
        }
        if (web->wake >= 0)
            close(web->wake);
    }
    leati_web_delist(web);
    leati_web_access_fini(&web->access);
    leati_free(web->certificate);
    leati_free(web->key);
    leati_free(web->state);
    leati_free(web);
}

/* ---- turning ---- */

/* Waits until somebody comes, has sent something, or the time is over. */
static void wait_for(const leati_web *web, int wait_ms) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(web->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    bool takes = web->num_connections < LEATI_WEB_MOST_CONNECTIONS;
    struct pollfd waiting[] = {{.fd = info->epoll_fd, .events = POLLIN},
                               {.fd = web->wake, .events = POLLIN},
                               {.fd = takes ? web->listener : -1, .events = POLLIN}};
    MHD_UNSIGNED_LONG_LONG soon = 0;
    if (MHD_get_timeout(web->daemon, &soon) == MHD_YES && soon < (unsigned int)wait_ms)
        wait_ms = (int)soon;
    (void)poll(waiting, 3, wait_ms);
}

void leati_web_turn(leati_web *web, int64_t now_ns, int wait_ms) {
    web->now_ns = now_ns;
    wait_for(web, wait_ms);
    if (web->listener >= 0)
        leati_web_accept(web);
    if (now_ns >= web->next_ns) {
        web->next_ns = now_ns + web->interval_ms * INT64_C(1000000);
        leati_web_sample(web);
    }
    leati_web_connections_check(web);
    (void)MHD_run(web->daemon);
}

static void serve(void *context) {
    leati_web *web = context;
    while (!atomic_load(&web->stopping)) {
        int64_t now = leati_now_ns(), left_ms = (web->next_ns - now) / 1000000 + 1;
        leati_web_turn(web, now, (int)LEATI_MAX(0, LEATI_MIN(left_ms, web->interval_ms)));
    }
}

/* ---- listening ---- */

static void say_address(leati_web *web, const struct sockaddr_storage *address) {
    char host[256] = "127.0.0.1", port[16] = "";
    bool six = address->ss_family == AF_INET6;
    const struct in6_addr *ip6 = &((const struct sockaddr_in6 *)address)->sin6_addr;
    bool any = six ? IN6_IS_ADDR_UNSPECIFIED(ip6)
                   : ((const struct sockaddr_in *)address)->sin_addr.s_addr == htonl(INADDR_ANY);
    (void)getnameinfo((const struct sockaddr *)address, sizeof *address, any ? NULL : host,
                      any ? 0 : sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV);
    web->port = atoi(port);
    snprintf(web->url, sizeof web->url, six && !any ? "%s://[%s]:%d/" : "%s://%s:%d/",
             web->certificate != NULL ? "https" : "http", host, web->port);
}

/* Binds and listens to one address; false with errno. */
static bool listen_at(leati_web *web, const struct addrinfo *at) {
    int yes = 1, no = 0;
    web->listener = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (web->listener < 0)
        return false;
    (void)setsockopt(web->listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (at->ai_family == AF_INET6)
        (void)setsockopt(web->listener, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
    if (bind(web->listener, at->ai_addr, at->ai_addrlen) == 0 &&
        listen(web->listener, BACKLOG) == 0)
        return true;
    int why = errno;
    close(web->listener);
    web->listener = -1;
    errno = why;
    return false;
}

static leat_status listen_on(leati_web *web, const leati_web_options *o, leat_error *err) {
    const struct addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    const char *host = o->host != NULL ? o->host : "127.0.0.1";
    struct addrinfo *found = NULL;
    char port[16];
    snprintf(port, sizeof port, "%d", o->port);
    int failed = getaddrinfo(host, port, &hints, &found);
    if (failed != 0)
        return leati_fail(err, LEAT_UNAVAILABLE, "the web page cannot listen on %s: %s", host,
                          gai_strerror(failed));
    bool listens = false;
    for (const struct addrinfo *at = found; at != NULL && !listens; at = at->ai_next)
        listens = listen_at(web, at);
    int why = errno;
    freeaddrinfo(found);
    if (!listens)
        return leati_fail(err, LEAT_UNAVAILABLE,
                          "the web page cannot listen on port %d of %s: %s; take another port, or "
                          "0 for any that is free",
                          o->port, host, strerror(why));
    struct sockaddr_storage bound = {0};
    socklen_t size = sizeof bound;
    (void)getsockname(web->listener, (struct sockaddr *)&bound, &size);
    say_address(web, &bound);
    leati_web_access_port(&web->access, web->port);
    web->access.checks_host = !web->access.guarded || is_loopback(&bound);
    return LEAT_OK;
}

leati_web *leati_web_open(const leati_web_options *options, leat_error *err) {
    leati_web *web = leati_web_new(options, err);
    if (web == NULL)
        return NULL;
    if (listen_on(web, options, err) != LEAT_OK)
        goto fail;
    web->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (web->wake < 0) {
        (void)leati_fail(err, LEAT_RESOURCE_EXHAUSTED, "the web page has no descriptor left: %s",
                         strerror(errno));
        goto fail;
    }
    web->next_ns = leati_now_ns();
    if (leati_thread_start(&web->thread, "leat web", serve, web, err) != LEAT_OK)
        goto fail;
    web->has_thread = true;
    return web;
fail:
    leati_web_free(web);
    return NULL;
}

int leati_web_port(const leati_web *web) {
    return web->port;
}

const char *leati_web_url(const leati_web *web) {
    return web->url;
}

void leati_web_close(leati_web *web) {
    if (web == NULL)
        return;
    if (web->has_thread && !web->forked) {
        const uint64_t one = 1;
        atomic_store(&web->stopping, true);
        (void)!write(web->wake, &one, sizeof one);
        pthread_join(web->thread.handle, NULL);
    }
    leati_web_free(web);
}
