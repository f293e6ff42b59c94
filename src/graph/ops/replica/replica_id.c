/* replica_id: the number of the replica that computes (ReplicaContext.replica_id_in_sync_group). An
 * int32 scalar; 0 outside a training step. */
#include "graph/support/support.h"

static leat_status replica_id_infer(leati_infer_call *call, leat_error *err) {
    leat_shape scalar = LEAT_SCALAR;
    return leati_op_infer_output(call, LEAT_INT32, &scalar, NULL, err);
}

static leat_status replica_id_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape scalar = LEAT_SCALAR;
    LEATI_TRY(leati_support_output_like(call, 0, &scalar, err));
    for (int64_t row = 0; row < call->n; row++)
        *(int32_t *)(void *)leati_support_row_of(&call->outputs[0], row) =
            call->context == NULL ? 0 : call->context->replica;
    return LEAT_OK;
}

leat_value leat_op_replica_id(leat_graph *graph) {
    return leati_graph_node(graph, &leati_tensor_op_replica_id, NULL, NULL, 0);
}

const leati_tensor_op leati_tensor_op_replica_id = {
    .name = "replica_id",
    .version = 1,
    .doc = "The number of this replica, an int32 scalar "
           "(ReplicaContext.replica_id_in_sync_group).",
    .types = "",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .rows = leati_no_rows,
    .flags = LEATI_STATEFUL, /* differs from replica to replica: never computed ahead of a step */
    .infer = replica_id_infer,
    .kernel = replica_id_kernel,
};
