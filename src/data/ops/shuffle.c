/* shuffle: TensorFlow's order bit for bit (tf.data.Dataset.shuffle; reference: ShuffleDataset's
 * sampling from a buffer).
 *
 * Per element: fill the buffer, draw a word, emit slot (start + word mod filled) mod size, put what
 * stood at `start` in its place. An epoch's stream of words comes from a pair that the node's seed
 * generator hands out when the epoch begins; the generator is shared by all iterators of the node.
 * The input is opened (or reset) at the first fill of an epoch, as in TensorFlow, because that may
 * draw seeds too. An input's error is delivered when the fill meets it; what is buffered stays.
 *
 * With `epochs` other than 1 the node is shuffle and repeat in one: the order is the same, but the
 * next epochs are read into the places that the one being drawn from leaves free, and so their
 * errors come earlier. The ring itself is in data/kept/shuffle_ring.c, saving in
 * data/kept/shuffle_state.c.
 *
 * Random access knows no buffer: one permutation of all indices, drawn from the node's own pair.
 * As in TensorFlow a node of several epochs permutes the indices of all of them, and those behind
 * the input's last are OUT_OF_RANGE.
 */
#include "base/minmax.h"
#include "base/random.h"
#include "data/access/access.h"
#include "data/kept/shuffle_ring.h"
#include "data/plan/argument_rows.h"
#include "data/plan/seed_generator.h"
#include "data/run/own.h"
#include "data/source/split_source.h"
#include <leat/data_ops.h>

struct shuffle_args {
    int64_t buffer_size;
    leati_seed_argument seed;
    bool reshuffle_each_iteration;
    bool resolved;
    int64_t pair[2];
    int64_t epochs;
};

struct shuffle_access {
    leat_buffer *order; /* the permutation; NULL: not asked for yet */
};

#define ROW(field) .offset = offsetof(struct shuffle_args, field)

static const leati_row shuffle_rows[] = {
    LEATI_ROW_SHUFFLE_BUFFER(struct shuffle_args),
    LEATI_ROW_ORDER_SEED(struct shuffle_args),
    LEATI_ROW_RESHUFFLE(struct shuffle_args),
    LEATI_RESOLVED_ROWS(struct shuffle_args),
    {.name = "epochs",
     .type = LEATI_ROW_INT,
     .flags = LEATI_CONSTRUCT,
     ROW(epochs),
     .default_number = 1,
     .doc = "How many epochs of the input, -1 for ever (set by shuffle_and_repeat_fusion)."},
    {0},
};

static leat_status shuffle_check(leat_dataset *dataset, leat_error *err) {
    struct shuffle_args *args = dataset->args;
    if (args->buffer_size < 1 && args->buffer_size != LEAT_UNKNOWN_CARDINALITY) {
        return leati_refuse(err, VALUE,
                            "shuffle: buffer_size is %lld; expected at least 1, or -2 "
                            "(UNKNOWN_CARDINALITY) for the whole "
                            "input",
                            (long long)args->buffer_size);
    }
    if (args->epochs < 1 && args->epochs != -1) {
        return leati_refuse(err, VALUE,
                            "shuffle: epochs is %lld; expected at least 1, or -1 for ever",
                            (long long)args->epochs);
    }
    leati_seed_resolve_once(args->seed, &args->resolved, args->pair);
    return LEAT_OK;
}

static void *shuffle_share(const leat_dataset *dataset, leat_error *err) {
    const struct shuffle_args *args = dataset->args;
    return leati_seed_generator_new(args->pair[0], args->pair[1], !args->reshuffle_each_iteration,
                                    err);
}

static void shuffle_unshare(void *shared) {
    leati_seed_generator_free(shared);
}

/* Repeat's number, since a node may run through several epochs. */
static int64_t shuffle_cardinality(const leat_dataset *dataset) {
    const struct shuffle_args *args = dataset->args;
    return leati_dataset_repeat_cardinality(dataset->inputs[0], args->epochs);
}

/* The input is not opened here: as in TensorFlow the first fill does that. */
static leat_status shuffle_open(leati_node_state *node, void *state, leat_error *err) {
    const struct shuffle_args *args = node->dataset->args;
    leati_shuffle_ring *ring = state;
    ring->size = args->buffer_size < 0 ? INT64_MAX : args->buffer_size;
    ring->epochs = args->epochs;
    ring->shared = args->epochs < 0 && leati_split_source_below(node->dataset->inputs[0]);
    ring->num_slices = 1;
    LEATI_TRY(leati_reservoir_init(&ring->reservoir, node->dataset->spec, err));
    ring->generator = leati_own_shared(node->iteration->own, node->dataset, err);
    if (ring->generator == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leati_shuffle_begin(ring);
    return LEAT_OK;
}

static leat_status shuffle_reset(leati_node_state *node, void *state, leat_error *err) {
    (void)node;
    (void)err;
    /* The input is reset by the first fill, too. */
    leati_shuffle_begin(state);
    return LEAT_OK;
}

/* How many rows a block may have. */
static int64_t rows_wanted(const leati_shuffle_ring *ring, int64_t want, const leati_block *out) {
    /* Only columns of fixed rows are counted: others give references. */
    size_t row = 0;
    for (int c = 0; c < ring->reservoir.num_columns; c++)
        row += ring->reservoir.columns[c].row_bytes;
    int64_t most = out->byte_target == 0 || row == 0 ? want : (int64_t)(out->byte_target / row);
    most = LEATI_MAX(1, most);
    most = LEATI_MIN(want, most);
    return most < 4096 || out->destinations != NULL ? most : 4096;
}

static leati_tail shuffle_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                               leat_error *err) {
    leati_shuffle_ring *ring = state;
    int64_t n = rows_wanted(ring, want, out);
    /* A drawn element leaves room for another: n of them need n - 1 beyond a full ring. */
    leati_tail tail = leati_shuffle_ready(node, ring, n - 1, err);
    leati_block_clear(out);
    if (tail != LEATI_MORE)
        return tail;
    /* Before anything is drawn, so that a refusal loses no element. */
    if (leati_budget_holder_set(&node->holder, leati_reservoir_bytes(&ring->reservoir), err) !=
            LEAT_OK ||
        leati_reservoir_begin(&ring->reservoir, n, out, err) != LEAT_OK)
        return LEATI_ERROR;
    tail = leati_shuffle_draw(node, ring, n, out, err);
    leati_counter_set(&node->counters.depth, leati_shuffle_held(ring));
    leati_counter_set(&node->counters.bytes_held, leati_reservoir_bytes(&ring->reservoir));
    return tail;
}

static leat_status shuffle_save(leati_node_state *node, void *state, leati_writer *out,
                                leati_save_cost *cost, leat_error *err) {
    return leati_shuffle_save(node, state, out, cost, err);
}

static leat_status shuffle_restore(leati_node_state *node, void *state, leati_reader *in,
                                   leat_error *err) {
    return leati_shuffle_restore(node, state, in, err);
}

static void shuffle_close(leati_node_state *node, void *state) {
    (void)node;
    leati_shuffle_close(state);
}

static leat_status shuffle_at(leati_access *access, const int64_t *indices, int64_t n,
                              leati_block *out, leat_error *err) {
    struct shuffle_access *a = access->state;
    const leat_dataset *dataset = access->node.dataset;
    n = leati_access_checked(access, indices, n, err);
    /* The generator keeps the permutation: all accessors of the node see the same one. */
    if (n > 0 && a->order == NULL) {
        leati_seed_generator *generator = leati_dataset_shared(dataset, err);
        a->order = generator == NULL
                       ? NULL
                       : leati_seed_generator_order(generator, dataset->cardinality, err);
    }
    int64_t *below = n == 0 || a->order == NULL ? NULL : leati_access_indices(access, n, err);
    if (below == NULL)
        return err->code;
    const int64_t *order = leat_buffer_data(a->order);
    for (int64_t i = 0; i < n; i++)
        below[i] = order[indices[i]];
    return leati_access_input(access, 0, below, n, out, err);
}

static void shuffle_access_close(leati_access *access) {
    leat_buffer_unref(((struct shuffle_access *)access->state)->order);
}

static leat_status shuffle_indexable(const leat_dataset *dataset, leat_error *err) {
    (void)dataset;
    return leati_fail(err, LEAT_FAILED_PRECONDITION,
                      "global_shuffle does not stand over shuffle; one of them is enough");
}

const leati_dataset_op leati_op_shuffle = {
    .name = "shuffle",
    .version = 1,
    .doc = "The elements in a random order drawn from a buffer. Saved as positions (restoring "
           "computes at most buffer_size elements "
           "again) where the input can be replayed, else as the buffer's data.",
    .names = "Dataset.shuffle",
    .num_inputs = 1,
    .flow = LEATI_REORDERS,
    .shards = LEATI_SHARD_SEES_THROUGH,
    .splits = LEATI_SPLITS_THROUGH,
    .batches = LEATI_BATCHES_SAME,
    .flags = LEATI_OP_SHARED_DRAW | LEATI_OP_SEED_GENERATOR | LEATI_OP_NEVER_FAILS,
    .args_size = sizeof(struct shuffle_args),
    .rows = shuffle_rows,
    .check = shuffle_check,
    .cardinality = shuffle_cardinality,
    .share = shuffle_share,
    .unshare = shuffle_unshare,
    .shared_settle = leati_seed_generator_settle,
    .shared_copy = leati_seed_generator_copy,
    .state_size = sizeof(leati_shuffle_ring),
    .open = shuffle_open,
    .pull = shuffle_pull,
    .save = shuffle_save,
    .restore = shuffle_restore,
    .reset = shuffle_reset,
    .close = shuffle_close,
    .access_size = sizeof(struct shuffle_access),
    .at = shuffle_at,
    .access_close = shuffle_access_close,
    .indexable = shuffle_indexable,
};

leat_dataset *leati_dataset_shuffle_resolved(leat_dataset *input, int64_t buffer_size,
                                             const int64_t pair[2], leat_error *err) {
    struct shuffle_args args = {.buffer_size = buffer_size,
                                .reshuffle_each_iteration = true,
                                .resolved = true,
                                .epochs = 1,
                                .pair = {pair[0], pair[1]}};
    return leati_dataset_new(&leati_op_shuffle, &args, &input, 1, err);
}

int64_t leati_dataset_shuffle_epochs(const leat_dataset *dataset) {
    return dataset->op == &leati_op_shuffle ? ((const struct shuffle_args *)dataset->args)->epochs
                                            : 0;
}

leat_dataset *leati_dataset_shuffle_repeated(const leat_dataset *shuffle, int64_t epochs,
                                             leat_error *err) {
    struct shuffle_args args = *(const struct shuffle_args *)shuffle->args;
    args.epochs = epochs;
    /* The copy borrows the shuffle's generator, so that their draws go on from each other's. */
    return leati_dataset_with(shuffle, &args,
                              (leat_dataset *[]){leat_dataset_ref(shuffle->inputs[0])}, err);
}

leat_dataset *leat_dataset_shuffle(leat_dataset *input, int64_t buffer_size,
                                   const leat_dataset_shuffle_options *options, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_dataset_shuffle_options o = {LEAT_DATASET_SHUFFLE_DEFAULTS};
    if (!LEATI_DATASET_OPTIONS(leat_dataset_shuffle_options, &o, options, &input, 1, err))
        return NULL;
    struct shuffle_args args = {.buffer_size = buffer_size,
                                .seed = {.given = o.seed.given, .value = o.seed.value},
                                .reshuffle_each_iteration = o.reshuffle_each_iteration,
                                .epochs = 1};
    return leati_dataset_new(&leati_op_shuffle, &args, &input, 1, err);
}
