/* What all_gather and its gradient share: how many values along the axis each replica has, and
 * copies between the values as a whole and one block for each replica. */
#ifndef LEATI_GRAPH_SUPPORT_REPLICA_GATHERING_H
#define LEATI_GRAPH_SUPPORT_REPLICA_GATHERING_H

#include "graph/support/support.h"

/* The arguments of both operations. */
struct leati_gathering_args {
    int64_t axis;
    leati_ints sizes;
};
extern const leati_row leati_gathering_rows[];

/* Shapes of a call. A block has the values of one replica, dense, at the front of `block_count`
 * values, which is what the replica with the longest part has. */
typedef struct leati_gathering {
    const leati_ints *sizes;
    int32_t axis;
    int64_t outer, inner; /* values before and behind the axis */
    int64_t total;        /* along the axis, of all replicas */
    int64_t block_count;
} leati_gathering;

/* For infer: checks the arguments against `part`, the shape of one replica's values, and gives that
 * of all. */
LEAT_WARN_UNUSED leat_status leati_gathering_shape(const struct leati_gathering_args *args,
                                                   const leat_shape *part, leat_shape *whole,
                                                   leat_error *err);

/* For kernels: the same, with `part` known, and that this replica's part is as long as the
 * arguments say. */
LEAT_WARN_UNUSED leat_status leati_gathering_init(const leati_kernel_call *call,
                                                  const leati_operand *part, leati_gathering *out,
                                                  leat_error *err);

/* Copies between all values and replica blocks, values of `size` bytes. */
void leati_gathering_copy(const leati_gathering *gathering, size_t size, char *whole, char *blocks,
                          bool into_blocks);

#endif
