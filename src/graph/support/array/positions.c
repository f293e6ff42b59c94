/* Gradients by the numbers of values; see positions.h. No state, no failures but the graph's. */
#include "graph/support/array/positions.h"

#include "graph/support/array/gather.h"

static leat_value flat(leat_value x) {
    return leat_op_reshape(x, (int64_t[]){-1}, 1);
}

leat_value leati_positions(leat_value x) {
    /* int64, because a tensor may have more values than an int32 counts. */
    leat_value zero = leati_support_number(x.graph, LEAT_INT64, 0),
               one = leati_support_number(x.graph, LEAT_INT64, 1);
    return leat_op_reshape_like(leat_op_range(zero, leat_op_size(x, LEAT_INT64), one, LEAT_INVALID),
                                x);
}

leat_value leati_positions_add_at(leat_value gradient, leat_value positions, leat_value x) {
    /* On flat tensors this is an addition at places, those that are named twice included. */
    struct leati_gather_args args = {.axis = 0};
    leat_value sum = leati_graph_build3(&leati_tensor_op_gather_grad, &args, flat(gradient),
                                        flat(x), flat(positions));
    return leat_op_reshape_like(sum, x);
}

leat_value leati_positions_gather_last(leat_value x, leat_value indices) {
    int32_t rank = leat_value_shape(x).rank;
    /* All dimensions but the last are batches: each line has its own indices. */
    struct leati_gather_args args = {.axis = rank - 1, .batch_dims = rank - 1};
    return leati_graph_build2(&leati_tensor_op_gather, &args, x, indices);
}
