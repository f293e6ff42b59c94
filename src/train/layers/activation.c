/* Activation: an activation by name (keras.layers.Activation). Failures: a name that is none. No
 * state, no locks. */
#include "train/frame/layer.h"

struct activation_args {
    char *name; /* first: struct leati_layer_args */
    char *activation;
};

static const leati_row activation_rows[] = {
    LEATI_LAYER_ROW(activation_args, activation, STRING, .flags = LEATI_REQUIRED,
                    .doc = "Name of an activation (keras.activations)."),
    LEATI_LAYER_NAME,
    {0},
};

static leat_status activation_check(const void *args, leat_error *err) {
    return leati_activation_check(((const struct activation_args *)args)->activation, err);
}

static leat_value activation_call(const leati_pass *pass) {
    const struct activation_args *args = pass->args;
    return leati_activation_apply(args->activation, pass->inputs[0]);
}

const leati_layer_kind leati_layer_activation = {
    .kind =
        {
            .name = "Activation",
            .doc = "An activation by name (keras.layers.Activation).",
            .rows = activation_rows,
            .signature = "activation",
            .args_size = sizeof(struct activation_args),
            .check = activation_check,
        },
    .prefix = "activation",
    .min_rank = 1,
    .expects = "[batch, ...]",
    .masks = true,
    .call = activation_call,
};
