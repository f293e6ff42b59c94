/* Names of hosts; see hosts.h. Where nobody may stop the thread, and without memory,
 * they are looked up here. No failures but those of
 * getaddrinfo, no locks. */
#include "run/hosts.h"

#include "base/alloc.h"
#include "base/stop.h"
#include "run/apart.h"
#include <stdio.h>
#include <sys/socket.h>

typedef struct lookup {
    char host[256], port[16];
    struct addrinfo *found;
    int code;
} lookup;

static int ask(const char *host, const char *port, struct addrinfo **out) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    return getaddrinfo(host, port, &hints, out);
}

static void run_lookup(void *job) {
    lookup *l = job;
    l->code = ask(l->host, l->port, &l->found);
}

static void drop_lookup(void *job) {
    lookup *l = job;
    if (l->found != NULL)
        freeaddrinfo(l->found);
    leati_free(l);
}

int leati_hosts_find(const char *host, const char *port, struct addrinfo **out) {
    lookup *l = leati_stop_may_come() ? leati_alloc_zero(1, sizeof *l) : NULL;
    *out = NULL;
    if (l == NULL)
        return ask(host, port, out);
    snprintf(l->host, sizeof l->host, "%s", host);
    snprintf(l->port, sizeof l->port, "%s", port);
    if (!leati_apart_run(run_lookup, drop_lookup, l))
        return EAI_AGAIN;
    int code = l->code;
    *out = l->found;
    leati_free(l);
    return code;
}
