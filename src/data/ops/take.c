/* take: the first `count` elements (tf.data.Dataset.take).
 *
 * Hands on views of its input's blocks and never asks for more than is left, so that the input
 * computes nothing beyond the last element; with a count of 0 it is not even opened. A negative
 * count takes everything. An input's error counts as nothing: TensorFlow counts elements only. */
#include "data/access/access.h"
#include "data/run/input.h"
#include <leat/data_ops.h>

struct take_args {
    int64_t count;
};

static const leati_row take_rows[] = {
    {.name = "count",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct take_args, count),
     .doc = "How many elements; a negative number takes everything."},
    {0},
};

struct take_state {
    leati_input input;
    int64_t left; /* -1: no limit */
};

static int64_t take_cardinality(const leat_dataset *dataset) {
    const struct take_args *args = dataset->args;
    int64_t input = dataset->inputs[0]->cardinality;
    if (input == LEAT_UNKNOWN_CARDINALITY || args->count < 0)
        return input;
    return input == LEAT_INFINITE_CARDINALITY || input > args->count ? args->count : input;
}

static void take_start(leati_node_state *node, void *state) {
    const struct take_args *args = node->dataset->args;
    ((struct take_state *)state)->left = args->count < 0 ? -1 : args->count;
}

static leat_status take_open(leati_node_state *node, void *state, leat_error *err) {
    struct take_state *s = state;
    return s->left == 0 ? LEAT_OK : leati_input_open(&s->input, node, 0, err);
}

static leati_tail take_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                            leat_error *err) {
    (void)node;
    struct take_state *s = state;
    if (s->left == 0) {
        leati_block_clear(out);
        return LEATI_END;
    }
    leati_tail tail =
        leati_input_take(&s->input, s->left < 0 || want < s->left ? want : s->left, out, err);
    if (s->left > 0)
        s->left -= out->n;
    /* The last element brings the end along: the input is not asked again. */
    return s->left == 0 && tail == LEATI_MORE ? LEATI_END : tail;
}

static leati_tail take_advance(leati_node_state *node, void *state, int64_t n, int64_t *passed,
                               leat_error *err) {
    struct take_state *s = state;
    if (s->left == 0)
        return LEATI_END;
    /* Errors do not count, and advancing does not tell them from elements. */
    if (!leati_state_cannot_fail(node->dataset->inputs[0]))
        return leati_state_node_advance_by_pulling(node, n, passed, err);
    leati_tail tail =
        leati_input_advance(&s->input, s->left < 0 || n < s->left ? n : s->left, passed, err);
    if (s->left > 0)
        s->left -= *passed;
    return s->left == 0 && tail == LEATI_MORE ? LEATI_END : tail;
}

static leat_status take_restored(leati_node_state *node, void *state, leat_error *err) {
    int64_t left = ((struct take_state *)state)->left;
    int64_t count = ((const struct take_args *)node->dataset->args)->count;
    /* No state has more left than the arguments say, nor a limit where they have none. */
    return left <= (count < 0 ? -1 : count) && (left < 0) == (count < 0)
               ? LEAT_OK
               : leati_fail(err, LEAT_DATA_LOSS, "a saved number of %lld elements left of %lld",
                            (long long)left, (long long)count);
}

static leat_status take_at(leati_access *access, const int64_t *indices, int64_t n,
                           leati_block *out, leat_error *err) {
    const struct take_args *args = access->node.dataset->args;
    /* Without a limit the input alone knows which indices there are. */
    if (args->count >= 0)
        n = leati_access_checked(access, indices, n, err);
    return n == 0 ? err->code : leati_access_input(access, 0, indices, n, out, err);
}

/* TensorFlow blames the number first where it is none. */
static leat_status take_indexable(const leat_dataset *dataset, leat_error *err) {
    return take_cardinality(dataset) >= 0
               ? LEAT_OK
               : leati_refuse(err, VALUE,
                              "the number of elements that take gives is infinite or unknown; "
                              "expected a known one (assert_cardinality gives it)");
}

static bool take_changes_nothing(const leat_dataset *dataset) {
    const struct take_args *args = dataset->args;
    return args->count < 0;
}

const leati_dataset_op leati_op_take = {
    .name = "take",
    .version = 1,
    .doc = "The first `count` elements. Saved as the number left and the input's position; "
           "restoring costs the input's.",
    .names = "Dataset.take",
    .num_inputs = 1,
    .flow = LEATI_FEWER,
    .shards = LEATI_SHARD_SEES_THROUGH,
    .splits = LEATI_SPLITS_THROUGH,
    .batches = LEATI_BATCHES_SAME,
    .flags = LEATI_OP_NEVER_FAILS,
    .args_size = sizeof(struct take_args),
    .rows = take_rows,
    .cardinality = take_cardinality,
    .changes_nothing = take_changes_nothing,
    .state_size = sizeof(struct take_state),
    .saved = {LEATI_SAVED(struct take_state, left)},
    .start = take_start,
    .restored = take_restored,
    .open = take_open,
    .pull = take_pull,
    .advance = take_advance,
    .at = take_at,
    .indexable = take_indexable,
};

leat_dataset *leat_dataset_take(leat_dataset *input, int64_t count, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    return leati_dataset_new(&leati_op_take, &(struct take_args){.count = count}, &input, 1, err);
}
