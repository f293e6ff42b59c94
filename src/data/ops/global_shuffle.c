/* global_shuffle: all elements in a random order, without a buffer (TensorFlow's internal
 * tf.data operator of that name).
 *
 * Element p of an epoch is element permutation(p) of the input, asked for by number
 * (data/access/access.h); so every operator below must have random access, and the number of
 * elements must be known when the operator is built. The permutation is keyed by three numbers of
 * the node's seed generator, which two requests draw when an epoch begins. An element that fails
 * costs its own place. No locks. */
#include "base/hash.h"
#include "base/minmax.h"
#include "base/permutation.h"
#include "data/access/access.h"
#include "data/plan/argument_rows.h"
#include "data/plan/seed_generator.h"
#include "data/run/own.h"
#include <leat/data_ops.h>

struct global_args {
    leati_seed_argument seed;
    bool reshuffle_each_iteration;
    bool resolved;
    int64_t pair[2];
};

static const leati_row global_rows[] = {
    LEATI_ROW_ORDER_SEED(struct global_args),
    LEATI_ROW_RESHUFFLE(struct global_args),
    LEATI_RESOLVED_ROWS(struct global_args),
    {0},
};

/* TensorFlow's number of rounds, without which the same key would give another order. */
enum { MOST_ASKED = 4096, CIPHER_ROUNDS = 8 };

struct global_state {
    leati_iteration iteration; /* the iterator's, with a random scope for each epoch */
    leati_access *input;
    leati_seed_generator *generator; /* the node's */
    uint32_t key[3];
    leati_permutation order; /* by the key */
    int64_t count;           /* of elements */
    int64_t position;        /* outcomes of this epoch */
    int64_t epoch;
    int64_t *indices; /* MOST_ASKED of them */
};

/* A plan that was rewritten is not judged again: what it was built from was. */
static leat_status global_check(leat_dataset *dataset, leat_error *err) {
    struct global_args *args = dataset->args;
    const leat_dataset *input = dataset->inputs[0];
    bool judged = args->resolved;
    leati_seed_resolve_once(args->seed, &args->resolved, args->pair);
    leat_status status = judged ? LEAT_OK : leati_access_check(input, err);
    if (status != LEAT_OK)
        return leati_prefix(err, "global_shuffle");
    return input->cardinality > 0
               ? LEAT_OK
               : leati_refuse(err, VALUE,
                              "global_shuffle: the input's cardinality is %lld; expected a known "
                              "number of at least one (assert_cardinality gives it one)",
                              (long long)input->cardinality);
}

static void *global_share(const leat_dataset *dataset, leat_error *err) {
    const struct global_args *args = dataset->args;
    return leati_seed_generator_new(args->pair[0], args->pair[1], !args->reshuffle_each_iteration,
                                    err);
}

static void global_unshare(void *shared) {
    leati_seed_generator_free(shared);
}

/* What follows from key and epoch. Functions that draw numbers by index draw others in each. */
static void set_order(const leati_node_state *node, struct global_state *s) {
    s->order = leati_permutation_new(s->key, (uint64_t)s->count - 1, CIPHER_ROUNDS);
    s->iteration.scope = s->epoch == 0
                             ? node->iteration->scope
                             : leati_hash(&s->epoch, sizeof(s->epoch), node->iteration->scope);
}

/* Of the four numbers of two requests three are the key, as in TensorFlow. */
static void begin_epoch(const leati_node_state *node, struct global_state *s) {
    uint64_t first[2], second[2];
    leati_seed_generator_next(s->generator, first);
    leati_seed_generator_next(s->generator, second);
    s->key[0] = (uint32_t)first[0];
    s->key[1] = (uint32_t)first[1];
    s->key[2] = (uint32_t)second[0];
    s->position = 0;
    set_order(node, s);
}

static leat_status global_open(leati_node_state *node, void *state, leat_error *err) {
    struct global_state *s = state;
    s->count = node->dataset->cardinality;
    /* A copy of the iterator's, because its scope changes from epoch to epoch. */
    s->iteration = *node->iteration;
    s->generator = leati_own_shared(node->iteration->own, node->dataset, err);
    s->indices = leati_alloc(MOST_ASKED, sizeof(*s->indices));
    if (s->generator == NULL || s->indices == NULL)
        return s->generator == NULL ? LEAT_RESOURCE_EXHAUSTED : leati_no_memory(err);
    /* For iteration, which is allowed what only `at` is refused, such as a fused batch. */
    s->input = leati_access_open(node->dataset->inputs[0], &s->iteration, node, true, err);
    if (s->input == NULL)
        return err->code;
    begin_epoch(node, s);
    return LEAT_OK;
}

static leati_tail global_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                              leat_error *err) {
    (void)node;
    struct global_state *s = state;
    int64_t left = s->count - s->position, n = LEATI_MIN(want, left);
    n = LEATI_MIN(n, MOST_ASKED);
    if (n == 0) {
        leati_block_clear(out);
        return LEATI_END;
    }
    /* Index by index: no list of all elements is held. */
    for (int64_t i = 0; i < n; i++)
        s->indices[i] = (int64_t)leati_permutation_at(&s->order, (uint64_t)(s->position + i));
    leat_status status = leati_access_get(s->input, s->indices, n, out, err);
    /* A failure is that of the first index; what was asked for behind it is asked for again. */
    s->position += status == LEAT_OK ? out->n : 1;
    if (status != LEAT_OK)
        return LEATI_ERROR;
    return s->position == s->count ? LEATI_END : LEATI_MORE;
}

static leati_tail global_advance(leati_node_state *node, void *state, int64_t n, int64_t *passed,
                                 leat_error *err) {
    (void)node;
    (void)err;
    struct global_state *s = state;
    /* Elements are asked for by number: passing some asks for none. */
    int64_t left = s->count - s->position;
    *passed = n < left ? n : left;
    s->position += *passed;
    return s->position == s->count ? LEATI_END : LEATI_MORE;
}

static leat_status global_save(leati_node_state *node, void *state, leati_writer *out,
                               leati_save_cost *cost, leat_error *err) {
    (void)node;
    (void)cost;
    (void)err;
    struct global_state *s = state;
    /* Below 0, because states of version 1 begin with the position and lack the generator. */
    leati_put_int(out, -1 - s->position);
    leati_seed_generator_save(s->generator, out);
    leati_put_int(out, s->epoch);
    for (int i = 0; i < 3; i++)
        leati_put_uint(out, s->key[i]);
    return LEAT_OK;
}

static leat_status global_restore(leati_node_state *node, void *state, leati_reader *in,
                                  leat_error *err) {
    struct global_state *s = state;
    uint64_t key[3] = {0};
    leat_status status = leati_get_int(in, &s->position, err);
    if (status == LEAT_OK && s->position < 0) {
        s->position = -1 - s->position;
        status = leati_seed_generator_restore(s->generator, in, err);
    }
    if (status == LEAT_OK)
        status = leati_get_int(in, &s->epoch, err);
    for (int i = 0; i < 3 && status == LEAT_OK; i++) {
        status = leati_get_uint(in, &key[i], err);
        s->key[i] = (uint32_t)key[i];
    }
    if (status == LEAT_OK && (s->position < 0 || s->position > s->count)) {
        status = leati_fail(err, LEAT_DATA_LOSS,
                            "global_shuffle: a saved position of %lld; expected 0 to %lld",
                            (long long)s->position, (long long)s->count);
    }
    if (status == LEAT_OK)
        set_order(node, s);
    return status;
}

static leat_status global_reset(leati_node_state *node, void *state, leat_error *err) {
    (void)err;
    struct global_state *s = state;
    s->epoch++;
    begin_epoch(node, s);
    return LEAT_OK;
}

static void global_close(leati_node_state *node, void *state) {
    (void)node;
    struct global_state *s = state;
    leati_access_close(s->input);
    leati_free(s->indices);
}

const leati_dataset_op leati_op_global_shuffle = {
    .name = "global_shuffle",
    .version = 1,
    .doc = "All elements in a random order, asked from the input by number; nothing is buffered. "
           "Saved as a position and the order's key; restoring costs nothing.",
    .names = "Dataset.global_shuffle experimental.global_shuffle",
    .num_inputs = 1,
    .flow = LEATI_REORDERS,
    .shards = LEATI_SHARD_NOT,
    .splits = LEATI_SPLITS_REFUSED,
    .batches = LEATI_BATCHES_OTHER,
    .flags = LEATI_OP_SHARED_DRAW | LEATI_OP_SEED_GENERATOR,
    .args_size = sizeof(struct global_args),
    .rows = global_rows,
    .check = global_check,
    .share = global_share,
    .unshare = global_unshare,
    .shared_settle = leati_seed_generator_settle,
    .shared_copy = leati_seed_generator_copy,
    .state_size = sizeof(struct global_state),
    .open = global_open,
    .pull = global_pull,
    .advance = global_advance,
    .save = global_save,
    .restore = global_restore,
    .reset = global_reset,
    .close = global_close,
};

leat_dataset *leat_dataset_global_shuffle(leat_dataset *input,
                                          const leat_dataset_shuffle_options *options,
                                          leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_dataset_shuffle_options o = {LEAT_DATASET_SHUFFLE_DEFAULTS};
    if (!LEATI_DATASET_OPTIONS(leat_dataset_shuffle_options, &o, options, &input, 1, err))
        return NULL;
    struct global_args args = {.seed = {.given = o.seed.given, .value = o.seed.value},
                               .reshuffle_each_iteration = o.reshuffle_each_iteration};
    return leati_dataset_new(&leati_op_global_shuffle, &args, &input, 1, err);
}
