/* A TLS connection between every two processes of a job. */
#ifndef LEATI_COLL_MESH_LINKS_H
#define LEATI_COLL_MESH_LINKS_H

#include "coll/store.h"

/* {-1, NULL} for the rank itself. */
typedef struct leati_mesh_link {
    int socket;
    leati_tls *tls;
} leati_mesh_link;

/* Connects this rank with all others by `timeout_ms`. `links` has a place for each rank; they are
 * to be closed also after a failure. The job's store has TLS. */
LEAT_WARN_UNUSED leat_status leati_mesh_links_open(leati_mesh_link *links, leati_store *store,
                                                   int rank, int num_ranks, int64_t timeout_ms,
                                                   leat_error *err);
void leati_mesh_links_close(leati_mesh_link *links, int num_ranks);

#endif
