/* collective_broadcast: the value of one replica on all of them; how an assignment takes the first
 * replica's value (tf.VariableAggregation.ONLY_FIRST_REPLICA).
 *
 * The input is copied and exchanged in place; with one replica that is all. Keeps trace order, so
 * every replica meets the others at the same node; fails with what the collective reports. Not
 * differentiable. */
#include "coll/coll.h"
#include "graph/kernel_host.h"
#include "graph/variable_ops.h"
#include <string.h>

struct broadcast_args {
    int64_t root;
};

static const leati_row broadcast_rows[] = {
    {.name = "root",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct broadcast_args, root),
     .maximum = INT32_MAX,
     .doc = "The replica whose value it is."},
    {0},
};

static leat_status broadcast_infer(leati_infer_call *call, leat_error *err) {
    leat_dtype dtype = call->inputs[0].dtype;
    if (dtype == LEAT_STRING || dtype == LEAT_OBJECT)
        return leati_refuse(err, DTYPE, "the input is %s; replicas exchange numbers and bools",
                            leat_dtype_name(dtype));
    return leati_op_infer_same(call, err);
}

static leat_status broadcast_kernel(leati_kernel_call *call, leat_error *err) {
    const struct broadcast_args *args = call->args;
    const leati_operand *input = &call->inputs[0];
    const leati_call_context *context = call->context;
    leati_collective *collective = context != NULL ? context->collective : NULL;
    leat_status status = leati_op_kernel_output(call, 0, input->rank, input->dims, err);
    if (status == LEAT_OK && collective != NULL && args->root >= collective->num_ranks)
        status = leati_refuse(err, VALUE, "root is %lld, but there are %d replicas",
                              (long long)args->root, collective->num_ranks);
    /* In place: on the root the value is there, on the others the copy is overwritten. */
    for (int64_t row = 0; status == LEAT_OK && row < call->n; row++) {
        const leati_operand *output = &call->outputs[0];
        char *to = output->data + row * output->row_stride;
        /* Of nothing there is no memory, but others wait for this exchange. */
        if (input->count)
            memcpy(to, input->data + row * input->row_stride,
                   leati_kernel_operand_row_bytes(input));
        if (collective != NULL)
            status = collective->ops->broadcast(collective, context->replica, (int)args->root, to,
                                                input->count, input->dtype, err);
    }
    return status;
}

const leati_tensor_op leati_tensor_op_collective_broadcast = {
    .name = "collective_broadcast",
    .version = 1,
    .doc = "The value of one replica on all of them (tf.raw_ops.CollectiveBcastSend and Recv).",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .rows = broadcast_rows,
    .args_size = sizeof(struct broadcast_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_STATEFUL | LEATI_NO_EAGER,
    .infer = broadcast_infer,
    .kernel = broadcast_kernel,
};
