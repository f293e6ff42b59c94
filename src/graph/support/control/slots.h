/* What the operations that update variables share: finding the copies that this replica writes. */
#ifndef LEATI_GRAPH_SUPPORT_CONTROL_SLOTS_H
#define LEATI_GRAPH_SUPPORT_CONTROL_SLOTS_H

#include "graph/support/support.h"
#include "graph/variable_ops.h"

/* The host memory of the copy of a variable that is an attribute of the node. */
LEAT_WARN_UNUSED leat_status leati_slot_copy(const leati_kernel_call *call, leat_object *variable,
                                             void **out, leat_error *err);
/* For infer: the gradient (input 0) fits the variable, input 1 is a scalar of its dtype, and the
 * slots have its dtype and shape. `args` starts with the variable. */
LEAT_WARN_UNUSED leat_status leati_slot_infer(leati_infer_call *call, leat_object *const *slots,
                                              int num_slots, leat_error *err);
/* For kernels: the gradient has the variable's shape, the dtype is known. */
LEAT_WARN_UNUSED leat_status leati_slot_check(const leati_kernel_call *call, leat_error *err);
/* A builder: adds the node, which has no outputs. */
void leati_slot_build(const leati_tensor_op *op, const void *args, const leat_value *inputs,
                      int num_inputs);

#endif
