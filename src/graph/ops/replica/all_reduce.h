/* What executors know of all_reduce, besides running it. */
#ifndef LEATI_GRAPH_OPS_REPLICA_ALL_REDUCE_H
#define LEATI_GRAPH_OPS_REPLICA_ALL_REDUCE_H

#include "coll/coll.h"
#include "graph/op.h"

extern const leati_tensor_op leati_tensor_op_all_reduce;

/* The reduction that a node's attributes name. */
LEAT_WARN_UNUSED leat_status leati_all_reduce_reduction(const void *args, leati_reduction *out,
                                                        leat_error *err);

#endif
