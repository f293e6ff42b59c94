/* What scatter_nd and the tensor_scatter_nd operations share: slices put at places that rows of
 * indices name.
 *
 * The last dimension of the indices is one row: as many numbers as leading dimensions it names.
 * Slices are put in the order of the indices, so the result does not depend on threads. */
#ifndef LEATI_GRAPH_SUPPORT_ARRAY_SCATTER_H
#define LEATI_GRAPH_SUPPORT_ARRAY_SCATTER_H

#include "graph/support/replica/combine.h"

/* INVALID_ARGUMENT unless `updates` has the shape that the indices and the shape of the result
 * ask for. Unknown dimensions pass. */
LEAT_WARN_UNUSED leat_status leati_scatter_check(const leat_shape *out, const leat_shape *indices,
                                                 const leat_shape *updates, leat_error *err);
/* Puts row `row` of the updates into `to`, which has shape `out`; NULL `combine`: the last slice
 * stays. An index outside fails with INVALID_ARGUMENT. */
LEAT_WARN_UNUSED leat_status leati_scatter_row(leati_kernel_call *call,
                                               const leati_operand *indices,
                                               const leati_operand *updates, const leat_shape *out,
                                               leati_combine_function combine, int64_t row,
                                               char *to, leat_error *err);
/* The slots of tensor_scatter_nd_*: inputs tensor, indices, updates. `number`: not for strings and
 * booleans. */
LEAT_WARN_UNUSED leat_status leati_scatter_infer(leati_infer_call *call, bool number,
                                                 leat_error *err);
LEAT_WARN_UNUSED leat_status leati_scatter_kernel(leati_kernel_call *call,
                                                  const leati_combine_kind *kind, leat_error *err);
/* The gradient of a minimum or maximum: values that tie share it. */
LEAT_WARN_UNUSED leat_status leati_scatter_extreme_gradient(leati_gradient_call *call,
                                                            leat_error *err);

#endif
