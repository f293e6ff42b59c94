/* What segments of slices are combined by, for segment_* and unsorted_segment_*, and the arguments
 * of the latter for who adds a node of which the run computes them. */
#ifndef LEATI_GRAPH_SUPPORT_MATH_SEGMENT_H
#define LEATI_GRAPH_SUPPORT_MATH_SEGMENT_H

#include "graph/support/replica/combine.h"

struct leati_segment_args {
    int64_t num_segments;
};

/* Input 0's slices into output 0, whose shape is checked and which has values, by input 1's sorted
 * numbers, all of them below `segments`; of a call of one row. `mean`: sums divided by how many
 * slices they have. Segments without slices are 0, or 1 where `kind` is a product. */
void leati_segment_sorted(const leati_kernel_call *call, leati_combine_kind kind, bool mean,
                          int64_t segments);
/* Those of a row of the call in any order, combined with what is there; negative numbers leave
 * their slices out. Returns the place of the first number that is no segment, or how many there
 * are. */
int64_t leati_segment_unsorted(const leati_kernel_call *call, int64_t row, leati_combine_kind kind,
                               int64_t segments);

#endif
