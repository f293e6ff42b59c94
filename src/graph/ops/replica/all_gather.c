/* all_gather: the values of all replicas, one behind the other along an axis
 * (ReplicaContext.all_gather). They may differ in that dimension alone.
 *
 * Every replica's values go, filled up to the longest, through one exchange, and from there into
 * the output; with one replica a copy. Keeps trace order, so every replica meets the others at the
 * same node; fails where a replica has another size than the argument says, and with what the
 * collective reports. The gradient is all_gather_grad. */
#include "coll/coll.h"
#include "graph/support/replica/gathering.h"
#include <string.h>

static leat_status all_gather_infer(leati_infer_call *call, leat_error *err) {
    leat_shape whole;
    leat_dtype dtype = call->inputs[0].dtype;
    if (dtype == LEAT_STRING || dtype == LEAT_OBJECT)
        return leati_refuse(err, DTYPE, "the input is %s; replicas exchange numbers and bools",
                            leat_dtype_name(dtype));
    LEATI_TRY(leati_gathering_shape(call->args, &call->inputs[0].shape, &whole, err));
    return leati_op_infer_output(call, dtype, &whole, NULL, err);
}

/* One row's values to all and back, through `blocks`, which has room behind the replicas' for what
 * this one sends. */
static leat_status exchange(const leati_kernel_call *call, const leati_gathering *g, int64_t row,
                            char *blocks, leat_error *err) {
    const leati_call_context *context = call->context;
    leati_collective *collective = context->collective;
    const leati_operand *part = &call->inputs[0];
    size_t size = leat_dtype_size(part->dtype), block = (size_t)g->block_count * size;
    char *sent = leati_support_row_of(part, row);
    /* Blocks have one size: a shorter part is sent from a copy filled up with zeros. */
    if (part->count < g->block_count) {
        size_t own = (size_t)part->count * size;
        char *filled = blocks + (size_t)collective->num_ranks * block;
        if (own > 0)
            memcpy(filled, sent, own);
        /* Never copied out, but bytes that nobody wrote are not sent to others. */
        memset(filled + own, 0, block - own);
        sent = filled;
    }
    LEATI_TRY(collective->ops->all_gather(collective, context->replica, sent, g->block_count,
                                          part->dtype, blocks, err));
    leati_gathering_copy(g, size, leati_support_row_of(&call->outputs[0], row), blocks, false);
    return LEAT_OK;
}

static leat_status all_gather_kernel(leati_kernel_call *call, leat_error *err) {
    const struct leati_gathering_args *args = call->args;
    const leati_operand *part = &call->inputs[0];
    leat_shape shape = leati_support_operand_shape(part), whole;
    leati_gathering g;
    /* What does not fit fails before anything is exchanged. */
    LEATI_TRY(leati_gathering_init(call, part, &g, err));
    LEATI_TRY(leati_gathering_shape(args, &shape, &whole, err));
    LEATI_TRY(leati_support_output_like(call, 0, &whole, err));
    size_t size = leat_dtype_size(part->dtype);
    if (call->context == NULL || call->context->collective == NULL) {
        /* Of one replica the whole is its part. */
        for (int64_t row = 0; row < call->n && part->count > 0; row++)
            memcpy(leati_support_row_of(&call->outputs[0], row), leati_support_row_of(part, row),
                   (size_t)part->count * size);
        return LEAT_OK;
    }
    /* One block more for what this replica sends. leati_gathering_init has bounded the product. */
    size_t bytes = (size_t)g.block_count * size * (size_t)(g.sizes->count + 1);
    char *blocks = leati_arena_alloc(call->arena, bytes);
    if (blocks == NULL)
        return leati_no_memory(err);
    for (int64_t row = 0; row < call->n; row++)
        LEATI_TRY(exchange(call, &g, row, blocks, err));
    return LEAT_OK;
}

static leat_status all_gather_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    /* Each replica's loss depends on every part: the gradients of all come back, summed. */
    call->input_gradients[0] = leati_graph_build2(&leati_tensor_op_all_gather_grad, call->args,
                                                  call->output_gradients[0], call->inputs[0]);
    return LEAT_OK;
}

leat_value leat_op_all_gather(leat_value value, int64_t axis, const int64_t *sizes,
                              int num_replicas) {
    const struct leati_gathering_args args = {.axis = axis,
                                              .sizes = {.values = (int64_t *)(uintptr_t)sizes,
                                                        .count = sizes == NULL ? 0 : num_replicas}};
    return leati_graph_build1(&leati_tensor_op_all_gather, &args, value);
}

const leati_tensor_op leati_tensor_op_all_gather = {
    .name = "all_gather",
    .version = 1,
    .doc = "The values of all replicas behind one another along an axis "
           "(ReplicaContext.all_gather).",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .rows = leati_gathering_rows,
    .args_size = sizeof(struct leati_gathering_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_STATEFUL | LEATI_NO_EAGER,
    .infer = all_gather_infer,
    .kernel = all_gather_kernel,
    .gradient = all_gather_gradient,
};
