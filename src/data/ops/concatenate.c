/* concatenate: one dataset after the other (tf.data.Dataset.concatenate).
 *
 * Hands on views of its inputs' blocks. The second input is opened when the first has ended, as in
 * TensorFlow, because opening may draw seeds. The spec is what both are; without one the call is
 * INVALID_ARGUMENT. */
#include "data/access/access.h"
#include "data/run/input.h"
#include <leat/data_ops.h>

struct concatenate_args {
    bool unused; /* there is no argument */
};

static const leati_row concatenate_rows[] = {{0}};

struct concatenate_state {
    leati_input inputs[2]; /* the second one may be closed */
    int at;                /* which is being read */
};

static leat_spec *concatenate_spec(const leat_dataset *dataset, leat_error *err) {
    /* A record of its own to put a prefix before: err may be NULL. */
    leat_error local = {0};
    leat_spec *spec = leati_spec_join(dataset->inputs[0]->spec, dataset->inputs[1]->spec, &local);
    if (spec == NULL) {
        leati_prefix(&local, "concatenate: Incompatible dataset elements");
        *err = local;
    }
    return spec;
}

static int64_t concatenate_cardinality(const leat_dataset *dataset) {
    int64_t a = dataset->inputs[0]->cardinality, b = dataset->inputs[1]->cardinality;
    if (a == LEAT_INFINITE_CARDINALITY || b == LEAT_INFINITE_CARDINALITY)
        return LEAT_INFINITE_CARDINALITY;
    if (a < 0 || b < 0)
        return LEAT_UNKNOWN_CARDINALITY;
    /* A sum that int64 cannot hold is not infinite but unknown. */
    return a > INT64_MAX - b ? LEAT_UNKNOWN_CARDINALITY : a + b;
}

static leat_status concatenate_open(leati_node_state *node, void *state, leat_error *err) {
    return leati_input_open(&((struct concatenate_state *)state)->inputs[0], node, 0, err);
}

/* The first input has ended: the second one starts. */
static leat_status go_on(leati_node_state *node, struct concatenate_state *s, leat_error *err) {
    leat_status status = s->inputs[1].child != NULL ? leati_input_reset(&s->inputs[1], err)
                                                    : leati_input_open(&s->inputs[1], node, 1, err);
    /* Where opening failed, the first input's end, which is sticky, leads here again. */
    s->at = status == LEAT_OK ? 1 : 0;
    return status;
}

static leati_tail concatenate_pull(leati_node_state *node, void *state, int64_t want,
                                   leati_block *out, leat_error *err) {
    struct concatenate_state *s = state;
    for (;;) {
        leati_tail tail = leati_input_take(&s->inputs[s->at], want, out, err);
        if (tail != LEATI_END || s->at == 1)
            return tail;
        /* A block is one input's: the second one, which may have to be opened, is read by the next
         * pull. */
        if (out->n > 0)
            return LEATI_MORE;
        if (go_on(node, s, err) != LEAT_OK)
            return LEATI_ERROR;
    }
}

static leati_tail concatenate_advance(leati_node_state *node, void *state, int64_t n,
                                      int64_t *passed, leat_error *err) {
    struct concatenate_state *s = state;
    for (;;) {
        int64_t more = 0;
        leati_tail tail = leati_input_advance(&s->inputs[s->at], n - *passed, &more, err);
        *passed += more;
        if (tail != LEATI_END || s->at == 1)
            return tail;
        if (*passed == n)
            return LEATI_MORE;
        if (go_on(node, s, err) != LEAT_OK)
            return LEATI_ERROR;
    }
}

static leat_status concatenate_save(leati_node_state *node, void *state, leati_writer *out,
                                    leati_save_cost *cost, leat_error *err) {
    (void)node;
    struct concatenate_state *s = state;
    leati_put_uint(out, (uint64_t)s->at);
    /* From the second epoch on the second input is open before its turn. Its state is saved then,
     * too: it may hold what its next epoch draws seeds from. */
    leati_put_uint(out, s->inputs[1].child != NULL);
    leat_status status = leati_input_save(&s->inputs[0], out, cost, err);
    return status == LEAT_OK && s->inputs[1].child != NULL
               ? leati_input_save(&s->inputs[1], out, cost, err)
               : status;
}

static leat_status concatenate_restore(leati_node_state *node, void *state, leati_reader *in,
                                       leat_error *err) {
    struct concatenate_state *s = state;
    uint64_t at = 0, second = 0;
    leat_status status = leati_get_uint(in, &at, err);
    if (status == LEAT_OK)
        status = leati_get_uint(in, &second, err);
    if (status == LEAT_OK && (at > 1 || at > second)) {
        status = leati_fail(err, LEAT_DATA_LOSS, "concatenate: a saved position in input %llu",
                            (unsigned long long)at);
    }
    if (status == LEAT_OK) {
        s->at = (int)at;
        status = leati_input_restore(&s->inputs[0], in, err);
    }
    if (status == LEAT_OK && second != 0) {
        status = leati_input_open(&s->inputs[1], node, 1, err);
        status = status == LEAT_OK ? leati_input_restore(&s->inputs[1], in, err) : status;
    }
    return status;
}

static leat_status concatenate_reset(leati_node_state *node, void *state, leat_error *err) {
    (void)node;
    struct concatenate_state *s = state;
    /* The second input is reset when its turn comes: like opening, that may draw seeds. */
    s->at = 0;
    return leati_input_reset(&s->inputs[0], err);
}

static void concatenate_close(leati_node_state *node, void *state) {
    (void)node;
    struct concatenate_state *s = state;
    leati_input_close(&s->inputs[1]);
    leati_input_close(&s->inputs[0]);
}

/* The first indices that lie in one of the two inputs; which it is says the first of them. */
static leat_status concatenate_at(leati_access *access, const int64_t *indices, int64_t n,
                                  leati_block *out, leat_error *err) {
    int64_t first = access->node.dataset->inputs[0]->cardinality;
    n = leati_access_checked(access, indices, n, err);
    int64_t *below = n == 0 ? NULL : leati_access_indices(access, n, err);
    if (below == NULL)
        return err->code;
    bool second = indices[0] >= first;
    int64_t run = 0;
    for (; run < n && (indices[run] >= first) == second; run++)
        below[run] = second ? indices[run] - first : indices[run];
    return leati_access_input(access, second, below, run, out, err);
}

const leati_dataset_op leati_op_concatenate = {
    .name = "concatenate",
    .version = 1,
    .doc = "The first dataset, then the second. Saved as which is being read and its position; "
           "restoring costs the inputs'.",
    .names = "Dataset.concatenate",
    .num_inputs = 2,
    .flow = LEATI_MIXES,
    .shards = LEATI_SHARD_SEES_THROUGH,
    .splits = LEATI_SPLITS_THROUGH,
    .batches = LEATI_BATCHES_SAME,
    .flags = LEATI_OP_NEVER_FAILS,
    .args_size = sizeof(struct concatenate_args),
    .rows = concatenate_rows,
    .spec = concatenate_spec,
    .cardinality = concatenate_cardinality,
    .state_size = sizeof(struct concatenate_state),
    .open = concatenate_open,
    .pull = concatenate_pull,
    .advance = concatenate_advance,
    .save = concatenate_save,
    .restore = concatenate_restore,
    .reset = concatenate_reset,
    .close = concatenate_close,
    .at = concatenate_at,
};

leat_dataset *leat_dataset_concatenate(leat_dataset *first, leat_dataset *second, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_dataset *inputs[2] = {first, second};
    return leati_dataset_new(&leati_op_concatenate, NULL, inputs, 2, err);
}
