/* skip: all but the first `count` elements (tf.data.Dataset.skip).
 *
 * The first pull runs the skipped elements (functions are called, as in TensorFlow); a negative
 * count skips everything. After an error among them the count begins anew, as in TensorFlow: the
 * next pull skips as many elements as before. Sources that can pass elements without reading them
 * do. */
#include "base/minmax.h"
#include "data/access/access.h"
#include "data/run/input.h"
#include <leat/data_ops.h>

struct skip_args {
    int64_t count;
};

static const leati_row skip_rows[] = {
    {.name = "count",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct skip_args, count),
     .doc = "How many elements; a negative number skips everything."},
    {0},
};

struct skip_state {
    leati_input input;
    int64_t left; /* still to be skipped; -1: everything, and the input is not opened */
};

static int64_t skip_cardinality(const leat_dataset *dataset) {
    const struct skip_args *args = dataset->args;
    int64_t input = dataset->inputs[0]->cardinality;
    /* Infinite and unknown stay what they are, whatever is skipped. */
    if (input < 0)
        return input;
    return args->count < 0 || args->count > input ? 0 : input - args->count;
}

static void skip_start(leati_node_state *node, void *state) {
    const struct skip_args *args = node->dataset->args;
    struct skip_state *s = state;
    s->left = args->count < 0 ? -1 : args->count;
    /* TensorFlow counts in 32 bits: of the largest counts nothing is left, and nothing is skipped.
     */
    if (args->count > INT32_MAX)
        s->left = LEATI_MAX((int32_t)(uint32_t)args->count, 0);
}

static leat_status skip_open(leati_node_state *node, void *state, leat_error *err) {
    struct skip_state *s = state;
    return s->left < 0 ? LEAT_OK : leati_input_open(&s->input, node, 0, err);
}

static leati_tail skip_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                            leat_error *err) {
    (void)node;
    struct skip_state *s = state;
    leati_block_clear(out);
    if (s->left < 0)
        return LEATI_END;
    if (s->left > 0) {
        int64_t skipped = 0;
        /* The count stays until all of them are passed: after an error all are passed anew. */
        leati_tail tail = leati_input_skip(&s->input, s->left, &skipped, err);
        if (tail != LEATI_MORE)
            return tail;
        s->left = 0;
    }
    return leati_input_take(&s->input, want, out, err);
}

static leati_tail skip_advance(leati_node_state *node, void *state, int64_t n, int64_t *passed,
                               leat_error *err) {
    (void)node;
    struct skip_state *s = state;
    if (s->left < 0)
        return LEATI_END;
    while (s->left > 0) {
        int64_t skipped = 0;
        leati_tail tail = leati_input_skip(&s->input, s->left, &skipped, err);
        if (tail == LEATI_END || (tail == LEATI_ERROR && !leati_state_recurs(err)))
            return tail;
        /* An error among the skipped elements is an outcome, and the count begins anew. */
        if (tail == LEATI_ERROR && ++*passed == n)
            return LEATI_MORE;
        s->left = tail == LEATI_MORE ? 0 : s->left;
    }
    int64_t more = 0;
    leati_tail tail = leati_input_advance(&s->input, n - *passed, &more, err);
    *passed += more;
    return tail;
}

static leat_status skip_restored(leati_node_state *node, void *state, leat_error *err) {
    (void)node;
    struct skip_state *s = state;
    /* Open or not is decided by the arguments: a state of other ones does not fit. */
    return (s->left >= 0) == (s->input.child != NULL)
               ? LEAT_OK
               : leati_fail(err, LEAT_DATA_LOSS, "skip: a saved count of %lld elements to skip",
                            (long long)s->left);
}

static leat_status skip_at(leati_access *access, const int64_t *indices, int64_t n,
                           leati_block *out, leat_error *err) {
    const struct skip_args *args = access->node.dataset->args;
    n = leati_access_checked(access, indices, n, err);
    int64_t *below = n == 0 ? NULL : leati_access_indices(access, n, err);
    if (below == NULL)
        return err->code;
    for (int64_t i = 0; i < n; i++)
        below[i] = args->count + indices[i];
    return leati_access_input(access, 0, below, n, out, err);
}

static leat_status skip_indexable(const leat_dataset *dataset, leat_error *err) {
    const struct skip_args *args = dataset->args;
    return args->count >= 0 ? LEAT_OK
                            : leati_fail(err, LEAT_FAILED_PRECONDITION,
                                         "skip(%lld) passes everything; global_shuffle needs "
                                         "elements",
                                         (long long)args->count);
}

static bool skip_changes_nothing(const leat_dataset *dataset) {
    const struct skip_args *args = dataset->args;
    return args->count == 0;
}

const leati_dataset_op leati_op_skip = {
    .name = "skip",
    .version = 1,
    .doc = "All but the first `count` elements. Saved as the number still to skip and the input's "
           "position; restoring costs "
           "the input's.",
    .names = "Dataset.skip",
    .num_inputs = 1,
    .flow = LEATI_FEWER,
    .shards = LEATI_SHARD_SEES_THROUGH,
    .splits = LEATI_SPLITS_THROUGH,
    .batches = LEATI_BATCHES_SAME,
    .flags = LEATI_OP_NEVER_FAILS,
    .args_size = sizeof(struct skip_args),
    .rows = skip_rows,
    .cardinality = skip_cardinality,
    .changes_nothing = skip_changes_nothing,
    .state_size = sizeof(struct skip_state),
    .saved = {LEATI_SAVED(struct skip_state, left)},
    .start = skip_start,
    .restored = skip_restored,
    .open = skip_open,
    .pull = skip_pull,
    .advance = skip_advance,
    .at = skip_at,
    .indexable = skip_indexable,
};

leat_dataset *leat_dataset_skip(leat_dataset *input, int64_t count, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    return leati_dataset_new(&leati_op_skip, &(struct skip_args){.count = count}, &input, 1, err);
}
