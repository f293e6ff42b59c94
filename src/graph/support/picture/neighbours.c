/* Differences of neighbouring pixels; see neighbours.h. Errors stay in the graph. No state, no
 * locks. */
#include "graph/support/picture/neighbours.h"

leat_value leati_neighbours_part_along(leat_value x, int32_t axis, int64_t first, int64_t last) {
    int64_t begin[LEAT_MAX_RANK] = {0}, end[LEAT_MAX_RANK] = {0};
    const int64_t all = (INT64_C(1) << LEAT_MAX_RANK) - 1, own = INT64_C(1) << axis;
    const leat_op_strided_slice_options masks = {.begin_mask = all & ~own,
                                                 .end_mask = last > 0 ? all & ~own : all};
    begin[axis] = first;
    end[axis] = -last;
    return leat_op_strided_slice(x, begin, end, NULL, axis + 1, &masks);
}

leat_value leati_neighbours_steps_along(leat_value x, int32_t axis) {
    return leat_op_subtract(leati_neighbours_part_along(x, axis, 1, 0),
                            leati_neighbours_part_along(x, axis, 0, 1));
}
