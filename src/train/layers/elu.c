/* ELU: the input, below 0 an exponential (keras.layers.ELU). Failures: a negative number. No
 * state, no locks. */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/frame/layer.h"

struct elu_args {
    char *name; /* first: struct leati_layer_args */
    double alpha;
};

static const leati_row elu_rows[] = {
    LEATI_LAYER_ROW(elu_args, alpha, FLOAT, .default_number = 1.0,
                    .doc = "What the output goes towards below 0, negative."),
    LEATI_LAYER_NAME,
    {0},
};

static leat_value elu_call(const leati_pass *pass) {
    const struct elu_args *args = pass->args;
    return leati_activation_scaled_elu(pass->inputs[0], args->alpha);
}

const leati_layer_kind leati_layer_elu = {
    .kind =
        {
            .name = "ELU",
            .doc = "The input, below 0 an exponential (keras.layers.ELU).",
            .rows = elu_rows,
            .signature = "alpha",
            .config = "name alpha",
            .args_size = sizeof(struct elu_args),
        },
    .prefix = "elu",
    .min_rank = 1,
    .expects = "[batch, ...]",
    .masks = true,
    .call = elu_call,
};
