/* repeat: the input over and over (tf.data.Dataset.repeat).
 *
 * Each epoch is a reset of the same input. A count of 0 is empty, a negative one repeats forever;
 * forever over an input whose epoch begins with its end is empty, so that an empty input does not
 * hang; where others may have had all of an epoch, it waits for the next one. A block may join
 * epochs only by being short: one pull ends with the epoch.
 *
 * TensorFlow makes the input's next iterator before it looks at the count, so after the last epoch
 * too; where the input draws from seed generators that other iterators share, they would see it,
 * and so the input is reset there. Not right over shuffle: those two TensorFlow runs as one
 * operator. */
#include "data/access/access.h"
#include "data/run/input.h"
#include "data/source/split_source.h"
#include <leat/data_ops.h>

struct repeat_args {
    int64_t count;
};

static const leati_row repeat_rows[] = {
    {.name = "count",
     .type = LEATI_ROW_INT,
     .flags = LEATI_NONE,
     .offset = offsetof(struct repeat_args, count),
     .default_number = -1,
     .doc = "How many epochs; a negative number or none repeats forever."},
    {0},
};

struct repeat_state {
    leati_input input;
    int64_t epoch; /* being read */
    bool fresh;    /* nothing of the epoch has been read */
    bool draws;    /* the end of the last epoch opens one more, for the seeds that it draws */
    bool shared;   /* others may have had all of an epoch, as TensorFlow takes it, too */
};

int64_t leati_dataset_repeat_cardinality(const leat_dataset *input, int64_t count) {
    int64_t product = 0;
    if (count == 0 || input->cardinality == 0)
        return 0;
    if (count < 0)
        return LEAT_INFINITE_CARDINALITY;
    if (input->cardinality < 0)
        return input->cardinality;
    /* Where TensorFlow's product wraps around, no number says how many. */
    return __builtin_mul_overflow(input->cardinality, count, &product) ? LEAT_UNKNOWN_CARDINALITY
                                                                       : product;
}

static int64_t repeat_cardinality(const leat_dataset *dataset) {
    const struct repeat_args *args = dataset->args;
    return leati_dataset_repeat_cardinality(dataset->inputs[0], args->count);
}

/* Does opening or resetting the input take seeds that others see? */
static bool draws_seeds(const leat_dataset *dataset) {
    bool draws = (dataset->op->flags & LEATI_OP_SEED_GENERATOR) != 0;
    for (int i = 0; i < dataset->num_inputs && !draws; i++)
        draws = draws_seeds(dataset->inputs[i]);
    return draws;
}

static leat_status repeat_open(leati_node_state *node, void *state, leat_error *err) {
    const struct repeat_args *args = node->dataset->args;
    const leat_dataset *input = node->dataset->inputs[0];
    struct repeat_state *s = state;
    s->draws = args->count > 1 && leati_dataset_shuffle_epochs(input) != 1 && draws_seeds(input);
    s->shared = args->count < 0 && (leati_split_source_below(input) ||
                                    (input->cardinality != 0 && leati_dataset_is_remote(input)));
    return args->count == 0 ? LEAT_OK : leati_input_open(&s->input, node, 0, err);
}

static leati_tail repeat_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                              leat_error *err) {
    const struct repeat_args *args = node->dataset->args;
    struct repeat_state *s = state;
    leati_block_clear(out);
    if (args->count == 0)
        return LEATI_END;
    for (;;) {
        leati_tail tail = leati_input_take(&s->input, want, out, err);
        bool empty = s->fresh && out->n == 0 && tail == LEATI_END;
        /* An error is an outcome: an epoch that begins with one is not empty. */
        s->fresh = s->fresh && out->n == 0 && tail != LEATI_ERROR;
        if (tail != LEATI_END)
            return tail;
        /* Forever over nothing would never return. */
        bool last = s->epoch + 1 == args->count || (empty && args->count < 0 && !s->shared);
        if (last && !s->draws)
            return LEATI_END;
        /* The next epoch begins when it is asked for: opening it may draw a seed. */
        if (out->n > 0)
            return LEATI_MORE;
        if (last)
            return leati_input_reset(&s->input, err) == LEAT_OK ? LEATI_END : LEATI_ERROR;
        s->epoch++;
        s->fresh = true;
        if (leati_input_reset(&s->input, err) != LEAT_OK)
            return LEATI_ERROR;
    }
}

static leati_tail repeat_advance(leati_node_state *node, void *state, int64_t n, int64_t *passed,
                                 leat_error *err) {
    const struct repeat_args *args = node->dataset->args;
    struct repeat_state *s = state;
    while (args->count != 0 && *passed < n) {
        int64_t more = 0;
        leati_tail tail = leati_input_advance(&s->input, n - *passed, &more, err);
        bool empty = s->fresh && more == 0;
        s->fresh = empty;
        *passed += more;
        if (*passed == n)
            return LEATI_MORE;
        if (tail != LEATI_END)
            return tail;
        if (s->epoch + 1 == args->count || (empty && args->count < 0 && !s->shared)) {
            return s->draws && leati_input_reset(&s->input, err) != LEAT_OK ? LEATI_ERROR
                                                                            : LEATI_END;
        }
        s->epoch++;
        s->fresh = true;
        if (leati_input_reset(&s->input, err) != LEAT_OK)
            return LEATI_ERROR;
    }
    return *passed == n ? LEATI_MORE : LEATI_END;
}

static void repeat_start(leati_node_state *node, void *state) {
    (void)node;
    ((struct repeat_state *)state)->fresh = true;
}

static leat_status repeat_at(leati_access *access, const int64_t *indices, int64_t n,
                             leati_block *out, leat_error *err) {
    int64_t count = access->node.dataset->inputs[0]->cardinality;
    n = leati_access_checked(access, indices, n, err);
    int64_t *below = n == 0 ? NULL : leati_access_indices(access, n, err);
    if (below == NULL)
        return err->code;
    /* All epochs have the same elements by number, whatever order or numbers an iteration draws. */
    for (int64_t i = 0; i < n; i++)
        below[i] = indices[i] % count;
    return leati_access_input(access, 0, below, n, out, err);
}

static leat_status repeat_indexable(const leat_dataset *dataset, leat_error *err) {
    const struct repeat_args *args = dataset->args;
    return args->count >= 0 ? LEAT_OK
                            : leati_fail(err, LEAT_FAILED_PRECONDITION,
                                         "repeat(%lld) has no end and no random access; repeat "
                                         "behind global_shuffle, or give a count",
                                         (long long)args->count);
}

static bool repeat_changes_nothing(const leat_dataset *dataset) {
    const struct repeat_args *args = dataset->args;
    return args->count == 1;
}

const leati_dataset_op leati_op_repeat = {
    .name = "repeat",
    .version = 1,
    .doc = "The input `count` times. Saved as the epoch and the input's position; restoring costs "
           "the input's.",
    .names = "Dataset.repeat",
    .num_inputs = 1,
    .flow = LEATI_MORE_OUT,
    .shards = LEATI_SHARD_SEES_THROUGH,
    .splits = LEATI_SPLITS_THROUGH,
    .batches = LEATI_BATCHES_SAME,
    .flags = LEATI_OP_NEVER_FAILS,
    .args_size = sizeof(struct repeat_args),
    .rows = repeat_rows,
    .cardinality = repeat_cardinality,
    .changes_nothing = repeat_changes_nothing,
    .state_size = sizeof(struct repeat_state),
    .saved = {LEATI_SAVED(struct repeat_state, epoch), LEATI_SAVED(struct repeat_state, fresh)},
    .start = repeat_start,
    .open = repeat_open,
    .pull = repeat_pull,
    .advance = repeat_advance,
    .at = repeat_at,
    .indexable = repeat_indexable,
};

leat_dataset *leat_dataset_repeat(leat_dataset *input, int64_t count, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    return leati_dataset_new(&leati_op_repeat, &(struct repeat_args){.count = count}, &input, 1,
                             err);
}
