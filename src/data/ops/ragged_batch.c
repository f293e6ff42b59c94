/* ragged_batch: stacks tensors of unequal shapes as ragged values (tf.data.Dataset.ragged_batch).
 *
 * Expands to a batch over dense_to_ragged, joined as map_and_batch_fusion joins a batch and a map,
 * because in TensorFlow the encoding is a map: an element that fails costs exactly its batch. There
 * is nothing to run here. */
#include "data/plan/argument_rows.h"
#include "data/plan/dataset.h"
#include <leat/data_ops.h>

struct ragged_batch_args {
    int64_t batch_size;
    bool drop_remainder;
    leat_dtype row_splits_dtype;
};

static const leati_row ragged_batch_rows[] = {
    LEATI_ROW_BATCH_SIZE(struct ragged_batch_args, "Elements of a batch."),
    LEATI_ROW_DROP_REMAINDER(struct ragged_batch_args),
    LEATI_ROW_SPLITS_DTYPE(struct ragged_batch_args),
    {0},
};

static leat_dataset *ragged_batch_expand(const leat_dataset *dataset, leat_error *err) {
    const struct ragged_batch_args *args = dataset->args;
    /* Without the first step the second passes NULL and its error on. */
    leat_dataset *ragged = leati_dataset_dense_to_ragged(leat_dataset_ref(dataset->inputs[0]),
                                                         args->row_splits_dtype, err);
    return leati_dataset_batch_fused(ragged, args->batch_size, args->drop_remainder, err);
}

const leati_dataset_op leati_op_ragged_batch = {
    .name = "ragged_batch",
    .version = 1,
    .doc =
        "Stacks `batch_size` consecutive elements along a new first axis; tensors whose spec has "
        "unknown dimensions become ragged. Runs, is saved and restored as batch.",
    .names = "Dataset.ragged_batch experimental.dense_to_ragged_batch",
    .shown = "Batch",
    .num_inputs = 1,
    .flow = LEATI_FEWER,
    .shards = LEATI_SHARD_SEES_THROUGH,
    .splits = LEATI_SPLITS_THROUGH,
    .batches = LEATI_BATCHES_ROWS,
    .batch_size = "batch_size",
    .args_size = sizeof(struct ragged_batch_args),
    .rows = ragged_batch_rows,
    .expand = ragged_batch_expand,
};

leat_dataset *leat_dataset_ragged_batch(leat_dataset *input, int64_t batch_size,
                                        const leat_dataset_ragged_batch_options *options,
                                        leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_dataset_ragged_batch_options o = {LEAT_DATASET_RAGGED_BATCH_DEFAULTS};
    if (!LEATI_DATASET_OPTIONS(leat_dataset_ragged_batch_options, &o, options, &input, 1, err))
        return NULL;
    struct ragged_batch_args args = {.batch_size = batch_size,
                                     .drop_remainder = o.drop_remainder,
                                     .row_splits_dtype = o.row_splits_dtype};
    return leati_dataset_new(&leati_op_ragged_batch, &args, &input, 1, err);
}
