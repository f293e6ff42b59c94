/* Permute: the dimensions of each row in another order (keras.layers.Permute). Failures: an order
 * that is none. No state, no locks. */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/frame/layer.h"

struct permute_args {
    char *name; /* first: struct leati_layer_args */
    leati_ints dims;
};

static const leati_row permute_rows[] = {
    LEATI_LAYER_ROW(permute_args, dims, INTS, .flags = LEATI_REQUIRED, .minimum = 1,
                    .maximum = LEAT_MAX_RANK - 1,
                    .doc = "Which dimension of the input each one of the output is, counted from "
                           "1."),
    LEATI_LAYER_NAME,
    {0},
};

static leat_status permute_check(const void *arguments, leat_error *err) {
    const struct permute_args *args = arguments;
    bool seen[LEAT_MAX_RANK] = {false};
    /* Longer lists would not fit into `seen`, and the next loop refuses them. */
    for (int32_t i = 0; i < args->dims.count && args->dims.count < LEAT_MAX_RANK; i++)
        seen[args->dims.values[i]] = true;
    for (int32_t d = 1; d <= args->dims.count; d++)
        if (d >= LEAT_MAX_RANK || !seen[d])
            return leati_refuse(err, VALUE,
                                "dims has no %d; expected each number from 1 to %d once", (int)d,
                                (int)args->dims.count);
    return LEAT_OK;
}

static leat_value permute_call(const leati_pass *pass) {
    const struct permute_args *args = pass->args;
    leat_value x = pass->inputs[0];
    int64_t order[LEAT_MAX_RANK] = {0};
    if (leat_value_shape(x).rank != args->dims.count + 1)
        return leati_support_build_error(
            x.graph, LEAT_REASON_SHAPE,
            "the input has not as many dimensions behind the batch's as dims "
            "has numbers");
    for (int32_t d = 0; d < args->dims.count; d++)
        /* Counted from 1, so the numbers are dimensions as they stand: the batch is 0. */
        order[d + 1] = args->dims.values[d];
    return leat_op_transpose(x, order, args->dims.count + 1);
}

const leati_layer_kind leati_layer_permute = {
    .kind =
        {
            .name = "Permute",
            .doc = "The dimensions of each row in another order (keras.layers.Permute).",
            .rows = permute_rows,
            .signature = "dims",
            .args_size = sizeof(struct permute_args),
            .check = permute_check,
        },
    .prefix = "permute",
    .min_rank = 1,
    .expects = "[batch, ...]",
    .call = permute_call,
};
