/* What the three operations on variables share. */
#ifndef LEATI_GRAPH_VARIABLE_OPS_H
#define LEATI_GRAPH_VARIABLE_OPS_H

#include "graph/op.h"
#include "graph/variable.h"

struct leati_variable_args {
    leat_object *variable;
};

extern const leati_row leati_variable_rows[];

/* The variable of a node, checked. */
LEAT_WARN_UNUSED leat_status leati_variable_of(const void *args, leat_variable **out,
                                               leat_error *err);
/* The host memory of the copy that this call's replica reads and writes; FAILED_PRECONDITION where
 * it lies on a device. */
LEAT_WARN_UNUSED leat_status leati_variable_host_copy(const leati_kernel_call *call, void **out,
                                                      leat_error *err);
/* Inference of assignments: one input that fits the variable, no output. */
LEAT_WARN_UNUSED leat_status leati_variable_infer_assign(leati_infer_call *call, leat_error *err);
/* The assigned operand must have the variable's shape. */
LEAT_WARN_UNUSED leat_status leati_variable_check_operand(const leat_variable *variable,
                                                          const leati_operand *operand,
                                                          leat_error *err);

/* After a node was added: reads of variables that it may write are remembered no longer. */
void leati_graph_note_writes(leat_graph *graph, int32_t node);

extern const leati_tensor_op leati_tensor_op_read_variable;
extern const leati_tensor_op leati_tensor_op_assign_variable;
extern const leati_tensor_op leati_tensor_op_assign_add_variable;
extern const leati_tensor_op leati_tensor_op_collective_broadcast;

#endif
