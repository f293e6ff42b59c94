/* split_source: those rows of a source that are leased to this iterator.
 *
 * Happy path: a lease [begin, end) comes from the iteration's leati_splits; the input passes what
 * lies before it, which costs nothing where its `advance` is arithmetic, and the rows follow as the
 * input's blocks. Where the one split is the whole input, its elements are handed on to their end.
 * A lease is asked for when a row of it is wanted, so one that was not asked for is another
 * worker's. Failures: what the provider of leases says, at every call again until it answers;
 * FAILED_PRECONDITION without a provider, or where the source has fewer rows than a lease says.
 * Saved are the numbers of the lease and the input's position; restoring asks for the same lease
 * again. No locks. */
#include "data/source/split_source.h"
#include "base/minmax.h"
#include "data/run/input.h"
#include "data/run/splits.h"

#define ROW(kind, field, text)                                                                     \
    {                                                                                              \
        .name = #field, .type = LEATI_ROW_##kind,                                                  \
        .offset = offsetof(struct leati_split_source_args, field), .doc = text                     \
    }

static const leati_row split_source_rows[] = {
    ROW(INT, provider, "The source's number."),
    ROW(INT, splits, "How many splits it has; -1: endless."),
    ROW(BOOL, whole, "The one split is all of the input."),
    ROW(BOOL, in_step, "An operator above takes elements of several sources in step."),
    {0},
};

struct split_source_state {
    leati_input input;
    int64_t repetition;
    int64_t sequence;   /* of the lease that is held, or else of the next answer */
    int64_t begin, end; /* what is left of the lease */
    int64_t place;      /* rows of the input that were passed or given out */
    bool held;          /* begin, end are those of lease `sequence` */
    bool done;          /* nothing is left of this repetition */
};

static int64_t split_source_cardinality(const leat_dataset *dataset) {
    const struct leati_split_source_args *args = dataset->args;
    return args->splits < 0    ? LEAT_INFINITE_CARDINALITY
           : args->splits == 0 ? 0
                               : LEAT_UNKNOWN_CARDINALITY;
}

static leat_status refuse_lease(const leati_node_state *node, const struct split_source_state *s,
                                int64_t begin, int64_t end, leat_error *err) {
    const struct leati_split_source_args *args = node->dataset->args;
    return leati_fail(err, LEAT_INTERNAL,
                      "source %lld: splits %lld to %lld of %lld were leased behind number %lld; "
                      "leases of a stream ascend and are not empty",
                      (long long)args->provider, (long long)begin, (long long)end,
                      (long long)args->splits, (long long)s->place);
}

/* Asks for lease number `sequence`. */
static leat_status take_lease(const leati_node_state *node, struct split_source_state *s,
                              leat_error *err) {
    const struct leati_split_source_args *args = node->dataset->args;
    const leati_splits *splits = node->iteration->splits;
    int64_t begin = 0, end = 0;
    bool none = false;
    if (splits == NULL) {
        return leati_fail(err, LEAT_FAILED_PRECONDITION,
                          "source %lld has nobody to ask for splits; make the iterator with "
                          "leati_iterator_extras.splits",
                          (long long)args->provider);
    }
    LEATI_TRY(splits->next(splits->context, (int)args->provider, s->repetition, s->sequence, &begin,
                           &end, &none, node->iteration->cancel, err));
    s->done = none;
    if (none) {
        s->sequence++;
        return LEAT_OK;
    }
    /* One that a restored state was in the middle of begins before its place. */
    int64_t least = args->whole ? 0 : s->place;
    if (begin < 0 || end <= begin || end <= least || (args->splits >= 0 && end > args->splits))
        return refuse_lease(node, s, begin, end, err);
    s->begin = LEATI_MAX(begin, least);
    s->end = end;
    s->held = true;
    return LEAT_OK;
}

static void end_lease(struct split_source_state *s) {
    s->held = false;
    s->sequence++;
}

/* The source has fewer rows than the lease says: the rest of it is lost for this worker. One whose
 * end was not known has come to it. */
static leati_tail too_few(const leati_node_state *node, struct split_source_state *s,
                          leat_error *err) {
    if (((const struct leati_split_source_args *)node->dataset->args)->splits < 0) {
        end_lease(s);
        s->done = true;
        return LEATI_END;
    }
    leati_fail(err, LEAT_FAILED_PRECONDITION,
               "split %lld was leased, but %s has only %lld rows or files here; dispatcher and "
               "workers must see the same files",
               (long long)s->begin, node->dataset->inputs[0]->op->name, (long long)s->place);
    end_lease(s);
    return LEATI_ERROR;
}

/* Makes the lease's first row that is left the input's next one: MORE, END where there is none, or
 * ERROR. */
static leati_tail go_to_lease(const leati_node_state *node, struct split_source_state *s,
                              leat_error *err) {
    const struct leati_split_source_args *args = node->dataset->args;
    if (!s->held && !s->done && take_lease(node, s, err) != LEAT_OK)
        return LEATI_ERROR;
    if (s->done)
        return LEATI_END;
    if (args->whole || s->place == s->begin)
        return LEATI_MORE;
    int64_t passed = 0;
    leati_tail tail = leati_input_advance(&s->input, s->begin - s->place, &passed, err);
    s->place += passed;
    if (tail == LEATI_ERROR)
        return tail;
    return s->place == s->begin ? LEATI_MORE : too_few(node, s, err);
}

/* The input gave n rows, or passed them. */
static void rows_gone(struct split_source_state *s, int64_t n) {
    s->place += n;
    s->begin += n;
    if (s->begin == s->end)
        end_lease(s);
}

static leati_tail split_source_pull(leati_node_state *node, void *state, int64_t want,
                                    leati_block *out, leat_error *err) {
    struct split_source_state *s = state;
    const struct leati_split_source_args *args = node->dataset->args;
    leati_block_clear(out);
    for (;;) {
        leati_tail tail = go_to_lease(node, s, err);
        if (tail != LEATI_MORE)
            return tail;
        int64_t most = args->whole ? want : LEATI_MIN(want, s->end - s->begin);
        tail = leati_input_take(&s->input, most, out, err);
        if (!args->whole) {
            rows_gone(s, out->n);
            return out->n == 0 && tail == LEATI_END ? too_few(node, s, err)
                   : tail == LEATI_END              ? LEATI_MORE
                                                    : tail;
        }
        if (tail != LEATI_END)
            return tail;
        /* The end of the input is that of its only split: the next lease says that there is no
         * other. */
        end_lease(s);
        if (out->n > 0)
            return LEATI_MORE;
    }
}

static leati_tail split_source_advance(leati_node_state *node, void *state, int64_t n,
                                       int64_t *passed, leat_error *err) {
    struct split_source_state *s = state;
    const struct leati_split_source_args *args = node->dataset->args;
    while (*passed < n) {
        leati_tail tail = go_to_lease(node, s, err);
        if (tail != LEATI_MORE)
            return tail;
        int64_t left = n - *passed, more = 0;
        int64_t most = args->whole ? left : LEATI_MIN(left, s->end - s->begin);
        tail = leati_input_advance(&s->input, most, &more, err);
        *passed += more;
        if (args->whole && tail == LEATI_END)
            end_lease(s);
        else if (!args->whole)
            rows_gone(s, more);
        if (tail == LEATI_ERROR)
            return tail;
        if (!args->whole && more == 0)
            return too_few(node, s, err);
    }
    return LEATI_MORE;
}

static leat_status split_source_save(leati_node_state *node, void *state, leati_writer *out,
                                     leati_save_cost *cost, leat_error *err) {
    (void)node;
    struct split_source_state *s = state;
    leati_put_int(out, s->repetition);
    leati_put_int(out, s->sequence);
    leati_put_int(out, s->place);
    leati_put_uint(out, s->done);
    return leati_input_save(&s->input, out, cost, err);
}

static leat_status split_source_restore(leati_node_state *node, void *state, leati_reader *in,
                                        leat_error *err) {
    struct split_source_state *s = state;
    uint64_t done = 0;
    LEATI_TRY(leati_get_int(in, &s->repetition, err));
    LEATI_TRY(leati_get_int(in, &s->sequence, err));
    LEATI_TRY(leati_get_int(in, &s->place, err));
    LEATI_TRY(leati_get_uint(in, &done, err));
    s->done = done != 0;
    s->held = false;
    if (s->repetition < 0 || s->sequence < 0 || s->place < 0 || done > 1) {
        return leati_fail(err, LEAT_DATA_LOSS, "%s: a saved place of %lld, %lld, %lld", node->name,
                          (long long)s->repetition, (long long)s->sequence, (long long)s->place);
    }
    return leati_input_restore(&s->input, in, err);
}

static leat_status split_source_reset(leati_node_state *node, void *state, leat_error *err) {
    (void)node;
    struct split_source_state *s = state;
    /* A lease that is given up half used counts as had. */
    if (s->held)
        end_lease(s);
    s->place = 0;
    s->done = false;
    s->repetition++;
    return leati_input_reset(&s->input, err);
}

const leati_dataset_op leati_op_split_source = {
    .name = "split_source",
    .version = 1,
    .doc = "The rows of the input that are leased to the iterator. Saved as the lease's number and "
           "a position; restoring asks for the lease again.",
    .num_inputs = 1,
    .flow = LEATI_FEWER,
    .shards = LEATI_SHARD_NOT,
    .splits = LEATI_SPLITS_REFUSED,
    .batches = LEATI_BATCHES_SAME,
    .args_size = sizeof(struct leati_split_source_args),
    .rows = split_source_rows,
    .cardinality = split_source_cardinality,
    .state_size = sizeof(struct split_source_state),
    .pull = split_source_pull,
    .advance = split_source_advance,
    .save = split_source_save,
    .restore = split_source_restore,
    .reset = split_source_reset,
};

bool leati_split_source_below(const leat_dataset *dataset) {
    if (dataset->op == &leati_op_split_source)
        return ((const struct leati_split_source_args *)dataset->args)->splits != 0;
    for (int i = 0; i < dataset->num_inputs; i++)
        if (leati_split_source_below(dataset->inputs[i]))
            return true;
    return false;
}
