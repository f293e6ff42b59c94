/* The arguments of unsorted_segment_*, for who adds a node of which the run computes them. */
#ifndef LEATI_GRAPH_SUPPORT_MATH_SEGMENT_H
#define LEATI_GRAPH_SUPPORT_MATH_SEGMENT_H

#include "graph/support/support.h"

struct leati_segment_args {
    int64_t num_segments;
};

#endif
