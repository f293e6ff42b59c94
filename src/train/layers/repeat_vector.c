/* RepeatVector: each row n times along a new dimension (keras.layers.RepeatVector). Failures: rows
 * that are no vectors. No state, no locks. */
#include "train/frame/layer.h"

struct repeat_vector_args {
    char *name; /* first: struct leati_layer_args */
    int64_t n;
};

static const leati_row repeat_vector_rows[] = {
    LEATI_LAYER_ROW(repeat_vector_args, n, INT, .flags = LEATI_REQUIRED, .minimum = 1,
                    .maximum = INT32_MAX, .doc = "How often."),
    LEATI_LAYER_NAME,
    {0},
};

static leat_value repeat_vector_call(const leati_pass *pass) {
    const struct repeat_vector_args *args = pass->args;
    const int64_t times[3] = {1, args->n, 1};
    return leat_op_tile(leat_op_expand_dims(pass->inputs[0], 1), times, 3);
}

const leati_layer_kind leati_layer_repeat_vector = {
    .kind =
        {
            .name = "RepeatVector",
            .doc = "Each row several times along a new dimension (keras.layers.RepeatVector).",
            .rows = repeat_vector_rows,
            .signature = "n",
            .args_size = sizeof(struct repeat_vector_args),
        },
    .prefix = "repeat_vector",
    .rank = 2,
    .expects = "[batch, values]",
    .call = repeat_vector_call,
};
