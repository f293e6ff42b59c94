/* Rescaling: the input times a scale, plus an offset (keras.layers.Rescaling); integers become
 * float32. Failures: as many channels as the numbers are not for. No state, no locks. */
#include "graph/support/support.h"
#include "train/frame/layer.h"

struct rescaling_args {
    char *name; /* first: struct leati_layer_args */
    leati_floats scale, offset;
};

static const leati_row rescaling_rows[] = {
    LEATI_LAYER_ROW(rescaling_args, scale, FLOATS, .flags = LEATI_REQUIRED,
                    .doc = "The factor, or one for each channel."),
    LEATI_LAYER_ROW(rescaling_args, offset, FLOATS,
                    .doc = "What is added behind, or one for each channel; 0 by default."),
    LEATI_LAYER_NAME,
    {0},
};

/* Numbers as a vector, or as a scalar where there is one. */
static leat_value constant_of(leat_value like, const leati_floats *numbers, double standard) {
    if (numbers->count > 1)
        return leati_layer_numbers_value(like, numbers);
    double number = numbers->count == 1 ? numbers->values[0] : standard;
    return leati_support_number(like.graph, leat_value_dtype(like), number);
}

static leat_value rescaling_call(const leati_pass *pass) {
    const struct rescaling_args *args = pass->args;
    leat_value x = pass->inputs[0];
    if (!leati_graph_dtype_is_floating(leat_value_dtype(x)))
        x = leat_op_cast(x, LEAT_FLOAT32);
    x = leat_op_multiply(x, constant_of(x, &args->scale, 1));
    return leat_op_add(x, constant_of(x, &args->offset, 0));
}

const leati_layer_kind leati_layer_rescaling = {
    .kind =
        {
            .name = "Rescaling",
            .doc = "The input times a scale, plus an offset (keras.layers.Rescaling).",
            .rows = rescaling_rows,
            .signature = "scale offset=0.0",
            .args_size = sizeof(struct rescaling_args),
        },
    .prefix = "rescaling",
    .min_rank = 1,
    .expects = "[batch, ...]",
    .masks = true,
    .call = rescaling_call,
};
