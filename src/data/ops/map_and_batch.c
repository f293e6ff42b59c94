/* map_and_batch: map and batch as one operator (tf.data.experimental.map_and_batch).
 *
 * Expands to a batch over a map, joined as map_and_batch_fusion joins them: an element that fails
 * costs exactly its batch, and the order is always the input's. There is nothing to run here. */
#include "data/plan/argument_rows.h"
#include "data/rewrites/rewrite.h"
#include "data/run/apply.h"
#include <leat/data_ops.h>

/* No header has the rules: they stand in a table (data/rewrites.def). */
extern const leati_rewrite_rule leati_rewrite_map_and_batch_fusion;

struct map_and_batch_args {
    leat_object *function;
    int64_t batch_size;
    int64_t num_parallel_batches;
    bool drop_remainder;
    int64_t num_parallel_calls;
};

#define ROW(field) .offset = offsetof(struct map_and_batch_args, field)

enum { MOST_CALLS = 1 << 16 }; /* calls at a time; a batch may be larger than any pool */

static const leati_row map_and_batch_rows[] = {
    {.name = "map_func",
     .type = LEATI_ROW_FUNCTION,
     .flags = LEATI_REQUIRED,
     ROW(function),
     .doc = "Applied to each element."},
    LEATI_ROW_BATCH_SIZE(struct map_and_batch_args, "Elements of a batch."),
    {.name = "num_parallel_batches",
     .type = LEATI_ROW_INT,
     .flags = LEATI_NONE,
     ROW(num_parallel_batches),
     .doc = "As many calls at a time as so many batches have elements; none: by "
            "num_parallel_calls."},
    LEATI_ROW_DROP_REMAINDER(struct map_and_batch_args),
    {.name = "num_parallel_calls",
     .type = LEATI_ROW_INT,
     .flags = LEATI_NONE | LEATI_AUTOTUNE,
     ROW(num_parallel_calls),
     .doc = "Calls at a time; none: batch_size."},
    {0},
};

static leat_status map_and_batch_check(leat_dataset *dataset, leat_error *err) {
    const struct map_and_batch_args *args = dataset->args;
    if (args->num_parallel_batches != 0 && args->num_parallel_calls != 0) {
        return leati_refuse(err, VALUE,
                            "map_and_batch: allows only one of `num_parallel_batches` and "
                            "`num_parallel_calls`");
    }
    if (args->num_parallel_batches < 0 || args->num_parallel_calls < LEAT_AUTOTUNE) {
        return leati_refuse(err, VALUE,
                            "map_and_batch: num_parallel_batches is %lld, num_parallel_calls %lld; "
                            "expected at least 1, or AUTOTUNE (-1) calls",
                            (long long)args->num_parallel_batches,
                            (long long)args->num_parallel_calls);
    }
    return LEAT_OK;
}

/* As in TensorFlow: as many calls as that many batches have elements, and one batch's by
 * default. */
static int64_t calls(const struct map_and_batch_args *args) {
    if (args->num_parallel_calls != 0)
        return args->num_parallel_calls;
    int64_t batches = args->num_parallel_batches > 0 ? args->num_parallel_batches : 1, product = 0;
    bool large = __builtin_mul_overflow(batches, args->batch_size, &product);
    return large || product > MOST_CALLS ? MOST_CALLS : product;
}

static leat_dataset *map_and_batch_expand(const leat_dataset *dataset, leat_error *err) {
    const struct map_and_batch_args *args = dataset->args;
    leat_dataset_map_options map_options = {LEAT_DATASET_MAP_DEFAULTS};
    map_options.num_parallel_calls = calls(args);
    leat_dataset_batch_options batch_options = {LEAT_DATASET_BATCH_DEFAULTS,
                                                .drop_remainder = args->drop_remainder};
    /* A step that fails gives NULL, which the next one passes on with its error. */
    leat_dataset *map = leat_dataset_map(leat_dataset_ref(dataset->inputs[0]),
                                         leati_object_ref(args->function), &map_options, err);
    leat_dataset *batch = leat_dataset_batch(map, args->batch_size, &batch_options, err);
    /* Not left to the options, which may switch the rewrite off: what an error costs depends on
     * it. */
    leat_dataset *fused =
        batch == NULL ? NULL : leati_rewrite_map_and_batch_fusion.apply(batch, err);
    leat_dataset_unref(batch);
    return fused;
}

static int64_t map_and_batch_cardinality(const leat_dataset *dataset) {
    const struct map_and_batch_args *args = dataset->args;
    int64_t input = dataset->inputs[0]->cardinality;
    return input < 0 ? input
                     : input / args->batch_size +
                           (!args->drop_remainder && input % args->batch_size != 0);
}

const leati_dataset_op leati_op_map_and_batch = {
    .name = "map_and_batch",
    .version = 1,
    .doc = "`map_func` of every element, in batches. Runs, is saved and restored as map and batch.",
    .names = "Dataset.map_and_batch experimental.map_and_batch",
    .num_inputs = 1,
    .flow = LEATI_FEWER,
    .shards = LEATI_SHARD_SEES_THROUGH,
    .splits = LEATI_SPLITS_THROUGH,
    .batches = LEATI_BATCHES_ROWS,
    .batch_size = "batch_size",
    .args_size = sizeof(struct map_and_batch_args),
    .rows = map_and_batch_rows,
    .check = map_and_batch_check,
    .cardinality = map_and_batch_cardinality,
    .expand = map_and_batch_expand,
};

leat_dataset *leat_dataset_map_and_batch(leat_dataset *input, leat_function *function,
                                         int64_t batch_size,
                                         const leat_dataset_map_and_batch_options *options,
                                         leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_dataset_map_and_batch_options o = {LEAT_DATASET_MAP_AND_BATCH_DEFAULTS};
    leat_dataset *dataset = NULL;
    if (LEATI_DATASET_OPTIONS(leat_dataset_map_and_batch_options, &o, options, &input, 1, err) &&
        !leati_apply_function_is_missing(function, "map_and_batch", "map_func", &input, 1, err)) {
        struct map_and_batch_args args = {.function = (leat_object *)function,
                                          .batch_size = batch_size,
                                          .num_parallel_batches = o.num_parallel_batches,
                                          .drop_remainder = o.drop_remainder,
                                          .num_parallel_calls = o.num_parallel_calls};
        dataset = leati_dataset_new(&leati_op_map_and_batch, &args, &input, 1, err);
    }
    leat_function_unref(function);
    return dataset;
}
