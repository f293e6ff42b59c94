/* Operations that compute float16 and bfloat16 in float32 (LEATI_HALVES_FLOAT of graph/op.h).
 *
 * To whoever builds a graph they are operations of halves: nodes, gradients and JSON have the
 * halves' dtype. Their rules and kernels are those of float32 alone; whoever calls these goes
 * through here. */
#ifndef LEATI_GRAPH_HALVES_H
#define LEATI_GRAPH_HALVES_H

#include "graph/op.h"

/* Runs the operation's rule: `op->infer`, where it has no halves of its own as of float32. */
LEAT_WARN_UNUSED leat_status leati_halves_infer(const leati_tensor_op *op, leati_infer_call *call,
                                                leat_error *err);
/* Runs the operation's kernel likewise: inputs are widened, each float output is rounded once. */
LEAT_WARN_UNUSED leat_status leati_halves_run(const leati_tensor_op *op, leati_kernel_call *call,
                                              leat_error *err);

#endif
