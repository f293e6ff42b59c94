/* Concatenate: the inputs one behind the other along an axis (keras.layers.Concatenate). Failures:
 * shapes that differ along another axis. No state, no locks. */
#include "train/frame/layer.h"

struct concatenate_args {
    char *name; /* first: struct leati_layer_args */
    int64_t axis;
};

static const leati_row concatenate_rows[] = {
    LEATI_LAYER_ROW(concatenate_args, axis, INT, .default_number = -1,
                    .doc = "The dimension along which they stand; negative: from the last."),
    LEATI_LAYER_NAME,
    {0},
};

static leat_value concatenate_call(const leati_pass *pass) {
    const struct concatenate_args *args = pass->args;
    return leat_op_concat(pass->inputs, pass->num_inputs, args->axis);
}

const leati_layer_kind leati_layer_concatenate = {
    .kind =
        {
            .name = "Concatenate",
            .doc = "The inputs one behind the other along an axis (keras.layers.Concatenate).",
            .rows = concatenate_rows,
            .signature = "axis",
            .args_size = sizeof(struct concatenate_args),
        },
    .prefix = "concatenate",
    .merges = true,
    .min_rank = 1,
    .expects = "[batch, ...]",
    .call = concatenate_call,
};
