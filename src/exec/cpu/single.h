/* One operation called by itself on the fast kernels of steps. */
#ifndef LEATI_EXEC_CPU_SINGLE_H
#define LEATI_EXEC_CPU_SINGLE_H

#include "graph/graph.h"

/* Computes the node as a step of one operation, where a kernel of cpu.def takes it and its work is
 * worth the way there; *ran says whether `outputs` (owned, of the types given) are filled. Whatever
 * fails is left to the plain kernel, which then says so: CANCELLED is the only error. Steps are
 * kept for calls with the same attributes and shapes. On the user's own threads; safe on several.
 */
LEAT_WARN_UNUSED leat_status leati_single_run(const leati_node *node, const leati_value *types,
                                              const leat_tensor *inputs,
                                              const leati_call_context *context,
                                              leat_tensor *outputs, bool *ran, leat_error *err);

#endif
