/* Names of hosts, which others look up and may take their time for. */
#ifndef LEATI_RUN_HOSTS_H
#define LEATI_RUN_HOSTS_H

#include <netdb.h>

/* getaddrinfo for streams, of a host of up to 255 bytes and a port or service of up to 15: *out is
 * for freeaddrinfo. The thread may stop meanwhile (base/stop.h): then EAI_AGAIN. */
int leati_hosts_find(const char *host, const char *port, struct addrinfo **out);

#endif
