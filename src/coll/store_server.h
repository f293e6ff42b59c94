/* The serving side of coll/store.h, in rank 0's process. */
#ifndef LEATI_COLL_STORE_SERVER_H
#define LEATI_COLL_STORE_SERVER_H

#include "coll/store.h"

typedef struct leati_store_server leati_store_server;

/* Listens at the options' address and serves from a thread of its own. *own (the caller's) becomes
 * a connection to it for rank 0, which is there before anybody else's can be. Owned. */
leati_store_server *leati_store_server_start(const leati_store_options *options, int *own,
                                             leat_error *err);
/* Waits until every rank has gone, `dead_ms` at most, then ends the thread and closes. NULL is
 * allowed. */
void leati_store_server_stop(leati_store_server *server);

/* The same without a thread and without a listening socket, for tests that give it its connections.
 * Owned, until leati_store_server_free. */
leati_store_server *leati_store_server_new(const leati_store_options *options, leat_error *err);
void leati_store_server_free(leati_store_server *server);
/* A connection (given) of somebody who has not greeted. */
LEAT_WARN_UNUSED leat_status leati_store_server_adopt(leati_store_server *server, int connection,
                                                      leat_error *err);
/* Has every rank gone that is still waited for? */
bool leati_store_server_deserted(const leati_store_server *server);
/* Waits `wait_ms` at most until something has come, and serves it. */
void leati_store_server_turn(leati_store_server *server, int wait_ms);

#endif
