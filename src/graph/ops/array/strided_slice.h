/* What strided_slice and its gradient share: attributes, and where the part lies in the whole. */
#ifndef LEATI_GRAPH_OPS_ARRAY_STRIDED_SLICE_H
#define LEATI_GRAPH_OPS_ARRAY_STRIDED_SLICE_H

#include "graph/support/support.h"

/* Bit i of a mask is about entry i of begin, end and strides. */
struct leati_strided_slice_args {
    leati_ints begin, end, strides;
    int64_t begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask;
};

extern const leati_row leati_strided_slice_rows[];

/* Do the entries cut a part out of a tensor, whose values stay in their order, and its dimensions?
 */
bool leati_strided_cuts(const struct leati_strided_slice_args *args);

/* The part: along each of its dimensions, the number of values and the bytes from one to the next;
 * `offset` is the place of the first. */
typedef struct leati_strided_part {
    leat_shape shape;
    int64_t steps[LEAT_MAX_RANK];
    int64_t offset;
} leati_strided_part;

/* `size` is that of a value. Dimensions of `whole` may be unknown (then steps and offset are not to
 * be used), its rank must be known. `unknown`: begin and end are placeholders. */
LEAT_WARN_UNUSED leat_status leati_strided_part_of(const struct leati_strided_slice_args *args,
                                                   const leat_shape *whole, size_t size,
                                                   bool unknown, leati_strided_part *part,
                                                   leat_error *err);

#endif
