/* Gradients of operations that choose and order the values of a tensor (sort, boolean_mask,
 * repeat): the operation is applied to the numbers of the values, and the gradient is added at
 * those. */
#ifndef LEATI_GRAPH_SUPPORT_ARRAY_POSITIONS_H
#define LEATI_GRAPH_SUPPORT_ARRAY_POSITIONS_H

#include "graph/support/support.h"

/* 0, 1, ... under the shape of x, as int64. */
leat_value leati_positions(leat_value x);
/* Zeros like x, to which value i of `gradient` is added at the value of x that number i of
 * `positions`, of as many values, names. */
leat_value leati_positions_add_at(leat_value gradient, leat_value positions, leat_value x);
/* The values of `x` along its last dimension at `indices`, of the same other dimensions; the rank
 * must be known. */
leat_value leati_positions_gather_last(leat_value x, leat_value indices);

#endif
