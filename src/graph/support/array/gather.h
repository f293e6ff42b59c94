/* The arguments of gather, for those who add it with other ones than its builder. */
#ifndef LEATI_GRAPH_SUPPORT_ARRAY_GATHER_H
#define LEATI_GRAPH_SUPPORT_ARRAY_GATHER_H

#include "graph/support/support.h"

struct leati_gather_args {
    int64_t axis, batch_dims; /* axis INT64_MIN: batch_dims */
};

#endif
