/* What the segment operations share: slices of the first dimensions of `data` combined by the
 * number that `segment_ids` gives each.
 *
 * Segments of segment_* are sorted, and there is one more of them than the last number; those of
 * unsorted_segment_* are as many as `num_segments` says, and a negative number leaves a slice out.
 * Slices are combined in their order, so the result does not depend on threads. */
#ifndef LEATI_GRAPH_SUPPORT_MATH_SEGMENT_H
#define LEATI_GRAPH_SUPPORT_MATH_SEGMENT_H

#include "graph/support/replica/combine.h"

struct leati_segment_args {
    int64_t num_segments;
};
/* num_segments. */
extern const leati_row leati_segment_rows[];

/* The slots of segment_*: inputs data, segment_ids. `mean`: divide sums by how many slices they
 * have. Segments without slices are 0, or 1 where `kind` is a product. */
LEAT_WARN_UNUSED leat_status leati_segment_infer(leati_infer_call *call, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_segment_kernel(leati_kernel_call *call, leati_combine_kind kind,
                                                  bool mean, leat_error *err);
/* The slots of unsorted_segment_*; segments without slices are what combining starts with. */
LEAT_WARN_UNUSED leat_status leati_segment_unsorted_infer(leati_infer_call *call, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_segment_unsorted_kernel(leati_kernel_call *call,
                                                           leati_combine_kind kind,
                                                           leat_error *err);

/* The shape of `count` segments of data; INVALID_ARGUMENT where the numbers do not fit it. */
LEAT_WARN_UNUSED leat_status leati_segment_shape(const leat_shape *data, const leat_shape *ids,
                                                 int64_t count, leat_shape *out, leat_error *err);

/* For gradients: to each slice of `data` that of its segment in `values`; zeros where a slice has
 * none. */
leat_value leati_segment_spread(leat_value values, leat_value ids, leat_value data);
/* The gradient of a maximum or minimum: slices that tie share it. `op` adds up segments of the same
 * kind, with `args`. */
LEAT_WARN_UNUSED leat_status leati_segment_extreme_gradient(leati_gradient_call *call,
                                                            const leati_tensor_op *op,
                                                            leat_error *err);
/* The gradient of a product, of all slices but the one; `sum` and `product` combine segments of the
 * same kind. */
LEAT_WARN_UNUSED leat_status leati_segment_product_gradient(leati_gradient_call *call,
                                                            const leati_tensor_op *sum,
                                                            const leati_tensor_op *product,
                                                            leat_error *err);

#endif
