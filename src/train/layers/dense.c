/* Dense: y = activation(x w + b) along the last dimension (keras.layers.Dense).
 *
 * The kernel is [inputs, units]; dimensions before the last one are kept. Failures: an input whose
 * last dimension is unknown or not the one that it was built for. */
#include "base/error.h"
#include "base/options.h"
#include "graph/support/support.h"
#include "train/frame/layer.h"

struct dense_args {
    char *name; /* first: struct leati_layer_args */
    int64_t units;
    char *activation;
    bool use_bias;
    char *kernel_initializer, *bias_initializer;
    leati_seed_argument seed;
};

static const leati_row dense_rows[] = {
    {.name = "units",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct dense_args, units),
     .minimum = 1,
     .maximum = INT32_MAX,
     .doc = "Size of the output's last dimension."},
    {.name = "activation",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct dense_args, activation),
     .doc = "Name of an activation (keras.activations)."},
    {.name = "use_bias",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct dense_args, use_bias),
     .default_number = 1,
     .doc = "Whether a bias is added."},
    {.name = "kernel_initializer",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct dense_args, kernel_initializer),
     .default_text = "glorot_uniform",
     .doc = "Name of the kernel's initialiser."},
    {.name = "bias_initializer",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct dense_args, bias_initializer),
     .default_text = "zeros",
     .doc = "Name of the bias's initialiser."},
    {.name = "seed",
     .type = LEATI_ROW_SEED,
     .offset = offsetof(struct dense_args, seed),
     .doc = "Seed of the kernel's initialiser; none: drawn when the layer is made."},
    {.name = "name",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct dense_args, name),
     .doc = "Name of the layer."},
    {0},
};

static leat_status dense_check(const void *args, leat_error *err) {
    return leati_activation_check(((const struct dense_args *)args)->activation, err);
}

static leati_seed_argument dense_seed(const void *args) {
    return ((const struct dense_args *)args)->seed;
}

static leat_status dense_weights(const void *arguments, const leat_shape *input, leati_weights *out,
                                 leat_error *err) {
    const struct dense_args *args = arguments;
    (void)err;
    leat_shape kernel = LEAT_SHAPE(input->dims[input->rank - 1], args->units);
    leat_shape bias = LEAT_SHAPE(args->units);
    out->list[0] =
        (leati_weight){.name = "kernel", .shape = kernel, .initializer = args->kernel_initializer};
    out->list[1] =
        (leati_weight){.name = "bias", .shape = bias, .initializer = args->bias_initializer};
    out->count = args->use_bias ? 2 : 1;
    return LEAT_OK;
}

static leat_value dense_call(const leati_pass *pass) {
    leat_value input = pass->inputs[0];
    const struct dense_args *args = pass->args;
    leat_value kernel = pass->weights[0];
    /* The kernel has two dimensions and broadcasts over those of the input before its last two. */
    leat_value value = leat_op_matmul(input, kernel, false, false);
    if (args->use_bias)
        value = leat_op_bias_add(value, pass->weights[1]);
    return leati_activation_apply(args->activation, value);
}

leat_layer *leat_layer_dense(int64_t units, const leat_layer_dense_options *options,
                             leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_layer_dense_options o = {LEAT_LAYER_DENSE_DEFAULTS};
    if (LEATI_OPTIONS(leat_layer_dense_options, &o, options, err) != LEAT_OK)
        return NULL;
    const struct dense_args args = {.name = leati_kind_borrow_text(o.name),
                                    .units = units,
                                    .activation =
                                        leati_kind_borrow_text(leati_activation_name(o.activation)),
                                    .use_bias = o.use_bias,
                                    .kernel_initializer = leati_kind_borrow_text("glorot_uniform"),
                                    .bias_initializer = leati_kind_borrow_text("zeros"),
                                    .seed = {o.seed.given, o.seed.value}};
    return leati_layer_new(&leati_layer_dense, &args, err);
}

const leati_layer_kind leati_layer_dense = {
    .kind =
        {
            .name = "Dense",
            .doc = "A matrix product along the last dimension, plus a bias (keras.layers.Dense).",
            .rows = dense_rows,
            .signature =
                "units " LEATI_KERNEL_SIGNATURE " lora_rank lora_alpha quantization_config",
            .args_size = sizeof(struct dense_args),
            .check = dense_check,
        },
    .prefix = "dense",
    .min_rank = 2,
    .expects = "[batch, ..., inputs]",
    .fixed_last = true,
    .seed = dense_seed,
    .weights = dense_weights,
    .masks = true,
    .call = dense_call,
};
