/* The dispatcher's page, probes and metrics (web/server.h): texts that the dispatcher's thread
 * writes, and the server's thread shows. */
#ifndef LEATI_SERVICE_DISPATCHER_PAGE_H
#define LEATI_SERVICE_DISPATCHER_PAGE_H

#include "service/dispatcher/core.h"
#include "service/transport/transport.h"

typedef struct leati_page leati_page;

typedef struct leati_page_options {
    int port;         /* 0: any free one */
    const char *host; /* NULL: the loopback */
    leati_transport_security security;
    /* Has a worker drain; returns at once. From the server's thread. */
    void (*drain)(void *context, const char *worker);
    void *context;
} leati_page_options;

/* Serves from now on. As leati_web_open. Owned. */
leati_page *leati_page_open(const leati_page_options *options, leat_error *err);
void leati_page_close(leati_page *page); /* NULL is allowed */
int leati_page_port(const leati_page *page);
/* Writes what is shown anew, at most once a second; from the thread that takes turns with `core`.
 * Returns when it wants to be called again. */
int64_t leati_page_write(leati_page *page, leati_core *core, int64_t now_ns);

#endif
