/* Listening for connections from other processes, and how they are taken (coll/store_door.h): at
 * most so many in a moment, none while the process has hardly a file descriptor left, and none
 * while strangers wait for what they have cost (strangers.h). gRPC's own listener does not go on
 * after accept has failed for want of a descriptor. */
#ifndef LEATI_SERVICE_TRANSPORT_LISTENER_H
#define LEATI_SERVICE_TRANSPORT_LISTENER_H

#include <leat/base.h>

typedef struct leati_listener leati_listener;

/* Listens on the addresses of a host, or on all of this machine for "all"; nobody is taken yet.
 * Owned (leati_listener_close); NULL with FAILED_PRECONDITION where somebody listens there,
 * INVALID_ARGUMENT where it is no address of this host, RESOURCE_EXHAUSTED without descriptors. */
leati_listener *leati_listener_open(const char *host, int port, leat_error *err);
int leati_listener_port(const leati_listener *listener);
/* Hands each connection, which does not block, to `take` that owns it, on a thread of the
 * listener's, once it has begun to speak HTTP/2, or TLS where that is `secure`. */
LEAT_WARN_UNUSED leat_status leati_listener_start(leati_listener *listener, bool secure,
                                                  void (*take)(void *context, int connection),
                                                  void *context, leat_error *err);
/* Any thread: a call came from this peer, as gRPC writes it, that it may make. */
void leati_listener_know(leati_listener *listener, const char *peer);
/* Listens no more, and waits until `take` has returned. */
void leati_listener_stop(leati_listener *listener);
/* The same, and frees: no call comes any more. NULL does nothing. */
void leati_listener_close(leati_listener *listener);

/* RESOURCE_EXHAUSTED where gRPC would find too few descriptors to begin with. */
LEAT_WARN_UNUSED leat_status leati_listener_check_descriptors(const char *what, leat_error *err);

#endif
