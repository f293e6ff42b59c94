/* shard: every num_shards-th element, from number `index` on (tf.data.Dataset.shard).
 *
 * Blocks are strided views of the input's. A source that can pass elements without reading them is
 * asked one element at a time, because TensorFlow does not read what it skips either (a damaged
 * record in another shard costs nothing). As there, an error met while skipping lets the skipping
 * begin anew, and one met at an own element leaves its place to the next one. */
#include "base/minmax.h"
#include "data/access/access.h"
#include "data/run/input.h"
#include <leat/data_ops.h>

struct shard_args {
    int64_t num_shards, index;
    bool require_non_empty; /* a shard that finds too few elements for all of them fails */
};

static const leati_row shard_rows[] = {
    {.name = "num_shards",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct shard_args, num_shards),
     .doc = "How many shards; -1 (SHARD_HINT) is for distribution to fill in."},
    {.name = "index",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct shard_args, index),
     .doc = "Which shard, from 0 to num_shards - 1."},
    {.name = "require_non_empty",
     .type = LEATI_ROW_BOOL,
     .flags = LEATI_CONSTRUCT,
     .offset = offsetof(struct shard_args, require_non_empty),
     .doc = "Fails where another shard gets nothing."},
    {0},
};

enum { SHARD_HINT = -1 };

struct shard_state {
    leati_input input;
    int64_t next;    /* number of the input's next element, modulo num_shards */
    int64_t skipped; /* elements passed since, on the way to the next own one */
    bool checked;    /* for require_non_empty: the first own element has been looked behind */
};

static leat_status shard_check(leat_dataset *dataset, leat_error *err) {
    const struct shard_args *args = dataset->args;
    if (args->num_shards < 1 && args->num_shards != SHARD_HINT) {
        return leati_refuse(err, VALUE, "shard: num_shards is %lld; expected at least 1",
                            (long long)args->num_shards);
    }
    if (args->num_shards != SHARD_HINT && (args->index < 0 || args->index >= args->num_shards)) {
        return leati_refuse(err, VALUE, "shard: index is %lld; expected 0 to %lld",
                            (long long)args->index, (long long)args->num_shards - 1);
    }
    return LEAT_OK;
}

static int64_t shard_cardinality(const leat_dataset *dataset) {
    const struct shard_args *args = dataset->args;
    int64_t n = dataset->inputs[0]->cardinality;
    if (args->num_shards == SHARD_HINT)
        return LEAT_UNKNOWN_CARDINALITY;
    /* The first n % num_shards shards have one element more than the others. */
    return n < 0 ? n : n / args->num_shards + (args->index < n % args->num_shards);
}

static leat_status check_hint(const struct shard_args *args, leat_error *err) {
    return args->num_shards != SHARD_HINT
               ? LEAT_OK
               : leati_fail(err, LEAT_FAILED_PRECONDITION,
                            "shard: num_shards is still SHARD_HINT (-1); distribute the dataset "
                            "with the autoshard policy HINT, or give a number");
}

static leat_status shard_open(leati_node_state *node, void *state, leat_error *err) {
    LEATI_TRY(check_hint(node->dataset->args, err));
    return leati_input_open(&((struct shard_state *)state)->input, node, 0, err);
}

/* Elements to pass before the next own one. */
static int64_t to_skip(const struct shard_args *args, const struct shard_state *s) {
    int64_t skip = args->index - s->next;
    return (skip < 0 ? skip + args->num_shards : skip) - s->skipped;
}

static void own_element_taken(const struct shard_args *args, struct shard_state *s) {
    s->next = args->index + 1 == args->num_shards ? 0 : args->index + 1;
    s->skipped = 0;
}

static leati_tail failed(const leati_node_state *node, struct shard_state *s, bool skipping) {
    /* What TensorFlow's Skip passed before its error does not count; an error at the own element
     * comes after a Skip that does. */
    if (!skipping) {
        const struct shard_args *args = node->dataset->args;
        s->next = args->index;
    }
    s->skipped = 0;
    return LEATI_ERROR;
}

static leati_tail shard_by_skipping(const leati_node_state *node, struct shard_state *s,
                                    leati_block *out, leat_error *err) {
    const struct shard_args *args = node->dataset->args;
    int64_t skipped = 0, skip = to_skip(args, s);
    leati_tail tail = skip > 0 ? leati_input_skip(&s->input, skip, &skipped, err) : LEATI_MORE;
    if (tail != LEATI_MORE)
        return tail == LEATI_ERROR ? failed(node, s, true) : tail;
    s->skipped += skip;
    tail = leati_input_take(&s->input, 1, out, err);
    if (out->n > 0)
        own_element_taken(args, s);
    else if (tail == LEATI_ERROR)
        return failed(node, s, false);
    return tail;
}

/* Takes what the input's block has of this shard; s->next and s->skipped move on. */
static leat_status take_strided(const struct shard_args *args, struct shard_state *s,
                                int64_t available, int64_t want, leati_block *out,
                                leat_error *err) {
    int64_t skip = to_skip(args, s);
    if (skip >= available) {
        s->skipped += available;
        leati_input_consume(&s->input, available);
        return LEAT_OK;
    }
    /* Own elements among `available`, of which the first stands behind `skip` others. */
    int64_t n = 1 + (available - 1 - skip) / args->num_shards;
    n = LEATI_MIN(n, want);
    LEATI_TRY(leati_block_stride(&s->input.block, leati_input_begin(&s->input) + skip,
                                 args->num_shards, n, out, err));
    int64_t used = skip + (n - 1) * args->num_shards + 1;
    own_element_taken(args, s);
    /* Fewer than wanted: what is left of the block has none, and counts towards the next. */
    if (n < want) {
        s->skipped = available - used;
        used = available;
    }
    leati_input_consume(&s->input, used);
    return LEAT_OK;
}

/* The first own element, if every shard gets one: those behind it, up to the next round, are
 * passed. As in TensorFlow only a shard that has an element can fail: one beyond the last element
 * just ends. */
static leati_tail shard_first(const leati_node_state *node, struct shard_state *s, leati_block *out,
                              leat_error *err) {
    const struct shard_args *args = node->dataset->args;
    leati_tail tail = shard_by_skipping(node, s, out, err);
    if (out->n == 0)
        return tail;
    /* The elements of the shards behind this one in the first round. */
    int64_t behind = args->num_shards - args->index - 1, passed = 0;
    s->checked = true; /* looked behind once, also where that fails */
    tail = behind > 0 ? leati_input_skip(&s->input, behind, &passed, err) : LEATI_MORE;
    s->skipped = tail == LEATI_MORE ? passed : 0;
    if (tail == LEATI_MORE)
        return tail;
    leati_block_clear(out);
    if (tail == LEATI_END) {
        leati_refuse(
            err, VALUE,
            "elements, or files, are not enough for the required %lld shards/workers. There are "
            "%lld "
            "where worker %lld looked; use the sharding policy DATA, more files or fewer workers",
            (long long)args->num_shards, (long long)(args->index + 1 + passed),
            (long long)args->index);
    }
    return LEATI_ERROR;
}

static leati_tail shard_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                             leat_error *err) {
    const struct shard_args *args = node->dataset->args;
    struct shard_state *s = state;
    leati_block_clear(out);
    if (args->require_non_empty && !s->checked)
        return shard_first(node, s, out, err);
    if (leati_input_skips(&s->input))
        return shard_by_skipping(node, s, out, err);
    while (out->n == 0) {
        /* So many elements hold `want` own ones, and the last is one. */
        int64_t ask = 0, available = 0;
        if (__builtin_mul_overflow(want - 1, args->num_shards, &ask) ||
            __builtin_add_overflow(ask, to_skip(args, s) + 1, &ask))
            ask = INT64_MAX;
        bool skipping = to_skip(args, s) > 0;
        leati_tail tail = leati_input_peek(&s->input, ask, NULL, &available, err);
        if (available == 0) {
            leati_input_consume(&s->input, tail == LEATI_ERROR);
            return tail == LEATI_ERROR ? failed(node, s, skipping) : tail;
        }
        if (take_strided(args, s, available, want, out, err) != LEAT_OK) {
            leati_block_clear(out);
            return LEATI_ERROR;
        }
    }
    return LEATI_MORE;
}

static leat_status shard_restored(leati_node_state *node, void *state, leat_error *err) {
    const struct shard_args *args = node->dataset->args;
    struct shard_state *s = state;
    return s->next >= 0 && s->next < args->num_shards && s->skipped >= 0 &&
                   s->skipped < args->num_shards && to_skip(args, s) >= 0
               ? LEAT_OK
               : leati_fail(err, LEAT_DATA_LOSS, "shard: a saved position of %lld and %lld",
                            (long long)s->next, (long long)s->skipped);
}

static leat_status shard_access_open(leati_access *access, leat_error *err) {
    return check_hint(access->node.dataset->args, err);
}

static leat_status shard_at(leati_access *access, const int64_t *indices, int64_t n,
                            leati_block *out, leat_error *err) {
    const struct shard_args *args = access->node.dataset->args;
    n = leati_access_checked(access, indices, n, err);
    int64_t *below = n == 0 ? NULL : leati_access_indices(access, n, err);
    if (below == NULL)
        return err->code;
    for (int64_t i = 0; i < n; i++)
        below[i] = args->index + args->num_shards * indices[i];
    return leati_access_input(access, 0, below, n, out, err);
}

bool leati_dataset_shard_is_hint(const leat_dataset *dataset) {
    return dataset->op == &leati_op_shard &&
           ((const struct shard_args *)dataset->args)->num_shards == SHARD_HINT;
}

static bool shard_changes_nothing(const leat_dataset *dataset) {
    const struct shard_args *args = dataset->args;
    return args->num_shards == 1 && args->index == 0;
}

const leati_dataset_op leati_op_shard = {
    .name = "shard",
    .version = 2,
    .doc = "Every `num_shards`-th element, from number `index` on. Saved as a phase and the "
           "input's position; restoring costs the input's.",
    .names = "Dataset.shard",
    .num_inputs = 1,
    .flow = LEATI_FEWER,
    .shards = LEATI_SHARD_SEES_THROUGH,
    .splits = LEATI_SPLITS_THROUGH,
    .batches = LEATI_BATCHES_SAME,
    .flags = LEATI_OP_NEVER_FAILS,
    .args_size = sizeof(struct shard_args),
    .rows = shard_rows,
    .check = shard_check,
    .cardinality = shard_cardinality,
    .changes_nothing = shard_changes_nothing,
    .state_size = sizeof(struct shard_state),
    .saved = {LEATI_SAVED(struct shard_state, next), LEATI_SAVED(struct shard_state, skipped),
              LEATI_SAVED(struct shard_state, checked)},
    .restored = shard_restored,
    .open = shard_open,
    .pull = shard_pull,
    .access_open = shard_access_open,
    .at = shard_at,
};

leat_dataset *leat_dataset_shard(leat_dataset *input, int64_t num_shards, int64_t index,
                                 leat_error *err) {
    LEATI_ERROR_DOOR(err);
    return leati_dataset_new(&leati_op_shard,
                             &(struct shard_args){.num_shards = num_shards, .index = index}, &input,
                             1, err);
}

leat_dataset *leati_dataset_shard_for_all(leat_dataset *input, int64_t num_shards, int64_t index,
                                          leat_error *err) {
    return leati_dataset_new(
        &leati_op_shard,
        &(struct shard_args){.num_shards = num_shards, .index = index, .require_non_empty = true},
        &input, 1, err);
}
