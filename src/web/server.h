/* A web page about a program, for whoever may see it: the page itself, its figures by server-sent
 * events, figures for Prometheus, probes, and actions by a button. The server knows no dataset: the
 * owner of the figures says by callbacks what they are, as JSON of the form in web/state.md.
 *
 *     GET  /            the page, or the form that asks for the token
 *     GET  /events      server-sent events: `history`, then `state` about once a second
 *     GET  /state       the same state once, as JSON
 *     GET  /metrics     Prometheus' text format
 *     POST /act         {"action": "drain", "argument": "10.0.0.7:7001"}
 *     POST /login       the form: sets a cookie
 *     GET  /healthz     200 while the server's thread runs: it also calls `state`, so a program
 *                       whose figures can no longer be had does not answer
 *     GET  /readyz      200 where `ready` says so, else 503 with the reason
 *
 * The two probes and the page's own files (no figures are in them) need no token; all else does
 * where one is set, as `Authorization: Bearer TOKEN` or by the cookie of the form. A POST without
 * the header must come from the page itself (`Origin`). Where no token is set, or the server
 * listens on loopback, the name in `Host` must be one of this machine's, so that a page of a
 * stranger's name that leads here reads nothing.
 *
 * Bounds: LEATI_WEB_MOST_CONNECTIONS connections, of which LEATI_WEB_MOST_STREAMS may be streams of
 * events; 32 KiB of request head; LEATI_WEB_MOST_BODY bytes of body; a request that is not complete
 * after LEATI_WEB_REQUEST_MS, and a client that does not take what it asked for as long, lose their
 * connection. */
#ifndef LEATI_WEB_SERVER_H
#define LEATI_WEB_SERVER_H

#include "base/text.h"

enum {
    LEATI_WEB_MOST_CONNECTIONS = 64,
    LEATI_WEB_MOST_STREAMS = 32,
    LEATI_WEB_MOST_BODY = 4096,
    LEATI_WEB_MOST_TOKEN = 1024,  /* bytes of a token */
    LEATI_WEB_MOST_HISTORY = 600, /* points kept for pages that come later */
    LEATI_WEB_REQUEST_MS = 15000,
    LEATI_WEB_INTERVAL_MS = 1000 /* the default of `interval_ms` */
};

/* Where the figures come from. All are called on the server's one thread, one at a time, never
 * after leati_web_close returned; no lock of the server is held. While one runs nobody is answered,
 * so each must return at once: take a lock for moments, do no I/O. `context` is theirs. */
typedef struct leati_web_source {
    void *context;
    /* Appends the present state, one JSON object (web/state.md), to `json`. Called every
     * `interval_ms`, for all pages together, also while there is none: its "totals" become the
     * history. NULL: there is no page; /, /events and /state are 404. What is no JSON object is
     * logged once and shown to nobody. */
    void (*state)(void *context, leati_text *json);
    /* Appends figures for Prometheus (web/metrics.h). NULL: /metrics is 404. */
    void (*metrics)(void *context, leati_text *prometheus);
    /* True: /readyz is 200. False: 503, and what was appended to `why_not` is the answer. NULL:
     * always ready. */
    bool (*ready)(void *context, leati_text *why_not);
    /* Begins an action that the page, or a client with the token, asks for. Both texts are
     * UTF-8 without control characters, `argument` "" where there is none. It must return at once;
     * how far the action has come is shown by the state. INVALID_ARGUMENT and NOT_FOUND become 400
     * and 404, FAILED_PRECONDITION 409, other failures 500, with the error's text. NULL: /act is
     * 404, and pages show no button. */
    leat_status (*act)(void *context, const char *action, const char *argument, leat_error *err);
} leati_web_source;

typedef struct leati_web_options {
    const char *host; /* a name or address to listen on; NULL: loopback alone, by IPv4 */
    int port;         /* 0: any that is free */
    /* What who reads must know, at most LEATI_WEB_MOST_TOKEN printable ASCII characters without
     * blanks; NULL: nothing, everybody who reaches the port may read and act. */
    const char *token;
    /* PEM files of a certificate (with its chain) and its key: both or neither. */
    const char *certificate, *key;
    /* More names that `Host` may have, separated by commas: that of a proxy in front. NULL: none.
     */
    const char *names;
    int interval_ms; /* between two calls of `state`; 0: LEATI_WEB_INTERVAL_MS */
    leati_web_source source;
} leati_web_options;

typedef struct leati_web leati_web;

/* Listens and starts the thread; everything in `options` but the source's context is copied. Owned
 * (leati_web_close). Blocks for the resolution of `host` alone. Fails with INVALID_ARGUMENT
 * (a port, token or certificate that is none), UNAVAILABLE (the port is taken, the host cannot be
 * listened on), NOT_FOUND (no such certificate or key), UNIMPLEMENTED (leat, or libmicrohttpd where
 * a certificate is given, was built without what it needs) and RESOURCE_EXHAUSTED. */
leati_web *leati_web_open(const leati_web_options *options, leat_error *err);

/* The port that it listens on. */
int leati_web_port(const leati_web *web);

/* Where a browser on this machine finds the page, "http://127.0.0.1:8080/". Borrowed. */
const char *leati_web_url(const leati_web *web);

/* Ends: streams and requests in progress are cut, the callback that runs is waited for, the port is
 * free. Not from a callback. NULL: nothing. In a child of fork, which has no thread of the server,
 * it only gives the memory back; the child does not keep the port. */
void leati_web_close(leati_web *web);

#endif
