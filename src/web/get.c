/* One question to a page: see get.h.
 *
 * Happy path: a connection of its own, the request in one write, the answer to the end of the
 * connection, which HTTP/1.0 asks for. Failure modes: each wait ends by the one deadline; an answer
 * of more than MOST_BYTES is cut off. No locks. */
#include "web/get.h"
#include "base/clock.h"
#include "base/error.h"
#include "web/server.h"
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST_BYTES = 64 << 20, REQUEST = LEATI_WEB_MOST_TOKEN + 512 };

typedef struct asking {
    const char *url;
    int socket;
    int64_t end_ns;
} asking;

static leat_status is_away(const asking *a, leat_error *err) {
    return leati_fail(err, LEAT_UNAVAILABLE, "%s does not answer: %s", a->url, strerror(errno));
}

/* Waits until the socket is ready for `events`. */
static leat_status wait_for(const asking *a, short events, leat_error *err) {
    struct pollfd polled = {.fd = a->socket, .events = events};
    for (;;) {
        int64_t left_ms = (a->end_ns - leati_now_ns()) / 1000000;
        int ready = left_ms < 0 ? 0 : poll(&polled, 1, (int)left_ms + 1);
        if (ready > 0)
            return LEAT_OK;
        if (ready == 0)
            return leati_fail(err, LEAT_DEADLINE_EXCEEDED, "%s did not answer in time", a->url);
        if (errno != EINTR)
            return is_away(a, err);
    }
}

static leat_status join(const asking *a, int port, leat_error *err) {
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    int failed = 0;
    socklen_t size = sizeof failed;
    if (connect(a->socket, (struct sockaddr *)&to, sizeof to) == 0)
        return LEAT_OK;
    if (errno != EINPROGRESS)
        return is_away(a, err);
    LEATI_TRY(wait_for(a, POLLOUT, err));
    (void)getsockopt(a->socket, SOL_SOCKET, SO_ERROR, &failed, &size);
    errno = failed;
    return failed == 0 ? LEAT_OK : is_away(a, err);
}

static leat_status ask(const asking *a, const char *request, size_t size, leat_error *err) {
    for (size_t sent = 0; sent < size;) {
        ssize_t n = send(a->socket, request + sent, size - sent, MSG_NOSIGNAL);
        if (n > 0)
            sent += (size_t)n;
        else if (errno == EAGAIN)
            LEATI_TRY(wait_for(a, POLLOUT, err));
        else if (errno != EINTR)
            return is_away(a, err);
    }
    return LEAT_OK;
}

static leat_status hear(const asking *a, leati_text *answer, leat_error *err) {
    char part[16384];
    for (;;) {
        ssize_t n = recv(a->socket, part, sizeof part, 0);
        if (n == 0)
            return answer->failed ? leati_no_memory(err) : LEAT_OK;
        if (n > 0)
            leati_text_add(answer, part, (size_t)n);
        else if (errno == EAGAIN)
            LEATI_TRY(wait_for(a, POLLIN, err));
        else if (errno != EINTR)
            return is_away(a, err);
        if (answer->size > MOST_BYTES)
            return leati_fail(err, LEAT_UNKNOWN, "%s answers with more than %d bytes", a->url,
                              MOST_BYTES);
    }
}

/* The answer without its head. */
static leat_status take_body(const asking *a, const leati_text *answer, leati_text *out,
                             leat_error *err) {
    const char *head = answer->size > 0 ? answer->data : "", *body = strstr(head, "\r\n\r\n");
    if (answer->size == 0)
        return leati_fail(err, LEAT_UNAVAILABLE, "%s ended the connection", a->url);
    /* "HTTP/1.1 200 OK" */
    long code = body != NULL && strncmp(head, "HTTP/1.", 7) == 0 ? strtol(head + 9, NULL, 10) : 0;
    if (code == 0)
        return leati_fail(err, LEAT_UNKNOWN, "what answers at %s is no page", a->url);
    if (code == 401)
        return leati_fail(err, LEAT_UNAUTHENTICATED, "%s asks for a token that it was not shown",
                          a->url);
    if (code == 503)
        return leati_fail(err, LEAT_UNAVAILABLE, "%s has nothing to say yet", a->url);
    if (code != 200)
        return leati_fail(err, LEAT_UNKNOWN, "%s answers with status %ld", a->url, code);
    leati_text_add(out, body + 4, answer->size - (size_t)(body + 4 - head));
    return out->failed ? leati_no_memory(err) : LEAT_OK;
}

/* The lines of the request; INVALID_ARGUMENT for a token that would be more than one of them. */
static leat_status write_request(char *out, const char *path, int port, const char *token,
                                 leat_error *err) {
    for (const char *at = token; at != NULL && *at != '\0'; at++)
        if (*at <= ' ' || *at > '~' || at - token >= LEATI_WEB_MOST_TOKEN)
            return leati_refuse(err, VALUE,
                                "expected a token of at most %d printable ASCII characters without "
                                "blanks",
                                LEATI_WEB_MOST_TOKEN);
    (void)snprintf(out, REQUEST, "GET /%.100s HTTP/1.0\r\nHost: 127.0.0.1:%d\r\n%s%s%s\r\n", path,
                   port, token != NULL ? "Authorization: Bearer " : "", token != NULL ? token : "",
                   token != NULL ? "\r\n" : "");
    return LEAT_OK;
}

leat_status leati_web_get(const char *url, const char *path, const char *token, int timeout_ms,
                          leati_text *out, leat_error *err) {
    static const char scheme[] = "http://127.0.0.1:";
    char request[REQUEST], *end = NULL;
    leati_text answer = {0};
    bool local = strncmp(url, scheme, sizeof scheme - 1) == 0;
    long port = local ? strtol(url + sizeof scheme - 1, &end, 10) : 0;
    if (port < 1 || port > 65535 || strcmp(end, "/") != 0)
        return leati_refuse(err, VALUE, "\"%.100s\" is no page of this machine", url);
    LEATI_TRY(write_request(request, path, (int)port, token, err));
    asking a = {.url = url,
                .socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0),
                .end_ns = leati_clock_deadline_ns(timeout_ms)};
    if (a.socket < 0)
        return leati_fail(err, LEAT_RESOURCE_EXHAUSTED, "no socket: %s", strerror(errno));
    leat_status status = join(&a, (int)port, err);
    if (status == LEAT_OK)
        status = ask(&a, request, strlen(request), err);
    if (status == LEAT_OK)
        status = hear(&a, &answer, err);
    if (status == LEAT_OK)
        status = take_body(&a, &answer, out, err);
    (void)close(a.socket);
    leati_text_fini(&answer);
    return status;
}
