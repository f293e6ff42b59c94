/* shuffle_and_repeat: shuffle and repeat as one operator (tf.data.experimental.shuffle_and_repeat).
 *
 * Expands to a shuffle that runs through several epochs: the order is that of repeat over shuffle,
 * and the next epochs are read into the free places of the buffer. The seed generator is this
 * node's, so that all its iterators draw from one. There is nothing to run here. */
#include "base/random.h"
#include "data/plan/argument_rows.h"
#include "data/plan/dataset.h"
#include "data/plan/seed_generator.h"
#include <leat/data_ops.h>

struct both_args {
    int64_t buffer_size;
    int64_t count;
    leati_seed_argument seed;
    bool resolved;
    int64_t pair[2];
};

#define ROW(field) .offset = offsetof(struct both_args, field)

static const leati_row both_rows[] = {
    LEATI_ROW_SHUFFLE_BUFFER(struct both_args),
    {.name = "count",
     .type = LEATI_ROW_INT,
     .flags = LEATI_NONE,
     ROW(count),
     .default_number = -1,
     .doc = "How many epochs, at least 1; -1 or none repeats forever."},
    LEATI_ROW_ORDER_SEED(struct both_args),
    LEATI_RESOLVED_ROWS(struct both_args),
    {0},
};

static leat_status both_check(leat_dataset *dataset, leat_error *err) {
    struct both_args *args = dataset->args;
    if (args->count < 1 && args->count != -1) {
        return leati_refuse(
            err, VALUE, "shuffle_and_repeat: count is %lld; expected at least 1, or -1 for ever",
            (long long)args->count);
    }
    if (args->buffer_size < 1 && args->buffer_size != LEAT_UNKNOWN_CARDINALITY) {
        return leati_refuse(err, VALUE,
                            "shuffle_and_repeat: buffer_size is %lld; expected at least 1, or -2 "
                            "(UNKNOWN_CARDINALITY) for the whole input",
                            (long long)args->buffer_size);
    }
    leati_seed_resolve_once(args->seed, &args->resolved, args->pair);
    return LEAT_OK;
}

/* Endless also over an input that is known to be empty, which repeat would call empty. */
static int64_t both_cardinality(const leat_dataset *dataset) {
    const struct both_args *args = dataset->args;
    return args->count < 0 ? LEAT_INFINITE_CARDINALITY
                           : leati_dataset_repeat_cardinality(dataset->inputs[0], args->count);
}

static void *both_share(const leat_dataset *dataset, leat_error *err) {
    const struct both_args *args = dataset->args;
    /* Other orders in each epoch: TensorFlow has no argument for anything else here. */
    return leati_seed_generator_new(args->pair[0], args->pair[1], false, err);
}

static void both_unshare(void *shared) {
    leati_seed_generator_free(shared);
}

static leat_dataset *both_expand(const leat_dataset *dataset, leat_error *err) {
    const struct both_args *args = dataset->args;
    leat_dataset *shuffle = leati_dataset_shuffle_resolved(leat_dataset_ref(dataset->inputs[0]),
                                                           args->buffer_size, args->pair, err);
    if (shuffle == NULL)
        return NULL;
    /* Nobody has seen the shuffle yet: it borrows this node's seed generator. */
    shuffle->origin = leat_dataset_ref(dataset->origin);
    /* A buffer that takes in everything would have room for the next epochs at once. */
    if (args->buffer_size < 0)
        return leat_dataset_repeat(shuffle, args->count, err);
    /* The first node was needed as what the copy is made of. */
    leat_dataset *both = leati_dataset_shuffle_repeated(shuffle, args->count, err);
    leat_dataset_unref(shuffle);
    return both;
}

const leati_dataset_op leati_op_shuffle_and_repeat = {
    .name = "shuffle_and_repeat",
    .version = 1,
    .doc = "The input's epochs, each in a random order. Runs, is saved and restored as shuffle.",
    .names = "Dataset.shuffle_and_repeat experimental.shuffle_and_repeat",
    .num_inputs = 1,
    .flow = LEATI_MORE_OUT,
    .shards = LEATI_SHARD_SEES_THROUGH,
    .splits = LEATI_SPLITS_THROUGH,
    .batches = LEATI_BATCHES_SAME,
    .flags = LEATI_OP_SHARED_DRAW | LEATI_OP_SEED_GENERATOR,
    .args_size = sizeof(struct both_args),
    .rows = both_rows,
    .check = both_check,
    .cardinality = both_cardinality,
    .share = both_share,
    .unshare = both_unshare,
    .shared_settle = leati_seed_generator_settle,
    .shared_copy = leati_seed_generator_copy,
    .expand = both_expand,
};

leat_dataset *leat_dataset_shuffle_and_repeat(leat_dataset *input, int64_t buffer_size,
                                              int64_t count, leat_seed seed, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    struct both_args args = {.buffer_size = buffer_size,
                             .count = count,
                             .seed = {.given = seed.given, .value = seed.value}};
    return leati_dataset_new(&leati_op_shuffle_and_repeat, &args, &input, 1, err);
}
