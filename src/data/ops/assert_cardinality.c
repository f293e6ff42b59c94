/* assert_cardinality: the input with a cardinality that is claimed, and checked
 * (tf.data.experimental.assert_cardinality).
 *
 * Hands on views of the input's blocks and counts. Fewer elements than claimed are
 * FAILED_PRECONDITION in place of the end, more at the first one too many, and again at every
 * further call; an infinite claim only forbids the end. What fails in place of the end says so
 * (at_end), and readers with more to do take it for the end. Errors of the input pass through and
 * do not count. No locks. */
#include "base/minmax.h"
#include "data/access/access.h"
#include "data/run/input.h"
#include <leat/data_ops.h>

struct assert_args {
    int64_t expected_cardinality;
};

static const leati_row assert_rows[] = {
    {.name = "expected_cardinality",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct assert_args, expected_cardinality),
     .doc = "How many elements the input has; -1: infinitely many."},
    {0},
};

struct assert_state {
    leati_input input;
    int64_t count; /* elements that the input gave */
};

static int64_t assert_cardinality(const leat_dataset *dataset) {
    return ((const struct assert_args *)dataset->args)->expected_cardinality;
}

static const char *elements(int64_t count, char text[64]) {
    if (count == LEAT_INFINITE_CARDINALITY)
        return "an infinite number of elements";
    snprintf(text, 64, "%lld element%s", (long long)count, count == 1 ? "" : "s");
    return text;
}

static leati_tail differs(const struct assert_args *args, const char *how, int64_t count,
                          leat_error *err) {
    char expected[64], found[64];
    leati_fail(err, LEAT_FAILED_PRECONDITION,
               "Input dataset was expected to contain %s but contained %s %s. Correct "
               "expected_cardinality",
               elements(args->expected_cardinality, expected), how, elements(count, found));
    return LEATI_ERROR;
}

static leati_tail assert_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                              leat_error *err) {
    struct assert_state *s = state;
    const struct assert_args *args = node->dataset->args;
    bool endless = args->expected_cardinality == LEAT_INFINITE_CARDINALITY;
    bool enough = !endless && s->count >= args->expected_cardinality;
    int64_t left = endless ? INT64_MAX : enough ? 0 : args->expected_cardinality - s->count;
    /* No more than the claim is asked for, so that one element too many is met alone, behind all
     * that it allows. */
    leati_tail tail =
        leati_input_take(&s->input, enough || left < 1 ? 1 : LEATI_MIN(want, left), out, err);
    s->count += out->n;
    if (enough && out->n > 0) {
        leati_block_clear(out);
        return differs(args, "at least", s->count, err);
    }
    if (tail != LEATI_END || (!endless && s->count == args->expected_cardinality))
        return tail;
    /* The input's end is sticky: the next pull meets it again, without elements, and fails. */
    if (out->n > 0)
        return LEATI_MORE;
    differs(args, "only", s->count, err);
    err->at_end = true;
    return LEATI_ERROR;
}

static leat_status assert_restored(leati_node_state *node, void *state, leat_error *err) {
    (void)node;
    struct assert_state *s = state;
    /* A negative count would let more pass than was claimed. */
    return s->count >= 0
               ? LEAT_OK
               : leati_fail(err, LEAT_DATA_LOSS, "assert_cardinality: a saved count of %lld",
                            (long long)s->count);
}

/* An index that the claim allows and the input has not is where the claim fails. */
static leat_status assert_at(leati_access *access, const int64_t *indices, int64_t n,
                             leati_block *out, leat_error *err) {
    const struct assert_args *args = access->node.dataset->args;
    int64_t good = 0;
    /* No index is below an infinite claim, which is -1. */
    while (good < n && indices[good] >= 0 && indices[good] < args->expected_cardinality)
        good++;
    if (good == 0)
        return leati_access_outside(indices[0], args->expected_cardinality, err);
    leat_status status = leati_access_input(access, 0, indices, good, out, err);
    if (status == LEAT_OUT_OF_RANGE) {
        leat_error cause = *err;
        return leati_fail(err, LEAT_FAILED_PRECONDITION,
                          "the input was expected to contain %lld elements, but there is none of "
                          "index %lld; correct expected_cardinality (%s)",
                          (long long)args->expected_cardinality, (long long)indices[0], cause.text);
    }
    return status;
}

const leati_dataset_op leati_op_assert_cardinality = {
    .name = "assert_cardinality",
    .version = 1,
    .doc = "The input, whose number of elements is claimed and checked. Saved as a count and the "
           "input's position; restoring costs the input's.",
    .names = "Dataset.assert_cardinality experimental.assert_cardinality",
    .num_inputs = 1,
    .flow = LEATI_ONE_TO_ONE,
    .shards = LEATI_SHARD_LEFT_OUT,
    .splits = LEATI_SPLITS_THROUGH,
    .batches = LEATI_BATCHES_SAME,
    .args_size = sizeof(struct assert_args),
    .rows = assert_rows,
    .cardinality = assert_cardinality,
    .state_size = sizeof(struct assert_state),
    .saved = {LEATI_SAVED(struct assert_state, count)},
    .restored = assert_restored,
    .pull = assert_pull,
    .at = assert_at,
};

leat_dataset *leat_dataset_assert_cardinality(leat_dataset *input, int64_t expected_cardinality,
                                              leat_error *err) {
    LEATI_ERROR_DOOR(err);
    struct assert_args args = {.expected_cardinality = expected_cardinality};
    return leati_dataset_new(&leati_op_assert_cardinality, &args, &input, 1, err);
}
