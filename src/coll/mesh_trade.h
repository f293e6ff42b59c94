/* An exchange between all processes of a job over their connections (coll/mesh_links.h): each sends
 * every other one something and takes something from it, both at once. */
#ifndef LEATI_COLL_MESH_TRADE_H
#define LEATI_COLL_MESH_TRADE_H

#include "coll/calls.h"
#include "coll/mesh_links.h"

typedef struct leati_mesh_part {
    char *data; /* borrowed */
    size_t size;
} leati_mesh_part;

/* What is sent to a rank and taken from it; its parts follow each other. {0}: nothing. */
typedef struct leati_mesh_share {
    leati_mesh_part out[2], in[2];
} leati_mesh_share;

typedef struct leati_mesh_lane leati_mesh_lane;

typedef struct leati_mesh_trades {
    leati_mesh_link *links;   /* borrowed */
    leati_mesh_share *shares; /* of the next trade, by rank; owned, filled in by the caller */
    leati_mesh_lane *lanes;   /* owned */
    struct pollfd *polled;    /* owned */
    int rank, num_ranks;
    int wake;           /* readable when waits are to end; borrowed */
    int64_t timeout_ns; /* without any byte moving */
    uint64_t number;    /* of trades until now */
} leati_mesh_trades;

LEAT_WARN_UNUSED leat_status leati_mesh_trades_init(leati_mesh_trades *trades,
                                                    leati_mesh_link *links, int rank, int num_ranks,
                                                    int wake, int64_t timeout_ms, leat_error *err);
void leati_mesh_trades_fini(leati_mesh_trades *trades);

/* Does what the shares say, and clears them. All ranks are in the same `call`: INVALID_ARGUMENT
 * names one that is not. ABORTED: `wake`. DEADLINE_EXCEEDED: the text names the ranks that are
 * missing. UNAVAILABLE: a connection broke. Nothing can be traded after a failure. */
LEAT_WARN_UNUSED leat_status leati_mesh_trade(leati_mesh_trades *trades,
                                              const leati_collective_call *call, leat_error *err);

#endif
