/* One operation on host tensors: what eager execution and constant folding do. */
#ifndef LEATI_EXEC_COMPUTE_H
#define LEATI_EXEC_COMPUTE_H

#include "graph/graph.h"

/* Runs the plain kernel of an operation once. `types` are the inferred types of the outputs;
 * `outputs` are filled with owned tensors that nothing of the caller's needs to outlive. */
LEAT_WARN_UNUSED leat_status leati_compute(const leati_node *node, const leati_value *types,
                                           const leat_tensor *inputs,
                                           const leati_call_context *context, leat_tensor *outputs,
                                           leat_error *err);

#endif
