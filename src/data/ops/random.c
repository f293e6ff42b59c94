/* random: words of a Philox stream, as int64 scalars from 0 to 2^32 - 1 (tf.data.Dataset.random).
 *
 * The pair of seeds is resolved when the plan is made. Without rerandomize_each_iteration every
 * iteration reads the stream of that pair; with it each iterator and each epoch takes the next pair
 * of the node's seed generator, which all its iterators share. Position and advance are arithmetic.
 * Failures: want of memory only. Locks: none here; the generator has its own. */
#include "base/random.h"
#include "base/minmax.h"
#include "core/pools.h"
#include "data/plan/seed_generator.h"
#include "data/run/input.h"
#include "data/run/own.h"
#include <leat/data_ops.h>

struct random_args {
    leati_seed_argument seed;
    int8_t rerandomize_each_iteration;
    bool resolved;
    int64_t pair[2];
};

#define ROW(field) .offset = offsetof(struct random_args, field)

static const leati_row random_rows[] = {
    {.name = "seed",
     .type = LEATI_ROW_SEED,
     .flags = LEATI_NONE,
     ROW(seed),
     .doc = "Seed of the numbers."},
    {.name = "rerandomize_each_iteration",
     .type = LEATI_ROW_BOOL_OR_NONE,
     .flags = LEATI_NONE,
     ROW(rerandomize_each_iteration),
     .default_number = -1,
     .doc = "True: other numbers in every epoch and iterator."},
    LEATI_RESOLVED_ROWS(struct random_args),
    {0},
};

struct random_state {
    leati_seed_generator *generator; /* borrowed from the dataset */
    uint64_t pair[2];                /* of this epoch */
    leati_words words;               /* of the pair */
    int64_t given;                   /* words */
    leati_pools pools;
};

static leat_status random_check(leat_dataset *dataset, leat_error *err) {
    (void)err;
    struct random_args *args = dataset->args;
    leati_seed_resolve_once(args->seed, &args->resolved, args->pair);
    return LEAT_OK;
}

static leat_spec *random_spec(const leat_dataset *dataset, leat_error *err) {
    (void)dataset;
    return leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, err);
}

static int64_t random_cardinality(const leat_dataset *dataset) {
    (void)dataset;
    return LEAT_INFINITE_CARDINALITY;
}

static void *random_share(const leat_dataset *dataset, leat_error *err) {
    const struct random_args *args = dataset->args;
    /* None is TensorFlow's False: the pair itself is handed out, and all epochs are equal. */
    return leati_seed_generator_new(args->pair[0], args->pair[1],
                                    args->rerandomize_each_iteration != 1, err);
}

static void random_unshare(void *shared) {
    leati_seed_generator_free(shared);
}

static leat_status random_reset(leati_node_state *node, void *state, leat_error *err) {
    (void)node;
    (void)err;
    struct random_state *s = state;
    /* At the start of the epoch, not at its first word: the order of iterators counts. */
    leati_seed_generator_next(s->generator, s->pair);
    s->words = leati_words_new(s->pair[0], s->pair[1]);
    s->given = 0;
    return LEAT_OK;
}

static leat_status random_open(leati_node_state *node, void *state, leat_error *err) {
    struct random_state *s = state;
    s->generator = leati_own_shared(node->iteration->own, node->dataset, err);
    return s->generator == NULL ? LEAT_RESOURCE_EXHAUSTED : random_reset(node, state, err);
}

static leati_tail random_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                              leat_error *err) {
    (void)node;
    struct random_state *s = state;
    size_t target = out->byte_target > 0 ? out->byte_target : LEATI_BYTE_TARGET;
    int64_t most = (int64_t)(target / sizeof(int64_t));
    int64_t n = LEATI_MIN(want, most);
    n = LEATI_MAX(1, n);
    leat_buffer *buffer = leati_pools_take(&s->pools, (size_t)n * sizeof(int64_t), err);
    if (buffer == NULL || leati_block_prepare(out, 1, err) != LEAT_OK) {
        leat_buffer_unref(buffer);
        leati_block_clear(out);
        return LEATI_ERROR;
    }
    int64_t *values = leat_buffer_data(buffer);
    for (int64_t i = 0; i < n; i++)
        values[i] = leati_words_next(&s->words);
    s->given += n;
    leat_shape scalar = LEAT_SCALAR;
    leati_column_strided(&out->columns[0], LEAT_INT64, &scalar, values, sizeof(*values), buffer);
    out->n = n;
    return LEATI_MORE;
}

static leati_tail random_advance(leati_node_state *node, void *state, int64_t n, int64_t *passed,
                                 leat_error *err) {
    (void)node;
    (void)err;
    struct random_state *s = state;
    /* A word is a function of its number in the stream: none need be made to get behind it. */
    leati_words_skip(&s->words, (uint64_t)n);
    s->given += n;
    *passed = n;
    return LEATI_MORE;
}

static leat_status random_save(leati_node_state *node, void *state, leati_writer *out,
                               leati_save_cost *cost, leat_error *err) {
    (void)node;
    (void)cost;
    (void)err;
    struct random_state *s = state;
    /* The node's generator, too: as in TensorFlow restoring rewinds it for all iterators. The pair
     * is apart, because it was taken before where the generator stands now. */
    leati_seed_generator_save(s->generator, out);
    leati_put_fixed64(out, s->pair[0]);
    leati_put_fixed64(out, s->pair[1]);
    leati_put_int(out, s->given);
    return LEAT_OK;
}

static leat_status random_restore(leati_node_state *node, void *state, leati_reader *in,
                                  leat_error *err) {
    (void)node;
    struct random_state *s = state;
    leat_status status = leati_seed_generator_restore(s->generator, in, err);
    if (status == LEAT_OK)
        status = leati_get_fixed64(in, &s->pair[0], err);
    if (status == LEAT_OK)
        status = leati_get_fixed64(in, &s->pair[1], err);
    if (status == LEAT_OK)
        status = leati_get_int(in, &s->given, err);
    if (status == LEAT_OK && s->given < 0) {
        status = leati_fail(err, LEAT_DATA_LOSS, "random: a saved position of %lld; expected 0",
                            (long long)s->given);
    }
    if (status == LEAT_OK) {
        s->words = leati_words_new(s->pair[0], s->pair[1]);
        leati_words_skip(&s->words, (uint64_t)s->given);
    }
    return status;
}

static void random_close(leati_node_state *node, void *state) {
    (void)node;
    leati_pools_close(&((struct random_state *)state)->pools);
}

const leati_dataset_op leati_op_random = {
    .name = "random",
    .version = 1,
    .doc = "Random numbers from 0 to 2^32 - 1, without end. Saved as seeds and one position; "
           "restoring costs nothing.",
    .names = "Dataset.random experimental.RandomDataset",
    .num_inputs = 0,
    .flow = LEATI_SOURCE,
    .shards = LEATI_SHARD_NOT,
    .splits = LEATI_SPLITS_LOCAL,
    .batches = LEATI_BATCHES_OTHER,
    .flags = LEATI_OP_SHARED_DRAW | LEATI_OP_SEED_GENERATOR,
    .args_size = sizeof(struct random_args),
    .rows = random_rows,
    .check = random_check,
    .spec = random_spec,
    .cardinality = random_cardinality,
    .share = random_share,
    .unshare = random_unshare,
    .shared_settle = leati_seed_generator_settle,
    .shared_copy = leati_seed_generator_copy,
    .state_size = sizeof(struct random_state),
    .open = random_open,
    .pull = random_pull,
    .advance = random_advance,
    .save = random_save,
    .restore = random_restore,
    .reset = random_reset,
    .close = random_close,
};

leat_dataset *leat_dataset_random(const leat_dataset_random_options *options, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_dataset_random_options o = {LEAT_DATASET_RANDOM_DEFAULTS};
    if (LEATI_OPTIONS(leat_dataset_random_options, &o, options, err) != LEAT_OK)
        return NULL;
    struct random_args args = {.seed = {.given = o.seed.given, .value = o.seed.value},
                               .rerandomize_each_iteration = (int8_t)o.rerandomize_each_iteration};
    return leati_dataset_new(&leati_op_random, &args, NULL, 0, err);
}
