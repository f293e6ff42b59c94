/* The serving side of coll/store.h, in rank 0's process. */
#ifndef LEATI_COLL_STORE_SERVER_H
#define LEATI_COLL_STORE_SERVER_H

#include "coll/store.h"

typedef struct leati_store_server leati_store_server;

/* Listens at the options' address and serves from a thread of its own. Owned. */
leati_store_server *leati_store_server_start(const leati_store_options *options, leat_error *err);
/* Waits until every rank has gone, `dead_ms` at most, then ends the thread and closes. NULL is
 * allowed. */
void leati_store_server_stop(leati_store_server *server);

#endif
