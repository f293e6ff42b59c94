/* What slice and its gradient share: attributes and the place of the part in the whole. */
#ifndef LEATI_GRAPH_OPS_ARRAY_SLICE_H
#define LEATI_GRAPH_OPS_ARRAY_SLICE_H

#include "graph/support/support.h"

struct leati_slice_args {
    leati_ints begin, size;
};

extern const leati_row leati_slice_rows[];

/* The shape of the part; INVALID_ARGUMENT where it does not lie within `whole`, whose dimensions
 * may be unknown. */
LEAT_WARN_UNUSED leat_status leati_slice_shape(const struct leati_slice_args *args,
                                               const leat_shape *whole, leat_shape *part,
                                               leat_error *err);
/* Bytes from the first value of the whole to that of the part. */
int64_t leati_slice_offset(const struct leati_slice_args *args, const int64_t *steps);

#endif
