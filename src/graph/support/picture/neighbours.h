/* Differences of neighbouring pixels out of other operations: what gradients are composed of. */
#ifndef LEATI_GRAPH_SUPPORT_PICTURE_NEIGHBOURS_H
#define LEATI_GRAPH_SUPPORT_PICTURE_NEIGHBOURS_H

#include "graph/support/support.h"

/* Values [first, -last) along one dimension; `last` counts those left out at the end. */
leat_value leati_neighbours_part_along(leat_value x, int32_t axis, int64_t first, int64_t last);
/* x[1:] - x[:-1] along that dimension. */
leat_value leati_neighbours_steps_along(leat_value x, int32_t axis);

#endif
