/* Softmax: positive numbers that sum to 1 along an axis (keras.layers.Softmax). Failures: an axis
 * that is not there. No state, no locks. */
#include "graph/support/support.h"
#include "train/frame/layer.h"

struct softmax_args {
    char *name; /* first: struct leati_layer_args */
    int64_t axis;
};

static const leati_row softmax_rows[] = {
    LEATI_LAYER_ROW(softmax_args, axis, INT, .default_number = -1,
                    .doc = "The dimension along which the output sums to 1; negative: from the "
                           "last."),
    LEATI_LAYER_NAME,
    {0},
};

static leat_value softmax_call(const leati_pass *pass) {
    const struct softmax_args *args = pass->args;
    leat_value x = pass->inputs[0];
    int32_t rank = leat_value_shape(x).rank, axis = 0;
    int64_t order[LEAT_MAX_RANK];
    leat_error err = {0};
    if (leati_support_normal_axis(args->axis, rank, &axis, &err) != LEAT_OK)
        return leati_graph_error(x.graph, &err);
    if (axis == rank - 1)
        return leat_op_softmax(x);
    for (int32_t d = 0; d < rank; d++)
        /* Two dimensions change places, so the same order leads back. */
        order[d] = d == axis ? rank - 1 : d == rank - 1 ? axis : d;
    return leat_op_transpose(leat_op_softmax(leat_op_transpose(x, order, rank)), order, rank);
}

const leati_layer_kind leati_layer_softmax = {
    .kind =
        {
            .name = "Softmax",
            .doc = "Positive numbers that sum to 1 along an axis (keras.layers.Softmax).",
            .rows = softmax_rows,
            .signature = "axis",
            .args_size = sizeof(struct softmax_args),
        },
    .prefix = "softmax",
    .min_rank = 1,
    .expects = "[batch, ...]",
    .masks = true,
    .call = softmax_call,
};
