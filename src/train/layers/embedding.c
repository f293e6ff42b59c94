/* Embedding: a learnt vector for each number (keras.layers.Embedding). Numbers that are no
 * integers are cut to some, as Keras does. Failures: a number outside of the table, when it runs.
 * No state, no locks. */
#include "train/frame/layer.h"

struct embedding_args {
    char *name; /* first: struct leati_layer_args */
    int64_t input_dim, output_dim;
    char *embeddings_initializer;
    leati_seed_argument seed;
};

static const leati_row embedding_rows[] = {
    LEATI_LAYER_ROW(embedding_args, input_dim, INT, .flags = LEATI_REQUIRED, .minimum = 1,
                    .maximum = INT64_MAX, .doc = "How many numbers there are, from 0."),
    LEATI_LAYER_ROW(embedding_args, output_dim, INT, .flags = LEATI_REQUIRED, .minimum = 1,
                    .maximum = INT32_MAX, .doc = "Values of each vector."),
    LEATI_LAYER_ROW(embedding_args, embeddings_initializer, STRING, .default_text = "uniform",
                    .doc = "Name of the vectors' initialiser."),
    LEATI_LAYER_ROW(embedding_args, seed, SEED,
                    .doc = "Seed of the initialiser; none: drawn when the layer is made."),
    LEATI_LAYER_NAME,
    {0},
};

static leati_seed_argument embedding_seed(const void *args) {
    return ((const struct embedding_args *)args)->seed;
}

static leat_status embedding_weights(const void *arguments, const leat_shape *input,
                                     leati_weights *out, leat_error *err) {
    const struct embedding_args *args = arguments;
    (void)input;
    (void)err;
    out->list[0] = (leati_weight){.name = "embeddings",
                                  .shape = LEAT_SHAPE(args->input_dim, args->output_dim),
                                  .initializer = args->embeddings_initializer};
    out->count = 1;
    return LEAT_OK;
}

static leat_value embedding_call(const leati_pass *pass) {
    leat_value x = pass->inputs[0];
    leat_dtype dtype = leat_value_dtype(x);
    /* Keras' cast: 1.9 becomes 1. */
    if (dtype != LEAT_INT32 && dtype != LEAT_INT64)
        x = leat_op_cast(x, LEAT_INT32);
    return leat_op_gather(pass->weights[0], x, 0, 0);
}

const leati_layer_kind leati_layer_embedding = {
    .kind =
        {
            .name = "Embedding",
            .doc = "A learnt vector for each number (keras.layers.Embedding).",
            .rows = embedding_rows,
            .signature = "input_dim output_dim embeddings_initializer embeddings_regularizer "
                         "embeddings_constraint mask_zero=false weights=null lora_rank=null "
                         "lora_alpha=null quantization_config=null",
            .config =
                "... activity_regularizer embeddings_constraint mask_zero quantization_config=null",
            .args_size = sizeof(struct embedding_args),
        },
    .prefix = "embedding",
    .min_rank = 1,
    .expects = "[batch, ...]",
    .takes_integers = true,
    .seed = embedding_seed,
    .weights = embedding_weights,
    .call = embedding_call,
};
