/* all_gather_grad: the sum over all replicas of what flows back to values that all_gather put
 * together, this replica's part of it. The second input are that replica's values, for their
 * shape.
 *
 * The parts are laid out as one block per replica and exchanged by one reduce_scatter; with one
 * replica a copy. Keeps trace order and fails as all_gather does. The gradient is all_gather. */
#include "coll/coll.h"
#include "graph/support/replica/gathering.h"
#include <string.h>

static leat_status all_gather_grad_infer(leati_infer_call *call, leat_error *err) {
    leat_shape whole;
    leat_dtype dtype = call->inputs[0].dtype;
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    if (dtype <= LEAT_BOOL || dtype > LEAT_FLOAT64)
        return leati_refuse(err, DTYPE, "a sum of %s; expected numbers", leat_dtype_name(dtype));
    LEATI_TRY(leati_gathering_shape(call->args, &call->inputs[1].shape, &whole, err));
    if (whole.rank != LEAT_UNKNOWN_RANK)
        LEATI_TRY(leati_support_want_rank(call, 0, whole.rank, "the gradient", err));
    /* An unknown rank of the gathered values is -1 here: nothing is compared. */
    for (int32_t d = 0; d < whole.rank && call->inputs[0].shape.rank >= 0; d++)
        LEATI_TRY(leati_support_want_equal_dims(
            call->inputs[0].shape.dims[d], whole.dims[d],
            "dimensions of the gradient and of the gathered values", err));
    return leati_op_infer_output(call, dtype, &call->inputs[1].shape, NULL, err);
}

static leat_status all_gather_grad_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *whole = &call->inputs[0], *part = &call->inputs[1];
    leat_shape shape = leati_support_operand_shape(part);
    leati_gathering g;
    LEATI_TRY(leati_gathering_init(call, part, &g, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    /* leati_gathering_copy trusts these sizes. */
    if (whole->rank != part->rank || whole->count != g.outer * g.total * g.inner)
        return leati_refuse(err, SHAPE, "the gradient has %lld values, what was gathered %lld",
                            (long long)whole->count, (long long)(g.outer * g.total * g.inner));
    const leati_call_context *context = call->context;
    leati_collective *collective = context == NULL ? NULL : context->collective;
    size_t size = leat_dtype_size(part->dtype), block = (size_t)g.block_count * size;
    size_t bytes = block * (size_t)g.sizes->count, own = (size_t)part->count * size;
    char *blocks = leati_arena_alloc(call->arena, bytes);
    if (blocks == NULL)
        return leati_no_memory(err);
    if (bytes > 0)
        /* Zeros behind shorter parts, which add nothing to the sums; rows write the parts alone. */
        memset(blocks, 0, bytes);
    for (int64_t row = 0; row < call->n; row++) {
        /* reduce_scatter may put the sum where this replica's own block lies. */
        char *mine = collective == NULL ? blocks : blocks + (size_t)context->replica * block;
        leati_gathering_copy(&g, size, leati_support_row_of(whole, row), blocks, true);
        if (collective != NULL)
            LEATI_TRY(collective->ops->reduce_scatter(collective, context->replica, blocks,
                                                      g.block_count, part->dtype,
                                                      LEATI_REDUCTION_SUM, mine, err));
        if (own > 0)
            memcpy(leati_support_row_of(&call->outputs[0], row), mine, own);
    }
    return LEAT_OK;
}

static leat_status all_gather_grad_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    /* The transpose of a sum of which each keeps a part is to hand the part to everybody. */
    call->input_gradients[0] =
        leati_graph_build1(&leati_tensor_op_all_gather, call->args, call->output_gradients[0]);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_all_gather_grad = {
    .name = "all_gather_grad",
    .version = 1,
    .doc = "The gradient of all_gather: this replica's part of the sum over all replicas.",
    .types = "T T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .rows = leati_gathering_rows,
    .args_size = sizeof(struct leati_gathering_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_STATEFUL | LEATI_NO_EAGER,
    .infer = all_gather_grad_infer,
    .kernel = all_gather_grad_kernel,
    .gradient = all_gather_grad_gradient,
};
